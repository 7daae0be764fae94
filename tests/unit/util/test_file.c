/* test_file.c - whole files, replaced in one piece, and folders. */
#include "test.h"

#include "util/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char dir[] = "/tmp/quern-test-file-XXXXXX";
static char path_text[512];

static const char *in_dir(const char *name)
{
    snprintf(path_text, sizeof path_text, "%s/%s", dir, name);
    return path_text;
}

static int count_files(void)
{
    DIR *d = opendir(dir);
    int n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* . and .. */
}

static void expect_content(const char *path, const char *content)
{
    char *data = NULL;
    size_t bytes = 0;

    assert_int_equal(qn_file_read(path, &data, &bytes, NULL), QN_OK);
    assert_int_equal(bytes, strlen(content));
    assert_memory_equal(data, content, bytes + 1);
    free(data);
}

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    char command[600];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static void what_is_written_is_read_back_with_a_nul(void **state)
{
    static const char bytes[] = "one\0two\n";
    char *data = NULL;
    size_t n = 0;

    (void)state;
    assert_int_equal(qn_file_write(in_dir("a"), bytes, sizeof bytes, NULL), QN_OK);
    assert_int_equal(qn_file_read(in_dir("a"), &data, &n, NULL), QN_OK);
    assert_int_equal(n, sizeof bytes);
    assert_memory_equal(data, bytes, n);
    assert_int_equal(data[n], 0);
    free(data);
    assert_int_equal(count_files(), 1);
}

static void an_empty_file_reads_as_an_empty_string(void **state)
{
    (void)state;
    assert_int_equal(qn_file_write(in_dir("empty"), NULL, 0, NULL), QN_OK);
    expect_content(in_dir("empty"), "");
}

static void a_file_that_claims_no_size_is_read_whole(void **state)
{
    char *data = NULL;
    size_t n = 0;

    (void)state;
    assert_int_equal(qn_file_read("/proc/self/status", &data, &n, NULL), QN_OK);
    assert_true(n > 100 && strlen(data) == n);
    free(data);
}

static void a_missing_file_and_a_folder_fail_with_their_name(void **state)
{
    char *data = NULL;
    size_t n = 7;
    qn_err err;

    (void)state;
    assert_int_equal(qn_file_read(in_dir("none"), &data, &n, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "none: No such file"));
    assert_int_equal(qn_file_read(dir, &data, &n, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "it is a folder"));
    assert_int_equal(qn_file_write(dir, "x", 1, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "it is a folder"));
    assert_int_equal(qn_file_write("", "x", 1, &err), QN_ERR_IO);
    assert_null(data);
    assert_int_equal(n, 7);
}

static void until_commit_readers_see_the_old_content(void **state)
{
    qn_out out;

    (void)state;
    assert_int_equal(qn_file_write(in_dir("f"), "old", 3, NULL), QN_OK);
    assert_int_equal(qn_out_open(in_dir("f"), &out, NULL), QN_OK);
    fputs("new content", out.file);
    fflush(out.file);
    expect_content(in_dir("f"), "old");
    assert_int_equal(qn_out_commit(&out, NULL), QN_OK);
    expect_content(in_dir("f"), "new content");
    assert_int_equal(count_files(), 1);
    qn_out_abort(&out);
}

static void abort_leaves_the_old_file_and_no_temporary(void **state)
{
    qn_out out;

    (void)state;
    assert_int_equal(qn_file_write(in_dir("f"), "old", 3, NULL), QN_OK);
    assert_int_equal(qn_out_open(in_dir("f"), &out, NULL), QN_OK);
    fputs("half", out.file);
    qn_out_abort(&out);
    qn_out_abort(&out);
    expect_content(in_dir("f"), "old");
    assert_int_equal(count_files(), 1);
}

