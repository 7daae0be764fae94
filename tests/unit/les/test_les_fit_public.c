/* test_les_fit_public.c - <quern/les.h>, <quern/fit.h>, <quern/fallback.h>, <quern/abi.h>.
 */
#include "engine_fixture.h"

#include "hal/cpu/cpu_fft.h"

#include <quern/abi.h>
#include <quern/fallback.h>
#include <quern/fit.h>
#include <quern/les.h>

#include <math.h>

static qn_err err;

#define OK(call)                                                                                   \
    do {                                                                                           \
        err.text[0] = 0;                                                                           \
        if ((call) != QN_OK)                                                                       \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* `call` fails with `want`, and its message holds `part`. */
#define REFUSED(call, want, part)                                                                  \
    do {                                                                                           \
        err.text[0] = 0;                                                                           \
        assert_int_equal((call), want);                                                            \
        if (!strstr(err.text, part))                                                               \
            fail_msg("\"%s\" does not hold \"%s\"", err.text, part);                               \
    } while (0)

/* Flows. */

static void a_flow_is_stepped_and_inspected(void **state)
{
    qn_les_options options;
    static float early[32 * 32], late[32 * 32];
    double shells[64];
    qn_ctx *ctx = open_sim(NULL);
    qn_les *les = NULL;
    qn_les_size size;
    qn_les_state first, last;

    (void)state;
    if (!qn_cpu_fft_version()) {
        print_message("skipped: this build has no FFTW\n");
        qn_ctx_close(ctx);
        skip();
    }
    qn_les_options_init(&options, sizeof options);
    options.N = 32;
    options.seed = 3;
    OK(qn_les_new(ctx, &options, &les, &err));
    qn_les_get_size(les, &size);
    assert_true(size.n == 32 && size.ensemble == 1 && !size.is_f64 && size.n_shells <= 64);
    OK(qn_les_vorticity(les, early, sizeof early, &err));
    OK(qn_les_inspect(les, &first, &err));
    OK(qn_les_step(les, 18, &err));
    OK(qn_les_vorticity(les, late, sizeof late, &err));
    OK(qn_les_inspect(les, &last, &err));
    assert_true(first.step == 0 && last.step == 18 && last.time > 0);
    assert_true(last.energy < first.energy && last.energy > 0.9 * first.energy);
    assert_true(memcmp(early, late, sizeof late) != 0);
    OK(qn_les_spectrum(les, 0, shells, (size_t)size.n_shells * sizeof *shells, &err));
    REFUSED(qn_les_vorticity(les, late, 4, &err), QN_ERR_USAGE,
            "a buffer of 4 bytes for a field of 4096");
    REFUSED(qn_les_spectrum(les, 0, shells, 8, &err), QN_ERR_USAGE, "a buffer of 8 bytes");
    REFUSED(qn_les_step(les, -2, &err), QN_ERR_USAGE, "-2 steps");
    qn_les_free(les);
    qn_ctx_close(ctx);
}

static void options_without_meaning_are_refused(void **state)
{
    qn_les_result *result = NULL;
    qn_les_options odd, unset = { 0 };
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu" });
    qn_les *les = NULL;

    (void)state;
    qn_les_options_init(&odd, sizeof odd);
    odd.N = 33;
    REFUSED(qn_les_new(ctx, &odd, &les, &err), QN_ERR_USAGE, "33");
    odd.N = 8;
    REFUSED(qn_les_new(ctx, &odd, &les, &err), QN_ERR_USAGE, "N: 8 is below the least value, 16");
    REFUSED(qn_les_run(ctx, &unset, &result, &err), QN_ERR_USAGE,
            "qn_les_options: a struct of 0 bytes is unknown");
    assert_null(les);
    assert_null(result);
    qn_ctx_close(ctx);
}

static void a_run_takes_and_gives_arrays_in_memory(void **state)
{
    static double field[32 * 32];
    qn_ctx *ctx = open_sim(NULL);
    qn_les_options options;
    qn_les_result *result = NULL;
    qn_les_comparison last;
    qn_les_summary run;

    (void)state;
    if (!qn_cpu_fft_version()) {
        print_message("skipped: this build has no FFTW\n");
        qn_ctx_close(ctx);
        skip();
    }
    for (int i = 0; i < 32 * 32; i++)
        field[i] = sin(2 * M_PI * (i % 32) / 32) * cos(4 * M_PI * (i / 32) / 32);
    qn_les_options_init(&options, sizeof options);
    options.N = 32;
    options.precision = QN_LES_F64;
    options.steps = 8;
    options.stride = 4;
    options.k_cut = 5;
    options.k_mid = 8;
    options.observer = QN_LES_OBSERVE_SNAPSHOTS;
    options.ic_field = field;
    options.n_ic_field = 32 * 32;
    OK(qn_les_run(ctx, &options, &result, &err));
    qn_les_result_summary(result, &run);
    assert_true(run.n_steps == 8 && run.step_s > 0 && fabs(run.time - 0.08) < 1e-12);

    const qn_les_array *omega = qn_les_result_array(result, "omega");
    const qn_les_array *steps = qn_les_result_array(result, "steps");
    const qn_les_array *series = qn_les_result_array(result, "series");
    assert_string_equal(omega->type, "<f8");
    assert_true(omega->n_dims == 3 && omega->dims[0] == 3 && omega->dims[2] == 32);
    assert_int_equal(((const int32_t *)steps->data)[2], 8);
    for (int i = 0; i < 32 * 32; i++)
        assert_true(fabs(((const double *)omega->data)[i] - field[i]) < 1e-12);
    assert_true(series->dims[0] == 9 && strstr(series->columns, "step,time,energy,") != NULL);
    assert_true(qn_les_result_array(result, "decoded")->dims[0] == 3);
    assert_null(qn_les_result_array(result, "zhat"));
    assert_non_null(strstr(qn_les_result_metrics(result), "\"schema\":\"quern-les/1\""));
    assert_true(qn_les_result_comparison(result, 2, &last) && last.step == 8);
    assert_false(qn_les_result_comparison(result, 3, &last));
    qn_les_result_free(result);

    options.hold = QN_LES_HOLD_TABLES;
    OK(qn_les_run(ctx, &options, &result, &err));
    assert_null(qn_les_result_array(result, "omega"));
    assert_non_null(qn_les_result_array(result, "spectrum"));
    qn_les_result_free(result);
    qn_ctx_close(ctx);
}

static void fields_of_another_size_are_refused(void **state)
{
    static const double field[16];
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu" });
    qn_les_options options;
    qn_les *les = NULL;

    (void)state;
    qn_les_options_init(&options, sizeof options);
    options.N = 32;
    options.ic_field = field;
    options.n_ic_field = 16;
    REFUSED(qn_les_new(ctx, &options, &les, &err), QN_ERR_USAGE,
            "ic_field: an array of 16 numbers, but 1024 are needed");
    options.ic_file = "a.npy";
    REFUSED(qn_les_new(ctx, &options, &les, &err), QN_ERR_USAGE,
            "ic: both ic_file and ic_field are given");
    options.ic_file = NULL;
    options.ic = QN_LES_IC_SHEAR;
    REFUSED(qn_les_new(ctx, &options, &les, &err), QN_ERR_USAGE,
            "ic_field: an array is given, but ic is not file");
    assert_null(les);
    qn_ctx_close(ctx);
}

/* Fits. */

static const char line_program[] =
    "fit 1;\ntable T = csv(\"t.csv\", header=1);\nparam a = 0;\nparam b = 0;\n"
    "residual r over i in T { yield i.y - (a + b*i.x); }\n";

static void a_program_is_solved_with_files_in_memory(void **state)
{
    static const char table[] = "x,y\n0,1\n1,3\n2,5\n3,7.5\n";
    const qn_fit_file file = { "t.csv", table, sizeof table - 1 };
    const char *const start = "a=0.5";
    qn_fit_options options;
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu" });
    qn_fit_solution *solution = NULL;
    qn_fit_parameter p;

    (void)state;
    qn_fit_options_init(&options, sizeof options);
    options.files = &file;
    options.n_files = 1;
    options.set = &start;
    options.n_set = 1;
    OK(qn_fit_solve_program(ctx, line_program, &options, &solution, NULL, &err));
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
    st = qn_fit_solve_program(ctx, line_program, &options, &solution, NULL, &err);
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
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu" });
    double want[2], got[2];

    (void)state;
    OK(solve_columns(ctx, columns, 3, want));
    OK(solve_columns(ctx, strided, 2, got));
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
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu" });
    double ab[2];

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const qn_fit_column columns[] = { x, cases[k].column };

        REFUSED(solve_columns(ctx, columns, 2, ab), cases[k].want, cases[k].text);
    }
    qn_ctx_close(ctx);
}

