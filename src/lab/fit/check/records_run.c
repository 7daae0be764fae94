/* records_run.c - evaluates golden records by the interpreter, or by a kernel on a device. */
#include "lab/fit/check/records.h"
#include "lab/owned.h"

#include "domain/fit/code/print.h"
#include "domain/fit/run/run.h"

#include <quern/route.h>

#include <stdlib.h>

static qn_status interpret(qn_fit_golden *g, qn_err *err)
{
    qn_fit_plan *plan = NULL;
    void *work = NULL;
    qn_fit_tables t = { .params = g->x, .idx = g->idx, .ld = g->n_instances };
    qn_status st = QN_OK;

    QN_TRY(qn_fit_plan_new(g->tape, QN_FIT_F64, 0, &plan, err));
    if (!(work = aligned_alloc(64, (qn_fit_plan_bytes(plan) + 127) / 64 * 64)))
        QN_FAIL(err, QN_ERR_NOMEM, "%zu bytes to interpret records", qn_fit_plan_bytes(plan));
    for (int s = 0; s < QN_FIT_N_SECTIONS; s++)
        t.out[s] = g->out + (size_t)g->tape->sections[s].first * (size_t)g->n_instances;
    qn_fit_eval(plan, &t, 0, g->n_instances, work, NULL);
out:
    free(work);
    qn_fit_plan_free(plan);
    return st;
}

/* On a device. */

typedef struct {
    qn_ctx *ctx;
    qn_kernel_module *text, *module;
    qn_buf *idx, *x, *res, *jac;
    qn_graph *graph;
    qn_owned owned; /* these buffers and the graph */
} fixture;

static void close_fixture(fixture *r)
{
    qn_owned_free(&r->owned, 0);
    qn_kernels_free(r->module);
    qn_kernels_free(r->text);
}

static qn_status compile(fixture *r, const qn_fit_golden *g, qn_err *err)
{
    const qn_fit_tape *list[] = { g->tape };
    qn_str text = { 0 };
    qn_status st = QN_OK;

    qn_fit_print_support(list, 1, &text);
    QN_TRY(qn_fit_print_map(g->tape, "fit_all", QN_FIT_F64, &text, err));
    QN_TRY(qn_kernels_new("fit_golden", qn_str_get(&text), &r->text, err));
    QN_TRY(qn_kernels_with(r->text, "REAL=double", &r->module, err));
out:
    qn_str_free(&text);
    return st;
}

static qn_status launch(fixture *r, qn_fit_golden *g, qn_err *err)
{
    const qn_fit_tape *p = g->tape;
    const size_t n = (size_t)g->n_instances, size = sizeof *g->out;
    const size_t res = (size_t)p->sections[QN_FIT_RES].count * n * size;
    const size_t jac = (size_t)p->sections[QN_FIT_JAC].count * n * size;
    const size_t idx = (size_t)p->n_slots * n * sizeof *g->idx;
    const qn_i64 ld = g->n_instances;
    qn_status st = QN_OK;

    QN_TRY(compile(r, g, err));
    QN_TRY(qn_owned_buf(&r->owned, r->ctx, "golden.idx", idx, &r->idx, err));
    QN_TRY(qn_owned_buf(&r->owned, r->ctx, "golden.x", g->n_numbers * size, &r->x, err));
    QN_TRY(qn_owned_buf(&r->owned, r->ctx, "golden.res", res, &r->res, err));
    QN_TRY(qn_owned_buf(&r->owned, r->ctx, "golden.jac", jac, &r->jac, err));
    QN_TRY(qn_buf_write(r->idx, 0, g->idx, idx, err));
    QN_TRY(qn_buf_write(r->x, 0, g->x, g->n_numbers * size, err));
    QN_TRY(qn_owned_graph(&r->owned, r->ctx, "fit.golden", &r->graph, err));
    const qn_arg args[] = { qn_arg_val(&ld, sizeof ld), qn_arg_buf(r->idx), qn_arg_buf(r->x),
                            qn_arg_buf(r->res), qn_arg_buf(r->jac) };

    QN_TRY(qn_graph_stage(r->graph, "golden", qn_kernels_find(r->module, "fit_all"),
                          qn_range_1d(ld), args, err));
    QN_TRY(qn_run_graph(r->graph, err));
    QN_TRY(qn_buf_read(r->res, 0, g->out, res, err));
    QN_TRY(qn_buf_read(r->jac, 0, g->out + res / size, jac, err));
out:
    return st;
}

qn_status qn_fit_golden_run(qn_ctx *ctx, qn_fit_golden *golden, qn_err *err)
{
    const qn_route_mode mode = qn_route_get_mode(ctx);
    fixture r = { .ctx = ctx };
    qn_status st;

    if (qn_fit_device_of(ctx) == 0)
        return interpret(golden, err);
    qn_route_set_mode(ctx, QN_ROUTE_GPU);
    st = launch(&r, golden, err);
    close_fixture(&r);
    qn_route_set_mode(ctx, mode);
    return st;
}
