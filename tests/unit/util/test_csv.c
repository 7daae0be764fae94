/* test_csv.c - quoting, line numbers, limits, and arbitrary bytes. */
#include "test.h"

#include "util/csv.h"
#include "util/file.h"
#include "util/hash.h"

#include <float.h>

static const char scan[] = "# quern-scan 1\n"
                           "# version: 0.1.0\n"
                           "op,size,device,median_us\n"
                           "vadd,1000,cuda:0,21.480\n"
                           "\n"
                           "# between\n"
                           "\"chain \"\"x\"\", y\",2000,cpu:0,3e2\r\n"
                           "\"two\nlines\",-5,,nan";

static qn_csv parse(const char *text)
{
    qn_csv csv = { 0 };
    qn_err err = { 0 };

    if (qn_csv_parse("t.csv", text, strlen(text), &csv, &err) != QN_OK)
        fail_msg("%s", err.text);
    return csv;
}

static void expect_error(const char *text, size_t bytes, const char *message)
{
    qn_csv csv = { .n_rows = 77 };
    qn_err err = { 0 };

    assert_int_equal(qn_csv_parse("t.csv", text, bytes, &csv, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, message);
    assert_int_equal(csv.n_rows, 77);
}

static void fields_are_split_and_unquoted(void **state)
{
    qn_csv csv = parse(scan);

    (void)state;
    assert_int_equal(csv.n_cols, 4);
    assert_int_equal(csv.n_rows, 3);
    assert_string_equal(csv.header[3], "median_us");
    assert_string_equal(qn_csv_get(&csv, 0, 2), "cuda:0");
    assert_string_equal(qn_csv_get(&csv, 1, 0), "chain \"x\", y");
    assert_string_equal(qn_csv_get(&csv, 1, 3), "3e2");
    assert_string_equal(qn_csv_get(&csv, 2, 0), "two\nlines");
    assert_string_equal(qn_csv_get(&csv, 2, 2), "");
    assert_string_equal(qn_csv_get(&csv, 2, 3), "nan");
    qn_csv_free(&csv);
}

static void rows_know_their_line_numbers(void **state)
{
    qn_csv csv = parse(scan);

    (void)state;
    assert_int_equal(csv.lines[0], 4);
    assert_int_equal(csv.lines[1], 7);
    assert_int_equal(csv.lines[2], 8);
    qn_csv_free(&csv);
}

static void comments_are_kept_and_found_by_key(void **state)
{
    qn_csv csv = parse(scan);

    (void)state;
    assert_int_equal(csv.n_comments, 3);
    assert_string_equal(csv.comments[0], "quern-scan 1");
    assert_string_equal(qn_csv_comment(&csv, "quern-scan"), "1");
    assert_string_equal(qn_csv_comment(&csv, "version"), "0.1.0");
    assert_string_equal(qn_csv_comment(&csv, "between"), "");
    assert_null(qn_csv_comment(&csv, "quern"));
    qn_csv_free(&csv);
}

static void columns_are_found_by_name(void **state)
{
    qn_csv csv = parse(scan);
    size_t col = 9;
    qn_err err;

    (void)state;
    assert_int_equal(qn_csv_find(&csv, "size"), 1);
    assert_int_equal(qn_csv_find(&csv, "Size"), -1);
    assert_int_equal(qn_csv_column(&csv, "device", &col, NULL), QN_OK);
    assert_int_equal(col, 2);
    assert_int_equal(qn_csv_column(&csv, "p90_us", &col, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, "t.csv: no column \"p90_us\" among its 4");
    assert_int_equal(col, 2);
    qn_csv_free(&csv);
}

static void cells_become_numbers_or_errors_with_line_and_column(void **state)
{
    qn_csv csv = parse(scan);
    qn_i64 n = 0;
    double x = 0;
    qn_err err;

    (void)state;
    assert_int_equal(qn_csv_i64(&csv, 0, 1, 1, 5000, &n, NULL), QN_OK);
    assert_int_equal(n, 1000);
    assert_int_equal(qn_csv_f64(&csv, 1, 3, 0, DBL_MAX, &x, NULL), QN_OK);
    assert_true(x == 300);
    assert_int_equal(qn_csv_i64(&csv, 2, 1, 1, 5000, &n, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, "t.csv:8: size \"-5\" is not a whole number from 1 to 5000");
    assert_int_equal(qn_csv_i64(&csv, 0, 3, 1, 5000, &n, &err), QN_ERR_INPUT);
    assert_int_equal(qn_csv_i64(&csv, 2, 2, 1, 5000, &n, &err), QN_ERR_INPUT);
    assert_int_equal(qn_csv_f64(&csv, 2, 3, 0, 1e6, &x, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, "t.csv:8: median_us \"nan\" is not a number from 0 to 1e+06");
    assert_int_equal(qn_csv_f64(&csv, 2, 3, -INFINITY, INFINITY, &x, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, "t.csv:8: median_us \"nan\" is not a number");
    assert_int_equal(qn_csv_f64(&csv, 0, 2, 0, 1e6, &x, &err), QN_ERR_INPUT);
    assert_int_equal(n, 1000);
    qn_csv_free(&csv);
}

static void numbers_beyond_64_bits_and_with_spaces_are_refused(void **state)
{
    qn_csv csv = parse("n\n99999999999999999999\n 1\n1 \n");
    qn_i64 n = 0;
    double x = 0;

    (void)state;
    for (size_t row = 0; row < 3; row++)
        assert_int_equal(qn_csv_i64(&csv, row, 0, INT64_MIN, INT64_MAX, &n, NULL), QN_ERR_INPUT);
    assert_int_equal(qn_csv_f64(&csv, 1, 0, 0, 9, &x, NULL), QN_ERR_INPUT);
    qn_csv_free(&csv);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    qn_csv csv = parse("\xEF\xBB\xBF"
                       "a,b\n1,2\n");

    (void)state;
    assert_int_equal(qn_csv_find(&csv, "a"), 0);
    qn_csv_free(&csv);
}

static void wrong_files_are_refused_with_the_line(void **state)
{
    static const char nul[] = "a,b\n1,2\n3,\0\n";

    (void)state;
    expect_error("", 0, "t.csv: no header line");
    expect_error("# only\n\n", 8, "t.csv: no header line");
    expect_error("a,b,c\n1,2,3\n1,2\n", 16, "t.csv:3: expected 3 fields, found 2");
    expect_error("a\n\"x\ny\",2\n", 10, "t.csv:2: expected 1 fields, found 2");
    expect_error("a,b\n1,\"2", 8, "t.csv:2: quote is never closed");
    expect_error("a,b\n1,\"2\"3\n", 11, "t.csv:2: text after a closing quote");
    expect_error("a,b\n1,2\"3\n", 10, "t.csv:2: quote inside a field that does not start with one");
    expect_error("a,b,a\n", 6, "t.csv:1: column \"a\" appears twice");
    expect_error(nul, sizeof nul - 1, "t.csv:3: NUL byte; this is not a text file");
}

static void rows_beyond_the_limits_are_refused(void **state)
{
    const size_t n = QN_CSV_MAX_RECORD + 100;
    char *text = malloc(n);

    (void)state;
    memset(text, 'x', n);
    memcpy(text, "a\n", 2);
    expect_error(text, n, "t.csv:2: row exceeds the limit of 1048576 bytes");
    text[2] = '#';
    expect_error(text, n, "t.csv:2: comment exceeds the limit of 1048576 bytes");
    memset(text, ',', n);
    expect_error(text, QN_CSV_MAX_FIELDS, "t.csv:1: row exceeds the limit of 1024 fields");
    free(text);
}

static void a_missing_file_is_an_io_error(void **state)
{
    qn_csv csv = { 0 };
    qn_err err;

    (void)state;
    assert_int_equal(qn_csv_read("/nonexistent/x.csv", &csv, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "/nonexistent/x.csv"));
}

/* Every prefix and thousands of mutations: each is a table or an error, and every cell of a
 * table is a string inside its text. The sanitizers watch the rest. */
static void any_bytes_give_a_table_or_an_error(void **state)
{
    char text[sizeof scan];

    (void)state;
    for (uint64_t round = 0; round < 20000; round++) {
        size_t bytes = sizeof scan - 1;
        qn_csv csv = { 0 };
        qn_err err = { 0 };
        memcpy(text, scan, sizeof scan);
        if (round < sizeof scan)
            bytes = round;
        for (uint64_t i = 0; round >= sizeof scan && i < 1 + round % 7; i++) {
            const uint64_t z = qn_random_u64(round, i);
            text[z % bytes] = z >> 62 ? "\",\n\r#\"\"\n"[z >> 40 & 7] : (char)(z >> 32);
        }
        if (qn_csv_parse("m", text, bytes, &csv, &err) != QN_OK) {
            assert_int_equal(err.status, QN_ERR_INPUT);
            assert_memory_equal(err.text, "m:", 2);
            continue;
        }
        for (size_t i = 0; i < csv.n_rows * csv.n_cols; i++) {
            assert_in_range(csv.cells[i] - csv.text, 0, bytes);
            assert_in_range(csv.cells[i] - csv.text + (long)strlen(csv.cells[i]), 0, bytes);
        }
        qn_csv_free(&csv);
    }
}

static void what_the_writer_quotes_the_reader_returns(void **state)
{
    static const char *const hard[] = { "",           "plain", "a,b",     "say \"x\"",
                                        "two\nlines", "#1",    " lead",   "trail ",
                                        "cr\rlf",     "\"",    "\xFF\xFE" };
    char path[] = "/tmp/quern-test-csv-XXXXXX";
    const int fd = mkstemp(path);
    qn_csv_writer w = { .to = fdopen(fd, "w") };
    qn_csv csv = { 0 };
    qn_err err = { 0 };

    (void)state;
    qn_csv_put_comment(&w, "made", "by\nhand");
    qn_csv_put(&w, "text");
    qn_csv_put(&w, "n");
    qn_csv_end_row(&w);
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        qn_csv_put(&w, hard[i]);
        qn_csv_putf(&w, "%.3f", (double)i);
        qn_csv_end_row(&w);
    }
    assert_int_equal(fclose(w.to), 0);
    assert_int_equal(qn_csv_read(path, &csv, &err), QN_OK);
    assert_string_equal(qn_csv_comment(&csv, "made"), "by hand");
    assert_int_equal(csv.n_rows, sizeof hard / sizeof *hard);
    for (size_t i = 0; i < csv.n_rows; i++)
        assert_string_equal(qn_csv_get(&csv, i, 0), hard[i]);
    assert_string_equal(qn_csv_get(&csv, 2, 1), "2.000");
    qn_csv_free(&csv);
    unlink(path);
}

static void a_row_of_one_empty_field_survives(void **state)
{
    char *text = NULL;
    size_t bytes = 0;
    qn_csv_writer w = { .to = open_memstream(&text, &bytes) };

    (void)state;
    qn_csv_put(&w, "only");
    qn_csv_end_row(&w);
    qn_csv_put(&w, "");
    qn_csv_end_row(&w);
    fclose(w.to);
    qn_csv csv = parse(text);
    assert_int_equal(csv.n_rows, 1);
    assert_string_equal(qn_csv_get(&csv, 0, 0), "");
    qn_csv_free(&csv);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_split_and_unquoted),
        cmocka_unit_test(rows_know_their_line_numbers),
        cmocka_unit_test(comments_are_kept_and_found_by_key),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(cells_become_numbers_or_errors_with_line_and_column),
        cmocka_unit_test(numbers_beyond_64_bits_and_with_spaces_are_refused),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(wrong_files_are_refused_with_the_line),
        cmocka_unit_test(rows_beyond_the_limits_are_refused),
        cmocka_unit_test(a_missing_file_is_an_io_error),
        cmocka_unit_test(any_bytes_give_a_table_or_an_error),
        cmocka_unit_test(what_the_writer_quotes_the_reader_returns),
        cmocka_unit_test(a_row_of_one_empty_field_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
