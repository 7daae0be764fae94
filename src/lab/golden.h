/* golden.h - folders of reference data: finding, reading and comparing their files.
 *
 * A file that is absent becomes a finding that says so, never an error; so does one that cannot be
 * read. Either blocks the check that needs the file, and the next check runs.
 *
 * Everything that the functions below make belongs to the golden, which frees it at the end of a
 * check or of one of its cases.
 */
#ifndef QN_LAB_GOLDEN_H
#define QN_LAB_GOLDEN_H

#include "lab/finding.h"
#include "lab/owned.h"
#include "util/csv.h"
#include "util/json.h"
#include "util/npy.h"

#include <quern/graph.h>

typedef struct qn_golden {
    qn_ctx *ctx;
    const char *dir;
    const char *part; /* of findings */
    qn_findings *findings;
    void *user;     /* for a check that is repeated for several cases */
    int is_blocked; /* a file that the check needs is missing: a finding says so */
    qn_owned owned;
} qn_golden;

/* Counting. */

/* |got - want| <= abs + rel |want| for all values; with `share`, for that fraction of them, and
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

/* Adds the finding about the values counted; out of bounds if there are none. */
__attribute__((format(printf, 3, 4))) void qn_golden_add(qn_golden *g, const qn_tally *tally,
                                                         const char *name, ...);

/* Adds a finding without a comparison. */
#define qn_golden_add_why(g_, verdict_, ...)                                                       \
    qn_finding_note((g_)->findings, (g_)->part, verdict_, __VA_ARGS__)

/* Files; names are relative to the folder. */

enum { QN_GOLDEN_PATH = 1200 };

void qn_golden_path(const qn_golden *g, const char *file, char path[QN_GOLDEN_PATH]);
int qn_golden_has(const qn_golden *g, const char *file);

/* Files that a check needs. A file that is absent or cannot be read is a finding, and blocks the
 * check: the returned status then ends it, and qn_golden_end turns it into QN_OK. */
qn_status qn_golden_floats(qn_golden *g, const char *file, size_t n, float **out, qn_err *err);
qn_status qn_golden_bytes(qn_golden *g, const char *file, size_t n, uint8_t **out, qn_err *err);
qn_status qn_golden_json(qn_golden *g, const char *file, json_t **out, qn_err *err);
qn_status qn_golden_csv(qn_golden *g, const char *file, const qn_csv **out, qn_err *err);

/* Ends a check, or one of its cases, that began with `n` things owned and returned `st`: frees
 * everything it made. Returns QN_OK if the check was only blocked, so that the next can run. */
qn_status qn_golden_end(qn_golden *g, size_t n, qn_status st, qn_err *err);

/* A computation from `file` failed with `st`. If that is the fault of the file's content, this
 * becomes a finding and blocks the check. Returns `st`. */
qn_status qn_golden_refuse(qn_golden *g, const char *file, qn_status st, qn_err *err);

/* Numbers in files; NaN if there is none, which fails every comparison. */
double qn_golden_member(const json_t *object, const char *key);
float qn_golden_float(const json_t *object, const char *key);
double qn_golden_cell(const qn_csv *csv, size_t row, const char *column);
int qn_golden_whole(const qn_csv *csv, size_t row, const char *column); /* -1: none */
int qn_golden_count(const json_t *object, const char *key);             /* of rows; 0: none */

/* The files of a folder whose names begin with `prefix` and end with `suffix`: the parts between,
 * in order. */
typedef struct qn_golden_names {
    char **list;
    size_t n;
} qn_golden_names;

qn_status qn_golden_list(qn_golden *g, const char *folder, const char *prefix, const char *suffix,
                         qn_golden_names *out, qn_err *err);

/* Compares rows x cols values, in rows of `pitch`, with all of a file. Without the file, or with
 * `got` NULL, the finding is skipped. */
void qn_golden_compare(qn_golden *g, const char *file, const float *got, qn_i64 pitch, qn_i64 rows,
                       qn_i64 cols, qn_limit limit);
void qn_golden_compare_all(qn_golden *g, const char *file, const float *got, qn_i64 n,
                           qn_limit limit);

/* Arrays and graphs. */

qn_status qn_golden_floats_new(qn_golden *g, size_t n, float value, float **out, qn_err *err);
qn_status qn_golden_upload(qn_golden *g, const void *data, size_t bytes, qn_buf **out, qn_err *err);
qn_status qn_golden_fresh(qn_golden *g, size_t bytes, qn_buf **out, qn_err *err);
qn_status qn_golden_download(qn_golden *g, qn_buf *buf, size_t n, float **out, qn_err *err);
qn_status qn_golden_graph(qn_golden *g, const char *name, qn_graph **out, qn_err *err);

/* Checks of a tool. */

typedef struct qn_check {
    const char *name;
    const char *about; /* NULL: another part of the check above, which runs even if that is
                        * blocked */
    qn_status (*run)(qn_golden *g, qn_err *err);
    const char *group; /* "days"; may be NULL */
} qn_check;

/* Finds the first word of a comma list that is neither a name nor a group of a check, nor "all";
 * returns 0 if there is none. The list of checks ends with a NULL name. */
int qn_checks_unknown(const qn_check *checks, const char *list, char word[32]);

/* Runs the checks that a list names, over a folder. Fails only if a check could not run. */
qn_status qn_checks_run(const qn_check *checks, const char *list, qn_ctx *ctx, const char *dir,
                        qn_findings *findings, qn_err *err);

#endif
