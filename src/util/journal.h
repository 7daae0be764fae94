/* journal.h - an append-only file of lines, each with a checksum in front.
 *
 * A kill or a power cut can leave an incomplete last line, which is ignored and removed when the
 * journal is opened. A bad line with good ones after it is damage and is refused.
 */
#ifndef QN_UTIL_JOURNAL_H
#define QN_UTIL_JOURNAL_H

#include "util/status.h"

/* The owner has opened `fd`; `name` starts messages. */
typedef struct qn_journal {
    int fd;
    const char *name;
    qn_i64 bytes; /* of whole lines */
} qn_journal;

/* Opens `file` in the open folder `dir` and locks it; the lock ends with the process. While another process
 * has it, QN_ERR_IO names that one by the last line "owner PID"; `folder` starts the sentence. */
qn_status qn_journal_lock(qn_journal *journal, int dir, const char *file, const char *folder,
                          qn_err *err);

/* Passes each line to `line`, without its checksum, and sets `bytes`. Changes nothing on the
 * disk. */
qn_status qn_journal_read(qn_journal *journal,
                          qn_status (*line)(void *user, const char *text, qn_err *err), void *user,
                          qn_err *err);

/* Truncates the file to `bytes`, which removes an incomplete end; 0 empties it. */
qn_status qn_journal_cut(qn_journal *journal, qn_i64 bytes, qn_err *err);

/* Appends `text`, lines that each end with a newline, and returns when they are on the disk. A
 * failure leaves the journal unchanged. */
qn_status qn_journal_add(qn_journal *journal, const char *text, qn_err *err);

#endif
