/* solve.c - whole solves in host memory: model, driver, solver, report. */
#include "domain/fit/solve/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void count_evaluations(const qn_fit_model *h, qn_fit_report *report)
{
    report->n_costs = h->n_costs;
    report->n_jacobians = h->n_jacobians;
    report->n_gradients = h->n_gradients;
    report->n_products = h->n_products;
}

static unsigned uses_of(const qn_fit_solve_options *o)
{
    return o->storage == QN_FIT_F32              ? QN_FIT_MODEL_ROUNDED
           : o->jacobian == QN_FIT_JACOBIAN_FREE ? QN_FIT_MODEL_FREE
                                                 : QN_FIT_MODEL_JACOBIAN;
}

/* In host memory J is stored unless the program asks to compute it: the solvers share it. */
static void report_jacobian(const qn_fit_model *model, const qn_fit_solve_options *o,
                            qn_fit_report *r)
{
    r->jacobian_bytes = qn_fit_model_jacobian_bytes(model);
    snprintf(r->jacobian, sizeof r->jacobian, "%s",
             o->jacobian == QN_FIT_JACOBIAN_FREE ? "free" : "stored");
    if (o->jacobian != QN_FIT_JACOBIAN_FREE)
        snprintf(r->storage, sizeof r->storage, "%s", o->storage == QN_FIT_F32 ? "f32" : "f64");
}

qn_status qn_fit_solve_lm(qn_fit_problem *problem, const qn_fit_solve_options *options,
                          qn_fit_report *report, qn_err *err)
{
    qn_status st = QN_OK;
    qn_fit_model *model = NULL;
    qn_fit_host_driver *driver = NULL;
    qn_fit_lm *lm = NULL;
    qn_fit_report r = { 0 };

    QN_TRY(qn_fit_solve_options_check(options, err));
    QN_TRY(qn_fit_report_open(problem, options->max_iterations, &r, err));
    QN_TRY(qn_fit_model_new(problem, uses_of(options), options->n_threads, &model, err));
    qn_fit_host_set_contraction(model->host, !options->strict_fp);
    QN_TRY(qn_fit_host_driver_new(model, options, &driver, err));
    const qn_fit_driver table = qn_fit_host_driver_table(driver);

    QN_TRY(qn_fit_lm_new(&table, options, &r, &lm, err));
    while (qn_fit_lm_step(lm) != QN_FIT_DONE)
        ;
    count_evaluations(model, &r);
    report_jacobian(model, options, &r);
    qn_fit_host_driver_results(driver, problem->x, &r);
    qn_fit_model_cost(model, problem->x);
    for (int k = 0; k < problem->n_groups; k++)
        r.group_costs[k] = qn_fit_model_group_cost(model, k);
    snprintf(r.solver, sizeof r.solver, "lm");
    *report = r;
    r = (qn_fit_report){ 0 };
out:
    qn_fit_lm_free(lm);
    qn_fit_host_driver_free(driver);
    qn_fit_model_free(model);
    qn_fit_report_free(&r);
    return st;
}

/* Solvers that use only the gradient. */

static double evaluate(void *self, const double *x, double *gradient)
{
    return qn_fit_model_gradient(self, x, gradient);
}

static void describe(void *self, char *text, size_t size)
{
    qn_fit_model_describe(self, text, size);
}

typedef struct gradient_solve {
    qn_fit_model *model;
    double *x;
    qn_fit_report report;
    qn_fit_objective objective;
} gradient_solve;

static qn_status begin_gradient(qn_fit_problem *p, const qn_fit_solve_options *options,
                                gradient_solve *s, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_fit_solve_options_check(options, err));
    QN_TRY(qn_fit_report_open(p, options->max_iterations, &s->report, err));
    QN_TRY(qn_fit_model_new(p, QN_FIT_MODEL_GRADIENT, options->n_threads, &s->model, err));
    qn_fit_host_set_contraction(s->model->host, !options->strict_fp);
    if (!(s->x = calloc((size_t)p->n_scalars + 1, sizeof *s->x)))
        QN_FAIL(err, QN_ERR_NOMEM, "%u parameters", p->n_scalars);
    memcpy(s->x, p->x, p->n_scalars * sizeof *s->x);
    s->objective = (qn_fit_objective){ .n = p->n_scalars,
                                       .evaluate = evaluate,
                                       .describe = describe,
                                       .lower = p->has_bounds ? p->lower : NULL,
                                       .upper = p->has_bounds ? p->upper : NULL,
                                       .self = s->model };
out:
    return st;
}

static void end_gradient(qn_fit_problem *p, gradient_solve *s, const char *name,
                         qn_fit_report *report)
{
    count_evaluations(s->model, &s->report);
    memcpy(p->x, s->x, p->n_scalars * sizeof *p->x);
    qn_fit_model_gradient(s->model, p->x, s->x); /* costs of the groups */
    for (int k = 0; k < p->n_groups; k++)
        s->report.group_costs[k] = qn_fit_model_group_cost(s->model, k);
    snprintf(s->report.solver, sizeof s->report.solver, "%s", name);
    *report = s->report;
    s->report = (qn_fit_report){ 0 };
}

static void free_gradient(gradient_solve *s)
{
    qn_fit_model_free(s->model);
    free(s->x);
    qn_fit_report_free(&s->report);
}

qn_status qn_fit_solve_lbfgs(qn_fit_problem *problem, const qn_fit_solve_options *options,
                             qn_fit_report *report, qn_err *err)
{
    qn_status st = QN_OK;
    gradient_solve s = { 0 };
    qn_fit_lbfgs *solver = NULL;
    qn_fit_lbfgs_host *vectors = NULL;

    QN_TRY(begin_gradient(problem, options, &s, err));
    QN_TRY(qn_fit_lbfgs_host_new(&s.objective, options, s.x, &vectors, err));
    const qn_fit_lbfgs_driver table = qn_fit_lbfgs_host_table(vectors);

    QN_TRY(qn_fit_lbfgs_new(&table, options, &s.report, &solver, err));
    while (qn_fit_lbfgs_step(solver) != QN_FIT_DONE)
        ;
    end_gradient(problem, &s, "lbfgs", report);
out:
    qn_fit_lbfgs_free(solver);
    qn_fit_lbfgs_host_free(vectors);
    free_gradient(&s);
    return st;
}

qn_status qn_fit_solve_first_order(qn_fit_problem *problem, qn_fit_first_order method,
                                   const qn_fit_solve_options *options, qn_fit_report *report,
                                   qn_err *err)
{
    static const char *const names[] = { "sgd", "adam", "adamw" };
    qn_status st = QN_OK;
    gradient_solve s = { 0 };
    qn_fit_descent *solver = NULL;

    QN_TRY(begin_gradient(problem, options, &s, err));
    QN_TRY(qn_fit_descent_new(&s.objective, method, options, s.x, &s.report, &solver, err));
    while (qn_fit_descent_step(solver) != QN_FIT_DONE)
        ;
    end_gradient(problem, &s, names[method], report);
out:
    qn_fit_descent_free(solver);
    free_gradient(&s);
    return st;
}
