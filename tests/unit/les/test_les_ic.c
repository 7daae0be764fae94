/* test_les_ic.c - random numbers and initial fields, bit for bit. */
#include "golden.h"

#include "parity/parity.h"

#include "domain/les/flow/ic.h"
#include "kernel/les_box.gen.h"
#include "kernel/philox.h"
#include "util/temp_dir.h"

#include <math.h>

static qn_les_options config_of(const char *const *pairs)
{
    qn_les_options config;
    qn_err err = { .text = "" };

    if (qn_les_options_make(NULL, pairs, NULL, &config, &err) != QN_OK)
        fail_msg("%s", err.text);
    return config;
}

#define CONFIG(...) config_of((const char *const[]){ __VA_ARGS__, NULL })

static double *filled_with(const qn_les_options *config)
{
    double *out = calloc(qn_les_ic_elems(config) * (size_t)config->ensemble, sizeof *out);
    qn_err err = { .text = "" };

    assert_non_null(out);
    if (qn_les_ic_fill(config, out, &err) != QN_OK)
        fail_msg("%s", err.text);
    return out;
}

/* The generator. */

static void philox_gives_the_known_answers(void **state)
{
    static const struct {
        philox_words counter;
        u32 key[2];
        philox_words want;
    } known[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const philox_words got = philox(known[i].counter, known[i].key[0], known[i].key[1]);

        assert_memory_equal(&got, &known[i].want, sizeof got);
    }
}

static void gaussian_integers_stay_in_their_range(void **state)
{
    const philox_words least = { 0, 0, 0, 0 }, most = { ~0u, ~0u, ~0u, ~0u };
    double sum = 0, square = 0;
    enum { N = 100000 };

    (void)state;
    assert_int_equal(philox_gauss(least), -262140);
    assert_int_equal(philox_gauss(most), 262140);
    for (int i = 0; i < N; i++) {
        const double g = philox_gauss(philox_at(i, -i, PHILOX_GRID, 7, UINT64_C(0x123456789abc)));

        sum += g;
        square += g * g;
    }
    /* Five standard errors of the mean; 3 % of the variance, which is 8 (2^32 - 1)/12. */
    assert_true(fabs(sum / N) < 5 * 53510 / sqrt(N));
    assert_true(fabs(square / N / (8 * 4294967295.0 / 12) - 1) < 0.03);
}

/* Spectral. */

static void expect_golden_spectrum(const char *prefix, const char *n)
{
    const qn_les_options config = CONFIG("n", n, "seed", "1");
    double *half = filled_with(&config);
    char name[64];

    snprintf(name, sizeof name, "les/%s.json", prefix);
    json_t *root = golden_json(name);
    snprintf(name, sizeof name, "les/%s_ic_hat.npy", prefix);
    qn_npy want = golden_array(name);

    assert_int_equal(qn_npy_elems(&want), qn_les_ic_elems(&config));
    assert_memory_equal(half, want.data, qn_les_ic_elems(&config) * sizeof(double));
    assert_sha256(half, qn_les_ic_elems(&config) * sizeof(double),
                  json_string_value(golden_member(root, "ic_hat_sha256")));
    qn_npy_free(&want);
    json_decref(root);
    free(half);
}

static void spectral_field_has_the_golden_bits(void **state)
{
    (void)state;
    need_golden("les/quern_n64_s1.json");
    expect_golden_spectrum("quern_n64_s1", "64");
    expect_golden_spectrum("quern_n128_s1", "128");
}

/* Sums over the half spectrum: of |h|^2 for p = 0, |h|^2/k^2 for p = 1, each over N^4. */
static double power_of(const qn_les_options *config, const double *half, int p)
{
    const int n = config->N;
    double sum = 0;

    for (int j = 0; j < n; j++)
        for (int i = 0; i <= n / 2; i++) {
            const double *h = half + 2 * ((size_t)j * (size_t)(n / 2 + 1) + (size_t)i);
            const int ky = j <= n / 2 ? j : j - n, k2 = i * i + ky * ky;

            if (k2)
                sum += (i == 0 || i == n / 2 ? 1 : 2) * (h[0] * h[0] + h[1] * h[1]) / (p ? k2 : 1);
        }
    return sum / pow(n, 4);
}

