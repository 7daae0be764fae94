/* normalise.c - rewrites a node while it is created.
 *
 * Every rewrite is exact in IEEE arithmetic, with three deliberate exceptions: x + 0 becomes x even
 * for x = -0, powers by a literal become chains or roots, and the sign of a NaN may change.
 * Negations move outwards, so that entries of a Jacobian which differ only in sign become one node.
 * Nothing is reassociated or distributed, and x * 0 stays, because it may be NaN.
 */
#include "domain/fit/expr/graph.h"

#include <math.h>

#define OPC(name) QN_FIT_OP_##name

static int is_op(const qn_fit_graph *g, qn_fit_v id, qn_fit_opcode op)
{
    return qn_fit_at(g, id)->op == op;
}

static qn_fit_v inner(const qn_fit_graph *g, qn_fit_v id)
{
    return qn_fit_at(g, id)->arg[0];
}

static qn_fit_v negated(qn_fit_graph *g, qn_fit_v a)
{
    return qn_fit_make1(g, OPC(neg), a);
}

static int is_power_of_two(double x)
{
    int e;
    const double m = frexp(x, &e);

    return fabs(m) == 0.5 && e > -1000 && e < 1000;
}

/* The value if all operands are literals, unless it is not finite: that must show at run time. */
static qn_fit_v fold(qn_fit_graph *g, qn_fit_opcode op, const qn_fit_v *args)
{
    double values[QN_FIT_MAX_ARGS];
    double result;

    if (op == OPC(stop) || qn_fit_op_has(op, QN_FIT_IS_EIG | QN_FIT_IS_PART))
        return 0;
    for (int i = 0; i < qn_fit_ops[op].arity; i++) {
        if (!is_op(g, args[i], OPC(lit)))
            return 0;
        values[i] = qn_fit_at(g, args[i])->value;
    }
    result = qn_fit_op_value(op, values);
    return isfinite(result) ? qn_fit_exact(g, result) : 0;
}

static qn_fit_v of_add(qn_fit_graph *g, qn_fit_v a, qn_fit_v b)
{
    if (qn_fit_is_lit(g, a, 0))
        return b;
    if (qn_fit_is_lit(g, b, 0))
        return a;
    if (is_op(g, a, OPC(neg)) && is_op(g, b, OPC(neg)))
        return negated(g, qn_fit_add(g, inner(g, a), inner(g, b)));
    if (is_op(g, a, OPC(neg)))
        return qn_fit_sub(g, b, inner(g, a));
    return is_op(g, b, OPC(neg)) ? qn_fit_sub(g, a, inner(g, b)) : 0;
}

static qn_fit_v of_sub(qn_fit_graph *g, qn_fit_v a, qn_fit_v b)
{
    if (qn_fit_is_lit(g, b, 0))
        return a;
    if (is_op(g, b, OPC(neg)))
        return qn_fit_add(g, a, inner(g, b));
    return is_op(g, a, OPC(neg)) ? negated(g, qn_fit_add(g, inner(g, a), b)) : 0;
}

static qn_fit_v of_mul(qn_fit_graph *g, qn_fit_v a, qn_fit_v b)
{
    if (qn_fit_is_lit(g, a, 1))
        return b;
    if (qn_fit_is_lit(g, b, 1))
        return a;
    if (qn_fit_is_lit(g, a, -1))
        return negated(g, b);
    if (qn_fit_is_lit(g, b, -1))
        return negated(g, a);
    if (is_op(g, a, OPC(neg)))
        return negated(g, qn_fit_mul(g, inner(g, a), b));
    if (is_op(g, b, OPC(neg)))
        return negated(g, qn_fit_mul(g, a, inner(g, b)));
    /* The sign of a literal moves outwards like a negation. */
    for (int i = 0; i < 2; i++) {
        const qn_fit_v l = i ? b : a, x = i ? a : b;

        if (is_op(g, l, OPC(lit)) && qn_fit_at(g, l)->value < 0)
            return negated(g, qn_fit_mul(g, qn_fit_exact(g, -qn_fit_at(g, l)->value), x));
    }
    return a == b ? qn_fit_make1(g, OPC(square), a) : 0;
}

