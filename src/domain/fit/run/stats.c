/* stats.c - writes figures of a run: groups and their operations, kernels, copies, fallbacks. */
#include "domain/fit/run/run.h"

#include "domain/fit/code/tape.h"
#include "engine/engine.h"
#include "util/hash.h"
#include "util/json.h"

#include <quern/buffer.h>

#include <string.h>

static qn_status group_json(const qn_fit_group *g, const qn_fit_report *r, int k, json_t **out,
                            qn_err *err)
{
    qn_status st = QN_OK;
    qn_fit_tape *tape = NULL;
    char hex[2 * QN_FIT_SIGNATURE_BYTES + 1];
    json_t *o = json_object();
    const unsigned wants = g->is_energy ? QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_GRAD)
                                        : QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC);

    QN_TRY(qn_fit_tape_new(g->graph, wants, g->loss, QN_FIT_SWEEP_AUTO, &tape, err));
    const qn_fit_section *values = &tape->sections[g->is_energy ? QN_FIT_GRAD : QN_FIT_JAC];
    const struct {
        const char *name;
        qn_i64 value;
    } counts[] = {
        { "instances", g->n },
        { "dispatches", r->batch_size ? (g->n + r->batch_size - 1) / r->batch_size : g->n > 0 },
        { "rows", g->n_rows },
        { "slots", g->n_slots },
        { "columns", g->n_columns },
        { "variables", tape->n_variables },
        { "operations", tape->n_ops },
        { "weighted_operations", (qn_i64)tape->weight },
        { "peak_live", tape->peak_live },
        { "entries", values->n_entries },
        { "entries_stored", values->count },
        { "bytes", 4 * g->n_slots + 8 * (g->n_columns + g->n_rows + values->count) },
    };

    json_object_set_new(o, "name", qn_json_text(g->name));
    json_object_set_new(
        o, "signature",
        json_string(qn_hex(qn_fit_graph_signature(g->graph), QN_FIT_SIGNATURE_BYTES, hex)));
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        json_object_set_new(o, counts[c].name, json_integer(counts[c].value));
    json_object_set_new(o, "cost", qn_json_number(r->group_costs[k]));
    *out = o;
    o = NULL;
out:
    json_decref(o);
    qn_fit_tape_free(tape);
    return st;
}

static json_t *fallbacks_json(const qn_ctx *ctx)
{
    json_t *list = json_array();

    for (int k = 0; k < qn_ctx_fallback_count(ctx); k++) {
        json_t *o = json_object();
        qn_fallback f;

        qn_ctx_fallback_get(ctx, k, &f);
        json_object_set_new(o, "stage", qn_json_text(f.stage));
        json_object_set_new(o, "reason", qn_json_text(f.text));
        json_object_set_new(o, "count", json_integer((json_int_t)f.count));
        json_array_append_new(list, o);
    }
    return list;
}

static const qn_metric *next_of(const qn_ctx *ctx, const char *name, const qn_metric *before)
{
    return qn_metric_next(qn_ctx_metrics(ctx), name, before);
}

/* Device time of each kernel, from events; empty unless QUERN_TIMING=1 times every stage. */
static json_t *stages_json(const qn_ctx *ctx)
{
    json_t *list = json_array();

    for (const qn_metric *m = NULL; (m = next_of(ctx, "gpu_stage_time_ms", m));) {
        const char *stage = qn_metric_label(m, "stage");
        const qn_summary s = qn_metric_summary(m);
        json_t *o = json_object();

        json_object_set_new(o, "stage", qn_json_text(stage ? stage : ""));
        json_object_set_new(o, "runs", json_integer((json_int_t)s.count));
        json_object_set_new(o, "ms", qn_json_number(s.sum));
        json_array_append_new(list, o);
    }
    return list;
}

/* Registers of each kernel and the bytes that it spills; only CUDA reports them. */
static json_t *kernels_json(const qn_ctx *ctx)
{
    json_t *list = json_array();

    for (const qn_metric *m = NULL; (m = next_of(ctx, "kernel_registers", m));) {
        const char *const labels[] = { "kernel", qn_metric_label(m, "kernel"), "device",
                                       qn_metric_label(m, "device"), NULL };
        json_t *o = json_object();

        json_object_set_new(o, "kernel", qn_json_text(labels[1]));
        json_object_set_new(o, "registers", qn_json_number(qn_series_value(m)));
        json_object_set_new(
            o, "local_bytes",
            qn_json_number(qn_metric_value(qn_ctx_metrics(ctx), "kernel_local_bytes", labels)));
        json_array_append_new(list, o);
    }
    return list;
}

