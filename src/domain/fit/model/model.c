/* model.c - evaluation for solvers: makes tapes and tables beforehand and counts evaluations. */
#include "domain/fit/model/model.h"
#include "util/list.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "domain/fit/host/host_impl.h"
#include "domain/fit/model/model_impl.h"

/* Squared sums of energies, in two passes.
 *
 * The first pass uses factors of 1 and gives the sums. The second uses 2 weight (sum - target), so
 * that its gradients are those of the squares; costs are corrected afterwards.
 */

typedef struct qn_fit_sums {
    const qn_fit_problem *problem;
    double *x;     /* the point, with its own factors */
    double *costs; /* of each sum: weight times the squared distance from its target */
} qn_fit_sums;

static qn_status sums_new(const qn_fit_problem *problem, qn_arena *memory, qn_fit_sums **out,
                          qn_err *err)
{
    qn_fit_sums *s = problem->n_sums ? qn_arena_zeros(memory, 1, sizeof *s) : NULL;

    *out = s;
    if (s) {
        s->problem = problem;
        s->x = qn_arena_zeros(memory, problem->n_scalars, sizeof *s->x);
        s->costs = qn_arena_zeros(memory, (size_t)problem->n_sums, sizeof *s->costs);
    }
    return memory->failed ? qn_fail(err, QN_ERR_NOMEM, "%d sums over %u parameters",
                                    problem->n_sums, problem->n_scalars)
                          : QN_OK;
}

static double sum_of(const qn_fit_host *host, const qn_fit_total *sum)
{
    double total = 0;

    for (int k = 0; k < sum->n_groups; k++)
        total += qn_fit_host_group_cost(host, sum->first_group + k);
    return total;
}

/* Replaces the costs of the scaled rows by those of the squares. */
static double correct_cost(const qn_fit_sums *s, const qn_fit_host *host, double cost)
{
    for (int k = 0; k < s->problem->n_sums; k++)
        cost += s->costs[k] - sum_of(host, &s->problem->sums[k]);
    return cost;
}

static qn_status sums_cost(qn_fit_sums *s, qn_fit_host *host, const double *x, double *cost,
                           qn_fit_bad *bad, qn_err *err)
{
    qn_status st = QN_OK;

    memcpy(s->x, x, s->problem->n_scalars * sizeof *s->x);
    for (int k = 0; k < s->problem->n_sums; k++)
        s->x[s->problem->sums[k].factor] = 1;
    QN_TRY(qn_fit_host_cost(host, s->x, cost, bad, err));
    for (int k = 0; k < s->problem->n_sums; k++) {
        const qn_fit_total *sum = &s->problem->sums[k];
        const double off = sum_of(host, sum) - sum->target;

        s->costs[k] = sum->weight * off * off;
        s->x[sum->factor] = 2 * sum->weight * off;
    }
    *cost = correct_cost(s, host, *cost);
out:
    return st;
}

static qn_status sums_gradient(qn_fit_sums *s, qn_fit_host *host, const double *x, double *cost,
                               double *gradient, qn_fit_bad *bad, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(sums_cost(s, host, x, cost, bad, err));
    if (bad->group >= 0 || !isfinite(*cost))
        goto out;
    QN_TRY(qn_fit_host_gradient(host, s->x, cost, gradient, bad, err));
    *cost = correct_cost(s, host, *cost);
out:
    return st;
}

static int sums_group_cost(const qn_fit_sums *s, int group, double *cost)
{
    for (int k = 0; k < s->problem->n_sums; k++) {
        const qn_fit_total *sum = &s->problem->sums[k];

        if (group < sum->first_group || group >= sum->first_group + sum->n_groups)
            continue;
        *cost = group == sum->first_group ? s->costs[k] : 0;
        return 1;
    }
    return 0;
}

/* The model. */

