/* residency.c - moves copies of a buffer and keeps track of them. */
#include "engine/memory/residency.h"

#include "util/clock.h"

#include <string.h>

void qn_count_transfer(qn_buf *root, qn_device *device, qn_transfer_kind kind, size_t bytes)
{
    qn_transfer_count *const counts[2] = { &root->count, &root->ctx->transfers };

    for (int i = 0; i < 2; i++) {
        uint64_t *const n[] = { &counts[i]->h2d_count, &counts[i]->d2h_count,
                                &counts[i]->d2d_count };
        uint64_t *const b[] = { &counts[i]->h2d_bytes, &counts[i]->d2h_bytes,
                                &counts[i]->d2d_bytes };

        ++*n[kind];
        *b[kind] += bytes;
    }
    qn_metric *const n[] = { device->m.h2d_count, device->m.d2h_count, device->m.d2d_count };
    qn_metric *const b[] = { device->m.h2d_bytes, device->m.d2h_bytes, device->m.d2d_bytes };

    qn_metric_add(n[kind], 1);
    qn_metric_add(b[kind], (double)bytes);
    qn_metric_add(root->ctx->m.transfers, 1);
}

static void count_elided(qn_buf *root)
{
    root->count.elided++;
    root->ctx->transfers.elided++;
    qn_metric_add(root->ctx->m.elided, 1);
}

qn_status qn_fault_copy(qn_ctx *ctx, const char *where, const char *name, size_t bytes, qn_err *err)
{
    if (!qn_fault_hits(ctx->faults, where, name, bytes))
        return QN_OK;
    return qn_fail(err, QN_ERR_INJECTED, "injected %s fault (%zu bytes)", where, bytes);
}

/* Memory. */

qn_status qn_buf_need_host(qn_buf *root, qn_err *err)
{
    qn_status st;

    root->host_tick = ++root->ctx->tick;
    if (root->spill_file >= 0 && qn_buf_valid_host(root))
        return qn_evict_unspill(root, err);
    if (root->host)
        return QN_OK;
    if ((st = qn_evict_acquire_host(root->ctx, root->bytes, &root->host_block, err)) != QN_OK)
        return qn_prefix(err, "buffer %s", root->name);
    qn_evict_forget(root);
    root->host = root->host_block->host;
    /* Nothing was written yet: the content is zero by contract. */
    if (qn_buf_valid_host(root))
        memset(root->host, 0, root->bytes);
    return QN_OK;
}

qn_status qn_buf_need_block(qn_buf *root, qn_device *device, const char *stage, int may_evict,
                            qn_err *err)
{
    qn_copy *copy = &root->copies[device->slot];
    qn_status st;

    copy->tick = ++root->ctx->tick;
    if (copy->block)
        return QN_OK;
    st = qn_evict_acquire(device, root->bytes, stage, root->name, may_evict, &copy->block, err);
    if (st != QN_OK)
        return st;
    copy->version = 0;
    copy->written = copy->arrived = (qn_point){ QN_COMPUTE, 0 };
    copy->used = (qn_points){ { 0 } };
    root->visited |= 1u << device->slot;
    return QN_OK;
}

/* Waiting. */

/* Waits until no other device reads the device's copy. */
static qn_status await_peers(qn_buf *root, const qn_device *device, qn_err *err)
{
    qn_ctx *ctx = root->ctx;
    qn_status st = QN_OK;

    for (int d = 1; d < ctx->n_devices; d++) {
        const qn_copy *copy = &root->copies[d];

        if (d != device->slot && copy->block && copy->source == device->slot &&
            !ctx->devices[d].lost)
            QN_TRY(qn_point_await(&ctx->devices[d], copy->arrived, err));
    }
out:
    return st;
}

/* Waits for the previous copy into the block if it came from another source, since only one source
 * that is still being read can be recorded. */
static qn_status await_arrival(qn_device *device, const qn_copy *copy, int source, qn_err *err)
{
    return copy->source == source ? QN_OK : qn_point_await(device, copy->arrived, err);
}

qn_status qn_buf_await_host(qn_buf *root, qn_err *err)
{
    qn_status st;

    if (root->host_device < 0)
        return QN_OK;
    st = qn_point_await(&root->ctx->devices[root->host_device], root->host_point, err);
    root->host_device = -1;
    if (st != QN_OK) { /* the download never arrived */
        root->host_version = 0;
        return qn_prefix(err, "download of %s", root->name);
    }
    return QN_OK;
}

