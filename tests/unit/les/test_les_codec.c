/* test_les_codec.c - encoding and decoding against golden arrays, and their identities. */
/* test: cost 14, quick-opencl, no-cache */
#include "codec_fixture.h"

#include "domain/les/codec/codec_parts.h"
#include "kernel/les_codec_encode.gen.h"
#include "kernel/les_codec_majority.gen.h"

#include "util/temp_dir.h"

/* Golden cases. */

typedef struct {
    const char *prefix, *profile, *n;
    int has_t0_ternary; /* golden ternary field of step 0 */
    int has_phases;     /* golden phases; or it needs none */
} golden_case;

static const golden_case cases[] = {
    { "quern_n64_s1", "quern", "64", 0, 1 },
    { "origin_n64_s0", "origin", "64", 1, 1 },
    { "quern_n128_s1", "quern", "128", 0, 1 },
    { "origin_n128_s0", "origin", "128", 1, 0 },
};
enum { N_CASES = sizeof cases / sizeof cases[0], N_SMALL = 2 };

static int is_origin(const golden_case *c)
{
    return !strcmp(c->profile, "origin");
}

/* Calls `check` for every case on the CPU, and for the small ones on every device. */
static void each_case(void (*check)(const place *, const golden_case *, int is_f64))
{
    need_golden("les/quern_n64_s1.json");
    for (int i = 0; i <= N_PLACES; i++) {
        const place *at = i ? &device_places[i - 1] : &cpu_place;

        if (i && !can_transform(at))
            continue;
        for (int k = 0; k < (i ? N_SMALL : N_CASES); k++)
            for (int is_f64 = 0; is_f64 < 2; is_f64++)
                check(at, &cases[k], is_f64);
    }
}

static qn_les_options case_config(const golden_case *c, int is_f64, const char *gate,
                                  const char *phases)
{
    return CONFIG("profile", c->profile, "n", c->n, "precision", is_f64 ? "f64" : "f32", "gate",
                  gate, "phases", phases, "ic-file", is_origin(c) ? "unread.npy" : "");
}

static void put_golden(const fixture *r, const char *prefix, const char *what)
{
    qn_npy field = golden_of(prefix, what);

    put_state(r, field.data);
    qn_npy_free(&field);
}

/* Anchors of the golden file, whose order is part of the vector. */
static void set_golden_anchors(const fixture *r, const golden_case *c)
{
    qn_npy idx = golden_of(c->prefix, "anchor_idx");
    const int32_t *from = idx.data;
    int32_t modes[256];
    qn_err err = { .text = "" };

    for (int k = 0; k < idx.dims[0]; k++)
        modes[k] = is_origin(c) ? from[k] : from[2 * k] * (r->config->N / 2 + 1) + from[2 * k + 1];
    MUST_TELL(qn_les_codec_set_anchors(r->codec, modes, &err));
    qn_npy_free(&idx);
}

/* At most `share` of the cells differ. */
static void expect_ternary(const fixture *r, const golden_case *c, const char *what, int is_before,
                           double share)
{
    qn_npy want = golden_of(c->prefix, what);
    int8_t *got = malloc(r->cells);
    size_t n_off = 0;

    assert_non_null(got);
    must(qn_buf_read(qn_les_codec_ternary(r->codec, is_before), 0, got, r->cells, &failure));
    for (size_t i = 0; i < r->cells; i++)
        n_off += got[i] != ((const int8_t *)want.data)[i];
    EXPECT_AT_MOST((double)n_off / (double)r->cells, share, "%s %s", c->prefix, what);
    free(got);
    qn_npy_free(&want);
}

