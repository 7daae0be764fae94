/* measure.c - raw measurements using the backend's functions. */
#include "engine/route/measure.h"

#include "hal/geometry.h"
#include "util/clock.h"
#include "util/stats.h"

#include <stdlib.h>
#include <string.h>

static const unsigned all_uses = QN_USE_READ | QN_USE_WRITE | QN_USE_COPY_SRC | QN_USE_COPY_DST;

double qn_measure_now_us(const qn_device *device)
{
    return device->backend->now_us ? device->backend->now_us(device->dev) : qn_now_us();
}

/* Memory. */

static qn_status get_host(qn_device *device, size_t bytes, void **out, qn_err *err)
{
    if (device->backend->host_alloc)
        return device->backend->host_alloc(device->dev, bytes, out, err);
    if (posix_memalign(out, 4096, bytes) != 0)
        return qn_fail(err, QN_ERR_NOMEM, "out of host memory (%zu bytes)", bytes);
    return QN_OK;
}

static void drop_host(qn_device *device, void *host)
{
    if (!host)
        return;
    if (device->backend->host_alloc)
        device->backend->host_free(device->dev, host);
    else
        free(host);
}

void qn_measure_close(qn_measure *m)
{
    qn_err ignored;

    if (!m->device)
        return;
    m->device->backend->sync(m->device->dev, &ignored);
    for (int a = 0; a < m->sample.kernel->n_args; a++) {
        drop_host(m->device, m->host[a]);
        if (m->mem[a])
            m->device->backend->release(m->device->dev, m->mem[a]);
    }
    *m = (qn_measure){ 0 };
}

qn_status qn_measure_open(qn_device *device, const qn_op_sample *sample, qn_measure *out,
                          qn_err *err)
{
    qn_measure b = { .device = device, .sample = *sample };
    qn_status st = QN_OK;

    QN_TRY(qn_compile(device, sample->kernel->module, &b.module, err));
    for (int a = 0; a < sample->kernel->n_args; a++) {
        if (sample->kernel->args[a].mode == QN_ARG_VAL)
            continue;
        QN_TRY(get_host(device, sample->bytes[a], &b.host[a], err));
        memset(b.host[a], 0, sample->bytes[a]);
        qn_op_sample_fill(sample, a, b.host[a]);
        if (device->info.unified_memory)
            continue;
        QN_TRY(device->backend->alloc(device->dev, sample->bytes[a], all_uses, &b.mem[a], err));
        QN_TRY(device->backend->upload(device->dev, b.mem[a], 0, b.host[a], sample->bytes[a],
                                       QN_COMPUTE, err));
    }
    QN_TRY(device->backend->sync(device->dev, err));
    *out = b;
    b.device = NULL;
out:
    qn_measure_close(&b);
    return st;
}

/* Ops. */

static qn_status launch(qn_measure *m, qn_err *err)
{
    const qn_op_sample *s = &m->sample;
    qn_device *device = m->device;
    qn_launch_arg args[QN_MAX_ARGS] = { { 0 } };
    qn_launch call = { .module = m->module,
                       .kernel = s->kernel,
                       .kernel_i = s->kernel_i,
                       .args = args,
                       .stream = QN_COMPUTE };

    for (int a = 0; a < s->kernel->n_args; a++) {
        if (s->kernel->args[a].mode == QN_ARG_VAL) {
            args[a].value = s->values + s->value_at[a];
            args[a].bytes = s->kernel->args[a].size;
        } else {
            args[a].mem = m->mem[a];
            args[a].host = m->host[a];
        }
    }
    return qn_launch_range(device->backend, device->dev, &device->info, &call, &s->range,
                           qn_team_lanes(device, s->kernel), NULL, err);
}

qn_status qn_measure_resident(qn_measure *m, double *us, qn_err *err)
{
    qn_device *device = m->device;
    const qn_backend *backend = device->backend;
    qn_event *begin = NULL, *end = NULL;
    qn_status st = QN_OK;
    double start, measured = -1;

    QN_TRY(backend->sync(device->dev, err));
    if (backend->elapsed_us)
        QN_TRY(backend->record(device->dev, QN_COMPUTE, &begin, err));
    start = qn_measure_now_us(device);
    QN_TRY(launch(m, err));
    if (begin) {
        QN_TRY(backend->record(device->dev, QN_COMPUTE, &end, err));
        QN_TRY(backend->await(device->dev, end, err));
        measured = backend->elapsed_us(device->dev, begin, end);
    }
    QN_TRY(backend->sync(device->dev, err));
    *us = measured >= 0 ? measured : qn_measure_now_us(device) - start;
out:
    if (begin)
        backend->drop(device->dev, begin);
    if (end)
        backend->drop(device->dev, end);
    return st;
}

