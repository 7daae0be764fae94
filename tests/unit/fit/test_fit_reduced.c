/* test_fit_reduced.c - which blocks a reduced matrix has, when it is stored, and that solves with
 * it are reproducible to the last bit. */
#include "fit_backends.h"

#include "lab/fit/bench/cases.h"
#include "domain/fit/resident/resident_impl.h"

typedef struct sight {
    uint32_t cam, pt;
} sight;

enum { MOST = 128 };

/* One number shared by the camera and the point of each observation. */
static qn_fit_problem *seen(uint32_t n_cameras, uint32_t dim, uint32_t n_points, const sight *of,
                            uint32_t n)
{
    static const double start[MOST * 9];
    static uint32_t cam[MOST], pt[MOST];
    const uint32_t *const blocks[] = { cam, pt };
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    int sets[2];

    for (uint32_t k = 0; k < n; k++) {
        cam[k] = of[k].cam;
        pt[k] = of[k].pt;
    }
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "cam", n_cameras, dim, start, &sets[0], &err), &err);
    must_ok(qn_fit_problem_add_set(p, "pt", n_points, 1, start, &sets[1], &err), &err);
    must_ok(qn_fit_problem_eliminate(p, sets[1], &err), &err);
    begin("seen");
    row(sub(mul(qn_fit_param(G, 0, 0), qn_fit_param(G, 1, 0)), lit(1)));
    must_ok(qn_fit_problem_add_group(p,
                                     &(qn_fit_group_spec){ .name = "seen",
                                                           .graph = G,
                                                           .n = n,
                                                           .n_slots = 2,
                                                           .slot_set = sets,
                                                           .slot_block = blocks },
                                     &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    return p;
}

static void blocks_that_share_a_point_meet(void **state)
{
    static const sight of[] = {
        { 0, 0 }, { 1, 0 }, { 1, 1 }, { 2, 1 }, { 3, 2 }, { 2, 3 }, { 1, 3 }
    };
    static const qn_i64 start[] = { 0, 2, 5, 7, 8 };
    static const uint32_t column[] = { 0, 1, 0, 1, 2, 1, 2, 3 };
    static const uint32_t row_of[] = { 0, 1, 1, 2, 2, 3 }, other[] = { 0, 0, 1, 1, 2, 3 };
    static const uint32_t where[] = { 0, 2, 3, 5, 6, 7 }, cross[] = { 0, 1, 3, 4, 6, 7 };
    static const qn_i64 pairs[] = { 0, 1, 2, 5, 7, 9, 10 };
    qn_fit_problem *p = seen(4, 1, 4, of, 7);
    qn_fit_reduced_pattern t = { 0 };
    qn_err err = { .text = "" };
    const char *why;

    (void)state;
    must_ok(qn_fit_reduced_pattern_new(p, &t, &why, &err), &err);
    assert_null(why);
    assert_int_equal(t.n_blocks, 4);
    assert_int_equal(t.n_lower, 6);
    assert_memory_equal(t.start, start, sizeof start);
    assert_memory_equal(t.column, column, sizeof column);
    assert_memory_equal(t.row, row_of, sizeof row_of);
    assert_memory_equal(t.of, other, sizeof other);
    assert_memory_equal(t.where, where, sizeof where);
    assert_memory_equal(t.cross, cross, sizeof cross);
    assert_memory_equal(t.pairs, pairs, sizeof pairs);
    qn_fit_reduced_pattern_free(&t);
    qn_fit_problem_free(p);
}

/* The entries of cameras 0 and 1 are consecutive: 0 | 1 2 3. */
static void a_pair_names_entries_of_both_blocks(void **state)
{
    static const sight of[] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 1, 2 } };
    qn_fit_problem *p = seen(2, 1, 3, of, 4);
    qn_fit_reduced_pattern t = { 0 };
    qn_err err = { .text = "" };
    uint32_t left[5], right[5];
    const char *why;

    (void)state;
    must_ok(qn_fit_reduced_pattern_new(p, &t, &why, &err), &err);
    assert_int_equal(t.n_lower, 3);
    assert_int_equal(t.pairs[3], 5);
    assert_true(qn_fit_reduced_pattern_pairs(p, &t, left, right));
    assert_int_equal(left[t.pairs[1]], 1);
    assert_int_equal(right[t.pairs[1]], 0);
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(left[t.pairs[2] + k], 1 + k);
        assert_int_equal(right[t.pairs[2] + k], 1 + k);
    }
    qn_fit_reduced_pattern_free(&t);
    qn_fit_problem_free(p);
}

