/* bench_impl.h - shared by the benches. */
#ifndef QN_LAB_FIT_BENCH_BENCH_IMPL_H
#define QN_LAB_FIT_BENCH_BENCH_IMPL_H

#include "lab/timing.h"
#include "domain/fit/device/device.h"
#include "domain/fit/device/choose.h"
#include "lab/fit/bench/bench.h"
#include "lab/fit/bench/cases.h"

/* Adds a copy of a row with its derived figures. */
qn_status qn_fit_bench_add(qn_fit_bench *bench, const qn_fit_bench_row *row, qn_err *err);

/* The clock of solvers, in seconds. */
double qn_fit_bench_now(void *user);

/* Fills the times of a row, and its device, from runs of the graph. */
qn_status qn_fit_measure(qn_graph *graph, qn_fit_bench_row *row, qn_err *err);

/* bench_hello.c, bench_cache.c, bench_even.c */
qn_status qn_fit_bench_hello(qn_ctx *ctx, qn_i64 n, qn_fit_precision precision, qn_fit_bench *bench,
                             qn_err *err);
qn_status qn_fit_bench_cache(qn_ctx *ctx, qn_fit_precision precision, qn_fit_bench *bench,
                             qn_err *err);
qn_status qn_fit_bench_even(qn_ctx *ctx, qn_i64 n, qn_fit_precision precision, qn_fit_bench *bench,
                            qn_err *err);

#endif
