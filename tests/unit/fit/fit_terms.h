/* fit_terms.h - short names for writing residuals of test problems as graphs, and a problem of one
 * group from them. */
#ifndef QN_TESTS_FIT_TERMS_H
#define QN_TESTS_FIT_TERMS_H

#include "golden.h"

#include <math.h>
#include <quern/fit.h>

#include "domain/fit/solve/solver.h"

typedef qn_fit_v v;

static qn_fit_graph *G; /* the graph under construction */

/* A golden file whose root is a list. */
static inline json_t *golden_list(const char *name)
{
    json_error_t error;
    json_t *list = json_load_file(golden_path(name), 0, &error);

    if (!json_is_array(list))
        fail_msg("%s: %s", name, error.text);
    return list;
}

static inline v lit(double c)
{
    return qn_fit_lit(G, c);
}

/* Parameters and columns count from 1, as in the literature. */
static inline v X(int k)
{
    return qn_fit_param(G, 0, k - 1);
}

static inline v col(int k)
{
    return qn_fit_data(G, k);
}

static inline v add(v a, v b)
{
    return qn_fit_add(G, a, b);
}

static inline v sub(v a, v b)
{
    return qn_fit_sub(G, a, b);
}

static inline v mul(v a, v b)
{
    return qn_fit_mul(G, a, b);
}

static inline v dvd(v a, v b)
{
    return qn_fit_div(G, a, b);
}

static inline v neg(v a)
{
    return qn_fit_neg(G, a);
}

static inline v fun(const char *name, v a)
{
    return qn_fit_op(G, name, (const v[]){ a }, 1);
}

static inline v fun2(const char *name, v a, v b)
{
    return qn_fit_op(G, name, (const v[]){ a, b }, 2);
}

static inline v by(double c, v a) /* c a */
{
    return mul(lit(c), a);
}

static inline v plus(v a, double c)
{
    return add(a, lit(c));
}

static inline v sq(v a)
{
    return fun("square", a);
}

static inline v ex(v a)
{
    return fun("exp", a);
}

static inline v power(v a, int n)
{
    v out = n ? a : lit(1);

    for (int k = 1; k < n; k++)
        out = mul(out, a);
    return out;
}

static inline void row(v a)
{
    qn_fit_output(G, a);
}

static inline void begin(const char *name)
{
    if (qn_fit_graph_new(name, QN_FIT_TEMPLATE, &G, NULL) != QN_OK)
        fail_msg("a graph of %s", name);
}

/* The finished problem of one block with `n` parameters and `rows` instances of G. */
static inline qn_fit_problem *one_group(int n, const double *start, uint32_t rows, int n_cols,
                                        const double *const *cols, qn_fit_loss loss,
                                        const double *lower, const double *upper)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    uint32_t *blocks = calloc(rows, sizeof *blocks);
    const uint32_t *slot_block[] = { blocks };
    int set;

    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "b", 1, (uint32_t)n, start, &set, &err), &err);
    if (lower)
        must_ok(qn_fit_problem_bound(p, set, lower, upper, &err), &err);
    must_ok(qn_fit_problem_add_group(p,
                                     &(qn_fit_group_spec){ .name = "r",
                                                           .graph = G,
                                                           .n = rows,
                                                           .n_slots = 1,
                                                           .n_columns = n_cols,
                                                           .slot_set = &set,
                                                           .slot_block = slot_block,
                                                           .columns = cols,
                                                           .loss = loss },
                                     &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    free(blocks);
    return p;
}

#endif
