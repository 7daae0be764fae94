/* test_sheet.c - rows of a struct as a table, JSON and CSV, and rows read from CSV. */
#include "test.h"

#include "lab/sheet.h"

static const char *const colours[] = { "red", "green", NULL };

typedef struct row {
    char name[8];
    const char *note;
    int colour, is_new;
    qn_i64 n;
    double us, rate;
} row;

static const qn_column columns[] = {
    { QN_COLUMN(row, name, "NAME", "name") },
    { QN_COLUMN(row, note, "NOTE", NULL) },
    { QN_COLUMN(row, colour, "COLOUR", "colour", .words = colours) },
    { QN_COLUMN(row, is_new, NULL, "new", .is_flag = 1) },
    { QN_COLUMN(row, n, "N", "n", .hides_zero = 1, .least = 1) },
    { QN_COLUMN(row, us, "MS", "ms", .shown = "%.1f", .stored = "%.3f", .per = 1e3) },
    { QN_COLUMN(row, rate, NULL, "rate", .may_lack = 1) },
};

static const row rows[] = { { "a", "one", 1, 1, 7, 1500, 2.5 }, { "b", NULL, 0, 0, 0, NAN, NAN } };

static const qn_sheet sheet = { columns, sizeof columns / sizeof *columns, rows, 2, sizeof *rows };

static void a_table_has_the_titles(void **state)
{
    qn_table table = qn_sheet_table(&sheet);
    qn_str text = { 0 };

    (void)state;
    qn_table_format(&table, QN_TABLE_TEXT, &text);
    assert_string_equal(qn_str_get(&text), "NAME  NOTE  COLOUR  N   MS\n"
                                           "a     one   green   7  1.5\n"
                                           "b     -     red     -    -\n");
    qn_str_free(&text);
    qn_table_free(&table);
}

static void json_has_the_keys_and_lacks_what_was_not_measured(void **state)
{
    json_t *json = qn_sheet_json(&sheet);
    char *text = json_dumps(json, JSON_COMPACT);

    (void)state;
    assert_string_equal(
        text, "[{\"name\":\"a\",\"colour\":\"green\",\"new\":true,\"n\":7,\"ms\":1.5,\"rate\":2.5},"
              "{\"name\":\"b\",\"colour\":\"red\",\"new\":false,\"n\":0,\"ms\":null}]");
    free(text);
    json_decref(json);
}

static void csv_has_the_keys(void **state)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);

    (void)state;
    qn_sheet_csv(&sheet, &(qn_csv_writer){ .to = to });
    fclose(to);
    assert_string_equal(text, "name,colour,new,n,ms,rate\na,green,1,7,1.500,2.5\nb,red,0,0,,\n");
    free(text);
}

static qn_status read_line(const char *line, row *out)
{
    qn_csv csv = { 0 };
    char text[200];
    qn_status st;

    /* In another order than that of the columns. */
    snprintf(text, sizeof text, "rate,ms,n,new,colour,name\n%s\n", line);
    must(qn_csv_parse("f", text, strlen(text), &csv, &failure));
    must(qn_sheet_check(&sheet, &csv, &failure));
    st = qn_sheet_read(&sheet, &csv, 0, out, &failure);
    qn_csv_free(&csv);
    return st;
}

static void rows_are_read_by_key(void **state)
{
    row got = { 0 };

    (void)state;
    must(read_line("2.5,1.5,7,1,green,a", &got));
    assert_string_equal(got.name, "a");
    assert_int_equal(got.colour, 1);
    assert_int_equal(got.is_new, 1);
    assert_int_equal(got.n, 7);
    assert_true(got.rate == 2.5);
}

static void bad_cells_are_refused(void **state)
{
    row got = { 0 };

    (void)state;
    must_fail(read_line("1,1,0,1,green,a", &got), QN_ERR_INPUT, "f:2: n");
    must_fail(read_line("1,1,1,2,green,a", &got), QN_ERR_INPUT, "f:2: new");
    must_fail(read_line("1,1,1,1,blue,a", &got), QN_ERR_INPUT,
              "f:2: colour \"blue\" is not green or red");
    must_fail(read_line("1,1,1,1,green,longname", &got), QN_ERR_INPUT,
              "f:2: name has 8 bytes, the limits are 1 and 7");
    must_fail(read_line("-1,1,1,1,green,a", &got), QN_ERR_INPUT, "f:2: rate");
}

static void rows_are_appended(void **state)
{
    row *list = NULL;
    size_t n = 0, room = 0;

    (void)state;
    for (int i = 0; i < 100; i++)
        must(QN_SHEET_ADD(list, n, room, &(row){ .n = i }, &failure));
    assert_int_equal(n, 100);
    assert_int_equal(list[99].n, 99);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_the_titles),
        cmocka_unit_test(json_has_the_keys_and_lacks_what_was_not_measured),
        cmocka_unit_test(csv_has_the_keys),
        cmocka_unit_test(rows_are_read_by_key),
        cmocka_unit_test(bad_cells_are_refused),
        cmocka_unit_test(rows_are_appended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
