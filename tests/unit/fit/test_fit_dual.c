/* test_fit_dual.c - ten thousand random graphs of all operations compared with dual numbers. */
#include "fit_random.h"

#include "fit_dual.h"

/* Graphs with forward and reverse sweeps alternately; most are short, every fiftieth has 200
 * nodes. */
enum { FIRST = 1, LAST = 10000, MOST = 200, ROOM = 20 * MOST };

static qn_fit_v times(qn_fit_graph *g, double by, qn_fit_v a)
{
    return qn_fit_mul(g, qn_fit_lit(g, by), a);
}

static qn_fit_v above(qn_fit_graph *g, double least, qn_fit_v a)
{
    return qn_fit_add(g, qn_fit_lit(g, least), qn_fit_mul(g, a, a));
}

static int is_among(const char *name, const char *list)
{
    const size_t n = strlen(name);

    for (const char *c = list; (c = strstr(c, name)); c += n)
        if ((c == list || c[-1] == ' ') && (c[n] == ' ' || !c[n]))
            return 1;
    return 0;
}

/* Arguments moved to a range where the operation is smooth and of moderate size. */
static void into_domain(qn_fit_graph *g, const char *op, qn_fit_v *a)
{
    if (is_among(op, "asin acos atanh asin_safe acos_safe tan"))
        a[0] = times(g, 0.9, CALL1("tanh", a[0]));
    if (is_among(op, "exp exp2 expm1 sinh cosh cube square powi"))
        a[0] = times(g, 2, CALL1("tanh", a[0]));
    if (is_among(op, "sqrt rsqrt log log2 log10 log1p cbrt recip pow powi"))
        a[0] = above(g, 0.2, a[0]);
    if (is_among(op, "acosh"))
        a[0] = above(g, 1.2, a[0]);
    if (is_among(op, "div mod"))
        a[1] = above(g, 0.5, a[1]);
    if (is_among(op, "pow"))
        a[1] = CALL1("tanh", a[1]);
    if (is_among(op, "powi"))
        a[1] = qn_fit_lit(g, 5);
    if (is_among(op, "sqrt_safe log_safe recip_safe"))
        a[1] = qn_fit_lit(g, 0.25);
    if (is_among(op, "acos_safe asin_safe"))
        a[1] = qn_fit_lit(g, 0.75);
    if (is_among(op, "div_safe"))
        a[2] = qn_fit_lit(g, 0.25);
    /* Well separated eigenvalues. */
    for (int k = 0; !strncmp(op, "eig3_", 5) && k < 6; k++) {
        a[k] = times(g, k == 0 || k == 3 || k == 5 ? 1 : 0.3, CALL1("tanh", a[k]));
        if (k == 0 || k == 5)
            a[k] = qn_fit_add(g, a[k], qn_fit_lit(g, k ? -3 : 3));
    }
}

static int is_user_op(int op)
{
    return !qn_fit_op_has((qn_fit_opcode)op, QN_FIT_IS_LEAF | QN_FIT_IS_PART) &&
           qn_fit_op_find(qn_fit_ops[op].name) != QN_FIT_OP_COUNT;
}

static qn_fit_graph *graph_of_all(uint64_t seed)
{
    qn_fit_graph *g = fit_begin();
    qn_fit_v pool[MOST];
    uint64_t at = 0;
    unsigned n = N_INPUTS;
    const unsigned most = N_INPUTS + 1 + fit_pick_one(seed, &at, seed % 50 ? 20 : 150);

    for (unsigned k = 0; k < N_INPUTS; k++)
        pool[k] = qn_fit_param(g, (int)(k / 3), (int)(k % 3));
    while (n < most) {
        const int op = (int)fit_pick_one(seed, &at, QN_FIT_OP_COUNT);
        const char *name = qn_fit_ops[op].name;
        qn_fit_v a[QN_FIT_MAX_ARGS];

        if (!is_user_op(op))
            continue;
        for (int k = 0; k < qn_fit_ops[op].arity; k++)
            a[k] = pool[fit_pick_one(seed, &at, n)];
        into_domain(g, name, a);
        pool[n] = qn_fit_op(g, name, a, qn_fit_ops[op].arity);
        /* Keeps sizes moderate. */
        if (fit_pick_one(seed, &at, 3) == 0)
            pool[n] = CALL1("atan", pool[n]);
        n++;
    }
    /* A long graph is one whose output needs most of it. */
    if (seed % 50 == 0)
        qn_fit_output(g, qn_fit_sum(g, pool + N_INPUTS, (int)(n - N_INPUTS)));
    for (unsigned k = 0; seed % 50 && k < 1 + seed % 3; k++)
        qn_fit_output(g, pool[n - 1 - k]);
    fit_end(g);
    return g;
}

