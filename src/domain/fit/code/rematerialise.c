/* rematerialise.c - computes values again instead of keeping them.
 *
 * The reverse half of a derivative uses nearly every value of the forward half: a term over the
 * ring of a vertex keeps 240 doubles, but an item of an NVIDIA GPU has room for about 120. The
 * compiler spills the rest to memory. Most of these values are cheap to compute from coordinates.
 *
 * Values are visited in order, with a limit on how many are alive. Beyond the limit one value is
 * dropped: the one whose next use is furthest away relative to its price, which is the work of
 * computing it again from values that are alive, down to loads. A user of a dropped value computes
 * it again, with the same bits. A value that only serves to compute others again counts as needed
 * when they are: without this rule the same few values were computed over and over, at ten times
 * the work. Where the order of schedule.c needs too much extra work, another is tried.
 *
 * Compilers find equal expressions and keep their values, which would undo all this. Repeated
 * values are therefore marked, and printed in a form that compilers do not see through (print.c).
 *
 * A hinge term with six faces kept 232 values alive and spilled 1304 bytes on sm_90; with at most
 * 94 values and a fifth more operations it spills none.
 */
#include "domain/fit/code/tape.h"

#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* Another order of the values, from the outputs upwards.
 *
 * The last value is placed first. Among the values whose users are all placed, the next is the one
 * that leaves the fewest values alive above it; a tie goes to the value requested last. This order
 * keeps slightly more values alive than that of schedule.c, but finishes one piece of a term before
 * it begins the next, so that a repeated value serves for longer.
 */

/* The users of value v: user[first[v] .. first[v + 1]), ascending, each user once. */
typedef struct {
    uint32_t *first, *user;
} users;

/* Whether no earlier argument of `v` is the same value as argument `arg`. */
static int is_first_arg(const qn_fit_value *v, int arg)
{
    for (int k = 0; k < arg; k++)
        if (v->arg[k] == v->arg[arg])
            return 0;
    return 1;
}

/* Returns 0 when out of memory, as memory->failed also says. */
static int users_of(const qn_fit_tape *tape, qn_arena *memory, users *out)
{
    const size_t n = (size_t)tape->n_values;

    out->first = qn_arena_zeros(memory, n + 2, sizeof *out->first);
    out->user = qn_arena_zeros(memory, n * QN_FIT_MAX_ARGS, sizeof *out->user);
    if (memory->failed)
        return 0;
    for (size_t v = 0; v < n; v++)
        for (int k = 0; k < tape->values[v].n_args; k++)
            if (is_first_arg(&tape->values[v], k))
                out->first[tape->values[v].arg[k] + 2]++;
    for (size_t v = 2; v < n + 2; v++)
        out->first[v] += out->first[v - 1];
    for (size_t v = 0; v < n; v++)
        for (int k = 0; k < tape->values[v].n_args; k++)
            if (is_first_arg(&tape->values[v], k))
                out->user[out->first[tape->values[v].arg[k] + 1]++] = (uint32_t)v;
    return 1;
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
        more += is_first_arg(value, k) && !s->asked[value->arg[k]] &&
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

        if (!is_first_arg(value, k))
            continue;
        if (!s->asked[a])
            s->asked[a] = ++s->clock;
        if (--s->left[a] == 0)
            s->ready[s->n_ready++] = a;
    }
}

/* Writes the numbers of all values, ordered from the outputs upwards. Returns 0 when out of
 * memory. */
