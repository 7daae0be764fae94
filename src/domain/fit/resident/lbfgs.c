/* lbfgs.c - L-BFGS with all vectors on a device of the engine.
 *
 * Three graphs, recorded once: try (a trial point with cost and gradient), accept (the point and
 * its pair) and direction (the next direction, three launches). The host writes three numbers
 * before a graph and reads six after it.
 */
#include "domain/fit/resident/resident.h"

#include <math.h>
#include <stdio.h>

#include "kernel/fit/fit_lbfgs.h"
#include "kernel/fit_lbfgs.gen.h"

enum { X, TRIAL, TRIAL_GRADIENT, DIRECTION, BASIS, COST, N_VECTORS };
enum { CONTROL, SCALARS, SLOPE_SUMS, GRAM_SUMS, GRAM, COEFFICIENT, N_SMALL };
enum { TRY, ACCEPT, DIRECTION_GRAPH, N_GRAPHS };

typedef struct device_lbfgs {
    qn_ctx *ctx;
    const qn_fit_problem *problem;
    qn_fit_precision precision;
    qn_fit_device *device;
    qn_buf *vectors[N_VECTORS], *small[N_SMALL];
    qn_graph *graphs[N_GRAPHS];
    fit_lbfgs_par par;
    double control[FIT_L_N_CONTROL], scalars[FIT_L_N_SCALARS];
    qn_i64 n_gradients;
    qn_status st; /* the first fault of the device */
    qn_err err;
} device_lbfgs;

static void close_vectors(device_lbfgs *d)
{
    for (int k = 0; k < N_GRAPHS; k++)
        qn_graph_free(d->graphs[k]);
    qn_fit_device_free(d->device);
}

/* Buffers and graphs. */

static qn_status make_buffers(device_lbfgs *d, qn_err *err)
{
    static const char *const names[] = { "fit.x", "fit.trial", "fit.trial_gradient",
                                         "fit.direction" };
    const qn_i64 rows = d->par.n_rows, chunks = d->par.n_chunks;
    const struct {
        const char *name;
        qn_i64 n;
    } small[] = {
        [CONTROL] = { "fit.control", FIT_L_N_CONTROL },
        [SCALARS] = { "fit.scalars", FIT_L_N_SCALARS },
        [SLOPE_SUMS] = { "fit.sums", 2 * chunks },
        [GRAM_SUMS] = { "fit.gram_sums", 3 * rows * chunks },
        [GRAM] = { "fit.gram", rows * rows },
        [COEFFICIENT] = { "fit.coefficient", 2 * rows },
    };
    qn_status st = QN_OK;

    for (int k = X; k <= DIRECTION; k++)
        QN_TRY(qn_fit_device_numbers(d->device, names[k], k == X ? d->problem->x : NULL, d->par.n,
                                     &d->vectors[k], err));
    QN_TRY(qn_fit_device_make(d->device, qn_fit_device_cost, "fit.cost", &d->vectors[COST], err));
    QN_TRY(qn_fit_device_numbers(d->device, "fit.basis", NULL, rows * d->par.n, &d->vectors[BASIS],
                                 err));
    for (int k = 0; k < N_SMALL; k++)
        QN_TRY(qn_fit_device_bytes(d->device, small[k].name, (size_t)small[k].n * sizeof(double),
                                   &d->small[k], err));
out:
    return st;
}

static qn_status try_graph(device_lbfgs *d, qn_graph *g, qn_err *err)
{
    qn_buf **v = d->vectors, **s = d->small;
    qn_status st = QN_OK;

    QN_TRY(STAGE(fit_lbfgs_trial)(g, "fit.trial", qn_range_1d(d->par.n), s[CONTROL], v[X],
                                  v[DIRECTION], v[TRIAL], err));
    QN_TRY(qn_fit_stage_gradient(d->device, g, v[TRIAL], v[COST], v[TRIAL_GRADIENT], err));
    QN_TRY(STAGE(fit_lbfgs_slope)(g, "fit.slope", qn_range_1d(d->par.n_chunks), d->par,
                                  v[TRIAL_GRADIENT], v[DIRECTION], s[SLOPE_SUMS], err));
    QN_TRY(STAGE(fit_lbfgs_slope_join)(g, "fit.slope_join", qn_range_1d(1), d->par, s[SLOPE_SUMS],
                                       v[COST], s[SCALARS], err));
out:
    return st;
}

static qn_status direction_graph(device_lbfgs *d, qn_graph *g, qn_err *err)
{
    qn_buf **v = d->vectors, **s = d->small;
    qn_status st = QN_OK;

    QN_TRY(STAGE(fit_lbfgs_gram)(g, "fit.gram", qn_range_2d(d->par.n_chunks, d->par.n_rows), d->par,
                                 s[SCALARS], v[BASIS], s[GRAM_SUMS], err));
    QN_TRY(STAGE(fit_lbfgs_direction)(g, "fit.direction", qn_range_1d(1), d->par, s[CONTROL],
                                      s[GRAM_SUMS], s[GRAM], s[COEFFICIENT], s[SCALARS], err));
    QN_TRY(STAGE(fit_lbfgs_combine)(g, "fit.combine", qn_range_1d(d->par.n), d->par, s[COEFFICIENT],
                                    v[BASIS], v[DIRECTION], err));
out:
    return st;
}

