/* sw_run_tiles.h - compares runs in tiles with the run of the whole raster. */
#ifndef QN_TESTS_SW_RUN_TILES_H
#define QN_TESTS_SW_RUN_TILES_H

#include "sw_small_city.h"

static const qn_sw_plane_set tiles_watched =
    1u << QN_SW_TMRT | 1u << QN_SW_UTCI | 1u << QN_SW_SHADOW | 1u << QN_SW_LUP | 1u << QN_SW_KDOWN;

static inline void assert_same_rows(const qn_sw_run_result *a, const qn_sw_run_result *b)
{
    assert_int_equal(a->n_steps, b->n_steps);
    for (size_t r = 0; r < a->n_steps; r++) {
        assert_int_equal(a->steps[r].n_valid, b->steps[r].n_valid);
        assert_float_equal(a->steps[r].tmrt_mean, b->steps[r].tmrt_mean, 1e-9);
        assert_float_equal(a->steps[r].utci_mean, b->steps[r].utci_mean, 1e-9);
        assert_float_equal(a->steps[r].sun_fraction, b->steps[r].sun_fraction, 1e-9);
    }
}

static inline void check_tiles(const qn_sw_run_config *whole, const qn_i64 *sides, int n)
{
    qn_ctx *ctx = open_place(&cpu_place);
    kept_planes one = { 0 };
    qn_sw_run_result result = run_kept(ctx, whole, tiles_watched, &one);

    assert_int_equal(qn_tiles_count(&result.plan), 1);
    for (int i = 0; i < n; i++) {
        qn_sw_run_config config = *whole;
        kept_planes tiled = { 0 };
        qn_sw_run_result other;
        char name[32];

        config.options.tile = sides[i];
        snprintf(name, sizeof name, "tiles of %d", (int)sides[i]);
        other = run_kept(ctx, &config, tiles_watched, &tiled);
        assert_true(qn_tiles_count(&other.plan) > 1);
        assert_same_planes(name, &one, &tiled);
        assert_same_rows(&result, &other);
        drop_planes(&tiled);
        qn_sw_run_result_free(&other);
    }
    drop_planes(&one);
    qn_sw_run_result_free(&result);
    qn_ctx_close(ctx);
}

#endif
