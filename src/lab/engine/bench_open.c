/* bench_open.c - the contexts that benchmarks run in. */
#include "lab/engine/bench_impl.h"

#include "util/str.h"

#include <stdlib.h>
#include <string.h>

/* The host is its CPU with its threads, and its devices. */
static qn_status describe(const qn_ctx *ctx, qn_bench *bench, qn_err *err)
{
    qn_str host = { 0 };

    qn_utc(bench->started);
    qn_str_add(&host, qn_device_get(ctx, 0)->name);
    for (int d = 1; d < qn_device_count(ctx); d++) {
        const qn_device_info *info = qn_device_get(ctx, d);

        qn_str_addf(&host, "; %s %s (%s, driver %s)", qn_device_id(ctx, d), info->name, info->arch,
                    info->driver);
    }
    if (host.failed) {
        qn_str_free(&host);
        return qn_fail(err, QN_ERR_NOMEM, "bench: no memory for the name of the host");
    }
    free(bench->host);
    bench->host = host.data;
    return QN_OK;
}

qn_status qn_bench_open(const qn_bench_options *options, const char *fault, qn_bench *bench,
                        qn_ctx **out, qn_err *err)
{
    qn_options engine = options->engine;
    qn_status st = QN_OK;
    qn_ctx *ctx = NULL;

    if (fault)
        engine.fault = fault;
    QN_TRY(qn_ctx_open(&engine, &ctx, err));
    if (!bench->host)
        QN_TRY(describe(ctx, bench, err));
    *out = ctx;
    ctx = NULL;
out:
    qn_ctx_close(ctx);
    return st;
}
