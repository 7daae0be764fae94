/* test_json.c - files, typed members, values that JSON cannot hold. */
/* test: no-tsan */
#include "test.h"

#include "util/file.h"
#include "util/json.h"

static char path[64];

static int make_path(void **state)
{
    (void)state;
    strcpy(path, "/tmp/quern-test-json-XXXXXX");
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void expect_refused(const char *text, const char *message)
{
    json_t *root = NULL;
    qn_err err = { 0 };

    assert_int_equal(qn_file_write(path, text, strlen(text), NULL), QN_OK);
    assert_int_equal(qn_json_read(path, &root, &err), QN_ERR_INPUT);
    assert_memory_equal(err.text, path, strlen(path));
    assert_non_null(strstr(err.text + strlen(path), message));
    assert_null(root);
}

static void what_is_written_is_read_back(void **state)
{
    json_t *made = json_object();
    json_t *root = NULL;
    const char *text = NULL;
    double number = 0;
    qn_i64 whole = 0;
    json_t *list = NULL;

    (void)state;
    json_object_set_new(made, "name", qn_json_text("caf\xC3\xA9"));
    json_object_set_new(made, "us", qn_json_number(3.1));
    json_object_set_new(made, "n", json_integer(INT64_MAX));
    json_object_set_new(made, "list", json_array());
    assert_int_equal(qn_json_write(path, made, NULL), QN_OK);
    assert_int_equal(qn_json_read(path, &root, NULL), QN_OK);
    assert_true(json_equal(made, root));
    assert_int_equal(qn_json_get_text(root, "name", path, &text, NULL), QN_OK);
    assert_string_equal(text, "caf\xC3\xA9");
    assert_int_equal(qn_json_get_number(root, "us", path, &number, NULL), QN_OK);
    assert_true(number == 3.1);
    assert_int_equal(qn_json_get_i64(root, "n", path, &whole, NULL), QN_OK);
    assert_true(whole == INT64_MAX);
    assert_int_equal(qn_json_get_array(root, "list", path, &list, NULL), QN_OK);
    json_decref(made);
    json_decref(root);
}

static void reals_are_written_as_people_write_them(void **state)
{
    json_t *made = json_object();
    char *text = NULL;
    size_t bytes = 0;

    (void)state;
    json_object_set_new(made, "us", qn_json_number(3.1));
    assert_int_equal(qn_json_write(path, made, NULL), QN_OK);
    assert_int_equal(qn_file_read(path, &text, &bytes, NULL), QN_OK);
    assert_string_equal(text, "{\n  \"us\": 3.1\n}\n");
    free(text);
    json_decref(made);
}

static void wrong_files_are_refused_with_the_line(void **state)
{
    json_t *root = NULL;

    (void)state;
    expect_refused("", ":1: ");
    expect_refused("{\n\"a\": 1,\n}", ":3: ");
    expect_refused("[1]", ":1: the root is not an object");
    expect_refused("{\"a\": 1, \"a\": 2}", "duplicate");
    expect_refused("{\"a\": \"\xFF\"}", "byte 0xff");
    assert_int_equal(qn_json_read("/nonexistent.json", &root, NULL), QN_ERR_IO);
}

static void members_of_the_wrong_type_are_named(void **state)
{
    json_t *object = json_object();
    const char *text = "kept";
    double number = 5;
    qn_i64 whole = 5;
    json_t *list = NULL;
    qn_err err;

    (void)state;
    json_object_set_new(object, "x", json_real(1.5));
    assert_int_equal(qn_json_get_i64(object, "x", "p.json", &whole, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, "p.json: \"x\" is not a whole number");
    assert_int_equal(qn_json_get_text(object, "x", "p.json", &text, &err), QN_ERR_INPUT);
    assert_int_equal(qn_json_get_array(object, "x", "p.json", &list, &err), QN_ERR_INPUT);
    assert_int_equal(qn_json_get_number(object, "gone", "p.json", &number, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, "p.json: \"gone\" is not a number");
    assert_string_equal(text, "kept");
    assert_true(number == 5 && whole == 5);
    json_decref(object);
}

static void values_that_json_cannot_hold_are_replaced(void **state)
{
    json_t *text = qn_json_text("a\xFF"
                                "b");

    (void)state;
    assert_true(json_is_null(qn_json_number(NAN)));
    assert_true(json_is_null(qn_json_number(-INFINITY)));
    assert_string_equal(json_string_value(text), "a\xEF\xBF\xBD"
                                                 "b");
    json_decref(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_back, make_path, remove_path),
        cmocka_unit_test_setup_teardown(reals_are_written_as_people_write_them, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(wrong_files_are_refused_with_the_line, make_path,
                                        remove_path),
        cmocka_unit_test(members_of_the_wrong_type_are_named),
        cmocka_unit_test(values_that_json_cannot_hold_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
