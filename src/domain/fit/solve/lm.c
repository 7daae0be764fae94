/* lm.c - Levenberg-Marquardt as a state machine.
 *
 * Each phase inspects the scalars of the previous work and starts the next. In a curved valley
 * where column norms shrink, the diagonal is useless as a measure of steps: the radius stays small
 * although every step succeeds. After twenty such steps in a row, damping switches to the identity,
 * once.
 */
#include "domain/fit/solve/solver.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { VALLEY_STEPS = 20, BOUND_REJECTS = 3, MAX_HALVINGS = 20, GAUSS_HALVINGS = 10 };
enum { LAMBDA_TRIES = 10, NOISE_STEPS = 40 };
#define VALLEY_RADIUS 0.1
#define ARMIJO        1e-4
/* Relative rounding of a sum of squares; and of one whose residuals are small differences. */
#define NOISE     (4 * DBL_EPSILON)
#define CANCELLED 1e-11

typedef enum { AT_START, AT_POINT, SOLVED, TRIED, TRIED_GRADIENT } phase;

struct qn_fit_lm {
    qn_fit_solver base;
    qn_fit_driver driver;
    phase at;
    int is_waiting;
    qn_fit_scalars s;

    double cost, cost_before, gradient_max, x_norm;
    double radius, nu; /* LAMBDA: radius is 1 / lambda */
    double share;      /* fraction of the step or the gradient that is tried */
    qn_fit_d_kind d_kind;
    int has_switched, n_valley;
    int n_invalid, n_rejects, n_halvings;
    int linear_iterations;
    int n_noise; /* steps accepted below the rounding of the cost */
    double noise_step;

    /* Nonmonotonic: accepted costs, and the predicted decrease since each. */
    double past_cost[16], past_model[16], best_cost;
    int n_past;
};

qn_status qn_fit_lm_new(const qn_fit_driver *driver, const qn_fit_solve_options *options,
                        qn_fit_report *report, qn_fit_lm **out, qn_err *err)
{
    qn_fit_lm *lm = calloc(1, sizeof *lm);
    qn_status st;

    if (!lm)
        return qn_fail(err, QN_ERR_NOMEM, "a solver");
    if ((st = qn_fit_solver_begin(&lm->base, options, report, err)) != QN_OK) {
        free(lm);
        return st;
    }
    lm->driver = *driver;
    lm->radius = options->damping == QN_FIT_DAMP_LAMBDA ? 1e3 : options->initial_radius;
    lm->nu = 2;
    lm->d_kind =
        options->damping == QN_FIT_DAMP_GAUSS ? QN_FIT_D_NONE
        : options->damping == QN_FIT_DAMP_LAMBDA || options->damping_scale == QN_FIT_SCALE_IDENTITY
            ? QN_FIT_D_IDENTITY
            : QN_FIT_D_DIAGONAL;
    *out = lm;
    return QN_OK;
}

void qn_fit_lm_free(qn_fit_lm *lm)
{
    free(lm);
}

/* Starting work. */

static void start_linearise(qn_fit_lm *lm, phase next)
{
    lm->driver.linearise(lm->driver.self);
    lm->at = next;
    lm->is_waiting = 1;
}

static void start_solve(qn_fit_lm *lm)
{
    lm->driver.solve(lm->driver.self, lm->d_kind, 1 / lm->radius);
    lm->at = SOLVED;
    lm->is_waiting = 1;
}

static void start_try(qn_fit_lm *lm, double share)
{
    lm->share = share;
    lm->driver.try_step(lm->driver.self, share, lm->base.opt.trust_region_radius);
    lm->at = TRIED;
    lm->is_waiting = 1;
}

static void start_gradient(qn_fit_lm *lm, double share)
{
    lm->share = share;
    lm->driver.try_gradient(lm->driver.self, share);
    lm->at = TRIED_GRADIENT;
    lm->is_waiting = 1;
}

/* History and limits. */

/* Returns 0 when the caller's watch function, the time limit or the iteration limit ends the
 * solve. */
static int record(qn_fit_lm *lm, int is_accepted, double rho)
{
    const double time = qn_fit_solver_seconds(&lm->base);
    const qn_fit_iteration r = { .cost = is_accepted ? lm->s.cost : lm->cost,
                                 .change = lm->cost - lm->s.cost,
                                 .gradient_max = lm->gradient_max,
                                 .step_norm = lm->s.step_norm,
                                 .rho = rho,
                                 .radius = lm->radius,
                                 .seconds = time,
                                 .linear_iterations = lm->linear_iterations,
                                 .is_accepted = is_accepted };

    lm->base.iteration++;
    if (is_accepted)
        lm->base.report->n_accepted++;
    else
        lm->base.report->n_rejected++;
    qn_fit_solver_add(&lm->base, &r);
    return !lm->base.is_ended && !qn_fit_solver_is_late(&lm->base);
}

