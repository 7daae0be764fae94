/* test_sw_materials.c - land cover, materials, parameter files, the building mask. */
#include "sw_fixture.h"

#include "domain/solweig/surface/surface.h"
#include "domain/solweig/input/params.h"

static qn_sw_params defaults(void)
{
    qn_sw_params params;

    qn_sw_params_default(&params);
    return params;
}

static void assert_material(const qn_sw_material *m, json_t *entry)
{
    const float is[] = { m->albedo, m->emissivity, m->tgk, m->tstart, m->tmaxlst };
    static const char *const keys[] = { "albedo", "emissivity", "tgk", "tstart", "tmaxlst" };

    for (int i = 0; i < 5; i++) {
        const json_t *want = json_object_get(entry, keys[i]);

        if (want)
            assert_true(is[i] == (float)json_number_value(want));
    }
}

static void defaults_are_those_of_the_table(void **state)
{
    const char *name = "solweig/tables/default_parameters.json";
    static const char *const walls[] = { "generic", "brick", "concrete", "wood" };
    qn_sw_params p = defaults();

    (void)state;
    need_golden(name);
    json_t *root = golden_json(name);
    for (int id = 0; id < QN_SW_COVERS; id++) {
        char path[32];

        snprintf(path, sizeof path, "%s%d", id == 3 || id == 4 ? "" : "land_cover/", id);
        assert_material(&p.cover[id], id == 3 || id == 4 ? golden_member(root, "unlisted_id")
                                                         : golden_member(root, path));
    }
    assert_material(&p.plain, golden_member(root, "unlisted_id"));
    for (int i = 0; i < 4; i++) {
        char path[32];

        snprintf(path, sizeof path, "walls/%s", walls[i]);
        OK(qn_sw_params_set_wall(&p, walls[i], &err));
        assert_material(&p.wall, golden_member(root, path));
        assert_true(p.wall.albedo == 0.2f && p.wall.emissivity == 0.9f);
    }
    json_decref(root);
    REFUSED(qn_sw_params_set_wall(&p, "glass", &err), QN_ERR_USAGE, "glass");
}

static void land_cover_comes_from_whole_numbers(void **state)
{
    qn_sw_raster r = raster_of(1, 4, (const float[]){ 0, NAN, 255, 102 });
    uint8_t *cover = NULL;

    (void)state;
    OK(qn_sw_land_cover("lc", &r, &cover, &err));
    assert_memory_equal(cover, ((const uint8_t[]){ 0, 255, 255, 102 }), 4);
    free(cover);
    r.data[3] = 2.5f;
    REFUSED(qn_sw_land_cover("lc", &r, &cover, &err), QN_ERR_INPUT,
            "lc: land cover 2.5 at row 0, col 3");
    r.data[3] = -1;
    REFUSED(qn_sw_land_cover("lc", &r, &cover, &err), QN_ERR_INPUT, "-1");
    r.data[3] = 256;
    REFUSED(qn_sw_land_cover("lc", &r, &cover, &err), QN_ERR_INPUT, "256");
    qn_sw_raster_free(&r);
}

static void ids_without_a_name_have_rules(void **state)
{
    const qn_sw_params p = defaults();
    qn_sw_surface s = { .dsm = raster_at(0, 1, 1, 1, 6), .albedo = raster_at(0, 1, 1, 1, 6) };
    qn_sw_material_grids g;

    (void)state;
    s.land_cover = malloc(6);
    memcpy(s.land_cover, ((const uint8_t[]){ 3, 8, 99, 100, 200, 5 }), 6);
    OK(qn_sw_material_grids_new(&s, &p, &g, &err));
    /* Unnamed, water, water, roof, roof, grass; the albedo grid is ignored. */
    assert_floats(g.albedo, (const float[]){ 0.15f, 0.05f, 0.05f, 0.18f, 0.18f, 0.16f }, 6);
    assert_floats(g.tmaxlst, (const float[]){ 15, 12, 12, 15, 15, 14 }, 6);
    assert_floats(g.tstart, (const float[]){ -3.41f, 0, 0, -9.78f, -9.78f, -3.38f }, 6);
    qn_sw_material_grids_free(&g);
    qn_sw_surface_free(&s);
}

static void without_land_cover_given_grids_count(void **state)
{
    const qn_sw_params p = defaults();
    qn_sw_surface s = { .dsm = raster_at(0, 1, 1, 1, 2),
                        .emissivity = raster_of(1, 2, (const float[]){ 0.5f, 0.6f }) };
    qn_sw_material_grids g;

    (void)state;
    OK(qn_sw_material_grids_new(&s, &p, &g, &err));
    assert_floats(g.emissivity, (const float[]){ 0.5f, 0.6f }, 2);
    assert_floats(g.albedo, (const float[]){ 0.15f, 0.15f }, 2);
    qn_sw_material_grids_free(&g);
    qn_sw_surface_free(&s);
}

