/* fence.c - marks exactly where one run ends. */
#include "engine/plan/graph_impl.h"

void qn_fence_add(qn_fence *fence, qn_device *device, qn_stream on)
{
    qn_fence_mark *mark = &fence->marks[fence->n];
    qn_err ignored;

    if (fence->n == QN_FENCE_MARKS ||
        device->backend->record(device->dev, on, &mark->event, &ignored) != QN_OK)
        return;
    mark->device = device;
    mark->at = (qn_point){ on, device->streams[on].submitted };
    fence->n++;
}

/* Streams keep order, so everything before the mark has ended as well. */
static void pass(const qn_fence_mark *mark)
{
    qn_timeline *line = &mark->device->streams[mark->at.stream];

    if (line->done < mark->at.seq)
        line->done = mark->at.seq;
}

static int is_over(const qn_fence_mark *mark)
{
    int state;

    if (mark->device->lost || mark->at.seq <= mark->device->streams[mark->at.stream].done)
        return 1;
    state = mark->device->backend->is_done(mark->device->dev, mark->event);
    if (state == 1)
        pass(mark);
    return state != 0;
}

int qn_fence_is_done(qn_fence *fence)
{
    for (int i = 0; i < fence->n; i++)
        if (!is_over(&fence->marks[i]))
            return 0;
    return 1;
}

qn_status qn_fence_await(qn_fence *fence, qn_device *device, qn_err *err)
{
    for (int i = 0; i < fence->n; i++) {
        const qn_fence_mark *mark = &fence->marks[i];
        qn_status st;

        if (mark->device != device || mark->at.seq <= device->streams[mark->at.stream].done)
            continue;
        if ((st = device->backend->await(device->dev, mark->event, err)) != QN_OK)
            return st;
        pass(mark);
    }
    return QN_OK;
}

void qn_fence_clear(qn_fence *fence)
{
    for (int i = 0; i < fence->n; i++)
        fence->marks[i].device->backend->drop(fence->marks[i].device->dev, fence->marks[i].event);
    fence->n = 0;
}
