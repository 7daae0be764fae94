/* mock_work.c - the entries of the mock driver that make and queue work: streams, events,
 * modules, launches and graphs. */
#include "mock/mock_impl.h"

#include <stdlib.h>
#include <string.h>

/* Streams. */

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    MOCK_LOCK;
    CUstream made;

    if (!mock_enter(__func__))
        return mock.refusal;
    if (flags > CU_STREAM_NON_BLOCKING || !(made = calloc(1, sizeof *made)))
        return CUDA_ERROR_INVALID_VALUE;
    made->ctx = mock_current;
    made->next = mock.streams;
    mock.streams = made;
    mock.live.streams++;
    *stream = made;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    MOCK_LOCK;
    CUstream *link = &mock.streams;

    mock_enter_any(__func__);
    mock_run_all();
    while (*link && *link != stream)
        link = &(*link)->next;
    if (!*link)
        return CUDA_ERROR_INVALID_HANDLE;
    *link = stream->next;
    free(stream);
    mock.live.streams--;
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    if (stream->capture)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    mock_run_all();
    return mock_current->fault;
}

static void add_deps(CUstream stream, CUevent event)
{
    for (int e = 0; e < event->n_deps; e++) {
        int s = 0;

        while (s < stream->n_deps && stream->deps[s] != event->deps[e])
            s++;
        if (s == stream->n_deps && s < MOCK_MAX_DEPS)
            stream->deps[stream->n_deps++] = event->deps[e];
    }
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    MOCK_LOCK;
    mock_op op = { .kind = MOCK_WAIT, .mark = event->mark };
    CUresult r;

    if (!mock_enter(__func__))
        return mock.refusal;
    if (flags != CU_EVENT_WAIT_DEFAULT)
        return CUDA_ERROR_INVALID_VALUE;
    if (event->capture) {
        /* Work outside a capture cannot wait for an event of a capture that has ended, or of
         * another one. */
        if (!mock_graph_is_live(event->capture) || !event->capture->origin ||
            (stream->capture && stream->capture != event->capture))
            return CUDA_ERROR_INVALID_VALUE;
        stream->capture = event->capture;
        add_deps(stream, event);
        return CUDA_SUCCESS;
    }
    if (!event->mark)
        return CUDA_SUCCESS;
    if (stream->capture) {
        stream->capture->is_invalid = 1;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    event->mark->refs++;
    if ((r = mock_enqueue(stream, &op)) != CUDA_SUCCESS)
        event->mark->refs--;
    return r;
}

/* Events. */

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    if (flags != CU_EVENT_DEFAULT || !(*event = calloc(1, sizeof **event)))
        return CUDA_ERROR_INVALID_VALUE;
    mock.live.events++;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    MOCK_LOCK;
    mock_enter_any(__func__);
    mock_mark_drop(event->mark);
    free(event);
    mock.live.events--;
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    MOCK_LOCK;
    mock_op op = { .kind = MOCK_RECORD };
    CUresult r;

    if (!mock_enter(__func__))
        return mock.refusal;
    mock_mark_drop(event->mark);
    event->mark = NULL;
    event->capture = stream->capture;
    if (stream->capture) {
        memcpy(event->deps, stream->deps, sizeof event->deps);
        event->n_deps = stream->n_deps;
        return CUDA_SUCCESS;
    }
    if (!(op.mark = mock_mark_new(stream)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if ((r = mock_enqueue(stream, &op)) != CUDA_SUCCESS) {
        mock_mark_drop(op.mark);
        return r;
    }
    op.mark->refs++;
    event->mark = op.mark;
    return CUDA_SUCCESS;
}

static CUresult refuse_captured(CUevent event)
{
    if (mock_graph_is_live(event->capture))
        event->capture->is_invalid = 1;
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult cuEventQuery(CUevent event)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    if (event->capture)
        return refuse_captured(event);
    if (!event->mark || event->mark->is_done)
        return CUDA_SUCCESS;
    mock_run_one(event->mark->stream);
    return mock_current->fault ? mock_current->fault : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    if (event->capture)
        return refuse_captured(event);
    if (event->mark && !event->mark->is_done)
        mock_run(event->mark->stream, event->mark);
    return mock_current->fault;
}

CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    if (!from->mark || !to->mark)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!from->mark->is_done || !to->mark->is_done)
        return CUDA_ERROR_NOT_READY;
    *ms = (float)((to->mark->time_us - from->mark->time_us) / 1000.0);
    return CUDA_SUCCESS;
}

