/* test_sw_rays.c - steps of rays, patches of the sky, filters of walls; and refusals. */
#include "sw_shadow_fixture.h"

#include "domain/solweig/shadow/shadow.h"

static void expect_error(qn_status got, qn_status want, const qn_err *err, const char *part)
{
    assert_int_equal(got, want);
    if (!strstr(err->text, part))
        fail_msg("\"%s\" does not say \"%s\"", err->text, part);
}

/* Patches. */

static void patches_are_the_table_s_to_the_bit(void **state)
{
    (void)state;
    need_golden("solweig/tables/patches.csv");
    FILE *file = fopen(golden_path("solweig/tables/patches.csv"), "r");
    char line[512];

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (int option = 1; option <= 4; option++) {
        qn_sw_patch patches[QN_SW_MAX_PATCHES];

        must_do(qn_sw_patches(option, patches, &err));
        for (int i = 0; i < qn_sw_patch_count(option); i++) {
            const qn_sw_patch *p = &patches[i];
            int at[2];
            float v[9];

            assert_non_null(fgets(line, sizeof line, file));
            assert_int_equal(sscanf(line, "%d,%d,%f,%f,%f,%f,%f,%f,%f,%f,%f", &at[0], &at[1], &v[0],
                                    &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8]),
                             11);
            assert_int_equal(at[0], option);
            assert_int_equal(at[1], i);
            assert_true(p->altitude == v[0] && p->azimuth == v[1]);
            assert_true(p->weight.all == v[4]);
            assert_true(p->weight.north == v[5] && p->weight.east == v[6]);
            assert_true(p->weight.south == v[7] && p->weight.west == v[8]);
        }
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
}

static void an_option_that_does_not_exist_is_refused(void **state)
{
    qn_sw_patch patches[QN_SW_MAX_PATCHES];
    qn_err err = { .text = "" };
    (void)state;

    assert_int_equal(qn_sw_patch_count(0), 0);
    assert_int_equal(qn_sw_patch_count(5), 0);
    assert_int_equal(qn_sw_patch_count(2), 153);
    expect_error(qn_sw_patches(5, patches, &err), QN_ERR_INPUT, &err,
                 "patch option 5 is not 1 to 4");
}

/* Rays. */

static const qn_sw_ray_limits field = { .rows = 1000, .cols = 1000, .px = 1, .max_height = 20 };

static void a_ray_begins_at_its_pixel_and_ends_one_step_above(void **state)
{
    (void)state;
    sw_step *steps = NULL;
    int n;

    must_do(qn_sw_ray_steps(&field, &(qn_sw_beam){ 90, 45, 0 }, &steps, &n, &err));
    assert_true(steps[0].row == 0 && steps[0].col == 0 && steps[0].dz == 0 && steps[0].prev == 0);
    for (int i = 1; i < n; i++) {
        assert_int_equal(steps[i].row, 0);
        assert_int_equal(steps[i].col, i); /* towards the east */
        assert_true(steps[i].prev == steps[i - 1].dz && steps[i].dz > steps[i].prev);
    }
    assert_true(steps[n - 2].dz <= 20 && steps[n - 1].dz > 20);
    free(steps);
}

static void rays_go_where_the_sun_is(void **state)
{
    static const struct {
        float azimuth;
        int row, col;
    } ways[] = { { 10, -1, 1 },  { 80, -1, 1 },  { 100, 1, 1 },   { 170, 1, 1 },
                 { 190, 1, -1 }, { 260, 1, -1 }, { 280, -1, -1 }, { 350, -1, -1 } };
    (void)state;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        sw_step *steps = NULL;
        int n;

        must_do(qn_sw_ray_steps(&field, &(qn_sw_beam){ ways[k].azimuth, 10, 0 }, &steps, &n, &err));
        assert_true(steps[n - 1].row * ways[k].row > 0 && steps[n - 1].col * ways[k].col > 0);
        free(steps);
    }
}

/* The length of rays is based on 3 degrees, so those of lower suns are cut short. */
static void rays_are_no_longer_than_those_of_3_degrees(void **state)
{
    const int most = (int)ceilf(20 / tanf(3 * 3.14159265f / 180)) + 1;
    (void)state;
    assert_int_equal(qn_sw_ray_border(&field), most - 1);
    for (int i = 0; i < 2; i++) {
        sw_step *steps = NULL;
        int n;

        must_do(qn_sw_ray_steps(&field, &(qn_sw_beam){ 0, i ? 0.5f : 1.5f, 0 }, &steps, &n, &err));
        assert_int_equal(n, most);
        free(steps);
    }
}

