/* opencl_queue.c - memory, copies and events of the OpenCL backend.
 *
 * A stream is an in-order queue. Drivers may hold queued work back until they are asked to start
 * it, and a queue that waits for work held back in another queue waits forever. So recording an
 * event flushes its queue; nothing else needs to.
 */
#include "hal/opencl/opencl.h"

#include "util/list.h"

#include <assert.h>
#include <stdlib.h>

/* Pinned memory is a buffer that stays mapped; this list finds the buffer by its address. */
struct qn_cl_pinned {
    cl_mem mem;
    void *ptr;
    qn_cl_pinned *next;
};

static cl_mem mem_of(qn_mem *mem)
{
    return (cl_mem)mem;
}

static cl_event event_of(qn_event *event)
{
    return (cl_event)event;
}

qn_status qn_cl_queue(qn_dev *dev, int queue_i, cl_command_queue *out, qn_err *err)
{
    cl_int code = CL_SUCCESS;

    assert(queue_i >= 0 && queue_i < QN_CL_N_QUEUES);
    /* elapsed_us needs profiling. On PoCL its cost is not measurable; on an H200 it is 0.5 us per
     * launch (6.5 to 7.1) and 7 us for a launch that is waited for (12.5 to 19.8). */
    if (!dev->queues[queue_i]) {
        dev->queues[queue_i] = dev->cl->CreateCommandQueue(dev->context, dev->device,
                                                           CL_QUEUE_PROFILING_ENABLE, &code);
    }
    if (!dev->queues[queue_i])
        return qn_cl_fail(err, QN_ERR_INIT, "clCreateCommandQueue", code);
    *out = dev->queues[queue_i];
    return QN_OK;
}

/* Memory. */

static qn_status make_buffer(qn_dev *dev, size_t bytes, cl_bitfield flags, cl_mem *out, qn_err *err)
{
    qn_status st = QN_OK;
    cl_int code = CL_SUCCESS;

    if (bytes == 0)
        return qn_fail(err, QN_ERR_LIMIT, "allocation of 0 bytes, at least 1 is needed");
    if (bytes > dev->info.max_alloc)
        return qn_fail(err, QN_ERR_LIMIT, "allocation of %zu bytes exceeds device limit %llu",
                       bytes, (unsigned long long)dev->info.max_alloc);
    if (!(*out = dev->cl->CreateBuffer(dev->context, flags, bytes, NULL, &code))) {
        st = qn_cl_fail(err, QN_ERR_NOMEM, "clCreateBuffer", code);
        qn_prefix(err, "allocation of %zu bytes", bytes);
    }
    return st;
}

qn_status qn_cl_alloc(qn_dev *dev, size_t bytes, unsigned usage, qn_mem **out, qn_err *err)
{
    cl_mem mem = NULL;
    const qn_status st = make_buffer(dev, bytes, CL_MEM_READ_WRITE, &mem, err);

    (void)usage; /* a read-write buffer suits every use */
    if (st == QN_OK)
        *out = (qn_mem *)mem;
    return st;
}

/* The driver frees the memory only after queued work that uses it. */
void qn_cl_release(qn_dev *dev, qn_mem *mem)
{
    if (mem)
        dev->cl->ReleaseMemObject(mem_of(mem));
}

qn_status qn_cl_host_alloc(qn_dev *dev, size_t bytes, void **out, qn_err *err)
{
    qn_status st = QN_OK;
    cl_command_queue queue = NULL;
    cl_int code = CL_SUCCESS;
    qn_cl_pinned *block;

    QN_TRY(QN_NEW(block, 1, "pinned memory", err));
    QN_TRY(qn_cl_queue(dev, QN_CL_MAP_QUEUE, &queue, err));
    QN_TRY(make_buffer(dev, bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, &block->mem, err));
    block->ptr = dev->cl->EnqueueMapBuffer(queue, block->mem, 1, CL_MAP_READ | CL_MAP_WRITE, 0,
                                           bytes, 0, NULL, NULL, &code);
    if (code != CL_SUCCESS || !block->ptr)
        QN_TRY(qn_cl_fail(err, QN_ERR_NOMEM, "clEnqueueMapBuffer", code));
    *out = block->ptr;
    block->next = dev->pinned;
    dev->pinned = block;
    block = NULL;
out:
    if (block && block->mem)
        dev->cl->ReleaseMemObject(block->mem);
    free(block);
    return st;
}

