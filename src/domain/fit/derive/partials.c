/* partials.c - the partials of ops.def as nodes. */
#include "domain/fit/derive/derive.h"

/* The names that ops.def uses. */
#define NO              0
#define LIT(x)          qn_fit_exact(g, x)
#define OP1(name, x)    qn_fit_make1(g, QN_FIT_OP_##name, x)
#define OP2(name, x, y) qn_fit_make2(g, QN_FIT_OP_##name, x, y)
#define ADD(x, y)       OP2(add, x, y)
#define SUB(x, y)       OP2(sub, x, y)
#define MUL(x, y)       OP2(mul, x, y)
#define DIV(x, y)       OP2(div, x, y)
#define NEG(x)          OP1(neg, x)
#define SQUARE(x)       OP1(square, x)
#define RECIP(x)        OP1(recip, x)
#define RECIP0(x)       OP1(recip0, x)
#define RSQRT(x)        OP1(rsqrt, x)
#define POW(x, y)       OP2(pow, x, y)
#define POWI(x, y)      OP2(powi, x, y)
#define EQ(x, y)        OP2(eq, x, y)
#define LT(x, y)        OP2(lt, x, y)
#define LE(x, y)        OP2(le, x, y)
#define AND(x, y)       OP2(and, x, y)
#define NOT(x)          OP1(not, x)
#define SELECT(c, x, y) qn_fit_make3(g, QN_FIT_OP_select, c, x, y)

/* dl/dc_ii = v_i^2, dl/dc_ij = 2 v_i v_j. */
static qn_fit_v eigen_partial(qn_fit_graph *g, qn_fit_v id, int i)
{
    static const int row[] = { 0, 0, 0, 1, 1, 2 }, col[] = { 0, 1, 2, 1, 2, 2 };
    const qn_fit_v v[] = { OP1(eig_x, id), OP1(eig_y, id), OP1(eig_z, id) };

    if (row[i] == col[i])
        return SQUARE(v[row[i]]);
    return MUL(LIT(2), MUL(v[row[i]], v[col[i]]));
}

/* `V` and the arguments are copied, because nodes move when the graph grows. */
qn_fit_v qn_fit_partial(qn_fit_graph *g, qn_fit_v id, int i)
{
    const qn_fit_node n = *qn_fit_at(g, id);
    const qn_fit_v A = n.arg[0], B = n.arg[1], C = n.arg[2], D = n.arg[3], V = id;

    (void)D;
    switch (n.op) {
#define LEAF(name)
#define OP(name, arity, weight, flags, value, d0, d1, d2, d3)                                      \
    case QN_FIT_OP_##name:                                                                         \
        return i == 0 ? (d0) : i == 1 ? (d1) : i == 2 ? (d2) : (d3);
#define EIG(name, which)                                                                           \
    case QN_FIT_OP_##name:                                                                         \
        return eigen_partial(g, id, i);
#define PART(name, member)
#include "domain/fit/expr/ops.def"
    default:
        qn_fit_graph_fault(g, QN_ERR_UNSUPPORTED, "%s has no derivative", qn_fit_ops[n.op].name);
        return 0;
    }
}
