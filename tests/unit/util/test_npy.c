/* test_npy.c - NumPy arrays: what is read, what is written, and what is refused. */
/* test: no-tsan */
#include "golden.h"

#include "util/file.h"
#include "util/temp_dir.h"

#include <dirent.h>

static const char *path; /* of a file in the folder */

static int choose_path(void **state)
{
    if (make_folder(state) != 0)
        return -1;
    path = in_folder("a.npy");
    return 0;
}

/* A file of the given version around a dictionary, followed by `n_data` bytes 0, 1, 2, ... */
static size_t compose(char *to, int version, const char *dictionary, int n_data)
{
    const size_t len = strlen(dictionary), from = version == 1 ? 10 : 12;

    memcpy(to, "\x93NUMPY", 6);
    to[6] = (char)version;
    to[7] = 0;
    to[8] = (char)len;
    to[9] = (char)(len >> 8);
    if (version == 2)
        to[10] = to[11] = 0;
    memcpy(to + from, dictionary, len);
    for (int i = 0; i < n_data; i++)
        to[from + len + (size_t)i] = (char)i;
    return from + len + (size_t)n_data;
}

static qn_status read_text(const char *text, size_t bytes, qn_npy *out, qn_err *err)
{
    assert_int_equal(qn_file_write(path, text, bytes, err), QN_OK);
    return qn_npy_read(path, out, err);
}

#define PLAIN "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n"

static void arrays_of_both_versions_are_read(void **state)
{
    (void)state;
    for (int version = 1; version <= 2; version++) {
        char text[256];
        const size_t bytes = compose(text, version, PLAIN, 24);
        qn_npy array = { 0 };
        qn_err err = { .text = "" };

        if (read_text(text, bytes, &array, &err) != QN_OK)
            fail_msg("%s", err.text);
        assert_int_equal(array.type, QN_NPY_I4);
        assert_int_equal(array.n_dims, 2);
        assert_int_equal(array.dims[0], 2);
        assert_int_equal(array.dims[1], 3);
        assert_int_equal(qn_npy_elems(&array), 6);
        assert_int_equal(((int32_t *)array.data)[1], 0x07060504);
        qn_npy_free(&array);
    }
}

static void fortran_order_is_turned_round(void **state)
{
    char text[256];
    const size_t bytes =
        compose(text, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }", 24);
    qn_npy array = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    if (read_text(text, bytes, &array, &err) != QN_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                assert_int_equal(((uint8_t *)array.data)[(i * 3 + j) * 4 + k], i + 2 * j + 6 * k);
    assert_false(array.is_fortran);
    qn_npy_free(&array);
}

static void dictionary_may_be_written_in_other_ways(void **state)
{
    static const struct {
        const char *text;
        qn_npy want;
    } ways[] = {
        { "{\"shape\":(4,),\"descr\":\"<f4\",\"fortran_order\":False}",
          { .type = QN_NPY_F4, .n_dims = 1, .dims = { 4 } } },
        { " { 'fortran_order' : False , 'shape' : ( 1 , 2 , 3 , 4 ) , 'descr' : '|i1' }  \n",
          { .type = QN_NPY_I1, .n_dims = 4, .dims = { 1, 2, 3, 4 } } },
        { "{'descr': '|u1', 'fortran_order': False, 'shape': ()}",
          { .type = QN_NPY_U1, .n_dims = 0 } },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 5)}",
          { .type = QN_NPY_F8, .n_dims = 2, .dims = { 0, 5 } } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char text[256];
        const size_t bytes = compose(text, 1, ways[i].text, 0);
        qn_npy got = { 0 };
        size_t at = 0;
        qn_err err = { .text = "" };

        if (qn_npy_parse("a", text, bytes, &got, &at, &err) != QN_OK)
            fail_msg("%s", err.text);
        assert_int_equal(at, bytes);
        assert_memory_equal(&got, &ways[i].want, sizeof got);
    }
}

static void wrong_headers_are_refused_with_the_reason(void **state)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        { "{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }",
          "type '>f8' are not one of <f8, <f4, <i4, |i1, |u1" },
        { "{'descr': '<f8', 'fortran_order': 0, 'shape': (2,), }", "True or False expected" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1), }",
          "more than 4 dimensions" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", "an extent expected" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }",
          "above the limit of 68719476736" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
          "larger than the limit of 68719476736 bytes" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (2 3), }", "a comma expected" },
        { "{'descr': '<f8', 'fortran_order': False, }", "'shape' is missing" },
        { "{'descr': '<f8', 'shape': (2,), }", "'fortran_order' is missing" },
        { "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (), }",
          "'descr' is there twice" },
        { "{'descr': '<f8', 'colour': 'red', 'fortran_order': False, 'shape': (), }", "unknown" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (), } more", "nothing more expected" },
        { "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (), }", "a string expected" },
        { "", "a dictionary expected" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[256];
        const size_t bytes = compose(text, 1, wrong[i].text, 16);
        qn_npy got = { 0 };
        size_t at = 77;
        qn_err err = { .text = "" };

        assert_int_equal(qn_npy_parse("field.npy", text, bytes, &got, &at, &err), QN_ERR_INPUT);
        if (!strstr(err.text, wrong[i].words) || !strstr(err.text, "field.npy"))
            fail_msg("'%s' does not say '%s'", err.text, wrong[i].words);
        assert_int_equal(at, 77);
    }
}

