/* test_les_checkpoint.c - checkpoint files: round trip, damage, crafted ones; whose folder it
 * is. */
#include "test.h"

#include "domain/les/run/checkpoint.h"
#include "domain/les/run/folder.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/journal.h"

#include <fcntl.h>
#include <unistd.h>

static const char *path; /* of a file in the folder */

static int choose_path(void **state)
{
    if (make_folder(state) != 0)
        return -1;
    path = in_folder("les_checkpoint.qnc");
    return 0;
}

/* A state of 1001 bytes, an odd number, and vectors. */
static void write_one(void)
{
    qn_les_saved saved = { .step = 120 };
    qn_out out = { 0 };

    must(qn_les_saved_grow(&saved, QN_LES_SAVED_SIM, 1001, &failure));
    for (int i = 0; i < 1001; i++)
        ((uint8_t *)saved.parts[QN_LES_SAVED_SIM].data)[i] = (uint8_t)(i * 7);
    must(qn_les_saved_grow(&saved, QN_LES_SAVED_Z, 64, &failure));
    must(qn_out_open(path, &out, &failure));
    must(qn_les_checkpoint_write(&out, &saved, &failure));
    qn_les_saved_free(&saved);
}

static char *read_one(size_t *bytes)
{
    char *data;

    write_one();
    must(qn_file_read(path, &data, bytes, &failure));
    return data;
}

static void what_was_written_is_read(void **state)
{
    qn_les_saved saved = { 0 };

    (void)state;
    write_one();
    must(qn_les_checkpoint_read(path, &saved, &failure));
    assert_int_equal(saved.step, 120);
    assert_int_equal(saved.parts[QN_LES_SAVED_SIM].n, 1001);
    for (int i = 0; i < 1001; i++)
        assert_int_equal(((uint8_t *)saved.parts[QN_LES_SAVED_SIM].data)[i], (uint8_t)(i * 7));
    assert_int_equal(saved.parts[QN_LES_SAVED_Z].n, 64);
    assert_int_equal(saved.parts[QN_LES_SAVED_HASHES].n, 0);
    qn_les_saved_free(&saved);
}

/* The status of reading `bytes` bytes as a checkpoint; the message must name the file. */
static qn_status status_of(const char *data, size_t bytes)
{
    qn_les_saved saved = { 0 };
    qn_status st;

    must(qn_file_write(path, data, bytes, &failure));
    st = qn_les_checkpoint_read(path, &saved, &failure);
    if (st != QN_OK)
        assert_non_null(strstr(failure.text, "les_checkpoint.qnc"));
    qn_les_saved_free(&saved);
    return st;
}

static void a_cut_file_is_refused_at_every_length(void **state)
{
    size_t bytes;
    char *data = read_one(&bytes);

    (void)state;
    for (size_t n = 0; n < bytes; n += n < 100 ? 1 : 37)
        assert_int_equal(status_of(data, n), QN_ERR_INPUT);
    assert_int_equal(status_of(data, bytes), QN_OK);
    free(data);
}

static void a_flipped_bit_anywhere_is_found(void **state)
{
    size_t bytes;
    char *data = read_one(&bytes);

    (void)state;
    for (size_t i = 0; i < bytes; i += i < 100 ? 1 : 29) {
        data[i] = (char)(data[i] ^ (1 << i % 8));
        assert_int_equal(status_of(data, bytes), QN_ERR_INPUT);
        data[i] = (char)(data[i] ^ (1 << i % 8));
    }
    free(data);
}

/* With the checksum recomputed, only the sizes themselves can tell. */
static void sizes_that_a_file_does_not_have_are_refused(void **state)
{
    enum { HASH = 16, PAYLOAD = 48, SIZES = PAYLOAD + 8 };
    static const uint64_t sizes[] = {
        0, 1000, 1009, 1u << 20, UINT64_MAX, UINT64_MAX - 3, (uint64_t)1 << 63
    };
    size_t bytes;
    char *data = read_one(&bytes);

    (void)state;
    for (int part = 0; part < QN_LES_SAVED_PARTS; part++) {
        char *at = data + SIZES + 8 * (size_t)part;
        uint64_t had;

        memcpy(&had, at, sizeof had);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            if (sizes[i] == had)
                continue;
            memcpy(at, &sizes[i], sizeof had);
            qn_sha256_of(data + PAYLOAD, bytes - PAYLOAD, (uint8_t *)data + HASH);
            assert_int_equal(status_of(data, bytes), QN_ERR_INPUT);
        }
        memcpy(at, &had, sizeof had);
    }
    free(data);
}

