/* test_les_public.c - <quern/les.h>: flows, runs, options and arrays in memory. */
#include "engine_fixture.h"

#include "hal/cpu/cpu_fft.h"

#include <quern/les.h>

#include <math.h>

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
    must(qn_les_new(ctx, &options, &les, &failure));
    qn_les_get_size(les, &size);
    assert_true(size.n == 32 && size.ensemble == 1 && !size.is_f64 && size.n_shells <= 64);
    must(qn_les_vorticity(les, early, sizeof early, &failure));
    must(qn_les_inspect(les, &first, &failure));
    must(qn_les_step(les, 18, &failure));
    must(qn_les_vorticity(les, late, sizeof late, &failure));
    must(qn_les_inspect(les, &last, &failure));
    assert_true(first.step == 0 && last.step == 18 && last.time > 0);
    assert_true(last.energy < first.energy && last.energy > 0.9 * first.energy);
    assert_true(memcmp(early, late, sizeof late) != 0);
    must(qn_les_spectrum(les, 0, shells, (size_t)size.n_shells * sizeof *shells, &failure));
    must_fail(qn_les_vorticity(les, late, 4, &failure), QN_ERR_USAGE,
              "a buffer of 4 bytes for a field of 4096");
    must_fail(qn_les_spectrum(les, 0, shells, 8, &failure), QN_ERR_USAGE, "a buffer of 8 bytes");
    must_fail(qn_les_step(les, -2, &failure), QN_ERR_USAGE, "-2 steps");
    qn_les_free(les);
    qn_ctx_close(ctx);
}

static void options_without_meaning_are_refused(void **state)
{
    qn_les_result *result = NULL;
    qn_les_options odd, unset = { 0 };
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_les *les = NULL;

    (void)state;
    qn_les_options_init(&odd, sizeof odd);
    odd.N = 33;
    must_fail(qn_les_new(ctx, &odd, &les, &failure), QN_ERR_USAGE, "33");
    odd.N = 8;
    must_fail(qn_les_new(ctx, &odd, &les, &failure), QN_ERR_USAGE,
              "N: 8 is below the least value, 16");
    must_fail(qn_les_run(ctx, &unset, &result, &failure), QN_ERR_USAGE,
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
    options.dt = 0.01;
    options.stride = 4;
    options.k_cut = 5;
    options.k_mid = 8;
    options.observer = QN_LES_OBSERVE_SNAPSHOTS;
    options.ic_field = field;
    options.n_ic_field = 32 * 32;
    must(qn_les_run(ctx, &options, &result, &failure));
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
    must(qn_les_run(ctx, &options, &result, &failure));
    assert_null(qn_les_result_array(result, "omega"));
    assert_non_null(qn_les_result_array(result, "spectrum"));
    qn_les_result_free(result);
    qn_ctx_close(ctx);
}

/* A run of two members; *line is what it printed. The caller frees *result. */
static void run_pair(qn_ctx *ctx, qn_les_result **result, char *line, size_t size)
{
    qn_les_options options;

    qn_les_options_init(&options, sizeof options);
    options.N = 16;
    options.precision = QN_LES_F64;
    options.ensemble = 2;
    options.steps = 40;
    options.stride = 10;
    options.k_cut = 3;
    options.k_mid = 5;
    options.pairs = 4;
    options.observer = QN_LES_OBSERVE_SNAPSHOTS;
    CAPTURE_STDERR(line, size, must(qn_les_run(ctx, &options, result, &failure)));
}

static void a_run_whose_device_fails_gives_the_arrays_of_the_cpu(void **state)
{
    static const char *const names[] = { "steps", "omega",  "decoded", "lowpass",
                                         "z",     "series", "spectrum" };
    static const char *const faults[] = { "device_lost@300*1", "device_lost@900*1",
                                          "copy_d2h@12*1" };
    qn_ctx *cpu = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_les_result *wanted = NULL, *result = NULL;
    char line[512];

    (void)state;
    if (!qn_cpu_fft_version()) {
        print_message("skipped: this build has no FFTW\n");
        qn_ctx_close(cpu);
        skip();
    }
    setenv("QUERN_CHECKPOINT_S", "0", 1);
    run_pair(cpu, &wanted, line, sizeof line);
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        qn_ctx *ctx = open_sim(faults[f]);

        run_pair(ctx, &result, line, sizeof line);
        assert_true(!strncmp(line, "[GPU] les.run failed: ", 22));
        assert_ptr_equal(strchr(line, '\n') + 1, line + strlen(line));
        assert_int_equal(count_of(ctx, "gpu_fallback_count"), 1);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const qn_les_array *a = qn_les_result_array(wanted, names[i]);
            const qn_les_array *b = qn_les_result_array(result, names[i]);
            size_t bytes = (size_t)(a->type[2] - '0');

            assert_int_equal(a->n_dims, b->n_dims);
            for (int k = 0; k < a->n_dims; k++) {
                assert_int_equal(a->dims[k], b->dims[k]);
                bytes *= (size_t)a->dims[k];
            }
            assert_memory_equal(a->data, b->data, bytes);
        }
        qn_les_result_free(result);
        qn_ctx_close(ctx);
    }
    unsetenv("QUERN_CHECKPOINT_S");
    qn_les_result_free(wanted);
    qn_ctx_close(cpu);
}

static void fields_of_another_size_are_refused(void **state)
{
    static const double field[16];
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_les_options options;
    qn_les *les = NULL;

    (void)state;
    qn_les_options_init(&options, sizeof options);
    options.N = 32;
    options.ic_field = field;
    options.n_ic_field = 16;
    must_fail(qn_les_new(ctx, &options, &les, &failure), QN_ERR_USAGE,
              "ic_field: an array of 16 numbers, but 1024 are needed");
    options.ic_file = "a.npy";
    must_fail(qn_les_new(ctx, &options, &les, &failure), QN_ERR_USAGE,
              "ic: both ic_file and ic_field are given");
    options.ic_file = NULL;
    options.ic = QN_LES_IC_SHEAR;
    must_fail(qn_les_new(ctx, &options, &les, &failure), QN_ERR_USAGE,
              "ic_field: an array is given, but ic is not file");
    assert_null(les);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_is_stepped_and_inspected),
        cmocka_unit_test(options_without_meaning_are_refused),
        cmocka_unit_test(a_run_takes_and_gives_arrays_in_memory),
        cmocka_unit_test(a_run_whose_device_fails_gives_the_arrays_of_the_cpu),
        cmocka_unit_test(fields_of_another_size_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
