/* test_les_checkpoint.c - checkpoint files: round trip, damage, other runs. */
#include "test.h"

#include "domain/les/run/checkpoint.h"
#include "util/file.h"

static const char *path; /* of a file in the folder */

static int choose_path(void **state)
{
    if (make_folder(state) != 0)
        return -1;
    path = in_folder("les_checkpoint.qnc");
    return 0;
}

static qn_les_options config_with(const char *name, const char *value)
{
    const char *const pairs[] = { "n", "32", name, value, NULL };
    qn_les_options config;
    qn_err err = { .text = "" };

    if (qn_les_options_make(NULL, pairs, NULL, &config, &err) != QN_OK)
        fail_msg("%s", err.text);
    return config;
}

/* A state of 1001 bytes, an odd number, and vectors. */
static void write_one(const qn_les_options *config)
{
    qn_les_saved saved = { .step = 120, .stamp = "20260131T120000Z" };
    qn_err err = { .text = "" };

    assert_int_equal(qn_les_saved_grow(&saved, QN_LES_SAVED_SIM, 1001, &err), QN_OK);
    for (int i = 0; i < 1001; i++)
        ((uint8_t *)saved.parts[QN_LES_SAVED_SIM].data)[i] = (uint8_t)(i * 7);
    assert_int_equal(qn_les_saved_grow(&saved, QN_LES_SAVED_Z, 64, &err), QN_OK);
    if (qn_les_checkpoint_write(path, config, &saved, &err) != QN_OK)
        fail_msg("%s", err.text);
    qn_les_saved_free(&saved);
}

static void what_was_written_is_read(void **state)
{
    const qn_les_options config = config_with("seed", "7");
    qn_les_saved saved = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    write_one(&config);
    if (qn_les_checkpoint_read(path, &config, &saved, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(saved.step, 120);
    assert_string_equal(saved.stamp, "20260131T120000Z");
    assert_int_equal(saved.parts[QN_LES_SAVED_SIM].n, 1001);
    for (int i = 0; i < 1001; i++)
        assert_int_equal(((uint8_t *)saved.parts[QN_LES_SAVED_SIM].data)[i], (uint8_t)(i * 7));
    assert_int_equal(saved.parts[QN_LES_SAVED_Z].n, 64);
    assert_int_equal(saved.parts[QN_LES_SAVED_HASHES].n, 0);
    qn_les_saved_free(&saved);
}

/* The status of reading `bytes` bytes as a checkpoint; the message must name the file. */
static qn_status status_of(const qn_les_options *config, const char *data, size_t bytes)
{
    qn_les_saved saved = { 0 };
    qn_err err = { .text = "" };
    qn_status st;

    assert_int_equal(qn_file_write(path, data, bytes, &err), QN_OK);
    st = qn_les_checkpoint_read(path, config, &saved, &err);
    if (st != QN_OK)
        assert_non_null(strstr(err.text, "les_checkpoint.qnc"));
    qn_les_saved_free(&saved);
    return st;
}

static void a_cut_file_is_refused_at_every_length(void **state)
{
    const qn_les_options config = config_with("seed", "7");
    qn_err err = { .text = "" };
    size_t bytes;
    char *data;

    (void)state;
    write_one(&config);
    assert_int_equal(qn_file_read(path, &data, &bytes, &err), QN_OK);
    for (size_t n = 0; n < bytes; n += n < 100 ? 1 : 37)
        assert_int_equal(status_of(&config, data, n), QN_ERR_INPUT);
    assert_int_equal(status_of(&config, data, bytes), QN_OK);
    free(data);
}

static void a_flipped_bit_anywhere_is_found(void **state)
{
    const qn_les_options config = config_with("seed", "7");
    qn_err err = { .text = "" };
    size_t bytes;
    char *data;

    (void)state;
    write_one(&config);
    assert_int_equal(qn_file_read(path, &data, &bytes, &err), QN_OK);
    for (size_t i = 0; i < bytes; i += i < 100 ? 1 : 29) {
        data[i] = (char)(data[i] ^ (1 << i % 8));
        assert_int_not_equal(status_of(&config, data, bytes), QN_OK);
        data[i] = (char)(data[i] ^ (1 << i % 8));
    }
    free(data);
}

static void another_run_is_refused_by_the_option_that_differs(void **state)
{
    const qn_les_options config = config_with("seed", "7"), other = config_with("nu0", "0.002");
    qn_les_saved saved = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    write_one(&other);
    assert_int_equal(qn_les_checkpoint_read(path, &config, &saved, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "was made with "));
    assert_non_null(strstr(err.text, "nu0"));
    assert_null(saved.parts[QN_LES_SAVED_SIM].data);
}

static void where_files_go_may_differ(void **state)
{
    const qn_les_options config = config_with("out", "here"), other = config_with("out", "there");
    qn_les_saved saved = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    write_one(&other);
    assert_int_equal(qn_les_checkpoint_read(path, &config, &saved, &err), QN_OK);
    qn_les_saved_free(&saved);
}

static void a_missing_file_is_wrong_input(void **state)
{
    const qn_les_options config = config_with("seed", "7");
    qn_les_saved saved = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    unlink(path);
    assert_int_equal(qn_les_checkpoint_read(path, &config, &saved, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_cut_file_is_refused_at_every_length),
        cmocka_unit_test(a_flipped_bit_anywhere_is_found),
        cmocka_unit_test(another_run_is_refused_by_the_option_that_differs),
        cmocka_unit_test(where_files_go_may_differ),
        cmocka_unit_test(a_missing_file_is_wrong_input),
    };
    return cmocka_run_group_tests(tests, choose_path, remove_folder);
}
