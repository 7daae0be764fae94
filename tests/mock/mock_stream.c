/* mock_stream.c - queued work of the mock driver: streams, marks, captures. */
#include "mock/mock_impl.h"

#include <stdlib.h>
#include <string.h>

/* Marks. */

mock_mark *mock_mark_new(CUstream stream)
{
    mock_mark *const mark = calloc(1, sizeof *mark);

    if (mark) {
        mark->refs = 1;
        mark->stream = stream;
    }
    return mark;
}

void mock_mark_drop(mock_mark *mark)
{
    if (mark && --mark->refs == 0)
        free(mark);
}

/* Running. */

static void run_launch(CUcontext ctx, mock_op *op)
{
    void *params[MOCK_MAX_PARAMS];
    size_t at = 0;

    if (!mock_enter_any("run")) {
        ctx->fault = mock.refusal;
        return;
    }
    for (int i = 0; i < op->function->n_params; i++) {
        params[i] = op->params + at;
        at += (op->function->sizes[i] + 7) & ~(size_t)7;
    }
    if (mock.launcher)
        mock.launcher(mock.launcher_user, op->function->name, params, op->function->n_params,
                      op->grid, op->block);
}

static void run_op(CUstream stream, mock_op *op)
{
    mock.clock_us += 1.0;
    switch (op->kind) {
    case MOCK_COPY:
        for (size_t y = 0; y < op->height; y++)
            memcpy(op->dst + y * op->dst_pitch, op->src + y * op->src_pitch, op->width);
        break;
    case MOCK_LAUNCH:
        run_launch(stream->ctx, op);
        break;
    case MOCK_RECORD:
        op->mark->is_done = 1;
        op->mark->time_us = mock.clock_us;
        break;
    case MOCK_WAIT:
        if (!op->mark->is_done)
            mock_run(op->mark->stream, op->mark);
        break;
    }
}

void mock_run_one(CUstream stream)
{
    mock_op *const op = stream->head;

    if (!op)
        return;
    stream->head = op->next;
    if (!stream->head)
        stream->tail = NULL;
    /* Work that a fault leaves in the queues never runs. */
    if (!stream->ctx->fault)
        run_op(stream, op);
    mock_mark_drop(op->mark);
    free(op);
}

void mock_run(CUstream stream, const mock_mark *until)
{
    while (stream->head && !(until && until->is_done))
        mock_run_one(stream);
}

void mock_run_all(void)
{
    for (CUstream stream = mock.streams; stream; stream = stream->next)
        mock_run(stream, NULL);
}

CUresult mock_fill_launch(mock_op *op, CUfunction function, const unsigned *grid,
                          const unsigned *block, void *const *params)
{
    static const unsigned max_grid[3] = { 0x7fffffff, 65535, 65535 };
    const unsigned long long threads = (unsigned long long)block[0] * block[1] * block[2];
    size_t at = 0;

    memset(op, 0, sizeof *op);
    op->kind = MOCK_LAUNCH;
    op->function = function;
    for (int axis = 0; axis < 3; axis++) {
        if (grid[axis] < 1 || grid[axis] > max_grid[axis])
            return CUDA_ERROR_INVALID_VALUE;
        op->grid[axis] = grid[axis];
        op->block[axis] = block[axis];
    }
    if (threads < 1 || threads > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads > function->max_threads)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    for (int i = 0; i < function->n_params; i++) {
        const size_t bytes = function->sizes[i];

        if (!params[i] || at + bytes > MOCK_MAX_PARAM_BYTES)
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(op->params + at, params[i], bytes);
        at += (bytes + 7) & ~(size_t)7;
    }
    return CUDA_SUCCESS;
}

/* Queueing and capture. */

static CUresult capture_op(CUstream stream, const mock_op *op)
{
    CUgraph const graph = stream->capture;
    CUgraphNode node;

    if (graph->is_invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!(node = calloc(1, sizeof *node)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->op = *op;
    memcpy(node->deps, stream->deps, sizeof node->deps);
    node->n_deps = stream->n_deps;
    if (graph->last)
        graph->last->next = node;
    else
        graph->nodes = node;
    graph->last = node;
    stream->deps[0] = node;
    stream->n_deps = 1;
    return CUDA_SUCCESS;
}

CUresult mock_enqueue(CUstream stream, const mock_op *op)
{
    mock_op *queued;

    if (stream->capture)
        return capture_op(stream, op);
    if (!(queued = malloc(sizeof *queued)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *queued = *op;
    queued->next = NULL;
    if (stream->tail)
        stream->tail->next = queued;
    else
        stream->head = queued;
    stream->tail = queued;
    return CUDA_SUCCESS;
}

static void reach(CUgraphNode node)
{
    if (node->is_reached)
        return;
    node->is_reached = 1;
    for (int i = 0; i < node->n_deps; i++)
        reach(node->deps[i]);
}

CUresult mock_capture_end(CUstream stream, CUgraph *out)
{
    CUgraph const graph = stream->capture;
    CUresult r = graph->is_invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;

    for (int i = 0; i < stream->n_deps; i++)
        reach(stream->deps[i]);
    for (CUgraphNode node = graph->nodes; node; node = node->next)
        if (!node->is_reached && r == CUDA_SUCCESS)
            r = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    for (CUstream s = mock.streams; s; s = s->next)
        if (s->capture == graph) {
            s->capture = NULL;
            s->n_deps = 0;
        }
    graph->origin = NULL;
    *out = r == CUDA_SUCCESS ? graph : NULL;
    if (r != CUDA_SUCCESS)
        mock_graph_free(graph);
    return r;
}

int mock_graph_is_live(const struct CUgraph_st *graph)
{
    for (CUgraph g = mock.graphs; g; g = g->next)
        if (g == graph)
            return 1;
    return 0;
}

void mock_graph_free(CUgraph graph)
{
    CUgraph *link = &mock.graphs;

    while (*link != graph)
        link = &(*link)->next;
    *link = graph->next;
    while (graph->nodes) {
        CUgraphNode const node = graph->nodes;

        graph->nodes = node->next;
        free(node);
    }
    free(graph);
    mock.live.graphs--;
}

void mock_capture_spoil_all(void)
{
    for (CUstream s = mock.streams; s; s = s->next)
        if (s->capture)
            s->capture->is_invalid = 1;
}

int mock_is_capturing(void)
{
    for (CUstream s = mock.streams; s; s = s->next)
        if (s->capture)
            return 1;
    return 0;
}