/* A kill between two calls leaves it; no other process removes it while its writer lives. */
static void what_a_killed_writer_has_left_is_removed(void **state)
{
    int fd;

    (void)state;
    must(qn_file_write(in_dir("a.csv"), "old", 3, &failure));
    must(qn_file_write(in_dir("a.csv.quern-tmp"), "left", 4, &failure));
    must(qn_file_write(in_dir("a.csv"), "new", 3, &failure));
    expect_content(in_dir("a.csv"), "new");
    assert_int_not_equal(access(in_dir("a.csv.quern-tmp"), F_OK), 0);

    must(qn_file_write(in_dir("a.csv.quern-tmp"), "living", 6, &failure));
    assert_true((fd = open(in_dir("a.csv.quern-tmp"), O_RDONLY)) >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    must_fail(qn_file_write(in_dir("a.csv"), "third", 5, &failure), QN_ERR_IO, "a.csv");
    expect_content(in_dir("a.csv"), "new");
    expect_content(in_dir("a.csv.quern-tmp"), "living");
    close(fd);
}

static void a_full_disk_leaves_the_old_file_and_no_temporary(void **state)
{
    struct rlimit before;
    char big[8192];
    qn_err err;

    (void)state;
    memset(big, 'x', sizeof big);
    assert_int_equal(qn_file_write(in_dir("f"), "old", 3, NULL), QN_OK);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 4096, before.rlim_max });
    const qn_status st = qn_file_write(in_dir("f"), big, sizeof big, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(st, QN_ERR_IO);
    assert_non_null(strstr(err.text, "/f: File too large"));
    expect_content(in_dir("f"), "old");
    assert_int_equal(count_files(), 1);
}

static void a_failed_rename_removes_the_temporary(void **state)
{
    qn_out out;
    qn_err err;

    (void)state;
    assert_int_equal(qn_out_open(in_dir("late"), &out, NULL), QN_OK);
    assert_int_equal(mkdir(in_dir("late"), 0777), 0);
    assert_int_equal(qn_out_commit(&out, &err), QN_ERR_IO);
    assert_int_equal(count_files(), 1);
}

static void a_missing_folder_fails_with_the_target_name(void **state)
{
    qn_err err;

    (void)state;
    assert_int_equal(qn_file_write(in_dir("no/such/f"), "x", 1, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "no/such/f: No such file"));
}

