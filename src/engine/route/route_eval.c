/* route_eval.c - the same work on every device and under every policy. */
#include "engine/route/route_eval.h"

#include "engine/route/measure.h"
#include "engine/route/route.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The router needs some runs to make up its mind: so many may take PATIENCE times as long. */
enum { LEAST_WARM_UP = 64, LEAST_ROUNDS = 20, PATIENCE = 5 };
enum { MAX_SAMPLES = 32, TURN_US = 100, TURN_MOST = 64 };

/* ---- single ops ---------------------------------------------------------------------- */

/* The smallest use of the op that has `items` work items or more. */
static qn_status sample_of(const qn_op *op, qn_i64 items, qn_op_sample *out, qn_err *err)
{
    qn_i64 low = 0, high = 1; /* low has too few, high enough */
    qn_status st = QN_OK;

    for (;; high *= 2) {
        QN_TRY(qn_op_sample_make(op, high, out, err));
        if (qn_op_sample_items(out) >= (double)items)
            break;
        low = high;
        if (high >= (qn_i64)1 << 40) {
            st = qn_fail(err, QN_ERR_LIMIT, "op %s: no use of it has %lld items", op->name,
                         (long long)items);
            goto out;
        }
    }
    while (high - low > 1) {
        const qn_i64 mid = low + (high - low) / 2;

        QN_TRY(qn_op_sample_make(op, mid, out, err));
        if (qn_op_sample_items(out) >= (double)items)
            high = mid;
        else
            low = mid;
    }
    QN_TRY(qn_op_sample_make(op, high, out, err));
out:
    return st;
}

static qn_status time_op(qn_device *device, const qn_op_sample *sample, int n, double *out,
                         qn_err *err)
{
    qn_measure m = { 0 };
    double us[MAX_SAMPLES];
    qn_status st = QN_OK;

    QN_TRY(qn_measure_open(device, sample, &m, err));
    for (int i = -2; i < n; i++) { /* the first two are warm-up */
        double one;

        QN_TRY(device->info.unified_memory ? qn_measure_resident(&m, &one, err)
                                           : qn_measure_cold(&m, &one, err));
        if (i >= 0)
            us[i] = one;
    }
    *out = qn_stats_of(us, (size_t)n).median;
out:
    qn_measure_close(&m);
    return st;
}

qn_status qn_eval_op(qn_ctx *ctx, const char *name, qn_i64 size, int n_samples,
                     double us[QN_REGRET_DEVICES], qn_err *err)
{
    const int n = n_samples < 1 ? 1 : n_samples > MAX_SAMPLES ? MAX_SAMPLES : n_samples;
    const qn_op *op = qn_op_find(name);
    qn_op_sample sample;
    qn_status st = QN_OK;

    if (!op)
        return qn_fail(err, QN_ERR_INPUT, "unknown op '%s'", name);
    QN_TRY(sample_of(op, size, &sample, err));
    for (int d = 0; d < QN_REGRET_DEVICES; d++)
        us[d] = NAN;
    for (int d = 0; d < ctx->n_devices && d < QN_REGRET_DEVICES; d++) {
        if (d != QN_CPU_SLOT && !(ctx->candidates >> d & 1))
            continue;
        st = time_op(&ctx->devices[d], &sample, n, &us[d], err);
        if (st != QN_OK && d == QN_CPU_SLOT)
            goto out;
        st = QN_OK; /* a device that cannot run it is no choice */
    }
out:
    return st;
}

/* ---- batches --------------------------------------------------------------------------- */

typedef struct {
    qn_graph *graph;
    qn_buf **x, **y, **sum; /* per task */
    int n_tasks;
} batch;

static void batch_free(batch *b)
{
    qn_graph_free(b->graph);
    for (int t = 0; t < b->n_tasks; t++) {
        if (b->x)
            qn_buf_free(b->x[t]);
        if (b->y)
            qn_buf_free(b->y[t]);
        if (b->sum)
            qn_buf_free(b->sum[t]);
    }
    free(b->x);
    free(b->y);
    free(b->sum);
    *b = (batch){ 0 };
}

static qn_status add_task(qn_ctx *ctx, batch *b, int t, qn_i64 n, const char *device)
{
    const size_t bytes = (size_t)n * sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(ctx, "x", bytes, &b->x[t]));
    QN_TRY(qn_buf_new(ctx, "y", bytes, &b->y[t]));
    QN_TRY(qn_buf_new(ctx, "sum", bytes, &b->sum[t]));
    const qn_arg args[] = { qn_arg_buf(b->x[t]), qn_arg_buf(b->y[t]), qn_arg_buf(b->sum[t]) };
    QN_TRY(qn_graph_op(b->graph, "eval.vadd", "vadd", qn_range_1d(n), args, 3));
    QN_TRY(qn_graph_output(b->graph, b->sum[t]));
    if (device)
        QN_TRY(qn_graph_pin(b->graph, t, device));
out:
    return st;
}