/* Waits for uploads from host memory to all devices but one. */
static qn_status await_uploads(qn_buf *root, int except, qn_err *err)
{
    qn_ctx *ctx = root->ctx;
    qn_status st = QN_OK;

    for (int d = 1; d < ctx->n_devices; d++) {
        const qn_copy *copy = &root->copies[d];

        if (d == except || !copy->block || copy->source != QN_CPU_SLOT || ctx->devices[d].lost)
            continue;
        st = qn_point_await(&ctx->devices[d], copy->arrived, err);
        if (st != QN_OK && !ctx->devices[d].lost)
            return st;
    }
    return QN_OK;
}

qn_status qn_buf_await_host_write(qn_buf *root, qn_err *err)
{
    qn_err ignored;

    qn_buf_await_host(root, &ignored);
    return await_uploads(root, QN_CPU_SLOT, err);
}

qn_status qn_buf_before_read(qn_buf *root, qn_device *device, qn_stream on, qn_err *err)
{
    return qn_stream_wait(device, on, root->copies[device->slot].written, err);
}

qn_status qn_buf_before_write(qn_buf *root, qn_device *device, qn_stream on, qn_err *err)
{
    const qn_status st = qn_stream_wait_all(device, on, &root->copies[device->slot].used, err);

    return st == QN_OK ? await_peers(root, device, err) : st;
}

qn_status qn_buf_before_host_read(qn_buf *root, qn_device *device, qn_stream on, qn_err *err)
{
    return root->host_device == device->slot ? qn_stream_wait(device, on, root->host_point, err)
                                             : qn_buf_await_host(root, err);
}

qn_status qn_buf_before_host_write(qn_buf *root, qn_device *device, qn_stream on, qn_err *err)
{
    const qn_copy *copy = &root->copies[device->slot];
    qn_err ignored;
    qn_status st = QN_OK;

    if (root->host_device == device->slot)
        QN_TRY(qn_stream_wait(device, on, root->host_point, err));
    else
        qn_buf_await_host(root, &ignored); /* its result is overwritten anyway */
    if (copy->block && copy->source == QN_CPU_SLOT)
        QN_TRY(qn_stream_wait(device, on, copy->arrived, err));
    QN_TRY(await_uploads(root, device->slot, err));
out:
    return st;
}

void qn_buf_drop_copy(qn_buf *root, qn_device *device)
{
    qn_copy *copy = &root->copies[device->slot];
    qn_err ignored;

    if (!copy->block)
        return;
    await_peers(root, device, &ignored);
    if (!copy->borrowed) {
        memcpy(copy->block->use_seq, copy->used.seq, sizeof copy->used.seq);
        qn_pool_release(device->pool, copy->block);
    }
    *copy = (qn_copy){ .pins = copy->pins };
}

/* Moving. */

qn_status qn_buf_upload(qn_buf *root, qn_device *device, qn_stream on, const char *stage,
                        qn_err *err)
{
    qn_copy *copy = &root->copies[device->slot];
    const double start = qn_now_us();
    qn_status st = QN_OK;

    QN_TRY(qn_fault_copy(root->ctx, "copy_h2d", stage, root->bytes, err));
    QN_TRY(qn_buf_before_host_read(root, device, on, err));
    QN_TRY(await_arrival(device, copy, QN_CPU_SLOT, err));
    QN_TRY(qn_buf_before_write(root, device, on, err));
    QN_TRY(device->backend->upload(device->dev, copy->block->mem, 0, root->host, root->bytes, on,
                                   err));
    qn_metric_add(root->ctx->m.transfer_us, qn_now_us() - start);
out:
    return st == QN_OK ? st : qn_prefix(err, "upload of %s", root->name);
}

qn_status qn_buf_download(qn_buf *root, qn_device *device, void *to, qn_stream on,
                          const char *stage, qn_err *err)
{
    qn_copy *copy = &root->copies[device->slot];
    const double start = qn_now_us();
    qn_status st = QN_OK;

    QN_TRY(qn_fault_copy(root->ctx, "copy_d2h", stage, root->bytes, err));
    QN_TRY(qn_buf_before_host_write(root, device, on, err));
    QN_TRY(qn_buf_before_read(root, device, on, err));
    QN_TRY(device->backend->download(device->dev, copy->block->mem, 0, to, root->bytes, on, err));
    qn_metric_add(root->ctx->m.transfer_us, qn_now_us() - start);
out:
    return st == QN_OK ? st : qn_prefix(err, "download of %s", root->name);
}

