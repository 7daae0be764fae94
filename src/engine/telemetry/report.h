/* report.h - what a run leaves behind: metrics file, summary, stages by device. */
#ifndef QN_ENGINE_REPORT_H
#define QN_ENGINE_REPORT_H

#include "engine/context.h"
#include "engine/telemetry/export.h"

#include <stdio.h>

/* What one stage did on one device, over all graphs of the context. */
typedef struct qn_stage_log {
    char name[64];
    const char *device;
    uint64_t runs, h2d_bytes, d2h_bytes;
    double exec_us;
} qn_stage_log;

/* The record of that stage and device; lives as long as the context. NULL without memory. */
qn_stage_log *qn_report_stage(qn_ctx *ctx, const char *stage, const qn_device *device);
void qn_report_free(qn_ctx *ctx);

/* Brings gauges up to date that are read off pools and devices. */
void qn_report_refresh(qn_ctx *ctx);

/* The human summary on `to`, and the pool and bucket tables with QUERN_STATS=1. `n_items` of
 * what `item`/`items` name were worked on. */
void qn_report_print(qn_ctx *ctx, FILE *to, const char *command, const char *status, double n_items,
                     const char *item, const char *items);

/* qn_metrics_write with what `told` says of command, status, work and checks; the rest of it is
 * the context's. */
qn_status qn_report_write(qn_ctx *ctx, const qn_run_report *told, const char *path, qn_err *err);

#endif
