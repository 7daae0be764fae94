/* order.c - sorts instances so that their gathers are close to each other.
 *
 * The key of an instance is the lowest block that it uses of the largest set, then the highest of
 * these, or the block of the next slot where only one slot is of that set: edges sort by (lower
 * vertex, higher vertex), observations by point.
 */
#include "domain/fit/problem/problem.h"

#include <stdlib.h>
#include <string.h>

qn_status qn_fit_sort_keys(uint64_t *keys, uint32_t *with, size_t n, qn_err *err)
{
    uint64_t *other_keys = malloc((n + 1) * sizeof *other_keys), *from = keys, *to = other_keys;
    uint32_t *other_with = malloc((n + 1) * sizeof *other_with), *wf = with, *wt = other_with;
    qn_status st = QN_OK;

    if (!other_keys || !other_with) {
        st = qn_fail(err, QN_ERR_NOMEM, "sorting %zu keys", n);
        goto out;
    }
    for (int shift = 0; shift < 64; shift += 8) {
        size_t count[257] = { 0 };

        for (size_t i = 0; i < n; i++)
            count[(from[i] >> shift & 255) + 1]++;
        /* A byte that is equal in all keys needs no pass. */
        if (n == 0 || count[(from[0] >> shift & 255) + 1] == n)
            continue;
        for (int b = 0; b < 256; b++)
            count[b + 1] += count[b];
        for (size_t i = 0; i < n; i++) {
            const size_t at = count[from[i] >> shift & 255]++;

            to[at] = from[i];
            wt[at] = wf[i];
        }
        {
            uint64_t *const keys_were = from;
            uint32_t *const with_were = wf;

            from = to;
            to = keys_were;
            wf = wt;
            wt = with_were;
        }
    }
    if (from != keys) {
        memcpy(keys, from, n * sizeof *keys);
        memcpy(with, wf, n * sizeof *with);
    }
out:
    free(other_keys);
    free(other_with);
    return st;
}

static uint64_t key_of(const qn_fit_group *g, int largest, qn_i64 i)
{
    uint32_t low = UINT32_MAX, high = 0, next = 0;
    int n_same = 0, has_next = 0;

    for (int s = 0; s < g->n_slots; s++) {
        const uint32_t at = g->idx[s * g->ld + i];

        if (g->slot_set[s] == largest) {
            low = at < low ? at : low;
            high = at > high ? at : high;
            n_same++;
        } else if (!has_next) {
            next = at;
            has_next = 1;
        }
    }
    return (uint64_t)low << 32 | (n_same > 1 || !has_next ? high : next);
}

qn_status qn_fit_group_order(const qn_fit_problem *problem, const qn_fit_group *group,
                             uint32_t **order, qn_err *err)
{
    const size_t n = (size_t)group->n;
    uint64_t *keys = malloc((n + 1) * sizeof *keys);
    uint32_t *with = malloc((n + 1) * sizeof *with);
    int largest = group->n_slots ? group->slot_set[0] : 0, is_sorted = 1;
    qn_status st = QN_OK;

    *order = NULL;
    if (!keys || !with) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: order of %zu instances", group->name, n);
        goto out;
    }
    for (int s = 1; s < group->n_slots; s++)
        if (problem->sets[group->slot_set[s]].count > problem->sets[largest].count)
            largest = group->slot_set[s];
    for (size_t i = 0; i < n; i++) {
        keys[i] = group->n_slots ? key_of(group, largest, (qn_i64)i) : 0;
        with[i] = (uint32_t)i;
        is_sorted &= i == 0 || keys[i - 1] <= keys[i];
    }
    if (is_sorted)
        goto out;
    QN_TRY(qn_fit_sort_keys(keys, with, n, err));
    *order = with;
    with = NULL;
out:
    free(keys);
    free(with);
    return st;
}
