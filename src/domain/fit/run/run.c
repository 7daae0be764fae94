/* run.c - runs solve blocks one after the other, then estimates deviations. */
#include "domain/fit/run/run.h"

#include "engine/engine.h"
#include "util/clock.h"
#include "domain/fit/device/choose.h"
#include "domain/fit/resident/resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deviations are computed by default up to this many free parameters: the time of the factorisation
 * grows with the cube. */
enum { FREE_BY_DEFAULT = 200 };

static double now_s(QN_UNUSED void *user)
{
    return qn_now_us() * 1e-6;
}

/* The callbacks of a call, and the progress that they receive. */
typedef struct {
    const qn_fit_options *options;
    qn_fit_progress progress;
} watch;

static int call_back(void *user, const qn_fit_iteration *record, int iteration)
{
    watch *w = user;
    int is_stopped = 0;

    w->progress.iteration = iteration;
    w->progress.is_accepted = record->is_accepted;
    w->progress.linear_iterations = record->linear_iterations;
    w->progress.cost = record->cost;
    w->progress.gradient_max = record->gradient_max;
    w->progress.step_norm = record->step_norm;
    w->progress.seconds = record->seconds;
    for (size_t k = 0; k < w->options->n_callbacks; k++) {
        const qn_fit_callback *c = &w->options->callbacks[k];

        is_stopped |= c->call(c->user, &w->progress) != 0;
    }
    return is_stopped;
}

/* Where a solve runs: in host memory, or resident on a device.
 *
 * A device named by --backend gets every solve that it can do. Without --backend a solve goes to a
 * GPU when an iteration there is expected to be shorter (device/choose.h). Factorisations (QR,
 * Cholesky) and first-order methods run on the CPU.
 */

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
    return qn_fit_is_gpu(qn_device_get(ctx, device)) ? device : QN_CPU_SLOT;
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
    const int is_gpu = qn_fit_is_gpu(qn_device_get(ctx, qn_fit_device_of(ctx)));

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

/* Solves. */

static void note_contraction(qn_fit_report *r)
{
    const size_t used = strlen(r->note);

    r->may_contract = 1;
    snprintf(r->note + used, sizeof r->note - used,
             "%sstrict_fp = 0: bits may differ between backends", used ? "; " : "");
}

static qn_status run_one(qn_ctx *ctx, qn_fit_problem *p, const qn_fit_solve *solve, int index,
                         const qn_fit_options *options, qn_fit_solved *out, qn_err *err)
{
    qn_fit_solve_options o;
    watch w = { options, { .solver = solve->solver, .solve = index } };
    qn_status st = QN_OK;

    QN_TRY(qn_fit_solve_options_of(solve, &o, err));
    o.n_threads = options->threads;
    o.now = now_s;
    w.progress.max_iterations = o.max_iterations;
    o.watch = call_back;
    o.user = &w;
    st = qn_fit_solve_routed(ctx, p, solve->solver, (qn_fit_precision)options->precision, &o, out,
                             err);
    /* Options that mean nothing, or that no solver supports, come from the program. */
    if (st == QN_ERR_USAGE || (st == QN_ERR_UNSUPPORTED && options->precision == QN_FIT_F64))
        err->status = st = QN_ERR_INPUT;
    QN_TRY(st);
    if (!o.strict_fp)
        note_contraction(&out->report);
out:
    return st;
}

static void note_covariance(const qn_fit_problem *p, int is_asked, qn_fit_result *r)
{
    qn_err err = { .text = "" };
    qn_status st;

    if (qn_fit_problem_has_energies(p))
        snprintf(r->no_covariance, sizeof r->no_covariance, "energies have no residuals");
    else if (!is_asked && p->n_free > FREE_BY_DEFAULT)
        snprintf(r->no_covariance, sizeof r->no_covariance,
                 "%u free parameters; --covariance gives deviations up to %d of them", p->n_free,
                 QN_FIT_MAX_COVARIANCE);
    else if ((st = qn_fit_covariance_new(p, &r->covariance, &err)) != QN_OK)
        snprintf(r->no_covariance, sizeof r->no_covariance, "%s%.170s",
                 st == QN_ERR_NOMEM ? "no memory: " : "", err.text);
    else if (r->covariance.rank < r->covariance.n)
        snprintf(r->no_covariance, sizeof r->no_covariance,
                 "the Jacobian has rank %d of %d: the residuals do not determine every parameter",
                 r->covariance.rank, r->covariance.n);
}

/* Groups, their sizes and rows per second, for the metrics. */
static void note_metrics(qn_ctx *ctx, const qn_fit_problem *p, const qn_fit_report *r)
{
    const double n = (double)(r->n_costs + r->n_jacobians + r->n_gradients);

    for (int k = 0; k < p->n_groups; k++)
        qn_metric_observe(qn_metric_of(qn_ctx_metrics(ctx), "fit_batch_size", NULL),
                          (double)p->groups[k].n);
    qn_metric_set(qn_metric_of(qn_ctx_metrics(ctx), "fit_kernel_groups", NULL), p->n_groups);
    if (r->total_seconds > 0)
        qn_metric_set(qn_metric_of(qn_ctx_metrics(ctx), "fit_residuals_per_s", NULL),
                      n * (double)r->n_rows / r->total_seconds);
}

qn_status qn_fit_run(qn_ctx *ctx, qn_fit_text *text, const qn_fit_options *options,
                     qn_fit_result *out, qn_err *err)
{
    qn_fit_problem *p = text->problem;
    const qn_fit_solve fallback = { .solver = "lm" }, by_gradient = { .solver = "lbfgs" };
    const qn_fit_solve *by_default = qn_fit_problem_has_energies(p) ? &by_gradient : &fallback;
    const double began = qn_now_us();
    qn_fit_result r = { .precision = (qn_fit_precision)options->precision };
    const int n = text->n_solves ? text->n_solves : 1;
    qn_status st = QN_OK;

    r.solves = calloc((size_t)n, sizeof *r.solves);
    r.start = malloc(((size_t)p->n_scalars + 1) * sizeof *r.start);
    if (!r.solves || !r.start)
        QN_FAIL(err, QN_ERR_NOMEM, "%u parameters", p->n_scalars);
    memcpy(r.start, p->x, p->n_scalars * sizeof *r.start);
    do {
        QN_TRY(run_one(ctx, p, text->n_solves ? &text->solves[r.n_solves] : by_default, r.n_solves,
                       options, &r.solves[r.n_solves], err));
        note_metrics(ctx, p, &r.solves[r.n_solves].report);
        r.n_solves++;
    } while (r.n_solves < n && r.solves[r.n_solves - 1].report.end != QN_FIT_USER_STOP);
    note_covariance(p, options->covariance, &r);
    r.seconds = (qn_now_us() - began) * 1e-6;
    *out = r;
    r = (qn_fit_result){ 0 };
out:
    qn_fit_result_free(&r);
    return st;
}

const char *qn_fit_device_name(qn_ctx *ctx, const qn_fit_solved *solved)
{
    for (int d = 0; d < qn_device_count(ctx); d++)
        if (!strcmp(qn_device_id(ctx, d), solved->device))
            return qn_device_get(ctx, d)->name;
    return solved->device;
}

void qn_fit_result_free(qn_fit_result *result)
{
    for (int k = 0; k < result->n_solves; k++)
        qn_fit_report_free(&result->solves[k].report);
    free(result->solves);
    free(result->start);
    qn_fit_covariance_free(&result->covariance);
    *result = (qn_fit_result){ 0 };
}
