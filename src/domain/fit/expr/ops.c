/* ops.c - the properties of operations, and which of them have a public name. */
#include "domain/fit/expr/ops.h"

#include <string.h>

#define COMM QN_FIT_COMM
#define SING QN_FIT_SING

const qn_fit_op_info qn_fit_ops[QN_FIT_OP_COUNT] = {
#define LEAF(id)                                           { #id, 0, 0, 0, QN_FIT_IS_LEAF },
#define OP(id, arity, weight, flags, text, d0, d1, d2, d3) { #id, #text, arity, weight, flags },
#define EIG(id, which)                                     { #id, 0, 6, 200, QN_FIT_IS_EIG },
#define PART(id, member)                                   { #id, 0, 1, 0, QN_FIT_IS_PART },
#include "domain/fit/expr/ops.def"
};

/* Operations that only partials use. */
static const qn_fit_opcode helpers[] = { QN_FIT_OP_pow_da, QN_FIT_OP_pow_db,    QN_FIT_OP_sign1,
                                         QN_FIT_OP_below,  QN_FIT_OP_gap2,      QN_FIT_OP_tanh_d,
                                         QN_FIT_OP_mulz,   QN_FIT_OP_sigmoid_d, QN_FIT_OP_recip0,
                                         QN_FIT_OP_eig_x,  QN_FIT_OP_eig_y,     QN_FIT_OP_eig_z };

static int is_public(qn_fit_opcode op)
{
    if (qn_fit_op_has(op, QN_FIT_IS_LEAF))
        return 0;
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        if (helpers[i] == op)
            return 0;
    return 1;
}

qn_fit_opcode qn_fit_op_find(const char *name)
{
    for (int op = 0; op < QN_FIT_OP_COUNT; op++)
        if (!strcmp(qn_fit_ops[op].name, name) && is_public((qn_fit_opcode)op))
            return (qn_fit_opcode)op;
    return QN_FIT_OP_COUNT;
}