static void spectral_field_has_the_value_that_was_asked_for(void **state)
{
    const qn_les_options rms = CONFIG("n", "64", "ic-value", "2.5");
    const qn_les_options energy = CONFIG("n", "256", "seed", "2026", "ic-shape", "mcwilliams",
                                         "ic-norm", "energy", "ic-value", "0.5");
    double *half = filled_with(&rms);

    (void)state;
    assert_true(fabs(sqrt(power_of(&rms, half, 0)) - 2.5) < 1e-12);
    free(half);
    half = filled_with(&energy);
    assert_true(fabs(power_of(&energy, half, 1) / 2 - 0.5) < 1e-12);
    assert_true(fabs(power_of(&energy, half, 0) / 2 - 53.8112634809336) < 1e-9);
    free(half);
}

static void spectral_field_is_the_same_flow_on_finer_grids(void **state)
{
    const qn_les_options coarse = CONFIG("n", "64", "ic-kmax", "12");
    const qn_les_options fine = CONFIG("n", "96", "ic-kmax", "12");
    double *a = filled_with(&coarse), *b = filled_with(&fine);

    (void)state;
    for (int ky = -12; ky <= 12; ky++)
        for (int kx = 0; kx <= 12; kx++) {
            const double *p = a + 2 * ((ky < 0 ? ky + 64 : ky) * 33 + kx);
            const double *q = b + 2 * ((ky < 0 ? ky + 96 : ky) * 49 + kx);

            assert_true(fabs(p[0] / 4096 - q[0] / 9216) < 1e-15);
            assert_true(fabs(p[1] / 4096 - q[1] / 9216) < 1e-15);
        }
    free(a);
    free(b);
}

static void members_of_an_ensemble_add_to_the_seed(void **state)
{
    const qn_les_options three = CONFIG("n", "32", "seed", "40", "ensemble", "3");
    const qn_les_options last = CONFIG("n", "32", "seed", "42");
    double *all = filled_with(&three), *one = filled_with(&last);
    const size_t elems = qn_les_ic_elems(&last);

    (void)state;
    assert_memory_equal(all + 2 * elems, one, elems * sizeof *one);
    assert_memory_not_equal(all, one, elems * sizeof *one);
    free(all);
    free(one);
}

/* On the grid. */

static void taylor_green_is_a_product_of_cosines(void **state)
{
    const qn_les_options config = CONFIG("n", "16", "ic", "taylor_green", "what", "sim");
    double *om = filled_with(&config);

    (void)state;
    assert_true(om[0] == 2);
    assert_true(fabs(om[8] + 2) < 1e-15);
    assert_true(fabs(om[4]) < 1e-15);
    assert_true(fabs(om[2 * 16 + 2] - 1) < 1e-15); /* 2 cos^2 45 degrees */
    free(om);
}

static void shear_layers_are_opposite_and_symmetric(void **state)
{
    const qn_les_options config = CONFIG("n", "64", "ic", "shear");
    const double r = M_PI / 15;
    double *om = filled_with(&config);

    (void)state;
    assert_true(fabs(om[16 * 64] - (0.05 - 1 / r)) < 1e-12);
    assert_true(fabs(om[48 * 64] - (0.05 + 1 / r)) < 1e-12);
    for (int j = 0; j < 64; j++)
        for (int i = 0; i < 64; i++) {
            const int k = (32 - j + 64) % 64, l = (64 - i) % 64;

            assert_true(fabs(om[j * 64 + i] - om[k * 64 + l]) < 1e-11);
        }
    free(om);
}

static void file_is_taken_as_it_is(void **state)
{
    need_golden("les/origin_n64_s0_omega_t0.npy");
    (void)state;

    qn_npy want = golden_array("les/origin_n64_s0_omega_t0.npy");
    const qn_les_options config = CONFIG("profile", "origin", "ensemble", "2", "ic-file",
                                         golden_path("les/origin_n64_s0_omega_t0.npy"));
    double *om = filled_with(&config);

    assert_memory_equal(om, want.data, 4096 * sizeof *om);
    assert_memory_equal(om + 4096, want.data, 4096 * sizeof *om);
    qn_npy_free(&want);
    free(om);
}

/* Writes `array` to a file and expects an error with `words`. */
static void expect_refused(const qn_npy *array, const char *words)
{
    qn_temp_dir dir = { .path = "" };
    char path[1100];
    qn_err err = { .text = "" };
    double out[2 * 256];

    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    snprintf(path, sizeof path, "%s/field.npy", dir.path);
    assert_int_equal(qn_npy_write(path, array, &err), QN_OK);
    const qn_les_options config =
        CONFIG("n", "16", "what", "sim", "ensemble", "2", "ic-file", path);
    assert_int_equal(qn_les_ic_fill(&config, out, &err), QN_ERR_INPUT);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
    qn_temp_dir_remove(&dir);
}

