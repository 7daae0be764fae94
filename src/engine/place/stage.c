/* stage.c - describes a graph to the router, and explains the decisions. */
#include "engine/place/place.h"

#include <math.h>
#include <stdlib.h>

/* Stages whose device is fixed. */

/* Work items: points of a MAP, lanes of the groups of a GROUP, teams of a TEAM. */
static double size_of(const qn_stage *stage)
{
    const double lanes = stage->kernel && stage->kernel->lanes > 1 ? stage->kernel->lanes : 1;

    return qn_cost_count(&stage->range) * lanes;
}

static int best_device(qn_ctx *ctx)
{
    int best = QN_CPU_SLOT;

    qn_devices_select(ctx, 1, &best);
    return best;
}

/* The device by the profile's threshold. An op that was never calibrated uses the threshold of the
 * memory yardstick. */
static int static_device(qn_ctx *ctx, const qn_route_op *op, double size)
{
    const int device = best_device(ctx);
    const qn_op *yardstick = qn_op_yardstick(QN_YARDSTICK_MEMORY);
    qn_i64 from = op->crossover[device][QN_COLD];
    const qn_route_op *usual;

    if (from < 0 && yardstick && (usual = qn_router_op(ctx, yardstick->name)))
        from = usual->crossover[device][QN_COLD];
    return from > 0 && size >= (double)from ? device : QN_CPU_SLOT;
}

static int forced_device(qn_ctx *ctx, const qn_stage *stage, const qn_route_op *op, qn_why *why)
{
    *why = QN_WHY_PINNED;
    if (stage->pin >= 0 && !stage->host)
        return stage->pin;
    if (ctx->pinned >= 0 && stage->kernel && stage->kernel->module &&
        stage->op->priority <= ctx->settings.op_priority)
        return ctx->pinned;
    *why = QN_WHY_CPU_ONLY;
    if (!op || !stage->kernel->module || stage->op->priority > ctx->settings.op_priority ||
        ctx->candidates == 1u << QN_CPU_SLOT)
        return QN_CPU_SLOT;
    *why = QN_WHY_MODE;
    switch (ctx->settings.route_mode) {
    case QN_ROUTE_CPU:
        return QN_CPU_SLOT;
    case QN_ROUTE_GPU:
        return best_device(ctx);
    case QN_ROUTE_STATIC:
        *why = QN_WHY_THRESHOLD;
        return static_device(ctx, op, size_of(stage));
    case QN_ROUTE_AUTO:
    case QN_ROUTE_BALANCE:
        break;
    }
    *why = QN_WHY_BEST;
    return -1;
}

/* The graph's side. */

/* Kernels without an op share one op, so the router distinguishes them by name. */
static qn_route_op *op_of(qn_ctx *ctx, const qn_stage *stage)
{
    char name[96];

    if (!stage->kernel)
        return NULL;
    if (qn_op_find(stage->op->name) == stage->op)
        return qn_router_op(ctx, stage->op->name);
    snprintf(name, sizeof name, "%s.%s",
             stage->kernel->module ? stage->kernel->module->name : "cpu", stage->kernel->name);
    return qn_router_op(ctx, name);
}

static qn_cost cost_of(const qn_graph *graph, const qn_stage *stage)
{
    size_t bytes[QN_MAX_ARGS] = { 0 };
    const void *values[QN_MAX_ARGS] = { 0 };
    const qn_op_use use = { stage->kernel, stage->range, bytes, values };

    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];

        if (arg->buf_i >= 0)
            bytes[a] = graph->bufs[arg->buf_i].root->bytes - arg->offset;
        else
            values[a] = stage->values + arg->value_at;
    }
    return stage->op->cost(stage->op, &use);
}

static struct qn_graph_route *new_route(const qn_graph *graph)
{
    const size_t n = (size_t)graph->n_stages + 1, n_bufs = (size_t)graph->n_bufs + 1;
    struct qn_graph_route *r = calloc(1, sizeof *r);
    qn_arena *tables = r ? &r->tables : NULL;

