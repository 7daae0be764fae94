/* cuda_dev.c - memory, copies, streams and events of a CUDA device.
 *
 * Streams are made on first use and do not wait for the default stream. Copies from and to pageable
 * memory are staged by the driver and may block; work that must overlap uses memory from
 * host_alloc, which the engine pools. All events record time stamps, since every run wants the
 * device times of its stages.
 */
#include "hal/cuda/cuda.h"

#include <assert.h>
#include <stdlib.h>

#include "util/str.h"

qn_status qn_cuda_stream(qn_dev *dev, qn_stream on, CUstream *out, qn_err *err)
{
    qn_status st = qn_cuda_enter(dev, err);
    CUresult r;

    assert(on >= 0 && on < QN_N_STREAMS);
    if (st != QN_OK)
        return st;
    if (!dev->streams[on]) {
        r = dev->cu->cuStreamCreate(&dev->streams[on], CU_STREAM_NON_BLOCKING);
        if (r != CUDA_SUCCESS) {
            dev->streams[on] = NULL;
            return qn_cuda_fail(dev->cu, "cuStreamCreate", r, err);
        }
    }
    *out = dev->streams[on];
    return QN_OK;
}

qn_status qn_cuda_refuse(qn_dev *dev, qn_stream on, const qn_err *failure, qn_err *err)
{
    if (qn_cuda_is_captured(dev, on) && dev->capture.first.status == QN_OK)
        dev->capture.first = *failure;
    if (err)
        *err = *failure;
    return failure->status;
}

qn_status qn_cuda_queued(qn_dev *dev, qn_stream on, const char *entry, CUresult result, qn_err *err)
{
    qn_err failure;

    if (result == CUDA_SUCCESS)
        return QN_OK;
    qn_cuda_fail(dev->cu, entry, result, &failure);
    return qn_cuda_refuse(dev, on, &failure, err);
}

void qn_cuda_close_streams(qn_dev *dev)
{
    while (dev->idle_events) {
        qn_event *const event = dev->idle_events;

        dev->idle_events = event->next;
        dev->cu->cuEventDestroy(event->handle);
        free(event);
    }
    for (int s = 0; s < QN_N_STREAMS; s++)
        if (dev->streams[s])
            dev->cu->cuStreamDestroy(dev->streams[s]);
}

/* Memory. */

static qn_status out_of_memory(qn_dev *dev, size_t bytes, qn_err *err)
{
    char wanted[32], left[32], all[32];
    size_t free_bytes = 0, total = 0;

    qn_format_bytes((double)bytes, wanted, sizeof wanted);
    if (dev->cu->cuMemGetInfo(&free_bytes, &total) != CUDA_SUCCESS)
        return qn_fail(err, QN_ERR_NOMEM, "cuMemAlloc: out of memory (need %s)", wanted);
    qn_format_bytes((double)free_bytes, left, sizeof left);
    qn_format_bytes((double)total, all, sizeof all);
    return qn_fail(err, QN_ERR_NOMEM, "cuMemAlloc: out of memory (need %s, %s of %s free)", wanted,
                   left, all);
}

qn_status qn_cuda_alloc(qn_dev *dev, size_t bytes, QN_UNUSED unsigned usage, qn_mem **out,
                        qn_err *err)
{
    qn_status st = qn_cuda_enter(dev, err);
    qn_mem *mem;
    CUresult r;

    if (st != QN_OK)
        return st;
    if (!(mem = malloc(sizeof *mem)))
        return qn_fail(err, QN_ERR_NOMEM, "record of a block of %zu bytes", bytes);
    mem->bytes = bytes;
    /* The driver refuses blocks of zero bytes. */
    r = dev->cu->cuMemAlloc(&mem->ptr, bytes ? bytes : 1);
    if (r != CUDA_SUCCESS) {
        free(mem);
        if (r == CUDA_ERROR_OUT_OF_MEMORY)
            return out_of_memory(dev, bytes, err);
        return qn_cuda_fail(dev->cu, "cuMemAlloc", r, err);
    }
    *out = mem;
    return QN_OK;
}

void qn_cuda_release(qn_dev *dev, qn_mem *mem)
{
    qn_err ignored;

    if (!mem)
        return;
    if (qn_cuda_enter(dev, &ignored) == QN_OK)
        dev->cu->cuMemFree(mem->ptr);
    free(mem);
}

