/* route.c - decides where a solve runs: in host memory, or resident on a device.
 *
 * A device named by --backend gets every solve that it can do. Without --backend a solve goes to a
 * GPU when an iteration there is expected to be shorter (device/choose.h). Factorisations (QR,
 * Cholesky) and first-order methods run on the CPU.
 */
#include "domain/fit/run/run.h"

#include "domain/fit/device/choose.h"
#include "domain/fit/problem/problem.h"
#include "domain/fit/resident/resident.h"
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

static int is_lm(const char *solver)
{
    return !strcmp(solver, "lm") || !strcmp(solver, "gauss_newton");
}

/* Why the solve cannot be resident; NULL when it can. */
static const char *refusal(const qn_fit_problem *p, const char *solver,
                           const qn_fit_solve_options *o)
{
    const int is_lbfgs = !strcmp(solver, "lbfgs");

    if (!is_lm(solver) && !is_lbfgs)
        return "first-order methods run on the CPU";
    if (p->n_sums)
        return "squared sums are evaluated on the CPU";
    if (is_lbfgs)
        return p->has_bounds ? "lbfgs takes no bounds" : NULL;
    if (qn_fit_problem_has_energies(p))
        return "energies are not least squares";
    if (o->linear_solver == QN_FIT_DENSE_QR || o->linear_solver == QN_FIT_DENSE_CHOLESKY ||
        o->linear_solver == QN_FIT_SPARSE_CHOLESKY)
        return "a device has only the linear solvers pcg and schur_pcg";
    if (o->trust_region_radius > 0)
        return "only the CPU honours trust_region_radius";
    for (int k = 0; k < p->n_sets; k++)
        if (p->sets[k].dim > QN_FIT_MAX_BLOCK)
            return "a block has more than 32 numbers";
    return NULL;
}

int qn_fit_device_of(qn_ctx *ctx)
{
    int device;

    if (qn_ctx_pinned(ctx) >= 0)
        return qn_ctx_pinned(ctx);
    if (qn_route_get_mode(ctx) == QN_ROUTE_CPU || qn_devices_select(ctx, 1, &device) != 1)
        return QN_CPU_SLOT;
    const qn_device_kind kind = qn_device_get(ctx, device)->kind;

    return kind == QN_KIND_DISCRETE || kind == QN_KIND_INTEGRATED ? device : QN_CPU_SLOT;
}

static qn_status solve_on_host(qn_fit_problem *p, const char *solver, const qn_fit_solve_options *o,
                               qn_fit_report *report, qn_err *err)
{
    static const char *const first_order[] = { "sgd", "adam", "adamw" };

    if (is_lm(solver))
        return qn_fit_solve_lm(p, o, report, err);
    for (int k = 0; k < 3; k++)
        if (!strcmp(solver, first_order[k]))
            return qn_fit_solve_first_order(p, (qn_fit_first_order)k, o, report, err);
    return qn_fit_solve_lbfgs(p, o, report, err);
}

/* The cost of each group at the result: a device only computes the total. */
static qn_status count_groups(const qn_fit_problem *p, qn_fit_report *report, qn_err *err)
{
    qn_status st = QN_OK;
    qn_fit_host *host = NULL;
    double cost;

    QN_TRY(qn_fit_host_new(p, (qn_fit_host_options){ 0 }, &host, err));
    QN_TRY(qn_fit_host_cost(host, p->x, &cost, NULL, err));
    for (int k = 0; k < p->n_groups; k++)
        report->group_costs[k] = qn_fit_host_group_cost(host, k);
out:
    qn_fit_host_free(host);
    return st;
}

static qn_status solve_on_device(qn_ctx *ctx, int device, qn_fit_problem *p, const char *solver,
                                 qn_fit_precision precision, const qn_fit_solve_options *o,
                                 qn_fit_solved *out, qn_err *err)
{
    const qn_route_mode mode = qn_route_get_mode(ctx);
    qn_status st;

    if (device != QN_CPU_SLOT && qn_ctx_pinned(ctx) < 0)
        qn_route_set_mode(ctx, QN_ROUTE_GPU);
    st = (is_lm(solver) ? qn_fit_solve_lm_on : qn_fit_solve_lbfgs_on)(ctx, p, precision, o,
                                                                      &out->report, err);
    qn_route_set_mode(ctx, mode);
    if (st == QN_OK && (st = count_groups(p, &out->report, err)) != QN_OK)
        qn_fit_report_free(&out->report);
    if (st == QN_OK)
        snprintf(out->device, sizeof out->device, "%s", qn_device_id(ctx, device));
    return st;
}