/* `device` NULL: the router decides. */
static qn_status batch_new(qn_ctx *ctx, const qn_i64 *sizes, int n_tasks, const char *device,
                           batch *out, qn_err *err)
{
    batch b = { .n_tasks = n_tasks };
    qn_status st = QN_OK;

    b.x = calloc((size_t)n_tasks, sizeof *b.x);
    b.y = calloc((size_t)n_tasks, sizeof *b.y);
    b.sum = calloc((size_t)n_tasks, sizeof *b.sum);
    if (!b.x || !b.y || !b.sum) {
        st = qn_fail(err, QN_ERR_NOMEM, "batch of %d tasks: out of host memory", n_tasks);
        goto out;
    }
    QN_TRY(qn_graph_new(ctx, "eval", &b.graph));
    for (int t = 0; t < n_tasks; t++)
        QN_TRY(add_task(ctx, &b, t, sizes[t], device));
    *out = b;
    return QN_OK;
out:
    batch_free(&b);
    return st;
}

static qn_status fill(qn_buf *buf, uint64_t seed)
{
    float *data;
    const qn_status st = qn_buf_host(buf, QN_HOST_DISCARD, (void **)&data);

    for (size_t i = 0; st == QN_OK && i < qn_buf_bytes(buf) / sizeof *data; i++)
        data[i] = qn_random_float(seed, i);
    return st;
}

static qn_status fill_batch(const batch *b, uint64_t seed)
{
    qn_status st = QN_OK;

    for (int t = 0; t < b->n_tasks; t++) {
        QN_TRY(fill(b->x[t], seed));
        QN_TRY(fill(b->y[t], seed + 1));
    }
out:
    return st;
}

/* New inputs, as far as residency is concerned, at no cost. */
static qn_status renew(const batch *b)
{
    void *data;
    qn_status st = QN_OK;

    for (int t = 0; t < b->n_tasks; t++) {
        QN_TRY(qn_buf_host(b->x[t], QN_HOST_UPDATE, &data));
        QN_TRY(qn_buf_host(b->y[t], QN_HOST_UPDATE, &data));
    }
out:
    return st;
}

static qn_status time_batch(qn_ctx *ctx, const batch *b, double *us)
{
    qn_status st = QN_OK;
    double start;

    QN_TRY(renew(b));
    start = qn_ctx_now_us(ctx);
    QN_TRY(qn_graph_run(b->graph));
    QN_TRY(qn_graph_wait(b->graph));
    *us = qn_ctx_now_us(ctx) - start;
out:
    return st;
}

/* A turn of short runs is many of them, and the first does not count: a program that keeps to one
 * policy finds its own data in the caches, not those of the others. */
static qn_status take_turn(qn_ctx *ctx, const batch *b, double *us)
{
    double total = 0;
    qn_status st = time_batch(ctx, b, us);
    int n = 0;

    if (*us >= TURN_US)
        return st;
    for (; st == QN_OK && total < TURN_US && n < TURN_MOST; n++) {
        st = time_batch(ctx, b, us);
        total += *us;
    }
    *us = total / n;
    return st;
}

static qn_status check_batch(const batch *b, uint64_t seed, qn_err *err)
{
    qn_status st = QN_OK;

    for (int t = 0; t < b->n_tasks; t++) {
        const float *sum;

        QN_TRY(qn_buf_host(b->sum[t], QN_HOST_READ, (void **)&sum));
        for (size_t i = 0; i < qn_buf_bytes(b->sum[t]) / sizeof *sum; i++)
            if (sum[i] != qn_random_float(seed, i) + qn_random_float(seed + 1, i))
                return qn_fail(err, QN_ERR_MISMATCH, "task %d: element %zu of the sum is wrong", t,
                               i);
    }
out:
    return st;
}

/* One way of running the batch; those with a device are bound to it. */
typedef struct {
    batch batch;
    qn_route_mode mode;
    int device;
    double *us; /* of every round */
} variant;

typedef struct {
    variant list[QN_MAX_DEVICES + 2];
    int n, n_rounds, n_aside;
} contest;

static qn_status add_variant(qn_ctx *ctx, contest *c, const qn_batch_plan *plan, int device,
                             qn_route_mode mode, qn_err *err)
{
    variant *v = &c->list[c->n++];
    qn_status st = QN_OK;

    v->mode = mode;
    v->device = device;
    if (!(v->us = calloc((size_t)plan->n_rounds + 1, sizeof *v->us)))
        return qn_fail(err, QN_ERR_NOMEM, "%d rounds: out of host memory", plan->n_rounds);
    QN_TRY(batch_new(ctx, plan->sizes, plan->n_tasks, device >= 0 ? ctx->devices[device].id : NULL,
                     &v->batch, err));
    QN_TRY(fill_batch(&v->batch, plan->seed));
out:
    return st;
}

/* A new order for each round: who comes after whom matters, since threads of the CPU sleep while
 * a device works. */
static void shuffle(int *order, int n, uint64_t round)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int k = (int)(qn_random_u64(round, (uint64_t)i) % (uint64_t)(i + 1));
        const int swap = order[i];

        order[i] = order[k];
        order[k] = swap;
    }
}

