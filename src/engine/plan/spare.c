/* spare.c - keeps downloads from overwriting the inputs of the run. */
#include "engine/plan/graph_impl.h"

int qn_run_needs(const qn_graph *graph, int b)
{
    const int first = graph->bufs[b].first;

    if (graph->bufs[b].root->is_temp)
        return 0;
    /* A buffer that no stage touches is only downloaded. */
    return first < 0 || qn_stage_reads(&graph->stages[first], b);
}

/* Whether only the host copy has the run's input, so that overwriting it would lose the input. */
static int is_worth_keeping(const qn_graph *graph, int b)
{
    const qn_buf *root = graph->bufs[b].root;

    return !root->is_temp && !root->wrapped && root->host_version == graph->bufs[b].start_version &&
           qn_run_needs(graph, b);
}

void qn_spare_prepare(qn_graph *graph, int b)
{
    qn_graph_buf *buf = &graph->bufs[b];
    qn_err ignored;

    /* If host memory is limited, buffers need it more. */
    if (!buf->spare && !graph->ctx->settings.host_budget && is_worth_keeping(graph, b))
        qn_evict_acquire_host(graph->ctx, buf->root->bytes, &buf->spare, &ignored);
}

void *qn_spare_landing(const qn_graph *graph, int b)
{
    const qn_graph_buf *buf = &graph->bufs[b];

    return buf->spare && is_worth_keeping(graph, b) ? buf->spare->host : buf->root->host;
}

void qn_spare_exchange(qn_graph_buf *buf)
{
    qn_buf *root = buf->root;
    qn_block *block = root->host_block;
    const uint64_t version = root->host_version;

    root->host_block = buf->spare;
    root->host = root->host_block->host;
    root->host_version = buf->spare_version;
    buf->spare = block;
    buf->spare_version = version;
}

void qn_spare_landed(qn_graph *graph, int b)
{
    if (graph->bufs[b].spare && is_worth_keeping(graph, b))
        qn_spare_exchange(&graph->bufs[b]);
}
