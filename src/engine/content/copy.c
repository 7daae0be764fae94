/* copy.c - the copies of a content store on devices: what is new goes up together, and a kernel
 * puts it in place. */
#include "engine/content/content_impl.h"
#include "kernel/content.gen.h"
#include "kernel/content.h"
#include "util/list.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 8, MOST_PIECES = 32768, PIECE_BYTES = CONTENT_PIECE * UNIT };

/* Ranges that are nearer than that go up as one. */
enum { GAP = 4096 };

/* The smallest buffer. No store is made smaller: the engine finds memory for it, or the CPU runs. */
enum { LEAST_POOL = 1 << 16 };

static void free_load(qn_content_copy *copy)
{
    qn_graph_free(copy->load);
    qn_buf_free(copy->fresh);
    copy->load = NULL;
    copy->fresh = NULL;
}

static void free_pool(qn_content_copy *copy)
{
    qn_graph_free(copy->load);
    qn_buf_free(copy->pool);
    copy->load = NULL;
    copy->pool = NULL;
    copy->is_good = 0;
}

void qn_content_free_copies(qn_content_store *store)
{
    for (int d = 0; d < QN_MAX_DEVICES; d++) {
        free_load(&store->copies[d]);
        free_pool(&store->copies[d]);
    }
}

/* What is new. */

static int by_address(const void *a, const void *b)
{
    const qn_content_range *const one = a;
    const qn_content_range *const other = b;

    return (one->at > other->at) - (one->at < other->at);
}

qn_status qn_content_since(qn_content_store *store, uint64_t stamp, size_t gap,
                           const qn_content_range **out, size_t *n, qn_err *err)
{
    const qn_content_index *const index = &store->index;
    size_t n_new = 0;
    qn_status st = QN_OK;

    *n = 0;
    for (uint32_t i = index->ends[QN_BY_AGE].newer;
         i != QN_NO_CONTENT && index->items[i].stamp > stamp;
         i = index->items[i].links[QN_BY_AGE].older) {
        QN_TRY(QN_GROW(store->missing, n_new, &store->missing_room, "new content", err));
        store->missing[n_new++] =
            (qn_content_range){ .at = index->items[i].at, .bytes = index->items[i].bytes };
    }
    if (n_new > 1)
        qsort(store->missing, n_new, sizeof *store->missing, by_address);
    for (size_t i = 0; i < n_new; i++) {
        const qn_content_range next = store->missing[i];
        qn_content_range *const last = *n ? &store->missing[*n - 1] : NULL;

        if (last && next.at - (last->at + last->bytes) <= gap)
            last->bytes = next.at + next.bytes - last->at;
        else
            store->missing[(*n)++] = next;
    }
    *out = store->missing;
out:
    return st;
}

/* Launches. */

static const char *named(const qn_content_store *store, const char *part, char out[64])
{
    snprintf(out, 64, "%s.%s", store->name, part);
    return out;
}

/* Makes room for so many pieces, and the graph that puts them in place. */
static qn_status build_load(qn_content_store *store, int device, size_t pieces, qn_err *err)
{
    const size_t piece_bytes = sizeof(content_piece) + PIECE_BYTES;
    qn_content_copy *const copy = &store->copies[device];
    char name[64];
    qn_status st = QN_OK;
    int room = 64;

    while (room < MOST_PIECES && (size_t)room < pieces)
        room *= 2;
    if (copy->load && copy->fresh_room >= room)
        return QN_OK;
    free_load(copy);
    QN_TRY(qn_buf_new(store->ctx, named(store, "fresh", name), (size_t)room * piece_bytes,
                      &copy->fresh, err));
    QN_TRY(qn_graph_new(store->ctx, named(store, "load", name), &copy->load, err));
    QN_TRY(stage_content_load(copy->load, name, qn_range_2d(CONTENT_PIECE, room), copy->fresh,
                              copy->pool, err));
    QN_TRY(qn_graph_pin(copy->load, 0, qn_device_id(store->ctx, device), err));
    copy->fresh_room = room;
out:
    if (st != QN_OK)
        free_load(copy);
    return st;
}

