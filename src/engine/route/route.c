/* route.c - knowledge about devices, and decisions based on it.
 *
 * Probing has two limits: at most one decision in twenty, and at most 0.5 % of the time, since a
 * few probes of large sizes cost more than many of small ones. A known choice is measured again
 * less often the worse it is. One that seems more than three times worse is measured only after a
 * thousand decisions, in case the cause has passed.
 */
#include "engine/route/route.h"

#include <math.h>
#include <stdlib.h>

enum {
    PROBE_EVERY = 20,   /* decisions per probe, at least */
    PROBE_STALE = 1000, /* decisions after which any device is measured again */
    PROBE_FACTOR = 3,   /* never for a choice worse than this */
    COPY_SAMPLES = 32,  /* copies in each direction of a link */
    BUSY_MOST = 15
};
static const double gain_wanted = 0.90, spend_share = 0.005, busy_half_life_us = 2e6;

const char *qn_why_name(qn_why why)
{
    static const char *const names[QN_N_WHY] = {
        [QN_WHY_BEST] = "best",           [QN_WHY_KEPT] = "kept",         [QN_WHY_PROBE] = "probe",
        [QN_WHY_PINNED] = "pinned",       [QN_WHY_CPU_ONLY] = "cpu-only", [QN_WHY_MODE] = "mode",
        [QN_WHY_THRESHOLD] = "threshold", [QN_WHY_BALANCE] = "balance",
    };

    return names[why];
}

/* Open and close. */

/* Orders of magnitude, used until something is measured. A CPU device of another backend is the
 * same hardware as cpu:0 and is assumed to be slower until measured. */
static qn_speed assumed_speed(const qn_device *device)
{
    const double units = device->info.units ? device->info.units : 1;

    if (device->slot == QN_CPU_SLOT)
        return (qn_speed){ 3, fmin(5 * units, 80), 8 * units, 0 };
    switch (device->info.kind) {
    case QN_KIND_DISCRETE:
        return (qn_speed){ 6, 500, 5000, 0 };
    case QN_KIND_INTEGRATED:
        return (qn_speed){ 15, 40, 500, 0 };
    case QN_KIND_SIM:
        return (qn_speed){ 5, 400, 5000, 0 };
    case QN_KIND_CPU:
        break;
    }
    return (qn_speed){ 100, fmin(2 * units, 30), 3 * units, 0 };
}

static double assumed_sync_us(const qn_device *device)
{
    return device->slot == QN_CPU_SLOT || device->info.kind == QN_KIND_SIM ? 0 : 10;
}

static void find_metrics(qn_ctx *ctx)
{
    qn_router *r = ctx->router;

    r->probed = qn_metric_of(ctx->metrics, "route_probe_total", NULL);
    r->mispredict = qn_metric_of(ctx->metrics, "route_mispredict_pct", NULL);
    r->recent_batches[0] = qn_metric_of(ctx->metrics, "recent_cpu_batches", NULL);
    r->recent_batches[1] = qn_metric_of(ctx->metrics, "recent_gpu_batches", NULL);
    r->recent_us[0] = qn_metric_of(ctx->metrics, "recent_cpu_time_us", NULL);
    r->recent_us[1] = qn_metric_of(ctx->metrics, "recent_gpu_time_us", NULL);
}

qn_status qn_router_open(qn_ctx *ctx, qn_err *err)
{
    qn_router *r = calloc(1, sizeof *r);

    if (!r)
        return qn_fail(err, QN_ERR_NOMEM, "router: out of host memory");
    ctx->router = r;
    for (int d = 0; d < ctx->n_devices; d++) {
        r->speeds[d] = assumed_speed(&ctx->devices[d]);
        r->links[d] = (qn_link){ 10, 10, 10, 10, assumed_sync_us(&ctx->devices[d]) };
    }
    find_metrics(ctx);
    return ctx->settings.explain_path[0]
               ? qn_explain_open(ctx->settings.explain_path, &r->explain, err)
               : QN_OK;
}

void qn_router_close(qn_ctx *ctx)
{
    qn_router *r = ctx->router;
    const qn_map_entry *entry;
    size_t at = 0;
    qn_err err;

    if (!r)
        return;
    if (r->explain && qn_explain_close(r->explain, &err) != QN_OK)
        qn_log_put(&ctx->log, QN_LOG_ERROR, "%s", err.text);
    while ((entry = qn_map_next(&r->ops, &at)))
        qn_route_op_free(entry->value);
    qn_map_free(&r->ops);
    for (int d = 0; d < QN_MAX_DEVICES; d++)
        for (int way = 0; way < 2; way++)
            qn_model_free(&r->copies[d][way]);
    free(r);
    ctx->router = NULL;
}

