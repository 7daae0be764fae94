/* test_sw_poi.c - points of interest. */
#include "sw_fixture.h"

#include "domain/solweig/input/poi.h"

static const qn_sw_place place = {
    .rows = 10, .cols = 20, .transform = { 100, 2, 0, 50, 0, -2 }, .pixel_size = 2, .is_placed = 1
};

static qn_sw_pois read_pois(const char *path)
{
    qn_sw_pois pois = { 0 };

    OK(qn_sw_pois_read(path, &place, &pois, &err));
    return pois;
}

static void assert_point(const qn_sw_poi *p, const char *name, qn_i64 row, qn_i64 col)
{
    assert_string_equal(p->name, name);
    assert_int_equal(p->row, row);
    assert_int_equal(p->col, col);
}

static void station_of_ga_lies_in_its_pixel(void **state)
{
    const qn_sw_place ga = {
        .rows = 104, .cols = 116, .transform = { 319134, 2, 0, 6400206, 0, -2 }, .pixel_size = 2
    };
    qn_sw_pois pois = { 0 };

    (void)state;
    need_golden("solweig/ga/poi.geojson");
    OK(qn_sw_pois_read(golden_path("solweig/ga/poi.geojson"), &ga, &pois, &err));
    assert_int_equal(pois.n, 1);
    assert_point(&pois.list[0], "Gustav Adolfs torg measurement station", 33, 77);
    qn_sw_pois_free(&pois);
}

#define POINT(x, y) "{\"type\": \"Point\", \"coordinates\": [" x ", " y "]}"
#define FEATURE(x, y, properties)                                                                  \
    "{\"type\": \"Feature\", \"geometry\": " POINT(x, y) ", \"properties\": " properties "}"
#define COLLECTION(list) "{\"type\": \"FeatureCollection\", \"features\": [" list "]}"

static void collections_and_plain_points_are_read(void **state)
{
    qn_sw_pois pois = read_pois(write_text(
        "a.geojson", COLLECTION(FEATURE("100", "50", "{\"name\": \"corner\"}") "," FEATURE(
                         "139.9", "30.1", "null"))));

    (void)state;
    assert_int_equal(pois.n, 2);
    assert_point(&pois.list[0], "corner", 0, 0);
    assert_point(&pois.list[1], "poi_2", 9, 19);
    assert_true(pois.list[1].x == 139.9);
    qn_sw_pois_free(&pois);
    pois = read_pois(write_text("b.json", POINT("101", "46")));
    assert_point(&pois.list[0], "poi_1", 2, 0);
    qn_sw_pois_free(&pois);
}

static void tables_of_map_points_or_pixels_are_read(void **state)
{
    qn_sw_pois pois = read_pois(write_text("a.csv", "name,x,y\n\"a, b\",102.5,49\n,120,31\n"));

    (void)state;
    assert_int_equal(pois.n, 2);
    assert_point(&pois.list[0], "a, b", 0, 1);
    assert_point(&pois.list[1], "poi_2", 9, 10);
    qn_sw_pois_free(&pois);
    pois = read_pois(write_text("b.csv", "row,col\n3,4\n"));
    assert_point(&pois.list[0], "poi_1", 3, 4);
    assert_true(pois.list[0].x == 109 && pois.list[0].y == 43);
    qn_sw_pois_free(&pois);
}

static void bad_points_are_refused(void **state)
{
    static const struct {
        const char *name, *text, *part;
    } bad[] = {
        { "a.csv", "x,y\n99,40\n", ":2: point (99, 40) is outside the raster: x 100 .. 140" },
        { "a.csv", "x,y\n140,40\n", "outside" },
        { "a.csv", "x,y\n120,30\n", "outside" },
        { "a.csv", "x,y\n120,high\n", "high" },
        { "a.csv", "x\n120\n", "no column \"y\"" },
        { "a.csv", "row,col\n10,0\n", "row \"10\"" },
        { "a.csv", "x,y\n", "no points" },
        { "a.csv", "name,x,y\na,120,40\na,122,40\n", ":3: the name \"a\" appears twice" },
        { "a.geojson", "{}", "not Point" },
        { "a.geojson", "{\n", ":" },
        { "a.geojson", "{\"type\": \"FeatureCollection\"}", "no points" },
        { "a.geojson", "{\"type\": \"Feature\", \"geometry\": null}", "\"none\", not Point" },
        { "a.geojson", COLLECTION(FEATURE("120", "40", "{}") "," FEATURE("1", "2", "{}")),
          "feature 2: point (1, 2)" },
        { "a.geojson", "{\"type\": \"Point\", \"coordinates\": [1]}", "not two numbers" },
        { "a.geojson", "{\"type\": \"LineString\", \"coordinates\": [[1, 2]]}", "\"LineString\"" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = write_text(bad[i].name, bad[i].text);
        qn_sw_pois pois = { 0 };

        REFUSED(qn_sw_pois_read(path, &place, &pois, &err), QN_ERR_INPUT, bad[i].part);
        assert_null(pois.list);
    }
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(station_of_ga_lies_in_its_pixel),
        T(collections_and_plain_points_are_read),
        T(tables_of_map_points_or_pixels_are_read),
        T(bad_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
