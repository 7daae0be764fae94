/* check.h - folders of reference data: every file in them as a finding.
 *
 * A check computes the stages that a group of files describes, on the devices of the context, and
 * compares. Cases are found by the names of their files, so another sun, sky or day in the folder
 * is checked too.
 */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_H

#include "lab/golden.h"

/* In the groups "stages" (every stage by itself) and "days" (whole days at a site). */
extern const qn_check qn_sw_checks[];

/* Runs the checks of a list such as "shadow,svf" over the folder `dir`. Fails only when a check
 * itself was not possible, and with QN_ERR_INPUT when the folder has none of the known ones in it.
 */
qn_status qn_sw_check_run(qn_ctx *ctx, const char *dir, const char *list, qn_findings *findings,
                          qn_err *err);

/* Measurements: days at a site against what was measured there. */

/* How far a series is from the measured one. */
typedef struct qn_sw_fit {
    double rmse, bias, correlation;
} qn_sw_fit;

typedef struct qn_sw_measured {
    char day[96]; /* kind and date: "aniso_20060726" */
    int n_hours;
    qn_sw_fit ours, reference; /* Tmrt, K */
} qn_sw_measured;

/* Zero-initialised is empty. */
typedef struct qn_sw_measured_list {
    qn_sw_measured *list;
    size_t n, room;
} qn_sw_measured_list;

void qn_sw_measured_free(qn_sw_measured_list *list);

/* Runs every day of <dir>/ga that has hours in measurements_ga.csv, and compares Tmrt at the point
 * of poi.geojson, of the run and of the reference. No such day is QN_ERR_INPUT. */
qn_status qn_sw_check_measured(qn_ctx *ctx, const char *dir, qn_sw_measured_list *out, qn_err *err);

/* The layers of reference sites as plain arrays, for machines without GDAL. */

/* Writes every layer of the sites in `dir` as <out>/<site>/<layer>.npy, its place beside it.
 * qn_sw_check_run has the same findings about these as about the files in `dir`. *n_layers counts
 * them; QN_ERR_INPUT when there is none. */
qn_status qn_sw_check_export(const char *dir, const char *out, int *n_layers, qn_err *err);

#endif
