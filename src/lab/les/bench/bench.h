/* bench.h - how long steps take, beside the same transforms alone and the device's memory.
 *
 * A point is one grid on one device. Steps are those of a plain run without observer; the time is
 * the median of several batches of steps, each waited for.
 */
#ifndef QN_LAB_LES_BENCH_BENCH_H
#define QN_LAB_LES_BENCH_BENCH_H

#include "domain/les/options/options.h"

typedef struct qn_les_point {
    int n, members, is_f64, is_origin;
    char device[32];
    double step_us, first_s; /* first_s: until the first step was done, plans and kernels made */
    double fft_us;           /* the transforms of a step alone */
    double cell_steps;       /* cells times steps per second */
    double gbs;              /* of the bytes that the cost model has */
    double roofline;         /* of what the device's memory gave; NaN: not measured */
} qn_les_point;

typedef struct qn_les_points {
    qn_les_point *list;
    size_t n;
    double gbs; /* of the device's memory, read and written by a plain loop */
} qn_les_points;

void qn_les_points_free(qn_les_points *points);

/* Rate of a loop over arrays that no cache holds. */
qn_status qn_les_bandwidth(qn_ctx *ctx, double *gbs, qn_err *err);

/* Measures one point and appends it. With `is_fft_only` no step is made. */
qn_status qn_les_bench_add(qn_ctx *ctx, const qn_les_options *config, int samples, int is_fft_only,
                           qn_les_points *points, qn_err *err);

/* Files of a bench: <prefix>.csv, <prefix>.json and <prefix>.html. */
qn_status qn_les_bench_write(const qn_les_points *points, const char *prefix, const char *command,
                             qn_err *err);

/* Time of a step of an operator of `d` features, in the precision, members and way of rolling out
 * of `config`. */
qn_status qn_les_bench_rollout(qn_ctx *ctx, const qn_les_options *config, int d, int samples,
                               double *us, qn_err *err);

/* From flow to decoded fields. */

/* A whole run: LES, encode, learn, roll out, decode, compare. */
typedef struct qn_les_whole {
    char device[64];
    double total_s, step_us, rollout_us, error; /* error: low-pass, of the last snapshot */
} qn_les_whole;

/* On one device. Files go to a folder that vanishes. */
qn_status qn_les_whole_run(qn_ctx *ctx, const qn_les_options *config, qn_les_whole *out,
                           qn_err *err);

/* The flow on `cpu`, everything else on `device`: every encoded frame goes up. */
qn_status qn_les_mixed_run(qn_ctx *cpu, qn_ctx *device, const qn_les_options *config,
                           qn_les_whole *out, qn_err *err);

#endif
