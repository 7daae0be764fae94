/* test_fit_derive.c - derivatives: forward and reverse agree, differences agree, products agree
 * with the Jacobian, and singular branches that are not selected have no influence. */
#include "fit_random.h"

enum { RES_JAC = QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC) };

static qn_fit_tape *compiled(const qn_fit_graph *g, unsigned wants, qn_fit_loss loss,
                             qn_fit_sweep sweep)
{
    qn_fit_tape *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_tape_new(g, wants, loss, sweep, &p, &err), &err);
    return p;
}

/* Random expressions. */

static void forward_and_reverse_agree_on_random_graphs(void **state)
{
    double x[N_POINTS * N_INPUTS];
    uint32_t idx[2 * N_POINTS];
    int n_compared = 0, n_finite = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        qn_fit_graph *g = fit_random_graph(seed, seed % 2 == 0, 1 + (int)(seed % 3));
        qn_fit_tape *rows = compiled(g, RES_JAC, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_REVERSE);
        qn_fit_tape *columns = compiled(g, RES_JAC, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_FORWARD);
        double *a, *b;

        fit_points(seed, x, idx);
        a = fit_run_at(rows, g, x, idx);
        b = fit_run_at(columns, g, x, idx);
        for (int e = 0; e < rows->sections[QN_FIT_JAC].n_entries; e++)
            for (int i = 0; i < N_POINTS; i++) {
                const double u = fit_entry(rows, QN_FIT_JAC, a, N_POINTS, i, e);
                const double v = fit_entry(columns, QN_FIT_JAC, b, N_POINTS, i, e);

                n_compared++;
                if (!isfinite(u) || !isfinite(v) || fabs(u) > 1e6)
                    continue;
                n_finite++;
                if (fabs(u - v) > 1e-9 * fmax(1, fabs(u)))
                    fail_msg("seed %d entry %d: reverse %.17g, forward %.17g", (int)seed, e, u, v);
            }
        free(a);
        free(b);
        qn_fit_tape_free(rows);
        qn_fit_tape_free(columns);
        qn_fit_graph_free(g);
    }
    assert_true(n_finite > n_compared / 2);
}

static void differences_agree_on_smooth_graphs(void **state)
{
    double x[N_POINTS * N_INPUTS];
    uint32_t idx[2 * N_POINTS];
    int n_checked = 0;

    (void)state;
    for (uint64_t seed = 2000; seed < 2100; seed++) {
        qn_fit_graph *g = fit_random_graph(seed, 1, 2);
        qn_fit_tape *p = compiled(g, RES_JAC, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_AUTO);
        double *out;

        fit_points(seed, x, idx);
        out = fit_run_at(p, g, x, idx);
        for (int v = 0; v < p->n_variables; v++) {
            const int at =
                3 * qn_fit_graph_slot(g, (int)p->variables[v].slot) + (int)p->variables[v].comp;
            const double h = 1e-5;
            double up[N_POINTS * N_INPUTS], down[N_POINTS * N_INPUTS], *plus, *minus;

            memcpy(up, x, sizeof up);
            memcpy(down, x, sizeof down);
            for (int i = 0; i < N_POINTS; i++) {
                up[i * N_INPUTS + at] += h;
                down[i * N_INPUTS + at] -= h;
            }
            plus = fit_run_at(p, g, up, idx);
            minus = fit_run_at(p, g, down, idx);
            for (int row = 0; row < 2; row++)
                for (int i = 0; i < N_POINTS; i++) {
                    const int k = row * N_POINTS + i;
                    const double slope = (plus[k] - minus[k]) / (2 * h);
                    const double got =
                        fit_entry(p, QN_FIT_JAC, out, N_POINTS, i, row * p->n_variables + v);

                    if (!isfinite(slope) || fabs(slope) > 1e3 || fabs(out[k]) > 1e3)
                        continue;
                    n_checked++;
                    if (fabs(slope - got) > 1e-5 * fmax(1, fabs(slope)) + 1e-6 * fabs(out[k]))
                        fail_msg("seed %d row %d variable %d: %.12g, by differences %.12g",
                                 (int)seed, row, v, got, slope);
                }
            free(plus);
            free(minus);
        }
        free(out);
        qn_fit_tape_free(p);
        qn_fit_graph_free(g);
    }
    assert_true(n_checked > 5000);
}

/* Products. */

/* Three rows over two blocks of three, sums of everything. */
static qn_fit_graph *block_graph(void)
{
    qn_fit_graph *g = fit_begin();
    qn_fit_v a[3], b[3];
    qn_fit_vec turned;

    qn_fit_params(g, 0, 3, a);
    qn_fit_params(g, 1, 3, b);
    turned = fit_call2(g, "rotate_aa", fit_vec_of(a, 3), fit_vec_of(b, 3));
    for (int k = 0; k < 3; k++)
        qn_fit_output(g, qn_fit_sub(g, turned.at[k], qn_fit_mul(g, a[k], b[(k + 1) % 3])));
    fit_end(g);
    return g;
}

