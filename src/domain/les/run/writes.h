/* writes.h - files that a run writes beside its computation, on the thread of a queue.
 *
 * What is put is copied or taken over, so the caller goes on at once. While items may be waiting, the
 * run's folder is the queue's: commits and other calls that change it come after qn_les_writes_wait. A
 * failure is reported by a later call.
 */
#ifndef QN_LES_WRITES_H
#define QN_LES_WRITES_H

#include "run.h"

#include "util/npy.h"

/* `ctx` says whether work may overlap. */
qn_status qn_les_writes_open(qn_ctx *ctx, qn_les_result *result, qn_err *err);
void qn_les_writes_close(qn_les_result *result); /* drops what waits */
qn_status qn_les_writes_wait(qn_les_result *result, qn_err *err);

/* The result file `name`; without a folder, none. The array is copied. */
qn_status qn_les_put_array(qn_les_result *result, const char *name, const qn_npy *array,
                           qn_err *err);

/* The scratch file `name` with these bytes, from malloc, which the call takes over. */
qn_status qn_les_put_scratch(qn_les_result *result, const char *name, void *data, size_t bytes,
                             qn_err *err);

/* Other work on the thread; as qn_write_queue_put. */
qn_status qn_les_put(qn_les_result *result, const qn_write_work *work, void *item, qn_err *err);

#endif
