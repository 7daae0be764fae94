/* test_sw_gdal_missing.c - GeoTIFF and archives if the build knows GDAL, but the machine has no
 * library, or another one under its name. */
#include "sw_fixture.h"
#include "sw_svf_arrays.h"
#include "domain/solweig/cache/svf_cache.h"
#include "domain/solweig/raster/gdal_api.h"

#include <pthread.h>
#include <sys/wait.h>

#ifdef QN_TEST_WITH_GDAL
#define WHY_NOT "needs GDAL, which cannot be loaded (/nowhere/libgdal.so"
#else
#define WHY_NOT "needs GDAL, which this build lacks"
#endif

static void messages_of_rasters_and_archives_name_the_missing_library(void **state)
{
    qn_sw_raster r = raster_at(0, 0, 1, 2, 2), back = { 0 };
    qn_sw_zip *zip = NULL;
    char *data = NULL;
    size_t bytes = 0;

    (void)state;
    REFUSED(qn_sw_raster_read("a.tif", NULL, &back, &err), QN_ERR_UNSUPPORTED, "a.tif: " WHY_NOT);
    REFUSED(qn_sw_raster_write("b.tif", &r, &err), QN_ERR_UNSUPPORTED, "install libgdal-dev");
    REFUSED(qn_sw_zip_create("c.zip", &zip, &err), QN_ERR_UNSUPPORTED, "c.zip: " WHY_NOT);
    REFUSED(qn_sw_zip_read("d.zip", "e", 1, &data, &bytes, &err), QN_ERR_UNSUPPORTED, WHY_NOT);
    assert_null(back.data);
    assert_null(zip);
    qn_sw_raster_free(&r);
}

static void plain_arrays_take_its_place(void **state)
{
    qn_sw_surface s = { .dsm = raster_at(0, ROWS, 1, ROWS, COLS) };
    const qn_sw_svf_key key = qn_sw_svf_key_of(&s, 2);
    qn_sw_svf_arrays arrays = random_arrays(3);

    (void)state;
    assert_false(qn_sw_has_geotiff());
    OK(write_cache("svf", &s.dsm.place, &arrays, &key, &err));
    assert_int_equal(access(in_folder("svf/svf.npy"), R_OK), 0);
    assert_kept("svf", &s.dsm.place, &key, &arrays);
    qn_sw_svf_arrays_free(&arrays);
    qn_sw_surface_free(&s);
}

static void reference_systems_are_compared_by_their_text(void **state)
{
    (void)state;
    assert_true(qn_sw_same_crs("A", "A") && qn_sw_same_crs("A", NULL));
    assert_false(qn_sw_same_crs("A", "B"));
}

static void *load(void *unused)
{
    qn_err err;

    (void)unused;
    return qn_sw_gdal_load("a.tif", &err) == QN_ERR_UNSUPPORTED && strstr(err.text, WHY_NOT) ? ""
                                                                                             : NULL;
}

static void threads_that_ask_at_once_hear_the_same(void **state)
{
    pthread_t threads[8];

    (void)state;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load, NULL), 0);
    for (int i = 0; i < 8; i++) {
        void *is_reported = NULL;

        pthread_join(threads[i], &is_reported);
        assert_non_null(is_reported);
    }
}

/* In a child, since a process loads the library only once. */
static void library_without_the_functions_is_named(void **state)
{
#ifdef QN_TEST_WITH_GDAL
    const pid_t child = fork();
    int status = 0;

    (void)state;
    if (child == 0) {
        qn_err err;

        setenv("QUERN_GDAL_LIB", "libm.so.6", 1);
        _exit(qn_sw_gdal_load("a.tif", &err) == QN_ERR_UNSUPPORTED &&
                      strstr(err.text, "it has no CPLError")
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
#else
    (void)state;
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_without_the_functions_is_named), /* before anything loads */
        cmocka_unit_test(threads_that_ask_at_once_hear_the_same),
        cmocka_unit_test(messages_of_rasters_and_archives_name_the_missing_library),
        cmocka_unit_test_setup_teardown(plain_arrays_take_its_place, make_folder, remove_folder),
        cmocka_unit_test(reference_systems_are_compared_by_their_text),
    };

    setenv("QUERN_GDAL_LIB", "/nowhere/libgdal.so", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
