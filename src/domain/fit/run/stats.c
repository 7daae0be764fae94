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
    const unsigned wants = g->is_energy ? QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_GRAD)
                                        : QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC);

    QN_TRY(qn_fit_tape_new(g->graph, wants, g->loss, QN_FIT_SWEEP_AUTO, &tape, err));
    const qn_fit_section *values = &tape->sections[g->is_energy ? QN_FIT_GRAD : QN_FIT_JAC];
    *out = json_pack(
        "{s:o, s:s, s:I, s:I, s:i, s:i, s:i, s:i, s:i, s:I, s:i, s:i, s:i, s:I, s:o}", "name",
        qn_json_text(g->name), "signature",
        qn_hex(qn_fit_graph_signature(g->graph), QN_FIT_SIGNATURE_BYTES, hex), "instances",
        (json_int_t)g->n, "dispatches",
        (json_int_t)(r->batch_size ? (g->n + r->batch_size - 1) / r->batch_size : g->n > 0), "rows",
        g->n_rows, "slots", g->n_slots, "columns", g->n_columns, "variables", tape->n_variables,
        "operations", tape->n_ops, "weighted_operations", (json_int_t)tape->weight, "peak_live",
        tape->peak_live, "entries", values->n_entries, "entries_stored", values->count, "bytes",
        (json_int_t)(4 * g->n_slots + 8 * (g->n_columns + g->n_rows + values->count)), "cost",
        qn_json_number(r->group_costs[k]));
out:
    qn_fit_tape_free(tape);
    return st;
}

static json_t *fallbacks_json(const qn_ctx *ctx)
{
    json_t *list = json_array();

    for (int k = 0; k < qn_ctx_fallback_count(ctx); k++) {
        qn_fallback f;

        qn_ctx_fallback_get(ctx, k, &f);
        qn_json_push(&list, json_pack("{s:o, s:o, s:I}", "stage", qn_json_text(f.stage), "reason",
                                      qn_json_text(f.text), "count", (json_int_t)f.count));
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

        qn_json_push(&list, json_pack("{s:o, s:I, s:o}", "stage", qn_json_text(stage ? stage : ""),
                                      "runs", (json_int_t)s.count, "ms", qn_json_number(s.sum)));
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
        const double spilled = qn_metric_value(qn_ctx_metrics(ctx), "kernel_local_bytes", labels);

        qn_json_push(&list, json_pack("{s:o, s:o, s:o}", "kernel", qn_json_text(labels[1]),
                                      "registers", qn_json_number(qn_series_value(m)),
                                      "local_bytes", qn_json_number(spilled)));
    }
    return list;
}

/* Values alive at once in each kernel of a group, and repeated operations. */
static json_t *live_json(const qn_ctx *ctx)
{
    const qn_metrics *const all = qn_ctx_metrics(ctx);
    json_t *list = json_array();

    for (const qn_metric *m = NULL; (m = next_of(ctx, "kernel_live", m));) {
        const char *const labels[] = { "kernel", qn_metric_label(m, "kernel"), NULL };

        qn_json_push(&list,
                     json_pack("{s:o, s:I, s:I, s:I}", "kernel", qn_json_text(labels[1]),
                               "peak_live", (json_int_t)qn_metric_value(all, "kernel_live", labels),
                               "peak_live_kept",
                               (json_int_t)qn_metric_value(all, "kernel_live_kept", labels),
                               "operations_repeated",
                               (json_int_t)qn_metric_value(all, "kernel_repeats", labels)));
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
    const qn_fit_report *const r = &last->report;
    const qn_metrics *const all = qn_ctx_metrics(ctx);
    json_t *groups = json_array();
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:I, s:b, s:I, s:i, s:I, s:I, s:I, s:I, s:I}", "device",
        last->device, "precision", result->precision == QN_FIT_F64 ? "f64" : "f32", "accumulation",
        r->accumulation, "jacobian", r->jacobian, "storage", r->storage, "jacobian_bytes",
        (json_int_t)r->jacobian_bytes, "reproducible", strcmp(r->accumulation, "atomic") != 0,
        "dispatches",
        (json_int_t)(qn_metric_value(all, "gpu_ops", NULL) + qn_metric_value(all, "cpu_ops", NULL)),
        "batch_size", r->batch_size, "speculated", (json_int_t)r->n_speculated, "dropped",
        (json_int_t)r->n_dropped, "waits", (json_int_t)r->n_waits, "h2d_bytes",
        (json_int_t)moved.h2d_bytes, "d2h_bytes", (json_int_t)moved.d2h_bytes);
    qn_status st = QN_OK;

    for (size_t k = 0; k < sizeof counters / sizeof *counters; k++)
        qn_json_put(&root, counters[k].name,
                    qn_json_number(qn_metric_value(all, counters[k].metric, NULL)));
    qn_json_put(&root, "fallbacks", fallbacks_json(ctx));
    qn_json_put(&root, "stages", stages_json(ctx));
    qn_json_put(&root, "kernels", kernels_json(ctx));
    qn_json_put(&root, "live", live_json(ctx));
    for (int k = 0; k < text->problem->n_groups; k++) {
        json_t *one = NULL;

        QN_TRY(group_json(&text->problem->groups[k], r, k, &one, err));
        qn_json_push(&groups, one);
    }
    qn_json_put(&root, "groups", groups);
    groups = NULL;
    QN_TRY(qn_json_write(path, root, err));
out:
    json_decref(groups);
    json_decref(root);
    return st;
}