static qn_status run_round(qn_ctx *ctx, contest *c, uint64_t round, int at)
{
    int order[QN_MAX_DEVICES + 2];
    qn_status st = QN_OK;

    shuffle(order, c->n, round);
    for (int i = 0; i < c->n; i++) {
        variant *v = &c->list[order[i]];

        qn_route_set_mode(ctx, v->mode);
        QN_TRY(take_turn(ctx, &v->batch, &v->us[at]));
    }
out:
    return st;
}

/* Whether another round is due when `n` were made since `start_us`, which `least` of them make
 * worth more time. */
static int is_due(const qn_batch_plan *plan, int n, int most, int least, double start_us)
{
    const double passed_s = (qn_now_us() - start_us) / 1e6;

    return n < most && (!n || passed_s < plan->max_seconds * (n < least ? PATIENCE : 1));
}

static qn_status run_rounds(qn_ctx *ctx, contest *c, const qn_batch_plan *plan)
{
    double start_us = qn_now_us();
    qn_status st = QN_OK;

    for (int i = 0; is_due(plan, i, plan->n_warm_up, LEAST_WARM_UP, start_us); i++)
        QN_TRY(run_round(ctx, c, (uint64_t)-i - 1, 0));
    start_us = qn_now_us();
    for (; is_due(plan, c->n_rounds, plan->n_rounds, LEAST_ROUNDS, start_us); c->n_rounds++)
        QN_TRY(run_round(ctx, c, (uint64_t)c->n_rounds, c->n_rounds));
out:
    return st;
}

/* Time beyond which a run did not go by itself. */
static qn_status find_limit(const contest *c, double *limit_us, qn_err *err)
{
    double *sorted = malloc((size_t)c->n_rounds * sizeof *sorted);

    if (!sorted)
        return qn_fail(err, QN_ERR_NOMEM, "%d rounds: out of host memory", c->n_rounds);
    *limit_us = 0;
    for (int i = 0; i < c->n; i++) {
        if (c->list[i].device < 0)
            continue;
        memcpy(sorted, c->list[i].us, (size_t)c->n_rounds * sizeof *sorted);
        *limit_us = fmax(*limit_us, 4 * qn_stats_of(sorted, (size_t)c->n_rounds).median);
    }
    free(sorted);
    return QN_OK;
}

static double mean_us(contest *c, const variant *v, double limit_us)
{
    double sum = 0;
    int n = 0;

    for (int i = 0; i < c->n_rounds; i++)
        if (v->us[i] <= limit_us) {
            sum += v->us[i];
            n++;
        }
    c->n_aside += c->n_rounds - n;
    return n ? sum / n : NAN;
}

static qn_status judge(qn_ctx *ctx, contest *c, qn_batch_times *out, qn_err *err)
{
    int gpu = QN_CPU_SLOT;
    double limit_us = 0;
    qn_status st = find_limit(c, &limit_us, err);

    if (st != QN_OK)
        return st;
    qn_devices_select(ctx, 1, &gpu);
    for (int d = 0; d < QN_REGRET_DEVICES; d++)
        out->device_us[d] = NAN;
    for (int i = 0; i < c->n; i++) {
        const variant *v = &c->list[i];
        const double us = mean_us(c, v, limit_us);

        if (v->device < 0)
            out->policy_us[v->mode == QN_ROUTE_AUTO ? QN_POLICY_AUTO : QN_POLICY_STATIC] = us;
        else if (v->device < QN_REGRET_DEVICES)
            out->device_us[v->device] = us;
    }
    out->policy_us[QN_POLICY_CPU] = out->device_us[QN_CPU_SLOT];
    out->policy_us[QN_POLICY_GPU] = out->device_us[gpu];
    out->n_rounds = c->n_rounds;
    out->n_aside = c->n_aside;
    return QN_OK;
}

qn_status qn_eval_batch(qn_ctx *ctx, const qn_batch_plan *plan, qn_batch_times *out, qn_err *err)
{
    const qn_route_mode before = ctx->route_mode;
    contest c = { .n = 0 };
    qn_status st = QN_OK;

    QN_TRY(add_variant(ctx, &c, plan, -1, QN_ROUTE_AUTO, err));
    QN_TRY(add_variant(ctx, &c, plan, -1, QN_ROUTE_STATIC, err));
    for (int d = 0; d < ctx->n_devices; d++)
        if (d == QN_CPU_SLOT || ctx->candidates >> d & 1)
            QN_TRY(add_variant(ctx, &c, plan, d, QN_ROUTE_AUTO, err));
    QN_TRY(run_rounds(ctx, &c, plan));
    for (int i = 0; i < c.n; i++)
        QN_TRY(check_batch(&c.list[i].batch, plan->seed, err));
    QN_TRY(judge(ctx, &c, out, err));
out:
    if (st != QN_OK && err->status != st)
        *err = ctx->err;
    for (int i = 0; i < c.n; i++) {
        batch_free(&c.list[i].batch);
        free(c.list[i].us);
    }
    qn_route_set_mode(ctx, before);
    return st;
}
