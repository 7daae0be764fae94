/* test_sw_surface_gvf.c - the view of ground and walls, compared with golden data and with its
 * rules. */
/* test: long, cost 6 */
#include "sw_gvf_fixture.h"

enum { BIG = 400, ALL = BIG * BIG };

/* Golden data. */

/* Values at walls, spread over the raster. */
static float *at_walls(const char *name, const float *wall_height)
{
    float *out = constant(ALL, 0), *values = golden_floats(name, 16832);
    size_t n = 0;

    for (int i = 0; i < ALL; i++)
        if (wall_height[i] > 0)
            out[i] = values[n++];
    assert_int_equal(n, 16832);
    free(values);
    return out;
}

static uint8_t *bytes_of(float *values, size_t n)
{
    uint8_t *out = malloc(n);

    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)values[i];
    free(values);
    return out;
}

static float *noon_shadow(float leaf)
{
    float *bldg = golden_floats("athens/shadow_noon_bldg", ALL);
    float *veg = golden_floats("athens/shadow_noon_veg", ALL);

    for (int i = 0; i < ALL; i++)
        bldg[i] -= (1 - veg[i]) * leaf;
    free(veg);
    return bldg;
}

/* The record of a step with this wall temperature. */
static sw_moment wall_step(float ta, float tg_wall, float sbc)
{
    sw_moment s = { .ta = ta, .ta_k = ta + 273.15f, .sbc = sbc, .tg_wall = tg_wall };
    const float cold = s.ta_k * s.ta_k, warm = (s.ta_k + tg_wall) * (s.ta_k + tg_wall);

    s.air4 = sbc * cold * cold;
    s.wall_excess = sbc * 0.9f * (warm * warm) - sbc * 0.9f * (cold * cold);
    return s;
}

static surface athens(void)
{
    surface s = { .options = { .cols = BIG,
                               .rows = BIG,
                               .has_sides = 1,
                               .has_walls = 1,
                               .pixel_m = 1,
                               .height_m = 1.75f,
                               .wall_albedo = 0.2f,
                               .water_class = -1 },
                  .step = wall_step(24, 6, QN_SW_SBC) };

    s.wall_height = golden_floats("athens/in_wall_height", ALL);
    s.wall_aspect = golden_floats("athens/in_wall_aspect", ALL);
    s.wall_sun = at_walls("athens/shadow_noon_wall_sun_at_walls", s.wall_height);
    s.shadow = noon_shadow(0.97f);
    s.buildings = bytes_of(golden_floats("athens/gvf_in_buildings", ALL), ALL);
    s.class_of = calloc(ALL, 1);
    s.albedo = constant(ALL, 0);
    s.emissivity = constant(ALL, 0);
    s.tg = constant(ALL, 0);
    for (int y = 0; y < BIG; y++)
        for (int x = 0; x < BIG; x++) {
            s.tg[y * BIG + x] = (float)(8 + 4 * sin(y / 17.0) * cos(x / 23.0));
            s.emissivity[y * BIG + x] = (float)(0.95 - 0.01 * ((y / 50 + x / 50) % 2));
            s.albedo[y * BIG + x] = (float)(0.15 + (y / 40 % 3 == 0 ? 0.05 : 0));
        }
    return s;
}

/* Only the part that rays from the window of golden data can reach. */
enum { NEAR = 180, NEAR_FROM = 110, NEAR_ALL = NEAR * NEAR };

static void crop(float **raster)
{
    float *part = window_of(*raster, BIG, NEAR_FROM, NEAR_FROM, NEAR, NEAR);

    free(*raster);
    *raster = part;
}

static surface athens_near(void)
{
    surface s = athens();
    float **const rasters[] = { &s.albedo,   &s.emissivity, &s.wall_height, &s.wall_aspect,
                                &s.wall_sun, &s.shadow,     &s.tg };

    for (size_t k = 0; k < sizeof rasters / sizeof rasters[0]; k++)
        crop(rasters[k]);
    for (int i = 0; i < NEAR_ALL; i++)
        s.buildings[i] = s.buildings[(i / NEAR + NEAR_FROM) * BIG + i % NEAR + NEAR_FROM];
    s.options.cols = s.options.rows = NEAR;
    return s;
}

/* `cols`: of a square raster with the window in its middle. */
static void check_window(const char *name, const place *at, const float *plane, int cols,
                         double tolerance)
{
    char path[96];
    const int from = (cols - 100) / 2;
    float *want, *got = window_of(plane, cols, from, from, 100, 100);

    snprintf(path, sizeof path, "athens/%s_win100", name);
    want = golden_floats(path, 10000);
    assert_all_near(name, at, got, want, 10000, tolerance);
    free(want);
    free(got);
}

