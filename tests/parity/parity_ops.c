/* parity_ops.c - every op gives the CPU's result on every device.
 *
 * The table is the test: a row is an op, a shape, a seed and the required exactness. A new op adds
 * rows, and a function if its arguments are of a new kind.
 */
/* test: cost 2, no-cache */
#include "parity.h"

#include "kernel/keccak.gen.h"
#include "kernel/matmul.gen.h"
#include "kernel/reduce.gen.h"
#include "kernel/scan.gen.h"
#include "kernel/sha256.gen.h"

typedef struct row row;
typedef outcome (*run_fn)(qn_ctx *ctx, const row *r);

struct row {
    const char *op;
    run_fn run;
    qn_i64 n;  /* elements, side of a matrix, messages */
    int count; /* arrays or matrices in one batch */
    uint64_t seed;
    double tolerance; /* relative; 0: equal bits */
    const char *arg;
};

static qn_graph *graph_in(qn_ctx *ctx)
{
    qn_graph *g = NULL;

    must(qn_graph_new(ctx, "parity", &g, &failure));
    return g;
}

/* element-wise. */

static outcome run_vadd(qn_ctx *ctx, const row *r)
{
    qn_buf *x = random_floats(ctx, "x", (size_t)r->n, r->seed);
    qn_buf *y = random_floats(ctx, "y", (size_t)r->n, r->seed + 1);
    guarded out = guarded_new(ctx, (size_t)r->n * sizeof(float));
    qn_graph *g = graph_in(ctx);

    must(stage_vadd(g, "vadd", qn_range_1d(r->n), x, y, out.middle, &failure));
    run_graph(g);
    qn_buf_free(x);
    qn_buf_free(y);
    return guarded_take(&out, "float");
}

static outcome run_saxpy(qn_ctx *ctx, const row *r)
{
    qn_buf *x = random_floats(ctx, "x", (size_t)r->n, r->seed);
    guarded y = guarded_new(ctx, (size_t)r->n * sizeof(float));
    qn_graph *g = graph_in(ctx);
    float *start = malloc((size_t)r->n * sizeof *start);

    for (qn_i64 i = 0; i < r->n; i++)
        start[i] = qn_random_float(r->seed + 1, (uint64_t)i);
    must(qn_buf_write(y.middle, 0, start, (size_t)r->n * sizeof *start, &failure));
    must(stage_saxpy(g, "saxpy", qn_range_1d(r->n), 1.7f, x, y.middle, &failure));
    run_graph(g);
    qn_buf_free(x);
    free(start);
    return guarded_take(&y, "float");
}

/* Any map_*: by its name, as a user of the registry would. */
static outcome run_map(qn_ctx *ctx, const row *r)
{
    const qn_kernel_info *kernel = qn_op_kernel(qn_op_find(r->op));
    qn_buf *x = random_floats(ctx, "x", (size_t)r->n, r->seed);
    guarded out = guarded_new(ctx, (size_t)r->n * sizeof(float));
    qn_graph *g = graph_in(ctx);
    const float k = 0.37f;
    qn_arg args[3] = { qn_arg_val(&k, sizeof k), qn_arg_buf(x), qn_arg_buf(out.middle) };
    const int skip = 3 - kernel->n_args; /* some have no constant */

    must(qn_graph_op(g, "map", r->op, qn_range_1d(r->n), args + skip, kernel->n_args, &failure));
    run_graph(g);
    qn_buf_free(x);
    return guarded_take(&out, "float");
}

/* Programs as "mabq": a letter per step. */
static outcome run_chain(qn_ctx *ctx, const row *r)
{
    static const char letters[] = "masdlgbnqQeLSCt";
    chain_par p = { .n = r->n };
    qn_buf *x = random_floats(ctx, "x", (size_t)r->n, r->seed);
    guarded out = guarded_new(ctx, (size_t)r->n * sizeof(float));
    qn_graph *g = graph_in(ctx);
    const qn_range groups = qn_range_1d((r->n + CHAIN_CHUNK - 1) / CHAIN_CHUNK);

    for (const char *s = r->arg; *s; s++) {
        p.code[p.n_steps] = (i32)(strchr(letters, *s) - letters);
        p.k[p.n_steps++] = 1.25f;
    }
    must(stage_chain(g, "chain", groups, p, x, out.middle, &failure));
    run_graph(g);
    qn_buf_free(x);
    return guarded_take(&out, "float");
}

