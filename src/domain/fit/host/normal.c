/* normal.c - J'J by blocks: structure once, values from the stored Jacobian.
 *
 * Every pair of slots of every instance is an entry of the pair of blocks it is bound to; entries
 * are sorted by pair, and within a pair by group, slots and instance, so that sums have one order.
 */
#include "domain/fit/host/host_impl.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

void qn_fit_normal_free(qn_fit_normal *normal)
{
    free(normal->start);
    free(normal->at);
    free(normal->cols);
    free(normal->values);
    free(normal->first);
    free(normal->instance);
    free(normal->places);
    *normal = (qn_fit_normal){ 0 };
}

typedef struct {
    uint64_t *keys;
    uint32_t *order, *instance, *places;
    size_t n;
} entries;

static int is_free(const qn_fit_problem *p, uint32_t block)
{
    return p->inverse.start[block] != p->inverse.start[block + 1];
}

/* Only counts while there are no tables yet. A block paired with itself through two slots appears
 * twice, as it does in the sum. */
static void walk_pairs(const qn_fit_problem *p, entries *e)
{
    e->n = 0;
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];

        for (int s = 0; s < g->n_slots; s++)
            for (int t = 0; t < g->n_slots; t++)
                for (qn_i64 i = 0; i < g->n; i++) {
                    const uint32_t a = qn_fit_block_of(p, g, s, i);
                    const uint32_t b = qn_fit_block_of(p, g, t, i);

                    if (a < b || !is_free(p, a) || !is_free(p, b))
                        continue;
                    if (e->keys) {
                        e->keys[e->n] = (uint64_t)a << 32 | b;
                        e->order[e->n] = (uint32_t)e->n;
                        e->instance[e->n] = (uint32_t)i;
                        e->places[e->n] =
                            (uint32_t)((g->first_place + s) * p->n_places + g->first_place + t);
                    }
                    e->n++;
                }
    }
}

static void free_entries(entries *e)
{
    free(e->keys);
    free(e->order);
    free(e->instance);
    free(e->places);
}

static uint32_t dim_of(const qn_fit_problem *p, uint32_t block)
{
    return p->block_first[block + 1] - p->block_first[block];
}

/* Turns sorted entries into rows of blocks. */
static void fill_structure(const qn_fit_problem *p, const entries *e, qn_fit_normal *n)
{
    n->n_entries = (qn_i64)e->n;
    for (size_t k = 0; k < e->n; k++) {
        const uint32_t row = (uint32_t)(e->keys[k] >> 32), col = (uint32_t)e->keys[k];

        n->instance[k] = e->instance[e->order[k]];
        n->places[k] = e->places[e->order[k]];
        if (k && e->keys[k] == e->keys[k - 1])
            continue;
        n->first[n->n_pairs] = (qn_i64)k;
        n->cols[n->n_pairs] = col;
        n->at[n->n_pairs++] = n->n_values;
        n->n_values += (qn_i64)dim_of(p, row) * dim_of(p, col);
        n->start[row + 1]++;
    }
    n->first[n->n_pairs] = n->n_entries;
    for (uint32_t b = 0; b < p->n_blocks; b++)
        n->start[b + 1] += n->start[b];
}

