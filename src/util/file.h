/* file.h - whole files, read and replaced in one piece.
 *
 * Writing goes to a temporary name in the folder of the target and ends with a rename, so a
 * reader sees the old content or the new one, never a part. Targets that cannot be renamed
 * over (/dev/stdout, a pipe) are written directly.
 */
#ifndef QN_UTIL_FILE_H
#define QN_UTIL_FILE_H

#include "util/status.h"
#include "util/str.h"

#include <stdio.h>

/* Reads all of `path`; the caller frees *data. A NUL follows the last byte. */
qn_status qn_file_read(const char *path, char **data, size_t *bytes, qn_err *err);
qn_status qn_file_write(const char *path, const void *data, size_t bytes, qn_err *err);

/* All of `text`; fails, and leaves the file alone, when there was no memory to make it. */
qn_status qn_file_write_str(const char *path, const qn_str *text, qn_err *err);

/* All bytes to or from an open file: 1, or 0 where it fails or ends before. */
int qn_write_exactly(int file, const void *from, size_t bytes);
int qn_read_exactly(int file, void *to, size_t bytes);

/* A file being written. Zero-initialised is closed; print to `file` in between. */
typedef struct qn_out {
    FILE *file;
    char *path; /* the target, links resolved */
    char *temp; /* NULL when written directly */
} qn_out;

qn_status qn_out_open(const char *path, qn_out *out, qn_err *err);

/* Puts the file in place, or removes it and says why not; closes `out` in both cases. It
 * also reports what failed in earlier prints, so these need no checks. */
qn_status qn_out_commit(qn_out *out, qn_err *err);
void qn_out_abort(qn_out *out); /* removes the temporary; fine when closed */

/* Makes the folder `path`, or the folder that will hold the file `path`, with all parents. */
qn_status qn_make_dirs(const char *path, qn_err *err);
qn_status qn_make_parent(const char *path, qn_err *err);

/* The first of: `override` (may be NULL), QUERN_CACHE_DIR, $XDG_CACHE_HOME/quern,
 * ~/.cache/quern. Does not create it. Fails with QN_ERR_LIMIT when it does not fit into
 * `out`, with QN_ERR_INIT when there is no home; `out` is then "". */
qn_status qn_cache_dir(char *out, size_t size, const char *override);

#endif