static qn_fit_v of_div(qn_fit_graph *g, qn_fit_v a, qn_fit_v b)
{
    if (qn_fit_is_lit(g, b, 1))
        return a;
    if (qn_fit_is_lit(g, a, 1))
        return qn_fit_make1(g, OPC(recip), b);
    if (is_op(g, a, OPC(neg)))
        return negated(g, qn_fit_div(g, inner(g, a), b));
    if (is_op(g, b, OPC(neg)))
        return negated(g, qn_fit_div(g, a, inner(g, b)));
    if (is_op(g, b, OPC(lit)) && is_power_of_two(qn_fit_at(g, b)->value))
        return qn_fit_mul(g, a, qn_fit_exact(g, 1 / qn_fit_at(g, b)->value));
    return 0;
}

static qn_fit_v of_powi(qn_fit_graph *g, qn_fit_v a, qn_fit_v b)
{
    const double n = qn_fit_at(g, b)->value;

    if (!is_op(g, b, OPC(lit)) || n != rint(n) || fabs(n) > 64) {
        qn_fit_graph_fault(g, QN_ERR_INPUT, "powi needs a literal integer exponent of at most 64");
        return 0;
    }
    switch ((int)n) {
    case 0:
        return qn_fit_exact(g, 1);
    case 1:
        return a;
    case 2:
        return qn_fit_make1(g, OPC(square), a);
    case 3:
        return qn_fit_make1(g, OPC(cube), a);
    case -1:
        return qn_fit_make1(g, OPC(recip), a);
    default:
        return 0;
    }
}

static qn_fit_v of_pow(qn_fit_graph *g, qn_fit_v a, qn_fit_v b)
{
    const double n = qn_fit_at(g, b)->value;

    if (!is_op(g, b, OPC(lit)))
        return 0;
    if (n == 0.5)
        return qn_fit_make1(g, OPC(sqrt), a);
    if (n == -0.5)
        return qn_fit_make1(g, OPC(rsqrt), a);
    return n == rint(n) && fabs(n) <= 64 ? qn_fit_make2(g, OPC(powi), a, b) : 0;
}

static qn_fit_v of_select(qn_fit_graph *g, const qn_fit_v *args)
{
    if (args[1] == args[2])
        return args[1];
    if (is_op(g, args[0], OPC(lit)))
        return qn_fit_at(g, args[0])->value != 0 ? args[1] : args[2];
    return 0;
}

/* Even functions drop a sign, odd ones pass it on. */
static qn_fit_v of_sign(qn_fit_graph *g, qn_fit_opcode op, qn_fit_v a)
{
    if (!is_op(g, a, OPC(neg)))
        return 0;
    switch (op) {
    case OPC(neg):
        return inner(g, a);
    case OPC(square):
    case OPC(abs):
        return qn_fit_make1(g, op, inner(g, a));
    case OPC(recip):
    case OPC(recip0):
    case OPC(cube):
        return negated(g, qn_fit_make1(g, op, inner(g, a)));
    default:
        return 0;
    }
}

static qn_fit_v rewritten(qn_fit_graph *g, qn_fit_opcode op, const qn_fit_v *args)
{
    switch (op) {
    case OPC(add):
        return of_add(g, args[0], args[1]);
    case OPC(sub):
        return of_sub(g, args[0], args[1]);
    case OPC(mul):
        return of_mul(g, args[0], args[1]);
    case OPC(div):
        return of_div(g, args[0], args[1]);
    case OPC(powi):
        return of_powi(g, args[0], args[1]);
    case OPC(pow):
        return of_pow(g, args[0], args[1]);
    case OPC(select):
        return of_select(g, args);
    case OPC(mulz):
        if (qn_fit_is_lit(g, args[0], 0))
            return args[0];
        return is_op(g, args[1], OPC(lit)) ? qn_fit_mul(g, args[0], args[1]) : 0;
    default:
        return qn_fit_ops[op].arity == 1 ? of_sign(g, op, args[0]) : 0;
    }
}

qn_fit_v qn_fit_normalise(qn_fit_graph *graph, qn_fit_opcode *op, qn_fit_v *args)
{
    qn_fit_v found = fold(graph, *op, args);

    if (!found && graph->err.status == QN_OK)
        found = rewritten(graph, *op, args);
    if (!found && qn_fit_op_has(*op, QN_FIT_COMM)) {
        const uint64_t a = qn_fit_at(graph, args[0])->shape, b = qn_fit_at(graph, args[1])->shape;

        if (a > b || (a == b && args[0] > args[1])) {
            const qn_fit_v first = args[0];

            args[0] = args[1];
            args[1] = first;
        }
    }
    return found;
}
