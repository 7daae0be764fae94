/* choose.c - decisions of the engine's router on whole batches. */
#include "domain/arc/run/choose.h"

#include "engine/route/explain.h"

#include <math.h>
#include <stdio.h>

static const char op_name[] = "arc.batch";

/* Before anything was measured: little enough that a place is tried, after which the measurement
 * counts. Microseconds of a launch, and units of cost per microsecond and unit of the device. */
#define CPU_LAUNCH_US    20.0
#define CPU_RATE         50.0
#define DEVICE_LAUNCH_US 100.0
#define DEVICE_RATE      25.0

/* How much a new first batch counts beside those of earlier processes. */
#define NEW_FIRST 0.5

static void name_of(const qn_ctx *ctx, int device, char *out, size_t n)
{
    snprintf(out, n, "%s %s %u", qn_device_id(ctx, device), qn_device_get(ctx, device)->name,
             (unsigned)qn_device_get(ctx, device)->units);
}

static qn_arc_pace guess(const qn_ctx *ctx, int device)
{
    const double units = qn_device_get(ctx, device)->units ? qn_device_get(ctx, device)->units : 1;

    return device == QN_CPU_SLOT
               ? (qn_arc_pace){ .a_us = CPU_LAUNCH_US, .b_us = 1 / (CPU_RATE * units) }
               : (qn_arc_pace){ .a_us = DEVICE_LAUNCH_US, .b_us = 1 / (DEVICE_RATE * units) };
}

static qn_arc_route route_of(const qn_ctx *ctx, int device)
{
    const unsigned both = 1u << QN_CPU_SLOT | 1u << device;

    if (device == QN_CPU_SLOT || ctx->route_mode == QN_ROUTE_CPU)
        return QN_ARC_ROUTE_CPU;
    if (ctx->route_mode == QN_ROUTE_GPU || ctx->pinned >= 0 || (ctx->candidates & both) != both)
        return QN_ARC_ROUTE_DEVICE;
    return QN_ARC_ROUTE_MEASURED;
}

void qn_arc_choose_begin(qn_arc_session *s)
{
    qn_ctx *ctx = s->ctx;

    s->route = route_of(ctx, s->device);
    s->ran_last = s->device;
    for (int d = 0; d <= s->device; d++) {
        char name[192];

        name_of(ctx, d, name, sizeof name);
        if (!qn_arc_costs_get_pace(s->costs, name, &s->paces[d]))
            s->paces[d] = guess(ctx, d);
    }
}

static qn_line prior_of(const qn_arc_session *s, int device)
{
    return (qn_line){ .a_us = s->paces[device].a_us, .b_us = s->paces[device].b_us };
}

static double compiled_ms(const qn_ctx *ctx)
{
    return qn_metric_summary(ctx->m.compile_ms).sum;
}

/* One decision. */

static qn_route_view look(const qn_arc_session *s, const qn_route_op *op, double units)
{
    qn_route_view view = { 0 };

    for (int d = 0; d <= s->device; d++) {
        const qn_line prior = prior_of(s, d);
        const double first_us = op->warm >> d & 1 ? 0 : s->paces[d].first_us;

        view.devices |= 1u << d;
        view.cost_us[d] = first_us + qn_model_predict(&op->models[d], units, &prior);
        view.hope_us[d] = first_us + qn_model_hope(&op->models[d], units, &prior);
        view.prior_us[d] = prior.a_us + prior.b_us * units;
        view.support[d] = qn_model_support(&op->models[d], units);
    }
    return view;
}