void qn_fit_model_free(qn_fit_model *model)
{
    if (!model)
        return;
    qn_fit_host_free(model->host);
    qn_arena_clear(&model->memory);
    free(model);
}

/* Building. */

static void sort_variables(const qn_fit_model *m, qn_fit_model_group *g)
{
    int n = 0;

    for (int s = 0; s < g->group->n_slots; s++) {
        const int dim = (int)m->problem->sets[g->group->slot_set[s]].dim;

        g->slot_start[s] = n;
        for (int c = 0; c < dim; c++)
            for (int v = 0; v < g->n_variables; v++)
                if ((int)g->variables[v].slot == s && (int)g->variables[v].comp == c) {
                    g->slot_comp[n] = c;
                    g->slot_variable[n++] = v;
                }
    }
    g->slot_start[g->group->n_slots] = n;
}

/* The pass that evaluates a point, depending on the purpose of the model. */
static qn_fit_pass point_run(unsigned uses)
{
    return uses & QN_FIT_MODEL_FREE      ? QN_FIT_PASS_POINT
           : uses & QN_FIT_MODEL_ROUNDED ? QN_FIT_PASS_STORING_POINT
                                         : QN_FIT_PASS_LINEARIZE;
}

static qn_status view_group(qn_fit_model *m, int k, unsigned uses, qn_err *err)
{
    const qn_fit_host_group *from = &m->host->groups[k];
    const qn_fit_tape *p = from->tapes[point_run(uses)];
    qn_fit_model_group *g = &m->groups[k];
    size_t n;

    g->group = &m->problem->groups[k];
    g->first_row = from->row;
    g->res = m->host->residuals + from->row;
    g->stored = from->jacobian;
    g->variables = p->variables;
    g->n_variables = p->n_variables;
    g->entries = p->sections[QN_FIT_JAC].entries;
    n = (size_t)(g->n_variables * g->group->n_rows * g->group->ld);
    /* J in the form that products read; nothing where they compute it. */
    if (uses & QN_FIT_MODEL_ROUNDED)
        g->rounded = qn_arena_zeros(&m->memory, n, sizeof *g->rounded);
    else if (!(uses & QN_FIT_MODEL_FREE))
        g->packed = qn_arena_zeros(&m->memory, n, sizeof *g->packed);
    g->slot_start =
        qn_arena_zeros(&m->memory, (size_t)g->group->n_slots + 1, sizeof *g->slot_start);
    g->slot_variable = qn_arena_zeros(&m->memory, (size_t)g->n_variables, sizeof *g->slot_variable);
    g->slot_comp = qn_arena_zeros(&m->memory, (size_t)g->n_variables, sizeof *g->slot_comp);
    if (m->memory.failed)
        return qn_fail(err, QN_ERR_NOMEM, "%s: a Jacobian of %zu numbers", g->group->name, n);
    sort_variables(m, g);
    return QN_OK;
}

static int find_doubles(const qn_fit_model *m, qn_fit_double_use *out)
{
    int n = 0;

    for (int k = 0; k < m->problem->n_groups; k++) {
        const qn_fit_group *g = &m->problem->groups[k];

        for (int a = 0; a < g->n_slots; a++)
            for (int b = a + 1; b < g->n_slots; b++)
                for (qn_i64 i = 0; i < g->n; i++) {
                    if (g->idx[a * g->ld + i] != g->idx[b * g->ld + i])
                        continue;
                    if (out)
                        out[n] = (qn_fit_double_use){ k, a, b, i };
                    n++;
                }
    }
    return n;
}

