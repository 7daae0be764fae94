/* test_window.c - rectangles of a raster: widening, containment of a pixel, cutting out and pasting
 * back. */
#include "util/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

enum { ROWS = 7, COLS = 9 };

static void borders_end_at_the_edge(void **state)
{
    const qn_window inner = qn_window_widen((qn_window){ 3, 4, 1, 2 }, 2, ROWS, COLS);
    const qn_window corner = qn_window_widen((qn_window){ 0, 6, 2, 3 }, 3, ROWS, COLS);
    const qn_window all = qn_window_widen(inner, 100, ROWS, COLS);

    (void)state;
    assert_memory_equal(&inner, (&(qn_window){ 1, 2, 5, 6 }), sizeof inner);
    assert_memory_equal(&corner, (&(qn_window){ 0, 3, 5, 6 }), sizeof corner);
    assert_memory_equal(&all, (&(qn_window){ 0, 0, ROWS, COLS }), sizeof all);
}

static void a_window_has_the_pixels_inside_it(void **state)
{
    const qn_window w = { 2, 3, 2, 4 };
    size_t n = 0;

    (void)state;
    for (qn_i64 row = -1; row <= ROWS; row++)
        for (qn_i64 col = -1; col <= COLS; col++)
            n += (size_t)qn_window_has(&w, row, col);
    assert_int_equal(n, qn_window_pixels(&w));
    assert_true(qn_window_has(&w, 2, 3) && qn_window_has(&w, 3, 6));
}

/* For pixels of any size; nothing outside the window changes. */
static void what_is_cut_can_be_pasted(void **state)
{
    const qn_window w = { 1, 5, 4, 3 };

    (void)state;
    for (size_t bytes = 1; bytes <= 20; bytes += 19) {
        uint8_t raster[ROWS * COLS * 20], packed[4 * 3 * 20], back[ROWS * COLS * 20] = { 0 };

        for (size_t i = 0; i < ROWS * COLS * bytes; i++)
            raster[i] = (uint8_t)(i % 251 + 1);
        qn_window_cut(raster, COLS, &w, bytes, packed);
        assert_memory_equal(packed, raster + (1 * COLS + 5) * bytes, 3 * bytes);
        assert_memory_equal(packed + 9 * bytes, raster + (4 * COLS + 5) * bytes, 3 * bytes);
        qn_window_paste(packed, &w, bytes, back, COLS);
        for (qn_i64 i = 0; i < ROWS * COLS; i++) {
            const size_t at = (size_t)i * bytes;

            if (qn_window_has(&w, i / COLS, i % COLS))
                assert_memory_equal(back + at, raster + at, bytes);
            else
                assert_int_equal(back[at], 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders_end_at_the_edge),
        cmocka_unit_test(a_window_has_the_pixels_inside_it),
        cmocka_unit_test(what_is_cut_can_be_pasted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
