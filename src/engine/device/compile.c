/* compile.c - the modules of a device: made once, kept while they are used.
 *
 * Lookup order: the device's map in memory, the folder on disk, the pack of compiled kernels, the
 * compiler. Modules that will be needed are made on several threads at a time, ahead of need; who
 * needs one waits for it, so messages and failures come in the order of need, and each module is
 * made once.
 */
#include "engine/device/module.h"

#include "engine/device/kcache.h"
#include "hal/cpu/cpu_module.h"
#include "hal/geometry.h"
#include "util/clock.h"
#include "util/env.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEAM_LANES = 32 };

int qn_team_lanes(const qn_device *device, const qn_kernel_info *kernel)
{
    if (device->backend->language == QN_LANG_C)
        return 1;
    if (kernel->form == QN_FORM_TEAM && kernel->lanes > 0)
        return kernel->lanes;
    return (int)qn_env_number("QUERN_TEAM_LANES", TEAM_LANES);
}

int qn_stage_kernel_i(const qn_kernel_info *kernel)
{
    for (int i = 0; kernel->module && i < kernel->module->n_kernels; i++)
        if (kernel->module->kernels[i] == kernel)
            return i;
    return 0;
}

int qn_compile_threads(void)
{
    enum { MOST = 16 };
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return (int)qn_env_number("QUERN_COMPILE_THREADS", cores > MOST ? MOST : (double)cores);
}

/* Records registers and local memory of run-time kernels, if the backend reports them. */
static void note_resources(qn_device *device, const qn_kernel_module *module, const qn_module *made)
{
    qn_metrics *const metrics = device->ctx->metrics;
    int registers, local_bytes;
    char name[160];

    for (int k = 0; device->backend->resources && k < module->n_kernels; k++) {
        const char *const labels[] = { "kernel", name, "device", device->id, NULL };

        snprintf(name, sizeof name, "%s.%s", module->name, module->kernels[k]->name);
        device->backend->resources(device->dev, made, k, &registers, &local_bytes);
        qn_metric_set(qn_metric_of(metrics, "kernel_registers", labels), registers);
        qn_metric_set(qn_metric_of(metrics, "kernel_local_bytes", labels), local_bytes);
    }
}

/* In memory. */

static qn_module *hold(qn_device *device, qn_loaded *entry)
{
    entry->holders++;
    entry->asked_at = ++device->ctx->tick;
    return entry->module;
}

static void unload(qn_device *device, qn_loaded *entry)
{
    if (entry->module)
        device->backend->unload(device->dev, entry->module);
    free(entry->log);
    free(entry);
}

/* Graphs wait for the device before they drop a module, so a module without holders is idle. */
static void trim(qn_device *device)
{
    while (device->modules.count > device->modules_kept) {
        const qn_map_entry *item, *oldest = NULL;
        size_t at = 0;

        while ((item = qn_map_next(&device->modules, &at))) {
            const qn_loaded *entry = item->value;

            if (!entry->holders && (entry->is_counted || !entry->text) &&
                (!oldest || entry->asked_at < ((const qn_loaded *)oldest->value)->asked_at))
                oldest = item;
        }
        if (!oldest)
            return;
        unload(device, qn_map_remove(&device->modules, oldest->key));
    }
}

void qn_compile_drop(qn_ctx *ctx, qn_module *modules[QN_MAX_DEVICES])
{
    for (int d = 0; d < ctx->n_devices; d++) {
        const qn_map_entry *item;
        size_t at = 0;

        while (modules[d] && (item = qn_map_next(&ctx->devices[d].modules, &at)))
            if (((qn_loaded *)item->value)->module == modules[d]) {
                ((qn_loaded *)item->value)->holders--;
                modules[d] = NULL;
            }
    }
}

/* Making them. */

