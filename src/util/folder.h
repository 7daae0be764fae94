/* folder.h - the files of a folder and its subfolders. */
#ifndef QN_UTIL_FOLDER_H
#define QN_UTIL_FOLDER_H

#include "util/status.h"

enum { QN_FOLDER_MAX_DEPTH = 8, QN_FOLDER_MAX_FILES = 100000 };

/* Zero-initialised: empty. */
typedef struct qn_folder {
    char **files; /* paths relative to the folder, sorted by bytes, with numbers sorted by value */
    size_t n, room;
} qn_folder;

/* Lists regular files and links to them. Names that begin with a dot and links to folders are
 * skipped. A `path` that cannot be listed is QN_ERR_INPUT. */
qn_status qn_folder_list(const char *path, qn_folder *out, qn_err *err);
void qn_folder_free(qn_folder *folder);

int qn_is_folder(const char *path);

/* Whether `path` ends in `ending`, such as ".png". */
int qn_has_ending(const char *path, const char *ending);

#endif