/* `at` is the link to the block. */
static void free_pinned(qn_dev *dev, qn_cl_pinned **at)
{
    qn_cl_pinned *const block = *at;

    *at = block->next;
    dev->cl->EnqueueUnmapMemObject(dev->queues[QN_CL_MAP_QUEUE], block->mem, block->ptr, 0, NULL,
                                   NULL);
    dev->cl->ReleaseMemObject(block->mem);
    free(block);
}

void qn_cl_host_free(qn_dev *dev, void *ptr)
{
    for (qn_cl_pinned **at = &dev->pinned; ptr && *at; at = &(*at)->next) {
        if ((*at)->ptr == ptr) {
            free_pinned(dev, at);
            return;
        }
    }
}

/* Copies. */

qn_status qn_cl_upload(qn_dev *dev, qn_mem *dst, size_t at, const void *src, size_t bytes,
                       qn_stream on, qn_err *err)
{
    cl_command_queue queue = NULL;
    qn_status st = qn_cl_queue(dev, on, &queue, err);
    cl_int code;

    if (st != QN_OK || bytes == 0) /* the API refuses empty copies */
        return st;
    code = dev->cl->EnqueueWriteBuffer(queue, mem_of(dst), 0, at, bytes, src, 0, NULL, NULL);
    if (code != CL_SUCCESS) {
        st = qn_cl_fail(err, QN_ERR_LAUNCH, "clEnqueueWriteBuffer", code);
        qn_prefix(err, "upload of %zu bytes at %zu", bytes, at);
    }
    return st;
}

qn_status qn_cl_download(qn_dev *dev, qn_mem *src, size_t at, void *dst, size_t bytes, qn_stream on,
                         qn_err *err)
{
    cl_command_queue queue = NULL;
    qn_status st = qn_cl_queue(dev, on, &queue, err);
    cl_int code;

    if (st != QN_OK || bytes == 0)
        return st;
    code = dev->cl->EnqueueReadBuffer(queue, mem_of(src), 0, at, bytes, dst, 0, NULL, NULL);
    if (code != CL_SUCCESS) {
        st = qn_cl_fail(err, QN_ERR_LAUNCH, "clEnqueueReadBuffer", code);
        qn_prefix(err, "download of %zu bytes at %zu", bytes, at);
    }
    return st;
}

qn_status qn_cl_download_rect(qn_dev *dev, qn_mem *src, size_t at, size_t pitch, void *dst,
                              size_t row_bytes, size_t rows, qn_stream on, qn_err *err)
{
    cl_command_queue queue = NULL;
    qn_status st = QN_OK;
    cl_int code;

    if (rows == 0 || row_bytes == 0)
        return QN_OK;
    if (rows == 1)
        return qn_cl_download(dev, src, at, dst, row_bytes, on, err);
    if (pitch < row_bytes)
        return qn_fail(err, QN_ERR_LIMIT, "rows of %zu bytes exceed their pitch %zu", row_bytes,
                       pitch);
    const size_t from[3] = { at % pitch, at / pitch, 0 };
    const size_t to[3] = { 0, 0, 0 };
    const size_t region[3] = { row_bytes, rows, 1 };

    if ((st = qn_cl_queue(dev, on, &queue, err)) != QN_OK)
        return st;
    code = dev->cl->EnqueueReadBufferRect(queue, mem_of(src), 0, from, to, region, pitch, 0,
                                          row_bytes, 0, dst, 0, NULL, NULL);
    if (code != CL_SUCCESS) {
        st = qn_cl_fail(err, QN_ERR_LAUNCH, "clEnqueueReadBufferRect", code);
        qn_prefix(err, "download of %zu rows of %zu bytes at %zu", rows, row_bytes, at);
    }
    return st;
}

/* Events. */