static qn_status make_places(qn_fit_model *m, qn_err *err)
{
    const qn_fit_problem *p = m->problem;

    if (!(m->places = qn_arena_zeros(&m->memory, (size_t)p->n_places, sizeof *m->places)))
        return qn_fail(err, QN_ERR_NOMEM, "%d slots", p->n_places);
    for (int k = 0; k < p->n_places; k++) {
        const int slot = p->places[k].slot;
        const qn_fit_model_group *g = &m->groups[p->places[k].group];
        const int from = g->slot_start[slot], n = g->slot_start[slot + 1] - from;

        m->places[k] = (qn_fit_model_place){
            .j = g->packed ? g->packed + from : NULL,
            .rounded = g->rounded ? g->rounded + from : NULL,
            .res = g->res,
            .comp = g->slot_comp + from,
            .stride = (qn_i64)g->group->n_rows * g->n_variables,
            .ld = g->group->ld,
            .first_row = g->first_row,
            .n_rows = g->group->n_rows,
            .n_variables = g->n_variables,
            .n = n,
            .dim = (int)p->sets[g->group->slot_set[slot]].dim,
            .is_whole = n == (int)p->sets[g->group->slot_set[slot]].dim,
        };
    }
    return QN_OK;
}

/* The most numbers that a gather sums for one block. */
static size_t widest_sum(const qn_fit_problem *p)
{
    size_t width = 1;

    for (int k = 0; k < p->n_sets; k++) {
        const size_t dim = p->sets[k].dim;
        const size_t need = dim <= QN_FIT_MAX_BLOCK && dim > 1 ? dim * dim : 2 * dim;

        width = need > width ? need : width;
    }
    return width;
}

static qn_status prepare_jacobian(qn_fit_model *m, unsigned uses, qn_err *err)
{
    const qn_fit_problem *p = m->problem;
    const size_t width = widest_sum(p);
    qn_status st = QN_OK;

    QN_TRY(qn_fit_problem_check_residuals(p, err));
    QN_TRY(qn_fit_host_prepare(m->host, QN_FIT_PASS_COST, err));
    QN_TRY(qn_fit_host_prepare(m->host, point_run(uses), err));
    for (int k = 0; k < p->n_groups; k++)
        QN_TRY(view_group(m, k, uses, err));
    QN_TRY(make_places(m, err));
    m->n_rows = qn_fit_host_n_rows(m->host);
    m->n_doubles = find_doubles(m, NULL);
    m->n_lanes = width * QN_FIT_SHORT;
    m->lanes = qn_arena_zeros(&m->memory, m->n_lanes * (size_t)m->n_threads, sizeof *m->lanes);
    m->both = qn_arena_zeros(&m->memory, 2 * (size_t)p->n_scalars, sizeof *m->both);
    m->both_at = qn_arena_zeros(&m->memory, (size_t)p->n_blocks + 1, sizeof *m->both_at);
    m->doubles = qn_arena_zeros(&m->memory, (size_t)m->n_doubles, sizeof *m->doubles);
    m->partials =
        qn_arena_zeros(&m->memory, (size_t)(p->inverse.max_degree / QN_FIT_CHUNK + 2) * width,
                       sizeof *m->partials);
    if (m->memory.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "sums of %zu numbers for %d threads", width, m->n_threads);
    for (uint32_t b = 0; b <= p->n_blocks; b++)
        m->both_at[b] = 2 * (qn_i64)p->block_first[b];
    find_doubles(m, m->doubles);
    if (uses & (QN_FIT_MODEL_FREE | QN_FIT_MODEL_ROUNDED))
        QN_TRY(qn_fit_matrix_free_new(m, (uses & QN_FIT_MODEL_ROUNDED) != 0, err));
out:
    return st;
}

/* The host makes its tables in the first evaluation, so that is done here. */
static qn_status prepare_gradient(qn_fit_model *m, qn_err *err)
{
    double *gradient = NULL, cost;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(gradient, m->problem->n_scalars, "a gradient", err));
    QN_TRY(qn_fit_host_gradient(m->host, m->problem->x, &cost, gradient, &m->bad, err));
    QN_TRY(sums_new(m->problem, &m->memory, &m->sums, err));
    if (m->sums)
        QN_TRY(sums_cost(m->sums, m->host, m->problem->x, &cost, &m->bad, err));
