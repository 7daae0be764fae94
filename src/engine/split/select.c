/* select.c - chooses devices for a split.
 *
 * Measured rates decide: from the profiles or a quick scan, else from earlier batches. Without
 * rates the kind of device decides, then its memory, then its units.
 */
#include "engine/split/split_impl.h"

#include "engine/route/route.h"

#include "util/env.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int qn_rates_of_work(const qn_ctx *ctx, const int *devices, int n, double *out)
{
    for (int i = 0; i < n; i++) {
        const char *const *by_device = QN_LABELS("device", ctx->devices[devices[i]].id);
        const double ms = qn_metric_value(ctx->metrics, "device_total_execution_ms", by_device);

        if (!(ms > 0))
            return 0;
        out[i] = qn_metric_value(ctx->metrics, "device_total_tasks", by_device) / ms;
    }
    return 1;
}

int qn_rates_of_profile(const qn_ctx *ctx, const int *devices, int n, double *out)
{
    for (int i = 0; i < n; i++) {
        const qn_speed *speed = &ctx->router->speeds[devices[i]];

        if (!speed->is_measured || !(speed->gbps > 0) || !(speed->gflops > 0))
            return 0;
        out[i] = sqrt(speed->gbps * speed->gflops);
    }
    return 1;
}

typedef struct {
    int slot;
    double score; /* 0: some device has no known rate */
    const qn_device_info *info;
} candidate;

/* A simulated device counts as a discrete one. */
static int kind_rank(qn_device_kind kind)
{
    return kind == QN_KIND_CPU ? 0 : kind == QN_KIND_INTEGRATED ? 1 : 2;
}

static int by_merit(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    const int kinds = kind_rank(y->info->kind) - kind_rank(x->info->kind);

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (kinds)
        return kinds;
    if (x->info->mem_total != y->info->mem_total)
        return x->info->mem_total > y->info->mem_total ? -1 : 1;
    if (x->info->units != y->info->units)
        return x->info->units > y->info->units ? -1 : 1;
    return x->slot - y->slot;
}

static double free_share(const qn_ctx *ctx, int slot)
{
    const double busy = qn_metric_value(ctx->metrics, "gpu_utilization",
                                        QN_LABELS("device", ctx->devices[slot].id));

    return busy > 0 ? 1 - busy : 1;
}

/* Devices that take work now, best first. */
static int rank(qn_ctx *ctx, candidate *list)
{
    double rates[QN_MAX_DEVICES];
    int slots[QN_MAX_DEVICES] = { 0 }, n = 0, is_measured;

    for (int d = 1; d < ctx->n_devices; d++)
        if (ctx->candidates >> d & 1 && !ctx->devices[d].lost && qn_health_ok(&ctx->devices[d]))
            slots[n++] = d;
    if (n > 1) /* one device is the best at any rate */
        qn_router_inform(ctx);
    is_measured =
        qn_rates_of_profile(ctx, slots, n, rates) || qn_rates_of_work(ctx, slots, n, rates);
    for (int i = 0; i < n; i++)
        list[i] = (candidate){ slots[i], is_measured ? rates[i] * free_share(ctx, slots[i]) : 0,
                               &ctx->devices[slots[i]].info };
    qsort(list, (size_t)n, sizeof *list, by_merit);
    return n;
}

int qn_devices_select(qn_ctx *ctx, int k, int *out)
{
    candidate list[QN_MAX_DEVICES];
    const int n = rank(ctx, list);
    int i;

    for (i = 0; i < n && i < k; i++)
        out[i] = list[i].slot;
    return i;
}

/* The devices meant by one name, one bit each. */
static unsigned named(const qn_ctx *ctx, const char *name)
{
    unsigned found = 0;

    for (int d = 0; d < ctx->n_devices; d++)
        if (!strcmp(ctx->devices[d].id, name) || !strcmp(ctx->devices[d].backend->name, name))
            found |= 1u << d;
    return found;
}

static unsigned listed(const qn_ctx *ctx, const char *text)
{
    unsigned found = 0;
    char name[64];

    for (int i = 0; qn_list_item(text, i, name, sizeof name); i++)
        found |= named(ctx, name);
    return found;
}

/* The default list: the devices the context was opened for, without the CPU, which a --backend list
 * includes for the router. If it was opened for any device, only one backend is used, since a
 * second one may list the same hardware again. */
static unsigned intended(qn_ctx *ctx)
{
    const unsigned all = (1u << ctx->n_devices) - 1;
    unsigned set = ctx->candidates & ~(1u << QN_CPU_SLOT);
    int best;

    if (ctx->is_list)
        return set;
    if (ctx->candidates == all && qn_devices_select(ctx, 1, &best))
        set &= named(ctx, ctx->devices[best].backend->name);
    return set;
}

static const char *list_of(const char *text)
{
    return text ? text : qn_env("QUERN_DEVICES");
}

int qn_devices_set(qn_ctx *ctx, const char *text, int *out)
{
    unsigned set;
    int n = 0;

    text = list_of(text);
    if (ctx->settings.route_mode == QN_ROUTE_CPU)
        set = 0;
    else if (!text)
        set = intended(ctx);
    else if (!strcmp(text, "all"))
        set = ((1u << ctx->n_devices) - 1) & ~(1u << QN_CPU_SLOT);
    else
        set = listed(ctx, text);
    if (ctx->settings.route_mode == QN_ROUTE_BALANCE)
        set |= 1u << QN_CPU_SLOT;
    for (int d = 0; d < ctx->n_devices; d++)
        if (set >> d & 1)
            out[n++] = d;
    if (!n)
        out[n++] = QN_CPU_SLOT;
    return n;
}

int qn_devices_shared(qn_ctx *ctx, const char *text)
{
    int set[QN_MAX_DEVICES], n;

    if (!list_of(text) && !ctx->is_list && ctx->settings.route_mode != QN_ROUTE_BALANCE)
        return 0;
    n = qn_devices_set(ctx, text, set);
    if (n == 1 && (!list_of(text) || set[0] == QN_CPU_SLOT || set[0] == ctx->pinned))
        return 0;
    return n;
}