static void production_view_is_that_of_golden_data(void **state)
{
    surface s;

    (void)state;
    need_golden("solweig/athens/gvf_params.json");
    s = athens();
    for (int k = 0; k < N_SW_PLACES; k++) {
        const place *at = &sw_places[k];
        view v;

        if (!is_here(at))
            continue;
        v = view_of(at, &s, PRODUCTION);
        check_window("gvf_cached_lup", at, v.lup, BIG, 1e-3);
        check_window("gvf_cached_lup_n", at, v.lup + SW_N * ALL, BIG, 1e-3);
        check_window("gvf_cached_lup_e", at, v.lup + SW_E * ALL, BIG, 1e-3);
        check_window("gvf_cached_lup_s", at, v.lup + SW_S * ALL, BIG, 1e-3);
        check_window("gvf_cached_alb", at, v.alb, BIG, 1e-6);
        check_window("gvf_cached_alb_n", at, v.alb + SW_N * ALL, BIG, 1e-6);
        check_window("gvf_cached_alb_e", at, v.alb + SW_E * ALL, BIG, 1e-6);
        check_window("gvf_cached_alb_w", at, v.alb + SW_W * ALL, BIG, 1e-6);
        check_window("gvf_cached_nosh", at, v.nosh, BIG, 1e-6);
        check_window("gvf_cached_nosh_e", at, v.nosh + SW_E * ALL, BIG, 1e-6);
        check_window("gvf_cached_nosh_s", at, v.nosh + SW_S * ALL, BIG, 1e-6);
        check_window("gvf_cached_nosh_w", at, v.nosh + SW_W * ALL, BIG, 1e-6);
        view_free(&v);
    }
    surface_free(&s);
}

/* Four sides together see four times the whole view. */
static void one_plane_is_a_quarter_of_four_sides(void **state)
{
    surface s;
    view sides, one;

    (void)state;
    need_golden("solweig/athens/gvf_params.json");
    s = athens_near();
    sides = view_of(&sw_places[0], &s, PRODUCTION);
    s.options.has_sides = 0;
    one = view_of(&sw_places[0], &s, PRODUCTION);
    assert_all_near("plane", &sw_places[0], one.lup, sides.lup, NEAR_ALL, 0);
    assert_all_near("plane", &sw_places[0], one.nosh, sides.nosh, NEAR_ALL, 0);
    for (int i = 0; i < NEAR_ALL; i++) {
        float sum = 0;

        for (int d = SW_N; d < SW_DIRS; d++)
            sum += sides.lup[d * NEAR_ALL + i];
        assert_true(fabsf(sum - 4 * one.lup[i]) < 1e-3f);
    }
    view_free(&sides);
    view_free(&one);
    surface_free(&s);
}

static void umep_variant_is_that_of_golden_data(void **state)
{
    surface s;

    (void)state;
    need_golden("solweig/athens/gvf_params.json");
    s = athens_near();
    s.options.has_sides = 0;
    s.options.aspect_in_radians = 1;
    for (int k = 0; k < N_SW_PLACES; k++) {
        view v;

        if (!is_here(&sw_places[k]))
            continue;
        v = view_of(&sw_places[k], &s, UMEP);
        check_window("gvf_full_lup", &sw_places[k], v.lup, NEAR, 1e-3);
        check_window("gvf_full_alb", &sw_places[k], v.alb, NEAR, 1e-6);
        view_free(&v);
    }
    surface_free(&s);
}

enum { PAD_COLS = 120, PAD_ROWS = 100, PAD_ALL = PAD_COLS * PAD_ROWS, WINDOW = 60 };

static float *cut(float *raster)
{
    float *out = window_of(raster, BIG, 280, 300, PAD_COLS, PAD_ROWS);

    free(raster);
    return out;
}

