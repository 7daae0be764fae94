/* test_sw_public.c - <quern/solweig.h>: layers in memory, results in memory. */
#include "engine_fixture.h"

#include <quern/solweig.h>

#include <math.h>

enum { ROWS = 20, COLS = 24, CELLS = ROWS * COLS };

static float dsm[CELLS];
static const qn_sw_weather_step noon = { .minutes = 19220100, /* 2006-07-18T11:00 */
                                         .ta = 25,
                                         .rh = 60,
                                         .ws = 2,
                                         .pressure_hpa = NAN,
                                         .global = 700,
                                         .direct = NAN,
                                         .diffuse = NAN };

/* One house, with a frame of `frame` pixels without data. */
static qn_sw_layer_options town(int frame)
{
    qn_sw_layer_options layers;

    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) {
            const int is_out = r < frame || c < frame || r >= ROWS - frame || c >= COLS - frame;

            dsm[r * COLS + c] = is_out ? NAN : r >= 8 && r < 12 && c >= 8 && c < 14 ? 10 : 0;
        }
    qn_sw_layer_options_init(&layers, sizeof layers);
    layers.rows = ROWS;
    layers.cols = COLS;
    layers.dsm = dsm;
    layers.n_dsm = CELLS;
    return layers;
}

/* A run over rows in memory, at the place of the town. */
static qn_sw_run_options hours(const qn_sw_weather_step *weather, size_t n)
{
    qn_sw_run_options options;

    qn_sw_run_options_init(&options, sizeof options);
    options.weather = weather;
    options.n_weather = n;
    options.latitude = 57.7;
    options.longitude = 12;
    options.utc_offset = 1;
    return options;
}

