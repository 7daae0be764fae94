/* run.h - a folder of results, with facts about the run that made it.
 *
 * Files are recognised by content, not only by name: metrics are JSON in the format
 * quern-metrics/1, comparisons have a list "checks", figures are JSON in the format
 * quern-figures/1. Pictures end in .png.
 */
#ifndef QN_DOMAIN_REPORT_RUN_H
#define QN_DOMAIN_REPORT_RUN_H

#include "util/folder.h"
#include "util/json.h"
#include "util/str.h"

/* A comparison of the results. Its texts belong to the JSON it came from. */
typedef struct qn_rp_check {
    const char *what, *against;
    double n_values, n_equal; /* NAN: not counted */
    double error, limit;      /* NAN: only counted */
    int is_ok;
} qn_rp_check;

/* Zero-initialised: none. */
typedef struct qn_rp_run {
    char *folder;
    qn_folder files;
    json_t *metrics; /* of the run itself, or NULL */
    json_t *extra;   /* the result of a fit, or NULL */
    json_t **others; /* every other JSON with checks or metrics */
    size_t n_others, room_others;
    qn_rp_check *checks;
    size_t n_checks, room_checks;
} qn_rp_run;

/* Reads the folder. A folder with nothing to report is QN_ERR_INPUT, and so are broken JSON and PNG
 * files. */
qn_status qn_rp_run_read(const char *folder, qn_rp_run *out, qn_err *err);
void qn_rp_run_free(qn_rp_run *run);

/* The path of a file of the run; the caller frees it. */
qn_status qn_rp_path(const qn_rp_run *run, const char *file, char **out, qn_err *err);

/* Facts of the run (facts.c). */

/* The name of a file without its folders. */
const char *qn_rp_base_name(const char *path);

/* "solweig run"; without metrics, the name of the folder. */
const char *qn_rp_command(const qn_rp_run *run);

/* The first word of the command: "solweig"; without metrics, recognised by the tool's files; "" if
 * unknown. */
const char *qn_rp_tool(const qn_rp_run *run, char *out, size_t size);

/* Texts of the summary; "-" if unknown. */
void qn_rp_device(const qn_rp_run *run, char *out, size_t size); /* "opencl:0 + cpu:0" */
void qn_rp_work(const qn_rp_run *run, char *out, size_t size);   /* "300 steps" */
void qn_rp_time(const qn_rp_run *run, char *out, size_t size);   /* "3.4 s" */

/* The result of one comparison: "all 18 equal", "error 3.6e-15, limit 1e-12". */
void qn_rp_verdict(const qn_rp_check *check, char *out, size_t size);

/* Sum of a metric over its labels; 0 if there is none. */
double qn_rp_metric(const qn_rp_run *run, const char *name);

#endif