static void file_that_does_not_fit_is_refused(void **state)
{
    static double data[3 * 256];
    qn_npy array = { .type = QN_NPY_F8, .n_dims = 2, .dims = { 16, 15 }, .data = data };

    (void)state;
    expect_refused(&array, "has 16 x 15 cells, but N is 16");
    array.dims[1] = 16;
    array.type = QN_NPY_I4;
    expect_refused(&array, "<i4");
    array = (qn_npy){ .type = QN_NPY_F8, .n_dims = 3, .dims = { 3, 16, 16 }, .data = data };
    expect_refused(&array, "3 fields for 2 members");
    data[2 * 16 + 5] = NAN;
    array = (qn_npy){ .type = QN_NPY_F8, .n_dims = 2, .dims = { 16, 16 }, .data = data };
    expect_refused(&array, "row 2, column 5");
    data[2 * 16 + 5] = 0;
}

/* Box. */

/* Field and moments of ic = box at one place. */
typedef struct {
    unsigned char *field;
    size_t bytes;
    qn_i64 moments[8 * QN_LES_BOX_MOMENTS];
} box_result;

static box_result box_at(const place *at, const qn_les_options *config)
{
    qn_ctx *ctx = open_place(at);
    const size_t cells = (size_t)config->N * (size_t)config->N * (size_t)config->ensemble;
    const size_t moment_bytes = (size_t)config->ensemble * QN_LES_BOX_MOMENTS * sizeof(qn_i64);
    box_result r = { .bytes = cells * (config->precision == QN_LES_F64 ? 8 : 4) };
    qn_buf *field = NULL, *moments = NULL;
    qn_graph *graph = NULL;

    assert_non_null(r.field = malloc(r.bytes));
    must(qn_buf_new(ctx, "field", r.bytes, &field, &failure));
    must(qn_buf_new(ctx, "moments", moment_bytes, &moments, &failure));
    must(qn_graph_new(ctx, "box", &graph, &failure));
    must(qn_les_ic_box(graph, config, field, moments, &failure));
    must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    if (strcmp(at->backend, "cpu"))
        assert_string_not_equal(qn_graph_stage_device(graph, 0), "cpu");
    qn_graph_free(graph);
    must(qn_buf_read(moments, 0, r.moments, moment_bytes, &failure));
    must(qn_buf_read(field, 0, r.field, r.bytes, &failure));
    qn_buf_free(field);
    qn_buf_free(moments);
    qn_ctx_close(ctx);
    return r;
}

static void expect_golden_box(const place *at, const char *prefix, const char *n)
{
    const qn_les_options config = CONFIG("n", n, "seed", "1", "ic", "box", "precision", "f64");
    box_result got = box_at(at, &config);
    double scale[2];
    char name[64];

    snprintf(name, sizeof name, "les/%s.json", prefix);
    json_t *root = golden_json(name);
    assert_int_equal(got.moments[BOX_SUM], json_integer_value(golden_member(root, "box/S1")));
    assert_int_equal(got.moments[BOX_HIGH], json_integer_value(golden_member(root, "box/S2hi")));
    assert_int_equal(got.moments[BOX_LOW], json_integer_value(golden_member(root, "box/S2lo")));
    qn_les_box_scale(config.N, got.moments, scale);
    assert_true(scale[0] == strtod(json_string_value(golden_member(root, "box/mu_hex")), NULL));
    assert_true(scale[1] ==
                strtod(json_string_value(golden_member(root, "box/inv_sigma_hex")), NULL));
    assert_sha256(got.field, got.bytes, json_string_value(golden_member(root, "box/omega_sha256")));
    json_decref(root);
    free(got.field);
}

/* cpu_place, then device_places. */
static const place *place_at(int i)
{
    return i == 0 ? &cpu_place : i <= N_PLACES ? &device_places[i - 1] : NULL;
}

static void box_field_has_the_golden_bits_everywhere(void **state)
{
    (void)state;
    need_golden("les/quern_n64_s1.json");
    for (int i = 0; place_at(i); i++) {
        if (!is_here(place_at(i)))
            continue;
        expect_golden_box(place_at(i), "quern_n64_s1", "64");
        expect_golden_box(place_at(i), "quern_n128_s1", "128");
    }
}

