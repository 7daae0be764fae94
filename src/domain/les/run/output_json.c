/* output_json.c - a run as JSON, inside the engine's metrics. */
#include "output.h"

#include "domain/les/options/method.h"
#include "engine/engine.h"
#include "util/file.h"
#include "util/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#ifndef QN_GIT
#define QN_GIT "unknown"
#endif

/* The transforms of the steps. */
static const char *fft_of(const qn_les_result *result)
{
    const char *const device = result->device;

    if (result->has_passes)
        return "own";
    return !strncmp(device, "opencl", 6) || !strncmp(device, "cuda", 4) ? "vkfft" : "fftw";
}

const char *qn_les_device_name(qn_ctx *ctx, const qn_les_result *result)
{
    for (int d = 0; d < qn_device_count(ctx); d++)
        if (!strcmp(qn_device_id(ctx, d), result->device))
            return qn_device_get(ctx, d)->name;
    return result->device;
}

/* 77 and 89 fields cross memory in two stages with the transforms of a library. */
double qn_les_step_bytes(const qn_les_options *config)
{
    const double w = (double)config->N * config->N * (config->precision == QN_LES_F64 ? 8 : 4);

    return (config->form == QN_LES_FLUX ? 77 : 89) / 2.0 * qn_les_method_of(config)->n_stages * w *
           config->ensemble;
}

/* The blocks. */

static json_t *device_json(qn_ctx *ctx, const qn_les_options *config, const qn_les_result *result)
{
    static const char *const ffts[] = { "auto", "fftw", "vkfft", "own" };
    const char *const id = result->device;
    json_t *o = json_object();
    char backend[32];

    snprintf(backend, sizeof backend, "%.*s", (int)strcspn(id, ":"), id);
    if (id[0])
        qn_json_merge(&o, json_pack("{s:o, s:s, s:s, s:s}", "name",
                                    qn_json_text(qn_les_device_name(ctx, result)), "id", id,
                                    "backend_used", backend, "fft_used", fft_of(result)));
    qn_json_merge(&o, json_pack("{s:o, s:s, s:s}", "backend_requested",
                                qn_json_text(config->backend), "fft_requested", ffts[config->fft],
                                "precision", config->precision == QN_LES_F64 ? "f64" : "f32"));
    return o;
}

static json_t *residency_json(const qn_les_result *result)
{
    const qn_les_residency *res = &result->residency;
    json_t *o = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:i}", "device_bytes_peak", (json_int_t)res->device_bytes_peak,
        "h2d_bytes", (json_int_t)res->all.h2d_bytes, "h2d_calls", (json_int_t)res->all.h2d_count,
        "d2h_bytes", (json_int_t)res->all.d2h_bytes, "d2h_calls", (json_int_t)res->all.d2h_count,
        "syncs", res->syncs);

    if (result->times[QN_LES_TIME_SIM].count)
        qn_json_merge(&o,
                      json_pack("{s:I, s:I, s:i, s:I, s:i, s:I}", "loop_h2d_bytes",
                                (json_int_t)res->loop_h2d_bytes, "loop_d2h_bytes",
                                (json_int_t)res->loop_d2h_bytes, "loop_snapshots", res->n_snapshots,
                                "loop_snapshot_bytes", (json_int_t)res->snapshot_bytes,
                                "loop_checkpoints", res->n_checkpoints, "loop_checkpoint_bytes",
                                (json_int_t)res->checkpoint_bytes));
    return o;
}

/* The phase that a stage belongs to. */
static qn_les_phase phase_of(const char *stage)
{
    static const struct {
        const char *prefix;
        qn_les_phase phase;
    } table[] = {
        { "les.ic", QN_LES_TIME_INIT },         { "les.codec", QN_LES_TIME_ENCODE },
        { "les.learn", QN_LES_TIME_LEARN },     { "les.operator", QN_LES_TIME_LEARN },
        { "les.rollout", QN_LES_TIME_ROLLOUT }, { "les.decode", QN_LES_TIME_DECODE },
        { "les.compare", QN_LES_TIME_METRICS }, { "les.hash", QN_LES_TIME_METRICS },
        { "les.log", QN_LES_TIME_METRICS },     { "les.shells", QN_LES_TIME_METRICS },
        { "les.frame", QN_LES_TIME_PLOT },
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strncmp(stage, table[i].prefix, strlen(table[i].prefix)))
            return table[i].phase;
    return QN_LES_TIME_SIM;
}

