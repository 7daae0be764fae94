/* test_tiles_plan.c - sizes and windows of tiles follow memory and margins. */
#include "engine_fixture.h"

#include "engine/device/context.h"

#define MIB ((uint64_t)1 << 20)

static qn_tiles_needs needs_of(qn_i64 rows, qn_i64 cols)
{
    return (qn_tiles_needs){ .rows = rows,
                             .cols = cols,
                             .border = 100,
                             .padding = 34,
                             .cost = { .device = 300, .host = 100, .widest = 60 },
                             .max_side_from = "the option",
                             .least_side = 256,
                             .multiple = 256 };
}

static qn_tiles plan(qn_i64 rows, qn_i64 cols, qn_tiles_limits limits)
{
    const qn_tiles_needs needs = needs_of(rows, cols);

    return qn_tiles_plan(&needs, &limits);
}

static qn_tiles plan_with(qn_i64 rows, qn_i64 cols, qn_i64 core, qn_i64 max_side)
{
    const qn_tiles_limits unknown = { 0 };
    qn_tiles_needs needs = needs_of(rows, cols);

    needs.core = core;
    needs.max_side = max_side;
    return qn_tiles_plan(&needs, &unknown);
}

static void raster_that_fits_is_one_tile_without_borders(void **state)
{
    const qn_tiles p = plan(900, 1000, (qn_tiles_limits){ .device_bytes = 1u << 30 });
    const qn_tile t = qn_tiles_at(&p, 0);

    (void)state;
    assert_int_equal(qn_tiles_count(&p), 1);
    assert_int_equal(t.outer.rows, 900);
    assert_int_equal(t.core.cols, 1000);
    assert_string_equal(p.limited_by, "raster");
}

static void forced_tile_has_borders_even_when_all_fits(void **state)
{
    const qn_tiles p = plan_with(900, 1000, 500, 0);

    (void)state;
    assert_int_equal(p.across, 2);
    assert_int_equal(p.down, 2);
    assert_int_equal(p.border, 100);
    assert_string_equal(p.limited_by, "forced");
}

/* Half of the budget over the bytes of a pixel is the area of a tile; its side less the borders is
 * the core, in whole blocks of files. */
static void tile_follows_the_least_memory(void **state)
{
    qn_tiles p = plan(9000, 9000, (qn_tiles_limits){ .device_bytes = 600u * 1000 * 1000 });

    (void)state;
    assert_int_equal(p.max_side, 1000);
    assert_int_equal(p.core, 512); /* 1000 - 2 * 134 = 732 */
    assert_string_equal(p.limited_by, "device memory");
    p = plan(9000, 9000, (qn_tiles_limits){ .device_bytes = 150u * 1000 * 1000 });
    assert_int_equal(p.max_side, 500);
    assert_int_equal(p.core, 232);
    p = plan(
        9000, 9000,
        (qn_tiles_limits){ .device_bytes = (uint64_t)1 << 40, .host_bytes = 200u * 800 * 800 });
    assert_int_equal(p.max_side, 800);
    assert_string_equal(p.limited_by, "host memory");
    p = plan(
        9000, 9000,
        (qn_tiles_limits){ .host_bytes = (uint64_t)1 << 40, .array_bytes = 60u * 1024 * 1024 });
    assert_int_equal(p.max_side, 1024);
    assert_string_equal(p.limited_by, "the largest allocation");
    p = plan_with(9000, 9000, 0, 700);
    assert_int_equal(p.core, 256);
    assert_string_equal(p.limited_by, "the option");
    p = plan(9000, 9000, (qn_tiles_limits){ 0 });
    assert_int_equal(p.max_side, 2500);
}

static void tile_is_never_empty(void **state)
{
    const qn_tiles tight = plan_with(900, 900, 0, 200);
    const qn_tiles poor = plan(900, 900, (qn_tiles_limits){ .device_bytes = 1000 });

    (void)state;
    assert_int_equal(tight.core, 50); /* borders of 134 leave nothing */
    assert_int_equal(poor.max_side, 256);
    assert_int_equal(poor.core, 64);
}

