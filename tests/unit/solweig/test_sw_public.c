/* test_sw_public.c - <quern/solweig.h>: layers in memory, results in memory. */
#include "engine_fixture.h"

#include <quern/solweig.h>

#include <math.h>

enum { ROWS = 20, COLS = 24, CELLS = ROWS * COLS };

static float dsm[CELLS];
static const qn_solweig_weather noon = { .minutes = 19220100, /* 2006-07-18T11:00 */
                                         .ta = 25,
                                         .rh = 60,
                                         .ws = 2,
                                         .pressure_hpa = NAN,
                                         .global = 700,
                                         .direct = NAN,
                                         .diffuse = NAN };

/* One house, with a frame of `frame` pixels without data. */
static qn_solweig_layers town(int frame)
{
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) {
            const int is_out = r < frame || c < frame || r >= ROWS - frame || c >= COLS - frame;

            dsm[r * COLS + c] = is_out ? NAN : r >= 8 && r < 12 && c >= 8 && c < 14 ? 10 : 0;
        }
    return (qn_solweig_layers){ .rows = ROWS, .cols = COLS, .pixel_size = 1, .dsm = dsm };
}

static void sky_view_is_darker_beside_the_house_and_keeps_its_place(void **state)
{
    static float maps[QN_SOLWEIG_SVF_MAPS * CELLS];
    static uint8_t bits[QN_SOLWEIG_SVF_MATRICES * CELLS * 20];
    const qn_solweig_layers layers = town(3);
    qn_ctx *ctx = open_sim(NULL);
    qn_err err = { .text = "" };

    (void)state;
    if (qn_solweig_svf(ctx, &layers, NULL, maps, bits, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_true(isnan(maps[0]) && isnan(maps[2 * COLS + 10]));
    assert_true(maps[7 * COLS + 10] < 0.8f && maps[4 * COLS + 4] > maps[7 * COLS + 10]);
    assert_int_equal(bits[0], 0);
    assert_int_equal(bits[(9 * COLS + 10) * 20], 0xff); /* from the roof: everything */
    qn_ctx_close(ctx);
}

static void a_run_fills_the_planes_that_were_asked_for(void **state)
{
    const qn_solweig_layers layers = town(2);
    const qn_solweig_weather day[] = { noon,
                                       { .minutes = noon.minutes + 60,
                                         .ta = 26,
                                         .rh = 55,
                                         .ws = 2,
                                         .pressure_hpa = 1010,
                                         .global = 750,
                                         .direct = NAN,
                                         .diffuse = NAN } };
    const qn_solweig_run_options options = { .weather = day,
                                             .n_weather = 2,
                                             .has_site = 1,
                                             .latitude = 57.7,
                                             .longitude = 12,
                                             .utc_offset = 1,
                                             .outputs = "tmrt,shadow",
                                             .tile = 7 };
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu" });
    qn_solweig_result *result = NULL;
    qn_err err = { .text = "" };
    double sum = 0;

    (void)state;
    if (qn_solweig_run(ctx, &layers, &options, &result, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(qn_solweig_n_rows(result), 2);
    assert_null(qn_solweig_plane(result, "utci"));
    assert_null(qn_solweig_plane(result, "heat"));
    const qn_solweig_row *rows = qn_solweig_rows(result);
    const float *tmrt = qn_solweig_plane(result, "tmrt");

    assert_true(rows[1].minutes == rows[0].minutes + 60 && rows[0].is_day);
    for (int i = 0; i < CELLS; i++)
        sum += isnan(tmrt[CELLS + i]) ? 0 : (double)tmrt[CELLS + i];
    assert_true(fabs(sum / (double)rows[1].n_valid - rows[1].tmrt_mean) < 1e-3);
    assert_true(isnan(tmrt[0]) && rows[1].n_valid == (ROWS - 4) * (COLS - 4));
    qn_solweig_free(result);
    qn_ctx_close(ctx);
}

static void refused(const qn_solweig_layers *layers, const qn_solweig_run_options *options,
                    qn_status want, const char *part)
{
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu" });
    qn_solweig_result *result = NULL;
    qn_err err = { .text = "" };

    assert_int_equal(qn_solweig_run(ctx, layers, options, &result, &err), want);
    if (!strstr(err.text, part))
        fail_msg("\"%s\" does not hold \"%s\"", err.text, part);
    assert_null(result);
    qn_ctx_close(ctx);
}

static void what_has_no_meaning_is_refused(void **state)
{
    const qn_solweig_layers layers = town(0), none = { .rows = ROWS, .cols = COLS },
                            flat = { .rows = 0, .cols = COLS, .dsm = dsm };
    qn_solweig_weather wet = noon, late = noon;
    qn_solweig_run_options o = { .weather = &noon, .n_weather = 1, .has_site = 1 };

    (void)state;
    refused(&none, &o, QN_ERR_USAGE, "no DSM");
    refused(&flat, &o, QN_ERR_USAGE, "layers of 0 x 24 pixels");
    o.patches = 150;
    refused(&layers, &o, QN_ERR_USAGE, "150 patches of the sky; there are 145, 153, 305 or 609");
    o.patches = 0;
    o.max_distance_m = NAN;
    refused(&layers, &o, QN_ERR_USAGE, "shadows from nan m");
    o.max_distance_m = 0;
    o.outputs = "tmrt,heat";
    refused(&layers, &o, QN_ERR_USAGE, "'heat' is no output");
    o.outputs = NULL;
    wet.rh = 101;
    o.weather = &wet;
    refused(&layers, &o, QN_ERR_INPUT, "weather:1: relative humidity (%) of 101");
    late.minutes = INT64_MAX;
    o.weather = &late;
    refused(&layers, &o, QN_ERR_INPUT, "outside the years 1 .. 9999");
    o.n_weather = 0;
    refused(&layers, &o, QN_ERR_USAGE, "a run needs one");
    o = (qn_solweig_run_options){ .weather = &noon, .n_weather = 1 };
    refused(&layers, &o, QN_ERR_USAGE, "the weather does not say where it is from");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sky_view_is_darker_beside_the_house_and_keeps_its_place),
        cmocka_unit_test(a_run_fills_the_planes_that_were_asked_for),
        cmocka_unit_test(what_has_no_meaning_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
