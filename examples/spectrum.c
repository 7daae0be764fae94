/* spectrum.c - a derivative through the spectrum: two transforms with a kernel between them.
 *
 * The field is sin 3x cos 2y on [0, 2 pi)^2, whose Laplacian is -13 times itself. Run it with the
 * name of a backend ("cpu", "opencl", "cuda"), or with none to let quern choose.
 */
#include <quern/fft.h>

#include <math.h>
#include <stdio.h>

enum { N = 128 };

/* A transform there and back multiplies by N * N, so the kernel divides by it. */
static const char text[] = "MAP(laplace, VAL(i32, n), INOUT(double, h))\n"
                           "{\n"
                           "    const i64 at = 2 * ((i64)gy * (n / 2 + 1) + gx);\n"
                           "    const double ky = gy <= n / 2 ? gy : gy - n;\n"
                           "    const double by = -(gx * (double)gx + ky * ky) / ((double)n * n);\n"
                           "    h[at] *= by;\n"
                           "    h[at + 1] *= by;\n"
                           "}\n";

static double field_at(int x, int y)
{
    const double step = 2 * acos(-1.0) / N;

    return sin(3 * step * x) * cos(2 * step * y);
}

/* Rows are N + 2 reals long: the spectrum needs the room. */
static qn_status fill(qn_buf *field, qn_err *err)
{
    void *data;
    const qn_status st = qn_buf_host(field, QN_HOST_DISCARD, &data, err);

    for (int i = 0; st == QN_OK && i < N * (N + 2); i++)
        ((double *)data)[i] = i % (N + 2) < N ? field_at(i % (N + 2), i / (N + 2)) : 0;
    return st;
}

static double worst_error(const double *got)
{
    double worst = 0;

    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            worst = fmax(worst, fabs(got[y * (N + 2) + x] + 13 * field_at(x, y)));
    return worst;
}

static qn_status run(qn_ctx *ctx, qn_err *err)
{
    const qn_fft_shape shape = { .rows = N, .cols = N, .batch = 1, .is_f64 = 1 };
    const int32_t n = N;
    static double got[N * (N + 2)];
    qn_kernel_module *module = NULL;
    qn_graph *graph = NULL;
    qn_buf *field = NULL;
    qn_status st;

    if ((st = qn_kernels_new("laplace", text, &module, err)) != QN_OK ||
        (st = qn_buf_new(ctx, "field", qn_fft_bytes(&shape), &field, err)) != QN_OK ||
        (st = fill(field, err)) != QN_OK ||
        (st = qn_graph_new(ctx, "spectrum", &graph, err)) != QN_OK)
        goto out;
    if ((st = qn_graph_fft(graph, "there", &shape, QN_FFT_FORWARD, field, 0, err)) != QN_OK ||
        (st = qn_graph_stage(
             graph, "laplace", qn_kernels_find(module, "laplace"), qn_range_2d(N / 2 + 1, N),
             (const qn_arg[]){ qn_arg_val(&n, sizeof n), qn_arg_buf(field) }, err)) != QN_OK ||
        (st = qn_graph_fft(graph, "back", &shape, QN_FFT_INVERSE, field, 0, err)) != QN_OK)
        goto out;
    if ((st = qn_graph_run(graph, err)) == QN_OK &&
        (st = qn_buf_read(field, 0, got, sizeof got, err)) == QN_OK)
        printf("the Laplacian is -13 times the field, %s\n",
               worst_error(got) < 1e-11 ? "to 1e-11" : "but not to 1e-11");
out:
    qn_graph_free(graph);
    qn_buf_free(field);
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
        fprintf(stderr, "spectrum: %s\n", err.text);
        return 1;
    }
    if ((st = run(ctx, &err)) != QN_OK)
        fprintf(stderr, "spectrum: %s\n", err.text);
    qn_ctx_close(ctx);
    return st == QN_OK ? 0 : 1;
}
