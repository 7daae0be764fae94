/* test_sw_svf_job.c - view factors of whole rasters: tiles, memory, copies, faults. */
/* test: long */
#include "domain/solweig/view/view.h"

#include "sw_view_fixture.h"

/* Ground with low steps, so that rays are short. */
static site flat_site(int rows, int cols)
{
    site s = { .rows = rows, .cols = cols, .px = 1, .max_height = 0.2f };

    s.dsm = plane_new(site_cells(&s));
    for (size_t i = 0; i < site_cells(&s); i += 5)
        s.dsm[i] = 0.2f;
    return s;
}

/* The whole raster from the stages themselves, on the CPU. */
static views wanted(const site *s, int option)
{
    city c = city_open(&cpu_place, s, (qn_sw_area){ .lanes = QN_SW_LANES_ROWS });
    views v = city_svf(&c, option);

    city_close(&c);
    return v;
}

static void expect_arrays(const qn_sw_svf_arrays *got, const views *want, const char *where)
{
    const size_t bytes = want->cells * (size_t)want->n_bytes;
    const uint8_t *const bits[] = { want->bldg, want->veg, want->vb };

    assert_int_equal(got->n_bytes, want->n_bytes);
    for (size_t i = 0; i < QN_SW_SVF_MAPS; i++)
        if (n_unequal(got->map[i], want->svf + i * want->cells, want->cells))
            fail_msg("%s: map %zu differs", where, i);
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        if (memcmp(got->matrix[i], bits[i], bytes) != 0)
            fail_msg("%s: bits %d differ", where, i);
}

static qn_sw_svf_figures compute(qn_ctx *ctx, const site *s, qn_i64 tile, const views *want,
                                 const char *where)
{
    const qn_sw_surface surface = surface_of(s);
    const qn_sw_svf_job options = { .tile = tile };
    qn_sw_svf_arrays arrays = { 0 };
    qn_sw_svf_figures report = { 0 };

    must_do(qn_sw_svf_compute(ctx, &surface, &options, &arrays, &report, &err));
    expect_arrays(&arrays, want, where);
    qn_sw_svf_arrays_free(&arrays);
    return report;
}

/* Tiles. */

/* Below and above 52 m, where the reference's tiles are too narrow. */
static void tiles_of_any_size_give_the_bits_of_the_whole(void **state)
{
    static const float reliefs[] = { 20, 66 };
    static const qn_i64 tiles[] = { 37, 64, 100 };
    (void)state;
    for (int k = 0; k < 2; k++) {
        site s = relief_site(130, 145, reliefs[k] / 6, reliefs[k], 5 + (uint64_t)k);
        views want = wanted(&s, 2);
        qn_ctx *ctx = open_place(&cpu_place);

        for (int t = 0; t < 3; t++) {
            qn_sw_svf_figures r = compute(ctx, &s, tiles[t], &want, "tiles");

            assert_int_equal(r.n_tiles,
                             ((130 + tiles[t] - 1) / tiles[t]) * ((145 + tiles[t] - 1) / tiles[t]));
            assert_true(r.overlap > 40 && r.overlap < 65); /* tiles are less than the raster */
            assert_true(r.stitch_ms > 0);
        }
        assert_int_equal(compute(ctx, &s, 0, &want, "whole").n_tiles, 1);
        qn_ctx_close(ctx);
        views_free(&want);
        site_free(&s);
    }
}

/* A wall is visible from exactly as far south as patch 0, low in the north, allows. With narrower
 * borders around the cores, some pixel would miss it. */
static void the_overlap_is_as_wide_as_the_longest_ray(void **state)
{
    enum { ROWS = 200, COLS = 24, WALL = 30 };
    (void)state;
    site s = flat_site(ROWS, COLS);
    qn_ctx *ctx = open_place(&cpu_place);
    qn_sw_svf_figures report;
    int farthest = 0;
    views want;

    s.max_height = 12;
    for (int i = 0; i < ROWS * COLS; i++)
        s.dsm[i] = i / COLS == WALL ? 12 : 0;
    want = wanted(&s, 2);
    while ((want.bldg[(size_t)((WALL + farthest + 1) * COLS + 12) * 20] & 1) == 0)
        farthest++;
    assert_true(farthest > 100 && farthest < ROWS - WALL - 5);
    report = compute(ctx, &s, 20, &want, "wall");
    assert_in_range(report.overlap, farthest, farthest + 2);
    qn_ctx_close(ctx);
    views_free(&want);
    site_free(&s);
}

/* Devices. */

