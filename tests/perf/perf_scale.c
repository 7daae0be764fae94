/* perf_scale.c - how much faster two and four devices are than one, in virtual time.
 *
 * Two loads: a Merkle tree over 2^20 leaves, cut into subtrees, and tiles with halos that go
 * through several passes of a stencil. The limits are for the second batch, when graphs are
 * recorded; the first must not be far behind. Results must be the same to the last bit.
 */
#include "engine_fixture.h"

#include <quern/split.h>

#include "kernel/merkle.gen.h"
#include "kernel/merkle.h"
#include "util/hash.h"

enum { MAX_DEVICES = 5, DEPTH = 2 };

typedef struct load {
    const char *name, *limits;
    qn_i64 n_items, chunk_items;
    size_t result_bytes; /* per item */
    qn_status (*build)(void *user, int device, int slot, qn_graph *graph, qn_err *err);
    qn_status (*prepare)(void *user, int device, int slot, qn_i64 first, qn_i64 count, qn_err *err);
} load;

typedef struct bench {
    const load *load;
    qn_ctx *ctx;
    qn_kernel_module *stencil;
    unsigned char *result;
    qn_buf *in[MAX_DEVICES][DEPTH], *out[MAX_DEVICES][DEPTH];
    qn_buf *from, *start; /* Merkle: layout, the same for every chunk */
} bench;

/* Results of one chunk lie side by side in `out`. */
static qn_status deliver(void *user, int device, int slot, qn_i64 first, qn_i64 count, qn_err *err)
{
    bench *b = user;
    const size_t bytes = b->load->result_bytes;

    (void)err;
    must(qn_buf_read(b->out[device][slot], 0, b->result + (size_t)first * bytes,
                     (size_t)count * bytes, err));
    return QN_OK;
}

static qn_buf *bytes_of(bench *b, const char *name, size_t bytes)
{
    qn_buf *buf = NULL;

    must(qn_buf_new(b->ctx, name, bytes, &buf, &failure));
    return buf;
}

/* Merkle. */

enum { N_LEAVES = 1 << 20, TREE_LEAVES = 4096, TREES = 4, LEVELS = 12 };

static qn_status build_trees(void *user, int device, int slot, qn_graph *graph, qn_err *err)
{
    bench *b = user;
    i64 from[TREES + 1], start[(LEVELS + 1) * TREES], n_nodes;
    i32 level = 1;
    qn_buf *tree;

    (void)err;
    for (int t = 0; t <= TREES; t++)
        from[t] = (i64)t * TREE_LEAVES;
    n_nodes = merkle_layout(from, TREES, 1, LEVELS + 1, start);
    if (!b->from) {
        b->from = bytes_of(b, "from", sizeof from);
        b->start = bytes_of(b, "start", sizeof start);
        must(qn_buf_write(b->from, 0, from, sizeof from, err));
        must(qn_buf_write(b->start, 0, start, sizeof start, err));
    }
    b->in[device][slot] = bytes_of(b, "leaves", (size_t)TREES * TREE_LEAVES * 32);
    b->out[device][slot] = bytes_of(b, "roots", TREES * 32);
    tree = bytes_of(b, "tree", (size_t)n_nodes * 32);
    must(stage_merkle_first(graph, "merkle.first",
                            qn_range_2d(TREE_LEAVES / 2 / MERKLE_LANES, TREES), TREES, b->from,
                            b->start, b->in[device][slot], tree, err));
    for (int n = TREE_LEAVES / 2; n > MERKLE_TOP; n /= 2, level++)
        must(stage_merkle_level(graph, "merkle.level",
                                qn_range_2d((n / 2 + MERKLE_LANES - 1) / MERKLE_LANES, TREES),
                                level, TREES, b->from, b->start, tree, err));
    must(stage_merkle_top(graph, "merkle.top", qn_range_1d(TREES), level, TREES, b->from, b->start,
                          tree, b->out[device][slot], err));
    must(qn_graph_output(graph, b->out[device][slot], err));
    qn_buf_free(tree); /* the graph still holds it */
    return QN_OK;
}

static qn_status prepare_leaves(void *user, int device, int slot, qn_i64 first, qn_i64 count,
                                qn_err *err)
{
    bench *b = user;
    void *data;

    (void)err;
    must(qn_buf_host(b->in[device][slot], QN_HOST_DISCARD, &data, err));
    for (qn_i64 i = 0; i < count * TREE_LEAVES; i++)
        for (int w = 0; w < 8; w++)
            ((uint32_t *)data)[8 * i + w] = (uint32_t)(first * TREE_LEAVES + i) * 8u + (uint32_t)w;
    return QN_OK;
}

/* Tiles. */

enum { CORE = 64, HALO = 4, SIDE = CORE + 2 * HALO, PASSES = 4, N_TILES = 128 };

static const char stencil_text[] =
    "#include \"dialect.h\"\n"
    "MAP(smooth, VAL(i32, side), IN(float, g), OUT(float, out))\n"
    "{\n"
    "    const i64 at = (i64)gy * side + gx;\n"
    "    const i32 is_edge = gx == 0 || gy == 0 || gx == side - 1 || gy == side - 1;\n"
    "    out[at] = is_edge ? g[at]\n"
    "                      : 0.5f * g[at] + 0.125f * (g[at - 1] + g[at + 1] + g[at - side]\n"
    "                                                 + g[at + side]);\n"
    "}\n"
    "MAP(core, VAL(i32, side), VAL(i32, halo), VAL(i32, cols), IN(float, g), OUT(float, out))\n"
    "{\n"
    "    out[(i64)gy * cols + gx] = g[(i64)(gy + halo) * side + gx + halo];\n"
    "}\n";