/* Reductions. */

/* `count` arrays of about n elements in two launches. */
static outcome run_reduce(qn_ctx *ctx, const row *r)
{
    qn_i64 *start = calloc((size_t)r->count + 1, sizeof *start);
    qn_i64 longest = 1;
    qn_buf *x, *y, *table, *part;
    guarded out = guarded_new(ctx, (size_t)r->count * sizeof(float));
    qn_graph *g = graph_in(ctx);
    int32_t pitch;

    for (int t = 0; t < r->count; t++) {
        const qn_i64 n = r->n - t * (r->n / (2 * r->count));

        start[t + 1] = start[t] + n;
        longest = n > longest ? n : longest;
    }
    pitch = (int32_t)((longest + REDUCE_CHUNK - 1) / REDUCE_CHUNK);
    x = random_floats(ctx, "x", (size_t)start[r->count], r->seed);
    y = random_floats(ctx, "y", (size_t)start[r->count], r->seed + 1);
    table = filled(ctx, "start", start, ((size_t)r->count + 1) * sizeof *start);
    must(qn_graph_temp(g, "part", (size_t)pitch * (size_t)r->count * sizeof(float), &part,
                       &failure));

    if (!strcmp(r->op, "dot"))
        must(stage_dot_part(g, "dot", qn_range_2d(pitch, r->count), pitch, table, x, y, part,
                            &failure));
    else if (!strcmp(r->op, "max"))
        must(stage_max_part(g, "max", qn_range_2d(pitch, r->count), pitch, table, x, part,
                            &failure));
    else
        must(stage_sum_part(g, "sum", qn_range_2d(pitch, r->count), pitch, table, x, part,
                            &failure));
    if (!strcmp(r->op, "max"))
        must(stage_max_join(g, "join", qn_range_1d(r->count), pitch, table, part, out.middle,
                            &failure));
    else
        must(stage_sum_join(g, "join", qn_range_1d(r->count), pitch, table, part, out.middle,
                            &failure));
    run_graph(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(table);
    free(start);
    return guarded_take(&out, "float");
}

static outcome run_scan(qn_ctx *ctx, const row *r)
{
    const qn_i64 chunks = (r->n + SCAN_CHUNK - 1) / SCAN_CHUNK;
    int32_t *values = malloc((size_t)r->n * sizeof *values);
    guarded out = guarded_new(ctx, (size_t)r->n * sizeof *values);
    qn_graph *g = graph_in(ctx);
    qn_buf *x, *part, *total;

    for (qn_i64 i = 0; i < r->n; i++)
        values[i] = qn_random_byte(r->seed, (uint64_t)i) - 100;
    x = filled(ctx, "x", values, (size_t)r->n * sizeof *values);
    must(qn_graph_temp(g, "part", (size_t)chunks * sizeof(int32_t), &part, &failure));
    must(qn_graph_temp(g, "total", sizeof(int32_t), &total, &failure));
    must(stage_scan_part(g, "part", qn_range_1d(chunks), r->n, x, out.middle, part, &failure));
    must(stage_scan_join(g, "join", qn_range_1d(1), (int32_t)chunks, part, total, &failure));
    must(stage_scan_add(g, "add", qn_range_1d(r->n), part, out.middle, &failure));
    run_graph(g);
    qn_buf_free(x);
    free(values);
    return guarded_take(&out, "i32");
}

/* Matrices and messages. */

static outcome run_matmul(qn_ctx *ctx, const row *r)
{
    const qn_i64 n = r->n, size = n * n;
    const matmul_par p = { size, size, size, (i32)n, (i32)n, (i32)n, 0 };
    qn_buf *a = random_floats(ctx, "a", (size_t)(size * r->count), r->seed);
    qn_buf *b = random_floats(ctx, "b", (size_t)(size * r->count), r->seed + 1);
    guarded c = guarded_new(ctx, (size_t)(size * r->count) * sizeof(float));
    qn_graph *g = graph_in(ctx);
    const qn_range tiles = qn_range_3d((n + MATMUL_TILE_COLS - 1) / MATMUL_TILE_COLS,
                                       (n + MATMUL_TILE_ROWS - 1) / MATMUL_TILE_ROWS, r->count);

    must(stage_matmul(g, "matmul", tiles, p, a, b, c.middle, &failure));
    run_graph(g);
    qn_buf_free(a);
    qn_buf_free(b);
    return guarded_take(&c, "float");
}

/* n messages of random lengths below 200 bytes, not aligned to anything. */
static outcome run_hash(qn_ctx *ctx, const row *r)
{
    qn_i64 *start = calloc((size_t)r->n + 1, sizeof *start);
    guarded out = guarded_new(ctx, (size_t)r->n * 32);
    qn_graph *g = graph_in(ctx);
    const qn_range groups = qn_range_1d((r->n + 63) / 64);
    unsigned char *bytes;
    qn_buf *table, *data;
    qn_i64 words;

    for (qn_i64 i = 0; i < r->n; i++)
        start[i + 1] = start[i] + (qn_i64)(qn_random_u64(r->seed, (uint64_t)i) % 200);
    words = start[r->n] / 4 + 1;
    bytes = calloc((size_t)words, 4);
    for (qn_i64 i = 0; i < start[r->n]; i++)
        bytes[i] = qn_random_byte(r->seed + 1, (uint64_t)i);
    table = filled(ctx, "start", start, ((size_t)r->n + 1) * sizeof *start);
    data = filled(ctx, "data", bytes, (size_t)words * 4);

    if (!strcmp(r->op, "sha256"))
        must(stage_sha256(g, "sha256", groups, r->n, words, table, data, out.middle, &failure));
    else
        must(stage_keccak256(g, "keccak", groups, r->n, words, table, data, out.middle, &failure));
    run_graph(g);
    qn_buf_free(table);
    qn_buf_free(data);
    free(bytes);
    free(start);
    return guarded_take(&out, "u32");
}

/* The table. */

static const row rows[] = {
    { "vadd", run_vadd, 1, 1, 7, 0, NULL },
    { "vadd", run_vadd, 1023, 1, 7, 0, NULL },
    { "vadd", run_vadd, 100003, 1, 8, 0, NULL },
    { "saxpy", run_saxpy, 5, 1, 9, 0, NULL },
    { "saxpy", run_saxpy, 65536, 1, 9, 0, NULL },
    { "map_mul", run_map, 3001, 1, 10, 0, NULL },
    { "map_add", run_map, 3001, 1, 10, 0, NULL },
    { "map_sub", run_map, 3001, 1, 10, 0, NULL },
    { "map_div", run_map, 3001, 1, 10, 0, NULL },
    { "map_min", run_map, 3001, 1, 10, 0, NULL },
    { "map_max", run_map, 3001, 1, 10, 0, NULL },
    { "map_abs", run_map, 3001, 1, 10, 0, NULL },
    { "map_neg", run_map, 3001, 1, 10, 0, NULL },
    { "map_sqrt", run_map, 3001, 1, 10, 0, NULL }, /* half of it NaN */
    { "map_square", run_map, 3001, 1, 10, 0, NULL },
    { "map_exp", run_map, 3001, 1, 10, 1e-6, NULL },
    { "map_log", run_map, 3001, 1, 10, 1e-6, NULL },
    { "map_sin", run_map, 3001, 1, 10, 1e-6, NULL },
    { "map_cos", run_map, 3001, 1, 10, 1e-6, NULL },
    { "map_tanh", run_map, 3001, 1, 10, 1e-6, NULL },
    { "chain", run_chain, 1, 1, 11, 0, "m" },
    { "chain", run_chain, 5000, 1, 11, 0, "" },
    { "chain", run_chain, 5000, 1, 11, 0, "masdlgbnqQ" },
    { "chain", run_chain, 1024, 1, 11, 0, "maqmaqmaqmaqmaqm" },
    { "chain", run_chain, 5000, 1, 11, 1e-6, "eLSCt" },
    { "sum", run_reduce, 1, 1, 12, 0, NULL },
    { "sum", run_reduce, 4097, 1, 12, 0, NULL },
    { "sum", run_reduce, 300000, 1, 12, 0, NULL },
    { "sum", run_reduce, 9000, 24, 13, 0, NULL },
    { "dot", run_reduce, 70000, 3, 14, 0, NULL },
    { "max", run_reduce, 70000, 3, 15, 0, NULL },
    { "scan", run_scan, 1, 1, 16, 0, NULL },
    { "scan", run_scan, 150000, 1, 16, 0, NULL },
    { "scan", run_scan, 1100000, 1, 16, 0, NULL },
    { "matmul", run_matmul, 1, 1, 17, 0, NULL },
    { "matmul", run_matmul, 33, 5, 17, 0, NULL },
    { "matmul", run_matmul, 150, 1, 17, 0, NULL },
    { "sha256", run_hash, 1, 1, 18, 0, NULL },
    { "sha256", run_hash, 1000, 1, 19, 0, NULL },
    { "keccak256", run_hash, 200, 1, 20, 0, NULL },
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static void compare(const row *r, const place *at, const outcome *want, const outcome *got)
{
    const qn_op op = { .exactness = r->tolerance > 0 ? QN_EXACT_REL : QN_EXACT_BITS,
                       .tolerance = r->tolerance };
    const qn_diff diff = qn_op_compare(&op, want->type, want->data, got->data, want->bytes);

    assert_int_equal(want->bytes, got->bytes);
    if (diff.mismatched)
        fail_msg("%s n=%lld on %s: %zu of %zu differ, first at %zu, worst by %g (relative %g)",
                 r->op, (long long)r->n, at->name, diff.mismatched, diff.checked, diff.first,
                 diff.max_abs, diff.max_rel);
    /* Equal bits include those of NaN: checksums depend on them. */
    if (r->tolerance == 0)
        assert_memory_equal(want->data, got->data, want->bytes);
}

/* One context per place: leftovers of one row must not disturb the next. */
static void every_op_agrees_with_the_cpu(void **state)
{
    outcome want[N_ROWS];
    qn_ctx *ctx = open_place(&cpu_place);

    (void)state;
    for (int i = 0; i < N_ROWS; i++)
        want[i] = rows[i].run(ctx, &rows[i]);
    qn_ctx_close(ctx);

    for (int p = 0; p < N_PLACES; p++) {
        if (!is_here(&device_places[p]))
            continue;
        ctx = open_place(&device_places[p]);
        for (int i = 0; i < N_ROWS; i++) {
            outcome got = rows[i].run(ctx, &rows[i]);

            compare(&rows[i], &device_places[p], &want[i], &got);
            free(got.data);
        }
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "cpu_ops", NULL) == 0);
        qn_ctx_close(ctx);
    }
    for (int i = 0; i < N_ROWS; i++)
        free(want[i].data);
}

