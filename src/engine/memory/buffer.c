/* buffer.c - makes buffers, and reads and writes them from the host.
 *
 * The copies themselves are in residency.c; this file decides when the host needs one. Uploads
 * never happen here: data moves when a stage needs it.
 */
#include "engine/memory/residency.h"

#include <stdlib.h>
#include <string.h>

static qn_status new_buf(qn_ctx *ctx, const char *name, size_t bytes, int n_copies, qn_buf **out,
                         qn_err *err)
{
    qn_buf *buf;

    if (!bytes)
        return qn_fail(err, QN_ERR_USAGE, "buffer %s: size 0", name);
    if (!(buf = calloc(1, sizeof *buf + (size_t)n_copies * sizeof *buf->copies)))
        return qn_fail(err, QN_ERR_NOMEM, "buffer %s: out of host memory", name);
    buf->ctx = ctx;
    buf->bytes = bytes;
    buf->refs = 1;
    buf->version = buf->host_version = 1;
    buf->host_device = -1;
    buf->spill_file = -1;
    strncpy(buf->name, name, sizeof buf->name - 1);
    *out = buf;
    return QN_OK;
}

static void link_buf(qn_buf *buf)
{
    buf->next = buf->ctx->bufs;
    if (buf->next)
        buf->next->prev = buf;
    buf->ctx->bufs = buf;
    qn_ledger_made(buf);
}

static void unlink_buf(qn_buf *buf)
{
    qn_ledger_gone(buf);
    if (buf->prev)
        buf->prev->next = buf->next;
    else
        buf->ctx->bufs = buf->next;
    if (buf->next)
        buf->next->prev = buf->prev;
}

qn_status qn_buf_new(qn_ctx *ctx, const char *name, size_t bytes, qn_buf **out, qn_err *err)
{
    qn_status st = QN_CHECK_CALL(ctx, err, ctx, name, out);

    if (st == QN_OK)
        st = new_buf(ctx, name, bytes, ctx->n_devices, out, err);
    if (st == QN_OK)
        link_buf(*out);
    return st;
}

qn_status qn_buf_wrap(qn_ctx *ctx, const char *name, void *host, size_t bytes, qn_buf **out,
                      qn_err *err)
{
    qn_status st = QN_CHECK_CALL(NULL, err, host);

    if (st == QN_OK)
        st = qn_buf_new(ctx, name, bytes, out, err);
    if (st != QN_OK)
        return st;
    (*out)->host = host;
    (*out)->wrapped = 1;
    return QN_OK;
}

qn_status qn_buf_view(qn_buf *parent, const char *name, size_t offset, size_t bytes, qn_buf **out,
                      qn_err *err)
{
    qn_status st = QN_CHECK_CALL(NULL, err, parent, name, out);

    if (st != QN_OK)
        return st;
    if (offset > parent->bytes || bytes > parent->bytes - offset)
        return qn_fail(err, QN_ERR_USAGE, "view %s: [%zu, %zu) lies outside buffer %s of %zu bytes",
                       name, offset, offset + bytes, parent->name, parent->bytes);
    if ((st = new_buf(parent->ctx, name, bytes, 0, out, err)) != QN_OK)
        return st;
    (*out)->parent = qn_buf_root(parent);
    (*out)->offset = parent->offset + offset;
    (*out)->parent->refs++;
    return QN_OK;
}

void qn_buf_free(qn_buf *buf)
{
    qn_ctx *ctx;
    qn_err ignored;

    if (!buf || --buf->refs > 0)
        return;
    ctx = buf->ctx;
    if (qn_ctx_is_inherited(ctx))
        return;
    if (buf->parent) {
        qn_buf_free(buf->parent);
        free(buf);
        return;
    }
    /* Host memory is reused at once, so wait for copies from and to it. */
    qn_buf_await_host_write(buf, &ignored);
    for (int d = 1; d < ctx->n_devices; d++)
        qn_buf_drop_copy(buf, &ctx->devices[d]);
    if (buf->host_block)
        qn_pool_release(ctx->host_pool, buf->host_block);
    qn_evict_forget(buf);
    unlink_buf(buf);
    free(buf);
}

size_t qn_buf_bytes(const qn_buf *buf)
{
    return buf->bytes;
}

