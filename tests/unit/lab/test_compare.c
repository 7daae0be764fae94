/* test_compare.c - joins of scans: ratios, ties, gaps, and where B starts to win. */
#include "test.h"

#include "lab/scan/report.h"

static void add(qn_scan *scan, const char *op, qn_i64 size, const char *device, double median_us)
{
    qn_scan_row row = { .size = size, .residency = QN_COLD, .samples = 5, .median_us = median_us };
    qn_err err;

    strcpy(row.op, op);
    strcpy(row.device, device);
    strcpy(row.backend, device);
    *strchr(row.backend, ':') = '\0';
    assert_int_equal(qn_scan_add_row(scan, &row, &err), QN_OK);
    qn_scan_sort(scan);
}

/* Takes ownership of the rows of the scans. */
static qn_compare compare(const qn_scan *scans, size_t n)
{
    qn_scan *owned = malloc(n * sizeof *owned);
    qn_compare out = { 0 };
    qn_err err = { 0 };

    memcpy(owned, scans, n * sizeof *owned);
    if (qn_compare_make(owned, n, &out, &err) != QN_OK)
        fail_msg("%s", err.text);
    return out;
}

static void a_ratio_within_five_percent_is_a_tie(void **state)
{
    (void)state;
    assert_int_equal(qn_compare_winner(100, 95), QN_TIE);
    assert_int_equal(qn_compare_winner(100, 105), QN_TIE);
    assert_int_equal(qn_compare_winner(100, 94.99), QN_WINS_B);
    assert_int_equal(qn_compare_winner(100, 105.01), QN_WINS_A);
    assert_int_equal(qn_compare_winner(0, 0), QN_TIE);
    assert_int_equal(qn_compare_winner(0, 1), QN_WINS_A);
}

static void ratio_is_b_over_a(void **state)
{
    qn_scan scans[2] = { { 0 } };

    (void)state;
    add(&scans[0], "vadd", 1000, "cpu:0", 40);
    add(&scans[1], "vadd", 1000, "cpu:0", 10);
    qn_compare c = compare(scans, 2);
    assert_int_equal(c.pairs[0].n_joins, 1);
    assert_true(c.pairs[0].joins[0].matches[0].ratio == 0.25);
    assert_int_equal(c.pairs[0].joins[0].matches[0].winner, QN_WINS_B);
    qn_compare_free(&c);
}

static void b_wins_from_the_size_behind_its_last_loss(void **state)
{
    static const double b_us[] = { 50, 200, 50, 101, 50, 50 };
    qn_scan scans[2] = { { 0 } };

    (void)state;
    for (int i = 0; i < 6; i++) {
        add(&scans[0], "vadd", 1000 * (i + 1), "cpu:0", 100);
        add(&scans[1], "vadd", 1000 * (i + 1), "cpu:0", b_us[i]);
    }
    qn_compare c = compare(scans, 2);
    const qn_join *join = &c.pairs[0].joins[0];
    assert_int_equal(join->wins_a, 1);
    assert_int_equal(join->wins_b, 4);
    assert_int_equal(join->ties, 1);
    assert_int_equal(join->b_from, 5000);
    qn_compare_free(&c);
}

static void b_that_loses_at_the_end_wins_from_nowhere(void **state)
{
    qn_scan scans[2] = { { 0 } };

    (void)state;
    add(&scans[0], "vadd", 1000, "cpu:0", 100);
    add(&scans[0], "vadd", 2000, "cpu:0", 100);
    add(&scans[1], "vadd", 1000, "cpu:0", 10);
    add(&scans[1], "vadd", 2000, "cpu:0", 100);
    qn_compare c = compare(scans, 2);
    assert_int_equal(c.pairs[0].joins[0].b_from, 0);
    qn_compare_free(&c);
}

static void sizes_of_one_scan_alone_are_listed_and_not_compared(void **state)
{
    qn_scan scans[2] = { { 0 } };

    (void)state;
    add(&scans[0], "vadd", 1000, "cpu:0", 1);
    add(&scans[0], "vadd", 3000, "cpu:0", 1);
    add(&scans[0], "vadd", 4000, "cpu:0", 1);
    add(&scans[1], "vadd", 2000, "cpu:0", 1);
    add(&scans[1], "vadd", 3000, "cpu:0", 1);
    add(&scans[1], "vadd", 5000, "cpu:0", 1);
    qn_compare c = compare(scans, 2);
    const qn_join *join = &c.pairs[0].joins[0];
    assert_int_equal(join->n_matches, 1);
    assert_int_equal(join->matches[0].a->size, 3000);
    assert_int_equal(join->n_only_a, 2);
    assert_int_equal(join->only_a[0], 1000);
    assert_int_equal(join->only_a[1], 4000);
    assert_int_equal(join->n_only_b, 2);
    assert_int_equal(join->only_b[0], 2000);
    assert_int_equal(join->only_b[1], 5000);
    qn_compare_free(&c);
}

