/* golden.h - folders of reference data: files that are found, read and compared.
 *
 * A file that is absent becomes a finding that says so, never an error; so does one that cannot be
 * read. Either blocks the check that needs it, and the next check goes ahead.
 */
#ifndef QN_LAB_GOLDEN_H
#define QN_LAB_GOLDEN_H

#include "lab/finding.h"
#include "util/csv.h"
#include "util/json.h"
#include "util/npy.h"

#include <quern/graph.h>

typedef struct qn_golden {
    qn_ctx *ctx;
    const char *dir;
    const char *part; /* of findings */
    qn_findings *findings;
    void *user;     /* of the caller of a check that runs once per case */
    int is_blocked; /* a file that the check needs is not there: there is a finding already */
} qn_golden;

/* Counting. */

/* |got - want| <= abs + rel |want|, for all values or, with `share`, for that part of them; then
 * `most` bounds the others. */
typedef struct qn_limit {
    double abs, rel, share, most;
} qn_limit;

typedef struct qn_tally {
    qn_limit limit;
    qn_i64 n, n_equal, n_beyond;
    double sum, most;
} qn_tally;

void qn_tally_add(qn_tally *tally, double got, double want);

/* Adds the finding about the values counted; without a value it is out of bounds. */
__attribute__((format(printf, 3, 4))) void qn_golden_add(qn_golden *g, const qn_tally *tally,
                                                         const char *name, ...);

/* Adds a finding without a comparison. */
__attribute__((format(printf, 4, 5))) void qn_golden_add_why(qn_golden *g, qn_verdict verdict,
                                                             const char *name, const char *why,
                                                             ...);

/* Files; names are relative to the folder. */

enum { QN_GOLDEN_PATH = 1200 };

void qn_golden_path(const qn_golden *g, const char *file, char path[QN_GOLDEN_PATH]);
int qn_golden_has(const qn_golden *g, const char *file);

/* Files that a check needs. One that is absent or cannot be read is a finding, and blocks the
 * check: the status that is returned then ends it, and qn_golden_unblock takes it back. */
qn_status qn_golden_floats(qn_golden *g, const char *file, size_t n, float **out, qn_err *err);
qn_status qn_golden_bytes(qn_golden *g, const char *file, size_t n, uint8_t **out, qn_err *err);
qn_status qn_golden_json(qn_golden *g, const char *file, json_t **out, qn_err *err);
qn_status qn_golden_csv(qn_golden *g, const char *file, qn_csv *out, qn_err *err);

/* Ends a check, or one of its cases, that returned `st`: QN_OK when it was only blocked, so that
 * the next can run. */
qn_status qn_golden_unblock(qn_golden *g, qn_status st, qn_err *err);

/* A computation from `file` failed with `st`. When the content of files is at fault that is a
 * finding, and blocks the check. Returns `st`. */
qn_status qn_golden_refuse(qn_golden *g, const char *file, qn_status st, qn_err *err);

/* Numbers of files; NaN where there is none, which no comparison lets pass. */
double qn_golden_member(const json_t *object, const char *key);
double qn_golden_cell(const qn_csv *csv, size_t row, const char *column);
int qn_golden_whole(const qn_csv *csv, size_t row, const char *column); /* -1: none */
int qn_golden_count(const json_t *object, const char *key);             /* of rows; 0: none */

/* The parts of names between `prefix` and `suffix` of the files in a folder, in order. */
typedef struct qn_golden_names {
    char **list;
    size_t n;
} qn_golden_names;

qn_status qn_golden_list(const qn_golden *g, const char *folder, const char *prefix,
                         const char *suffix, qn_golden_names *out, qn_err *err);
void qn_golden_names_free(qn_golden_names *names);

/* Compares rows x cols values, in rows of `pitch`, with all of a file. Without a file, or with
 * `got` NULL, the finding is skipped. */
void qn_golden_compare(qn_golden *g, const char *file, const float *got, qn_i64 pitch, qn_i64 rows,
                       qn_i64 cols, qn_limit limit);
void qn_golden_compare_all(qn_golden *g, const char *file, const float *got, qn_i64 n,
                           qn_limit limit);

/* Arrays on devices (golden_device.c). */

qn_status qn_golden_upload(const qn_golden *g, const void *data, size_t bytes, qn_buf **out,
                           qn_err *err);
qn_status qn_golden_fresh(const qn_golden *g, size_t bytes, qn_buf **out, qn_err *err);

/* Runs a graph that all stages were added to, waits for it, and frees it. */
qn_status qn_golden_finish(qn_graph **graph, qn_err *err);

/* free() *out. */
qn_status qn_golden_floats_new(size_t n, float value, float **out, qn_err *err);
qn_status qn_golden_download(qn_buf *buf, size_t n, float **out, qn_err *err);

#endif
