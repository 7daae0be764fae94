/* choose.c - decides about work outside graphs, and gives read access to what is known about
 * ops. */
#include "engine/route/route.h"

#include <math.h>
#include <stdlib.h>

/* Decisions. */

static qn_route_view look(const qn_route_op *op, const qn_route_case *c)
{
    qn_route_view view = { .devices = c->devices };

    for (unsigned left = c->devices; left; left &= left - 1) {
        const int d = __builtin_ctz(left);
        const qn_line *prior = &c->prior[d];

        view.cost_us[d] = c->more_us[d] + qn_model_predict(&op->models[d], c->size, prior);
        view.hope_us[d] = c->more_us[d] + qn_model_hope(&op->models[d], c->size, prior);
        view.prior_us[d] = prior->a_us + prior->b_us * c->size;
        view.support[d] = qn_model_support(&op->models[d], c->size);
    }
    return view;
}

qn_route_choice qn_route_choose(qn_ctx *ctx, qn_route_op *op, const qn_route_case *c)
{
    const qn_route_view view = op ? look(op, c) : (qn_route_view){ .devices = 0 };
    qn_route_choice out = { .device = c->bound, .settled = c->bound, .why = c->why };
    int probe;

    for (int d = 0; d < QN_MAX_DEVICES; d++)
        out.predicted_us[d] = view.devices >> d & 1 ? view.cost_us[d] : NAN;
    if (!op)
        return out;
    if (c->bound < 0) {
        out.device = out.settled = qn_route_settle(&view, c->present, &out.why);
        if (out.device < 0)
            return out;
        probe = qn_route_probe(op, &view, view.cost_us[out.device], 1u << out.device, 1);
        if (probe >= 0) {
            out.device = probe;
            out.why = QN_WHY_PROBE;
            qn_route_note_probe(op, 1);
        }
    }
    qn_route_note_decisions(op, 1, view.cost_us[out.device]);
    if (ctx)
        qn_router_count(ctx, op, out.device, out.why, 1);
    return out;
}

void qn_route_explain_choice(qn_ctx *ctx, const char *stage, const char *op, qn_i64 size,
                             const qn_route_choice *choice, double actual_us)
{
    qn_router *router = ctx->router;
    const uint64_t seq = ++router->seq;

    for (int d = 0; router->explain && d < ctx->n_devices; d++)
        if (!isnan(choice->predicted_us[d]))
            qn_explain_put(router->explain,
                           &(qn_explain_row){ .seq = seq,
                                              .stage = stage,
                                              .op = op,
                                              .candidate = ctx->devices[d].id,
                                              .size = size,
                                              .predicted_us = choice->predicted_us[d],
                                              .chosen = d == choice->device,
                                              .actual_us = d == choice->device ? actual_us : NAN,
                                              .reason = qn_why_name(choice->why) });
}

/* Knowledge. */

qn_route_op *qn_route_op_new(const char *name)
{
    qn_route_op *op = calloc(1, sizeof *op);

    if (!op)
        return NULL;
    snprintf(op->name, sizeof op->name, "%s", name);
    for (int d = 0; d < QN_MAX_DEVICES; d++)
        op->crossover[d][QN_RESIDENT] = op->crossover[d][QN_COLD] = -1;
    return op;
}

void qn_route_op_free(qn_route_op *op)
{
    for (int d = 0; op && d < QN_MAX_DEVICES; d++)
        qn_model_free(&op->models[d]);
    free(op);
}

const qn_route_op *qn_route_op_find(const qn_ctx *ctx, const char *name)
{
    return qn_map_get(&ctx->router->ops, name);
}

const qn_route_op *qn_route_op_next(const qn_ctx *ctx, size_t *at)
{
    const qn_map_entry *entry = qn_map_next(&ctx->router->ops, at);

    return entry ? entry->value : NULL;
}

const char *qn_route_op_name(const qn_route_op *op)
{
    return op->name;
}

qn_i64 qn_route_op_crossover(const qn_route_op *op, int device, qn_residency residency)
{
    return op->crossover[device][residency];
}

int qn_route_op_points(const qn_route_op *op, int device)
{
    return op->models[device].n_buckets;
}

qn_route_point qn_route_op_point(const qn_route_op *op, int device, int i)
{
    const qn_model_bucket *b = op->models[device].buckets[i];

    return (qn_route_point){ b->size, b->median_us, b->mad_us, b->n };
}

qn_line qn_route_op_fit(const qn_route_op *op, int device)
{
    return op->models[device].fit;
}

int qn_route_op_is_warm(const qn_route_op *op, int device)
{
    return (int)(op->warm >> device & 1);
}

double qn_route_predict_us(const qn_route_op *op, int device, double size, qn_line prior)
{
    return qn_model_predict(&op->models[device], size, &prior);
}

qn_speed qn_device_speed(const qn_ctx *ctx, int device)
{
    return ctx->router->speeds[device];
}

qn_link qn_device_link(const qn_ctx *ctx, int device, int *is_measured)
{
    *is_measured = (int)(ctx->router->has_link >> device & 1);
    return ctx->router->links[device];
}
