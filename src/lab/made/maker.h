/* maker.h - draws statements; shared by both forms of programs. */
#ifndef QN_LAB_MADE_MAKER_H
#define QN_LAB_MADE_MAKER_H

#include "lab/made/signatures.h"
#include "util/str.h"

#include <stdint.h>

enum { QN_ARC_MOST_ARGS = 5 };

typedef struct qn_arc_maker {
    uint64_t seed, drawn; /* numbers drawn so far */
    unsigned char *types; /* of the variables, which are numbered from 1 */
    int n_variables;
    int is_batt;
    int n_grown, most_grown;
    int input_pct; /* how often the input is chosen where there are other grids */
} qn_arc_maker;

/* An argument: a word of the language, or a variable. */
typedef struct qn_arc_operand {
    const char *word; /* NULL: a variable */
    int variable;
} qn_arc_operand;

typedef struct qn_arc_call {
    const qn_arc_signature *signature;
    qn_arc_operand function; /* what is called */
    qn_arc_operand args[QN_ARC_MOST_ARGS];
    int n_args;
} qn_arc_call;

/* Room for `most` variables; 0 when there is no memory. */
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
