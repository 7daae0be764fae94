/* run.c - runs solve blocks one after the other, with progress, then estimates deviations. */
#include "domain/fit/run/run.h"

#include "engine/engine.h"
#include "util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deviations are computed by default up to this many free parameters: the time of the factorisation
 * grows with the cube. */
enum { FREE_UNASKED = 200 };

static double now_s(void *user)
{
    (void)user;
    return qn_now_us() * 1e-6;
}

/* Progress. */

typedef struct {
    qn_progress *bar;
    double began_us;
    int (*is_stopped)(void);
} watcher;

/* Solves shorter than a second show no progress bar. */
static int watch_iteration(void *user, const qn_fit_iteration *record, int iteration)
{
    const watcher *w = user;

    (void)record;
    if (qn_now_us() - w->began_us > 1e6)
        qn_progress_at(w->bar, iteration);
    return w->is_stopped && w->is_stopped();
}

/* Solves. */

static void note_contraction(qn_fit_report *r)
{
    const size_t used = strlen(r->note);

    r->may_contract = 1;
    snprintf(r->note + used, sizeof r->note - used,
             "%sstrict_fp = 0: bits may differ between backends", used ? "; " : "");
}

static qn_status run_one(qn_ctx *ctx, qn_fit_problem *p, const qn_fit_solve *solve,
                         const qn_fit_options *options, const qn_fit_watch *watch,
                         qn_fit_solved *out, qn_err *err)
{
    qn_fit_solve_options o;
    watcher w = { .began_us = qn_now_us(), .is_stopped = watch->is_stopped };
    qn_status st = QN_OK;

    QN_TRY(qn_fit_solve_options_of(solve, &o, err));
    o.n_threads = options->threads;
    o.now = now_s;
    QN_TRY(qn_progress_new(&watch->progress, solve->solver, "iterations", o.max_iterations, &w.bar,
                           err));
    o.watch = watch_iteration;
    o.user = &w;
    st = qn_fit_solve_routed(ctx, p, solve->solver, (qn_fit_precision)options->precision, &o, out,
                             err);
    /* Options without meaning, or without a solver, come from the program. */
    if (st == QN_ERR_USAGE || (st == QN_ERR_UNSUPPORTED && options->precision == QN_FIT_F64))
        err->status = st = QN_ERR_INPUT;
    QN_TRY(st);
    if (!o.strict_fp)
        note_contraction(&out->report);
    if (qn_now_us() - w.began_us > 1e6 && qn_fit_end_is_converged(out->report.end))
        qn_progress_done(w.bar);
out:
    qn_progress_free(w.bar);
    return st;
}

static void note_covariance(const qn_fit_problem *p, int is_asked, qn_fit_result *r)
{
    qn_err err = { .text = "" };

    if (qn_fit_problem_has_energies(p))
        snprintf(r->no_covariance, sizeof r->no_covariance, "energies have no residuals");
    else if (!is_asked && p->n_free > FREE_UNASKED)
        snprintf(r->no_covariance, sizeof r->no_covariance,
                 "%u free parameters; --covariance gives deviations up to %d of them", p->n_free,
                 QN_FIT_MAX_COVARIANCE);
    else if (qn_fit_covariance_new(p, &r->covariance, &err) != QN_OK)
        snprintf(r->no_covariance, sizeof r->no_covariance, "%.190s", err.text);
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
                     const qn_fit_watch *watch, qn_fit_result *out, qn_err *err)
{
    static const qn_fit_watch unwatched = { .progress = { .mode = QN_PROGRESS_OFF } };
    qn_fit_problem *p = text->problem;
    const qn_fit_solve fallback = { .solver = "lm" }, by_gradient = { .solver = "lbfgs" };
    const qn_fit_solve *by_default = qn_fit_problem_has_energies(p) ? &by_gradient : &fallback;
    const double began = qn_now_us();
    qn_fit_result r = { .precision = (qn_fit_precision)options->precision };
    const int n = text->n_solves ? text->n_solves : 1;
    qn_status st = QN_OK;

    r.solves = calloc((size_t)n, sizeof *r.solves);
    r.start = malloc(((size_t)p->n_scalars + 1) * sizeof *r.start);
    if (!r.solves || !r.start) {
        st = qn_fail(err, QN_ERR_NOMEM, "%u parameters", p->n_scalars);
        goto out;
    }
    memcpy(r.start, p->x, p->n_scalars * sizeof *r.start);
    do {
        QN_TRY(run_one(ctx, p, text->n_solves ? &text->solves[r.n_solves] : by_default, options,
                       watch ? watch : &unwatched, &r.solves[r.n_solves], err));
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

void qn_fit_result_free(qn_fit_result *result)
{
    for (int k = 0; k < result->n_solves; k++)
        qn_fit_report_free(&result->solves[k].report);
    free(result->solves);
    free(result->start);
    qn_fit_covariance_free(&result->covariance);
    *result = (qn_fit_result){ 0 };
}