typedef struct {
    double x[6], v[6], u[3];
    double out[64];
} case6;

static void eval6(const qn_fit_tape *p, case6 *c)
{
    const uint32_t idx[2] = { 0, 3 };
    qn_fit_tables t = { .params = c->x, .tangent = c->v, .seed = c->u, .idx = idx, .ld = 1 };
    qn_fit_plan *plan = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_plan_new(p, QN_FIT_F64, 0, &plan, &err), &err);
    for (int s = 0; s < QN_FIT_N_SECTIONS; s++)
        t.out[s] = c->out + p->sections[s].first;
    void *work = fit_aligned(qn_fit_plan_bytes(plan));

    qn_fit_eval(plan, &t, 0, 1, work, NULL);
    free(work);
    qn_fit_plan_free(plan);
}

static void products_agree_with_the_jacobian(void **state)
{
    const qn_fit_loss losses[] = { { 0 }, { QN_FIT_LOSS_CAUCHY, 0.7 } };
    qn_fit_graph *g = block_graph();

    (void)state;
    for (int k = 0; k < 2; k++) {
        case6 c = { .x = { 0.3, -0.4, 0.9, 1.1, 0.2, -0.6 },
                    .v = { 1, -2, 0.5, 0.25, 3, -1 },
                    .u = { 0.7, -1.3, 0.4 } };
        qn_fit_tape *p = compiled(g, 0xff, losses[k], QN_FIT_SWEEP_AUTO);
        double J[3][6], s = 0, slope;

        eval6(p, &c);
        assert_int_equal(p->n_variables, 6);
        for (int row = 0; row < 3; row++)
            for (int v = 0; v < 6; v++)
                J[row][v] = fit_entry(p, QN_FIT_JAC, c.out, 1, 0, 6 * row + v);
        const double *res = c.out + p->sections[QN_FIT_RES].first;
        const double *jvp = c.out + p->sections[QN_FIT_JVP].first;
        double along[3] = { 0 };

        for (int row = 0; row < 3; row++) {
            s += res[row] * res[row];
            for (int v = 0; v < 6; v++)
                along[row] += J[row][v] * c.v[3 * p->variables[v].slot + p->variables[v].comp];
            assert_true(fabs(along[row] - jvp[row]) < 1e-13);
        }
        for (int v = 0; v < 6; v++) {
            double grad = 0, vjp = 0, jtjv = 0;

            for (int row = 0; row < 3; row++) {
                grad += J[row][v] * res[row];
                vjp += J[row][v] * c.u[row];
                jtjv += J[row][v] * along[row];
            }
            assert_true(fabs(grad - fit_entry(p, QN_FIT_GRAD, c.out, 1, 0, v)) < 1e-13);
            assert_true(fabs(vjp - fit_entry(p, QN_FIT_VJP, c.out, 1, 0, v)) < 1e-13);
            assert_true(fabs(jtjv - fit_entry(p, QN_FIT_JTJV, c.out, 1, 0, v)) < 1e-13);
        }
        assert_int_equal(p->sections[QN_FIT_DIAG].n_entries, 12);
        for (int e = 0; e < 12; e++) {
            double sum = 0;

            for (int row = 0; row < 3; row++)
                sum += J[row][p->pairs[e].i] * J[row][p->pairs[e].j];
            assert_true(fabs(sum - fit_entry(p, QN_FIT_DIAG, c.out, 1, 0, e)) < 1e-13);
        }
        /* cost = a^2/2 log(1 + s/a^2) with s = |r|^2; res is r sqrt(rho') = r / sqrt(1 + s/a^2) */
        slope = k ? 1 / (1 - s / 0.49) : 1;
        assert_true(fabs(c.out[0] - (k ? 0.5 * 0.49 * log(slope) : 0.5 * s)) < 1e-13);
        qn_fit_tape_free(p);
    }
    qn_fit_graph_free(g);
}

