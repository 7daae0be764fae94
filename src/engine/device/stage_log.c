/* stage_log.c - what stages did on devices, by stage and device. */
#include "engine/device/stage_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

qn_stage_log *qn_stage_log_of(qn_ctx *ctx, const char *stage, const qn_device *device)
{
    char key[128];
    qn_stage_log *log;

    snprintf(key, sizeof key, "%s\n%s", stage, device->id);
    if ((log = qn_map_get(&ctx->stage_logs, key)))
        return log;
    if (!(log = calloc(1, sizeof *log)))
        return NULL;
    strncpy(log->name, stage, sizeof log->name - 1);
    log->device = device->id;
    if (qn_map_put(&ctx->stage_logs, key, log) != QN_OK) {
        free(log);
        return NULL;
    }
    return log;
}

void qn_stage_logs_free(qn_ctx *ctx)
{
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&ctx->stage_logs, &at)))
        free(entry->value);
    qn_map_free(&ctx->stage_logs);
}
