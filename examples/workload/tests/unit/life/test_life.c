/* test_life.c - the game of life: a glider walks, a blinker blinks, a wrong board is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <quern/life.h>

#include <string.h>

enum { N = 6 };

static const uint8_t glider[N * N] = {
    0, 1, 0, 0, 0, 0, /**/ 0, 0, 1, 0, 0, 0, /**/ 1, 1, 1, 0, 0, 0,
};

static qn_status play(const char *backend, const uint8_t *cells, size_t n, int steps, uint8_t *out,
                      qn_err *err)
{
    qn_life_options o;
    qn_ctx *ctx;
    qn_status st;

    assert_int_equal(qn_ctx_open(&QN_OPTIONS(.backend = backend), &ctx, err), QN_OK);
    qn_life_options_init(&o, sizeof o);
    o.rows = o.cols = N;
    o.steps = steps;
    o.cells = cells;
    o.n_cells = n;
    st = qn_life(ctx, &o, out, err);
    qn_ctx_close(ctx);
    return st;
}

static void a_glider_moves_down_and_right_in_four_generations(void **state)
{
    static const char *const backends[] = { "cpu", "sim" };
    uint8_t out[N * N];
    qn_err err;

    (void)state;
    for (int b = 0; b < 2; b++) {
        if (play(backends[b], glider, sizeof glider, 4, out, &err) != QN_OK)
            fail_msg("%s", err.text);
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                assert_int_equal(out[(y + 1) % N * N + (x + 1) % N], glider[y * N + x]);
    }
}

static void no_generation_is_the_board_itself(void **state)
{
    uint8_t out[N * N];
    qn_err err;

    (void)state;
    assert_int_equal(play("cpu", glider, sizeof glider, 0, out, &err), QN_OK);
    assert_memory_equal(out, glider, sizeof out);
}

static void a_board_of_another_size_is_refused(void **state)
{
    uint8_t out[N * N];
    qn_err err;

    (void)state;
    assert_int_equal(play("cpu", glider, 7, 1, out, &err), QN_ERR_USAGE);
    assert_string_equal(err.text, "cells: 7 cells for a board of 6 x 6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_glider_moves_down_and_right_in_four_generations),
        cmocka_unit_test(no_generation_is_the_board_itself),
        cmocka_unit_test(a_board_of_another_size_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
