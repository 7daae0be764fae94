/* batches.c - many batches through a pipe, with metrics at the end.
 *
 * While one batch computes, the host fills the next and takes the one before. Results arrive in
 * order; here each is reduced to one number on the host.
 */
#include <quern/metrics.h>
#include <quern/pipe.h>

#include <stdio.h>

enum { N = 65536, BATCHES = 12, DEPTH = 2 };

static const char text[] = "MAP(square, IN(float, x), OUT(float, y))\n"
                           "{\n"
                           "    y[gx] = x[gx] * x[gx];\n"
                           "}\n";

typedef struct {
    qn_ctx *ctx;
    qn_kernel_module *module;
    qn_buf *in[DEPTH], *out[DEPTH];
    double total;
} job;

static qn_status build(void *user, int slot, qn_graph *graph, qn_err *err)
{
    job *j = user;
    qn_status st;

    if ((st = qn_buf_new(j->ctx, "in", N * sizeof(float), &j->in[slot], err)) == QN_OK &&
        (st = qn_buf_new(j->ctx, "out", N * sizeof(float), &j->out[slot], err)) == QN_OK &&
        (st = qn_graph_stage(graph, "square", qn_kernels_find(j->module, "square"), qn_range_1d(N),
                             (const qn_arg[]){ qn_arg_buf(j->in[slot]), qn_arg_buf(j->out[slot]) },
                             err)) == QN_OK)
        st = qn_graph_output(graph, j->out[slot], err);
    return st;
}

static qn_status prepare(void *user, int slot, qn_i64 batch, qn_err *err)
{
    job *j = user;
    void *data;
    const qn_status st = qn_buf_host(j->in[slot], QN_HOST_DISCARD, &data, err);

    for (int i = 0; st == QN_OK && i < N; i++)
        ((float *)data)[i] = (float)(batch + i % 7);
    return st;
}

static qn_status deliver(void *user, int slot, qn_i64 batch, qn_err *err)
{
    job *j = user;
    void *data;
    const qn_status st = qn_buf_host(j->out[slot], QN_HOST_READ, &data, err);

    (void)batch;
    for (int i = 0; st == QN_OK && i < N; i++)
        j->total += (double)((const float *)data)[i];
    return st;
}

static qn_status run(job *j, qn_err *err)
{
    const qn_pipe_work work = { j, build, prepare, deliver };
    qn_pipe *pipe = NULL;
    qn_status st;

    if ((st = qn_kernels_new("square", text, &j->module, err)) == QN_OK &&
        (st = qn_pipe_open(j->ctx, "batches", DEPTH, &work, &pipe, err)) == QN_OK &&
        (st = qn_pipe_run(pipe, BATCHES, err)) == QN_OK)
        printf("%d batches, total %.0f, at most %d in flight, %.0f stages on devices\n", BATCHES,
               j->total, qn_pipe_get_stats(pipe).queue_depth_peak,
               qn_metric_value(qn_ctx_metrics(j->ctx), "gpu_ops", NULL));
    qn_pipe_close(pipe);
    for (int s = 0; s < DEPTH; s++) {
        qn_buf_free(j->in[s]);
        qn_buf_free(j->out[s]);
    }
    qn_kernels_free(j->module);
    return st;
}

int main(int argc, char **argv)
{
    const qn_options options = QN_OPTIONS(.backend = argc > 1 ? argv[1] : "auto");
    job j = { 0 };
    qn_err err;
    qn_status st = qn_ctx_open(&options, &j.ctx, &err);

    if (st != QN_OK) {
        fprintf(stderr, "batches: %s\n", err.text);
        return 1;
    }
    if ((st = run(&j, &err)) != QN_OK)
        fprintf(stderr, "batches: %s\n", err.text);
    qn_ctx_close(j.ctx);
    return st == QN_OK ? 0 : 1;
}
