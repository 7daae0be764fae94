/* parity_hash.c - known answers of SHA-256 and Keccak-256, and Merkle trees of every shape, on
 * every device.
 */
/* test: long, cost 9, quick-opencl, no-cache */
#include "parity.h"

#include "kernel/keccak.gen.h"
#include "kernel/merkle.gen.h"
#include "kernel/merkle.h"
#include "kernel/merkle_rfc.gen.h"
#include "kernel/sha256.gen.h"

#define CHECK_EVERYWHERE(check)                                                                    \
    do {                                                                                           \
        check(&cpu_place);                                                                         \
        for (int i_ = 0; i_ < N_PLACES; i_++)                                                      \
            if (is_here(&device_places[i_]))                                                       \
                check(&device_places[i_]);                                                         \
    } while (0)

/* Messages. */

enum { N_KNOWN = 4, MILLION = 1000000 };
static const char *const messages[N_KNOWN] = {
    "", "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", NULL /* a million a */
};
static const char *const sha256_of[N_KNOWN] = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
};
static const char *const keccak256_of[2] = {
    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
};

/* The first `n` known messages, one behind the other. */
static qn_buf *known_messages(qn_ctx *ctx, int n, qn_buf **table, qn_i64 *words)
{
    qn_i64 start[N_KNOWN + 1] = { 0 };
    char *bytes = calloc(MILLION + 256, 1);
    qn_buf *data;

    for (int i = 0; i < n; i++) {
        const size_t size = messages[i] ? strlen(messages[i]) : MILLION;

        if (messages[i])
            memcpy(bytes + start[i], messages[i], size);
        else
            memset(bytes + start[i], 'a', size);
        start[i + 1] = start[i] + (qn_i64)size;
    }
    *words = (start[n] + 3) / 4;
    *table = filled(ctx, "start", start, (size_t)(n + 1) * sizeof *start);
    data = filled(ctx, "data", bytes, (size_t)*words * 4);
    free(bytes);
    return data;
}

static void check_known(const place *at, int use_keccak)
{
    const int n = use_keccak ? 2 : N_KNOWN;
    const char *const *want = use_keccak ? keccak256_of : sha256_of;
    qn_ctx *ctx = open_place(at);
    qn_buf *table, *data;
    qn_i64 words;
    guarded out = guarded_new(ctx, (size_t)n * 32);
    qn_graph *g;
    outcome got;

    data = known_messages(ctx, n, &table, &words);
    must(qn_graph_new(ctx, "known", &g, &failure));
    if (use_keccak)
        must(stage_keccak256(g, "k", qn_range_1d(1), n, words, table, data, out.middle, &failure));
    else
        must(stage_sha256(g, "s", qn_range_1d(1), n, words, table, data, out.middle, &failure));
    run_graph(g);
    got = guarded_take(&out, "u8");
    for (int i = 0; i < n; i++) {
        char hex[65];

        assert_string_equal(qn_hex(got.data + 32 * i, 32, hex), want[i]);
    }
    free(got.data);
    qn_buf_free(table);
    qn_buf_free(data);
    qn_ctx_close(ctx);
}

static void check_sha256(const place *at)
{
    check_known(at, 0);
}

static void check_keccak256(const place *at)
{
    check_known(at, 1);
}

static void sha256_gives_the_known_answers(void **state)
{
    (void)state;
    CHECK_EVERYWHERE(check_sha256);
}

static void keccak256_gives_the_known_answers(void **state)
{
    (void)state;
    CHECK_EVERYWHERE(check_keccak256);
}

/* Trees: the reference. */

typedef enum { PLAIN, RFC6962 } rule;

static void hash_pair(rule r, const uint8_t *left, const uint8_t *right, uint8_t *out)
{
    qn_sha256 hash;

    qn_sha256_begin(&hash);
    if (r == RFC6962)
        qn_sha256_add(&hash, "\1", 1);
    qn_sha256_add(&hash, left, 32);
    qn_sha256_add(&hash, right, 32);
    qn_sha256_end(&hash, out);
}

/* Root of `n` leaves; destroys them. */
static void plain_root(rule r, uint8_t *node, qn_i64 n, uint8_t out[32])
{
    for (qn_i64 i = 0; r == RFC6962 && i < n; i++) {
        qn_sha256 hash;

        qn_sha256_begin(&hash);
        qn_sha256_add(&hash, "\0", 1);
        qn_sha256_add(&hash, node + 32 * i, 32);
        qn_sha256_end(&hash, node + 32 * i);
    }
    for (; n > 1; n = (n + 1) / 2)
        for (qn_i64 i = 0; i < n; i += 2) {
            const qn_i64 right = i + 1 < n ? i + 1 : i;
            uint8_t made[32];

            if (right == i && r == RFC6962)
                memcpy(made, node + 32 * i, 32);
            else
                hash_pair(r, node + 32 * i, node + 32 * right, made);
            memcpy(node + 32 * (i / 2), made, 32);
        }
    memcpy(out, node, 32);
}

/* Trees: the kernels. */

enum { LEVELS = 16 };

static qn_i64 nodes_of(qn_i64 n, int level)
{
    return (n + ((qn_i64)1 << level) - 1) >> level;
}

static qn_range level_range(qn_i64 nodes, int n_trees)
{
    return qn_range_2d((nodes + MERKLE_LANES - 1) / MERKLE_LANES, n_trees);
}

