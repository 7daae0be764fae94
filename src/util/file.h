/* file.h - reads and replaces whole files.
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
#define QN_MOST_REPORT  ((size_t)256 << 20) /* of a run: its page, its pictures */
#define QN_MOST_DATA    ((size_t)4 << 30)   /* of fit, on disk */
#define QN_MOST_ARRAY   ((size_t)64 << 30)

/* Reads all of `path`; the caller frees *data. A NUL follows the last byte. A file of more than
 * `most` bytes is QN_ERR_LIMIT and is not read. */
qn_status qn_file_read_most(const char *path, size_t most, char **data, size_t *bytes, qn_err *err);

/* qn_file_read_most with QN_MOST_ARRAY, for files that quern has written itself. */
qn_status qn_file_read(const char *path, char **data, size_t *bytes, qn_err *err);

/* Opens a file that will be read in parts; *bytes is its size, or 0 if it is not a regular file. */
qn_status qn_file_open(const char *path, size_t most, int *out, size_t *bytes, qn_err *err);

qn_status qn_file_write(const char *path, const void *data, size_t bytes, qn_err *err);

/* Writes `text`. If memory ran out while it was built, this fails and leaves the file alone. */
qn_status qn_file_write_str(const char *path, const qn_str *text, qn_err *err);

/* Transfer all bytes to or from an open file, at its position or at byte `at`. Return 1, or 0 with
 * errno on an error or an early end. */
int qn_write_exactly(int file, const void *from, size_t bytes);
int qn_read_exactly(int file, void *to, size_t bytes);
int qn_write_exactly_at(int file, const void *from, size_t bytes, size_t at);
int qn_read_exactly_at(int file, void *to, size_t bytes, size_t at);

/* A file being written; print to `file`, which has no fileno. Zero-initialised: closed. */
typedef struct qn_out {
    FILE *file;
    char *path;           /* the target, links resolved */
    char *temp;           /* its temporary name, if it has one */
    struct qn_sink *sink; /* of `file` */
    int is_nameless;      /* it has no name yet */
} qn_out;

qn_status qn_out_open(const char *path, qn_out *out, qn_err *err);

/* Writes to `path` directly and without syncing: for a folder of unfinished files. */
qn_status qn_out_direct(const char *path, qn_out *out, qn_err *err);

/* Puts the file in place, or removes it and fails; closes `out` in both cases. It also reports
 * failures of earlier prints, so these need no checks. */
qn_status qn_out_commit(qn_out *out, qn_err *err);
void qn_out_abort(qn_out *out); /* removes the temporary file; fine if closed */

/* A file that another library writes, by its name: "a/tmrt.tif" as "a/tmrt.partial.tif". What a
 * killed process has left is written over or removed. Other processes may write the same file
 * meanwhile, as "a/tmrt.partial1.tif": the last one to publish wins. Zero-initialised is closed. */
typedef struct qn_partial {
    char *path; /* exists, and may be truncated but not replaced */
    int lock;
} qn_partial;

qn_status qn_partial_open(const char *path, qn_partial *out, qn_err *err);

/* Both end `partial`: publish syncs the file and gives it its name; drop removes it. Dropping a
 * closed one is fine. */
qn_status qn_partial_publish(qn_partial *partial, const char *path, qn_err *err);
void qn_partial_drop(qn_partial *partial);

/* Syncs the folder of `path`, so that its name is on the disk. Returns 0, or -1 with errno. */
int qn_sync_parent(const char *path);

/* Makes the folder `path`, or the folder that will hold the file `path`, with all parents. */
qn_status qn_make_dirs(const char *path, qn_err *err);
qn_status qn_make_parent(const char *path, qn_err *err);

/* The first of: `override` (may be NULL), QUERN_CACHE_DIR, $XDG_CACHE_HOME/quern, ~/.cache/quern.
 * Does not create it. Fails with QN_ERR_LIMIT if it does not fit into `out`, with QN_ERR_INIT if
 * there is no home; `out` is then "". */
qn_status qn_cache_dir(char *out, size_t size, const char *override);

#endif
