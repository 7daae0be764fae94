/* check_impl.h - windows of rasters beside reference data, and the checks. */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_IMPL_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_IMPL_H

#include "lab/solweig/check/check.h"
#include "domain/solweig/raster/raster.h"
#include "lab/golden.h"

/* The window [row0, row1, col0, col1] that a member of `object` holds, without pixels unless it
 * lies inside the raster. */
qn_window qn_sw_golden_window_of(const json_t *object, const char *key, qn_i64 rows, qn_i64 cols);

/* Compares a window of `got`, an array of `pitch` columns, with all of a file. A file that is
 * absent gives a finding, skipped. */
void qn_sw_golden_compare(qn_golden *g, const char *file, const float *got, qn_i64 pitch,
                          qn_window window, qn_limit limit);

/* The checks. */

typedef qn_status (*qn_sw_check_fn)(qn_golden *g, qn_err *err);

qn_status qn_sw_check_shadow(qn_golden *g, qn_err *err);
qn_status qn_sw_check_svf(qn_golden *g, qn_err *err);
qn_status qn_sw_check_svf_ga(qn_golden *g, qn_err *err);
qn_status qn_sw_check_svf_gbg(qn_golden *g, qn_err *err);
qn_status qn_sw_check_walls(qn_golden *g, qn_err *err);
qn_status qn_sw_check_walls_ga(qn_golden *g, qn_err *err);
qn_status qn_sw_check_gvf(qn_golden *g, qn_err *err);
qn_status qn_sw_check_gvf_umep(qn_golden *g, qn_err *err);
qn_status qn_sw_check_radiation(qn_golden *g, qn_err *err);
qn_status qn_sw_check_aniso(qn_golden *g, qn_err *err);
qn_status qn_sw_check_comfort(qn_golden *g, qn_err *err);
qn_status qn_sw_check_utci_points(qn_golden *g, qn_err *err);
qn_status qn_sw_check_utci_grid(qn_golden *g, qn_err *err);
qn_status qn_sw_check_pet_points(qn_golden *g, qn_err *err);
qn_status qn_sw_check_pet_grid(qn_golden *g, qn_err *err);
qn_status qn_sw_check_points(qn_golden *g, qn_err *err);
qn_status qn_sw_check_delays(qn_golden *g, qn_err *err);
qn_status qn_sw_check_tmrt(qn_golden *g, qn_err *err);
qn_status qn_sw_check_weather(qn_golden *g, qn_err *err);
qn_status qn_sw_check_clearness(qn_golden *g, qn_err *err);
qn_status qn_sw_check_epw(qn_golden *g, qn_err *err);
qn_status qn_sw_check_days(qn_golden *g, qn_err *err);
qn_status qn_sw_check_tables(qn_golden *g, qn_err *err);
qn_status qn_sw_check_prep(qn_golden *g, qn_err *err);
qn_status qn_sw_check_ga(qn_golden *g, qn_err *err);
qn_status qn_sw_check_gbg(qn_golden *g, qn_err *err);

#endif
