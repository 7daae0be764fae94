/* fit_products.h - products with the Jacobian stored by qn_fit_host_linearize, one by one: a plain
 * reference for the faster ways of solvers and devices. */
#ifndef QN_TESTS_FIT_PRODUCTS_H
#define QN_TESTS_FIT_PRODUCTS_H

#include "domain/fit/host/host_impl.h"

#include <stdlib.h>
#include <string.h>

/* How many passes of groups have been compiled so far. */
static inline int fit_host_n_compiled(const qn_fit_host *host)
{
    int n = 0;

    for (int k = 0; k < host->problem->n_groups; k++)
        for (int run = 0; run < QN_FIT_N_PASSES; run++)
            n += host->groups[k].jits[run] != NULL;
    return n;
}

static inline const qn_fit_entry *entries_of(const qn_fit_host_group *hg)
{
    return hg->tapes[QN_FIT_PASS_LINEARIZE]->sections[QN_FIT_JAC].entries;
}

/* Products. */

static inline void fit_host_jv(qn_fit_host *host, const double *v, double *rows)
{
    const qn_fit_problem *p = host->problem;

    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];
        const qn_fit_host_group *hg = &host->groups[k];
        const qn_fit_tape *tape = hg->tapes[QN_FIT_PASS_LINEARIZE];
        const qn_fit_entry *e = entries_of(hg);

        for (qn_i64 i = 0; i < g->n; i++)
            for (int r = 0; r < g->n_rows; r++) {
                double t = 0;

                for (int a = 0; a < tape->n_variables; a++) {
                    const qn_fit_variable *of = &tape->variables[a];
                    const uint32_t s = g->idx[of->slot * g->ld + i] + of->comp;

                    if (!p->is_fixed[s])
                        t += qn_fit_entry_value(&e[r * tape->n_variables + a], hg->jacobian, g->ld,
                                                i) *
                             v[s];
                }
                rows[hg->row + r * g->ld + i] = t;
            }
        for (int r = 0; r < g->n_rows; r++)
            for (qn_i64 i = g->n; i < g->ld; i++)
                rows[hg->row + r * g->ld + i] = 0;
    }
}

typedef struct {
    const qn_fit_host *host;
    const double *rows;
    uint32_t a, b; /* components */
} part_of;

/* The number of component `comp` of a slot among the variables of a group, or -1. */
static inline int variable_of(const qn_fit_host_group *hg, uint32_t slot, uint32_t comp)
{
    const qn_fit_tape *tape = hg->tapes[QN_FIT_PASS_LINEARIZE];

    for (int v = 0; v < tape->n_variables; v++)
        if (tape->variables[v].slot == slot && tape->variables[v].comp == comp)
            return v;
    return -1;
}

/* The group and the variable of component `comp` of an entry; NULL if there is none. */
static inline const qn_fit_host_group *variable_at(const qn_fit_host *h, qn_i64 entry,
                                                   uint32_t comp, int *variable,
                                                   const qn_fit_group **group)
{
    const qn_fit_place *held = &h->problem->places[h->problem->inverse.place[entry]];
    const qn_fit_host_group *hg = &h->groups[held->group];

    *group = &h->problem->groups[held->group];
    *variable = variable_of(hg, (uint32_t)held->slot, comp);
    return *variable < 0 ? NULL : hg;
}

static inline double jtu_part(const void *user, qn_i64 entry)
{
    const part_of *s = user;
    const qn_fit_group *g;
    int v;
    const qn_fit_host_group *hg = variable_at(s->host, entry, s->a, &v, &g);
    const qn_i64 i = s->host->problem->inverse.instance[entry];
    double t = 0;

    for (int r = 0; hg && r < g->n_rows; r++)
        t += qn_fit_entry_value(
                 &entries_of(hg)[r * hg->tapes[QN_FIT_PASS_LINEARIZE]->n_variables + v],
                 hg->jacobian, g->ld, i) *
             s->rows[hg->row + r * g->ld + i];
    return t;
}

static inline void fit_host_jtu(qn_fit_host *host, const double *rows, double *out)
{
    const qn_fit_problem *p = host->problem;

    for (uint32_t b = 0; b < p->n_blocks; b++)
        for (uint32_t s = p->block_first[b]; s < p->block_first[b + 1]; s++) {
            const part_of of = { host, rows, s - p->block_first[b], 0 };

            out[s] = p->is_fixed[s] ? 0
                                    : qn_fit_sum_list(jtu_part, &of, p->inverse.start[b],
                                                      p->inverse.start[b + 1], host->workspaces[0]);
        }
}