/* Strictly between the days; across the new year if they are swapped. */
static void leaves_are_on_strictly_between_two_days(void **state)
{
    qn_sw_trees t = defaults().trees;

    (void)state;
    assert_true(qn_sw_psi(&t, 97) == 0.5 && qn_sw_psi(&t, 98) == 0.03);
    assert_true(qn_sw_psi(&t, 299) == 0.03 && qn_sw_psi(&t, 300) == 0.5);
    t.first_leaf_day = 300;
    t.last_leaf_day = 97;
    assert_true(qn_sw_psi(&t, 301) == 0.03 && qn_sw_psi(&t, 96) == 0.03);
    assert_true(qn_sw_psi(&t, 97) == 0.5 && qn_sw_psi(&t, 300) == 0.5);
}

/* Parameter files. */

static void parameter_file_goes_over_the_defaults(void **state)
{
    const char *path = write_text(
        "p.json",
        "{\"Names\": {\"Value\": {\"0\": \"Stone\", \"5\": \"Lawn\", \"99\": \"Walls\"}},"
        " \"Albedo\": {\"Effective\": {\"Value\": {\"Stone\": 0.3, \"Walls\": 0.9}},"
        "              \"Material\": {\"Value\": {\"Stone\": 0.7}}},"
        " \"Emissivity\": {\"Value\": {\"Lawn\": 0.91}, \"Comment\": \"free text\"},"
        " \"Ts_deg\": {\"Value\": {\"Stone\": 0.4, \"Walls\": 0.45}},"
        " \"Tstart\": {\"Value\": {\"Walls\": -2}},"
        " \"TmaxLST\": {\"Value\": {\"Walls\": 13}},"
        " \"Tmrt_params\": {\"Value\": {\"absK\": 0.6, \"posture\": \"Sitting\"}},"
        " \"PET_settings\": {\"Value\": {\"Age\": 40, \"Height\": 180, \"Sex\": \"Female\"}},"
        " \"Tree_settings\": {\"Value\": {\"Transmissivity\": 0.1}},"
        " \"Wind_Height\": {\"Value\": {\"magl\": 4}},"
        " \"Posture\": {\"Sitting\": {\"Value\": {\"Fup\": 0.2}}}}");
    qn_sw_params p = defaults();

    (void)state;
    OK(qn_sw_params_read(path, &p, &err));
    assert_true(p.cover[0].albedo == 0.3f && p.cover[0].tgk == 0.4f && p.cover[0].tstart == -3.41f);
    assert_true(p.cover[5].emissivity == 0.91f && p.cover[5].albedo == 0.16f);
    assert_true(p.wall.albedo == 0.2f && p.wall.tgk == 0.45f && p.wall.tstart == -2);
    assert_true(p.wall.tmaxlst == 13 && p.wind_height_m == 4);
    assert_true(p.person.abs_k == 0.6 && p.person.abs_l == 0.97 && p.person.pose == QN_SW_SITTING);
    assert_true(p.person.age == 40 && p.person.height_m == 1.8 && p.person.is_female);
    assert_true(p.trees.leaf_on == 0.1 && p.trees.leaf_off == 0.5);
    assert_int_equal(p.trees.first_leaf_day, 100);
    assert_true(p.posture[QN_SW_SITTING].f_up == 0.2);
    assert_true(p.posture[QN_SW_SITTING].f_side == 0.166666); /* six digits, not 1/6 */
}

static void file_without_trees_has_leaves_from_100_to_300(void **state)
{
    qn_sw_params p = defaults();

    (void)state;
    assert_int_equal(p.trees.first_leaf_day, 97);
    OK(qn_sw_params_read(write_text("p.json", "{}"), &p, &err));
    assert_int_equal(p.trees.first_leaf_day, 100);
    assert_int_equal(p.trees.last_leaf_day, 300);
}

static void bad_parameters_are_refused_and_change_nothing(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        { "[]", "object" },
        { "{\n\"Names\": }", ":2:" },
        { "{\"Names\": 3}", "Names has no object Value" },
        { "{\"Albedo\": {\"Effective\": {}}}", "Albedo.Effective has no object Value" },
        { "{\"Names\": {\"Value\": {\"x\": \"Stone\"}}}", "Names.x" },
        { "{\"Names\": {\"Value\": {\"0\": 7}}}", "Names.0" },
        { "{\"Names\": {\"Value\": {\"0\": \"A\"}}, \"Emissivity\": {\"Value\": {\"A\": 1.5}}}",
          "Emissivity.A = 1.5 is outside 0 .. 1" },
        { "{\"Tree_settings\": {\"Value\": {\"First_day_leaf\": 0}}}", "First_day_leaf = 0" },
        { "{\"Tree_settings\": {\"Value\": {\"Transmissivity\": \"low\"}}}", "not a number" },
        { "{\"Tmrt_params\": {\"Value\": {\"posture\": \"Lying\"}}}", "neither Standing nor" },
        { "{\"PET_settings\": {\"Value\": {\"Sex\": 3}}}", "neither Male nor Female" },
        { "{\"Posture\": {\"Standing\": {\"Value\": {\"Fcyl\": -1}}}}", "Fcyl = -1" },
    };
    qn_sw_params p = defaults();
    const qn_sw_params before = p;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSED(qn_sw_params_read(write_text("p.json", bad[i].text), &p, &err), QN_ERR_INPUT,
                bad[i].part);
    REFUSED(qn_sw_params_read(in_folder("none.json"), &p, &err), QN_ERR_IO, "none.json");
    assert_memory_equal(&p, &before, sizeof p);
}

