/* test_sw_heights.c - heights before shadows: filling, smoothing, absolute heights, valid pixels.
 */
#include "sw_fixture.h"

#include "domain/solweig/surface/surface.h"

enum { N = 4 };

static qn_sw_raster row_of(float a, float b, float c, float d)
{
    return raster_of(1, N, (const float[N]){ a, b, c, d });
}

static void prepare(qn_sw_surface *s, qn_sw_height_options options)
{
    OK(qn_sw_prepare_heights(s, &options, NULL, &err));
}

/* Golden. */

static qn_sw_surface ga_surface(void)
{
    qn_sw_surface s = { .dsm = golden_raster("solweig/ga/DSM_GA.tif"),
                        .dem = golden_raster("solweig/ga/DEM_GA.tif"),
                        .cdsm = golden_raster("solweig/ga/CDSM_GA.tif") };

    prepare(&s, (qn_sw_height_options){ .reference = 1 });
    return s;
}

static void prepared_heights_of_ga_are_those_of_the_reference_bit_for_bit(void **state)
{
    static const char *const names[] = { "dsm", "cdsm", "tdsm" };
    qn_sw_surface s = ga_surface();
    const qn_sw_raster *is[] = { &s.dsm, &s.cdsm, &s.tdsm };

    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[64];

        snprintf(name, sizeof name, "solweig/ga/prep_%s.npy", names[i]);
        qn_sw_raster want = golden_raster(name);
        assert_int_equal(want.place.rows, 104);
        assert_int_equal(is[i]->place.cols, 116);
        assert_floats(is[i]->data, want.data, qn_sw_elems(&want.place));
        qn_sw_raster_free(&want);
    }
    qn_sw_surface_free(&s);
}

static void relief_of_ga_is_that_of_the_reference(void **state)
{
    qn_sw_surface s = ga_surface();
    const qn_sw_relief relief = qn_sw_relief_of(&s);

    (void)state;
    assert_true(fabsf(relief.max_height - 58.8096022f) < 1e-5f);
    assert_true(relief.top >= relief.highest);
    qn_sw_surface_free(&s);
}

/* Steps. */

static void gaps_of_the_dsm_take_the_dem(void **state)
{
    qn_sw_surface s = { .dsm = row_of(NAN, 15, 9, 10.5f), .dem = row_of(10, 10, 10, 10) };

    (void)state;
    prepare(&s, (qn_sw_height_options){ .keep_quantised = 1 });
    /* Filled; unchanged; lifted to the ground; too low to matter. */
    assert_floats(s.dsm.data, (const float[N]){ 10, 15, 10, 10 }, N);
    qn_sw_surface_free(&s);
}

static void dsm_above_ground_is_added_to_the_dem(void **state)
{
    qn_sw_surface s = { .dsm = row_of(0, 0.5f, 5, NAN), .dem = row_of(10, 20, 30, 40) };

    (void)state;
    prepare(&s, (qn_sw_height_options){ .keep_quantised = 1, .dsm_relative = 1 });
    assert_floats(s.dsm.data, (const float[N]){ 10, 20, 35, 40 }, N);
    qn_sw_surface_free(&s);
}

static void gap_in_the_dem_is_a_gap_in_the_dsm(void **state)
{
    qn_sw_surface s = { .dsm = row_of(12, 12, 12, 12), .dem = row_of(10, NAN, 10, 10) };

    (void)state;
    prepare(&s, (qn_sw_height_options){ .keep_quantised = 1 });
    assert_floats(s.dsm.data, (const float[N]){ 12, NAN, 12, 12 }, N);
    qn_sw_surface_free(&s);
}

static void least_object_height_can_be_chosen(void **state)
{
    qn_sw_surface s = { .dsm = row_of(10.2f, 10.4f, 10.6f, 12), .dem = row_of(10, 10, 10, 10) };

    (void)state;
    prepare(&s, (qn_sw_height_options){ .keep_quantised = 1, .min_object_height = 0.5 });
    assert_floats(s.dsm.data, (const float[N]){ 10, 10, 10.6f, 12 }, N);
    qn_sw_surface_free(&s);
}