qn_route_op *qn_router_op(qn_ctx *ctx, const char *name)
{
    qn_route_op *op = qn_map_get(&ctx->router->ops, name);

    if (op || !(op = qn_route_op_new(name)))
        return op;
    if (qn_map_put(&ctx->router->ops, name, op) != QN_OK) {
        qn_route_op_free(op);
        return NULL;
    }
    return op;
}

void qn_router_inform(qn_ctx *ctx)
{
    qn_profile_load_all(ctx);
    if (ctx->router->is_informed)
        return;
    ctx->router->is_informed = 1;
    qn_calibrate_missing(ctx);
}

qn_route_mode qn_route_get_mode(const qn_ctx *ctx)
{
    return ctx->settings.route_mode;
}

void qn_route_set_mode(qn_ctx *ctx, qn_route_mode mode)
{
    ctx->settings.route_mode = mode;
}

/* Learning. */

void qn_route_observe(qn_route_op *op, int device, double size, double us)
{
    op->sampled_at[device] = op->decisions;
    if (!(op->warm >> device & 1)) {
        op->warm |= 1u << device;
        return;
    }
    qn_model_add(&op->models[device], size, us);
}

void qn_router_observe(qn_ctx *ctx, qn_route_op *op, int device, double size, double us)
{
    const qn_model *model = &op->models[device];

    if (us > 0 && qn_model_support(model, size) > 0) {
        const double predicted = qn_model_predict(model, size, &op->prior[device]);

        qn_metric_observe(ctx->router->mispredict, fabs(predicted - us) / us * 100);
    }
    qn_route_observe(op, device, size, us);
}

int qn_router_wants_copy(const qn_ctx *ctx, int device, int is_upload)
{
    const qn_router *r = ctx->router;

    return !(r->has_link >> device & 1) && r->copies[device][!is_upload].n_samples < COPY_SAMPLES;
}

/* If all copies have one size, latency and bandwidth are scaled together. */
static qn_line fit_copies(const qn_model *copies, const qn_line *present)
{
    const qn_model_bucket *first = copies->buckets[0];
    double ratio;

    if (copies->n_buckets > 1 && copies->fit.b_us > 0)
        return copies->fit;
    ratio = first->median_us / (present->a_us + present->b_us * first->size);
    return (qn_line){ present->a_us * ratio, present->b_us * ratio };
}

void qn_router_copied(qn_ctx *ctx, int device, int is_upload, double bytes, double us)
{
    qn_router *r = ctx->router;
    qn_link *link = &r->links[device];
    double *latency_us = is_upload ? &link->h2d_us : &link->d2h_us;
    double *gbps = is_upload ? &link->h2d_gbps : &link->d2h_gbps;
    const qn_line present = { *latency_us, 1e-3 / *gbps };
    qn_model *copies = &r->copies[device][!is_upload];
    const uint64_t before = copies->generation;
    qn_line line;

    if (!qn_router_wants_copy(ctx, device, is_upload))
        return;
    qn_model_add(copies, bytes, us);
    if (copies->generation == before)
        return;
    line = fit_copies(copies, &present);
    *latency_us = line.a_us;
    *gbps = 1e-3 / line.b_us;
    r->generation++;
}

void qn_router_failed(qn_ctx *ctx, qn_route_op *op, int device, qn_status status)
{
    qn_router *r = ctx->router;
    const double level = qn_router_busy(ctx, device) - 1;

    if (status == QN_ERR_BUSY) {
        r->busy_level[device] = fmin(2 * level + 1, BUSY_MOST);
        r->busy_at_us[device] = qn_ctx_now_us(ctx);
        r->generation++;
    }
    if (op &&
        (status == QN_ERR_COMPILE || status == QN_ERR_UNSUPPORTED || status == QN_ERR_LIMIT)) {
        op->refused |= 1u << device;
        r->generation++;
    }
}

double qn_router_busy(const qn_ctx *ctx, int device)
{
    const qn_router *r = ctx->router;

    if (r->busy_level[device] <= 0)
        return 1;
    return 1 + r->busy_level[device] *
                   exp2((r->busy_at_us[device] - qn_ctx_now_us(ctx)) / busy_half_life_us);
}

unsigned qn_router_alive(qn_ctx *ctx)
{
    unsigned alive = ctx->candidates;

    for (int d = 1; d < ctx->n_devices; d++)
        if (ctx->devices[d].lost || !qn_health_ok(&ctx->devices[d]))
            alive &= ~(1u << d);
    return alive ? alive : 1u << QN_CPU_SLOT;
}

qn_line qn_router_prior(const qn_ctx *ctx, int device, const qn_cost *cost, double size)
{
    const qn_speed *s = &ctx->router->speeds[device];
    const double memory_us = (cost->read_bytes + cost->write_bytes) / (s->gbps * 1e3);
    const double compute_us = cost->flops / (s->gflops * 1e3);

    return (qn_line){ s->launch_us, fmax(memory_us, compute_us) / (size < 1 ? 1 : size) };
}

/* Counting. */