    if (!r)
        return NULL;
    qn_trials_reset(&r->trials);
    r->probed = r->tried_on = -1;
    r->ops = qn_arena_zeros(tables, n, sizeof *r->ops);
    r->sizes = qn_arena_zeros(tables, n, sizeof *r->sizes);
    r->costs = qn_arena_zeros(tables, n, sizeof *r->costs);
    r->forced = qn_arena_zeros(tables, n, sizeof *r->forced);
    r->why = qn_arena_zeros(tables, n, sizeof *r->why);
    r->wanting = qn_arena_zeros(tables, n, sizeof *r->wanting);
    r->marked = qn_arena_zeros(tables, n, sizeof *r->marked);
    r->actual_us = qn_arena_zeros(tables, n, sizeof *r->actual_us);
    if (graph->ctx->router->explain)
        r->predicted = qn_arena_zeros(tables, n, QN_MAX_DEVICES * sizeof *r->predicted);
    r->version = qn_arena_zeros(tables, n_bufs, sizeof *r->version);
    r->d2h_base = qn_arena_zeros(tables, n_bufs, sizeof *r->d2h_base);
    r->stable = qn_arena_zeros(tables, n_bufs, sizeof *r->stable);
    r->n_readers = qn_arena_zeros(tables, n_bufs, sizeof *r->n_readers);
    r->was_there = qn_arena_zeros(tables, n_bufs, sizeof *r->was_there);
    return r;
}

static void free_route(struct qn_graph_route *r)
{
    if (!r)
        return;
    qn_arena_clear(&r->tables);
    free(r);
}

static void describe_stage(qn_graph *graph, int s)
{
    qn_ctx *ctx = graph->ctx;
    struct qn_graph_route *r = graph->route;
    qn_stage *stage = &graph->stages[s];
    qn_route_op *op = op_of(ctx, stage);

    r->ops[s] = op;
    r->actual_us[s] = NAN;
    r->sizes[s] = size_of(stage);
    r->forced[s] = forced_device(ctx, stage, op, &r->why[s]);
    r->n_open += r->forced[s] < 0;
    stage->device = r->forced[s] >= 0 ? r->forced[s] : QN_CPU_SLOT;
    if (!op || r->sizes[s] <= 0)
        return;
    r->costs[s] = cost_of(graph, stage);
    op->in_bytes = r->costs[s].read_bytes / r->sizes[s];
    op->out_bytes = r->costs[s].write_bytes / r->sizes[s];
}

/* Whether profiles allow any stage of the graph to be placed. */
static int needs_profile(const qn_graph *graph)
{
    const qn_ctx *ctx = graph->ctx;

    if (ctx->pinned >= 0 || ctx->settings.route_mode == QN_ROUTE_CPU ||
        ctx->settings.route_mode == QN_ROUTE_GPU || !(ctx->candidates & (ctx->candidates - 1)))
        return 0;
    for (int s = 0; s < graph->n_stages; s++) {
        const qn_stage *stage = &graph->stages[s];

        if (stage->pin < 0 && stage->kernel && stage->kernel->module &&
            stage->op->priority <= ctx->settings.op_priority)
            return 1;
    }
    return 0;
}

/* Whether no stage has a choice. */
static int is_idle(const qn_graph *graph)
{
    for (int s = 0; s < graph->n_stages; s++)
        if (graph->route->why[s] != QN_WHY_PINNED && graph->route->why[s] != QN_WHY_CPU_ONLY)
            return 0;
    return 1;
}

void qn_route_graph(qn_graph *graph)
{
    struct qn_graph_route *r;

    qn_route_free(graph);
    if (needs_profile(graph))
        qn_router_inform(graph->ctx);
    graph->route = r = new_route(graph);
    for (int s = 0; s < graph->n_stages; s++)
        graph->stages[s].device = QN_CPU_SLOT;
    if (r && !r->tables.failed) {
        r->mode = graph->ctx->settings.route_mode;
        for (int s = 0; s < graph->n_stages; s++)
            describe_stage(graph, s);
        for (int b = 0; b < graph->n_bufs; b++)
            r->d2h_base[b] = graph->bufs[b].root->count.d2h_count;
        if (!r->n_open || qn_chains_make(graph) == QN_OK) {
            r->is_idle = !r->predicted && is_idle(graph);
            qn_route_decide(graph);
            return;
        }
    }
    /* Without memory for the router, the stages run on the CPU. */
    free_route(r);
    graph->route = NULL;
}

