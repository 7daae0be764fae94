/* timing.h - the one loop for measuring: a first run, warm-up runs, samples. */
#ifndef QN_LAB_TIMING_H
#define QN_LAB_TIMING_H

#include "util/stats.h"
#include "util/status.h"

#include <quern/graph.h>

enum { QN_TIMING_MAX_SAMPLES = 100000 };

/* Does the work once and returns how many microseconds it took, or several figures about it. */
typedef qn_status (*qn_timed_fn)(void *user, double *us, qn_err *err);

/* `first_us` is the very first run, including one-time costs; `warm_us` the last one before the
 * samples. */
typedef struct qn_timing {
    double first_us, warm_us;
    qn_stats samples;
} qn_timing;

/* Runs once, then `n_warm` times, then for 0 to QN_TIMING_MAX_SAMPLES samples. */
qn_status qn_time(int n_warm, int n_samples, qn_timed_fn fn, void *user, qn_timing *out,
                  qn_err *err);

/* Like qn_time, for work that gives `n` figures each time, out[n] of them. */
qn_status qn_time_figures(int n_warm, int n_samples, int n, qn_timed_fn fn, void *user,
                          qn_timing *out, qn_err *err);

/* The shortest run, including the first. */
double qn_time_best(const qn_timing *timing);

/* Microseconds of each of `runs` runs in a row, with one wait at the end. */
qn_status qn_time_runs(qn_graph *graph, int runs, double *us, qn_err *err);

/* Times a graph, after three runs to warm up. A sample is the mean of as many runs in a row as take
 * `sample_us`, at least one. */
qn_status qn_time_graph(qn_graph *graph, int n_samples, double sample_us, qn_timing *out,
                        qn_err *err);

/* The clock of a device: virtual on sim, otherwise the monotonic clock. */
double qn_time_now_us(const qn_ctx *ctx, int device);

/* Bandwidth of y = a x + y on the devices of the context, in units of 1e9 bytes per second. */
qn_status qn_time_bandwidth(qn_ctx *ctx, double *gbs, qn_err *err);

#endif
