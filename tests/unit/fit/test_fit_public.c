/* test_fit_public.c - <quern/fit.h>: programs with files and columns in memory, options, faults. */
#include "engine_fixture.h"

#include <quern/fit.h>

#include <math.h>

static const char line_program[] =
    "fit 1;\ntable T = csv(\"t.csv\", header=1);\nparam a = 0;\nparam b = 0;\n"
    "residual r over i in T { yield i.y - (a + b*i.x); }\n";

static void a_program_is_solved_with_files_in_memory(void **state)
{
    static const char table[] = "x,y\n0,1\n1,3\n2,5\n3,7.5\n";
    const qn_fit_file file = { "t.csv", table, sizeof table - 1 };
    const char *const start = "a=0.5";
    qn_fit_options options;
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_fit_solution *solution = NULL;
    qn_fit_parameter p;

    (void)state;
    qn_fit_options_init(&options, sizeof options);
    options.files = &file;
    options.n_files = 1;
    options.set = &start;
    options.n_set = 1;
    must(qn_fit_solve_program(ctx, line_program, &options, &solution, NULL, &failure));
    assert_true(qn_fit_solution_is_converged(solution));
    assert_int_equal(qn_fit_solution_n_parameters(solution), 2);
    qn_fit_solution_parameter(solution, 1, &p);
    assert_string_equal(p.name, "b");
    assert_true(fabs(p.values[0] - 2.15) < 1e-6 && p.start[0] == 0 && p.deviations[0] > 0);
    qn_fit_solution_parameter(solution, 0, &p);
    assert_true(p.start[0] == 0.5);
    assert_non_null(strstr(qn_fit_solution_report(solution), "\"final_cost\""));
    qn_fit_solution_free(solution);
    qn_ctx_close(ctx);
}

/* The parameters of line_program for these columns, or the status of the failure. */
static qn_status solve_columns(qn_ctx *ctx, const qn_fit_column *columns, size_t n, double *ab)
{
    qn_fit_options options;
    qn_fit_solution *solution = NULL;
    qn_fit_parameter p;
    qn_status st;

    qn_fit_options_init(&options, sizeof options);
    options.columns = columns;
    options.n_columns = n;
    st = qn_fit_solve_program(ctx, line_program, &options, &solution, NULL, &failure);
    for (int i = 0; st == QN_OK && i < 2; i++) {
        qn_fit_solution_parameter(solution, i, &p);
        ab[i] = p.values[0];
    }
    qn_fit_solution_free(solution);
    return st;
}

static void tables_of_a_program_are_arrays(void **state)
{
    static const struct {
        float x;
        double y;
    } rows[] = { { 0, 1 }, { 1, 3 }, { 2, 5 }, { 3, 7.5 } };
    static const int64_t x[] = { 0, 1, 2, 3 };
    static const double y[] = { 1, 3, 5, 7.5 };
    const qn_fit_column columns[] = {
        { "t.csv", "x", x, 4, 0, QN_FIT_COLUMN_I64 },
        { "other.csv", "x", y, 1, 0, QN_FIT_COLUMN_F64 },
        { "t.csv", "y", y, 4, 0, QN_FIT_COLUMN_F64 },
    };
    const qn_fit_column strided[] = {
        { "t.csv", "x", &rows[0].x, 4, sizeof rows[0], QN_FIT_COLUMN_F32 },
        { "t.csv", "y", &rows[0].y, 4, sizeof rows[0], QN_FIT_COLUMN_F64 },
    };
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    double want[2], got[2];

    (void)state;
    must(solve_columns(ctx, columns, 3, want));
    must(solve_columns(ctx, strided, 2, got));
    assert_memory_equal(got, want, sizeof want);
    assert_true(fabs(want[1] - 2.15) < 1e-6);
    qn_ctx_close(ctx);
}

static void wrong_columns_are_refused_by_name(void **state)
{
    static const double y[] = { 1, 3, 5, NAN };
    const qn_fit_column x = { "t.csv", "x", y, 3, 0, QN_FIT_COLUMN_F64 };
    const struct {
        qn_fit_column column;
        qn_status want;
        const char *text;
    } cases[] = {
        { { "t.csv", "y", y, 4, 0, 0 },
          QN_ERR_INPUT,
          "t.csv: column y has 4 rows, column x has 3" },
        { { "t.csv", "y", y, 3, 0, 7 }, QN_ERR_INPUT, "t.csv: column y has the unknown type 7" },
        { { "t.csv", "", y, 3, 0, 0 }, QN_ERR_INPUT, "t.csv: the name of a column has 1 to 31" },
        { { "t.csv", "y", NULL, 3, 0, 0 }, QN_ERR_INPUT, "t.csv: column y has 3 rows" },
        { { "t.csv", "y", y + 1, 3, 0, 0 },
          QN_ERR_INPUT,
          "t.csv: column y, row 3: nan is not finite" },
        { { "u.csv", "y", y, 3, 0, 0 }, QN_ERR_INPUT, "has no field y" },
    };
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    double ab[2];

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const qn_fit_column columns[] = { x, cases[k].column };

        must_fail(solve_columns(ctx, columns, 2, ab), cases[k].want, cases[k].text);
    }
    qn_ctx_close(ctx);
}

