/* problem.c - sets of parameters, squared sums, and finishing a problem. */
#include "domain/fit/problem/problem.h"
#include "util/list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

qn_status qn_fit_problem_new(qn_fit_problem **out, qn_err *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? QN_OK : qn_fail(err, QN_ERR_NOMEM, "a new problem");
}

void qn_fit_problem_free(qn_fit_problem *problem)
{
    if (!problem)
        return;
    for (int k = 0; k < problem->n_groups; k++) {
        qn_fit_group *g = &problem->groups[k];

        qn_fit_graph_free(g->graph);
        free(g->came_idx);
        free(g->came_data);
    }
    free(problem->groups);
    free(problem->sets);
    free(problem->sums);
    free(problem->x);
    free(problem->lower);
    free(problem->upper);
    free(problem->is_fixed);
    qn_arena_clear(&problem->memory);
    free(problem);
}

/* Sets. */

static qn_status grow_scalars(qn_fit_problem *p, size_t n, qn_err *err)
{
    double **const tables[] = { &p->x, &p->lower, &p->upper };
    uint8_t *fixed;

    for (int k = 0; k < 3; k++) {
        double *more = realloc(*tables[k], (n + 1) * sizeof *more);

        if (!more)
            return qn_fail(err, QN_ERR_NOMEM, "%zu parameters", n);
        *tables[k] = more;
    }
    if (!(fixed = realloc(p->is_fixed, n + 1)))
        return qn_fail(err, QN_ERR_NOMEM, "%zu parameters", n);
    p->is_fixed = fixed;
    return QN_OK;
}

static qn_status check_open(const qn_fit_problem *p, qn_err *err)
{
    return p->is_finished ? qn_fail(err, QN_ERR_USAGE, "the problem is finished") : QN_OK;
}

qn_status qn_fit_problem_add_set(qn_fit_problem *problem, const char *name, uint32_t count,
                                 uint32_t dim, const double *init, int *set, qn_err *err)
{
    const uint64_t n = (uint64_t)count * dim;
    qn_status st = QN_OK;
    qn_fit_set *s;

    QN_TRY(check_open(problem, err));
    if (dim < 1 || dim > QN_FIT_MAX_DIM || problem->n_scalars + n >= UINT32_MAX)
        QN_FAIL(err, QN_ERR_LIMIT,
                "%s: %u blocks of %u numbers (dimension 1 to %d, 2^32 - 2 "
                "numbers in all)",
                name, count, dim, QN_FIT_MAX_DIM);
    for (uint64_t k = 0; k < n; k++)
        if (!isfinite(init[k]))
            QN_FAIL(err, QN_ERR_INPUT, "%s: start value %g of block %llu", name, init[k],
                    (unsigned long long)(k / dim));
    if (!(s = qn_grown(problem->sets, (size_t)problem->n_sets, &problem->set_room, sizeof *s)))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: a parameter set", name);
    problem->sets = s;
    QN_TRY(grow_scalars(problem, problem->n_scalars + n, err));
    memcpy(problem->x + problem->n_scalars, init, n * sizeof *init);
    for (uint64_t k = problem->n_scalars; k < problem->n_scalars + n; k++) {
        problem->lower[k] = -HUGE_VAL;
        problem->upper[k] = HUGE_VAL;
        problem->is_fixed[k] = 0;
    }
    s += problem->n_sets;
    *s = (qn_fit_set){
        .count = count, .dim = dim, .first = problem->n_scalars, .first_block = problem->n_blocks
    };
    snprintf(s->name, sizeof s->name, "%s", name);
    problem->n_scalars += (uint32_t)n;
    problem->n_blocks += count;
    *set = problem->n_sets++;
out:
    return st;
}

static qn_status check_set(const qn_fit_problem *p, int set, qn_err *err)
{
    const qn_status st = check_open(p, err);

    if (st != QN_OK || (set >= 0 && set < p->n_sets))
        return st;
    return qn_fail(err, QN_ERR_USAGE, "parameter set %d of %d", set, p->n_sets);
}

qn_status qn_fit_problem_fix(qn_fit_problem *problem, int set, const uint8_t *mask, qn_err *err)
{
    qn_status st = QN_OK;
    const qn_fit_set *s;

    QN_TRY(check_set(problem, set, err));
    s = &problem->sets[set];
    for (size_t k = 0; k < (size_t)s->count * s->dim; k++)
        problem->is_fixed[s->first + k] = mask[k] != 0;
out:
    return st;
}

qn_status qn_fit_problem_bound(qn_fit_problem *problem, int set, const double *lower,
                               const double *upper, qn_err *err)
{
    qn_status st = QN_OK;
    const qn_fit_set *s;

    QN_TRY(check_set(problem, set, err));
    s = &problem->sets[set];
    for (size_t k = s->first; k < s->first + (size_t)s->count * s->dim; k++) {
        if (lower)
            problem->lower[k] = lower[k - s->first];
        if (upper)
            problem->upper[k] = upper[k - s->first];
        if (!(problem->lower[k] <= problem->upper[k]))
            QN_FAIL(err, QN_ERR_INPUT, "%s: lower bound %g of block %zu is above the upper, %g",
                    s->name, problem->lower[k], (k - s->first) / s->dim, problem->upper[k]);
        problem->x[k] = fmin(fmax(problem->x[k], problem->lower[k]), problem->upper[k]);
    }
    problem->has_bounds = 1;
out:
    return st;
}

