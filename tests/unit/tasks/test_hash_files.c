/* test_hash_files.c - roots of files, with batches and subtrees small enough to overflow. */
/* test: no-tsan */
#include "engine_fixture.h"

#include "domain/tasks/hash_files.h"
#include "util/hash.h"

enum { NODE = QN_MERKLE_NODE, MAX_FILES = 12 };

static char folder[] = "/tmp/quern-hash-XXXXXX";
static char paths[MAX_FILES][64];

/* Sizes around the edges of chunks (10 bytes), batches (6 chunks) and subtrees (8 leaves). */
static const int sizes[MAX_FILES] = { 0, 1, 10, 11, 60, 61, 80, 81, 95, 161, 1000, 0 };

static int make_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    for (int f = 0; f < MAX_FILES; f++) {
        FILE *file;

        snprintf(paths[f], sizeof paths[f], "%s/%d", folder, f);
        if (!(file = fopen(paths[f], "wb")))
            return -1;
        for (int i = 0; i < sizes[f]; i++)
            fputc(qn_random_byte((uint64_t)f, (uint64_t)i), file);
        fclose(file);
    }
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    for (int f = 0; f < MAX_FILES; f++)
        unlink(paths[f]);
    return rmdir(folder);
}

/* The root of file f, level by level in one array. */
static void want_root(qn_merkle_rule rule, int f, int chunk, uint8_t out[NODE])
{
    uint8_t nodes[1100][NODE], pair[1 + 2 * NODE], data[1000];
    const int is_rfc = rule == QN_MERKLE_RFC6962;
    int n = 0;

    for (int i = 0; i < sizes[f]; i++)
        data[i] = qn_random_byte((uint64_t)f, (uint64_t)i);
    for (int at = 0; at < sizes[f] || !n; at += chunk) {
        const int bytes = sizes[f] - at < chunk ? sizes[f] - at : chunk;

        qn_sha256_of(data + at, (size_t)bytes, nodes[n]);
        if (is_rfc) {
            pair[0] = 0;
            memcpy(pair + 1, nodes[n], NODE);
            qn_sha256_of(pair, 1 + NODE, nodes[n]);
        }
        n++;
    }
    for (; n > 1; n = (n + 1) / 2)
        for (int i = 0; i < (n + 1) / 2; i++) {
            const int has_right = 2 * i + 1 < n;

            pair[0] = 1;
            memcpy(pair + 1, nodes[2 * i], NODE);
            memcpy(pair + 1 + NODE, nodes[has_right ? 2 * i + 1 : 2 * i], NODE);
            if (is_rfc && !has_right)
                memcpy(nodes[i], pair + 1, NODE);
            else
                qn_sha256_of(pair + !is_rfc, (size_t)(is_rfc + 2 * NODE), nodes[i]);
        }
    memcpy(out, nodes[0], NODE);
}

typedef struct {
    uint8_t roots[MAX_FILES][NODE];
    const char *told[MAX_FILES];
    int n;
} seen;

static qn_status keep(void *user, const char *path, const uint8_t root[NODE], qn_err *err)
{
    seen *s = user;

    (void)err;
    s->told[s->n] = path;
    memcpy(s->roots[s->n++], root, NODE);
    return QN_OK;
}