/* Tests the harness itself: one wrong bit in one result is enough. */
static void one_flipped_bit_is_noticed(void **state)
{
    const row r = { "vadd", run_vadd, 1000, 1, 7, 0, NULL };
    const place broken = { "broken sim", "sim", "corrupt:vadd" };
    const qn_op bits = { .exactness = QN_EXACT_BITS };
    qn_ctx *ctx = open_place(&cpu_place);
    outcome want = r.run(ctx, &r), got;

    (void)state;
    qn_ctx_close(ctx);
    ctx = open_place(&broken);
    got = r.run(ctx, &r);
    qn_ctx_close(ctx);
    assert_int_equal(qn_op_compare(&bits, "float", want.data, got.data, got.bytes).mismatched, 1);
    free(want.data);
    free(got.data);
}

/* The CPU itself against plain C. */

static void matmul_has_the_bits_of_the_plain_loop(void **state)
{
    const row r = { "matmul", run_matmul, 45, 2, 17, 0, NULL };
    qn_ctx *ctx = open_place(&cpu_place);
    outcome got = r.run(ctx, &r);
    const float *c = (const float *)got.data;

    (void)state;
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < 45 * 45; i++) {
            float sum = 0;

            for (int k = 0; k < 45; k++)
                sum = __builtin_fmaf(qn_random_float(17, (uint64_t)(m * 2025 + i / 45 * 45 + k)),
                                     qn_random_float(18, (uint64_t)(m * 2025 + k * 45 + i % 45)),
                                     sum);
            assert_true(c[m * 2025 + i] == sum);
        }
    free(got.data);
    qn_ctx_close(ctx);
}

