/* sw_summary.h - the summary of a series: sums, counts and extremes of each pixel of the core, and
 * one record per step.
 *
 * Derived figures are not stored: the sum over all hours is day plus night, hours of shade are the
 * hours without sun, and hours above a threshold are a count times the interval.
 */
#ifndef QN_KERNEL_SW_SUMMARY_H
#define QN_KERNEL_SW_SUMMARY_H

#include "kernel/types.h"

enum {
    SW_SUM_TMRT_DAY,
    SW_SUM_TMRT_NIGHT,
    SW_SUM_UTCI_DAY,
    SW_SUM_UTCI_NIGHT,
    SW_SUM_SUN,
    SW_SUMS
};
enum { SW_TMRT_MAX, SW_TMRT_MIN, SW_UTCI_MAX, SW_UTCI_MIN, SW_EXTREMES };

/* Counts, then one count per threshold. In a series of at most SW_NARROW_STEPS steps two counts
 * share a word; the first is in the lower half. */
enum { SW_N_TMRT_DAY, SW_N_TMRT_NIGHT, SW_N_UTCI_DAY, SW_N_UTCI_NIGHT, SW_COUNTS };

/* Grids computed from them; beyond the last, hours above threshold `which - SW_GRIDS`. */
enum {
    SW_GRID_TMRT_MEAN,
    SW_GRID_TMRT_MAX,
    SW_GRID_TMRT_MIN,
    SW_GRID_TMRT_DAY,
    SW_GRID_TMRT_NIGHT,
    SW_GRID_UTCI_MEAN,
    SW_GRID_UTCI_MAX,
    SW_GRID_UTCI_MIN,
    SW_GRID_UTCI_DAY,
    SW_GRID_UTCI_NIGHT,
    SW_GRID_SUN_HOURS,
    SW_GRID_SHADE_HOURS,
    SW_GRIDS
};

#define SW_THRESHOLDS   8
#define SW_NARROW_STEPS 65535

/* Sums over the core for the means of a step. */
enum { SW_ROW_TMRT, SW_ROW_UTCI, SW_ROW_SHADOW, SW_ROW_N_TMRT, SW_ROW_N_UTCI, SW_ROW_WORDS = 8 };

typedef struct {
    i64 plane;       /* pixels of the core */
    double dt_hours; /* between steps */
    i32 cols;        /* of the rasters */
    i32 x0, y0;      /* origin of the core in the rasters */
    i32 core_cols, core_rows;
    i32 n_thresholds;
    i32 per_word; /* counts per word: 2, or 1 for long series */
    i32 unused;
    float above[SW_THRESHOLDS];
    i32 when[SW_THRESHOLDS]; /* 1: by day, 2: by night */
} sw_summary_par;
QN_PAR_SIZE(sw_summary_par, 112);

#endif