/* Device time of a phase; NaN unless QUERN_TIMING=1 times every stage. */
static double device_seconds(const qn_ctx *ctx, qn_les_phase phase)
{
    double ms = 0;

    for (const qn_metric *m = NULL;
         (m = qn_metric_next(qn_ctx_metrics(ctx), "gpu_stage_time_ms", m));) {
        const char *stage = qn_metric_label(m, "stage");

        if (stage && !strncmp(stage, "les.", 4) && phase_of(stage) == phase)
            ms += qn_metric_summary(m).sum;
    }
    return qn_ctx_settings(ctx)->timing && ms > 0 ? ms / 1e3 : NAN;
}

static json_t *timing_json(qn_ctx *ctx, const qn_les_result *result)
{
    json_t *o = json_object();

    for (int i = 0; i < QN_LES_TIMES; i++) {
        const double device_s = device_seconds(ctx, (qn_les_phase)i);
        json_t *phase;

        if (!result->times[i].count && !(result->times[i].wall_s > 0))
            continue;
        phase = json_pack("{s:o}", "wall_s", qn_json_number(result->times[i].wall_s));
        if (isfinite(device_s))
            qn_json_put(&phase, "device_s", qn_json_number(device_s));
        if (result->times[i].count)
            qn_json_put(&phase, "count", json_integer(result->times[i].count));
        qn_json_put(&o, qn_les_phase_name((qn_les_phase)i), phase);
    }
    qn_json_put(&o, "total", json_pack("{s:o}", "wall_s", qn_json_number(result->total_s)));
    return o;
}

static json_t *sim_json(const qn_les_options *config, const qn_les_result *result)
{
    const qn_les_time *sim = &result->times[QN_LES_TIME_SIM];
    const double step_s = sim->wall_s / (double)sim->count;
    const double bytes = qn_les_step_bytes(config);
    const double cells = (double)config->N * config->N * config->ensemble;
    const int n_stages = qn_les_method_of(config)->n_stages;
    /* The advective form has E and D where it computes the eddy viscosity. */
    const int n_strain = config->nu_update == QN_LES_NU_STEP ? 1 : n_stages;
    const int n_fft = config->form == QN_LES_FLUX ? 6 * n_stages : 6 * n_stages + 2 * n_strain;

    return json_pack(
        "{s:o, s:o, s:o, s:i, s:I, s:o, s:o, s:o, s:o, s:I, s:o}", "ms_per_step",
        qn_json_number(1e3 * step_s), "steps_per_s", qn_json_number(1 / step_s), "cells_per_s",
        qn_json_number(cells / step_s), "fft_per_step", n_fft, "bytes_model", (json_int_t)bytes,
        "gbs_model", qn_json_number(bytes / step_s / 1e9), "zd",
        qn_json_number(result->stability.zd), "za", qn_json_number(result->stability.za), "dt",
        qn_json_number(result->stability.dt), "steps", (json_int_t)result->end.step, "time",
        qn_json_number(result->end.time));
}

static json_t *proxy_json(const qn_les_options *config, const qn_les_result *result)
{
    const qn_les_modes *modes = &result->modes;
    json_t *o = json_pack("{s:i, s:i, s:i, s:I, s:i}", "D", result->layout.size, "n_low",
                          modes->n_low, "n_mid", modes->n_mid, "n_high", (json_int_t)modes->n_high,
                          "pairs", modes->n_anchors);

    if (!result->has_proxy)
        return o;
    if (result->proxy.n_train)
        qn_json_put(&o, "T", json_integer(result->proxy.n_train));
    qn_json_put(&o, "ridge", qn_json_number(config->ridge));
    qn_json_put(&o, "spectral_radius", qn_json_number(result->proxy.spectral_radius));
    return o;
}

static json_t *compared_json(const qn_les_compared *c)
{
    const qn_les_errors *full = &c->full;

    return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "t",
                     c->step, "window", c->window, "rel_l2_lp", qn_json_number(c->lp.rel_l2),
                     "corr_lp", qn_json_number(c->lp.corr), "rel_l2", qn_json_number(full->rel_l2),
                     "corr", qn_json_number(full->corr), "dE", qn_json_number(full->dE), "dZ",
                     qn_json_number(full->dZ), "dE_rel", qn_json_number(full->dE_rel), "dZ_rel",
                     qn_json_number(full->dZ_rel), "spectrum_err",
                     qn_json_number(full->spectrum_err), "persistence_rel_l2",
                     qn_json_number(c->persistence), "support", qn_json_number(c->support));
}

