/* test_batch_size.c - when batches grow, when they shrink, and when they stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "domain/tasks/batch_size.h"

static void note(qn_batch_size *size, int queued, int n)
{
    for (int i = 0; i < n; i++)
        qn_batch_size_note(size, queued);
}

static qn_batch_size start(void)
{
    return (qn_batch_size){ .items = 1000, .least = 500, .most = 2000 };
}

static void short_queue_makes_batches_grow(void **state)
{
    qn_batch_size size = start();

    (void)state;
    note(&size, 0, 100);
    assert_int_equal(qn_batch_size_get(&size), 1200);
    note(&size, 0, 100);
    assert_int_equal(qn_batch_size_get(&size), 1440);
}

static void long_queue_makes_batches_shrink(void **state)
{
    qn_batch_size size = start();

    (void)state;
    note(&size, 5, 100);
    assert_int_equal(qn_batch_size_get(&size), 800);
}

static void queue_between_the_marks_changes_nothing(void **state)
{
    qn_batch_size size = start();

    (void)state;
    note(&size, 1, 1000);
    assert_int_equal(qn_batch_size_get(&size), 1000);
    note(&size, 2, 1000); /* at the mark, not above it */
    assert_int_equal(qn_batch_size_get(&size), 1000);
}

static void nothing_changes_between_two_looks(void **state)
{
    qn_batch_size size = start();

    (void)state;
    note(&size, 0, 99);
    assert_int_equal(qn_batch_size_get(&size), 1000);
    note(&size, 0, 1);
    assert_int_equal(qn_batch_size_get(&size), 1200);
    note(&size, 0, 99);
    assert_int_equal(qn_batch_size_get(&size), 1200);
}

static void a_moment_at_the_look_does_not_decide(void **state)
{
    qn_batch_size size = start();

    (void)state;
    note(&size, 1, 97);
    note(&size, 0, 3);
    assert_int_equal(qn_batch_size_get(&size), 1000);
    note(&size, 1, 97);
    note(&size, 4, 3);
    assert_int_equal(qn_batch_size_get(&size), 1000);
}

static void bounds_are_kept(void **state)
{
    qn_batch_size size = start();

    (void)state;
    note(&size, 0, 2000);
    assert_int_equal(qn_batch_size_get(&size), 2000);
    note(&size, 7, 2000);
    assert_int_equal(qn_batch_size_get(&size), 500);
}

/* Steps smaller than an item add up. */
static void small_batches_grow_too(void **state)
{
    qn_batch_size size = { .items = 2, .least = 1, .most = 8 };

    (void)state;
    note(&size, 0, 300);
    assert_int_equal(qn_batch_size_get(&size), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_queue_makes_batches_grow),
        cmocka_unit_test(long_queue_makes_batches_shrink),
        cmocka_unit_test(queue_between_the_marks_changes_nothing),
        cmocka_unit_test(nothing_changes_between_two_looks),
        cmocka_unit_test(a_moment_at_the_look_does_not_decide),
        cmocka_unit_test(bounds_are_kept),
        cmocka_unit_test(small_batches_grow_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
