/* test_temp_dir.c - folders that are removed again. */
#include "test.h"

#include "util/file.h"

#include <sys/stat.h>

static qn_temp_dir make(void)
{
    qn_temp_dir dir = { 0 };
    qn_err err = { 0 };

    if (qn_temp_dir_make(&dir, &err) != QN_OK)
        fail_msg("%s", err.text);
    return dir;
}

static void a_new_folder_is_empty_and_for_its_owner_only(void **state)
{
    qn_temp_dir dir = make(), other = make();
    struct stat info;

    (void)state;
    assert_int_equal(stat(dir.path, &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    assert_int_equal(info.st_mode & 077, 0);
    assert_string_not_equal(dir.path, other.path);
    qn_temp_dir_remove(&dir);
    qn_temp_dir_remove(&other);
}

static void removing_takes_everything_in_it_but_follows_no_link(void **state)
{
    qn_temp_dir dir = make(), outside = make();
    char path[1200], link[1200];
    qn_err err = { 0 };

    (void)state;
    snprintf(path, sizeof path, "%s/a/b", dir.path);
    assert_int_equal(qn_make_dirs(path, &err), QN_OK);
    snprintf(path, sizeof path, "%s/a/b/file", dir.path);
    assert_int_equal(qn_file_write(path, "x", 1, &err), QN_OK);
    snprintf(path, sizeof path, "%s/kept", outside.path);
    assert_int_equal(qn_file_write(path, "x", 1, &err), QN_OK);
    snprintf(link, sizeof link, "%s/a/link", dir.path);
    assert_int_equal(symlink(outside.path, link), 0);

    snprintf(link, sizeof link, "%s", dir.path);
    qn_temp_dir_remove(&dir);
    assert_int_not_equal(access(link, F_OK), 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_string_equal(dir.path, "");
    qn_temp_dir_remove(&dir);
    qn_temp_dir_remove(&outside);
}

static void a_place_that_takes_none_is_an_error_that_names_it(void **state)
{
    const char *old = getenv("TMPDIR");
    char *kept = old ? strdup(old) : NULL;
    qn_temp_dir dir = { 0 };
    qn_err err = { 0 };

    (void)state;
    setenv("TMPDIR", "/dev/null", 1);
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "/dev/null/quern-"));
    assert_string_equal(dir.path, "");
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_folder_is_empty_and_for_its_owner_only),
        cmocka_unit_test(removing_takes_everything_in_it_but_follows_no_link),
        cmocka_unit_test(a_place_that_takes_none_is_an_error_that_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