static void expect_vector(const fixture *r, const golden_case *c, const char *what, int row,
                          int is_f64)
{
    const qn_les_layout at = qn_les_codec_layout(r->codec);
    qn_npy want = golden_of(c->prefix, what);
    double *got = z_row(r, row);

    assert_int_equal(qn_npy_elems(&want), r->d);
    for (int k = 0; k < r->d; k++) {
        const int is_rough = k == at.support || k == at.mid || k == at.high;
        const double limit = is_f64 ? 1e-12 : is_rough ? 1e-3 : 1e-6;

        EXPECT_AT_MOST(fabs(got[k] - ((const double *)want.data)[k]), limit, "%s %s[%d]", c->prefix,
                       what, k);
    }
    free(got);
    qn_npy_free(&want);
}

static void check_encoded(const place *at, const golden_case *c, int is_f64)
{
    const qn_les_options config = case_config(c, is_f64, "1", "");
    const double before = is_f64 ? 0 : 0.001, after = is_f64 ? 0 : 0.005;
    fixture r = open_fixture(at, &config);

    set_golden_anchors(&r, c);
    put_golden(&r, c->prefix, "omega_t0");
    encode(&r, 0);
    if (c->has_t0_ternary) {
        expect_ternary(&r, c, "enc_s0_t0", 1, before);
        expect_ternary(&r, c, "enc_s_t0", 0, after);
    }
    put_golden(&r, c->prefix, "omega_t100");
    encode(&r, 0);
    expect_ternary(&r, c, "enc_s0_t100", 1, before);
    expect_ternary(&r, c, "enc_s_t100", 0, after);
    expect_vector(&r, c, "z_t0", 0, is_f64);
    expect_vector(&r, c, "z_t100", 1, is_f64);
    close_fixture(&r);
}

static void encoded_fields_are_the_golden_ones(void **state)
{
    (void)state;
    each_case(check_encoded);
}

