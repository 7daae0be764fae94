/* bench.h - times the parts of a run on a raster that stays on the device.
 *
 * Every figure is the median of several runs after a warm-up, which compiles kernels, uploads
 * tables and allocates memory. Nothing is uploaded or read back in between.
 */
#ifndef QN_LAB_SOLWEIG_BENCH_BENCH_H
#define QN_LAB_SOLWEIG_BENCH_BENCH_H

#include "domain/solweig/surface/surface.h"
#include "lab/sheet.h"

#include <quern/quern.h>

typedef struct qn_sw_bench_options {
    int patch_option; /* 1 to 4 */
    int steps;        /* time steps replayed */
    int samples;      /* runs per median */
    qn_i64 tile;      /* also computes view factors in tiles of this side; 0: no tiles */
} qn_sw_bench_options;

typedef struct qn_sw_bench_line {
    char part[24], name[24]; /* "aniso", "gvf.thermal" */
    double ms, ms_per_mpix;
    qn_i64 rows, cols;
    double relief; /* metres, trees included */
    char device[32];
} qn_sw_bench_line;

typedef struct qn_sw_bench_result {
    qn_sw_bench_line *lines;
    size_t n, room;
    double bytes_per_pixel; /* peak memory held on the device; 0: works in host memory */
} qn_sw_bench_result;

void qn_sw_bench_free(qn_sw_bench_result *result);
qn_sheet qn_sw_bench_sheet(const qn_sw_bench_result *result);

/* Loads the layers of a city. */
qn_status qn_sw_bench_load(const qn_sw_layer_options *layers, qn_sw_surface *out, qn_sw_grid *grid,
                           qn_err *err);

/* `surface` is prepared (surface.h); its walls are computed if it has none. */
qn_status qn_sw_bench(qn_ctx *ctx, qn_sw_surface *surface, const qn_sw_bench_options *options,
                      qn_sw_bench_result *out, qn_err *err);

#endif
