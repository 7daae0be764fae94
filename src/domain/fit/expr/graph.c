/* graph.c - creates each node once: leaves, hash consing, outputs. */
#include "domain/fit/expr/graph.h"

#include "util/hash.h"
#include "util/list.h"
#include "util/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

qn_status qn_fit_graph_fault(qn_fit_graph *graph, qn_status status, const char *format, ...)
{
    char text[sizeof graph->err.text - sizeof graph->name];
    va_list list;

    if (graph->err.status != QN_OK)
        return graph->err.status;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return qn_fail(&graph->err, status, "%s: %s", graph->name, text);
}

const char *qn_fit_graph_error(const qn_fit_graph *graph)
{
    return graph->err.status == QN_OK ? "" : graph->err.text;
}

qn_status qn_fit_graph_new(const char *name, qn_fit_mode mode, qn_fit_graph **out, qn_err *err)
{
    qn_fit_graph *graph = calloc(1, sizeof *graph);

    if (!name)
        name = "fit";
    if (!graph)
        goto out;
    snprintf(graph->name, sizeof graph->name, "%s", name);
    graph->mode = mode;
    graph->node_room = 64;
    graph->table_size = 256;
    graph->nodes = calloc(graph->node_room, sizeof *graph->nodes);
    graph->table = calloc(graph->table_size, sizeof *graph->table);
    if (!graph->nodes || !graph->table)
        goto out;
    graph->n_nodes = 1;
    *out = graph;
    return QN_OK;
out:
    qn_fit_graph_free(graph);
    return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a graph", name);
}

void qn_fit_graph_free(qn_fit_graph *graph)
{
    if (!graph)
        return;
    free(graph->nodes);
    free(graph->table);
    free(graph->outputs);
    free(graph->fixed);
    qn_arena_clear(&graph->memory);
    free(graph->canonical);
    free(graph);
}

/* Hash consing. */

static uint64_t mix(uint64_t h, uint64_t word)
{
    return qn_random_u64(h, word);
}