static void is_refused(qn_fit_problem *p, const char *reason)
{
    qn_fit_reduced_pattern t = { 0 };
    qn_err err = { .text = "" };
    const char *why = NULL;

    must_ok(qn_fit_reduced_pattern_new(p, &t, &why, &err), &err);
    assert_non_null(why);
    assert_string_equal(why, reason);
    assert_null(t.start);
    qn_fit_problem_free(p);
}

static qn_fit_problem *all_see_one_point(uint32_t n_cameras)
{
    sight of[MOST];

    for (uint32_t k = 0; k < n_cameras; k++)
        of[k] = (sight){ k, 0 };
    return seen(n_cameras, 9, 1, of, n_cameras);
}

static void a_matrix_that_does_not_pay_is_not_stored(void **state)
{
    (void)state;
    is_refused(all_see_one_point(20), "the reduced matrix is larger than its factors");
    is_refused(all_see_one_point(100), "eliminated blocks are shared by too many kept ones");
}

static void several_kept_sets_have_no_matrix(void **state)
{
    static const double start[2];
    const uint32_t a[] = { 0 }, *const blocks[] = { a, a, a };
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    int sets[3];

    (void)state;
    must_ok(qn_fit_problem_new(&p, &err), &err);
    for (int k = 0; k < 3; k++)
        must_ok(qn_fit_problem_add_set(p, k ? k > 1 ? "pt" : "lens" : "cam", 1, 1, start, &sets[k],
                                       &err),
                &err);
    must_ok(qn_fit_problem_eliminate(p, sets[2], &err), &err);
    begin("seen");
    row(sub(mul(qn_fit_param(G, 0, 0), qn_fit_param(G, 1, 0)), qn_fit_param(G, 2, 0)));
    must_ok(qn_fit_problem_add_group(p,
                                     &(qn_fit_group_spec){ .name = "seen",
                                                           .graph = G,
                                                           .n = 1,
                                                           .n_slots = 3,
                                                           .slot_set = sets,
                                                           .slot_block = blocks },
                                     &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    is_refused(p, "several sets are kept");
}

/* Solves. */

static void solve_on(const char *backend, int threads, double *x, uint32_t n)
{
    qn_ctx *ctx = NULL;
    qn_fit_problem *p = NULL;
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    must_ok(qn_ctx_open(&QN_OPTIONS(.backend = backend, .threads = threads), &ctx, &err), &err);
    must_ok(qn_fit_case_arc_of_cameras(40, 400, &p, &err), &err);
    assert_int_equal(p->n_scalars, n);
    qn_fit_solve_options_default(&o);
    must_ok(qn_fit_solve_lm_on(ctx, p, QN_FIT_F64, &o, &r, &err), &err);
    assert_non_null(strstr(r.note, "a reduced matrix of 440 blocks"));
    assert_true(qn_fit_end_is_converged(r.end));
    memcpy(x, p->x, n * sizeof *x);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
}

static void solves_repeat_to_the_last_bit(void **state)
{
    enum { N = 40 * 9 + 400 * 3 };
    static double want[N], got[N];

    (void)state;
    solve_on("cpu", 1, want, N);
    solve_on("cpu", 2, got, N);
    assert_memory_equal(got, want, sizeof want);
    solve_on("sim", 1, got, N);
    assert_memory_equal(got, want, sizeof want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_share_a_point_meet),
        cmocka_unit_test(a_pair_names_entries_of_both_blocks),
        cmocka_unit_test(a_matrix_that_does_not_pay_is_not_stored),
        cmocka_unit_test(several_kept_sets_have_no_matrix),
        cmocka_unit_test(solves_repeat_to_the_last_bit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