static void the_gradient_is_the_slope_of_the_cost_for_every_loss(void **state)
{
    qn_fit_graph *g = block_graph();

    (void)state;
    for (int kind = QN_FIT_LOSS_NONE; kind <= QN_FIT_LOSS_GEMAN; kind++)
        for (int size = 0; size < 2; size++) { /* inside the scale, and beyond it */
            const qn_fit_loss loss = { (qn_fit_loss_kind)kind, size ? 0.4 : 4 };
            qn_fit_tape *p =
                compiled(g, QN_FIT_WANT(QN_FIT_COST) | QN_FIT_WANT(QN_FIT_GRAD), loss, 0);
            case6 c = { .x = { 0.3, -0.4, 0.9, 1.1, 0.2, -0.6 } };
            double grad[6];

            eval6(p, &c);
            for (int v = 0; v < 6; v++)
                grad[v] = fit_entry(p, QN_FIT_GRAD, c.out, 1, 0, v);
            for (int v = 0; v < 6; v++) {
                const unsigned at = 3 * p->variables[v].slot + p->variables[v].comp;
                case6 up = c, down = c;

                up.x[at] += 1e-6;
                down.x[at] -= 1e-6;
                eval6(p, &up);
                eval6(p, &down);
                assert_true(fabs((up.out[0] - down.out[0]) / 2e-6 - grad[v]) < 1e-7);
            }
            qn_fit_tape_free(p);
        }
    qn_fit_graph_free(g);
}

/* Singular places. */

/* d/dx at x of select(x > 0, branch(x), 0) by both sweeps. */
static void assert_masked(const char *branch)
{
    for (int sweep = QN_FIT_SWEEP_REVERSE; sweep <= QN_FIT_SWEEP_FORWARD; sweep++) {
        qn_fit_graph *g = fit_begin();
        const qn_fit_v x = qn_fit_param(g, 0, 0), zero = qn_fit_lit(g, 0);
        const qn_fit_v inner = CALL1(branch, qn_fit_mul(g, x, qn_fit_lit(g, 1)));
        const double at = 0;
        const uint32_t idx = 0;

        qn_fit_output(g, CALL3("select", CALL2("gt", x, zero), qn_fit_mul(g, inner, x), zero));
        fit_end(g);
        qn_fit_tape *p = compiled(g, RES_JAC, (qn_fit_loss){ 0 }, (qn_fit_sweep)sweep);
        double *out = fit_run(p, QN_FIT_F64, 0, &at, 1, &idx, 1, NULL);

        if (out[0] != 0 || fit_jac(p, out, 1, 0, 0, 0, 0) != 0)
            fail_msg("%s: value %g, derivative %g", branch, out[0], fit_jac(p, out, 1, 0, 0, 0, 0));
        free(out);
        qn_fit_tape_free(p);
        qn_fit_graph_free(g);
    }
}

static void what_was_not_selected_has_no_derivative(void **state)
{
    (void)state;
    assert_masked("log");
    assert_masked("sqrt");
    assert_masked("recip");
    assert_masked("rsqrt");
    assert_masked("log2");
    assert_masked("acosh");
}

static void lengths_and_directions_are_flat_at_zero(void **state)
{
    static const char *const names[] = { "length3", "normalize3" };
    const double x[3] = { 0 };
    const uint32_t idx = 0;

    (void)state;
    for (int k = 0; k < 2; k++) {
        qn_fit_graph *g = fit_golden_graph(names[k], 3);
        qn_fit_tape *p = compiled(g, RES_JAC, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_REVERSE);
        double *out = fit_run(p, QN_FIT_F64, 0, x, 3, &idx, 1, NULL);

        for (int o = 0; o < p->n_outputs; o++)
            assert_true(out[o] == 0);
        free(out);
        qn_fit_tape_free(p);
        qn_fit_graph_free(g);
    }
}

static void ties_of_min_share_the_derivative(void **state)
{
    qn_fit_graph *g = fit_golden_graph("min", 2);
    qn_fit_tape *p = compiled(g, RES_JAC, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_REVERSE);
    const double x[2] = { 3, 3 };
    const uint32_t idx = 0;
    double *out = fit_run(p, QN_FIT_F64, 0, x, 2, &idx, 1, NULL);

    (void)state;
    assert_true(fit_jac(p, out, 1, 0, 0, 0, 0) == 0.5);
    assert_true(fit_jac(p, out, 1, 0, 0, 0, 1) == 0.5);
    free(out);
    qn_fit_tape_free(p);
    qn_fit_graph_free(g);
}

static void double_and_triple_eigenvalues_keep_their_digits(void **state)
{
    static const struct {
        double c[6], values[3];
    } cases[] = {
        { { 1, 0, 0, 1, 0, 2 }, { 1, 1, 2 } }, { { 2, 0, 0, 5, 0, 5 }, { 2, 5, 5 } },
        { { 3, 0, 0, 3, 0, 3 }, { 3, 3, 3 } }, { { 0, 0, 0, 0, 0, 0 }, { 0, 0, 0 } },
        { { 1, 1, 1, 1, 1, 1 }, { 0, 0, 3 } }, { { 1 + 1e-9, 0, 0, 1, 0, -4 }, { -4, 1, 1 + 1e-9 } }
    };
    static const char *const names[] = { "eig3_min", "eig3_mid", "eig3_max" };
    const uint32_t idx = 0;

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int which = 0; which < 3; which++) {
            qn_fit_graph *g = fit_golden_graph(names[which], 6);
            qn_fit_tape *p = compiled(g, RES_JAC, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_REVERSE);
            double *out = fit_run(p, QN_FIT_F64, 0, cases[k].c, 6, &idx, 1, NULL);
            double trace = 0;

            if (fabs(out[0] - cases[k].values[which]) > 1e-14 * 5)
                fail_msg("case %d %s: %.17g", (int)k, names[which], out[0]);
            for (uint32_t i = 0; i < 3; i++)
                trace += fit_jac(p, out, 1, 0, 0, 0, (const uint32_t[]){ 0, 3, 5 }[i]);
            assert_true(fabs(trace - 1) < 1e-14); /* of v v', v a unit vector */
            free(out);
            qn_fit_tape_free(p);
            qn_fit_graph_free(g);
        }
}