out:
    free(gradient);
    return st;
}

qn_status qn_fit_model_new(const qn_fit_problem *problem, unsigned uses, int n_threads,
                           qn_fit_model **out, qn_err *err)
{
    qn_fit_model *m = calloc(1, sizeof *m);
    qn_status st = QN_OK;

    if (!m ||
        !(m->groups = qn_arena_zeros(&m->memory, (size_t)problem->n_groups, sizeof *m->groups)))
        QN_FAIL(err, QN_ERR_NOMEM, "a model of %d groups", problem->n_groups);
    m->problem = problem;
    m->n_threads = n_threads > 0 ? n_threads : omp_get_num_procs();
    QN_TRY(
        qn_fit_host_new(problem, (qn_fit_host_options){ .threads = m->n_threads }, &m->host, err));
    if (uses & (QN_FIT_MODEL_JACOBIAN | QN_FIT_MODEL_FREE | QN_FIT_MODEL_ROUNDED))
        QN_TRY(prepare_jacobian(m, uses, err));
    if (uses & QN_FIT_MODEL_GRADIENT)
        QN_TRY(prepare_gradient(m, err));
    *out = m;
    m = NULL;
out:
    qn_fit_model_free(m);
    return st;
}

/* Evaluation. */

/* Everything is prepared, so an evaluation cannot fail. */
double qn_fit_model_cost(qn_fit_model *model, const double *x)
{
    double cost = NAN;
    qn_err err;

    model->n_costs++;
    if (model->sums)
        sums_cost(model->sums, model->host, x, &cost, &model->bad, &err);
    else
        qn_fit_host_cost(model->host, x, &cost, &model->bad, &err);
    return model->bad.group < 0 ? cost : NAN;
}

double qn_fit_model_linearise(qn_fit_model *model, const double *x, double *gradient)
{
    double cost = NAN;
    qn_err err;

    model->n_jacobians++;
    if (model->matrix_free)
        return qn_fit_matrix_free_linearise(model, x, gradient);
    qn_fit_host_linearize(model->host, x, &cost, &model->bad, &err);
    qn_fit_model_pack(model);
    qn_fit_model_slopes(model, gradient);
    return model->bad.group < 0 ? cost : NAN;
}

/* In f64 there are two copies: as computed, and packed. */
size_t qn_fit_model_jacobian_bytes(const qn_fit_model *model)
{
    size_t bytes = 0;

    for (int k = 0; k < model->problem->n_groups; k++) {
        const qn_fit_model_group *g = &model->groups[k];
        const size_t ld = (size_t)g->group->ld;
        const size_t n = (size_t)g->n_variables * (size_t)g->group->n_rows;
        const qn_fit_tape *p = model->host->groups[k].tapes[QN_FIT_PASS_LINEARIZE];

        if (g->rounded)
            bytes += n * ld * sizeof *g->rounded;
        if (g->packed)
            bytes += (n + (size_t)p->sections[QN_FIT_JAC].count) * ld * sizeof *g->packed;
    }
    return bytes;
}

double qn_fit_model_gradient(qn_fit_model *model, const double *x, double *gradient)
{
    double cost = NAN;
    qn_err err;

    model->n_gradients++;
    if (model->sums)
        sums_gradient(model->sums, model->host, x, &cost, gradient, &model->bad, &err);
    else
        qn_fit_host_gradient(model->host, x, &cost, gradient, &model->bad, &err);
    return model->bad.group < 0 ? cost : NAN;
}

double qn_fit_model_group_cost(const qn_fit_model *model, int group)
{
    double cost;

    if (model->sums && sums_group_cost(model->sums, group, &cost))
        return cost;
    return qn_fit_host_group_cost(model->host, group);
}

void qn_fit_model_describe(const qn_fit_model *model, char *text, size_t size)
{
    qn_fit_describe_bad(model->problem, &model->bad, text, size);
}
