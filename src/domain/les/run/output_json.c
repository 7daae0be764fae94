/* output_json.c - a run as JSON, inside the engine's metrics. */
#include "output.h"

#include "engine/engine.h"
#include "util/file.h"
#include "util/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#ifndef QN_GIT
#define QN_GIT "unknown"
#endif

const char *qn_les_fft_of(const qn_les_result *result)
{
    const char *const device = result->device;

    if (result->has_passes)
        return "own";
    return !strncmp(device, "opencl", 6) || !strncmp(device, "cuda", 4) ? "vkfft" : "fftw";
}

int qn_les_ffts_per_step(const qn_les_options *config)
{
    return config->form == QN_LES_FLUX ? 12 : 14;
}

/* 77 and 89 fields cross memory per step with the transforms of a library. */
double qn_les_step_bytes(const qn_les_options *config)
{
    const double w = (double)config->N * config->N * (config->precision == QN_LES_F64 ? 8 : 4);

    return (config->form == QN_LES_FLUX ? 77 : 89) * w * config->ensemble;
}

/* An object under construction; `is_whole` is 0 after a failure. */
typedef struct object {
    json_t *json;
    int is_whole;
} object;

static object object_new(void)
{
    json_t *json = json_object();

    return (object){ json, json != NULL };
}

static void put(object *o, const char *key, json_t *value)
{
    o->is_whole &= json_object_set_new(o->json, key, value) == 0;
}

static void put_number(object *o, const char *key, double value)
{
    put(o, key, qn_json_number(value));
}

/* A value that was not measured is left out. */
static void put_measured(object *o, const char *key, double value)
{
    if (isfinite(value))
        put_number(o, key, value);
}

static void put_count(object *o, const char *key, double value)
{
    put(o, key, json_integer((json_int_t)value));
}

static void put_text(object *o, const char *key, const char *value)
{
    put(o, key, qn_json_text(value));
}

static void put_object(object *o, const char *key, object value)
{
    o->is_whole &= value.is_whole;
    put(o, key, value.json);
}

static void append(object *o, json_t *array, object item)
{
    o->is_whole &= item.is_whole && json_array_append_new(array, item.json) == 0;
}

/* The blocks. */

static object device_json(qn_ctx *ctx, const qn_les_options *config, const qn_les_result *result)
{
    static const char *const ffts[] = { "auto", "fftw", "vkfft", "own" };
    object o = object_new();
    const char *name = result->device;
    char backend[32];

    for (int d = 0; d < qn_device_count(ctx); d++)
        if (!strcmp(qn_device_id(ctx, d), result->device))
            name = qn_device_get(ctx, d)->name;
    snprintf(backend, sizeof backend, "%.*s", (int)strcspn(result->device, ":"), result->device);
    if (result->device[0]) {
        put_text(&o, "name", name);
        put_text(&o, "id", result->device);
        put_text(&o, "backend_used", backend);
        put_text(&o, "fft_used", qn_les_fft_of(result));
    }
    put_text(&o, "backend_requested", config->backend);
    put_text(&o, "fft_requested", ffts[config->fft]);
    put_text(&o, "precision", config->precision == QN_LES_F64 ? "f64" : "f32");
    return o;
}

static object residency_json(const qn_les_result *result)
{
    const qn_les_residency *res = &result->residency;
    object o = object_new();

    put_count(&o, "device_bytes_peak", res->device_bytes_peak);
    put_count(&o, "h2d_bytes", (double)res->all.h2d_bytes);
    put_count(&o, "h2d_calls", (double)res->all.h2d_count);
    put_count(&o, "d2h_bytes", (double)res->all.d2h_bytes);
    put_count(&o, "d2h_calls", (double)res->all.d2h_count);
    put_count(&o, "syncs", res->syncs);
    if (!result->times[QN_LES_TIME_SIM].count)
        return o;
    put_count(&o, "loop_h2d_bytes", (double)res->loop_h2d_bytes);
    put_count(&o, "loop_d2h_bytes", (double)res->loop_d2h_bytes);
    put_count(&o, "loop_snapshots", res->n_snapshots);
    put_count(&o, "loop_snapshot_bytes", (double)res->snapshot_bytes);
    put_count(&o, "loop_checkpoints", res->n_checkpoints);
    put_count(&o, "loop_checkpoint_bytes", (double)res->checkpoint_bytes);
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

static object timing_json(qn_ctx *ctx, const qn_les_result *result)
{
    object o = object_new();

    for (int i = 0; i < QN_LES_TIMES; i++) {
        const char *name = qn_les_phase_name((qn_les_phase)i);
        object phase;

        if (!result->times[i].count && !(result->times[i].wall_s > 0))
            continue;
        phase = object_new();
        put_number(&phase, "wall_s", result->times[i].wall_s);
        put_measured(&phase, "device_s", device_seconds(ctx, (qn_les_phase)i));
        if (result->times[i].count)
            put_count(&phase, "count", (double)result->times[i].count);
        put_object(&o, name, phase);
    }
    object total = object_new();
    put_number(&total, "wall_s", result->total_s);
    put_object(&o, "total", total);
    return o;
}

static object sim_json(const qn_les_options *config, const qn_les_result *result)
{
    const qn_les_time *sim = &result->times[QN_LES_TIME_SIM];
    const double step_s = sim->wall_s / (double)sim->count;
    const double bytes = qn_les_step_bytes(config);
    object o = object_new();