qn_status qn_cuda_host_alloc(qn_dev *dev, size_t bytes, void **out, qn_err *err)
{
    qn_status st = qn_cuda_enter(dev, err);
    char wanted[32];
    void *ptr = NULL;
    CUresult r;

    if (st != QN_OK)
        return st;
    r = dev->cu->cuMemHostAlloc(&ptr, bytes ? bytes : 1, CU_MEMHOSTALLOC_PORTABLE);
    if (r == CUDA_ERROR_OUT_OF_MEMORY)
        return qn_fail(err, QN_ERR_NOMEM, "cuMemHostAlloc: out of pinned memory (need %s)",
                       qn_format_bytes((double)bytes, wanted, sizeof wanted));
    if (r != CUDA_SUCCESS)
        return qn_cuda_fail(dev->cu, "cuMemHostAlloc", r, err);
    *out = ptr;
    return QN_OK;
}

void qn_cuda_host_free(qn_dev *dev, void *ptr)
{
    qn_err ignored;

    if (ptr && qn_cuda_enter(dev, &ignored) == QN_OK)
        dev->cu->cuMemFreeHost(ptr);
}

/* Copies. */

qn_status qn_cuda_upload(qn_dev *dev, qn_mem *dst, size_t at, const void *src, size_t bytes,
                         qn_stream on, qn_err *err)
{
    CUstream stream;
    qn_status st;

    assert(at <= dst->bytes && bytes <= dst->bytes - at);
    if (bytes == 0)
        return QN_OK;
    if ((st = qn_cuda_stream(dev, on, &stream, err)) != QN_OK)
        return st;
    return qn_cuda_queued(dev, on, "cuMemcpyHtoDAsync",
                          dev->cu->cuMemcpyHtoDAsync(dst->ptr + at, src, bytes, stream), err);
}

qn_status qn_cuda_download(qn_dev *dev, qn_mem *src, size_t at, void *dst, size_t bytes,
                           qn_stream on, qn_err *err)
{
    CUstream stream;
    qn_status st;

    assert(at <= src->bytes && bytes <= src->bytes - at);
    if (bytes == 0)
        return QN_OK;
    if ((st = qn_cuda_stream(dev, on, &stream, err)) != QN_OK)
        return st;
    return qn_cuda_queued(dev, on, "cuMemcpyDtoHAsync",
                          dev->cu->cuMemcpyDtoHAsync(dst, src->ptr + at, bytes, stream), err);
}

qn_status qn_cuda_download_rect(qn_dev *dev, qn_mem *src, size_t at, size_t pitch, void *dst,
                                size_t row_bytes, size_t rows, qn_stream on, qn_err *err)
{
    CUDA_MEMCPY2D copy = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = src->ptr + at,
                           .srcPitch = pitch,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = dst,
                           .dstPitch = row_bytes,
                           .WidthInBytes = row_bytes,
                           .Height = rows };
    qn_status st = QN_OK;
    CUstream stream;

    if (row_bytes == 0 || rows == 0)
        return QN_OK;
    if (pitch == row_bytes)
        return qn_cuda_download(dev, src, at, dst, rows * row_bytes, on, err);
    assert(at <= src->bytes && (rows - 1) * pitch + row_bytes <= src->bytes - at);
    /* cuMemcpy2D accepts a pitch of at most 2^31 - 1; beyond it rows are copied one by one. */
    if (pitch > INT32_MAX) {
        for (size_t y = 0; st == QN_OK && y < rows; y++)
            st = qn_cuda_download(dev, src, at + y * pitch, (char *)dst + y * row_bytes, row_bytes,
                                  on, err);
        return st;
    }
    if ((st = qn_cuda_stream(dev, on, &stream, err)) != QN_OK)
        return st;
    return qn_cuda_queued(dev, on, "cuMemcpy2DAsync", dev->cu->cuMemcpy2DAsync(&copy, stream), err);
}

/* Queued on a stream of the receiving device. */
qn_status qn_cuda_copy_peer(qn_dev *from, qn_mem *src, qn_dev *to, qn_mem *dst, size_t bytes,
                            qn_stream on, qn_err *err)
{
    CUstream stream;
    qn_status st;

    assert(bytes <= src->bytes && bytes <= dst->bytes);
    if (bytes == 0)
        return QN_OK;
    if ((st = qn_cuda_stream(to, on, &stream, err)) != QN_OK)
        return st;
    return qn_cuda_queued(
        to, on, "cuMemcpyPeerAsync",
        to->cu->cuMemcpyPeerAsync(dst->ptr, to->ctx, src->ptr, from->ctx, bytes, stream), err);
}