static void low_trees_have_a_canopy_and_no_trunk(void **state)
{
    qn_sw_surface s = { .dsm = row_of(10, 10, 10, 30), .cdsm = row_of(8, 3, 0.5f, 8) };

    (void)state;
    prepare(&s, (qn_sw_height_options){ 0 });
    /* Last pixel: trees under roofs are only excluded where the canopy is below the DSM. */
    assert_floats(s.cdsm.data, (const float[N]){ 18, 13, NAN, 38 }, N);
    assert_floats(s.tdsm.data, (const float[N]){ 12, NAN, NAN, 32 }, N);
    qn_sw_surface_free(&s);
}

static void canopy_below_a_roof_is_no_canopy(void **state)
{
    qn_sw_surface s = { .dsm = row_of(30, 10, 10, 10),
                        .dem = row_of(10, 10, 10, 10),
                        .cdsm = row_of(8, 8, 8, 8) };

    (void)state;
    prepare(&s, (qn_sw_height_options){ .keep_quantised = 1 });
    assert_floats(s.cdsm.data, (const float[N]){ NAN, 18, 18, 18 }, N);
    assert_floats(s.tdsm.data, (const float[N]){ NAN, 12, 12, 12 }, N);
    qn_sw_surface_free(&s);
}

static void gap_in_a_relative_canopy_is_no_tree_except_in_reference_mode(void **state)
{
    for (int reference = 0; reference <= 1; reference++) {
        qn_sw_surface s = { .dsm = row_of(10, 10, 10, 10), .cdsm = row_of(NAN, 8, 8, 8) };

        (void)state;
        prepare(&s, (qn_sw_height_options){ .reference = reference });
        assert_floats(s.cdsm.data, (const float[N]){ reference ? 20 : NAN, 18, 18, 18 }, N);
        qn_sw_surface_free(&s);
    }
}

/* |layer - base| < 0.1 -> base, also for relative layers. */
static void relative_canopy_as_high_as_the_ground_is_moved_onto_it(void **state)
{
    qn_sw_surface s = { .dsm = row_of(8, 8, 8, 8), .cdsm = row_of(8.05f, 7.95f, 8.2f, 2) };

    (void)state;
    prepare(&s, (qn_sw_height_options){ 0 });
    assert_floats(s.cdsm.data, (const float[N]){ 16, 16, 16.2f, 10 }, N);
    qn_sw_surface_free(&s);
}

static void trunk_of_an_absolute_canopy_starts_from_the_ground(void **state)
{
    qn_sw_surface s = { .dsm = row_of(10, 10, 10, 10), .cdsm = row_of(18, 18, 18, 18) };
    qn_sw_surface old = { .dsm = row_of(10, 10, 10, 10), .cdsm = row_of(18, 18, 18, 18) };

    (void)state;
    prepare(&s, (qn_sw_height_options){ .cdsm_absolute = 1 });
    assert_floats(s.tdsm.data, (const float[N]){ 12, 12, 12, 12 }, N);
    prepare(&old, (qn_sw_height_options){ .cdsm_absolute = 1, .reference = 1 });
    assert_floats(old.tdsm.data, (const float[N]){ 4.5f, 4.5f, 4.5f, 4.5f }, N);
    qn_sw_surface_free(&s);
    qn_sw_surface_free(&old);
}

static void given_trunks_have_their_own_flag(void **state)
{
    qn_sw_surface s = { .dsm = row_of(10, 10, 10, 10),
                        .cdsm = row_of(8, 8, 8, 8),
                        .tdsm = row_of(13, 10.05f, NAN, 12) };

    (void)state;
    prepare(&s, (qn_sw_height_options){ .tdsm_absolute = 1 });
    assert_floats(s.cdsm.data, (const float[N]){ 18, 18, 18, 18 }, N);
    assert_floats(s.tdsm.data, (const float[N]){ 13, 10, 10, 12 }, N);
    qn_sw_surface_free(&s);
}

static void surfaces_that_cannot_be_prepared_are_refused(void **state)
{
    qn_sw_surface s = { .dsm = row_of(1, 1, 1, 1) };
    qn_sw_surface trunks = { .dsm = row_of(1, 1, 1, 1), .tdsm = row_of(1, 1, 1, 1) };
    qn_sw_surface other = { .dsm = row_of(1, 1, 1, 1), .dem = raster_at(0, 0, 1, 2, 2) };
    const qn_sw_height_options relative = { .dsm_relative = 1 }, ratio = { .trunk_ratio = 1.5 },
                               none = { 0 };

    (void)state;
    REFUSED(qn_sw_prepare_heights(&s, &relative, NULL, &err), QN_ERR_INPUT, "needs a DEM");
    REFUSED(qn_sw_prepare_heights(&s, &ratio, NULL, &err), QN_ERR_USAGE, "1.5");
    REFUSED(qn_sw_prepare_heights(&trunks, &none, NULL, &err), QN_ERR_INPUT, "TDSM");
    REFUSED(qn_sw_prepare_heights(&other, &none, NULL, &err), QN_ERR_USAGE, "2 x 2");
    qn_sw_surface_free(&s);
    qn_sw_surface_free(&trunks);
    qn_sw_surface_free(&other);
}

