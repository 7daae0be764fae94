/* dag.h - one program as nodes: parameters, constants and operations on earlier nodes.
 *
 * The parser appends nodes in the order of the source; nested calls and tuples with variables in
 * them have become nodes of their own. Passes of the compiler make a new list or change this one.
 */
#ifndef QN_ARC_DAG_H
#define QN_ARC_DAG_H

#include "domain/arc/value/value.h"

#include "kernel/arc/arc_code.h"

/* Operations of nodes that are no instructions. Others are opcodes of arc_ops.h, or ARC_OP_CALL,
 * ARC_OP_TUPLE and ARC_OP_FAIL. */
enum {
    QN_ARC_NODE_GONE = 0xfffd, /* taken out by a pass */
    QN_ARC_NODE_PARAM = 0xfffe,
    QN_ARC_NODE_CONST = 0xffff
};

typedef struct qn_arc_node {
    uint16_t op;
    uint8_t n_args;
    uint8_t guard;             /* ARC_GUARD_*, of guarded steps */
    int a[4];                  /* nodes before this one */
    int line;                  /* of the source */
    int needs, n_needs;        /* further nodes that must be ok, in the program's list */
    int number;                /* of a parameter: its slot */
    const qn_arc_value *value; /* of a constant */
} qn_arc_node;

/* The records that a batt program puts into its lists. */
typedef struct qn_arc_record {
    char list; /* 'o' or 's' */
    int flag;  /* of o: True or False */
    int64_t number;
    char *task, *name; /* name: of s, else "" */
    int node, line;
} qn_arc_record;

typedef struct qn_arc_dag {
    qn_arc_node *nodes;
    int n;
    size_t room;
    int *needs;
    int n_needs;
    size_t need_room;
    qn_arc_record *records;
    int n_records;
    size_t record_room;
    int output;     /* the node a solve program gives; -1: none */
    int n_params;   /* nodes 0 .. n_params - 1 */
    uint32_t flags; /* ARC_FLAG_* */
} qn_arc_dag;

void qn_arc_dag_free(qn_arc_dag *dag);

/* The number of the new node, or -1 when memory ran out. `needs` is set to where the next ones
 * will be added. */
int qn_arc_dag_add(qn_arc_dag *dag, const qn_arc_node *node);
int qn_arc_dag_need(qn_arc_dag *dag, int node); /* appends; 0 when memory ran out */

/* Appends a record; takes over its texts. 0 when memory ran out. */
int qn_arc_dag_record(qn_arc_dag *dag, const qn_arc_record *record);

/* Whether two values are the same to the last tag: True is not 1 here. */
int qn_arc_same_value(const qn_arc_value *a, const qn_arc_value *b);

static inline int qn_arc_is_leaf(const qn_arc_node *node)
{
    return node->op >= QN_ARC_NODE_GONE;
}

#endif
