/* maker.h - types of primitives, and random statements that respect them; for both forms of
 * programs. */
#ifndef QN_LAB_MADE_MAKER_H
#define QN_LAB_MADE_MAKER_H

#include "util/str.h"

#include <stddef.h>
#include <stdint.h>

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
#define QN_ARC_SIG_GROWS 1u /* makes larger values: a program has only a few */
#define QN_ARC_SIG_FAILS 2u /* fails on empty operands, or outside a range */
#define QN_ARC_SIG_BATT  4u /* known only to batt programs */

typedef struct qn_arc_signature {
    const char *op;      /* NULL: the first argument is called with the others */
    const char *first;   /* a primitive given as the first argument, or NULL */
    qn_arc_type args[4]; /* those after `first` */
    qn_arc_type result;
    unsigned flags;
} qn_arc_signature;

const qn_arc_signature *qn_arc_signatures(size_t *n);

/* Constants and primitives of a type, which need no statement. NULL if there are none. */
const char *const *qn_arc_words_of(qn_arc_type type, size_t *n);

/* Drawing (maker.c). */

enum { QN_ARC_MOST_ARGS = 5 };

typedef struct qn_arc_maker {
    uint64_t seed, drawn; /* numbers drawn so far */
    unsigned char *types; /* of the variables, which are numbered from 1 */
    int n_variables;
    int is_batt;
    int n_grown, most_grown;
    int input_pct; /* how often, in percent, the input is chosen although there are other grids */
} qn_arc_maker;

/* An argument: a word of the language, or a variable. */
typedef struct qn_arc_operand {
    const char *word; /* NULL: a variable */
    int variable;
} qn_arc_operand;

typedef struct qn_arc_call {
    const qn_arc_signature *signature;
    qn_arc_operand function; /* the function being called */
    qn_arc_operand args[QN_ARC_MOST_ARGS];
    int n_args;
} qn_arc_call;

/* Allocates `most` variables; returns 0 when out of memory. */
int qn_arc_maker_init(qn_arc_maker *maker, uint64_t seed, int most);
void qn_arc_maker_free(qn_arc_maker *maker);

int qn_arc_maker_below(qn_arc_maker *maker, int n); /* 0 .. n - 1 */
int qn_arc_maker_chance(qn_arc_maker *maker, int pct);

/* Draws a call whose result has the type, or any type for QN_ARC_T_NONE. */
void qn_arc_maker_draw(qn_arc_maker *maker, qn_arc_type result, qn_arc_call *call);

/* Replaces an argument by something of another type. */
void qn_arc_maker_spoil(qn_arc_maker *maker, qn_arc_call *call);

/* The result becomes the next variable. */
int qn_arc_maker_assign(qn_arc_maker *maker, const qn_arc_call *call);

#endif