static int by_value(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Positions of the chosen anchors in the list of mid modes. */
static void expect_positions(const fixture *r, const golden_case *c, const int32_t *modes)
{
    const qn_les_modes *m = qn_les_codec_modes(r->codec);
    qn_npy pos = golden_of(c->prefix, "anchor_pos");

    for (int k = 0; k < m->n_anchors; k++)
        assert_int_equal(modes[k], m->mid[((const int32_t *)pos.data)[k]]);
    qn_npy_free(&pos);
}

static void check_anchors(const place *at, const golden_case *c, int is_f64)
{
    const qn_les_options config = case_config(c, is_f64, "1", "");
    fixture r = open_fixture(at, &config);
    const int n = qn_les_codec_modes(r.codec)->n_anchors;
    qn_npy idx = golden_of(c->prefix, "anchor_idx");
    int32_t *want = idx.data, got[256];
    qn_err err = { .text = "" };

    put_golden(&r, c->prefix, "omega_t0");
    encode(&r, 1);
    MUST_TELL(qn_les_codec_read_anchors(r.codec, got, &err));
    if (is_origin(c)) {
        qsort(want, (size_t)n, sizeof *want, by_value); /* its order is arbitrary */
        qsort(got, (size_t)n, sizeof *got, by_value);
        assert_memory_equal(got, want, (size_t)n * sizeof *got);
    } else {
        for (int k = 0; k < n; k++)
            assert_int_equal(got[k], want[2 * k] * (config.N / 2 + 1) + want[2 * k + 1]);
        expect_positions(&r, c, got);
        expect_vector(&r, c, "z_t0", 0, is_f64);
    }
    qn_npy_free(&idx);
    close_fixture(&r);
}

static void chosen_anchors_are_the_golden_ones(void **state)
{
    (void)state;
    each_case(check_anchors);
}

/* Decode. */

/* Codec origin reads its phases from one file; the golden ones are two. */
static void write_phases(const golden_case *c, const char *path)
{
    qn_npy mid = golden_of(c->prefix, "dec_phase_mid_t100");
    qn_npy high = golden_of(c->prefix, "dec_phase_high_t100");
    const size_t elems = (size_t)qn_npy_elems(&mid);
    double *both = malloc(2 * elems * sizeof *both);
    qn_err err = { .text = "" };

    assert_non_null(both);
    memcpy(both, mid.data, elems * sizeof *both);
    memcpy(both + elems, high.data, elems * sizeof *both);
    const qn_npy file = {
        .type = QN_NPY_F8, .n_dims = 3, .dims = { 2, mid.dims[0], mid.dims[1] }, .data = both
    };
    MUST_TELL(qn_npy_write(path, &file, &err));
    free(both);
    qn_npy_free(&mid);
    qn_npy_free(&high);
}

static void expect_field(const fixture *r, qn_buf *field, const golden_case *c, const char *what,
                         double limit)
{
    qn_npy want = golden_of(c->prefix, what);
    double *got = read_reals(r->config, field, 0, r->cells);

    EXPECT_AT_MOST(rel_l2(want.data, got, r->cells), limit, "%s %s", c->prefix, what);
    free(got);
    qn_npy_free(&want);
}

/* The golden vector of step 100, decoded. */
static fixture decoded_fixture(const place *at, const golden_case *c, const qn_les_options *config)
{
    fixture r = open_fixture(at, config);
    qn_npy z = golden_of(c->prefix, "z_t100");

    set_golden_anchors(&r, c);
    write_reals(config, r.z, (size_t)r.d, z.data, (size_t)r.d);
    qn_npy_free(&z);
    decode(&r, 1, 100);
    return r;
}

static qn_les_errors compared(const fixture *r, const double *truth, qn_buf *decoded)
{
    qn_buf *a = new_array(r->ctx, r->config, "truth", r->cells), *sums = NULL;
    qn_graph *g = NULL;
    double got[QN_LES_SUMS];

    write_reals(r->config, a, 0, truth, r->cells);
    must(qn_buf_new(r->ctx, "sums", 2 * sizeof got, &sums, &failure));
    must(qn_graph_new(r->ctx, "compare", &g, &failure));
    must(qn_les_codec_add_compare(r->codec, g, a, decoded, sums, 1, &failure));
    run_once(g);
    must(qn_buf_read(sums, sizeof got, got, sizeof got, &failure));
    qn_buf_free(a);
    qn_buf_free(sums);
    return qn_les_errors_of(r->config, got);
}

static double figure(json_t *root, const char *path)
{
    return json_number_value(golden_member(root, path));
}

/* The figures that the golden files give for a decoded field. */
static void expect_figures(const fixture *r, const golden_case *c, int is_f64)
{
    const double limit = is_f64 ? 1e-11 : 1e-4;
    qn_npy truth = golden_of(c->prefix, "omega_t100");
    char name[64];

    snprintf(name, sizeof name, "les/%s.json", c->prefix);
    json_t *root = golden_json(name);
    const qn_les_errors lp = compared(r, truth.data, r->lp),
                        full = compared(r, truth.data, r->full);
    const double energy = figure(root, "diagnostics/100/energy");
    const double enstrophy = figure(root, "diagnostics/100/enstrophy");
    const double dE = is_origin(c) ? figure(root, "decode_of_encode/energy_full") / energy - 1
                                   : figure(root, "decode_of_encode/energy_rel_err");
    const double dZ = is_origin(c) ? figure(root, "decode_of_encode/enstrophy_full") / enstrophy - 1
                                   : figure(root, "decode_of_encode/enstrophy_rel_err");

    EXPECT_AT_MOST(fabs(lp.rel_l2 - figure(root, "decode_of_encode/lp/rel_l2")), limit, "lp l2");
    EXPECT_AT_MOST(fabs(lp.corr - figure(root, "decode_of_encode/lp/corr")), limit, "lp corr");
    EXPECT_AT_MOST(fabs(full.rel_l2 - figure(root, "decode_of_encode/full/rel_l2")), limit, "l2");
    EXPECT_AT_MOST(fabs(full.corr - figure(root, "decode_of_encode/full/corr")), limit, "corr");
    EXPECT_AT_MOST(fabs(full.dE_rel - dE), limit, "%s dE_rel", c->prefix);
    EXPECT_AT_MOST(fabs(full.dZ_rel - dZ), limit, "%s dZ_rel", c->prefix);
    EXPECT_AT_MOST(fabs(full.dE - dE * energy), limit, "%s dE", c->prefix);
    EXPECT_AT_MOST(fabs(full.dZ - dZ * enstrophy), limit, "%s dZ", c->prefix);
    json_decref(root);
    qn_npy_free(&truth);
}

static void check_decoded(const place *at, const golden_case *c, int is_f64)
{
    const double limit = is_f64 ? 1e-12 : 1e-5;
    qn_temp_dir dir = { .path = "" };
    char path[1100] = "";
    qn_err err = { .text = "" };

    MUST_TELL(qn_temp_dir_make(&dir, &err));
    if (is_origin(c) && c->has_phases) {
        snprintf(path, sizeof path, "%s/phases.npy", dir.path);
        write_phases(c, path);
    }
    const qn_les_options gated = case_config(c, is_f64, "1", path);
    fixture r = decoded_fixture(at, c, &gated);
    expect_field(&r, r.lp, c, "dec_lp_t100", limit);
    expect_ternary(&r, c, "dec_s_t100", 0, is_f64 ? 0 : 0.005);
    if (c->has_phases) {
        expect_field(&r, r.full, c, "dec_full_t100", limit);
        expect_figures(&r, c, is_f64);
    }
    close_fixture(&r);
    if (!is_origin(c)) {
        const qn_les_options open = case_config(c, is_f64, "0", path);

        r = decoded_fixture(at, c, &open);
        expect_field(&r, r.full, c, "dec_full_nogate_t100", limit);
        close_fixture(&r);
    }
    qn_temp_dir_remove(&dir);
}

static void decoded_fields_are_the_golden_ones(void **state)
{
    (void)state;
    each_case(check_decoded);
}

/* Behaviour. */

/* A random field for every member, smooth enough to have all bands. */
static double *random_state(const qn_les_options *config)
{
    const size_t n = (size_t)config->N, cells = n * n * (size_t)config->ensemble;
    double *field = malloc(cells * sizeof *field);

    assert_non_null(field);
    for (size_t i = 0; i < cells; i++)
        field[i] = (double)qn_random_float(11, i) - 0.5 + sin(0.3 * (double)(i % n)) +
                   cos(0.2 * (double)(i / n % n));
    return field;
}

static void expect_same_encoding(const qn_les_options *a, const qn_les_options *b)
{
    fixture r = open_fixture(&cpu_place, a), q = open_fixture(&cpu_place, b);
    double *field = random_state(a);

    put_state(&r, field);
    put_state(&q, field);
    encode(&r, 1);
    encode(&q, 1);
    double *want = z_row(&r, 0), *got = z_row(&q, 0);
    for (int k = 0; k < r.d; k++)
        EXPECT_AT_MOST(fabs(want[k] - got[k]), 1e-12, "entry %d", k);
    free(want);
    free(got);
    free(field);
    close_fixture(&r);
    close_fixture(&q);
}

static void smoothing_by_sums_agrees_with_the_transfer_function(void **state)
{
    const qn_les_options by_wave = CONFIG("n", "48", "precision", "f64");
    const qn_les_options by_sum = CONFIG("n", "48", "precision", "f64", "smooth", "box_direct");

    (void)state;
    expect_same_encoding(&by_wave, &by_sum);
}

/* Encoding and decoding give every member of an ensemble the same bits as alone. */
static void members_are_encoded_and_decoded_independently(void **state)
{
    const char *const profiles[] = { "quern", "origin" };

    (void)state;
    for (int k = 0; k < 2; k++) {
        const qn_les_options three = CONFIG("profile", profiles[k], "n", "32", "ensemble", "3",
                                            "ic-file", "unread.npy", "precision", "f64");
        const qn_les_options single =
            CONFIG("profile", profiles[k], "n", "32", "ic-file", "unread.npy", "precision", "f64");
        fixture r = open_fixture(&cpu_place, &three), q = open_fixture(&cpu_place, &single);
        double *fields = random_state(&three);

        put_state(&r, fields);
        put_state(&q, fields + 2 * q.cells);
        encode(&r, 1);
        encode(&q, 1);
        decode(&r, 0, 5);
        decode(&q, 0, 5);
        double *all = z_row(&r, 0), *one = z_row(&q, 0);
        assert_memory_equal(all + 2 * r.d, one, (size_t)r.d * sizeof *one);
        double *full = read_reals(&three, r.full, 2 * q.cells, q.cells);
        double *alone = read_reals(&single, q.full, 0, q.cells);
        EXPECT_AT_MOST(rel_l2(alone, full, q.cells), 1e-15, "%s", profiles[k]);
        free(all);
        free(one);
        free(full);
        free(alone);
        free(fields);
        close_fixture(&r);
        close_fixture(&q);
    }
}

static void rows_beyond_the_room_are_not_written(void **state)
{
    const qn_les_options config = CONFIG("n", "32", "precision", "f64");
    fixture r = open_fixture(&cpu_place, &config);
    double *field = random_state(&config);
    qn_err err = { .text = "" };

    (void)state;
    put_state(&r, field);
    for (int t = 0; t < ROOM + 2; t++)
        encode(&r, t == 0);
    double *first = z_row(&r, 0), *last = z_row(&r, ROOM - 1);
    assert_memory_equal(first, last, (size_t)r.d * sizeof *first);
    free(last);
    field[0] += 3;
    put_state(&r, field);
    MUST_TELL(qn_les_codec_set_row(r.codec, 2, &err));
    encode(&r, 0);
    double *changed = z_row(&r, 2);
    last = z_row(&r, 3);
    assert_memory_equal(first, last, (size_t)r.d * sizeof *first);
    assert_memory_not_equal(first, changed, (size_t)r.d * sizeof *first);
    free(first);
    free(last);
    free(changed);
    free(field);
    close_fixture(&r);
}

/* One majority pass, by its definition. */
static void vote(int n, const int8_t *s, int8_t *out)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int sum = 0;

            for (int k = 0; k < 9; k++)
                sum += s[(j + k / 3 + n - 1) % n * n + (i + k % 3 + n - 1) % n];
            out[j * n + i] = (int8_t)((sum > 0) - (sum < 0));
        }
}