static void a_link_is_followed_and_the_mode_is_kept(void **state)
{
    struct stat info;

    (void)state;
    assert_int_equal(qn_file_write(in_dir("target"), "old", 3, NULL), QN_OK);
    assert_int_equal(chmod(in_dir("target"), 0640), 0);
    assert_int_equal(symlink("target", in_dir("link")), 0);
    assert_int_equal(qn_file_write(in_dir("link"), "new", 3, NULL), QN_OK);
    assert_int_equal(lstat(in_dir("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(in_dir("target"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    expect_content(in_dir("target"), "new");
}

static void a_new_file_obeys_the_umask(void **state)
{
    struct stat info;
    const mode_t before = umask(027);

    (void)state;
    const qn_status st = qn_file_write(in_dir("f"), "x", 1, NULL);
    umask(before);
    assert_int_equal(st, QN_OK);
    assert_int_equal(stat(in_dir("f"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
}

static void devices_are_written_not_replaced(void **state)
{
    struct stat info;

    (void)state;
    assert_int_equal(qn_file_write("/dev/null", "x", 1, NULL), QN_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void folders_are_made_with_all_parents(void **state)
{
    struct stat info;
    qn_err err;

    (void)state;
    assert_int_equal(qn_make_dirs(in_dir("x//y/z/"), NULL), QN_OK);
    assert_int_equal(qn_make_dirs(in_dir("x/y/z"), NULL), QN_OK);
    assert_int_equal(stat(in_dir("x/y/z"), &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    assert_int_equal(qn_make_dirs("/", NULL), QN_OK);
    assert_int_equal(qn_make_dirs("", &err), QN_ERR_IO);
}

static void a_file_in_the_way_of_a_folder_is_named(void **state)
{
    qn_err err;

    (void)state;
    assert_int_equal(qn_file_write(in_dir("f"), "x", 1, NULL), QN_OK);
    assert_int_equal(qn_make_dirs(in_dir("f"), &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "/f: Not a directory"));
    assert_int_equal(qn_make_dirs(in_dir("f/g"), &err), QN_ERR_IO);
}

static void the_parent_of_a_file_is_made_but_not_the_file(void **state)
{
    struct stat info;

    (void)state;
    assert_int_equal(qn_make_parent(in_dir("p/q/file.csv"), NULL), QN_OK);
    assert_int_equal(stat(in_dir("p/q"), &info), 0);
    assert_int_not_equal(stat(in_dir("p/q/file.csv"), &info), 0);
    assert_int_equal(qn_make_parent("plain.csv", NULL), QN_OK);
    assert_int_equal(qn_make_parent("/plain.csv", NULL), QN_OK);
}

static void the_cache_folder_is_found_in_the_documented_order(void **state)
{
    char out[64];

    (void)state;
    setenv("HOME", "/home/u", 1);
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    setenv("QUERN_CACHE_DIR", "/own", 1);
    assert_int_equal(qn_cache_dir(out, sizeof out, "/given"), QN_OK);
    assert_string_equal(out, "/given");
    assert_int_equal(qn_cache_dir(out, sizeof out, NULL), QN_OK);
    assert_string_equal(out, "/own");
    setenv("QUERN_CACHE_DIR", "", 1);
    assert_int_equal(qn_cache_dir(out, sizeof out, ""), QN_OK);
    assert_string_equal(out, "/xdg/quern");
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_int_equal(qn_cache_dir(out, sizeof out, NULL), QN_OK);
    assert_string_equal(out, "/home/u/.cache/quern");
    unsetenv("HOME");
    assert_int_equal(qn_cache_dir(out, sizeof out, NULL), QN_ERR_INIT);
    assert_string_equal(out, "");
    assert_int_equal(qn_cache_dir(out, 4, "/given"), QN_ERR_LIMIT);
    assert_string_equal(out, "");
}

static void a_file_above_the_limit_is_refused_before_it_is_read(void **state)
{
    char *data = NULL;
    size_t bytes = 0;

    (void)state;
    assert_int_equal(qn_file_write(in_dir("a"), "12345", 5, NULL), QN_OK);
    must(qn_file_read_most(in_dir("a"), 5, &data, &bytes, &failure));
    assert_string_equal(data, "12345");
    free(data);
    must_fail(qn_file_read_most(in_dir("a"), 4, &data, &bytes, &failure), QN_ERR_LIMIT,
              "/a: 5 bytes, the limit for such a file is 4");
    assert_int_equal(truncate(in_dir("a"), (off_t)1 << 40), 0); /* larger than memory */
    must_fail(qn_file_read(in_dir("a"), &data, &bytes, &failure), QN_ERR_LIMIT,
              "/a: 1099511627776 bytes, the limit for such a file is 68719476736");
    /* It reports no size. */
    must_fail(qn_file_read_most("/proc/self/maps", 100, &data, &bytes, &failure), QN_ERR_LIMIT,
              "/proc/self/maps: ");
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(what_is_written_is_read_back_with_a_nul),
        IN_DIR(an_empty_file_reads_as_an_empty_string),
        IN_DIR(a_file_that_claims_no_size_is_read_whole),
        IN_DIR(a_file_above_the_limit_is_refused_before_it_is_read),
        IN_DIR(a_missing_file_and_a_folder_fail_with_their_name),
        IN_DIR(until_commit_readers_see_the_old_content),
        IN_DIR(abort_leaves_the_old_file_and_no_temporary),
        IN_DIR(what_a_killed_writer_has_left_is_removed),
        IN_DIR(a_full_disk_leaves_the_old_file_and_no_temporary),
        IN_DIR(a_failed_rename_removes_the_temporary),
        IN_DIR(a_missing_folder_fails_with_the_target_name),
        IN_DIR(a_link_is_followed_and_the_mode_is_kept),
        IN_DIR(a_new_file_obeys_the_umask),
        IN_DIR(devices_are_written_not_replaced),
        IN_DIR(folders_are_made_with_all_parents),
        IN_DIR(a_file_in_the_way_of_a_folder_is_named),
        IN_DIR(the_parent_of_a_file_is_made_but_not_the_file),
        cmocka_unit_test(the_cache_folder_is_found_in_the_documented_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