static void a_missing_file_is_wrong_input(void **state)
{
    qn_les_saved saved = { 0 };

    (void)state;
    unlink(path);
    must_fail(qn_les_checkpoint_read(path, &saved, &failure), QN_ERR_INPUT, path);
}

/* Folders. */

static qn_les_options config_in(const char *out, const char *name, const char *value)
{
    const char *const pairs[] = { "n", "32", "out", out, name, value, "resume", "1", NULL };
    qn_les_options config;

    must(qn_les_options_make(NULL, pairs, NULL, &config, &failure));
    return config;
}

/* A folder is made, left with a fact as if the run had been interrupted, and opened again. */
static void another_run_is_refused_by_the_option_that_differs(void **state)
{
    const char *const out = in_folder("run");
    qn_les_options config = config_in(out, "seed", "7"), other = config_in(out, "nu0", "0.002");
    qn_les_options same = config_in(out, "checkpoint_every", "5");
    char first[QN_LES_STAMP_SIZE], second[QN_LES_STAMP_SIZE];
    qn_run_folder *folder = NULL;
    int is_shared;

    (void)state;
    must(qn_les_folder_open(&other, first, &is_shared, &folder, &failure));
    must(qn_run_folder_commit(folder, "checkpoint", "1", &failure));
    qn_run_folder_close(folder);
    must_fail(qn_les_folder_open(&config, second, &is_shared, &folder, &failure), QN_ERR_MISMATCH,
              "it has \"nu0=0.002\", this one has \"nu0=0.0001\"");
    must_fail(qn_les_folder_open(&same, second, &is_shared, &folder, &failure), QN_ERR_MISMATCH,
              "nu0");
    must(qn_les_folder_open(&other, second, &is_shared, &folder, &failure));
    assert_string_equal(first, second);
    qn_run_folder_close(folder);
}

/* The stamp becomes part of the names of files. */
static void a_stamp_that_is_none_is_not_taken_from_a_plan(void **state)
{
    static const char *const stamps[] = { "/../../../../pwn", "20260131T120000Z/../..", "2026",
                                          "20260131T12000../" };
    const char *const out = in_folder("run");
    qn_les_options config = config_in(out, "seed", "7");
    char stamp[QN_LES_STAMP_SIZE], line[64];
    qn_run_folder *folder = NULL;
    int is_shared;

    (void)state;
    for (size_t i = 0; i < sizeof stamps / sizeof *stamps; i++) {
        qn_journal journal = { .name = "journal" };

        must(qn_make_dirs(out, &failure));
        journal.fd = open(in_folder("run/" QN_RUN_JOURNAL), O_RDWR | O_CREAT | O_TRUNC, 0666);
        snprintf(line, sizeof line, "plan les %s \nfact checkpoint 1\n", stamps[i]);
        must(qn_journal_add(&journal, line, &failure));
        close(journal.fd);
        must_fail(qn_les_folder_open(&config, stamp, &is_shared, &folder, &failure),
                  QN_ERR_MISMATCH, "a different one");
        assert_true(stamp[0] == '2' && stamp[8] == 'T' && strlen(stamp) == 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_cut_file_is_refused_at_every_length),
        cmocka_unit_test(a_flipped_bit_anywhere_is_found),
        cmocka_unit_test(sizes_that_a_file_does_not_have_are_refused),
        cmocka_unit_test(a_missing_file_is_wrong_input),
        cmocka_unit_test(another_run_is_refused_by_the_option_that_differs),
        cmocka_unit_test(a_stamp_that_is_none_is_not_taken_from_a_plan),
    };
    return cmocka_run_group_tests(tests, choose_path, remove_folder);
}
