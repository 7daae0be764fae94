/* test_fit_batches.c - dispatches of a limited number of instances give the bits of a single
 * one. */
/* test: quick-opencl */
#include "fit_device_fixture.h"

#include "domain/fit/problem/sum_order.h"
#include "lab/fit/bench/cases.h"
#include "domain/fit/resident/resident.h"

static const char *const places[] = { "cpu", "sim", "opencl", "cuda" };
enum { N_PLACES = sizeof places / sizeof *places };

#define FILM                                                                                       \
    "fit 1;\nmesh M = icosphere(1, 1);\n"                                                          \
    "param x[M.verts] : vec3 = 1.1 * M.pos fixed where self.index == 3;\n"                         \
    "data rest[M.edges] = length(M.pos[self.a] - M.pos[self.b]);\n"                                \
    "residual spring over e in M.edges { yield length(x[e.a] - x[e.b]) - rest[e]; }\n"             \
    "residual anchor over v in M.verts weight 0.01 loss huber(0.1) { yield x[v] - M.pos[v]; }\n"

/* With groups so small that they share a dispatch unless there is a limit. */
static const char FEW[] =
    FILM "residual first over v in M.verts where v.index == 0 { yield x[v].x - 1, x[v].y; }\n"
         "residual second over v in M.verts where v.index == 1 { yield x[v].z; }\n"
         "residual third over v in M.verts where v.index == 2 { yield x[v].y * x[v].z; }\n";

/* More than a chunk of rows over one pair of parameters. */
static const char CURVE[] = "fit 1;\nmesh M = grid(68, 68, 1, 1);\nparam a = 1;\nparam b = 0.5;\n"
                            "residual r over v in M.verts {\n"
                            "  yield a*M.pos[v].x - b*b*M.pos[v].y - 0.3; }\n";

/* One evaluation. */

/* The results of an evaluation: cost, gradient and diagonal of a point, the gradient alone, and a
 * product with J'J. */
typedef struct {
    double *numbers;
    qn_i64 n;
    int stages;
} found;

static void add_numbers(fixture *r, qn_buf *buf, qn_i64 n, found *f)
{
    f->numbers = realloc(f->numbers, (size_t)(f->n + n) * sizeof *f->numbers);
    must_ok(qn_fit_device_read(r->device, buf, f->numbers + f->n, n, &r->err), &r->err);
    f->n += n;
}

static found evaluate(const char *backend, const char *text, qn_fit_accumulate how, qn_i64 most)
{
    fixture r;
    qn_buf *blocks = NULL;
    found f = { 0 };
    double cost;

    if (!open_fixture(&r, fit_load(text, NULL), backend, QN_FIT_F64))
        return f;
    qn_fit_device_set_accumulate(r.device, how);
    must_ok(qn_fit_device_set_batch_size(r.device, most, &r.err), &r.err);
    must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
    make_tangent(&r);
    must_ok(qn_fit_device_blocks(r.device, "blocks", &blocks, &r.err), &r.err);
    must_ok(qn_fit_stage_point(r.device, r.graph, r.x, r.cost, r.rows, r.out, blocks, &r.err),
            &r.err);
    run_graph(&r);
    f.stages = qn_graph_get_stats(r.graph).n_stages;
    add_numbers(&r, r.out, r.p->n_scalars, &f);
    add_numbers(&r, blocks, fit_diagonal_size(r.p), &f);
    add_numbers(&r, r.cost, r.p->n_groups + 1, &f);
    for (int product = 0; product < 2; product++) {
        qn_graph_free(r.graph);
        must(qn_graph_new(r.ctx, "fit", &r.graph, &failure));
        must_ok(product ? qn_fit_stage_jtjv(r.device, r.graph, r.x, r.v, r.out, &r.err)
                        : qn_fit_stage_gradient(r.device, r.graph, r.x, r.cost, r.out, &r.err),
                &r.err);
        run_graph(&r);
        add_numbers(&r, r.out, r.p->n_scalars, &f);
    }
    qn_graph_free(r.graph);
    r.graph = NULL;
    qn_buf_free(blocks);
    close_fixture(&r);
    return f;
}

static void same_for(const char *backend, const char *text, qn_fit_accumulate how,
                     const qn_i64 *sizes, int n_sizes)
{
    const found whole = evaluate(backend, text, how, 0);

    for (int k = 0; whole.numbers && k < n_sizes; k++) {
        const found parts = evaluate(backend, text, how, sizes[k]);

        assert_int_equal(parts.n, whole.n);
        for (qn_i64 i = 0; i < whole.n; i++)
            if (!(parts.numbers[i] == whole.numbers[i]))
                fail_msg("%s, %lld at a time: number %lld is %.17g instead of %.17g", backend,
                         (long long)sizes[k], (long long)i, parts.numbers[i], whole.numbers[i]);
        free(parts.numbers);
    }
    free(whole.numbers);
}