/* Sides below, at and above a tile; passes that need no launch, a part of one and several. */
static void majority_is_that_of_the_definition(void **state)
{
    static const struct {
        const char *n, *passes;
    } grids[] = { { "16", "8" }, { "130", "3" }, { "228", "20" }, { "112", "0" }, { "50", "64" } };

    (void)state;
    for (size_t k = 0; k < sizeof grids / sizeof grids[0]; k++) {
        const qn_les_options config =
            CONFIG("n", grids[k].n, "maj-iters", grids[k].passes, "tau", "0.1", "k-cut", "3");
        fixture r = open_fixture(&cpu_place, &config);
        double *field = random_state(&config);
        int8_t *s = malloc(r.cells), *next = malloc(r.cells), *swap;

        assert_true(s && next);
        put_state(&r, field);
        encode(&r, 1);
        must(qn_buf_read(qn_les_codec_ternary(r.codec, 1), 0, s, r.cells, &failure));
        for (int pass = 0; pass < config.maj_iters; pass++) {
            vote(config.N, s, next);
            swap = s;
            s = next;
            next = swap;
        }
        must(qn_buf_read(qn_les_codec_ternary(r.codec, 0), 0, next, r.cells, &failure));
        assert_memory_equal(next, s, r.cells);

        double *z = z_row(&r, 0), live = 0;
        for (size_t i = 0; i < r.cells; i++)
            live += s[i] != 0;
        const double support = z[qn_les_codec_layout(r.codec).support];
        EXPECT_AT_MOST(fabs(support - live / (double)r.cells), 1e-7, "support at N %s", grids[k].n);
        free(z);
        free(s);
        free(next);
        free(field);
        close_fixture(&r);
    }
}

