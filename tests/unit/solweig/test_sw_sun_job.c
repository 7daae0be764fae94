/* test_sw_sun_job.c - the shadow of a sun and the walls of whole rasters: tiles, memory, faults. */
#include "domain/solweig/view/view.h"

#include "sw_view_fixture.h"

#include <quern/metrics.h>

static const qn_sw_beam low_sun = { 133, 14, 0.03f };

/* The result of the job for a site. */
typedef struct maps {
    qn_sw_raster shadow, height, aspect;
} maps;

static maps compute(qn_ctx *ctx, const site *s, qn_i64 tile)
{
    const qn_sw_surface surface = surface_of(s);
    const qn_sw_sun_job sun = { .max_dist = 1000, .tile = tile };
    const qn_sw_wall_job walls = { .limit = 1, .tile = tile };
    maps m = { 0 };

    must_do(qn_sw_shadow_compute(ctx, &surface, &low_sun, &sun, &m.shadow, &err));
    must_do(qn_sw_walls_compute(ctx, &surface.dsm, &walls, &m.height, &m.aspect, &err));
    return m;
}

static void maps_free(maps *m)
{
    qn_sw_raster_free(&m->shadow);
    qn_sw_raster_free(&m->height);
    qn_sw_raster_free(&m->aspect);
}

static maps wanted(const site *s)
{
    qn_ctx *ctx = open_place(&cpu_place);
    maps m = compute(ctx, s, 0);

    qn_ctx_close(ctx);
    return m;
}

/* Computes again, and expects the same bits. */
static void expect_same(qn_ctx *ctx, const site *s, qn_i64 tile, const maps *want, const char *what)
{
    maps got = compute(ctx, s, tile);
    const size_t n = site_cells(s);

    if (n_unequal(got.shadow.data, want->shadow.data, n))
        fail_msg("%s: another shadow", what);
    if (n_unequal(got.height.data, want->height.data, n))
        fail_msg("%s: other heights of walls", what);
    if (n_unequal(got.aspect.data, want->aspect.data, n))
        fail_msg("%s: other aspects of walls", what);
    maps_free(&got);
}

static void one_sun_and_walls_are_those_of_the_stages(void **state)
{
    const qn_sw_beam sun = { 133, 21, 0.03f };
    const qn_sw_sun_job far = { .max_dist = 1000 };
    const qn_sw_wall_job walls = { .limit = 1 };
    (void)state;
    site s = random_site(70, 66, 2, 16);
    const qn_sw_surface surface = surface_of(&s);
    city c = city_open(&cpu_place, &s, (qn_sw_area){ 0 });
    float *want = city_shadow(&c, sun, 1000);
    qn_ctx *ctx = open_place(&sim_place);
    qn_sw_raster got = { 0 }, height = { 0 }, aspect = { 0 };

    must_do(qn_sw_shadow_compute(ctx, &surface, &sun, &far, &got, &err));
    assert_int_equal(n_unequal(got.data, want, site_cells(&s)), 0);
    must_do(qn_sw_walls_compute(ctx, &surface.dsm, &walls, &height, &aspect, &err));
    for (int i = 0; i < s.rows * s.cols; i++) {
        const int r = i / s.cols, col = i % s.cols;
        float most = -INFINITY;

        if (r > 0 && col > 0 && r < s.rows - 1 && col < s.cols - 1)
            most = fmaxf(fmaxf(s.dsm[i - 1], s.dsm[i + 1]),
                         fmaxf(s.dsm[i - s.cols], s.dsm[i + s.cols])) -
                   s.dsm[i];
        if (isnan(most))
            continue;
        assert_true(height.data[i] == (most >= 1 ? most : 0));
        assert_true(aspect.data[i] >= 0 && aspect.data[i] <= 360);
    }
    qn_sw_raster_free(&got);
    qn_sw_raster_free(&height);
    qn_sw_raster_free(&aspect);
    qn_ctx_close(ctx);
    free(want);
    city_close(&c);
    site_free(&s);
}

