/* fit_dual.h - values and derivatives of graphs by dual numbers, with independent rules. */
#ifndef QN_TESTS_FIT_DUAL_H
#define QN_TESTS_FIT_DUAL_H

#include "domain/fit/expr/graph.h"

#include <math.h>
#include <string.h>

enum { DUAL_INPUTS = 6 };

typedef struct {
    double v, d[DUAL_INPUTS];
} dual;

/* Eigenvalue number `which` of a symmetric matrix, by rotations, and its derivatives in the six
 * numbers. */
static inline double dual_eigen(const double *c, int which, double *p)
{
    double m[3][3] = { { c[0], c[1], c[2] }, { c[1], c[3], c[4] }, { c[2], c[4], c[5] } };
    double q[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    int order[3] = { 0, 1, 2 };

    for (int sweep = 0; sweep < 40; sweep++)
        for (int i = 0; i < 2; i++)
            for (int j = i + 1; j < 3; j++) {
                const double angle = 0.5 * atan2(2 * m[i][j], m[j][j] - m[i][i]);
                const double co = cos(angle), si = sin(angle);

                for (int k = 0; k < 3; k++) {
                    const double a = m[k][i], b = m[k][j], u = q[k][i], w = q[k][j];

                    m[k][i] = co * a - si * b;
                    m[k][j] = si * a + co * b;
                    q[k][i] = co * u - si * w;
                    q[k][j] = si * u + co * w;
                }
                for (int k = 0; k < 3; k++) {
                    const double a = m[i][k], b = m[j][k];

                    m[i][k] = co * a - si * b;
                    m[j][k] = si * a + co * b;
                }
            }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (m[order[j]][order[j]] > m[order[j + 1]][order[j + 1]]) {
                const int was = order[j];

                order[j] = order[j + 1];
                order[j + 1] = was;
            }
    const int k = order[which];
    const double x = q[0][k], y = q[1][k], z = q[2][k];

    p[0] = x * x;
    p[1] = 2 * x * y;
    p[2] = 2 * x * z;
    p[3] = y * y;
    p[4] = 2 * y * z;
    p[5] = z * z;
    return m[k][k];
}

static inline double dual_length(const double *a, int n, double *p)
{
    double sum = 0;

    for (int k = 0; k < n; k++)
        sum += a[k] * a[k];
    for (int k = 0; k < n; k++)
        p[k] = sum > 0 ? a[k] / sqrt(sum) : 0;
    return sqrt(sum);
}

/* op(a) and its partials p; *is_known = 0 if there is no rule. */
static inline double dual_rule(const char *op, const double *a, double *p, int *is_known)
{
#define RULE(name, value, ...)                                                                     \
    if (!strcmp(op, name)) {                                                                       \
        const double v = (value), partials[] = { __VA_ARGS__ };                                    \
                                                                                                   \
        (void)v;                                                                                   \
        memcpy(p, partials, sizeof partials);                                                      \
        return v;                                                                                  \
    }
    const double x = a[0], y = a[1], z = a[2];
    const double s = 1 / (1 + exp(-x)), r2 = x * x + y * y;

    memset(p, 0, 6 * sizeof *p);
    *is_known = 1;
    RULE("add", x + y, 1, 1)
    RULE("sub", x - y, 1, -1)
    RULE("mul", x * y, y, x)
    RULE("div", x / y, 1 / y, -x / (y * y))
    RULE("neg", -x, -1)
    RULE("fma", x * y + z, y, x, 1)
    RULE("square", x * x, 2 * x)
    RULE("cube", x * x * x, 3 * x * x)
    RULE("recip", 1 / x, -1 / (x * x))
    RULE("powi", pow(x, y), y * pow(x, y - 1), 0)
    RULE("pow", pow(x, y), y * pow(x, y - 1), v * log(x))
    RULE("mod", fmod(x, y), 1, -trunc(x / y))
    RULE("abs", fabs(x), x >= 0 ? 1 : -1)
    RULE("sign", (x > 0) - (x < 0), 0)
    RULE("min", x < y ? x : y, x < y ? 1 : x == y ? 0.5 : 0, y < x ? 1 : x == y ? 0.5 : 0)
    RULE("max", x > y ? x : y, x > y ? 1 : x == y ? 0.5 : 0, y > x ? 1 : x == y ? 0.5 : 0)
    RULE("clamp", fmax(y, fmin(x, z)), y < x && x < z, x <= y, x >= z && !(x <= y))
    RULE("floor", floor(x), 0)
    RULE("ceil", ceil(x), 0)
    RULE("trunc", trunc(x), 0)
    RULE("round", rint(x), 0)
    RULE("hypot", hypot(x, y), v > 0 ? x / v : 0, v > 0 ? y / v : 0)
    RULE("stop", x, 0)
    RULE("sqrt", sqrt(x), 0.5 / v)
    RULE("rsqrt", 1 / sqrt(x), -0.5 * v / x)
    RULE("cbrt", cbrt(x), v / (3 * x))
    RULE("exp", exp(x), v)
    RULE("exp2", exp2(x), v * log(2))
    RULE("expm1", expm1(x), v + 1)
    RULE("log", log(x), 1 / x)
    RULE("log2", log2(x), 1 / (x * log(2)))
    RULE("log10", log10(x), 1 / (x * log(10)))
    RULE("log1p", log1p(x), 1 / (1 + x))
    RULE("sin", sin(x), cos(x))
    RULE("cos", cos(x), -sin(x))
    RULE("tan", tan(x), 1 / (cos(x) * cos(x)))
    RULE("asin", asin(x), 1 / sqrt(1 - x * x))
    RULE("acos", acos(x), -1 / sqrt(1 - x * x))
    RULE("atan", atan(x), 1 / (1 + x * x))
    RULE("atan2", r2 > 0 ? atan2(x, y) : 0, r2 > 0 ? y / r2 : 0, r2 > 0 ? -x / r2 : 0)
    RULE("sinh", sinh(x), cosh(x))
    RULE("cosh", cosh(x), sinh(x))
    RULE("tanh", tanh(x), 1 / (cosh(x) * cosh(x)))
    RULE("asinh", asinh(x), 1 / sqrt(x * x + 1))
    RULE("acosh", acosh(x), 1 / sqrt(x * x - 1))
    RULE("atanh", atanh(x), 1 / (1 - x * x))
    RULE("erf", erf(x), 2 / sqrt(acos(-1)) * exp(-x * x))
    RULE("relu", x > 0 ? x : 0, x > 0)
    RULE("sigmoid", s, s * (1 - s))
    RULE("softplus", log1p(exp(-fabs(x))) + fmax(x, 0), s)
    RULE("eq", x == y, 0)
    RULE("ne", x != y, 0)
    RULE("lt", x < y, 0)
    RULE("le", x <= y, 0)
    RULE("gt", x > y, 0)
    RULE("ge", x >= y, 0)
    RULE("and", x != 0 && y != 0, 0)
    RULE("or", x != 0 || y != 0, 0)
    RULE("not", x == 0, 0)
    RULE("select", x != 0 ? y : z, 0, x != 0, x == 0)
    RULE("sqrt_safe", sqrt(fmax(x, y)), x > y ? 0.5 / v : 0)
    RULE("log_safe", log(fmax(x, y)), x > y ? 1 / x : 0)
    RULE("recip_safe", 1 / (fabs(x) >= y ? x : x < 0 ? -y : y), fabs(x) >= y ? -v * v : 0)
    RULE("div_safe",
         x / (fabs(y) >= z ? y
              : y < 0      ? -z
                           : z),
         1 / (fabs(y) >= z ? y
              : y < 0      ? -z
                           : z),
         fabs(y) >= z ? -x / (y * y) : 0)
    RULE("acos_safe", acos(fmax(-y, fmin(x, y))), fabs(x) < y ? -1 / sqrt(1 - x * x) : 0)
    RULE("asin_safe", asin(fmax(-y, fmin(x, y))), fabs(x) < y ? 1 / sqrt(1 - x * x) : 0)
#undef RULE
    if (!strncmp(op, "length", 6))
        return dual_length(a, op[6] - '0', p);
    if (!strncmp(op, "eig3_m", 6))
        return dual_eigen(a, !strcmp(op, "eig3_min") ? 0 : !strcmp(op, "eig3_mid") ? 1 : 2, p);
    *is_known = 0;
    return NAN;
}

/* Evaluates every node of a finished graph at one point; component c of canonical slot s is input
 * slots[s] * 3 + c. `used` counts operations. Returns the name of one without a rule, or NULL. */
static inline const char *dual_run(const qn_fit_graph *g, const double *x, dual *node, int *used)
{
    for (qn_fit_v id = 1; id < g->n_nodes; id++) {
        const qn_fit_node *n = qn_fit_at(g, id);
        double a[QN_FIT_MAX_ARGS] = { 0 }, p[QN_FIT_MAX_ARGS];
        int is_known = 1;

        node[id] = (dual){ 0 };
        if (n->op == QN_FIT_OP_lit) {
            node[id].v = n->value;
        } else if (n->op == QN_FIT_OP_param) {
            const int input = qn_fit_graph_slot(g, (int)n->slot) * 3 + (int)n->comp;

            node[id].v = x[input];
            node[id].d[input] = 1;
        } else {
            for (int i = 0; i < n->n_args; i++)
                a[i] = node[n->arg[i]].v;
            node[id].v = dual_rule(qn_fit_ops[n->op].name, a, p, &is_known);
            if (!is_known)
                return qn_fit_ops[n->op].name;
            used[n->op]++;
            for (int i = 0; i < n->n_args; i++)
                for (int k = 0; k < DUAL_INPUTS; k++)
                    if (p[i] != 0 && node[n->arg[i]].d[k] != 0)
                        node[id].d[k] += p[i] * node[n->arg[i]].d[k];
        }
    }
    return NULL;
}

#endif
