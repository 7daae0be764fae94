/* signatures.h - types of primitives, for generated programs. */
#ifndef QN_LAB_MADE_SIGNATURES_H
#define QN_LAB_MADE_SIGNATURES_H

#include <stddef.h>

/* Types of values. A function type names its argument and its result. */
typedef enum qn_arc_type {
    QN_ARC_T_NONE, /* no argument */
    QN_ARC_T_INT,
    QN_ARC_T_SMALL, /* a constant 1 .. 3: factors and counts */
    QN_ARC_T_BOOL,
    QN_ARC_T_PAIR,
    QN_ARC_T_STEP, /* a constant pair: directions */
    QN_ARC_T_GRID,
    QN_ARC_T_IDX,     /* set of pairs */
    QN_ARC_T_OBJ,     /* set of cells */
    QN_ARC_T_OBJECTS, /* set of objects */
    QN_ARC_T_OBJ_TUPLE,
    QN_ARC_T_INT_SET,
    QN_ARC_T_INT_TUPLE,
    QN_ARC_T_GRID_TUPLE,
    QN_ARC_T_CELL,
    QN_ARC_T_PAIR_TUPLE,
    QN_ARC_T_CELL_TUPLE,
    QN_ARC_T_FN_TUPLE, /* of functions from an object to a number */
    QN_ARC_T_SAMPLES,  /* pairs of grids: a batt program's S */
    QN_ARC_T_OBJ_INT,  /* functions from here on */
    QN_ARC_T_OBJ_BOOL,
    QN_ARC_T_OBJ_OBJ,
    QN_ARC_T_OBJ_IDX,
    QN_ARC_T_OBJ_PAIR,
    QN_ARC_T_OBJ_GRID,
    QN_ARC_T_GRID_GRID,
    QN_ARC_T_GRID_INT,
    QN_ARC_T_GRID_INTS,
    QN_ARC_T_INTS_INT,
    QN_ARC_T_INT_INT,
    QN_ARC_T_INT_BOOL,
    QN_ARC_T_PAIR_PAIR,
    QN_ARC_T_PAIR_IDX,
    QN_ARC_T_PAIR_OBJ,
    QN_ARC_N_TYPES
} qn_arc_type;

/* flags */
#define QN_ARC_SIG_GROWS 1u /* makes larger values: a few in a program are enough */
#define QN_ARC_SIG_FAILS 2u /* fails on empty operands, or outside a range */
#define QN_ARC_SIG_BATT  4u /* only batt programs know it */

typedef struct qn_arc_signature {
    const char *op;      /* NULL: the first argument is called with the others */
    const char *first;   /* a primitive given as the first argument, or NULL */
    qn_arc_type args[4]; /* those after `first` */
    qn_arc_type result;
    unsigned flags;
} qn_arc_signature;

const qn_arc_signature *qn_arc_signatures(size_t *n);

/* Names that are values of a type without any statement: constants and primitives. NULL when there
 * are none. */
const char *const *qn_arc_words_of(qn_arc_type type, size_t *n);

#endif
