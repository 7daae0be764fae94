/* schedule.c - finds an order of nodes in which few values are alive at a time.
 *
 * Depth first from the outputs, the operand that needs more registers first (Sethi and Ullman's
 * rule), so that loads come late and a value is used soon after it is made. On a graph with shared
 * nodes the order of the outputs matters too: a few orders are tried and the best is kept.
 */
#include "domain/fit/code/tape.h"

#include "util/arena.h"
#include "util/status.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const qn_fit_graph *g;
    uint32_t *need;  /* registers that the sub-graph would need as a tree */
    uint32_t *place; /* node -> position in `order` + 1 */
    qn_fit_v *order;
    qn_fit_v *stack;
    uint32_t *uses; /* scratch of count_live */
    uint32_t n;
} scheduler;

static int is_literal(const qn_fit_graph *g, qn_fit_v id)
{
    return qn_fit_at(g, id)->op == QN_FIT_OP_lit;
}

/* Arguments by falling need, in `sorted`. */
static void sort_operands(const scheduler *s, const qn_fit_node *n, qn_fit_v *sorted)
{
    for (int i = 0; i < n->n_args; i++) {
        int at = i;

        for (; at > 0 && s->need[sorted[at - 1]] < s->need[n->arg[i]]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = n->arg[i];
    }
}

static void label(scheduler *s)
{
    for (qn_fit_v id = 1; id < s->g->n_nodes; id++) {
        const qn_fit_node *n = qn_fit_at(s->g, id);
        qn_fit_v sorted[QN_FIT_MAX_ARGS];
        uint32_t need = is_literal(s->g, id) ? 0 : 1;

        sort_operands(s, n, sorted);
        for (int i = 0; i < n->n_args; i++)
            need =
                s->need[sorted[i]] + (uint32_t)i > need ? s->need[sorted[i]] + (uint32_t)i : need;
        s->need[id] = need;
    }
}

static void visit(scheduler *s, qn_fit_v root)
{
    size_t depth = 0;

    s->stack[depth++] = root;
    while (depth) {
        const qn_fit_v id = s->stack[depth - 1];
        const qn_fit_node *n = qn_fit_at(s->g, id);
        qn_fit_v sorted[QN_FIT_MAX_ARGS];
        int next = 0;

        sort_operands(s, n, sorted);
        while (next < n->n_args && s->place[sorted[next]])
            next++;
        if (!s->place[id] && next < n->n_args) {
            s->stack[depth++] = sorted[next];
            continue;
        }
        if (!s->place[id]) {
            s->order[s->n++] = id;
            s->place[id] = s->n;
        }
        depth--;
    }
}

/* The largest number of values alive at once; an output is stored as soon as it is computed and
 * stays alive only for other uses. */
static int count_live(scheduler *s)
{
    int live = 0, peak = 0;

    memset(s->uses, 0, s->g->n_nodes * sizeof *s->uses);
    for (uint32_t k = 0; k < s->n; k++)
        for (int i = 0; i < s->g->nodes[s->order[k]].n_args; i++)
            s->uses[s->g->nodes[s->order[k]].arg[i]]++;
    for (uint32_t k = 0; k < s->n; k++) {
        const qn_fit_v id = s->order[k];
        const qn_fit_node *n = qn_fit_at(s->g, id);

        live += !is_literal(s->g, id);
        peak = live > peak ? live : peak;
        for (int i = 0; i < n->n_args; i++)
            live -= --s->uses[n->arg[i]] == 0 && !is_literal(s->g, n->arg[i]);
        live -= s->uses[id] == 0 && !is_literal(s->g, id);
    }
    return peak;
}

/* Improvement. */

/* Beyond this many nodes the quadratic search below is left out. */
enum { MAX_SEARCHED = 6000 };

/* How many more values are alive once `id` and the loads that it needs have been computed. */
static int growth(const scheduler *s, qn_fit_v id)
{
    const qn_fit_node *n = qn_fit_at(s->g, id);
    int more = s->uses[id] > 0;

    for (int i = 0; i < n->n_args; i++) {
        const qn_fit_v a = n->arg[i];
        uint32_t repeats = 0;
        int is_first = 1;

        for (int j = 0; j < n->n_args; j++) {
            repeats += n->arg[j] == a;
            is_first &= j >= i || n->arg[j] != a;
        }
        if (!is_first || is_literal(s->g, a))
            continue;
        more += !s->place[a];          /* a leaf that has to be loaded */
        more -= s->uses[a] == repeats; /* its last use */
    }
    return more;
}

static void emit(scheduler *s, qn_fit_v id)
{
    const qn_fit_node *n = qn_fit_at(s->g, id);

    for (int i = 0; i < n->n_args; i++) {
        if (!s->place[n->arg[i]])
            emit(s, n->arg[i]); /* a leaf */
        s->uses[n->arg[i]]--;
    }
    s->order[s->n++] = id;
    s->place[id] = s->n;
}

static int is_leaf(const scheduler *s, qn_fit_v id)
{
    return qn_fit_op_has((qn_fit_opcode)qn_fit_at(s->g, id)->op, QN_FIT_IS_LEAF);
}

/* Which nodes use which, and what can be computed next. */
typedef struct {
    uint32_t *first, *user; /* users of a node: user[first[id] .. first[id + 1]) */
    uint32_t *waits;        /* operands, other than leaves, that a node still needs */
    uint32_t *rank;         /* its position in the plan */
    qn_fit_v *ready;
    uint32_t n_ready;
} candidates;

/* Returns 0 when out of memory. */
static int list_candidates(const scheduler *s, const qn_fit_v *plan, uint32_t n, qn_arena *memory,
                           candidates *c)
{
    const size_t room = (size_t)s->g->n_nodes + 2;

    c->first = qn_arena_zeros(memory, room, sizeof *c->first);
    c->waits = qn_arena_zeros(memory, room, sizeof *c->waits);
    c->rank = qn_arena_zeros(memory, room, sizeof *c->rank);
    c->ready = qn_arena_zeros(memory, room, sizeof *c->ready);
    c->user = qn_arena_zeros(memory, (size_t)n * QN_FIT_MAX_ARGS, sizeof *c->user);
    if (memory->failed)
        return 0;
    for (uint32_t k = 0; k < n; k++)
        for (int i = 0; i < s->g->nodes[plan[k]].n_args; i++)
            c->first[s->g->nodes[plan[k]].arg[i] + 1]++;
    for (size_t id = 1; id < room; id++)
        c->first[id] += c->first[id - 1];
    for (uint32_t k = n; k-- > 0;) {
        const qn_fit_node *node = qn_fit_at(s->g, plan[k]);

        c->rank[plan[k]] = k;
        for (int i = 0; i < node->n_args; i++) {
            c->user[--c->first[node->arg[i] + 1]] = plan[k];
            c->waits[plan[k]] += !is_leaf(s, node->arg[i]);
        }
        /* A leaf is loaded by its first user, or by itself when it is only an output. */
        if (is_leaf(s, plan[k]) ? s->uses[plan[k]] == 0 : c->waits[plan[k]] == 0)
            c->ready[c->n_ready++] = plan[k];
    }
    return 1;
}

/* The candidate that leaves the fewest values alive; ties go to the earliest in the plan. */
static qn_fit_v pop_best(const scheduler *s, candidates *c)
{
    uint32_t best = 0;
    int least = 0;

    for (uint32_t k = 0; k < c->n_ready; k++) {
        const int more = growth(s, c->ready[k]);

        if (k == 0 || more < least ||
            (more == least && c->rank[c->ready[k]] < c->rank[c->ready[best]])) {
            best = k;
            least = more;
        }
    }
    const qn_fit_v id = c->ready[best];

    c->ready[best] = c->ready[--c->n_ready];
    return id;
}

/* Reorders the nodes: among those that can be computed, always takes the one that leaves the fewest
 * values alive; ties go to the earlier one in `plan`, the order so far (`n` nodes). */
static int run_greedily(scheduler *s, const qn_fit_v *plan, uint32_t n)
{
    qn_arena memory = { 0 };
    candidates c = { 0 };
    int live = INT_MAX; /* when out of memory the plan is left unchanged */

    memset(s->uses, 0, s->g->n_nodes * sizeof *s->uses);
    for (uint32_t k = 0; k < n; k++)
        for (int i = 0; i < s->g->nodes[plan[k]].n_args; i++)
            s->uses[s->g->nodes[plan[k]].arg[i]]++;
    memset(s->place, 0, s->g->n_nodes * sizeof *s->place);
    s->n = 0;
    if (!list_candidates(s, plan, n, &memory, &c))
        goto out;
    while (c.n_ready) {
        const qn_fit_v id = pop_best(s, &c);

        emit(s, id);
        for (uint32_t k = c.first[id + 1]; k < c.first[id + 2]; k++)
            if (--c.waits[c.user[k]] == 0)
                c.ready[c.n_ready++] = c.user[k];
    }
    live = count_live(s);
out:
    qn_arena_clear(&memory);
    return live;
}

enum { AS_GIVEN, BACKWARDS, NEEDY_FIRST, N_ORDERS };

static int run(scheduler *s, int how, qn_fit_v *roots)
{
    const qn_fit_graph *g = s->g;
    const int n = g->n_outputs;

    for (int k = 0; k < n; k++)
        roots[k] = g->outputs[how == BACKWARDS ? n - 1 - k : k];
    for (int k = 1; how == NEEDY_FIRST && k < n; k++) {
        const qn_fit_v root = roots[k];
        int at = k;

        for (; at > 0 && s->need[roots[at - 1]] < s->need[root]; at--)
            roots[at] = roots[at - 1];
        roots[at] = root;
    }
    s->n = 0;
    memset(s->place, 0, g->n_nodes * sizeof *s->place);
    for (int k = 0; k < n; k++)
        visit(s, roots[k]);
    return count_live(s);
}

static qn_status write_values(const scheduler *s, qn_fit_tape *tape, qn_err *err)
{
    const qn_fit_graph *g = s->g;

    tape->values = calloc((size_t)s->n + 1, sizeof *tape->values);
    tape->outputs = calloc((size_t)g->n_outputs + 1, sizeof *tape->outputs);
    if (!tape->values || !tape->outputs)
        return qn_fail(err, QN_ERR_NOMEM, "%s: program of %u values", g->name, s->n);
    tape->n_values = (int)s->n;
    tape->n_outputs = g->n_outputs;
    for (uint32_t k = 0; k < s->n; k++) {
        const qn_fit_node *n = qn_fit_at(g, s->order[k]);
        qn_fit_value *v = &tape->values[k];

        *v = (qn_fit_value){
            .op = n->op, .n_args = n->n_args, .slot = n->slot, .comp = n->comp, .literal = n->value
        };
        for (int i = 0; i < n->n_args; i++)
            v->arg[i] = s->place[n->arg[i]] - 1;
        tape->n_ops += !qn_fit_op_has((qn_fit_opcode)n->op, QN_FIT_IS_LEAF | QN_FIT_IS_PART);
        tape->uses_tangent |= n->op == QN_FIT_OP_tangent;
        tape->uses_seed |= n->op == QN_FIT_OP_seed;
        tape->weight += qn_fit_ops[n->op].weight;
    }
    for (int k = 0; k < g->n_outputs; k++)
        tape->outputs[k] = s->place[g->outputs[k]] - 1;
    return QN_OK;
}

qn_status qn_fit_schedule(const qn_fit_graph *graph, qn_fit_tape *tape, qn_err *err)
{
    const size_t n = graph->n_nodes;
    scheduler s = { .g = graph };
    qn_arena memory = { 0 };
    qn_fit_v *roots = qn_arena_zeros(&memory, (size_t)graph->n_outputs, sizeof *roots);
    int best = AS_GIVEN, least = 0;
    qn_status st;

    s.need = qn_arena_zeros(&memory, n, sizeof *s.need);
    s.place = qn_arena_zeros(&memory, n, sizeof *s.place);
    s.order = qn_arena_zeros(&memory, n, sizeof *s.order);
    s.stack = qn_arena_zeros(&memory, n, sizeof *s.stack);
    s.uses = qn_arena_zeros(&memory, n, sizeof *s.uses);
    if (!memory.failed) {
        label(&s);
        for (int how = 0; how < N_ORDERS; how++) {
            const int live = run(&s, how, roots);

            if (how == 0 || live < least) {
                least = live;
                best = how;
            }
        }
        tape->peak_live = run(&s, best, roots);
        if (s.n <= MAX_SEARCHED) {
            memcpy(s.stack, s.order, s.n * sizeof *s.order); /* `stack` is free now */
            if (run_greedily(&s, s.stack, s.n) < tape->peak_live)
                tape->peak_live = count_live(&s);
            else
                run(&s, best, roots);
        }
        st = write_values(&s, tape, err);
    } else {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: schedule of %zu nodes", graph->name, n);
    }
    qn_arena_clear(&memory);
    return st;
}