static void a_distance_or_the_raster_ends_a_ray(void **state)
{
    qn_sw_ray_limits limits = field;
    sw_step *steps = NULL;
    int n;
    (void)state;

    limits.max_dist = 50;
    must_do(qn_sw_ray_steps(&limits, &(qn_sw_beam){ 0, 5, 0 }, &steps, &n, &err));
    assert_int_equal(n, 51);
    free(steps);
    limits.rows = 30;
    must_do(qn_sw_ray_steps(&limits, &(qn_sw_beam){ 0, 5, 0 }, &steps, &n, &err));
    assert_int_equal(n, 31);
    free(steps);
    must_do(qn_sw_ray_steps(&limits, &(qn_sw_beam){ 0, 90, 0 }, &steps, &n, &err));
    assert_int_equal(n, 0);
    assert_null(steps);
}

static void rays_that_have_no_meaning_are_refused(void **state)
{
    const qn_sw_beam bad[] = { { 10, 20, 0 }, { NAN, 20, 0 } };
    qn_sw_ray_limits limits = field;
    qn_ctx *ctx = open_sim(NULL);
    qn_sw_rays *rays = NULL;
    qn_err err = { .text = "" };
    (void)state;

    expect_error(qn_sw_rays_new(ctx, &field, bad, 2, &rays, &err), QN_ERR_INPUT, &err, "ray 1");
    limits.px = 0;
    expect_error(qn_sw_rays_new(ctx, &limits, bad, 1, &rays, &err), QN_ERR_INPUT, &err,
                 "pixel size 0");
    limits = field;
    limits.max_height = NAN;
    expect_error(qn_sw_rays_new(ctx, &limits, bad, 1, &rays, &err), QN_ERR_INPUT, &err,
                 "maximum height nan");
    limits = field;
    limits.cols = 0;
    expect_error(qn_sw_rays_new(ctx, &limits, bad, 1, &rays, &err), QN_ERR_INPUT, &err,
                 "1000 x 0 pixels");
    assert_null(rays);
    qn_ctx_close(ctx);
}

/* Records of rays hold distances of 32 bits; a raster this wide is cut into tiles long before. */
static void a_ray_across_too_many_pixels_is_refused(void **state)
{
    const qn_sw_ray_limits wide = { .rows = 1000, .cols = 1 << 30, .px = 1, .max_height = 20 };
    qn_ctx *ctx = open_sim(NULL);
    qn_sw_rays *rays = NULL;
    qn_err err = { .text = "" };
    (void)state;

    expect_error(qn_sw_rays_new(ctx, &wide, &(qn_sw_beam){ 180, 30, 0 }, 1, &rays, &err),
                 QN_ERR_LIMIT, &err, "rows of 1073741824 pixels");
    assert_null(rays);
    qn_ctx_close(ctx);
}

static void no_suns_are_no_fault(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_sw_rays *rays = NULL;
    (void)state;

    /* No suns at all: three empty arrays, and nothing to run. */
    must_do(qn_sw_rays_new(ctx, &field, NULL, 0, &rays, &err));
    assert_int_equal(rays->n_legs, 0);
    qn_sw_rays_free(rays);
    qn_sw_rays_free(NULL);
    qn_ctx_close(ctx);
}

/* Rasters. */

static void rasters_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        qn_sw_area area;
        qn_status status;
        const char *text;
    } bad[] = {
        { { .rows = 0, .cols = 5 }, QN_ERR_LIMIT, "raster of 0 x 5 pixels" },
        { { .rows = 8, .cols = 9 }, QN_ERR_INPUT, "DSM has 256 bytes, 8 x 9 pixels need 288" },
        { { .rows = 8, .cols = 8, .gmax = INFINITY }, QN_ERR_INPUT, "greatest height inf" },
        { { .rows = 8, .cols = 8, .core_row = 5, .core_rows = 4, .core_cols = 1 },
          QN_ERR_INPUT,
          "core of 4 x 1 pixels at row 5" },
        { { .rows = 8, .cols = 8, .core_rows = 4 }, QN_ERR_INPUT, "core of 4 x 0 pixels" },
    };
    qn_ctx *ctx = open_sim(NULL);
    qn_sw_height_bufs layers = { 0 };
    qn_sw_shadow_raster *shadow = NULL;
    qn_err err = { .text = "" };
    (void)state;

    layers.dsm = array_of(ctx, "dsm", 64);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(qn_sw_shadow_new(ctx, &bad[i].area, &layers, &shadow, &err), bad[i].status,
                     &err, bad[i].text);
    const qn_sw_area good = { .rows = 8, .cols = 8 };

    layers.canopy = layers.dsm;
    expect_error(qn_sw_shadow_new(ctx, &good, &layers, &shadow, &err), QN_ERR_USAGE, &err,
                 "canopy needs a trunk");
    layers.canopy = NULL;
    layers.wall_aspect = layers.dsm;
    expect_error(qn_sw_shadow_new(ctx, &good, &layers, &shadow, &err), QN_ERR_USAGE, &err,
                 "walls need heights");
    assert_null(shadow);
    qn_buf_free(layers.dsm);
    qn_ctx_close(ctx);
}

