/* test_arena.c - memory that is freed at once. */
#include "test.h"

#include "util/arena.h"

#include <stdint.h>

static void zeroed_memory_stays_where_it_is_beside_taken_memory(void **state)
{
    enum { N = 500 };
    qn_arena arena = { 0 };
    int *zeros[N], *taken[N];

    (void)state;
    for (int k = 0; k < N; k++) {
        zeros[k] = qn_arena_zeros(&arena, 100, sizeof **zeros);
        taken[k] = qn_arena_take(&arena, 1000 * sizeof **taken);
        assert_non_null(zeros[k]);
        assert_non_null(taken[k]);
        for (int i = 0; i < 100; i++)
            assert_int_equal(zeros[k][i], 0);
        zeros[k][99] = k;
        for (int i = 0; i < 1000; i++)
            taken[k][i] = -k;
    }
    for (int k = 0; k < N; k++) {
        assert_int_equal(zeros[k][99], k);
        assert_int_equal(taken[k][999], -k);
    }
    assert_false(arena.failed);
    qn_arena_clear(&arena);
}

static void a_size_that_overflows_is_refused_and_remembered(void **state)
{
    qn_arena arena = { 0 };

    (void)state;
    assert_null(qn_arena_zeros(&arena, SIZE_MAX / 4, 8));
    assert_non_null(qn_arena_zeros(&arena, 0, 8));
    assert_true(arena.failed);
    qn_arena_clear(&arena);
    assert_false(arena.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_memory_stays_where_it_is_beside_taken_memory),
        cmocka_unit_test(a_size_that_overflows_is_refused_and_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
