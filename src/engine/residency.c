/* residency.c - moving copies of a buffer, and keeping the books about it. */
#include "engine/residency.h"

#include "engine/fault.h"
#include "util/clock.h"

#include <string.h>


void qn_count_transfer(qn_buf *root, qn_device *device, qn_transfer_kind kind, size_t bytes)
{
    qn_transfer_count *const counts[2] = { &root->count, &root->ctx->transfers };

    for (int i = 0; i < 2; i++) {
        uint64_t *const n[] = { &counts[i]->h2d_count, &counts[i]->d2h_count, &counts[i]->d2d_count };
        uint64_t *const b[] = { &counts[i]->h2d_bytes, &counts[i]->d2h_bytes, &counts[i]->d2d_bytes };

        ++*n[kind];
        *b[kind] += bytes;
    }
    qn_metric *const n[] = { device->m.h2d_count, device->m.d2h_count, device->m.d2d_count };
    qn_metric *const b[] = { device->m.h2d_bytes, device->m.d2h_bytes, device->m.d2d_bytes };

    qn_metric_add(n[kind], 1);
    qn_metric_add(b[kind], (double)bytes);
    qn_metric_add(root->ctx->m.transfers, 1);
}

void qn_count_elided(qn_buf *root)
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

qn_status qn_buf_need_host(qn_buf *root, qn_err *err)
{
    qn_status st;

    if (root->spill_file >= 0)
        return qn_evict_unspill(root, err);
    if (root->host)
        return QN_OK;
    if ((st = qn_evict_acquire_host(root->ctx, root->bytes, &root->host_block, err)) != QN_OK)
        return qn_prefix(err, "buffer %s", root->name);
    root->host = root->host_block->host;
    /* Nothing was written yet: the content is zero by contract. */
    if (root->host_version == root->version)
        memset(root->host, 0, root->bytes);
    return QN_OK;
}

qn_status qn_buf_need_block(qn_buf *root, qn_device *device, qn_err *err)
{
    qn_copy *copy = &root->copies[device->slot];
    qn_status st;

    copy->tick = ++root->ctx->tick;
    if (copy->block)
        return QN_OK;
    st = qn_evict_acquire(device, root->bytes, root->name, &copy->block, err);
    if (st != QN_OK)
        return st;
    copy->version = 0;
    copy->written = copy->used = copy->uploaded = (qn_point){ QN_COMPUTE, 0 };
    root->visited |= 1u << device->slot;
    return QN_OK;
}

qn_status qn_buf_upload(qn_buf *root, qn_device *device, qn_stream on, const char *stage, qn_err *err)
{
    qn_copy *copy = &root->copies[device->slot];
    qn_status st = qn_fault_copy(root->ctx, "copy_h2d", stage, root->bytes, err);
    const double start = qn_now_us();

    if (st == QN_OK)
        st = qn_buf_await_host(root, err);
    if (st == QN_OK)
        st = qn_stream_wait(device, on, copy->used, err);
    if (st == QN_OK)
        st = device->backend->upload(device->dev, copy->block->mem, 0, root->host, root->bytes, on,
                                     err);
    qn_metric_add(root->ctx->m.transfer_us, qn_now_us() - start);
    return st == QN_OK ? st : qn_prefix(err, "upload of %s", root->name);
}

/* Host memory is free of copies to and from every device but one, whose streams keep order. */
static qn_status await_host_except(qn_buf *root, int slot, qn_err *err)
{
    qn_ctx *ctx = root->ctx;
    qn_status st = root->host_device == slot ? QN_OK : qn_buf_await_host(root, err);

    for (int d = 1; st == QN_OK && d < ctx->n_devices; d++)
        if (d != slot && root->copies[d].block && !ctx->devices[d].lost)
            st = qn_point_await(&ctx->devices[d], root->copies[d].uploaded, err);
    return st;
}

qn_status qn_buf_download(qn_buf *root, qn_device *device, qn_stream on, const char *stage,
                          qn_err *err)
{
    qn_copy *copy = &root->copies[device->slot];
    qn_status st = qn_fault_copy(root->ctx, "copy_d2h", stage, root->bytes, err);
    const double start = qn_now_us();

    if (st == QN_OK)
        st = await_host_except(root, device->slot, err);
    if (st == QN_OK && root->host_device == device->slot)
        st = qn_stream_wait(device, on, root->host_point, err);
    if (st == QN_OK)
        st = qn_stream_wait(device, on, copy->written, err);
    if (st == QN_OK)
        st = device->backend->download(device->dev, copy->block->mem, 0, root->host, root->bytes,
                                       on, err);
    qn_metric_add(root->ctx->m.transfer_us, qn_now_us() - start);
    return st == QN_OK ? st : qn_prefix(err, "download of %s", root->name);
}