/* Walls. */

static void walls_of_pixels_that_are_too_small_are_refused(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_sw_wall_filters *walls = NULL;
    qn_err said = { .text = "" };
    (void)state;

    expect_error(qn_sw_walls_new(ctx, 9, 9, 0.1f, 1, &walls, &said), QN_ERR_LIMIT, &said,
                 "pixels of 0.1 m");
    expect_error(qn_sw_walls_new(ctx, 9, 9, 0, 1, &walls, &said), QN_ERR_INPUT, &said, "of 0 m");
    must_do(qn_sw_walls_new(ctx, 9, 9, 0.2f, 1, &walls, &err));
    assert_int_equal(walls->par.side, 45);
    assert_int_equal(qn_sw_wall_reach(walls), 24);
    qn_sw_walls_free(walls);
    must_do(qn_sw_walls_new(ctx, 9, 9, 2, 1, &walls, &err));
    assert_int_equal(walls->par.side, 5);
    qn_sw_walls_free(walls);
    qn_ctx_close(ctx);
}

/* A block of ten metres: walls beside it face away from it, at every pixel size. */
static void walls_face_away_from_their_building(void **state)
{
    static const float sizes[] = { 0.5f, 1, 2 };
    enum { SIDE = 80 };
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        qn_ctx *ctx = open_sim(NULL);
        qn_buf *b[4];
        float *dsm = plane_new(SIDE * SIDE), *height = plane_new(SIDE * SIDE);
        float *aspect = plane_new(SIDE * SIDE);
        qn_sw_wall_filters *walls = NULL;
        qn_graph *graph = NULL;

        for (int i = 0; i < SIDE * SIDE; i++)
            dsm[i] = abs(i / SIDE - 40) <= 12 && abs(i % SIDE - 40) <= 12 ? 10 : 0;
        dsm[5] = NAN;
        for (int i = 0; i < 4; i++)
            b[i] = array_of(ctx, "walls", SIDE * SIDE);
        must(qn_buf_write(b[0], 0, dsm, SIDE * SIDE * sizeof *dsm, &failure));
        must_do(qn_sw_walls_new(ctx, SIDE, SIDE, sizes[k], 1, &walls, &err));
        must(qn_graph_new(ctx, "walls", &graph, &failure));
        must(qn_sw_add_walls(walls, graph, b[0], b[1], b[2], b[3], &failure));
        run_graph(graph);
        must(qn_buf_read(b[1], 0, height, SIDE * SIDE * sizeof *height, &failure));
        must(qn_buf_read(b[2], 0, aspect, SIDE * SIDE * sizeof *aspect, &failure));
        for (int i = 0; i < SIDE * SIDE; i++) {
            const int r = abs(i / SIDE - 40), c = abs(i % SIDE - 40);
            const int is_wall = (r == 13 && c <= 12) || (c == 13 && r <= 12);

            assert_true(height[i] == (is_wall ? 10.0f : 0.0f));
            assert_true(is_wall || aspect[i] == 0);
        }
        /* The first of equally good lines is taken: up to 14 degrees off at 2 m. */
        assert_float_equal(aspect[27 * SIDE + 40], 0, 14);
        assert_float_equal(aspect[40 * SIDE + 53], 90, 0);
        assert_float_equal(aspect[53 * SIDE + 40], 180, 14);
        assert_float_equal(aspect[40 * SIDE + 27], 270, 0);
        for (int i = 0; i < 4; i++)
            qn_buf_free(b[i]);
        free(dsm);
        free(height);
        free(aspect);
        qn_sw_walls_free(walls);
        qn_ctx_close(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_are_the_table_s_to_the_bit),
        cmocka_unit_test(an_option_that_does_not_exist_is_refused),
        cmocka_unit_test(a_ray_begins_at_its_pixel_and_ends_one_step_above),
        cmocka_unit_test(rays_go_where_the_sun_is),
        cmocka_unit_test(rays_are_no_longer_than_those_of_3_degrees),
        cmocka_unit_test(a_distance_or_the_raster_ends_a_ray),
        cmocka_unit_test(rays_that_have_no_meaning_are_refused),
        cmocka_unit_test(a_ray_across_too_many_pixels_is_refused),
        cmocka_unit_test(no_suns_are_no_fault),
        cmocka_unit_test(rasters_that_do_not_fit_are_refused),
        cmocka_unit_test(walls_of_pixels_that_are_too_small_are_refused),
        cmocka_unit_test(walls_face_away_from_their_building),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
