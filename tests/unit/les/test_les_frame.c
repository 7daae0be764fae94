/* test_les_frame.c - colours, hashes and copies on devices, against a plain computation. */
#include "engine_fixture.h"

#include "domain/les/run/digest.h"
#include "kernel/les/les_hash.h"
#include "util/hash.h"

#include <math.h>

static const char *const backends[] = { "cpu", "sim", "opencl" };

/* The hash that a device makes, of memory. */
static uint64_t digest(const void *data, size_t bytes)
{
    uint64_t hash = QN_FNV1A64_START;

    for (size_t at = 0; at < bytes; at += (4 * HASH_WORDS)) {
        const size_t n = bytes - at < (4 * HASH_WORDS) ? bytes - at : (4 * HASH_WORDS);
        const uint64_t block = qn_fnv1a64((const char *)data + at, n);

        for (int b = 0; b < 8; b++) {
            const uint8_t byte = (uint8_t)(block >> 8 * b);

            hash = qn_fnv1a64_add(hash, &byte, 1);
        }
    }
    return hash;
}

enum { N = 20 };

static qn_les_options config_of(const char *precision)
{
    const char *const pairs[] = { "n", "20", "precision", precision, "what", "sim", NULL };
    qn_les_options config;
    qn_err err = { .text = "" };

    if (qn_les_options_make(NULL, pairs, NULL, &config, &err) != QN_OK)
        fail_msg("%s", err.text);
    return config;
}

/* The colour of v on a scale of 1. */
static void colour_of(double v, uint8_t rgb[3])
{
    static const double at[5] = { -1, -0.5, 0, 0.5, 1 };
    static const double table[5][3] = {
        { 10, 40, 120 }, { 80, 150, 220 }, { 245, 245, 245 }, { 230, 120, 80 }, { 130, 10, 30 }
    };
    int k = 0;

    v = fmin(fmax(v, -1), 1);
    while (k < 3 && v >= at[k + 1])
        k++;
    for (int c = 0; c < 3; c++)
        rgb[c] =
            (uint8_t)floor(table[k][c] + (v - at[k]) / 0.5 * (table[k + 1][c] - table[k][c]) + 0.5);
}

/* Values on the knots, beyond the scale, and between. */
static double value_of(int i)
{
    static const double special[] = { 0, 2, -2, 1, -1, 5, -7, 4, -4 };

    return i < 9 ? special[i] : 6.0 * (double)qn_random_float(3, (uint64_t)i) / 2;
}

static qn_buf *field_of(qn_ctx *ctx, int is_f64, int shift)
{
    qn_buf *buf = NULL;
    void *data;

    must(qn_buf_new(ctx, "field", (size_t)N * N * (is_f64 ? 8 : 4), &buf, &failure));
    must(qn_buf_host(buf, QN_HOST_DISCARD, &data, &failure));
    for (int i = 0; i < N * N; i++)
        if (is_f64)
            ((double *)data)[i] = value_of((i + shift) % (N * N));
        else
            ((float *)data)[i] = (float)value_of((i + shift) % (N * N));
    return buf;
}

static double cell(int is_f64, int i, int shift)
{
    const double v = value_of((i + shift) % (N * N));

    return is_f64 ? v : (double)(float)v;
}

