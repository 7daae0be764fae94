/* stage_log.h - what stages did on devices. */
#ifndef QN_ENGINE_STAGE_LOG_H
#define QN_ENGINE_STAGE_LOG_H

#include "engine/device/context.h"

/* Runs, transfers and time of one stage on one device, over all graphs of the context. */
typedef struct qn_stage_log {
    char name[64];
    const char *device;
    uint64_t runs, h2d_bytes, d2h_bytes;
    double exec_us;
} qn_stage_log;

/* The record of that stage and device; lives as long as the context. NULL without memory. */
qn_stage_log *qn_stage_log_of(qn_ctx *ctx, const char *stage, const qn_device *device);
void qn_stage_logs_free(qn_ctx *ctx);

#endif
