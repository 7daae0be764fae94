/* test_fit_stored.c - products with a stored Jacobian as stages, compared with those that compute
 * it. */
/* test: long, cost 45, quick-opencl */
#include "fit_device_fixture.h"

#include "lab/fit/bench/cases.h"

/* Terms that share vertices, more than a chunk of rows with shared parameters, which are summed in
 * their kernel, and groups of few instances, which share a kernel. */
static const char TEXT[] =
    "fit 1;\nmesh M = icosphere(1, 1.0);\nmesh H = grid(100, 60, 1, 1);\n"
    "table T(x) = { 1; 2; 3; 4; 5 };\n"
    "param x[M.verts] : vec3 = M.pos * 1.1 fixed where self.index == 3;\n"
    "param s = 0.9;\nparam a = 0.3;\nparam b : vec2 = [1, 2];\nparam d = 0.4;\nparam e = 2;\n"
    "set twice(a -> M.verts, b -> M.verts) = { (0, 1), (2, 2), (3, 4) };\n"
    "residual spring over e in M.edges { yield length(x[e.a] - x[e.b]) - s; }\n"
    "residual anchor over v in M.verts weight 0.25 loss huber(0.05) { yield x[v] - M.pos[v]; }\n"
    "residual pair over t in twice { yield x[t.a].x * x[t.b].y - 0.2, x[t.a].z; }\n"
    "residual curve over v in H.verts { yield a + b.x * v.index / (1 + b.y * v.index) - 0.4; }\n"
    "residual r0 over i in T { yield d * i.x / e; }\n"
    "residual r1 over i in T { yield d * e * i.x - 1, d - e; }\n"
    "residual r2 over i in T { yield sqrt(d + e) - i.x; }\n";

typedef struct {
    double *gradient, *blocks, *jtjv, *jtu;
    qn_i64 n, n_blocks;
} results;

static void free_results(results *of)
{
    free(of->gradient);
    free(of->blocks);
    free(of->jtjv);
    free(of->jtu);
}

static double *read_all(fixture *r, qn_buf *buf, qn_i64 n)
{
    double *out = calloc((size_t)n + 1, sizeof *out);

    must_ok(qn_fit_device_read(r->device, buf, out, n, &r->err), &r->err);
    return out;
}

/* A point, then J'J v and, if J is stored in f64, J' (J v); computed if `jacobian` is NULL. */
static void stage_all(fixture *r, qn_buf *jacobian, int is_f64, qn_buf *gradient, qn_buf *blocks,
                      qn_buf *jtu)
{
    qn_fit_device *d = r->device;
    qn_graph *g = r->graph;
    qn_err *err = &r->err;

    if (jacobian) {
        must_ok(qn_fit_stage_storing_point(d, g, r->x, r->cost, r->rows, gradient, blocks, jacobian,
                                           err),
                err);
        must_ok(qn_fit_stage_stored_jtjv(d, g, jacobian, r->v, r->out, err), err);
        if (is_f64) {
            must_ok(qn_fit_stage_stored_jv(d, g, jacobian, r->v, r->rows, err), err);
            must_ok(qn_fit_stage_stored_jtu(d, g, jacobian, r->rows, jtu, err), err);
        }
        return;
    }
    must_ok(qn_fit_stage_point(d, g, r->x, r->cost, r->rows, gradient, blocks, err), err);
    must_ok(qn_fit_stage_jtjv(d, g, r->x, r->v, r->out, err), err);
}

/* Returns 0 if there is no such backend. */
static int results_of(const char *backend, int is_stored, qn_fit_precision storage, results *out)
{
    fixture r;
    qn_buf *jacobian = NULL, *gradient = NULL, *blocks = NULL, *jtu = NULL;
    double cost;

    if (!open_fixture(&r, fit_load(TEXT, NULL), backend, QN_FIT_F64))
        return 0;
    qn_fit_device_set_storage(r.device, storage);
    must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
    make_tangent(&r);
    if (is_stored)
        must_ok(qn_fit_device_jacobian(r.device, "jacobian", &jacobian, &r.err), &r.err);
    must_ok(qn_fit_device_vector(r.device, "gradient", NULL, &gradient, &r.err), &r.err);
    must_ok(qn_fit_device_vector(r.device, "jtu", NULL, &jtu, &r.err), &r.err);
    must_ok(qn_fit_device_blocks(r.device, "blocks", &blocks, &r.err), &r.err);
    stage_all(&r, jacobian, storage == QN_FIT_F64, gradient, blocks, jtu);
    /* Twice, since old content of buffers must not matter. */
    run_graph(&r);
    run_graph(&r);
    out->n = r.p->n_scalars;
    out->n_blocks = fit_diagonal_size(r.p);
    out->gradient = read_all(&r, gradient, out->n);
    out->blocks = read_all(&r, blocks, out->n_blocks);
    out->jtjv = read_all(&r, r.out, out->n);
    out->jtu = read_all(&r, jtu, out->n);
    qn_graph_free(r.graph);
    r.graph = NULL;
    qn_buf_free(jacobian);
    qn_buf_free(gradient);
    qn_buf_free(blocks);
    qn_buf_free(jtu);
    close_fixture(&r);
    return 1;
}

