/* bench_cache.c - measures compilation: cold, from the disk, from memory; and how long it takes to
 * group a thousand terms of one kind. */
#include "lab/fit/bench/bench_impl.h"

#include "util/clock.h"
#include "util/hash.h"
#include "util/temp_dir.h"

#include <quern/fit.h>

#include <stdio.h>
#include <stdlib.h>

enum { TERMS = 1000, SPRINGS = 1000 };

static qn_status add_row(const char *what, const char *device, qn_i64 n, double us,
                         qn_fit_bench *bench, qn_err *err)
{
    qn_fit_bench_row row = { .bench = "B7", .n = n, .best_us = us, .median_us = us };

    snprintf(row.what, sizeof row.what, "%s", what);
    snprintf(row.device, sizeof row.device, "%s", device);
    return qn_fit_bench_add(bench, &row, err);
}

/* Instances that become one group. */

/* |p - q| - d with its own number, as a program without batches would write it. */
static qn_fit_graph *distance(double d)
{
    qn_fit_vec end[2] = { { .n = 2 }, { .n = 2 } }, length;
    qn_fit_graph *g = NULL;

    if (qn_fit_graph_new("distance", QN_FIT_INSTANCE, &g, NULL) != QN_OK)
        return NULL;
    qn_fit_params(g, 0, 2, end[0].at);
    qn_fit_params(g, 1, 2, end[1].at);
    qn_fit_call(g, "distance", end, 2, &length);
    qn_fit_output(g, qn_fit_sub(g, length.at[0], qn_fit_lit(g, d)));
    return g;
}

static qn_status group_terms(qn_fit_bench *bench, qn_err *err)
{
    double points[2 * (TERMS + 1)];
    const double start = qn_now_us();
    qn_fit_problem *p = NULL;
    qn_status st = QN_OK;
    char what[56];
    int set = 0;

    for (int k = 0; k < 2 * (TERMS + 1); k++)
        points[k] = qn_random_float(12, (uint64_t)k);
    QN_TRY(qn_fit_problem_new(&p, err));
    QN_TRY(qn_fit_problem_add_set(p, "p", TERMS + 1, 2, points, &set, err));
    for (uint32_t k = 0; k < TERMS; k++)
        QN_TRY(qn_fit_problem_add_instance(
            p, distance(0.3003 + 0.001 * k), (const int[]){ set, set },
            (const uint32_t[]){ k, k + 1 }, 2, NULL, 0, (qn_fit_loss){ 0 }, err));
    QN_TRY(qn_fit_problem_finish(p, err));
    snprintf(what, sizeof what, "%d terms with graphs of their own: %d group", TERMS, p->n_groups);
    QN_TRY(add_row(what, "host", TERMS, qn_now_us() - start, bench, err));
out:
    qn_fit_problem_free(p);
    return st;
}

/* Compilation. */

/* From tables in host memory to the end of the first linearization. */
static qn_status first_evaluation(qn_ctx *ctx, const qn_fit_problem *p, qn_fit_precision precision,
                                  double *us, char *device_name, size_t size, qn_err *err)
{
    const double start = qn_now_us();
    qn_fit_device *device = NULL;
    qn_graph *graph = NULL;
    qn_buf *x = NULL, *rows = NULL, *jacobian = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_device_new(ctx, p, precision, &device, err));
    QN_TRY(qn_fit_device_vector(device, "x", p->x, &x, err));
    QN_TRY(qn_fit_device_rows(device, "rows", &rows, err));
    QN_TRY(qn_fit_device_jacobian(device, "jacobian", &jacobian, err));
    QN_TRY(qn_graph_new(ctx, "fit.bench", &graph, err));
    QN_TRY(qn_fit_stage_linearize(device, graph, x, NULL, rows, jacobian, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    *us = qn_now_us() - start;
    snprintf(device_name, size, "%s", qn_graph_stage_device(graph, 0));
out:
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(rows);
    qn_buf_free(jacobian);
    qn_fit_device_free(device);
    return st;
}

typedef qn_status (*maker)(uint32_t n, qn_fit_problem **out, qn_err *err);

/* A context on the caller's device with its own cache folder: first empty, then filled. */
static qn_status measure_case(const char *backend, const char *folder, const char *name, maker make,
                              qn_fit_precision precision, qn_fit_bench *bench, qn_err *err)
{
    static const char *const ways[] = { "compiled", "from disk", "from memory" };
    qn_fit_problem *p = NULL;
    qn_ctx *ctx = NULL;
    qn_status st = QN_OK;
    char what[56], device[48];
    double us = 0;

    QN_TRY(make(SPRINGS, &p, err));
    for (int way = 0; way < 3; way++) {
        if (way < 2) {
            qn_ctx_close(ctx);
            ctx = NULL;
            QN_TRY(qn_ctx_open(&QN_OPTIONS(.backend = backend, .cache_dir = folder), &ctx, err));
        }
        QN_TRY(first_evaluation(ctx, p, precision, &us, device, sizeof device, err));
        snprintf(what, sizeof what, "%s: first evaluation, %s", name, ways[way]);
        QN_TRY(add_row(what, device, SPRINGS, us, bench, err));
    }
out:
    qn_ctx_close(ctx);
    qn_fit_problem_free(p);
    return st;
}

qn_status qn_fit_bench_cache(qn_ctx *ctx, qn_fit_precision precision, qn_fit_bench *bench,
                             qn_err *err)
{
    const char *backend = qn_device_id(ctx, qn_device_count(ctx) - 1);
    qn_temp_dir folder = { 0 };
    qn_status st = QN_OK;

    QN_TRY(group_terms(bench, err));
    QN_TRY(qn_temp_dir_make(&folder, err));
    QN_TRY(
        measure_case(backend, folder.path, "springs", qn_fit_case_springs, precision, bench, err));
    QN_TRY(
        measure_case(backend, folder.path, "cameras", qn_fit_case_cameras, precision, bench, err));
out:
    qn_temp_dir_remove(&folder);
    return st;
}