qn_status qn_fit_normal_new(const qn_fit_problem *problem, qn_fit_normal *out, qn_err *err)
{
    qn_fit_normal n = { 0 };
    entries e = { 0 };
    qn_status st = QN_OK;

    walk_pairs(problem, &e);
    if (e.n >= UINT32_MAX ||
        (uint64_t)problem->n_places * (uint64_t)problem->n_places > UINT32_MAX) {
        st =
            qn_fail(err, QN_ERR_LIMIT, "normal equations of %zu block pairs (limit 2^32 - 1)", e.n);
        goto out;
    }
    e.keys = malloc((e.n + 1) * sizeof *e.keys);
    e.order = malloc((e.n + 1) * sizeof *e.order);
    e.instance = malloc((e.n + 1) * sizeof *e.instance);
    e.places = malloc((e.n + 1) * sizeof *e.places);
    n.start = calloc((size_t)problem->n_blocks + 2, sizeof *n.start);
    n.first = malloc((e.n + 1) * sizeof *n.first);
    n.at = malloc((e.n + 1) * sizeof *n.at);
    n.cols = malloc((e.n + 1) * sizeof *n.cols);
    n.instance = malloc((e.n + 1) * sizeof *n.instance);
    n.places = malloc((e.n + 1) * sizeof *n.places);
    if (!e.keys || !e.order || !e.instance || !e.places || !n.start || !n.first || !n.at ||
        !n.cols || !n.instance || !n.places) {
        st = qn_fail(err, QN_ERR_NOMEM, "normal equations of %zu block pairs", e.n);
        goto out;
    }
    walk_pairs(problem, &e);
    QN_TRY(qn_fit_sort_keys(e.keys, e.order, e.n, err));
    fill_structure(problem, &e, &n);
    if (!(n.values = calloc((size_t)n.n_values + 1, sizeof *n.values))) {
        st = qn_fail(err, QN_ERR_NOMEM, "normal equations of %lld numbers", (long long)n.n_values);
        goto out;
    }
    *out = n;
    n = (qn_fit_normal){ 0 };
out:
    free_entries(&e);
    qn_fit_normal_free(&n);
    return st;
}

/* Values. */

typedef struct {
    const qn_fit_host *host;
    const qn_fit_normal *normal;
    uint32_t a, b;
} cell;

static double cell_part(const void *user, qn_i64 entry)
{
    const cell *c = user;
    const qn_fit_problem *p = c->host->problem;
    const uint32_t both = c->normal->places[entry];
    const qn_fit_place *x = &p->places[both / (uint32_t)p->n_places];
    const qn_fit_place *y = &p->places[both % (uint32_t)p->n_places];
    const qn_fit_group *g = &p->groups[x->group];
    const qn_fit_host_group *hg = &c->host->groups[x->group];
    const qn_fit_tape *tape = hg->tapes[QN_FIT_PASS_LINEARIZE];
    const qn_fit_entry *e = tape->sections[QN_FIT_JAC].entries;
    const int a = hg->variable[x->slot * c->host->max_dim + (int)c->a];
    const int b = hg->variable[y->slot * c->host->max_dim + (int)c->b];
    const qn_i64 i = c->normal->instance[entry];
    double t = 0;

    for (int r = 0; a >= 0 && b >= 0 && r < g->n_rows; r++)
        t += qn_fit_entry_value(&e[r * tape->n_variables + a], hg->jacobian, g->ld, i) *
             qn_fit_entry_value(&e[r * tape->n_variables + b], hg->jacobian, g->ld, i);
    return t;
}

void qn_fit_host_normal(qn_fit_host *host, qn_fit_normal *normal)
{
    const qn_fit_problem *p = host->problem;

#pragma omp parallel for schedule(static)                                                          \
    num_threads(host->options.threads) if (p->n_scalars > QN_FIT_ALONE)
    for (uint32_t row = 0; row < p->n_blocks; row++)
        for (qn_i64 k = normal->start[row]; k < normal->start[row + 1]; k++) {
            const uint32_t col = normal->cols[k], rows = dim_of(p, row), cols = dim_of(p, col);

            for (uint32_t a = 0; a < rows; a++)
                for (uint32_t b = 0; b < cols; b++) {
                    const cell c = { host, normal, a, b };
                    const int is_fixed = p->is_fixed[p->block_first[row] + a] ||
                                         p->is_fixed[p->block_first[col] + b];

                    normal->values[normal->at[k] + a * cols + b] =
                        is_fixed
                            ? 0
                            : qn_fit_sum_list(cell_part, &c, normal->first[k], normal->first[k + 1],
                                              host->workspaces[omp_get_thread_num()]);
                }
        }
}