static void reductions_are_right_and_nan_wins(void **state)
{
    const qn_i64 start[] = { 0, 0, 3, 6 };
    const float x[] = { 1, 5, -2, 3, __builtin_nanf(""), 4 };
    uint32_t out[3];
    qn_ctx *ctx = open_place(&cpu_place);
    qn_buf *table = filled(ctx, "start", start, sizeof start);
    qn_buf *data = filled(ctx, "x", x, sizeof x);
    guarded sum = guarded_new(ctx, sizeof out), max = guarded_new(ctx, sizeof out);
    qn_graph *g = graph_in(ctx);
    qn_buf *part;
    outcome sums, maxima;

    (void)state;
    must(qn_graph_temp(g, "part", sizeof out, &part, &failure));
    must(stage_sum_part(g, "sum", qn_range_2d(1, 3), 1, table, data, part, &failure));
    must(stage_sum_join(g, "sum", qn_range_1d(3), 1, table, part, sum.middle, &failure));
    must(stage_max_part(g, "max", qn_range_2d(1, 3), 1, table, data, part, &failure));
    must(stage_max_join(g, "max", qn_range_1d(3), 1, table, part, max.middle, &failure));
    run_graph(g);
    sums = guarded_take(&sum, "float");
    maxima = guarded_take(&max, "float");

    assert_true(((float *)sums.data)[0] == 0 && ((float *)sums.data)[1] == 4);
    assert_true(((float *)maxima.data)[0] == -__builtin_inff() && ((float *)maxima.data)[1] == 5);
    memcpy(out, sums.data, sizeof out);
    assert_int_equal(out[2], 0x7fc00000);
    memcpy(out, maxima.data, sizeof out);
    assert_int_equal(out[2], 0x7fc00000);
    free(sums.data);
    free(maxima.data);
    qn_buf_free(table);
    qn_buf_free(data);
    qn_ctx_close(ctx);
}

