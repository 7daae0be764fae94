/* lend.c - lends the address of a buffer on a device to other libraries.
 *
 * All pending work is waited for first, because the other library's streams are not synchronised
 * with ours. The copy is pinned until it is given back, so that it does not move meanwhile.
 */
#include "engine/memory/residency.h"

#include <quern/interop.h>

/* Waits for everything that uses the host copy. */
static qn_status lend_host(qn_buf *buf, qn_host_access access, void **out, qn_err *err)
{
    const qn_status st = qn_buf_host(buf, access, out, err);

    if (st != QN_OK)
        return st;
    qn_buf_root(buf)->host_pins++;
    return QN_OK;
}

/* Makes the copy on the device valid; data that only another device has is copied through the
 * host. */
static qn_status bring(qn_buf *root, qn_device *device, qn_err *err)
{
    qn_status st = QN_OK;

    if (qn_buf_valid_on(root, device))
        return QN_OK;
    QN_TRY(qn_buf_fetch(root, err));
    QN_TRY(qn_buf_upload(root, device, QN_UPLOAD, root->name, err));
    qn_count_transfer(root, device, QN_TRANSFER_H2D, root->bytes);
    qn_buf_note_arrival(root, device, QN_CPU_SLOT, qn_stream_step(device, QN_UPLOAD));
out:
    return st;
}

static qn_status lend_device(qn_buf *buf, qn_device *device, qn_host_access access, void **out,
                             qn_err *err)
{
    const qn_point past = { QN_COMPUTE, 0 };
    qn_buf *root = qn_buf_root(buf);
    qn_copy *copy = &root->copies[device->slot];
    const int keeps = access != QN_HOST_DISCARD || buf->bytes < root->bytes;
    qn_status st = QN_OK;

    if (!device->backend->address)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "memory of %s has no address to lend", device->id);
    if (device->lost)
        return qn_fail(err, QN_ERR_DEVICE_LOST, "device %s is lost", device->id);
    if (root->writer && root->writer->in_flight && !root->writer->is_running)
        QN_TRY(root->writer->wait(root->writer, err));
    QN_TRY(qn_buf_need_block(root, device, root->name, 1, err));
    if (keeps)
        QN_TRY(bring(root, device, err));
    QN_TRY(qn_points_await(device, &copy->used, err));
    if (access != QN_HOST_READ) {
        qn_buf_note_write(root, device, past);
        root->writer = NULL;
    }
    copy->pins++;
    *out = (char *)device->backend->address(device->dev, copy->block->mem) + buf->offset;
out:
    return st;
}

qn_status qn_buf_lend(qn_buf *buf, int device, qn_host_access access, void **out, qn_err *err)
{
    qn_err own;
    qn_device *at;

    err = qn_err_begin(err, &own);
    if (QN_CHECK_CALL(buf ? buf->ctx : NULL, err, buf, out) != QN_OK ||
        qn_device_check(buf->ctx, device, err) != QN_OK)
        return err->status;
    at = &buf->ctx->devices[device];
    return at->info.unified_memory ? lend_host(buf, access, out, err)
                                   : lend_device(buf, at, access, out, err);
}

void qn_buf_give_back(qn_buf *buf, int device)
{
    qn_buf *root = qn_buf_root(buf);

    if (buf->ctx->devices[device].info.unified_memory)
        root->host_pins--;
    else
        root->copies[device].pins--;
}
