/* series.h - the records of a series of time steps, on the device.
 *
 * All records are written before the first step and uploaded once. Which of them kernels mean is a
 * number on the device; a graph of one step ends with qn_sw_add_next and is run again and again.
 */
#ifndef QN_SW_STEP_SERIES_H
#define QN_SW_STEP_SERIES_H

#include "kernel/solweig/sw_moment.h"
#include "util/status.h"

#include <quern/graph.h>

typedef struct qn_sw_series {
    qn_ctx *ctx;
    int n_steps;
    int n_patches; /* of the tables, empty ones included; 0: isotropic sky */
    qn_buf *now;
    qn_buf *steps;
    qn_buf *sky;     /* NULL for an isotropic sky */
    qn_buf *patches; /* the same */
} qn_sw_series;

/* `steps` and the tables are copied. `sky` has [n_steps][n_patches] entries (qn_sw_moment_fill);
 * without patches it and `patches` are NULL. */
qn_status qn_sw_series_new(qn_ctx *ctx, int n_steps, const sw_moment *steps, int n_patches,
                           const sw_patch *patches, const sw_sky *sky, qn_sw_series **out,
                           qn_err *err);
void qn_sw_series_free(qn_sw_series *series);

/* The next step that is run is number `step`. */
qn_status qn_sw_series_seek(qn_sw_series *series, int step, qn_err *err);

/* Adds: the step after this one is meant from here on. */
qn_status qn_sw_add_next(qn_sw_series *series, qn_graph *graph, qn_err *err);

#endif
