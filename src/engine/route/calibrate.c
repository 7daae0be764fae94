/* calibrate.c - measures devices op by op.
 *
 * Sizes grow until an op has used up its time, so on a slow device fewer sizes are measured. The
 * CPU is measured along with every other device, since thresholds compare the two.
 */
#include "engine/route/route.h"

#include "engine/route/measure.h"
#include "util/clock.h"
#include "util/crossover.h"
#include "util/stats.h"
#include "util/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_SIZES = 13, N_SAMPLES = 7, N_WARM_UP = 2, QUICK_SAMPLES = 5, MOST_SAMPLES = 101 };
static const qn_i64 sizes[N_SIZES] = { 1000,   2000,   5000,    10000,   20000,   50000,   100000,
                                       200000, 500000, 1000000, 2000000, 5000000, 10000000 };
/* Ops of the quick scan, by yardstick. */
static const qn_i64 quick_sizes[2][5] = { { 1000, 20000, 200000, 2000000 },
                                          { 64 * 64, 256 * 256, 512 * 512 } };
static const double quick_s = 2.0, full_s = 2.0, settle_us = 10e3;
static const double most_bytes = 1u << 30;

/* Medians of one op on one device, by size. */
typedef struct {
    double resident_us[N_SIZES], cold_us[N_SIZES];
    double items[N_SIZES];
    int n;
} curve;

static int fits(const qn_device *device, const qn_op_sample *s)
{
    const double room =
        device->info.unified_memory ? (double)device->info.mem_free : (double)device->budget_bytes;
    double bytes = 0;

    for (int a = 0; a < s->kernel->n_args; a++) {
        bytes += (double)s->bytes[a];
        if (device->info.max_alloc && s->bytes[a] > device->info.max_alloc)
            return 0;
    }
    return bytes <= room / 2 && bytes <= most_bytes;
}

/* One size: warm up, then samples of both kinds; `model` gets the resident ones. Short ops run more
 * often than requested, since a few runs could all coincide with other load. */
static qn_status measure(qn_measure *m, int n_samples, qn_model *model, double *resident,
                         double *cold, qn_err *err)
{
    const double enough = qn_now_us() + settle_us;
    double a[MOST_SAMPLES], b[MOST_SAMPLES];
    qn_stats s;
    qn_status st = QN_OK;
    int n = 0;

    for (int i = -N_WARM_UP; i < n_samples || (n < MOST_SAMPLES && qn_now_us() < enough); i++) {
        double us, whole;

        QN_TRY(qn_measure_resident(m, &us, err));
        whole = us;
        if (!m->device->info.unified_memory)
            QN_TRY(qn_measure_cold(m, &whole, err));
        if (i < 0)
            continue;
        a[n] = us;
        b[n++] = whole;
    }
    s = qn_stats_of(a, (size_t)n);
    qn_model_restore(model, qn_op_sample_items(&m->sample), s.median, s.mad, n);
    *resident = s.median;
    *cold = qn_stats_of(b, (size_t)n).median;
out:
    return st;
}

/* Speeds. */

static void learn_memory(qn_ctx *ctx, int d, double us, const qn_op_sample *s)
{
    qn_speed *speed = &ctx->router->speeds[d];

    if (s->n <= 1000) {
        speed->launch_us = us;
    } else {
        speed->gbps = 12e-3 * (double)s->n / fmax(us - speed->launch_us, us / 10);
        speed->is_measured = 1;
    }
}

static void learn_compute(qn_ctx *ctx, int d, double us, const qn_op_sample *s)
{
    qn_speed *speed = &ctx->router->speeds[d];
    const double flops = 2 * pow((double)s->n, 1.5);

    speed->gflops = flops * 1e-3 / fmax(us - speed->launch_us, us / 10);
}

/* Learns the part of the smallest op's time, host to host, that its copies and kernel do not
 * explain. */
static void learn_sync(qn_ctx *ctx, int d, double us, double cold_us, const qn_op_sample *s)
{
    qn_link *link = &ctx->router->links[d];
    double parts_us = us;

    for (int a = 0; a < s->kernel->n_args; a++) {
        const qn_arg_info *arg = &s->kernel->args[a];

        if (arg->mode == QN_ARG_IN || arg->mode == QN_ARG_INOUT)
            parts_us += link->h2d_us + (double)s->bytes[a] / (link->h2d_gbps * 1e3);
        if (arg->mode == QN_ARG_OUT || arg->mode == QN_ARG_INOUT)
            parts_us += link->d2h_us + (double)s->bytes[a] / (link->d2h_gbps * 1e3);
    }
    link->sync_us = fmax(0, cold_us - parts_us);
}

static void learn_speed(qn_ctx *ctx, int d, double us, double cold_us, const qn_op_sample *s)
{
    const qn_yardstick yardstick = s->op->yardstick;

    if (yardstick == QN_YARDSTICK_MEMORY && s->n <= 1000 && !ctx->devices[d].info.unified_memory)
        learn_sync(ctx, d, us, cold_us, s);
    if (yardstick == QN_YARDSTICK_MEMORY)
        learn_memory(ctx, d, us, s);
    else if (yardstick == QN_YARDSTICK_COMPUTE)
        learn_compute(ctx, d, us, s);
}