const char *qn_buf_name(const qn_buf *buf)
{
    return buf->name;
}

static qn_status check_span(const qn_buf *buf, size_t offset, size_t bytes, qn_err *err)
{
    if (offset > buf->bytes || bytes > buf->bytes - offset)
        return qn_fail(err, QN_ERR_USAGE, "buffer %s: [%zu, %zu) lies outside its %zu bytes",
                       buf->name, offset, offset + bytes, buf->bytes);
    return QN_OK;
}

/* Downloads part of a device copy directly to the caller; the host copy stays stale. */
static qn_status read_part(qn_buf *root, qn_device *device, size_t at, void *dst, size_t row_bytes,
                           size_t rows, size_t pitch, qn_err *err)
{
    qn_copy *copy = &root->copies[device->slot];
    qn_status st = qn_stream_wait(device, QN_DOWNLOAD, copy->written, err);
    qn_point end;

    if (st == QN_OK)
        st = qn_fault_copy(device->ctx, "copy_d2h", root->name, row_bytes * rows, err);
    if (st == QN_OK && rows == 1)
        st = device->backend->download(device->dev, copy->block->mem, at, dst, row_bytes,
                                       QN_DOWNLOAD, err);
    else if (st == QN_OK && device->backend->download_rect)
        st = device->backend->download_rect(device->dev, copy->block->mem, at, pitch, dst,
                                            row_bytes, rows, QN_DOWNLOAD, err);
    else
        for (size_t r = 0; st == QN_OK && r < rows; r++)
            st =
                device->backend->download(device->dev, copy->block->mem, at + r * pitch,
                                          (char *)dst + r * row_bytes, row_bytes, QN_DOWNLOAD, err);
    if (st != QN_OK)
        return st;
    end = qn_stream_step(device, QN_DOWNLOAD);
    qn_points_add(&copy->used, end);
    qn_count_transfer(root, device, QN_TRANSFER_D2H, row_bytes * rows);
    return qn_point_await(device, end, err);
}

static void copy_rows(char *dst, const char *src, size_t row_bytes, size_t rows, size_t pitch)
{
    for (size_t r = 0; r < rows; r++)
        memcpy(dst + r * row_bytes, src + r * pitch, row_bytes);
}

/* Bytes from the start of the first row to the end of the last; 0 if there are no rows. */
static qn_status check_rows(const qn_buf *buf, size_t offset, size_t row_bytes, size_t rows,
                            size_t pitch, size_t *reach, qn_err *err)
{
    qn_status st = QN_OK;

    *reach = 0;
    if (!rows || !row_bytes)
        return check_span(buf, offset, 0, err);
    if (rows > 1 && pitch < row_bytes)
        return qn_fail(err, QN_ERR_USAGE, "buffer %s: rows of %zu bytes cannot be %zu bytes apart",
                       buf->name, row_bytes, pitch);
    QN_TRY(qn_size_mul(rows - 1, pitch, buf->name, reach, err));
    QN_TRY(qn_size_add(*reach, row_bytes, buf->name, reach, err));
    QN_TRY(check_span(buf, offset, *reach, err));
out:
    return st;
}

/* Reads a part of a buffer that only a device has. *done = 0: go through the host copy. */
static qn_status read_from_device(qn_buf *root, size_t at, void *dst, size_t row_bytes, size_t rows,
                                  size_t pitch, int *done, qn_err *err)
{
    qn_status st = QN_OK;

    for (int again = 0; again < 2; again++) {
        const int slot = qn_buf_find_valid(root);

        *done = 0;
        if (slot <= QN_CPU_SLOT || row_bytes * rows == root->bytes)
            return QN_OK;
        *done = 1;
        st = read_part(root, &root->ctx->devices[slot], at, dst, row_bytes, rows, pitch, err);
        if (st == QN_OK || qn_buf_recover(root, st, err) != QN_OK)
            return st == QN_OK ? QN_OK : err->status;
    }
    return st;
}

