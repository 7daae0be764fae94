/* graph64.c - a term of 64 scalar operations on 8 inputs with one output, which computes more than
 * it reads. */
#include "lab/fit/bench/cases.h"

#include "util/hash.h"

#include <quern/fit.h>

#include <stdlib.h>

enum { N_INPUTS = 8 };

typedef qn_fit_graph *graph;
typedef qn_fit_v node;

static node add(graph g, node a, node b)
{
    return qn_fit_add(g, a, b);
}
static node sub(graph g, node a, node b)
{
    return qn_fit_sub(g, a, b);
}
static node mul(graph g, node a, node b)
{
    return qn_fit_mul(g, a, b);
}
static node quot(graph g, node a, node b)
{
    return qn_fit_div(g, a, b);
}
static node lit(graph g, double c)
{
    return qn_fit_lit(g, c);
}
static node of(graph g, const char *op, node a)
{
    return qn_fit_op(g, op, &a, 1);
}

/* The values that the second half begins with. */
typedef struct {
    node q, r, m, y1, y5, y7;
} middle;

static middle first_half(graph g, const node *in)
{
    const node s = add(g, mul(g, in[0], in[1]), mul(g, in[2], in[3]));
    const node u = sub(g, mul(g, in[4], in[5]), mul(g, in[6], in[7]));
    const node w = of(g, "sin", mul(g, s, u)), z = of(g, "cos", add(g, s, u));
    const node half = mul(g, mul(g, w, z), lit(g, 0.5)), rest = sub(g, add(g, w, z), half);
    const node m = of(g, "sqrt", add(g, add(g, mul(g, half, half), mul(g, rest, rest)), lit(g, 1)));
    const node q = quot(g, half, m), r = quot(g, rest, m);
    const node y1 = add(g, mul(g, in[0], q), mul(g, in[1], r));
    const node y2 = sub(g, mul(g, in[2], q), mul(g, in[3], r));
    const node y4 = sub(g, y1, y2);
    const node y5 = of(g, "exp", mul(g, lit(g, -0.1), mul(g, y4, y4)));
    const node y7 = of(g, "tanh", mul(g, mul(g, y1, y2), y5));

    return (middle){ q, r, m, y1, y5, y7 };
}

static node second_half(graph g, const node *in, middle v)
{
    const node y10 = sub(g, mul(g, add(g, v.y7, in[4]), in[5]), in[6]);
    const node y12 = add(g, mul(g, y10, in[7]), v.y1);
    const node y14 = add(g, mul(g, y12, y12), lit(g, 1)), y15 = of(g, "log", y14);
    const node y19 = sub(g, mul(g, add(g, mul(g, y15, v.y7), v.m), v.q), v.r);
    const node y20 = of(g, "atan", y19), y22 = add(g, mul(g, y20, in[0]), in[1]);
    const node y26 = add(g, mul(g, sub(g, mul(g, y22, in[2]), in[3]), in[4]), in[5]);
    const node y28 = of(g, "sin", mul(g, y26, lit(g, 0.25)));
    const node y30 = add(g, mul(g, y28, y28), y20);
    const node y32 = add(g, quot(g, y30, add(g, y14, lit(g, 1))), v.y5);

    return sub(g, add(g, mul(g, y32, v.y7), y15), lit(g, 0.5));
}

qn_status qn_fit_case_graph64(uint32_t n, qn_fit_problem **out, qn_err *err)
{
    const uint32_t *blocks[1] = { NULL };
    uint32_t *own = malloc((size_t)n * sizeof *own);
    double *inputs = malloc((size_t)n * N_INPUTS * sizeof *inputs);
    qn_fit_problem *p = NULL;
    qn_fit_graph *g = NULL;
    node in[N_INPUTS];
    qn_status st = QN_OK;
    int set = 0;

    if (!own || !inputs) {
        st = qn_fail(err, QN_ERR_NOMEM, "%u instances of 8 inputs", n);
        goto out;
    }
    for (uint32_t i = 0; i < n; i++)
        own[i] = i;
    for (size_t k = 0; k < (size_t)n * N_INPUTS; k++)
        inputs[k] = qn_random_float(1, k);
    blocks[0] = own;
    QN_TRY(qn_fit_problem_new(&p, err));
    QN_TRY(qn_fit_problem_add_set(p, "p", n, N_INPUTS, inputs, &set, err));
    QN_TRY(qn_fit_graph_new("graph64", QN_FIT_TEMPLATE, &g, err));
    qn_fit_params(g, 0, N_INPUTS, in);
    qn_fit_output(g, second_half(g, in, first_half(g, in)));
    QN_TRY(qn_fit_problem_add_group(p,
                                    &(qn_fit_group_spec){ .name = "graph64",
                                                          .graph = g,
                                                          .n = n,
                                                          .n_slots = 1,
                                                          .slot_set = &set,
                                                          .slot_block = blocks },
                                    err));
    QN_TRY(qn_fit_problem_finish(p, err));
    *out = p;
    p = NULL;
out:
    qn_fit_problem_free(p);
    free(own);
    free(inputs);
    return st;
}
