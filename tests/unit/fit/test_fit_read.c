/* test_fit_read.c - files of data: NIST sets, bundle problems, tables, gzip. */
#include "fit_problems.h"

#include <math.h>

static char *read_bytes(const char *name, size_t *bytes)
{
    qn_err err = { .text = "" };
    char *text = NULL;

    if (qn_file_read(golden_path(name), &text, bytes, &err) != QN_OK)
        fail_msg("%s", err.text);
    return text;
}

static void nist_files_have_the_known_rows(void **state)
{
    json_t *list, *one;
    size_t k;

    (void)state;
    need_golden("fit/nist/nist.json");
    list = json_load_file(golden_path("fit/nist/nist.json"), 0, NULL);
    assert_non_null(list);
    json_array_foreach(list, k, one)
    {
        json_t *rows = json_object_get(one, "data");
        qn_fit_table t = { 0 };
        qn_err err = { .text = "" };
        char name[128];
        size_t bytes;
        char *text;

        snprintf(name, sizeof name, "fit/nist/%s", json_string_value(json_object_get(one, "file")));
        text = read_bytes(name, &bytes);
        if (qn_fit_nist_parse(name, text, bytes, &t, &err) != QN_OK)
            fail_msg("%s", err.text);
        assert_int_equal(t.n_rows, json_array_size(rows));
        for (qn_i64 r = 0; r < t.n_rows; r++)
            for (int c = 0; c < t.n_cols; c++)
                assert_true(t.cols[c][r] == json_number_value(json_array_get(
                                                json_array_get(rows, (size_t)r), (size_t)c)));
        qn_fit_table_free(&t);
        free(text);
    }
    json_decref(list);
}

static void packed_problems_are_unpacked(void **state)
{
    qn_fit_bal b = { 0 };
    qn_err err = { .text = "" };
    size_t bytes;
    char *text;

    (void)state;
    need_golden("fit/bal/synth-16-1500.txt.gz");
    text = read_bytes("fit/bal/synth-16-1500.txt.gz", &bytes);
    assert_int_equal(qn_fit_gunzip("s", &text, &bytes, &err), QN_OK);
    assert_int_equal(qn_fit_bal_parse("s", text, bytes, &b, &err), QN_OK);
    assert_int_equal(b.n_cameras, 16);
    assert_int_equal(b.n_points, 1500);
    assert_int_equal(b.n_obs, 8064);
    qn_fit_bal_free(&b);
    free(text);
}

static void cut_gzip_is_refused(void **state)
{
    qn_err err = { .text = "" };
    size_t bytes;
    char *text;

    (void)state;
    need_golden("fit/bal/synth-16-1500.txt.gz");
    text = read_bytes("fit/bal/synth-16-1500.txt.gz", &bytes);
    bytes /= 2;
    assert_int_equal(qn_fit_gunzip("s.gz", &text, &bytes, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "s.gz: bad or cut gzip data"));
    free(text);
}

static void bad_bundle_problems_are_refused_with_their_line(void **state)
{
    static const char *const bad[][2] = {
        { "", "b:1: the file ends" },
        { "1 1 1\n0 0 1 2\n1 2 3 4 5 6 7 8 9\n1 2\n", "the file ends" },
        { "1 1 1\n0 1 1 2\n1 2 3 4 5 6 7 8 9\n1 2 3\n", "b:2: point 1 is not in 0 .. 0" },
        { "1 1 1\n-1 0 1 2\n1 2 3 4 5 6 7 8 9\n1 2 3\n", "b:2: camera -1" },
        { "1 1 1\n0 0 1 x\n1 2 3 4 5 6 7 8 9\n1 2 3\n", "b:2: \"x" },
        { "2000000000 2000000000 2000000000\n", "cannot hold" },
    };

    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        qn_fit_bal b = { 0 };
        qn_err err = { .text = "" };

        assert_int_not_equal(qn_fit_bal_parse("b", bad[k][0], strlen(bad[k][0]), &b, &err), QN_OK);
        if (!strstr(err.text, bad[k][1]))
            fail_msg("\"%s\" says nothing of \"%s\"", err.text, bad[k][1]);
    }
}

static void tables_of_other_separators_are_read(void **state)
{
    qn_fit_table t = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_fit_csv_parse("t", "a, b\n1,2\n3,4e1\n", 15, 1, ',', &t, &err), QN_OK);
    assert_string_equal(t.names[1], "b");
    assert_true(t.n_rows == 2 && t.cols[1][1] == 40);
    qn_fit_table_free(&t);
    assert_int_equal(qn_fit_csv_parse("t", "1;2\n3;4\n", 8, 0, ';', &t, &err), QN_OK);
    assert_string_equal(t.names[0], "c1");
    assert_true(t.n_rows == 2 && t.cols[1][0] == 2);
    qn_fit_table_free(&t);
    assert_int_not_equal(qn_fit_csv_parse("t", "a\nx\n", 4, 1, ',', &t, &err), QN_OK);
}

static void names_that_lead_outside_are_known(void **state)
{
    (void)state;
    assert_true(qn_fit_name_is_safe("a/b.txt") && qn_fit_name_is_safe("..a/b..c"));
    assert_false(qn_fit_name_is_safe("") || qn_fit_name_is_safe("/a") ||
                 qn_fit_name_is_safe("../a") || qn_fit_name_is_safe("a/..") ||
                 qn_fit_name_is_safe("a/../b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nist_files_have_the_known_rows),
        cmocka_unit_test(packed_problems_are_unpacked),
        cmocka_unit_test(cut_gzip_is_refused),
        cmocka_unit_test(bad_bundle_problems_are_refused_with_their_line),
        cmocka_unit_test(tables_of_other_separators_are_read),
        cmocka_unit_test(names_that_lead_outside_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
