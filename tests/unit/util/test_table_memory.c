/* test_table_memory.c - a table for which memory runs out at any point is refused, and ends. */
#include "alloc_count.h"
#include "test.h"

#include "util/table.h"

#ifndef HAS_SANITIZER
static int format_one(qn_table_form form)
{
    qn_table t = qn_table_begin("ID", "A | NAME", "STATE");
    qn_str text = { 0 };

    qn_table_add(&t, "cpu:0");
    qn_table_add(&t, "a name that is longer than what is first asked for, by a good deal");
    qn_table_add(&t, "ok");
    qn_table_mark(&t);
    qn_table_format(&t, form, &text);

    const int failed = text.failed;
    qn_str_free(&text);
    qn_table_free(&t);
    return failed;
}
#endif

static void every_allocation_may_fail(void **state)
{
    (void)state;
#ifdef HAS_SANITIZER
    printf("skipped: the allocator of a sanitizer cannot be made to fail\n");
    skip();
#else
    for (int form = QN_TABLE_TEXT; form <= QN_TABLE_JSON; form++) {
        int n_failures = 0, failed = 1;

        for (long at = 1; failed; at++) {
            atomic_store(&fail_at, count_allocs() + at);
            failed = format_one((qn_table_form)form);
            atomic_store(&fail_at, 0);
            n_failures += failed;
        }
        assert_true(n_failures > 3);
    }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_of_allocations_works),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, watch_allocator, NULL);
}
