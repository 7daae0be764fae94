/* compile.c - turns kernel text into a device module.
 *
 * Lookup order: the device's map in memory, the folder on disk, the compiler. The key is a SHA-256
 * over everything that affects the result, and nothing else.
 */
#include "engine/device/context.h"

#include "engine/device/kcache.h"
#include "hal/cpu/cpu_module.h"
#include "hal/geometry.h"
#include "hal/module_text.h"
#include "kernel/contract.h"
#include "kernel/expand.h"
#include "util/env.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_BYTES = 16384, TEAM_LANES = 32, LONG_TEXT = 200 * 1000 };

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

static int is_builtin(const qn_kernel_module *module)
{
    return module->n_kernels > 0 && module->kernels[0]->cpu != NULL;
}

static void add_part(qn_sha256 *hash, const char *text)
{
    qn_sha256_add(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void make_key(const qn_device *device, const qn_kernel_module *module, const char *defines,
                     char out[QN_KEY_CHARS + 1])
{
    const char version[] = { QN_KCACHE_VERSION, 0 };
    unsigned char digest[QN_SHA256_BYTES];
    char compiler[512] = "";
    qn_sha256 hash;

    if (device->backend->compiler)
        device->backend->compiler(device->dev, compiler, sizeof compiler);
    qn_sha256_begin(&hash);
    add_part(&hash, version);
    add_part(&hash, QN_VERSION);
    add_part(&hash, qn_dialect_text);
    add_part(&hash, module->name);
    if (module->text)
        add_part(&hash, module->text);
    else
        qn_sha256_add(&hash, module->packed.data, module->packed.bytes);
    add_part(&hash, defines);
    add_part(&hash, device->backend->name);
    add_part(&hash, device->info.name);
    add_part(&hash, device->info.arch);
    add_part(&hash, device->info.driver);
    add_part(&hash, compiler);
    qn_sha256_end(&hash, digest);
    qn_hex(digest, sizeof digest, out);
}

/* QUERN_DUMP=dir: writes the complete text for the compiler. */
static void dump(const qn_device *device, const qn_kernel_module *module, const char *text)
{
    static const char *const endings[] = { "c", "cl", "cu" };
    const char *dir = qn_env("QUERN_DUMP");
    char path[1200];
    qn_err err;

    if (!dir || !text)
        return;
    snprintf(path, sizeof path, "%s/%s-%s.%s", dir, device->backend->name, module->name,
             endings[device->backend->language]);
    for (char *c = path + strlen(dir) + 1; c < path + sizeof path && *c; c++)
        *c = *c == '/' ? '_' : *c; /* module names are chosen by the caller */
    if (qn_make_dirs(dir, &err) != QN_OK || qn_file_write(path, text, strlen(text), &err) != QN_OK)
        qn_log_put(&device->ctx->log, QN_LOG_WARN, "QUERN_DUMP: %s", err.text);
}

/* A compiler may take up to a minute: log a line, so that the user knows why it takes long. */
static void announce(const qn_device *device, const qn_source *src)
{
    const qn_ctx *ctx = device->ctx;

    if (strlen(src->text) >= LONG_TEXT && isatty(fileno(ctx->log.to ? ctx->log.to : stderr)))
        qn_log_line(&ctx->log, "quern: compiling %s for %s takes a while%s", src->module->name,
                    device->info.name,
                    qn_kcache_is_on(ctx->kcache) ? "; the result is kept for the next time" : "");
}

static qn_status build_from_text(qn_device *device, qn_source *src, const char *defines,
                                 qn_module **out, qn_err *err)
{
    static const qn_expand_for targets[] = { QN_EXPAND_C, QN_EXPAND_OPENCL, QN_EXPAND_CUDA };
    qn_ctx *ctx = device->ctx;
    const double start = qn_now_us();
    qn_str unit = { 0 };
    char *text = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_module_text(src->module, &text, err));
    QN_TRY(qn_expand_unit(src->module->name, text, defines, targets[device->backend->language],
                          &unit, err));
    src->text = qn_str_get(&unit);
    src->binary = (qn_blob){ 0 };
    dump(device, src->module, src->text);
    announce(device, src);
    QN_TRY(device->backend->build(device->dev, src, out, err));
    qn_metric_add(ctx->m.compiles, 1);
    qn_metric_observe(ctx->m.compile_ms, (qn_now_us() - start) / 1000);
out:
    if (st != QN_OK && src->log[0])
        qn_log_put(&ctx->log, QN_LOG_DEBUG, "compiler log of %s:\n%s", src->module->name, src->log);
    qn_str_free(&unit);
    free(text);
    src->text = NULL;
    return st;
}

static void keep(qn_device *device, const char *key, qn_module *module)
{
    qn_blob blob = { 0 };
    qn_err err;

    /* Some drivers compile again to return the binary. */
    if (!qn_kcache_is_on(device->ctx->kcache) || !device->backend->binary ||
        device->backend->binary(device->dev, module, &blob, &err) != QN_OK || !blob.data)
        return;
    if (qn_kcache_store(device->ctx->kcache, key, &blob, &err) != QN_OK)
        qn_log_put(&device->ctx->log, QN_LOG_WARN, "kernel cache: %s", err.text);
    free(blob.data);
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

/* Loads from disk if the entry exists and the device accepts it, else compiles the text. */
static qn_status build(qn_device *device, const qn_kernel_module *module, const char *defines,
                       const char *key, qn_module **out, qn_err *err)
{
    qn_ctx *ctx = device->ctx;
    char *log = calloc(1, LOG_BYTES);
    qn_source src = { .module = module,
                      .contracts = qn_may_contract(defines),
                      .team_lanes = qn_team_lanes(device, module->kernels[0]),
                      .log = log,
                      .log_size = LOG_BYTES };
    qn_kcache_result found;
    qn_status st = QN_ERR_FAILED;

    if (!log)
        return qn_fail(err, QN_ERR_NOMEM, "module %s: out of host memory", module->name);
    found = qn_kcache_load(ctx->kcache, key, &src.binary);
    if (found == QN_KCACHE_HIT) {
        st = device->backend->build(device->dev, &src, out, err);
        free(src.binary.data);
        src.binary = (qn_blob){ 0 };
    }
    if (st == QN_OK) {
        qn_metric_add(ctx->m.cache_disk_hits, 1);
    } else {
        if (found != QN_KCACHE_MISS)
            qn_metric_add(ctx->m.cache_bad, 1);
        qn_metric_add(ctx->m.cache_misses, 1);
        if ((st = build_from_text(device, &src, defines, out, err)) == QN_OK)
            keep(device, key, *out);
    }
    if (st == QN_OK)
        note_resources(device, module, *out);
    free(log);
    return st;
}

/* In memory. */

typedef struct {
    qn_module *module;
    size_t holders;
    uint64_t asked_at; /* tick of the context */
} loaded;

static qn_module *hold(qn_device *device, loaded *entry)
{
    entry->holders++;
    entry->asked_at = ++device->ctx->tick;
    return entry->module;
}

static void unload(qn_device *device, loaded *entry)
{
    device->backend->unload(device->dev, entry->module);
    free(entry);
}

/* Graphs wait for the device before they drop a module, so a module without holders is idle. */
static void trim(qn_device *device)
{
    while (device->modules.count > device->modules_kept) {
        const qn_map_entry *item, *oldest = NULL;
        size_t at = 0;

        while ((item = qn_map_next(&device->modules, &at))) {
            const loaded *entry = item->value;

            if (!entry->holders &&
                (!oldest || entry->asked_at < ((const loaded *)oldest->value)->asked_at))
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
            if (((loaded *)item->value)->module == modules[d]) {
                ((loaded *)item->value)->holders--;
                modules[d] = NULL;
            }
    }
}

/* Looks the module up by its key. */
static qn_status compile_by_key(qn_device *device, const qn_kernel_module *module, loaded **out,
                                qn_err *err)
{
    loaded *entry;
    char key[QN_KEY_CHARS + 1], defines[512];
    qn_status st;

    snprintf(defines, sizeof defines, "%s", module->defines ? module->defines : "");
    if (qn_module_has_teams(module) && module->kernels[0]->lanes == 0)
        snprintf(defines + strlen(defines), sizeof defines - strlen(defines), "%sLANES=%d",
                 defines[0] ? " " : "", qn_team_lanes(device, module->kernels[0]));
    make_key(device, module, defines, key);
    if ((*out = qn_map_get(&device->modules, key))) {
        qn_metric_add(device->ctx->m.cache_hits, 1);
        return QN_OK;
    }
    if (!(entry = calloc(1, sizeof *entry)))
        return qn_fail(err, QN_ERR_NOMEM, "module %s: out of host memory", module->name);
    if ((st = build(device, module, defines, key, &entry->module, err)) != QN_OK) {
        free(entry);
        return st;
    }
    if (qn_map_put(&device->modules, key, entry) != QN_OK) {
        unload(device, entry);
        return qn_fail(err, QN_ERR_NOMEM, "module %s: out of host memory", module->name);
    }
    *out = entry;
    return QN_OK;
}

qn_status qn_compile(qn_device *device, const qn_kernel_module *module, qn_module **out,
                     qn_err *err)
{
    loaded *entry;
    qn_status st;

    *out = NULL;
    if (is_builtin(module) && device->backend->language == QN_LANG_C)
        return QN_OK;
    if (is_builtin(module) && (entry = qn_map_get(&device->builtin, module->name))) {
        qn_metric_add(device->ctx->m.cache_hits, 1);
        *out = hold(device, entry);
        return QN_OK;
    }
    if ((st = compile_by_key(device, module, &entry, err)) != QN_OK)
        return st;
    *out = hold(device, entry);
    /* Entries of that map are never removed; if out of memory, the key is computed again next
     * time. */
    if (is_builtin(module) && qn_map_put(&device->builtin, module->name, entry) == QN_OK)
        hold(device, entry);
    trim(device);
    return QN_OK;
}

qn_status qn_compile_time(qn_ctx *ctx, int d, const qn_kernel_module *module, double *us,
                          qn_err *err)
{
    qn_device *device = &ctx->devices[d];
    const double start = qn_now_us();
    qn_module *built;
    const qn_status st = qn_compile(device, module, &built, err);
    const int is_ready = is_builtin(module) && device->backend->language == QN_LANG_C;

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
