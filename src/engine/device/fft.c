/* fft.c - FFT plans: from memory, from the disk cache, or newly made.
 *
 * Each library decides what to store (compiled kernels, measured choices); the kernel cache has one
 * entry per device and shape for it. FFTW's choices depend only on the processor and the sides of a
 * field, so cpu and sim share them for any number of threads and batches.
 */
#include "engine/device/context.h"

#include "engine/device/kcache.h"
#include "util/ahead.h"
#include "util/clock.h"
#include "util/hash.h"

#include <stdlib.h>
#include <string.h>

static void name_shape(const qn_fft_shape *shape, char *out, size_t size)
{
    int n = snprintf(out, size, "%dx%dx%d %s", shape->batch, shape->rows, shape->cols,
                     shape->is_f64 ? "f64" : "f32");

    if (shape->keep)
        snprintf(out + n, size - (size_t)n, " keep %d", shape->keep);
}

static void make_key(const qn_device *device, const qn_fft_shape *shape, char out[QN_KEY_CHARS + 1])
{
    const int is_c = device->backend->language == QN_LANG_C;
    const qn_fft_shape sides = { .rows = shape->rows,
                                 .cols = shape->cols,
                                 .is_f64 = shape->is_f64 };
    char name[64];
    unsigned char digest[QN_SHA256_BYTES];
    char compiler[512] = "";
    const char *parts[] = { "fft 1",
                            name,
                            device->info.arch,
                            is_c ? "fftw" : compiler,
                            is_c ? "" : device->backend->name,
                            is_c ? "" : device->info.name,
                            is_c ? "" : device->info.driver };
    qn_sha256 hash;

    name_shape(is_c ? &sides : shape, name, sizeof name);
    if (!is_c && device->backend->compiler)
        device->backend->compiler(device->dev, compiler, sizeof compiler);
    qn_sha256_begin(&hash);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        qn_sha256_add(&hash, parts[i], strlen(parts[i]) + 1);
    qn_sha256_end(&hash, digest);
    qn_hex(digest, sizeof digest, out);
}

/* A plan on its way, and what making it brought, for the thread of the context to count. */
typedef struct plan_job {
    qn_job job; /* first */
    qn_device *device;
    qn_fft_shape shape;
    qn_fft *plan;
    qn_status st;
    qn_err err, not_kept;
    qn_fft_build build; /* of its blobs only whether they were there */
    int was_bad;
    double ms;
} plan_job;

static void make(qn_job *job)
{
    plan_job *p = (plan_job *)job;
    qn_kcache *kcache = p->device->ctx->kcache;
    const double start = qn_now_us();
    char key[QN_KEY_CHARS + 1];
    qn_err ignored;

    p->build = (qn_fft_build){ .is_kept = qn_kcache_is_on(kcache) };
    make_key(p->device, &p->shape, key);
    p->was_bad = qn_kcache_load(kcache, key, &p->build.stored) == QN_KCACHE_BAD;
    p->st = p->device->backend->fft_make(p->device->dev, &p->shape, &p->build, &p->plan, &p->err);
    if (p->st == QN_OK && p->build.made.data &&
        qn_kcache_store(kcache, key, &p->build.made, &ignored) != QN_OK)
        p->not_kept = ignored;
    p->ms = (qn_now_us() - start) / 1000;
    free(p->build.stored.data);
    free(p->build.made.data);
}

/* The library's kernels count like our own; FFTW has none. */
static void count(const plan_job *p)
{
    qn_device *device = p->device;
    qn_ctx *ctx = device->ctx;

    if (p->was_bad)
        qn_metric_add(ctx->m.cache_bad, 1);
    if (p->not_kept.status != QN_OK)
        qn_log_put(&ctx->log, QN_LOG_WARN, "kernel cache: %s", p->not_kept.text);
    if (p->st != QN_OK)
        return;
    if (p->build.n_compiled)
        qn_log_put(&ctx->log, QN_LOG_DEBUG, "transform of %dx%dx%d: made in %.0f ms",
                   p->shape.batch, p->shape.rows, p->shape.cols, p->ms);
    qn_metric_add(qn_metric_of(ctx->metrics, "fft_plans_made", NULL), 1);
    qn_metric_observe(qn_metric_of(ctx->metrics, "fft_plan_time_ms", NULL), p->ms);
    if (p->build.n_compiled)
        qn_metric_add(ctx->m.cache_misses, 1);
    else if (p->build.stored.data)
        qn_metric_add(ctx->m.cache_disk_hits, 1);
    if (device->backend->language != QN_LANG_C)
        qn_metric_add(ctx->m.compiles, p->build.n_compiled);
}

static plan_job *new_job(qn_device *device, const qn_fft_shape *shape)
{
    plan_job *p = calloc(1, sizeof *p);

    if (p)
        *p = (plan_job){ .job = { .run = make }, .device = device, .shape = *shape };
    return p;
}

void qn_fft_ahead(qn_device *device, const qn_fft_shape *shape)
{
    char name[64];
    plan_job *p;

    name_shape(shape, name, sizeof name);
    if (!device->backend->builds_beside || !device->backend->fft_make ||
        (shape->is_f64 && !device->info.has_f64) || qn_map_has(&device->ffts, name) ||
        qn_map_has(&device->ffts_ahead, name) || !(p = new_job(device, shape)))
        return;
    if (qn_map_put(&device->ffts_ahead, name, p) == QN_OK)
        qn_ahead_post(device->ctx->ahead, &p->job);
    else
        free(p);
}

qn_status qn_fft_get(qn_device *device, const qn_fft_shape *shape, qn_fft **out, int *is_own,
                     qn_err *err)
{
    qn_status st = QN_OK;
    char name[64];
    plan_job *p;

    *is_own = 0;
    if (!device->backend->fft_make)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "backend %s has no transforms",
                       device->backend->name);
    if (shape->is_f64 && !device->info.has_f64)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "device %s has no f64", device->id);
    name_shape(shape, name, sizeof name);
    if ((*out = qn_map_get(&device->ffts, name)))
        return QN_OK;
    if (!(p = qn_map_remove(&device->ffts_ahead, name)) && !(p = new_job(device, shape)))
        return qn_fail(err, QN_ERR_NOMEM, "fft %s: out of host memory", name);
    qn_ahead_need(device->ctx->ahead, &p->job);
    count(p);
    if ((st = p->st) != QN_OK) {
        *err = p->err;
        qn_prefix(err, "fft %s", name);
        goto out;
    }
    *out = p->plan;
    /* Without room in the map the caller owns it, which is always right. */
    *is_own = p->build.scratch_bytes > 0 || qn_map_put(&device->ffts, name, *out) != QN_OK;
out:
    free(p);
    return st;
}

void qn_fft_free(qn_device *device, qn_fft *plan)
{
    if (plan)
        device->backend->fft_free(device->dev, plan);
}

void qn_fft_close(qn_device *device)
{
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&device->ffts, &at)))
        qn_fft_free(device, entry->value);
    for (at = 0; (entry = qn_map_next(&device->ffts_ahead, &at)); free(entry->value))
        qn_fft_free(device, ((plan_job *)entry->value)->plan);
    qn_map_free(&device->ffts);
    qn_map_free(&device->ffts_ahead);
}
