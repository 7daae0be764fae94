/* selftest.c - the list of checks, and where each of them runs. */
#include "lab/selftest/selftest_impl.h"

#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

qn_status qn_selftest_note(qn_findings *findings, const char *name, const char *device,
                           qn_status st, const qn_err *why, qn_err *err)
{
    qn_finding_note(findings, device, st == QN_OK ? QN_FINDING_OK : QN_FINDING_OUT, name, "%s",
                    st == QN_OK ? "" : why->text);
    return qn_findings_complete(findings, err);
}

qn_status qn_selftest_skip(qn_findings *findings, const char *name, const char *device,
                           const char *reason, qn_err *err)
{
    qn_finding_note(findings, device, QN_FINDING_SKIPPED, name, "%s", reason);
    return qn_findings_complete(findings, err);
}

/* Tests one device after the other, each in a context opened by its name, so that none disturbs the
 * next. */
static qn_status test_device(qn_findings *findings, const qn_options *engine, qn_ctx *reference,
                             const char *device, qn_err *err)
{
    qn_options options = *engine;
    qn_ctx *ctx = NULL;
    qn_status st = QN_OK;
    int slot;

    options.backend = device;
    QN_TRY(qn_ctx_open(&options, &ctx, err));
    if ((slot = qn_device_find(ctx, device)) < 0)
        QN_FAIL(err, QN_ERR_INIT, "device %s is gone", device);
    QN_TRY(qn_selftest_known(findings, ctx, slot, err));
    QN_TRY(qn_selftest_geometry(findings, ctx, slot, err));
    QN_TRY(qn_selftest_parity(findings, reference, ctx, slot, err));
    if (slot != QN_CPU_SLOT)
        QN_TRY(qn_selftest_fault(findings, engine, device, err));
    QN_TRY(qn_selftest_cache(findings, engine, device, err));
out:
    qn_ctx_close(ctx);
    return st;
}

typedef struct device_list {
    char id[QN_MAX_DEVICES + 1][24];
    int n;
} device_list;

/* The requested devices. The simulated one is always available, and shows what devices with memory
 * of their own need even on machines without one. */
static qn_status find_devices(const qn_options *engine, device_list *out, qn_err *err)
{
    const char *wanted = qn_settings_backend(engine);
    const int is_all = !strcmp(wanted, "auto") || !strcmp(wanted, "all");
    qn_ctx *ctx = NULL;
    qn_status st = QN_OK;

    out->n = 0;
    QN_TRY(qn_ctx_open(engine, &ctx, err));
    for (int d = 0; d < qn_device_count(ctx); d++)
        if (qn_device_is_candidate(ctx, d))
            snprintf(out->id[out->n++], sizeof out->id[0], "%s", qn_device_id(ctx, d));
    if (is_all && !qn_settings_is_hidden("sim"))
        snprintf(out->id[out->n++], sizeof out->id[0], "sim:0");
    /* If a name matches no device, the CPU is the only candidate. */
    if (!is_all && out->n == 1 && !strncmp(out->id[0], "cpu", 3) && !strstr(wanted, "cpu"))
        st = qn_fail(err, QN_ERR_INIT, "no device %s to test", wanted);
out:
    qn_ctx_close(ctx);
    return st;
}

qn_status qn_selftest_run(const qn_selftest_options *options, qn_findings *out, qn_err *err)
{
    const qn_options *engine = &options->engine;
    qn_options one_thread = *engine;
    qn_ctx *reference = NULL;
    qn_progress *progress = NULL;
    device_list devices;
    qn_status st = QN_OK;

    one_thread.backend = "cpu";
    one_thread.threads = 1;
    QN_TRY(find_devices(engine, &devices, err));
    QN_TRY(qn_ctx_open(&one_thread, &reference, err));
    QN_TRY(qn_progress_new(&options->watch, "selftest", "devices", devices.n, &progress, err));
    QN_TRY(qn_selftest_known_host(out, err));
    for (int d = 0; d < devices.n; d++) {
        QN_TRY(test_device(out, engine, reference, devices.id[d], err));
        qn_progress_add(progress, 1);
    }
out:
    qn_progress_free(progress);
    qn_ctx_close(reference);
    return st;
}
