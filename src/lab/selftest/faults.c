/* faults.c - recovery from a fault, and the kernel cache. Both need their own contexts. */
#include "lab/selftest/selftest_impl.h"

#include "engine/engine.h"
#include "util/env.h"
#include "util/temp_dir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMS = 1000 };

/* A kernel given at run time, so that the CPU has something to compile as well. */
static const char kernel_text[] = "MAP(selftest_twice, IN(float, x), OUT(float, out))\n"
                                  "{\n"
                                  "    out[gx] = 2.0f * x[gx];\n"
                                  "}\n";

typedef struct twice {
    qn_kernel_module *module;
    qn_graph *graph;
    qn_buf *x, *out;
    qn_owned owned; /* the graph and these buffers */
} twice;

static void twice_free(twice *t)
{
    qn_owned_free(&t->owned, 0);
    qn_kernels_free(t->module);
    *t = (twice){ 0 };
}

/* Runs out = 2 x as stage "selftest.twice" on the device. */
static qn_status twice_run(qn_ctx *ctx, const char *device, qn_fallback_policy policy, twice *t,
                           qn_err *err)
{
    qn_status st = QN_OK;
    void *host;

    QN_TRY(qn_kernels_new("selftest_twice", kernel_text, &t->module, err));
    QN_TRY(qn_owned_graph(&t->owned, ctx, "selftest", &t->graph, err));
    QN_TRY(qn_owned_buf(&t->owned, ctx, "selftest.x", ELEMS * sizeof(float), &t->x, err));
    QN_TRY(qn_owned_buf(&t->owned, ctx, "selftest.out", ELEMS * sizeof(float), &t->out, err));
    QN_TRY(qn_buf_host(t->x, QN_HOST_DISCARD, &host, err));
    for (int i = 0; i < ELEMS; i++)
        ((float *)host)[i] = (float)i;
    const qn_arg args[] = { qn_arg_buf(t->x), qn_arg_buf(t->out) };
    QN_TRY(qn_graph_stage(t->graph, "selftest.twice", qn_kernels_find(t->module, "selftest_twice"),
                          qn_range_1d(ELEMS), args, err));
    QN_TRY(qn_graph_pin(t->graph, 0, device, err));
    qn_graph_set_fallback(t->graph, policy);
    QN_TRY(qn_run_graph(t->graph, err));
out:
    return st;
}

static qn_status twice_check(const twice *t, qn_err *err)
{
    float out[ELEMS];
    const qn_status st = qn_buf_read(t->out, 0, out, sizeof out, err);

    if (st != QN_OK)
        return st;
    for (int i = 0; i < ELEMS; i++)
        if (out[i] != 2.0f * (float)i)
            return qn_fail(err, QN_ERR_MISMATCH, "element %d is %g, not %g", i, (double)out[i],
                           2.0 * i);
    return QN_OK;
}

/* Recovery from a fault. */

/* The log line goes to memory instead of stderr, since nothing is wrong here. */
static qn_status faulty_run(qn_ctx *ctx, const char *device, char **line, size_t *n, qn_err *err)
{
    qn_log *log = qn_ctx_log(ctx), before = *log;
    twice t = { 0 };
    qn_status st;

    *log = (qn_log){ QN_LOG_WARN, open_memstream(line, n) };
    if (!log->to) {
        *log = before;
        return qn_fail(err, QN_ERR_NOMEM, "selftest: no memory for a log");
    }
    st = twice_run(ctx, device, QN_FALLBACK_CPU, &t, err);
    if (st == QN_OK)
        st = twice_check(&t, err);
    twice_free(&t);
    fclose(log->to);
    *log = before;
    return st;
}

static qn_status check_fault(const qn_options *engine, const char *device, qn_err *err)
{
    static const char want[] =
        "[GPU] selftest.twice failed: injected launch fault. CPU fallback.\n";
    qn_options options = *engine;
    qn_ctx *ctx = NULL;
    char *line = NULL;
    size_t n = 0;
    double count;
    qn_status st = QN_OK;

    options.backend = device;
    options.fault = "launch:selftest.twice*1";
    options.fallback = QN_FALLBACK_CPU;
    QN_TRY(qn_ctx_open(&options, &ctx, err));
    QN_TRY(faulty_run(ctx, device, &line, &n, err));
    count = qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL);
    if (!line || strcmp(line, want))
        st = qn_fail(err, QN_ERR_MISMATCH, "the line is \"%.*s\"",
                     (int)strcspn(line ? line : "", "\n"), line ? line : "");
    else if (count != 1)
        st = qn_fail(err, QN_ERR_MISMATCH, "%g fallbacks were counted, not 1", count);
out:
    qn_ctx_close(ctx);
    free(line);
    return st;
}

qn_status qn_selftest_fault(qn_findings *findings, const qn_options *engine, const char *device,
                            qn_err *err)
{
    qn_err why = { 0 };
    const qn_status found = check_fault(engine, device, &why);

    return qn_selftest_note(findings, "fault: launch fails once", device, found, &why, err);
}

/* The kernel cache. */

typedef struct cache_counts {
    double compiles, disk_hits;
} cache_counts;

static qn_status cached_run(const qn_options *options, const char *device, cache_counts *out,
                            qn_err *err)
{
    qn_ctx *ctx = NULL;
    twice t = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_ctx_open(options, &ctx, err));
    st = twice_run(ctx, device, QN_FALLBACK_ERROR, &t, err);
    if (st == QN_OK)
        st = twice_check(&t, err);
    out->compiles = qn_metric_value(qn_ctx_metrics(ctx), "kernel_compiles", NULL);
    out->disk_hits = qn_metric_value(qn_ctx_metrics(ctx), "kernel_cache_disk_hits", NULL);
    twice_free(&t);
out:
    qn_ctx_close(ctx);
    return st;
}

static qn_status check_cache(const qn_options *engine, const char *device, qn_err *err)
{
    qn_options options = *engine;
    qn_temp_dir folder = { 0 };
    cache_counts first = { 0 }, second = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_temp_dir_make(&folder, err));
    options.backend = device;
    options.cache_dir = folder.path;
    QN_TRY(cached_run(&options, device, &first, err));
    QN_TRY(cached_run(&options, device, &second, err));
    if (first.compiles != 1 || first.disk_hits != 0 || second.compiles != 0 ||
        second.disk_hits != 1)
        st = qn_fail(err, QN_ERR_MISMATCH,
                     "compiled %g times and then %g, found on disk %g times and then %g",
                     first.compiles, second.compiles, first.disk_hits, second.disk_hits);
out:
    qn_temp_dir_remove(&folder);
    return st;
}

qn_status qn_selftest_cache(qn_findings *findings, const qn_options *engine, const char *device,
                            qn_err *err)
{
    static const char name[] = "cache: compiled once";
    qn_err why = { 0 };
    qn_status found;

    if (qn_env_number("QUERN_CACHE", 1) == 0)
        return qn_selftest_skip(findings, name, device, "QUERN_CACHE=0", err);
    found = check_cache(engine, device, &why);
    /* Without a C compiler the CPU runs only built-in kernels. */
    if (found == QN_ERR_UNSUPPORTED)
        return qn_selftest_skip(findings, name, device, why.text, err);
    return qn_selftest_note(findings, name, device, found, &why, err);
}