static uint64_t bits_of(double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static int is_const_column(const qn_fit_node *n)
{
    return n->op == QN_FIT_OP_data && n->comp == 1;
}

static uint64_t content_hash(const qn_fit_node *n)
{
    uint64_t h = mix(n->op, n->slot);

    h = mix(mix(h, n->comp), bits_of(n->value));
    for (int i = 0; i < n->n_args; i++)
        h = mix(h, n->arg[i]);
    return h;
}

static int is_same(const qn_fit_node *a, const qn_fit_node *b)
{
    return a->op == b->op && a->slot == b->slot && a->comp == b->comp &&
           bits_of(a->value) == bits_of(b->value) && a->n_args == b->n_args &&
           !memcmp(a->arg, b->arg, sizeof a->arg);
}

/* A hash of the sub-graph with slots anonymous; the order of commutative arguments does not
 * matter. */
static uint64_t shape_of(const qn_fit_graph *graph, const qn_fit_node *n)
{
    uint64_t h = mix(0x666974, n->op);
    int first = 0;

    if (n->op == QN_FIT_OP_lit)
        return mix(h, bits_of(n->value));
    if (n->op == QN_FIT_OP_param || n->op == QN_FIT_OP_tangent)
        return mix(mix(h, n->comp), n->is_fixed);
    if (qn_fit_op_has((qn_fit_opcode)n->op, QN_FIT_COMM)) {
        const uint64_t a = graph->nodes[n->arg[0]].shape, b = graph->nodes[n->arg[1]].shape;

        h = mix(mix(h, a < b ? a : b), a < b ? b : a);
        first = 2;
    }
    for (int i = first; i < n->n_args; i++)
        h = mix(h, graph->nodes[n->arg[i]].shape);
    return h;
}

static void place(qn_fit_graph *graph, qn_fit_v id)
{
    uint32_t at = (uint32_t)content_hash(&graph->nodes[id]) & (graph->table_size - 1);

    while (graph->table[at])
        at = (at + 1) & (graph->table_size - 1);
    graph->table[at] = id;
}

static int grow(qn_fit_graph *graph)
{
    const uint32_t room = 2 * graph->node_room;
    qn_fit_node *nodes = realloc(graph->nodes, room * sizeof *nodes);
    uint32_t *table;

    if (!nodes)
        return -1;
    graph->nodes = nodes;
    graph->node_room = room;
    table = calloc((size_t)4 * room, sizeof *table);
    if (!table)
        return -1;
    free(graph->table);
    graph->table = table;
    graph->table_size = 4 * room;
    for (qn_fit_v id = 1; id < graph->n_nodes; id++)
        place(graph, id);
    return 0;
}

qn_fit_v qn_fit_intern(qn_fit_graph *graph, const qn_fit_node *node)
{
    uint32_t at;
    qn_fit_node *n;

    if (graph->err.status != QN_OK)
        return 0;
    at = (uint32_t)content_hash(node) & (graph->table_size - 1);
    for (; graph->table[at]; at = (at + 1) & (graph->table_size - 1))
        if (is_same(&graph->nodes[graph->table[at]], node))
            return graph->table[at];
    if (graph->n_nodes > QN_FIT_MAX_NODES) {
        qn_fit_graph_fault(graph, QN_ERR_LIMIT, "more than %d nodes", QN_FIT_MAX_NODES);
        return 0;
    }
    if (graph->n_nodes == graph->node_room && grow(graph)) {
        qn_fit_graph_fault(graph, QN_ERR_NOMEM, "%u nodes", graph->n_nodes);
        return 0;
    }
    n = &graph->nodes[graph->n_nodes];
    *n = *node;
    n->shape = shape_of(graph, n);
    place(graph, graph->n_nodes);
    return graph->n_nodes++;
}

qn_fit_v qn_fit_make(qn_fit_graph *graph, qn_fit_opcode op, const qn_fit_v *args)
{
    qn_fit_node node = { .op = (uint16_t)op, .n_args = qn_fit_ops[op].arity };
    qn_fit_v found;

    if (graph->err.status != QN_OK)
        return 0;
    for (int i = 0; i < node.n_args; i++) {
        if (args[i] == 0 || args[i] >= graph->n_nodes) {
            qn_fit_graph_fault(graph, QN_ERR_USAGE, "operand %d of %s is not a node of this graph",
                               i + 1, qn_fit_ops[op].name);
            return 0;
        }
        node.arg[i] = args[i];
    }
    found = qn_fit_normalise(graph, &op, node.arg);
    if (found || graph->err.status != QN_OK)
        return found;
    node.op = (uint16_t)op;
    node.n_args = qn_fit_ops[op].arity;
    for (int i = node.n_args; i < QN_FIT_MAX_ARGS; i++)
        node.arg[i] = 0;
    return qn_fit_intern(graph, &node);
}

/* Leaves. */

qn_fit_v qn_fit_leaf(qn_fit_graph *graph, qn_fit_opcode op, uint32_t slot, uint32_t comp)
{
    return qn_fit_intern(graph, &(qn_fit_node){ .op = (uint16_t)op, .slot = slot, .comp = comp });
}

static int is_open(qn_fit_graph *graph)
{
    if (graph->is_finished)
        qn_fit_graph_fault(graph, QN_ERR_USAGE, "the graph is finished and takes no more nodes");
    return graph->err.status == QN_OK;
}

qn_fit_v qn_fit_param(qn_fit_graph *graph, int slot, int comp)
{
    if (!is_open(graph))
        return 0;
    if (slot < 0 || comp < 0 || comp >= QN_FIT_MAX_DIM) {
        qn_fit_graph_fault(graph, QN_ERR_USAGE, "parameter slot %d, component %d (limit %d)", slot,
                           comp, QN_FIT_MAX_DIM);
        return 0;
    }
    return qn_fit_leaf(graph, QN_FIT_OP_param, (uint32_t)slot, (uint32_t)comp);
}

void qn_fit_params(qn_fit_graph *graph, int slot, int dim, qn_fit_v *out)
{
    for (int c = 0; c < dim; c++)
        out[c] = qn_fit_param(graph, slot, c);
}

qn_fit_v qn_fit_data(qn_fit_graph *graph, int column)
{
    if (!is_open(graph))
        return 0;
    if (column < 0) {
        qn_fit_graph_fault(graph, QN_ERR_USAGE, "data column %d", column);
        return 0;
    }
    return qn_fit_leaf(graph, QN_FIT_OP_data, (uint32_t)column, 0);
}

qn_fit_v qn_fit_exact(qn_fit_graph *graph, double value)
{
    if (!isfinite(value)) {
        qn_fit_graph_fault(graph, QN_ERR_INPUT, "a literal is %s",
                           isnan(value) ? "nan" : "infinite");
        return 0;
    }
    return qn_fit_intern(graph, &(qn_fit_node){ .op = QN_FIT_OP_lit, .value = value });
}

static int is_structural(double value)
{
    static const double plain[] = {
        0, 1, -1, 2, 0.5, 3.14159265358979323846, 6.28318530717958647692
    };

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (value == plain[i])
            return 1;
    return 0;
}

/* Literal columns are never shared: constants that are equal here may differ in other instances. */
qn_fit_v qn_fit_lit(qn_fit_graph *graph, double value)
{
    if (!is_open(graph))
        return 0;
    if (graph->mode == QN_FIT_TEMPLATE || is_structural(value) || !isfinite(value))
        return qn_fit_exact(graph, value);
    return qn_fit_intern(graph, &(qn_fit_node){ .op = QN_FIT_OP_data,
                                                .slot = graph->n_literal_columns++,
                                                .comp = 1,
                                                .value = value });
}

void qn_fit_fix(qn_fit_graph *graph, int slot, int comp)
{
    if (!is_open(graph))
        return;
    void *fixed =
        qn_grown(graph->fixed, (size_t)graph->n_fixed, &graph->fixed_room, sizeof *graph->fixed);

    if (!fixed) {
        qn_fit_graph_fault(graph, QN_ERR_NOMEM, "%d fixed components", graph->n_fixed + 1);
        return;
    }
    graph->fixed = fixed;
    graph->fixed[graph->n_fixed][0] = (uint64_t)slot;
    graph->fixed[graph->n_fixed++][1] = (uint64_t)comp;
}

/* Operations by name. */

/* An exponent and the epsilon of a safe operation belong to the shape of the expression. */
static int has_structural_last(qn_fit_opcode op)
{
    return op == QN_FIT_OP_pow || op == QN_FIT_OP_powi ||
           (op >= QN_FIT_OP_sqrt_safe && op <= QN_FIT_OP_asin_safe);
}

qn_fit_v qn_fit_op(qn_fit_graph *graph, const char *name, const qn_fit_v *args, int n_args)
{
    const qn_fit_opcode op = qn_fit_op_find(name);
    qn_fit_v own[QN_FIT_MAX_ARGS];

    if (!is_open(graph))
        return 0;
    if (op == QN_FIT_OP_COUNT) {
        qn_fit_graph_fault(graph, QN_ERR_USAGE, "there is no operation %s", name);
        return 0;
    }
    if (n_args != qn_fit_ops[op].arity) {
        qn_fit_graph_fault(graph, QN_ERR_USAGE, "%s has %d operands, not %d", name,
                           qn_fit_ops[op].arity, n_args);
        return 0;
    }
    memcpy(own, args, (size_t)n_args * sizeof *own);
    if (has_structural_last(op) && own[n_args - 1] && own[n_args - 1] < graph->n_nodes &&
        is_const_column(qn_fit_at(graph, own[n_args - 1])))
        own[n_args - 1] = qn_fit_exact(graph, qn_fit_at(graph, own[n_args - 1])->value);
    return qn_fit_make(graph, op, own);
}

qn_fit_v qn_fit_add(qn_fit_graph *graph, qn_fit_v a, qn_fit_v b)
{
    return qn_fit_make(graph, QN_FIT_OP_add, (const qn_fit_v[]){ a, b });
}

qn_fit_v qn_fit_sub(qn_fit_graph *graph, qn_fit_v a, qn_fit_v b)
{
    return qn_fit_make(graph, QN_FIT_OP_sub, (const qn_fit_v[]){ a, b });
}

qn_fit_v qn_fit_mul(qn_fit_graph *graph, qn_fit_v a, qn_fit_v b)
{
    return qn_fit_make(graph, QN_FIT_OP_mul, (const qn_fit_v[]){ a, b });
}

qn_fit_v qn_fit_div(qn_fit_graph *graph, qn_fit_v a, qn_fit_v b)
{
    return qn_fit_make(graph, QN_FIT_OP_div, (const qn_fit_v[]){ a, b });
}

qn_fit_v qn_fit_neg(qn_fit_graph *graph, qn_fit_v a)
{
    return qn_fit_make(graph, QN_FIT_OP_neg, &a);
}

void qn_fit_output(qn_fit_graph *graph, qn_fit_v row)
{
    if (!is_open(graph))
        return;
    if (row == 0 || row >= graph->n_nodes) {
        qn_fit_graph_fault(graph, QN_ERR_USAGE, "output %d is not a node of this graph",
                           graph->n_outputs + 1);
        return;
    }
    qn_fit_v *outputs =
        qn_grown(graph->outputs, (size_t)graph->n_outputs, &graph->output_room, sizeof *outputs);

    if (!outputs) {
        qn_fit_graph_fault(graph, QN_ERR_NOMEM, "%d outputs", graph->n_outputs + 1);
        return;
    }
    graph->outputs = outputs;
    graph->outputs[graph->n_outputs++] = row;
}

/* Arguments have smaller numbers than their users, so one pass from the end suffices. */
void qn_fit_reach(const qn_fit_graph *graph, const qn_fit_v *roots, int n_roots, uint8_t *mark)
{
    for (int i = 0; i < n_roots; i++)
        mark[roots[i]] = 1;
    for (qn_fit_v id = graph->n_nodes - 1; id > 0; id--)
        for (int i = 0; mark[id] && i < graph->nodes[id].n_args; i++)
            mark[graph->nodes[id].arg[i]] = 1;
    mark[0] = 0;
}
