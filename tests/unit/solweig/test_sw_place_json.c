/* test_sw_place_json.c - the place of an array on the map, from a file beside it. */
#include "sw_fixture.h"
#include "domain/solweig/raster/raster.h"

static void array_lies_where_the_file_beside_it_says(void **state)
{
    const qn_sw_read_options options = { .pixel_size = 1, .crs = QN_SW_CRS_PROJECTED };
    qn_sw_raster r = raster_at(319134.5, 6400206.25, 2, 3, 4), back = { 0 };

    (void)state;
    r.place.crs = strdup("PROJCS[\"of some \\ kind\"]");
    OK(qn_sw_raster_write(in_folder("a.npy"), &r, &err));
    OK(qn_sw_place_json_write(in_folder("a.npy"), &r.place, &err));
    OK(qn_sw_raster_read(in_folder("a.npy"), &options, &back, &err));
    assert_memory_equal(back.place.transform, r.place.transform, sizeof r.place.transform);
    assert_true(back.place.is_placed && back.place.pixel_size == 2);
    assert_string_equal(back.place.crs, r.place.crs);
    assert_int_equal(back.place.rows, 3);
    qn_sw_raster_free(&r);
    qn_sw_raster_free(&back);
}

static void place_without_a_reference_system_is_a_place(void **state)
{
    qn_sw_raster r = raster_at(10, 20, 5, 2, 2), back = { 0 };

    (void)state;
    OK(qn_sw_raster_write(in_folder("a.npy"), &r, &err));
    OK(qn_sw_place_json_write(in_folder("a.npy"), &r.place, &err));
    OK(qn_sw_raster_read(in_folder("a.npy"), NULL, &back, &err));
    assert_true(back.place.is_placed && back.place.pixel_size == 5);
    assert_null(back.place.crs);
    qn_sw_raster_free(&r);
    qn_sw_raster_free(&back);
}

static void places_that_are_none_are_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        { "{", "a.place.json" },
        { "{}", "transform" },
        { "{\"transform\": 5}", "transform" },
        { "{\"transform\": [0, 1, 0, 0, 0]}", "5 terms of transform, not 6" },
        { "{\"transform\": [0, 1, 0, \"0\", 0, -1]}", "term 3 of transform is not a number" },
        { "{\"transform\": [0, 1, 0.5, 0, 0, -1]}", "rotated" },
        { "{\"transform\": [0, 1, 0, 0, 0, 1]}", "not north-up" },
        { "{\"transform\": [0, 1, 0, 0, 0, -1], \"crs\": 3006}", "crs" },
    };
    qn_sw_raster r = raster_at(0, 0, 1, 2, 2), back = { 0 };

    (void)state;
    OK(qn_sw_raster_write(in_folder("a.npy"), &r, &err));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("a.place.json", bad[i].text);
        REFUSED(qn_sw_raster_read(in_folder("a.npy"), NULL, &back, &err), QN_ERR_INPUT, bad[i].why);
        assert_null(back.data);
    }
    qn_sw_raster_free(&r);
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(array_lies_where_the_file_beside_it_says),
        T(place_without_a_reference_system_is_a_place),
        T(places_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
