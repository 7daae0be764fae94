/* summary.h - the summary of a series: grids of means, extremes and hours, and means per step.
 *
 * Accumulators of the core stay on the device, and so does one record of sums per step (64 bytes)
 * until it is read.
 */
#ifndef QN_SW_SUMMARY_H
#define QN_SW_SUMMARY_H

#include "domain/solweig/step/step.h"
#include "kernel/solweig/sw_summary.h"

/* Hours with UTCI above `above`, by day, by night or both. */
typedef struct qn_sw_threshold {
    float above;
    int by_day, by_night;
} qn_sw_threshold;

/* The part of the rasters that is summarised. */
typedef struct qn_sw_core {
    int x0, y0, cols, rows;
} qn_sw_core;

typedef struct qn_sw_summary {
    qn_ctx *ctx;
    sw_summary_par par;
    int n_steps;
    qn_buf *sums, *extremes, *counts;
    qn_buf *part, *records;
} qn_sw_summary;

/* `cols` is the width of the rasters, dt_hours the interval of the first two steps (1 if there is
 * one step). At most SW_THRESHOLDS thresholds. */
qn_status qn_sw_summary_new(qn_ctx *ctx, int cols, qn_sw_core core, double dt_hours,
                            const qn_sw_threshold *thresholds, int n_thresholds, int n_steps,
                            qn_sw_summary **out, qn_err *err);
void qn_sw_summary_free(qn_sw_summary *summary);

/* Number of words for the counts of a pixel. */
int qn_sw_summary_words(int n_thresholds, qn_i64 n_steps);

/* Adds the stage that clears all accumulators. */
qn_status qn_sw_add_summary_clear(qn_sw_summary *summary, qn_graph *graph, qn_err *err);

/* Adds the stage that accumulates the current step. */
qn_status qn_sw_add_summary(qn_sw_summary *summary, qn_graph *graph, const qn_sw_step_table *series,
                            qn_buf *tmrt, qn_buf *utci, qn_buf *shadow, qn_err *err);

/* Adds the stage that computes grid `which` (SW_GRID_*, or SW_GRIDS + threshold) of the core, f32,
 * in `grid`. */
qn_status qn_sw_add_summary_grid(qn_sw_summary *summary, qn_graph *graph, int which, qn_buf *grid,
                                 qn_err *err);

/* Sums of a step over the valid pixels of the core. The mean of a raster is the sum over tiles
 * divided by the count over tiles. shadow is for sun_fraction. */
typedef struct qn_sw_step_sums {
    double tmrt, utci, shadow;
    qn_i64 n_tmrt, n_utci;
} qn_sw_step_sums;

qn_status qn_sw_summary_read(qn_sw_summary *summary, int step, qn_sw_step_sums *out, qn_err *err);

#endif