qn_status qn_buf_peer(qn_buf *root, qn_device *from, qn_device *to, qn_stream on, qn_err *err)
{
    qn_copy *src = &root->copies[from->slot];
    qn_copy *dst = &root->copies[to->slot];
    qn_status st = qn_point_await(from, src->written, err);

    if (st == QN_OK)
        st = qn_stream_wait(to, on, dst->used, err);
    if (st == QN_OK)
        st = to->backend->copy_peer(from->dev, src->block->mem, to->dev, dst->block->mem,
                                    root->bytes, on, err);
    return st == QN_OK ? st : qn_prefix(err, "peer copy of %s", root->name);
}

void qn_buf_note_upload(qn_buf *root, qn_device *device, qn_point at)
{
    qn_copy *copy = &root->copies[device->slot];

    copy->version = root->version;
    copy->written = copy->used = copy->uploaded = at;
    copy->tick = ++root->ctx->tick;
}

void qn_buf_note_download(qn_buf *root, qn_device *device, qn_point at)
{
    root->copies[device->slot].used = at;
    root->host_version = root->version;
    root->host_device = device->slot;
    root->host_point = at;
}

void qn_buf_note_read(qn_buf *root, qn_device *device, qn_point at)
{
    qn_copy *copy = &root->copies[device->slot];

    copy->used = at;
    copy->tick = ++root->ctx->tick;
    root->uses++;
}

void qn_buf_note_write(qn_buf *root, qn_device *device, qn_point at)
{
    qn_copy *copy = &root->copies[device->slot];

    root->version++;
    root->uses++;
    if (device->info.unified_memory) {
        root->host_version = root->version;
        return;
    }
    copy->version = root->version;
    copy->written = copy->used = at;
    copy->tick = ++root->ctx->tick;
}

void qn_buf_note_host_write(qn_buf *root)
{
    root->version++;
    root->host_version = root->version;
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

qn_status qn_buf_await_host_write(qn_buf *root, qn_err *err)
{
    qn_ctx *ctx = root->ctx;
    qn_status st = qn_buf_await_host(root, err);

    for (int d = 1; st == QN_OK && d < ctx->n_devices; d++)
        if (root->copies[d].block && !ctx->devices[d].lost)
            st = qn_point_await(&ctx->devices[d], root->copies[d].uploaded, err);
    return st;
}

int qn_buf_find_valid(const qn_buf *root)
{
    if (qn_buf_valid_host(root))
        return QN_CPU_SLOT;
    for (int d = 1; d < root->ctx->n_devices; d++)
        if (!root->ctx->devices[d].lost && qn_buf_valid_on(root, &root->ctx->devices[d]))
            return d;
    return -1;
}

qn_status qn_buf_fetch(qn_buf *root, qn_err *err)
{
    const int slot = qn_buf_find_valid(root);
    qn_device *device;
    qn_status st;

    if (slot < 0)
        return qn_fail(err, QN_ERR_DEVICE_LOST, "buffer %s: its only valid copy was lost with its device",
                       root->name);
    if ((st = qn_buf_need_host(root, err)) != QN_OK)
        return st;
    if (slot == QN_CPU_SLOT) {
        qn_count_elided(root);
        return qn_buf_await_host(root, err);
    }
    device = &root->ctx->devices[slot];
    if ((st = qn_buf_download(root, device, QN_DOWNLOAD, root->name, err)) != QN_OK)
        return st;
    qn_count_transfer(root, device, QN_TRANSFER_D2H, root->bytes);
    qn_buf_note_download(root, device, qn_stream_step(device, QN_DOWNLOAD));
    return qn_buf_await_host(root, err);
}

void qn_buf_drop_copy(qn_buf *root, qn_device *device)
{
    qn_copy *copy = &root->copies[device->slot];

    if (!copy->block)
        return;
    if (!copy->borrowed) {
        copy->block->use_device = device->slot;
        copy->block->use_stream = copy->used.stream;
        copy->block->use_seq = copy->used.seq;
        qn_pool_release(device->pool, copy->block);
    }
    *copy = (qn_copy){ 0 };
}
