/* test_merkle.c - trees against a recursive definition that shares nothing with them. */
/* test: long, cost 1, no-tsan */
#include "engine_fixture.h"

#include <quern/tasks.h>

#include "domain/tasks/keccak.h"
#include "util/hash.h"

enum { NODE = QN_MERKLE_NODE };

static void fill(uint8_t *leaves, qn_i64 n, uint64_t seed)
{
    for (qn_i64 i = 0; i < n * NODE; i++)
        leaves[i] = qn_random_byte(seed, (uint64_t)i);
}

static void hash_pair(int prefix, const uint8_t *a, const uint8_t *b, uint8_t *out)
{
    const uint8_t one = 1;
    qn_sha256 h;

    qn_sha256_begin(&h);
    qn_sha256_add(&h, &one, prefix ? 1 : 0);
    qn_sha256_add(&h, a, NODE);
    qn_sha256_add(&h, b, NODE);
    qn_sha256_end(&h, out);
}

/* The node that covers the leaves [from, from + width) of n, top down. */
static void node_of(qn_merkle_rule rule, const uint8_t *leaves, qn_i64 n, qn_i64 from, qn_i64 width,
                    uint8_t *out)
{
    uint8_t left[NODE], right[NODE];

    if (width == 1) {
        const uint8_t zero = 0;
        qn_sha256 h;

        if (rule == QN_MERKLE_PLAIN) {
            memcpy(out, leaves + from * NODE, NODE);
            return;
        }
        qn_sha256_begin(&h);
        qn_sha256_add(&h, &zero, 1);
        qn_sha256_add(&h, leaves + from * NODE, NODE);
        qn_sha256_end(&h, out);
        return;
    }
    node_of(rule, leaves, n, from, width / 2, left);
    if (from + width / 2 < n) {
        node_of(rule, leaves, n, from + width / 2, width / 2, right);
        hash_pair(rule == QN_MERKLE_RFC6962, left, right, out);
    } else if (rule == QN_MERKLE_PLAIN) {
        hash_pair(0, left, left, out);
    } else {
        memcpy(out, left, NODE);
    }
}

static void root_of(qn_merkle_rule rule, const uint8_t *leaves, qn_i64 n, uint8_t *out)
{
    qn_i64 width = 1;

    while (width < n)
        width *= 2;
    node_of(rule, leaves, n, 0, width, out);
}

static qn_merkle *trees_over(qn_ctx *ctx, qn_merkle_rule rule, const qn_i64 *from, int n_trees,
                             const uint8_t *leaves)
{
    qn_merkle *merkle = NULL;
    void *to;

    must(qn_merkle_new(ctx, rule, from, n_trees, &merkle, &failure));
    must(qn_merkle_leaves(merkle, &to, &failure));
    memcpy(to, leaves, (size_t)from[n_trees] * NODE);
    must(qn_merkle_run(merkle, &failure));
    return merkle;
}

static void trees_of_1_to_1025_leaves_have_the_right_roots_by_both_rules(void **state)
{
    enum { N = 1025 };
    static const char *const backends[] = { "cpu", "sim" };
    qn_i64 from[N + 1] = { 0 };
    uint8_t *leaves;

    (void)state;
    for (int t = 0; t < N; t++)
        from[t + 1] = from[t] + t + 1;
    leaves = malloc((size_t)from[N] * NODE);
    fill(leaves, from[N], 5);
    for (int b = 0; b < 2; b++)
        for (int rule = QN_MERKLE_PLAIN; rule <= QN_MERKLE_RFC6962; rule++) {
            qn_ctx *ctx = open_with(QN_OPTIONS(.backend = backends[b]));
            qn_merkle *merkle = trees_over(ctx, (qn_merkle_rule)rule, from, N, leaves);

            for (int t = 0; t < N; t++) {
                uint8_t got[NODE], want[NODE];

                must(qn_merkle_root(merkle, t, got, &failure));
                root_of((qn_merkle_rule)rule, leaves + from[t] * NODE, t + 1, want);
                assert_memory_equal(got, want, NODE);
            }
            qn_merkle_free(merkle);
            qn_ctx_close(ctx);
        }
    free(leaves);
}

static void a_large_tree_goes_through_all_levels(void **state)
{
    const qn_i64 from[] = { 0, 70001 };
    uint8_t *leaves = malloc((size_t)from[1] * NODE);
    qn_ctx *ctx = open_sim(NULL);

    (void)state;
    fill(leaves, from[1], 6);
    for (int rule = QN_MERKLE_PLAIN; rule <= QN_MERKLE_RFC6962; rule++) {
        qn_merkle *merkle = trees_over(ctx, (qn_merkle_rule)rule, from, 1, leaves);
        uint8_t got[NODE], want[NODE];

        must(qn_merkle_root(merkle, 0, got, &failure));
        root_of((qn_merkle_rule)rule, leaves, from[1], want);
        assert_memory_equal(got, want, NODE);
        qn_merkle_free(merkle);
    }
    free(leaves);
    qn_ctx_close(ctx);
}

