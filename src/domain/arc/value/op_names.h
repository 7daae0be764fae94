/* op_names.h - numbers in values as names: primitives, forms of closures, error codes. */
#ifndef QN_ARC_OP_NAMES_H
#define QN_ARC_OP_NAMES_H

/* The name of an opcode below ARC_N_OPS, else "?"; its number of arguments, else -1. */
const char *qn_arc_op_name(int op);
int qn_arc_op_arity(int op);

/* "EMPTY" of ARC_E_EMPTY; "?" of a number that is no code. */
const char *qn_arc_code_name(int code);

/* Whether the code means that more room, or the CPU, may help. */
int qn_arc_code_is_limit(int code);

/* "compose" of ARC_FORM_COMPOSE, which is also the primitive that makes such closures. */
const char *qn_arc_form_name(int form);

#endif
