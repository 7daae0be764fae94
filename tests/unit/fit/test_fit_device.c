/* test_fit_device.c - problems as stages of graphs, on every backend, compared with the CPU's
 * sums. */
/* test: long, cost 35, quick-opencl */
#include "fit_device_fixture.h"

/* Gradient. */

static void gradient_agrees(const char *backend, qn_fit_text *text, qn_fit_precision precision,
                            double tolerance)
{
    fixture r;
    double cost, total = 0;

    if (!open_fixture(&r, text, backend, precision))
        return;
    must_ok(qn_fit_host_gradient(r.host, r.p->x, &cost, r.want, NULL, &r.err), &r.err);
    must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, r.cost, r.out, &r.err), &r.err);
    for (int run = 0; run < 3; run++) {
        assert_run(&r, tolerance);
    }
    must(qn_buf_read(r.cost, 0, &total, sizeof total, &failure));
    if (!(fabs(total - cost) <= (precision == QN_FIT_F64 ? 1e-13 : 1e-5) * fabs(cost)))
        fail_msg("cost %.17g, on the CPU %.17g", total, cost);
    close_fixture(&r);
}

static qn_fit_text *curve(void)
{
    static char text[200000] = "";
    size_t n = (size_t)sprintf(text, "fit 1;\nparam a = 0.3;\nparam b : vec2 = [1, 2];\n"
                                     "table T(x, y) = {");

    for (int k = 0; k < 5000; k++)
        n += (size_t)sprintf(text + n, "%.6f %.6f;\n", k * 0.001,
                             (double)qn_random_float(4, (uint64_t)k));
    sprintf(text + n,
            "};\nresidual r over i in T { yield a + b.x * i.x / (1 + b.y * i.x) - i.y; }\n");
    return fit_load(text, NULL);
}

