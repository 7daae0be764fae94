/* graph.h - nodes of an expression, inside fit.
 *
 * A graph only grows, arguments come before their users, and equal nodes are the same node. The
 * public header is <quern/fit.h>; derive/ and code/ build and read nodes here.
 */
#ifndef QN_FIT_EXPR_GRAPH_H
#define QN_FIT_EXPR_GRAPH_H

#include "domain/fit/expr/ops.h"
#include "util/arena.h"

#include <quern/fit.h>

typedef struct qn_fit_node {
    uint16_t op;
    uint8_t n_args;
    uint8_t is_fixed; /* param: no derivative */
    qn_fit_v arg[QN_FIT_MAX_ARGS];
    uint32_t slot, comp; /* param, tangent: block slot and component; data: column; seed: row */
    double value;        /* lit; data that was a literal */
    uint64_t shape;      /* hash of the sub-graph with slots anonymous */
} qn_fit_node;

struct qn_fit_graph {
    char name[64];
    qn_fit_mode mode;
    qn_fit_node *nodes; /* [0] is unused */
    uint32_t n_nodes, node_room;
    uint32_t *table; /* node ids by content, a power of two of them */
    uint32_t table_size;
    qn_fit_v *outputs;
    int n_outputs;
    size_t output_room;
    uint32_t n_literal_columns; /* INSTANCE: columns made from literals */
    uint64_t (*fixed)[2];       /* slot, comp */
    int n_fixed;
    size_t fixed_room;
    int is_finished;
    qn_err err; /* the first fault */

    /* After finish, by canonical number. */
    qn_arena memory;
    uint32_t n_slots, n_columns;
    uint32_t *slot_names, *slot_dims;
    int32_t *column_names;
    double *column_values;
    uint8_t *canonical;
    size_t canonical_bytes;
    uint8_t signature[QN_FIT_SIGNATURE_BYTES];
};

/* Normalises, then finds or creates the node. 0 if the graph has a fault. */
qn_fit_v qn_fit_make(qn_fit_graph *graph, qn_fit_opcode op, const qn_fit_v *args);

/* Finds or creates the node without the rewrites of normalise.c. */
qn_fit_v qn_fit_intern(qn_fit_graph *graph, const qn_fit_node *node);

/* A leaf of any kind. */
qn_fit_v qn_fit_leaf(qn_fit_graph *graph, qn_fit_opcode op, uint32_t slot, uint32_t comp);

/* A literal, in either mode of the graph. */
qn_fit_v qn_fit_exact(qn_fit_graph *graph, double value);

qn_status qn_fit_graph_fault(qn_fit_graph *graph, qn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* normalise.c: an existing node equal to op(args), or 0; may reorder or replace `args` and `op`. */
qn_fit_v qn_fit_normalise(qn_fit_graph *graph, qn_fit_opcode *op, qn_fit_v *args);

/* canon.c: the body of qn_fit_graph_finish. */
qn_status qn_fit_canonicalise(qn_fit_graph *graph, qn_err *err);

/* An unfinished copy of the nodes and outputs of a finished graph, for derivatives. */
qn_status qn_fit_graph_copy(const qn_fit_graph *graph, qn_fit_graph **out, qn_err *err);

/* Marks the nodes that the roots depend on by mark[id] = 1; `mark` has n_nodes zero bytes. */
void qn_fit_reach(const qn_fit_graph *graph, const qn_fit_v *roots, int n_roots, uint8_t *mark);

static inline qn_fit_v qn_fit_make1(qn_fit_graph *g, qn_fit_opcode op, qn_fit_v a)
{
    return qn_fit_make(g, op, &a);
}

static inline qn_fit_v qn_fit_make2(qn_fit_graph *g, qn_fit_opcode op, qn_fit_v a, qn_fit_v b)
{
    return qn_fit_make(g, op, (const qn_fit_v[]){ a, b });
}

static inline qn_fit_v qn_fit_make3(qn_fit_graph *g, qn_fit_opcode op, qn_fit_v a, qn_fit_v b,
                                    qn_fit_v c)
{
    return qn_fit_make(g, op, (const qn_fit_v[]){ a, b, c });
}

/* The graph's first fault as an error, if there is one. */
static inline qn_status qn_fit_graph_check(const qn_fit_graph *graph, qn_err *err)
{
    if (graph->err.status != QN_OK && err)
        *err = graph->err;
    return graph->err.status;
}

static inline const qn_fit_node *qn_fit_at(const qn_fit_graph *graph, qn_fit_v id)
{
    return &graph->nodes[id];
}

static inline int qn_fit_is_lit(const qn_fit_graph *graph, qn_fit_v id, double value)
{
    return graph->nodes[id].op == QN_FIT_OP_lit && graph->nodes[id].value == value;
}

#endif
