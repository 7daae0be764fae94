/* driver.c - drives the graphs of the resident solver.
 *
 * The host polls: is_ready checks whether the last graph has finished and reads the scalars; during
 * conjugate gradients it submits the next eight or sixteen iterations. Every 48 iterations the
 * residual is computed from scratch, because the recurrence drifts away from it.
 */
#include "domain/fit/resident/resident.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "domain/fit/resident/resident_impl.h"
#include "engine/engine.h"

enum { RESET = 48 };
/* A second point may take an eighth of a device's memory. Its graphs are recorded separately, which
 * costs as much as about a hundred steps spend waiting: 2 ms against tens of us on an H200
 * (fit_speculate.sh). By default only solves that take longer get one, so that it never costs more
 * than the waits so far.
 */
enum { SPECULATION_SHARE = 8, STEPS_BEFORE_SPECULATION = 100 };

void qn_fit_device_driver_free(qn_fit_device_driver *driver)
{
    if (!driver)
        return;
    for (int k = 0; k < QN_FIT_N_GRAPHS; k++)
        qn_graph_free(driver->graphs[k]);
    for (int k = 0; driver->speculation && k < QN_FIT_N_GRAPHS; k++)
        qn_graph_free(driver->speculation->graphs[k]);
    qn_fit_device_free(driver->device);
    qn_arena_clear(&driver->memory);
    free(driver);
}

static qn_status check(const qn_fit_problem *p, const qn_fit_solve_options *o, qn_err *err)
{
    for (int k = 0; k < p->n_sets; k++)
        if (p->sets[k].dim > FIT_MAX_DIM)
            return qn_fail(err, QN_ERR_LIMIT, "%s: blocks of %u numbers, limit %d on a device",
                           p->sets[k].name, p->sets[k].dim, FIT_MAX_DIM);
    if (o->trust_region_radius > 0)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "only the CPU honours trust_region_radius");
    return QN_OK;
}

/* J.
 *
 * With elimination J is always stored, for J' and for blocks of J'J; J v is computed unless the
 * program asks to read it, which is slower for observations of cameras. Without elimination,
 * conjugate gradients read J or compute it, as the program asks or as estimated.
 */

static qn_status make_jacobian(qn_fit_device_driver *d, qn_err *err)
{
    int is_stored = d->opt.jacobian == QN_FIT_JACOBIAN_STORED || d->opt.storage == QN_FIT_F32;
    qn_status st = QN_OK;

    if (d->schur)
        return QN_OK;
    if (d->opt.storage == QN_FIT_F32)
        qn_fit_device_set_storage(d->device, QN_FIT_F32);
    if (!is_stored && d->opt.jacobian == QN_FIT_JACOBIAN_AUTO)
        QN_TRY(qn_fit_device_choose_stored(d->device, &is_stored, err));
    if (is_stored)
        QN_TRY(qn_fit_device_make(d->device, qn_fit_device_jacobian, "fit.jacobian", &d->jacobian,
                                  err));
out:
    return st;
}

/* The buffer that products read; NULL: they compute J. */
static qn_buf *stored_jacobian(const qn_fit_device_driver *d)
{
    if (d->schur)
        return d->opt.jacobian == QN_FIT_JACOBIAN_STORED ? d->schur->jacobian : NULL;
    return d->jacobian;
}

static int is_rounded(const qn_fit_device_driver *d)
{
    return d->precision == QN_FIT_F64 && d->opt.storage == QN_FIT_F32;
}

/* Near the end of a solve the predicted decrease is a small difference: a rounded J would swamp it,
 * and good steps would be rejected. */
qn_status qn_fit_driver_jv(qn_fit_device_driver *d, qn_graph *graph, qn_buf *v, qn_buf *rows,
                           qn_err *err)
{
    if (stored_jacobian(d) && !is_rounded(d))
        return qn_fit_stage_stored_jv(d->device, graph, stored_jacobian(d), v, rows, err);
    return qn_fit_stage_jv(d->device, graph, d->vectors[QN_FIT_X], v, rows, err);
}

static void report_jacobian(const qn_fit_device_driver *d, qn_fit_report *report)
{
    const int is_f32 = d->precision == QN_FIT_F32 || is_rounded(d);

    snprintf(report->jacobian, sizeof report->jacobian, "%s",
             stored_jacobian(d) ? "stored"
             : d->schur         ? "mixed"
                                : "free");
    if (!stored_jacobian(d) && !d->schur)
        return;
    snprintf(report->storage, sizeof report->storage, "%s", is_f32 ? "f32" : "f64");
    report->jacobian_bytes = qn_fit_device_jacobian_bytes(d->device);
}

