/* inverse.c - lists, for each block, the instances that use it.
 *
 * A counting sort by block: places and instances are visited in order, so each list has them in
 * order, and every sum over a list has one order of additions.
 */
#include "domain/fit/problem/problem.h"

#include <stdlib.h>
#include <string.h>

void qn_fit_inverse_free(qn_fit_inverse *inverse)
{
    free(inverse->start);
    free(inverse->place);
    free(inverse->instance);
    *inverse = (qn_fit_inverse){ 0 };
}

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

qn_status qn_fit_inverse_new(const qn_fit_problem *problem, qn_fit_inverse *out, qn_err *err)
{
    qn_fit_inverse inv = { 0 };
    uint8_t *is_free = malloc((size_t)problem->n_blocks + 1);
    qn_status st = QN_OK;

    inv.start = calloc((size_t)problem->n_blocks + 2, sizeof *inv.start);
    if (!inv.start || !is_free) {
        st = qn_fail(err, QN_ERR_NOMEM, "inverse index of %u blocks", problem->n_blocks);
        goto out;
    }
    for (uint32_t b = 0; b < problem->n_blocks; b++)
        is_free[b] = (uint8_t)is_free_block(problem, b);
    count_entries(problem, is_free, &inv);
    inv.place = malloc(((size_t)inv.n_entries + 1) * sizeof *inv.place);
    inv.instance = malloc(((size_t)inv.n_entries + 1) * sizeof *inv.instance);
    if (!inv.place || !inv.instance) {
        st = qn_fail(err, QN_ERR_NOMEM, "inverse index of %lld entries", (long long)inv.n_entries);
        goto out;
    }
    fill_entries(problem, is_free, &inv);
    *out = inv;
    inv = (qn_fit_inverse){ 0 };
out:
    free(is_free);
    qn_fit_inverse_free(&inv);
    return st;
}
