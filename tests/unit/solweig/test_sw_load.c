/* test_sw_load.c - from files to a surface. */
#include "sw_fixture.h"

#include "domain/solweig/surface/surface.h"

static qn_status load(qn_sw_load_options options, qn_sw_surface *out, qn_err *err)
{
    return qn_sw_surface_load(&options, out, NULL, err);
}

/* The path of a golden file, in memory of its own. */
static const char *ga(const char *name)
{
    static char paths[4][2200];
    static int next;
    char *path = paths[next++ % 4], full[64];

    snprintf(full, sizeof full, "solweig/ga/%s", name);
    need_golden(full);
    if (!qn_sw_has_geotiff()) {
        printf("skipped: this build has no GDAL to read %s\n", full);
        fflush(stdout);
        skip();
    }
    snprintf(path, sizeof paths[0], "%s", golden_path(full));
    return path;
}

static void surface_of_ga_is_that_of_the_reference(void **state)
{
    const qn_sw_load_options options = { .dsm = ga("DSM_GA.tif"),
                                         .dem = ga("DEM_GA.tif"),
                                         .cdsm = ga("CDSM_GA.tif"),
                                         .land_cover = ga("LC_GA.tif"),
                                         .heights = { .reference = 1 } };
    qn_sw_raster want = golden_raster("solweig/ga/prep_cdsm.npy");
    qn_sw_surface s = { 0 };

    (void)state;
    OK(load(options, &s, &err));
    assert_int_equal(s.dsm.place.rows, 104);
    assert_floats(s.cdsm.data, want.data, qn_sw_elems(&want.place));
    assert_non_null(s.land_cover);
    assert_non_null(strstr(s.tdsm.place.crs, "3006"));
    qn_sw_raster_free(&want);
    qn_sw_surface_free(&s);
}

static void box_of_a_surface_is_a_part_of_it(void **state)
{
    const qn_sw_box box = { 319154, 6400106, 319194, 6400166 };
    const qn_sw_load_options options = { .dsm = ga("DSM_GA.tif"),
                                         .dem = ga("DEM_GA.tif"),
                                         .cdsm = ga("CDSM_GA.tif"),
                                         .heights = { .reference = 1, .keep_quantised = 1 },
                                         .align = { .box = &box } };
    qn_sw_raster all = golden_raster("solweig/ga/prep_dsm.npy"), want = { 0 };
    qn_sw_surface s = { 0 };

    (void)state;
    OK(qn_sw_raster_cut(&all, (qn_window){ 20, 10, 30, 20 }, &want, &err));
    OK(load(options, &s, &err));
    assert_int_equal(s.dsm.place.rows, 30);
    assert_int_equal(s.dsm.place.cols, 20);
    assert_floats(s.dsm.data, want.data, 600);
    qn_sw_raster_free(&all);
    qn_sw_raster_free(&want);
    qn_sw_surface_free(&s);
}

static void plain_arrays_are_cut_to_their_valid_pixels(void **state)
{
    const float dsm[] = { NAN, 1, 2, NAN, 3, 4 }, lc[] = { 1, 1, 5, 1, 255, 5 };
    qn_sw_raster a = raster_of(2, 3, dsm), b = raster_of(2, 3, lc);
    qn_sw_surface s = { 0 };

    (void)state;
    OK(qn_sw_raster_write(in_folder("dsm.npy"), &a, &err));
    OK(qn_sw_raster_write(in_folder("lc.npy"), &b, &err));
    OK(load((qn_sw_load_options){ .dsm = in_folder("dsm.npy"),
                                  .land_cover = in_folder("lc.npy"),
                                  .npy_pixel_size = 5 },
            &s, &err));
    assert_int_equal(s.dsm.place.cols, 2);
    assert_true(s.dsm.place.pixel_size == 5 && s.dsm.place.transform[0] == 5);
    assert_floats(s.dsm.data, (const float[]){ 1, 2, NAN, 4 }, 4);
    assert_memory_equal(s.land_cover, ((const uint8_t[]){ 1, 5, 255, 5 }), 4);
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
    qn_sw_surface_free(&s);
}

static void layers_that_do_not_fit_are_refused(void **state)
{
    qn_sw_raster a = raster_at(0, 2, 1, 2, 2), b = raster_at(0, 2, 1, 2, 3);
    qn_sw_surface s = { 0 };

    (void)state;
    b.data[0] = 2.5f;
    OK(qn_sw_raster_write(in_folder("a.npy"), &a, &err));
    OK(qn_sw_raster_write(in_folder("b.npy"), &b, &err));
    REFUSED(load((qn_sw_load_options){ 0 }, &s, &err), QN_ERR_USAGE, "no DSM");
    REFUSED(
        load((qn_sw_load_options){ .dsm = in_folder("a.npy"), .wall_aspect = "w.npy" }, &s, &err),
        QN_ERR_USAGE, "w.npy alone");
    REFUSED(load((qn_sw_load_options){ .dsm = in_folder("a.npy"), .cdsm = in_folder("b.npy") }, &s,
                 &err),
            QN_ERR_INPUT, "b.npy: 2 x 3");
    REFUSED(
        load((qn_sw_load_options){ .dsm = in_folder("b.npy"), .land_cover = in_folder("b.npy") },
             &s, &err),
        QN_ERR_INPUT, "land cover 2.5");
    REFUSED(load((qn_sw_load_options){ .dsm = in_folder("none.npy") }, &s, &err), QN_ERR_IO,
            "none.npy");
    assert_null(s.dsm.data);
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(surface_of_ga_is_that_of_the_reference),
        T(box_of_a_surface_is_a_part_of_it),
        T(plain_arrays_are_cut_to_their_valid_pixels),
        T(layers_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
