/* test_cuda_branch.c - branches of graphs on the mock driver, which runs streams as late and as
 * unevenly as their events allow: work that does not wait for its inputs reads rubbish here. */
/* test: cuda-mock */
#include "engine_fixture.h"

#include "engine/plan/graph_impl.h"
#include "hal/cuda/cuda_api.h"
#include "mock/mock_cuda.h"

enum { N = 300, N_BUFS = 5, N_TEMPS = 3, RUNS = 4 };

static void launch_builtin(void *user, const char *name, void *const *params, int n_params,
                           const unsigned *grid, const unsigned *block)
{
    const qn_kernel_info *kernel = qn_kernel_builtin(name + strlen("qnk_"));
    qn_span span;

    (void)user;
    (void)grid;
    (void)block;
    assert_non_null(kernel);
    assert_int_equal(n_params, 6 + kernel->n_args);
    span = (qn_span){ *(int32_t *)params[0], *(int32_t *)params[1], *(int32_t *)params[2],
                      *(int32_t *)params[3], *(int32_t *)params[4], *(int32_t *)params[5] };
    kernel->cpu(&span, params + 6);
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* Stages that write any array from two others; temporaries are read only after they have been
 * written. */
static void add_stages(qn_graph *graph, qn_buf **bufs, unsigned seed)
{
    unsigned written = (1u << N_BUFS) - 1;

    for (int s = 0; s < 25; s++) {
        const unsigned to = next(&seed) % (N_BUFS + N_TEMPS);
        unsigned from[2];

        for (int i = 0; i < 2; i++)
            do
                from[i] = next(&seed) % (N_BUFS + N_TEMPS);
            while (from[i] == to || !(written >> from[i] & 1));
        if (written >> to & 1 && next(&seed) % 2)
            must(stage_saxpy(graph, "saxpy", qn_range_1d(N), 0.25f, bufs[from[0]], bufs[to],
                             &failure));
        else
            must(stage_vadd(graph, "vadd", qn_range_1d(N), bufs[from[0]], bufs[from[1]], bufs[to],
                            &failure));
        written |= 1u << to;
    }
}

/* Returns how many streams the graph used. */
static unsigned results(const char *backend, unsigned seed, float *out)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = backend));
    qn_buf *bufs[N_BUFS + N_TEMPS];
    unsigned used;
    qn_graph *graph;

    must(qn_graph_new(ctx, "g", &graph, &failure));
    for (int b = 0; b < N_BUFS; b++)
        bufs[b] = ramp(ctx, "buf", N, (float)b, 0.5f);
    for (int t = 0; t < N_TEMPS; t++)
        must(qn_graph_temp(graph, "temp", N * sizeof(float), &bufs[N_BUFS + t], &failure));
    add_stages(graph, bufs, seed);
    for (int b = 0; b < N_BUFS; b += 2)
        must(qn_graph_output(graph, bufs[b], &failure));
    for (int run = 0; run < RUNS; run++) {
        const float first = (float)run;

        must(qn_buf_write(bufs[0], 0, &first, sizeof first, &failure));
        must(qn_graph_run(graph, &failure));
        for (int b = 0; b < N_BUFS; b++)
            must(
                qn_buf_read(bufs[b], 0, out + (run * N_BUFS + b) * N, N * sizeof(float), &failure));
    }
    if (strcmp(backend, "cpu"))
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_ops", NULL) == 25 * RUNS);
    used = graph->plan.branches.used;
    qn_graph_free(graph);
    for (int b = 0; b < N_BUFS; b++)
        qn_buf_free(bufs[b]);
    qn_ctx_close(ctx);
    return used;
}

static void branches_give_the_results_of_the_cpu(void **state)
{
    static float want[RUNS * N_BUFS * N], got[RUNS * N_BUFS * N];
    const char *reason;
    int n_branched = 0;

    (void)state;
    if (!qn_nvrtc_load(&reason)) {
        print_message("no NVRTC: %s\n", reason);
        skip();
    }
    mock_cuda_reset();
    mock_cuda_set_launcher(launch_builtin, NULL);
    for (unsigned seed = 1; seed <= 25; seed++) {
        results("cpu", seed, want);
        n_branched += results("cuda:0", seed, got) != 1;
        if (memcmp(want, got, sizeof want))
            fail_msg("seed %u differs", seed);
    }
    assert_true(n_branched > 20);
}

/* What the driver reports about a kernel becomes a metric of it. */
static void registers_of_kernels_are_metrics(void **state)
{
    const char *const labels[] = { "kernel", "vector.saxpy", "device", "cuda:0", NULL };
    const char *reason;
    qn_ctx *ctx;
    qn_graph *graph;
    qn_buf *x, *y;

    (void)state;
    if (!qn_nvrtc_load(&reason)) {
        print_message("no NVRTC: %s\n", reason);
        skip();
    }
    mock_cuda_reset();
    mock_cuda_set_launcher(launch_builtin, NULL);
    ctx = open_with(QN_OPTIONS(.backend = "cuda:0"));
    x = ramp(ctx, "x", N, 0, 1);
    y = ramp(ctx, "y", N, 0, 1);
    must(qn_graph_new(ctx, "g", &graph, &failure));
    must(stage_saxpy(graph, "saxpy", qn_range_1d(N), 0.25f, x, y, &failure));
    must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "kernel_registers", labels) == 40);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "kernel_local_bytes", labels) == 16);
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_give_the_results_of_the_cpu),
        cmocka_unit_test(registers_of_kernels_are_metrics),
    };

    setenv("QUERN_CUDA_LIB", "libcuda_mock.so", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