static void assert_all_near(const double *got, const double *want, qn_i64 n, double tolerance,
                            const char *what)
{
    double largest = 0;

    for (qn_i64 k = 0; k < n; k++)
        largest = fabs(want[k]) > largest ? fabs(want[k]) : largest;
    assert_true(largest > 0);
    for (qn_i64 k = 0; k < n; k++)
        if (!(fabs(got[k] - want[k]) <= tolerance * largest))
            fail_msg("%s: number %lld is %.17g instead of %.17g", what, (long long)k, got[k],
                     want[k]);
}

static void a_stored_jacobian_gives_what_a_computed_one_does(void **state)
{
    results want, got;

    (void)state;
    assert_true(results_of("cpu", 0, QN_FIT_F64, &want));
    assert_true(results_of("cpu", 1, QN_FIT_F64, &got));
    assert_all_near(got.gradient, want.gradient, want.n, 1e-13, "gradient");
    assert_all_near(got.blocks, want.blocks, want.n_blocks, 1e-13, "diagonal");
    assert_all_near(got.jtjv, want.jtjv, want.n, 1e-13, "J'J v");
    assert_all_near(got.jtu, want.jtjv, want.n, 1e-13, "J' (J v)");
    free_results(&got);
    /* Rounding affects products, but not the gradient and the diagonal. */
    assert_true(results_of("cpu", 1, QN_FIT_F32, &got));
    assert_all_near(got.gradient, want.gradient, want.n, 1e-13, "gradient");
    assert_all_near(got.blocks, want.blocks, want.n_blocks, 1e-13, "diagonal");
    assert_all_near(got.jtjv, want.jtjv, want.n, 1e-6, "J'J v in f32");
    assert_true(memcmp(got.jtjv, want.jtjv, (size_t)want.n * sizeof *want.jtjv) != 0);
    free_results(&got);
    free_results(&want);
}

/* Only + - * / and roots: the same bits on every device. Springs use f32 on OpenCL.
 */
static void stored_products_have_the_same_bits_everywhere(void **state)
{
    static const struct {
        const char *backend;
        qn_fit_precision storage;
    } cases[] = { { "sim", QN_FIT_F64 },
                  { "sim", QN_FIT_F32 },
                  { "opencl", QN_FIT_F64 },
                  { "cuda", QN_FIT_F64 },
                  { "cuda", QN_FIT_F32 } };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        results want, got;

        if (!results_of(cases[k].backend, 1, cases[k].storage, &got))
            continue;
        assert_true(results_of("cpu", 1, cases[k].storage, &want));
        assert_memory_equal(got.gradient, want.gradient, (size_t)want.n * 8);
        assert_memory_equal(got.blocks, want.blocks, (size_t)want.n_blocks * 8);
        assert_memory_equal(got.jtjv, want.jtjv, (size_t)want.n * 8);
        assert_memory_equal(got.jtu, want.jtu, (size_t)want.n * 8);
        free_results(&got);
        free_results(&want);
    }
}

/* The choice of auto. */

static int is_stored(const qn_fit_problem *p, qn_fit_accumulate how)
{
    qn_ctx *ctx = open_if_present("cpu");
    qn_fit_device *device = NULL;
    qn_err err = { .text = "" };
    int answer = -1;

    must_ok(qn_fit_device_new(ctx, p, QN_FIT_F64, &device, &err), &err);
    qn_fit_device_set_accumulate(device, how);
    must_ok(qn_fit_device_choose_stored(device, &answer, &err), &err);
    qn_fit_device_free(device);
    qn_ctx_close(ctx);
    return answer;
}

static void short_terms_are_computed_and_long_ones_stored(void **state)
{
    qn_fit_problem *springs = NULL, *cameras = NULL;
    qn_fit_text *text =
        fit_load("fit 1;\nmesh M = grid(80, 50, 1, 1);\nparam b : vec3 = [0.1, 0.2, 0.3];\n"
                 "residual r over v in M.verts {\n"
                 "  yield exp(b.x * v.index) * sin(b.y * v.index) * cos(b.z * v.index) - 1; }\n",
                 NULL);
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_case_springs(3000, &springs, &err), &err);
    must_ok(qn_fit_case_cameras(3000, &cameras, &err), &err);
    assert_int_equal(is_stored(springs, QN_FIT_ACCUMULATE_AUTO), 0);
    assert_int_equal(is_stored(springs, QN_FIT_ACCUMULATE_GATHER), 0);
    assert_int_equal(is_stored(cameras, QN_FIT_ACCUMULATE_AUTO), 0);
    assert_int_equal(is_stored(text->problem, QN_FIT_ACCUMULATE_AUTO), 1);
    assert_int_equal(is_stored(text->problem, QN_FIT_ACCUMULATE_ATOMIC), 0);
    qn_fit_problem_free(springs);
    qn_fit_problem_free(cameras);
    qn_fit_text_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stored_jacobian_gives_what_a_computed_one_does),
        cmocka_unit_test(stored_products_have_the_same_bits_everywhere),
        cmocka_unit_test(short_terms_are_computed_and_long_ones_stored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
