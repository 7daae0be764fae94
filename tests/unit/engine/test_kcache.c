/* test_kcache.c - compiled kernels on disk: the bytes of a file, which files are trusted and which
 * not. */
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "engine/device/kcache.h"
#include "util/file.h"

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* A folder that does not exist yet, within our own. */
typedef struct {
    qn_temp_dir root;
    char dir[1100], file[1300];
    qn_kcache *cache;
} fixture;

static int set_up(void **state)
{
    fixture *r = calloc(1, sizeof *r);
    qn_err err;

    if (!r || qn_temp_dir_make(&r->root, &err) != QN_OK)
        return -1;
    snprintf(r->dir, sizeof r->dir, "%s/a/kernels", r->root.path);
    snprintf(r->file, sizeof r->file, "%s/%s.qnk", r->dir, KEY);
    *state = r;
    return (r->cache = qn_kcache_new(r->dir)) ? 0 : -1;
}

static int tear_down(void **state)
{
    fixture *r = *state;

    qn_kcache_free(r->cache);
    qn_temp_dir_remove(&r->root);
    free(r);
    return 0;
}

static qn_status store(qn_kcache *cache, const char *key, const char *text, qn_bin_kind kind,
                       qn_err *err)
{
    const qn_blob blob = { (void *)(uintptr_t)text, strlen(text), kind };

    return qn_kcache_store(cache, key, &blob, err);
}

static void must_store(qn_kcache *cache, const char *key, const char *text)
{
    qn_err err = { .text = "" };

    if (store(cache, key, text, QN_BIN_PTX, &err) != QN_OK)
        fail_msg("%s", err.text);
}

static qn_kcache_result look(qn_kcache *cache)
{
    qn_blob blob;
    const qn_kcache_result found = qn_kcache_load(cache, KEY, &blob);

    assert_int_equal(found == QN_KCACHE_HIT, blob.data != NULL);
    free(blob.data);
    return found;
}