qn_status qn_fit_problem_eliminate(qn_fit_problem *problem, int set, qn_err *err)
{
    const qn_status st = check_set(problem, set, err);

    if (st == QN_OK)
        problem->sets[set].is_eliminated = 1;
    return st;
}

/* Queries. */

int qn_fit_problem_has_energies(const qn_fit_problem *problem)
{
    for (int k = 0; k < problem->n_groups; k++)
        if (problem->groups[k].is_energy)
            return 1;
    return 0;
}

qn_status qn_fit_problem_check_residuals(const qn_fit_problem *problem, qn_err *err)
{
    for (int k = 0; k < problem->n_groups; k++)
        if (problem->groups[k].is_energy)
            return qn_fail(err, QN_ERR_USAGE,
                           "%s is an energy: least squares need residuals; use lbfgs or adam",
                           problem->groups[k].name);
    return QN_OK;
}

qn_i64 qn_fit_problem_n_instances(const qn_fit_problem *problem)
{
    qn_i64 n = 0;

    for (int k = 0; k < problem->n_groups; k++)
        n += problem->groups[k].n;
    return n;
}

qn_i64 qn_fit_problem_n_rows(const qn_fit_problem *problem)
{
    qn_i64 n = 0;

    for (int k = 0; k < problem->n_groups; k++)
        if (!problem->groups[k].is_energy)
            n += problem->groups[k].n * problem->groups[k].n_rows;
    return n;
}

/* The lists of instances that use a block.
 *
 * A counting sort by block: places and instances are visited in order, so each list is ordered, and
 * every sum over a list has a fixed order of additions.
 */

static int is_free_block(const qn_fit_problem *p, uint32_t block)
{
    for (uint32_t s = p->block_first[block]; s < p->block_first[block + 1]; s++)
        if (!p->is_fixed[s])
            return 1;
    return 0;
}

/* Fixed blocks are not counted: their lists stay empty. */
static void count_entries(const qn_fit_problem *p, const uint8_t *is_free, qn_fit_inverse *inv)
{
    for (int k = 0; k < p->n_places; k++) {
        const qn_fit_group *g = &p->groups[p->places[k].group];

        for (qn_i64 i = 0; i < g->n; i++) {
            const uint32_t block = qn_fit_block_of(p, g, p->places[k].slot, i);

            inv->start[block + 1] += is_free[block];
        }
    }
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        inv->max_degree = inv->start[b + 1] > inv->max_degree ? inv->start[b + 1] : inv->max_degree;
        inv->start[b + 1] += inv->start[b];
    }
    inv->n_entries = inv->start[p->n_blocks];
}

static void fill_entries(const qn_fit_problem *p, const uint8_t *is_free, qn_fit_inverse *inv)
{
    for (int k = 0; k < p->n_places; k++) {
        const qn_fit_group *g = &p->groups[p->places[k].group];

        for (qn_i64 i = 0; i < g->n; i++) {
            const uint32_t block = qn_fit_block_of(p, g, p->places[k].slot, i);

            if (!is_free[block])
                continue;
            inv->place[inv->start[block]] = (uint32_t)k;
            inv->instance[inv->start[block]++] = (uint32_t)i;
        }
    }
    /* Each start has moved to where the next list begins. */
    memmove(inv->start + 1, inv->start, p->n_blocks * sizeof *inv->start);
    inv->start[0] = 0;
}

qn_status qn_fit_problem_invert(qn_fit_problem *problem, qn_err *err)
{
    qn_fit_inverse *const inv = &problem->inverse;
    uint8_t *is_free = malloc((size_t)problem->n_blocks + 1);
    qn_status st = QN_OK;

    inv->start =
        qn_arena_zeros(&problem->memory, (size_t)problem->n_blocks + 2, sizeof *inv->start);
    if (!inv->start || !is_free)
        QN_FAIL(err, QN_ERR_NOMEM, "inverse index of %u blocks", problem->n_blocks);
    for (uint32_t b = 0; b < problem->n_blocks; b++)
        is_free[b] = (uint8_t)is_free_block(problem, b);
    count_entries(problem, is_free, inv);
    inv->place = qn_arena_zeros(&problem->memory, (size_t)inv->n_entries, sizeof *inv->place);
    inv->instance = qn_arena_zeros(&problem->memory, (size_t)inv->n_entries, sizeof *inv->instance);
    if (problem->memory.failed)
        st = qn_fail(err, QN_ERR_NOMEM, "inverse index of %lld entries", (long long)inv->n_entries);
    else
        fill_entries(problem, is_free, inv);
out:
    free(is_free);
    return st;
}

/* Finishing. */

