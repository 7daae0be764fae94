/* test_les_modes.c - bands, their order and counts, and the layout of encoded vectors. */
#include "golden.h"

#include "domain/les/flow/modes.h"
#include "kernel/dialect.h"
#include "kernel/les/les_codec.h"
#include "kernel/les/les_codec_mode.h"

static qn_les_modes modes_of(const char *const *pairs)
{
    qn_les_options config;
    qn_les_modes modes = { 0 };
    qn_err err = { .text = "" };

    if (qn_les_options_make(NULL, pairs, NULL, &config, &err) != QN_OK ||
        qn_les_modes_new(&config, &modes, &err) != QN_OK)
        fail_msg("%s", err.text);
    return modes;
}

#define MODES(...)  modes_of((const char *const[]){ __VA_ARGS__, NULL })
#define ORIGIN(...) MODES("profile", "origin", "ic", "spectral", __VA_ARGS__)

/* Positions in the mid list of the n_anchors modes with the largest power, ties to the lower one,
 * by the definition. */
static void rank_anchors(const qn_les_modes *modes, const double *power, int32_t *positions)
{
    int n = 0;

    for (int a = 0; a < modes->n_mid; a++) {
        int rank = 0;

        for (int b = 0; b < modes->n_mid; b++)
            rank += power[b] > power[a] || (power[b] == power[a] && b < a);
        if (rank < modes->n_anchors)
            positions[n++] = a;
    }
}

static void bands_of_a_half_plane_have_their_counts(void **state)
{
    static const char *const sides[] = { "26", "64", "128", "256", "500" };

    (void)state;
    for (int i = 0; i < 5; i++) {
        qn_les_modes m = MODES("n", sides[i]);
        const qn_i64 edge = (m.n - 1) / 3;

        assert_int_equal(m.n_low, 98);
        /* At N = 26 the dealiasing rule ends at 8, but the mid band keeps its modes. */
        assert_int_equal(m.n_mid, 122);
        assert_int_equal(qn_les_layout_of(&m).size, 328);
        assert_int_equal(qn_les_list_band(&m, QN_LES_HIGH, NULL), m.n_high);
        if (edge > 12)
            assert_int_equal(m.n_high, ((2 * edge + 1) * (2 * edge + 1) - 1) / 2 - 98 - 122);
        qn_les_modes_free(&m);
    }
}

static void bands_of_a_full_plane_have_their_counts(void **state)
{
    qn_les_modes m = ORIGIN("n", "64");

    (void)state;
    assert_int_equal(m.n_low, 197);
    assert_int_equal(m.n_mid, 244);
    assert_int_equal(m.n_high, 3655);
    assert_int_equal(qn_les_list_band(&m, QN_LES_HIGH, NULL), 3655);
    assert_int_equal(m.n_anchors, 128);
    assert_int_equal(qn_les_layout_of(&m).size, 654);
    qn_les_modes_free(&m);
}

static void counts_agree_with_the_golden_cases(void **state)
{
    (void)state;
    need_golden("les/quern_n64_s1.json");

    json_t *root = golden_json("les/quern_n64_s1.json");
    qn_les_modes m = MODES("n", "64");
    assert_int_equal(m.n_low, json_integer_value(golden_member(root, "codec/n_low")));
    assert_int_equal(m.n_mid, json_integer_value(golden_member(root, "codec/n_mid")));
    assert_int_equal(m.n_high, json_integer_value(golden_member(root, "codec/n_high")));
    assert_int_equal(qn_les_layout_of(&m).size, json_integer_value(golden_member(root, "codec/D")));
    qn_les_modes_free(&m);

    m = MODES("n", "64", "k-cut", "3", "k-mid", "5", "pairs", "4");
    assert_int_equal(qn_les_layout_of(&m).size, json_integer_value(golden_member(root, "tiny/D")));
    qn_les_modes_free(&m);
    json_decref(root);

    root = golden_json("les/origin_n64_s0.json");
    m = ORIGIN("n", "64", "k-cut", "3", "k-mid", "5", "topk-mid", "8");
    assert_int_equal(qn_les_layout_of(&m).size, json_integer_value(golden_member(root, "tiny/D")));
    qn_les_modes_free(&m);
    json_decref(root);
}

/* `pairs` are (j, i) of a half spectrum. */
static void assert_same_modes(const qn_les_modes *m, const int32_t *modes, const int32_t *pairs,
                              int count)
{
    for (int k = 0; k < count; k++)
        assert_int_equal(modes[k], pairs[2 * k] * (m->n / 2 + 1) + pairs[2 * k + 1]);
}

static void expect_half_plane(const char *prefix, const char *side)
{
    qn_les_modes m = MODES("n", side);
    int32_t positions[64], anchors[64];
    double *power = calloc((size_t)m.n_mid, sizeof *power);
    char name[80];

    snprintf(name, sizeof name, "les/%s_low_idx.npy", prefix);
    qn_npy low = golden_array(name);
    snprintf(name, sizeof name, "les/%s_anchor_pos.npy", prefix);
    qn_npy pos = golden_array(name);
    snprintf(name, sizeof name, "les/%s_anchor_idx.npy", prefix);
    qn_npy idx = golden_array(name);
    snprintf(name, sizeof name, "les/%s_ic_hat.npy", prefix);
    qn_npy hat = golden_array(name);

    assert_int_equal(low.dims[0], m.n_low);
    assert_same_modes(&m, m.low, low.data, m.n_low);

    assert_non_null(power);
    for (int k = 0; k < m.n_mid; k++) {
        const double *h = (const double *)hat.data + 2 * m.mid[k];

        power[k] = h[0] * h[0] + h[1] * h[1];
    }
    assert_int_equal(m.n_anchors, 64);
    rank_anchors(&m, power, positions);
    assert_memory_equal(positions, pos.data, sizeof positions);
    for (int k = 0; k < 64; k++)
        anchors[k] = m.mid[positions[k]];
    assert_same_modes(&m, anchors, idx.data, 64);

    qn_npy_free(&low);
    qn_npy_free(&pos);
    qn_npy_free(&idx);
    qn_npy_free(&hat);
    free(power);
    qn_les_modes_free(&m);
}

