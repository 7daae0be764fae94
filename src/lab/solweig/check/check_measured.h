/* check_measured.h - days at a site beside what was measured there. */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_MEASURED_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_MEASURED_H

#include "util/status.h"

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
    size_t n;
} qn_sw_measured_list;

void qn_sw_measured_free(qn_sw_measured_list *list);

/* Runs every day of <dir>/ga that measurements_ga.csv has hours of, and compares Tmrt at the point
 * of poi.geojson; so too the series of the reference. No such day is QN_ERR_INPUT. */
qn_status qn_sw_check_measured(qn_ctx *ctx, const char *dir, qn_sw_measured_list *out, qn_err *err);

#endif