/* What a job left to the thread of the context. */
static void count(qn_loaded *m)
{
    qn_ctx *ctx = m->device->ctx;

    m->is_counted = 1;
    if (m->was_bad)
        qn_metric_add(ctx->m.cache_bad, 1);
    if (m->st == QN_OK && m->from == QN_MADE_FROM_DISK)
        qn_metric_add(ctx->m.cache_disk_hits, 1);
    else if (m->st == QN_OK && m->from == QN_MADE_FROM_PACK)
        qn_metric_add(ctx->m.pack_hits, 1);
    else
        qn_metric_add(ctx->m.cache_misses, 1);
    if (m->st == QN_OK && m->from == QN_MADE_FROM_TEXT) {
        qn_metric_add(ctx->m.compiles, 1);
        qn_metric_observe(ctx->m.compile_ms, m->compile_ms);
        qn_log_put(&ctx->log, QN_LOG_DEBUG, "module %s: compiled in %.0f ms", m->text->name,
                   m->compile_ms);
    }
    if (m->log)
        qn_log_put(&ctx->log, QN_LOG_DEBUG, "compiler log of %s:\n%s", m->text->name, m->log);
    if (m->not_kept.status != QN_OK)
        qn_log_put(&ctx->log, QN_LOG_WARN, "kernel cache: %s", m->not_kept.text);
    if (m->st == QN_OK)
        note_resources(m->device, m->text, m->module);
}

/* The entry of the key, new when there is none; NULL without memory. */
static qn_loaded *entry_of(qn_device *device, const qn_kernel_module *module,
                           const char defines[QN_MAX_DEFINES], const char *key)
{
    qn_loaded *m = qn_map_get(&device->modules, key);

    if (m || !(m = calloc(1, sizeof *m)))
        return m;
    *m = (qn_loaded){ .job = { .run = qn_module_make }, .device = device, .text = module };
    memcpy(m->key, key, sizeof m->key);
    memcpy(m->defines, defines, sizeof m->defines);
    if (qn_map_put(&device->modules, key, m) == QN_OK)
        return m;
    free(m);
    return NULL;
}

static void remove_entry(qn_loaded *m)
{
    qn_map_remove(&m->device->modules, m->key);
    unload(m->device, m);
}

/* Found by the key over everything that affects it. */
static qn_status compile_by_key(qn_device *device, const qn_kernel_module *module, qn_loaded **out,
                                qn_err *err)
{
    qn_ctx *ctx = device->ctx;
    char key[QN_KEY_CHARS + 1], defines[QN_MAX_DEFINES];
    double start;
    qn_loaded *m;
    qn_status st;

    qn_module_key(device, module, defines, key);
    if (!(m = entry_of(device, module, defines, key)))
        return qn_fail(err, QN_ERR_NOMEM, "module %s: out of host memory", module->name);
    *out = m;
    if (m->is_counted) {
        qn_metric_add(ctx->m.cache_hits, 1);
        return QN_OK;
    }
    start = qn_now_us();
    qn_ahead_need(ctx->ahead, &m->job);
    m->text = module; /* that of who asked first may be gone */
    count(m);
    if (m->from == QN_MADE_FROM_TEXT)
        qn_metric_add(ctx->m.compile_wait_ms, (qn_now_us() - start) / 1000);
    if ((st = m->st) != QN_OK) {
        *err = m->err;
        remove_entry(m);
    }
    return st;
}

qn_status qn_compile(qn_device *device, const qn_kernel_module *module, qn_module **out,
                     qn_err *err)
{
    qn_loaded *entry;
    qn_status st;

    *out = NULL;
    if (qn_module_is_builtin(module) && device->backend->language == QN_LANG_C)
        return QN_OK;
    if (qn_module_is_builtin(module) && (entry = qn_map_get(&device->builtin, module->name))) {
        qn_metric_add(device->ctx->m.cache_hits, 1);
        *out = hold(device, entry);
        return QN_OK;
    }
    if ((st = compile_by_key(device, module, &entry, err)) != QN_OK)
        return st;
    *out = hold(device, entry);
    /* Entries of that map stay for good; without memory the key is computed again. */
    if (qn_module_is_builtin(module) && qn_map_put(&device->builtin, module->name, entry) == QN_OK)
        hold(device, entry);
    trim(device);
    return QN_OK;
}

/* Ahead of need. */