static int order_up(const qn_fit_tape *tape, const users *of, uint32_t *out)
{
    const uint32_t n = (uint32_t)tape->n_values;
    uint32_t *room = calloc(3 * (size_t)n + 3, sizeof *room);
    sorter s = { .p = tape, .left = room, .asked = room + n, .ready = room + 2 * (size_t)n };

    if (!room)
        return 0;
    for (uint32_t v = 0; v < n; v++) {
        s.left[v] = of->first[v + 1] - of->first[v];
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

/* Rewriting. */

/* MAX_PRICE: a root, a quotient and a few operations around them. MAX_DEPTH: how many levels of
 * values that only serve to compute others again are followed. */
enum { NEVER = UINT32_MAX, MAX_VALUES = 8000, MAX_PRICE = 80, MAX_DEPTH = 4, MAX_GROWTH = 3 };

typedef struct {
    const qn_fit_tape *p;
    users users;
    uint32_t *order;          /* of the visit */
    uint32_t *rank;           /* value -> its position in the order */
    uint32_t *alive, n_alive; /* a list, without literals */
    uint32_t *where;          /* value -> its position in the list */
    uint32_t *need;           /* value -> when it is needed next; earlier than now: unknown */
    uint32_t *seen, *stack;   /* of price() */
    uint32_t *out, n_out;     /* the operations to compute, in order */
    uint8_t *is_alive, *is_made;
    uint8_t *is_over; /* neither it nor any of its users is needed again */
    uint8_t *holders; /* computations in progress that need the value */
    uint32_t stamp, now;
    int limit, peak;
    uint64_t extra, most_extra; /* weight of repeated operations, and its limit */
} rewriter;

static int is_literal(const rewriter *w, uint32_t v)
{
    return w->p->values[v].op == QN_FIT_OP_lit;
}

static int is_leaf(const rewriter *w, uint32_t v)
{
    return qn_fit_op_has((qn_fit_opcode)w->p->values[v].op, QN_FIT_IS_LEAF);
}

/* A load counts as an operation. Eigenvalues are never computed again. */
static int weight(const rewriter *w, uint32_t v)
{
    const qn_fit_opcode op = (qn_fit_opcode)w->p->values[v].op;

    if (qn_fit_op_has(op, QN_FIT_IS_EIG))
        return MAX_PRICE + 1;
    return qn_fit_ops[op].weight ? qn_fit_ops[op].weight : 1;
}

/* When the value is needed next: by a later user, or to compute a dropped one again. */
static uint32_t next_need(rewriter *w, uint32_t v, int depth)
{
    uint32_t when = NEVER;
    int is_over = 1;

    for (uint32_t k = w->users.first[v]; k < w->users.first[v + 1]; k++) {
        const uint32_t user = w->users.user[k];
        uint32_t at = w->rank[user];

        if (w->is_over[user])
            continue;
        if (at < w->now)
            at = !w->is_alive[user] && depth < MAX_DEPTH ? next_need(w, user, depth + 1) : NEVER;
        is_over &= w->is_over[user];
        when = at < when ? at : when;
    }
    w->is_over[v] = is_over && w->rank[v] < w->now;
    return when;
}

/* The work of computing `v` again from values that are alive; not exact beyond `most`. */
static int price(rewriter *w, uint32_t v, double most)
{
    uint32_t n = 0;
    int total = 0;

    w->stamp++;
    w->stack[n++] = v;
    w->seen[v] = w->stamp;
    while (n && total <= most) {
        const uint32_t top = w->stack[--n];
        const qn_fit_value *value = &w->p->values[top];

        total += weight(w, top);
        for (int k = 0; k < value->n_args; k++) {
            const uint32_t a = value->arg[k];

            if (w->seen[a] == w->stamp || w->is_alive[a] || is_literal(w, a))
                continue;
            w->seen[a] = w->stamp;
            w->stack[n++] = a;
        }
    }
    return total;
}

/* Cached until that point is reached or a value that needs it is dropped. */
static uint32_t need_of(rewriter *w, uint32_t v)
{
    if (w->need[v] < w->now)
        w->need[v] = next_need(w, v, 0);
    return w->need[v];
}

static void forget_needs(rewriter *w, uint32_t v, int depth)
{
    const qn_fit_value *value = &w->p->values[v];

    for (int k = 0; k < value->n_args; k++) {
        w->need[value->arg[k]] = 0;
        if (!w->is_alive[value->arg[k]] && depth < MAX_DEPTH)
            forget_needs(w, value->arg[k], depth + 1);
    }
}

static void drop(rewriter *w, uint32_t v)
{
    const uint32_t last = w->alive[--w->n_alive];

    w->alive[w->where[v]] = last;
    w->where[last] = w->where[v];
    w->is_alive[v] = 0;
    forget_needs(w, v, 0);
}

static void drop_dead(rewriter *w, uint32_t v)
{
    w->need[v] = 0;
    if (w->is_alive[v] && !w->holders[v] && !is_literal(w, v) && need_of(w, v) == NEVER)
        drop(w, v);
}

static void drop_cheap(rewriter *w)
{
    while ((int)w->n_alive > w->limit) {
        uint32_t best = NEVER;
        double most = 0;

        for (uint32_t k = 0; k < w->n_alive; k++) {
            const uint32_t v = w->alive[k];
            const double wait = (double)(need_of(w, v) - w->now + 1);
            /* A higher price would gain less than the best so far. */
            const double bound = wait < MAX_PRICE * most ? wait / most : MAX_PRICE;
            const int cost = w->holders[v] || bound < 1 ? MAX_PRICE + 1 : price(w, v, bound);
            const double gain = wait / cost;

            if (cost > bound)
                continue;
            if (best == NEVER || gain > most || (gain == most && v < best)) {
                best = v;
                most = gain;
            }
        }
        if (best == NEVER)
            return;
        drop(w, best);
    }
}

/* Returns 0 if that takes too much work. */
static int compute(rewriter *w, uint32_t v)
{
    const qn_fit_value *value = &w->p->values[v];

    for (int k = 0; k < value->n_args; k++)
        w->holders[value->arg[k]]++;
    for (int k = 0; k < value->n_args; k++)
        if (!w->is_alive[value->arg[k]] && !compute(w, value->arg[k]))
            return 0;
    w->extra += w->is_made[v] ? (uint64_t)weight(w, v) : 0;
    if (w->extra > w->most_extra || w->n_out == (uint32_t)w->p->n_values * MAX_GROWTH)
        return 0;
    w->out[w->n_out++] = v;
    w->is_alive[v] = w->is_made[v] = 1;
    if (!is_literal(w, v)) {
        w->where[v] = w->n_alive;
        w->alive[w->n_alive++] = v;
    }
    w->peak = (int)w->n_alive > w->peak ? (int)w->n_alive : w->peak;
    for (int k = 0; k < value->n_args; k++)
        w->holders[value->arg[k]]--;
    for (int k = 0; k < value->n_args; k++)
        drop_dead(w, value->arg[k]);
    drop_dead(w, v);
    w->holders[v]++;
    drop_cheap(w);
    w->holders[v]--;
    return 1;
}

static int rewrite_in_order(rewriter *w)
{
    const uint32_t n = (uint32_t)w->p->n_values;

    for (uint32_t k = 0; k < n; k++)
        w->rank[w->order[k]] = k;
    memset(w->is_alive, 0, n);
    memset(w->is_made, 0, n);
    memset(w->holders, 0, n);
    memset(w->is_over, 0, n);
    memset(w->need, 0, n * sizeof *w->need);
    w->n_alive = w->n_out = 0;
    w->peak = 0;
    w->extra = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t v = w->order[k];

        w->now = k + 1;
        /* A leaf is loaded by its first user, unless it is only an output. */
        if (is_leaf(w, v) && w->users.first[v + 1] > w->users.first[v])
            continue;
        if (!w->is_made[v] && !compute(w, v))
            return 0;
    }
    return 1;
}

/* The rewritten tape. */

/* Builds the tape from its values `out`, in that order: arguments are the latest copies, outputs
 * the first. `latest` and `first` hold a number per value of the tape. */
static void link_values(qn_fit_tape *p, const uint32_t *out, uint32_t n, qn_fit_value *values,
                        uint32_t *latest, uint32_t *first)
{
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t before = latest[out[k]];
        qn_fit_value *v = &values[k];

        *v = p->values[out[k]];
        for (int a = 0; a < v->n_args; a++)
            v->arg[a] = latest[v->arg[a]] - 1;
        v->is_again = before != 0;
        v->is_same = before && !memcmp(values[before - 1].arg, v->arg, sizeof v->arg);
        latest[out[k]] = k + 1;
        if (!before)
            first[out[k]] = k + 1;
    }
    for (int k = 0; k < p->n_outputs; k++)
        p->outputs[k] = first[p->outputs[k]] - 1;
}

