/* folder.h - the files of a folder and of those in it. */
#ifndef QN_UTIL_FOLDER_H
#define QN_UTIL_FOLDER_H

#include "util/status.h"

enum { QN_FOLDER_MAX_DEPTH = 8, QN_FOLDER_MAX_FILES = 100000 };

/* Zero-initialised is empty. */
typedef struct qn_folder {
    char **files; /* paths below the folder, sorted by their bytes; numbers in them by value */
    size_t n, room;
} qn_folder;

/* Lists regular files and links to such. What begins with a dot is left out, and so are folders
 * behind links. A `path` that cannot be listed is QN_ERR_INPUT. */
qn_status qn_folder_list(const char *path, qn_folder *out, qn_err *err);
void qn_folder_free(qn_folder *folder);

/* 1 when `path` is a folder. */
int qn_is_folder(const char *path);

/* 1 when `path` ends in `ending`, as ".png". */
int qn_has_ending(const char *path, const char *ending);

#endif
