/* eval_batch.c - runs the same batch under every policy in turn.
 *
 * The location of arrays in memory changes the time of a short run by a tenth or more for as long
 * as they exist, so all policies use the same arrays. The CPU takes part twice: the difference of
 * the two is the resolution of this measurement.
 */
#include "lab/route/route.h"

#include "lab/owned.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The router needs some runs to decide; these may take PATIENCE times as long. */
enum { LEAST_WARM_UP = 64, LEAST_ROUNDS = 20, PATIENCE = 5 };
enum { SLICE_US = 100, MOST_RUNS = 64, PERIOD = 1 << 16 };

/* Estimates: trimmed means of paired differences, with their standard error. */

static const double trimmed_share = 0.2; /* on either side */

/* The standard error is that of the winsorised values, scaled up because values at the ends replace
 * those left out. */
qn_estimate qn_trimmed_mean(double *values, size_t n)
{
    const size_t cut = (size_t)(trimmed_share * (double)n), kept = n - 2 * cut;
    double sum = 0, winsorised = 0, square = 0;

    if (!n)
        return (qn_estimate){ NAN, NAN };
    qn_stats_of(values, n); /* sorts */
    for (size_t i = cut; i < n - cut; i++)
        sum += values[i];
    if (n < 2)
        return (qn_estimate){ sum, NAN };
    winsorised = (sum + (double)cut * (values[cut] + values[n - cut - 1])) / (double)n;
    for (size_t i = 0; i < n; i++) {
        const size_t at = i < cut ? cut : i >= n - cut ? n - cut - 1 : i;

        square += (values[at] - winsorised) * (values[at] - winsorised);
    }
    return (qn_estimate){ sum / (double)kept, sqrt(square / (double)(n - 1)) /
                                                  ((double)kept / (double)n * sqrt((double)n)) };
}

static qn_estimate full_mean(double *values, size_t n)
{
    const qn_stats stats = qn_stats_of(values, n);

    return (qn_estimate){ stats.mean, n < 2 ? fabs(stats.mean) : stats.stddev / sqrt((double)n) };
}

qn_estimate qn_paired_difference(const double *way_us, const double *other_us,
                                 const uint8_t *is_special, size_t n, double *scratch)
{
    qn_estimate sum = { 0, 0 };
    double variance = 0;

    for (int special = 0; special < 2; special++) {
        qn_estimate part;
        size_t n_part = 0;
        double share;

        for (size_t i = 0; i < n; i++)
            if ((is_special && is_special[i]) == special)
                scratch[n_part++] = way_us[i] - other_us[i];
        if (!n_part)
            continue;
        part = special ? full_mean(scratch, n_part) : qn_trimmed_mean(scratch, n_part);
        share = (double)n_part / (double)n;
        sum.us += share * part.us;
        variance += share * part.se_us * share * part.se_us;
    }
    sum.se_us = sqrt(variance);
    return n ? sum : (qn_estimate){ NAN, NAN };
}

/* Arrays. */

enum { X, Y, SUM, N_ARRAYS };

typedef struct {
    qn_buf **bufs; /* N_ARRAYS per task */
    int n_tasks;
} arrays;

static qn_buf *array_of(const arrays *a, int task, int which)
{
    return a->bufs[task * N_ARRAYS + which];
}

static void drop_buf(void *buf)
{
    qn_buf_free(buf);
}

/* Allocates its own arrays, or uses those of `shared`. */
static qn_status arrays_new(qn_owned *owned, qn_ctx *ctx, const qn_batch_plan *plan,
                            const arrays *shared, arrays *a, qn_err *err)
{
    static const char *const names[N_ARRAYS] = { "x", "y", "sum" };
    const int n = plan->n_tasks * N_ARRAYS;
    qn_status st = QN_OK;

    a->n_tasks = plan->n_tasks;
    QN_TRY(qn_owned_memory(owned, (size_t)n * sizeof *a->bufs, &a->bufs, err));
    for (int i = 0; i < n; i++) {
        const size_t bytes = (size_t)plan->sizes[i / N_ARRAYS] * sizeof(float);
        const char *name = names[i % N_ARRAYS];
        void *host;

        if (!shared) {
            QN_TRY(qn_owned_buf(owned, ctx, name, bytes, &a->bufs[i], err));
            continue;
        }
        QN_TRY(qn_buf_host(shared->bufs[i], QN_HOST_READ, &host, err));
        QN_TRY(qn_buf_wrap(ctx, name, host, bytes, &a->bufs[i], err));
        QN_TRY(qn_owned_add(owned, a->bufs[i], drop_buf, err));
    }
out:
    return st;
}