/* One stream is enough: in a single use every step waits for the one before it. */
qn_status qn_measure_cold(qn_measure *m, double *us, qn_err *err)
{
    const qn_op_sample *s = &m->sample;
    qn_device *device = m->device;
    qn_status st = QN_OK;
    double start;

    QN_TRY(device->backend->sync(device->dev, err));
    start = qn_measure_now_us(device);
    for (int a = 0; a < s->kernel->n_args; a++)
        if (m->mem[a] && s->kernel->args[a].mode != QN_ARG_OUT)
            QN_TRY(device->backend->upload(device->dev, m->mem[a], 0, m->host[a], s->bytes[a],
                                           QN_COMPUTE, err));
    QN_TRY(launch(m, err));
    for (int a = 0; a < s->kernel->n_args; a++)
        if (m->mem[a] && s->kernel->args[a].mode != QN_ARG_IN)
            QN_TRY(device->backend->download(device->dev, m->mem[a], 0, m->host[a], s->bytes[a],
                                             QN_COMPUTE, err));
    QN_TRY(device->backend->sync(device->dev, err));
    *us = qn_measure_now_us(device) - start;
out:
    return st;
}

/* The smallest use of the op that has `items` work items or more. */
static qn_status sample_of(const qn_op *op, qn_i64 items, qn_op_sample *out, qn_err *err)
{
    qn_i64 low = 0, high = 1; /* low has too few items, high has enough */
    qn_status st = QN_OK;

    for (;; high *= 2) {
        QN_TRY(qn_op_sample_make(op, high, out, err));
        if (qn_op_sample_items(out) >= (double)items)
            break;
        low = high;
        if (high >= (qn_i64)1 << 40)
            QN_FAIL(err, QN_ERR_LIMIT, "op %s: no use of it has %lld items", op->name,
                    (long long)items);
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

qn_status qn_op_time(qn_ctx *ctx, int d, const qn_op *op, qn_i64 items, int n, double *us,
                     qn_err *err)
{
    qn_device *device = &ctx->devices[d];
    qn_measure m = { 0 };
    qn_op_sample sample;
    qn_status st = QN_OK;

    QN_TRY(sample_of(op, items, &sample, err));
    QN_TRY(qn_measure_open(device, &sample, &m, err));
    for (int i = -2; i < n; i++) { /* the first two are warm-up */
        double one;

        QN_TRY(device->info.unified_memory ? qn_measure_resident(&m, &one, err)
                                           : qn_measure_cold(&m, &one, err));
        if (i >= 0)
            us[i] = one;
    }
out:
    qn_measure_close(&m);
    return st;
}

/* Copies. */

enum { N_QUEUED = 16, N_LINK_SAMPLES = 5, SMALL_BYTES = 4096, LARGE_BYTES = 8 << 20 };

typedef struct {
    qn_device *device;
    void *host;
    qn_mem *mem;
} wire;

/* Time per copy of `n` copies in a row. */
static qn_status time_copies(const wire *w, int is_upload, size_t bytes, int n, double *us,
                             qn_err *err)
{
    const qn_backend *backend = w->device->backend;
    double samples[N_LINK_SAMPLES];
    qn_status st = QN_OK;

    for (int i = -1; i < N_LINK_SAMPLES; i++) { /* the first is warm-up */
        double start;

        QN_TRY(backend->sync(w->device->dev, err));
        start = qn_measure_now_us(w->device);
        for (int k = 0; k < n; k++)
            QN_TRY(is_upload
                       ? backend->upload(w->device->dev, w->mem, 0, w->host, bytes, QN_UPLOAD, err)
                       : backend->download(w->device->dev, w->mem, 0, w->host, bytes, QN_DOWNLOAD,
                                           err));
        QN_TRY(backend->sync(w->device->dev, err));
        if (i >= 0)
            samples[i] = (qn_measure_now_us(w->device) - start) / n;
    }
    *us = qn_stats_of(samples, N_LINK_SAMPLES).median;
out:
    return st;
}

static qn_status measure_way(const wire *w, int is_upload, double *latency_us, double *gbps,
                             qn_err *err)
{
    double small, large;
    qn_status st = QN_OK;

    QN_TRY(time_copies(w, is_upload, SMALL_BYTES, N_QUEUED, &small, err));
    QN_TRY(time_copies(w, is_upload, LARGE_BYTES, 1, &large, err));
    *gbps =
        (LARGE_BYTES - SMALL_BYTES) / (large > small * 1.01 ? large - small : small * 0.01) / 1e3;
    *latency_us = small - SMALL_BYTES / (*gbps * 1e3);
    if (*latency_us < 0.01)
        *latency_us = 0.01;
out:
    return st;
}

qn_status qn_measure_link(qn_device *device, qn_link *out, qn_err *err)
{
    wire w = { .device = device };
    qn_link link = *out;
    qn_status st = QN_OK;

    QN_TRY(get_host(device, LARGE_BYTES, &w.host, err));
    memset(w.host, 0, LARGE_BYTES);
    QN_TRY(device->backend->alloc(device->dev, LARGE_BYTES, all_uses, &w.mem, err));
    QN_TRY(measure_way(&w, 1, &link.h2d_us, &link.h2d_gbps, err));
    QN_TRY(measure_way(&w, 0, &link.d2h_us, &link.d2h_gbps, err));
    *out = link;
out:
    drop_host(device, w.host);
    if (w.mem)
        device->backend->release(device->dev, w.mem);
    return st;
}
