/* file.h - whole files, read and replaced in one piece.
 *
 * A file gets its name when all of it is on the disk. So a reader sees the old content or the new
 * one, never a part, and a power cut changes nothing about that. Of processes that write one file
 * at once the last to finish wins. A kill leaves no other file, or one that the next writer removes,
 * except on disks where every file has a name (NFS). Targets that cannot be renamed over
 * (/dev/stdout, a pipe) are written directly.
 */
#ifndef QN_UTIL_FILE_H
#define QN_UTIL_FILE_H

#include "util/status.h"
#include "util/str.h"

#include <stdio.h>

/* The folder of unfinished files (run_folder.h). Files in it are written as they are, since what
 * gives them their names brings them to the disk first. */
#define QN_RUN_UNFINISHED "run.unfinished"

/* The most bytes that a file of a kind may have; docs/formats.md has the same table. */
#define QN_MOST_JSON    ((size_t)64 << 20)
#define QN_MOST_PROGRAM ((size_t)64 << 20)
#define QN_MOST_WEATHER ((size_t)64 << 20)
#define QN_MOST_TABLE   ((size_t)256 << 20)
#define QN_MOST_REPORT  ((size_t)256 << 20) /* what a run left: its page, its pictures */
#define QN_MOST_DATA    ((size_t)4 << 30)   /* of fit, as it is on disk */
#define QN_MOST_ARRAY   ((size_t)64 << 30)

/* Reads all of `path`; the caller frees *data. A NUL follows the last byte. A file of more than
 * `most` bytes is refused before it is read: QN_ERR_LIMIT. */
qn_status qn_file_read_most(const char *path, size_t most, char **data, size_t *bytes, qn_err *err);

/* The same with QN_MOST_ARRAY, for files that quern itself has written. */
qn_status qn_file_read(const char *path, char **data, size_t *bytes, qn_err *err);

/* Opens a file that will be read in parts; *bytes is its size, 0 of what is not a regular file. */
qn_status qn_file_open(const char *path, size_t most, int *out, size_t *bytes, qn_err *err);

qn_status qn_file_write(const char *path, const void *data, size_t bytes, qn_err *err);

/* All of `text`; fails, and leaves the file alone, when there was no memory to make it. */
qn_status qn_file_write_str(const char *path, const qn_str *text, qn_err *err);

/* All bytes to or from an open file, where it stands or from byte `at` on: 1, or 0 with errno where
 * it fails or ends before. */
int qn_write_exactly(int file, const void *from, size_t bytes);
int qn_read_exactly(int file, void *to, size_t bytes);
int qn_write_exactly_at(int file, const void *from, size_t bytes, size_t at);
int qn_read_exactly_at(int file, void *to, size_t bytes, size_t at);

/* A file being written. Zero-initialised is closed; print to `file` in between. It has no
 * fileno. */
typedef struct qn_out {
    FILE *file;
    char *path;           /* the target, links resolved */
    char *temp;           /* its name until then, if it has one */
    struct qn_sink *sink; /* of `file` */
    int is_nameless;      /* until it is in place */
} qn_out;

qn_status qn_out_open(const char *path, qn_out *out, qn_err *err);

/* Writes `path` itself, and not through to the disk: for a folder of unfinished files. */
qn_status qn_out_direct(const char *path, qn_out *out, qn_err *err);

/* Puts the file in place, or removes it and says why not; closes `out` in both cases. It
 * also reports what failed in earlier prints, so these need no checks. */
qn_status qn_out_commit(qn_out *out, qn_err *err);
void qn_out_abort(qn_out *out); /* removes the temporary; fine when closed */

/* A file that another library writes, by its name: "a/tmrt.tif" as "a/tmrt.partial.tif". What a
 * killed process has left is written over or removed. Other processes may write the same file
 * meanwhile, as "a/tmrt.partial1.tif": the last one to publish wins. Zero-initialised is closed. */
typedef struct qn_partial {
    char *path; /* exists, and may be truncated but not replaced */
    int lock;
} qn_partial;

qn_status qn_partial_open(const char *path, qn_partial *out, qn_err *err);

/* Both end `partial`: one gives the file its name, once it is on the disk; the other removes it.
 * Dropping a closed one is fine. */
qn_status qn_partial_publish(qn_partial *partial, const char *path, qn_err *err);
void qn_partial_drop(qn_partial *partial);

/* Brings the name `path` to the disk: 0, or -1 with errno. */
int qn_sync_parent(const char *path);

/* Makes the folder `path`, or the folder that will hold the file `path`, with all parents. */
qn_status qn_make_dirs(const char *path, qn_err *err);
qn_status qn_make_parent(const char *path, qn_err *err);

/* The first of: `override` (may be NULL), QUERN_CACHE_DIR, $XDG_CACHE_HOME/quern,
 * ~/.cache/quern. Does not create it. Fails with QN_ERR_LIMIT when it does not fit into
 * `out`, with QN_ERR_INIT when there is no home; `out` is then "". */
qn_status qn_cache_dir(char *out, size_t size, const char *override);

#endif