qn_status qn_fit_problem_number_scalars(qn_fit_problem *p, qn_err *err)
{
    p->column = qn_arena_zeros(&p->memory, p->n_scalars, sizeof *p->column);
    p->scalar = qn_arena_zeros(&p->memory, p->n_scalars, sizeof *p->scalar);
    p->block_first = qn_arena_zeros(&p->memory, (size_t)p->n_blocks + 1, sizeof *p->block_first);
    if (p->memory.failed)
        return qn_fail(err, QN_ERR_NOMEM, "%u parameters", p->n_scalars);
    for (uint32_t k = 0; k < p->n_scalars; k++) {
        p->column[k] = p->is_fixed[k] ? QN_FIT_NO_COLUMN : p->n_free;
        if (!p->is_fixed[k])
            p->scalar[p->n_free++] = k;
    }
    for (int k = 0; k < p->n_sets; k++)
        for (uint32_t b = 0; b < p->sets[k].count; b++)
            p->block_first[p->sets[k].first_block + b] = p->sets[k].first + b * p->sets[k].dim;
    p->block_first[p->n_blocks] = p->n_scalars;
    return QN_OK;
}

static qn_status number_places(qn_fit_problem *p, qn_err *err)
{
    for (int k = 0; k < p->n_groups; k++) {
        p->groups[k].first_place = p->n_places;
        p->n_places += p->groups[k].n_slots;
    }
    if (!(p->places = qn_arena_zeros(&p->memory, (size_t)p->n_places, sizeof *p->places)))
        return qn_fail(err, QN_ERR_NOMEM, "%d slots", p->n_places);
    for (int k = 0; k < p->n_groups; k++)
        for (int s = 0; s < p->groups[k].n_slots; s++)
            p->places[p->groups[k].first_place + s] = (qn_fit_place){ k, s };
    return QN_OK;
}

/* Elimination inverts one block at a time, so an instance must not use two of them. */
static qn_status check_elimination(const qn_fit_problem *p, qn_err *err)
{
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];

        for (int s = 0; s < g->n_slots; s++)
            for (int t = 0; t < s; t++)
                for (qn_i64 i = 0; p->sets[g->slot_set[s]].is_eliminated &&
                                   p->sets[g->slot_set[t]].is_eliminated && i < g->n;
                     i++)
                    if (g->idx[s * g->ld + i] != g->idx[t * g->ld + i])
                        return qn_fail(err, QN_ERR_INPUT,
                                       "%s, row %u: uses two blocks of the "
                                       "eliminated set %s",
                                       g->name, g->rows[i], p->sets[g->slot_set[s]].name);
    }
    return QN_OK;
}

qn_status qn_fit_problem_finish(qn_fit_problem *problem, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(check_open(problem, err));
    for (int k = 0; k < problem->n_groups; k++)
        QN_TRY(qn_fit_group_finish(problem, &problem->groups[k], err));
    QN_TRY(qn_fit_problem_number_scalars(problem, err));
    QN_TRY(number_places(problem, err));
    QN_TRY(check_elimination(problem, err));
    QN_TRY(qn_fit_problem_invert(problem, err));
    problem->is_finished = 1;
out:
    return st;
}

void qn_fit_describe_bad(const qn_fit_problem *problem, const qn_fit_bad *bad, char *text,
                         size_t size)
{
    if (bad->group < 0)
        snprintf(text, size, "a sum of terms is not finite");
    else
        snprintf(text, size, "row %u of %s is not finite (and %lld other rows)", bad->row,
                 problem->groups[bad->group].name, (long long)bad->count - 1);
}

/* Squared sums of energies. */

qn_status qn_fit_problem_begin_sum(qn_fit_problem *problem, const char *name, double target,
                                   double weight, int *set, qn_err *err)
{
    static const double one = 1;
    static const uint8_t is_fixed = 1;
    qn_fit_total *more;
    char factor[64];
    qn_status st = QN_OK;

    if (!isfinite(target) || !isfinite(weight) || weight < 0)
        return qn_fail(err, QN_ERR_INPUT, "%s: a target of %g and a weight of %g", name, target,
                       weight);
    if (!(more = realloc(problem->sums, (size_t)(problem->n_sums + 1) * sizeof *more)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: a sum", name);
    problem->sums = more;
    snprintf(factor, sizeof factor, "%.50s factor", name);
    QN_TRY(qn_fit_problem_add_set(problem, factor, 1, 1, &one, set, err));
    QN_TRY(qn_fit_problem_fix(problem, *set, &is_fixed, err));
    problem->sets[*set].is_hidden = 1;
    problem->sums[problem->n_sums++] = (qn_fit_total){ .target = target,
                                                       .weight = weight,
                                                       .factor = problem->sets[*set].first,
                                                       .first_group = problem->n_groups };
out:
    return st;
}

void qn_fit_problem_end_sum(qn_fit_problem *problem)
{
    qn_fit_total *sum = &problem->sums[problem->n_sums - 1];

    sum->n_groups = problem->n_groups - sum->first_group;
}