static void memory_decides_about_tiles(void **state)
{
    static const struct {
        const char *budget, *fault;
    } small[] = { { "8M", NULL }, { NULL, "sim.max_alloc=1M" } };
    (void)state;
    site s = relief_site(150, 165, 6, 20, 9);
    views want = wanted(&s, 2);

    for (int i = 0; i < 2; i++) {
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .mem_budget = small[i].budget,
                                           .fault = small[i].fault, .fallback = QN_FALLBACK_ERROR));

        assert_true(compute(ctx, &s, 0, &want, "small memory").n_tiles > 1);
        qn_ctx_close(ctx);
    }
    views_free(&want);
    site_free(&s);
}

static void devices_agree_and_only_results_come_back(void **state)
{
    static const qn_i64 tiles[] = { 0, 48 };
    (void)state;
    site s = relief_site(60, 80, 6, 20, 12);
    views want = wanted(&s, 2);

    for (int d = 0; d < N_PLACES; d++) {
        if (!is_here(&device_places[d]))
            continue;
        for (int t = 0; t < 2; t++) {
            qn_ctx *ctx = open_place(&device_places[d]);
            const qn_sw_svf_figures r = compute(ctx, &s, tiles[t], &want, device_places[d].name);
            const double outputs = (double)want.cells * (15 * 4 + 3 * 20);

            if (!strcmp(device_places[d].backend, "sim"))
                assert_true(r.d2h_bytes >= outputs);
            assert_true(r.d2h_bytes <= outputs + 1024);
            qn_ctx_close(ctx);
        }
    }
    views_free(&want);
    site_free(&s);
}

/* Groups are one row high and 16 columns wide. */
static void more_groups_than_a_grid_has(void **state)
{
    static const struct {
        int rows, cols;
        const char *limit;
    } cases[] = { { 65600, 1, "sim.max_grid=65535x65535x65535" },
                  { 1, 66040, "sim.max_grid=4095x65535x65535" } };
    (void)state;
    for (int i = 0; i < 2; i++) {
        site s = flat_site(cases[i].rows, cases[i].cols);
        const size_t n = site_cells(&s);
        views want = wanted(&s, 2);
        qn_ctx *ctx = open_place(&(place){ "sim", "sim", cases[i].limit });

        compute(ctx, &s, 0, &want, "long raster");
        assert_true(want.svf[n - 4] < want.svf[n - 5]); /* beside a step, and on it */
        qn_ctx_close(ctx);
        views_free(&want);
        site_free(&s);
    }
}

/* Large rasters have their results in a file; if there can be none, that is one clear error. */
static void results_of_large_rasters_lie_in_a_file(void **state)
{
    (void)state;
    site s = relief_site(60, 75, 6, 20, 21);
    const qn_sw_surface surface = surface_of(&s);
    views want = wanted(&s, 2);
    qn_ctx *ctx = open_place(&cpu_place);
    qn_sw_svf_arrays arrays = { 0 };
    qn_err err = { .text = "" };

    setenv("QUERN_SOLWEIG_MEMMAP_PIXELS", "4500", 1);
    assert_int_equal(compute(ctx, &s, 0, &want, "as large as the limit").is_mapped, 0);
    setenv("QUERN_SOLWEIG_MEMMAP_PIXELS", "4499", 1);
    assert_int_equal(compute(ctx, &s, 0, &want, "larger").is_mapped, 1);
    assert_int_equal(compute(ctx, &s, 40, &want, "larger, in tiles").is_mapped, 1);
    setenv("QUERN_SPILL_DIR", "/nowhere", 1);
    assert_int_equal(qn_sw_svf_compute(ctx, &surface, &(qn_sw_svf_job){ 0 }, &arrays, NULL, &err),
                     QN_ERR_IO);
    assert_non_null(strstr(err.text, "/nowhere/quern-svf-"));
    assert_null(arrays.map[0]);
    unsetenv("QUERN_SPILL_DIR");
    unsetenv("QUERN_SOLWEIG_MEMMAP_PIXELS");
    qn_ctx_close(ctx);
    views_free(&want);
    site_free(&s);
}

/* Faults. */