/* Whole metres. */

static void dem_of_whole_metres_is_found(void **state)
{
    qn_sw_raster dem = raster_at(0, 10, 1, 10, 20);

    (void)state;
    for (int i = 0; i < 200; i++)
        dem.data[i] = 5.5f;
    assert_false(qn_sw_is_quantised(&dem));
    for (int i = 0; i < 59; i++)
        dem.data[i] = 3.005f;
    assert_false(qn_sw_is_quantised(&dem)); /* 29.5 % */
    dem.data[59] = 7;
    assert_true(qn_sw_is_quantised(&dem)); /* 30 % */
    for (int i = 0; i < 101; i++)
        dem.data[199 - i] = NAN;
    assert_false(qn_sw_is_quantised(&dem)); /* 99 finite pixels are too few */
    dem.is_integer = 1;
    assert_true(qn_sw_is_quantised(&dem));
    qn_sw_raster_free(&dem);
}

static void smoothing_keeps_the_mean_of_a_spot_and_spreads_nan_over_its_kernel(void **state)
{
    enum { SIDE = 31, MID = 15 };
    qn_sw_raster spot = raster_at(0, SIDE, 1, SIDE, SIDE), gap = raster_at(0, SIDE, 1, SIDE, SIDE);
    double sum = 0;
    int n_nan = 0;

    (void)state;
    spot.data[MID * SIDE + MID] = 1;
    gap.data[MID * SIDE + MID] = NAN;
    OK(qn_sw_smooth(&spot, 3, &err));
    OK(qn_sw_smooth(&gap, 3, &err));
    for (int i = 0; i < SIDE * SIDE; i++) {
        sum += spot.data[i];
        n_nan += isnan(gap.data[i]) != 0;
    }
    assert_true(fabs(sum - 1) < 1e-5);
    assert_true(spot.data[MID * SIDE + MID - 9] > 0);
    assert_true(spot.data[MID * SIDE + MID - 10] == 0);
    assert_int_equal(n_nan, 19 * 19);
    qn_sw_raster_free(&spot);
    qn_sw_raster_free(&gap);
}

static void smoothing_replicates_edges(void **state)
{
    qn_sw_raster flat = raster_at(0, 5, 1, 5, 7);

    (void)state;
    for (int i = 0; i < 35; i++)
        flat.data[i] = 4;
    OK(qn_sw_smooth(&flat, 3, &err));
    for (int i = 0; i < 35; i++)
        assert_true(fabsf(flat.data[i] - 4) < 1e-5f);
    qn_sw_raster_free(&flat);
}

static void only_a_dem_of_whole_metres_is_smoothed(void **state)
{
    for (int keep = 0; keep <= 1; keep++) {
        qn_sw_surface s = { .dsm = raster_at(0, 20, 1, 20, 20),
                            .dem = raster_at(0, 20, 1, 20, 20) };
        const qn_sw_height_options options = { .keep_quantised = keep };
        int was_smoothed = -1;

        (void)state;
        for (int i = 0; i < 400; i++)
            s.dsm.data[i] = s.dem.data[i] = (float)(i % 20 < 10 ? 3 : 4);
        OK(qn_sw_prepare_heights(&s, &options, &was_smoothed, &err));
        assert_int_equal(was_smoothed, !keep);
        assert_int_equal(s.dem.data[9] == 3, keep);
        qn_sw_surface_free(&s);
    }
}

/* The whole raster. */

