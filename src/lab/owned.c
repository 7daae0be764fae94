/* owned.c - things that are freed together. */
#include "lab/owned.h"

#include "util/list.h"

#include <stdlib.h>
#include <string.h>

typedef struct qn_owned_thing {
    void *what;
    void (*drop)(void *what);
} qn_owned_thing;

qn_status qn_owned_add(qn_owned *owned, void *what, void (*drop)(void *what), qn_err *err)
{
    qn_owned_thing *list = qn_grown(owned->list, owned->n, &owned->room, sizeof *list);

    if (!list) {
        drop(what);
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a list of %zu things", owned->n + 1);
    }
    owned->list = list;
    list[owned->n++] = (qn_owned_thing){ what, drop };
    return QN_OK;
}

void qn_owned_free(qn_owned *owned, size_t n)
{
    while (owned->n > n) {
        const qn_owned_thing *last = &owned->list[--owned->n];

        last->drop(last->what);
    }
    if (n)
        return;
    free(owned->list);
    *owned = (qn_owned){ 0 };
}

qn_status qn_owned_memory(qn_owned *owned, size_t bytes, void *out, qn_err *err)
{
    void *memory = calloc(1, bytes + 1);

    if (!memory)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu bytes", bytes);
    memcpy(out, &memory, sizeof memory);
    return qn_owned_add(owned, memory, free, err);
}

static void drop_buf(void *buf)
{
    qn_buf_free(buf);
}

qn_status qn_owned_buf(qn_owned *owned, qn_ctx *ctx, const char *name, size_t bytes, qn_buf **out,
                       qn_err *err)
{
    const qn_status st = qn_buf_new(ctx, name, bytes, out, err);

    return st == QN_OK ? qn_owned_add(owned, *out, drop_buf, err) : st;
}

static void drop_graph(void *graph)
{
    qn_graph_free(graph);
}

qn_status qn_owned_graph(qn_owned *owned, qn_ctx *ctx, const char *name, qn_graph **out,
                         qn_err *err)
{
    const qn_status st = qn_graph_new(ctx, name, out, err);

    return st == QN_OK ? qn_owned_add(owned, *out, drop_graph, err) : st;
}

qn_status qn_run_graph(qn_graph *graph, qn_err *err)
{
    const qn_status st = qn_graph_run(graph, err);

    return st == QN_OK ? qn_graph_wait(graph, err) : st;
}