/* With the colours from middle - 4 to middle + 4. */
static void check_frame(const char *backend, int is_f64, double middle)
{
    const qn_les_options config = config_of(is_f64 ? "f64" : "f32");
    const qn_les_frame_size size = qn_les_frame_size_of(&config, 3);
    const int zoom = 13, side = N * zoom;
    qn_ctx *ctx = open_if_present(backend);
    qn_buf *a, *b, *rgb = NULL;
    qn_graph *graph = NULL;
    uint8_t *got, want[3];
    const double scale = 4;

    if (!ctx)
        return;
    assert_int_equal(size.width, 3 * (side + 4) + 16);
    assert_int_equal(size.height, side);
    a = field_of(ctx, is_f64, 0);
    b = field_of(ctx, is_f64, 31);
    must(qn_buf_new(ctx, "rgb", size.bytes, &rgb, &failure));
    must(qn_graph_new(ctx, "frame", &graph, &failure));
    must(qn_les_add_frame(graph, &config, 3, middle - scale, middle + scale, a, b, rgb, &failure));
    must(qn_graph_run(graph, &failure));
    must(qn_buf_host(rgb, QN_HOST_READ, (void **)&got, &failure));
    for (int y = 0; y < size.height; y++)
        for (int x = 0; x < size.width; x++) {
            const int panel = x / (side + 4), in = x % (side + 4);
            const int i = y / zoom * N + in / zoom;
            const uint8_t *pixel = got + 3 * (y * size.width + x);

            if (panel == 3) {
                colour_of(1 - 2.0 * y / (side - 1), want);
            } else if (in >= side) {
                want[0] = want[1] = want[2] = 255;
            } else {
                const double va = cell(is_f64, i, 0), vb = cell(is_f64, i, 31);

                colour_of((panel == 0   ? va - middle
                           : panel == 1 ? vb - middle
                                        : vb - va) /
                              scale,
                          want);
            }
            assert_memory_equal(pixel, want, 3);
        }
    qn_graph_free(graph);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_buf_free(rgb);
    qn_ctx_close(ctx);
}

static void frames_have_the_colours_of_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        check_frame(backends[i], 0, 0);
        check_frame(backends[i], 1, 0.5);
    }
}

static void large_grids_are_drawn_cell_by_pixel(void **state)
{
    qn_les_options config = config_of("f32");

    (void)state;
    config.N = 512;
    assert_int_equal(qn_les_frame_size_of(&config, 1).width, 512 + 20);
    config.N = 100;
    assert_int_equal(qn_les_frame_size_of(&config, 1).width, 300 + 20);
}

static void hashes_of_devices_are_those_of_the_host(void **state)
{
    enum { WORDS = 5000 };

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        qn_ctx *ctx = open_if_present(backends[k]);
        qn_buf *data, *out = NULL;
        qn_graph *graph = NULL;
        uint64_t got[2];
        float *host;
        int first;

        if (!ctx)
            continue;
        data = ramp(ctx, "data", WORDS, 1, 0.37f);
        must(qn_buf_host(data, QN_HOST_READ, (void **)&host, &failure));
        must(qn_buf_new(ctx, "out", sizeof got, &out, &failure));
        must(qn_graph_new(ctx, "hash", &graph, &failure));
        must(qn_les_add_digest(graph, "hash", data, 0, 4 * 3000, out, 0, &first, &failure));
        must(qn_graph_run(graph, &failure));
        must(qn_les_move_digest(graph, first, 4 * 2000, 1, &failure));
        must(qn_graph_run(graph, &failure));
        must(qn_buf_read(out, 0, got, sizeof got, &failure));
        must(qn_buf_host(data, QN_HOST_READ, (void **)&host, &failure));
        assert_true(got[0] == digest(host, 4 * 3000));
        assert_true(got[1] == digest(host + 2000, 4 * 3000));
        assert_true(got[0] != got[1]);
        qn_graph_free(graph);
        qn_buf_free(data);
        qn_buf_free(out);
        qn_ctx_close(ctx);
    }
}

static void fields_are_copied_to_their_place(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        qn_ctx *ctx = open_if_present(backends[k]);
        qn_graph *graph = NULL;
        qn_buf *field, *store;
        int stage;

        if (!ctx)
            continue;
        field = ramp(ctx, "field", 100, 5, 1);
        store = ramp(ctx, "store", 300, 0, 0);
        must(qn_graph_new(ctx, "keep", &graph, &failure));
        must(qn_les_add_copy(graph, "keep", field, 400, store, 0, &stage, &failure));
        must(qn_les_move_copy(graph, stage, 800, &failure));
        must(qn_graph_run(graph, &failure));
        assert_float_equal(value_at(store, 0), 0, 0);
        assert_float_equal(value_at(store, 199), 0, 0);
        assert_float_equal(value_at(store, 200), 5, 0);
        assert_float_equal(value_at(store, 299), 104, 0);
        qn_graph_free(graph);
        qn_buf_free(field);
        qn_buf_free(store);
        qn_ctx_close(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_have_the_colours_of_the_table),
        cmocka_unit_test(large_grids_are_drawn_cell_by_pixel),
        cmocka_unit_test(hashes_of_devices_are_those_of_the_host),
        cmocka_unit_test(fields_are_copied_to_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