static void next_iteration(qn_fit_lm *lm)
{
    if (qn_fit_solver_is_last(&lm->base, lm->cost))
        return;
    if (lm->n_rejects >= BOUND_REJECTS && lm->driver.has_bounds) {
        lm->n_rejects = lm->n_halvings = 0;
        start_gradient(lm, 1);
    } else
        start_solve(lm);
}

/* Acceptance. */

/* The decrease relative to the prediction; with nonmonotonic steps also relative to the worst of
 * the last costs, whichever is better. */
static double quality(const qn_fit_lm *lm)
{
    double rho = (lm->cost - lm->s.cost) / lm->s.model;

    for (int k = 0; lm->base.opt.nonmonotonic && k < lm->n_past; k++)
        rho = fmax(rho, (lm->past_cost[k] - lm->s.cost) / (lm->past_model[k] + lm->s.model));
    return rho;
}

static void remember(qn_fit_lm *lm)
{
    if (!lm->base.opt.nonmonotonic)
        return;
    for (int k = 0; k < lm->n_past; k++)
        lm->past_model[k] += lm->s.model;
    if (lm->n_past == lm->base.opt.window) {
        for (int k = 1; k < lm->n_past; k++) {
            lm->past_cost[k - 1] = lm->past_cost[k];
            lm->past_model[k - 1] = lm->past_model[k];
        }
        lm->n_past--;
    }
    lm->past_cost[lm->n_past] = lm->s.cost;
    lm->past_model[lm->n_past++] = 0;
    if (lm->s.cost < lm->best_cost) {
        lm->best_cost = lm->s.cost;
        lm->driver.keep(lm->driver.self, 0);
    }
}

static void widen(qn_fit_lm *lm, double rho)
{
    if (lm->base.opt.damping == QN_FIT_DAMP_LAMBDA) {
        lm->radius = fmin(lm->radius * 10, 1e10);
        return;
    }
    lm->radius = fmin(lm->base.opt.max_radius, lm->radius / fmax(1.0 / 3, 1 - pow(2 * rho - 1, 3)));
    lm->nu = 2;
    lm->n_valley = lm->radius < VALLEY_RADIUS ? lm->n_valley + 1 : 0;
    if (lm->base.opt.damping_scale == QN_FIT_SCALE_AUTO && !lm->has_switched &&
        lm->n_valley >= VALLEY_STEPS) {
        lm->has_switched = 1;
        lm->d_kind = QN_FIT_D_IDENTITY;
        lm->radius = 1;
    }
}

static void take_step(qn_fit_lm *lm, double rho, int may_end)
{
    const double change = fabs(lm->cost - lm->s.cost);
    const int is_flat = may_end && change <= lm->base.opt.function_tolerance * lm->cost;
    const double before = lm->cost;

    lm->cost_before = lm->cost;
    lm->driver.accept(lm->driver.self);
    if (!record(lm, 1, rho)) {
        lm->cost = lm->s.cost;
        return;
    }
    remember(lm);
    lm->cost = lm->s.cost;
    lm->n_rejects = lm->n_invalid = lm->n_halvings = 0;
    if (is_flat)
        qn_fit_solver_end(&lm->base, QN_FIT_CONVERGED_COST,
                          "the cost changed by %.3g of itself, tolerance %.3g",
                          before > 0 ? change / before : 0, lm->base.opt.function_tolerance);
    else
        start_linearise(lm, AT_POINT);
}

/* Increases the damping; returns 0 at its limit. */
static int narrow(qn_fit_lm *lm)
{
    lm->n_valley = 0;
    if (lm->base.opt.damping == QN_FIT_DAMP_LAMBDA) {
        lm->radius /= 10;
        if (lm->radius >= 1e-10 && lm->n_rejects < LAMBDA_TRIES)
            return 1;
        qn_fit_solver_end(&lm->base, QN_FIT_STALLED_RADIUS,
                          "no damping up to %.3g lowers the cost of %.10g", 1 / lm->radius,
                          lm->cost);
        return 0;
    }
    lm->radius /= lm->nu;
    lm->nu *= 2;
    if (lm->radius >= lm->base.opt.min_radius)
        return 1;
    qn_fit_solver_end(&lm->base, QN_FIT_STALLED_RADIUS,
                      "no step lowers the cost of %.10g: the radius fell below %.3g", lm->cost,
                      lm->base.opt.min_radius);
    return 0;
}

