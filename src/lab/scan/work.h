/* work.h - times one op of the tasks workload at one size, as a graph on one device.
 *
 * The op's table entry makes arrays, inputs, stages and the reference, so this measures exactly
 * what `quern tasks` runs.
 */
#ifndef QN_LAB_SCAN_WORK_H
#define QN_LAB_SCAN_WORK_H

#include "lab/timing.h"
#include "domain/tasks/task.h"

/* Contains pointers into itself: must not be moved. */
typedef struct qn_work {
    qn_ctx *ctx;
    int device;
    int is_cold; /* inputs are new on the host before each run, and results are copied back there */
    qn_task_list list;
    qn_task_plan plan;
    qn_task_part part;
    int zero_slot;
    qn_i64 zero_at;
} qn_work;

/* Makes inputs and graph. If the device fails, runs fail: there is no fallback. */
qn_status qn_work_open(qn_ctx *ctx, int device, const char *op, qn_i64 n, uint64_t seed,
                       int is_cold, qn_work *out, qn_err *err);
void qn_work_close(qn_work *work); /* may be zeroed */

/* Runs `n` times and waits; *us is the time of one run by the clock of the device: virtual on sim.
 * It does not include new inputs. */
qn_status qn_work_run(qn_work *work, int n, double *us, qn_err *err);

/* Copies moved by all runs so far. */
qn_transfer_count qn_work_transfers(const qn_work *work);

/* Times of one run, and the bytes it copies. */
typedef struct qn_work_times {
    qn_timing timing;
    qn_i64 h2d_bytes, d2h_bytes;
} qn_work_times;

/* Runs once, then `n_warm` times, then for samples. A sample is as many runs as the clock needs, or
 * one run when cold. The result of the first run is compared with `want` unless that is NULL, since
 * later runs may overwrite their inputs. */
qn_status qn_work_time(qn_work *work, int n_warm, int n_samples, const void *want,
                       qn_work_times *out, qn_err *err);

/* Bytes of the result, and a copy of it. If an op overwrites its inputs, its result is meaningless
 * after several runs without new inputs. */
size_t qn_work_result_bytes(const qn_work *work);
qn_status qn_work_read(qn_work *work, void *dst, qn_err *err);

/* Compares the result with a plain computation that shares no code with the kernels, or with `want`
 * by the exactness of the op: QN_ERR_MISMATCH. */
qn_status qn_work_check(qn_work *work, qn_err *err);
qn_status qn_work_compare(qn_work *work, const void *want, qn_err *err);

#endif