void qn_compile_ahead(qn_device *device, const qn_kernel_module *module)
{
    char key[QN_KEY_CHARS + 1], defines[QN_MAX_DEFINES];
    qn_loaded *m;

    if (!device->backend->builds_beside ||
        (qn_module_is_builtin(module) && qn_map_has(&device->builtin, module->name)))
        return;
    qn_module_key(device, module, defines, key);
    if (qn_map_has(&device->modules, key) || !(m = entry_of(device, module, defines, key)))
        return;
    qn_ahead_post(device->ctx->ahead, &m->job);
}

void qn_compile_begin(qn_ctx *ctx, int d, const qn_kernel_module *module)
{
    qn_compile_ahead(&ctx->devices[d], module);
}

void qn_compile_begin_named(qn_ctx *ctx, int d, const char *const *names)
{
    for (; *names; names++)
        for (int i = 0; qn_builtin_modules[i]; i++)
            if (!strcmp(qn_builtin_modules[i]->name, *names))
                qn_compile_begin(ctx, d, qn_builtin_modules[i]);
}

void qn_fft_begin(qn_ctx *ctx, int d, const qn_fft_shape *shape)
{
    qn_fft_ahead(&ctx->devices[d], shape);
}

int qn_ctx_likely_device(const qn_ctx *ctx)
{
    if (ctx->pinned >= 0)
        return ctx->pinned;
    for (int d = 1; d < ctx->n_devices && ctx->settings.route_mode != QN_ROUTE_CPU; d++)
        if (ctx->candidates >> d & 1 && ctx->devices[d].info.kind == QN_KIND_DISCRETE)
            return d;
    return QN_CPU_SLOT;
}

void qn_compile_forget(qn_ctx *ctx, const qn_kernel_module *module)
{
    for (int d = 0; d < ctx->n_devices && !qn_module_is_builtin(module); d++) {
        const qn_map_entry *item;
        size_t at = 0;

        while ((item = qn_map_next(&ctx->devices[d].modules, &at))) {
            qn_loaded *m = item->value;

            if (m->is_counted || m->text != module)
                continue;
            qn_ahead_drop(ctx->ahead, &m->job);
            if (m->st == QN_OK && m->module) /* made in vain so far; somebody may ask for it yet */
                m->text = NULL;
            else
                remove_entry(m);
        }
    }
}

int qn_compile_is_ready(qn_ctx *ctx, int d, const qn_kernel_module *module)
{
    qn_device *device = &ctx->devices[d];
    char key[QN_KEY_CHARS + 1], defines[QN_MAX_DEFINES];
    qn_loaded *m;

    if (!device->backend->builds_beside || qn_compile_threads() == 0)
        return 1;
    qn_module_key(device, module, defines, key);
    if ((m = qn_map_get(&device->modules, key)))
        return m->is_counted || qn_ahead_is_done(ctx->ahead, &m->job);
    return qn_module_is_stored(device, module);
}

qn_status qn_compile_time(qn_ctx *ctx, int d, const qn_kernel_module *module, double *us,
                          qn_err *err)
{
    qn_device *device = &ctx->devices[d];
    const double start = qn_now_us();
    qn_module *built;
    const qn_status st = qn_compile(device, module, &built, err);
    const int is_ready = qn_module_is_builtin(module) && device->backend->language == QN_LANG_C;

    *us = is_ready ? NAN : qn_now_us() - start;
    return st;
}

qn_status qn_compile_for_cpu(qn_ctx *ctx, const qn_kernel_info *kernel,
                             qn_module *held[QN_MAX_DEVICES], qn_cpu_kernel *out, qn_err *err)
{
    qn_launch call = { .kernel = kernel, .kernel_i = qn_stage_kernel_i(kernel) };
    const qn_status st =
        qn_compile(&ctx->devices[QN_CPU_SLOT], kernel->module, &held[QN_CPU_SLOT], err);

    if (st != QN_OK)
        return st;
    call.module = held[QN_CPU_SLOT];
    if (!(*out = qn_cpu_module_function(&call)))
        return qn_fail(err, QN_ERR_UNSUPPORTED, "kernel %s has no function for the CPU",
                       kernel->name);
    return QN_OK;
}

void qn_compile_close(qn_device *device)
{
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&device->modules, &at)))
        unload(device, entry->value);
    qn_map_free(&device->modules);
    qn_map_free(&device->builtin);
}
