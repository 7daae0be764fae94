/* measure.h - one op on one device, timed through the backend alone.
 *
 * Nothing of a graph is involved, so measuring leaves no trace in counters, pools or plans.
 */
#ifndef QN_ENGINE_MEASURE_H
#define QN_ENGINE_MEASURE_H

#include "engine/device/context.h"
#include "engine/route/op_sample.h"
#include "engine/route/route_path.h"

typedef struct qn_measure {
    qn_device *device;
    qn_op_sample sample;
    qn_module *module;
    void *host[QN_MAX_ARGS];
    qn_mem *mem[QN_MAX_ARGS];
} qn_measure;

/* Zero-initialised is closed. Memory, content, kernel; closed again when it fails. */
qn_status qn_measure_open(qn_device *device, const qn_op_sample *sample, qn_measure *out,
                          qn_err *err);
void qn_measure_close(qn_measure *m);

/* Device time of one launch with everything in place. */
qn_status qn_measure_resident(qn_measure *m, double *us, qn_err *err);

/* Host time from inputs on the host to results on the host. */
qn_status qn_measure_cold(qn_measure *m, double *us, qn_err *err);

/* Latency and bandwidth of copies, queued one after the other as graphs do; the rest of `out`
 * stays. */
qn_status qn_measure_link(qn_device *device, qn_link *out, qn_err *err);

/* The clock that a device lives by. */
double qn_measure_now_us(const qn_device *device);

#endif
