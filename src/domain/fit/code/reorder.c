/* reorder.c - orders the values of a tape from the outputs upwards.
 *
 * The last value is placed first. Among the values whose users are all placed, the next is the one
 * that leaves the fewest values alive above it; a tie goes to the value requested last. This order
 * keeps slightly more values alive than that of schedule.c, but finishes one piece of a term before
 * it begins the next, so that a repeated value (rematerialise.c) serves for longer.
 */
#include "domain/fit/code/tape.h"

#include <stdlib.h>

int qn_fit_users_of(const qn_fit_tape *tape, qn_fit_users *out)
{
    const size_t n = (size_t)tape->n_values;

    out->first = calloc(n + 2, sizeof *out->first);
    out->user = calloc(n * QN_FIT_MAX_ARGS + 1, sizeof *out->user);
    if (!out->first || !out->user) {
        qn_fit_users_free(out);
        return 0;
    }
    for (size_t v = 0; v < n; v++)
        for (int k = 0; k < tape->values[v].n_args; k++)
            if (qn_fit_is_first_arg(&tape->values[v], k))
                out->first[tape->values[v].arg[k] + 2]++;
    for (size_t v = 2; v < n + 2; v++)
        out->first[v] += out->first[v - 1];
    for (size_t v = 0; v < n; v++)
        for (int k = 0; k < tape->values[v].n_args; k++)
            if (qn_fit_is_first_arg(&tape->values[v], k))
                out->user[out->first[tape->values[v].arg[k] + 1]++] = (uint32_t)v;
    return 1;
}

void qn_fit_users_free(qn_fit_users *users)
{
    free(users->first);
    free(users->user);
    *users = (qn_fit_users){ 0 };
}

typedef struct {
    const qn_fit_tape *p;
    uint32_t *left;  /* users that are not placed yet */
    uint32_t *asked; /* when a value was first requested, counted from 1 */
    uint32_t *ready;
    uint32_t n_ready, clock;
} sorter;

/* How many more values are alive above `v`. */
static int growth(const sorter *s, uint32_t v)
{
    const qn_fit_value *value = &s->p->values[v];
    int more = -(s->asked[v] != 0);

    for (int k = 0; k < value->n_args; k++)
        more += qn_fit_is_first_arg(value, k) && !s->asked[value->arg[k]] &&
                s->p->values[value->arg[k]].op != QN_FIT_OP_lit;
    return more;
}

static uint32_t pop_best(sorter *s)
{
    uint32_t best = 0;
    int least = 0;

    for (uint32_t k = 0; k < s->n_ready; k++) {
        const uint32_t v = s->ready[k], b = s->ready[best];
        const int more = growth(s, v);
        const int is_newer = s->asked[v] > s->asked[b] || (s->asked[v] == s->asked[b] && v > b);

        if (k == 0 || more < least || (more == least && is_newer)) {
            best = k;
            least = more;
        }
    }
    const uint32_t v = s->ready[best];

    s->ready[best] = s->ready[--s->n_ready];
    return v;
}

static void place_above(sorter *s, uint32_t v)
{
    const qn_fit_value *value = &s->p->values[v];

    for (int k = 0; k < value->n_args; k++) {
        const uint32_t a = value->arg[k];

        if (!qn_fit_is_first_arg(value, k))
            continue;
        if (!s->asked[a])
            s->asked[a] = ++s->clock;
        if (--s->left[a] == 0)
            s->ready[s->n_ready++] = a;
    }
}

int qn_fit_order_up(const qn_fit_tape *tape, const qn_fit_users *users, uint32_t *out)
{
    const uint32_t n = (uint32_t)tape->n_values;
    uint32_t *room = calloc(3 * (size_t)n + 3, sizeof *room);
    sorter s = { .p = tape, .left = room, .asked = room + n, .ready = room + 2 * (size_t)n };

    if (!room)
        return 0;
    for (uint32_t v = 0; v < n; v++) {
        s.left[v] = users->first[v + 1] - users->first[v];
        if (!s.left[v])
            s.ready[s.n_ready++] = v;
    }
    for (uint32_t at = n; s.n_ready;) {
        const uint32_t v = pop_best(&s);

        out[--at] = v;
        place_above(&s, v);
    }
    free(room);
    return 1;
}
