/* canon.c - canonical order, canonical text and signature of a graph.
 *
 * Operands of commutative operations are ordered by colour: a hash of the sub-graph below them,
 * with slots anonymous, refined once by where each slot and column is used in the whole expression.
 * Then nodes are numbered depth first from the outputs, and slots and columns by first visit. Equal
 * texts mean equal tapes up to the names of slots, even if hashes collide; graphs that differ
 * only in order get the same text unless slots of different use have the same colour.
 */
#include "domain/fit/expr/graph.h"

#include "util/hash.h"
#include "util/status.h"
#include "util/str.h"

#include <string.h>

enum { CANONICAL_VERSION = 1 };

typedef struct {
    uint32_t name;
    uint64_t colour;
} place;

typedef struct {
    qn_fit_graph *old, *fresh;
    uint8_t *reached;
    uint64_t *below, *above; /* colours: of the sub-graph; of the uses */
    place *slots;
    uint32_t n_slots;
    qn_fit_v *number; /* old node -> new */
    qn_fit_v *stack;
} canon;

static uint64_t mix(uint64_t h, uint64_t word)
{
    return qn_random_u64(h, word);
}

static uint64_t literal_bits(const qn_fit_node *n)
{
    uint64_t u;

    memcpy(&u, &n->value, sizeof u);
    return u;
}

/* Colours. */

static place *slot_place(canon *c, uint32_t name)
{
    for (uint32_t i = 0; i < c->n_slots; i++)
        if (c->slots[i].name == name)
            return &c->slots[i];
    c->slots[c->n_slots] = (place){ .name = name };
    return &c->slots[c->n_slots++];
}

static uint64_t leaf_colour(canon *c, qn_fit_v id, int is_refined)
{
    const qn_fit_node *n = qn_fit_at(c->old, id);
    const uint64_t kind = mix(0x6c656166, n->op);

    switch (n->op) {
    case QN_FIT_OP_lit:
        return mix(kind, literal_bits(n));
    case QN_FIT_OP_data:
        return is_refined ? mix(kind, c->above[id]) : kind;
    default:
        return mix(mix(mix(kind, n->comp), n->is_fixed),
                   is_refined ? slot_place(c, n->slot)->colour : 0);
    }
}

static void colour_below(canon *c, int is_refined)
{
    for (qn_fit_v id = 1; id < c->old->n_nodes; id++) {
        const qn_fit_node *n = qn_fit_at(c->old, id);
        uint64_t h = mix(0x6e6f6465, n->op);
        int first = 0;

        if (!c->reached[id])
            continue;
        if (qn_fit_op_has((qn_fit_opcode)n->op, QN_FIT_IS_LEAF)) {
            c->below[id] = leaf_colour(c, id, is_refined);
            continue;
        }
        if (qn_fit_op_has((qn_fit_opcode)n->op, QN_FIT_COMM)) {
            const uint64_t a = c->below[n->arg[0]], b = c->below[n->arg[1]];

            h = mix(mix(h, a < b ? a : b), a < b ? b : a);
            first = 2;
        }
        for (int i = first; i < n->n_args; i++)
            h = mix(h, c->below[n->arg[i]]);
        c->below[id] = h;
    }
}

static void colour_above(canon *c)
{
    const qn_fit_graph *g = c->old;

    for (int k = 0; k < g->n_outputs; k++)
        c->above[g->outputs[k]] += mix(0x6f7574, (uint64_t)k);
    for (qn_fit_v id = g->n_nodes - 1; id > 0; id--) {
        const qn_fit_node *n = qn_fit_at(g, id);
        const int swaps = qn_fit_op_has((qn_fit_opcode)n->op, QN_FIT_COMM);

        for (int i = 0; c->reached[id] && i < n->n_args; i++)
            c->above[n->arg[i]] +=
                mix(mix(c->above[id], c->below[id]), (uint64_t)(swaps && i < 2 ? 0 : i));
        if (c->reached[id] && n->op == QN_FIT_OP_param)
            slot_place(c, n->slot)->colour += mix(mix(c->above[id], n->comp), n->is_fixed);
    }
}

/* The canonical graph. */

static uint32_t slot_number(qn_fit_graph *f, uint32_t name, uint32_t comp)
{
    uint32_t i = 0;

    while (i < f->n_slots && f->slot_names[i] != name)
        i++;
    if (i == f->n_slots)
        f->slot_names[f->n_slots++] = name;
    if (f->slot_dims[i] < comp + 1)
        f->slot_dims[i] = comp + 1;
    return i;
}

static qn_fit_v renumbered(canon *c, qn_fit_v id)
{
    qn_fit_graph *f = c->fresh;
    qn_fit_node n = *qn_fit_at(c->old, id);

    for (int i = 0; i < n.n_args; i++)
        n.arg[i] = c->number[n.arg[i]];
    if (n.op == QN_FIT_OP_param) {
        n.slot = slot_number(f, n.slot, n.comp);
    } else if (n.op == QN_FIT_OP_data) {
        f->column_names[f->n_columns] = n.comp ? -1 - (int32_t)n.slot : (int32_t)n.slot;
        f->column_values[f->n_columns] = n.value;
        n.slot = f->n_columns++;
        n.comp = 0;
        n.value = 0;
    }
    return qn_fit_intern(f, &n);
}

/* The arguments in canonical order, written into the old node. */
static void order_operands(canon *c, qn_fit_v id)
{
    qn_fit_node *n = &c->old->nodes[id];

    if (qn_fit_op_has((qn_fit_opcode)n->op, QN_FIT_COMM) &&
        c->below[n->arg[0]] > c->below[n->arg[1]]) {
        const qn_fit_v first = n->arg[0];

        n->arg[0] = n->arg[1];
        n->arg[1] = first;
    }
}