static void encoding_moves_nothing_between_host_and_device(void **state)
{
    const char *const profiles[] = { "quern", "origin" };

    (void)state;
    for (int k = 0; k < 2; k++) {
        const qn_les_options config = CONFIG("profile", profiles[k], "n", "64", "ensemble", "2",
                                             "ic-file", "unread.npy", "precision", "f32");
        const place sim = { "sim", "sim", NULL };
        fixture r = open_fixture(&sim, &config);
        double *field = random_state(&config);
        qn_graph *g = NULL;

        put_state(&r, field);
        encode(&r, 1); /* lists and tables are uploaded once */
        must(qn_graph_new(r.ctx, "encode", &g, &failure));
        must(qn_les_codec_add_encode(r.codec, g, r.state, r.z, ROOM, &failure));
        const qn_transfer_count before = qn_ctx_transfers(r.ctx);
        for (int t = 0; t < 3; t++) {
            must(qn_graph_run(g, &failure));
            must(qn_graph_wait(g, &failure));
        }
        const qn_transfer_count after = qn_ctx_transfers(r.ctx);
        assert_int_equal(after.h2d_bytes, before.h2d_bytes);
        assert_int_equal(after.d2h_bytes, before.d2h_bytes);
        assert_string_not_equal(qn_graph_stage_device(g, 0), "cpu");
        qn_graph_free(g);
        free(field);
        close_fixture(&r);
    }
}