static void a_stage_that_fails_once_is_counted_once(void **state)
{
    static const struct {
        const char *rule, *line;
        double n_svf;
    } faults[] = {
        { "launch:shadow*1", "[GPU] shadow failed: ", 0 },
        { "launch:svf.shadow*1", "[GPU] svf.shadow failed: ", 1 },
        { "launch:svf.finish*1", "[GPU] svf.finish failed: ", 1 },
        { "launch:svf.shadow@4*1", "[GPU] svf.shadow failed: ", 1 },
        { "compile:svf.shadow*1", "[GPU] svf.shadow failed: ", 1 },
        { "compile:svf.finish*1", "[GPU] svf.finish failed: ", 1 },
        { "timeout:svf.shadow*1", "[GPU] svf.shadow failed: timeout", 1 },
        { "copy_d2h*1", "[GPU] svf.finish failed: ", 1 },
        { "copy_d2h@17*1", "[GPU] svf.finish failed: ", 1 },
        { "copy_h2d*1", "[GPU] shadow failed: upload of sw dsm", 0 },
    };
    (void)state;
    site s = relief_site(60, 75, 6, 20, 14);
    views want = wanted(&s, 2);

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = faults[i].rule));
        char text[8192];

        capture_begin();
        compute(ctx, &s, i % 2 ? 40 : 0, &want, faults[i].rule);
        capture_end(text, sizeof text);
        if (!strstr(text, faults[i].line) || !strstr(text, ". CPU fallback."))
            fail_msg("%s: \"%s\" lacks \"%s\"", faults[i].rule, text, faults[i].line);
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "svf_gpu_fallback_count", NULL) ==
                    faults[i].n_svf);
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 1);
        qn_ctx_close(ctx);
    }
    views_free(&want);
    site_free(&s);
}

/* Memory that is short once is found elsewhere; if a device is gone, the CPU does the rest. */
static void lack_of_memory_and_lost_devices_change_nothing(void **state)
{
    static const char *const rules[] = { "alloc*1", "alloc:svf.shadow*1",
                                         "device_lost:svf.shadow@2", "device_lost:svf.finish" };
    (void)state;
    site s = relief_site(60, 75, 6, 20, 14);
    views want = wanted(&s, 2);

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = rules[i]));
        char text[16384];

        capture_begin();
        compute(ctx, &s, 40, &want, rules[i]);
        capture_end(text, sizeof text);
        assert_true(i < 2 || strstr(text, "[GPU] svf."));
        qn_ctx_close(ctx);
    }
    views_free(&want);
    site_free(&s);
}

static void without_faults_nothing_is_counted(void **state)
{
    (void)state;
    site s = relief_site(60, 75, 6, 20, 14);
    views want = wanted(&s, 2);
    qn_ctx *ctx = open_place(&sim_place);
    const qn_metrics *m = qn_ctx_metrics(ctx);

    compute(ctx, &s, 40, &want, "sim");
    assert_true(qn_metric_value(m, "svf_gpu_fallback_count", NULL) == 0);
    assert_true(qn_metric_value(m, "svf_tile_wall_time_s", NULL) == 4);
    assert_true(qn_metric_value(m, "svf_stitch_copy_time_ms", NULL) == 4);
    assert_true(qn_metric_value(m, "svf_patch_progress_rate", NULL) > 0);
    assert_true(qn_metric_value(m, "max_queue", NULL) == 2);
    qn_ctx_close(ctx);
    views_free(&want);
    site_free(&s);
}

static void forbidden_fallbacks_and_bad_options_leave_nothing(void **state)
{
    (void)state;
    site s = relief_site(30, 30, 6, 20, 15);
    const qn_sw_surface surface = surface_of(&s);
    qn_sw_svf_arrays arrays = { 0 };
    qn_err err = { .text = "" };
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim", .fault = "launch:svf.finish", .fallback = QN_FALLBACK_ERROR));

    assert_int_not_equal(
        qn_sw_svf_compute(ctx, &surface, &(qn_sw_svf_job){ 0 }, &arrays, NULL, &err), QN_OK);
    assert_non_null(strstr(err.text, "svf.finish"));
    assert_null(arrays.map[0]);
    assert_int_equal(qn_sw_svf_compute(ctx, &surface, &(qn_sw_svf_job){ .patch_option = 7 },
                                       &arrays, NULL, &err),
                     QN_ERR_INPUT);
    assert_null(arrays.map[0]);
    qn_ctx_close(ctx);
    site_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_any_size_give_the_bits_of_the_whole),
        cmocka_unit_test(the_overlap_is_as_wide_as_the_longest_ray),
        cmocka_unit_test(memory_decides_about_tiles),
        cmocka_unit_test(devices_agree_and_only_results_come_back),
        cmocka_unit_test(more_groups_than_a_grid_has),
        cmocka_unit_test(results_of_large_rasters_lie_in_a_file),
        cmocka_unit_test(a_stage_that_fails_once_is_counted_once),
        cmocka_unit_test(lack_of_memory_and_lost_devices_change_nothing),
        cmocka_unit_test(without_faults_nothing_is_counted),
        cmocka_unit_test(forbidden_fallbacks_and_bad_options_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
