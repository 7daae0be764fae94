/* test_sw_load.c - from files to a surface. */
#include "sw_fixture.h"

#include "domain/solweig/surface/surface.h"

static qn_status load(qn_sw_layer_options options, qn_sw_surface *out, qn_err *err)
{
    return qn_sw_surface_load(&options, out, NULL, err);
}

/* The path of a golden file, in separate memory. */
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
    const qn_sw_layer_options options = { .dsm_file = ga("DSM_GA.tif"),
                                          .dem_file = ga("DEM_GA.tif"),
                                          .cdsm_file = ga("CDSM_GA.tif"),
                                          .landcover_file = ga("LC_GA.tif"),
                                          .reference = 1 };
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

/* A DEM of a part of the map: the surface is that part. */
static void a_smaller_layer_cuts_the_surface(void **state)
{
    qn_sw_layer_options options = { .dsm_file = ga("DSM_GA.tif"),
                                    .dem_file = ga("DEM_GA.tif"),
                                    .cdsm_file = ga("CDSM_GA.tif"),
                                    .keep_quantised = 1,
                                    .reference = 1 };
    const qn_window part = { 20, 10, 30, 20 };
    qn_sw_raster all = golden_raster("solweig/ga/prep_dsm.npy"), want = { 0 };
    qn_sw_raster dem = { 0 }, small = { 0 };
    qn_sw_surface s = { 0 };

    (void)state;
    OK(qn_sw_raster_cut(&all, part, &want, &err));
    OK(qn_sw_raster_read(options.dem_file, NULL, &dem, &err));
    OK(qn_sw_raster_cut(&dem, part, &small, &err));
    OK(qn_sw_raster_write(in_folder("dem.tif"), &small, &err));
    options.dem_file = in_folder("dem.tif");
    OK(load(options, &s, &err));
    assert_int_equal(s.dsm.place.rows, 30);
    assert_int_equal(s.dsm.place.cols, 20);
    assert_floats(s.dsm.data, want.data, 600);
    qn_sw_raster_free(&all);
    qn_sw_raster_free(&want);
    qn_sw_raster_free(&dem);
    qn_sw_raster_free(&small);
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
    OK(load((qn_sw_layer_options){ .dsm_file = in_folder("dsm.npy"),
                                   .landcover_file = in_folder("lc.npy"),
                                   .pixel_size = 5 },
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
    REFUSED(load((qn_sw_layer_options){ 0 }, &s, &err), QN_ERR_USAGE, "no DSM");
    REFUSED(
        load((qn_sw_layer_options){ .dsm_file = in_folder("a.npy"), .wall_aspect_file = "w.npy" },
             &s, &err),
        QN_ERR_USAGE, "only w.npy");
    REFUSED(load((qn_sw_layer_options){ .dsm_file = in_folder("a.npy"),
                                        .cdsm_file = in_folder("b.npy") },
                 &s, &err),
            QN_ERR_INPUT, "b.npy: 2 x 3");
    REFUSED(load((qn_sw_layer_options){ .dsm_file = in_folder("b.npy"),
                                        .landcover_file = in_folder("b.npy") },
                 &s, &err),
            QN_ERR_INPUT, "land cover 2.5");
    REFUSED(load((qn_sw_layer_options){ .dsm_file = in_folder("none.npy") }, &s, &err), QN_ERR_IO,
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
        T(a_smaller_layer_cuts_the_surface),
        T(plain_arrays_are_cut_to_their_valid_pixels),
        T(layers_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
