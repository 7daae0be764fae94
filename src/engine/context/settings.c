/* settings.c - reads options and environment. */
#include "engine/device/context.h"

#include "engine/ops/registry.h"

#include "util/env.h"
#include "util/file.h"

#include <stdlib.h>
#include <string.h>

static const char *pick(const char *flag, const char *variable, const char *otherwise)
{
    const char *env = qn_env(variable);

    if (flag && *flag)
        return flag;
    return env ? env : otherwise;
}

const char *qn_settings_backend(const qn_options *options)
{
    /* Only the CPU backend checks ranges. */
    if (qn_env_number("QUERN_CHECK_RANGES", 0) > 0)
        return "cpu";
    return pick(options->backend, "QUERN_BACKEND", pick(NULL, "QUERN_DEVICES", "auto"));
}

void qn_settings_faults(const qn_options *options, qn_str *out)
{
    const char *env = qn_env("QUERN_FAULT");

    if (env)
        qn_str_add(out, env);
    if (options->fault && *options->fault)
        qn_str_addf(out, "%s%s", out->len ? "," : "", options->fault);
}

int qn_settings_is_hidden(const char *backend)
{
    const char *hidden = qn_env("QUERN_HIDE");
    char item[64];

    if (!strcmp(backend, "cpu")) /* everything falls back to it */
        return 0;
    for (int i = 0; hidden && qn_list_item(hidden, i, item, sizeof item); i++)
        if (!strcmp(item, backend))
            return 1;
    return 0;
}

qn_status qn_settings_budget(const char *text, uint64_t free_bytes, size_t *out, qn_err *err)
{
    char *end;
    const double pct = strtod(text, &end);

    if (end != text && *end == '%' && !end[1]) {
        if (!(pct > 0 && pct <= 100))
            return qn_fail(err, QN_ERR_USAGE, "memory budget '%s' is not between 0%% and 100%%",
                           text);
        *out = (size_t)((double)free_bytes * pct / 100);
        return QN_OK;
    }
    if (qn_parse_bytes(text, out) || !*out)
        return qn_fail(err, QN_ERR_USAGE,
                       "memory budget '%s' is not a size (512M, 8G) or percentage (80%%)", text);
    return QN_OK;
}

static qn_status parse_route(const char *text, qn_route_mode *out, qn_err *err)
{
    static const char *const names[] = { "auto", "cpu", "gpu", "balance", "static" };

    for (int i = 0; i < 5; i++)
        if (!strcmp(names[i], text)) {
            *out = (qn_route_mode)i;
            return QN_OK;
        }
    return qn_fail(err, QN_ERR_USAGE, "route '%s' is not one of auto, cpu, gpu, balance, static",
                   text);
}

static qn_status keep_path(const char *what, const char *path, char *out, size_t size, qn_err *err)
{
    if (!path)
        return QN_OK;
    if (strlen(path) >= size)
        return qn_fail(err, QN_ERR_USAGE, "%s: a path of %zu bytes exceeds the limit %zu", what,
                       strlen(path), size - 1);
    strcpy(out, path);
    return QN_OK;
}

static qn_status resolve_folders(qn_ctx *ctx, const qn_options *options, qn_err *err)
{
    qn_status st = QN_OK;

    if (qn_env_number("QUERN_CACHE", 1) > 0) {
        /* Without a home folder there is no cache, which is not an error. */
        if (qn_cache_dir(ctx->settings.cache_dir, sizeof ctx->settings.cache_dir,
                         options->cache_dir) != QN_OK)
            qn_log_put(&ctx->log, QN_LOG_WARN,
                       "no folder for the kernel cache; set QUERN_CACHE_DIR");
    }
    QN_TRY(keep_path("QUERN_SPILL_DIR", qn_env("QUERN_SPILL_DIR"), ctx->settings.spill_dir,
                     sizeof ctx->settings.spill_dir, err));
    QN_TRY(keep_path("explain_route", options->explain_route, ctx->settings.explain_path,
                     sizeof ctx->settings.explain_path, err));
out:
    return st;
}

static qn_status resolve_numbers(qn_ctx *ctx, const qn_options *options, qn_err *err)
{
    qn_settings *to = &ctx->settings;

    if (options->threads < 0)
        return qn_fail(err, QN_ERR_USAGE, "threads: %d is negative", options->threads);
    if (options->op_priority < 0)
        return qn_fail(err, QN_ERR_USAGE, "op priority %d is negative", options->op_priority);
    if (!(options->verify_pct >= 0 && options->verify_pct <= 100))
        return qn_fail(err, QN_ERR_USAGE, "verify sample of %g %% is not between 0 and 100",
                       options->verify_pct);
    to->threads = options->threads ? options->threads : (int)qn_env_number("QUERN_THREADS", 0);
    to->op_priority = options->op_priority ? options->op_priority : QN_PRIORITY_WARM;
    to->verify_pct = options->verify_pct;
    to->fallback = options->fallback;
    if (to->fallback == QN_FALLBACK_DEFAULT)
        to->fallback = !strcmp(pick(NULL, "QUERN_FALLBACK", "cpu"), "error") ? QN_FALLBACK_ERROR
                                                                             : QN_FALLBACK_CPU;
    to->overlap = qn_env_number("QUERN_OVERLAP", 1) > 0;
    to->fuse = qn_env_number("QUERN_FUSE", 1) > 0;
    to->timing = qn_env_number("QUERN_TIMING", 0) > 0;
    to->host_budget = (size_t)qn_env_number("QUERN_HOST_BUDGET", 0);
    to->bucket_min = (size_t)qn_env_number("QUERN_BUCKET_MIN", QN_BUCKET_MIN);
    return QN_OK;
}

qn_status qn_settings_resolve(qn_ctx *ctx, const qn_options *options, qn_err *err)
{
    const char *level = pick(options->log, "QUERN_LOG", "warn");
    qn_status st = QN_OK;

    ctx->log.to = stderr;
    QN_TRY(qn_env_check(err));
    if (qn_log_parse(level, &ctx->log.level))
        QN_FAIL(err, QN_ERR_USAGE, "log level '%s' is not one of none, error, warn, info, debug",
                level);
    QN_TRY(
        parse_route(pick(options->route, "QUERN_ROUTE", "auto"), &ctx->settings.route_mode, err));
    QN_TRY(resolve_numbers(ctx, options, err));
    QN_TRY(resolve_folders(ctx, options, err));
out:
    return st;
}