static qn_status make_graphs(device_lbfgs *d, qn_err *err)
{
    static const char *const names[] = { "fit.try", "fit.accept", "fit.direction" };
    qn_status st = QN_OK;

    for (int k = 0; k < N_GRAPHS; k++)
        QN_TRY(qn_graph_new(d->ctx, names[k], &d->graphs[k], err));
    QN_TRY(try_graph(d, d->graphs[TRY], err));
    QN_TRY(STAGE(fit_lbfgs_accept)(d->graphs[ACCEPT], "fit.accept", qn_range_1d(d->par.n), d->par,
                                   d->small[SCALARS], d->vectors[TRIAL], d->vectors[TRIAL_GRADIENT],
                                   d->vectors[X], d->vectors[BASIS], err));
    QN_TRY(direction_graph(d, d->graphs[DIRECTION_GRAPH], err));
out:
    return st;
}

static qn_status open_vectors(device_lbfgs *d, const qn_fit_solve_options *options, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    qn_status st = QN_OK;

    if (p->has_bounds)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "lbfgs takes no bounds; use lm, sgd or adam");
    d->par = (fit_lbfgs_par){
        .n = p->n_scalars,
        .n_chunks = p->n_scalars ? (p->n_scalars + FIT_LBFGS_CHUNK - 1) / FIT_LBFGS_CHUNK : 1,
        .m = options->history,
        .n_rows = 2 * options->history + 1
    };
    QN_TRY(qn_fit_device_new(d->ctx, p, d->precision, &d->device, err));
    qn_fit_device_set_accumulate(d->device, options->accumulate);
    qn_fit_device_set_contraction(d->device, !options->strict_fp);
    QN_TRY(qn_fit_device_set_batch_size(d->device, options->batch_size, err));
    QN_TRY(make_buffers(d, err));
    QN_TRY(make_graphs(d, err));
out:
    return st;
}

/* The table. */

static void run(device_lbfgs *d, int graph)
{
    if (d->st == QN_OK)
        d->st = qn_graph_run(d->graphs[graph], &d->err);
}

static void write_control(device_lbfgs *d)
{
    if (d->st == QN_OK)
        d->st = qn_buf_write(d->small[CONTROL], 0, d->control, sizeof d->control, &d->err);
}

static void read_scalars(device_lbfgs *d, int graph)
{
    if (d->st == QN_OK)
        d->st = qn_graph_wait(d->graphs[graph], &d->err);
    if (d->st == QN_OK)
        d->st = qn_buf_read(d->small[SCALARS], 0, d->scalars, sizeof d->scalars, &d->err);
    for (int k = 0; d->st != QN_OK && k < FIT_L_N_SCALARS; k++)
        d->scalars[k] = NAN;
}

static void try_step(void *self, double share, qn_fit_lbfgs_scalars *out)
{
    device_lbfgs *d = self;

    d->control[FIT_L_SHARE] = share;
    write_control(d);
    run(d, TRY);
    d->n_gradients++;
    read_scalars(d, TRY);
    out->cost = d->scalars[FIT_L_COST];
    out->slope = d->scalars[FIT_L_SLOPE];
    out->gradient_max = d->scalars[FIT_L_GRADIENT];
}

static void accept(void *self)
{
    device_lbfgs *d = self;

    run(d, ACCEPT);
    d->control[FIT_L_IS_NEW] = 1;
}

static void set_direction(void *self, int is_forgetting, qn_fit_lbfgs_scalars *out)
{
    device_lbfgs *d = self;

    d->control[FIT_L_IS_FORGETTING] = is_forgetting;
    write_control(d);
    run(d, DIRECTION_GRAPH);
    read_scalars(d, DIRECTION_GRAPH);
    d->control[FIT_L_IS_NEW] = 0;
    out->slope = d->scalars[FIT_L_SLOPE];
    out->length = d->scalars[FIT_L_LENGTH];
    out->n_pairs = d->st == QN_OK ? (int)d->scalars[FIT_L_PAIRS] : 0;
}

static void describe(void *self, char *text, size_t size)
{
    const device_lbfgs *d = self;

    if (d->st == QN_OK)
        qn_fit_device_describe(d->device, text, size);
    else
        snprintf(text, size, "%.150s", d->err.text);
}

/* The whole solve. */

qn_status qn_fit_solve_lbfgs_on(qn_ctx *ctx, qn_fit_problem *problem, qn_fit_precision precision,
                                const qn_fit_solve_options *options, qn_fit_report *report,
                                qn_err *err)
{
    device_lbfgs d = { .ctx = ctx, .problem = problem, .precision = precision };
    const qn_fit_lbfgs_driver table = { .try_step = try_step,
                                        .accept = accept,
                                        .set_direction = set_direction,
                                        .describe = describe,
                                        .self = &d };
    qn_fit_lbfgs *solver = NULL;
    qn_fit_report r = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_fit_solve_options_check(options, err));
    QN_TRY(qn_fit_report_open(problem, options->max_iterations, &r, err));
    QN_TRY(open_vectors(&d, options, err));
    QN_TRY(qn_fit_lbfgs_new(&table, options, &r, &solver, err));
    while (qn_fit_lbfgs_step(solver) != QN_FIT_DONE && d.st == QN_OK)
        ;
    if (d.st != QN_OK)
        QN_FAIL(err, d.st, "%s", d.err.text);
    QN_TRY(qn_fit_device_read(d.device, d.vectors[X], problem->x, problem->n_scalars, err));
    r.n_gradients = d.n_gradients;
    r.batch_size = options->batch_size;
    snprintf(r.solver, sizeof r.solver, "lbfgs");
    snprintf(r.accumulation, sizeof r.accumulation, "%s", qn_fit_device_accumulation(d.device));
    snprintf(r.note, sizeof r.note, "on %.60s", qn_graph_stage_device(d.graphs[TRY], 0));
    *report = r;
    r = (qn_fit_report){ 0 };
out:
    qn_fit_lbfgs_free(solver);
    close_vectors(&d);
    qn_fit_report_free(&r);
    return st;
}
