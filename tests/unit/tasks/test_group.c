/* test_group.c - which tasks share a launch, and where groups are cut. */
#include "engine_fixture.h"

#include "domain/tasks/task.h"

typedef struct {
    qn_task_list list;
    qn_task_spec specs[16];
    int order[16];
    qn_task_part *parts;
    int n_parts, *slots;
} cut;

static cut cut_shares(const qn_task *tasks, int n, qn_i64 chunk, int is_padded, int n_shares)
{
    const qn_tasks_options options = { 0 };
    qn_err err = { .text = "" };
    cut c = { .n_parts = 0 };

    if (qn_task_list_read(tasks, n, &options, &c.list, &err) != QN_OK)
        fail_msg("%s", err.text);
    qn_group_sort(&c.list, c.order);
    for (int k = 0; k < n; k++)
        c.specs[k] = c.list.specs[c.order[k]];
    if (qn_group_cut(c.specs, n, chunk, is_padded, n_shares, &c.parts, &c.n_parts, &c.slots,
                     &err) != QN_OK)
        fail_msg("%s", err.text);
    return c;
}

static cut cut_list(const qn_task *tasks, int n, qn_i64 chunk, int is_padded)
{
    return cut_shares(tasks, n, chunk, is_padded, 1);
}

static void free_cut(cut *c)
{
    qn_task_list_free(&c->list);
    free(c->parts);
    free(c->slots);
}

static void tasks_group_by_op_argument_and_bucket(void **state)
{
    static const qn_task tasks[] = {
        { 0, "vadd", 20000, 1, NULL }, { 1, "saxpy", 20000, 1, "2" },
        { 2, "vadd", 40000, 1, NULL }, { 3, "vadd", 30000, 1, NULL },
        { 4, "saxpy", 20000, 1, "3" }, { 5, "saxpy", 20000, 1, "2.0" },
    };
    cut c = cut_list(tasks, 6, 1 << 20, 0);

    (void)state;
    /* saxpy 2 (twice: 2 and 2.0 are one argument), saxpy 3, vadd of two buckets */
    assert_int_equal(c.n_parts, 4);
    assert_int_equal(c.parts[0].n_tasks + c.parts[1].n_tasks, 3);
    assert_int_equal(c.parts[2].n_tasks, 2);
    assert_int_equal(c.order[c.parts[2].first], 0);
    assert_int_equal(c.order[c.parts[2].first + 1], 3);
    assert_int_equal(c.parts[3].n_tasks, 1);
    free_cut(&c);
}

static void matrices_of_different_sides_do_not_share_a_launch(void **state)
{
    static const qn_task tasks[] = { { 0, "matmul", 64, 1, NULL },
                                     { 1, "matmul", 65, 1, NULL },
                                     { 2, "matmul", 64, 1, NULL },
                                     { 3, "sha256", 64, 1, NULL },
                                     { 4, "sha256", 65, 1, NULL } };
    cut c = cut_list(tasks, 5, 1 << 20, 0);

    (void)state;
    assert_int_equal(c.n_parts, 3);
    assert_int_equal(c.parts[0].n_tasks, 2);
    assert_int_equal(c.parts[0].elems, 2 * 64 * 64);
    assert_int_equal(c.parts[1].n_tasks, 1);
    assert_int_equal(c.parts[2].elems, 129);
    free_cut(&c);
}

static void starts_of_vectors_are_64_bytes_apart_and_reductions_are_not(void **state)
{
    static const qn_task tasks[] = { { 0, "vadd", 1, 1, NULL },
                                     { 1, "vadd", 17, 1, NULL },
                                     { 2, "sum", 1, 1, NULL },
                                     { 3, "sum", 17, 1, NULL } };
    cut c = cut_list(tasks, 4, 1 << 20, 0);

    (void)state;
    assert_int_equal(c.parts[0].elems, 18);
    assert_int_equal(c.parts[0].largest, 17);
    assert_int_equal(c.parts[1].elems, 16 + 32);
    free_cut(&c);
}

