/* folder.h - the folder of a run, by util/run_folder.h.
 *
 * Its plan is the stamp of the run and the options that results depend on. Files have names that
 * begin with les_<stamp>_, except for the arrays that another run reads and the reports.
 */
#ifndef QN_LES_FOLDER_H
#define QN_LES_FOLDER_H

#include "domain/les/options/options.h"
#include "util/file.h"
#include "util/run_folder.h"

enum { QN_LES_STAMP_SIZE = 17 }; /* "20260131T120000Z" */

/* Opens the folder that config->out names. A run that is continued, or finished already, has the
 * stamp of its beginning. */
qn_status qn_les_folder_open(const qn_les_options *config, char stamp[QN_LES_STAMP_SIZE],
                             qn_run_folder **out, qn_err *err);

/* A new stamp: the time. */
void qn_les_stamp(char out[QN_LES_STAMP_SIZE]);

#endif
