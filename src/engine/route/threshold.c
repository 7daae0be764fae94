/* threshold.c - the size from which a device is faster than the CPU, by current knowledge. */
#include "engine/route/route.h"

#include "util/crossover.h"

enum { N_SIZES = 13 };
static const qn_i64 sizes[N_SIZES] = { 1000,   2000,   5000,    10000,   20000,   50000,   100000,
                                       200000, 500000, 1000000, 2000000, 5000000, 10000000 };

static double copies_us(const qn_link *link, const qn_route_op *op, double size)
{
    return link->h2d_us + op->in_bytes * size / (link->h2d_gbps * 1e3) + link->d2h_us +
           op->out_bytes * size / (link->d2h_gbps * 1e3);
}

qn_i64 qn_route_threshold(qn_ctx *ctx, const char *name, int device, qn_residency residency)
{
    const qn_route_op *op = qn_map_get(&ctx->router->ops, name);
    double device_us[N_SIZES], cpu_us[N_SIZES];

    if (!op || device < 1 || device >= ctx->n_devices)
        return -1;
    /* QN_COLD needs the bytes to copy, which are known only after the op was used once. */
    if (op->models[QN_CPU_SLOT].n_buckets < 2 || op->models[device].n_buckets < 2 ||
        (residency == QN_COLD && op->in_bytes + op->out_bytes <= 0))
        return op->crossover[device][residency];
    for (int i = 0; i < N_SIZES; i++) {
        const double size = (double)sizes[i];

        cpu_us[i] = qn_model_predict(&op->models[QN_CPU_SLOT], size, &op->prior[QN_CPU_SLOT]);
        device_us[i] = qn_model_predict(&op->models[device], size, &op->prior[device]) *
                       qn_router_busy(ctx, device);
        if (residency == QN_COLD && !ctx->devices[device].info.unified_memory)
            device_us[i] += copies_us(&ctx->router->links[device], op, size);
    }
    return qn_crossover_find(sizes, device_us, cpu_us, N_SIZES).crossover;
}

void qn_thresholds_publish(qn_ctx *ctx)
{
    static const char *const modes[] = { [QN_RESIDENT] = "resident", [QN_COLD] = "cold" };
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&ctx->router->ops, &at)))
        for (int d = 1; d < ctx->n_devices; d++)
            for (int m = 0; m < 2; m++) {
                const qn_i64 size = qn_route_threshold(ctx, entry->key, d, (qn_residency)m);

                if (size >= 0)
                    qn_metric_set(qn_metric_of(ctx->metrics, "gpu_threshold",
                                               QN_LABELS("op", entry->key, "device",
                                                         ctx->devices[d].id, "mode", modes[m])),
                                  (double)size);
            }
}
