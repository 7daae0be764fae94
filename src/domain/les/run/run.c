/* run.c - a run from its options to its results. */
#include "run_impl.h"

#include "output.h"
#include "writes.h"
#include "engine/engine.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/list.h"
#include "util/netcdf.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Shared by the files of a run. */

const char *qn_les_phase_name(qn_les_phase phase)
{
    static const char *const names[QN_LES_TIMES] = { "init",    "sim",     "encode",
                                                     "learn",   "rollout", "decode",
                                                     "metrics", "plot",    "video" };

    return names[phase];
}

void qn_les_flag(qn_les_result *result, const char *format, ...)
{
    char *text = result->flags[result->n_flags];
    va_list args;

    if (result->n_flags == QN_LES_MAX_FLAGS)
        return;
    va_start(args, format);
    vsnprintf(text, QN_LES_FLAG_SIZE, format, args);
    va_end(args);
    for (int i = 0; i < result->n_flags; i++)
        if (!strcmp(result->flags[i], text))
            return;
    result->n_flags++;
}

void qn_les_run_enter(run *r, qn_les_phase phase)
{
    const double now = qn_now_us();

    r->result->times[r->phase].wall_s += (now - r->phase_since) / 1e6;
    r->phase = phase;
    r->phase_since = now;
}

qn_status qn_les_run_wait(run *r, qn_graph *graph, qn_err *err)
{
    r->result->residency.syncs += !qn_graph_is_done(graph);
    return qn_graph_wait(graph, err);
}

size_t qn_les_run_real_bytes(const run *r)
{
    return r->config->precision == QN_LES_F64 ? sizeof(double) : sizeof(float);
}

size_t qn_les_run_field_bytes(const run *r)
{
    return (size_t)r->config->N * (size_t)r->config->N * qn_les_run_real_bytes(r);
}

size_t qn_les_run_row_bytes(const run *r)
{
    return (size_t)r->result->layout.size * (size_t)r->config->ensemble * qn_les_run_real_bytes(r);
}

/* The beginning. */

static qn_status make_codec(run *r, qn_err *err)
{
    qn_les_result *result = r->result;
    qn_status st = QN_OK;

    if (!r->plan.n_frames)
        return QN_OK;
    QN_TRY(qn_les_codec_new(r->ctx, r->config, &r->codec, err));
    result->modes = *qn_les_codec_modes(r->codec);
    result->modes.low = result->modes.mid = NULL;
    result->layout = qn_les_codec_layout(r->codec);
    result->has_codec = 1;
    QN_TRY(qn_buf_new(r->ctx, "les.z", (size_t)r->plan.n_frames * qn_les_run_row_bytes(r), &r->z,
                      err));
out:
    return st;
}

static qn_status make_flow(run *r, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_les_sim_new(r->ctx, r->config, &r->sim, err));
    r->result->stability = qn_les_sim_stability(r->sim);
    r->result->has_passes = qn_les_sim_has_passes(r->sim);
    if (!r->result->stability.is_stable) {
        r->result->status = "unstable";
        qn_les_flag(r->result, "time step beyond the stability limit: zd %.3g, za %.3g",
                    r->result->stability.zd, r->result->stability.za);
    }
    if (r->plan.log)
        QN_TRY(qn_les_sim_log_room(r->sim, r->plan.n_rows, err));
    if (r->config->observer != QN_LES_OBSERVE_NONE)
        QN_TRY(qn_buf_new(r->ctx, "les.spectrum",
                          (size_t)qn_les_sim_shells(r->config) * sizeof(double), &r->shells, err));
out:
    return st;
}

static qn_status begin(run *r, qn_err *err)
{
    qn_status st = QN_OK;

    qn_les_run_ahead(r);
    QN_TRY(make_flow(r, err));
    QN_TRY(make_codec(r, err));
    QN_TRY(qn_les_run_loop_make(r, err));
    if (r->saved.step)
        QN_TRY(qn_les_run_restore(r, err));
    else
        QN_TRY(qn_les_run_first(r, err));
out:
    return st;
}

/* The end. */

static void fill_residency(run *r)
{
    qn_les_residency *res = &r->result->residency;

    qn_report_refresh(r->ctx);
    res->all = qn_ctx_transfers(r->ctx);
    res->device_bytes_peak = qn_metric_value(qn_ctx_metrics(r->ctx), "gpu_memory_peak_bytes", NULL);
}

static void set_gauge(run *r, const char *name, double value)
{
    qn_metric_set(qn_metric_of(qn_ctx_metrics(r->ctx), name, NULL), value);
}

