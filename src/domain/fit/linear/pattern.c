/* pattern.c - makes the pattern of J'J, once, by sorting the pairs of columns of all terms. */
#include "domain/fit/linear/linear_impl.h"

#include <limits.h>
#include <string.h>

static qn_i64 pairs_of(const qn_fit_model_group *g)
{
    return (qn_i64)g->n_variables * (g->n_variables + 1) / 2;
}

/* Column and row of pair (a, b) as one number, column first; 0 when either is fixed. Columns are
 * counted from 1, so that 0 is free for that. */
static uint64_t key_of(const qn_fit_problem *p, const qn_fit_model_group *g, int a, int b, qn_i64 i)
{
    const uint32_t ca = p->column[qn_fit_scalar_of(g, a, i)];
    const uint32_t cb = p->column[qn_fit_scalar_of(g, b, i)];

    if (ca == QN_FIT_NO_COLUMN || cb == QN_FIT_NO_COLUMN)
        return 0;
    return ca < cb ? (uint64_t)(ca + 1) << 32 | cb : (uint64_t)(cb + 1) << 32 | ca;
}

static void list_keys(const qn_fit_model *h, uint64_t *keys, uint32_t *with)
{
    const qn_fit_problem *p = h->problem;
    size_t n = 0;

    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_model_group *g = &h->groups[k];

        for (int a = 0; a < g->n_variables; a++)
            for (int b = 0; b <= a; b++)
                for (qn_i64 i = 0; i < g->group->n; i++, n++) {
                    keys[n] = key_of(p, g, a, b, i);
                    with[n] = (uint32_t)n;
                }
    }
    for (uint32_t c = 0; c < p->n_free; c++, n++) {
        keys[n] = (uint64_t)(c + 1) << 32 | c;
        with[n] = (uint32_t)n;
    }
}

/* entry[n]: the entry that pair n adds to. */
static void fill_pattern(qn_fit_pattern *t, const uint64_t *keys, const uint32_t *with, size_t n,
                         uint32_t *entry)
{
    uint32_t used = 0;

    for (size_t k = 0; k < n; k++) {
        if (!keys[k]) {
            entry[with[k]] = QN_FIT_NO_COLUMN;
            continue;
        }
        if (k == 0 || keys[k] != keys[k - 1]) {
            t->row[used++] = (int)(keys[k] & UINT32_MAX);
            t->start[keys[k] >> 32] = (int)used;
        }
        entry[with[k]] = used - 1;
    }
}

qn_status qn_fit_pattern_open(qn_fit_model *model, qn_arena *memory, qn_fit_pattern *out,
                              qn_err *err)
{
    const qn_fit_problem *p = model->problem;
    qn_fit_pattern t = { .model = model, .n = (int)p->n_free };
    qn_arena scratch = { 0 };
    uint64_t *keys;
    uint32_t *with, *entry;
    qn_status st = QN_OK;
    size_t n = p->n_free, at = 0;

    for (int k = 0; k < p->n_groups; k++)
        n += (size_t)(pairs_of(&model->groups[k]) * p->groups[k].n);
    if (n > INT_MAX)
        QN_FAIL(err, QN_ERR_LIMIT, "sparse_cholesky: %zu pairs of parameters, limit %d", n,
                INT_MAX);
    keys = qn_arena_zeros(&scratch, n, sizeof *keys);
    with = qn_arena_zeros(&scratch, n, sizeof *with);
    entry = qn_arena_zeros(&scratch, n, sizeof *entry);
    t.start = qn_arena_zeros(memory, (size_t)t.n + 1, sizeof *t.start);
    t.row = qn_arena_zeros(memory, n, sizeof *t.row);
    t.place = qn_arena_zeros(memory, (size_t)p->n_groups, sizeof *t.place);
    if (scratch.failed || memory->failed)
        QN_FAIL(err, QN_ERR_NOMEM, "a pattern of %zu pairs", n);
    list_keys(model, keys, with);
    QN_TRY(qn_fit_sort_keys(keys, with, n, err));
    fill_pattern(&t, keys, with, n, entry);
    for (int k = 0; k < p->n_groups; k++) {
        const size_t size = (size_t)(pairs_of(&model->groups[k]) * p->groups[k].n);

        if ((t.place[k] = qn_arena_zeros(memory, size, sizeof *entry)))
            memcpy(t.place[k], entry + at, size * sizeof *entry);
        at += size;
    }
    t.value = qn_arena_zeros(memory, (size_t)t.start[t.n], sizeof *t.value);
    *out = t;
out:
    qn_arena_clear(&scratch);
    return st;
}

void qn_fit_pattern_renew(qn_fit_pattern *pattern)
{
    memset(pattern->value, 0, (size_t)pattern->start[pattern->n] * sizeof *pattern->value);
    for (int k = 0; k < pattern->model->problem->n_groups; k++) {
        const qn_fit_model_group *g = &pattern->model->groups[k];
        const qn_fit_problem *p = pattern->model->problem;
        const uint32_t *place = pattern->place[k];

        for (int a = 0; a < g->n_variables; a++)
            for (int b = 0; b <= a; b++, place += g->group->n)
                for (qn_i64 i = 0; i < g->group->n; i++) {
                    double dot = 0;

                    if (place[i] == QN_FIT_NO_COLUMN)
                        continue;
                    for (int r = 0; r < g->group->n_rows; r++)
                        dot += qn_fit_jac_at(g, r, a, i) * qn_fit_jac_at(g, r, b, i);
                    /* Two slots bound to one block: both orders of the pair are the same entry. */
                    if (a != b && p->column[qn_fit_scalar_of(g, a, i)] ==
                                      p->column[qn_fit_scalar_of(g, b, i)])
                        dot *= 2;
                    pattern->value[place[i]] += dot;
                }
    }
}
