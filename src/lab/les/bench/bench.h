/* bench.h - time per step, compared with its transforms alone and with the memory of the device.
 *
 * A point is one grid on one device. Its steps are those of a run without observer; the time is the
 * median of several batches of steps, and each batch is waited for.
 */
#ifndef QN_LAB_LES_BENCH_BENCH_H
#define QN_LAB_LES_BENCH_BENCH_H

#include "lab/sheet.h"
#include "util/options.h"

#include <quern/les.h>

enum { QN_LES_SAMPLE_US = 50000 }; /* approximate time of a sample, at least one batch */

typedef struct qn_les_point {
    int n, members, is_f64, is_origin;
    char device[32];
    double step_us, first_s; /* first_s: time of the first step, with plans and compilation */
    double fft_us;           /* the transforms of a step alone */
    double cell_steps;       /* cells times steps per second */
    double gbs;              /* rate of the bytes of the cost model */
    double roofline;         /* share of the measured memory rate; NaN: not measured */
    double over_fft;         /* step per transforms */
} qn_les_point;

typedef struct qn_les_points {
    qn_les_point *list;
    size_t n, room;
    double gbs; /* memory rate of the device, from a plain loop that reads and writes */
} qn_les_points;

void qn_les_points_free(qn_les_points *points);

/* Measures one point and appends it. With `is_fft_only` no step is made. */
qn_status qn_les_bench_add(qn_ctx *ctx, const qn_les_options *options, int samples, int is_fft_only,
                           qn_les_points *points, qn_err *err);

qn_sheet qn_les_sheet(const qn_les_points *points);

/* Files of a bench: <prefix>.csv, <prefix>.json and <prefix>.html. */
qn_status qn_les_bench_write(const qn_les_points *points, const char *prefix, const char *command,
                             qn_err *err);

/* Time of one step of an operator with `d` features; precision, members and method of the rollout
 * are those of `options`. */
qn_status qn_les_bench_rollout(qn_ctx *ctx, const qn_les_options *options, int d, int samples,
                               double *us, qn_err *err);

/* Whole runs. */

/* A run from the flow to compared fields. */
typedef struct qn_les_whole {
    char device[64];
    double total_s, step_us, rollout_us, error; /* error: low-pass, at the last snapshot */
} qn_les_whole;

/* On one device. Files go to a temporary folder. */
qn_status qn_les_whole_run(qn_ctx *ctx, const qn_les_options *options, qn_les_whole *out,
                           qn_err *err);

/* The flow on `cpu`, everything else on `device`: every frame is uploaded. */
qn_status qn_les_mixed_run(qn_ctx *cpu, qn_ctx *device, const qn_les_options *options,
                           qn_les_whole *out, qn_err *err);

#endif
