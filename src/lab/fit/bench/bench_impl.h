/* bench_impl.h - shared by the benches. */
#ifndef QN_LAB_FIT_BENCH_BENCH_IMPL_H
#define QN_LAB_FIT_BENCH_BENCH_IMPL_H

#include "lab/timing.h"
#include "domain/fit/device/device.h"
#include "domain/fit/device/choose.h"
#include "lab/fit/bench/bench.h"
#include "lab/fit/bench/cases.h"

/* One more row, zeroed; NULL without memory. */
qn_fit_bench_row *qn_fit_bench_add(qn_fit_bench *bench);

/* measure.c: fills the times of a row, and its device, from runs of the graph. */
qn_status qn_fit_measure(qn_graph *graph, qn_fit_bench_row *row, qn_err *err);

/* An evaluation of a problem, measured and added: "B1", "springs", residuals. */
qn_status qn_fit_bench_evaluate(qn_ctx *ctx, const qn_fit_problem *problem, const char *bench_name,
                                const char *what, qn_fit_work work, qn_fit_precision precision,
                                qn_fit_bench *bench, qn_err *err);

/* bench_hello.c, bench_cache.c, bench_even.c */
qn_status qn_fit_bench_hello(qn_ctx *ctx, qn_i64 n, qn_fit_precision precision, qn_fit_bench *bench,
                             qn_err *err);
qn_status qn_fit_bench_cache(qn_ctx *ctx, qn_fit_precision precision, qn_fit_bench *bench,
                             qn_err *err);
qn_status qn_fit_bench_even(qn_ctx *ctx, qn_i64 n, qn_fit_precision precision, qn_fit_bench *bench,
                            qn_err *err);

#endif
