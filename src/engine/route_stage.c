/* route_stage.c - a device for every stage of a graph. */
#include "engine/route_stage.h"

/* What no router may overrule; -1 leaves the choice open. */
static int forced_device(const qn_ctx *ctx, const qn_stage *stage)
{
    if (stage->pin >= 0)
        return stage->pin;
    if (!stage->kernel || !stage->kernel->module || stage->op->priority > ctx->op_priority)
        return QN_CPU_SLOT;
    if (ctx->pinned >= 0)
        return ctx->pinned;
    return ctx->route_mode == QN_ROUTE_CPU || ctx->n_devices == 1 ? QN_CPU_SLOT : -1;
}

void qn_route_graph(qn_graph *graph)
{
    for (int s = 0; s < graph->n_stages; s++) {
        const int forced = forced_device(graph->ctx, &graph->stages[s]);

        graph->stages[s].device = forced >= 0 ? forced : QN_CPU_SLOT;
    }
}