static qn_status build_tile(void *user, int device, int slot, qn_graph *graph, qn_err *err)
{
    bench *b = user;
    const int32_t side = SIDE, halo = HALO, cols = CORE;
    const qn_kernel_info *smooth, *core;
    qn_buf *pass[2], *from;

    (void)err;
    if (!b->stencil)
        must(qn_kernels_new("stencil", stencil_text, &b->stencil, err));
    smooth = qn_kernels_find(b->stencil, "smooth");
    core = qn_kernels_find(b->stencil, "core");
    b->in[device][slot] = bytes_of(b, "tile", SIDE * SIDE * sizeof(float));
    b->out[device][slot] = bytes_of(b, "core", CORE * CORE * sizeof(float));
    for (int i = 0; i < 2; i++)
        must(qn_graph_temp(graph, "pass", SIDE * SIDE * sizeof(float), &pass[i], err));
    from = b->in[device][slot];
    for (int p = 0; p < PASSES; p++) {
        const qn_arg args[] = { qn_arg_val(&side, sizeof side), qn_arg_buf(from),
                                qn_arg_buf(pass[p % 2]) };

        must(qn_graph_stage(graph, "tile.smooth", smooth, qn_range_2d(SIDE, SIDE), args, err));
        from = pass[p % 2];
    }
    const qn_arg args[] = { qn_arg_val(&side, sizeof side), qn_arg_val(&halo, sizeof halo),
                            qn_arg_val(&cols, sizeof cols), qn_arg_buf(from),
                            qn_arg_buf(b->out[device][slot]) };

    must(qn_graph_stage(graph, "tile.core", core, qn_range_2d(CORE, CORE), args, err));
    must(qn_graph_output(graph, b->out[device][slot], err));
    return QN_OK;
}

static qn_status prepare_tile(void *user, int device, int slot, qn_i64 first, qn_i64 count,
                              qn_err *err)
{
    bench *b = user;
    void *data;

    (void)err;
    (void)count;
    must(qn_buf_host(b->in[device][slot], QN_HOST_DISCARD, &data, err));
    for (int i = 0; i < SIDE * SIDE; i++)
        ((float *)data)[i] = qn_random_float((uint64_t)first, (uint64_t)i);
    return QN_OK;
}

/* Measuring. */

/* Speeds of a data centre device: 10^9 hashes per second, a launch every 5 us. */
static const load merkle_load = { .name = "merkle",
                                  .limits = "sim.ns_per_item=1,sim.gbps=2000",
                                  .n_items = N_LEAVES / TREE_LEAVES,
                                  .chunk_items = TREES,
                                  .result_bytes = 32,
                                  .build = build_trees,
                                  .prepare = prepare_leaves };
static const load tile_load = { .name = "tiles",
                                .limits = "sim.ns_per_item=4,sim.gbps=2000",
                                .n_items = N_TILES,
                                .chunk_items = 1,
                                .result_bytes = CORE * CORE * sizeof(float),
                                .build = build_tile,
                                .prepare = prepare_tile };

typedef struct timing {
    double first_us, second_us;
    uint64_t hash; /* of all results */
} timing;

static timing measure(const load *l, int n_devices)
{
    bench b = { .load = l, .result = calloc((size_t)l->n_items, l->result_bytes) };
    const qn_split_work work = { .user = &b,
                                 .chunk_items = l->chunk_items,
                                 .build = l->build,
                                 .prepare = l->prepare,
                                 .deliver = deliver };
    char fault[256];
    qn_split *split = NULL;
    timing t;

    snprintf(fault, sizeof fault, "sim.devices=%d,%s", n_devices, l->limits);
    b.ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = fault, .threads = 1));
    must(qn_split_open(b.ctx, l->name, NULL, &work, &split, &failure));
    must(qn_split_run(split, l->n_items, &failure));
    t.first_us = qn_split_get_stats(split).wall_us;
    memset(b.result, 0, (size_t)l->n_items * l->result_bytes);
    must(qn_split_run(split, l->n_items, &failure));
    t.second_us = qn_split_get_stats(split).wall_us;
    t.hash = qn_fnv1a64(b.result, (size_t)l->n_items * l->result_bytes);
    qn_split_close(split);
    for (int d = 0; d < MAX_DEVICES; d++)
        for (int s = 0; s < DEPTH; s++) {
            qn_buf_free(b.in[d][s]);
            qn_buf_free(b.out[d][s]);
        }
    qn_buf_free(b.from);
    qn_buf_free(b.start);
    qn_kernels_free(b.stencil);
    qn_ctx_close(b.ctx);
    free(b.result);
    return t;
}

static void expect_gain(int n_devices, double gain, double least)
{
    if (gain < least)
        fail_msg("%d devices are %.2f times as fast as 1, less than %.2f", n_devices, gain, least);
}

static void expect_scaling(const load *l)
{
    const timing one = measure(l, 1), two = measure(l, 2), four = measure(l, 4);

    expect_gain(2, one.second_us / two.second_us, 1.8);
    expect_gain(4, one.second_us / four.second_us, 3.5);
    expect_gain(2, one.first_us / two.first_us, 1.7);
    expect_gain(4, one.first_us / four.first_us, 3.2);
    assert_true(two.hash == one.hash && four.hash == one.hash);
}

static void merkle_batches_scale(void **state)
{
    (void)state;
    expect_scaling(&merkle_load);
}

static void tiles_scale(void **state)
{
    (void)state;
    expect_scaling(&tile_load);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merkle_batches_scale),
        cmocka_unit_test(tiles_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