static void options_of_fits_are_checked(void **state)
{
    const char *const reports[] = { "r.json", "r.txt" }, *const set = "a";
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_fit_solution *solution = NULL;
    qn_fit_options o, unset = { 0 };

    (void)state;
    must_fail(qn_fit_solve_program(ctx, line_program, &unset, &solution, NULL, &failure),
              QN_ERR_USAGE, "qn_fit_options: a struct of 0 bytes is unknown");
    qn_fit_options_init(&o, sizeof o);
    o.report = reports;
    o.n_report = 2;
    must_fail(qn_fit_solve_program(ctx, line_program, &o, &solution, NULL, &failure), QN_ERR_USAGE,
              "report: 'r.txt' does not end in .json or .html");
    o.n_report = 0;
    o.set = &set;
    o.n_set = 1;
    must_fail(qn_fit_solve_program(ctx, line_program, &o, &solution, NULL, &failure), QN_ERR_USAGE,
              "set: 'a' is not NAME=VALUE");
    assert_null(solution);
    qn_ctx_close(ctx);
}

/* The progress passed to a callback. */
typedef struct {
    int n, stop_at; /* 0: never */
    qn_fit_progress last;
} watched;

static int watch(void *user, const qn_fit_progress *progress)
{
    watched *w = user;

    assert_int_equal(progress->iteration, ++w->n);
    assert_string_equal(progress->solver, progress->solve ? "lm" : "lbfgs");
    assert_int_equal(progress->max_iterations, progress->solve ? 50 : 30);
    w->last = *progress;
    if (w->n == w->stop_at)
        return 7;
    return 0;
}

/* Solves a line twice, by lbfgs and then lm, until iteration `stop_at` of the first. */
static qn_fit_solution *solve_watched(const char *backend, int stop_at, watched *first,
                                      watched *second)
{
    static const char program[] = "fit 1;\ntable T(x, y) = { 0 1; 1 3; 2 5; 3 7.5 };\n"
                                  "param a = 0;\nparam b = 0;\n"
                                  "residual r over i in T { yield i.y - (a + exp(b)*i.x); }\n"
                                  "solve lbfgs { max_iterations = 30; }\n";
    char twice[600];
    const qn_fit_callback callbacks[] = { { watch, first }, { watch, second } };
    qn_fit_options options;
    qn_fit_solution *solution = NULL;
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = backend));

    *first = (watched){ .stop_at = stop_at };
    *second = (watched){ .stop_at = 0 };
    snprintf(twice, sizeof twice, "%s%s", program, stop_at ? "solve lm { }\n" : "");
    qn_fit_options_init(&options, sizeof options);
    options.callbacks = callbacks;
    options.n_callbacks = 2;
    must(qn_fit_solve_program(ctx, twice, &options, &solution, NULL, &failure));
    qn_ctx_close(ctx);
    return solution;
}

static void callbacks_see_every_iteration(void **state)
{
    static const char *const backends[] = { "cpu", "sim" };
    watched first, second;
    qn_fit_parameter a;
    qn_fit_ending end;

    (void)state;
    for (int k = 0; k < 2; k++) {
        qn_fit_solution *s = solve_watched(backends[k], 0, &first, &second);
        const char *report = qn_fit_solution_report(s);
        char accepted[40];

        assert_true(qn_fit_solution_is_converged(s));
        snprintf(accepted, sizeof accepted, "\"accepted\": %d,", first.n);
        assert_non_null(strstr(report, accepted));
        assert_true(first.n > 3 && second.n == first.n && first.last.is_accepted);
        qn_fit_solution_parameter(s, 0, &a);
        assert_true(isfinite(a.values[0]) && first.last.cost < 0.1);
        qn_fit_solution_ending(s, &end);
        assert_true(strncmp(end.status, "converged_", 10) == 0);
        assert_true(strncmp(end.device, backends[k], 3) == 0);
        qn_fit_solution_free(s);
    }
}

static void a_callback_stops_the_program_where_it_is(void **state)
{
    static const char *const backends[] = { "cpu", "sim" };
    watched first, second;
    qn_fit_parameter a;
    qn_fit_ending end;

    (void)state;
    for (int k = 0; k < 2; k++) {
        qn_fit_solution *s = solve_watched(backends[k], 2, &first, &second);

        assert_true(first.n == 2 && second.n == 2); /* and no iteration of the second solve */
        assert_false(qn_fit_solution_is_converged(s));
        qn_fit_solution_ending(s, &end);
        assert_string_equal(end.status, "user_stop");
        assert_string_equal(end.text, "stopped by the caller after 2 iterations");
        assert_non_null(strstr(qn_fit_solution_report(s), "\"status\": \"user_stop\""));
        assert_non_null(strstr(qn_fit_solution_summary(s), "user_stop: stopped by the caller"));
        qn_fit_solution_parameter(s, 0, &a);
        assert_true(a.values[0] != a.start[0]);
        qn_fit_solution_free(s);
    }
}

static void all_faults_of_a_program_are_reported(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_fit_solution *solution = NULL;
    char *faults = NULL;

    (void)state;
    must_fail(qn_fit_solve_program(ctx, "fit 1;\nparam a = x;\nparam b = y;\n", NULL, &solution,
                                   &faults, &failure),
              QN_ERR_INPUT, "program:2");
    assert_non_null(strstr(faults, "program:3"));
    qn_fit_faults_free(faults);
    must_fail(qn_fit_solve_program(ctx, line_program, NULL, &solution, NULL, &failure),
              QN_ERR_INPUT, "t.csv: it is not among the 0 files given");
    assert_null(solution);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_solved_with_files_in_memory),
        cmocka_unit_test(tables_of_a_program_are_arrays),
        cmocka_unit_test(wrong_columns_are_refused_by_name),
        cmocka_unit_test(options_of_fits_are_checked),
        cmocka_unit_test(callbacks_see_every_iteration),
        cmocka_unit_test(a_callback_stops_the_program_where_it_is),
        cmocka_unit_test(all_faults_of_a_program_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