static void reject(qn_fit_lm *lm, double rho, int is_invalid)
{
    lm->n_rejects++;
    lm->n_invalid = is_invalid ? lm->n_invalid + 1 : 0;
    if (!record(lm, 0, rho))
        return;
    if (lm->n_invalid >= lm->base.opt.max_consecutive_invalid) {
        qn_fit_solver_end(&lm->base, QN_FIT_LINEAR_FAILURE,
                          "%d linear systems in a row gave no usable step", lm->n_invalid);
        return;
    }
    if (lm->base.opt.damping == QN_FIT_DAMP_GAUSS) {
        qn_fit_solver_end(&lm->base, is_invalid ? QN_FIT_LINEAR_FAILURE : QN_FIT_STALLED_RADIUS,
                          is_invalid
                              ? "the undamped system has no usable solution; the cost is %.10g"
                              : "no fraction of the undamped step lowers the cost of %.10g",
                          lm->cost);
        return;
    }
    if (narrow(lm))
        next_iteration(lm);
}

/* Phases. */

/* A cost may be finite where its derivatives are not (the root of 0). At the start this ends the
 * solve; later the step to this point is undone and a shorter one is tried. */
static void after_non_finite_point(qn_fit_lm *lm, int is_first)
{
    char where[160] = "";

    lm->driver.describe(lm->driver.self, where, sizeof where);
    if (is_first) {
        lm->cost = lm->s.cost;
        lm->base.report->initial_cost = lm->cost;
        qn_fit_solver_end(&lm->base, QN_FIT_NON_FINITE, "at the start %s", where);
        return;
    }
    lm->driver.undo(lm->driver.self);
    lm->cost = lm->cost_before;
    if (lm->base.iteration >= lm->base.opt.max_iterations ||
        lm->base.opt.damping == QN_FIT_DAMP_GAUSS)
        qn_fit_solver_end(&lm->base, QN_FIT_NON_FINITE, "derivatives: %s", where);
    else if (narrow(lm))
        start_linearise(lm, AT_POINT);
}

static void after_point(qn_fit_lm *lm, int is_first)
{
    if (!isfinite(lm->s.cost) || !isfinite(lm->s.gradient_max)) {
        after_non_finite_point(lm, is_first);
        return;
    }
    lm->cost = lm->s.cost;
    lm->gradient_max = lm->s.gradient_max;
    lm->x_norm = lm->s.x_norm;
    if (is_first) {
        lm->base.report->initial_cost = lm->best_cost = lm->cost;
        qn_fit_solver_add(&lm->base,
                          &(qn_fit_iteration){ .cost = lm->cost,
                                               .gradient_max = lm->gradient_max,
                                               .radius = lm->radius,
                                               .seconds = qn_fit_solver_seconds(&lm->base),
                                               .is_accepted = 1 });
        lm->past_cost[0] = lm->cost;
        lm->n_past = 1;
        lm->driver.keep(lm->driver.self, 0);
    }
    if (!qn_fit_solver_is_flat(&lm->base, lm->gradient_max))
        next_iteration(lm);
}

static void after_solution(qn_fit_lm *lm)
{
    lm->linear_iterations = lm->s.linear_iterations;
    lm->s.step_norm = 0;
    lm->s.cost = lm->cost;
    if (lm->s.is_solved)
        start_try(lm, 1);
    else
        reject(lm, 0, 1);
}

static void after_gauss_step(qn_fit_lm *lm)
{
    if (lm->s.cost < lm->cost) {
        take_step(lm, (lm->cost - lm->s.cost) / lm->s.model, 1);
        return;
    }
    if (lm->s.step_norm <=
        lm->base.opt.parameter_tolerance * (lm->x_norm + lm->base.opt.parameter_tolerance))
        qn_fit_solver_end(&lm->base, QN_FIT_CONVERGED_PARAMETERS,
                          "a step of %.3g is below the tolerance", lm->s.step_norm);
    else if (++lm->n_halvings <= GAUSS_HALVINGS)
        start_try(lm, lm->share / 2);
    else
        reject(lm, 0, 0);
}

/* The predicted decrease is below the rounding of the cost, so comparing costs is meaningless. The
 * steps are still good, since they come from the residuals and not from their sum: they are
 * accepted with little damping as long as they get shorter. */