static void sky_view_is_darker_beside_the_house_and_keeps_its_place(void **state)
{
    static float maps[QN_SW_SVF_MAPS * CELLS];
    static uint8_t bits[QN_SW_SVF_MATRICES * CELLS * 20];
    const qn_sw_layer_options layers = town(3);
    qn_ctx *ctx = open_sim(NULL);
    qn_sw_svf_report report;
    qn_err err = { .text = "" };

    (void)state;
    if (qn_sw_svf(ctx, &layers, NULL, maps, bits, &report, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_true(isnan(maps[0]) && isnan(maps[2 * COLS + 10]));
    assert_true(maps[7 * COLS + 10] < 0.8f && maps[4 * COLS + 4] > maps[7 * COLS + 10]);
    assert_int_equal(bits[0], 0);
    assert_int_equal(bits[(9 * COLS + 10) * 20], 0xff); /* from the roof: everything */
    assert_int_equal(report.n_patches, 153);
    assert_int_equal(report.grid.rows, ROWS - 6);
    qn_ctx_close(ctx);
}

static void a_run_fills_the_planes_that_were_asked_for(void **state)
{
    const qn_sw_layer_options layers = town(2);
    const qn_sw_weather_step day[] = { noon,
                                       { .minutes = noon.minutes + 60,
                                         .ta = 26,
                                         .rh = 55,
                                         .ws = 2,
                                         .pressure_hpa = 1010,
                                         .global = 750,
                                         .direct = NAN,
                                         .diffuse = NAN } };
    qn_sw_run_options options = hours(day, 2);
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_sw_result *result = NULL;
    qn_err err = { .text = "" };
    double sum = 0;

    (void)state;
    options.outputs = "tmrt,shadow";
    options.tile = 7;
    if (qn_sw_run(ctx, &layers, &options, &result, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(qn_sw_result_n_steps(result), 2);
    assert_null(qn_sw_result_plane(result, "utci"));
    assert_null(qn_sw_result_plane(result, "heat"));
    const qn_sw_step *steps = qn_sw_result_steps(result);
    const float *tmrt = qn_sw_result_plane(result, "tmrt");

    assert_true(steps[1].minutes == steps[0].minutes + 60 && steps[0].is_day);
    for (int i = 0; i < CELLS; i++)
        sum += isnan(tmrt[CELLS + i]) ? 0 : (double)tmrt[CELLS + i];
    assert_true(fabs(sum / (double)steps[1].n_valid - steps[1].tmrt_mean) < 1e-3);
    assert_int_equal(qn_sw_result_report(result)->n_tiles, 9);
    assert_true(isnan(tmrt[0]) && steps[1].n_valid == (ROWS - 4) * (COLS - 4));
    qn_sw_result_free(result);
    qn_ctx_close(ctx);
}

static void refused(const qn_sw_layer_options *layers, const qn_sw_run_options *options,
                    qn_status want, const char *part)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_sw_result *result = NULL;
    qn_err err = { .text = "" };

    assert_int_equal(qn_sw_run(ctx, layers, options, &result, &err), want);
    if (!strstr(err.text, part))
        fail_msg("\"%s\" does not hold \"%s\"", err.text, part);
    assert_null(result);
    qn_ctx_close(ctx);
}

static void options_without_a_meaning_are_refused(void **state)
{
    const qn_sw_layer_options layers = town(0);
    qn_sw_layer_options none = layers, flat = layers, few = layers;
    qn_sw_weather_step wet = noon, late = noon;
    qn_sw_run_options o = hours(&noon, 1);

    (void)state;
    none.dsm = NULL;
    none.n_dsm = 0;
    refused(&none, &o, QN_ERR_USAGE, "no DSM");
    flat.rows = 0;
    refused(&flat, &o, QN_ERR_USAGE, "layers of 0 x 24 pixels");
    few.n_dsm--;
    refused(&few, &o, QN_ERR_USAGE, "DSM: 479 values for 20 x 24 pixels");
    o.patches = 4;
    refused(&layers, &o, QN_ERR_USAGE, "145|153|305|609");
    o.patches = QN_SW_153_PATCHES;
    o.max_distance = NAN;
    refused(&layers, &o, QN_ERR_USAGE, "max_distance");
    o.max_distance = 1000;
    o.outputs = "tmrt,heat";
    refused(&layers, &o, QN_ERR_USAGE, "'heat' is not an output");
    o.outputs = "tmrt";
    o.longitude = NAN;
    refused(&layers, &o, QN_ERR_USAGE, "come together");
    o.longitude = 12;
    wet.rh = 101;
    o.weather = &wet;
    refused(&layers, &o, QN_ERR_INPUT, "weather:1: relative humidity (%) of 101");
    late.minutes = INT64_MAX;
    o.weather = &late;
    refused(&layers, &o, QN_ERR_INPUT, "outside the years 1 .. 9999");
    o.n_weather = 0;
    refused(&layers, &o, QN_ERR_USAGE, "a run needs one");
    qn_sw_run_options_init(&o, sizeof o);
    o.weather = &noon;
    o.n_weather = 1;
    refused(&layers, &o, QN_ERR_USAGE, "the weather does not say its location");
    o.size = 1;
    refused(&layers, &o, QN_ERR_USAGE, "a struct of 1 bytes is unknown");
}

/* Maps. */

static void a_house_has_a_shadow_and_walls(void **state)
{
    static float shadow[CELLS], height[CELLS], aspect[CELLS];
    const qn_sw_layer_options layers = town(2);
    qn_sw_shadow_options options;
    qn_sw_shadow_report sun;
    qn_sw_wall_report walls;
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_err err = { .text = "" };

    (void)state;
    qn_sw_shadow_options_init(&options, sizeof options);
    assert_int_equal(qn_sw_shadow(ctx, &layers, &options, shadow, &sun, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "where is the sun?"));
    options.azimuth = 180;
    options.altitude = 45;
    if (qn_sw_shadow(ctx, &layers, &options, shadow, &sun, &err) != QN_OK ||
        qn_sw_walls(ctx, &layers, NULL, height, aspect, &walls, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_true(shadow[6 * COLS + 10] == 0 && shadow[14 * COLS + 10] == 1 && isnan(shadow[0]));
    assert_true(sun.sunlit > 0.5 && sun.sunlit < 1);
    assert_true(height[7 * COLS + 10] == 10 && height[4 * COLS + 4] == 0 && isnan(height[0]));
    assert_true(walls.highest == 10 && walls.n_walls > 0);
    assert_true(aspect[7 * COLS + 10] >= 0 && aspect[7 * COLS + 10] <= 360 && isnan(aspect[0]));
    qn_ctx_close(ctx);
}

static void results_in_memory_need_a_dsm_in_memory(void **state)
{
    static float maps[QN_SW_SVF_MAPS * CELLS];
    qn_sw_layer_options layers = town(0);
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_err err = { .text = "" };

    (void)state;
    layers.dsm = NULL;
    layers.n_dsm = 0;
    layers.dsm_file = "dsm.npy";
    assert_int_equal(qn_sw_svf(ctx, &layers, NULL, maps, NULL, NULL, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "the DSM's array"));
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sky_view_is_darker_beside_the_house_and_keeps_its_place),
        cmocka_unit_test(a_run_fills_the_planes_that_were_asked_for),
        cmocka_unit_test(options_without_a_meaning_are_refused),
        cmocka_unit_test(a_house_has_a_shadow_and_walls),
        cmocka_unit_test(results_in_memory_need_a_dsm_in_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