/* All levels of all trees; `most` leaves in the largest. */
static void add_stages(qn_graph *g, rule r, qn_i64 most, int n_trees, qn_buf *from, qn_buf *start,
                       qn_buf *leaf, qn_buf *tree, qn_buf *root)
{
    int level = r == PLAIN;

    if (r == PLAIN)
        must(stage_merkle_first(g, "first", level_range(nodes_of(most, 1), n_trees), n_trees, from,
                                start, leaf, tree, &failure));
    else
        must(stage_merkle_leaf_rfc(g, "leaf", level_range(most, n_trees), from, start, leaf, tree,
                                   &failure));
    for (; nodes_of(most, level) > MERKLE_TOP; level++) {
        const qn_range parents = level_range(nodes_of(most, level + 1), n_trees);

        if (r == PLAIN)
            must(stage_merkle_level(g, "level", parents, level, n_trees, from, start, tree,
                                    &failure));
        else
            must(stage_merkle_level_rfc(g, "level", parents, level, n_trees, from, start, tree,
                                        &failure));
    }
    if (r == PLAIN)
        must(stage_merkle_top(g, "top", qn_range_1d(n_trees), level, n_trees, from, start, tree,
                              root, &failure));
    else
        must(stage_merkle_top_rfc(g, "top", qn_range_1d(n_trees), level, n_trees, from, start, tree,
                                  root, &failure));
}

static void check_trees(qn_ctx *ctx, const place *at, rule r, const qn_i64 *sizes, int n_trees)
{
    qn_i64 *from = calloc((size_t)n_trees + 1, sizeof *from);
    qn_i64 *start = calloc((size_t)n_trees * LEVELS, sizeof *start);
    qn_i64 most = 0, nodes;
    uint8_t *leaves;
    guarded root = guarded_new(ctx, 32 * (size_t)n_trees), tree;
    qn_buf *from_buf, *start_buf, *leaf_buf;
    qn_graph *g;
    outcome got, all;

    for (int t = 0; t < n_trees; t++) {
        from[t + 1] = from[t] + sizes[t];
        most = sizes[t] > most ? sizes[t] : most;
    }
    leaves = malloc(32 * (size_t)from[n_trees]);
    for (qn_i64 i = 0; i < 32 * from[n_trees]; i++)
        leaves[i] = qn_random_byte(5, (uint64_t)i);
    nodes = merkle_layout(from, n_trees, r == PLAIN, LEVELS, start);
    tree = guarded_new(ctx, 32 * (size_t)nodes);
    from_buf = filled(ctx, "from", from, ((size_t)n_trees + 1) * sizeof *from);
    start_buf = filled(ctx, "start", start, (size_t)n_trees * LEVELS * sizeof *start);
    leaf_buf = filled(ctx, "leaf", leaves, 32 * (size_t)from[n_trees]);

    must(qn_graph_new(ctx, "trees", &g, &failure));
    add_stages(g, r, most, n_trees, from_buf, start_buf, leaf_buf, tree.middle, root.middle);
    run_graph(g);
    got = guarded_take(&root, "root");
    all = guarded_take(&tree, "tree");
    for (int t = 0; t < n_trees; t++) {
        const qn_i64 last = t + 1 < n_trees ? start[(r == PLAIN) * n_trees + t + 1] : nodes;
        uint8_t want[32];

        plain_root(r, leaves + 32 * from[t], sizes[t], want);
        if (memcmp(want, got.data + 32 * t, 32))
            fail_msg("root of %lld leaves on %s, rule %d", (long long)sizes[t], at->name, r);
        assert_memory_equal(want, all.data + 32 * (last - 1), 32); /* the root is the last node */
    }
    free(got.data);
    free(all.data);
    free(leaves);
    free(from);
    free(start);
    qn_buf_free(from_buf);
    qn_buf_free(start_buf);
    qn_buf_free(leaf_buf);
}

/* One batch with every count from 1 to 1025 would be enough; several batches also move `top`
 * around. */
static void check_counts(const place *at)
{
    static const qn_i64 mixed[] = { 1, 5000, 2, 513, 1024, 1025, 3, 511, 2049 };
    const int n_mixed = sizeof mixed / sizeof mixed[0];
    qn_i64 sizes[129];
    qn_ctx *ctx = open_place(at);

    for (rule r = PLAIN; r <= RFC6962; r++) {
        check_trees(ctx, at, r, mixed, n_mixed);
        for (int i = 0; i < 129; i++)
            sizes[i] = i + 1;
        check_trees(ctx, at, r, sizes, 129);
        for (int i = 0; i < 7; i++)
            sizes[i] = 1019 + i;
        check_trees(ctx, at, r, sizes, 7);
        check_trees(ctx, at, r, mixed + 1, 1);
    }
    qn_ctx_close(ctx);
}

static void trees_of_any_count_have_the_right_root(void **state)
{
    (void)state;
    CHECK_EVERYWHERE(check_counts);
}

static void all_counts_up_to_1025_have_the_right_root_on_the_cpu(void **state)
{
    static qn_i64 sizes[1025];
    qn_ctx *ctx = open_place(&cpu_place);

    (void)state;
    for (int i = 0; i < 1025; i++)
        sizes[i] = i + 1;
    check_trees(ctx, &cpu_place, PLAIN, sizes, 1025);
    check_trees(ctx, &cpu_place, RFC6962, sizes, 1025);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_known_answers),
        cmocka_unit_test(keccak256_gives_the_known_answers),
        cmocka_unit_test(all_counts_up_to_1025_have_the_right_root_on_the_cpu),
        cmocka_unit_test(trees_of_any_count_have_the_right_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