/* Fills the buffer with pieces, beginning at byte *at of range *r; both move on. */
static qn_status fill(const qn_content_copy *copy, const unsigned char *bytes,
                      const qn_content_range *ranges, size_t n_ranges, size_t *r, size_t *at,
                      qn_err *err)
{
    const size_t head = (size_t)copy->fresh_room * sizeof(content_piece) / UNIT;
    unsigned char *to = NULL;
    content_piece *list;
    qn_status st = qn_buf_host(copy->fresh, QN_HOST_DISCARD, (void **)&to, err);

    if (st != QN_OK)
        return st;
    list = (content_piece *)(void *)to;
    memset(list, 0, (size_t)copy->fresh_room * sizeof *list);
    for (int n = 0; n < copy->fresh_room && *r < n_ranges; n++) {
        const size_t left = ranges[*r].bytes - *at;
        const size_t n_bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
        const size_t place = ranges[*r].at + *at;
        const size_t from = head + (size_t)n * CONTENT_PIECE;

        list[n] = (content_piece){ .from = (uint32_t)from,
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

static qn_status load(qn_content_store *store, int device, const qn_content_range *ranges,
                      size_t n_ranges, qn_err *err)
{
    qn_content_copy *const copy = &store->copies[device];
    size_t pieces = 0, r = 0, at = 0;
    qn_status st = QN_OK;

    for (size_t k = 0; k < n_ranges; k++)
        pieces += (ranges[k].bytes + PIECE_BYTES - 1) / PIECE_BYTES;
    QN_TRY(build_load(store, device, pieces, err));
    while (r < n_ranges) {
        QN_TRY(fill(copy, store->bytes, ranges, n_ranges, &r, &at, err));
        QN_TRY(qn_graph_run(copy->load, err));
        QN_TRY(qn_graph_wait(copy->load, err));
    }
out:
    return st;
}

/* Everything. */

/* Whether the device has memory for the new buffer. The engine deals with the smallest one: it
 * evicts others, or the CPU runs. */
static qn_status reserve(qn_content_store *store, int device, qn_err *err)
{
    qn_content_copy *const copy = &store->copies[device];
    const size_t bytes = qn_buf_bytes(copy->pool);
    qn_err ignored;
    qn_status st;

    if (device == QN_CPU_SLOT || bytes <= LEAST_POOL)
        return QN_OK;
    st = qn_buf_reserve(copy->pool, device, &ignored);
    if (st != QN_ERR_NOMEM && st != QN_ERR_LIMIT)
        return QN_OK;
    free_pool(copy);
    return qn_fail(err, QN_ERR_NOMEM, "%s: %s has no memory for %zu KB of %s", store->name,
                   qn_device_id(store->ctx, device), bytes >> 10, store->what);
}

/* All bytes in use go up by a plain upload, into a buffer that is large enough. */
static qn_status write_all(qn_content_store *store, int device, qn_err *err)
{
    const size_t n = qn_content_extent(store);
    qn_content_copy *const copy = &store->copies[device];
    size_t room = LEAST_POOL;
    void *to = NULL;
    char name[64];
    qn_status st = QN_OK;

    while (room < n)
        room *= 2;
    if (!qn_content_buffer(store, device)) {
        free_pool(copy);
        QN_TRY(qn_buf_new(store->ctx, named(store, "pool", name), room, &copy->pool, err));
    }
    QN_TRY(qn_buf_host(copy->pool, QN_HOST_DISCARD, &to, err));
    if (n)
        memcpy(to, store->bytes, n);
    QN_TRY(reserve(store, device, err));
out:
    return st;
}

/* A copy. */

qn_buf *qn_content_buffer(const qn_content_store *store, int device)
{
    qn_buf *const pool = store->copies[device].pool;

    return pool && qn_buf_bytes(pool) >= qn_content_extent(store) ? pool : NULL;
}

static void count(qn_content_store *store, int device, size_t bytes)
{
    qn_content_copy *const copy = &store->copies[device];
    const char *const *const labels =
        QN_LABELS("store", store->name, "device", qn_device_id(store->ctx, device));

    if (!copy->uploads) {
        copy->uploads = qn_metric_of(qn_ctx_metrics(store->ctx), "content_uploads", labels);
        copy->upload_bytes =
            qn_metric_of(qn_ctx_metrics(store->ctx), "content_upload_bytes", labels);
    }
    qn_metric_add(copy->uploads, 1);
    qn_metric_add(copy->upload_bytes, (double)bytes);
}

static qn_status update(qn_content_store *store, int device, qn_err *err)
{
    const size_t extent = qn_content_extent(store);
    qn_content_copy *const copy = &store->copies[device];
    const qn_content_range *ranges;
    size_t n = 0, bytes = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_content_since(store, copy->stamp, GAP, &ranges, &n, err));
    for (size_t k = 0; k < n; k++)
        bytes += ranges[k].bytes;
    if (!copy->is_good || !qn_content_buffer(store, device) || (n && bytes == extent)) {
        QN_TRY(write_all(store, device, err));
        bytes = extent;
    } else if (n) {
        QN_TRY(load(store, device, ranges, n, err));
    }
    if (bytes)
        count(store, device, bytes);
out:
    return st;
}

qn_status qn_content_update(qn_content_store *store, int device, qn_buf **out, qn_err *err)
{
    qn_content_copy *const copy = &store->copies[device];
    qn_status st = QN_OK;

    *out = NULL;
    if (!copy->is_good || copy->stamp < store->stamps || !qn_content_buffer(store, device))
        st = update(store, device, err);
    copy->is_good = st == QN_OK;
    if (st != QN_OK)
        return st;
    copy->stamp = store->stamps;
    *out = copy->pool;
    return QN_OK;
}

void qn_content_distrust(qn_content_store *store, int device)
{
    store->copies[device].is_good = 0;
}

int qn_content_halve(qn_content_store *store, int device)
{
    const size_t extent = qn_content_extent(store), had = store->budget;
    size_t budget = LEAST_POOL;

    while (2 * budget < extent && 2 * budget < had)
        budget *= 2;
    if (had <= LEAST_POOL || !qn_content_shrink(store, budget))
        return 0;
    qn_log_put(qn_ctx_log(store->ctx), QN_LOG_WARN,
               "%s: %s has no memory for %zu KB of %s; batches go in pieces of %zu KB", store->name,
               qn_device_id(store->ctx, device), extent >> 10, store->what, budget >> 10);
    return 1;
}