/* The driver. */

/* Blocks are eliminated where the program allows it, unless it asks for pcg. */
static int wants_schur(qn_fit_device_driver *d)
{
    const qn_fit_linear_kind kind = d->opt.linear_solver;
    const int is_asked = kind == QN_FIT_SCHUR || kind == QN_FIT_SCHUR_PCG;
    const char *why;

    if (kind == QN_FIT_PCG ||
        (kind == QN_FIT_LINEAR_AUTO && qn_fit_solve_options_need_pcg(&d->opt)))
        return 0;
    if (qn_fit_schur_fits(d->problem, &why))
        return 1;
    if (is_asked)
        snprintf(d->note, sizeof d->note, ": pcg is used instead of %s: %s",
                 qn_fit_linear_name(kind), why);
    return 0;
}

/* By default only on GPUs, where waiting for the host often takes longer than an evaluation. */
static int wants_speculation(qn_fit_device_driver *d)
{
    int device = qn_ctx_pinned(d->ctx);
    const qn_device_info *info;

    if (d->opt.speculate >= 0)
        return d->opt.speculate;
    d->n_before_speculation = STEPS_BEFORE_SPECULATION;
    if (device < 0 &&
        (qn_route_get_mode(d->ctx) != QN_ROUTE_GPU || qn_devices_select(d->ctx, 1, &device) != 1))
        return 0;
    info = qn_device_get(d->ctx, device);
    return qn_fit_is_gpu(info) &&
           qn_fit_speculation_bytes(d) <= info->mem_total / SPECULATION_SHARE;
}

qn_status qn_fit_device_driver_new(qn_ctx *ctx, const qn_fit_problem *problem,
                                   qn_fit_precision precision, const qn_fit_solve_options *options,
                                   qn_fit_device_driver **out, qn_err *err)
{
    qn_fit_device_driver *d = calloc(1, sizeof *d);
    qn_status st = QN_OK;

    if (!d)
        QN_FAIL(err, QN_ERR_NOMEM, "a driver");
    QN_TRY(check(problem, options, err));
    d->ctx = ctx;
    d->problem = problem;
    d->precision = precision;
    d->opt = *options;
    QN_TRY(qn_fit_device_new(ctx, problem, precision, &d->device, err));
    qn_fit_device_set_accumulate(d->device, options->accumulate);
    qn_fit_device_set_contraction(d->device, !options->strict_fp);
    QN_TRY(qn_fit_device_set_batch_size(d->device, options->batch_size, err));
    if (wants_schur(d))
        QN_TRY(qn_fit_schur_new(d, err));
    if (d->reduced)
        snprintf(d->note, sizeof d->note, ": a reduced matrix of %lld blocks",
                 (long long)d->reduced->n_stored);
    QN_TRY(make_jacobian(d, err));
    QN_TRY(qn_fit_driver_buffers(d, err));
    if (wants_speculation(d))
        QN_TRY(qn_fit_speculation_new(d, err));
    QN_TRY(qn_fit_driver_graphs(d, err));
    *out = d;
    d = NULL;
out:
    qn_fit_device_driver_free(d);
    return st;
}

/* The table. */

static void run(qn_fit_device_driver *d, int graph)
{
    if (d->st != QN_OK)
        return;
    d->st = qn_graph_run(d->graphs[graph], &d->err);
    d->is_read = 0;
    d->last = d->graphs[graph];
}

static void control(qn_fit_device_driver *d, int at, double value)
{
    d->control[at] = value;
}

static void send_control(qn_fit_device_driver *d)
{
    if (d->st == QN_OK)
        d->st = qn_buf_write(d->small[QN_FIT_CONTROL], 0, d->control, sizeof d->control, &d->err);
}

static void linearise(void *self)
{
    qn_fit_device_driver *d = self;

    d->asked = QN_FIT_ASKED_POINT;
    d->n_used += d->here.is_ahead;
    d->here.is_ahead = 0;
    if (d->here.is_known)
        return;
    run(d, QN_FIT_G_POINT);
    d->n_points++;
    if (!d->has_scale)
        run(d, QN_FIT_G_SCALE);
    if (!d->has_scale && d->speculation)
        run(d, QN_FIT_G_FILL);
    d->has_scale = 1;
}

static int at_once(const qn_fit_device_driver *d)
{
    return d->reduced ? (int)QN_FIT_REDUCED_AT_ONCE : (int)QN_FIT_CG_AT_ONCE;
}

