/* cuda_graph.c - launches, and their capture into graphs that are replayed.
 *
 * A captured launch becomes a kernel node. Right after the launch this node is the only dependency
 * of its stream, which is how we find its handle. The handles stay valid while the captured graph
 * exists, so a recording keeps both the graph and the executable made from it.
 */
#include "hal/cuda/cuda.h"
#include "util/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct qn_replay {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode *nodes; /* by launch number */
    int n_nodes;
};

enum { QN_HIDDEN_ARGS = 6 };

/* Addresses of the parameters in the order of the kernel's signature. */
typedef struct qn_cuda_params {
    void *list[QN_HIDDEN_ARGS + QN_MAX_ARGS];
    CUdeviceptr addresses[QN_MAX_ARGS];
} qn_cuda_params;

static void fill_params(const qn_launch *call, qn_cuda_params *params)
{
    const int32_t *const hidden[QN_HIDDEN_ARGS] = {
        &call->span.x0, &call->span.x1, &call->span.y0,
        &call->span.y1, &call->span.z0, &call->span.z1
    };
    int n = 0;

    for (; n < QN_HIDDEN_ARGS; n++)
        params->list[n] = (void *)hidden[n];
    for (int i = 0; i < call->kernel->n_args; i++) {
        const qn_launch_arg *const arg = &call->args[i];

        if (call->kernel->args[i].mode == QN_ARG_VAL) {
            params->list[n++] = (void *)arg->value;
            continue;
        }
        params->addresses[i] = arg->mem ? arg->mem->ptr + arg->at : 0;
        params->list[n++] = &params->addresses[i];
    }
}

static qn_status check_group(const qn_launch *call, qn_err *err)
{
    const uint64_t items = (uint64_t)call->group[0] * call->group[1] * call->group[2];
    const int limit = call->module->functions[call->kernel_i].max_threads;

    assert(call->kernel_i >= 0 && call->kernel_i < call->module->n_functions);
    if (items > (uint64_t)limit)
        return qn_fail(err, QN_ERR_LIMIT, "kernel %s: group of %llu exceeds its limit %d",
                       call->kernel->name, (unsigned long long)items, limit);
    return QN_OK;
}

/* The node of the launch just captured on `stream`. */
static CUresult last_node(const qn_dev *dev, CUstream stream, CUgraphNode *out)
{
    const qn_cuda_api *const cu = dev->cu;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *nodes = NULL;
    size_t n = 0;
    const CUresult r =
        cu->cuStreamGetCaptureInfo_v3
            ? cu->cuStreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &nodes, NULL, &n)
            : cu->cuStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &nodes, &n);

    if (r != CUDA_SUCCESS)
        return r;
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE || n != 1)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *out = nodes[0];
    return CUDA_SUCCESS;
}

static qn_status note_node(qn_dev *dev, qn_stream on, CUstream stream, qn_err *err)
{
    qn_cuda_capture *const capture = &dev->capture;
    CUgraphNode node = NULL;
    qn_err failure;
    qn_status st =
        qn_cuda_queued(dev, on, "cuStreamGetCaptureInfo", last_node(dev, stream, &node), err);

    if (st != QN_OK)
        return st;
    CUgraphNode *more =
        qn_grown(capture->nodes, (size_t)capture->n_nodes, &capture->cap_nodes, sizeof *more);

    if (!more) {
        qn_fail(&failure, QN_ERR_NOMEM, "capture of %d launches", capture->n_nodes + 1);
        return qn_cuda_refuse(dev, on, &failure, err);
    }
    capture->nodes = more;
    capture->nodes[capture->n_nodes++] = node;
    return QN_OK;
}

qn_status qn_cuda_launch(qn_dev *dev, const qn_launch *call, qn_err *err)
{
    qn_cuda_params params;
    CUstream stream;
    qn_err failure;
    CUresult r;
    qn_status st;

    if (check_group(call, &failure) != QN_OK)
        return qn_cuda_refuse(dev, call->stream, &failure, err);
    if ((st = qn_cuda_stream(dev, call->stream, &stream, err)) != QN_OK)
        return st;
    fill_params(call, &params);
    r = dev->cu->cuLaunchKernel(call->module->functions[call->kernel_i].handle, call->grid[0],
                                call->grid[1], call->grid[2], call->group[0], call->group[1],
                                call->group[2], 0, stream, params.list, NULL);
    st = qn_cuda_queued(dev, call->stream, "cuLaunchKernel", r, err);
    if (st == QN_OK && qn_cuda_is_captured(dev, call->stream))
        st = note_node(dev, call->stream, stream, err);
    return st;
}

/* Capture. */

/* Ends the capture; the list of nodes keeps its memory for the next one. */
static void forget_capture(qn_dev *dev)
{
    dev->capture.id = 0;
    dev->capture.joined = 0;
    dev->capture.n_nodes = 0;
    memset(&dev->capture.first, 0, sizeof dev->capture.first);
}

void qn_cuda_capture_abort(qn_dev *dev)
{
    CUgraph graph = NULL;

    if (!dev->capture.id)
        return;
    dev->cu->cuStreamEndCapture(dev->streams[dev->capture.on], &graph);
    if (graph)
        dev->cu->cuGraphDestroy(graph);
    forget_capture(dev);
}

