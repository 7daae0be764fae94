/* fence.h - the end of one run, exactly.
 *
 * Waiting for a point (stream.c) waits for all that its stream has been given since. That is fine
 * for a lone graph. Where several graphs take turns on a device, the end of one would be seen only
 * when the next is done; a fence keeps events recorded right after the submission instead.
 */
#ifndef QN_ENGINE_FENCE_H
#define QN_ENGINE_FENCE_H

#include "engine/device/context.h"

enum { QN_FENCE_MARKS = 4 * QN_N_STREAMS }; /* four devices with all their streams */

typedef struct qn_fence_mark {
    qn_device *device;
    qn_event *event;
    qn_point at;
} qn_fence_mark;

/* Zero-initialised is empty: done. */
typedef struct qn_fence {
    qn_fence_mark marks[QN_FENCE_MARKS];
    int n;
} qn_fence;

/* Adds the present end of a stream. When the fence is full or the device refuses, nothing is
 * added: the point can still be waited for, only longer. */
void qn_fence_add(qn_fence *fence, qn_device *device, qn_stream on);

/* 1 when waiting would not take time; also when the device is lost or reports a failure. */
int qn_fence_is_done(qn_fence *fence);

/* The host waits for what the fence has on this device. */
qn_status qn_fence_await(qn_fence *fence, qn_device *device, qn_err *err);

/* Forgets everything, done or not. */
void qn_fence_clear(qn_fence *fence);

#endif
