/* measure.h - times one op on one device, using only the backend.
 *
 * No graph is involved, so measuring leaves no trace in counters, pools or plans.
 */
#ifndef QN_ENGINE_MEASURE_H
#define QN_ENGINE_MEASURE_H

#include "engine/device/context.h"
#include "engine/ops/registry.h"
#include "engine/route/route_path.h"

/* op_sample.c: ops set up with made-up data of a given size, to be measured. */

/* QN_ERR_UNSUPPORTED if the op's arguments cannot be made up. For matrices n is the number of
 * elements of the result. */
qn_status qn_op_sample_make(const qn_op *op, qn_i64 n, qn_op_sample *out, qn_err *err);

/* Writes the content of buffer `arg` to `data`, which has the right size and is zeroed. */
void qn_op_sample_fill(const qn_op_sample *sample, int arg, void *data);

/* Work items, the router's measure of size. */
double qn_op_sample_items(const qn_op_sample *sample);

/* measure.c. */

typedef struct qn_measure {
    qn_device *device;
    qn_op_sample sample;
    qn_module *module;
    void *host[QN_MAX_ARGS];
    qn_mem *mem[QN_MAX_ARGS];
} qn_measure;

/* Opening allocates memory, fills it and loads the kernel; on failure it stays closed.
 * Zero-initialised: closed. */
qn_status qn_measure_open(qn_device *device, const qn_op_sample *sample, qn_measure *out,
                          qn_err *err);
void qn_measure_close(qn_measure *m);

/* Device time of one launch with everything in place. */
qn_status qn_measure_resident(qn_measure *m, double *us, qn_err *err);

/* Host time from inputs on the host to results on the host. */
qn_status qn_measure_cold(qn_measure *m, double *us, qn_err *err);

/* Latency and bandwidth of copies, queued one after the other as in graphs; other members of `out`
 * are not changed. */
qn_status qn_measure_link(qn_device *device, qn_link *out, qn_err *err);

/* The clock of the device. */
double qn_measure_now_us(const qn_device *device);

#endif