#define ON(backend)                                                                                \
    static void mixed_terms_give_the_same_bits_on_##backend(void **state)                          \
    {                                                                                              \
        (void)state;                                                                               \
        gradient_agrees(#backend, fit_load(FIT_MIXED, NULL), QN_FIT_F64, 0);                       \
    }                                                                                              \
    static void a_curve_gives_the_same_bits_on_##backend(void **state)                             \
    {                                                                                              \
        (void)state;                                                                               \
        gradient_agrees(#backend, curve(), QN_FIT_F64, 0);                                         \
    }                                                                                              \
    static void cameras_agree_on_##backend(void **state)                                           \
    {                                                                                              \
        (void)state;                                                                               \
        gradient_agrees(#backend, fit_load_golden("fit/examples/bal.fit"), QN_FIT_F64, 1e-11);     \
    }                                                                                              \
    static void energies_agree_on_##backend(void **state)                                          \
    {                                                                                              \
        (void)state;                                                                               \
        gradient_agrees(                                                                           \
            #backend,                                                                              \
            fit_load("fit 1;\nparam a : vec2 = [1, 2];\nresidual r { yield a.x - 3; }\n"           \
                     "energy e weight 2 { yield a.x * a.y, a.y^3; }\n",                            \
                     NULL),                                                                        \
            QN_FIT_F64, 0);                                                                        \
    }

ON(cpu)
ON(sim)
ON(opencl)

/* More instances than a chunk, lists of any length: the middle vertex has all edges. */
static void large_groups_agree(void **state)
{
    (void)state;
    gradient_agrees(
        "cpu",
        fit_load("fit 1;\nmesh M = grid(150, 120, 1, 1);\nparam s : vec2 = [0.9, 0.1];\n"
                 "param x[M.verts] : vec3 = 1.1 * M.pos;\n"
                 "residual r over e in M.edges {\n"
                 "  yield length(x[e.a] - x[e.b]) * s.x - s.y - 0.01; }\n",
                 NULL),
        QN_FIT_F64, 0);
}

static void single_precision_is_near(void **state)
{
    (void)state;
    gradient_agrees("cpu", fit_load(FIT_MIXED, NULL), QN_FIT_F32, 1e-4);
}

/* Two kernels sum the costs of few groups, three those of many; small groups share a kernel. */
static void costs_of_many_groups_are_summed(void **state)
{
    char text[4096];
    size_t n = (size_t)sprintf(text, "fit 1;\nparam a = 0.3;\nparam b = 2;\n"
                                     "table T(x) = { 1; 2; 3; 4; 5 };\n");

    (void)state;
    for (int k = 0; k < 20; k++)
        n += (size_t)sprintf(text + n, "residual r%d over i in T { yield a * i.x - b + %d; }\n", k,
                             k);
    for (int k = 0; k < 2; k++) {
        fixture r;
        double cost, totals[21];

        if (!open_fixture(&r, fit_load(text, NULL), k ? "sim" : "cpu", QN_FIT_F64))
            continue;
        must_ok(qn_fit_host_cost(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
        must_ok(qn_fit_stage_cost(r.device, r.graph, r.x, r.cost, &r.err), &r.err);
        assert_int_equal(qn_graph_get_stats(r.graph).n_stages, 4);
        run_graph(&r);
        must(qn_buf_read(r.cost, 0, totals, sizeof totals, &failure));
        assert_true(totals[0] == cost);
        for (int g = 0; g < 20; g++)
            assert_true(totals[1 + g] == qn_fit_host_group_cost(r.host, g));
        close_fixture(&r);
    }
}

/* Products. */

static void products_agree(const char *backend)
{
    fixture r;
    double cost;

    if (!open_fixture(&r, fit_load(FIT_MIXED, NULL), backend, QN_FIT_F64))
        return;
    must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
    make_tangent(&r);
    must_ok(qn_fit_stage_jv(r.device, r.graph, r.x, r.v, r.rows, &r.err), &r.err);
    must_ok(qn_fit_stage_jtu(r.device, r.graph, r.x, r.rows, r.out, &r.err), &r.err);
    assert_run(&r, 1e-12);
    qn_graph_free(r.graph);
    must(qn_graph_new(r.ctx, "fit", &r.graph, &failure));
    must_ok(qn_fit_stage_jtjv(r.device, r.graph, r.x, r.v, r.out, &r.err), &r.err);
    assert_run(&r, 1e-12);
    close_fixture(&r);
}

static void products_agree_on_cpu_and_sim(void **state)
{
    (void)state;
    products_agree("cpu");
    products_agree("sim");
}

static void residuals_agree_with_the_cpu(void **state)
{
    fixture r;
    double cost, *rows;

    (void)state;
    if (!open_fixture(&r, fit_load(FIT_MIXED, NULL), "sim", QN_FIT_F64))
        return;
    must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
    must_ok(qn_fit_stage_residuals(r.device, r.graph, r.x, r.cost, r.rows, &r.err), &r.err);
    run_graph(&r);
    rows = calloc((size_t)qn_fit_host_n_rows(r.host), sizeof *rows);
    must_ok(qn_fit_device_read(r.device, r.rows, rows, qn_fit_host_n_rows(r.host), &r.err), &r.err);
    for (int k = 0; k < r.p->n_groups; k++)
        for (int row = 0; row < r.p->groups[k].n_rows; row++)
            for (qn_i64 i = 0; i < r.p->groups[k].n; i++) {
                const qn_i64 at = r.host->groups[k].row + row * r.p->groups[k].ld + i;

                assert_true(rows[at] == r.host->residuals[at]);
            }
    free(rows);
    close_fixture(&r);
}

/* J v computed from stored values equals J v. */
static void the_stored_jacobian_gives_the_same_products(void **state)
{
    fixture r;
    qn_buf *jacobian = NULL;
    double cost, *rows, *j, *v;
    qn_i64 n_jacobian = 0;

    (void)state;
    if (!open_fixture(&r, fit_load(FIT_MIXED, NULL), "sim", QN_FIT_F64))
        return;
    must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
    must_ok(qn_fit_device_jacobian(r.device, "jacobian", &jacobian, &r.err), &r.err);
    must_ok(qn_fit_stage_linearize(r.device, r.graph, r.x, r.cost, r.rows, jacobian, &r.err),
            &r.err);
    run_graph(&r);
    n_jacobian = (qn_i64)(qn_buf_bytes(jacobian) / sizeof *j);
    j = calloc((size_t)n_jacobian, sizeof *j);
    v = calloc(r.p->n_scalars, sizeof *v);
    rows = calloc((size_t)qn_fit_host_n_rows(r.host), sizeof *rows);
    must_ok(qn_fit_device_read(r.device, jacobian, j, n_jacobian, &r.err), &r.err);
    for (uint32_t s = 0; s < r.p->n_scalars; s++)
        v[s] = r.p->is_fixed[s] ? 0 : qn_random_float(23, s);
    fit_host_jv(r.host, v, rows);
    for (int k = 0; k < r.p->n_groups; k++) {
        const qn_fit_group *g = &r.p->groups[k];
        qn_i64 at = 0;
        const qn_fit_tape *tape = qn_fit_device_tape(r.device, k, &at);

        for (qn_i64 i = 0; i < g->n; i++)
            for (int row = 0; row < g->n_rows; row++) {
                double t = 0;

                for (int a = 0; a < tape->n_variables; a++) {
                    const qn_fit_entry *e =
                        &tape->sections[QN_FIT_JAC].entries[row * tape->n_variables + a];
                    const qn_fit_variable *of = &tape->variables[a];
                    const double value =
                        e->stored < 0 ? e->factor : e->factor * j[at + e->stored * g->ld + i];

                    t += value * v[g->idx[of->slot * g->ld + i] + of->comp];
                }
                assert_true(fabs(t - rows[r.host->groups[k].row + row * g->ld + i]) < 1e-14);
            }
    }
    free(j);
    free(v);
    free(rows);
    qn_graph_free(r.graph);
    r.graph = NULL;
    qn_buf_free(jacobian);
    close_fixture(&r);
}

/* Writes residuals and the stored Jacobian to new arrays. On the CPU; padding is 0. */
static void linearize(qn_fit_precision storage, int with_cost, double **rows, double **jacobian,
                      qn_i64 *n_rows, qn_i64 *n_jacobian)
{
    fixture r;
    qn_buf *j = NULL;
    void *stored;

    assert_true(open_fixture(&r, fit_load(FIT_MIXED, NULL), "cpu", QN_FIT_F64));
    qn_fit_device_set_storage(r.device, storage);
    must_ok(qn_fit_device_jacobian(r.device, "jacobian", &j, &r.err), &r.err);
    must_ok(qn_fit_stage_linearize(r.device, r.graph, r.x, with_cost ? r.cost : NULL, r.rows, j,
                                   &r.err),
            &r.err);
    run_graph(&r);
    *n_rows = qn_fit_host_n_rows(r.host);
    *n_jacobian = (qn_i64)(qn_buf_bytes(j) / (storage == QN_FIT_F64 ? 8 : 4));
    *rows = calloc((size_t)*n_rows, sizeof **rows);
    *jacobian = calloc((size_t)*n_jacobian, sizeof **jacobian);
    must_ok(qn_fit_device_read(r.device, r.rows, *rows, *n_rows, &r.err), &r.err);
    must_ok(qn_buf_host(j, QN_HOST_READ, &stored, &r.err), &r.err);
    for (qn_i64 k = 0; k < *n_jacobian; k++)
        (*jacobian)[k] = storage == QN_FIT_F64 ? ((double *)stored)[k] : ((float *)stored)[k];
    qn_graph_free(r.graph);
    r.graph = NULL;
    qn_buf_free(j);
    close_fixture(&r);
}

static void without_the_cost_the_rest_is_the_same(void **state)
{
    double *rows[2], *j[2];
    qn_i64 n_rows, n_j, n;

    (void)state;
    linearize(QN_FIT_F64, 1, &rows[0], &j[0], &n_rows, &n_j);
    linearize(QN_FIT_F64, 0, &rows[1], &j[1], &n_rows, &n);
    assert_int_equal(n, n_j);
    assert_memory_equal(rows[0], rows[1], (size_t)n_rows * sizeof **rows);
    assert_memory_equal(j[0], j[1], (size_t)n_j * sizeof **j);
    for (int k = 0; k < 2; k++) {
        free(rows[k]);
        free(j[k]);
    }
}

static void a_jacobian_stored_in_f32_is_rounded_only(void **state)
{
    double *rows[2], *j[2];
    qn_i64 n_rows, n_j, n;

    (void)state;
    linearize(QN_FIT_F64, 1, &rows[0], &j[0], &n_rows, &n_j);
    linearize(QN_FIT_F32, 1, &rows[1], &j[1], &n_rows, &n);
    assert_int_equal(n, n_j);
    assert_memory_equal(rows[0], rows[1], (size_t)n_rows * sizeof **rows);
    for (qn_i64 k = 0; k < n; k++)
        assert_true(j[1][k] == (double)(float)j[0][k]);
    for (int k = 0; k < 2; k++) {
        free(rows[k]);
        free(j[k]);
    }
}

static void owners_give_the_same_bits(const char *backend)
{
    fixture r;
    double cost, total = 0;

    if (!open_fixture(
            &r,
            fit_load("fit 1;\nmesh M = icosphere(2, 1);\n"
                     "param x[M.verts] : vec3 = 1.1 * M.pos fixed where self.index == 3;\n"
                     "data rest[M.edges] = length(M.pos[self.a] - M.pos[self.b]);\n"
                     "residual spring over e in M.edges {\n"
                     "  yield length(x[e.a] - x[e.b]) - rest[e]; }\n"
                     "energy pull over v in M.verts weight 0.1 { yield x[v].z, 2; }\n",
                     NULL),
            backend, QN_FIT_F64))
        return;
    must_ok(qn_fit_host_gradient(r.host, r.p->x, &cost, r.want, NULL, &r.err), &r.err);
    must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, r.cost, r.out, &r.err), &r.err);
    /* Two groups, two for the cost, and one for the vertices: they own their gradient. */
    assert_int_equal(qn_graph_get_stats(r.graph).n_stages, 5);
    assert_run(&r, 0);
    must(qn_buf_read(r.cost, 0, &total, sizeof total, &failure));
    assert_true(fabs(total - cost) <= 1e-14 * cost);
    qn_graph_free(r.graph);
    must(qn_graph_new(r.ctx, "fit", &r.graph, &failure));
    qn_fit_device_set_accumulate(r.device, QN_FIT_ACCUMULATE_GATHER);
    must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, r.cost, r.out, &r.err), &r.err);
    assert_run(&r, 0);
    close_fixture(&r);
}

/* Three slots of one set, slots alternating between two sets, groups with and without columns. */
static void owners_find_the_other_slots(void **state)
{
    static const char text[] =
        "fit 1;\nmesh M = icosphere(1, 1);\nparam w[M.edges] = 0.9;\n"
        "param x[M.verts] : vec3 = 1.1 * M.pos fixed where self.index == 3;\n"
        "data rest[M.edges] = length(M.pos[self.a] - M.pos[self.b]);\n"
        "residual corner over f in M.faces { yield dot(x[f.a] - x[f.b], x[f.c] - x[f.b]); }\n"
        "residual edge over e in M.edges {\n"
        "  yield x[e.a].x * w[e] * x[e.b].y - rest[e], w[e]^2 * x[e.b].z - x[e.a].y; }\n"
        "residual own over e in M.edges { yield w[e] - 1; }\n";
    fixture r;
    double cost;

    (void)state;
    for (int k = 0; k < 2; k++) {
        if (!open_fixture(&r, fit_load(text, NULL), k ? "sim" : "cpu", QN_FIT_F64))
            continue;
        must_ok(qn_fit_host_gradient(r.host, r.p->x, &cost, r.want, NULL, &r.err), &r.err);
        qn_fit_device_set_accumulate(r.device, QN_FIT_ACCUMULATE_OWNER);
        must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, NULL, r.out, &r.err), &r.err);
        assert_int_equal(qn_graph_get_stats(r.graph).n_stages, 2); /* one for each set */
        assert_run(&r, 0);
        qn_graph_free(r.graph);
        must(qn_graph_new(r.ctx, "fit", &r.graph, &failure));
        must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
        make_tangent(&r);
        must_ok(qn_fit_stage_jtjv(r.device, r.graph, r.x, r.v, r.out, &r.err), &r.err);
        assert_run(&r, 1e-13);
        close_fixture(&r);
    }
}