/* Every pixel is in one core, and windows lie inside each other and the box. */
static void cores_cover_the_raster_once(void **state)
{
    enum { ROWS = 333, COLS = 217 };
    static uint8_t seen[ROWS][COLS];
    const qn_tiles p = plan_with(ROWS, COLS, 50, 0);

    (void)state;
    for (qn_i64 i = 0; i < qn_tiles_count(&p); i++) {
        const qn_tile t = qn_tiles_at(&p, i);

        for (qn_i64 r = 0; r < t.core.rows; r++)
            for (qn_i64 c = 0; c < t.core.cols; c++)
                seen[t.core.row + r][t.core.col + c]++;
        assert_true(t.padded.row <= t.core.row && t.outer.row <= t.padded.row && t.outer.row >= 0);
        assert_true(t.outer.row == 0 || t.core.row - t.outer.row == 134);
        assert_true(t.outer.row + t.outer.rows == ROWS ||
                    t.outer.row + t.outer.rows == t.core.row + t.core.rows + 134);
        assert_true(t.outer.col + t.outer.cols <= COLS);
        assert_true(t.padded.col == 0 || t.core.col - t.padded.col == 34);
    }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            assert_int_equal(seen[r][c], 1);
}

/* Bytes of the tile, of its core and of tiles in flight all count. */
static void cores_and_tiles_in_flight_count(void **state)
{
    const qn_tiles_limits limits = { .device_bytes = 20 * MIB, .array_bytes = 4 * MIB };
    qn_tiles_needs needs = { .rows = 2000,
                             .cols = 2000,
                             .border = 30,
                             .cost = { .device = 16, .device_core = 100, .widest_core = 60 } };

    (void)state;
    for (int n = 1; n <= 2; n++) {
        qn_tiles t, more;

        needs.n_in_flight = n;
        needs.core = 0;
        t = qn_tiles_plan(&needs, &limits);
        assert_int_equal(t.n_in_flight, n);
        assert_true(n * qn_tiles_bytes(&t) <= 10.0 * MIB);
        assert_true(60.0 * (double)(t.core * t.core) <= 4.0 * MIB);
        needs.core = t.core + 1;
        more = qn_tiles_plan(&needs, &limits);
        assert_true(n * qn_tiles_bytes(&more) > 10.0 * MIB ||
                    60.0 * (double)(more.core * more.core) > 4.0 * MIB);
    }
    /* As a whole it has no margin, and only one tile is in flight. */
    needs = (qn_tiles_needs){ .rows = 290,
                              .cols = 290,
                              .border = 2000,
                              .n_in_flight = 2,
                              .cost = { .device = 16, .device_core = 100 } };
    assert_int_equal(qn_tiles_plan(&needs, &limits).core, 290);
    assert_int_equal(qn_tiles_plan(&needs, &limits).n_in_flight, 1);
    needs.rows = needs.cols = 310;
    assert_in_range(qn_tiles_plan(&needs, &limits).core, 190, 194);
}

/* A line of items without margins: as many as the bytes of all arrays, and of the widest array,
 * allow. */
static void items_are_as_many_as_both_limits_allow(void **state)
{
    static const struct {
        uint64_t tile, array;
        double item, widest;
        qn_i64 want;
    } table[] = {
        { 100000, 100000, 20, 4, 5000 }, /* five float arrays: the working set decides */
        { 100000, 10000, 20, 4, 2500 },  /* the largest array decides */
        { 100000, 20000, 20, 4, 5000 },  /* both at once */
        { 99999, 100000, 20, 4, 4999 },  /* rounded down */
        { 19, 100, 20, 4, 64 },          /* not even one: the least there is */
        { 100, 3, 20, 4, 64 },
        { 100000, 100000, 8, 8, 12500 },
        { 100000, 100000, 0, 4, 25000 },                   /* nothing besides one array */
        { UINT64_MAX / 4, UINT64_MAX / 4, 1, 1, 1 << 20 }, /* all of them */
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const qn_tiles_limits limits = { .device_bytes = 2 * table[i].tile,
                                         .array_bytes = table[i].array };
        const qn_tiles_needs needs = { .rows = 1,
                                       .cols = 1 << 20,
                                       .cost = { .device = table[i].item,
                                                 .widest = table[i].widest } };
        const qn_tiles t = qn_tiles_plan(&needs, &limits);

        if (t.core != table[i].want)
            fail_msg("row %zu: %lld items", i, (long long)t.core);
    }
}

