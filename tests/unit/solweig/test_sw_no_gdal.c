/* test_sw_no_gdal.c - GeoTIFF and archives in a build without GDAL.
 *
 * The sources that use it are included here as such a build compiles them; the linker then leaves
 * out the library's own versions.
 */
#include "sw_fixture.h"
#include "sw_svf_arrays.h"

#undef QN_WITH_GDAL
#include "domain/solweig/raster/gdal_api.c"
#include "domain/solweig/raster/raster_gdal.c"
#include "domain/solweig/cache/zip.c"

static void messages_of_a_build_without_gdal_name_the_missing_library(void **state)
{
    qn_sw_raster r = raster_at(0, 0, 1, 2, 2), back = { 0 };

    (void)state;
    assert_false(qn_sw_has_geotiff());
    REFUSED(qn_sw_raster_read("a.tif", NULL, &back, &err), QN_ERR_UNSUPPORTED,
            "a.tif: needs GDAL, which this build lacks; install libgdal-dev");
    REFUSED(qn_sw_raster_write("b.tif", &r, &err), QN_ERR_UNSUPPORTED, "libgdal-dev");
    assert_null(back.data);
    qn_sw_raster_free(&r);
}

static void reference_systems_are_compared_by_their_text(void **state)
{
    (void)state;
    assert_true(qn_sw_same_crs("A", "A") && qn_sw_same_crs("A", NULL));
    assert_false(qn_sw_same_crs("A", "B"));
}

static void messages_of_archives_name_the_missing_library(void **state)
{
    qn_sw_zip *zip = NULL;
    char *data = NULL;
    size_t bytes = 0;

    (void)state;
    REFUSED(qn_sw_zip_create("a.zip", &zip, &err), QN_ERR_UNSUPPORTED, "libgdal-dev");
    REFUSED(qn_sw_zip_read("a.zip", "b", 1, &data, &bytes, &err), QN_ERR_UNSUPPORTED,
            "libgdal-dev");
}

static void sky_view_factors_are_cached_as_plain_arrays(void **state)
{
    qn_sw_surface s = { .dsm = raster_at(0, ROWS, 1, ROWS, COLS) };
    const qn_sw_svf_key key = qn_sw_svf_key_of(&s, 2);
    qn_sw_svf_arrays arrays = random_arrays(3);

    (void)state;
    OK(write_cache("svf", &s.dsm.place, &arrays, &key, &err));
    assert_int_equal(access(in_folder("svf/svfNaveg.npy"), R_OK), 0);
    assert_int_equal(access(in_folder("svf/vegshadowmat.npy"), R_OK), 0);
    assert_kept("svf", &s.dsm.place, &key, &arrays);
    qn_sw_svf_arrays_free(&arrays);
    qn_sw_surface_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_a_build_without_gdal_name_the_missing_library),
        cmocka_unit_test(reference_systems_are_compared_by_their_text),
        cmocka_unit_test(messages_of_archives_name_the_missing_library),
        cmocka_unit_test_setup_teardown(sky_view_factors_are_cached_as_plain_arrays, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