static void umep_golden_with_buildings_all_around_is_met(void **state)
{
    surface s = { .options = { .cols = PAD_COLS,
                               .rows = PAD_ROWS,
                               .has_walls = 1,
                               .pixel_m = 1,
                               .height_m = 1.8f,
                               .wall_albedo = 0.2f,
                               .water_class = -1,
                               .aspect_in_radians = 1 },
                  .step = wall_step(25, 2, 5.67e-8f) };
    float *height, *want_lup, *want_alb;

    (void)state;
    need_golden("solweig/athens/gvfumep_params.json");
    height = golden_floats("athens/in_wall_height", ALL);
    s.wall_sun = cut(at_walls("athens/shadow_noon_wall_sun_at_walls", height));
    s.wall_height = cut(height);
    s.wall_aspect = cut(golden_floats("athens/in_wall_aspect", ALL));
    s.shadow = noon_shadow(1);
    for (int i = 0; i < ALL; i++)
        s.shadow[i] = fmaxf(s.shadow[i], 0); /* bldg * veg */
    s.shadow = cut(s.shadow);
    s.buildings = bytes_of(golden_floats("athens/gvfumep_in_buildings_pad40", PAD_ALL), PAD_ALL);
    s.class_of = calloc(PAD_ALL, 1);
    s.albedo = constant(PAD_ALL, 0.15f);
    s.emissivity = constant(PAD_ALL, 0.95f);
    s.tg = golden_floats("athens/gvfumep_in_tg_pad40", PAD_ALL);
    want_lup = golden_floats("athens/gvfumep_out_lup_win60", WINDOW * WINDOW);
    want_alb = golden_floats("athens/gvfumep_out_alb_win60", WINDOW * WINDOW);
    for (int k = 0; k < N_SW_PLACES; k++) {
        float *lup, *alb;
        view v;

        if (!is_here(&sw_places[k]))
            continue;
        v = view_of(&sw_places[k], &s, UMEP);
        lup = window_of(v.lup, PAD_COLS, 40, 40, WINDOW, WINDOW);
        alb = window_of(v.alb, PAD_COLS, 40, 40, WINDOW, WINDOW);
        assert_all_near("gvfumep lup", &sw_places[k], lup, want_lup, WINDOW * WINDOW, 1e-3);
        assert_all_near("gvfumep alb", &sw_places[k], alb, want_alb, WINDOW * WINDOW, 1e-3);
        free(lup);
        free(alb);
        view_free(&v);
    }
    free(want_lup);
    free(want_alb);
    surface_free(&s);
}

/* Rules. */

/* In the middle of an open field the view is that of the ground below. */
static void view_of_an_open_field_is_the_field(void **state)
{
    enum { COLS = 150, ROWS = 90, MIDDLE = 45 * COLS + 75 };
    surface s = field(COLS, ROWS);

    (void)state;
    for (int k = 0; k < N_SW_PLACES; k++) {
        const float warm = s.step.ta_k + s.step.tg[0], seen = 1 / 0.9f * (0.5f + 0.4f);
        const float full = 0.95f * QN_SW_SBC * (warm * warm) * (warm * warm);
        view v;

        if (!is_here(&sw_places[k]))
            continue;
        v = view_of(&sw_places[k], &s, PRODUCTION);
        assert_true(s.step.tg[0] > 5);
        assert_true(fabsf(v.lup[MIDDLE] - full * seen) < 1e-3f);
        assert_true(fabsf(v.alb[MIDDLE] - 0.15f) < 1e-6f);
        assert_true(fabsf(v.nosh[MIDDLE] - 0.15f) < 1e-6f);
        /* At the edge rays leave the grid: they add nothing to lup and alb, while nosh continues
         * with the last albedo. */
        assert_true(v.lup[0] < v.lup[MIDDLE] - 5);
        assert_true(v.alb[0] < 0.13f);
        assert_true(fabsf(v.nosh[0] - 0.15f) < 1e-6f);
        view_free(&v);
    }
    surface_free(&s);
}

/* A wall in partial sun counts as sunlit here, but not for UMEP. */
static void partly_sunlit_walls_count(void **state)
{
    enum { COLS = 40, ROWS = 20, AT = 10 * COLS + 20 };
    surface s = field(COLS, ROWS);
    view with, without, umep;

    (void)state;
    without = view_of(&sw_places[0], &s, PRODUCTION);
    s.wall_height[AT] = 10;
    s.wall_aspect[AT] = 200; /* faces no ray, as degrees */
    s.wall_sun[AT] = 4;
    with = view_of(&sw_places[0], &s, PRODUCTION);
    umep = view_of(&sw_places[0], &s, UMEP);
    assert_true(with.lup[AT] - without.lup[AT] > 1);
    assert_true(with.lup[AT] - umep.lup[AT] > 1);
    view_free(&with);
    view_free(&without);
    view_free(&umep);
    surface_free(&s);
}

/* Aspects in degrees are compared with radians: a wall that faces north by 3 degrees is treated as
 * facing south, and drops out of the far view there. */
static void aspects_are_degrees_unless_mended(void **state)
{
    enum { COLS = 90, ROWS = 90, N = COLS * ROWS, AT = 45 * COLS + 45 };
    surface s = field(COLS, ROWS);
    view degrees, radians;

    (void)state;
    s.options.has_sides = 1;
    s.wall_height[AT] = 10;
    s.wall_aspect[AT] = 3;
    s.wall_sun[AT] = 10;
    degrees = view_of(&sw_places[0], &s, PRODUCTION);
    s.options.aspect_in_radians = 1;
    radians = view_of(&sw_places[0], &s, PRODUCTION);
    assert_true(degrees.lup[SW_N * N + AT] > degrees.lup[SW_S * N + AT] + 5);
    assert_true(radians.lup[SW_N * N + AT] < radians.lup[SW_S * N + AT] - 5);
    view_free(&degrees);
    view_free(&radians);
    surface_free(&s);
}

