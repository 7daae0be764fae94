/* test_bench.c - figures: saved, loaded, compared. */
#include "test.h"

#include "lab/engine/bench.h"

static void add(qn_bench *bench, const char *item, const char *metric, qn_better better,
                double value)
{
    qn_err err = { 0 };

    assert_int_equal(qn_bench_add(bench, item, "cpu:0", metric, better, value, &err), QN_OK);
}

static qn_bench sample(double us, double rate)
{
    qn_bench bench = { .verb = "ops", .started = "2026-01-31T12:00:00Z" };

    add(&bench, "vadd", "us", QN_LESS, us);
    add(&bench, "vadd", "GB/s", QN_MORE, rate);
    return bench;
}

/* The output of print_change as one string. */
static char *change(const qn_bench *before, const qn_bench *after)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    qn_err err = { 0 };

    if (qn_bench_print_change(before, after, to, &err) != QN_OK)
        fail_msg("%s", err.text);
    fclose(to);
    return text;
}

static void figures_survive_the_file(void **state)
{
    qn_bench bench = sample(12.5, 100), again = { 0 };
    qn_temp_dir folder = { 0 };
    qn_err err = { 0 };
    char path[1100];

    (void)state;
    add(&bench, "x", "ms", QN_NEITHER, NAN);
    assert_int_equal(qn_temp_dir_make(&folder, &err), QN_OK);
    snprintf(path, sizeof path, "%s/sub/b.json", folder.path);
    assert_int_equal(qn_bench_save(&bench, path, &err), QN_OK);
    assert_int_equal(qn_bench_load(path, &again, &err), QN_OK);
    assert_string_equal(again.verb, "ops");
    assert_int_equal(again.n, 3);
    assert_true(qn_bench_value(&again, "vadd", "cpu:0", "us") == 12.5);
    assert_true(isnan(qn_bench_value(&again, "x", "cpu:0", "ms")));
    assert_int_equal(again.list[1].better, QN_MORE);
    assert_int_equal(again.list[2].better, QN_NEITHER);
    qn_bench_free(&bench);
    qn_bench_free(&again);
    qn_temp_dir_remove(&folder);
}

static void what_is_not_there_is_nan(void **state)
{
    qn_bench bench = sample(1, 2);

    (void)state;
    assert_true(isnan(qn_bench_value(&bench, "vadd", "cuda:0", "us")));
    assert_true(isnan(qn_bench_value(&bench, "vadd", "cpu:0", "ms")));
    qn_bench_free(&bench);
}

static void less_time_and_more_rate_are_better(void **state)
{
    qn_bench before = sample(100, 100), after = sample(80, 125);
    char *text = change(&before, &after), *back = change(&after, &before);

    (void)state;
    assert_non_null(strstr(text, "0.800  better\n"));
    assert_non_null(strstr(text, "1.250  better\n"));
    assert_non_null(strstr(back, "1.250  worse\n"));
    assert_non_null(strstr(back, "0.800  worse\n"));
    free(text);
    free(back);
    qn_bench_free(&before);
    qn_bench_free(&after);
}

static void a_change_within_five_percent_is_none(void **state)
{
    qn_bench before = sample(100, 100), after = sample(104, 96);
    char *text = change(&before, &after);

    (void)state;
    assert_null(strstr(text, "better"));
    assert_null(strstr(text, "worse"));
    assert_non_null(strstr(text, "1.040  -\n"));
    free(text);
    qn_bench_free(&before);
    qn_bench_free(&after);
}

static void benches_of_different_verbs_are_not_compared(void **state)
{
    qn_bench before = sample(1, 1), after = sample(1, 1);
    qn_err err = { 0 };

    (void)state;
    strcpy(after.verb, "pool");
    assert_int_equal(qn_bench_print_change(&before, &after, stdout, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, "the older file is of bench ops, this run of bench pool");
    qn_bench_free(&before);
    qn_bench_free(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_survive_the_file),
        cmocka_unit_test(what_is_not_there_is_nan),
        cmocka_unit_test(less_time_and_more_rate_are_better),
        cmocka_unit_test(a_change_within_five_percent_is_none),
        cmocka_unit_test(benches_of_different_verbs_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
