/* fit_random.h - random expressions over two blocks of three parameters. */
#ifndef QN_TESTS_FIT_RANDOM_H
#define QN_TESTS_FIT_RANDOM_H

#include "fit_golden.h"

#define CALL1(name, a)    qn_fit_op(g, name, (const qn_fit_v[]){ a }, 1)
#define CALL2(name, a, b) qn_fit_op(g, name, (const qn_fit_v[]){ a, b }, 2)
#define CALL3(n, a, b, c) qn_fit_op(g, n, (const qn_fit_v[]){ a, b, c }, 3)

static inline qn_fit_graph *fit_begin(void)
{
    qn_fit_graph *g = NULL;

    assert_int_equal(qn_fit_graph_new("test", QN_FIT_TEMPLATE, &g, NULL), QN_OK);
    return g;
}

static inline void fit_end(qn_fit_graph *g)
{
    qn_err err = { .text = "" };

    must_ok(qn_fit_graph_finish(g, &err), &err);
}

enum { N_INPUTS = 6, N_POINTS = 16 };

static const char *const smooth1[] = { "neg",   "square", "sin",  "cos",      "exp",     "atan",
                                       "tanh",  "sinh",   "erf",  "asinh",    "sigmoid", "softplus",
                                       "expm1", "cosh",   "cube", "log1p_sq", "sqrt_sq" };
static const char *const smooth2[] = { "add", "sub", "mul", "hypot1", "atan2_1", "div_1" };
static const char *const kinked1[] = { "abs",   "relu",  "sign", "floor", "sqrt",
                                       "log",   "recip", "cbrt", "rsqrt", "acos",
                                       "atanh", "round", "tan",  "log2",  "exp2" };
static const char *const kinked2[] = { "min", "max", "div", "pow", "atan2", "mod", "lt", "ge" };

/* Some names are safe combinations of operations. */
static inline qn_fit_v fit_apply(qn_fit_graph *g, const char *name, qn_fit_v a, qn_fit_v b)
{
    const qn_fit_v one = qn_fit_lit(g, 1), square = qn_fit_mul(g, b, b);

    if (!strcmp(name, "log1p_sq"))
        return CALL1("log1p", qn_fit_mul(g, a, a));
    if (!strcmp(name, "sqrt_sq"))
        return CALL1("sqrt", qn_fit_add(g, one, qn_fit_mul(g, a, a)));
    if (!strcmp(name, "hypot1"))
        return CALL2("hypot", a, qn_fit_add(g, one, square));
    if (!strcmp(name, "atan2_1"))
        return CALL2("atan2", a, qn_fit_add(g, one, square));
    if (!strcmp(name, "div_1"))
        return qn_fit_div(g, a, qn_fit_add(g, one, square));
    return qn_fit_function_find(name)->max_args == 1 ? CALL1(name, a) : CALL2(name, a, b);
}

static inline unsigned fit_pick_one(uint64_t seed, uint64_t *at, unsigned n)
{
    return (unsigned)(qn_random_u64(seed, (*at)++) >> 33) % n;
}

#define COUNT(list) (unsigned)(sizeof list / sizeof *list)

static inline qn_fit_graph *fit_random_graph(uint64_t seed, int is_smooth, int n_outputs)
{
    qn_fit_graph *g = fit_begin();
    qn_fit_v pool[128];
    uint64_t at = 0;
    unsigned n = N_INPUTS;
    const unsigned n_nodes = N_INPUTS + 5 + fit_pick_one(seed, &at, 60);

    for (unsigned k = 0; k < N_INPUTS; k++)
        pool[k] = qn_fit_param(g, (int)(k / 3), (int)(k % 3));
    while (n < n_nodes) {
        const qn_fit_v a = pool[fit_pick_one(seed, &at, n)], b = pool[fit_pick_one(seed, &at, n)];
        const unsigned kind = fit_pick_one(seed, &at, is_smooth ? 4 : 8);
        const char *name = kind < 2   ? smooth2[fit_pick_one(seed, &at, COUNT(smooth2))]
                           : kind < 4 ? smooth1[fit_pick_one(seed, &at, COUNT(smooth1))]
                           : kind < 6 ? kinked1[fit_pick_one(seed, &at, COUNT(kinked1))]
                                      : kinked2[fit_pick_one(seed, &at, COUNT(kinked2))];
        qn_fit_v node = fit_apply(g, name, a, b);

        if (!is_smooth && fit_pick_one(seed, &at, 6) == 0)
            node = CALL3("select", a, node, b);
        /* Keeps sizes moderate: tanh of every third value. */
        pool[n++] = fit_pick_one(seed, &at, 3) ? node : CALL1("tanh", node);
    }
    for (int k = 0; k < n_outputs; k++)
        qn_fit_output(g, pool[n - 1 - (unsigned)k]);
    fit_end(g);
    return g;
}

static inline void fit_points(uint64_t seed, double *x, uint32_t *idx)
{
    for (int k = 0; k < N_POINTS * N_INPUTS; k++)
        x[k] = 1.5 * (double)qn_random_float(seed + 1000, (uint64_t)k);
    for (int slot = 0; slot < 2; slot++)
        for (int i = 0; i < N_POINTS; i++)
            idx[slot * N_POINTS + i] = (uint32_t)(i * N_INPUTS + 3 * slot);
}

/* idx rows in the order of canonical slots */
static inline void fit_bind(const qn_fit_graph *g, const uint32_t *idx, uint32_t *bound)
{
    for (int s = 0; s < qn_fit_graph_n_slots(g); s++)
        memcpy(bound + s * N_POINTS, idx + qn_fit_graph_slot(g, s) * N_POINTS,
               N_POINTS * sizeof *idx);
}

static inline double *fit_run_at(const qn_fit_tape *p, const qn_fit_graph *g, const double *x,
                                 const uint32_t *idx)
{
    uint32_t bound[2 * N_POINTS];

    fit_bind(g, idx, bound);
    return fit_run(p, QN_FIT_F64, 0, x, N_POINTS * N_INPUTS, bound, N_POINTS, NULL);
}

#endif