/* Large arrays repeat a pattern: generating numbers would take longer than all runs. */
static qn_status fill(qn_buf *buf, uint64_t seed, qn_err *err)
{
    const size_t n = qn_buf_bytes(buf) / sizeof(float);
    float *data;
    const qn_status st = qn_buf_host(buf, QN_HOST_DISCARD, (void **)&data, err);

    for (size_t i = 0; st == QN_OK && i < n; i++)
        data[i] = i < PERIOD ? qn_random_float(seed, i) : data[i - PERIOD];
    return st;
}

static qn_status fill_inputs(const arrays *a, uint64_t seed, qn_err *err)
{
    qn_status st = QN_OK;

    for (int t = 0; t < a->n_tasks; t++) {
        QN_TRY(fill(array_of(a, t, X), seed, err));
        QN_TRY(fill(array_of(a, t, Y), seed + 1, err));
    }
out:
    return st;
}

/* Marks the inputs as new, which costs no time. */
static qn_status renew(const arrays *a, qn_err *err)
{
    void *data;
    qn_status st = QN_OK;

    for (int t = 0; t < a->n_tasks; t++) {
        QN_TRY(qn_buf_host(array_of(a, t, X), QN_HOST_UPDATE, &data, err));
        QN_TRY(qn_buf_host(array_of(a, t, Y), QN_HOST_UPDATE, &data, err));
    }
out:
    return st;
}

/* Ways. */

/* One way of running the batch; a way with a device is bound to it. */
typedef struct {
    arrays arrays;
    qn_graph *graph;
    qn_route_mode mode;
    int device;
    double *us;          /* of a run, by round */
    uint8_t *is_special; /* by round: the router measured or explored */
} way;

enum { AUTO, STATIC, CPU, CPU_AGAIN, N_COMMON, MOST_WAYS = N_COMMON + QN_MAX_DEVICES };

typedef struct {
    arrays shared;
    way list[MOST_WAYS]; /* the common ones, then the devices other than the CPU */
    int n, n_rounds;
    qn_owned owned; /* all arrays and graphs */
} contest;

static qn_status add_task(const way *w, int t, qn_i64 n, const char *device, qn_err *err)
{
    qn_buf *const sum = array_of(&w->arrays, t, SUM);
    const qn_arg args[] = { qn_arg_buf(array_of(&w->arrays, t, X)),
                            qn_arg_buf(array_of(&w->arrays, t, Y)), qn_arg_buf(sum) };
    qn_status st = QN_OK;

    QN_TRY(qn_graph_op(w->graph, "eval.vadd", "vadd", qn_range_1d(n), args, 3, err));
    QN_TRY(qn_graph_output(w->graph, sum, err));
    if (device)
        QN_TRY(qn_graph_pin(w->graph, t, device, err));
out:
    return st;
}

/* `device` -1: the router decides. */
static qn_status add_way(qn_ctx *ctx, contest *c, const qn_batch_plan *plan, int device,
                         qn_route_mode mode, qn_err *err)
{
    way *w = &c->list[c->n++];
    qn_status st = QN_OK;

    w->mode = mode;
    w->device = device;
    QN_TRY(qn_owned_memory(&c->owned, ((size_t)plan->n_rounds + 1) * sizeof *w->us, &w->us, err));
    QN_TRY(qn_owned_memory(&c->owned, (size_t)plan->n_rounds + 1, &w->is_special, err));
    QN_TRY(arrays_new(&c->owned, ctx, plan, &c->shared, &w->arrays, err));
    QN_TRY(qn_owned_graph(&c->owned, ctx, "eval", &w->graph, err));
    for (int t = 0; t < plan->n_tasks; t++)
        QN_TRY(add_task(w, t, plan->sizes[t], device >= 0 ? qn_device_id(ctx, device) : NULL, err));
out:
    return st;
}

static qn_status contest_open(qn_ctx *ctx, const qn_batch_plan *plan, contest *c, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(arrays_new(&c->owned, ctx, plan, NULL, &c->shared, err));
    QN_TRY(fill_inputs(&c->shared, plan->seed, err));
    QN_TRY(add_way(ctx, c, plan, -1, QN_ROUTE_AUTO, err));
    QN_TRY(add_way(ctx, c, plan, -1, QN_ROUTE_STATIC, err));
    QN_TRY(add_way(ctx, c, plan, QN_CPU_SLOT, QN_ROUTE_AUTO, err));
    QN_TRY(add_way(ctx, c, plan, QN_CPU_SLOT, QN_ROUTE_AUTO, err));
    for (int d = 1; d < qn_device_count(ctx); d++)
        if (qn_device_is_candidate(ctx, d))
            QN_TRY(add_way(ctx, c, plan, d, QN_ROUTE_AUTO, err));
out:
    return st;
}