static void half_plane_lists_and_anchors_are_the_golden_ones(void **state)
{
    (void)state;
    need_golden("les/quern_n64_s1.json");
    expect_half_plane("quern_n64_s1", "64");
    expect_half_plane("quern_n128_s1", "128");
}

static int is_listed(const int32_t *list, int n, int32_t mode)
{
    for (int k = 0; k < n; k++)
        if (list[k] == mode)
            return 1;
    return 0;
}

static void full_plane_lists_are_the_golden_ones(void **state)
{
    (void)state;
    need_golden("les/origin_n64_s0.json");

    qn_les_modes m = ORIGIN("n", "64");
    qn_npy low = golden_array("les/origin_n64_s0_mask_low_idx.npy");
    qn_npy idx = golden_array("les/origin_n64_s0_anchor_idx.npy");
    const int32_t *anchors = idx.data;

    assert_int_equal(low.dims[0], m.n_low);
    assert_memory_equal(m.low, low.data, (size_t)m.n_low * sizeof *m.low);
    assert_int_equal(idx.dims[0], m.n_anchors);
    for (int k = 0; k < m.n_anchors; k++) {
        assert_true(is_listed(m.mid, m.n_mid, anchors[k]));
        assert_false(is_listed(anchors, k, anchors[k]));
    }
    qn_npy_free(&low);
    qn_npy_free(&idx);
    qn_les_modes_free(&m);
}

static void every_mode_is_in_one_band_and_lists_keep_their_order(void **state)
{
    qn_les_modes m = MODES("n", "48", "dealias", "none");
    int32_t *high = malloc((size_t)m.n_high * sizeof *high);
    qn_les_wave before = { 0, -100 };

    (void)state;
    assert_non_null(high);
    assert_int_equal(qn_les_list_band(&m, QN_LES_HIGH, high), m.n_high);
    /* All half-plane modes but those of the Nyquist row and column. */
    assert_int_equal(m.n_low + m.n_mid + m.n_high, (47 * 47 - 1) / 2);
    for (qn_i64 k = 0; k < m.n_high; k++) {
        const qn_les_wave w = qn_les_wave_of(&m, high[k]);

        assert_int_equal(qn_les_mode_of(&m, w), high[k]);
        assert_true(w.kx * w.kx + w.ky * w.ky > 144);
        assert_true(w.ky > before.ky || (w.ky == before.ky && w.kx > before.kx));
        assert_int_equal(qn_les_in_band(&m, QN_LES_LOW, w) + qn_les_in_band(&m, QN_LES_MID, w), 0);
        before = w;
    }
    free(high);
    qn_les_modes_free(&m);
}

/* The place in the half spectrum of mode (kx, ky) of a full plane of 8 x 8, and its sign. */
static void expect_half_at(int kx, int ky, i64 place, i32 sign)
{
    const codec_par par = { .n = 8, .is_full = 1 };
    const qn_les_modes modes = { .n = 8, .is_full = 1 };
    i32 got = 0;

    assert_int_equal(half_at(par, qn_les_mode_of(&modes, (qn_les_wave){ kx, ky }), &got), place);
    assert_int_equal(got, sign);
}

static void modes_beyond_the_half_spectrum_are_conjugates(void **state)
{
    (void)state;
    expect_half_at(2, -1, 7 * 5 + 2, 1);
    expect_half_at(-2, 1, 7 * 5 + 2, -1);
    expect_half_at(-3, 0, 3, -1);
    expect_half_at(4, 4, 4 * 5 + 4, 1);
}

static void ties_go_to_the_lower_position(void **state)
{
    qn_les_modes m = MODES("n", "64", "pairs", "3");
    double power[122] = { 0 };
    int32_t positions[3];

    (void)state;
    power[100] = 5;
    power[7] = 1;
    rank_anchors(&m, power, positions);
    assert_int_equal(positions[0], 0);
    assert_int_equal(positions[1], 7);
    assert_int_equal(positions[2], 100);
    qn_les_modes_free(&m);
}

static void no_more_anchors_than_mid_modes(void **state)
{
    qn_les_modes m = MODES("n", "64", "k-cut", "3", "k-mid", "3", "pairs", "9");

    (void)state;
    assert_int_equal(m.n_mid, 0);
    assert_int_equal(m.n_anchors, 0);
    assert_int_equal(qn_les_layout_of(&m).size, 4 + 2 * m.n_low);
    qn_les_modes_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_of_a_half_plane_have_their_counts),
        cmocka_unit_test(bands_of_a_full_plane_have_their_counts),
        cmocka_unit_test(counts_agree_with_the_golden_cases),
        cmocka_unit_test(half_plane_lists_and_anchors_are_the_golden_ones),
        cmocka_unit_test(full_plane_lists_are_the_golden_ones),
        cmocka_unit_test(every_mode_is_in_one_band_and_lists_keep_their_order),
        cmocka_unit_test(modes_beyond_the_half_spectrum_are_conjugates),
        cmocka_unit_test(ties_go_to_the_lower_position),
        cmocka_unit_test(no_more_anchors_than_mid_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
