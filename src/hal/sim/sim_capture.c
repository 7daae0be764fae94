/* sim_capture.c - recordings of a sim device.
 *
 * As strict as the strictest device, so that a graph captured here can be captured everywhere: a
 * capture must not wait for events from outside, let the host wait for events inside, or leave a
 * stream unjoined. To check joins, every stream counts its work and records how much of the others'
 * work it has waited for.
 */
#include <stdlib.h>
#include <string.h>

#include "hal/cpu/cpu_module.h"
#include "hal/sim/sim_dev.h"
#include "util/list.h"

/* A launch with its arguments and values in one block. */
typedef struct saved_args {
    qn_launch_arg args[QN_MAX_ARGS];
    size_t sizes[QN_MAX_ARGS]; /* of values */
    size_t total;
    unsigned char values[];
} saved_args;

struct qn_replay {
    qn_sim_op *ops;
    int n_ops;
    size_t cap_ops;
    double *marks_us; /* by mark number; filled during a replay */
    int n_marks;
};

struct qn_sim_capture {
    qn_replay *recording;
    qn_stream origin;
    int joined[QN_N_STREAMS];
    uint32_t seen[QN_N_STREAMS][QN_N_STREAMS]; /* [s][t]: how much work of t s has waited for */
    int is_broken; /* something was refused: the recording is incomplete */
};

int qn_sim_is_captured(const qn_dev *dev, qn_stream on)
{
    return dev->capture && dev->capture->joined[on];
}

static qn_status refuse(qn_dev *dev, qn_err *err, const char *why)
{
    if (dev->capture)
        dev->capture->is_broken = 1;
    return qn_fail(err, QN_ERR_LAUNCH, "sim:%d: %s", dev->index, why);
}

/* Saved launches. */

static qn_status save_args(const qn_launch *call, const qn_launch_arg **out, qn_err *err)
{
    const qn_kernel_info *kernel = call->kernel;
    saved_args *saved;
    size_t sizes[QN_MAX_ARGS] = { 0 }, total = 0, at = 0;

    for (int i = 0; i < kernel->n_args; i++) {
        if (kernel->args[i].mode != QN_ARG_VAL)
            continue;
        if (!(sizes[i] = qn_cpu_module_arg_size(call, i)))
            return qn_fail(err, QN_ERR_UNSUPPORTED, "kernel %s: size of argument %s is not known",
                           kernel->name, kernel->args[i].name);
        total += (sizes[i] + 15) / 16 * 16;
    }
    if (!(saved = calloc(1, sizeof *saved + total)))
        return qn_fail(err, QN_ERR_NOMEM, "recorded launch of %zu bytes", sizeof *saved + total);
    for (int i = 0; i < kernel->n_args; i++) {
        saved->args[i] = call->args[i];
        if (!(saved->sizes[i] = sizes[i]))
            continue;
        saved->args[i].value = memcpy(saved->values + at, call->args[i].value, sizes[i]);
        at += (sizes[i] + 15) / 16 * 16;
    }
    saved->total = total;
    *out = saved->args;
    return QN_OK;
}

static saved_args *saved_of(const qn_sim_op *op)
{
    return (saved_args *)(uintptr_t)op->call.args; /* `args` is the first member */
}

/* Recording. */

static qn_status append(qn_replay *recording, const qn_sim_op *op, qn_err *err)
{
    qn_sim_op *more =
        qn_grown(recording->ops, (size_t)recording->n_ops, &recording->cap_ops, sizeof *more);

    if (!more)
        return qn_fail(err, QN_ERR_NOMEM, "recording of %d steps", recording->n_ops + 1);
    recording->ops = more;
    recording->ops[recording->n_ops++] = *op;
    return QN_OK;
}

qn_status qn_sim_capture_op(qn_dev *dev, const qn_sim_op *op, qn_err *err)
{
    qn_sim_capture *capture = dev->capture;
    qn_status st = QN_OK;
    qn_sim_op copy = *op;

    if (op->kind == QN_SIM_LAUNCH)
        QN_TRY(save_args(&op->call, &copy.call.args, err));
    if ((st = append(capture->recording, &copy, err)) != QN_OK) {
        if (op->kind == QN_SIM_LAUNCH)
            free(saved_of(&copy));
        goto out;
    }
    if (op->kind != QN_SIM_MARK && op->kind != QN_SIM_WAIT)
        capture->seen[op->on][op->on]++;
out:
    if (st != QN_OK)
        capture->is_broken = 1;
    return st;
}

qn_status qn_sim_capture_mark(qn_dev *dev, qn_stream on, qn_event *event, qn_err *err)
{
    qn_sim_capture *capture = dev->capture;
    const qn_sim_op op = { .kind = QN_SIM_MARK, .on = on, .mark = capture->recording->n_marks };
    const qn_status st = qn_sim_capture_op(dev, &op, err);

    if (st != QN_OK)
        return st;
    capture->recording->n_marks++;
    event->capture = dev->n_captures;
    event->mark = op.mark;
    memcpy(event->seen, capture->seen[on], sizeof event->seen);
    return QN_OK;
}

/* A stream outside the capture joins it. */
qn_status qn_sim_capture_wait(qn_dev *dev, qn_stream on, const qn_event *event, qn_err *err)
{
    qn_sim_capture *capture = dev->capture;
    const qn_sim_op op = { .kind = QN_SIM_WAIT, .on = on, .mark = event->mark };

    if (!event->capture)
        return refuse(dev, err, "a captured stream waits for an event from outside the capture");
    if (!capture || event->capture != dev->n_captures)
        return refuse(dev, err, "a stream waits for an event of a capture that has ended");
    capture->joined[on] = 1;
    for (int s = 0; s < QN_N_STREAMS; s++)
        if (capture->seen[on][s] < event->seen[s])
            capture->seen[on][s] = event->seen[s];
    return qn_sim_capture_op(dev, &op, err);
}

