/* test_sw_run_memory.c - bytes per pixel on a device: as planned, and as measured in a run. */
/* test: long */
#include "sw_small_city.h"

#include "domain/solweig/run/tile.h"
#include "engine/device/context.h"
#include "engine/device/pool.h"

#define BAR 320.0 /* bytes */

/* Plans. */

static void no_kind_of_run_is_planned_above_the_bar(void **state)
{
    (void)state;
    for (int sky = 0; sky < 2; sky++)
        for (int option = 1; option <= 2; option++)
            for (int has = 0; has < 4; has++) {
                const qn_sw_tile_needs needs = { .sky = sky ? QN_SW_ISOTROPIC : QN_SW_ANISOTROPIC,
                                                 .patch_option = option,
                                                 .has_vegetation = has & 1,
                                                 .has_pet = has >> 1,
                                                 .n_thresholds = 3,
                                                 .n_steps = 8784 };
                const qn_tiles_cost cost = qn_sw_tile_cost(&needs);

                if (!(cost.device > 150 && cost.device <= BAR))
                    fail_msg("sky %d, option %d, %d: %g bytes", sky, option, has, cost.device);
                assert_true(cost.widest > 0 && cost.widest < cost.device);
            }
}

static void long_series_count_in_whole_words(void **state)
{
    qn_sw_tile_needs needs = {
        .sky = QN_SW_ISOTROPIC, .patch_option = 2, .n_thresholds = 3, .n_steps = 65535
    };
    const double narrow = qn_sw_tile_cost(&needs).device;

    (void)state;
    needs.n_steps = 65536;
    assert_float_equal(qn_sw_tile_cost(&needs).device - narrow, 12, 0);
}

/* Runs. */

/* Large enough that memory not for pixels (rays, tables, borders) hardly matters; planes of 4 bytes
 * are whole multiples of the rounding of pools. */
enum { SIDE = 1024 };

static int make_wide(void **state)
{
    static const char noon[] =
        "2006 207 13 0 0 0 0 0 0 3 50 27 101.3 0 800 0 -999 -999 0 0 0 100 850 0\n";

    (void)state;
    if (make_folder(state) != 0)
        return -1;
    write_city(SIDE, SIDE);
    must_do(qn_file_write(in_folder("day.txt"), noon, sizeof noon - 1, &err));
    return 0;
}

/* The peak memory of the simulated device, per pixel. */
static double peak_of(const qn_sw_run_config *config, double *planned)
{
    qn_ctx *ctx = open_place(&(place){ "sim", "sim", NULL });
    qn_sw_run_result result = { 0 };
    double peak = 0;

    must_do(qn_sw_simulate(ctx, config, NULL, &result, &err));
    assert_int_equal(qn_tiles_count(&result.plan), 1);
    for (int d = 1; d < ctx->n_devices; d++)
        peak = fmax(peak, (double)qn_pool_get_stats(ctx->devices[d].pool).bytes_peak);
    *planned = result.plan.cost.device;
    qn_sw_run_result_free(&result);
    qn_ctx_close(ctx);
    return peak / SIDE / SIDE;
}

static void expect_peak(const qn_sw_run_config *config)
{
    double planned, peak = peak_of(config, &planned);

    printf("planned %.1f bytes of a pixel, held at most %.1f\n", planned, peak);
    assert_true(peak <= BAR);
    assert_true(peak <= 1.04 * planned);
}

static void isotropic_runs_with_all_outputs_hold_the_planned_memory(void **state)
{
    qn_sw_run_config config = city_config();

    (void)state;
    config.options.sky = QN_SW_ISOTROPIC;
    config.options.out = in_folder("out");
    config.outputs = 1u << QN_SW_TMRT | 1u << QN_SW_UTCI | 1u << QN_SW_PET;
    config.options.pet_table = 1;
    expect_peak(&config);
}

static void anisotropic_runs_hold_the_planned_memory(void **state)
{
    const qn_sw_run_config config = city_config();

    (void)state;
    expect_peak(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_kind_of_run_is_planned_above_the_bar),
        cmocka_unit_test(long_series_count_in_whole_words),
        cmocka_unit_test(isotropic_runs_with_all_outputs_hold_the_planned_memory),
        cmocka_unit_test(anisotropic_runs_hold_the_planned_memory),
    };

    setenv("QUERN_GDAL_LIB", "/nowhere/libgdal.so", 1); /* plain arrays are written faster */
    return cmocka_run_group_tests(tests, make_wide, remove_folder);
}
