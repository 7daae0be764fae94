/* test_sw_run.c - tiles change nothing, and nothing is sent to the device while rows are
 * computed. */
/* test: long */
#include "sw_run_tiles.h"

#include <quern/metrics.h>

static void tiles_of_three_sizes_give_the_bits_of_the_whole(void **state)
{
    static const qn_i64 sides[] = { 70, 101, 160 };
    const qn_sw_run_config config = city_config();

    (void)state;
    check_tiles(&config, sides, 3);
}

static void tiles_under_an_isotropic_sky_give_the_bits_of_the_whole(void **state)
{
    static const qn_i64 sides[] = { 128 };
    qn_sw_run_config config = city_config();

    (void)state;
    config.options.sky = QN_SW_ISOTROPIC;
    check_tiles(&config, sides, 1);
}

static void tiles_without_trees_give_the_bits_of_the_whole(void **state)
{
    static const qn_i64 sides[] = { 90 };
    qn_sw_run_config config = city_config();

    (void)state;
    config.layers.cdsm_file = config.layers.tdsm_file = "";
    config.options.corrected = 1;
    check_tiles(&config, sides, 1);
}

/* A corner of the raster, larger than a tile, is unknown. */
static void tiles_without_a_valid_pixel_are_no_harm(void **state)
{
    static const qn_i64 sides[] = { 70 };
    qn_sw_run_config config = city_config();
    qn_npy dsm = { 0 };

    (void)state;
    must_do(qn_npy_read(config.layers.dsm_file, &dsm, &err));
    for (int y = 0; y < 100; y++)
        for (int x = 0; x < 100; x++)
            ((float *)dsm.data)[y * CITY_COLS + x] = NAN;
    write_layer("holes.npy", dsm.data, CITY_ROWS, CITY_COLS);
    qn_npy_free(&dsm);
    config = city_config();
    config.layers.dsm_file = in_folder("holes.npy");
    check_tiles(&config, sides, 1);
}

static void tiles_see_less_than_the_raster(void **state)
{
    qn_sw_run_config config = city_config();
    qn_ctx *ctx = open_place(&cpu_place);
    kept_planes kept = { 0 };
    qn_sw_run_result result;
    qn_tile corner;

    (void)state;
    config.options.tile = 70;
    result = run_kept(ctx, &config, 0, &kept);
    corner = qn_tiles_at(&result.plan, 0);
    assert_true(corner.outer.rows < CITY_ROWS && corner.outer.cols < CITY_COLS);
    assert_int_equal(result.plan.padding, 34);
    assert_int_equal(result.plan.border, (qn_i64)ceil(2.4 / tan(3 * M_PI / 180)));
    assert_int_equal(kept.n_views, qn_tiles_count(&result.plan) * 5);
    qn_sw_run_result_free(&result);
    qn_ctx_close(ctx);
}

/* The simulated device has memory of its own. */
static void nothing_goes_to_the_device_between_rows(void **state)
{
    const place sim = { "sim", "sim", NULL };
    const qn_sw_run_config config = city_config();
    qn_ctx *ctx = open_place(&sim);
    qn_sw_run_result result = { 0 };
    kept_planes kept = { 0 };
    const uint64_t pixels = CITY_ROWS * CITY_COLS;

    (void)state;
    must_do(qn_sw_simulate(ctx, &config, NULL, &result, &err));
    assert_int_equal(result.h2d_bytes_loop, 0);
    assert_int_equal(result.d2h_bytes_loop, 0);
    assert_true(qn_ctx_transfers(ctx).h2d_bytes > 0);
    qn_sw_run_result_free(&result);

    result = run_kept(ctx, &config, 1u << QN_SW_TMRT | 1u << QN_SW_UTCI, &kept);
    assert_int_equal(result.h2d_bytes_loop, 0);
    assert_int_equal(result.d2h_bytes_loop, 5 * 2 * pixels * sizeof(float));
    drop_planes(&kept);
    qn_sw_run_result_free(&result);
    qn_ctx_close(ctx);
}

static void metrics_have_times_of_tiles_and_rows(void **state)
{
    qn_sw_run_config config = city_config();
    qn_ctx *ctx = open_place(&cpu_place);
    const qn_metrics *metrics = qn_ctx_metrics(ctx);

    (void)state;
    config.options.tile = 160;
    must_do(qn_sw_simulate(ctx, &config, NULL, NULL, &err));
    assert_int_equal((int)qn_metric_value(metrics, "timestep_wall_time_s", NULL), 4 * 5);
    assert_int_equal((int)qn_metric_value(metrics, "svf_tile_wall_time_s", NULL), 4);
    assert_int_equal((int)qn_metric_value(metrics, "tile_turnaround_ms", NULL), 4);
    assert_true(qn_metric_value(metrics, "svf_patch_progress_rate", NULL) > 0);
    qn_ctx_close(ctx);
}

static double last_share;

static void watch_progress(void *user, const char *phase, double share)
{
    (void)user;
    (void)phase;
    assert_true(share >= last_share && share <= 1);
    last_share = share;
}

static void progress_goes_forward_to_the_end(void **state)
{
    const qn_sw_run_hooks options = { .progress = watch_progress };
    qn_sw_run_config config = city_config();
    qn_ctx *ctx = open_place(&cpu_place);

    (void)state;
    last_share = 0;
    config.options.tile = 160;
    must_do(qn_sw_simulate(ctx, &config, &options, NULL, &err));
    assert_float_equal(last_share, 1, 0);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_three_sizes_give_the_bits_of_the_whole),
        cmocka_unit_test(tiles_under_an_isotropic_sky_give_the_bits_of_the_whole),
        cmocka_unit_test(tiles_without_trees_give_the_bits_of_the_whole),
        cmocka_unit_test(tiles_without_a_valid_pixel_are_no_harm),
        cmocka_unit_test(tiles_see_less_than_the_raster),
        cmocka_unit_test(nothing_goes_to_the_device_between_rows),
        cmocka_unit_test(metrics_have_times_of_tiles_and_rows),
        cmocka_unit_test(progress_goes_forward_to_the_end),
    };
    return cmocka_run_group_tests(tests, make_city, remove_folder);
}