static void set_gauges(run *r)
{
    static const struct {
        const char *name;
        qn_les_phase phase;
    } gauges[] = {
        { "les_sim_time_s", QN_LES_TIME_SIM },       { "les_encode_time_s", QN_LES_TIME_ENCODE },
        { "les_learn_time_s", QN_LES_TIME_LEARN },   { "les_rollout_time_s", QN_LES_TIME_ROLLOUT },
        { "les_decode_time_s", QN_LES_TIME_DECODE }, { "les_plot_time_s", QN_LES_TIME_PLOT },
        { "les_video_time_s", QN_LES_TIME_VIDEO }
    };
    const qn_les_result *result = r->result;

    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++)
        if (result->times[gauges[i].phase].wall_s > 0)
            set_gauge(r, gauges[i].name, result->times[gauges[i].phase].wall_s);
    if (result->n_compared) {
        const qn_les_compared *last = &result->compared[result->n_compared - 1];

        set_gauge(r, "les_l2_error", last->lp.rel_l2);
        set_gauge(r, "les_correlation", last->lp.corr);
        set_gauge(r, "les_energy_drift", last->full.dE_rel);
        set_gauge(r, "les_enstrophy_drift", last->full.dZ_rel);
    }
}

static void note_fallbacks(run *r)
{
    const double n = qn_metric_value(qn_ctx_metrics(r->ctx), "gpu_fallback_count", NULL);

    if (n > 0)
        qn_les_flag(r->result, "%.0f fallbacks to the CPU", n);
}

static qn_status write_results(run *r, qn_err *err)
{
    const int is_seen = r->config->observer != QN_LES_OBSERVE_NONE;
    const int has_files = r->result->folder && is_seen && r->sim;
    qn_status st = QN_OK;

    fill_residency(r);
    note_fallbacks(r);
    QN_TRY(qn_les_writes_wait(r->result, err));
    if (is_seen && r->sim)
        QN_TRY(qn_les_add_tables(r->result, err));
    if (r->config->format != QN_LES_FORMAT_NPY && !r->is_stopped)
        QN_TRY(qn_les_run_write_nc(r, err));
    if (has_files) {
        QN_TRY(qn_les_write_table(r->result, "series", err));
        QN_TRY(qn_les_write_table(r->result, "spectrum", err));
    }
    qn_les_run_enter(r, QN_LES_TIME_PLOT);
    r->result->total_s = 0;
    for (int i = 0; i < QN_LES_TIMES; i++)
        r->result->total_s += r->result->times[i].wall_s;
    set_gauges(r);
    QN_TRY(qn_les_write_metrics(r->ctx, r->config, r->result, err));
    if (has_files)
        QN_TRY(qn_les_write_report(r->ctx, r->config, r->result, err));
    if (r->result->folder && !r->is_stopped) {
        QN_TRY(qn_les_run_forget(r, err));
        QN_TRY(qn_run_folder_finish(r->result->folder, err));
    } else if (r->result->folder) { /* the run has not ended */
        QN_TRY(qn_run_folder_commit(r->result->folder, NULL, NULL, err));
        QN_TRY(qn_run_folder_wait(r->result->folder, err));
    }
out:
    return st;
}

/* Reports between which steps cells became NaN or infinite, or the flow too fast. */
static qn_status lost(run *r, qn_err *err)
{
    qn_les_progress *end = &r->result->end;
    int is_kept;
    const long saved = r->result->folder ? qn_les_folder_step(r->result->folder, &is_kept) : 0;
    char also[64] = "";

    if (!qn_les_is_lost(end)) /* seen in a snapshot, before the next check */
        end->first_bad = r->step;
    if (saved)
        snprintf(also, sizeof also, "; the checkpoint of step %ld remains", saved);
    if (end->first_bad >= 0) {
        r->result->status = "nonfinite";
        qn_les_flag(r->result, "cells not finite between steps %lld and %lld",
                    (long long)end->last_good, (long long)end->first_bad);
    } else {
        r->result->status = "unstable";
        qn_les_flag(r->result, "from step %lld on, dt is beyond %.3g, the largest stable one",
                    (long long)end->outgrown, qn_les_shown_step(end->dt_limit));
    }
    return qn_les_lost(r->config, end, also, err);
}

static qn_status run_flow(run *r, qn_err *err)
{
    qn_status st = QN_OK, ended = QN_OK;
    double start;

    QN_TRY(begin(r, err));
    qn_les_run_enter(r, QN_LES_TIME_SIM);
    start = qn_now_us();
    QN_TRY(qn_les_run_loop(r, err));
    r->result->loop_s = (qn_now_us() - start) / 1e6;
    r->result->times[QN_LES_TIME_SIM].count = r->step - r->result->first_step;
    qn_les_run_enter(r, QN_LES_TIME_METRICS);
    QN_TRY(qn_les_run_read(r, err));
    if (r->is_stopped)
        ended = lost(r, err);
    else
        QN_TRY(qn_les_run_proxy(r, err));
    qn_les_run_enter(r, QN_LES_TIME_METRICS);
    if (r->codec && r->config->observer != QN_LES_OBSERVE_NONE && !r->is_stopped)
        QN_TRY(qn_les_run_measure_encode(r, err));
    QN_TRY(write_results(r, ended == QN_OK ? err : NULL));
    st = ended;
out:
    return st;
}

static qn_status run_without_flow(run *r, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(make_codec(r, err));
    if (!r->codec)
        QN_FAIL(err, QN_ERR_USAGE, "kernel_only: there is nothing to roll out with what sim");
    QN_TRY(qn_les_run_kernel_only(r, err));
    qn_les_run_enter(r, QN_LES_TIME_METRICS);
    QN_TRY(write_results(r, err));
out:
    return st;
}