static int exists(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

static int count_files(const char *dir)
{
    DIR *folder = opendir(dir);
    const struct dirent *item;
    int n = 0;

    assert_non_null(folder);
    while ((item = readdir(folder)))
        n += item->d_name[0] != '.';
    closedir(folder);
    return n;
}

/* Replaces the file by `bytes` bytes of `data`. */
static void write_raw(const char *path, const void *data, size_t bytes)
{
    qn_err err;

    assert_int_equal(qn_file_write(path, data, bytes, &err), QN_OK);
    assert_int_equal(chmod(path, 0600), 0);
}

/* The form of a file. */

static void a_file_has_the_documented_bytes(void **state)
{
    /* "QNKC", version, kind, 0, bytes, SHA-256 of KEY "abc" by another program, "abc" */
    static const unsigned char want[] = {
        0x51, 0x4e, 0x4b, 0x43, 0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe5, 0xf2, 0x9a, 0x8e, 0x85, 0x92,
        0xc1, 0x40, 0xc4, 0xc8, 0x79, 0x17, 0xf1, 0x15, 0x7e, 0xa3, 0x89, 0x93, 0x4c, 0x98, 0xbe,
        0x25, 0x0b, 0xf6, 0xba, 0x1d, 0x84, 0x7e, 0xa8, 0xc0, 0x18, 0xc9, 0x61, 0x62, 0x63,
    };
    const fixture *r = *state;
    qn_err err;
    char *data;
    size_t bytes;

    assert_int_equal(store(r->cache, KEY, "abc", QN_BIN_OPENCL, &err), QN_OK);
    assert_int_equal(qn_file_read(r->file, &data, &bytes, &err), QN_OK);
    assert_int_equal(bytes, sizeof want);
    assert_memory_equal(data, want, sizeof want);
    assert_int_equal(QN_KCACHE_HEADER + 3, sizeof want);
    free(data);
}

static void an_entry_under_another_name_is_refused(void **state)
{
    const fixture *r = *state;
    char key[] = KEY, other[1300];
    qn_blob blob;

    key[0] = 'f';
    must_store(r->cache, KEY, "payload");
    snprintf(other, sizeof other, "%s/%s.qnk", r->dir, key);
    assert_int_equal(link(r->file, other), 0);
    assert_int_equal(qn_kcache_load(r->cache, key, &blob), QN_KCACHE_BAD);
    assert_false(exists(other));
    assert_int_equal(look(r->cache), QN_KCACHE_HIT);
}

static void what_was_stored_is_loaded_with_its_kind(void **state)
{
    const fixture *r = *state;
    qn_err err;
    qn_blob blob;

    for (int kind = QN_BIN_CUBIN; kind < QN_N_BINS; kind++) {
        assert_int_equal(store(r->cache, KEY, "payload", (qn_bin_kind)kind, &err), QN_OK);
        assert_int_equal(qn_kcache_load(r->cache, KEY, &blob), QN_KCACHE_HIT);
        assert_int_equal(blob.kind, kind);
        assert_int_equal(blob.bytes, 7);
        assert_memory_equal(blob.data, "payload", 7);
        free(blob.data);
    }
    assert_int_equal(count_files(r->dir), 1);
}

static void folder_and_file_are_for_the_owner_only(void **state)
{
    const fixture *r = *state;
    const mode_t old = umask(0);
    struct stat info;

    must_store(r->cache, KEY, "abc");
    umask(old);
    assert_int_equal(stat(r->dir, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(r->file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void a_key_that_is_not_there_is_a_miss(void **state)
{
    const fixture *r = *state;

    assert_int_equal(look(r->cache), QN_KCACHE_MISS);
    assert_false(exists(r->dir)); /* looking creates nothing */
    must_store(r->cache, "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "x");
    assert_int_equal(look(r->cache), QN_KCACHE_MISS);
}

static void without_a_folder_nothing_is_kept(void **state)
{
    qn_kcache *off = qn_kcache_new(NULL);

    (void)state;
    must_store(off, KEY, "abc");
    assert_int_equal(look(off), QN_KCACHE_MISS);
    qn_kcache_free(off);
}

/* Files that are not trusted. */

/* The entry is bad and removed, and the next store puts a good one in its place. */
static void expect_bad(const fixture *r)
{
    assert_int_equal(look(r->cache), QN_KCACHE_BAD);
    assert_false(exists(r->file));
    assert_int_equal(look(r->cache), QN_KCACHE_MISS);
    must_store(r->cache, KEY, "abc");
    assert_int_equal(look(r->cache), QN_KCACHE_HIT);
}

static void every_damaged_byte_is_noticed(void **state)
{
    const fixture *r = *state;
    qn_err err;
    char *data;
    size_t bytes;

    must_store(r->cache, KEY, "abc");
    assert_int_equal(qn_file_read(r->file, &data, &bytes, &err), QN_OK);
    for (size_t i = 0; i < bytes; i++) {
        if (i == 8)
            continue; /* this byte is the kind: another value may be valid too */
        data[i] ^= 1;
        write_raw(r->file, data, bytes);
        data[i] ^= 1;
        if (look(r->cache) != QN_KCACHE_BAD)
            fail_msg("byte %zu was changed and nobody noticed", i);
        assert_false(exists(r->file));
    }
    write_raw(r->file, data, bytes);
    assert_int_equal(look(r->cache), QN_KCACHE_HIT);
    free(data);
}

static void a_file_that_is_cut_or_too_long_is_bad(void **state)
{
    const fixture *r = *state;
    qn_err err;
    char *data;
    size_t bytes;

    must_store(r->cache, KEY, "abc");
    assert_int_equal(qn_file_read(r->file, &data, &bytes, &err), QN_OK); /* a NUL follows */
    for (size_t n = 0; n <= bytes + 1; n++) {
        write_raw(r->file, data, n);
        assert_int_equal(look(r->cache), n == bytes ? QN_KCACHE_HIT : QN_KCACHE_BAD);
    }
    free(data);
}

static void set_byte(const fixture *r, size_t at, char value)
{
    qn_err err;
    char *data;
    size_t bytes;

    must_store(r->cache, KEY, "abc");
    assert_int_equal(qn_file_read(r->file, &data, &bytes, &err), QN_OK);
    data[at] = value;
    write_raw(r->file, data, bytes);
    free(data);
}

static void another_version_or_kind_is_bad(void **state)
{
    const fixture *r = *state;

    set_byte(r, 4, QN_KCACHE_VERSION + 1);
    expect_bad(r);
    set_byte(r, 8, QN_BIN_NONE);
    expect_bad(r);
    set_byte(r, 8, QN_N_BINS);
    expect_bad(r);
}

static void a_size_beyond_the_cap_of_an_entry_is_bad(void **state)
{
    const fixture *r = *state;

    set_byte(r, 19, 5); /* 3 + 5 * 2^24 bytes: more than 64 MiB */
    assert_int_equal(truncate(r->file, QN_KCACHE_HEADER + 3 + ((off_t)5 << 24)), 0);
    expect_bad(r);
}

static void a_link_is_not_followed(void **state)
{
    const fixture *r = *state;
    char other[1400];

    must_store(r->cache, KEY, "abc");
    snprintf(other, sizeof other, "%s/elsewhere", r->root.path);
    assert_int_equal(rename(r->file, other), 0);
    assert_int_equal(symlink(other, r->file), 0);
    expect_bad(r);
    assert_true(exists(other)); /* the link was removed, not its target */
}

static void a_pipe_does_not_make_the_caller_wait(void **state)
{
    const fixture *r = *state;

    must_store(r->cache, KEY, "abc");
    assert_int_equal(unlink(r->file), 0);
    assert_int_equal(mkfifo(r->file, 0600), 0);
    expect_bad(r);
}

static void a_file_that_others_may_write_is_bad(void **state)
{
    static const mode_t modes[] = { 0620, 0602, 0666 };
    const fixture *r = *state;

    for (int i = 0; i < 3; i++) {
        must_store(r->cache, KEY, "abc");
        assert_int_equal(chmod(r->file, modes[i]), 0);
        expect_bad(r);
    }
}

static void a_folder_that_others_may_write_is_not_used(void **state)
{
    static const mode_t modes[] = { 0770, 0707, 0777 };
    const fixture *r = *state;
    qn_err err;

    for (int i = 0; i < 3; i++) {
        must_store(r->cache, KEY, "abc");
        assert_int_equal(chmod(r->dir, modes[i]), 0);
        assert_int_equal(look(r->cache), QN_KCACHE_BAD);
        assert_int_equal(store(r->cache, KEY, "abc", QN_BIN_PTX, &err), QN_ERR_IO);
        assert_non_null(strstr(err.text, r->dir));
        assert_int_equal(count_files(r->dir), 0);
        assert_int_equal(chmod(r->dir, 0700), 0);
    }
}

static void what_belongs_to_somebody_else_is_not_used(void **state)
{
    const fixture *r = *state;
    qn_err err;

    if (geteuid() != 0)
        skip(); /* only root can give files to others */
    must_store(r->cache, KEY, "abc");
    assert_int_equal(chown(r->file, 12345, (gid_t)-1), 0);
    expect_bad(r);
    assert_int_equal(chown(r->dir, 12345, (gid_t)-1), 0);
    assert_int_equal(look(r->cache), QN_KCACHE_BAD);
    assert_int_equal(store(r->cache, KEY, "abc", QN_BIN_PTX, &err), QN_ERR_IO);
}

/* What cannot be stored. */

static void a_file_where_a_folder_is_needed_is_an_error_with_its_name(void **state)
{
    const fixture *r = *state;
    char blocker[1200];
    qn_err err;

    snprintf(blocker, sizeof blocker, "%s/a", r->root.path);
    write_raw(blocker, "x", 1);
    assert_int_equal(store(r->cache, KEY, "abc", QN_BIN_PTX, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, blocker));
    assert_int_equal(look(r->cache), QN_KCACHE_MISS);
}

static void a_folder_in_the_place_of_an_entry_is_an_error(void **state)
{
    const fixture *r = *state;
    qn_err err;

    must_store(r->cache, KEY, "abc");
    assert_int_equal(unlink(r->file), 0);
    assert_int_equal(mkdir(r->file, 0700), 0);
    assert_int_equal(look(r->cache), QN_KCACHE_BAD);
    assert_int_equal(store(r->cache, KEY, "abc", QN_BIN_PTX, &err), QN_ERR_IO);
    assert_int_equal(count_files(r->dir), 1); /* no temporary is left */
}

/* In a separate process, since below root the limit cannot be raised again. */
static int store_on_full_disk(const fixture *r, size_t limit)
{
    const struct rlimit room = { limit, limit };
    qn_err err = { .text = "" };
    char big[20000];

    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &room) != 0)
        return 2;
    return store(r->cache, KEY, big, QN_BIN_PTX, &err) == QN_ERR_IO && strstr(err.text, r->dir) ? 0
                                                                                                : 1;
}

static void a_full_disk_is_an_error_and_leaves_the_old_entry(void **state)
{
    static const size_t limits[] = { 0, 20, 56, 4096 };
    const fixture *r = *state;

    must_store(r->cache, KEY, "abc");
    for (int i = 0; i < 4; i++) {
        const pid_t child = fork();
        int status = -1;

        if (!child)
            _exit(store_on_full_disk(r, limits[i]));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(count_files(r->dir), 1);
        assert_int_equal(look(r->cache), QN_KCACHE_HIT);
    }
}

/* Age and size. */

static void key_of(int i, char out[QN_KEY_CHARS + 1])
{
    memset(out, '0' + i, QN_KEY_CHARS);
    out[QN_KEY_CHARS] = 0;
}

static void path_of(const fixture *r, int i, char *out, size_t size)
{
    char key[QN_KEY_CHARS + 1];

    key_of(i, key);
    snprintf(out, size, "%s/%s.qnk", r->dir, key);
}

/* An entry of `bytes` bytes, last used `age_s` ago, that takes no space on the disk. */
static void make_entry(const fixture *r, int i, off_t bytes, int age_s)
{
    const time_t used = time(NULL) - age_s;
    const struct timespec times[2] = { { .tv_sec = used }, { .tv_sec = used } };
    char key[QN_KEY_CHARS + 1], path[1300];

    key_of(i, key);
    must_store(r->cache, key, "abc");
    path_of(r, i, path, sizeof path);
    if (bytes)
        assert_int_equal(truncate(path, bytes), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int has(const fixture *r, int i)
{
    char path[1300];

    path_of(r, i, path, sizeof path);
    return exists(path);
}

static void over_512_mib_the_entries_used_longest_ago_go(void **state)
{
    const off_t mib = 1 << 20;
    const fixture *r = *state;

    make_entry(r, 1, 200 * mib, 100);
    make_entry(r, 2, 200 * mib, 300);
    make_entry(r, 3, 111 * mib, 200); /* together under 512 MiB with the next */
    make_entry(r, 4, 0, 50);
    assert_true(has(r, 1) && has(r, 2) && has(r, 3) && has(r, 4));
    make_entry(r, 5, 200 * mib, 0);
    must_store(r->cache, KEY, "abc");
    assert_false(has(r, 2));
    assert_true(has(r, 1) && has(r, 3) && has(r, 4) && has(r, 5));
    assert_int_equal(look(r->cache), QN_KCACHE_HIT);
}

static void loading_an_entry_makes_it_young(void **state)
{
    const fixture *r = *state;
    qn_kcache_entry *list;
    qn_blob blob;
    char key[QN_KEY_CHARS + 1];
    qn_err err;
    int n;

    for (int i = 1; i <= 3; i++)
        make_entry(r, i, 0, 1000 - i);
    key_of(1, key);
    assert_int_equal(qn_kcache_load(r->cache, key, &blob), QN_KCACHE_HIT);
    free(blob.data);
    assert_int_equal(qn_kcache_list(r->dir, &list, &n, &err), QN_OK);
    assert_int_equal(n, 3);
    assert_string_equal(list[2].key, key);
    assert_true(list[2].used_s > list[1].used_s);
    free(list);
}

static void the_list_is_oldest_first_with_kind_and_size(void **state)
{
    const fixture *r = *state;
    qn_kcache_entry *list;
    char path[1300];
    qn_err err;
    int n;

    make_entry(r, 1, 0, 10);
    make_entry(r, 2, 5000, 30); /* not one of our files any more */
    make_entry(r, 3, 0, 20);
    snprintf(path, sizeof path, "%s/notes.txt", r->dir);
    write_raw(path, "x", 1);
    assert_int_equal(qn_kcache_list(r->dir, &list, &n, &err), QN_OK);
    assert_int_equal(n, 3);
    assert_int_equal(list[0].key[0], '2');
    assert_int_equal(list[0].kind, 0);
    assert_int_equal(list[0].bytes, 5000);
    assert_int_equal(list[1].key[0], '3');
    assert_int_equal(list[2].key[0], '1');
    assert_int_equal(list[2].kind, QN_BIN_PTX);
    assert_int_equal(list[2].bytes, QN_KCACHE_HEADER + 3);
    free(list);
}

/* The file left by a process that was killed `age_s` ago while storing. */
static void make_leftover(const fixture *r, const char *end, int age_s, char *path, size_t size)
{
    const struct timespec times[2] = { { .tv_sec = time(NULL) - age_s },
                                       { .tv_sec = time(NULL) - age_s } };

    snprintf(path, size, "%s%s", r->file, end);
    write_raw(path, "QNKC", 4);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void files_of_killed_processes_go_after_an_hour(void **state)
{
    enum { OLD = 3700, YOUNG = 3500 };
    const fixture *r = *state;
    char old[1400], young[1400], other[1400];
    qn_err err;
    int n;

    must_store(r->cache, KEY, "abc");
    make_leftover(r, ".aB3xYz", OLD, old, sizeof old);
    make_leftover(r, ".qWeRtY", YOUNG, young, sizeof young); /* may still be in use */
    qn_kcache_free(qn_kcache_new(r->dir));
    assert_true(!exists(old) && exists(young) && exists(r->file));
    make_leftover(r, ".aB3xYz", OLD, old, sizeof old);
    assert_int_equal(qn_kcache_clear(r->dir, &n, &err), QN_OK);
    assert_int_equal(n, 1);
    assert_true(!exists(old) && exists(young) && !exists(r->file));
    make_leftover(r, ".note", OLD, other, sizeof other); /* not the name of a temporary */
    qn_kcache_free(qn_kcache_new(r->dir));
    assert_true(exists(other));
}

static void clearing_removes_entries_and_nothing_else(void **state)
{
    const fixture *r = *state;
    char path[1300], link[1300];
    qn_err err;
    int n;

    make_entry(r, 1, 0, 10);
    make_entry(r, 2, 5000, 30);
    snprintf(path, sizeof path, "%s/notes.txt", r->dir);
    write_raw(path, "x", 1);
    path_of(r, 3, link, sizeof link);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(qn_kcache_clear(r->dir, &n, &err), QN_OK);
    assert_int_equal(n, 3);
    assert_int_equal(count_files(r->dir), 1);
    assert_true(exists(path));
    assert_int_equal(qn_kcache_clear(r->dir, &n, &err), QN_OK);
    assert_int_equal(n, 0);
}

static void a_missing_folder_is_empty_and_a_file_is_an_error(void **state)
{
    const fixture *r = *state;
    char path[1300];
    qn_kcache_entry *list;
    qn_err err;
    int n = -1;

    assert_int_equal(qn_kcache_list(r->dir, &list, &n, &err), QN_OK);
    assert_int_equal(n, 0);
    assert_null(list);
    assert_int_equal(qn_kcache_clear(r->dir, &n, &err), QN_OK);
    assert_int_equal(n, 0);
    snprintf(path, sizeof path, "%s/file", r->root.path);
    write_raw(path, "x", 1);
    assert_int_equal(qn_kcache_list(path, &list, &n, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(qn_kcache_clear(path, &n, &err), QN_ERR_IO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_has_the_documented_bytes),
        TEST(what_was_stored_is_loaded_with_its_kind),
        TEST(an_entry_under_another_name_is_refused),
        TEST(folder_and_file_are_for_the_owner_only),
        TEST(a_key_that_is_not_there_is_a_miss),
        TEST(without_a_folder_nothing_is_kept),
        TEST(every_damaged_byte_is_noticed),
        TEST(a_file_that_is_cut_or_too_long_is_bad),
        TEST(another_version_or_kind_is_bad),
        TEST(a_size_beyond_the_cap_of_an_entry_is_bad),
        TEST(a_link_is_not_followed),
        TEST(a_pipe_does_not_make_the_caller_wait),
        TEST(a_file_that_others_may_write_is_bad),
        TEST(a_folder_that_others_may_write_is_not_used),
        TEST(what_belongs_to_somebody_else_is_not_used),
        TEST(a_file_where_a_folder_is_needed_is_an_error_with_its_name),
        TEST(a_folder_in_the_place_of_an_entry_is_an_error),
        TEST(a_full_disk_is_an_error_and_leaves_the_old_entry),
        TEST(over_512_mib_the_entries_used_longest_ago_go),
        TEST(loading_an_entry_makes_it_young),
        TEST(the_list_is_oldest_first_with_kind_and_size),
        TEST(files_of_killed_processes_go_after_an_hour),
        TEST(clearing_removes_entries_and_nothing_else),
        TEST(a_missing_folder_is_empty_and_a_file_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