static void known_roots_are_met(void **state)
{
    /* Over the bytes 0 to 95, computed by another program. */
    static const char *const plain =
        "c64254d82dcf4116ee5adfe54e156e65c18ee6c9397da8300f69d547f15316a6";
    static const char *const rfc =
        "5637f26ba780a8da762393735ccdd7206d5e198a33dec95e4dec4b6c98a9d6c8";
    const qn_i64 from[] = { 0, 3 };
    uint8_t leaves[3 * NODE], root[NODE];
    char hex[2 * NODE + 1];
    qn_ctx *ctx = open_sim(NULL);

    (void)state;
    for (int i = 0; i < 3 * NODE; i++)
        leaves[i] = (uint8_t)i;
    for (int rule = QN_MERKLE_PLAIN; rule <= QN_MERKLE_RFC6962; rule++) {
        qn_merkle *merkle = trees_over(ctx, (qn_merkle_rule)rule, from, 1, leaves);

        must(qn_merkle_root(merkle, 0, root, &failure));
        assert_string_equal(qn_hex(root, NODE, hex), rule == QN_MERKLE_PLAIN ? plain : rfc);
        qn_merkle_free(merkle);
    }
    qn_ctx_close(ctx);
}

static void every_leaf_has_a_proof_and_no_other_leaf_fits_it(void **state)
{
    const qn_i64 from[] = { 0, 1, 3, 8, 608 };
    uint8_t leaves[608 * NODE], path[QN_MERKLE_MAX_PATH][NODE], root[NODE], wrong[NODE];

    (void)state;
    fill(leaves, 608, 7);
    for (int rule = QN_MERKLE_PLAIN; rule <= QN_MERKLE_RFC6962; rule++) {
        qn_ctx *ctx = open_sim(NULL);
        qn_merkle *merkle = trees_over(ctx, (qn_merkle_rule)rule, from, 4, leaves);

        for (int t = 0; t < 4; t++) {
            const qn_i64 n = from[t + 1] - from[t];

            must(qn_merkle_root(merkle, t, root, &failure));
            for (qn_i64 i = 0; i<n; i += n> 100 ? 7 : 1) {
                const uint8_t *leaf = leaves + (from[t] + i) * NODE;
                int n_path;

                must(qn_merkle_proof(merkle, t, i, path, &n_path, &failure));
                assert_true(qn_merkle_check((qn_merkle_rule)rule, leaf, i, n,
                                            (const uint8_t(*)[NODE])path, n_path, root));
                memcpy(wrong, leaf, NODE);
                wrong[NODE - 1] ^= 1;
                assert_false(qn_merkle_check((qn_merkle_rule)rule, wrong, i, n,
                                             (const uint8_t(*)[NODE])path, n_path, root));
                if (n > 1)
                    assert_false(qn_merkle_check((qn_merkle_rule)rule, leaf, i, n,
                                                 (const uint8_t(*)[NODE])path, n_path - 1, root));
            }
        }
        qn_merkle_free(merkle);
        qn_ctx_close(ctx);
    }
}

static void a_proof_reads_its_nodes_and_not_the_tree(void **state)
{
    const qn_i64 from[] = { 0, 5000 };
    uint8_t *leaves = malloc(5000 * NODE), path[QN_MERKLE_MAX_PATH][NODE];
    qn_ctx *ctx = open_sim(NULL);
    qn_merkle *merkle;
    uint64_t before;
    int n_path;

    (void)state;
    fill(leaves, 5000, 8);
    merkle = trees_over(ctx, QN_MERKLE_PLAIN, from, 1, leaves);
    assert_int_equal(qn_ctx_transfers(ctx).d2h_bytes, NODE); /* the root */
    before = qn_ctx_transfers(ctx).d2h_bytes;
    must(qn_merkle_proof(merkle, 0, 1234, path, &n_path, &failure));
    assert_int_equal(n_path, 13);
    assert_int_equal(qn_ctx_transfers(ctx).d2h_bytes - before, 12 * NODE); /* one is a leaf */
    qn_merkle_free(merkle);
    free(leaves);
    qn_ctx_close(ctx);
}