/* Events. */

static qn_status take_event(qn_dev *dev, qn_event **out, qn_err *err)
{
    qn_event *event = dev->idle_events;
    CUresult r;

    if (event) {
        dev->idle_events = event->next;
        *out = event;
        return QN_OK;
    }
    if (!(event = calloc(1, sizeof *event)))
        return qn_fail(err, QN_ERR_NOMEM, "record of an event");
    if ((r = dev->cu->cuEventCreate(&event->handle, CU_EVENT_DEFAULT)) != CUDA_SUCCESS) {
        free(event);
        return qn_cuda_fail(dev->cu, "cuEventCreate", r, err);
    }
    *out = event;
    return QN_OK;
}

qn_status qn_cuda_record(qn_dev *dev, qn_stream on, qn_event **out, qn_err *err)
{
    qn_event *event = NULL;
    CUstream stream;
    qn_status st = qn_cuda_stream(dev, on, &stream, err);

    if (st != QN_OK)
        return st;
    if ((st = take_event(dev, &event, err)) != QN_OK)
        return st;
    st = qn_cuda_queued(dev, on, "cuEventRecord", dev->cu->cuEventRecord(event->handle, stream),
                        err);
    if (st != QN_OK) {
        qn_cuda_drop(dev, event);
        return st;
    }
    event->capture = qn_cuda_is_captured(dev, on) ? dev->capture.id : 0;
    *out = event;
    return QN_OK;
}

qn_status qn_cuda_wait(qn_dev *dev, qn_stream on, qn_event *event, qn_err *err)
{
    CUstream stream;
    qn_status st = qn_cuda_stream(dev, on, &stream, err);

    if (st != QN_OK)
        return st;
    st = qn_cuda_queued(dev, on, "cuStreamWaitEvent",
                        dev->cu->cuStreamWaitEvent(stream, event->handle, CU_EVENT_WAIT_DEFAULT),
                        err);
    /* From here on a stream that waits for captured work is captured too. */
    if (st == QN_OK && dev->capture.id && event->capture == dev->capture.id)
        dev->capture.joined |= 1u << on;
    return st;
}

/* An event recorded in a capture marks a place in the recording, not a time. Querying it would
 * invalidate the capture, so the two functions below do not ask the driver. */
qn_status qn_cuda_await(qn_dev *dev, qn_event *event, qn_err *err)
{
    qn_status st = qn_cuda_enter(dev, err);
    CUresult r;

    if (st != QN_OK)
        return st;
    if (event->capture)
        return qn_fail(err, QN_ERR_LAUNCH, "an event of capture %u cannot be waited for",
                       event->capture);
    r = dev->cu->cuEventSynchronize(event->handle);
    return r == CUDA_SUCCESS ? QN_OK : qn_cuda_fail(dev->cu, "cuEventSynchronize", r, err);
}

int qn_cuda_is_done(qn_dev *dev, qn_event *event)
{
    qn_err ignored;
    CUresult r;

    if (event->capture)
        return 0;
    if (qn_cuda_enter(dev, &ignored) != QN_OK)
        return -1;
    r = dev->cu->cuEventQuery(event->handle);
    return r == CUDA_SUCCESS ? 1 : r == CUDA_ERROR_NOT_READY ? 0 : -1;
}

/* A stream that waits for the event waits for the point recorded when the wait was queued, so the
 * event may be recorded again at once. */
void qn_cuda_drop(qn_dev *dev, qn_event *event)
{
    if (!event)
        return;
    event->capture = 0;
    event->next = dev->idle_events;
    dev->idle_events = event;
}

qn_status qn_cuda_sync(qn_dev *dev, qn_err *err)
{
    qn_status st = qn_cuda_enter(dev, err);
    CUresult r;

    if (st != QN_OK)
        return st;
    r = dev->cu->cuCtxSynchronize();
    return r == CUDA_SUCCESS ? QN_OK : qn_cuda_fail(dev->cu, "cuCtxSynchronize", r, err);
}

double qn_cuda_elapsed_us(qn_dev *dev, qn_event *from, qn_event *to)
{
    float ms = 0.0f;
    qn_err ignored;

    if (from->capture || to->capture || qn_cuda_enter(dev, &ignored) != QN_OK ||
        dev->cu->cuEventElapsedTime(&ms, from->handle, to->handle) != CUDA_SUCCESS)
        return -1.0;
    return (double)ms * 1000.0;
}
