/* own_kernel.c - a kernel of your own, as text, in a graph.
 *
 * The text is the same for every device: it is compiled as C, OpenCL C or CUDA when it first
 * runs there, and kept on disk. Run it with the name of a backend ("cpu", "opencl", "cuda"), or
 * with none to let quern choose.
 */
#include <quern/graph.h>

#include <stdio.h>

enum { N = 1 << 20 };

/* One point of the logistic map, iterated in place: + - * only, so every device gives the same
 * bits. */
static const char text[] = "MAP(logistic, VAL(float, r), VAL(i32, steps), INOUT(float, x))\n"
                           "{\n"
                           "    float v = x[gx];\n"
                           "    for (i32 k = 0; k < steps; k++)\n"
                           "        v = r * v * (1.0f - v);\n"
                           "    x[gx] = v;\n"
                           "}\n";

static qn_status fill(qn_buf *x, qn_err *err)
{
    void *data;
    const qn_status st = qn_buf_host(x, QN_HOST_DISCARD, &data, err);

    for (int i = 0; st == QN_OK && i < N; i++)
        ((float *)data)[i] = ((float)i + 0.5f) / N;
    return st;
}

static qn_status run(qn_ctx *ctx, qn_err *err)
{
    const float r = 3.7f;
    const int32_t steps = 100;
    qn_kernel_module *module = NULL;
    qn_graph *graph = NULL;
    qn_buf *x = NULL;
    float middle = 0;
    qn_status st;

    if ((st = qn_kernels_new("logistic", text, &module, err)) != QN_OK ||
        (st = qn_buf_new(ctx, "x", N * sizeof(float), &x, err)) != QN_OK ||
        (st = fill(x, err)) != QN_OK ||
        (st = qn_graph_new(ctx, "own_kernel", &graph, err)) != QN_OK)
        goto out;
    st = qn_graph_stage(graph, "logistic", qn_kernels_find(module, "logistic"), qn_range_1d(N),
                        (const qn_arg[]){ qn_arg_val(&r, sizeof r),
                                          qn_arg_val(&steps, sizeof steps), qn_arg_buf(x) },
                        err);

    /* Ten runs: the array goes to the device once and stays there. */
    for (int k = 0; st == QN_OK && k < 10; k++)
        st = qn_graph_run(graph, err);
    if (st == QN_OK)
        st = qn_buf_read(x, N / 2 * sizeof(float), &middle, sizeof middle, err);
    if (st == QN_OK)
        printf("x[%d] = %.9g after %d steps, %llu uploads, %llu replays\n", N / 2, (double)middle,
               10 * steps, (unsigned long long)qn_ctx_transfers(ctx).h2d_count,
               (unsigned long long)qn_graph_get_stats(graph).replays);
out:
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_kernels_free(module);
    return st;
}

int main(int argc, char **argv)
{
    const qn_options options = QN_OPTIONS(.backend = argc > 1 ? argv[1] : "auto");
    qn_ctx *ctx;
    qn_err err;
    qn_status st = qn_ctx_open(&options, &ctx, &err);

    if (st != QN_OK) {
        fprintf(stderr, "own_kernel: %s\n", err.text);
        return 1;
    }
    if ((st = run(ctx, &err)) != QN_OK)
        fprintf(stderr, "own_kernel: %s\n", err.text);
    qn_ctx_close(ctx);
    return st == QN_OK ? 0 : 1;
}