/* Diagonal blocks. */

/* Two slots of an instance may be bound to the same block: then the other slot contributes here
 * too. */
static inline double diagonal_part(const void *user, qn_i64 entry)
{
    const part_of *s = user;
    const qn_fit_problem *p = s->host->problem;
    const qn_fit_place *held = &p->places[p->inverse.place[entry]];
    const qn_fit_group *g;
    int a;
    const qn_fit_host_group *hg = variable_at(s->host, entry, s->a, &a, &g);
    const qn_i64 i = p->inverse.instance[entry];
    double t = 0;

    for (int slot = 0; hg && slot < g->n_slots; slot++) {
        const int n = hg->tapes[QN_FIT_PASS_LINEARIZE]->n_variables;
        const int b = hg ? variable_of(hg, (uint32_t)slot, s->b) : -1;

        if (b < 0 || g->idx[slot * g->ld + i] != g->idx[held->slot * g->ld + i])
            continue;
        for (int r = 0; r < g->n_rows; r++)
            t += qn_fit_entry_value(&entries_of(hg)[r * n + a], hg->jacobian, g->ld, i) *
                 qn_fit_entry_value(&entries_of(hg)[r * n + b], hg->jacobian, g->ld, i);
    }
    return t;
}

static inline qn_i64 fit_diagonal_size(const qn_fit_problem *problem)
{
    qn_i64 n = 0;

    for (int k = 0; k < problem->n_sets; k++)
        n += (qn_i64)problem->sets[k].count * problem->sets[k].dim * problem->sets[k].dim;
    return n;
}

/* J'J of each block, block after block; 0 in rows and columns of fixed scalars. */
static inline void fit_host_diagonal(qn_fit_host *host, double *out)
{
    const qn_fit_problem *p = host->problem;

    for (int k = 0; k < p->n_sets; k++) {
        const qn_fit_set *set = &p->sets[k];
        const uint32_t dim = set->dim;

        for (uint32_t b = 0; b < set->count; b++) {
            const uint32_t block = set->first_block + b, first = p->block_first[block];
            double *at = out + (qn_i64)b * dim * dim;

            for (uint32_t a = 0; a < dim; a++)
                for (uint32_t c = a; c < dim; c++) {
                    const part_of of = { host, NULL, a, c };
                    const int is_fixed = p->is_fixed[first + a] || p->is_fixed[first + c];

                    at[a * dim + c] = at[c * dim + a] =
                        is_fixed
                            ? 0
                            : qn_fit_sum_list(diagonal_part, &of, p->inverse.start[block],
                                              p->inverse.start[block + 1], host->workspaces[0]);
                }
        }
        out += (qn_i64)set->count * dim * dim;
    }
}

/* J by columns of free scalars, and r: rows in the caller's order, group after group. */
static inline void fit_host_dense(qn_fit_host *host, double *jacobian, double *residuals)
{
    const qn_fit_problem *p = host->problem;
    const qn_i64 m = qn_fit_problem_n_rows(p);
    qn_i64 first = 0;

    memset(jacobian, 0, (size_t)m * p->n_free * sizeof *jacobian);
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];
        const qn_fit_host_group *hg = &host->groups[k];
        const qn_fit_tape *tape = hg->tapes[QN_FIT_PASS_LINEARIZE];

        for (qn_i64 i = 0; i < g->n; i++)
            for (int r = 0; r < g->n_rows; r++) {
                const qn_i64 row = first + (qn_i64)g->rows[i] * g->n_rows + r;

                residuals[row] = host->residuals[hg->row + r * g->ld + i];
                for (int a = 0; a < tape->n_variables; a++) {
                    const qn_fit_variable *of = &tape->variables[a];
                    const uint32_t col = p->column[g->idx[of->slot * g->ld + i] + of->comp];

                    /* A block at two slots: both add to its column. */
                    if (col != QN_FIT_NO_COLUMN)
                        jacobian[row + (qn_i64)col * m] += qn_fit_entry_value(
                            &entries_of(hg)[r * tape->n_variables + a], hg->jacobian, g->ld, i);
                }
            }
        first += g->n * g->n_rows;
    }
}

#endif
