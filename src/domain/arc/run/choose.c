/* choose.c - decisions of the engine's router on whole batches. */
#include "domain/arc/run/choose.h"

#include "engine/engine.h"

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
    if (device == QN_CPU_SLOT || qn_route_get_mode(ctx) == QN_ROUTE_CPU)
        return QN_ARC_ROUTE_CPU;
    if (qn_route_get_mode(ctx) == QN_ROUTE_GPU || qn_ctx_pinned(ctx) >= 0 ||
        !qn_device_is_candidate(ctx, QN_CPU_SLOT) || !qn_device_is_candidate(ctx, device))
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
    return qn_metric_summary(qn_metric_of(qn_ctx_metrics(ctx), "kernel_compile_time_ms", NULL)).sum;
}

/* One decision. */

qn_arc_decision qn_arc_choose(qn_arc_session *s, double units)
{
    qn_route_op *op = qn_router_op(s->ctx, op_name);
    qn_route_case question = { .size = units,
                               .bound = s->route == QN_ARC_ROUTE_MEASURED ? -1
                                        : s->route == QN_ARC_ROUTE_CPU    ? QN_CPU_SLOT
                                                                          : s->device,
                               .why = qn_ctx_pinned(s->ctx) >= 0 ? QN_WHY_PINNED : QN_WHY_MODE,
                               .present = -1 };
    qn_arc_decision d = { .units = units, .compiled_ms = compiled_ms(s->ctx) };

    for (int k = 0; op && k <= s->device; k++) {
        question.devices |= 1u << k;
        question.prior[k] = prior_of(s, k);
        question.more_us[k] = qn_route_op_is_warm(op, k) ? 0 : s->paces[k].first_us;
    }
    if (!op)
        question.bound = question.bound < 0 ? s->device : question.bound;
    d.choice = qn_route_choose(s->ctx, op, &question);
    return d;
}

/* Afterwards. */

/* What the first batch at a place took beyond what it would have taken later: loading a module,
 * making buffers. Compiling is left out, since that is over once and for all. */
static void note_first(qn_arc_session *s, const qn_arc_decision *d, double us)
{
    qn_arc_pace *pace = &s->paces[d->choice.device];
    const double compiled_us = 1e3 * (compiled_ms(s->ctx) - d->compiled_ms);
    const double more = us - compiled_us - (pace->a_us + pace->b_us * d->units);
    const double first_us = more > 0 ? more : 0;

    pace->first_us += pace->first_us > 0 ? NEW_FIRST * (first_us - pace->first_us) : first_us;
    s->timed_first |= 1u << d->choice.device;
}

void qn_arc_chosen(qn_arc_session *s, const qn_arc_decision *d, double us)
{
    qn_route_op *op = qn_router_op(s->ctx, op_name);

    const int device = d->choice.device;

    s->ran_last = device;
    qn_route_explain_choice(s->ctx, "arc.vm", op_name, (qn_i64)d->units, &d->choice,
                            us >= 0 ? us : NAN);
    if (op && us >= 0) {
        if (!qn_route_op_is_warm(op, device))
            note_first(s, d, us);
        qn_router_observe(s->ctx, op, device, d->units, us);
    } else if (op)
        qn_router_failed(s->ctx, op, device, QN_ERR_BUSY);
}

/* The line through what was measured; of one size only, what was guessed in that proportion. 0 when
 * nothing was. */
static int is_measured(const qn_route_op *op, int device, qn_arc_pace *pace)
{
    const int n = qn_route_op_points(op, device);
    const qn_line fit = qn_route_op_fit(op, device);
    qn_route_point first;
    double ratio;

    if (!n)
        return 0;
    if (n > 1 && fit.a_us > 0 && fit.b_us > 0) {
        pace->a_us = fit.a_us;
        pace->b_us = fit.b_us;
        return 1;
    }
    first = qn_route_op_point(op, device, 0);
    ratio = first.median_us / (pace->a_us + pace->b_us * first.size);
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

        if (!is_measured(op, d, &pace) && !(s->timed_first >> d & 1))
            continue;
        name_of(s->ctx, d, name, sizeof name);
        qn_arc_costs_set_pace(s->costs, name, &pace);
    }
}
