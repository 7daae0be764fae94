/* fallback.c - logs and counts fallbacks, and records each device's health.
 *
 * A device is refused after three failures in a row, or if more than a fifth of its last 50 stages
 * failed: for 5 s at first, then twice as long each time, at most 5 minutes. After that one stage
 * may try it; if that works, the device is used again.
 */
#include "engine/device/context.h"

#include <quern/fallback.h>

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 50, ROW_LIMIT = 3, WINDOW_PCT = 20, PRINT_FIRST = 10 };
static const double pause_first_us = 5e6, pause_most_us = 300e6;

/* One (stage, reason) pair for reports. */
typedef struct {
    char stage[64];
    const char *reason; /* class: "oom", "launch", ... */
    char text[480];     /* the last message */
    uint64_t count;
} entry;

struct qn_fallbacks {
    entry *list;
    int n;
};

qn_fallbacks *qn_fallbacks_new(void)
{
    return calloc(1, sizeof(qn_fallbacks));
}

void qn_fallbacks_free(qn_fallbacks *list)
{
    if (list)
        free(list->list);
    free(list);
}

int qn_ctx_fallback_count(const qn_ctx *ctx)
{
    return ctx->fallbacks->n;
}

void qn_ctx_fallback_get(const qn_ctx *ctx, int i, qn_fallback *out)
{
    const entry *e = &ctx->fallbacks->list[i];

    *out = (qn_fallback){ e->stage, e->reason, e->text, e->count };
}

const char *qn_fallback_reason(qn_status status)
{
    switch (status) {
    case QN_ERR_INIT:
        return "init";
    case QN_ERR_COMPILE:
        return "compile";
    case QN_ERR_NOMEM:
        return "oom";
    case QN_ERR_LIMIT:
        return "limit";
    case QN_ERR_TIMEOUT:
        return "timeout";
    case QN_ERR_DEVICE_LOST:
        return "device_lost";
    case QN_ERR_MISMATCH:
        return "mismatch";
    case QN_ERR_INJECTED:
        return "injected";
    case QN_ERR_UNSUPPORTED:
        return "unsupported";
    default:
        return "launch";
    }
}

int qn_status_is_device_fault(qn_status status)
{
    return status == QN_ERR_INJECTED || status == QN_ERR_LAUNCH || status == QN_ERR_DEVICE_LOST ||
           status == QN_ERR_TIMEOUT;
}

static entry *find_entry(qn_fallbacks *list, const char *stage, const char *reason)
{
    entry *grown;

    for (int i = 0; i < list->n; i++)
        if (!strcmp(list->list[i].stage, stage) && !strcmp(list->list[i].reason, reason))
            return &list->list[i];
    if (!(grown = realloc(list->list, (size_t)(list->n + 1) * sizeof *grown)))
        return NULL;
    list->list = grown;
    grown += list->n++;
    *grown = (entry){ .reason = reason };
    strncpy(grown->stage, stage, sizeof grown->stage - 1);
    return grown;
}

static uint64_t count_stage(const qn_fallbacks *list, const char *stage)
{
    uint64_t total = 0;

    for (int i = 0; i < list->n; i++)
        if (!strcmp(list->list[i].stage, stage))
            total += list->list[i].count;
    return total;
}

static int is_power_of_ten(uint64_t n)
{
    while (n >= 10 && n % 10 == 0)
        n /= 10;
    return n == 1;
}

/* Makes a message fit the log line: no final period, not empty. */
static void trim_sentence(char *text, size_t size, qn_status status)
{
    size_t n = strlen(text);

    while (n && strchr(". \t", text[n - 1]))
        text[--n] = 0;
    if (!n)
        snprintf(text, size, "%s", qn_status_name(status));
}

/* Prints the first ten of a stage, then every power of ten. */
static void print_line(const qn_ctx *ctx, const char *stage, const char *text, uint64_t count)
{
    if (ctx->log.level == QN_LOG_NONE || (count > PRINT_FIRST && !is_power_of_ten(count)))
        return;
    if (count > PRINT_FIRST)
        fprintf(ctx->log.to, "[GPU] %s failed: %s (x%llu). CPU fallback.\n", stage, text,
                (unsigned long long)count);
    else
        fprintf(ctx->log.to, "[GPU] %s failed: %s. CPU fallback.\n", stage, text);
    fflush(ctx->log.to);
}

qn_status qn_fallback_note(qn_ctx *ctx, const char *stage, qn_err *err)
{
    const char *reason = qn_fallback_reason(err->status);
    entry *e;
    char text[sizeof err->text];

    memcpy(text, err->text, sizeof text);
    trim_sentence(text, sizeof text, err->status);
    if (ctx->settings.fallback == QN_FALLBACK_ERROR)
        return qn_fail(err, QN_ERR_FALLBACK, "stage %s failed (%s) and fallback is forbidden",
                       stage, text);
    if ((e = find_entry(ctx->fallbacks, stage, reason))) {
        e->count++;
        memcpy(e->text, text, sizeof e->text);
    }
    qn_metric_add(qn_metric_of(ctx->metrics, "gpu_fallback_count",
                               QN_LABELS("stage", stage, "reason", reason)),
                  1);
    print_line(ctx, stage, text, count_stage(ctx->fallbacks, stage));
    err->status = QN_OK;
    err->text[0] = 0;
    return QN_OK;
}

/* Health. */

static void refuse(qn_device *device)
{
    qn_health *h = &device->health;

    h->pause_us = h->pause_us > 0 ? h->pause_us * 2 : pause_first_us;
    if (h->pause_us > pause_most_us)
        h->pause_us = pause_most_us;
    h->until_us = qn_ctx_now_us(device->ctx) + h->pause_us;
    h->bad = 1;
    qn_log_put(&device->ctx->log, QN_LOG_WARN, "device %s is refused for %.0f s", device->id,
               h->pause_us / 1e6);
}

static int failed_in_window(const qn_health *h)
{
    return __builtin_popcountll(h->window & (((uint64_t)1 << WINDOW) - 1));
}

void qn_health_note(qn_device *device, int failed)
{
    qn_health *h = &device->health;

    h->window = h->window << 1 | (failed ? 1 : 0);
    h->n_window += h->n_window < WINDOW;
    h->in_a_row = failed ? h->in_a_row + 1 : 0;
    if (!failed) {
        if (h->bad) { /* the probe worked */
            h->bad = 0;
            h->pause_us = 0;
            h->window = 0;
            h->n_window = 0;
        }
        return;
    }
    if (h->bad || h->in_a_row >= ROW_LIMIT ||
        (h->n_window == WINDOW && failed_in_window(h) * 100 > WINDOW * WINDOW_PCT))
        refuse(device);
}

int qn_health_ok(qn_device *device)
{
    qn_health *h = &device->health;

    return !h->bad || qn_ctx_now_us(device->ctx) >= h->until_us;
}

void qn_health_mismatch(qn_device *device, int mismatched)
{
    qn_health *h = &device->health;

    h->mismatches_in_a_row = mismatched ? h->mismatches_in_a_row + 1 : 0;
    if (h->mismatches_in_a_row >= 2 && qn_health_ok(device))
        refuse(device);
}
