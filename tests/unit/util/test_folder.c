/* test_folder.c - lists of files, in an order that is the same everywhere. */
#include "test.h"

#include "util/file.h"
#include "util/folder.h"

static void path_of(const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", test_folder.path, name);
}

static void touch(const char *name)
{
    char path[1200];

    path_of(name, path, sizeof path);
    assert_int_equal(qn_make_parent(path, NULL), QN_OK);
    assert_int_equal(qn_file_write(path, "x", 1, NULL), QN_OK);
}

static void files_below_are_listed_by_name_with_numbers_by_value(void **state)
{
    static const char *const want[] = { "b.png", "frames/f_2.png", "frames/f_10.png",
                                        "frames/deep/f.png" };
    qn_folder folder;

    (void)state;
    for (size_t i = 0; i < 4; i++)
        touch(want[3 - i]);
    touch(".hidden");
    touch("frames/.part.png");
    assert_int_equal(qn_folder_list(test_folder.path, &folder, NULL), QN_OK);
    assert_int_equal(folder.n, 4);
    for (size_t i = 0; i < 4; i++) {
        size_t n_found = 0;

        for (size_t k = 0; k < folder.n; k++)
            n_found += !strcmp(folder.files[k], want[i]);
        assert_int_equal(n_found, 1);
    }
    for (size_t k = 1; k < folder.n; k++)
        assert_true(strverscmp(folder.files[k - 1], folder.files[k]) < 0);
    qn_folder_free(&folder);
}

static void links_to_folders_are_not_followed(void **state)
{
    char link[1200];
    qn_folder folder;

    (void)state;
    path_of("loop", link, sizeof link);
    assert_int_equal(symlink(test_folder.path, link), 0);
    assert_int_equal(qn_folder_list(test_folder.path, &folder, NULL), QN_OK);
    for (size_t k = 0; k < folder.n; k++)
        assert_int_not_equal(strncmp(folder.files[k], "loop", 4), 0);
    qn_folder_free(&folder);
    assert_int_equal(unlink(link), 0);
}

static void folder_that_is_not_there_is_an_input_error(void **state)
{
    qn_folder folder;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_folder_list("/nowhere/at/all", &folder, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "cannot list /nowhere/at/all: "));
    assert_int_equal(folder.n, 0);
}

static void endings_and_folders_are_known(void **state)
{
    (void)state;
    assert_true(qn_has_ending("a.png", ".png"));
    assert_false(qn_has_ending(".png", ".png"));
    assert_false(qn_has_ending("a.png.txt", ".png"));
    assert_true(qn_is_folder(test_folder.path));
    assert_false(qn_is_folder("/nowhere/at/all"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_below_are_listed_by_name_with_numbers_by_value),
        cmocka_unit_test(links_to_folders_are_not_followed),
        cmocka_unit_test(folder_that_is_not_there_is_an_input_error),
        cmocka_unit_test(endings_and_folders_are_known),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