/* Slices. */

static qn_status time_run(qn_ctx *ctx, const way *w, double *us, qn_err *err)
{
    qn_status st = QN_OK;
    double start;

    QN_TRY(renew(&w->arrays, err));
    start = qn_ctx_now_us(ctx);
    QN_TRY(qn_graph_run(w->graph, err));
    QN_TRY(qn_graph_wait(w->graph, err));
    *us = qn_ctx_now_us(ctx) - start;
out:
    return st;
}

/* A slice contains many short runs, and the first is not counted: a program with only one policy
 * would find its data in the caches. */
static qn_status time_slice(qn_ctx *ctx, const way *w, double *us, qn_err *err)
{
    double total = 0;
    qn_status st = time_run(ctx, w, us, err);
    int n = 0;

    if (st != QN_OK || *us >= SLICE_US)
        return st;
    for (; st == QN_OK && total < SLICE_US && n < MOST_RUNS; n++) {
        st = time_run(ctx, w, us, err);
        total += *us;
    }
    *us = total / n;
    return st;
}

/* A new order for each round: the predecessor matters, since threads of the CPU sleep while a
 * device works. */
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

static qn_status run_round(qn_ctx *ctx, contest *c, uint64_t round, int at, qn_err *err)
{
    int order[MOST_WAYS];
    qn_status st = QN_OK;

    shuffle(order, c->n, round);
    for (int i = 0; i < c->n; i++) {
        way *w = &c->list[order[i]];
        const uint64_t before = qn_route_experiments(w->graph);

        qn_route_set_mode(ctx, w->mode);
        QN_TRY(time_slice(ctx, w, &w->us[at], err));
        w->is_special[at] = qn_route_experiments(w->graph) != before;
    }
out:
    return st;
}

/* Whether another round is due after `n` rounds since `start_us`; the first `least` rounds may take
 * longer. */
static int is_due(const qn_batch_plan *plan, int n, int most, int least, double start_us)
{
    const double passed_s = (qn_now_us() - start_us) / 1e6;

    return n < most && (!n || passed_s < plan->max_seconds * (n < least ? PATIENCE : 1));
}

static qn_status run_rounds(qn_ctx *ctx, contest *c, const qn_batch_plan *plan, qn_err *err)
{
    double start_us = qn_now_us();
    qn_status st = QN_OK;

    for (int i = 0; is_due(plan, i, plan->n_warm_up, LEAST_WARM_UP, start_us); i++)
        QN_TRY(run_round(ctx, c, (uint64_t)-i - 1, 0, err));
    start_us = qn_now_us();
    for (; is_due(plan, c->n_rounds, plan->n_rounds, LEAST_ROUNDS, start_us); c->n_rounds++)
        QN_TRY(run_round(ctx, c, (uint64_t)c->n_rounds, c->n_rounds, err));
out:
    return st;
}

static qn_status check_task(const arrays *a, int t, qn_err *err)
{
    const size_t n = qn_buf_bytes(array_of(a, t, SUM)) / sizeof(float);
    const float *x, *y, *sum;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_host(array_of(a, t, X), QN_HOST_READ, (void **)&x, err));
    QN_TRY(qn_buf_host(array_of(a, t, Y), QN_HOST_READ, (void **)&y, err));
    QN_TRY(qn_buf_host(array_of(a, t, SUM), QN_HOST_READ, (void **)&sum, err));
    for (size_t i = 0; i < n; i++)
        if (sum[i] != x[i] + y[i])
            return qn_fail(err, QN_ERR_MISMATCH, "task %d: element %zu of the sum is wrong", t, i);
out:
    return st;
}

/* Runs it once more, into arrays without valid numbers, and compares. */
static qn_status check_way(qn_ctx *ctx, const way *w, qn_err *err)
{
    double us;
    qn_status st = QN_OK;

    for (int t = 0; t < w->arrays.n_tasks; t++) {
        qn_buf *const buf = array_of(&w->arrays, t, SUM);
        void *sum;

        QN_TRY(qn_buf_host(buf, QN_HOST_DISCARD, &sum, err));
        memset(sum, 0xff, qn_buf_bytes(buf));
    }
    qn_route_set_mode(ctx, w->mode);
    QN_TRY(time_run(ctx, w, &us, err));
    for (int t = 0; t < w->arrays.n_tasks; t++)
        QN_TRY(check_task(&w->arrays, t, err));
out:
    return st;
}

