/* settings.c - read options and environment. */
#include "engine/context/settings.h"

#include "engine/ops/registry.h"

#include "util/file.h"

#include <stdlib.h>
#include <string.h>

static const char *pick(const char *flag, const char *variable, const char *otherwise)
{
    const char *env = getenv(variable);

    if (flag && *flag)
        return flag;
    return env && *env ? env : otherwise;
}

const char *qn_settings_backend(const qn_options *options)
{
    return pick(options->backend, "QUERN_BACKEND", pick(NULL, "QUERN_DEVICES", "auto"));
}

void qn_settings_faults(const qn_options *options, qn_str *out)
{
    const char *env = getenv("QUERN_FAULT");

    if (env && *env)
        qn_str_add(out, env);
    if (options->fault && *options->fault)
        qn_str_addf(out, "%s%s", out->len ? "," : "", options->fault);
}

int qn_settings_is_hidden(const char *backend)
{
    const char *hidden = getenv("QUERN_HIDE");
    const size_t len = strlen(backend);

    if (!strcmp(backend, "cpu")) /* it is what everything falls back to */
        return 0;
    while (hidden && *hidden) {
        const size_t part = strcspn(hidden, ", ");

        if (part == len && !strncmp(hidden, backend, len))
            return 1;
        hidden += part;
        hidden += strspn(hidden, ", ");
    }
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
    return qn_fail(err, QN_ERR_USAGE, "route '%s' is none of auto, cpu, gpu, balance, static",
                   text);
}

static qn_status parse_int(const char *what, const char *text, int low, int high, int *out,
                           qn_err *err)
{
    char *end;
    const long n = strtol(text, &end, 10);

    if (end == text || *end || n < low || n > high)
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not a number between %d and %d", what, text,
                       low, high);
    *out = (int)n;
    return QN_OK;
}

static qn_status resolve_fallback(qn_ctx *ctx, const qn_options *options, qn_err *err)
{
    const char *text = pick(NULL, "QUERN_FALLBACK", "cpu");

    ctx->settings.fallback = options->fallback;
    if (ctx->settings.fallback != QN_FALLBACK_DEFAULT)
        return QN_OK;
    if (strcmp(text, "cpu") && strcmp(text, "error"))
        return qn_fail(err, QN_ERR_USAGE, "QUERN_FALLBACK: '%s' is neither cpu nor error", text);
    ctx->settings.fallback = *text == 'e' ? QN_FALLBACK_ERROR : QN_FALLBACK_CPU;
    return QN_OK;
}

static qn_status resolve_memory(qn_ctx *ctx, qn_err *err)
{
    const char *host = pick(NULL, "QUERN_HOST_BUDGET", NULL);
    const char *bucket = pick(NULL, "QUERN_BUCKET_MIN", NULL);

    if (host && (qn_parse_bytes(host, &ctx->settings.host_budget) || !ctx->settings.host_budget))
        return qn_fail(err, QN_ERR_USAGE, "QUERN_HOST_BUDGET: '%s' is not a size", host);
    ctx->settings.bucket_min = QN_BUCKET_MIN;
    if (bucket && (qn_parse_bytes(bucket, &ctx->settings.bucket_min) || !ctx->settings.bucket_min ||
                   ctx->settings.bucket_min & (ctx->settings.bucket_min - 1)))
        return qn_fail(err, QN_ERR_USAGE, "QUERN_BUCKET_MIN: '%s' is not a power of two", bucket);
    return QN_OK;
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
    const char *off = getenv("QUERN_CACHE");
    qn_status st = QN_OK;

    if (!off || strcmp(off, "0")) {
        /* Without a home there is no cache; that is no reason to fail. */
        if (qn_cache_dir(ctx->settings.cache_dir, sizeof ctx->settings.cache_dir,
                         options->cache_dir) != QN_OK)
            qn_log_put(&ctx->log, QN_LOG_WARN,
                       "no folder for the kernel cache; set QUERN_CACHE_DIR");
    }
    QN_TRY(keep_path("QUERN_SPILL_DIR", getenv("QUERN_SPILL_DIR"), ctx->settings.spill_dir,
                     sizeof ctx->settings.spill_dir, err));
    QN_TRY(keep_path("explain_route", options->explain_route, ctx->settings.explain_path,
                     sizeof ctx->settings.explain_path, err));
out:
    return st;
}

static qn_status resolve_numbers(qn_ctx *ctx, const qn_options *options, qn_err *err)
{
    const char *threads = pick(NULL, "QUERN_THREADS", NULL);
    qn_status st;

    if (options->threads < 0)
        return qn_fail(err, QN_ERR_USAGE, "threads: %d is negative", options->threads);
    if (options->op_priority < 0)
        return qn_fail(err, QN_ERR_USAGE, "op priority %d is negative", options->op_priority);
    if (!(options->verify_pct >= 0 && options->verify_pct <= 100))
        return qn_fail(err, QN_ERR_USAGE, "verify sample of %g %% is not between 0 and 100",
                       options->verify_pct);
    ctx->settings.threads = options->threads;
    ctx->settings.op_priority = options->op_priority ? options->op_priority : QN_PRIORITY_WARM;
    ctx->settings.verify_pct = options->verify_pct;
    st = parse_int("QUERN_OVERLAP", pick(NULL, "QUERN_OVERLAP", "1"), 0, 1, &ctx->settings.overlap,
                   err);
    if (st == QN_OK)
        st = parse_int("QUERN_FUSE", pick(NULL, "QUERN_FUSE", "1"), 0, 1, &ctx->settings.fuse, err);
    if (st != QN_OK)
        return st;
    return !ctx->settings.threads && threads
               ? parse_int("QUERN_THREADS", threads, 1, 1024, &ctx->settings.threads, err)
               : QN_OK;
}

qn_status qn_settings_resolve(qn_ctx *ctx, const qn_options *options, qn_err *err)
{
    const char *level = pick(options->log, "QUERN_LOG", "warn");
    const char *timing = getenv("QUERN_TIMING");
    qn_status st = QN_OK;

    ctx->log.to = stderr;
    if (qn_log_parse(level, &ctx->log.level)) {
        st = qn_fail(err, QN_ERR_USAGE, "log level '%s' is none of none, error, warn, info, debug",
                     level);
        goto out;
    }
    QN_TRY(
        parse_route(pick(options->route, "QUERN_ROUTE", "auto"), &ctx->settings.route_mode, err));
    QN_TRY(resolve_fallback(ctx, options, err));
    QN_TRY(resolve_numbers(ctx, options, err));
    QN_TRY(resolve_memory(ctx, err));
    ctx->settings.timing = timing && !strcmp(timing, "1");
    QN_TRY(resolve_folders(ctx, options, err));
out:
    return st;
}