static void file_shorter_or_longer_than_its_shape_is_refused(void **state)
{
    char text[256];
    const size_t bytes = compose(text, 1, PLAIN, 25);
    qn_npy array = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(read_text(text, bytes, &array, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "25 bytes of data, but its shape needs 24"));
    for (size_t n = 0; n < bytes - 1; n++) {
        assert_int_equal(read_text(text, n, &array, &err), QN_ERR_INPUT);
        assert_non_null(strstr(err.text, path));
        assert_null(array.data);
    }
    assert_int_equal(qn_npy_read("/nowhere/a.npy", &array, &err), QN_ERR_IO);
}

/* Headers that are not refused must be within the limits; ASan sees reads beyond the text. */
static void mutated_headers_never_break_the_parser(void **state)
{
    char good[256];
    const size_t bytes = compose(good, 1, PLAIN, 0);
    int n_good = 0;

    (void)state;
    for (uint64_t round = 0; round < 200000; round++) {
        const size_t cut = bytes - qn_random_u64(1, round) % (round % 3 ? 1 : bytes);
        char *text = malloc(cut ? cut : 1);
        qn_npy got = { 0 };
        size_t at = 0;
        qn_err err = { .text = "" };

        assert_non_null(text);
        memcpy(text, good, cut);
        for (uint64_t k = 0; cut && k < 1 + round % 4; k++) {
            static const char likely[] = "{}(),:'\"0123456789 <f8ishape\n";
            const uint64_t r = qn_random_u64(2 + k, round);

            text[(r >> 8) % cut] = r & 64 ? likely[(r >> 40) % (sizeof likely - 1)] : (char)r;
        }
        if (qn_npy_parse("x", text, cut, &got, &at, &err) == QN_OK) {
            n_good++;
            assert_true(at <= cut && got.n_dims <= QN_NPY_MAX_DIMS && got.type < QN_NPY_TYPES);
            assert_true(qn_npy_elems(&got) >= 0);
            assert_true((size_t)qn_npy_elems(&got) <= QN_MOST_ARRAY);
        } else {
            assert_int_equal(err.status, QN_ERR_INPUT);
            assert_true(err.text[0] != 0);
        }
        free(text);
    }
    assert_true(n_good > 100); /* mutations of digits and blanks */
}

static void what_is_written_is_read_again(void **state)
{
    double data[24];
    const qn_npy array = { .type = QN_NPY_F8, .n_dims = 3, .dims = { 2, 3, 4 }, .data = data };
    const qn_i64 flat[] = { 24 };
    qn_npy got = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    for (int i = 0; i < 24; i++)
        data[i] = i / 7.0;
    assert_int_equal(qn_npy_write(path, &array, &err), QN_OK);
    assert_int_equal(qn_npy_read_as(path, QN_NPY_F8, 3, array.dims, &got, &err), QN_OK);
    assert_memory_equal(got.data, data, sizeof data);
    qn_npy_free(&got);

    assert_int_equal(qn_npy_read_as(path, QN_NPY_F4, 1, flat, &got, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "<f8 of shape (2, 3, 4); must be <f4 of shape (24,)"));
    assert_null(got.data);
}

static void write_that_fails_leaves_nothing(void **state)
{
    const double one = 1;
    const qn_npy array = { .type = QN_NPY_F8, .data = (void *)&one };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_npy_write("/nowhere/a.npy", &array, &err), QN_ERR_IO);
    assert_int_equal(qn_npy_write("/dev/full", &array, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "/dev/full"));
}

static void golden_files_come_out_as_they_went_in(void **state)
{
    int n_files = 0;

    (void)state;
    need_golden("les/README.md");
    DIR *folder = opendir(golden_path("les"));
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[300], *was, *is;
        size_t was_bytes, is_bytes;
        qn_err err = { .text = "" };

        if (!strstr(entry->d_name, ".npy"))
            continue;
        snprintf(name, sizeof name, "les/%s", entry->d_name);
        assert_int_equal(qn_file_read(golden_path(name), &was, &was_bytes, &err), QN_OK);
        if (memmem(was, 128, "True", 4)) { /* in Fortran order, which is never written */
            free(was);
            continue;
        }
        qn_npy array = golden_array(name);
        assert_int_equal(qn_npy_write(path, &array, &err), QN_OK);
        qn_npy_free(&array);
        assert_int_equal(qn_file_read(path, &is, &is_bytes, &err), QN_OK);
        assert_int_equal(is_bytes, was_bytes);
        assert_memory_equal(is, was, was_bytes);
        free(was);
        free(is);
        n_files++;
    }
    closedir(folder);
    assert_true(n_files > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_both_versions_are_read),
        cmocka_unit_test(fortran_order_is_turned_round),
        cmocka_unit_test(dictionary_may_be_written_in_other_ways),
        cmocka_unit_test(wrong_headers_are_refused_with_the_reason),
        cmocka_unit_test(file_shorter_or_longer_than_its_shape_is_refused),
        cmocka_unit_test(mutated_headers_never_break_the_parser),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(write_that_fails_leaves_nothing),
        cmocka_unit_test(golden_files_come_out_as_they_went_in),
    };
    return cmocka_run_group_tests(tests, choose_path, remove_folder);
}