static void springs_are_evaluated_by_their_ends(void **state)
{
    (void)state;
    owners_give_the_same_bits("cpu");
    owners_give_the_same_bits("sim");
    owners_give_the_same_bits("opencl");
}

static void a_curve_is_summed_in_its_kernel(void **state)
{
    fixture r;

    (void)state;
    if (!open_fixture(&r, curve(), "sim", QN_FIT_F64))
        return;
    must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, r.cost, r.out, &r.err), &r.err);
    /* The group, two for the cost, one join for each set. */
    assert_int_equal(qn_graph_get_stats(r.graph).n_stages, 5);
    close_fixture(&r);
}

/* Without terms that use a block twice, both have the same blocks. */
static void diagonal_blocks_agree_with_the_cpu(void **state)
{
    char text[2048];
    fixture r;
    qn_buf *blocks = NULL;
    double cost, *want, *got;
    qn_i64 n;

    (void)state;
    snprintf(text, sizeof text, "%s", FIT_MIXED);
    *strstr(text, "residual pair") = 0;
    if (!open_fixture(&r, fit_load(text, NULL), "sim", QN_FIT_F64))
        return;
    n = fit_diagonal_size(r.p);
    want = calloc((size_t)n, sizeof *want);
    got = calloc((size_t)n, sizeof *got);
    must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
    fit_host_diagonal(r.host, want);
    must_ok(qn_fit_device_blocks(r.device, "blocks", &blocks, &r.err), &r.err);
    must_ok(qn_fit_stage_diagonal(r.device, r.graph, r.x, blocks, &r.err), &r.err);
    run_graph(&r);
    must_ok(qn_fit_device_read(r.device, blocks, got, n, &r.err), &r.err);
    for (qn_i64 k = 0; k < n; k++)
        if (!(fabs(got[k] - want[k]) <= 1e-12 * (1 + fabs(want[k]))))
            fail_msg("number %lld: %.17g, on the CPU %.17g", (long long)k, got[k], want[k]);
    qn_graph_free(r.graph);
    r.graph = NULL;
    qn_buf_free(blocks);
    free(want);
    free(got);
    close_fixture(&r);
}

