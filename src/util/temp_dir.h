/* temp_dir.h - temporary folders.
 *
 * A folder is locked while it is in use, and the lock ends with the process. So making a folder
 * first removes those that killed processes of the same user have left.
 */
#ifndef QN_UTIL_TEMP_DIR_H
#define QN_UTIL_TEMP_DIR_H

#include "util/status.h"

/* Zero-initialised: no folder. */
typedef struct qn_temp_dir {
    char path[1024];
    int lock; /* valid while there is a path */
} qn_temp_dir;

/* Makes a private new folder under TMPDIR or /tmp. */
qn_status qn_temp_dir_make(qn_temp_dir *dir, qn_err *err);

/* Removes the folder with its content, without following links. No folder is fine. */
void qn_temp_dir_remove(qn_temp_dir *dir);

#endif
