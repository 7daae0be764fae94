/* load.h - the pool on the device, brought up to date by what is new. */
#ifndef QN_ARC_LOAD_H
#define QN_ARC_LOAD_H

#include "domain/arc/run/vm.h"

typedef struct qn_arc_load qn_arc_load;

qn_status qn_arc_load_new(qn_ctx *ctx, const char *device, qn_arc_load **out, qn_err *err);
void qn_arc_load_free(qn_arc_load *load); /* NULL is fine */

/* Brings what is new to its place. The first time, and when the pool outgrew its buffer, everything
 * is new; when all of it is said to be, nothing is expected of the buffer that was. */
qn_status qn_arc_load_run(qn_arc_load *load, const qn_arc_pooled *pooled, qn_err *err);

/* The buffer; another one after the pool has grown. */
qn_buf *qn_arc_load_pool(const qn_arc_load *load);

#endif
