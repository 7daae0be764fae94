/* memory_map.c - where a graph's arrays live and what moved, as a Markdown page. */
#include "engine/graph/graph_impl.h"

#include "util/file.h"
#include "util/str.h"

static void add_devices(const qn_graph *graph, const qn_buf *root, qn_str *page)
{
    int n = 0;

    for (int d = 1; d < graph->ctx->n_devices; d++)
        if (root->visited >> d & 1)
            qn_str_addf(page, "%s%s", n++ ? ", " : "", graph->ctx->devices[d].id);
    if (!n)
        qn_str_add(page, "host");
}

static const char *stage_name(const qn_graph *graph, int s)
{
    return s < 0 ? "-" : graph->stages[s].name;
}

static void add_buffers(const qn_graph *graph, qn_str *page)
{
    qn_str_add(page,
               "| buffer | bytes | first stage | last stage | device | uploads | downloads |\n"
               "|---|---:|---|---|---|---:|---:|\n");
    for (int b = 0; b < graph->n_bufs; b++) {
        const qn_graph_buf *buf = &graph->bufs[b];

        qn_str_addf(page, "| %s%s | %zu | %s | %s | ", buf->root->name,
                    buf->temp_slot >= 0 ? " (temporary)" : "", buf->root->bytes,
                    stage_name(graph, buf->first), stage_name(graph, buf->last));
        add_devices(graph, buf->root, page);
        qn_str_addf(page, " | %llu | %llu |\n", (unsigned long long)buf->root->count.h2d_count,
                    (unsigned long long)buf->root->count.d2h_count);
    }
}

/* Why each transfer of the graph exists: who needed the data, and where it was. */
static void add_transfers(const qn_graph *graph, qn_str *page)
{
    int n = 0;

    qn_str_add(page, "\n## Transfers\n\n");
    for (int b = 0; b < graph->n_bufs; b++) {
        const qn_graph_buf *buf = &graph->bufs[b];
        const qn_transfer_count *count = &buf->root->count;

        if (count->h2d_count)
            qn_str_addf(page, "- %s: %llu upload(s), %llu bytes: stage %s reads it on a device\n",
                        buf->root->name, (unsigned long long)count->h2d_count,
                        (unsigned long long)count->h2d_bytes, stage_name(graph, buf->first));
        if (count->d2h_count)
            qn_str_addf(page, "- %s: %llu download(s), %llu bytes: %s\n", buf->root->name,
                        (unsigned long long)count->d2h_count, (unsigned long long)count->d2h_bytes,
                        buf->is_output ? "output of the graph" : "read by the host or a CPU stage");
        n += count->h2d_count || count->d2h_count;
    }
    if (!n)
        qn_str_add(page, "none\n");
}

qn_status qn_graph_memory_map(const qn_graph *graph, const char *path)
{
    qn_str page = { 0 };
    qn_err err = { .status = QN_OK };

    qn_str_addf(&page,
                "# Memory map of %s\n\n%d stages, %d buffers, %llu runs; temporaries want %zu "
                "bytes and share %zu.\n\n",
                graph->name, graph->n_stages, graph->n_bufs, (unsigned long long)graph->stats.runs,
                graph->stats.temp_bytes, graph->stats.temp_bytes_shared);
    add_buffers(graph, &page);
    add_transfers(graph, &page);
    if (page.failed)
        qn_fail(&err, QN_ERR_NOMEM, "memory map: out of host memory");
    else
        qn_file_write(path, qn_str_get(&page), page.len, &err);
    qn_str_free(&page);
    return err.status == QN_OK ? QN_OK : qn_ctx_fail(graph->ctx, &err);
}