/* Leaves out values that were dropped before any use; `number` holds one number per value. */
static uint32_t sweep(qn_fit_tape *p, qn_fit_value *values, uint32_t n, uint32_t *number)
{
    uint32_t kept = 0;

    for (int k = 0; k < p->n_outputs; k++)
        number[p->outputs[k]] = 1;
    for (uint32_t k = n; k-- > 0;)
        for (int a = 0; number[k] && a < values[k].n_args; a++)
            number[values[k].arg[a]] = 1;
    for (uint32_t k = 0; k < n; k++) {
        if (!number[k])
            continue;
        number[k] = kept;
        for (int a = 0; a < values[k].n_args; a++)
            values[k].arg[a] = number[values[k].arg[a]];
        values[kept++] = values[k];
    }
    for (int k = 0; k < p->n_outputs; k++)
        p->outputs[k] = number[p->outputs[k]];
    return kept;
}

static qn_status rewrite(qn_fit_tape *p, const uint32_t *out, uint32_t n, qn_err *err)
{
    qn_fit_value *values = calloc((size_t)n + 1, sizeof *values);
    uint32_t *room = calloc(2 * (size_t)p->n_values + n, sizeof *room);
    int n_ops = 0;

    if (!values || !room) {
        free(values);
        free(room);
        return qn_fail(err, QN_ERR_NOMEM, "%s: program of %u values", p->name, n);
    }
    link_values(p, out, n, values, room, room + p->n_values);
    n = sweep(p, values, n, room + 2 * (size_t)p->n_values);
    p->weight = 0;
    for (uint32_t k = 0; k < n; k++) {
        n_ops += !qn_fit_op_has((qn_fit_opcode)values[k].op, QN_FIT_IS_LEAF | QN_FIT_IS_PART);
        p->weight += qn_fit_ops[values[k].op].weight;
    }
    p->n_again = n_ops - p->n_ops;
    p->n_ops = n_ops;
    free(p->values);
    free(room);
    p->values = values;
    p->n_values = (int)n;
    return QN_OK;
}