/* Buildings. */

static void buildings_follow_land_cover_where_there_is_one(void **state)
{
    qn_sw_surface s = { .dsm = raster_of(1, 4, (const float[]){ 0, 90, 0, 0 }),
                        .wall_height = raster_of(1, 4, (const float[]){ 9, 9, 9, 9 }) };
    uint8_t *mask;

    (void)state;
    s.land_cover = malloc(4);
    memcpy(s.land_cover, ((const uint8_t[]){ 2, 5, 101, 0 }), 4);
    OK(qn_sw_building_mask(&s, &mask, &err));
    assert_memory_equal(mask, ((const uint8_t[]){ 0, 1, 0, 1 }), 4);
    free(mask);
    qn_sw_surface_free(&s);
}

static void without_walls_all_is_ground(void **state)
{
    qn_sw_surface s = { .dsm = raster_of(1, 3, (const float[]){ 0, 90, 0 }) };
    uint8_t *mask;

    (void)state;
    OK(qn_sw_building_mask(&s, &mask, &err));
    assert_memory_equal(mask, ((const uint8_t[]){ 1, 1, 1 }), 3);
    free(mask);
    qn_sw_surface_free(&s);
}

static int by_value(const void *a, const void *b)
{
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

static void low_ground_is_the_tenth_percentile(void **state)
{
    (void)state;
    for (int n = 1; n < 200; n++) {
        qn_sw_surface s = { .dsm = raster_at(0, 1, 1, 1, n + 2) };
        float *sorted = malloc((size_t)n * sizeof *sorted);
        double is, at = 0.1 * (n - 1);

        for (int i = 0; i < n; i++)
            sorted[i] = s.dsm.data[i] = (float)(qn_random_u64((uint64_t)n, (uint64_t)i) % 40);
        s.dsm.data[n] = NAN;
        s.dsm.data[n + 1] = -100;
        s.wall_height = raster_at(0, 1, 1, 1, n + 2);
        s.wall_height.data[n + 1] = 3; /* walls are ignored */
        qsort(sorted, (size_t)n, sizeof *sorted, by_value);
        OK(qn_sw_low_ground(&s, &is, &err));
        const float low = sorted[(int)at], next = sorted[(int)at + 1 < n ? (int)at + 1 : n - 1];
        assert_true(fabs(is - (low + (next - low) * (at - (int)at))) < 1e-9);
        free(sorted);
        qn_sw_surface_free(&s);
    }
}

static void buildings_are_near_walls_or_above_low_ground(void **state)
{
    enum { SIDE = 41 };
    qn_sw_surface s = { .dsm = raster_at(0, SIDE * 5, 5, SIDE, SIDE),
                        .wall_height = raster_at(0, SIDE * 5, 5, SIDE, SIDE) };
    uint8_t *mask;

    (void)state;
    s.wall_height.data[20 * SIDE + 20] = 3;
    s.dsm.data[0] = 2.5f;
    s.dsm.data[1] = 2;
    s.dsm.data[2] = NAN;
    OK(qn_sw_building_mask(&s, &mask, &err));
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int is_near = abs(i / SIDE - 20) <= 6 && abs(i % SIDE - 20) <= 6; /* int(25/5) + 1 */

        assert_int_equal(mask[i], !(is_near || i == 0));
    }
    free(mask);
    qn_sw_surface_free(&s);
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(land_cover_comes_from_whole_numbers),
        cmocka_unit_test(ids_without_a_name_have_rules),
        cmocka_unit_test(without_land_cover_given_grids_count),
        cmocka_unit_test(leaves_are_on_strictly_between_two_days),
        T(parameter_file_goes_over_the_defaults),
        T(file_without_trees_has_leaves_from_100_to_300),
        T(bad_parameters_are_refused_and_change_nothing),
        cmocka_unit_test(buildings_follow_land_cover_where_there_is_one),
        cmocka_unit_test(without_walls_all_is_ground),
        cmocka_unit_test(low_ground_is_the_tenth_percentile),
        cmocka_unit_test(buildings_are_near_walls_or_above_low_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
