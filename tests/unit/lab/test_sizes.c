/* test_sizes.c - lists of sizes and ops as users write them. */
#include "test.h"

#include "lab/scan/scan.h"

static void expect(const char *text, const qn_i64 *want, size_t n)
{
    qn_sizes sizes = { 0 };
    qn_err err = { 0 };

    if (qn_sizes_parse(text, &sizes, &err) != QN_OK)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(sizes.n, n);
    assert_memory_equal(sizes.list, want, n * sizeof *want);
    qn_sizes_free(&sizes);
}

static void refuse(const char *text, const char *message)
{
    qn_sizes sizes = { .n = 77 };
    qn_err err = { 0 };

    assert_int_equal(qn_sizes_parse(text, &sizes, &err), QN_ERR_USAGE);
    if (!strstr(err.text, message))
        fail_msg("%s: \"%s\" lacks \"%s\"", text, err.text, message);
    assert_int_equal(sizes.n, 77);
}

static void a_list_is_sorted_and_has_each_size_once(void **state)
{
    (void)state;
    expect("2000,5,2e3,100", (qn_i64[]){ 5, 100, 2000 }, 3);
    expect("7", (qn_i64[]){ 7 }, 1);
}

static void a_range_steps_evenly_per_decade_and_ends_with_its_end(void **state)
{
    (void)state;
    expect("1000:100000:2", (qn_i64[]){ 1000, 3162, 10000, 31623, 100000 }, 5);
    expect("10:50:1", (qn_i64[]){ 10, 50 }, 2);
    expect("1:3:10", (qn_i64[]){ 1, 2, 3 }, 3);
    expect("5:5:3", (qn_i64[]){ 5 }, 1);
}

static void what_is_no_size_is_refused(void **state)
{
    (void)state;
    refuse("", "no size in ''");
    refuse("1,x", "'x' is not a whole number");
    refuse("0", "'0' is not");
    refuse("-5", "'-5' is not");
    refuse("1.5", "'1.5' is not");
    refuse("1e13", "'1e13' is not");
    refuse("nan", "'nan' is not");
    refuse("10:20", "MIN:MAX:PER_DECADE");
    refuse("10:20:3:4", "MIN:MAX:PER_DECADE");
    refuse("20:10:3", "sizes from 20 to 10");
    refuse("1:10:5000", "5000 sizes per decade, the limit is 1000");
}

static void defaults_are_one_two_five_over_a_range_that_suits_the_op(void **state)
{
    qn_sizes sizes = { 0 };
    qn_err err = { 0 };

    (void)state;
    assert_int_equal(qn_sizes_default("vadd", &sizes, &err), QN_OK);
    assert_int_equal(sizes.n, 13);
    assert_int_equal(sizes.list[0], 1000);
    assert_int_equal(sizes.list[1], 2000);
    assert_int_equal(sizes.list[2], 5000);
    assert_int_equal(sizes.list[12], 10000000);
    qn_sizes_free(&sizes);
    assert_int_equal(qn_sizes_default("matmul", &sizes, &err), QN_OK);
    assert_int_equal(sizes.list[sizes.n - 1], 1000);
    qn_sizes_free(&sizes);
}

static void items_of_a_list_are_found_by_number(void **state)
{
    char item[6];

    (void)state;
    assert_int_equal(qn_list_item("a, bb,,ccccccccc", 1, item, sizeof item), 1);
    assert_string_equal(item, "bb");
    assert_int_equal(qn_list_item("a, bb,,ccccccccc", 2, item, sizeof item), 1);
    assert_string_equal(item, "ccccc");
    assert_int_equal(qn_list_item("a, bb,,ccccccccc", 3, item, sizeof item), 0);
    assert_int_equal(qn_list_item("", 0, item, sizeof item), 0);
}

static void ops_are_known_names_each_once(void **state)
{
    qn_err err = { 0 };

    (void)state;
    assert_int_equal(qn_op_list_check(qn_op_list_of(NULL), &err), QN_OK);
    assert_int_equal(qn_op_list_check(qn_op_list_of("all"), &err), QN_OK);
    assert_int_equal(qn_op_list_check("sum,dot", &err), QN_OK);
    assert_int_equal(qn_op_list_check("sum,dots", &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "unknown op 'dots'; there are: vadd, "));
    assert_int_equal(qn_op_list_check("sum,sum", &err), QN_ERR_USAGE);
    assert_int_equal(qn_op_list_check(",", &err), QN_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_sorted_and_has_each_size_once),
        cmocka_unit_test(a_range_steps_evenly_per_decade_and_ends_with_its_end),
        cmocka_unit_test(what_is_no_size_is_refused),
        cmocka_unit_test(defaults_are_one_two_five_over_a_range_that_suits_the_op),
        cmocka_unit_test(items_of_a_list_are_found_by_number),
        cmocka_unit_test(ops_are_known_names_each_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