/* Curves. */

static void note(const qn_ctx *ctx, const qn_device *device, const char *op, const qn_err *err)
{
    qn_log_put(&ctx->log, QN_LOG_INFO, "%s: %s was not measured: %s", device->id, op, err->text);
}

/* Whether size number i, with all its samples, should finish in time. The time of an op grows at
 * most with size to the power of 1.5. */
static int is_in_time(const qn_device *device, const qn_i64 *list, int i, int n_samples,
                      const curve *so_far, double deadline_us)
{
    const double runs = (N_WARM_UP + n_samples) * (device->info.unified_memory ? 1 : 2);
    double us = 0;

    if (i > 0)
        us = so_far->cold_us[i - 1] * pow((double)list[i] / (double)list[i - 1], 1.5) * runs;
    /* Simulated time costs nothing, but the CPU does the work, so CPU time limits the sizes. */
    return qn_now_us() + (device->info.kind == QN_KIND_SIM ? 0 : us) < deadline_us;
}

/* Measures `op` over the list (ended by 0 or N_SIZES long) until `deadline_us`. */
static void scan(qn_ctx *ctx, qn_device *device, const qn_op *op, const qn_i64 *list, int n_samples,
                 double deadline_us, curve *out)
{
    qn_route_op *known = qn_router_op(ctx, op->name);
    qn_err err = { .status = QN_OK };

    *out = (curve){ .n = 0 };
    if (known) /* values of an older profile must not be mixed in */
        qn_model_free(&known->models[device->slot]);
    for (int i = 0; known && i < N_SIZES && list[i]; i++) {
        qn_op_sample sample;
        qn_measure m = { 0 };
        qn_status st = qn_op_sample_make(op, list[i], &sample, &err);

        if (st != QN_OK || !fits(device, &sample) ||
            !is_in_time(device, list, i, n_samples, out, deadline_us))
            break;
        st = qn_measure_open(device, &sample, &m, &err);
        if (st == QN_OK)
            st = measure(&m, n_samples, &known->models[device->slot], &out->resident_us[i],
                         &out->cold_us[i], &err);
        qn_measure_close(&m);
        if (st != QN_OK)
            break;
        known->warm |= 1u << device->slot;
        out->items[out->n++] = qn_op_sample_items(&sample);
        learn_speed(ctx, device->slot, out->resident_us[i], out->cold_us[i], &sample);
    }
    if (err.status != QN_OK)
        note(ctx, device, op->name, &err);
}

static qn_i64 crossover_of(const curve *cpu, const double *device_us, int n)
{
    qn_i64 at[N_SIZES];

    for (int i = 0; i < n; i++)
        at[i] = (qn_i64)cpu->items[i];
    return qn_crossover_find(at, device_us, cpu->resident_us, (size_t)n).crossover;
}

static void keep_crossover(qn_ctx *ctx, const qn_op *op, int d, const curve *cpu,
                           const curve *device)
{
    qn_route_op *known = qn_router_op(ctx, op->name);
    const int n = cpu->n < device->n ? cpu->n : device->n;

    if (!known || n < 1)
        return;
    known->crossover[d][QN_RESIDENT] = crossover_of(cpu, device->resident_us, n);
    known->crossover[d][QN_COLD] = crossover_of(cpu, device->cold_us, n);
}

static void measure_link(qn_ctx *ctx, qn_device *device)
{
    qn_err err;

    if (device->info.unified_memory)
        return;
    if (qn_measure_link(device, &ctx->router->links[device->slot], &err) == QN_OK)
        ctx->router->has_link |= 1u << device->slot;
    else
        note(ctx, device, "the link", &err);
}

/* The quick scan. */

static void quick(qn_ctx *ctx, unsigned devices)
{
    const qn_op *ops[] = { qn_op_yardstick(QN_YARDSTICK_MEMORY),
                           qn_op_yardstick(QN_YARDSTICK_COMPUTE) };
    const double start = qn_now_us(), share_us = quick_s * 1e6 / __builtin_popcount(devices);
    curve cpu[2] = { { .n = 0 } }, other[2];
    int k = 0;

    for (int d = 0; d < ctx->n_devices; d++) {
        qn_device *device = &ctx->devices[d];
        curve *to = d == QN_CPU_SLOT ? cpu : other;
        double deadline;

        if (!(devices >> d & 1))
            continue;
        deadline = start + share_us * ++k;
        measure_link(ctx, device);
        for (int i = 0; i < 2 && ops[i]; i++) {
            scan(ctx, device, ops[i], quick_sizes[i], QUICK_SAMPLES, deadline, &to[i]);
            if (d != QN_CPU_SLOT)
                keep_crossover(ctx, ops[i], d, &cpu[i], &other[i]);
        }
        ctx->router->has_profile |= 1u << d;
    }
    ctx->router->generation++;
    qn_log_put(&ctx->log, QN_LOG_INFO, "quick scan of %d devices took %.2f s", k,
               (qn_now_us() - start) / 1e6);
}