/* Without --backend, a solve moves from the CPU to a GPU that is faster. */
static int is_chosen(const qn_ctx *ctx, int device, const qn_fit_problem *p,
                     qn_fit_precision precision, const qn_fit_solve_options *o)
{
    qn_fit_choice choice;
    qn_err err;

    return device != QN_CPU_SLOT && qn_ctx_pinned(ctx) < 0 &&
           o->linear_solver == QN_FIT_LINEAR_AUTO &&
           qn_fit_choose(p, qn_device_get(ctx, device), o->n_threads, o->fallback_threshold,
                         precision, &choice, &err) == QN_OK &&
           choice.is_device;
}

static qn_status solve_as_numbered(qn_ctx *ctx, qn_fit_problem *problem, const char *solver,
                                   qn_fit_precision precision, const qn_fit_solve_options *options,
                                   qn_fit_solved *out, qn_err *err)
{
    const int device = qn_fit_device_of(ctx), is_named = qn_ctx_pinned(ctx) > QN_CPU_SLOT;
    const char *why = refusal(problem, solver, options);
    qn_err failure = { .text = "" };
    qn_status st = QN_OK;

    *out = (qn_fit_solved){ 0 };
    if (precision == QN_FIT_F32) {
        if (why)
            return qn_fail(err, QN_ERR_UNSUPPORTED, "f32 is for resident solves: %s", why);
        return solve_on_device(ctx, device, problem, solver, precision, options, out, err);
    }
    if (!why && (is_named || is_chosen(ctx, device, problem, precision, options))) {
        if (solve_on_device(ctx, device, problem, solver, precision, options, out, &failure) ==
            QN_OK)
            return QN_OK;
    } else if (is_named) {
        qn_fail(&failure, QN_ERR_UNSUPPORTED, "%s", why);
    }
    if (failure.status != QN_OK && (st = qn_fallback_note(ctx, "fit.solve", &failure)) != QN_OK) {
        *err = failure;
        goto out;
    }
    snprintf(out->device, sizeof out->device, "%s", qn_device_id(ctx, QN_CPU_SLOT));
    QN_TRY(solve_on_host(problem, solver, options, &out->report, err));
out:
    return st;
}

/* Gathers that miss a processor's second-level cache cost two to three times as much as others. A
 * GPU has a larger one, and often solves in less time than renumbering takes. */
static int is_scattered(qn_ctx *ctx, const qn_fit_problem *p, const qn_fit_solve_options *o)
{
    enum { CPU_WINDOW = 1 << 19, GPU_WINDOW = 1 << 26 };
    const qn_device_kind kind = qn_device_get(ctx, qn_fit_device_of(ctx))->kind;
    const int is_gpu = kind == QN_KIND_DISCRETE || kind == QN_KIND_INTEGRATED;

    if (o->renumber >= 0)
        return o->renumber;
    return qn_fit_problem_span(p) > (is_gpu ? GPU_WINDOW : CPU_WINDOW);
}

qn_status qn_fit_solve_routed(qn_ctx *ctx, qn_fit_problem *problem, const char *solver,
                              qn_fit_precision precision, const qn_fit_solve_options *options,
                              qn_fit_solved *out, qn_err *err)
{
    qn_fit_renumbered *near = NULL;
    qn_status st = QN_OK;

    if (is_scattered(ctx, problem, options))
        QN_TRY(qn_fit_renumbered_new(problem, &near, err));
    /* Some problems have no order that brings their blocks together. */
    if (!near || (options->renumber < 0 &&
                  qn_fit_problem_span(&near->problem) > qn_fit_problem_span(problem) / 2)) {
        st = solve_as_numbered(ctx, problem, solver, precision, options, out, err);
        goto out;
    }
    QN_TRY(solve_as_numbered(ctx, &near->problem, solver, precision, options, out, err));
    qn_fit_renumbered_x(near, problem->x);
    out->report.is_renumbered = 1;
out:
    qn_fit_renumbered_free(near);
    return st;
}