static void bad_costs_are_counted(const char *backend)
{
    fixture r;
    qn_buf *bad = NULL;
    qn_fit_bad found;

    if (!open_fixture(&r,
                      fit_load("fit 1;\ntable T(a) = { 1; 0; 2; 0 };\nparam s = 1;\n"
                               "residual fine { yield s; }\n"
                               "residual r over i in T { yield log(s * i.a); }\n",
                               NULL),
                      backend, QN_FIT_F64))
        return;
    must_ok(qn_fit_device_bad(r.device, "bad", &bad, &r.err), &r.err);
    must_ok(qn_fit_stage_cost(r.device, r.graph, r.x, r.cost, &r.err), &r.err);
    must_ok(qn_fit_stage_bad(r.device, r.graph, bad, &r.err), &r.err);
    for (int run = 0; run < 2; run++) {
        run_graph(&r);
        must_ok(qn_fit_device_read_bad(r.device, bad, &found, &r.err), &r.err);
        assert_int_equal(found.count, 2);
        assert_int_equal(found.group, 1);
        assert_int_equal(found.row, 1);
    }
    qn_graph_free(r.graph);
    r.graph = NULL;
    qn_buf_free(bad);
    close_fixture(&r);
}

static void what_is_not_finite_is_counted_and_named(void **state)
{
    (void)state;
    bad_costs_are_counted("cpu");
    bad_costs_are_counted("sim");
    bad_costs_are_counted("opencl");
}