qn_status qn_buf_peer(qn_buf *root, qn_device *from, qn_device *to, qn_stream on, qn_err *err)
{
    qn_copy *src = &root->copies[from->slot];
    qn_copy *dst = &root->copies[to->slot];
    qn_status st = QN_OK;

    QN_TRY(qn_point_await(from, src->written, err));
    QN_TRY(await_arrival(to, dst, from->slot, err));
    QN_TRY(qn_buf_before_write(root, to, on, err));
    QN_TRY(to->backend->copy_peer(from->dev, src->block->mem, to->dev, dst->block->mem, root->bytes,
                                  on, err));
out:
    return st == QN_OK ? st : qn_prefix(err, "peer copy of %s", root->name);
}

unsigned qn_buf_valid_mask(const qn_buf *root)
{
    unsigned mask = qn_buf_valid_host(root);

    for (int d = 1; d < root->ctx->n_devices; d++)
        if (!root->ctx->devices[d].lost && qn_buf_valid_on(root, &root->ctx->devices[d]))
            mask |= 1u << d;
    return mask;
}

int qn_buf_find_valid(const qn_buf *root)
{
    const unsigned mask = qn_buf_valid_mask(root);

    return mask ? __builtin_ctz(mask) : -1;
}

static qn_status fetch_once(qn_buf *root, qn_err *err)
{
    const int slot = qn_buf_find_valid(root);
    qn_device *device;
    qn_status st = QN_OK;

    if (slot < 0)
        return qn_fail(err, QN_ERR_DEVICE_LOST,
                       "buffer %s: its only valid copy was lost with its device", root->name);
    QN_TRY(qn_buf_need_host(root, err));
    if (slot == QN_CPU_SLOT) {
        QN_TRY(qn_buf_await_host(root, err));
        count_elided(root);
        return QN_OK;
    }
    device = &root->ctx->devices[slot];
    QN_TRY(qn_buf_download(root, device, root->host, QN_DOWNLOAD, root->name, err));
    qn_count_transfer(root, device, QN_TRANSFER_D2H, root->bytes);
    qn_buf_note_download(root, device, qn_stream_step(device, QN_DOWNLOAD));
    QN_TRY(qn_buf_await_host(root, err));
out:
    return st;
}

qn_status qn_buf_recover(qn_buf *root, qn_status st, qn_err *err)
{
    qn_runs *writer = root->writer;

    /* A failure before queueing does not affect the run. */
    if (!writer || !writer->in_flight || writer->is_running || st == QN_ERR_NOMEM ||
        st == QN_ERR_INJECTED)
        return st;
    return writer->wait(writer, err);
}

qn_status qn_buf_fetch(qn_buf *root, qn_err *err)
{
    qn_status st = fetch_once(root, err);

    if (st == QN_OK || qn_buf_recover(root, st, err) != QN_OK)
        return st == QN_OK ? QN_OK : err->status;
    return fetch_once(root, err);
}

/* State. */

/* Work at `at` waits for everything before it. */
static void set_written(qn_copy *copy, qn_point at)
{
    copy->written = at;
    copy->used = (qn_points){ { 0 } };
    qn_points_add(&copy->used, at);
}

void qn_buf_note_arrival(qn_buf *root, qn_device *device, int source, qn_point at)
{
    qn_copy *copy = &root->copies[device->slot];

    copy->version = root->version;
    set_written(copy, at);
    copy->arrived = at;
    copy->source = source;
    copy->tick = ++root->ctx->tick;
}

void qn_buf_note_download(qn_buf *root, qn_device *device, qn_point at)
{
    qn_points_add(&root->copies[device->slot].used, at);
    root->host_version = root->version;
    root->host_device = device->slot;
    root->host_point = at;
}

void qn_buf_note_read(qn_buf *root, qn_device *device, qn_point at)
{
    qn_copy *copy = &root->copies[device->slot];

    root->uses++;
    if (device->info.unified_memory) {
        root->host_tick = ++root->ctx->tick;
        return;
    }
    qn_points_add(&copy->used, at);
    copy->tick = ++root->ctx->tick;
}

void qn_buf_note_write(qn_buf *root, qn_device *device, qn_point at)
{
    qn_copy *copy = &root->copies[device->slot];

    root->version++;
    root->uses++;
    if (device->info.unified_memory) {
        root->host_version = root->version;
        root->host_tick = ++root->ctx->tick;
        root->writer = NULL;
        return;
    }
    copy->version = root->version;
    set_written(copy, at);
    copy->tick = ++root->ctx->tick;
}

void qn_buf_note_host_write(qn_buf *root)
{
    root->version++;
    root->host_version = root->version;
    root->writer = NULL;
}
