/* check.h - checks folders of reference data; every file gives a finding.
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

/* Runs the checks of a list such as "shadow,svf" over the folder `dir`. Fails only if a check could
 * not run, and with QN_ERR_INPUT if the folder contains none of the known ones.
 */
qn_status qn_sw_check_run(qn_ctx *ctx, const char *dir, const char *list, qn_findings *findings,
                          qn_err *err);

/* Measurements: simulated days compared with measurements at a site. */

/* How far a series is from the measured one. */
typedef struct qn_sw_fit {
    double rmse, bias, correlation;
} qn_sw_fit;

typedef struct qn_sw_measured {
    char day[96]; /* kind and date: "aniso_20060726" */
    int n_hours;
    qn_sw_fit ours, reference; /* Tmrt, K */
} qn_sw_measured;

/* A zero-initialised list is empty. */
typedef struct qn_sw_measured_list {
    qn_sw_measured *list;
    size_t n, room;
} qn_sw_measured_list;

void qn_sw_measured_free(qn_sw_measured_list *list);

/* Runs every day of <dir>/ga that has hours in measurements_ga.csv, and compares Tmrt at the point
 * of poi.geojson, from the run and from the reference. If there is no such day: QN_ERR_INPUT. */
qn_status qn_sw_check_measured(qn_ctx *ctx, const char *dir, qn_sw_measured_list *out, qn_err *err);

/* The layers of reference sites as plain arrays, for machines without GDAL. */

/* Writes every layer of the sites in `dir` as <out>/<site>/<layer>.npy, with its place beside it.
 * qn_sw_check_run gives the same findings for these as for the files in `dir`. *n_layers counts
 * them; QN_ERR_INPUT if there are none. */
qn_status qn_sw_check_export(const char *dir, const char *out, int *n_layers, qn_err *err);

#endif