static void cuts_fall_between_tasks_except_in_large_ones(void **state)
{
    static const qn_task tasks[] = { { 0, "vadd", 17000, 1, NULL },
                                     { 1, "vadd", 18000, 1, NULL },
                                     { 2, "vadd", 19000, 1, NULL },
                                     { 3, "vadd", 100000, 1, NULL },
                                     { 4, "sum", 100000, 1, NULL } };
    cut c = cut_list(tasks, 5, 40000, 0);

    (void)state;
    assert_int_equal(c.n_parts, 6);
    assert_int_equal(c.parts[0].elems, 100000); /* sum is never cut */
    assert_int_equal(c.parts[1].n_tasks, 2);
    assert_int_equal(c.parts[2].n_tasks, 1);
    assert_int_equal(c.parts[3].from, 0);
    assert_int_equal(c.parts[4].from, 40000);
    assert_int_equal(c.parts[5].from, 80000);
    assert_int_equal(c.parts[5].elems, 20000);
    assert_int_equal(c.slots[c.parts[3].first], 3);
    free_cut(&c);
}

static void a_group_has_at_most_64_parts_and_one_more(void **state)
{
    static const qn_task tasks[] = { { 0, "vadd", 1000000, 1, NULL } };
    cut c = cut_list(tasks, 1, 16, 0);

    (void)state;
    assert_in_range(c.n_parts, 60, 65);
    free_cut(&c);
}

static void padded_parts_have_room_for_their_bucket(void **state)
{
    static const qn_task tasks[] = { { 0, "vadd", 17000, 1, NULL },
                                     { 1, "vadd", 18000, 1, NULL },
                                     { 2, "merkle", 100, 1, NULL } };
    cut c = cut_list(tasks, 3, 1 << 20, 1);

    (void)state;
    assert_int_equal(c.parts[0].elems, 100); /* merkle is not padded */
    assert_int_equal(c.parts[1].elems, 2 * 32768);
    free_cut(&c);
}

static void shares_get_two_parts_each_and_small_tasks_stay_whole(void **state)
{
    qn_task tasks[16] = { { 0 } };
    cut c;

    (void)state;
    for (int i = 0; i < 16; i++)
        tasks[i] = (qn_task){ i, "vadd", 16000, 1, NULL };
    c = cut_shares(tasks, 16, 1 << 20, 0, 2);
    assert_int_equal(c.n_parts, 4);
    assert_int_equal(c.parts[3].n_tasks, 4);
    free_cut(&c);
    c = cut_shares(tasks, 2, 1 << 20, 0, 4);
    assert_int_equal(c.n_parts, 2);
    free_cut(&c);
}

static void work_and_not_size_decides_what_a_share_is(void **state)
{
    /* The product is 96 % of the work. */
    static const qn_task tasks[] = { { 0, "matmul", 512, 1, NULL }, { 1, "vadd", 40000, 1, NULL } };
    static const qn_task one[] = { { 0, "vadd", 800000, 1, NULL } };
    cut c = cut_shares(tasks, 2, 1 << 20, 0, 2);

    (void)state;
    assert_int_equal(c.n_parts, 2);
    free_cut(&c);
    c = cut_shares(one, 1, 1 << 20, 0, 2);
    assert_int_equal(c.n_parts, 4);
    assert_in_range(c.parts[0].elems, 200000, 200032);
    free_cut(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_group_by_op_argument_and_bucket),
        cmocka_unit_test(matrices_of_different_sides_do_not_share_a_launch),
        cmocka_unit_test(starts_of_vectors_are_64_bytes_apart_and_reductions_are_not),
        cmocka_unit_test(cuts_fall_between_tasks_except_in_large_ones),
        cmocka_unit_test(a_group_has_at_most_64_parts_and_one_more),
        cmocka_unit_test(padded_parts_have_room_for_their_bucket),
        cmocka_unit_test(shares_get_two_parts_each_and_small_tasks_stay_whole),
        cmocka_unit_test(work_and_not_size_decides_what_a_share_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