qn_arc_decision qn_arc_choose(qn_arc_session *s, double units)
{
    qn_route_op *op = qn_router_op(s->ctx, op_name);
    qn_arc_decision d = { .device = s->route == QN_ARC_ROUTE_CPU ? QN_CPU_SLOT : s->device,
                          .why = s->ctx->pinned >= 0 ? QN_WHY_PINNED : QN_WHY_MODE,
                          .units = units };
    qn_route_view view;
    int probe;

    d.compiled_ms = compiled_ms(s->ctx);
    for (int k = 0; k < QN_MAX_DEVICES; k++)
        d.predicted_us[k] = NAN;
    if (!op)
        return d;
    view = look(s, op, units);
    for (int k = 0; k <= s->device; k++)
        d.predicted_us[k] = view.cost_us[k];
    if (s->route == QN_ARC_ROUTE_MEASURED) {
        d.device = qn_route_settle(&view, -1, &d.why);
        probe = qn_route_probe(op, &view, view.cost_us[d.device], 1u << d.device, 1);
        if (probe >= 0) {
            d.device = probe;
            d.why = QN_WHY_PROBE;
            qn_route_book_probe(op, 1);
        }
    }
    qn_route_book(op, 1, view.cost_us[d.device]);
    qn_router_count(s->ctx, op, d.device, d.why, 1);
    return d;
}

/* Afterwards. */

static void explain(qn_arc_session *s, const qn_arc_decision *d, double us)
{
    qn_router *router = s->ctx->router;
    const uint64_t seq = ++router->seq;

    if (!router->explain)
        return;
    for (int k = 0; k <= s->device; k++)
        qn_explain_put(router->explain,
                       &(qn_explain_row){ .seq = seq,
                                          .stage = "arc.vm",
                                          .op = op_name,
                                          .candidate = s->ctx->devices[k].id,
                                          .size = (qn_i64)d->units,
                                          .predicted_us = d->predicted_us[k],
                                          .chosen = k == d->device,
                                          .actual_us = k == d->device && us >= 0 ? us : NAN,
                                          .reason = qn_why_name(d->why) });
}

/* What the first batch at a place took beyond what it would have taken later: loading a module,
 * making buffers. Compiling is left out, since that is over once and for all. */
static void note_first(qn_arc_session *s, const qn_arc_decision *d, double us)
{
    qn_arc_pace *pace = &s->paces[d->device];
    const double compiled_us = 1e3 * (compiled_ms(s->ctx) - d->compiled_ms);
    const double more = us - compiled_us - (pace->a_us + pace->b_us * d->units);
    const double first_us = more > 0 ? more : 0;

    pace->first_us += pace->first_us > 0 ? NEW_FIRST * (first_us - pace->first_us) : first_us;
    s->timed_first |= 1u << d->device;
}

void qn_arc_chosen(qn_arc_session *s, const qn_arc_decision *d, double us)
{
    qn_route_op *op = qn_router_op(s->ctx, op_name);

    s->ran_last = d->device;
    explain(s, d, us);
    if (op && us >= 0) {
        if (!(op->warm >> d->device & 1))
            note_first(s, d, us);
        qn_router_observe(s->ctx, op, d->device, d->units, us);
    } else if (op)
        qn_router_failed(s->ctx, op, d->device, QN_ERR_BUSY);
}

/* The line through what was measured; of one size only, what was guessed in that proportion. 0 when
 * nothing was. */
static int is_measured(const qn_model *model, qn_arc_pace *pace)
{
    const qn_model_bucket *first = model->n_buckets ? model->buckets[0] : NULL;
    double ratio;

    if (!first)
        return 0;
    if (model->n_buckets > 1 && model->fit.a_us > 0 && model->fit.b_us > 0) {
        pace->a_us = model->fit.a_us;
        pace->b_us = model->fit.b_us;
        return 1;
    }
    ratio = first->median_us / (pace->a_us + pace->b_us * first->size);
    if (!(ratio > 0) || !isfinite(ratio))
        return 0;
    pace->a_us *= ratio;
    pace->b_us *= ratio;
    return 1;
}

void qn_arc_choose_end(qn_arc_session *s)
{
    qn_route_op *op = s->costs ? qn_router_op(s->ctx, op_name) : NULL;

    for (int d = 0; op && d <= s->device; d++) {
        qn_arc_pace pace = s->paces[d];
        char name[192];

        if (!is_measured(&op->models[d], &pace) && !(s->timed_first >> d & 1))
            continue;
        name_of(s->ctx, d, name, sizeof name);
        qn_arc_costs_set_pace(s->costs, name, &pace);
    }
}
