/* journal.h - what an unfinished run has done, so that it can be resumed.
 *
 * A text file with one line for each fact: the plan of the run, the files it makes, the tiles that
 * are complete in all of them. An incomplete last line was being written when the run was killed,
 * and does not count.
 */
#ifndef QN_SOLWEIG_OUTPUT_JOURNAL_H
#define QN_SOLWEIG_OUTPUT_JOURNAL_H

#include "util/map.h"
#include "util/status.h"

typedef struct qn_sw_journal {
    char *path;
    char *plan;
    int fd;       /* -1 when closed */
    qn_map files; /* their paths, in order; the values are free for the owner */
    uint8_t *is_finished;
    size_t n_tiles; /* room in `is_finished` */
} qn_sw_journal;

/* Makes a new file with the plan, which is one line. */
qn_status qn_sw_journal_create(const char *path, const char *plan, qn_sw_journal *out, qn_err *err);

/* Reads the journal at `path` and opens it for adding lines. QN_ERR_IO: there is none. */
qn_status qn_sw_journal_open(const char *path, qn_sw_journal *out, qn_err *err);

qn_status qn_sw_journal_add_file(qn_sw_journal *journal, const char *path, qn_err *err);

/* Returns when the line is on the disk. */
qn_status qn_sw_journal_add_tile(qn_sw_journal *journal, qn_i64 tile, qn_err *err);
int qn_sw_journal_has_tile(const qn_sw_journal *journal, qn_i64 tile);

void qn_sw_journal_close(qn_sw_journal *journal); /* the file stays */

#endif
