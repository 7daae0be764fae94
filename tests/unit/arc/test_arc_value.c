/* test_arc_value.c - order, equality and sets of values of grid programs. */
#include "arc_values.h"

static qn_arc_heap *heap;

static int make_heap(void **state)
{
    (void)state;
    heap = open_heap();
    return 0;
}

static int drop_heap(void **state)
{
    (void)state;
    qn_arc_heap_free(heap);
    heap = NULL;
    return 0;
}

static int order_of(qn_arc_value a, qn_arc_value b)
{
    const int order = qn_arc_compare(&a, &b);
    const int back = qn_arc_compare(&b, &a);

    assert_int_equal((order > 0) - (order < 0), (back < 0) - (back > 0));
    return (order > 0) - (order < 0);
}

static void kinds_follow_each_other(void **state)
{
    const qn_arc_value row[] = {
        v_none(),
        v_int(-7),
        v_bool(0),
        v_int(1000000),
        v_tuple(heap, 0, NULL),
        V_TUPLE(heap, v_int(-9)),
        V_TUPLE(heap, v_tuple(heap, 0, NULL)),
        v_set(heap, 0, NULL),
        V_SET(heap, v_int(-50)),
        v_prim(0),
        v_prim(159),
        v_closure(heap, 0, 1, v_prim(3), v_prim(2)),
        v_closure(heap, 0, 1, v_prim(3), v_prim(2)),
    };
    const int n = (int)(sizeof row / sizeof *row);

    (void)state;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++)
            assert_int_equal(order_of(row[a], row[b]), (a > b) - (a < b));
    }
}

static void truth_values_are_the_numbers_0_and_1(void **state)
{
    (void)state;
    assert_int_equal(order_of(v_bool(1), v_int(1)), 0);
    assert_int_equal(order_of(v_bool(0), v_int(0)), 0);
    assert_int_equal(order_of(V_TUPLE(heap, v_bool(1), v_int(2)), v_pair(heap, 1, 2)), 0);
}

static void tuples_compare_by_item_then_by_length(void **state)
{
    (void)state;
    assert_int_equal(order_of(v_pair(heap, 1, 9), v_pair(heap, 2, 0)), -1);
    assert_int_equal(order_of(V_TUPLE(heap, v_int(1)), v_pair(heap, 1, -5)), -1);
    assert_int_equal(order_of(V_TUPLE(heap, v_int(2)), v_pair(heap, 1, -5)), 1);
}

static void sets_compare_by_their_items_in_order(void **state)
{
    (void)state;
    assert_int_equal(order_of(V_SET(heap, v_int(3), v_int(1)), V_SET(heap, v_int(2))), -1);
    assert_int_equal(order_of(V_SET(heap, v_int(1)), V_SET(heap, v_int(2), v_int(1))), -1);
    assert_int_equal(order_of(V_SET(heap, v_int(1), v_int(2)), V_SET(heap, v_int(2), v_int(1))), 0);
}

static void set_keeps_the_first_of_equal_items(void **state)
{
    const qn_arc_value set = V_SET(heap, v_int(5), v_bool(1), v_int(1), v_int(5), v_int(0));

    (void)state;
    assert_int_equal(set.n, 3);
    assert_int_equal(set.items[0].number, 0);
    assert_int_equal(set.items[1].kind, QN_ARC_BOOL);
    assert_int_equal(set.items[2].number, 5);
}

static void large_sets_are_sorted_without_duplicates(void **state)
{
    enum { N = 5000 };
    qn_arc_value *items = qn_arc_values(heap, N);
    arc_random random = { .seed = 11 };
    int seen[1000] = { 0 };
    int distinct = 0;
    qn_arc_value set;

    (void)state;
    for (int i = 0; i < N; i++) {
        const int number = next_below(&random, 1000);

        distinct += !seen[number];
        seen[number] = 1;
        items[i] = v_int(number);
    }
    set = qn_arc_set_of(items, N);
    assert_int_equal(set.n, distinct);
    for (int i = 1; i < set.n; i++)
        assert_true(set.items[i - 1].number < set.items[i].number);
}

static void large_sets_keep_the_first_of_equal_items(void **state)
{
    enum { N = 300 };
    qn_arc_value *items = qn_arc_values(heap, N);
    qn_arc_value set;

    (void)state;
    for (int i = 0; i < N; i++) /* 1 appears first as a truth value, 0 first as a number */
        items[i] = i == 100 ? v_bool(1) : i == 40 ? v_bool(0) : v_int(i < 100 ? i % 2 * 7 : i % 8);
    set = qn_arc_set_of(items, N);
    assert_int_equal(set.n, 8);
    assert_int_equal(set.items[0].kind, QN_ARC_INT);
    assert_int_equal(set.items[1].kind, QN_ARC_BOOL);
}

static void order_of_random_values_is_transitive(void **state)
{
    enum { N = 120 };
    qn_arc_value values[N];
    arc_random random = { .seed = 3 };

    (void)state;
    for (int i = 0; i < N; i++)
        values[i] = random_value(heap, &random, 3);
    for (int a = 0; a < N; a++) {
        for (int b = 0; b < N; b++) {
            for (int c = 0; c < N; c++) {
                if (qn_arc_compare(&values[a], &values[b]) <= 0 &&
                    qn_arc_compare(&values[b], &values[c]) <= 0)
                    assert_true(qn_arc_compare(&values[a], &values[c]) <= 0);
            }
        }
    }
}

static void grid_is_a_tuple_of_tuples(void **state)
{
    static const unsigned char cells[] = { 1, 2, 3, 4, 5, 6 };
    const qn_arc_value expected = V_TUPLE(heap, V_TUPLE(heap, v_int(1), v_int(2), v_int(3)),
                                          V_TUPLE(heap, v_int(4), v_int(5), v_int(6)));
    qn_arc_value grid;
    qn_err err;

    (void)state;
    assert_int_equal(qn_arc_grid_of(heap, cells, 2, 3, &grid, &err), QN_OK);
    assert_int_equal(order_of(grid, expected), 0);
    assert_int_equal(qn_arc_grid_of(heap, cells, 1 << 20, 1 << 20, &grid, &err), QN_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_follow_each_other),
        cmocka_unit_test(truth_values_are_the_numbers_0_and_1),
        cmocka_unit_test(tuples_compare_by_item_then_by_length),
        cmocka_unit_test(sets_compare_by_their_items_in_order),
        cmocka_unit_test(set_keeps_the_first_of_equal_items),
        cmocka_unit_test(large_sets_are_sorted_without_duplicates),
        cmocka_unit_test(large_sets_keep_the_first_of_equal_items),
        cmocka_unit_test(order_of_random_values_is_transitive),
        cmocka_unit_test(grid_is_a_tuple_of_tuples),
    };

    return cmocka_run_group_tests(tests, make_heap, drop_heap);
}
