/* bench.h - micro-benchmarks of the engine: figures, their file, and the comparison with an
 * older file.
 *
 * A verb yields figures: a number for an item, a device and a metric. They are printed as one table
 * (items and devices down, metrics across), written as JSON, and compared by name with an older
 * file.
 */
#ifndef QN_LAB_ENGINE_BENCH_H
#define QN_LAB_ENGINE_BENCH_H

#include <quern/quern.h>

#include "util/progress.h"
#include "util/status.h"

#include <stdio.h>

/* Whether less or more is better. */
typedef enum { QN_NEITHER, QN_LESS, QN_MORE } qn_better;

typedef struct qn_figure {
    char item[48], device[24], metric[32];
    double value; /* NaN: could not be measured */
    qn_better better;
} qn_figure;

/* A zero-initialised bench is empty. */
typedef struct qn_bench {
    char verb[16];
    char *command, *host; /* command line and machine */
    char started[24];
    qn_figure *list; /* in order of measurement */
    size_t n, room;
} qn_bench;

void qn_bench_free(qn_bench *bench);
qn_status qn_bench_add(qn_bench *bench, const char *item, const char *device, const char *metric,
                       qn_better better, double value, qn_err *err);

/* NaN if there is none. */
double qn_bench_value(const qn_bench *bench, const char *item, const char *device,
                      const char *metric);

qn_status qn_bench_print(const qn_bench *bench, FILE *to, qn_err *err);

/* Format quern-bench/1. */
qn_status qn_bench_save(const qn_bench *bench, const char *path, qn_err *err);
qn_status qn_bench_load(const char *path, qn_bench *out, qn_err *err);

/* Prints before, after and their ratio for every figure in both, and lists those in only one.
 * Different verbs: QN_ERR_INPUT. */
qn_status qn_bench_print_change(const qn_bench *before, const qn_bench *after, FILE *to,
                                qn_err *err);

/* The verbs. */

typedef struct qn_bench_options {
    qn_options engine; /* contexts are opened with these */
    int samples;       /* per figure */
    uint64_t seed;
    qn_progress_options watch; /* how progress is shown */
    const char *ops;           /* ops: comma list; NULL: all */
    const char *sizes;         /* ops: comma list; NULL: suitable for op and device. fft: sides */
    int sweeps_priority;       /* ops: also the speed-up by priority */
    int stages;                /* graph: length of the chain */
    const char *modules;       /* kernels: comma list; NULL: all */
    const char *batches;       /* fft: comma list */
    const char *precision;     /* fft: comma list of f32, f64 */
    int keeps_two_thirds;      /* fft: of the modes, as dealiasing does */
} qn_bench_options;

/* The verbs open their own contexts, since they change settings. Devices are those that
 * `engine.backend` names; the CPU is included when it is named, or with "all". */
qn_status qn_bench_ops(const qn_bench_options *options, qn_bench *out, qn_err *err);
qn_status qn_bench_graph(const qn_bench_options *options, qn_bench *out, qn_err *err);
qn_status qn_bench_pool(const qn_bench_options *options, qn_bench *out, qn_err *err);
qn_status qn_bench_kernels(const qn_bench_options *options, qn_bench *out, qn_err *err);
qn_status qn_bench_fft(const qn_bench_options *options, qn_bench *out, qn_err *err);

#endif