/* The largest tile really runs as planned: no eviction, no fallback. */
static void check_largest_tile(const char *fault, int n_arrays)
{
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "sim", .mem_budget = "100%", .fault = fault, .threads = 1));
    const qn_tiles_needs needs = { .rows = 1,
                                   .cols = 1 << 28,
                                   .cost = { .device = 4.0 * n_arrays, .widest = 4 } };
    const int n = (int)qn_tiles_plan_on(ctx, &needs).core;
    const qn_metrics *m = qn_ctx_metrics(ctx);
    qn_buf *arrays[8];
    char text[2048];
    qn_graph *g;

    assert_true(n > 64 && n_arrays <= 8);
    must(qn_graph_new(ctx, "tile", &g, &failure));
    for (int i = 0; i < n_arrays; i++)
        arrays[i] = ramp(ctx, "a", n, 1, 0);
    for (int i = 1; i < n_arrays; i++)
        must(stage_saxpy(g, "saxpy", qn_range_1d(n), 1.0f, arrays[i - 1], arrays[i], &failure));
    CAPTURE_STDERR(text, sizeof text, {
        must(qn_graph_run(g, &failure));
        must(qn_graph_wait(g, &failure));
    });
    assert_string_equal(text, "");
    assert_true(value_at(arrays[n_arrays - 1], n - 1) == (float)n_arrays);
    assert_true(qn_metric_value(m, "evictions_clean", NULL) == 0);
    assert_true(qn_metric_value(m, "evictions_dirty", NULL) == 0);
    assert_true(qn_metric_value(m, "gpu_fallback_count", NULL) == 0);
    assert_true(qn_pool_get_stats(ctx->devices[1].pool).bytes_peak <=
                qn_device_tiles(ctx, 1).usable_bytes);
    qn_graph_free(g);
    for (int i = 0; i < n_arrays; i++)
        qn_buf_free(arrays[i]);
    qn_ctx_close(ctx);
}

static void the_largest_tile_runs_without_eviction(void **state)
{
    static const int n_arrays[] = { 2, 3, 5, 7, 8 };

    (void)state;
    for (int i = 0; i < 5; i++) {
        check_largest_tile("sim.mem=8M", n_arrays[i]);
        check_largest_tile("sim.mem=7M", n_arrays[i]);
        check_largest_tile("sim.mem=8M,sim.max_alloc=300K", n_arrays[i]);
    }
}

/* Cores are halved once if the device does not provide what it should. */
static void a_device_that_holds_less_gets_smaller_tiles(void **state)
{
    const qn_tiles_needs needs = { .rows = 400, .cols = 400, .cost = { .device = 20 } };
    qn_ctx *ctx = open_sim("alloc:tile*1");
    const qn_tiles halved = qn_tiles_plan_on(ctx, &needs), usual = qn_tiles_plan_on(ctx, &needs);

    (void)state;
    assert_int_equal(halved.core, 200);
    assert_int_equal(qn_tiles_count(&halved), 4);
    assert_string_equal(halved.limited_by, "lack of memory");
    assert_int_equal(usual.core, 400);
    qn_ctx_close(ctx);
}

static void a_device_is_tried_and_left_as_it_was(void **state)
{
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "sim", .mem_budget = "100%", .fault = "sim.mem=64M"));

    (void)state;
    assert_true(qn_devices_can_hold(ctx, 60e6));
    assert_false(qn_devices_can_hold(ctx, 70e6));
    assert_int_equal(qn_pool_get_stats(ctx->devices[1].pool).bytes_live, 0);
    assert_int_equal(qn_pool_get_stats(ctx->devices[1].pool).bytes_idle, 0);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raster_that_fits_is_one_tile_without_borders),
        cmocka_unit_test(forced_tile_has_borders_even_when_all_fits),
        cmocka_unit_test(tile_follows_the_least_memory),
        cmocka_unit_test(tile_is_never_empty),
        cmocka_unit_test(cores_cover_the_raster_once),
        cmocka_unit_test(cores_and_tiles_in_flight_count),
        cmocka_unit_test(items_are_as_many_as_both_limits_allow),
        cmocka_unit_test(the_largest_tile_runs_without_eviction),
        cmocka_unit_test(a_device_that_holds_less_gets_smaller_tiles),
        cmocka_unit_test(a_device_is_tried_and_left_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