static void options_of_fits_are_checked(void **state)
{
    const char *const reports[] = { "r.json", "r.txt" }, *const set = "a";
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu" });
    qn_fit_solution *solution = NULL;
    qn_fit_options o, unset = { 0 };

    (void)state;
    REFUSED(qn_fit_solve_program(ctx, line_program, &unset, &solution, NULL, &err), QN_ERR_USAGE,
            "qn_fit_options: a struct of 0 bytes is unknown");
    qn_fit_options_init(&o, sizeof o);
    o.report = reports;
    o.n_report = 2;
    REFUSED(qn_fit_solve_program(ctx, line_program, &o, &solution, NULL, &err), QN_ERR_USAGE,
            "report: 'r.txt' does not end in .json or .html");
    o.n_report = 0;
    o.set = &set;
    o.n_set = 1;
    REFUSED(qn_fit_solve_program(ctx, line_program, &o, &solution, NULL, &err), QN_ERR_USAGE,
            "set: 'a' is not NAME=VALUE");
    assert_null(solution);
    qn_ctx_close(ctx);
}

static void all_faults_of_a_program_are_reported(void **state)
{
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu" });
    qn_fit_solution *solution = NULL;
    char *faults = NULL;

    (void)state;
    REFUSED(qn_fit_solve_program(ctx, "fit 1;\nparam a = x;\nparam b = y;\n", NULL, &solution,
                                 &faults, &err),
            QN_ERR_INPUT, "program:2");
    assert_non_null(strstr(faults, "program:3"));
    qn_fit_faults_free(faults);
    REFUSED(qn_fit_solve_program(ctx, line_program, NULL, &solution, NULL, &err), QN_ERR_INPUT,
            "t.csv: it is not among the 0 files given");
    assert_null(solution);
    qn_ctx_close(ctx);
}