/* State, lists and tables are uploaded; rows are cleared on the device. */
static void room_for_rows_is_not_brought_from_the_host(void **state)
{
    const qn_les_options config = CONFIG("n", "64", "precision", "f32");
    const place sim = { "sim", "sim", NULL };
    fixture r = open_fixture(&sim, &config);
    double *field = random_state(&config);
    qn_graph *g = NULL;

    (void)state;
    put_state(&r, field);
    must(qn_graph_new(r.ctx, "begin", &g, &failure));
    must(stage_les_empty_f32(g, "empty", qn_range_2d(r.d, ROOM), r.d, r.z, &failure));
    must(stage_les_first_row(g, "first row", qn_range_1d(1), r.codec->row, &failure));
    must(qn_les_codec_add_encode(r.codec, g, r.state, r.z, ROOM, &failure));
    run_once(g);
    assert_int_equal(qn_buf_transfers(r.z).h2d_bytes, 0);
    encode(&r, 0);
    double *first = z_row(&r, 0), *second = z_row(&r, 1), *third = z_row(&r, 2);
    assert_memory_equal(first, second, (size_t)r.d * sizeof *first);
    for (int k = 0; k < r.d; k++)
        assert_true(third[k] == 0);
    free(first);
    free(second);
    free(third);
    free(field);
    close_fixture(&r);
}

static void what_does_not_fit_is_refused(void **state)
{
    const qn_les_options config = CONFIG("n", "32", "pairs", "2");
    const qn_les_options phases = CONFIG("n", "32", "phases", "phases.npy");
    fixture r = open_fixture(&cpu_place, &config);
    qn_les_codec *none = NULL;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_les_codec_set_anchors(r.codec, (int32_t[]){ 3, 4 }, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "anchor 3 is not a mode of the mid band"));
    assert_int_equal(qn_les_codec_new(r.ctx, &phases, &none, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "codec is not origin"));
    assert_null(none);
    close_fixture(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoded_fields_are_the_golden_ones),
        cmocka_unit_test(chosen_anchors_are_the_golden_ones),
        cmocka_unit_test(decoded_fields_are_the_golden_ones),
        cmocka_unit_test(smoothing_by_sums_agrees_with_the_transfer_function),
        cmocka_unit_test(members_are_encoded_and_decoded_independently),
        cmocka_unit_test(rows_beyond_the_room_are_not_written),
        cmocka_unit_test(majority_is_that_of_the_definition),
        cmocka_unit_test(encoding_moves_nothing_between_host_and_device),
        cmocka_unit_test(room_for_rows_is_not_brought_from_the_host),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
