/* bench_impl.h - shared by the verbs. Private to this folder. */
#ifndef QN_LAB_ENGINE_BENCH_IMPL_H
#define QN_LAB_ENGINE_BENCH_IMPL_H

#include "lab/timing.h"
#include "lab/engine/bench.h"
#include "engine/engine.h"
#include "util/clock.h"

/* Opens a context by `options`, with another fault rule when `fault` is not NULL. The first context
 * of a run also records machine and date in `bench`. */
qn_status qn_bench_open(const qn_bench_options *options, const char *fault, qn_bench *bench,
                        qn_ctx **out, qn_err *err);

/* How many devices the run measures. */
static inline int qn_bench_devices(const qn_ctx *ctx)
{
    int n = 0;

    for (int d = 0; d < qn_device_count(ctx); d++)
        n += qn_device_is_candidate(ctx, d);
    return n;
}

/* Does the run measure device number `d`? */
static inline int qn_bench_has(const qn_ctx *ctx, int d)
{
    return qn_device_is_candidate(ctx, d);
}

/* The clock of a device: virtual on sim, else the monotonic clock. */
static inline double qn_bench_now_us(const qn_ctx *ctx, int d)
{
    return qn_device_get(ctx, d)->kind == QN_KIND_SIM ? qn_ctx_now_us(ctx) : qn_now_us();
}

/* Part of `ops`: the gain by priority on every device of `ctx` but the CPU (bench_sweep.c). */
qn_status qn_bench_sweep(const qn_ctx *ctx, const qn_bench_options *options, qn_bench *bench,
                         qn_err *err);

#endif
