/* host_driver.c - the vectors of Levenberg-Marquardt in host memory. */
#include "domain/fit/solve/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qn_fit_host_driver {
    qn_fit_model *model;
    qn_fit_solve_options opt;
    qn_fit_linear linear;
    uint32_t n;
    double *x, *trial, *best;
    double *gradient, *diagonal;
    double *scale;            /* of the first Jacobian; 0 where fixed */
    double *active, *damping; /* scale with 0 for scalars held at a bound; D^2 */
    double *step, *delta;
    double *rows;
    int has_scale;
    double evaluate_seconds, linear_seconds;
    qn_fit_scalars answer;
};

void qn_fit_host_driver_free(qn_fit_host_driver *driver)
{
    if (!driver)
        return;
    qn_fit_linear_close(&driver->linear);
    free(driver->x);
    free(driver->rows);
    free(driver);
}

qn_status qn_fit_host_driver_new(qn_fit_model *model, const qn_fit_solve_options *options,
                                 qn_fit_host_driver **out, qn_err *err)
{
    const uint32_t n = model->problem->n_scalars;
    qn_fit_host_driver *d = calloc(1, sizeof *d);
    double **const vectors[] = { &d->x,     &d->trial,  &d->best,    &d->gradient, &d->diagonal,
                                 &d->scale, &d->active, &d->damping, &d->step,     &d->delta };
    const size_t n_vectors = sizeof vectors / sizeof *vectors;
    qn_status st = QN_OK;

    if (!d || !(d->x = calloc(n_vectors * ((size_t)n + 8), sizeof *d->x)) ||
        !(d->rows = calloc((size_t)model->n_rows + 1, sizeof *d->rows)))
        QN_FAIL(err, QN_ERR_NOMEM, "vectors of %u parameters", n);
    for (size_t k = 1; k < n_vectors; k++)
        *vectors[k] = d->x + k * ((size_t)n + 8);
    d->model = model;
    d->opt = *options;
    d->n = n;
    memcpy(d->x, model->problem->x, n * sizeof *d->x);
    QN_TRY(qn_fit_linear_open(model, options->linear_solver, &options->linear, &d->linear, err));
    *out = d;
    d = NULL;
out:
    qn_fit_host_driver_free(d);
    return st;
}

/* Pieces. */

static double clock_of(const qn_fit_host_driver *d)
{
    return d->opt.now ? d->opt.now(d->opt.user) : 0;
}

static double projected(const qn_fit_problem *p, uint32_t k, double x)
{
    return fmin(fmax(x, p->lower[k]), p->upper[k]);
}

/* r . v + v . v / 2 over rows, group by group. */
static double row_model(const qn_fit_host_driver *d)
{
    double sum = 0;

    for (int k = 0; k < d->model->problem->n_groups; k++) {
        const qn_fit_model_group *g = &d->model->groups[k];
        const qn_i64 n = g->group->n_rows * g->group->ld;
        const double *v = d->rows + g->first_row;

        sum += qn_fit_inner(g->res, v, n) + 0.5 * qn_fit_inner(v, v, n);
    }
    return sum;
}

static double norm(const double *v, uint32_t n)
{
    return sqrt(qn_fit_inner(v, v, n));
}

static void set_scale(qn_fit_host_driver *d)
{
    const qn_fit_problem *p = d->model->problem;

    for (uint32_t k = 0; k < d->n; k++)
        d->scale[k] = p->is_fixed[k]          ? 0
                      : d->opt.jacobi_scaling ? 1 / (1 + sqrt(d->diagonal[k]))
                                              : 1;
    d->has_scale = 1;
}

/* The table. */

static void prepare_linear(qn_fit_host_driver *d)
{
    const double start = clock_of(d);

    qn_fit_model_diagonal(d->model, d->diagonal);
    if (!d->has_scale)
        set_scale(d);
    if (d->linear.of->renew)
        d->linear.of->renew(d->linear.self);
    d->linear_seconds += clock_of(d) - start;
}

static void linearise(void *self)
{
    qn_fit_host_driver *d = self;
    const qn_fit_problem *p = d->model->problem;
    const double start = clock_of(d);
    double largest = 0, sum = 0;

    d->answer = (qn_fit_scalars){ .cost = qn_fit_model_linearise(d->model, d->x, d->gradient) };
    for (uint32_t k = 0; k < d->n; k++) {
        const double move = fabs(projected(p, k, d->x[k] - d->gradient[k]) - d->x[k]);

        if (p->is_fixed[k])
            continue;
        /* Written so that NaN becomes the largest. */
        largest = move <= largest ? largest : move;
        sum += d->x[k] * d->x[k];
    }
    d->answer.gradient_max = largest;
    d->answer.x_norm = sqrt(sum);
    d->evaluate_seconds += clock_of(d) - start;
    if (!isfinite(d->answer.cost) || !isfinite(largest))
        return;
    prepare_linear(d);
}

/* A variable at its bound does not move while its gradient points out of the box. */
static int is_held(const qn_fit_host_driver *d, uint32_t k)
{
    const qn_fit_problem *p = d->model->problem;

    return (d->x[k] <= p->lower[k] && d->gradient[k] > 0) ||
           (d->x[k] >= p->upper[k] && d->gradient[k] < 0);
}

