/* test_sw_bench.c - the generated city, mirror images, and the timed step. */
/* test: long, cost 7, no-tsan */
#include "lab/solweig/bench/bench.h"
#include "lab/made/town.h"
#include "lab/solweig/bench/step.h"

#include "sw_shadow_fixture.h"

static qn_sw_surface made(qn_i64 side, double relief, int has_trees)
{
    qn_sw_surface s = { 0 };

    must_do(qn_town_make(&(qn_made_town){ side, relief, has_trees }, &s, &err));
    return s;
}

static qn_sw_surface prepared(qn_i64 side, double relief, int has_trees)
{
    const qn_sw_height_options heights = { 0 };
    qn_sw_surface s = made(side, relief, has_trees);

    must_do(qn_sw_prepare_heights(&s, &heights, NULL, &err));
    return s;
}

static void a_city_has_the_relief_it_was_asked_for(void **state)
{
    static const double reliefs[] = { 12, 40, 66.5 };
    (void)state;
    for (int i = 0; i < 3; i++) {
        qn_sw_surface s = made(150, reliefs[i], 1), again = made(150, reliefs[i], 1);
        size_t n_trees = 0;

        assert_float_equal(qn_sw_relief_of(&s).max_building, reliefs[i], 1e-4);
        assert_memory_equal(s.dsm.data, again.dsm.data, 150 * 150 * sizeof(float));
        assert_memory_equal(s.cdsm.data, again.cdsm.data, 150 * 150 * sizeof(float));
        for (int p = 0; p < 150 * 150; p++) {
            assert_true(s.cdsm.data[p] == 0 || s.dsm.data[p] == 10); /* no tree on a roof */
            assert_true(s.cdsm.data[p] >= 0 && s.cdsm.data[p] <= 16);
            n_trees += s.cdsm.data[p] > 0;
        }
        assert_in_range(n_trees, 1000, 6000);
        qn_sw_surface_free(&s);
        qn_sw_surface_free(&again);
    }
    qn_sw_surface bare = made(70, 20, 0);

    assert_null(bare.cdsm.data);
    qn_sw_surface_free(&bare);
}

static void copies_are_mirror_images(void **state)
{
    (void)state;
    qn_sw_surface s = made(64, 20, 1), large = made(64, 20, 1);
    qn_sw_raster *const layers[][2] = { { &s.dsm, &large.dsm }, { &s.cdsm, &large.cdsm } };

    must_do(qn_town_mirror(&large, 2, 3, &err));
    for (int k = 0; k < 2; k++) {
        const float *from = layers[k][0]->data, *to = layers[k][1]->data;

        assert_int_equal(layers[k][1]->place.rows, 128);
        assert_int_equal(layers[k][1]->place.cols, 192);
        for (int r = 0; r < 64; r++)
            for (int c = 0; c < 64; c++) {
                const float value = from[r * 64 + c];

                assert_true(to[r * 192 + c] == value);
                assert_true(to[r * 192 + 127 - c] == value);
                assert_true(to[r * 192 + 128 + c] == value);
                assert_true(to[(127 - r) * 192 + c] == value);
                assert_true(to[(127 - r) * 192 + 127 - c] == value);
            }
    }
    qn_sw_surface_free(&s);
    qn_sw_surface_free(&large);
}

/* Tmrt after the first `n_steps` hours of the day; free() it. */
static float *tmrt_of(const place *at, const qn_sw_surface *surface, int is_aniso, int n_steps)
{
    const size_t n = qn_sw_elems(&surface->dsm.place);
    qn_ctx *ctx = open_place(at);
    float *out = plane_new(n);
    qn_graph *once = NULL, *graph = NULL;
    qn_sw_bench_step step;

    must_do(qn_sw_step_open(ctx, surface, 2, is_aniso, 24, &step, &err));
    must(qn_graph_new(ctx, "once", &once, &failure));
    must(qn_sw_step_add_walls(&step, once, &failure));
    must(qn_sw_step_add_svf(&step, once, &failure));
    must(qn_sw_step_add_geometry(&step, once, &failure));
    run_graph(once);
    must(qn_graph_new(ctx, "step", &graph, &failure));
    for (int i = 0; i < QN_SW_STEP_STAGES; i++)
        must(qn_sw_step_add(&step, graph, (qn_sw_step_stage)i, &failure));
    must(qn_sw_add_next(step.series, graph, &failure));
    must_do(qn_sw_step_table_seek(step.series, 0, &err));
    for (int i = 0; i < n_steps; i++)
        must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    must(qn_buf_read(step.tmrt, 0, out, n * sizeof *out, &failure));
    qn_graph_free(graph);
    qn_sw_step_close(&step);
    qn_ctx_close(ctx);
    return out;
}

/* The timed work is a real time step: hot in the sun at noon, cool at night, equal on a device. */
static void the_step_is_one(void **state)
{
    (void)state;
    qn_sw_surface s = prepared(72, 25, 1);
    const size_t n = qn_sw_elems(&s.dsm.place);

    for (int is_aniso = 0; is_aniso < 2; is_aniso++) {
        float *noon = tmrt_of(&cpu_place, &s, is_aniso, QN_SW_STEP_NOON + 1);
        float *night = tmrt_of(&cpu_place, &s, is_aniso, 2);
        float *sim = tmrt_of(&device_places[0], &s, is_aniso, QN_SW_STEP_NOON + 1);
        float most = -100, least = 100, coolest = 100;

        for (size_t i = 0; i < n; i++) {
            most = fmaxf(most, noon[i]);
            least = fminf(least, noon[i]);
            coolest = fminf(coolest, night[i]);
            assert_true(night[i] < 30);
            assert_true(fabsf(noon[i] - sim[i]) <= 0.01f);
        }
        assert_true(most > 45 && most < 75);
        assert_true(least > 15 && least < most - 10); /* shade */
        assert_true(coolest > -20);
        free(noon);
        free(night);
        free(sim);
    }
    qn_sw_surface_free(&s);
}

static void a_bench_times_every_stage(void **state)
{
    (void)state;
    qn_sw_surface s = prepared(64, 25, 0);
    const qn_sw_bench_options options = { .patch_option = 2, .steps = 2, .samples = 2, .tile = 40 };
    qn_sw_bench_options bad = options;
    qn_sw_bench_result r = { 0 };
    qn_ctx *ctx = open_place(&device_places[0]);
    qn_err why = { .text = "" };

    must_do(qn_sw_bench(ctx, &s, &options, &r, &err));
    assert_int_equal(r.n, 3 + 2 * (QN_SW_STEP_STAGES + 1) + 1);
    for (size_t i = 0; i < r.n; i++) {
        assert_true(r.lines[i].ms > 0);
        assert_float_equal(r.lines[i].ms_per_mpix, r.lines[i].ms * 1e6 / (64 * 64), 1e-6);
    }
    assert_string_equal(r.lines[0].device, "sim:0");
    assert_true(r.bytes_per_pixel > 100);
    qn_sw_bench_free(&r);
    bad.samples = 0;
    assert_int_equal(qn_sw_bench(ctx, &s, &bad, &r, &why), QN_ERR_USAGE);
    qn_ctx_close(ctx);
    qn_sw_surface_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_city_has_the_relief_it_was_asked_for),
        cmocka_unit_test(copies_are_mirror_images),
        cmocka_unit_test(the_step_is_one),
        cmocka_unit_test(a_bench_times_every_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
