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

/* The numbers. */

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

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes + 8);

    return copy ? memcpy(copy, from, bytes) : NULL;
}

/* Copies the values of all scalars, block by block in the new order. */
static qn_status copy_scalars(const qn_fit_problem *from, const uint32_t *was, qn_fit_problem *to,
                              qn_err *err)
{
    const size_t n = from->n_scalars;
    uint32_t at = 0;

    to->x = malloc((n + 1) * sizeof *to->x);
    to->lower = malloc((n + 1) * sizeof *to->lower);
    to->upper = malloc((n + 1) * sizeof *to->upper);
    to->is_fixed = malloc(n + 1);
    if (!to->x || !to->lower || !to->upper || !to->is_fixed)
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
    g->is_global_slot = copy_of(from->is_global_slot, (size_t)from->n_slots);
    g->idx = malloc(((size_t)from->n_slots * ld + 1) * sizeof *g->idx);
    g->data = copy_of(from->data, (size_t)from->n_columns * ld * sizeof *g->data);
    g->rows = copy_of(from->rows, ld * sizeof *g->rows);
    if (!g->is_global_slot || !g->idx || !g->data || !g->rows)
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
    uint32_t *now = malloc(((size_t)from->n_blocks + 1) * sizeof *now);
    qn_status st = QN_OK;

    to->groups = calloc((size_t)from->n_groups + 1, sizeof *to->groups);
    if (!now || !to->groups) {
        st = qn_fail(err, QN_ERR_NOMEM, "%u blocks", from->n_blocks);
        goto out;
    }
    for (uint32_t b = 0; b < from->n_blocks; b++)
        now[was[b]] = b;
    for (int k = 0; k < from->n_groups; k++)
        QN_TRY(copy_group(from, now, to, k, err));
out:
    free(now);
    return st;
}

qn_status qn_fit_renumbered_new(const qn_fit_problem *original, qn_fit_renumbered **out,
                                qn_err *err)
{
    qn_fit_renumbered *r = calloc(1, sizeof *r);
    qn_status st = QN_OK;

    if (!r || !(r->was = calloc((size_t)original->n_blocks + 1, sizeof *r->was))) {
        st = qn_fail(err, QN_ERR_NOMEM, "%u blocks", original->n_blocks);
        goto out;
    }
    r->problem = *original;
    r->problem.groups = NULL;
    r->problem.x = r->problem.lower = r->problem.upper = NULL;
    r->problem.is_fixed = NULL;
    r->problem.column = r->problem.block_first = NULL;
    r->problem.inverse = (qn_fit_inverse){ 0 };
    r->problem.n_free = 0;
    QN_TRY(number_blocks(original, r, err));
    QN_TRY(copy_scalars(original, r->was, &r->problem, err));
    QN_TRY(qn_fit_problem_number_scalars(&r->problem, err));
    QN_TRY(copy_groups(original, r->was, &r->problem, err));
    QN_TRY(qn_fit_inverse_new(&r->problem, &r->problem.inverse, err));
    *out = r;
    r = NULL;
out:
    qn_fit_renumbered_free(r);
    return st;
}

void qn_fit_renumbered_free(qn_fit_renumbered *renumbered)
{
    qn_fit_problem *p;

    if (!renumbered)
        return;
    p = &renumbered->problem;
    for (int k = 0; p->groups && k < p->n_groups; k++) {
        free(p->groups[k].is_global_slot);
        free(p->groups[k].idx);
        free(p->groups[k].data);
        free(p->groups[k].rows);
    }
    free(p->groups);
    free(p->x);
    free(p->lower);
    free(p->upper);
    free(p->is_fixed);
    free(p->column);
    free(p->block_first);
    qn_fit_inverse_free(&p->inverse);
    free(renumbered->was);
    free(renumbered);
}

void qn_fit_renumbered_x(const qn_fit_renumbered *renumbered, double *x)
{
    const qn_fit_problem *p = &renumbered->problem;

    for (uint32_t b = 0; b < p->n_blocks; b++)
        memcpy(x + p->block_first[renumbered->was[b]], p->x + p->block_first[b],
               (p->block_first[b + 1] - p->block_first[b]) * sizeof *x);
}