void qn_router_note_run(qn_ctx *ctx, int is_device, double us)
{
    qn_router *r = ctx->router;
    const int most = (int)(sizeof r->recent.us / sizeof *r->recent.us), at = r->recent.next;

    if (r->recent.n == most) {
        const int was = r->recent.is_device[at];

        r->recent.sum_us[was] -= r->recent.us[at];
        r->recent.count[was]--;
    } else {
        r->recent.n++;
    }
    r->recent.us[at] = us;
    r->recent.is_device[at] = (uint8_t)is_device;
    r->recent.sum_us[is_device] += us;
    r->recent.count[is_device]++;
    r->recent.next = (at + 1) % most;
    for (int side = 0; side < 2; side++) {
        qn_metric_set(r->recent_batches[side], r->recent.count[side]);
        qn_metric_set(r->recent_us[side], r->recent.sum_us[side]);
    }
}

void qn_router_count(qn_ctx *ctx, qn_route_op *op, int device, qn_why why, double n)
{
    qn_metric **metric = &op->counted[device][why];

    if (!*metric)
        *metric = qn_metric_of(ctx->metrics, "hybrid_routing_decisions_total",
                               QN_LABELS("op", op->name, "device", ctx->devices[device].id,
                                         "reason", qn_why_name(why)));
    qn_metric_add(*metric, n);
    if (why == QN_WHY_PROBE)
        qn_metric_add(ctx->router->probed, n);
}

/* One decision. */

int qn_route_is_gain(double present_us, double best_us)
{
    return best_us < gain_wanted * present_us;
}

int qn_route_settle(const qn_route_view *view, int present, qn_why *why)
{
    int best = -1;

    for (int d = 0; d < QN_MAX_DEVICES; d++)
        if (view->devices >> d & 1 && (best < 0 || view->cost_us[d] < view->cost_us[best]))
            best = d;
    *why = QN_WHY_BEST;
    if (present < 0 || !(view->devices >> present & 1) || best == present)
        return best;
    if (qn_route_is_gain(view->cost_us[present], view->cost_us[best]))
        return best;
    *why = QN_WHY_KEPT;
    return present;
}

/* Decisions between two measurements of a choice that costs `ratio` times the best one: measuring
 * costs about 1 %. */
static double probe_interval(double ratio)
{
    return fmin(fmax(PROBE_EVERY, 100 * (ratio - 1)), PROBE_STALE);
}

double qn_route_doubtful_us(const qn_route_view *view, int device)
{
    return fmin(view->cost_us[device], 2 * view->prior_us[device]);
}

int qn_route_is_stale(const qn_route_op *op, int device)
{
    return op->decisions - op->sampled_at[device] >= PROBE_STALE;
}

/* How urgently a device should be measured: 1 and above is enough, 0 means never. */
static double urgency(const qn_route_op *op, const qn_route_view *view, int d, double chosen_us)
{
    const double age = (double)(op->decisions - op->sampled_at[d]);
    const int is_known =
        view->support[d] >= QN_MODEL_CONFIRM && view->hope_us[d] > view->cost_us[d] / 2;
    const double us = age >= PROBE_STALE ? qn_route_doubtful_us(view, d)
                      : is_known         ? view->cost_us[d]
                                         : view->hope_us[d];

    /* A probable gain needs no budget, unless it is only probable because the sample is old. */
    if ((us > chosen_us || age >= PROBE_STALE) &&
        op->spent_us + fmax(0, us - chosen_us) > spend_share * op->total_us)
        return 0;
    if (age >= PROBE_STALE)
        return age / PROBE_STALE;
    if (view->hope_us[d] > PROBE_FACTOR * chosen_us)
        return 0;
    return is_known ? age / probe_interval(us / chosen_us) : 1;
}

int qn_route_may_probe(const qn_route_op *op, int n)
{
    return (op->probes + (uint64_t)n) * PROBE_EVERY <= op->decisions;
}

int qn_route_probe(const qn_route_op *op, const qn_route_view *view, double chosen_us,
                   unsigned in_use, int n)
{
    double most = 0;
    int best = -1;

    if (!qn_route_may_probe(op, n))
        return -1;
    for (unsigned left = view->devices & ~in_use; left; left &= left - 1) {
        const int d = __builtin_ctz(left);
        const double wanted = urgency(op, view, d, chosen_us);

        if (wanted >= 1 && wanted > most) {
            most = wanted;
            best = d;
        }
    }
    return best;
}

void qn_route_note_decisions(qn_route_op *op, int n, double us)
{
    op->decisions += (uint64_t)n;
    op->total_us += us;
}

void qn_route_note_probe(qn_route_op *op, int n)
{
    op->probes += (uint64_t)n;
}

void qn_route_spend(qn_route_op *op, double us)
{
    op->spent_us += fmax(0, us);
}

int qn_route_can_spend(const qn_route_op *op)
{
    return op->spent_us <= spend_share * op->total_us;
}
