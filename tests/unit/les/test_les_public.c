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

/* A flow of N x N cells in f64, without viscosity of its own. */
enum { N = 32, CELLS = N * N };

static qn_les_options plain_options(void)
{
    qn_les_options options;

    qn_les_options_init(&options, sizeof options);
    options.N = N;
    options.precision = QN_LES_F64;
    options.nu0 = options.Cs = 0;
    options.ic = QN_LES_IC_TAYLOR_GREEN;
    return options;
}

static double at(int i)
{
    return 2 * M_PI * i / N;
}

static double largest_difference(const double *a, const double *b)
{
    double most = 0;

    for (int i = 0; i < CELLS; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void get(qn_les *les, qn_les_quantity what, double *out)
{
    must(qn_les_get(les, what, out, CELLS * sizeof *out, &failure));
}

static void needs_transforms(void)
{
    if (qn_cpu_fft_version())
        return;
    print_message("skipped: this build has no FFTW\n");
    skip();
}

static void the_fields_of_a_known_flow_are_known(void **state)
{
    static double got[CELLS], psi[CELLS], u[CELLS], v[CELLS];
    qn_les_options options = plain_options();
    qn_ctx *ctx;
    qn_les *les = NULL;

    (void)state;
    needs_transforms();
    for (int i = 0; i < CELLS; i++) { /* of the vorticity 2 cos x cos y */
        const double x = at(i % N), y = at(i / N);

        psi[i] = cos(x) * cos(y);
        u[i] = -cos(x) * sin(y) + 0.25;
        v[i] = sin(x) * cos(y) - 0.5;
    }
    options.mean_u = 0.25;
    options.mean_v = -0.5;
    ctx = open_sim(NULL);
    must(qn_les_new(ctx, &options, &les, &failure));
    get(les, QN_LES_STREAMFUNCTION, got);
    assert_true(largest_difference(got, psi) < 1e-13);
    get(les, QN_LES_U, got);
    assert_true(largest_difference(got, u) < 1e-13);
    get(les, QN_LES_V, got);
    assert_true(largest_difference(got, v) < 1e-13);
    get(les, QN_LES_FORCE, got);
    for (int i = 0; i < CELLS; i++)
        assert_true(got[i] == 0);
    must_fail(qn_les_get(les, QN_LES_QUANTITIES, got, sizeof got, &failure), QN_ERR_USAGE,
              "cannot be read");
    must_fail(qn_les_set(les, QN_LES_U, got, CELLS, &failure), QN_ERR_USAGE, "cannot be set");
    must_fail(qn_les_set(les, QN_LES_VORTICITY, got, 7, &failure), QN_ERR_USAGE,
              "an array of 7 numbers for a field of 1024");
    must_fail(qn_les_apply(les, QN_LES_VORTICITY, &failure), QN_ERR_USAGE,
              "les.vorticity: nothing was written to its buffer");
    qn_les_free(les);
    qn_ctx_close(ctx);
}

static void a_force_and_a_vorticity_of_ones_own_are_taken(void **state)
{
    static double wave[CELLS], got[CELLS], zero[CELLS];
    qn_les_options options = plain_options();
    qn_les_state now;
    qn_les *les = NULL;
    qn_buf *buf;
    qn_ctx *ctx;
    void *to;

    (void)state;
    needs_transforms();
    for (int i = 0; i < CELLS; i++)
        wave[i] = 3 * cos(2 * at(i % N));
    ctx = open_sim(NULL);
    options.dt = 0.01;
    must(qn_les_new(ctx, &options, &les, &failure));
    must(qn_les_step(les, 3, &failure));
    must(qn_les_set(les, QN_LES_VORTICITY, zero, CELLS, &failure));
    must(qn_les_set(les, QN_LES_FORCE, wave, CELLS, &failure));
    must(qn_les_step(les, 20, &failure));
    get(les, QN_LES_VORTICITY, got); /* one wave does not act on itself */
    for (int i = 0; i < CELLS; i++)
        assert_true(fabs(got[i] - 20 * 0.01 * wave[i]) < 1e-13);
    must(qn_les_inspect(les, &now, &failure));
    assert_true(now.step == 23 && fabs(now.time - 0.23) < 1e-12);
    get(les, QN_LES_FORCE, got);
    assert_memory_equal(got, wave, sizeof got);

    /* The same where the field lies, on the device. */
    must(qn_les_buffer(les, QN_LES_FORCE, &buf, &failure));
    must(qn_buf_host(buf, QN_HOST_UPDATE, &to, &failure));
    for (int i = 0; i < CELLS; i++)
        ((double *)to)[i] *= -1;
    must(qn_les_apply(les, QN_LES_FORCE, &failure));
    must(qn_les_step(les, 20, &failure));
    get(les, QN_LES_VORTICITY, got);
    assert_true(largest_difference(got, zero) < 1e-13);
    must(qn_les_buffer(les, QN_LES_VORTICITY, &buf, &failure));
    must(qn_buf_write(buf, 0, wave, sizeof wave, &failure));
    must(qn_les_apply(les, QN_LES_VORTICITY, &failure));
    get(les, QN_LES_VORTICITY, got);
    assert_true(largest_difference(got, wave) < 1e-13);

    /* After numbers that are none, a new field is a new start. */
    zero[5] = NAN;
    must(qn_les_set(les, QN_LES_VORTICITY, zero, CELLS, &failure));
    must_fail(qn_les_step(les, 1, &failure), QN_ERR_FAILED, "not finite");
    must(qn_les_set(les, QN_LES_VORTICITY, wave, CELLS, &failure));
    must(qn_les_step(les, 1, &failure));
    qn_les_free(les);
    qn_ctx_close(ctx);
    zero[5] = 0;
}

static void a_flow_goes_on_from_its_file(void **state)
{
    static double wave[CELLS], want[CELLS], got[CELLS];
    qn_les_options options = plain_options();
    qn_les *first = NULL, *second = NULL, *other = NULL;
    qn_les_state now;
    qn_ctx *ctx;

    needs_transforms();
    assert_int_equal(make_folder(state), 0);
    for (int i = 0; i < CELLS; i++)
        wave[i] = cos(2 * at(i % N)) * sin(at(i / N));
    ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    must(qn_les_new(ctx, &options, &first, &failure));
    must(qn_les_set(first, QN_LES_FORCE, wave, CELLS, &failure));
    must(qn_les_step(first, 20, &failure));
    must(qn_les_save(first, in_folder("a.flow"), &failure));
    must(qn_les_step(first, 17, &failure));
    get(first, QN_LES_VORTICITY, want);
    must(qn_les_restore(first, in_folder("a.flow"), &failure));
    must(qn_les_step(first, 17, &failure));
    get(first, QN_LES_VORTICITY, got);
    assert_memory_equal(got, want, sizeof got);

    options.ic = QN_LES_IC_SPECTRAL;
    must(qn_les_new(ctx, &options, &second, &failure));
    must(qn_les_restore(second, in_folder("a.flow"), &failure));
    must(qn_les_step(second, 17, &failure));
    get(second, QN_LES_VORTICITY, got);
    assert_memory_equal(got, want, sizeof got);
    must(qn_les_inspect(second, &now, &failure));
    assert_int_equal(now.step, 37);

    options.N = 64;
    must(qn_les_new(ctx, &options, &other, &failure));
    must_fail(qn_les_restore(other, in_folder("a.flow"), &failure), QN_ERR_MISMATCH,
              "the flow there has another N than this one");
    must_fail(qn_les_restore(other, in_folder("none"), &failure), QN_ERR_INPUT, "none");
    must_fail(qn_les_save(other, in_folder("no/such/folder"), &failure), QN_ERR_IO, "cannot");
    must(qn_les_step(other, 1, &failure));
    qn_les_free(first);
    qn_les_free(second);
    qn_les_free(other);
    qn_ctx_close(ctx);
    assert_int_equal(remove_folder(state), 0);
}

/* All that a flow can do, one after the other; the field at the end. */
static void drive(qn_ctx *ctx, double *out)
{
    static double wave[CELLS];
    qn_les_options options = plain_options();
    qn_les_state now;
    qn_les *les = NULL;
    qn_buf *buf;
    double shells[64];
    void *to;

    for (int i = 0; i < CELLS; i++)
        wave[i] = cos(2 * at(i % N)) * sin(at(i / N));
    options.ic = QN_LES_IC_SPECTRAL;
    must(qn_les_new(ctx, &options, &les, &failure));
    must(qn_les_step(les, 20, &failure));
    must(qn_les_inspect(les, &now, &failure));
    must(qn_les_set(les, QN_LES_FORCE, wave, CELLS, &failure));
    must(qn_les_step(les, 20, &failure));
    must(qn_les_spectrum(les, 0, shells, 24 * sizeof *shells, &failure));
    must(qn_les_step(les, 3, &failure));
    must(qn_les_buffer(les, QN_LES_FORCE, &buf, &failure));
    must(qn_buf_host(buf, QN_HOST_UPDATE, &to, &failure));
    for (int i = 0; i < CELLS; i++)
        ((double *)to)[i] *= 2;
    must(qn_les_apply(les, QN_LES_FORCE, &failure));
    must(qn_les_step(les, 17, &failure));
    get(les, QN_LES_VORTICITY, out);
    for (int i = 0; i < CELLS; i++)
        out[i] += 0.125 * wave[i];
    must(qn_les_set(les, QN_LES_VORTICITY, out, CELLS, &failure));
    must(qn_les_step(les, 20, &failure));
    get(les, QN_LES_U, out);
    must(qn_les_inspect(les, &now, &failure));
    assert_int_equal(now.step, 80);
    get(les, QN_LES_VORTICITY, out);
    qn_les_free(les);
}

static void a_flow_whose_device_fails_goes_on_as_on_the_cpu(void **state)
{
    static double want[CELLS], got[CELLS];
    qn_ctx *cpu;
    char line[512], fault[64];
    int n_failed = 0;

    (void)state;
    needs_transforms();
    cpu = open_with(QN_OPTIONS(.backend = "cpu"));
    drive(cpu, want);
    qn_ctx_close(cpu);
    for (int k = 1; k < 4000; k += k < 8 ? 1 : k / 2) {
        static const char *const kinds[] = { "device_lost", "timeout", "copy_d2h", "launch" };
        qn_ctx *ctx;

        snprintf(fault, sizeof fault, "%s@%d*1", kinds[k % 4], k);
        ctx = open_sim(fault);
        CAPTURE_STDERR(line, sizeof line, drive(ctx, got));
        assert_memory_equal(got, want, sizeof got);
        if (count_of(ctx, "gpu_fallback_count")) {
            n_failed++;
            assert_int_equal(count_of(ctx, "gpu_fallback_count"), 1);
            assert_non_null(strstr(line, "[GPU] les.flow failed: "));
        }
        qn_ctx_close(ctx);
    }
    assert_true(n_failed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_is_stepped_and_inspected),
        cmocka_unit_test(options_without_meaning_are_refused),
        cmocka_unit_test(a_run_takes_and_gives_arrays_in_memory),
        cmocka_unit_test(a_run_whose_device_fails_gives_the_arrays_of_the_cpu),
        cmocka_unit_test(fields_of_another_size_are_refused),
        cmocka_unit_test(the_fields_of_a_known_flow_are_known),
        cmocka_unit_test(a_force_and_a_vorticity_of_ones_own_are_taken),
        cmocka_unit_test(a_flow_goes_on_from_its_file),
        cmocka_unit_test(a_flow_whose_device_fails_goes_on_as_on_the_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
