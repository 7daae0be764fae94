/* parity_batch.c - thousands of instances in one dispatch, each with the same result as alone. */
/* test: cost 26, quick-opencl */
#include "parity.h"

#include "kernel/matmul.gen.h"
#include "kernel/reduce.gen.h"

enum { N = 1000, SIDE = 9 };

/* Instance t has 1 + 13 t mod 5000 elements, so lengths straddle a chunk. */
static void make_starts(qn_i64 *start)
{
    start[0] = 0;
    for (int t = 0; t < N; t++)
        start[t + 1] = start[t] + 1 + 13 * t % 5000;
}

/* Sums of `n` arrays by two launches. */
static outcome sums(qn_ctx *ctx, const qn_i64 *start, int n, qn_buf *x)
{
    const int32_t pitch = (5000 + REDUCE_CHUNK - 1) / REDUCE_CHUNK;
    qn_buf *table = filled(ctx, "start", start, ((size_t)n + 1) * sizeof *start), *part;
    guarded out = guarded_new(ctx, (size_t)n * sizeof(float));
    qn_graph *g;
    outcome got;

    must(qn_graph_new(ctx, "batch", &g, &failure));
    must(qn_graph_temp(g, "part", (size_t)n * (size_t)pitch * sizeof(float), &part, &failure));
    must(stage_sum_part(g, "part", qn_range_2d(pitch, n), pitch, table, x, part, &failure));
    must(stage_sum_join(g, "join", qn_range_1d(n), pitch, table, part, out.middle, &failure));
    run_graph(g);
    got = guarded_take(&out, "float");
    qn_buf_free(table);
    return got;
}

static void check_sums(const place *at, const float *want)
{
    qn_i64 start[N + 1];
    qn_ctx *ctx = open_place(at);
    qn_buf *x;
    outcome got;
    double launched;

    make_starts(start);
    x = random_floats(ctx, "x", (size_t)start[N], 3);
    launched = qn_metric_value(qn_ctx_metrics(ctx), "gpu_ops", NULL);
    got = sums(ctx, start, N, x);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_ops", NULL) == launched + 2);
    assert_memory_equal(got.data, want, N * sizeof *want);
    free(got.data);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

static void batched_sums_are_the_single_ones(void **state)
{
    static float want[N];
    qn_i64 start[N + 1];
    qn_ctx *ctx = open_place(&cpu_place);
    qn_buf *x;

    (void)state;
    make_starts(start);
    x = random_floats(ctx, "x", (size_t)start[N], 3);
    for (int t = 0; t < N; t++) {
        outcome one = sums(ctx, start + t, 1, x);

        memcpy(&want[t], one.data, sizeof want[t]);
        free(one.data);
    }
    qn_buf_free(x);
    qn_ctx_close(ctx);
    for (int i = 0; i < N_PLACES; i++)
        if (is_here(&device_places[i]))
            check_sums(&device_places[i], want);
}

static outcome products(const place *at)
{
    const qn_i64 size = SIDE * SIDE;
    const matmul_par p = { size, size, size, SIDE, SIDE, SIDE, 0 };
    qn_ctx *ctx = open_place(at);
    qn_buf *a = random_floats(ctx, "a", (size_t)(N * size), 4);
    qn_buf *b = random_floats(ctx, "b", (size_t)(N * size), 5);
    guarded c = guarded_new(ctx, (size_t)(N * size) * sizeof(float));
    qn_graph *g;
    outcome got;

    must(qn_graph_new(ctx, "batch", &g, &failure));
    must(stage_matmul(g, "matmul", qn_range_3d(1, 1, N), p, a, b, c.middle, &failure));
    run_graph(g);
    got = guarded_take(&c, "float");
    qn_buf_free(a);
    qn_buf_free(b);
    qn_ctx_close(ctx);
    return got;
}

static void thousand_products_in_one_dispatch_agree_with_the_cpu(void **state)
{
    outcome want = products(&cpu_place);

    (void)state;
    for (int i = 0; i < N_PLACES; i++) {
        outcome got;

        if (!is_here(&device_places[i]))
            continue;
        got = products(&device_places[i]);
        assert_memory_equal(want.data, got.data, want.bytes);
        free(got.data);
    }
    free(want.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batched_sums_are_the_single_ones),
        cmocka_unit_test(thousand_products_in_one_dispatch_agree_with_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