static int is_everything_joined(const qn_sim_capture *capture)
{
    const uint32_t *seen = capture->seen[capture->origin];

    for (int s = 0; s < QN_N_STREAMS; s++)
        if (seen[s] < capture->seen[s][s])
            return 0;
    return 1;
}

static void free_recording(qn_replay *recording)
{
    if (!recording)
        return;
    for (int i = 0; i < recording->n_ops; i++)
        if (recording->ops[i].kind == QN_SIM_LAUNCH)
            free(saved_of(&recording->ops[i]));
    free(recording->ops);
    free(recording->marks_us);
    free(recording);
}

void qn_sim_capture_drop(qn_dev *dev)
{
    if (!dev->capture)
        return;
    free_recording(dev->capture->recording);
    free(dev->capture);
    dev->capture = NULL;
}

/* Backend functions. */

qn_status qn_sim_capture_begin(qn_dev *dev, qn_stream on, qn_err *err)
{
    qn_sim_capture *capture;

    if (!dev->limits.replay)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "sim:%d cannot capture (replay=0)", dev->index);
    if (dev->capture)
        return refuse(dev, err, "a capture begins inside another");
    if (!(capture = calloc(1, sizeof *capture)) ||
        !(capture->recording = calloc(1, sizeof *capture->recording))) {
        free(capture);
        return qn_fail(err, QN_ERR_NOMEM, "capture of %zu bytes", sizeof *capture);
    }
    capture->origin = on;
    capture->joined[on] = 1;
    dev->capture = capture;
    dev->n_captures++;
    return QN_OK;
}

qn_status qn_sim_capture_end(qn_dev *dev, qn_stream on, qn_replay **out, qn_err *err)
{
    qn_sim_capture *capture = dev->capture;
    qn_status st = QN_OK;

    if (!capture)
        return refuse(dev, err, "a capture ends that did not begin");
    if (on != capture->origin)
        st = refuse(dev, err, "a capture ends on another stream than it began");
    else if (capture->is_broken)
        st = refuse(dev, err, "a call inside the capture was refused");
    else if (!is_everything_joined(capture))
        st = refuse(dev, err, "a capture ends with work that its first stream did not wait for");
    if (st != QN_OK)
        goto out;
    capture->recording->marks_us =
        calloc((size_t)capture->recording->n_marks + 1, sizeof *capture->recording->marks_us);
    if (!capture->recording->marks_us)
        QN_FAIL(err, QN_ERR_NOMEM, "recording with %d events", capture->recording->n_marks);
    *out = capture->recording;
    capture->recording = NULL;
    dev->live++;
out:
    qn_sim_capture_drop(dev);
    return st;
}

/* For the host this is one submission. Its streams start together, and the replay is done when the
 * last one is. */
qn_status qn_sim_replay(qn_dev *dev, qn_replay *recording, qn_stream on, qn_err *err)
{
    double ready_us[QN_N_STREAMS], end_us;

    if (qn_sim_is_captured(dev, on))
        return refuse(dev, err, "a recording is replayed on a captured stream");
    if (dev->is_lost)
        return qn_fail(err, QN_ERR_DEVICE_LOST, "device sim:%d is lost", dev->index);
    dev->clock->host_us += dev->limits.submit_us;
    end_us = dev->ready_us[on];
    for (int s = 0; s < QN_N_STREAMS; s++)
        ready_us[s] = end_us;
    for (int i = 0; i < recording->n_ops; i++) {
        const qn_sim_op *op = &recording->ops[i];
        double *stream = &ready_us[op->on];

        qn_sim_run(dev, op, ready_us);
        if (op->kind == QN_SIM_MARK)
            recording->marks_us[op->mark] = *stream;
        if (op->kind == QN_SIM_WAIT && *stream < recording->marks_us[op->mark])
            *stream = recording->marks_us[op->mark];
    }
    for (int s = 0; s < QN_N_STREAMS; s++)
        if (end_us < ready_us[s])
            end_us = ready_us[s];
    dev->ready_us[on] = end_us;
    return QN_OK;
}

qn_status qn_sim_update(qn_dev *dev, qn_replay *recording, int launch_i, const qn_launch *call,
                        qn_err *err)
{
    int n = 0;

    for (int i = 0; i < recording->n_ops; i++) {
        const qn_sim_op *op = &recording->ops[i];
        saved_args *saved;

        if (op->kind != QN_SIM_LAUNCH || n++ != launch_i)
            continue;
        if (op->call.kernel != call->kernel)
            return refuse(dev, err, "an update has another kernel than the recorded launch");
        saved = saved_of(op);
        for (int a = 0; a < call->kernel->n_args; a++)
            if (saved->sizes[a])
                memcpy((void *)(uintptr_t)saved->args[a].value, call->args[a].value,
                       saved->sizes[a]);
        return QN_OK;
    }
    return qn_fail(err, QN_ERR_USAGE, "sim:%d: launch %d of a recording of %d launches", dev->index,
                   launch_i, n);
}

void qn_sim_replay_free(qn_dev *dev, qn_replay *recording)
{
    if (!recording)
        return;
    dev->live--;
    free_recording(recording);
}