static void solve(void *self, qn_fit_d_kind kind, double with)
{
    qn_fit_device_driver *d = self;
    const qn_fit_linear_options *o = &d->opt.linear;

    control(d, FIT_C_SHARE, 1); /* the usual case */
    control(d, FIT_C_KIND, kind);
    control(d, FIT_C_BY, with);
    control(d, FIT_C_ETA, o->eta > 0 ? o->eta : 0.1);
    control(d, FIT_C_SMALL, o->tolerance > 0 ? o->tolerance : 1e-12);
    send_control(d);
    run(d, QN_FIT_G_SYSTEM);
    run(d, QN_FIT_G_CG);
    d->n_sent = at_once(d);
    d->asked = QN_FIT_ASKED_SOLUTION;
}

static void try_step(void *self, double share, QN_UNUSED double longest)
{
    qn_fit_device_driver *d = self;

    if (d->control[FIT_C_SHARE] != share) {
        control(d, FIT_C_SHARE, share);
        send_control(d);
    }
    run(d, QN_FIT_G_TRIAL);
    d->asked = QN_FIT_ASKED_TRIAL;
    d->n_trials++;
    d->there.is_known = 0;
    d->is_ahead = d->speculation && d->n_taken >= d->n_before_speculation;
    if (!d->is_ahead)
        return;
    run(d, QN_FIT_G_AHEAD);
    d->n_points++;
    d->n_speculated++;
}

/* Never called: has_bounds is 0, since the device projects steps itself. */
static void try_gradient(void *self, double share)
{
    try_step(self, share, 0);
}

/* Exchanges the trial point and the current one. */
static void accept(void *self)
{
    qn_fit_device_driver *d = self;

    run(d, QN_FIT_G_SWAP);
    d->n_taken++;
    if (d->is_ahead)
        qn_fit_speculation_swap(d);
    else
        d->here.is_known = 0;
}

static void keep(void *self, int is_back)
{
    qn_fit_device_driver *d = self;

    if (d->opt.nonmonotonic)
        run(d, is_back ? QN_FIT_G_BACK : QN_FIT_G_KEEP);
    if (is_back)
        d->here.is_known = 0;
}

static void download_scalars(qn_fit_device_driver *d)
{
    if (d->st == QN_OK && !d->is_read)
        d->st = qn_buf_read(d->small[QN_FIT_SCALARS], 0, d->scalars, sizeof d->scalars, &d->err);
    d->is_read = d->st == QN_OK;
}

/* Waits until the device has answered. The copy is queued behind the work, so that there is one
 * wait instead of one for the work and one for the copy. */
static void wait_for_scalars(qn_fit_device_driver *d)
{
    if (d->is_read)
        qn_graph_wait(d->last, NULL); /* is_ready reports a fault */
    else
        download_scalars(d);
}

static void read_scalars(qn_fit_device_driver *d)
{
    if (d->st == QN_OK)
        d->st = qn_graph_wait(d->last, &d->err);
    if (d->st == QN_OK)
        download_scalars(d);
    d->n_waits++;
    for (int k = 0; d->st != QN_OK && k < FIT_N_SCALARS; k++)
        d->scalars[k] = NAN;
}

/* Returns 1 if the step is complete or the solve cannot continue. */
static int is_solved(qn_fit_device_driver *d)
{
    const int most = d->opt.linear.max_iterations > 0 ? d->opt.linear.max_iterations : 500;

    if (d->st != QN_OK || d->scalars[FIT_S_DONE] > 0 || d->n_sent >= most)
        return 1;
    if (d->n_sent % RESET == 0)
        run(d, QN_FIT_G_RESET);
    run(d, QN_FIT_G_CG);
    d->n_sent += at_once(d);
    return 0;
}

static void finish_solution(qn_fit_device_driver *d)
{
    if (d->schur)
        run(d, QN_FIT_G_SUBSTITUTE);
    if (d->st == QN_OK)
        d->n_products += (qn_i64)d->scalars[FIT_S_ITERATIONS];
}

/* The result of a trial arrives together with the evaluation of the point where it ends. */
static void note_point(qn_fit_device_driver *d)
{
    const qn_fit_known point = { .cost = d->scalars[FIT_S_COST],
                                 .gradient_max = d->scalars[FIT_S_GRADIENT],
                                 .x_norm = d->scalars[FIT_S_X],
                                 .is_known = d->st == QN_OK,
                                 .is_ahead = d->asked == QN_FIT_ASKED_TRIAL };

    if (d->asked == QN_FIT_ASKED_POINT && d->speculation)
        d->here = point;
    if (d->asked == QN_FIT_ASKED_TRIAL && d->is_ahead)
        d->there = point;
}

