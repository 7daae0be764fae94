/* order.c - dependencies, cycles, lifetimes.
 *
 * Program order is the order of execution: a stage depends on the earlier stages whose buffers
 * it reads or overwrites (read after write, write after read, write after write). Explicit
 * edges can only add to that; one that points backwards closes a cycle.
 */
#include "engine/plan/graph_impl.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

int qn_stage_reads(const qn_stage *stage, int b)
{
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i == b &&
            (stage->args[a].mode != QN_ARG_OUT || stage->args[a].is_partial))
            return 1;
    return 0;
}

int qn_stage_writes(const qn_stage *stage, int b)
{
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i == b && stage->args[a].mode != QN_ARG_IN)
            return 1;
    return 0;
}

static int writes(const qn_stage_arg *arg)
{
    return arg->mode == QN_ARG_OUT || arg->mode == QN_ARG_INOUT;
}

static qn_status add_dep(qn_stage *stage, int before, qn_err *err)
{
    int *grown;

    for (int i = 0; i < stage->n_deps; i++)
        if (stage->deps[i] == before)
            return QN_OK;
    if (!(grown = realloc(stage->deps, (size_t)(stage->n_deps + 1) * sizeof *grown)))
        return qn_fail(err, QN_ERR_NOMEM, "stage %s: out of host memory", stage->name);
    stage->deps = grown;
    stage->deps[stage->n_deps++] = before;
    return QN_OK;
}

/* The last accesses to a buffer: its writer, and its readers since then. */
typedef struct {
    int writer;
    int *readers;
    int n_readers;
    size_t cap;
} last_use;

static qn_status link_stage(qn_graph *graph, int s, last_use *uses, qn_err *err)
{
    qn_stage *stage = &graph->stages[s];
    qn_status st = QN_OK;

    stage->n_deps = 0;
    for (int a = 0; a < stage->n_args; a++) {
        last_use *use = stage->args[a].buf_i < 0 ? NULL : &uses[stage->args[a].buf_i];

        if (!use)
            continue;
        if (use->writer >= 0 && use->writer != s)
            QN_TRY(add_dep(stage, use->writer, err));
        for (int r = 0; writes(&stage->args[a]) && r < use->n_readers; r++)
            if (use->readers[r] != s)
                QN_TRY(add_dep(stage, use->readers[r], err));
    }
    for (int a = 0; a < stage->n_args; a++) {
        last_use *use = stage->args[a].buf_i < 0 ? NULL : &uses[stage->args[a].buf_i];

        if (use && writes(&stage->args[a])) {
            use->writer = s;
            use->n_readers = 0;
        } else if (use) {
            QN_TRY(QN_GROW(use->readers, use->n_readers, &use->cap, "graph order", err));
            use->readers[use->n_readers++] = s;
        }
    }
out:
    return st;
}

static qn_status add_edges(qn_graph *graph, qn_err *err)
{
    for (int e = 0; e < graph->n_edges; e++) {
        const int before = qn_fuse_place(graph, graph->edges[e][0]);
        const int after = qn_fuse_place(graph, graph->edges[e][1]);
        qn_status st;

        if (before >= after)
            return qn_fail(err, QN_ERR_CYCLE, "stages %s and %s wait for each other",
                           graph->stages[before].name, graph->stages[after].name);
        if ((st = add_dep(&graph->stages[after], before, err)) != QN_OK)
            return st;
    }
    return QN_OK;
}

qn_status qn_order_check(qn_graph *graph, qn_err *err)
{
    last_use *uses = calloc((size_t)graph->n_bufs + 1, sizeof *uses);
    qn_status st = QN_OK;

    if (!uses)
        return qn_fail(err, QN_ERR_NOMEM, "graph %s: out of host memory", graph->name);
    for (int b = 0; b < graph->n_bufs; b++)
        uses[b].writer = -1;
    for (int s = 0; s < graph->n_stages; s++)
        QN_TRY(link_stage(graph, s, uses, err));
    QN_TRY(add_edges(graph, err));
out:
    for (int b = 0; b < graph->n_bufs; b++)
        free(uses[b].readers);
    free(uses);
    return st;
}

/* First and last use of every buffer. An output is used by its download, after all stages. */
static void find_lifetimes(qn_graph *graph)
{
    for (int b = 0; b < graph->n_bufs; b++) {
        graph->bufs[b].first = graph->bufs[b].last = -1;
        graph->bufs[b].temp_slot = -1;
    }
    for (int s = 0; s < graph->n_stages; s++)
        for (int a = 0; a < graph->stages[s].n_args; a++) {
            const int b = graph->stages[s].args[a].buf_i;
            qn_graph_buf *buf = b < 0 ? NULL : &graph->bufs[b];

            if (!buf)
                continue;
            buf->first = buf->first < 0 ? s : buf->first;
            buf->last = s;
        }
}

/* A temporary must be written before it is read: its memory holds old data of another buffer. */
static qn_status check_temp(qn_graph *graph, int b, qn_err *err)
{
    const qn_graph_buf *buf = &graph->bufs[b];
    const qn_stage *stage;

    if (buf->first < 0)
        return QN_OK;
    stage = &graph->stages[buf->first];
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i == b && stage->args[a].mode != QN_ARG_OUT)
            return qn_fail(err, QN_ERR_USAGE,
                           "stage %s reads the temporary %s before anything wrote it", stage->name,
                           buf->root->name);
    return QN_OK;
}

/* The last stage on each stream that touches a buffer. */
typedef struct {
    int on[QN_N_COMPUTE];
} last_users;

