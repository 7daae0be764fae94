/* test_sw_svf_cache.c - sky view factors that one run saves for the next. */
#include "sw_fixture.h"
#include "sw_svf_arrays.h"

#include "domain/solweig/cache/svf_cache.h"

#include <signal.h>
#include <sys/resource.h>

static qn_sw_surface small_surface(void)
{
    qn_sw_surface s = { .dsm = raster_at(100, 200, 2, ROWS, COLS),
                        .cdsm = raster_at(100, 200, 2, ROWS, COLS) };

    for (int i = 0; i < ROWS * COLS; i++)
        s.dsm.data[i] = (float)i;
    return s;
}

static void key_depends_on_everything_that_matters_and_on_nothing_else(void **state)
{
    qn_sw_surface s = small_surface();
    const qn_sw_svf_key key = qn_sw_svf_key_of(&s, 2);

    (void)state;
    assert_string_equal(qn_sw_svf_key_of(&s, 2).hex, key.hex);
    assert_string_not_equal(qn_sw_svf_key_of(&s, 1).hex, key.hex);
    s.dsm.data[3] += 1;
    assert_string_not_equal(qn_sw_svf_key_of(&s, 2).hex, key.hex);
    s.dsm.data[3] -= 1;
    s.cdsm.data[0] = NAN;
    assert_string_not_equal(qn_sw_svf_key_of(&s, 2).hex, key.hex);
    s.cdsm.data[0] = 0;
    s.dsm.place.pixel_size = 1;
    assert_string_not_equal(qn_sw_svf_key_of(&s, 2).hex, key.hex);
    s.dsm.place.pixel_size = 2;
    s.tdsm = s.cdsm; /* the same bytes in another layer */
    s.cdsm = (qn_sw_raster){ 0 };
    assert_string_not_equal(qn_sw_svf_key_of(&s, 2).hex, key.hex);
    s.cdsm = s.tdsm;
    s.tdsm = (qn_sw_raster){ 0 };
    s.albedo = raster_at(0, 0, 1, ROWS, COLS);
    s.dsm.place.transform[0] = 7;
    assert_string_equal(qn_sw_svf_key_of(&s, 2).hex, key.hex);
    qn_sw_surface_free(&s);
}

static void cached_view_factors_come_back(void **state)
{
    qn_sw_surface s = small_surface();
    const qn_sw_svf_key key = qn_sw_svf_key_of(&s, 2);
    qn_sw_svf_arrays arrays = random_arrays(1), other = random_arrays(2);

    (void)state;
    OK(write_cache("a/svf", &s.dsm.place, &other, &key, &err));
    OK(write_cache("a/svf", &s.dsm.place, &arrays, &key, &err));
    assert_kept("a/svf", &s.dsm.place, &key, &arrays);
    if (qn_sw_has_geotiff()) {
        assert_int_equal(access(in_folder("a/svf/svfs.zip"), R_OK), 0);
        assert_int_equal(access(in_folder("a/svf/shadowmats.npz"), R_OK), 0);
        assert_int_not_equal(access(in_folder("a/svf/svf.tif"), F_OK), 0);
    }
    qn_sw_svf_arrays_free(&arrays);
    REFUSED(write_cache("b", &s.dsm.place, &arrays, &key, &err), QN_ERR_USAGE,
            "18 arrays are missing");
    qn_sw_svf_arrays_free(&other);
    qn_sw_surface_free(&s);
}

static void cache_of_another_surface_is_refused(void **state)
{
    qn_sw_surface s = small_surface();
    const qn_sw_svf_key key = qn_sw_svf_key_of(&s, 2), other = qn_sw_svf_key_of(&s, 3);
    qn_sw_svf_arrays arrays = random_arrays(1), back = { 0 };

    (void)state;
    REFUSED(qn_sw_svf_cache_read(in_folder("svf"), &s.dsm.place, &key, &back, &err), QN_ERR_IO,
            "svf.json");
    OK(write_cache("svf", &s.dsm.place, &arrays, &key, &err));
    REFUSED(qn_sw_svf_cache_read(in_folder("svf"), &s.dsm.place, &other, &back, &err),
            QN_ERR_MISMATCH, "another surface");
    assert_null(back.map[0]);
    qn_sw_svf_arrays_free(&arrays);
    qn_sw_surface_free(&s);
}