/* Explanations. */

static void explain_stage(const qn_graph *graph, int s, uint64_t seq)
{
    const struct qn_graph_route *r = graph->route;
    const qn_ctx *ctx = graph->ctx;
    const qn_stage *stage = &graph->stages[s];

    for (int d = 0; d < ctx->n_devices; d++) {
        const int is_chosen = stage->device == d;
        const double predicted = r->predicted[s * QN_MAX_DEVICES + d];

        if (!is_chosen && isnan(predicted))
            continue;
        qn_explain_put(ctx->router->explain,
                       &(qn_explain_row){ .seq = seq,
                                          .stage = stage->name,
                                          .op = r->ops[s] ? r->ops[s]->name : stage->op->name,
                                          .candidate = ctx->devices[d].id,
                                          .size = (qn_i64)r->sizes[s],
                                          .predicted_us = predicted,
                                          .chosen = is_chosen,
                                          .actual_us = is_chosen ? r->actual_us[s] : NAN,
                                          .reason = qn_why_name(r->why[s]) });
    }
}

/* Rows are written when the run's times are known: before the next run. */
void qn_route_explain(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    if (!r->first_seq || !graph->ctx->router->explain)
        return;
    for (int s = 0; s < graph->n_stages; s++)
        explain_stage(graph, s, r->first_seq + (uint64_t)s);
    r->first_seq = 0;
}

void qn_route_predict(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    if (!r->predicted)
        return;
    for (int i = 0; i < graph->n_stages * QN_MAX_DEVICES; i++)
        r->predicted[i] = NAN;
    for (int c = 0; c < r->n_chains; c++) {
        qn_chain *chain = &r->chains[c];

        for (int i = 0; chain->n_open && i < chain->n_stages; i++)
            for (int d = 0; d < graph->ctx->n_devices; d++)
                if (chain->path.stages[i].forced < 0 ? chain->path.candidates >> d & 1
                                                     : chain->path.stages[i].forced == d)
                    r->predicted[chain->stages[i] * QN_MAX_DEVICES + d] =
                        qn_path_stage_cost(&chain->path, chain->device, i, d);
    }
}

void qn_route_free(qn_graph *graph)
{
    if (!graph->route)
        return;
    qn_route_note_light(graph);
    qn_route_explain(graph);
    free_route(graph->route);
    graph->route = NULL;
}

/* Public queries. */

static qn_chain *find_chain(struct qn_graph_route *r, int stage, int *at)
{
    for (int c = 0; c < r->n_chains; c++)
        for (int i = 0; i < r->chains[c].n_stages; i++)
            if (r->chains[c].stages[i] == stage) {
                *at = i;
                return &r->chains[c];
            }
    return NULL;
}

int qn_route_options(qn_graph *graph, int stage, qn_route_option *out, int max)
{
    struct qn_graph_route *r = graph->route;
    const qn_stage *s = &graph->stages[stage];
    qn_chain *chain;
    int at, n = 0;

    if (stage < 0 || stage >= graph->n_stages)
        return 0;
    if (!r || r->forced[stage] >= 0 || !(chain = find_chain(r, stage, &at))) {
        if (max > 0)
            out[0] = (qn_route_option){ s->device, NAN, 0, 1 };
        return 1;
    }
    qn_chain_price(graph, chain, qn_router_alive(graph->ctx));
    if (!chain->is_settled)
        qn_chain_settle(chain);
    for (int d = 0; d < graph->ctx->n_devices; d++) {
        if (!(chain->view.devices >> d & 1))
            continue;
        if (n < max)
            out[n] =
                (qn_route_option){ d, qn_path_stage_cost(&chain->path, chain->device, at, d),
                                   qn_model_support(&r->ops[stage]->models[d], r->sizes[stage]),
                                   s->device == d };
        n++;
    }
    return n;
}

const char *qn_route_reason(const qn_graph *graph, int stage)
{
    if (stage < 0 || stage >= graph->n_stages)
        return NULL;
    return qn_why_name(graph->route ? graph->route->why[stage] : QN_WHY_CPU_ONLY);
}