static void find_users(const qn_graph *graph, const qn_branches *branches, last_users *users)
{
    memset(users, -1, (size_t)graph->n_bufs * sizeof *users);
    for (int s = 0; s < graph->n_stages; s++)
        for (int a = 0; a < graph->stages[s].n_args; a++)
            if (graph->stages[s].args[a].buf_i >= 0)
                users[graph->stages[s].args[a].buf_i].on[branches->on[s]] = s;
}

/* Whether all users of buffer `b` have ended when stage `s` starts. Streams run side by side, so
 * program order is not enough. */
static int is_over(const qn_graph *graph, const qn_branches *branches, const last_users *users,
                   int b, int s)
{
    for (int t = 0; t < QN_N_COMPUTE; t++)
        if (users[b].on[t] > branches->clock[s][t])
            return 0;
    return !graph->bufs[b].is_output; /* its download comes after all stages */
}

/* The largest slot whose last user has ended when this temporary is first written. */
static int find_slot(const qn_graph *graph, const qn_branches *branches, const last_users *users,
                     const qn_graph_buf *buf)
{
    int best = -1;

    for (int s = 0; s < graph->n_slots; s++) {
        if (best >= 0 && graph->slots[s].bytes <= graph->slots[best].bytes)
            continue;
        if (is_over(graph, branches, users, graph->slots[s].tenant, buf->first))
            best = s;
    }
    return best;
}

static int by_first(const void *a, const void *b)
{
    return ((const int *)a)[1] - ((const int *)b)[1];
}

/* A buffer that is first written in part is uploaded before that, on a separate stream, so its
 * memory must not have had another user. */
static int is_uploaded(const qn_graph *graph, int b)
{
    const qn_stage *stage = &graph->stages[graph->bufs[b].first];

    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i == b && stage->args[a].is_partial)
            return 1;
    return 0;
}

static qn_status place_temp(qn_graph *graph, const qn_branches *branches, const last_users *users,
                            int b, qn_err *err)
{
    qn_graph_buf *buf = &graph->bufs[b];
    int s = is_uploaded(graph, b) ? -1 : find_slot(graph, branches, users, buf);

    if (s < 0) {
        qn_temp_slot *grown =
            realloc(graph->slots, (size_t)(graph->n_slots + 1) * sizeof *graph->slots);

        if (!grown)
            return qn_fail(err, QN_ERR_NOMEM, "graph %s: out of host memory", graph->name);
        graph->slots = grown;
        s = graph->n_slots++;
        graph->slots[s] = (qn_temp_slot){ 0 };
    }
    if (graph->slots[s].bytes < buf->root->bytes)
        graph->slots[s].bytes = buf->root->bytes;
    graph->slots[s].tenant = b;
    buf->temp_slot = s;
    return QN_OK;
}

void qn_order_release(qn_graph *graph, int slot)
{
    qn_device *device = &graph->ctx->devices[slot];
    qn_err ignored;

    qn_points_await(device, &graph->last[slot], &ignored);
    for (int b = 0; b < graph->n_bufs; b++) {
        qn_buf *root = graph->bufs[b].root;

        if (graph->bufs[b].temp_slot < 0)
            continue;
        if (slot != QN_CPU_SLOT && root->copies[slot].borrowed)
            root->copies[slot] = (qn_copy){ .pins = root->copies[slot].pins };
        if (slot == QN_CPU_SLOT && !root->host_block) {
            qn_buf_await_host_write(root, &ignored);
            root->host = NULL;
        }
    }
    for (int s = 0; s < graph->n_slots; s++) {
        qn_block **block = &graph->slots[s].block[slot];

        if (*block)
            qn_pool_release(slot == QN_CPU_SLOT ? graph->ctx->host_pool : device->pool, *block);
        *block = NULL;
    }
}

void qn_order_release_all(qn_graph *graph)
{
    for (int d = 0; d < graph->ctx->n_devices; d++)
        qn_order_release(graph, d);
    free(graph->slots);
    graph->slots = NULL;
    graph->n_slots = 0;
}

qn_status qn_order_lifetimes(qn_graph *graph, qn_err *err)
{
    int(*order)[2] = NULL;
    last_users *users = NULL;
    qn_branches branches = { 0 };
    int n = 0;
    qn_status st = QN_OK;

    qn_order_release_all(graph); /* stages added since may lengthen lifetimes */
    find_lifetimes(graph);
    graph->stats.temp_bytes = 0;
    order = calloc((size_t)graph->n_bufs + 1, sizeof *order);
    users = calloc((size_t)graph->n_bufs + 1, sizeof *users);
    if (!order || !users)
        QN_FAIL(err, QN_ERR_NOMEM, "graph %s: out of host memory", graph->name);
    QN_TRY(qn_branches_find(graph, NULL, &branches, err));
    find_users(graph, &branches, users);
    for (int b = 0; b < graph->n_bufs; b++) {
        if (!graph->bufs[b].root->is_temp || graph->bufs[b].first < 0)
            continue;
        QN_TRY(check_temp(graph, b, err));
        order[n][0] = b;
        order[n++][1] = graph->bufs[b].first;
    }
    qsort(order, (size_t)n, sizeof *order, by_first);
    for (int i = 0; i < n; i++) {
        graph->stats.temp_bytes += graph->bufs[order[i][0]].root->bytes;
        QN_TRY(place_temp(graph, &branches, users, order[i][0], err));
    }
    graph->stats.temp_bytes_shared = 0;
    for (int s = 0; s < graph->n_slots; s++)
        graph->stats.temp_bytes_shared += graph->slots[s].bytes;
out:
    qn_branches_free(&branches);
    free(users);
    free(order);
    return st;
}
