/* test_sw_run_plan.c - tile sizes and windows, by their rules. */
#include "domain/solweig/run/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const qn_sw_plan_cost cost = { .device = 300, .host = 100, .largest = 60 };

static qn_sw_plan plan(qn_i64 rows, qn_i64 cols, qn_sw_plan_limits limits)
{
    return qn_sw_plan_make((qn_sw_window){ 0, 0, rows, cols }, 100, 34, &cost, &limits);
}

static void raster_that_fits_is_one_tile_without_borders(void **state)
{
    const qn_sw_plan p = plan(900, 1000, (qn_sw_plan_limits){ .device_bytes = 1u << 30 });
    const qn_sw_tile_place t = qn_sw_plan_tile(&p, 0);

    (void)state;
    assert_int_equal(qn_sw_plan_tiles(&p), 1);
    assert_int_equal(t.reach.rows, 900);
    assert_int_equal(t.core.cols, 1000);
    assert_string_equal(p.limited_by, "raster");
}

static void forced_tile_has_borders_even_when_all_fits(void **state)
{
    const qn_sw_plan p = plan(900, 1000, (qn_sw_plan_limits){ .tile = 500 });

    (void)state;
    assert_int_equal(p.across, 2);
    assert_int_equal(p.down, 2);
    assert_int_equal(p.shadow_border, 100);
    assert_string_equal(p.limited_by, "forced");
}

/* Half of the budget over the bytes of a pixel is the area; what is left of its side after the
 * borders is the core, in whole blocks of files. */
static void tile_follows_the_least_memory(void **state)
{
    qn_sw_plan p = plan(9000, 9000, (qn_sw_plan_limits){ .device_bytes = 600u * 1000 * 1000 });

    (void)state;
    assert_int_equal(p.max_side, 1000);
    assert_int_equal(p.core, 512); /* 1000 - 2 * 134 = 732 */
    assert_string_equal(p.limited_by, "device memory");
    p = plan(9000, 9000,
             (qn_sw_plan_limits){ .device_bytes = 600u * 1000 * 1000, .fraction = 0.125 });
    assert_int_equal(p.max_side, 500);
    assert_int_equal(p.core, 232);
    p = plan(
        9000, 9000,
        (qn_sw_plan_limits){ .device_bytes = (uint64_t)1 << 40, .host_bytes = 200u * 800 * 800 });
    assert_int_equal(p.max_side, 800);
    assert_string_equal(p.limited_by, "host memory");
    p = plan(
        9000, 9000,
        (qn_sw_plan_limits){ .host_bytes = (uint64_t)1 << 40, .max_alloc = 60u * 1024 * 1024 });
    assert_int_equal(p.max_side, 1024);
    assert_string_equal(p.limited_by, "the largest allocation");
    p = plan(9000, 9000, (qn_sw_plan_limits){ .max_side = 700 });
    assert_int_equal(p.core, 256);
    assert_string_equal(p.limited_by, "QUERN_SOLWEIG_MAX_TILE_SIDE");
    p = plan(9000, 9000, (qn_sw_plan_limits){ 0 });
    assert_int_equal(p.max_side, 2500);
}

static void tile_is_never_empty(void **state)
{
    const qn_sw_plan tight = plan(900, 900, (qn_sw_plan_limits){ .max_side = 200 });
    const qn_sw_plan poor = plan(900, 900, (qn_sw_plan_limits){ .device_bytes = 1000 });

    (void)state;
    assert_int_equal(tight.core, 50); /* borders of 134 leave nothing */
    assert_int_equal(poor.max_side, 256);
    assert_int_equal(poor.core, 64);
}

/* Every pixel is in one core, and windows lie inside each other and the box. */
static void cores_cover_the_raster_once(void **state)
{
    enum { ROWS = 333, COLS = 217 };
    static uint8_t seen[ROWS][COLS];
    const qn_sw_plan p = plan(ROWS, COLS, (qn_sw_plan_limits){ .tile = 50 });

    (void)state;
    for (qn_i64 i = 0; i < qn_sw_plan_tiles(&p); i++) {
        const qn_sw_tile_place t = qn_sw_plan_tile(&p, i);

        for (qn_i64 r = 0; r < t.core.rows; r++)
            for (qn_i64 c = 0; c < t.core.cols; c++)
                seen[t.core.row + r][t.core.col + c]++;
        assert_true(t.seen.row <= t.core.row && t.reach.row <= t.seen.row && t.reach.row >= 0);
        assert_true(t.reach.row == 0 || t.core.row - t.reach.row == 134);
        assert_true(t.reach.row + t.reach.rows == ROWS ||
                    t.reach.row + t.reach.rows == t.core.row + t.core.rows + 134);
        assert_true(t.reach.col + t.reach.cols <= COLS);
        assert_true(t.seen.col == 0 || t.core.col - t.seen.col == 34);
    }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            assert_int_equal(seen[r][c], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raster_that_fits_is_one_tile_without_borders),
        cmocka_unit_test(forced_tile_has_borders_even_when_all_fits),
        cmocka_unit_test(tile_follows_the_least_memory),
        cmocka_unit_test(tile_is_never_empty),
        cmocka_unit_test(cores_cover_the_raster_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
