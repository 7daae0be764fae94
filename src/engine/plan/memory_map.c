/* memory_map.c - where buffers live and what was copied, as Markdown pages: for one graph, or for
 * all buffers of a context.
 */
#include "engine/plan/graph_impl.h"

#include "util/file.h"
#include "util/str.h"

/* Of a graph. */

static void add_devices(const qn_ctx *ctx, unsigned visited, qn_str *page)
{
    int n = 0;

    for (int d = 1; d < ctx->n_devices; d++)
        if (visited >> d & 1)
            qn_str_addf(page, "%s%s", n++ ? ", " : "", ctx->devices[d].id);
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
        add_devices(graph->ctx, buf->root->visited, page);
        qn_str_addf(page, " | %llu | %llu |\n", (unsigned long long)buf->root->count.h2d_count,
                    (unsigned long long)buf->root->count.d2h_count);
    }
}

void qn_ledger_graph(const qn_graph *graph)
{
    for (int b = 0; graph->ctx->ledger && b < graph->n_bufs; b++) {
        const qn_graph_buf *buf = &graph->bufs[b];

        if (buf->first >= 0)
            qn_ledger_used(buf->root, graph->stages[buf->first].name, graph->stages[buf->last].name,
                           buf->is_output);
    }
}

/* Explains why transfers were needed. Returns whether there were any. */
static int add_transfer(qn_str *page, const char *name, const qn_transfer_count *count,
                        const char *first, int is_output)
{
    if (count->h2d_count)
        qn_str_addf(page, "- %s: %llu upload(s), %llu bytes: stage %s reads it on a device\n", name,
                    (unsigned long long)count->h2d_count, (unsigned long long)count->h2d_bytes,
                    first);
    if (count->d2h_count)
        qn_str_addf(page, "- %s: %llu download(s), %llu bytes: %s\n", name,
                    (unsigned long long)count->d2h_count, (unsigned long long)count->d2h_bytes,
                    is_output ? "output of the graph" : "read by the host or a CPU stage");
    return count->h2d_count || count->d2h_count;
}

static void add_transfers(const qn_graph *graph, qn_str *page)
{
    int n = 0;

    qn_str_add(page, "\n## Transfers\n\n");
    for (int b = 0; b < graph->n_bufs; b++) {
        const qn_graph_buf *buf = &graph->bufs[b];

        n += add_transfer(page, buf->root->name, &buf->root->count, stage_name(graph, buf->first),
                          buf->is_output);
    }
    if (!n)
        qn_str_add(page, "none\n");
}

qn_status qn_graph_memory_map(const qn_graph *graph, const char *path, qn_err *err)
{
    qn_str page = { 0 };
    qn_status st = QN_CHECK_CALL(NULL, err, graph, path);

    if (st != QN_OK)
        return st;
    qn_str_addf(&page,
                "# Memory map of %s\n\n%d stages, %d buffers, %llu runs; temporaries want %zu "
                "bytes and share %zu.\n\n",
                graph->name, graph->n_stages, graph->n_bufs, (unsigned long long)graph->stats.runs,
                graph->stats.temp_bytes, graph->stats.temp_bytes_shared);
    add_buffers(graph, &page);
    add_transfers(graph, &page);
    st = qn_file_write_str(path, &page, err);
    qn_str_free(&page);
    return st;
}

/* Of a context. */

static void add_row(const qn_ctx *ctx, const char *name, const qn_ledger_row *row, qn_str *page)
{
    qn_str_addf(page, "| %s%s | %llu | %zu | %zu | %s | %s | ", name,
                row->is_temp ? " (temporary)" : "", (unsigned long long)row->n_made, row->bytes,
                row->at_once, row->first[0] ? row->first : "-", row->last[0] ? row->last : "-");
    add_devices(ctx, row->visited, page);
    qn_str_addf(page, " | %llu | %llu |\n", (unsigned long long)row->count.h2d_count,
                (unsigned long long)row->count.d2h_count);
}

static void add_all_transfers(const qn_ctx *ctx, qn_str *page)
{
    const qn_map_entry *entry;
    size_t at = 0;
    int n = 0;

    qn_str_add(page, "\n## Transfers\n\n");
    while ((entry = qn_map_next(&ctx->ledger->rows, &at))) {
        const qn_ledger_row row = qn_ledger_get(ctx, entry);

        n += add_transfer(page, entry->key, &row.count, row.first[0] ? row.first : "-",
                          row.is_output);
    }
    if (!n)
        qn_str_add(page, "none\n");
}

static void add_pool(qn_str *page, const char *id, const qn_pool *pool, size_t budget)
{
    const qn_pool_stats now = qn_pool_get_stats(pool);

    qn_str_addf(page, "| %s | ", id);
    if (budget)
        qn_str_addf(page, "%zu", budget);
    else
        qn_str_add(page, "-");
    qn_str_addf(page, " | %zu | %zu | %llu | %llu |\n", now.bytes_peak, now.bytes_live,
                (unsigned long long)now.misses, (unsigned long long)now.hits);
}

/* Adds bytes of the buffers per place, rounded up to buckets; devices that work in host memory
 * count as host. */
static void add_pools(const qn_ctx *ctx, qn_str *page)
{
    qn_str_add(page, "\n## Memory\n\n"
                     "| where | budget | peak | at the end | blocks allocated | reused |\n"
                     "|---|---:|---:|---:|---:|---:|\n");
    add_pool(page, "host", ctx->host_pool, ctx->settings.host_budget);
    for (int d = 1; d < ctx->n_devices; d++)
        if (ctx->devices[d].pool)
            add_pool(page, ctx->devices[d].id, ctx->devices[d].pool, ctx->devices[d].budget_bytes);
}

qn_status qn_ledger_write(const qn_ctx *ctx, const char *title, const char *path, qn_err *err)
{
    const qn_ledger *ledger = ctx->ledger;
    const qn_map_entry *entry;
    qn_str page = { .failed = ledger->failed };
    qn_status st;
    size_t at = 0;

    qn_str_addf(&page,
                "# Memory map of quern %s\n\n%zu names, %zu bytes at once. A row has all arrays of "
                "one name: how many were made, the bytes of the largest, and of all at once.\n\n"
                "| buffer | made | bytes | at once | first stage | last stage | device | uploads | "
                "downloads |\n|---|---:|---:|---:|---|---|---|---:|---:|\n",
                title, ledger->rows.count, ledger->at_once);
    while ((entry = qn_map_next(&ledger->rows, &at))) {
        const qn_ledger_row row = qn_ledger_get(ctx, entry);

        add_row(ctx, entry->key, &row, &page);
    }
    if (!ledger->rows.count)
        qn_str_add(&page, "\nThe engine was asked for none: what ran used memory of its own.\n");
    add_all_transfers(ctx, &page);
    add_pools(ctx, &page);
    st = qn_file_write_str(path, &page, err);
    qn_str_free(&page);
    return st;
}