static int is_ready(void *self, qn_fit_scalars *out)
{
    qn_fit_device_driver *d = self;
    const double *s = d->scalars;

    if (d->asked == QN_FIT_ASKED_POINT && d->here.is_known) {
        *out = (qn_fit_scalars){ .cost = d->here.cost,
                                 .gradient_max = d->here.gradient_max,
                                 .x_norm = d->here.x_norm };
        return 1;
    }
    if (d->st == QN_OK && !qn_graph_is_done(d->last))
        return 0;
    read_scalars(d);
    if (d->asked == QN_FIT_ASKED_SOLUTION && !is_solved(d))
        return 0;
    if (d->asked == QN_FIT_ASKED_SOLUTION)
        finish_solution(d);
    else
        note_point(d);
    *out = (qn_fit_scalars){ .cost = s[d->asked == QN_FIT_ASKED_TRIAL ? FIT_S_TRIAL : FIT_S_COST],
                             .gradient_max = s[FIT_S_GRADIENT],
                             .x_norm = s[FIT_S_X],
                             .model = s[FIT_S_MODEL],
                             .step_norm = s[FIT_S_STEP],
                             .is_solved = !(s[FIT_S_DONE] > 1) && d->st == QN_OK,
                             .linear_iterations = d->st == QN_OK ? (int)s[FIT_S_ITERATIONS] : 0 };
    return 1;
}

static void describe(void *self, char *text, size_t size)
{
    const qn_fit_device_driver *d = self;

    if (d->st == QN_OK)
        qn_fit_device_describe(d->device, text, size);
    else
        snprintf(text, size, "%.150s", d->err.text);
}

qn_fit_driver qn_fit_device_driver_table(qn_fit_device_driver *driver)
{
    return (qn_fit_driver){ .linearise = linearise,
                            .solve = solve,
                            .try_step = try_step,
                            .try_gradient = try_gradient,
                            .accept = accept,
                            .undo = accept,
                            .keep = keep,
                            .is_ready = is_ready,
                            .describe = describe,
                            .self = driver };
}

/* Results. */

qn_status qn_fit_device_driver_status(const qn_fit_device_driver *driver, qn_err *err)
{
    return driver->st == QN_OK ? QN_OK : qn_fail(err, driver->st, "%s", driver->err.text);
}

qn_status qn_fit_solve_lm_on(qn_ctx *ctx, qn_fit_problem *problem, qn_fit_precision precision,
                             const qn_fit_solve_options *options, qn_fit_report *report,
                             qn_err *err)
{
    qn_status st = QN_OK;
    qn_fit_device_driver *driver = NULL;
    qn_fit_lm *lm = NULL;
    qn_fit_report r = { 0 };

    QN_TRY(qn_fit_solve_options_check(options, err));
    QN_TRY(qn_fit_report_open(problem, options->max_iterations, &r, err));
    QN_TRY(qn_fit_device_driver_new(ctx, problem, precision, options, &driver, err));
    const qn_fit_driver table = qn_fit_device_driver_table(driver);

    QN_TRY(qn_fit_lm_new(&table, options, &r, &lm, err));
    for (qn_fit_state at = QN_FIT_RUNNING; at != QN_FIT_DONE; at = qn_fit_lm_step(lm))
        if (at == QN_FIT_WAITING && driver->st == QN_OK)
            wait_for_scalars(driver);
    QN_TRY(qn_fit_device_driver_status(driver, err));
    QN_TRY(qn_fit_device_read(driver->device, driver->vectors[QN_FIT_X], problem->x,
                              problem->n_scalars, err));
    r.n_costs = driver->n_trials;
    r.n_jacobians = driver->n_points;
    r.n_products = driver->n_products;
    r.n_speculated = driver->n_speculated;
    r.n_dropped = driver->n_speculated - driver->n_used;
    r.n_waits = driver->n_waits;
    r.batch_size = options->batch_size;
    snprintf(r.solver, sizeof r.solver, "lm");
    snprintf(r.linear, sizeof r.linear, "%s", driver->schur ? "schur_pcg" : "pcg");
    snprintf(r.accumulation, sizeof r.accumulation, "%s",
             driver->schur || driver->jacobian ? "gather"
                                               : qn_fit_device_accumulation(driver->device));
    report_jacobian(driver, &r);
    snprintf(r.note, sizeof r.note, "on %.60s%.130s", qn_graph_stage_device(driver->last, 0),
             driver->note);
    *report = r;
    r = (qn_fit_report){ 0 };
out:
    qn_fit_lm_free(lm);
    qn_fit_device_driver_free(driver);
    qn_fit_report_free(&r);
    return st;
}
