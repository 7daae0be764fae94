/* module.c - one module: from the disk, from the pack of compiled kernels, or from its text.
 *
 * Runs on any thread, several at a time: it reads the context and leaves counting and messages,
 * but one, to the thread of the context.
 */
#include "engine/device/module.h"

#include "engine/device/kcache.h"
#include "engine/device/pack.h"
#include "hal/geometry.h"
#include "hal/module_text.h"
#include "kernel/contract.h"
#include "kernel/expand.h"
#include "util/clock.h"
#include "util/env.h"
#include "util/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_BYTES = 16384, LONG_TEXT = 200 * 1000 };

/* Keys. */

void qn_module_defines(const qn_kernel_module *module, int team_lanes, char out[QN_MAX_DEFINES])
{
    int n = snprintf(out, QN_MAX_DEFINES, "%s", module->defines ? module->defines : "");

    if (qn_module_has_teams(module) && module->kernels[0]->lanes == 0 && n < QN_MAX_DEFINES)
        snprintf(out + n, QN_MAX_DEFINES - (size_t)n, "%sLANES=%d", n ? " " : "", team_lanes);
}

static void add_text(qn_sha256 *hash, const char *text)
{
    qn_sha256_add(hash, text, strlen(text) + 1);
}

void qn_module_hash(qn_sha256 *hash, const qn_kernel_module *module, const char *defines)
{
    add_text(hash, QN_VERSION);
    add_text(hash, qn_dialect_text);
    add_text(hash, module->name);
    if (module->text)
        add_text(hash, module->text);
    else
        qn_sha256_add(hash, module->packed.data, module->packed.bytes);
    add_text(hash, defines);
}

void qn_module_key(const qn_device *device, const qn_kernel_module *module,
                   char defines[QN_MAX_DEFINES], char key[QN_KEY_CHARS + 1])
{
    const char version[] = { QN_KCACHE_VERSION, 0 };
    char compiler[512] = "";
    const char *const parts[] = { device->backend->name, device->info.name, device->info.arch,
                                  device->info.driver, compiler };
    unsigned char digest[QN_SHA256_BYTES];
    qn_sha256 hash;

    qn_module_defines(module, qn_team_lanes(device, module->kernels[0]), defines);
    if (device->backend->compiler)
        device->backend->compiler(device->dev, compiler, sizeof compiler);
    qn_sha256_begin(&hash);
    qn_sha256_add(&hash, version, sizeof version);
    qn_module_hash(&hash, module, defines);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_text(&hash, parts[i]);
    qn_sha256_end(&hash, digest);
    qn_hex(digest, sizeof digest, key);
}

/* From text. */

/* QUERN_DUMP=dir: the complete text as the compiler gets it. */
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

static qn_status make_from_text(qn_loaded *m, qn_source *src)
{
    static const qn_expand_for targets[] = { QN_EXPAND_C, QN_EXPAND_OPENCL, QN_EXPAND_CUDA };
    const double start = qn_now_us();
    qn_device *device = m->device;
    qn_str unit = { 0 };
    char *text = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_module_text(src->module, &text, &m->err));
    QN_TRY(qn_expand_unit(src->module->name, text, m->defines, targets[device->backend->language],
                          &unit, &m->err));
    src->text = qn_str_get(&unit);
    src->binary = (qn_blob){ 0 };
    dump(device, src->module, src->text);
    announce(device, src);
    QN_TRY(device->backend->build(device->dev, src, &m->module, &m->err));
    m->from = QN_MADE_FROM_TEXT;
    m->compile_ms = (qn_now_us() - start) / 1000;
out:
    qn_str_free(&unit);
    free(text);
    src->text = NULL;
    return st;
}

static void keep(qn_loaded *m)
{
    qn_device *device = m->device;
    qn_blob blob = { 0 };
    qn_err ignored;

    /* Some drivers compile again to hand out the binary. */
    if (!qn_kcache_is_on(device->ctx->kcache) || !device->backend->binary ||
        device->backend->binary(device->dev, m->module, &blob, &ignored) != QN_OK || !blob.data)
        return;
    if (qn_kcache_store(device->ctx->kcache, m->key, &blob, &ignored) != QN_OK)
        m->not_kept = ignored;
    free(blob.data);
}

/* From binaries. */

/* What does not load is no failure: the text serves. */
static qn_status make_from_binary(qn_loaded *m, qn_source *src, qn_made_from from)
{
    qn_err refused;
    const qn_status st = m->device->backend->build(m->device->dev, src, &m->module, &refused);

    free(src->binary.data);
    src->binary = (qn_blob){ 0 };
    m->from = from;
    m->was_bad |= st != QN_OK;
    return st;
}

static qn_status make_from_disk(qn_loaded *m, qn_source *src)
{
    const qn_kcache_result found = qn_kcache_load(m->device->ctx->kcache, m->key, &src->binary);

    m->was_bad |= found == QN_KCACHE_BAD;
    return found == QN_KCACHE_HIT ? make_from_binary(m, src, QN_MADE_FROM_DISK) : QN_ERR_FAILED;
}

static qn_status make_from_pack(qn_loaded *m, qn_source *src)
{
    const qn_pack_result found = qn_pack_load(m->device, src->module, m->defines, &src->binary);

    m->was_bad |= found == QN_PACK_BAD;
    return found == QN_PACK_HIT ? make_from_binary(m, src, QN_MADE_FROM_PACK) : QN_ERR_FAILED;
}

void qn_module_make(qn_job *job)
{
    qn_loaded *m = (qn_loaded *)job;
    char *log = calloc(1, LOG_BYTES);
    qn_source src = { .module = m->text,
                      .contracts = qn_may_contract(m->defines),
                      .team_lanes = qn_team_lanes(m->device, m->text->kernels[0]),
                      .log = log,
                      .log_size = LOG_BYTES };

    if (!log) {
        m->st = qn_fail(&m->err, QN_ERR_NOMEM, "module %s: out of host memory", m->text->name);
        return;
    }
    m->st = make_from_disk(m, &src);
    if (m->st != QN_OK)
        m->st = make_from_pack(m, &src);
    if (m->st != QN_OK && (m->st = make_from_text(m, &src)) == QN_OK)
        keep(m);
    if (m->st != QN_OK && log[0]) {
        m->log = log;
        log = NULL;
    }
    free(log);
}

int qn_module_is_stored(const qn_device *device, const qn_kernel_module *module)
{
    char defines[QN_MAX_DEFINES], key[QN_KEY_CHARS + 1];

    if (device->backend->language == QN_LANG_C && qn_module_is_builtin(module))
        return 1;
    qn_module_key(device, module, defines, key);
    return qn_map_has(&device->modules, key) || qn_kcache_has(device->ctx->kcache, key) ||
           qn_pack_has(device, module, defines);
}
