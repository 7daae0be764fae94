/* stream.c - points in the work of a device.
 *
 * Buffers remember their last write and reads as (stream, number of the submission). Waiting for
 * such a point records an event at the current end of the stream, at or after the point. Waiting a
 * little longer than needed costs less than an event per buffer and stage.
 */
#include "engine/device/context.h"

/* Passes on a backend's status; records that a device is lost. */
static qn_status pass(qn_device *device, qn_status st)
{
    if (st == QN_ERR_DEVICE_LOST)
        device->lost = 1;
    return st;
}

qn_point qn_stream_step(qn_device *device, qn_stream on)
{
    qn_timeline *line = &device->streams[on];

    line->submitted++;
    return (qn_point){ on, line->submitted };
}

static void drop_mark(qn_device *device, qn_timeline *line)
{
    if (line->mark)
        device->backend->drop(device->dev, line->mark);
    line->mark = NULL;
}

/* Makes sure that a recorded event covers `seq`. */
static qn_status mark(qn_device *device, qn_stream on, uint64_t seq, qn_err *err)
{
    qn_timeline *line = &device->streams[on];
    qn_status st;
    qn_event *event;

    if (line->mark && line->mark_seq >= seq)
        return QN_OK;
    if ((st = device->backend->record(device->dev, on, &event, err)) != QN_OK)
        return pass(device, st);
    drop_mark(device, line);
    line->mark = event;
    line->mark_seq = line->submitted;
    return QN_OK;
}

qn_status qn_stream_wait(qn_device *device, qn_stream on, qn_point point, qn_err *err)
{
    qn_timeline *line = &device->streams[on];
    qn_timeline *other = &device->streams[point.stream];
    qn_status st;

    if (point.stream == on || point.seq <= other->done || point.seq <= line->seen[point.stream])
        return QN_OK;
    if ((st = mark(device, point.stream, point.seq, err)) != QN_OK)
        return st;
    if ((st = device->backend->wait(device->dev, on, other->mark, err)) != QN_OK)
        return pass(device, st);
    line->seen[point.stream] = other->mark_seq;
    return QN_OK;
}

qn_status qn_stream_meet(qn_device *device, qn_stream on, qn_event *event, qn_point point,
                         qn_err *err)
{
    uint64_t *seen = &device->streams[on].seen[point.stream];
    const qn_status st = device->backend->wait(device->dev, on, event, err);

    if (st == QN_OK && *seen < point.seq)
        *seen = point.seq;
    return pass(device, st);
}

qn_status qn_point_await(qn_device *device, qn_point point, qn_err *err)
{
    qn_timeline *line = &device->streams[point.stream];
    qn_status st;

    if (point.seq <= line->done)
        return QN_OK;
    if (device->lost)
        return qn_fail(err, QN_ERR_DEVICE_LOST, "device %s was lost", device->id);
    if ((st = mark(device, point.stream, point.seq, err)) != QN_OK)
        return st;
    if ((st = device->backend->await(device->dev, line->mark, err)) != QN_OK)
        return pass(device, st);
    line->done = line->mark_seq;
    drop_mark(device, line);
    return QN_OK;
}

int qn_point_is_done(qn_device *device, qn_point point)
{
    qn_timeline *line = &device->streams[point.stream];
    qn_err ignored;

    if (point.seq <= line->done || device->lost)
        return 1;
    if (mark(device, point.stream, point.seq, &ignored) != QN_OK)
        return 0;
    if (device->backend->is_done(device->dev, line->mark) != 1)
        return 0;
    line->done = line->mark_seq;
    drop_mark(device, line);
    return 1;
}

void qn_points_add(qn_points *points, qn_point point)
{
    if (points->seq[point.stream] < point.seq)
        points->seq[point.stream] = point.seq;
}

qn_status qn_stream_wait_all(qn_device *device, qn_stream on, const qn_points *points, qn_err *err)
{
    qn_status st = QN_OK;

    for (int s = 0; s < QN_N_STREAMS; s++)
        if (points->seq[s] > device->streams[s].done)
            QN_TRY(qn_stream_wait(device, on, (qn_point){ s, points->seq[s] }, err));
out:
    return st;
}

qn_status qn_points_await(qn_device *device, const qn_points *points, qn_err *err)
{
    qn_status st = QN_OK;

    for (int s = 0; s < QN_N_STREAMS; s++)
        if (points->seq[s] > device->streams[s].done)
            QN_TRY(qn_point_await(device, (qn_point){ s, points->seq[s] }, err));
out:
    return st;
}

int qn_points_are_done(qn_device *device, const qn_points *points)
{
    for (int s = 0; s < QN_N_STREAMS; s++)
        if (!qn_point_is_done(device, (qn_point){ s, points->seq[s] }))
            return 0;
    return 1;
}

qn_status qn_device_sync(qn_device *device, qn_err *err)
{
    const qn_status st = device->backend->sync(device->dev, err);

    if (st != QN_OK)
        return pass(device, st);
    for (int s = 0; s < QN_N_STREAMS; s++) {
        device->streams[s].done = device->streams[s].submitted;
        drop_mark(device, &device->streams[s]);
    }
    return QN_OK;
}

void qn_streams_close(qn_device *device)
{
    for (int s = 0; s < QN_N_STREAMS; s++)
        drop_mark(device, &device->streams[s]);
}
