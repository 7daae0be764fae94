/* renumber.c - numbers blocks breadth-first. */
#include "domain/fit/problem/problem.h"

#include <stdlib.h>
#include <string.h>

/* Distances. */

static double span_of(const qn_fit_group *g, int set)
{
    double sum = 0;
    int n_slots = 0;

    for (int s = 0; s < g->n_slots; s++)
        n_slots += g->slot_set[s] == set;
    for (qn_i64 i = 0; n_slots > 1 && i < g->n; i++) {
        uint32_t low = UINT32_MAX, high = 0;

        for (int s = 0; s < g->n_slots; s++) {
            const uint32_t at = g->idx[s * g->ld + i];

            if (g->slot_set[s] == set) {
                low = at < low ? at : low;
                high = at > high ? at : high;
            }
        }
        sum += high - low;
    }
    return g->n ? sum / (double)g->n * sizeof(double) : 0;
}

double qn_fit_problem_span(const qn_fit_problem *problem)
{
    double most = 0;

    for (int k = 0; k < problem->n_groups; k++)
        for (int set = 0; set < problem->n_sets; set++) {
            const double spread = span_of(&problem->groups[k], set);

            most = spread > most ? spread : most;
        }
    return most;
}

/* Numbering. */

/* Blocks in the order in which they are found; `was` also serves as the queue. */
typedef struct {
    const qn_fit_problem *p;
    uint8_t *is_found;
    uint32_t *was, n;
} search;

static void find(search *w, uint32_t block)
{
    if (w->is_found[block])
        return;
    w->is_found[block] = 1;
    w->was[w->n++] = block;
}

/* Finds all blocks of the set that share an instance with `block`. */
static void find_neighbours(search *w, int set, uint32_t block)
{
    const qn_fit_problem *p = w->p;

    for (qn_i64 e = p->inverse.start[block]; e < p->inverse.start[block + 1]; e++) {
        const qn_fit_group *g = &p->groups[p->places[p->inverse.place[e]].group];

        for (int s = 0; s < g->n_slots; s++)
            if (g->slot_set[s] == set)
                find(w, qn_fit_block_of(p, g, s, p->inverse.instance[e]));
    }
}

/* Sets keep their positions, so each is searched on its own. */
static qn_status number_blocks(const qn_fit_problem *p, qn_fit_renumbered *r, qn_err *err)
{
    search w = { .p = p, .was = r->was, .is_found = calloc((size_t)p->n_blocks + 1, 1) };

    if (!w.is_found)
        return qn_fail(err, QN_ERR_NOMEM, "%u blocks", p->n_blocks);
    for (int set = 0; set < p->n_sets; set++)
        for (uint32_t b = 0; b < p->sets[set].count; b++) {
            uint32_t next = w.n;

            find(&w, p->sets[set].first_block + b);
            while (next < w.n)
                find_neighbours(&w, set, w.was[next++]);
        }
    free(w.is_found);
    return QN_OK;
}

/* The renumbered problem. */

static void *copy_of(qn_fit_problem *to, const void *from, size_t bytes)
{
    void *copy = qn_arena_zeros(&to->memory, bytes, 1);

    return copy ? memcpy(copy, from, bytes) : NULL;
}

/* Copies the values of all scalars, block by block in the new order. */
static qn_status copy_scalars(const qn_fit_problem *from, const uint32_t *was, qn_fit_problem *to,
                              qn_err *err)
{
    const size_t n = from->n_scalars;
    uint32_t at = 0;

    to->x = qn_arena_zeros(&to->memory, n, sizeof *to->x);
    to->lower = qn_arena_zeros(&to->memory, n, sizeof *to->lower);
    to->upper = qn_arena_zeros(&to->memory, n, sizeof *to->upper);
    to->is_fixed = qn_arena_zeros(&to->memory, n, 1);
    if (to->memory.failed)
        return qn_fail(err, QN_ERR_NOMEM, "%u parameters", from->n_scalars);
    for (uint32_t b = 0; b < from->n_blocks; b++)
        for (uint32_t s = from->block_first[was[b]]; s < from->block_first[was[b] + 1]; s++, at++) {
            to->x[at] = from->x[s];
            to->lower[at] = from->lower[s];
            to->upper[at] = from->upper[s];
            to->is_fixed[at] = from->is_fixed[s];
        }
    return QN_OK;
}