/* Column of input `input` in the entries of a row, or -1. */
static int variable_of(const qn_fit_tape *p, const qn_fit_graph *g, int input)
{
    for (int v = 0; v < p->n_variables; v++)
        if (qn_fit_graph_slot(g, (int)p->variables[v].slot) * 3 + (int)p->variables[v].comp ==
            input)
            return v;
    return -1;
}

static int is_near(double got, double want)
{
    return fabs(got - want) <= 1e-8 * fmax(1, fabs(want));
}

/* Returns the number of compared values; those that are too large are left out. */
static int compare_point(uint64_t seed, const qn_fit_graph *g, const qn_fit_tape *p,
                         const double *out, int i, const dual *node)
{
    int n = 0;

    for (int row = 0; row < g->n_outputs; row++) {
        const dual *want = &node[g->outputs[row]];

        for (int k = -1; k < DUAL_INPUTS; k++) {
            const int v = k < 0 ? 0 : variable_of(p, g, k);
            const double expected = k < 0 ? want->v : want->d[k];
            double got = 0;

            if (k < 0)
                got = out[(p->sections[QN_FIT_RES].first + row) * N_POINTS + i];
            else if (v >= 0)
                got = fit_entry(p, QN_FIT_JAC, out, N_POINTS, i, row * p->n_variables + v);
            if (!isfinite(expected) || fabs(expected) > 1e6)
                continue;
            n++;
            if (!is_near(got, expected))
                fail_msg("seed %d, row %d, %s %d: %.17g, by dual numbers %.17g", (int)seed, row,
                         k < 0 ? "value" : "derivative", k, got, expected);
        }
    }
    return n;
}

static void random_graphs_agree_with_dual_numbers(void **state)
{
    static dual node[ROOM];
    double x[N_POINTS * N_INPUTS];
    uint32_t idx[2 * N_POINTS];
    int used[QN_FIT_OP_COUNT] = { 0 }, n = 0, most_nodes = 0;

    (void)state;
    for (uint64_t seed = FIRST; seed <= LAST; seed++) {
        qn_fit_graph *g = graph_of_all(seed);
        qn_fit_tape *p = NULL;
        qn_err err = { .text = "" };
        double *out;

        assert_true(g->n_nodes < ROOM);
        most_nodes = (int)g->n_nodes > most_nodes ? (int)g->n_nodes : most_nodes;
        must_ok(qn_fit_tape_new(g, QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC),
                                (qn_fit_loss){ 0 },
                                seed % 2 ? QN_FIT_SWEEP_REVERSE : QN_FIT_SWEEP_FORWARD, &p, &err),
                &err);
        fit_points(seed, x, idx);
        out = fit_run_at(p, g, x, idx);
        for (int i = 0; i < 4; i++) {
            const char *unknown = dual_run(g, x + i * N_INPUTS, node, used);

            if (unknown)
                fail_msg("no rule for %s", unknown);
            n += compare_point(seed, g, p, out, i, node);
        }
        free(out);
        qn_fit_tape_free(p);
        qn_fit_graph_free(g);
    }
    assert_true(n > 4 * LAST * 4);
    assert_true(most_nodes >= 200);
    for (int op = 0; op < QN_FIT_OP_COUNT; op++)
        if (is_user_op(op) && !used[op])
            fail_msg("%s was in no graph", qn_fit_ops[op].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_graphs_agree_with_dual_numbers) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