static qn_buf *run_integers(qn_ctx *ctx, int n, qn_buf **noise)
{
    const les_box_par par = { .seed = 1, .n = n, .reach = 5 };
    const size_t bytes = (size_t)n * (size_t)n * sizeof(i32);
    qn_buf *rows = NULL, *sums = NULL;
    qn_graph *g = NULL;

    must(qn_buf_new(ctx, "noise", bytes, noise, &failure));
    must(qn_buf_new(ctx, "rows", bytes, &rows, &failure));
    must(qn_buf_new(ctx, "sums", bytes, &sums, &failure));
    must(qn_graph_new(ctx, "integers", &g, &failure));
    must(stage_les_box_noise(g, "noise", qn_range_2d(n, n), par, *noise, &failure));
    must(stage_les_box_rows(g, "rows", qn_range_2d(n, n), par, *noise, rows, &failure));
    must(stage_les_box_cols(g, "cols", qn_range_2d(n, n), par, rows, sums, &failure));
    run_graph(g);
    qn_buf_free(rows);
    return sums;
}

static void expect_bytes(qn_buf *buf, const char *golden)
{
    qn_npy want = golden_array(golden);
    void *got;

    must(qn_buf_host(buf, QN_HOST_READ, &got, &failure));
    assert_int_equal(want.type, QN_NPY_I4);
    assert_memory_equal(got, want.data, qn_buf_bytes(buf));
    qn_npy_free(&want);
}

static void noise_and_box_sums_are_the_golden_integers_everywhere(void **state)
{
    (void)state;
    need_golden("les/quern_n64_s1.json");
    for (int i = 0; place_at(i); i++) {
        if (!is_here(place_at(i)))
            continue;
        qn_ctx *ctx = open_place(place_at(i));
        qn_buf *noise = NULL, *sums = run_integers(ctx, 64, &noise);

        expect_bytes(noise, "les/quern_n64_s1_box_noise_i32.npy");
        expect_bytes(sums, "les/quern_n64_s1_box_sum_i32.npy");
        qn_buf_free(noise);
        qn_buf_free(sums);
        qn_ctx_close(ctx);
    }
}

/* f32, several members, a side that is no multiple of anything, the widest box. */
static void box_field_is_the_same_on_every_device(void **state)
{
    const qn_les_options config = CONFIG("n", "130", "ic", "box", "ic-width", "63", "ensemble", "3",
                                         "seed", "4294967295", "precision", "f32");
    box_result want = box_at(&cpu_place, &config);
    double sum = 0, square = 0;

    (void)state;
    for (size_t i = 0; i < 130 * 130; i++) {
        const double v = ((const float *)want.field)[2 * 130 * 130 + i];

        sum += v;
        square += v * v;
    }
    assert_true(fabs(sum / (130 * 130)) < 1e-6);
    assert_true(fabs(square / (130 * 130) - 1) < 1e-6);
    for (int i = 0; i < N_PLACES; i++) {
        if (!is_here(&device_places[i]))
            continue;
        box_result got = box_at(&device_places[i], &config);

        assert_memory_equal(got.field, want.field, want.bytes);
        assert_memory_equal(got.moments, want.moments, sizeof want.moments);
        free(got.field);
    }
    free(want.field);
}

static void only_moments_of_a_box_field_cross_to_the_host(void **state)
{
    const qn_les_options config = CONFIG("n", "64", "ic", "box", "ensemble", "2");
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *field = NULL;
    qn_graph *graph = NULL;

    (void)state;
    must(qn_buf_new(ctx, "field", 2 * 64 * 64 * sizeof(float), &field, &failure));
    must(qn_graph_new(ctx, "box", &graph, &failure));
    must(qn_les_ic_box(graph, &config, field, NULL, &failure));
    must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    const qn_transfer_count moved = qn_ctx_transfers(ctx);
    assert_int_equal(moved.d2h_bytes, 2 * QN_LES_BOX_MOMENTS * sizeof(qn_i64));
    assert_int_equal(moved.h2d_bytes, 2 * 2 * sizeof(double));
    qn_graph_free(graph);
    qn_buf_free(field);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_known_answers),
        cmocka_unit_test(gaussian_integers_stay_in_their_range),
        cmocka_unit_test(spectral_field_has_the_golden_bits),
        cmocka_unit_test(spectral_field_has_the_value_that_was_asked_for),
        cmocka_unit_test(spectral_field_is_the_same_flow_on_finer_grids),
        cmocka_unit_test(members_of_an_ensemble_add_to_the_seed),
        cmocka_unit_test(taylor_green_is_a_product_of_cosines),
        cmocka_unit_test(shear_layers_are_opposite_and_symmetric),
        cmocka_unit_test(file_is_taken_as_it_is),
        cmocka_unit_test(file_that_does_not_fit_is_refused),
        cmocka_unit_test(noise_and_box_sums_are_the_golden_integers_everywhere),
        cmocka_unit_test(box_field_has_the_golden_bits_everywhere),
        cmocka_unit_test(box_field_is_the_same_on_every_device),
        cmocka_unit_test(only_moments_of_a_box_field_cross_to_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