/* The class treated as water has no excess where it is a building's own roof. */
static void water_has_no_excess_of_its_own(void **state)
{
    enum { COLS = 20, ROWS = 20, N = COLS * ROWS };
    surface s = field(COLS, ROWS);
    const float air = 0.95f * s.step.air4;
    view v;

    (void)state;
    memset(s.buildings, 0, N);
    s.class_of[7] = 3;
    s.class_of[8] = 7;
    v = view_of(&sw_places[0], &s, PRODUCTION);
    assert_true(fabsf(v.lup[7] - air) < 1e-3f);
    assert_true(v.lup[8] > air + 5);
    view_free(&v);
    s.options.water_class = 7;
    v = view_of(&sw_places[0], &s, PRODUCTION);
    assert_true(v.lup[7] > air + 5);
    assert_true(fabsf(v.lup[8] - air) < 1e-3f);
    view_free(&v);
    surface_free(&s);
}

static void without_walls_the_view_is_the_pixel_itself(void **state)
{
    enum { COLS = 21, ROWS = 5, N = COLS * ROWS };
    surface s = field(COLS, ROWS);

    (void)state;
    s.options.has_walls = 0;
    s.options.has_sides = 1;
    for (size_t i = 0; i < N; i++) {
        s.svf[i] = between(1, i, 0, 1);
        s.shadow[i] = between(2, i, 0, 1);
    }
    for (int k = 0; k < N_SW_PLACES; k++) {
        view v;

        if (!is_here(&sw_places[k]))
            continue;
        v = view_of(&sw_places[k], &s, PRODUCTION);
        for (int i = 0; i < SW_DIRS * N; i++) {
            const float t = s.step.ta + s.step.tg[0] * s.shadow[i % N] + 273.15f;

            assert_true(fabsf(v.lup[i] - 0.95f * QN_SW_SBC * powf(t, 4)) < 1e-3f);
            assert_true(fabsf(v.alb[i] - 0.15f * (1 - s.svf[i % N])) < 1e-6f);
            assert_true(v.nosh[i] == 0.15f);
        }
        view_free(&v);
    }
    surface_free(&s);
}

/* Distances are multiplied by the pixel size, which makes them shorter on fine grids. */
static void range_is_multiplied_by_the_pixel_unless_corrected(void **state)
{
    qn_sw_gvf_options o = { .pixel_m = 2, .height_m = 1.75f };
    int first, second;

    (void)state;
    qn_sw_gvf_reach(&o, &first, &second);
    assert_int_equal(first, 4);
    assert_int_equal(second, 70);
    o.divides_by_pixel = 1;
    qn_sw_gvf_reach(&o, &first, &second);
    assert_int_equal(first, 1);
    assert_int_equal(second, 18);
    o.pixel_m = 1;
    qn_sw_gvf_reach(&o, &first, &second);
    assert_int_equal(first, 2);
    assert_int_equal(second, 35);
}

static void impossible_views_are_refused(void **state)
{
    qn_ctx *ctx = open_place(&sw_places[0]);
    qn_sw_gvf_options o = { .cols = 10, .rows = 10, .has_walls = 1, .pixel_m = 110, .height_m = 2 };
    qn_sw_gvf *gvf = NULL;

    (void)state;
    must_refuse(qn_sw_gvf_new(ctx, &o, &gvf, &err), QN_ERR_LIMIT, "4400 steps; the limit is 4095");
    o.pixel_m = 0;
    must_refuse(qn_sw_gvf_new(ctx, &o, &gvf, &err), QN_ERR_USAGE, "pixels of 0 m");
    o.cols = 0;
    must_refuse(qn_sw_gvf_new(ctx, &o, &gvf, &err), QN_ERR_USAGE, "0 x 10");
    assert_null(gvf);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(production_view_is_that_of_golden_data),
        cmocka_unit_test(one_plane_is_a_quarter_of_four_sides),
        cmocka_unit_test(umep_variant_is_that_of_golden_data),
        cmocka_unit_test(umep_golden_with_buildings_all_around_is_met),
        cmocka_unit_test(view_of_an_open_field_is_the_field),
        cmocka_unit_test(partly_sunlit_walls_count),
        cmocka_unit_test(aspects_are_degrees_unless_mended),
        cmocka_unit_test(water_has_no_excess_of_its_own),
        cmocka_unit_test(without_walls_the_view_is_the_pixel_itself),
        cmocka_unit_test(range_is_multiplied_by_the_pixel_unless_corrected),
        cmocka_unit_test(impossible_views_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
