/* temp_dir.h - temporary folders.
 *
 * A folder is locked while it is in use, and the lock ends with the process. So whoever makes the
 * next one removes what killed processes of the same user have left beside it.
 */
#ifndef QN_UTIL_TEMP_DIR_H
#define QN_UTIL_TEMP_DIR_H

#include "util/status.h"

/* Zero-initialised is none. */
typedef struct qn_temp_dir {
    char path[1024];
    int lock; /* while there is a path */
} qn_temp_dir;

/* Makes a new folder, for its owner only, under TMPDIR or /tmp. */
qn_status qn_temp_dir_make(qn_temp_dir *dir, qn_err *err);

/* Removes it with everything in it; links in it are removed, not followed. None is fine. */
void qn_temp_dir_remove(qn_temp_dir *dir);

#endif