/* The result. */

static qn_estimate level_of(const contest *c, const way *w, double *scratch)
{
    memcpy(scratch, w->us, (size_t)c->n_rounds * sizeof *scratch);
    return qn_trimmed_mean(scratch, (size_t)c->n_rounds);
}

static qn_estimate difference(const contest *c, const way *w, const way *other, double *scratch)
{
    return qn_paired_difference(w->us, other->us, w->is_special, (size_t)c->n_rounds, scratch);
}

static const way *way_on(const contest *c, int device)
{
    for (int i = N_COMMON; i < c->n; i++)
        if (c->list[i].device == device)
            return &c->list[i];
    return &c->list[CPU];
}

static qn_status judge(qn_ctx *ctx, const contest *c, qn_batch_times *out, qn_err *err)
{
    double *scratch = malloc((size_t)c->n_rounds * sizeof *scratch);
    const way *best = &c->list[CPU];
    int gpu = QN_CPU_SLOT;

    if (!scratch)
        return qn_fail(err, QN_ERR_NOMEM, "%d rounds: out of host memory", c->n_rounds);
    out->best_us = out->cpu_us = level_of(c, best, scratch).us;
    for (int i = N_COMMON; i < c->n; i++) {
        const double us = level_of(c, &c->list[i], scratch).us;

        if (us < out->best_us) {
            out->best_us = us;
            best = &c->list[i];
        }
    }
    qn_devices_select(ctx, 1, &gpu);
    out->more_us[QN_POLICY_AUTO] = difference(c, &c->list[AUTO], best, scratch);
    out->more_us[QN_POLICY_STATIC] = difference(c, &c->list[STATIC], best, scratch);
    out->more_us[QN_POLICY_CPU] = difference(c, &c->list[CPU], best, scratch);
    out->more_us[QN_POLICY_GPU] = difference(c, way_on(c, gpu), best, scratch);
    out->again_us = difference(c, &c->list[CPU_AGAIN], &c->list[CPU], scratch);
    out->n_rounds = c->n_rounds;
    out->n_special = 0;
    for (int i = 0; i < c->n_rounds; i++)
        out->n_special += c->list[AUTO].is_special[i];
    free(scratch);
    return QN_OK;
}

qn_status qn_eval_batch(qn_ctx *ctx, const qn_batch_plan *plan, qn_batch_times *out, qn_err *err)
{
    const qn_route_mode before = qn_route_get_mode(ctx);
    contest c = { .n = 0 };
    qn_status st = QN_OK;

    QN_TRY(contest_open(ctx, plan, &c, err));
    QN_TRY(run_rounds(ctx, &c, plan, err));
    for (int i = 0; i < c.n; i++)
        QN_TRY(check_way(ctx, &c.list[i], err));
    QN_TRY(judge(ctx, &c, out, err));
out:
    qn_owned_free(&c.owned, 0);
    qn_route_set_mode(ctx, before);
    return st;
}

/* One op at one size on every device. */

enum { MAX_SAMPLES = 32 };

static qn_status time_op(qn_ctx *ctx, int device, const qn_op *op, qn_i64 size, int n, double *out,
                         qn_err *err)
{
    double us[MAX_SAMPLES];
    const qn_status st = qn_op_time(ctx, device, op, size, n, us, err);

    if (st == QN_OK)
        *out = qn_stats_of(us, (size_t)n).median;
    return st;
}

qn_status qn_eval_op(qn_ctx *ctx, const char *name, qn_i64 size, int n_samples,
                     double us[QN_REGRET_DEVICES], qn_err *err)
{
    const int n = n_samples < 1 ? 1 : n_samples > MAX_SAMPLES ? MAX_SAMPLES : n_samples;
    const qn_op *op = qn_op_find(name);
    qn_status st = QN_OK;

    if (!op)
        return qn_fail(err, QN_ERR_INPUT, "unknown op '%s'", name);
    for (int d = 0; d < QN_REGRET_DEVICES; d++)
        us[d] = NAN;
    for (int d = 0; d < qn_device_count(ctx) && d < QN_REGRET_DEVICES; d++) {
        if (d != QN_CPU_SLOT && !qn_device_is_candidate(ctx, d))
            continue;
        st = time_op(ctx, d, op, size, n, &us[d], err);
        if (st != QN_OK && d == QN_CPU_SLOT)
            goto out;
        st = QN_OK; /* a device that cannot run it is not a candidate */
    }
out:
    return st;
}
