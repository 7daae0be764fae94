/* load.c - pieces of the pool in one upload, put into place by a kernel. */
#include "domain/arc/run/load.h"

#include "engine/engine.h"
#include "kernel/arc_load.gen.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 8, PIECE_UNITS = 128, MOST_PIECES = 32768, LEAST_POOL = 1 << 16 };

struct qn_arc_load {
    qn_ctx *ctx;
    const char *device;
    qn_buf *pool, *fresh;
    qn_graph *graph;
    int room; /* pieces of the fresh buffer */
};

qn_status qn_arc_load_new(qn_ctx *ctx, const char *device, qn_arc_load **out, qn_err *err)
{
    qn_arc_load *load = calloc(1, sizeof *load);

    if (!load)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    load->ctx = ctx;
    load->device = device;
    *out = load;
    return QN_OK;
}

void qn_arc_load_free(qn_arc_load *load)
{
    if (!load)
        return;
    qn_graph_free(load->graph);
    qn_buf_free(load->fresh);
    qn_buf_free(load->pool);
    free(load);
}

qn_buf *qn_arc_load_pool(const qn_arc_load *load)
{
    return load->pool;
}

/* Room for so many pieces, and the graph that puts them into place. */
static qn_status build(qn_arc_load *load, int pieces, qn_err *err)
{
    const size_t piece_bytes = sizeof(arc_piece) + (size_t)PIECE_UNITS * UNIT;
    qn_status st = QN_OK;
    int room = 64;

    while (room < pieces)
        room *= 2;
    if (load->graph && load->room >= room)
        return QN_OK;
    qn_graph_free(load->graph);
    qn_buf_free(load->fresh);
    load->graph = NULL;
    load->fresh = NULL;
    QN_TRY(qn_buf_new(load->ctx, "arc.fresh", (size_t)room * piece_bytes, &load->fresh, err));
    QN_TRY(qn_graph_new(load->ctx, "arc.load", &load->graph, err));
    QN_TRY(stage_arc_load(load->graph, "arc.load", qn_range_2d(PIECE_UNITS, room), load->fresh,
                          load->pool, err));
    QN_TRY(qn_graph_pin(load->graph, 0, load->device, err));
    load->room = room;
out:
    return st;
}

/* Writes one load's pieces, beginning at byte *at of range *r; both move on. */
static qn_status fill(qn_arc_load *load, const qn_arc_pooled *p, size_t *r, size_t *at, qn_err *err)
{
    const size_t head = (size_t)load->room * sizeof(arc_piece) / UNIT;
    unsigned char *to = NULL;
    arc_piece *list;
    qn_status st = qn_buf_host(load->fresh, QN_HOST_DISCARD, (void **)&to, err);
    int n = 0;

    if (st != QN_OK)
        return st;
    list = (arc_piece *)(void *)to;
    memset(list, 0, (size_t)load->room * sizeof *list);
    for (; n < load->room && *r < p->n_fresh; n++) {
        const size_t left = p->fresh[*r].bytes - *at;
        const size_t bytes = left < PIECE_UNITS * UNIT ? left : PIECE_UNITS * UNIT;
        const size_t place = p->fresh[*r].at + *at;
        const size_t from = head + (size_t)n * PIECE_UNITS;

        list[n] = (arc_piece){ .from = (uint32_t)from,
                               .to = (uint32_t)(place / UNIT),
                               .n = (uint32_t)((bytes + UNIT - 1) / UNIT) };
        memcpy(to + from * UNIT, p->bytes + place, bytes);
        *at += bytes;
        if (*at == p->fresh[*r].bytes) {
            *at = 0;
            ++*r;
        }
    }
    return QN_OK;
}

static size_t count_pieces(const qn_arc_pooled *p)
{
    size_t n = 0;

    for (size_t r = 0; r < p->n_fresh; r++)
        n += (p->fresh[r].bytes + PIECE_UNITS * UNIT - 1) / (PIECE_UNITS * UNIT);
    return n;
}

static qn_status load_pieces(qn_arc_load *load, const qn_arc_pooled *p, qn_err *err)
{
    const size_t pieces = count_pieces(p);
    size_t r = 0, at = 0;
    qn_status st = QN_OK;

    QN_TRY(build(load, pieces < MOST_PIECES ? (int)pieces : MOST_PIECES, err));
    while (r < p->n_fresh) {
        st = fill(load, p, &r, &at, err);
        st = st == QN_OK ? qn_graph_run(load->graph, err) : st;
        st = st == QN_OK ? qn_graph_wait(load->graph, err) : st;
        if (st != QN_OK)
            return st;
    }
out:
    return st;
}

/* Whether the device has memory for the new buffer. The smallest one is the engine's matter: others
 * give way, or the CPU runs. */
static qn_status reserve(qn_arc_load *load, qn_err *err)
{
    const int device = qn_device_find(load->ctx, load->device);
    qn_status st;

    if (device <= QN_CPU_SLOT || qn_buf_bytes(load->pool) <= LEAST_POOL)
        return QN_OK;
    st = qn_buf_reserve(load->pool, device, err);
    if (st != QN_ERR_NOMEM && st != QN_ERR_LIMIT)
        return QN_OK;
    qn_buf_free(load->pool);
    load->pool = NULL;
    return QN_ERR_NOMEM;
}

/* A new buffer gets the whole pool by a plain upload. */
static qn_status replace(qn_arc_load *load, const qn_arc_pooled *p, qn_err *err)
{
    size_t room = LEAST_POOL;
    qn_status st = QN_OK;

    while (room < p->n)
        room *= 2;
    qn_graph_free(load->graph);
    qn_buf_free(load->pool);
    load->graph = NULL;
    load->pool = NULL;
    QN_TRY(qn_buf_new(load->ctx, "arc.pool", room, &load->pool, err));
    QN_TRY(qn_buf_write(load->pool, 0, p->bytes, p->n, err));
    QN_TRY(reserve(load, err));
out:
    return st;
}

qn_status qn_arc_load_run(qn_arc_load *load, const qn_arc_pooled *pooled, qn_err *err)
{
    const int is_whole =
        pooled->n_fresh == 1 && pooled->fresh->at == 0 && pooled->fresh->bytes == pooled->n;

    if (!load->pool || qn_buf_bytes(load->pool) < pooled->n || is_whole)
        return replace(load, pooled, err);
    return pooled->n_fresh ? load_pieces(load, pooled, err) : QN_OK;
}