static void trees_without_leaves_and_strange_numbers_are_refused(void **state)
{
    const qn_i64 empty[] = { 0, 3, 3 }, late[] = { 1, 3 }, good[] = { 0, 3 };
    uint8_t leaves[3 * NODE] = { 0 }, path[QN_MERKLE_MAX_PATH][NODE], root[NODE];
    qn_ctx *ctx = open_sim(NULL);
    qn_merkle *merkle = NULL;
    int n_path;

    (void)state;
    assert_int_equal(qn_merkle_new(ctx, QN_MERKLE_PLAIN, empty, 2, &merkle, &failure),
                     QN_ERR_USAGE);
    assert_non_null(strstr(failure.text, "tree 1 has no leaves"));
    assert_int_equal(qn_merkle_new(ctx, QN_MERKLE_PLAIN, late, 1, &merkle, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_merkle_new(ctx, QN_MERKLE_PLAIN, good, 0, &merkle, &failure), QN_ERR_USAGE);
    merkle = trees_over(ctx, QN_MERKLE_PLAIN, good, 1, leaves);
    assert_int_equal(qn_merkle_root(merkle, 1, root, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_merkle_proof(merkle, -1, 0, path, &n_path, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_merkle_proof(merkle, 0, 3, path, &n_path, &failure), QN_ERR_USAGE);
    assert_false(qn_merkle_check(QN_MERKLE_PLAIN, leaves, 3, 3, NULL, 0, root));
    qn_merkle_free(merkle);
    qn_ctx_close(ctx);
}

/* Tasks. */

static void tasks_of_1_to_1025_leaves_or_messages_pass_their_check(void **state)
{
    enum { N = 1025 };
    static const char *const ops[] = { "merkle", "sha256" };
    static qn_task list[N];

    (void)state;
    for (int o = 0; o < 2; o++) {
        qn_ctx *ctx = open_sim(NULL);
        qn_tasks *tasks;

        for (int i = 0; i < N; i++)
            list[i] = (qn_task){ i + 1, ops[o], i + 1, (uint64_t)i, o ? "0-70" : NULL };
        must(qn_tasks_new(ctx, NULL, &tasks, &failure));
        must(qn_tasks_run(tasks, list, N, &failure));
        assert_int_equal(qn_tasks_get_stats(tasks).n_groups, 1);
        must(qn_tasks_verify(tasks, &failure));
        qn_tasks_free(tasks);
        qn_ctx_close(ctx);
    }
}

static void the_checksum_of_a_tree_is_the_start_of_its_root(void **state)
{
    const qn_task task = { 1, "merkle", 777, 9, NULL };
    uint8_t leaves[777 * NODE], root[NODE], got[NODE];
    char hex[2 * NODE + 1], sum[QN_TASK_CHECKSUM_SIZE];
    qn_ctx *ctx = open_sim(NULL);
    qn_tasks *tasks;

    (void)state;
    fill(leaves, 777, 9);
    root_of(QN_MERKLE_PLAIN, leaves, 777, root);
    must(qn_tasks_new(ctx, NULL, &tasks, &failure));
    must(qn_tasks_run(tasks, &task, 1, &failure));
    must(qn_tasks_read(tasks, 0, got, sizeof got, &failure));
    assert_memory_equal(got, root, NODE);
    must(qn_tasks_checksum(tasks, 0, sum, &failure));
    assert_memory_equal(sum, qn_hex(root, NODE, hex), 16);
    assert_int_equal(strlen(sum), 16);
    qn_tasks_free(tasks);
    qn_ctx_close(ctx);
}

static void the_option_sets_the_rule_and_the_argument_beats_it(void **state)
{
    static const qn_task list[] = { { 1, "merkle", 5, 9, NULL },
                                    { 2, "merkle", 5, 9, "plain" },
                                    { 3, "merkle", 5, 9, "rfc6962" } };
    char sums[3][QN_TASK_CHECKSUM_SIZE];
    qn_ctx *ctx = open_sim(NULL);
    qn_tasks *tasks;

    (void)state;
    must(qn_tasks_new(
        ctx,
        &(qn_tasks_options){ .size = sizeof(qn_tasks_options), .merkle_rule = QN_MERKLE_RFC6962 },
        &tasks, &failure));
    must(qn_tasks_run(tasks, list, 3, &failure));
    for (int i = 0; i < 3; i++)
        must(qn_tasks_checksum(tasks, i, sums[i], &failure));
    assert_string_equal(sums[0], sums[2]);
    assert_string_not_equal(sums[0], sums[1]);
    qn_tasks_free(tasks);
    qn_ctx_close(ctx);
}

static void the_plain_keccak_gives_known_answers(void **state)
{
    static const struct {
        const char *text, *hex;
    } cases[] = {
        { "", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470" },
        { "abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45" },
    };
    uint8_t out[32];
    char hex[65];

    (void)state;
    for (int i = 0; i < 2; i++) {
        qn_keccak256_of((const uint8_t *)cases[i].text, strlen(cases[i].text), out);
        assert_string_equal(qn_hex(out, 32, hex), cases[i].hex);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_of_1_to_1025_leaves_have_the_right_roots_by_both_rules),
        cmocka_unit_test(a_large_tree_goes_through_all_levels),
        cmocka_unit_test(known_roots_are_met),
        cmocka_unit_test(every_leaf_has_a_proof_and_no_other_leaf_fits_it),
        cmocka_unit_test(a_proof_reads_its_nodes_and_not_the_tree),
        cmocka_unit_test(trees_without_leaves_and_strange_numbers_are_refused),
        cmocka_unit_test(tasks_of_1_to_1025_leaves_or_messages_pass_their_check),
        cmocka_unit_test(the_checksum_of_a_tree_is_the_start_of_its_root),
        cmocka_unit_test(the_option_sets_the_rule_and_the_argument_beats_it),
        cmocka_unit_test(the_plain_keccak_gives_known_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
