/* bench_hello.c - the least a device must do: square numbers, which are compared and timed.
 *
 * The whole path runs once: an expression becomes a kernel, tables are uploaded, one launch
 * squares every number, and a result that differs from the CPU's in even one bit is an error.
 */
#include "lab/fit/bench/bench_impl.h"
#include "lab/owned.h"

#include <quern/fit.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static double number(qn_i64 i)
{
    return 0.5 * (double)(i - N / 2);
}

/* A parameter for each number, and a residual that is its square. */
static qn_status make_problem(qn_i64 n, qn_fit_problem **out, qn_err *err)
{
    qn_fit_graph *graph;
    qn_owned owned = { 0 };
    uint32_t *block;
    double *x;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&owned, (size_t)n * sizeof *x, &x, err));
    QN_TRY(qn_owned_memory(&owned, (size_t)n * sizeof *block, &block, err));
    QN_TRY(qn_fit_graph_new("square", QN_FIT_TEMPLATE, &graph, err));
    for (qn_i64 i = 0; i < n; i++) {
        x[i] = number(i);
        block[i] = (uint32_t)i;
    }
    qn_fit_output(graph, qn_fit_mul(graph, qn_fit_param(graph, 0, 0), qn_fit_param(graph, 0, 0)));
    const qn_fit_group_spec spec = { .name = "square",
                                     .graph = graph,
                                     .n = (uint32_t)n,
                                     .n_slots = 1,
                                     .slot_block = (const uint32_t *const[]){ block } };

    QN_TRY(qn_fit_case_make(&(qn_fit_case_set){ "x", (uint32_t)n, 1, x }, &spec, out, err));
out:
    qn_owned_free(&owned, 0);
    return st;
}

/* Numbers are halves of integers: their squares are exact in f32 for up to 2^12 numbers. */
static qn_status compare(qn_fit_device *device, qn_buf *rows, qn_i64 n, const char *where,
                         qn_err *err)
{
    double *got = malloc((size_t)n * sizeof *got);
    qn_status st = got ? qn_fit_device_read(device, rows, got, n, err)
                       : qn_fail(err, QN_ERR_NOMEM, "%lld squares", (long long)n);

    for (qn_i64 i = 0; st == QN_OK && i < n; i++)
        if (got[i] != number(i) * number(i))
            st = qn_fail(err, QN_ERR_MISMATCH, "hello: %s squares %g to %.17g, not %.17g", where,
                         number(i), got[i], number(i) * number(i));
    free(got);
    return st;
}

qn_status qn_fit_bench_hello(qn_ctx *ctx, qn_i64 n, qn_fit_precision precision, qn_fit_bench *bench,
                             qn_err *err)
{
    const qn_i64 count = n && n < N ? n : N;
    qn_fit_bench_row row = {
        .bench = "hello", .what = "squares", .precision = precision, .n = count
    };
    qn_fit_problem *p = NULL;
    qn_fit_device *device = NULL;
    qn_graph *graph = NULL;
    qn_buf *x = NULL, *rows = NULL;
    qn_status st = QN_OK;

    QN_TRY(make_problem(count, &p, err));
    QN_TRY(qn_fit_device_new(ctx, p, precision, &device, err));
    QN_TRY(qn_fit_device_vector(device, "x", p->x, &x, err));
    QN_TRY(qn_fit_device_rows(device, "rows", &rows, err));
    QN_TRY(qn_graph_new(ctx, "fit.hello", &graph, err));
    QN_TRY(qn_fit_stage_residuals(device, graph, x, NULL, rows, err));
    QN_TRY(qn_fit_measure(graph, &row, err));
    QN_TRY(compare(device, rows, count, row.device, err));
    snprintf(row.note, sizeof row.note, "are right on %s: %lld of %lld", row.device,
             (long long)count, (long long)count);
    QN_TRY(qn_fit_bench_add(bench, &row, err));
out:
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(rows);
    qn_fit_device_free(device);
    qn_fit_problem_free(p);
    return st;
}