    put_number(&o, "ms_per_step", 1e3 * step_s);
    put_number(&o, "steps_per_s", 1 / step_s);
    put_number(&o, "cells_per_s", (double)config->N * config->N * config->ensemble / step_s);
    put_count(&o, "fft_per_step", qn_les_ffts_per_step(config));
    put_count(&o, "bytes_model", bytes);
    put_number(&o, "gbs_model", bytes / step_s / 1e9);
    put_number(&o, "zd", result->stability.zd);
    put_number(&o, "za", result->stability.za);
    put_number(&o, "dt", result->stability.dt);
    put_count(&o, "steps", (double)result->end.step);
    put_number(&o, "time", result->end.time);
    return o;
}

static object proxy_json(const qn_les_options *config, const qn_les_result *result)
{
    object o = object_new();

    put_count(&o, "D", result->layout.size);
    put_count(&o, "n_low", result->modes.n_low);
    put_count(&o, "n_mid", result->modes.n_mid);
    put_count(&o, "n_high", (double)result->modes.n_high);
    put_count(&o, "pairs", result->modes.n_anchors);
    if (!result->has_proxy)
        return o;
    if (result->proxy.n_train)
        put_count(&o, "T", result->proxy.n_train);
    put_number(&o, "ridge", config->ridge);
    put_number(&o, "spectral_radius", result->proxy.spectral_radius);
    return o;
}

static object compared_json(const qn_les_compared *c)
{
    object o = object_new();

    put_count(&o, "t", c->step);
    put_text(&o, "window", c->window);
    put_number(&o, "rel_l2_lp", c->lp.rel_l2);
    put_number(&o, "corr_lp", c->lp.corr);
    put_number(&o, "rel_l2", c->full.rel_l2);
    put_number(&o, "corr", c->full.corr);
    put_number(&o, "dE", c->full.dE);
    put_number(&o, "dZ", c->full.dZ);
    put_number(&o, "dE_rel", c->full.dE_rel);
    put_number(&o, "dZ_rel", c->full.dZ_rel);
    put_number(&o, "spectrum_err", c->full.spectrum_err);
    put_number(&o, "persistence_rel_l2", c->persistence);
    put_number(&o, "support", c->support);
    return o;
}

static object series_json(const qn_les_result *result)
{
    static const char *const names[] = { "t", "energy", "enstrophy" };
    object o = object_new();

    for (int k = 0; k < 3; k++) {
        json_t *array = json_array();

        for (int i = 0; i < result->n_rows; i++) {
            const qn_les_row *row = &result->rows[i];
            const double values[] = { row->step, row->energy, row->enstrophy };

            o.is_whole &= json_array_append_new(array, qn_json_number(values[k])) == 0;
        }
        put(&o, names[k], array);
    }
    return o;
}

static object hash_json(const qn_les_hash *h)
{
    object o = object_new();
    char text[24];

    put_count(&o, "t", h->step);
    snprintf(text, sizeof text, "%016" PRIx64, h->z);
    if (h->has_z)
        put_text(&o, "z_fnv1a64", text);
    snprintf(text, sizeof text, "%016" PRIx64, h->omega);
    put_text(&o, "omega_fnv1a64", text);
    return o;
}

/* The member `les`; NULL for lack of memory. */
static json_t *result_json(qn_ctx *ctx, const qn_les_options *config, const qn_les_result *result)
{
    json_t *snapshots = json_array(), *hashes = json_array(), *flags = json_array();
    object o = object_new();

    put_text(&o, "schema", "quern-les/1");
    put_text(&o, "run_ts", result->stamp);
    put_text(&o, "git", QN_GIT);
    put_text(&o, "status", result->status);
    put(&o, "config", qn_les_options_json(config));
    put_object(&o, "device", device_json(ctx, config, result));
    put_object(&o, "residency", residency_json(result));
    put_object(&o, "timing", timing_json(ctx, result));
    if (result->times[QN_LES_TIME_SIM].count)
        put_object(&o, "sim", sim_json(config, result));
    if (result->has_codec)
        put_object(&o, "proxy", proxy_json(config, result));
    for (int i = 0; i < result->n_compared; i++)
        append(&o, snapshots, compared_json(&result->compared[i]));
    put(&o, "snapshots", snapshots);
    put_object(&o, "series", series_json(result));
    for (int i = 0; i < result->n_hashes; i++)
        append(&o, hashes, hash_json(&result->hashes[i]));
    put(&o, "hashes", hashes);
    for (int i = 0; i < result->n_flags; i++)
        o.is_whole &= json_array_append_new(flags, qn_json_text(result->flags[i])) == 0;
    put(&o, "flags", flags);
    if (o.is_whole)
        return o.json;
    json_decref(o.json);
    return NULL;
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
    if (!json || json_object_set_new(json, "les", result_json(ctx, config, result)) != 0) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for the metrics of the run");
        goto out;
    }
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
    char path[QN_OPTION_TEXT_BYTES + 80];
    json_t *json = NULL;
    qn_status st = QN_OK;

    QN_TRY(metrics_json(ctx, config, result, &json, err));
    if (!(result->metrics = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(12)))) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for the metrics of the run");
        goto out;
    }
    if (config->out[0]) {
        qn_les_path(config, result, "metrics.json", path, sizeof path);
        QN_TRY(qn_json_write(path, json, err));
    }
    if (config->log_metrics[0]) {
        stamped(config->log_metrics, result->stamp, path, sizeof path);
        QN_TRY(qn_make_parent(path, err));
        QN_TRY(qn_json_write(path, json, err));
    }
out:
    json_decref(json);
    return st;
}