qn_status qn_cuda_capture_begin(qn_dev *dev, qn_stream on, qn_err *err)
{
    CUstream stream;
    CUresult r;
    qn_status st;

    if (!dev->cu->has_graphs)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "driver %s cannot capture work as graphs",
                       dev->info.driver);
    if ((st = qn_cuda_stream(dev, on, &stream, err)) != QN_OK)
        return st;
    /* an earlier capture may have failed half-way and never ended */
    qn_cuda_capture_abort(dev);
    /* Relaxed: only one thread uses the device, and the first use of a kernel may allocate. */
    if ((r = dev->cu->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED)) != CUDA_SUCCESS)
        return qn_cuda_fail(dev->cu, "cuStreamBeginCapture", r, err);
    if (++dev->n_captures == 0)
        dev->n_captures = 1;
    dev->capture.id = dev->n_captures;
    dev->capture.on = on;
    dev->capture.joined = 1u << on;
    return QN_OK;
}

/* Instantiates `graph`; the recording then owns it. */
static qn_status make_replay(qn_dev *dev, CUgraph graph, qn_replay **out, qn_err *err)
{
    const qn_cuda_capture *const capture = &dev->capture;
    qn_status st = QN_OK;
    qn_replay *made = calloc(1, sizeof *made);
    CUresult r;

    if (!made || !(made->nodes = calloc((size_t)capture->n_nodes + 1, sizeof *made->nodes)))
        QN_FAIL(err, QN_ERR_NOMEM, "recording of %d launches", capture->n_nodes);
    if ((r = dev->cu->cuGraphInstantiate(&made->exec, graph, 0)) != CUDA_SUCCESS)
        QN_TRY(qn_cuda_fail(dev->cu, "cuGraphInstantiate", r, err));
    if (capture->n_nodes)
        memcpy(made->nodes, capture->nodes, (size_t)capture->n_nodes * sizeof *made->nodes);
    made->n_nodes = capture->n_nodes;
    made->graph = graph;
    *out = made;
    made = NULL;
out:
    if (made)
        free(made->nodes);
    free(made);
    return st;
}

qn_status qn_cuda_capture_end(qn_dev *dev, qn_stream on, qn_replay **out, qn_err *err)
{
    CUgraph graph = NULL;
    CUstream stream;
    CUresult r;
    qn_status st = qn_cuda_stream(dev, on, &stream, err);

    if (st != QN_OK)
        return st;
    if (!dev->capture.id || dev->capture.on != on)
        return qn_fail(err, QN_ERR_LAUNCH, "no capture was begun on stream %d", on);
    r = dev->cu->cuStreamEndCapture(stream, &graph);
    if (dev->capture.first.status != QN_OK) {
        st = dev->capture.first.status;
        if (err)
            *err = dev->capture.first;
    } else if (r != CUDA_SUCCESS) {
        st = qn_cuda_fail(dev->cu, "cuStreamEndCapture", r, err);
    } else {
        st = make_replay(dev, graph, out, err);
    }
    if (st != QN_OK && graph)
        dev->cu->cuGraphDestroy(graph);
    forget_capture(dev);
    return st;
}

qn_status qn_cuda_replay(qn_dev *dev, qn_replay *recording, qn_stream on, qn_err *err)
{
    CUstream stream;
    qn_status st = qn_cuda_stream(dev, on, &stream, err);

    if (st != QN_OK)
        return st;
    return qn_cuda_queued(dev, on, "cuGraphLaunch", dev->cu->cuGraphLaunch(recording->exec, stream),
                          err);
}

/* Runs already queued keep their old values; the next replay uses the new ones. */
qn_status qn_cuda_update(qn_dev *dev, qn_replay *recording, int launch_i, const qn_launch *call,
                         qn_err *err)
{
    const qn_cuda_api *const cu = dev->cu;
    qn_cuda_params params;
    CUDA_KERNEL_NODE_PARAMS node;
    CUresult r;
    qn_status st = qn_cuda_enter(dev, err);

    if (st != QN_OK)
        return st;
    if (launch_i < 0 || launch_i >= recording->n_nodes)
        return qn_fail(err, QN_ERR_LAUNCH, "launch %d of a recording of %d", launch_i,
                       recording->n_nodes);
    if ((st = check_group(call, err)) != QN_OK)
        return st;
    fill_params(call, &params);
    node = (CUDA_KERNEL_NODE_PARAMS){ .func = call->module->functions[call->kernel_i].handle,
                                      .gridDimX = call->grid[0],
                                      .gridDimY = call->grid[1],
                                      .gridDimZ = call->grid[2],
                                      .blockDimX = call->group[0],
                                      .blockDimY = call->group[1],
                                      .blockDimZ = call->group[2],
                                      .kernelParams = params.list };
    r = cu->cuGraphExecKernelNodeSetParams_v2
            ? cu->cuGraphExecKernelNodeSetParams_v2(recording->exec, recording->nodes[launch_i],
                                                    &node)
            : cu->cuGraphExecKernelNodeSetParams_v1(recording->exec, recording->nodes[launch_i],
                                                    &node);
    return r == CUDA_SUCCESS ? QN_OK : qn_cuda_fail(cu, "cuGraphExecKernelNodeSetParams", r, err);
}

void qn_cuda_replay_free(qn_dev *dev, qn_replay *recording)
{
    qn_err ignored;

    if (!recording)
        return;
    if (qn_cuda_enter(dev, &ignored) == QN_OK) {
        dev->cu->cuGraphExecDestroy(recording->exec);
        dev->cu->cuGraphDestroy(recording->graph);
    }
    free(recording->nodes);
    free(recording);
}