static qn_status read_rows(qn_buf *buf, size_t offset, void *dst, size_t row_bytes, size_t rows,
                           size_t pitch, qn_err *err)
{
    qn_buf *root = qn_buf_root(buf);
    const size_t at = buf->offset + offset;
    size_t reach;
    int done;
    qn_err own;
    qn_status st;

    err = qn_err_begin(err, &own);
    st = check_rows(buf, offset, row_bytes, rows, pitch, &reach, err);
    if (st != QN_OK || !reach)
        return st;
    st = read_from_device(root, at, dst, row_bytes, rows, pitch, &done, err);
    if (st != QN_OK || done)
        return st;
    if ((st = qn_buf_fetch(root, err)) != QN_OK)
        return st;
    copy_rows(dst, (const char *)root->host + at, row_bytes, rows, pitch);
    return QN_OK;
}

qn_status qn_buf_read(qn_buf *buf, size_t offset, void *dst, size_t bytes, qn_err *err)
{
    const qn_status st = QN_CHECK_CALL(buf ? buf->ctx : NULL, err, buf, bytes ? dst : buf);

    return st == QN_OK ? read_rows(buf, offset, dst, bytes, 1, bytes, err) : st;
}

qn_status qn_buf_read_rect(qn_buf *buf, size_t offset, size_t row_bytes, size_t rows, size_t pitch,
                           void *dst, qn_err *err)
{
    const qn_status st = QN_CHECK_CALL(buf ? buf->ctx : NULL, err, buf, dst);

    return st == QN_OK ? read_rows(buf, offset, dst, row_bytes, rows, pitch, err) : st;
}

static qn_status host_access(qn_buf *buf, qn_host_access access, void **out, qn_err *err)
{
    qn_buf *root = qn_buf_root(buf);
    const int keeps = access != QN_HOST_DISCARD || buf->bytes < root->bytes;
    qn_err own;
    qn_status st;

    err = qn_err_begin(err, &own);
    st = keeps ? qn_buf_fetch(root, err) : qn_buf_need_host(root, err);
    if (st == QN_OK && access != QN_HOST_READ) {
        st = qn_buf_await_host_write(root, err);
        if (st == QN_OK)
            qn_buf_note_host_write(root);
    }
    if (st == QN_OK)
        *out = (char *)root->host + buf->offset;
    return st;
}

qn_status qn_buf_host(qn_buf *buf, qn_host_access access, void **out, qn_err *err)
{
    qn_status st = QN_CHECK_CALL(buf ? buf->ctx : NULL, err, buf, out);

    if (st == QN_OK)
        st = host_access(buf, access, out, err);
    if (st != QN_OK)
        return st;
    qn_buf_root(buf)->lent = qn_buf_root(buf)->version;
    return QN_OK;
}

qn_status qn_buf_write(qn_buf *buf, size_t offset, const void *src, size_t bytes, qn_err *err)
{
    void *host = NULL;
    qn_status st = QN_CHECK_CALL(buf ? buf->ctx : NULL, err, buf, bytes ? src : buf);

    if (st == QN_OK)
        st = check_span(buf, offset, bytes, err);
    if (st == QN_OK && bytes)
        st = host_access(buf, bytes == buf->bytes ? QN_HOST_DISCARD : QN_HOST_UPDATE, &host, err);
    if (st != QN_OK)
        return st;
    if (host)
        memcpy((char *)host + offset, src, bytes);
    return QN_OK;
}

qn_status qn_buf_reserve(qn_buf *buf, int device, qn_err *err)
{
    qn_err own;
    qn_buf *root;
    qn_device *at;

    err = qn_err_begin(err, &own);
    if (QN_CHECK_CALL(buf ? buf->ctx : NULL, err, buf) != QN_OK ||
        qn_device_check(buf->ctx, device, err) != QN_OK)
        return err->status;
    root = qn_buf_root(buf);
    at = &buf->ctx->devices[device];
    if (device == QN_CPU_SLOT || at->info.unified_memory)
        return QN_OK;
    if (at->lost)
        return qn_fail(err, QN_ERR_DEVICE_LOST, "device %s is lost", at->id);
    return qn_buf_need_block(root, at, root->name, 0, err);
}

qn_transfer_count qn_buf_transfers(const qn_buf *buf)
{
    return qn_buf_root((qn_buf *)buf)->count;
}

qn_transfer_count qn_ctx_transfers(const qn_ctx *ctx)
{
    return ctx->transfers;
}
