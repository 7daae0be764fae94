/* perf_fit_solve.c - whole solves of springs, cameras and hinges, timed.
 *
 * Without arguments it runs small cases, whose results are checked. To measure:
 *
 *     perf_fit_solve B5 what=springs level=7 backend=cuda goal=1e-12 repeats=3
 *     perf_fit_solve B5 what=cameras cameras=1000 points=200000 linear=schur_pcg threads=2
 *     perf_fit_solve B5 what=springs level=7 backend=cuda speculate=0
 *     perf_fit_solve B5 what=springs level=7 backend=cuda jacobian=stored storage=f32
 *     perf_fit_solve B6 level=6 backend=cuda
 *
 * prints a line of JSON for each case; without backend= the solvers run in host memory.
 */
#include "test.h"

#include "lab/fit/bench/bench.h"

static const char *value_of(int argc, char **argv, const char *key)
{
    const size_t n = strlen(key);

    for (int k = 2; k < argc; k++)
        if (!strncmp(argv[k], key, n) && argv[k][n] == '=')
            return argv[k] + n + 1;
    return NULL;
}

static double number(int argc, char **argv, const char *key)
{
    const char *text = value_of(argc, argv, key);

    return text ? atof(text) : 0;
}

static int measure(int argc, char **argv)
{
    const char *backend = value_of(argc, argv, "backend"), *linear = value_of(argc, argv, "linear");
    const char *precision = value_of(argc, argv, "precision");
    const char *jacobian = value_of(argc, argv, "jacobian");
    const char *storage = value_of(argc, argv, "storage");
    const qn_fit_bench_solve_options o = {
        .name = argv[1],
        .only = value_of(argc, argv, "what"),
        .level = (int)number(argc, argv, "level"),
        .n_cameras = (int)number(argc, argv, "cameras"),
        .n_points = (int)number(argc, argv, "points"),
        .goal = number(argc, argv, "goal"),
        .repeats = (int)number(argc, argv, "repeats"),
        .n_threads = (int)number(argc, argv, "threads"),
        .speculate = value_of(argc, argv, "speculate"),
        .linear = linear ? (qn_fit_linear_kind)qn_fit_linear_find(linear) : QN_FIT_LINEAR_AUTO,
        .precision = precision && !strcmp(precision, "f32") ? QN_FIT_F32 : QN_FIT_F64,
        .jacobian = jacobian && !strcmp(jacobian, "stored") ? QN_FIT_JACOBIAN_STORED
                    : jacobian && !strcmp(jacobian, "free") ? QN_FIT_JACOBIAN_FREE
                                                            : QN_FIT_JACOBIAN_AUTO,
        .storage = storage && !strcmp(storage, "f32") ? QN_FIT_F32 : QN_FIT_F64,
    };
    json_t *rows = json_array();
    qn_ctx *ctx = NULL;
    qn_err err = { .text = "" };
    qn_status st = QN_OK;
    size_t k;
    json_t *row;

    if (backend)
        st =
            qn_ctx_open(&QN_OPTIONS(.backend = backend, .fallback = QN_FALLBACK_ERROR), &ctx, &err);
    if (st == QN_OK)
        st = qn_fit_bench_solve(ctx, &o, rows, &err);
    json_array_foreach(rows, k, row)
    {
        json_dumpf(row, stdout, JSON_REAL_PRECISION(10));
        printf("\n");
    }
    if (st != QN_OK)
        printf("%s\n", err.text);
    json_decref(rows);
    qn_ctx_close(ctx);
    return st != QN_OK;
}

static double value(const json_t *rows, const char *key)
{
    return json_real_value(json_object_get(json_array_get(rows, 0), key));
}

/* `start`: the cost that other programs compute for the same numbers. */
static void solve_small(const char *name, const char *what, double start, double tolerance,
                        double below)
{
    const qn_fit_bench_solve_options o = {
        .name = name, .only = what, .level = 2, .n_cameras = 8, .n_points = 100, .repeats = 1
    };
    json_t *rows = json_array();
    qn_err err = { .text = "" };

    if (qn_fit_bench_solve(NULL, &o, rows, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(json_array_size(rows), 1);
    assert_true(fabs(value(rows, "initial_cost") - start) < tolerance * start);
    assert_true(value(rows, "final_cost") < below);
    assert_true(value(rows, "best_s") > 0);
    json_decref(rows);
}

static void springs_come_to_rest(void **state)
{
    (void)state;
    solve_small("B5", "springs", 1.310225740351e-01, 1e-11, 1e-12);
}

static void cameras_come_down_to_the_noise(void **state)
{
    (void)state;
    solve_small("B5", "cameras", 2.769211373999e+04, 1e-11, 104.5875);
}

static void hinges_fold(void **state)
{
    (void)state;
    solve_small("B6", "hinge", 14.398495364732199, 1e-7, 4);
}

static void other_names_are_refused(void **state)
{
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(
        qn_fit_bench_solve(NULL, &(qn_fit_bench_solve_options){ .name = "B9" }, NULL, &err),
        QN_ERR_USAGE);
    assert_string_equal(err.text, "there is no bench of solves B9 (B5, B6)");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_come_to_rest),
        cmocka_unit_test(cameras_come_down_to_the_noise),
        cmocka_unit_test(hinges_fold),
        cmocka_unit_test(other_names_are_refused),
    };

    return argc > 1 ? measure(argc, argv) : cmocka_run_group_tests(tests, NULL, NULL);
}
