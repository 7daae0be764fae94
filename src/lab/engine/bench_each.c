/* bench_each.c - the context of a verb, and a call for each device. */
#include "lab/engine/bench_impl.h"

#include "util/str.h"

#include <stdlib.h>
#include <string.h>

/* Describes the host by its CPU, number of threads and devices. */
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

qn_status qn_bench_each(const qn_bench_options *options, qn_bench *bench, const char *what,
                        double n,
                        qn_status (*fn)(const qn_bench_run *run, int d, void *user, qn_err *err),
                        void *user, qn_err *err)
{
    qn_bench_run run = { .options = options, .bench = bench };
    qn_status st = QN_OK;
    char title[32];
    int n_devices = 0;

    snprintf(title, sizeof title, "bench %s", bench->verb);
    QN_TRY(qn_ctx_open(&options->engine, &run.ctx, err));
    if (!bench->host)
        QN_TRY(describe(run.ctx, bench, err));
    for (int d = 0; d < qn_device_count(run.ctx); d++)
        n_devices += qn_device_is_candidate(run.ctx, d);
    QN_TRY(qn_progress_new(&options->watch, title, what, n * n_devices, &run.progress, err));
    for (int d = 0; d < qn_device_count(run.ctx); d++)
        if (qn_device_is_candidate(run.ctx, d))
            QN_TRY(fn(&run, d, user, err));
out:
    qn_progress_free(run.progress);
    qn_ctx_close(run.ctx);
    return st;
}
