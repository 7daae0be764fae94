/* passes.h - passes over the nodes of a program before it becomes instructions.
 *
 * Each pass preserves outputs, records and failures. A node that is no longer wanted stays in the
 * list but is not alive.
 */
#ifndef QN_ARC_PASSES_H
#define QN_ARC_PASSES_H

#include "domain/arc/compile/compile.h"
#include "domain/arc/program/program.h"

/* The possible kinds of a node's value, found from the table of primitives alone.
 *
 * A set of possible kinds is a mask. The kinds are those of the language, not of the
 * representation: GRID is any rectangle of numbers with at least one cell, however it is stored. An
 * unknown kind can be anything. Results would be right without this file.
 */

#define QN_ARC_IS_NONE  (1u << ARC_NONE)
#define QN_ARC_IS_BOOL  (1u << ARC_BOOL)
#define QN_ARC_IS_INT   (1u << ARC_INT)
#define QN_ARC_IS_PAIR  (1u << ARC_PAIR)  /* two numbers */
#define QN_ARC_IS_CELL  (1u << ARC_CELL)  /* a number and a PAIR */
#define QN_ARC_IS_ROW   (1u << ARC_ROW)   /* numbers, but no PAIR */
#define QN_ARC_IS_GRID  (1u << ARC_GRID)  /* equally long tuples of numbers, at least one cell */
#define QN_ARC_IS_TUPLE (1u << ARC_TUPLE) /* any other tuple */
#define QN_ARC_IS_IDX   (1u << ARC_IDX)   /* set of PAIRs, or empty */
#define QN_ARC_IS_OBJ   (1u << ARC_OBJ)   /* set of CELLs, or empty */
#define QN_ARC_IS_SET   (1u << ARC_SET)   /* any set */
#define QN_ARC_IS_FN    (1u << ARC_PRIM)  /* any function */

#define QN_ARC_IS_NUMBER (QN_ARC_IS_BOOL | QN_ARC_IS_INT)
#define QN_ARC_IS_A_TUPLE                                                                          \
    (QN_ARC_IS_PAIR | QN_ARC_IS_CELL | QN_ARC_IS_ROW | QN_ARC_IS_GRID | QN_ARC_IS_TUPLE)
#define QN_ARC_IS_PATCH    (QN_ARC_IS_IDX | QN_ARC_IS_OBJ)
#define QN_ARC_IS_A_SET    (QN_ARC_IS_PATCH | QN_ARC_IS_SET)
#define QN_ARC_IS_CONT     (QN_ARC_IS_A_TUPLE | QN_ARC_IS_A_SET)
#define QN_ARC_IS_ANYTHING (QN_ARC_IS_NONE | QN_ARC_IS_NUMBER | QN_ARC_IS_CONT | QN_ARC_IS_FN)

typedef struct qn_arc_kinds {
    uint16_t self;
    uint16_t inner; /* of a container's items, or of a function's result */
} qn_arc_kinds;

qn_arc_kinds qn_arc_kinds_of_value(const qn_arc_value *value);

/* The kind that a primitive gives. `args` is NULL if the primitive is used as a value, so that its
 * operands are unknown. */
qn_arc_kinds qn_arc_kinds_given(int op, const qn_arc_kinds *args);

/* Writes the kinds of each node of `dag` to out[0 .. n - 1]. */
void qn_arc_infer(const qn_arc_dag *dag, qn_arc_kinds *out);

/* Whether the operation never fails on operands of these kinds. This does not cover operands that
 * are not ok, or the limits of a device. */
int qn_arc_cannot_fail(int op, const qn_arc_kinds *args, int n_args);

/* The work of a node, in units of a scalar primitive, on a grid of middling size. */
uint32_t qn_arc_node_cost(int op, const qn_arc_kinds *args, int n_args);

/* A program being compiled: its own copy of the nodes. */
typedef struct qn_arc_draft {
    qn_arc_dag dag;      /* records are those of the source */
    qn_arc_kinds *kinds; /* of each node */
    char *is_alive;      /* will become an instruction, or is needed by one */
    int *same;           /* per node: the equal one that replaces it */
} qn_arc_draft;

/* Expands calls of functions whose parts are known. */
qn_status qn_arc_inline(qn_arc_draft *work, qn_err *err);

/* Makes equal operations on equal operands one. Closures are equal only to themselves, so a node
 * that makes some is left alone unless they can only be called. */
qn_status qn_arc_merge(qn_arc_draft *work, qn_err *err);

/* Replaces pairs of operations by one that does the same. Needs kinds. */
qn_status qn_arc_fuse(qn_arc_draft *work, unsigned off, qn_err *err);

typedef enum {
    QN_ARC_KEEP_ALL,
    QN_ARC_KEEP_FAILING, /* nodes with an effect, and those that may fail, which would end the
                          * program */
    QN_ARC_KEEP_USED     /* what outputs and records need */
} qn_arc_keep;

/* Writes instructions, constants and header to out->bytes. */
qn_status qn_arc_emit(const qn_arc_draft *work, const qn_arc_source *source, qn_arc_code *out,
                      qn_err *err);

#endif