/* Returns 0 when out of memory. */
static int begin_rewriter(rewriter *w, const qn_fit_tape *p, qn_arena *memory)
{
    uint32_t **const tables[] = { &w->order, &w->rank,  &w->alive, &w->where,
                                  &w->seen,  &w->stack, &w->need };
    uint8_t **const marks[] = { &w->is_alive, &w->is_made, &w->holders, &w->is_over };
    const size_t n = (size_t)p->n_values;

    *w = (rewriter){ .p = p, .out = qn_arena_zeros(memory, MAX_GROWTH * n, sizeof *w->out) };
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        *tables[k] = qn_arena_zeros(memory, n, sizeof **tables[k]);
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        *marks[k] = qn_arena_zeros(memory, n, 1);
    return users_of(p, memory, &w->users);
}

/* Tries the given order, then the one from the outputs upwards, both with repetitions. Returns 0 if
 * neither stays within the limit and most_extra. */
static int try_orders(rewriter *w)
{
    const uint32_t n = (uint32_t)w->p->n_values;

    for (uint32_t k = 0; k < n; k++)
        w->order[k] = k;
    if (rewrite_in_order(w) && w->peak < w->p->peak_live)
        return 1;
    return order_up(w->p, &w->users, w->order) && rewrite_in_order(w) && w->peak < w->p->peak_live;
}

qn_status qn_fit_rematerialise(qn_fit_tape *tape, int limit, qn_err *err)
{
    /* Block starts take registers too. Where keeping all of them within the limit would cost too
     * much extra work, the limit is relaxed: spilling a few bytes is cheaper. */
    static const struct {
        int halves;
        uint64_t share;
    } tries[] = { { 2, 6 }, { 1, 4 }, { 0, 1 } };
    const size_t n = (size_t)tape->n_values;
    qn_status st = QN_OK;
    qn_arena memory = { 0 };
    rewriter w;
    int is_found = 0;

    if (limit < 1 || tape->peak_live <= limit || n > MAX_VALUES)
        return QN_OK;
    if (!begin_rewriter(&w, tape, &memory))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: order of %zu values", tape->name, n);
    for (size_t k = 0; k < sizeof tries / sizeof *tries && !is_found; k++) {
        w.limit = limit - tape->n_slots * tries[k].halves / 2;
        w.most_extra = tape->weight / tries[k].share;
        is_found = w.limit > 0 && try_orders(&w);
    }
    if (is_found) {
        QN_TRY(rewrite(tape, w.out, w.n_out, err));
        tape->peak_live_kept = tape->peak_live;
        tape->peak_live = w.peak;
    }
out:
    qn_arena_clear(&memory);
    return st;
}
