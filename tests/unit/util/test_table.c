/* test_table.c - alignment, Markdown, JSON, and cells that need care. */
#include "test.h"

#include "util/table.h"

#include <jansson.h>

static qn_table devices(void)
{
    qn_table t = qn_table_begin("ID", "NAME", "MEM GIB", "UNITS", "STATE");

    qn_table_add(&t, "cpu:0");
    qn_table_add(&t, "EPYC | 16 thr");
    qn_table_addf(&t, "%.1f", 62.8);
    qn_table_addf(&t, "%d", 16);
    qn_table_add(&t, "ok");
    qn_table_add(&t, "cuda:-");
    qn_table_add(&t, "-");
    qn_table_add(&t, "-");
    qn_table_add(&t, "-");
    qn_table_add(&t, "not found");
    qn_table_mark(&t);
    return t;
}

static void expect(qn_table *t, qn_table_form form, const char *wanted)
{
    qn_str text = { 0 };

    qn_table_format(t, form, &text);
    assert_false(text.failed);
    assert_string_equal(qn_str_get(&text), wanted);
    qn_str_free(&text);
}

static void columns_line_up_and_numbers_go_right(void **state)
{
    qn_table t = devices();

    (void)state;
    expect(&t, QN_TABLE_TEXT,
           "ID      NAME           MEM GIB  UNITS  STATE\n"
           "cpu:0   EPYC | 16 thr     62.8     16  ok\n"
           "cuda:-  -                    -      -  not found\n");
    qn_table_free(&t);
}

static void markdown_escapes_bars_and_shows_marks(void **state)
{
    qn_table t = devices();

    (void)state;
    expect(&t, QN_TABLE_MARKDOWN,
           "| ID     | NAME           | MEM GIB | UNITS | STATE         |\n"
           "| ------ | -------------- | ------: | ----: | ------------- |\n"
           "| cpu:0  | EPYC \\| 16 thr |    62.8 |    16 | ok            |\n"
           "| cuda:- | -              |       - |     - | **not found** |\n");
    qn_table_free(&t);
}

static void json_has_numbers_nulls_and_plain_keys(void **state)
{
    qn_table t = devices();
    qn_str text = { 0 };

    (void)state;
    qn_table_format(&t, QN_TABLE_JSON, &text);
    json_t *list = json_loads(qn_str_get(&text), 0, NULL);
    assert_int_equal(json_array_size(list), 2);
    const json_t *cpu = json_array_get(list, 0);
    const json_t *cuda = json_array_get(list, 1);
    assert_true(json_real_value(json_object_get(cpu, "mem_gib")) == 62.8);
    assert_int_equal(json_integer_value(json_object_get(cpu, "units")), 16);
    assert_string_equal(json_string_value(json_object_get(cpu, "name")), "EPYC | 16 thr");
    assert_true(json_is_null(json_object_get(cuda, "units")));
    json_decref(list);
    qn_str_free(&text);
    qn_table_free(&t);
}

static void a_table_without_rows_prints_its_header(void **state)
{
    qn_table t = qn_table_begin("A", "B");

    (void)state;
    expect(&t, QN_TABLE_TEXT, "A  B\n");
    expect(&t, QN_TABLE_JSON, "[]\n");
    qn_table_free(&t);
}

static void a_row_that_is_not_full_ends_in_empty_cells(void **state)
{
    qn_table t = qn_table_begin("A", "B", "C");

    (void)state;
    qn_table_add(&t, "x");
    expect(&t, QN_TABLE_TEXT, "A  B  C\nx\n");
    qn_table_free(&t);
}

static void units_count_as_numbers_and_identifiers_do_not(void **state)
{
    static const char *const right[] = { "12",    "-3.5",      "1e5",    "4.1 %", "+1.25x",
                                         "12 us", "640.0 KiB", "3.2 µs", "0" };
    static const char *const left[] = {
        "cuda:0", "9f0c1d22ab34e501", "1.2.3", "16 threads", "2026-01-31", "0x10", "nan", "."
    };

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        qn_table t = qn_table_begin("X");
        qn_table_add(&t, right[i]);
        qn_table_add(&t, "-");
        assert_true(qn_table_is_right(&t, 0));
        qn_table_free(&t);
    }
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        qn_table t = qn_table_begin("X");
        qn_table_add(&t, "12");
        qn_table_add(&t, left[i]);
        assert_false(qn_table_is_right(&t, 0));
        qn_table_free(&t);
    }
}

static void numbers_json_cannot_hold_become_strings(void **state)
{
    qn_table t = qn_table_begin("X");

    (void)state;
    qn_table_add(&t, "1e999");
    qn_table_add(&t, "99999999999999999999");
    expect(
        &t, QN_TABLE_JSON,
        "[\n  {\n    \"x\": \"1e999\"\n  },\n  {\n    \"x\": \"99999999999999999999\"\n  }\n]\n");
    qn_table_free(&t);
}

static void width_counts_characters_and_hostile_bytes_are_replaced(void **state)
{
    qn_table t = qn_table_begin("A", "B");

    (void)state;
    qn_table_add(&t, "µµ");
    qn_table_add(&t, "1");
    qn_table_add(&t, "x\n\x1b\xff");
    qn_table_add(&t, "2");
    expect(&t, QN_TABLE_TEXT, "A     B\nµµ    1\nx  \xEF\xBF\xBD  2\n");
    qn_table_free(&t);
}

static void print_writes_frees_and_reports_a_file_that_refuses(void **state)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    qn_table t = qn_table_begin("A");

    (void)state;
    must(qn_table_print(&t, to, QN_TABLE_TEXT, &failure));
    fclose(to);
    assert_string_equal(text, "A\n");
    assert_null(t.cells);
    free(text);

    t = qn_table_begin("A");
    to = fopen("/dev/full", "w");
    must_fail(qn_table_print(&t, to, QN_TABLE_TEXT, &failure), QN_ERR_IO, "table of");
    fclose(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_line_up_and_numbers_go_right),
        cmocka_unit_test(markdown_escapes_bars_and_shows_marks),
        cmocka_unit_test(json_has_numbers_nulls_and_plain_keys),
        cmocka_unit_test(a_table_without_rows_prints_its_header),
        cmocka_unit_test(a_row_that_is_not_full_ends_in_empty_cells),
        cmocka_unit_test(units_count_as_numbers_and_identifiers_do_not),
        cmocka_unit_test(numbers_json_cannot_hold_become_strings),
        cmocka_unit_test(width_counts_characters_and_hostile_bytes_are_replaced),
        cmocka_unit_test(print_writes_frees_and_reports_a_file_that_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