/* Modules and launches. */

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n_options,
                            CUjit_option *options, void **values)
{
    MOCK_LOCK;
    CUmodule made;
    char *log = NULL;
    size_t log_size = 0;
    CUresult r;

    if (!mock_enter(__func__))
        return mock.refusal;
    for (unsigned i = 0; i < n_options; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            log_size = (size_t)(uintptr_t)values[i];
    }
    if (!(made = calloc(1, sizeof *made)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if ((r = mock_image_read(image, made, log_size ? log : NULL, log_size)) != CUDA_SUCCESS) {
        mock_image_free(made);
        free(made);
        return r;
    }
    mock.live.modules++;
    mock.last_module = made;
    *module = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    MOCK_LOCK;
    mock_enter_any(__func__);
    mock_run_all();
    if (mock.last_module == module)
        mock.last_module = NULL;
    mock_image_free(module);
    free(module);
    mock.live.modules--;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    for (CUfunction f = module->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0) {
            *function = f;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

int mock_cuda_params(const char *name, size_t *sizes, int max)
{
    for (CUfunction f = mock.last_module ? mock.last_module->functions : NULL; f; f = f->next)
        if (strcmp(f->name, name) == 0) {
            for (int i = 0; i < f->n_params && i < max; i++)
                sizes[i] = f->sizes[i];
            return f->n_params;
        }
    return -1;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
        *value = (int)function->max_threads;
    else if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS)
        *value = MOCK_REGISTERS;
    else if (attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
        *value = MOCK_LOCAL_BYTES;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > MOCK_MAX_SHARED_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    function->more_shared = (unsigned)value;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **params, void **extra)
{
    MOCK_LOCK;
    const unsigned grid[3] = { grid_x, grid_y, grid_z };
    const unsigned block[3] = { block_x, block_y, block_z };
    mock_op op;
    CUresult r;

    if (!mock_enter(__func__))
        return mock.refusal;
    if ((shared_bytes > MOCK_SHARED_BYTES && shared_bytes > function->more_shared) || extra)
        return CUDA_ERROR_INVALID_VALUE;
    r = mock_fill_launch(&op, function, grid, block, params);
    return r == CUDA_SUCCESS ? mock_enqueue(stream, &op) : r;
}

/* Graphs. */

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    MOCK_LOCK;
    CUgraph graph;

    if (!mock_enter(__func__))
        return mock.refusal;
    if (stream->capture || mode < 0 || mode > CU_STREAM_CAPTURE_MODE_RELAXED ||
        !(graph = calloc(1, sizeof *graph)))
        return CUDA_ERROR_INVALID_VALUE;
    graph->origin = stream;
    graph->next = mock.graphs;
    mock.graphs = graph;
    mock.live.graphs++;
    stream->capture = graph;
    stream->n_deps = 0;
    return CUDA_SUCCESS;
}

/* A refusal ends the capture too: what was captured is lost. */
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    MOCK_LOCK;
    const int is_refused = !mock_enter(__func__);
    const CUresult refusal = mock.refusal;

    if (!stream->capture || stream->capture->origin != stream)
        return is_refused ? refusal : CUDA_ERROR_INVALID_VALUE;
    if (is_refused) {
        stream->capture->is_invalid = 1;
        mock_capture_end(stream, graph);
        return refusal;
    }
    return mock_capture_end(stream, graph);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id,
                                   CUgraph *graph, const CUgraphNode **dependencies,
                                   const CUgraphEdgeData **edges, size_t *n_dependencies)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    *status = !stream->capture              ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->capture->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                            : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (id)
        *id = (uint64_t)(uintptr_t)stream->capture;
    if (graph)
        *graph = stream->capture;
    if (dependencies)
        *dependencies = stream->deps;
    if (edges)
        *edges = NULL;
    if (n_dependencies)
        *n_dependencies = (size_t)stream->n_deps;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id,
                                   CUgraph *graph, const CUgraphNode **dependencies,
                                   size_t *n_dependencies)
{
    MOCK_LOCK;
    return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, n_dependencies);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    MOCK_LOCK;
    CUgraphExec made;
    int n = 0;

    if (!mock_enter(__func__))
        return mock.refusal;
    for (CUgraphNode node = graph->nodes; node; node = node->next)
        n++;
    if (flags || !(made = calloc(1, sizeof *made)))
        return CUDA_ERROR_INVALID_VALUE;
    made->handles = calloc((size_t)n + 1, sizeof *made->handles);
    made->ops = calloc((size_t)n + 1, sizeof *made->ops);
    if (!made->handles || !made->ops) {
        free(made->handles);
        free(made->ops);
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->graph = graph;
    for (CUgraphNode node = graph->nodes; node; node = node->next) {
        made->handles[made->n] = node;
        made->ops[made->n++] = node->op;
    }
    mock.live.execs++;
    *exec = made;
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    MOCK_LOCK;
    CUresult r = CUDA_SUCCESS;

    if (!mock_enter(__func__))
        return mock.refusal;
    if (stream->capture)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; r == CUDA_SUCCESS && i < exec->n; i++)
        r = mock_enqueue(stream, &exec->ops[i]);
    return r;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *params)
{
    MOCK_LOCK;
    const unsigned grid[3] = { params->gridDimX, params->gridDimY, params->gridDimZ };
    const unsigned block[3] = { params->blockDimX, params->blockDimY, params->blockDimZ };
    mock_op op;
    CUresult r;

    if (!mock_enter(__func__))
        return mock.refusal;
    /* Handles of nodes live as long as the graph they were captured into. */
    if (!mock_graph_is_live(exec->graph) || params->extra || params->sharedMemBytes)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < exec->n; i++)
        if (exec->handles[i] == node && exec->ops[i].kind == MOCK_LAUNCH) {
            r = mock_fill_launch(&op, params->func, grid, block, params->kernelParams);
            if (r == CUDA_SUCCESS)
                exec->ops[i] = op;
            return r;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *params)
{
    MOCK_LOCK;
    return cuGraphExecKernelNodeSetParams_v2(exec, node, params);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    MOCK_LOCK;
    mock_enter_any(__func__);
    free(exec->handles);
    free(exec->ops);
    free(exec);
    mock.live.execs--;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    MOCK_LOCK;
    mock_enter_any(__func__);
    mock_graph_free(graph);
    return CUDA_SUCCESS;
}
