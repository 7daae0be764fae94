/* parity_geometry.c - every point of a range is visited exactly once, and no other point, whatever
 * grid the device allows.
 */
#include "parity.h"

#include "kernel/selftest.gen.h"

enum { LANES_OF_SELFTEST = 256 };

typedef struct shape {
    qn_i64 x, y, z;
} shape;

static qn_graph *graph_in(qn_ctx *ctx)
{
    qn_graph *g = NULL;

    must(qn_graph_new(ctx, "geometry", &g, &failure));
    return g;
}

/* A result full of zeros, one u32 per point. */
static guarded zeros(qn_ctx *ctx, size_t n)
{
    guarded out = guarded_new(ctx, n * sizeof(uint32_t));
    void *none = calloc(n, sizeof(uint32_t));

    assert_non_null(none);
    must(qn_buf_write(out.middle, 0, none, n * sizeof(uint32_t), &failure));
    free(none);
    return out;
}

static void expect_all(const outcome *got, uint32_t want, const char *what, const place *at)
{
    const uint32_t *seen = (const uint32_t *)got->data;

    for (size_t i = 0; i < got->bytes / sizeof *seen; i++)
        if (seen[i] != want)
            fail_msg("%s on %s: point %zu has %u, not %u", what, at->name, i, seen[i], want);
}

static void check_map(qn_ctx *ctx, const place *at, shape s)
{
    guarded seen = zeros(ctx, (size_t)(s.x * s.y * s.z));
    qn_graph *g = graph_in(ctx);
    char what[80];
    outcome got;

    snprintf(what, sizeof what, "map over %lld x %lld x %lld", (long long)s.x, (long long)s.y,
             (long long)s.z);
    must(stage_selftest_visit(g, "visit", qn_range_3d(s.x, s.y, s.z), (int32_t)s.x, (int32_t)s.y,
                              seen.middle, &failure));
    run_graph(g);
    got = guarded_take(&seen, "u32");
    expect_all(&got, 1, what, at);
    free(got.data);
}

static void check_unrolled(qn_ctx *ctx, const place *at, shape s)
{
    guarded seen = zeros(ctx, (size_t)(s.x * s.y));
    qn_graph *g = graph_in(ctx);
    outcome got;

    must(stage_selftest_visit4(g, "visit", qn_range_2d(s.x, s.y), (int32_t)s.x, seen.middle,
                               &failure));
    run_graph(g);
    got = guarded_take(&seen, "u32");
    expect_all(&got, 1, "unrolled map", at);
    free(got.data);
}

/* Lane l gets the value that lane 255 - l left in local memory, plus one. */
static void check_group(qn_ctx *ctx, const place *at, shape s)
{
    const size_t n = (size_t)(s.x * s.y * s.z) * LANES_OF_SELFTEST;
    guarded seen = zeros(ctx, n);
    qn_graph *g = graph_in(ctx);
    outcome got;

    must(stage_selftest_lanes(g, "lanes", qn_range_3d(s.x, s.y, s.z), (int32_t)s.x, (int32_t)s.y,
                              seen.middle, &failure));
    run_graph(g);
    got = guarded_take(&seen, "u32");
    for (size_t i = 0; i < n; i++)
        if (((uint32_t *)got.data)[i] != LANES_OF_SELFTEST - i % LANES_OF_SELFTEST)
            fail_msg("group on %s: lane %zu", at->name, i);
    free(got.data);
}

static void check_part(qn_ctx *ctx, const place *at)
{
    const qn_range part = { 3, 41, 5, 9, 0, 1 };
    guarded seen = zeros(ctx, 50 * 10);
    qn_graph *g = graph_in(ctx);
    outcome got;

    must(stage_selftest_visit(g, "part", part, 50, 10, seen.middle, &failure));
    run_graph(g);
    got = guarded_take(&seen, "u32");
    for (int i = 0; i < 500; i++) {
        const int x = i % 50, y = i / 50;
        const int inside = x >= 3 && x < 41 && y >= 5 && y < 9;

        if (((uint32_t *)got.data)[i] != (uint32_t)inside)
            fail_msg("part of a grid on %s: point %d, %d", at->name, x, y);
    }
    free(got.data);
}

static void check_place(const place *at)
{
    static const shape maps[] = { { 1, 1, 1 },     { 1, 4194307, 1 }, { 4194307, 1, 1 },
                                  { 70000, 3, 1 }, { 3, 70000, 1 },   { 1000, 7, 11 },
                                  { 257, 129, 3 } };
    static const shape groups[] = { { 1, 1, 1 }, { 300, 1, 1 }, { 3, 70, 1 }, { 5, 3, 7 } };
    qn_ctx *ctx = open_place(at);

    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        check_map(ctx, at, maps[i]);
    check_unrolled(ctx, at, (shape){ 1, 1, 1 });
    check_unrolled(ctx, at, (shape){ 1023, 3, 1 });
    check_unrolled(ctx, at, (shape){ 4194307, 1, 1 });
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        check_group(ctx, at, groups[i]);
    check_part(ctx, at);
    qn_ctx_close(ctx);
}

static void any_range_is_covered_once(void **state)
{
    (void)state;
    check_place(&cpu_place);
    for (int i = 0; i < N_PLACES; i++)
        if (is_here(&device_places[i]))
            check_place(&device_places[i]);
}

/* More points than 32 bits can number; only every 2^20th leaves a mark. */
static void grid_beyond_32_bits_is_covered(void **state)
{
    const qn_i64 side = 46341, marks = (side * side + (1 << 20) - 1) >> 20;
    qn_ctx *ctx = open_place(&device_places[0]);
    guarded seen = zeros(ctx, (size_t)marks);
    qn_graph *g = graph_in(ctx);
    outcome got;

    (void)state;
    must(stage_selftest_sparse(g, "sparse", qn_range_2d(side, side), (int32_t)side, seen.middle,
                               &failure));
    run_graph(g);
    got = guarded_take(&seen, "u32");
    expect_all(&got, 1, "46341 x 46341", &device_places[0]);
    free(got.data);
    qn_ctx_close(ctx);
}

static void long_axis_is_folded(void **state)
{
    const qn_i64 n = ((qn_i64)1 << 30) + 12345, marks = (n + (1 << 20) - 1) >> 20;
    qn_ctx *ctx = open_place(&device_places[0]);
    guarded seen = zeros(ctx, (size_t)marks);
    qn_graph *g = graph_in(ctx);
    outcome got;

    (void)state;
    must(stage_selftest_fold(g, "fold", qn_range_1d(n), seen.middle, &failure));
    run_graph(g);
    got = guarded_take(&seen, "u32");
    expect_all(&got, 1, "2^30 + 12345", &device_places[0]);
    free(got.data);
    qn_ctx_close(ctx);
}

static void too_long_an_axis_is_refused(void **state)
{
    qn_ctx *ctx = open_place(&device_places[0]);
    qn_buf *seen = array_of(ctx, "seen", 16);
    qn_graph *g = graph_in(ctx);
    qn_status st;

    (void)state;
    st = stage_selftest_visit(g, "visit", qn_range_1d(((qn_i64)1 << 30) + 1), 1, 1, seen, &failure);
    if (st == QN_OK)
        st = qn_graph_run(g, &failure);
    assert_int_equal(st, QN_ERR_LIMIT);
    qn_graph_free(g);
    qn_buf_free(seen);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_range_is_covered_once),
        cmocka_unit_test(grid_beyond_32_bits_is_covered),
        cmocka_unit_test(long_axis_is_folded),
        cmocka_unit_test(too_long_an_axis_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
