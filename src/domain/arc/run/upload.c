/* upload.c - the pool of an executor: new pieces are uploaded together, and a kernel puts them in
 * place. */
#include "domain/arc/run/executor_impl.h"
#include "kernel/arc_load.gen.h"

#include <string.h>

enum { UNIT = 8, PIECE_UNITS = 128, MOST_PIECES = 32768, LEAST_POOL = 1 << 16 };

static void free_upload(qn_arc_executor *x)
{
    qn_graph_free(x->upload);
    qn_buf_free(x->fresh);
    x->upload = NULL;
    x->fresh = NULL;
}

void qn_arc_upload_free(qn_arc_executor *x)
{
    free_upload(x);
    qn_buf_free(x->pool);
    x->pool = NULL;
}

/* Makes a buffer for this many pieces, and the graph that puts them in place. */
static qn_status build(qn_arc_executor *x, size_t pieces, qn_err *err)
{
    const size_t piece_bytes = sizeof(arc_piece) + (size_t)PIECE_UNITS * UNIT;
    qn_status st = QN_OK;
    int room = 64;

    while (room < MOST_PIECES && (size_t)room < pieces)
        room *= 2;
    if (x->upload && x->fresh_room >= room)
        return QN_OK;
    free_upload(x);
    QN_TRY(qn_buf_new(x->ctx, "arc.fresh", (size_t)room * piece_bytes, &x->fresh, err));
    QN_TRY(qn_graph_new(x->ctx, "arc.load", &x->upload, err));
    QN_TRY(stage_arc_load(x->upload, "arc.load", qn_range_2d(PIECE_UNITS, room), x->fresh, x->pool,
                          err));
    QN_TRY(qn_graph_pin(x->upload, 0, qn_device_id(x->ctx, x->device), err));
    x->fresh_room = room;
out:
    return st;
}

/* Fills the buffer with pieces, starting at byte *at of range *r; advances both. */
static qn_status fill(qn_arc_executor *x, const unsigned char *bytes,
                      const qn_content_range *ranges, size_t n_ranges, size_t *r, size_t *at,
                      qn_err *err)
{
    const size_t head = (size_t)x->fresh_room * sizeof(arc_piece) / UNIT;
    unsigned char *to = NULL;
    arc_piece *list;
    qn_status st = qn_buf_host(x->fresh, QN_HOST_DISCARD, (void **)&to, err);

    if (st != QN_OK)
        return st;
    list = (arc_piece *)(void *)to;
    memset(list, 0, (size_t)x->fresh_room * sizeof *list);
    for (int n = 0; n < x->fresh_room && *r < n_ranges; n++) {
        const size_t left = ranges[*r].bytes - *at;
        const size_t n_bytes = left < PIECE_UNITS * UNIT ? left : PIECE_UNITS * UNIT;
        const size_t place = ranges[*r].at + *at;
        const size_t from = head + (size_t)n * PIECE_UNITS;

        list[n] = (arc_piece){ .from = (uint32_t)from,
                               .to = (uint32_t)(place / UNIT),
                               .n = (uint32_t)((n_bytes + UNIT - 1) / UNIT) };
        memcpy(to + from * UNIT, bytes + place, n_bytes);
        *at += n_bytes;
        if (*at == ranges[*r].bytes) {
            *at = 0;
            ++*r;
        }
    }
    return QN_OK;
}

static qn_status upload(qn_arc_executor *x, const unsigned char *bytes,
                        const qn_content_range *ranges, size_t n_ranges, qn_err *err)
{
    size_t pieces = 0, r = 0, at = 0;
    qn_status st = QN_OK;

    for (size_t k = 0; k < n_ranges; k++)
        pieces += (ranges[k].bytes + PIECE_UNITS * UNIT - 1) / (PIECE_UNITS * UNIT);
    QN_TRY(build(x, pieces, err));
    while (r < n_ranges) {
        QN_TRY(fill(x, bytes, ranges, n_ranges, &r, &at, err));
        QN_TRY(qn_graph_run(x->upload, err));
        QN_TRY(qn_graph_wait(x->upload, err));
    }
out:
    return st;
}

/* Whether the device has memory for the new buffer. The engine handles the smallest one: it evicts
 * other data, or the CPU runs. */
static qn_status reserve(qn_arc_executor *x, qn_err *err)
{
    qn_status st;

    if (x->device == QN_CPU_SLOT || qn_buf_bytes(x->pool) <= LEAST_POOL)
        return QN_OK;
    st = qn_buf_reserve(x->pool, x->device, err);
    if (st != QN_ERR_NOMEM && st != QN_ERR_LIMIT)
        return QN_OK;
    qn_buf_free(x->pool);
    x->pool = NULL;
    return QN_ERR_NOMEM;
}

/* A new buffer gets the whole pool by a plain upload. Existing graphs refer to the old one. */
static qn_status replace(qn_arc_executor *x, const unsigned char *bytes, size_t n, qn_err *err)
{
    size_t room = LEAST_POOL;
    qn_status st = QN_OK;

    while (room < n)
        room *= 2;
    for (int i = 0; i < QN_ARC_SLOTS; i++)
        qn_arc_slot_free_graphs(&x->slots[i]);
    qn_graph_free(x->upload);
    x->upload = NULL;
    qn_buf_free(x->pool);
    x->pool = NULL;
    QN_TRY(qn_buf_new(x->ctx, "arc.pool", room, &x->pool, err));
    QN_TRY(qn_buf_write(x->pool, 0, bytes, n, err));
    QN_TRY(reserve(x, err));
out:
    return st;
}

/* An executor that missed a version gets the whole pool. */
qn_status qn_arc_executor_update(qn_arc_executor *x, const qn_arc_pool_state *state, qn_err *err)
{
    const unsigned char *bytes = qn_content_bytes(state->pool);
    const size_t n = qn_content_extent(state->pool);
    const int is_next = x->version + 1 == state->version;
    const int is_whole =
        is_next && state->n_fresh == 1 && state->fresh->at == 0 && state->fresh->bytes == n;
    qn_status st = QN_OK;

    if (x->version == state->version && x->pool && qn_buf_bytes(x->pool) >= n)
        return QN_OK;
    if (!is_next || is_whole || !x->pool || qn_buf_bytes(x->pool) < n)
        QN_TRY(replace(x, bytes, n, err));
    else if (state->n_fresh)
        QN_TRY(upload(x, bytes, state->fresh, state->n_fresh, err));
    x->version = state->version;
out:
    return st;
}

void qn_arc_executor_lose_pool(qn_arc_executor *x)
{
    x->version = 0;
}