/* Values alive at once in each kernel of a group, and repeated operations. */
static json_t *live_json(const qn_ctx *ctx)
{
    static const struct {
        const char *name, *metric;
    } counts[] = { { "peak_live", "kernel_live" },
                   { "peak_live_kept", "kernel_live_kept" },
                   { "operations_repeated", "kernel_repeats" } };
    json_t *list = json_array();

    for (const qn_metric *m = NULL; (m = next_of(ctx, "kernel_live", m));) {
        const char *const labels[] = { "kernel", qn_metric_label(m, "kernel"), NULL };
        json_t *o = json_object();

        json_object_set_new(o, "kernel", qn_json_text(labels[1]));
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            json_object_set_new(o, counts[k].name,
                                json_integer((json_int_t)qn_metric_value(
                                    qn_ctx_metrics(ctx), counts[k].metric, labels)));
        json_array_append_new(list, o);
    }
    return list;
}

qn_status qn_fit_write_stats(qn_ctx *ctx, const char *path, const qn_fit_text *text,
                             const qn_fit_result *result, qn_err *err)
{
    const qn_transfer_count moved = qn_ctx_transfers(ctx);
    const qn_fit_solved *last = &result->solves[result->n_solves - 1];
    const struct {
        const char *name, *metric;
    } counters[] = { { "kernels_compiled", "kernel_compiles" },
                     { "cache_hits", "kernel_cache_hits" },
                     { "cache_disk_hits", "kernel_cache_disk_hits" },
                     { "cache_rejected", "kernel_cache_bad" },
                     { "graph_replays", "graph_replays" } };
    json_t *root = json_object(), *groups = json_array();
    qn_status st = QN_OK;

    json_object_set_new(root, "device", json_string(last->device));
    json_object_set_new(root, "precision",
                        json_string(result->precision == QN_FIT_F64 ? "f64" : "f32"));
    json_object_set_new(root, "accumulation", json_string(last->report.accumulation));
    json_object_set_new(root, "jacobian", json_string(last->report.jacobian));
    json_object_set_new(root, "storage", json_string(last->report.storage));
    json_object_set_new(root, "jacobian_bytes",
                        json_integer((json_int_t)last->report.jacobian_bytes));
    json_object_set_new(root, "reproducible",
                        json_boolean(strcmp(last->report.accumulation, "atomic") != 0));
    json_object_set_new(
        root, "dispatches",
        json_integer((json_int_t)(qn_metric_value(qn_ctx_metrics(ctx), "gpu_ops", NULL) +
                                  qn_metric_value(qn_ctx_metrics(ctx), "cpu_ops", NULL))));
    json_object_set_new(root, "batch_size", json_integer(last->report.batch_size));
    json_object_set_new(root, "speculated", json_integer(last->report.n_speculated));
    json_object_set_new(root, "dropped", json_integer(last->report.n_dropped));
    json_object_set_new(root, "waits", json_integer(last->report.n_waits));
    json_object_set_new(root, "h2d_bytes", json_integer((json_int_t)moved.h2d_bytes));
    json_object_set_new(root, "d2h_bytes", json_integer((json_int_t)moved.d2h_bytes));
    for (size_t k = 0; k < sizeof counters / sizeof *counters; k++)
        json_object_set_new(
            root, counters[k].name,
            qn_json_number(qn_metric_value(qn_ctx_metrics(ctx), counters[k].metric, NULL)));
    json_object_set_new(root, "fallbacks", fallbacks_json(ctx));
    json_object_set_new(root, "stages", stages_json(ctx));
    json_object_set_new(root, "kernels", kernels_json(ctx));
    json_object_set_new(root, "live", live_json(ctx));
    json_object_set(root, "groups", groups);
    for (int k = 0; k < text->problem->n_groups; k++) {
        json_t *one = NULL;

        QN_TRY(group_json(&text->problem->groups[k], &last->report, k, &one, err));
        json_array_append_new(groups, one);
    }
    QN_TRY(qn_json_write(path, root, err));
out:
    json_decref(groups);
    json_decref(root);
    return st;
}