static void check_all(qn_ctx *ctx, const qn_hash_options *options, int chunk)
{
    const char *list[MAX_FILES];
    seen s = { .n = 0 };
    qn_err err = { .text = "" };

    for (int f = 0; f < MAX_FILES; f++)
        list[f] = paths[f];
    if (qn_hash_files(ctx, list, MAX_FILES, options, keep, &s, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(s.n, MAX_FILES);
    for (int f = 0; f < MAX_FILES; f++) {
        uint8_t want[NODE];

        want_root(options->rule, f, chunk, want);
        assert_string_equal(s.told[f], paths[f]);
        assert_memory_equal(s.roots[f], want, NODE);
    }
}

static void roots_do_not_depend_on_batches_subtrees_or_depth(void **state)
{
    static const int folds[] = { 1, 2, 8, 0 }, batches[] = { 1, 60, 75, 0 }, depths[] = { 1, 3 };

    (void)state;
    for (int rule = QN_MERKLE_PLAIN; rule <= QN_MERKLE_RFC6962; rule++)
        for (int f = 0; f < 4; f++)
            for (int b = 0; b < 4; b++) {
                qn_ctx *ctx = open_sim(NULL);

                for (int d = 0; d < 2; d++)
                    check_all(ctx,
                              &(qn_hash_options){ .chunk_bytes = 10,
                                                  .batch_bytes = batches[b],
                                                  .fold_leaves = folds[f],
                                                  .depth = depths[d],
                                                  .rule = (qn_merkle_rule)rule },
                              10);
                qn_ctx_close(ctx);
            }
}

static void a_chunk_may_be_one_byte_or_the_default(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));

    (void)state;
    check_all(ctx, &(qn_hash_options){ .chunk_bytes = 1, .fold_leaves = 64 }, 1);
    check_all(ctx, &(qn_hash_options){ 0 }, QN_HASH_CHUNK);
    qn_ctx_close(ctx);
}

static void a_device_that_fails_changes_no_root(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim", .fault = "launch:sha256@3*2,launch:merkle*1", .log = "none"));

    (void)state;
    check_all(ctx, &(qn_hash_options){ .chunk_bytes = 10, .batch_bytes = 60, .fold_leaves = 8 },
              10);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 3);
    qn_ctx_close(ctx);
}

static void roots_do_not_depend_on_the_devices_that_share_the_chunks(void **state)
{
    static const char *const faults[] = { "sim.devices=3", "sim.devices=3,device_lost:sha256@4*1",
                                          "sim.devices=3,launch:sha256@4*1",
                                          "sim.devices=3,copy_d2h:sha256@2*1" };

    (void)state;
    for (int f = 0; f < 4; f++)
        for (int mode = 0; mode < 3; mode++)
            for (int depth = 1; depth <= 2; depth++) {
                const qn_split_options split =
                    QN_SPLIT_OPTIONS(.mode = (qn_split_mode)mode, .depth = depth);
                qn_ctx *ctx = open_with(
                    QN_OPTIONS(.backend = "sim:0,sim:1,sim:2", .fault = faults[f], .log = "none"));
                qn_metrics *m = qn_ctx_metrics(ctx);

                check_all(
                    ctx,
                    &(qn_hash_options){
                        .chunk_bytes = 10, .batch_bytes = 60, .fold_leaves = 8, .split = &split },
                    10);
                /* one per leaf: 100 + 17 + 10 + 9 + 8 + 7 + 6 + 2 + 1 + 1 + 1, and 1 of 0 bytes */
                assert_true(qn_metric_value(m, "device_total_tasks", NULL) == 163);
                assert_true(qn_metric_value(m, "gpu_total_failures", NULL) == (f > 0));
                assert_true(qn_metric_value(m, "gpu_fallback_count", NULL) == 0);
                qn_ctx_close(ctx);
            }
}

static void files_that_cannot_be_read_are_named(void **state)
{
    const char *list[] = { paths[1], "/no/such/file" };
    const char *folder_list[] = { folder };
    qn_ctx *ctx = open_sim(NULL);
    seen s = { .n = 0 };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_hash_files(ctx, list, 2, &(qn_hash_options){ 0 }, keep, &s, &err),
                     QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "cannot open /no/such/file"));
    assert_int_equal(qn_hash_files(ctx, folder_list, 1, &(qn_hash_options){ 0 }, keep, &s, &err),
                     QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "cannot read"));
    assert_int_equal(qn_hash_files(ctx, list, 1,
                                   &(qn_hash_options){ .chunk_bytes = (qn_i64)1 << 40 }, keep, &s,
                                   &err),
                     QN_ERR_LIMIT);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_do_not_depend_on_batches_subtrees_or_depth),
        cmocka_unit_test(a_chunk_may_be_one_byte_or_the_default),
        cmocka_unit_test(a_device_that_fails_changes_no_root),
        cmocka_unit_test(roots_do_not_depend_on_the_devices_that_share_the_chunks),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