static void damaged_cache_is_refused(void **state)
{
    static const char *const names[] = { "svf/svfs.zip", "svf/shadowmats.npz" };
    qn_sw_surface s = small_surface();
    const qn_sw_svf_key key = qn_sw_svf_key_of(&s, 2);
    qn_sw_svf_arrays arrays = random_arrays(1), back = { 0 };

    (void)state;
    if (!qn_sw_has_geotiff()) {
        printf("skipped: this build has no GDAL\n");
        skip();
    }
    for (int i = 0; i < 2; i++) {
        OK(write_cache("svf", &s.dsm.place, &arrays, &key, &err));
        assert_int_equal(truncate(in_folder(names[i]), 300), 0);
        REFUSED(qn_sw_svf_cache_read(in_folder("svf"), &s.dsm.place, &key, &back, &err),
                i == 0 ? QN_ERR_IO : QN_ERR_INPUT, names[i]);
        unlink(in_folder(names[i]));
        REFUSED(qn_sw_svf_cache_read(in_folder("svf"), &s.dsm.place, &key, &back, &err), QN_ERR_IO,
                names[i]);
    }
    assert_null(back.map[0]);
    qn_sw_svf_arrays_free(&arrays);
    qn_sw_surface_free(&s);
}

static void cache_on_a_full_disk_stays_what_it_was(void **state)
{
    qn_sw_surface s = small_surface();
    const qn_sw_svf_key key = qn_sw_svf_key_of(&s, 2);
    qn_sw_svf_arrays arrays = random_arrays(1), other = random_arrays(2);
    struct rlimit old, small;

    (void)state;
    OK(write_cache("svf", &s.dsm.place, &arrays, &key, &err));
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){ 12 * 1024, old.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const qn_status st = write_cache("svf", &s.dsm.place, &other, &key, NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(st, QN_ERR_IO);
    assert_int_not_equal(access(in_folder("svf/" QN_RUN_UNFINISHED), F_OK), 0);
    assert_kept("svf", &s.dsm.place, &key, &arrays);
    qn_sw_svf_arrays_free(&other);
    qn_sw_svf_arrays_free(&arrays);
    qn_sw_surface_free(&s);
}

static void archives_hold_named_files(void **state)
{
    qn_sw_zip *zip = NULL;
    char *data = NULL;
    size_t bytes = 0;

    (void)state;
    if (!qn_sw_has_geotiff()) {
        printf("skipped: this build has no GDAL\n");
        skip();
    }
    OK(qn_sw_zip_create(in_folder("a.npz"), &zip, &err));
    OK(qn_sw_zip_add(zip, "one", "he", 2, "llo", 3, &err));
    OK(qn_sw_zip_add(zip, "two", NULL, 0, "", 0, &err));
    OK(qn_sw_zip_commit(zip, &err));
    OK(qn_sw_zip_read(in_folder("a.npz"), "one", 5, &data, &bytes, &err));
    assert_int_equal(bytes, 5);
    assert_memory_equal(data, "hello", 5);
    free(data);
    REFUSED(qn_sw_zip_read(in_folder("a.npz"), "one", 4, &data, &bytes, &err), QN_ERR_LIMIT,
            "a.npz: one unpacks to 5 bytes, the limit for it is 4");
    OK(qn_sw_zip_read(in_folder("a.npz"), "two", 5, &data, &bytes, &err));
    assert_int_equal(bytes, 0);
    free(data);
    REFUSED(qn_sw_zip_read(in_folder("a.npz"), "three", 5, &data, &bytes, &err), QN_ERR_INPUT,
            "three");
    REFUSED(qn_sw_zip_read(in_folder("b.npz"), "one", 5, &data, &bytes, &err), QN_ERR_IO, "b.npz");
    REFUSED(qn_sw_zip_create(in_folder("no/a.npz"), &zip, &err), QN_ERR_IO, "no/a.npz");
    OK(qn_sw_zip_create(in_folder("c.npz"), &zip, &err));
    qn_sw_zip_abort(zip);
    assert_int_not_equal(access(in_folder("c.npz"), F_OK), 0);
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_depends_on_everything_that_matters_and_on_nothing_else),
        T(cached_view_factors_come_back),
        T(cache_of_another_surface_is_refused),
        T(damaged_cache_is_refused),
        T(cache_on_a_full_disk_stays_what_it_was),
        T(archives_hold_named_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