static int is_second_cpu(const qn_device *device)
{
    return device->slot != QN_CPU_SLOT && device->info.kind == QN_KIND_CPU;
}

static unsigned unmeasured(const qn_ctx *ctx)
{
    unsigned devices = 0;

    for (int d = 1; d < ctx->n_devices; d++) {
        const qn_device *device = &ctx->devices[d];

        if (ctx->candidates >> d & 1 && !device->lost && !is_second_cpu(device) &&
            device->info.kind != QN_KIND_SIM && !ctx->router->speeds[d].is_measured)
            devices |= 1u << d;
    }
    return devices;
}

void qn_calibrate_missing(qn_ctx *ctx)
{
    unsigned devices = unmeasured(ctx);

    if (!devices || !qn_profile_is_used())
        return;
    devices |= 1u << QN_CPU_SLOT;
    quick(ctx, devices);
    for (int d = 0; d < ctx->n_devices; d++)
        if (devices >> d & 1)
            qn_profile_save(ctx, d);
    qn_thresholds_publish(ctx);
}

/* The full one. */

static int is_listed(const char *list, const char *name)
{
    return !list || qn_list_has(list, name);
}

/* Every name of the list must be an op that can be measured. */
static qn_status check_list(const char *list, qn_err *err)
{
    while (list && *list) {
        const size_t len = strcspn(list, ",");
        char name[64];
        const qn_op *op;
        qn_op_sample sample;

        snprintf(name, sizeof name, "%.*s", (int)(len < 63 ? len : 63), list);
        if (!(op = qn_op_find(name)))
            return qn_fail(err, QN_ERR_USAGE, "unknown op '%s'", name);
        if (qn_op_sample_make(op, 1000, &sample, err) != QN_OK)
            return err->status = QN_ERR_USAGE;
        list += len;
        list += *list == ',';
    }
    return QN_OK;
}

static int list_ops(const char *list, const qn_op **out)
{
    int n = 0;

    for (int i = 0; i < qn_op_count(); i++) {
        const qn_op *op = qn_op_at(i);
        qn_op_sample sample;
        qn_err ignored;

        if (is_listed(list, op->name) && qn_op_sample_make(op, 1000, &sample, &ignored) == QN_OK)
            out[n++] = op;
    }
    return n;
}

static void calibrate_op(qn_ctx *ctx, const qn_op *op, const qn_calibration *options, int *done,
                         int total)
{
    const double most_us = (options->op_seconds > 0 ? options->op_seconds : full_s) * 1e6;
    curve cpu, other;

    for (int d = 0; d < ctx->n_devices; d++) {
        qn_device *device = &ctx->devices[d];
        qn_module *module;
        qn_err ignored; /* measuring fails in the same way and reports the error */

        if (d != QN_CPU_SLOT && !(ctx->candidates >> d & 1))
            continue;
        if (options->progress)
            options->progress(options->user, device->id, op->name, *done, total);
        ++*done;
        qn_compile(device, qn_op_kernel(op)->module, &module, &ignored); /* not charged to the op */
        scan(ctx, device, op, sizes, N_SAMPLES, qn_now_us() + most_us,
             d == QN_CPU_SLOT ? &cpu : &other);
        if (d != QN_CPU_SLOT)
            keep_crossover(ctx, op, d, &cpu, &other);
    }
}

static qn_status calibrate_full(qn_ctx *ctx, const qn_calibration *options, qn_err *err)
{
    const qn_op **ops = calloc((size_t)qn_op_count(), sizeof *ops);
    int n, done = 0, n_devices = 1;

    if (!ops)
        return qn_fail(err, QN_ERR_NOMEM, "calibration: out of host memory");
    n = list_ops(options->ops, ops);
    for (int d = 1; d < ctx->n_devices; d++)
        n_devices += ctx->candidates >> d & 1;
    for (int d = 1; d < ctx->n_devices; d++)
        if (ctx->candidates >> d & 1)
            measure_link(ctx, &ctx->devices[d]);
    for (int i = 0; i < n; i++)
        calibrate_op(ctx, ops[i], options, &done, n * n_devices);
    free(ops);
    return QN_OK;
}

qn_status qn_calibrate(qn_ctx *ctx, const qn_calibration *given, qn_err *err)
{
    qn_calibration options;
    qn_err own;
    qn_status st = QN_OK;

    err = qn_err_begin(err, &own);
    QN_TRY(qn_struct_take("qn_calibration", given, &options, sizeof options, err));
    QN_TRY(check_list(options.ops, err));
    qn_profile_load_all(ctx);
    ctx->router->is_informed = 1;
    if (options.is_quick)
        quick(ctx, ctx->candidates | 1u << QN_CPU_SLOT);
    else
        QN_TRY(calibrate_full(ctx, &options, err));
    ctx->router->generation++;
    qn_thresholds_publish(ctx);
    for (int d = 0; d < ctx->n_devices; d++)
        if (d == QN_CPU_SLOT || ctx->candidates >> d & 1)
            QN_TRY(qn_profile_write(ctx, d, err));
out:
    return st;
}