static void least_squares_refuse_energies(void **state)
{
    fixture r;

    (void)state;
    if (!open_fixture(&r, fit_load("fit 1;\nparam a = 1;\nenergy bend { yield a^2; }\n", NULL),
                      "sim", QN_FIT_F64))
        return;
    assert_int_equal(qn_fit_stage_residuals(r.device, r.graph, r.x, r.cost, r.rows, &r.err),
                     QN_ERR_USAGE);
    close_fixture(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_terms_give_the_same_bits_on_cpu),
        cmocka_unit_test(a_curve_gives_the_same_bits_on_cpu),
        cmocka_unit_test(cameras_agree_on_cpu),
        cmocka_unit_test(energies_agree_on_cpu),
        cmocka_unit_test(mixed_terms_give_the_same_bits_on_sim),
        cmocka_unit_test(a_curve_gives_the_same_bits_on_sim),
        cmocka_unit_test(cameras_agree_on_sim),
        cmocka_unit_test(energies_agree_on_sim),
        cmocka_unit_test(mixed_terms_give_the_same_bits_on_opencl),
        cmocka_unit_test(a_curve_gives_the_same_bits_on_opencl),
        cmocka_unit_test(cameras_agree_on_opencl),
        cmocka_unit_test(energies_agree_on_opencl),
        cmocka_unit_test(large_groups_agree),
        cmocka_unit_test(single_precision_is_near),
        cmocka_unit_test(costs_of_many_groups_are_summed),
        cmocka_unit_test(products_agree_on_cpu_and_sim),
        cmocka_unit_test(residuals_agree_with_the_cpu),
        cmocka_unit_test(the_stored_jacobian_gives_the_same_products),
        cmocka_unit_test(without_the_cost_the_rest_is_the_same),
        cmocka_unit_test(a_jacobian_stored_in_f32_is_rounded_only),
        cmocka_unit_test(springs_are_evaluated_by_their_ends),
        cmocka_unit_test(owners_find_the_other_slots),
        cmocka_unit_test(a_curve_is_summed_in_its_kernel),
        cmocka_unit_test(diagonal_blocks_agree_with_the_cpu),
        cmocka_unit_test(what_is_not_finite_is_counted_and_named),
        cmocka_unit_test(least_squares_refuse_energies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
