/* programs.c - loads programs for checks, evaluates their costs and gradients on the context's
 * device, reads golden lists. */
#include "lab/fit/check/check_impl.h"

#include "domain/fit/device/device.h"
#include "domain/fit/model/model.h"

#include <math.h>
#include <quern/route.h>
#include <stdio.h>

qn_status qn_fit_program_load(const char *name, qn_str *text, const char *folder, qn_fit_text **out,
                              qn_err *err)
{
    const char *const folders[] = { folder, NULL };
    qn_fit_folders places = { folders, 0 };
    const qn_fit_files files = { qn_fit_folders_read, NULL, &places };
    const qn_fit_text_options options = { .files = &files };
    qn_status st;

    if (text->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for the program %s", name);
    else
        st = qn_fit_text_load(name, qn_str_get(text), text->len, &options, out, NULL, err);
    qn_str_free(text);
    *text = (qn_str){ 0 };
    return st;
}

qn_status qn_fit_program_solve(qn_fit_text *text, qn_fit_report *out, qn_err *err)
{
    qn_fit_solve_options o;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_solve_options_of(&text->solves[0], &o, err));
    o.n_threads = 1;
    QN_TRY(qn_fit_solve_lm(text->problem, &o, out, err));
out:
    return st;
}

qn_status qn_fit_golden_list(qn_golden *g, const char *file, const char *member, json_t **out,
                             qn_err *err)
{
    json_t *root;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, file, &root, err));
    *out = member ? json_object_get(root, member) : root;
    if (!json_is_array(*out) && !json_is_object(*out))
        st = qn_fail(err, QN_ERR_INPUT, "%s/%s: no list%s%s", g->dir, file, member ? " " : "",
                     member ? member : "");
out:
    return st;
}

double qn_fit_off(double got, double want)
{
    return fabs(got - want) / fmax(fabs(want), 1e-300);
}

/* Evaluations. */

/* `costs` is the total, followed by that of each group if `n` is not 1. */
static qn_status on_host(const qn_fit_problem *p, const double *x, double *costs, int n,
                         double *gradient, qn_err *err)
{
    qn_fit_model *model = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_model_new(p, QN_FIT_MODEL_GRADIENT, 0, &model, err));
    costs[0] = gradient ? qn_fit_model_gradient(model, x, gradient) : qn_fit_model_cost(model, x);
    for (int k = 1; k < n; k++)
        costs[k] = qn_fit_model_group_cost(model, k - 1);
out:
    qn_fit_model_free(model);
    return st;
}

static qn_status on_device(qn_ctx *ctx, const qn_fit_problem *p, const double *x, double *costs,
                           int n, double *gradient, qn_err *err)
{
    const qn_route_mode mode = qn_route_get_mode(ctx);
    qn_fit_device *device = NULL;
    qn_buf *at = NULL, *sums = NULL, *out = NULL;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    qn_route_set_mode(ctx, QN_ROUTE_GPU);
    QN_TRY(qn_fit_device_new(ctx, p, QN_FIT_F64, &device, err));
    QN_TRY(qn_fit_device_vector(device, "x", x, &at, err));
    QN_TRY(qn_fit_device_vector(device, "gradient", NULL, &out, err));
    QN_TRY(qn_fit_device_cost(device, "cost", &sums, err));
    QN_TRY(qn_graph_new(ctx, "fit.check", &graph, err));
    if (gradient)
        QN_TRY(qn_fit_stage_gradient(device, graph, at, sums, out, err));
    else
        QN_TRY(qn_fit_stage_cost(device, graph, at, sums, err));
    QN_TRY(qn_run_graph(graph, err));
    if (gradient)
        QN_TRY(qn_fit_device_read(device, out, gradient, p->n_scalars, err));
    QN_TRY(qn_buf_read(sums, 0, costs, (size_t)n * sizeof *costs, err));
out:
    qn_route_set_mode(ctx, mode);
    qn_graph_free(graph);
    qn_buf_free(at);
    qn_buf_free(sums);
    qn_buf_free(out);
    qn_fit_device_free(device);
    return st;
}

static qn_status evaluate(qn_ctx *ctx, const qn_fit_problem *p, const double *x, double *costs,
                          int n, double *gradient, qn_err *err)
{
    /* Squared sums are evaluated in host memory. */
    return qn_fit_device_of(ctx) == 0 || p->n_sums ? on_host(p, x, costs, n, gradient, err)
                                                   : on_device(ctx, p, x, costs, n, gradient, err);
}

qn_status qn_fit_evaluate_groups(qn_ctx *ctx, const qn_fit_problem *problem, const double *x,
                                 double *costs, qn_err *err)
{
    return evaluate(ctx, problem, x, costs, 1 + problem->n_groups, NULL, err);
}

qn_status qn_fit_evaluate(qn_ctx *ctx, const qn_fit_problem *problem, const double *x, double *cost,
                          double *gradient, qn_err *err)
{
    return evaluate(ctx, problem, x, cost, 1, gradient, err);
}
