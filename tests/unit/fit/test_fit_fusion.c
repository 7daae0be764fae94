/* test_fit_fusion.c - kernels that do several things at once: small groups, whole points, and sums
 * by atomic additions. */
#include "fit_device_fixture.h"

static const char *const places[] = { "cpu", "sim", "opencl", "cuda" };
enum { N_PLACES = sizeof places / sizeof *places };

/* Constraints of a sketch: groups of one to four instances, of one to three slots, with and
 * without columns, one with a loss; one point is held. */
static const char SKETCH[] =
    "fit 1;\n"
    "table P(x0, y0, pin) = { 0 0.1 1; 3.8 0.3 0; 4.2 2.1 0; -0.2 1.9 0; 2 1 0 };\n"
    "set flat(a -> P, b -> P) = { (0,1), (2,3) };\n"
    "set len(a -> P, b -> P, d) = { (0,1,4.0), (1,2,2.0), (3,4,1.5) };\n"
    "set line(a -> P, b -> P, c -> P) = { (0,1,2), (1,2,4), (2,3,4), (3,0,4) };\n"
    "param p[P] : vec2 = [x0, y0] fixed where pin == 1;\n"
    "param r = 1.5;\n"
    "residual h over l in flat { yield p[l.b].y - p[l.a].y; }\n"
    "residual d over l in len loss huber(0.1) { yield length(p[l.b]-p[l.a]) - l.d; }\n"
    "residual q over l in line {\n"
    "  yield dot(p[l.b]-p[l.a], p[l.c]-p[l.b]), r*p[l.a].x*p[l.c].y; }\n"
    "residual s { yield r - 2; }\n";

static void new_graph(fixture *r)
{
    qn_graph_free(r->graph);
    must(qn_graph_new(r->ctx, "fit", &r->graph, &failure));
}

static int n_stages(const fixture *r)
{
    return (int)qn_graph_get_stats(r->graph).n_stages;
}

static void assert_cost(const fixture *r, double cost)
{
    double total = 0;

    must(qn_buf_read(r->cost, 0, &total, sizeof total, &failure));
    assert_true(fabs(total - cost) <= 1e-13 * cost);
}

static void assert_rows(fixture *r)
{
    const qn_i64 n = qn_fit_host_n_rows(r->host);
    double *got = calloc((size_t)n + 1, sizeof *got);

    must_ok(qn_fit_device_read(r->device, r->rows, got, n, &r->err), &r->err);
    for (int k = 0, row = 0; k < r->p->n_groups; k++)
        for (int j = 0; j < r->p->groups[k].n_rows; j++, row += (int)r->p->groups[k].ld)
            for (qn_i64 i = 0; i < r->p->groups[k].n; i++)
                assert_true(fabs(got[row + i] - r->host_rows[row + i]) <=
                            1e-13 * (1 + fabs(r->host_rows[row + i])));
    free(got);
}

static void assert_blocks(fixture *r, qn_buf *blocks)
{
    const qn_i64 n = fit_diagonal_size(r->p);
    double *want = calloc((size_t)n + 1, sizeof *want), *got = calloc((size_t)n + 1, sizeof *got);

    fit_host_diagonal(r->host, want);
    must_ok(qn_fit_device_read(r->device, blocks, got, n, &r->err), &r->err);
    for (qn_i64 k = 0; k < n; k++)
        if (!(fabs(got[k] - want[k]) <= 1e-12 * (1 + fabs(want[k]))))
            fail_msg("number %lld: %.17g, on the CPU %.17g", (long long)k, got[k], want[k]);
    free(want);
    free(got);
}

/* Small groups. */

static void small_groups_have_the_gradient_of_large_ones(void **state)
{
    (void)state;
    for (int k = 0; k < N_PLACES; k++) {
        fixture r;
        double cost;

        if (!open_fixture(&r, fit_load(SKETCH, NULL), places[k], QN_FIT_F64))
            continue;
        must_ok(qn_fit_host_gradient(r.host, r.p->x, &cost, r.want, NULL, &r.err), &r.err);
        qn_fit_device_set_accumulate(r.device, QN_FIT_ACCUMULATE_GATHER);
        must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, r.cost, r.out, &r.err), &r.err);
        assert_int_equal(r.p->n_groups, 4);
        assert_int_equal(n_stages(&r), 1 + 2 + r.p->n_sets); /* one for all four groups */
        assert_run(&r, 1e-13);
        assert_cost(&r, cost);
        close_fixture(&r);
    }
}

static void small_groups_have_the_products_of_large_ones(void **state)
{
    (void)state;
    for (int k = 0; k < N_PLACES; k++) {
        fixture r;
        double cost;

        if (!open_fixture(&r, fit_load(SKETCH, NULL), places[k], QN_FIT_F64))
            continue;
        must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
        make_tangent(&r);
        qn_fit_device_set_accumulate(r.device, QN_FIT_ACCUMULATE_GATHER);
        must_ok(qn_fit_stage_jv(r.device, r.graph, r.x, r.v, r.rows, &r.err), &r.err);
        assert_int_equal(n_stages(&r), 1);
        must_ok(qn_fit_stage_jtu(r.device, r.graph, r.x, r.rows, r.out, &r.err), &r.err);
        assert_run(&r, 1e-12);
        assert_rows(&r);
        new_graph(&r);
        must_ok(qn_fit_stage_jtjv(r.device, r.graph, r.x, r.v, r.out, &r.err), &r.err);
        assert_run(&r, 1e-12);
        close_fixture(&r);
    }
}