/* Frees all that is on the device. */
static void drop_flow(run *r)
{
    if (r->result)
        qn_les_writes_wait(r->result, NULL);
    qn_les_run_loop_free(r);
    qn_buf_free(r->shells);
    qn_buf_free(r->z);
    qn_les_proxy_free(r->proxy);
    qn_les_codec_free(r->codec);
    qn_les_sim_free(r->sim);
    r->shells = r->z = NULL;
    r->proxy = NULL;
    r->codec = NULL;
    r->sim = NULL;
}

/* A device that fails. */

static qn_status go_back(void *user, qn_err *err)
{
    run *r = user;

    (void)err;
    drop_flow(r);
    r->step = (int)r->saved.step;
    if (!r->step)
        qn_les_saved_free(&r->saved);
    qn_les_result_rewind(r->result, r->step ? r->step : -1);
    r->is_stopped = 0;
    return QN_OK;
}

static qn_status run_once(void *user, qn_err *err)
{
    run *r = user;

    return r->config->kernel_only[0] ? run_without_flow(r, err) : run_flow(r, err);
}

static qn_status run_safely(run *r, qn_err *err)
{
    const qn_les_work work = { run_once, go_back, r };

    r->safe = qn_les_safe_of(r->ctx, "les.run");
    return qn_les_safely(&r->safe, &work, err);
}

static void run_free(run *r)
{
    drop_flow(r);
    qn_les_saved_free(&r->saved);
    qn_progress_free(r->progress);
}

static qn_progress_mode mode_of(const qn_les_options *config)
{
    static const qn_progress_mode modes[] = { QN_PROGRESS_OFF, QN_PROGRESS_AUTO, QN_PROGRESS_ON };

    return modes[config->progress];
}

/* The folder. */

/* A run that is finished has its metrics there. */
static qn_status read_finished(run *r, qn_err *err)
{
    char *path = NULL;
    size_t bytes;
    qn_status st = QN_OK;

    QN_TRY(qn_text_new(&path, err, "%s/" QN_LES_METRICS_FILE, r->config->out));
    QN_TRY(qn_file_read_most(path, QN_MOST_JSON, &r->result->metrics, &bytes, err));
    r->result->was_finished = 1;
out:
    free(path);
    return st;
}

static qn_status open_folder(run *r, qn_err *err)
{
    qn_les_result *result = r->result;
    qn_status st = QN_OK;
    int is_shared;

    if (!r->config->out[0]) {
        qn_les_stamp(result->stamp);
        return QN_OK;
    }
    QN_TRY(qn_les_folder_open(&r->options, result->stamp, &is_shared, &result->folder, err));
    r->plan = qn_les_schedule_of(r->config);
    if (is_shared)
        qn_log_put(qn_ctx_log(r->ctx), QN_LOG_WARN,
                   "%s: files of an earlier run with other options stay beside those of this run",
                   r->config->out);
    if (qn_run_folder_state(result->folder) == QN_RUN_FINISHED)
        QN_TRY(read_finished(r, err));
    else
        QN_TRY(qn_les_run_load(r, err));
    result->has_changes = qn_run_folder_fact(result->folder, "changes") != NULL;
    if (result->has_changes)
        qn_les_flag(result, "%s", qn_run_folder_fact(result->folder, "changes"));
out:
    return st;
}

/* Returns whether an interrupted run has left something to continue from. */
static int close_folder(run *r)
{
    qn_run_folder *folder = r->result ? r->result->folder : NULL;
    const int has_progress = folder && qn_run_folder_has_progress(folder);

    qn_run_folder_close(folder);
    if (folder)
        r->result->folder = NULL;
    return has_progress;
}

qn_status qn_les_run(qn_ctx *ctx, const qn_les_options *options, qn_les_result **out, qn_err *err)
{
    run r = { .ctx = ctx, .config = &r.options, .phase_since = qn_now_us() };
    qn_progress_options watch = { 0 };
    qn_status st = QN_OK;
    qn_err own;

    err = qn_err_begin(err, &own);

    QN_TRY(qn_les_options_take(options, &r.options, err));
    QN_TRY(QN_NEW(r.result, 1, "a result", err));
    r.result->status = "ok";
    r.plan = qn_les_schedule_of(r.config);
    watch.mode = mode_of(r.config);
    QN_TRY(qn_progress_new(&watch, "les run", "steps", r.config->steps, &r.progress, err));
    if (r.config->format != QN_LES_FORMAT_NPY)
        QN_TRY(qn_nc_load("format", err));
    QN_TRY(qn_les_writes_open(ctx, r.result, err));
    QN_TRY(open_folder(&r, err));
    if (!r.result->was_finished)
        QN_TRY(run_safely(&r, err));
    qn_progress_done(r.progress);
out:
    run_free(&r);
    if (r.result)
        qn_les_writes_close(r.result);
    if (close_folder(&r) && st != QN_OK && !r.is_stopped)
        qn_suffix(err, QN_RUN_KEPT);
    if (st == QN_OK)
        *out = r.result;
    else
        qn_les_result_free(r.result);
    return st;
}