/* Fallbacks and layouts. */

static void fallbacks_are_listed(void **state)
{
    qn_ctx *ctx =
        open_with((qn_options){ .backend = "sim", .fault = "launch:saxpy*2", .log = "none" });
    qn_buf *x = ramp(ctx, "x", 8, 1, 0), *y = ramp(ctx, "y", 8, 0, 0);
    qn_graph *graph = NULL;
    qn_fallback entry = { 0 };

    (void)state;
    assert_int_equal(qn_ctx_fallback_count(ctx), 0);
    must(qn_graph_new(ctx, "g", &graph, &failure));
    must(stage_saxpy(graph, "saxpy", qn_range_1d(8), 1, x, y, &failure));
    for (int i = 0; i < 2; i++) {
        must(qn_graph_run(graph, &failure));
        must(qn_graph_wait(graph, &failure));
    }
    assert_int_equal(qn_ctx_fallback_count(ctx), 1);
    qn_ctx_fallback_get(ctx, 0, &entry);
    assert_string_equal(entry.stage, "saxpy");
    assert_string_equal(entry.reason, "injected");
    assert_true(entry.count == 2 && entry.text[0]);
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

/* Members follow one another and lie inside their struct. */
static void layouts_are_those_of_the_headers(void **state)
{
    const qn_abi_entry *e;
    size_t whole = 0, end = 0;
    int n = 0;

    (void)state;
    for (int i = 0; (e = qn_abi_table(i)); i++)
        for (; e->type; e++, n++) {
            if (!e->member[0]) {
                whole = e->size;
                end = 0;
                continue;
            }
            assert_true(e->offset >= end && e->size > 0 && e->offset + e->size <= whole);
            end = e->offset + e->size;
        }
    assert_true(n > 150);
    assert_true(end == whole || end + 7 >= whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_is_stepped_and_inspected),
        cmocka_unit_test(options_without_meaning_are_refused),
        cmocka_unit_test(a_run_takes_and_gives_arrays_in_memory),
        cmocka_unit_test(fields_of_another_size_are_refused),
        cmocka_unit_test(a_program_is_solved_with_files_in_memory),
        cmocka_unit_test(tables_of_a_program_are_arrays),
        cmocka_unit_test(wrong_columns_are_refused_by_name),
        cmocka_unit_test(options_of_fits_are_checked),
        cmocka_unit_test(all_faults_of_a_program_are_reported),
        cmocka_unit_test(fallbacks_are_listed),
        cmocka_unit_test(layouts_are_those_of_the_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
