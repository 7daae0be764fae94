/* test_scan_csv.c - writing and reading the file of a scan. */
#include "test.h"

#include "lab/scan/scan.h"
#include "util/file.h"

#define HEADER                                                                                     \
    "op,size,residency,backend,device,samples,median_us,p90_us,min_us,max_us,mean_us,stddev_us,"   \
    "first_us,bytes_h2d,bytes_d2h,verified\n"
#define ROW                                                                                        \
    "vadd,20000,cold,cuda,cuda:0,10,21.480,23.101,20.900,31.020,21.900,1.200,412.003,"             \
    "160000,80000,1\n"

static char path[] = "/tmp/quern-scan-XXXXXX.csv";

static int make_path(void **state)
{
    const int file = mkstemps(path, 4);

    (void)state;
    return file < 0 ? -1 : close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static qn_status read_text(const char *text, qn_scan *out, qn_err *err)
{
    if (qn_file_write(path, text, strlen(text), err) != QN_OK)
        fail_msg("%s", err->text);
    return qn_scan_read(path, out, err);
}

static void expect_error(const char *text, const char *message)
{
    qn_scan scan = { .n_rows = 77 };
    qn_err err = { 0 };
    char want[600];

    snprintf(want, sizeof want, "%s%s", path, message);
    assert_int_equal(read_text(text, &scan, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, want);
    assert_int_equal(scan.n_rows, 77);
}

static void every_column_is_read(void **state)
{
    qn_scan scan = { 0 };
    qn_err err = { 0 };

    (void)state;
    assert_int_equal(read_text("# quern-scan 1\n" HEADER ROW, &scan, &err), QN_OK);
    assert_int_equal(scan.n_rows, 1);
    assert_string_equal(scan.rows[0].op, "vadd");
    assert_string_equal(scan.rows[0].backend, "cuda");
    assert_string_equal(scan.rows[0].device, "cuda:0");
    assert_int_equal(scan.rows[0].size, 20000);
    assert_int_equal(scan.rows[0].residency, QN_COLD);
    assert_int_equal(scan.rows[0].samples, 10);
    assert_true(scan.rows[0].median_us == 21.480 && scan.rows[0].p90_us == 23.101);
    assert_true(scan.rows[0].min_us == 20.9 && scan.rows[0].max_us == 31.02);
    assert_true(scan.rows[0].mean_us == 21.9 && scan.rows[0].stddev_us == 1.2);
    assert_true(scan.rows[0].first_us == 412.003);
    assert_int_equal(scan.rows[0].h2d_bytes, 160000);
    assert_int_equal(scan.rows[0].d2h_bytes, 80000);
    assert_int_equal(scan.rows[0].is_verified, 1);
    qn_scan_free(&scan);
}

static void what_is_written_is_what_was_read(void **state)
{
    static const char text[] = "# quern-scan 1\n"
                               "# version 0.1.0\n"
                               "# host Some CPU: with 16 threads\n"
                               "# device cuda:0 One\n"
                               "# device cuda:1 Two\n" HEADER ROW;
    qn_scan scan = { 0 };
    qn_err err = { 0 };
    char *again = NULL;
    size_t bytes;

    (void)state;
    assert_int_equal(read_text(text, &scan, &err), QN_OK);
    assert_int_equal(qn_scan_write(&scan, path, &err), QN_OK);
    assert_int_equal(qn_file_read(path, &again, &bytes, &err), QN_OK);
    assert_string_equal(again, text);
    free(again);
    qn_scan_free(&scan);
}

static void conditions_are_found_by_key(void **state)
{
    qn_scan scan = { 0 };
    qn_err err = { 0 };

    (void)state;
    assert_int_equal(
        read_text("# quern-scan 1\n# host: A CPU\n# note first\n# note second\n" HEADER, &scan,
                  &err),
        QN_OK);
    assert_int_equal(scan.n_facts, 3);
    assert_string_equal(qn_scan_fact_of(&scan, "host"), "A CPU");
    assert_string_equal(qn_scan_fact_of(&scan, "note"), "first");
    assert_string_equal(qn_scan_fact_of(&scan, "quern-scan"), "unknown");
    assert_string_equal(qn_scan_fact_of(&scan, "driver"), "unknown");
    qn_scan_free(&scan);
}

static void the_name_is_that_of_the_file(void **state)
{
    qn_scan scan = { 0 };
    qn_err err = { 0 };

    (void)state;
    assert_int_equal(read_text("# quern-scan 1\n" HEADER, &scan, &err), QN_OK);
    assert_memory_equal(scan.name, "quern-scan-", 11);
    assert_int_equal(strlen(scan.name), strlen("quern-scan-XXXXXX"));
    qn_scan_free(&scan);
}

static void rows_are_sorted_by_op_then_size_as_a_number_then_backend(void **state)
{
    static const char times[] = ",10,1,1,1,1,1,0,1,0,0,1\n";
    static const char *const keys[] = {
        "vadd,10000,cold,cpu,cpu:0",  "vadd,2000,resident,cpu,cpu:0", "vadd,2000,cold,cuda,cuda:1",
        "vadd,2000,cold,cuda,cuda:0", "vadd,2000,cold,cpu1,cpu:0",    "vadd,2000,cold,cpu,cpu:0",
        "dot,10000,cold,cpu,cpu:0",
    };
    static const int order[] = { 6, 5, 1, 4, 3, 2, 0 };
    enum { N = sizeof keys / sizeof *keys };
    qn_scan scan = { 0 };
    qn_err err = { 0 };
    char text[2000] = "# quern-scan 1\n" HEADER;

    (void)state;
    for (int i = 0; i < N; i++) {
        strcat(text, keys[i]);
        strcat(text, times);
    }
    assert_int_equal(read_text(text, &scan, &err), QN_OK);
    assert_int_equal(scan.n_rows, N);
    for (int i = 0; i < N; i++) {
        const qn_scan_row *row = &scan.rows[i];
        char key[100];

        snprintf(key, sizeof key, "%s,%lld,%s,%s,%s", row->op, (long long)row->size,
                 qn_residency_name(row->residency), row->backend, row->device);
        assert_string_equal(key, keys[order[i]]);
    }
    qn_scan_free(&scan);
}

static void short_times_keep_three_decimals(void **state)
{
    qn_scan scan = { 0 };
    const qn_scan_row row = { .op = "sum",
                              .backend = "cpu",
                              .device = "cpu:0",
                              .size = 1,
                              .samples = 5,
                              .median_us = 0.0404 };
    qn_err err = { 0 };
    char *text = NULL;
    size_t bytes;

    (void)state;
    assert_int_equal(qn_scan_add_row(&scan, &row, &err), QN_OK);
    assert_int_equal(qn_scan_write(&scan, path, &err), QN_OK);
    assert_int_equal(qn_file_read(path, &text, &bytes, &err), QN_OK);
    assert_non_null(strstr(text, "\nsum,1,resident,cpu,cpu:0,5,0.040,0.000,"));
    free(text);
    qn_scan_free(&scan);
}

static void a_file_that_is_no_scan_is_refused(void **state)
{
    (void)state;
    expect_error(HEADER ROW, ": no line \"# quern-scan 1\"; this is not a scan");
    expect_error("# quern-scan 2\n" HEADER ROW, ": quern-scan 2, this program reads 1");
}

static void a_missing_column_is_named(void **state)
{
    (void)state;
    expect_error("# quern-scan 1\nop,size\nvadd,1\n", ": no column \"residency\" among its 2");
}

static void a_wrong_cell_is_named_with_its_line(void **state)
{
    (void)state;
    expect_error("# quern-scan 1\n" HEADER "vadd,0,cold,cpu,cpu:0,5,1,1,1,1,1,0,1,0,0,1\n",
                 ":3: size \"0\" is not a whole number from 1 to 9223372036854775807");
    expect_error("# quern-scan 1\n" HEADER "vadd,9,warm,cpu,cpu:0,5,1,1,1,1,1,0,1,0,0,1\n",
                 ":3: residency \"warm\" is not cold or resident");
    expect_error("# quern-scan 1\n" HEADER "vadd,9,cold,,cpu:0,5,1,1,1,1,1,0,1,0,0,1\n",
                 ":3: backend has 0 bytes, the limits are 1 and 15");
    expect_error("# quern-scan 1\n" HEADER "vadd,9,cold,cpu,cpu:0,5,nan,1,1,1,1,0,1,0,0,1\n",
                 ":3: median_us \"nan\" is not a number from 0 to 3.40282e+38");
    expect_error("# quern-scan 1\n" HEADER "vadd,9,cold,cpu,cpu:0,5,1,1,1,1,1,0,1,0,0,2\n",
                 ":3: verified \"2\" is not a whole number from 0 to 1");
}

static void the_same_measurement_twice_is_refused(void **state)
{
    (void)state;
    expect_error("# quern-scan 1\n" HEADER ROW ROW,
                 ": vadd at size 20000, cold on cuda:0 (cuda) is there twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_is_read),
        cmocka_unit_test(what_is_written_is_what_was_read),
        cmocka_unit_test(conditions_are_found_by_key),
        cmocka_unit_test(the_name_is_that_of_the_file),
        cmocka_unit_test(rows_are_sorted_by_op_then_size_as_a_number_then_backend),
        cmocka_unit_test(short_times_keep_three_decimals),
        cmocka_unit_test(a_file_that_is_no_scan_is_refused),
        cmocka_unit_test(a_missing_column_is_named),
        cmocka_unit_test(a_wrong_cell_is_named_with_its_line),
        cmocka_unit_test(the_same_measurement_twice_is_refused),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