static void chain_has_the_bits_of_its_maps(void **state)
{
    static const char *const maps[] = { "map_mul", "map_add", "map_sqrt" };
    const row program = { "chain", run_chain, 2500, 1, 21, 0, "maq" };
    qn_ctx *ctx = open_place(&cpu_place);
    outcome want = program.run(ctx, &program);
    qn_buf *x = random_floats(ctx, "x", 2500, 21), *y = array_of(ctx, "y", 2500);
    const float k = 1.25f;
    float got[2500];

    (void)state;
    for (int i = 0; i < 3; i++) {
        qn_graph *g = graph_in(ctx);
        const qn_arg args[] = { qn_arg_val(&k, sizeof k), qn_arg_buf(i & 1 ? y : x),
                                qn_arg_buf(i & 1 ? x : y) };

        must(qn_graph_op(g, "map", maps[i], qn_range_1d(2500), args + (i == 2), 3 - (i == 2),
                         &failure));
        run_graph(g);
    }
    must(qn_buf_read(y, 0, got, sizeof got, &failure));
    assert_memory_equal(want.data, got, sizeof got);
    free(want.data);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

static void scan_is_the_running_sum(void **state)
{
    const row r = { "scan", run_scan, 5000, 1, 22, 0, NULL };
    qn_ctx *ctx = open_place(&cpu_place);
    outcome got = r.run(ctx, &r);
    int32_t sum = 0;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(((int32_t *)got.data)[i], sum);
        sum += qn_random_byte(22, (uint64_t)i) - 100;
    }
    free(got.data);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_has_the_bits_of_the_plain_loop),
        cmocka_unit_test(reductions_are_right_and_nan_wins),
        cmocka_unit_test(chain_has_the_bits_of_its_maps),
        cmocka_unit_test(scan_is_the_running_sum),
        cmocka_unit_test(one_flipped_bit_is_noticed),
        cmocka_unit_test(every_op_agrees_with_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
