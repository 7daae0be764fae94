/* ops.h - the table of operations (ops.def) as numbers and properties. */
#ifndef QN_FIT_EXPR_OPS_H
#define QN_FIT_EXPR_OPS_H

#include <stdint.h>

enum { QN_FIT_MAX_ARGS = 6 };

typedef enum qn_fit_opcode {
#define LEAF(name)                                            QN_FIT_OP_##name,
#define OP(name, arity, weight, flags, value, d0, d1, d2, d3) QN_FIT_OP_##name,
#define EIG(name, which)                                      QN_FIT_OP_##name,
#define PART(name, member)                                    QN_FIT_OP_##name,
#include "domain/fit/expr/ops.def"
#undef LEAF
#undef OP
#undef EIG
#undef PART
    QN_FIT_OP_COUNT
} qn_fit_opcode;

enum {
    QN_FIT_COMM = 1,
    QN_FIT_SING = 2,
    QN_FIT_IS_LEAF = 4,
    QN_FIT_IS_EIG = 8,
    QN_FIT_IS_PART = 16
};

typedef struct qn_fit_op_info {
    const char *name;
    const char *value; /* text over a, b, c, d; NULL for leaves, eigenvalues and their parts */
    uint8_t arity, weight, flags;
} qn_fit_op_info;

extern const qn_fit_op_info qn_fit_ops[QN_FIT_OP_COUNT];

/* The operation of that name, or QN_FIT_OP_COUNT. Leaves, parts and helpers of partials have no
 * public name. */
qn_fit_opcode qn_fit_op_find(const char *name);

static inline int qn_fit_op_has(qn_fit_opcode op, unsigned flag)
{
    return (qn_fit_ops[op].flags & flag) != 0;
}

/* The value of op(args), as the interpreter computes it in double. */
double qn_fit_op_value(qn_fit_opcode op, const double *args);

#endif