/* Shadows of the sun are as long as four times the relief. */
static void tiles_of_any_size_give_the_bits_of_the_whole(void **state)
{
    static const float reliefs[] = { 20, 66 };
    static const qn_i64 tiles[] = { 9, 37, 64, 100 };

    (void)state;
    for (int k = 0; k < 2; k++) {
        site s = relief_site(k ? 90 : 130, k ? 83 : 145, 2, reliefs[k], 5 + (uint64_t)k);
        maps want = wanted(&s);
        qn_ctx *ctx = open_place(&cpu_place);

        for (int t = k; t < 4; t++)
            expect_same(ctx, &s, tiles[t], &want, "tiles");
        qn_ctx_close(ctx);
        maps_free(&want);
        site_free(&s);
    }
}

static void small_devices_do_tiles_and_fall_back_on_nothing(void **state)
{
    static const struct {
        const char *budget, *limit;
    } small[] = { { "2M", NULL }, { NULL, "sim.max_alloc=128K" } };

    (void)state;
    site s = relief_site(260, 240, 6, 20, 9);
    maps want = wanted(&s);

    for (int i = 0; i < 2; i++) {
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .mem_budget = small[i].budget,
                                           .fault = small[i].limit, .fallback = QN_FALLBACK_ERROR));

        expect_same(ctx, &s, 0, &want, i ? small[i].limit : small[i].budget);
        qn_ctx_close(ctx);
    }
    maps_free(&want);
    site_free(&s);
}

static void a_result_that_cannot_be_copied_is_made_again_on_the_cpu(void **state)
{
    static const struct {
        const char *rule, *line;
    } faults[] = {
        { "copy_d2h*1", "[GPU] shadow failed: " },    { "copy_d2h@2*1", "[GPU] shadow failed: " },
        { "copy_d2h@5*1", "[GPU] walls failed: " },   { "copy_d2h@6*1", "[GPU] walls failed: " },
        { "launch:shadow*1", "[GPU] shadow failed" }, { "launch:walls*1", "[GPU] walls failed: " },
    };

    (void)state;
    site s = relief_site(60, 75, 6, 20, 14);
    maps want = wanted(&s);

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = faults[i].rule));
        char text[8192];

        capture_begin();
        expect_same(ctx, &s, 40, &want, faults[i].rule);
        capture_end(text, sizeof text);
        if (!strstr(text, faults[i].line) || !strstr(text, ". CPU fallback."))
            fail_msg("%s: \"%s\" lacks \"%s\"", faults[i].rule, text, faults[i].line);
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 1);
        qn_ctx_close(ctx);
    }
    maps_free(&want);
    site_free(&s);
}

static void lack_of_memory_changes_nothing_and_is_reported(void **state)
{
    (void)state;
    site s = relief_site(60, 75, 6, 20, 14);
    maps want = wanted(&s);
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = "alloc"));
    char text[8192];

    capture_begin();
    expect_same(ctx, &s, 0, &want, "alloc");
    capture_end(text, sizeof text);
    assert_non_null(strstr(text, "[GPU] shadow failed: buffer"));
    assert_non_null(strstr(text, "out of memory (injected"));
    qn_ctx_close(ctx);
    maps_free(&want);
    site_free(&s);
}

static void forbidden_fallbacks_leave_nothing(void **state)
{
    (void)state;
    site s = relief_site(30, 30, 6, 20, 15);
    const qn_sw_surface surface = surface_of(&s);
    const qn_sw_sun_job sun = { .max_dist = 1000 };
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "sim", .fault = "copy_d2h", .fallback = QN_FALLBACK_ERROR));
    qn_sw_raster got = { 0 };
    qn_err err = { .text = "" };

    assert_int_equal(qn_sw_shadow_compute(ctx, &surface, &low_sun, &sun, &got, &err),
                     QN_ERR_FALLBACK);
    assert_non_null(strstr(err.text, "stage shadow failed"));
    assert_null(got.data);
    qn_ctx_close(ctx);
    site_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sun_and_walls_are_those_of_the_stages),
        cmocka_unit_test(tiles_of_any_size_give_the_bits_of_the_whole),
        cmocka_unit_test(small_devices_do_tiles_and_fall_back_on_nothing),
        cmocka_unit_test(a_result_that_cannot_be_copied_is_made_again_on_the_cpu),
        cmocka_unit_test(lack_of_memory_changes_nothing_and_is_reported),
        cmocka_unit_test(forbidden_fallbacks_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