static void gathered_sums_do_not_depend_on_the_cuts(void **state)
{
    static const qn_i64 sizes[] = { 1, 7, 1000 };

    (void)state;
    for (int k = 0; k < N_PLACES; k++)
        same_for(places[k], k < 2 ? FEW : FILM, QN_FIT_ACCUMULATE_GATHER, sizes, 3);
}

static void owners_do_not_depend_on_the_cuts(void **state)
{
    static const qn_i64 sizes[] = { 7, 1, 1000 };

    (void)state;
    for (int k = 0; k < 2; k++)
        same_for(places[k], FEW, QN_FIT_ACCUMULATE_OWNER, sizes, 3);
}

/* Summed in the kernel if parts are whole chunks, gathered if they are smaller. */
static void sums_inside_of_kernels_do_not_depend_on_the_cuts(void **state)
{
    static const qn_i64 sizes[] = { QN_FIT_CHUNK, 1000, 50 };

    (void)state;
    for (int k = 0; k < 2; k++)
        same_for(places[k], CURVE, QN_FIT_ACCUMULATE_AUTO, sizes, 3);
}

/* Dispatches. */

static void a_group_is_dispatched_in_equal_parts(void **state)
{
    /* 120 springs and 42 anchors; all other groups have one instance, and two of these would be
     * fused.
     */
    static const struct {
        qn_i64 most;
        int parts;
    } cases[] = { { 1, 120 + 42 + 3 }, { 7, 18 + 6 + 3 }, { 60, 2 + 1 + 3 }, { 1000, 5 } };
    const found whole = evaluate("sim", FEW, QN_FIT_ACCUMULATE_GATHER, 0);

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const found f = evaluate("sim", FEW, QN_FIT_ACCUMULATE_GATHER, cases[k].most);

        assert_int_equal(f.stages - whole.stages, cases[k].parts - 3);
        free(f.numbers);
    }
    free(whole.numbers);
}

static void too_many_parts_are_refused(void **state)
{
    fixture r;

    (void)state;
    assert_true(open_fixture(&r,
                             fit_load("fit 1;\nmesh M = grid(260, 260, 1, 1);\nparam a = 1;\n"
                                      "residual r over v in M.verts { yield a - M.pos[v].x; }\n",
                                      NULL),
                             "sim", QN_FIT_F64));
    assert_int_equal(qn_fit_device_set_batch_size(r.device, 1, &r.err), QN_ERR_LIMIT);
    assert_non_null(strstr(r.err.text, "batch_size = 1: 68121 instances of r are more than 65536"));
    assert_int_equal(qn_fit_device_set_batch_size(r.device, 2, &r.err), QN_OK);
    close_fixture(&r);
}

/* Whole solves. */

typedef qn_status solver(qn_ctx *, qn_fit_problem *, qn_fit_precision, const qn_fit_solve_options *,
                         qn_fit_report *, qn_err *);

static void solves_agree(qn_fit_problem *(*make)(void), solver *solve, qn_fit_linear_kind linear)
{
    qn_ctx *ctx = open_if_present("sim");
    double *want = NULL;

    for (int k = 0; k < 2; k++) {
        qn_fit_problem *p = make();
        qn_fit_solve_options o;
        qn_fit_report r;
        qn_err err = { .text = "" };

        qn_fit_solve_options_default(&o);
        o.linear_solver = linear;
        o.max_iterations = 5;
        o.batch_size = k ? 40 : 0;
        must_ok(solve(ctx, p, QN_FIT_F64, &o, &r, &err), &err);
        assert_int_equal(r.batch_size, o.batch_size);
        assert_true(r.final_cost < r.initial_cost);
        if (k)
            assert_memory_equal(p->x, want, p->n_scalars * sizeof *want);
        else
            want = memcpy(malloc(p->n_scalars * sizeof *want), p->x, p->n_scalars * sizeof *want);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
    free(want);
    qn_ctx_close(ctx);
}

static qn_fit_problem *springs(void)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_case_noisy_springs(1, &p, &err), &err);
    return p;
}

static qn_fit_problem *hinges(void)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_case_hinges(1, &p, &err), &err);
    return p;
}

static qn_fit_problem *cameras(void)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_case_arc_of_cameras(7, 30, &p, &err), &err);
    return p;
}

static void solves_end_on_the_same_bits(void **state)
{
    (void)state;
    solves_agree(springs, qn_fit_solve_lm_on, QN_FIT_PCG);
    solves_agree(cameras, qn_fit_solve_lm_on, QN_FIT_SCHUR_PCG);
    solves_agree(hinges, qn_fit_solve_lbfgs_on, QN_FIT_LINEAR_AUTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gathered_sums_do_not_depend_on_the_cuts),
        cmocka_unit_test(owners_do_not_depend_on_the_cuts),
        cmocka_unit_test(sums_inside_of_kernels_do_not_depend_on_the_cuts),
        cmocka_unit_test(a_group_is_dispatched_in_equal_parts),
        cmocka_unit_test(too_many_parts_are_refused),
        cmocka_unit_test(solves_end_on_the_same_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