/* Copies the tables of a group with new numbers and sorts its instances by them. */
static qn_status copy_group(const qn_fit_problem *p, const uint32_t *now, qn_fit_problem *to, int k,
                            qn_err *err)
{
    const qn_fit_group *from = &p->groups[k];
    const size_t ld = (size_t)from->ld;
    qn_fit_group *g = &to->groups[k];

    *g = *from;
    g->is_by_instance = 0;
    g->is_global_slot = copy_of(to, from->is_global_slot, (size_t)from->n_slots);
    g->idx = qn_arena_zeros(&to->memory, (size_t)from->n_slots * ld, sizeof *g->idx);
    g->data = copy_of(to, from->data, (size_t)from->n_columns * ld * sizeof *g->data);
    g->rows = copy_of(to, from->rows, ld * sizeof *g->rows);
    if (to->memory.failed)
        return qn_fail(err, QN_ERR_NOMEM, "%s: tables of %lld instances", from->name,
                       (long long)from->n);
    for (int s = 0; s < from->n_slots; s++)
        for (qn_i64 i = 0; i < from->n; i++)
            g->idx[s * from->ld + i] = p->block_first[now[qn_fit_block_of(p, from, s, i)]];
    return qn_fit_group_finish(to, g, err);
}

static qn_status copy_groups(const qn_fit_problem *from, const uint32_t *was, qn_fit_problem *to,
                             qn_err *err)
{
    uint32_t *now = qn_arena_zeros(&to->memory, from->n_blocks, sizeof *now);
    qn_status st = QN_OK;

    to->groups = qn_arena_zeros(&to->memory, (size_t)from->n_groups, sizeof *to->groups);
    if (to->memory.failed)
        return qn_fail(err, QN_ERR_NOMEM, "%u blocks", from->n_blocks);
    for (uint32_t b = 0; b < from->n_blocks; b++)
        now[was[b]] = b;
    for (int k = 0; k < from->n_groups; k++)
        QN_TRY(copy_group(from, now, to, k, err));
out:
    return st;
}

qn_status qn_fit_renumbered_new(const qn_fit_problem *original, qn_fit_renumbered **out,
                                qn_err *err)
{
    qn_fit_renumbered *r = calloc(1, sizeof *r);
    qn_status st = QN_OK;

    if (!r)
        return qn_fail(err, QN_ERR_NOMEM, "%u blocks", original->n_blocks);
    r->problem = *original;
    r->problem.memory = (qn_arena){ 0 };
    r->problem.inverse = (qn_fit_inverse){ 0 };
    r->problem.n_free = 0;
    if (!(r->was = qn_arena_zeros(&r->problem.memory, original->n_blocks, sizeof *r->was)))
        QN_FAIL(err, QN_ERR_NOMEM, "%u blocks", original->n_blocks);
    QN_TRY(number_blocks(original, r, err));
    QN_TRY(copy_scalars(original, r->was, &r->problem, err));
    QN_TRY(qn_fit_problem_number_scalars(&r->problem, err));
    QN_TRY(copy_groups(original, r->was, &r->problem, err));
    QN_TRY(qn_fit_problem_invert(&r->problem, err));
    *out = r;
    r = NULL;
out:
    qn_fit_renumbered_free(r);
    return st;
}

void qn_fit_renumbered_free(qn_fit_renumbered *renumbered)
{
    if (renumbered)
        qn_arena_clear(&renumbered->problem.memory);
    free(renumbered);
}

void qn_fit_renumbered_x(const qn_fit_renumbered *renumbered, double *x)
{
    const qn_fit_problem *p = &renumbered->problem;

    for (uint32_t b = 0; b < p->n_blocks; b++)
        memcpy(x + p->block_first[renumbered->was[b]], p->x + p->block_first[b],
               (p->block_first[b + 1] - p->block_first[b]) * sizeof *x);
}
