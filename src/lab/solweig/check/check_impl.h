/* check_impl.h - what checks share: files of the folder, comparisons, arrays on devices. */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_IMPL_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_IMPL_H

#include "lab/solweig/check/check.h"
#include "domain/solweig/raster/raster.h"
#include "util/csv.h"
#include "util/json.h"
#include "util/npy.h"

#include <quern/graph.h>

typedef struct qn_sw_golden {
    qn_ctx *ctx;
    const char *dir;
    const char *stage; /* of findings */
    qn_sw_report *report;
    void *user;     /* of what calls a check for each case */
    int is_blocked; /* a file that the check needs is not there: that is a finding already */
} qn_sw_golden;

/* Findings (check.c). */

/* |got - want| <= abs + rel |want|, for all values or, with `share`, for that part of them; then
 * `most` bounds the others. */
typedef struct qn_sw_limit {
    double abs, rel, share, most;
} qn_sw_limit;

typedef struct qn_sw_tally {
    qn_sw_limit limit;
    qn_i64 n, n_equal, n_beyond;
    double sum, most;
} qn_sw_tally;

void qn_sw_tally_add(qn_sw_tally *tally, double got, double want);

/* Adds the finding about what was counted; without a value it is out of bounds. */
__attribute__((format(printf, 3, 4))) void qn_sw_golden_tell(qn_sw_golden *g,
                                                             const qn_sw_tally *tally,
                                                             const char *name, ...);

/* Adds a finding without a comparison. */
__attribute__((format(printf, 4, 5))) void qn_sw_golden_tell_why(qn_sw_golden *g,
                                                                 qn_sw_verdict verdict,
                                                                 const char *name, const char *why,
                                                                 ...);

/* Files (check_files.c); names are relative to the folder. */

enum { QN_SW_PATH_BYTES = 1200 };

void qn_sw_golden_path(const qn_sw_golden *g, const char *file, char path[QN_SW_PATH_BYTES]);
int qn_sw_golden_has(const qn_sw_golden *g, const char *file);

/* Files that a check needs. One that is absent or cannot be read is a finding, and blocks the
 * check: it ends with a status that qn_sw_check_run knows from `is_blocked`. */
qn_status qn_sw_golden_floats(qn_sw_golden *g, const char *file, size_t n, float **out,
                              qn_err *err);
qn_status qn_sw_golden_bytes(qn_sw_golden *g, const char *file, size_t n, uint8_t **out,
                             qn_err *err);
qn_status qn_sw_golden_json(qn_sw_golden *g, const char *file, json_t **out, qn_err *err);
qn_status qn_sw_golden_csv(qn_sw_golden *g, const char *file, qn_csv *out, qn_err *err);

/* Ends a check, or one of its cases, that came to `st`: QN_OK when it was only blocked, so that the
 * next can be taken. */
qn_status qn_sw_golden_go_on(qn_sw_golden *g, qn_status st, qn_err *err);

/* What was computed from `file` failed with `st`. When the content of files is at fault that is a
 * finding, and blocks the check. Returns `st`. */
qn_status qn_sw_golden_refuse(qn_sw_golden *g, const char *file, qn_status st, qn_err *err);

/* Numbers of what was read; NaN where there is none, which no comparison lets pass. */
double qn_sw_golden_member(const json_t *object, const char *key);
int qn_sw_golden_whole(const qn_csv *csv, size_t row, const char *column); /* -1: none */
double qn_sw_golden_cell(const qn_csv *csv, size_t row, const char *column);

/* A number of rows or columns; 0 where there is none that can be. */
int qn_sw_golden_count(const json_t *object, const char *key);

/* The window [row0, row1, col0, col1] that a member of `object` holds, without pixels unless it
 * lies inside the raster. */
qn_sw_window qn_sw_golden_window_of(const json_t *object, const char *key, qn_i64 rows,
                                    qn_i64 cols);

/* The parts of names between `prefix` and `suffix` of the files in a folder, in order. */
typedef struct qn_sw_names {
    char **list;
    size_t n;
} qn_sw_names;

qn_status qn_sw_golden_list(const qn_sw_golden *g, const char *folder, const char *prefix,
                            const char *suffix, qn_sw_names *out, qn_err *err);
void qn_sw_golden_names_free(qn_sw_names *names);

/* Compares a window of `got`, an array of `pitch` columns, with all of a file. A file that is
 * absent is a finding, skipped. */
void qn_sw_golden_compare(qn_sw_golden *g, const char *file, const float *got, qn_i64 pitch,
                          qn_sw_window window, qn_sw_limit limit);

/* The same of `n` values one after the other. */
void qn_sw_golden_compare_all(qn_sw_golden *g, const char *file, const float *got, qn_i64 n,
                              qn_sw_limit limit);

/* Arrays on devices (check_device.c). */

qn_status qn_sw_golden_upload(const qn_sw_golden *g, const void *data, size_t bytes, qn_buf **out,
                              qn_err *err);
qn_status qn_sw_golden_fresh(const qn_sw_golden *g, size_t bytes, qn_buf **out, qn_err *err);

/* Runs a graph that all stages were added to, waits for it, and frees it. */
qn_status qn_sw_golden_finish(qn_graph **graph, qn_err *err);

/* free() *out. */
qn_status qn_sw_golden_floats_new(size_t n, float value, float **out, qn_err *err);
qn_status qn_sw_golden_download(qn_buf *buf, size_t n, float **out, qn_err *err);

/* The checks. */

typedef qn_status (*qn_sw_check_fn)(qn_sw_golden *g, qn_err *err);

qn_status qn_sw_check_shadow(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_svf(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_svf_ga(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_svf_gbg(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_walls(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_walls_ga(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_gvf(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_gvf_umep(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_radiation(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_aniso(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_comfort(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_utci_points(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_utci_grid(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_pet_points(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_pet_grid(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_points(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_delays(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_tmrt(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_weather(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_clearness(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_epw(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_days(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_tables(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_prep(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_ga(qn_sw_golden *g, qn_err *err);
qn_status qn_sw_check_gbg(qn_sw_golden *g, qn_err *err);

#endif