qn_status qn_cl_record(qn_dev *dev, qn_stream on, qn_event **out, qn_err *err)
{
    cl_command_queue queue = NULL;
    cl_event event = NULL;
    cl_int code;
    const qn_status st = qn_cl_queue(dev, on, &queue, err);

    if (st != QN_OK)
        return st;
    code = dev->cl->EnqueueMarkerWithWaitList(queue, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return qn_cl_fail(err, QN_ERR_LAUNCH, "clEnqueueMarkerWithWaitList", code);
    code = dev->cl->Flush(queue);
    if (code != CL_SUCCESS) {
        dev->cl->ReleaseEvent(event);
        return qn_cl_fail(err, QN_ERR_LAUNCH, "clFlush", code);
    }
    *out = (qn_event *)event;
    return QN_OK;
}

qn_status qn_cl_wait(qn_dev *dev, qn_stream on, qn_event *event, qn_err *err)
{
    cl_command_queue queue = NULL;
    const cl_event first = event_of(event);
    cl_int code;
    const qn_status st = qn_cl_queue(dev, on, &queue, err);

    if (st != QN_OK)
        return st;
    code = dev->cl->EnqueueBarrierWithWaitList(queue, 1, &first, NULL);
    return code == CL_SUCCESS
               ? QN_OK
               : qn_cl_fail(err, QN_ERR_LAUNCH, "clEnqueueBarrierWithWaitList", code);
}

/* CL_COMPLETE, a positive number before that, or the negative code of a failure. */
static cl_int state_of(qn_dev *dev, qn_event *event)
{
    cl_int state = CL_COMPLETE;
    const cl_int code = dev->cl->GetEventInfo(event_of(event), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                              sizeof state, &state, NULL);

    return code == CL_SUCCESS ? state : code;
}

qn_status qn_cl_await(qn_dev *dev, qn_event *event, qn_err *err)
{
    const cl_event last = event_of(event);
    cl_int code = dev->cl->WaitForEvents(1, &last);

    if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && state_of(dev, event) < 0)
        code = state_of(dev, event);
    return code == CL_SUCCESS ? QN_OK : qn_cl_fail(err, QN_ERR_LAUNCH, "clWaitForEvents", code);
}

int qn_cl_is_done(qn_dev *dev, qn_event *event)
{
    const cl_int state = state_of(dev, event);

    return state < 0 ? -1 : state == CL_COMPLETE;
}

void qn_cl_drop(qn_dev *dev, qn_event *event)
{
    if (event)
        dev->cl->ReleaseEvent(event_of(event));
}

double qn_cl_elapsed_us(qn_dev *dev, qn_event *from, qn_event *to)
{
    cl_ulong begin_ns = 0, end_ns = 0;

    if (dev->cl->GetEventProfilingInfo(event_of(from), CL_PROFILING_COMMAND_END, sizeof begin_ns,
                                       &begin_ns, NULL) != CL_SUCCESS ||
        dev->cl->GetEventProfilingInfo(event_of(to), CL_PROFILING_COMMAND_END, sizeof end_ns,
                                       &end_ns, NULL) != CL_SUCCESS)
        return -1.0;
    return ((double)end_ns - (double)begin_ns) * 1e-3;
}

/* The end. */

qn_status qn_cl_sync(qn_dev *dev, qn_err *err)
{
    cl_int first = CL_SUCCESS;

    /* Start all queues before waiting for one, since they may wait for each other. */
    for (int i = 0; i < QN_N_STREAMS; i++) {
        if (dev->queues[i])
            dev->cl->Flush(dev->queues[i]);
    }
    for (int i = 0; i < QN_N_STREAMS; i++) {
        const cl_int code = dev->queues[i] ? dev->cl->Finish(dev->queues[i]) : CL_SUCCESS;
        if (first == CL_SUCCESS)
            first = code;
    }
    return first == CL_SUCCESS ? QN_OK : qn_cl_fail(err, QN_ERR_LAUNCH, "clFinish", first);
}

void qn_cl_queues_close(qn_dev *dev)
{
    qn_cl_sync(dev, NULL);
    while (dev->pinned)
        free_pinned(dev, &dev->pinned);
    if (dev->queues[QN_CL_MAP_QUEUE])
        dev->cl->Finish(dev->queues[QN_CL_MAP_QUEUE]);
    for (int i = 0; i < QN_CL_N_QUEUES; i++) {
        if (dev->queues[i])
            dev->cl->ReleaseCommandQueue(dev->queues[i]);
    }
}
