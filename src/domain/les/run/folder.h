/* folder.h - the folder of a run, by util/run_folder.h.
 *
 * Its plan is the stamp of the run, which is the time of its beginning, and the options that results
 * depend on.
 */
#ifndef QN_LES_FOLDER_H
#define QN_LES_FOLDER_H

#include "domain/les/options/options.h"
#include "util/file.h"
#include "util/run_folder.h"

enum { QN_LES_STAMP_SIZE = 17 }; /* "20260131T120000Z" */

/* Opens the folder that config->out names. A run that is continued, or finished already, has the
 * stamp of its beginning; with more steps, a finished one goes on. Sets config->log_every where it is
 * 0. *is_shared: files of an earlier run with other options may be there. */
qn_status qn_les_folder_open(qn_les_options *config, char stamp[QN_LES_STAMP_SIZE], int *is_shared,
                             qn_run_folder **out, qn_err *err);

/* The step of the last state in the folder, 0: there is none. *is_kept: it is the one that a run
 * leaves at its end, QN_LES_KEPT; else it is a scratch file, QN_LES_CHECKPOINT. The facts `kept` and
 * `checkpoint` have their steps. */
#define QN_LES_CHECKPOINT "checkpoint.%ld"
#define QN_LES_KEPT       "les_t%06ld.checkpoint"
long qn_les_folder_step(const qn_run_folder *folder, int *is_kept);

/* A new stamp: the time. */
void qn_les_stamp(char out[QN_LES_STAMP_SIZE]);

#endif