static void after_noise(qn_fit_lm *lm)
{
    const double model = lm->s.model;
    const int is_taken = model > 0 && lm->s.cost <= lm->cost * (1 + CANCELLED) &&
                         (lm->n_noise == 0 || lm->s.step_norm < 0.9 * lm->noise_step);
    const int is_last = !is_taken || ++lm->n_noise >= NOISE_STEPS ||
                        lm->base.iteration + 1 >= lm->base.opt.max_iterations;

    lm->noise_step = lm->s.step_norm;
    lm->cost_before = lm->cost;
    if (is_taken)
        lm->driver.accept(lm->driver.self);
    if (!record(lm, is_taken, 0))
        return;
    if (is_taken)
        lm->cost = lm->s.cost;
    if (is_last) {
        qn_fit_solver_end(&lm->base, QN_FIT_CONVERGED_COST,
                          "the predicted decrease %.3g is below the rounding of the cost %.10g",
                          model, lm->cost);
        return;
    }
    lm->radius = fmax(lm->radius, fmin(lm->base.opt.max_radius, 1e8));
    start_linearise(lm, AT_POINT);
}

static void after_step(qn_fit_lm *lm)
{
    const double small =
        lm->base.opt.parameter_tolerance * (lm->x_norm + lm->base.opt.parameter_tolerance);
    const int is_finite = isfinite(lm->s.cost) && isfinite(lm->s.model);
    double rho;

    if (lm->base.opt.damping == QN_FIT_DAMP_GAUSS) {
        after_gauss_step(lm);
        return;
    }
    if (is_finite && lm->s.step_norm <= small) {
        if (lm->s.cost < lm->cost) {
            lm->driver.accept(lm->driver.self);
            if (!record(lm, 1, (lm->cost - lm->s.cost) / lm->s.model))
                return;
            lm->cost = lm->s.cost;
        }
        qn_fit_solver_end(&lm->base, QN_FIT_CONVERGED_PARAMETERS,
                          "a step of %.3g is below %.3g of the parameters' %.3g", lm->s.step_norm,
                          lm->base.opt.parameter_tolerance, lm->x_norm);
        return;
    }
    if (is_finite && fabs(lm->s.model) <= NOISE * lm->cost) {
        after_noise(lm);
        return;
    }
    if (!is_finite || !(lm->s.model > 0)) {
        reject(lm, 0, is_finite);
        return;
    }
    rho = quality(lm);
    if (rho > lm->base.opt.min_relative_decrease) {
        widen(lm, rho);
        take_step(lm, rho, 1);
    } else
        reject(lm, rho, 0);
}

/* A projected gradient step with Armijo's rule, tried when steps fail at bounds. */
static void after_gradient_step(qn_fit_lm *lm)
{
    const int is_finite = isfinite(lm->s.cost);

    lm->linear_iterations = 0;
    if (is_finite && lm->s.slope < 0 && lm->s.cost <= lm->cost + ARMIJO * lm->s.slope)
        take_step(lm, 0, 0);
    else if (++lm->n_halvings <= MAX_HALVINGS)
        start_gradient(lm, lm->share / 2);
    else
        start_solve(lm);
}

static void finish(qn_fit_lm *lm)
{
    if (lm->base.opt.nonmonotonic && lm->best_cost < lm->cost) {
        lm->driver.keep(lm->driver.self, 1);
        lm->cost = lm->best_cost;
    }
    lm->base.report->final_cost = lm->cost;
    lm->base.report->total_seconds = qn_fit_solver_seconds(&lm->base);
}

qn_fit_state qn_fit_lm_step(qn_fit_lm *lm)
{
    if (lm->base.is_ended)
        return QN_FIT_DONE;
    if (lm->is_waiting && !lm->driver.is_ready(lm->driver.self, &lm->s))
        return QN_FIT_WAITING;
    if (lm->at == AT_START && !lm->is_waiting) {
        start_linearise(lm, AT_START);
        return QN_FIT_RUNNING;
    }
    lm->is_waiting = 0;
    switch (lm->at) {
    case AT_START:
        after_point(lm, 1);
        break;
    case AT_POINT:
        after_point(lm, 0);
        break;
    case SOLVED:
        after_solution(lm);
        break;
    case TRIED:
        after_step(lm);
        break;
    case TRIED_GRADIENT:
        after_gradient_step(lm);
        break;
    }
    if (!lm->base.is_ended)
        return QN_FIT_RUNNING;
    finish(lm);
    return QN_FIT_DONE;
}