static void an_op_or_backend_of_one_scan_alone_has_no_matches(void **state)
{
    qn_scan scans[2] = { { 0 } };

    (void)state;
    add(&scans[0], "vadd", 1000, "cpu:0", 1);
    add(&scans[0], "vadd", 1000, "cuda:0", 1);
    add(&scans[1], "vadd", 1000, "cpu:0", 1);
    add(&scans[1], "dot", 1000, "cpu:0", 1);
    qn_compare c = compare(scans, 2);
    assert_int_equal(c.pairs[0].n_joins, 3);
    assert_int_equal(c.pairs[0].joins[0].n_matches, 1);
    assert_string_equal(c.pairs[0].joins[1].a->backend, "cuda");
    assert_null(c.pairs[0].joins[1].b);
    assert_int_equal(c.pairs[0].joins[1].n_matches, 0);
    assert_null(c.pairs[0].joins[2].a);
    assert_string_equal(c.pairs[0].joins[2].b->op, "dot");
    assert_int_equal(c.pairs[0].joins[2].n_only_b, 1);
    qn_compare_free(&c);
}

static void devices_of_a_backend_meet_in_order_whatever_their_numbers(void **state)
{
    qn_scan scans[2] = { { 0 } };

    (void)state;
    add(&scans[0], "vadd", 1000, "cuda:0", 1);
    add(&scans[0], "vadd", 1000, "cuda:1", 2);
    add(&scans[1], "vadd", 1000, "cuda:3", 10);
    qn_compare c = compare(scans, 2);
    assert_int_equal(c.pairs[0].n_joins, 2);
    assert_true(c.pairs[0].joins[0].matches[0].ratio == 10);
    assert_int_equal(c.pairs[0].joins[1].n_matches, 0);
    qn_compare_free(&c);
}

static void every_further_scan_is_held_against_the_first(void **state)
{
    qn_scan scans[3] = { { 0 } };

    (void)state;
    for (int s = 0; s < 3; s++)
        add(&scans[s], "vadd", 1000, "cpu:0", 10 * (s + 1));
    qn_compare c = compare(scans, 3);
    assert_true(c.pairs[0].joins[0].matches[0].ratio == 2);
    assert_true(c.pairs[1].joins[0].matches[0].ratio == 3);
    qn_compare_free(&c);
}

/* Curves. */

static void a_size_without_a_device_row_is_no_win(void **state)
{
    qn_scan scan = { 0 };
    qn_owned owned = { 0 };
    qn_curves curves;
    qn_crossover found;
    qn_err err;

    (void)state;
    for (int i = 1; i <= 4; i++) {
        add(&scan, "vadd", 1000 * i, "cpu:0", 100);
        if (i != 3)
            add(&scan, "vadd", 1000 * i, "cuda:0", 10);
    }
    assert_int_equal(qn_curves_make(&owned, &scan, &curves, &err), QN_OK);
    assert_int_equal(curves.n, 2);
    assert_int_equal(qn_curve_crossover(&curves.list[1], &curves.list[0], &found, &err), QN_OK);
    assert_int_equal(found.crossover, 4000);
    assert_int_equal(found.first_win, 1000);
    qn_owned_free(&owned, 0);
    qn_scan_free(&scan);
}

static void the_cpu_comes_first_then_one_thread_then_devices(void **state)
{
    static const char *const order[] = { "CPU", "CPU, 1 thread", "cuda:0", "opencl:0" };
    qn_scan scan = { 0 };
    qn_owned owned = { 0 };
    qn_curves curves;
    qn_err err;

    (void)state;
    add(&scan, "vadd", 1000, "opencl:0", 1);
    add(&scan, "vadd", 1000, "cuda:0", 1);
    add(&scan, "vadd", 1000, "cpu1:0", 1);
    add(&scan, "vadd", 1000, "cpu:0", 1);
    assert_int_equal(qn_curves_make(&owned, &scan, &curves, &err), QN_OK);
    assert_int_equal(curves.n, 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(qn_curve_label(&curves.list[i]), order[i]);
    assert_ptr_equal(qn_curve_cpu(&curves, &curves.list[3]), &curves.list[0]);
    qn_owned_free(&owned, 0);
    qn_scan_free(&scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_within_five_percent_is_a_tie),
        cmocka_unit_test(ratio_is_b_over_a),
        cmocka_unit_test(b_wins_from_the_size_behind_its_last_loss),
        cmocka_unit_test(b_that_loses_at_the_end_wins_from_nowhere),
        cmocka_unit_test(sizes_of_one_scan_alone_are_listed_and_not_compared),
        cmocka_unit_test(an_op_or_backend_of_one_scan_alone_has_no_matches),
        cmocka_unit_test(devices_of_a_backend_meet_in_order_whatever_their_numbers),
        cmocka_unit_test(every_further_scan_is_held_against_the_first),
        cmocka_unit_test(a_size_without_a_device_row_is_no_win),
        cmocka_unit_test(the_cpu_comes_first_then_one_thread_then_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