static void small_groups_in_single_precision_are_near(void **state)
{
    fixture r;
    double cost;

    (void)state;
    if (!open_fixture(&r, fit_load(SKETCH, NULL), "sim", QN_FIT_F32))
        return;
    must_ok(qn_fit_host_gradient(r.host, r.p->x, &cost, r.want, NULL, &r.err), &r.err);
    must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, r.cost, r.out, &r.err), &r.err);
    assert_run(&r, 1e-5);
    close_fixture(&r);
}

/* A whole point. */

static void point_agrees(const char *backend, const char *text, int stages)
{
    fixture r;
    qn_buf *blocks = NULL;
    double cost;

    if (!open_fixture(&r, fit_load(text, NULL), backend, QN_FIT_F64))
        return;
    must_ok(qn_fit_host_gradient(r.host, r.p->x, &cost, r.want, NULL, &r.err), &r.err);
    must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
    memcpy(r.host_rows, r.host->residuals,
           (size_t)qn_fit_host_n_rows(r.host) * sizeof *r.host_rows);
    must_ok(qn_fit_device_blocks(r.device, "blocks", &blocks, &r.err), &r.err);
    must_ok(qn_fit_stage_point(r.device, r.graph, r.x, r.cost, r.rows, r.out, blocks, &r.err),
            &r.err);
    assert_int_equal(n_stages(&r), stages);
    assert_run(&r, 1e-12);
    assert_cost(&r, cost);
    assert_rows(&r);
    assert_blocks(&r, blocks);
    qn_graph_free(r.graph);
    r.graph = NULL;
    qn_buf_free(blocks);
    close_fixture(&r);
}

static const char FILM[] =
    "fit 1;\nmesh M = icosphere(2, 1);\n"
    "param x[M.verts] : vec3 = 1.1 * M.pos fixed where self.index == 3;\n"
    "data rest[M.edges] = length(M.pos[self.a] - M.pos[self.b]);\n"
    "residual spring over e in M.edges { yield length(x[e.a] - x[e.b]) - rest[e]; }\n"
    "residual anchor over v in M.verts weight 0.01 { yield x[v] - M.pos[v]; }\n";

/* A kernel for each group, two for the cost, one for the gradient, one for the blocks. */
static void a_point_is_a_kernel_for_each_group(void **state)
{
    (void)state;
    for (int k = 0; k < N_PLACES; k++)
        point_agrees(places[k], FILM, 2 + 2 + 2);
}

static void a_point_of_small_groups_is_one_kernel(void **state)
{
    (void)state;
    for (int k = 0; k < N_PLACES; k++)
        point_agrees(places[k], SKETCH, 1 + 2 + 2 * 2);
}

/* Atomic additions. */

static void atomic_sums_are_near_those_in_order(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        fixture r;
        double cost;

        if (!open_fixture(&r, fit_load(FIT_MIXED, NULL), places[k], QN_FIT_F64))
            continue;
        must_ok(qn_fit_host_gradient(r.host, r.p->x, &cost, r.want, NULL, &r.err), &r.err);
        qn_fit_device_set_accumulate(r.device, QN_FIT_ACCUMULATE_ATOMIC);
        assert_string_equal(qn_fit_device_accumulation(r.device), "atomic");
        must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, r.cost, r.out, &r.err), &r.err);
        for (int again = 0; again < 2; again++) { /* the sums begin at 0 each time */
            assert_run(&r, 1e-12);
        }
        assert_cost(&r, cost);
        must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
        make_tangent(&r);
        new_graph(&r);
        must_ok(qn_fit_stage_jtjv(r.device, r.graph, r.x, r.v, r.out, &r.err), &r.err);
        assert_run(&r, 1e-12);
        close_fixture(&r);
    }
}

static void energies_are_added_atomically_too(void **state)
{
    fixture r;
    double cost;

    (void)state;
    if (!open_fixture(
            &r,
            fit_load("fit 1;\nmesh M = icosphere(1, 1);\n"
                     "param x[M.verts] : vec3 = 1.1 * M.pos;\n"
                     "energy area over f in M.faces { yield tri_area(x[f.a], x[f.b], x[f.c]);"
                     " }\n",
                     NULL),
            "sim", QN_FIT_F64))
        return;
    must_ok(qn_fit_host_gradient(r.host, r.p->x, &cost, r.want, NULL, &r.err), &r.err);
    qn_fit_device_set_accumulate(r.device, QN_FIT_ACCUMULATE_ATOMIC);
    must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, NULL, r.out, &r.err), &r.err);
    assert_run(&r, 1e-12);
    close_fixture(&r);
}

/* Without fallback, a device that cannot do this fails; it never silently sums in another way. */
static void opencl_refuses_atomic_sums(void **state)
{
    fixture r;

    (void)state;
    if (!has_backend("opencl") || !open_fixture(&r, fit_load(FILM, NULL), "opencl", QN_FIT_F64))
        return;
    qn_fit_device_set_accumulate(r.device, QN_FIT_ACCUMULATE_ATOMIC);
    must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, NULL, r.out, &r.err), &r.err);
    assert_int_not_equal(qn_graph_run(r.graph, &failure), QN_OK);
    assert_non_null(strstr(failure.text, "no atomic addition"));
    close_fixture(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_groups_have_the_gradient_of_large_ones),
        cmocka_unit_test(small_groups_have_the_products_of_large_ones),
        cmocka_unit_test(small_groups_in_single_precision_are_near),
        cmocka_unit_test(a_point_is_a_kernel_for_each_group),
        cmocka_unit_test(a_point_of_small_groups_is_one_kernel),
        cmocka_unit_test(atomic_sums_are_near_those_in_order),
        cmocka_unit_test(energies_are_added_atomically_too),
        cmocka_unit_test(opencl_refuses_atomic_sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