/* Depth first without recursion, because a chain of a million nodes is legal. */
static void visit(canon *c, qn_fit_v root)
{
    size_t depth = 0;

    c->stack[depth++] = root;
    while (depth && c->fresh->err.status == QN_OK) { /* after a fault nothing gets a number */
        const qn_fit_v id = c->stack[depth - 1];
        const qn_fit_node *n = qn_fit_at(c->old, id);
        int next = 0;

        while (next < n->n_args && c->number[n->arg[next]])
            next++;
        if (c->number[id] || next == n->n_args) {
            if (!c->number[id])
                c->number[id] = renumbered(c, id);
            depth--;
        } else {
            c->stack[depth++] = n->arg[next];
        }
    }
}

static void serialise(const qn_fit_graph *f, qn_str *out)
{
    const uint32_t head[] = { CANONICAL_VERSION, f->n_slots, f->n_columns, f->n_nodes - 1,
                              (uint32_t)f->n_outputs };

    qn_str_add_n(out, (const char *)head, sizeof head);
    qn_str_add_n(out, (const char *)f->slot_dims, f->n_slots * sizeof *f->slot_dims);
    for (qn_fit_v id = 1; id < f->n_nodes; id++) {
        const qn_fit_node *n = qn_fit_at(f, id);
        const uint32_t tag[] = { n->op, n->slot, n->comp, n->is_fixed };

        qn_str_add_n(out, (const char *)tag, sizeof tag);
        qn_str_add_n(out, (const char *)&n->value, sizeof n->value);
        qn_str_add_n(out, (const char *)n->arg, n->n_args * sizeof *n->arg);
    }
    qn_str_add_n(out, (const char *)f->outputs, (size_t)f->n_outputs * sizeof *f->outputs);
}

static void mark_fixed(qn_fit_graph *g)
{
    for (int k = 0; k < g->n_fixed; k++)
        for (qn_fit_v id = 1; id < g->n_nodes; id++)
            if (g->nodes[id].op == QN_FIT_OP_param && g->nodes[id].slot == g->fixed[k][0] &&
                g->nodes[id].comp == g->fixed[k][1])
                g->nodes[id].is_fixed = 1;
}

/* Moves the arrays of `f` into the graph; the old arrays are freed with `f`. */
static void swap_graphs(qn_fit_graph *g, qn_fit_graph *f)
{
    const qn_fit_graph old = *g;

    *g = *f;
    *f = old;
}

static qn_status build(canon *c, qn_err *err)
{
    qn_fit_graph *g = c->old, *f = c->fresh;
    qn_str text = { 0 };

    mark_fixed(g);
    qn_fit_reach(g, g->outputs, g->n_outputs, c->reached);
    colour_below(c, 0);
    colour_above(c);
    colour_below(c, 1);
    for (qn_fit_v id = 1; id < g->n_nodes; id++)
        if (c->reached[id])
            order_operands(c, id);
    for (int k = 0; k < g->n_outputs; k++) {
        visit(c, g->outputs[k]);
        qn_fit_output(f, c->number[g->outputs[k]]);
    }
    if (qn_fit_graph_check(f, err) != QN_OK)
        return f->err.status;
    serialise(f, &text);
    if (text.failed) {
        qn_str_free(&text);
        return qn_fail(err, QN_ERR_NOMEM, "%s: canonical text of %u nodes", g->name, f->n_nodes);
    }
    f->canonical = (uint8_t *)text.data;
    f->canonical_bytes = text.len;
    qn_sha256_of(f->canonical, f->canonical_bytes, f->signature);
    f->is_finished = 1;
    swap_graphs(g, f);
    return QN_OK;
}

qn_status qn_fit_canonicalise(qn_fit_graph *graph, qn_err *err)
{
    canon c = { .old = graph };
    qn_arena memory = { 0 };
    const size_t n = graph->n_nodes;
    qn_status st;

    if ((st = qn_fit_graph_new(graph->name, graph->mode, &c.fresh, err)) != QN_OK)
        return qn_fail(err, st, "%s: no memory", graph->name);
    c.reached = qn_arena_zeros(&memory, n, 1);
    c.below = qn_arena_zeros(&memory, n, sizeof *c.below);
    c.above = qn_arena_zeros(&memory, n, sizeof *c.above);
    c.slots = qn_arena_zeros(&memory, n, sizeof *c.slots);
    c.number = qn_arena_zeros(&memory, n, sizeof *c.number);
    c.stack = qn_arena_zeros(&memory, n, sizeof *c.stack);
    c.fresh->slot_names = qn_arena_zeros(&c.fresh->memory, n, sizeof *c.fresh->slot_names);
    c.fresh->slot_dims = qn_arena_zeros(&c.fresh->memory, n, sizeof *c.fresh->slot_dims);
    c.fresh->column_names = qn_arena_zeros(&c.fresh->memory, n, sizeof *c.fresh->column_names);
    c.fresh->column_values = qn_arena_zeros(&c.fresh->memory, n, sizeof *c.fresh->column_values);
    if (!memory.failed && !c.fresh->memory.failed)
        st = build(&c, err);
    else
        st = qn_fail(err, QN_ERR_NOMEM, "%s: canonical order of %zu nodes", graph->name, n);
    qn_fit_graph_free(c.fresh);
    qn_arena_clear(&memory);
    return st;
}