static void relief_ignores_gaps_and_flat_ground_has_none(void **state)
{
    qn_sw_surface s = { .dsm = row_of(2, NAN, 10, 4), .cdsm = row_of(NAN, NAN, NAN, 15) };
    qn_sw_surface flat = { .dsm = row_of(2, 2, 2, 2) };

    (void)state;
    const qn_sw_relief relief = qn_sw_relief_of(&s);
    assert_true(relief.lowest == 2 && relief.highest == 10 && relief.top == 15);
    assert_true(relief.max_height == 13 && relief.max_building == 8);
    assert_true(qn_sw_relief_of(&flat).max_height == 0);
    qn_sw_surface_free(&s);
    qn_sw_surface_free(&flat);
}

static void cropping_keeps_the_box_of_valid_pixels_and_its_place(void **state)
{
    qn_sw_surface s = { .dsm = raster_at(100, 200, 2, 4, 5), .cdsm = raster_at(100, 200, 2, 4, 5) };

    (void)state;
    s.land_cover = calloc(20, 1);
    for (int i = 0; i < 20; i++) {
        s.dsm.data[i] = (float)i;
        s.cdsm.data[i] = 50;
        s.land_cover[i] = i / 5 == 0 ? QN_SW_NO_COVER : 5; /* the first row is unknown */
    }
    for (int y = 0; y < 4; y++)
        s.dsm.data[y * 5] = NAN; /* the first column is a gap */
    s.dsm.data[2 * 5 + 2] = NAN;
    OK(qn_sw_crop_to_valid(&s, &err));
    assert_int_equal(s.dsm.place.rows, 3);
    assert_int_equal(s.dsm.place.cols, 4);
    assert_true(s.dsm.place.transform[0] == 102 && s.dsm.place.transform[3] == 198);
    assert_floats(s.dsm.data, (const float[12]){ 6, 7, 8, 9, 11, NAN, 13, 14, 16, 17, 18, 19 }, 12);
    assert_true(isnan(s.cdsm.data[5]) && s.cdsm.data[4] == 50);
    assert_int_equal(s.land_cover[5], QN_SW_NO_COVER);
    assert_int_equal(s.land_cover[11], 5);
    qn_sw_surface_free(&s);
}

static void layers_are_cut_to_the_box_of_their_valid_pixels(void **state)
{
    qn_sw_surface s = { .dsm = raster_at(0, 100, 1, 100, 1) };

    (void)state;
    s.dsm.data[0] = NAN;
    OK(qn_sw_crop_to_valid(&s, &err));
    assert_int_equal(s.dsm.place.rows, 99);
    s.dsm.data[0] = s.dsm.data[1] = NAN;
    OK(qn_sw_crop_to_valid(&s, &err));
    assert_int_equal(s.dsm.place.rows, 97);
    for (int i = 0; i < 97; i++)
        s.dsm.data[i] = NAN;
    REFUSED(qn_sw_crop_to_valid(&s, &err), QN_ERR_INPUT, "97 x 1");
    qn_sw_surface_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prepared_heights_of_ga_are_those_of_the_reference_bit_for_bit),
        cmocka_unit_test(relief_of_ga_is_that_of_the_reference),
        cmocka_unit_test(gaps_of_the_dsm_take_the_dem),
        cmocka_unit_test(dsm_above_ground_is_added_to_the_dem),
        cmocka_unit_test(gap_in_the_dem_is_a_gap_in_the_dsm),
        cmocka_unit_test(least_object_height_can_be_chosen),
        cmocka_unit_test(low_trees_have_a_canopy_and_no_trunk),
        cmocka_unit_test(canopy_below_a_roof_is_no_canopy),
        cmocka_unit_test(gap_in_a_relative_canopy_is_no_tree_except_in_reference_mode),
        cmocka_unit_test(relative_canopy_as_high_as_the_ground_is_moved_onto_it),
        cmocka_unit_test(trunk_of_an_absolute_canopy_starts_from_the_ground),
        cmocka_unit_test(given_trunks_have_their_own_flag),
        cmocka_unit_test(surfaces_that_cannot_be_prepared_are_refused),
        cmocka_unit_test(dem_of_whole_metres_is_found),
        cmocka_unit_test(smoothing_keeps_the_mean_of_a_spot_and_spreads_nan_over_its_kernel),
        cmocka_unit_test(smoothing_replicates_edges),
        cmocka_unit_test(only_a_dem_of_whole_metres_is_smoothed),
        cmocka_unit_test(relief_ignores_gaps_and_flat_ground_has_none),
        cmocka_unit_test(cropping_keeps_the_box_of_valid_pixels_and_its_place),
        cmocka_unit_test(layers_are_cut_to_the_box_of_their_valid_pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