/* Stored values. */

static void a_spring_stores_three_of_six_entries(void **state)
{
    qn_fit_graph *g = fit_golden_graph("distance3", 6);
    qn_fit_tape *p = compiled(g, RES_JAC, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_AUTO);

    (void)state;
    assert_int_equal(p->sections[QN_FIT_JAC].n_entries, 6);
    assert_int_equal(p->sections[QN_FIT_JAC].count, 3);
    assert_int_equal(p->n_ops, 8);
    qn_fit_tape_free(p);
    qn_fit_graph_free(g);
}

static void constant_entries_are_not_stored_and_fixed_ones_are_dropped(void **state)
{
    qn_fit_graph *g = fit_begin();
    qn_fit_tape *p;

    (void)state;
    qn_fit_output(g, qn_fit_sub(g, qn_fit_mul(g, qn_fit_lit(g, 3), qn_fit_param(g, 0, 0)),
                                qn_fit_mul(g, qn_fit_param(g, 0, 1), qn_fit_param(g, 0, 2))));
    qn_fit_fix(g, 0, 2);
    fit_end(g);
    p = compiled(g, RES_JAC, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_AUTO);
    assert_int_equal(p->n_variables, 2);
    assert_int_equal(p->sections[QN_FIT_JAC].count, 1);
    for (int v = 0; v < 2; v++) {
        const qn_fit_entry e = p->sections[QN_FIT_JAC].entries[v];

        if (p->variables[v].comp == 0)
            assert_true(e.stored == -1 && e.factor == 3);
        else
            assert_true(e.stored == 0 && e.factor == -1);
    }
    qn_fit_tape_free(p);
    qn_fit_graph_free(g);
}

static void many_rows_of_few_variables_go_forward(void **state)
{
    qn_fit_graph *g = fit_begin();
    qn_fit_v x = qn_fit_param(g, 0, 0);
    qn_fit_tape *p;

    (void)state;
    for (int k = 0; k < 12; k++) {
        x = CALL1("sin", qn_fit_mul(g, x, qn_fit_param(g, 0, 1)));
        qn_fit_output(g, x);
    }
    fit_end(g);
    p = compiled(g, RES_JAC, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_AUTO);
    assert_int_equal(p->sweep, QN_FIT_SWEEP_FORWARD);
    qn_fit_tape_free(p);
    qn_fit_graph_free(g);
}

static void bad_outputs_are_refused(void **state)
{
    qn_fit_graph *g = fit_golden_graph("sin", 1), *eig = fit_begin();
    qn_fit_tape *p = NULL;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_fit_tape_new(g, 0, (qn_fit_loss){ 0 }, 0, &p, &err), QN_ERR_USAGE);
    assert_int_equal(qn_fit_tape_new(g, 1, (qn_fit_loss){ QN_FIT_LOSS_HUBER, 0 }, 0, &p, &err),
                     QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "scale"));
    assert_int_equal(qn_fit_tape_new(eig, 1, (qn_fit_loss){ 0 }, 0, &p, &err), QN_ERR_USAGE);
    qn_fit_graph_free(g);
    qn_fit_graph_free(eig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_and_reverse_agree_on_random_graphs),
        cmocka_unit_test(differences_agree_on_smooth_graphs),
        cmocka_unit_test(products_agree_with_the_jacobian),
        cmocka_unit_test(the_gradient_is_the_slope_of_the_cost_for_every_loss),
        cmocka_unit_test(what_was_not_selected_has_no_derivative),
        cmocka_unit_test(lengths_and_directions_are_flat_at_zero),
        cmocka_unit_test(ties_of_min_share_the_derivative),
        cmocka_unit_test(double_and_triple_eigenvalues_keep_their_digits),
        cmocka_unit_test(a_spring_stores_three_of_six_entries),
        cmocka_unit_test(constant_entries_are_not_stored_and_fixed_ones_are_dropped),
        cmocka_unit_test(many_rows_of_few_variables_go_forward),
        cmocka_unit_test(bad_outputs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