static void solve(void *self, qn_fit_d_kind kind, double by)
{
    qn_fit_host_driver *d = self;
    const qn_fit_solve_options *o = &d->opt;
    const double start = clock_of(d);
    qn_fit_outcome outcome;

    for (uint32_t k = 0; k < d->n; k++) {
        const double s = is_held(d, k) ? 0 : d->scale[k];
        const double square = d->diagonal[k] * s * s;

        d->active[k] = s;
        d->damping[k] = s == 0                  ? 1
                        : kind == QN_FIT_D_NONE ? 0
                        : kind == QN_FIT_D_IDENTITY
                            ? by
                            : fmin(fmax(square, o->min_lm_diagonal), o->max_lm_diagonal) * by;
    }
    outcome = qn_fit_linear_solve(
        &d->linear,
        &(qn_fit_system){ .gradient = d->gradient, .scale = d->active, .damping = d->damping },
        d->step);
    for (uint32_t k = 0; k < d->n; k++) {
        d->step[k] *= d->active[k];
        outcome.is_solved &= isfinite(d->step[k]) != 0;
    }
    d->answer =
        (qn_fit_scalars){ .is_solved = outcome.is_solved, .linear_iterations = outcome.iterations };
    d->linear_seconds += clock_of(d) - start;
}

/* The trial point x + share * along, projected, with its cost and the other scalars. */
static void try_along(qn_fit_host_driver *d, const double *along, double share)
{
    const qn_fit_problem *p = d->model->problem;
    const double start = clock_of(d);

    for (uint32_t k = 0; k < d->n; k++) {
        d->trial[k] = p->is_fixed[k] ? d->x[k] : projected(p, k, d->x[k] + share * along[k]);
        d->delta[k] = d->trial[k] - d->x[k];
    }
    qn_fit_model_jv(d->model, d->delta, d->rows);
    d->answer = (qn_fit_scalars){ .model = -row_model(d),
                                  .slope = qn_fit_inner(d->gradient, d->delta, d->n),
                                  .step_norm = norm(d->delta, d->n) };
    d->answer.cost = qn_fit_model_cost(d->model, d->trial);
    d->evaluate_seconds += clock_of(d) - start;
}

static void try_step(void *self, double share, double longest)
{
    qn_fit_host_driver *d = self;
    const double length = longest > 0 ? norm(d->step, d->n) : 0;

    try_along(d, d->step, length > longest ? share * longest / length : share);
}

/* Starts at the length that minimises the linear model along the gradient. */
static void try_gradient(void *self, double share)
{
    qn_fit_host_driver *d = self;
    double square = 0, curvature;

    for (uint32_t k = 0; k < d->n; k++) {
        d->step[k] = is_held(d, k) ? 0 : -d->gradient[k];
        square += d->step[k] * d->step[k];
    }
    qn_fit_model_jv(d->model, d->step, d->rows);
    curvature = qn_fit_inner(d->rows, d->rows, d->model->n_rows);
    try_along(d, d->step, curvature > 0 ? share * square / curvature : share);
}

static void accept(void *self)
{
    qn_fit_host_driver *d = self;
    double *x = d->x;

    for (uint32_t k = 0; k < d->n; k++) {
        const double before = x[k];

        x[k] = d->trial[k];
        d->trial[k] = before;
    }
}

static void keep(void *self, int is_back)
{
    qn_fit_host_driver *d = self;

    memcpy(is_back ? d->x : d->best, is_back ? d->best : d->x, d->n * sizeof *d->x);
}

static int is_ready(void *self, qn_fit_scalars *out)
{
    *out = ((qn_fit_host_driver *)self)->answer;
    return 1;
}

static void describe(void *self, char *text, size_t size)
{
    qn_fit_model_describe(((qn_fit_host_driver *)self)->model, text, size);
}

qn_fit_driver qn_fit_host_driver_table(qn_fit_host_driver *driver)
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
                            .has_bounds = driver->model->problem->has_bounds,
                            .self = driver };
}

/* Returns -1 if a term is not finite. */
static int rank_of(qn_fit_host_driver *d)
{
    linearise(d);
    if (!isfinite(d->answer.cost) || !isfinite(d->answer.gradient_max))
        return -1;
    memset(d->damping, 0, d->n * sizeof *d->damping);
    return d->linear.of
        ->solve(
            d->linear.self,
            &(qn_fit_system){ .gradient = d->gradient, .scale = d->scale, .damping = d->damping },
            d->step)
        .rank;
}

void qn_fit_host_driver_results(qn_fit_host_driver *d, double *x, qn_fit_report *report)
{
    memcpy(x, d->x, d->n * sizeof *x);
    report->evaluate_seconds = d->evaluate_seconds;
    report->linear_seconds = d->linear_seconds;
    if (d->linear.of == &qn_fit_class_dense_qr)
        report->rank = rank_of(d);
    snprintf(report->linear, sizeof report->linear, "%s", d->linear.of->name);
    snprintf(report->note, sizeof report->note, "%s", d->linear.note);
}