static json_t *series_json(const qn_les_result *result)
{
    static const char *const names[] = { "t", "energy", "enstrophy" };
    json_t *o = json_object();

    for (int k = 0; k < 3; k++) {
        json_t *array = json_array();

        for (int i = 0; i < result->n_rows; i++) {
            const qn_les_row *row = &result->rows[i];
            const double values[] = { row->step, row->energy, row->enstrophy };

            qn_json_push(&array, qn_json_number(values[k]));
        }
        qn_json_put(&o, names[k], array);
    }
    return o;
}

static json_t *hash_json(const qn_les_hash *h)
{
    json_t *o = json_pack("{s:i}", "t", h->step);
    char text[24];

    snprintf(text, sizeof text, "%016" PRIx64, h->z);
    if (h->has_z)
        qn_json_put(&o, "z_fnv1a64", json_string(text));
    snprintf(text, sizeof text, "%016" PRIx64, h->omega);
    qn_json_put(&o, "omega_fnv1a64", json_string(text));
    return o;
}

/* The member `les`; NULL for lack of memory. */
static json_t *result_json(qn_ctx *ctx, const qn_les_options *config, const qn_les_result *result)
{
    json_t *snapshots = json_array(), *hashes = json_array(), *flags = json_array();
    json_t *o =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "schema", "quern-les/1", "run_ts",
                  result->stamp, "git", QN_GIT, "status", result->status, "config",
                  qn_les_options_json(config), "device", device_json(ctx, config, result),
                  "residency", residency_json(result), "timing", timing_json(ctx, result));

    if (result->times[QN_LES_TIME_SIM].count)
        qn_json_put(&o, "sim", sim_json(config, result));
    if (result->has_codec)
        qn_json_put(&o, "proxy", proxy_json(config, result));
    for (int i = 0; i < result->n_compared; i++)
        qn_json_push(&snapshots, compared_json(&result->compared[i]));
    for (int i = 0; i < result->n_hashes; i++)
        qn_json_push(&hashes, hash_json(&result->hashes[i]));
    for (int i = 0; i < result->n_flags; i++)
        qn_json_push(&flags, qn_json_text(result->flags[i]));
    qn_json_merge(&o, json_pack("{s:o, s:o, s:o, s:o}", "snapshots", snapshots, "series",
                                series_json(result), "hashes", hashes, "flags", flags));
    return o;
}

/* The file. */

/* "runs/a.json" and a stamp make "runs/a_20260131T120000Z.json". */
static void stamped(const char *path, const char *stamp, char *out, size_t size)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name ? name : path, '.');
    const size_t stem = dot ? (size_t)(dot - path) : strlen(path);

    snprintf(out, size, "%.*s_%s%s", (int)stem, path, stamp, dot ? dot : ".json");
}

/* The engine's metrics, and the run as their member `les`. */
static qn_status metrics_json(qn_ctx *ctx, const qn_les_options *config,
                              const qn_les_result *result, json_t **out, qn_err *err)
{
    const qn_run_info info = { .command = "les run", .status = result->status };
    qn_str text = { 0 };
    json_t *json = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_report_json(ctx, &info, &text, err));
    json = json_loads(qn_str_get(&text), 0, NULL);
    if (!json || json_object_set_new(json, "les", result_json(ctx, config, result)) != 0)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for the metrics of the run");
    *out = json;
    json = NULL;
out:
    json_decref(json);
    qn_str_free(&text);
    return st;
}

qn_status qn_les_write_metrics(qn_ctx *ctx, const qn_les_options *config, qn_les_result *result,
                               qn_err *err)
{
    char log[QN_OPTION_TEXT_BYTES + QN_LES_NAME_SIZE];
    qn_out out;
    json_t *json = NULL;
    qn_status st = QN_OK;

    QN_TRY(metrics_json(ctx, config, result, &json, err));
    if (!(result->metrics = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(12))))
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for the metrics of the run");
    if (result->folder) {
        QN_TRY(qn_run_folder_create(result->folder, QN_LES_METRICS_FILE, &out, err));
        QN_TRY(qn_json_commit(&out, json, err));
        QN_TRY(qn_run_folder_add(result->folder, QN_LES_METRICS_FILE, err));
    }
    if (config->log_metrics[0]) {
        stamped(config->log_metrics, result->stamp, log, sizeof log);
        QN_TRY(qn_make_parent(log, err));
        QN_TRY(qn_json_write(log, json, err));
    }
out:
    json_decref(json);
    return st;
}
