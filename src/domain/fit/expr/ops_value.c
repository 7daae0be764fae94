/* ops_value.c - the value of one operation in double, for literals. */
#include "domain/fit/expr/ops.h"

#define REAL double
#include "kernel/dialect.h"
#include "domain/fit/expr/support.h"

double qn_fit_op_value(qn_fit_opcode op, const double *args)
{
    const real a = args[0];
    const real b = qn_fit_ops[op].arity > 1 ? args[1] : 0;
    const real c = qn_fit_ops[op].arity > 2 ? args[2] : 0;
    const real d = qn_fit_ops[op].arity > 3 ? args[3] : 0;

    (void)b, (void)c, (void)d;
    switch (op) {
#define LEAF(name)
#define OP(name, arity, weight, flags, value, d0, d1, d2, d3)                                      \
    case QN_FIT_OP_##name:                                                                         \
        return value;
#define EIG(name, which)
#define PART(name, member)
#include "domain/fit/expr/ops.def"
    default:
        return NAN;
    }
}
