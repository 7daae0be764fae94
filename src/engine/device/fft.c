/* fft.c - FFT plans: from memory, from the disk cache, or newly made.
 *
 * Each library decides what to store (compiled kernels, measured choices); the kernel cache has one
 * entry per device and shape for it. FFTW's choices depend only on the processor and the sides of a
 * field, so cpu and sim share them for any number of threads and batches.
 */
#include "engine/device/context.h"

#include "engine/device/kcache.h"
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

/* Kernels of the FFT library count like our own; FFTW has none. */
static void count(qn_device *device, const qn_fft_build *build, double start_us)
{
    qn_ctx *ctx = device->ctx;

    qn_metric_add(qn_metric_of(ctx->metrics, "fft_plans_made", NULL), 1);
    qn_metric_observe(qn_metric_of(ctx->metrics, "fft_plan_time_ms", NULL),
                      (qn_now_us() - start_us) / 1000);
    if (build->n_compiled)
        qn_metric_add(ctx->m.cache_misses, 1);
    else if (build->stored.data)
        qn_metric_add(ctx->m.cache_disk_hits, 1);
    if (device->backend->language != QN_LANG_C)
        qn_metric_add(ctx->m.compiles, build->n_compiled);
}

static qn_status make(qn_device *device, const qn_fft_shape *shape, qn_fft **out,
                      size_t *scratch_bytes, qn_err *err)
{
    qn_ctx *ctx = device->ctx;
    const double start = qn_now_us();
    qn_fft_build build = { .is_kept = qn_kcache_is_on(ctx->kcache) };
    char key[QN_KEY_CHARS + 1];
    qn_err ignored;
    qn_status st;

    make_key(device, shape, key);
    if (qn_kcache_load(ctx->kcache, key, &build.stored) == QN_KCACHE_BAD)
        qn_metric_add(ctx->m.cache_bad, 1);
    st = device->backend->fft_make(device->dev, shape, &build, out, err);
    if (st == QN_OK)
        count(device, &build, start);
    if (st == QN_OK && build.made.data &&
        qn_kcache_store(ctx->kcache, key, &build.made, &ignored) != QN_OK)
        qn_log_put(&ctx->log, QN_LOG_WARN, "kernel cache: %s", ignored.text);
    *scratch_bytes = build.scratch_bytes;
    free(build.stored.data);
    free(build.made.data);
    return st;
}

qn_status qn_fft_get(qn_device *device, const qn_fft_shape *shape, qn_fft **out, int *is_own,
                     qn_err *err)
{
    char name[64];
    size_t scratch_bytes;
    qn_status st;

    *is_own = 0;
    if (!device->backend->fft_make)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "backend %s has no transforms",
                       device->backend->name);
    if (shape->is_f64 && !device->info.has_f64)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "device %s has no f64", device->id);
    name_shape(shape, name, sizeof name);
    if ((*out = qn_map_get(&device->ffts, name)))
        return QN_OK;
    if ((st = make(device, shape, out, &scratch_bytes, err)) != QN_OK)
        return qn_prefix(err, "fft %s", name);
    /* If it cannot be stored in the map, the caller owns it, which is always correct. */
    *is_own = scratch_bytes > 0 || qn_map_put(&device->ffts, name, *out) != QN_OK;
    return QN_OK;
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
    qn_map_free(&device->ffts);
}
