/* run.c - runs a configuration and writes its files. */
#include "run_impl.h"

#include "domain/solweig/shadow/shadow.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/log.h"
#include "util/stats.h"

#include <math.h>
#include <stdlib.h>

void qn_sw_job_advance(qn_sw_job *job, const char *phase, double share)
{
    if (share < job->share)
        return;
    job->share = share > 1 ? 1 : share;
    if (job->hooks && job->hooks->progress)
        job->hooks->progress(job->hooks->user, phase, job->share);
}

/* The start. */

/* Reads sky view factors of an earlier run, if they belong to this surface. */
static qn_status read_svf(qn_sw_job *job, qn_err *err)
{
    const int option = qn_sw_patch_option(job->config);
    qn_sw_run_result *result = job->result;
    qn_sw_svf_key key;
    qn_err why = { .text = "" };
    qn_status st;

    if (!job->options->svf[0])
        return QN_OK;
    key = qn_sw_svf_key_of(&job->city.surface, option);
    st = qn_sw_svf_cache_read(job->options->svf, &job->city.surface.dsm.place, &key, &job->cached,
                              &why);
    if (st == QN_ERR_NOMEM)
        return qn_fail(err, st, "%s", why.text);
    if (st == QN_OK) {
        job->scene.cached = &job->cached;
        result->svf_was_read = 1;
    } else {
        snprintf(result->svf_note, sizeof result->svf_note, "%.150s", why.text);
    }
    return QN_OK;
}

static void choose_planes(qn_sw_job *job)
{
    if (job->options->out[0])
        job->written = job->config->outputs;
    if (job->hooks && job->hooks->observe)
        job->watched = job->hooks->watched;
    job->wanted = job->written | job->watched;
    job->scene.has_pet = (int)QN_SW_HAS(job->wanted, QN_SW_PET);
}

static qn_status load(qn_sw_job *job, qn_err *err)
{
    qn_sw_run_result *result = job->result;
    qn_status st = QN_OK;

    job->scene = (qn_sw_scene){
        .ctx = job->ctx, .config = job->config, .city = &job->city, .forcing = &job->forcing
    };
    choose_planes(job);
    QN_TRY(qn_sw_city_load(job->ctx, job->config, &job->city, err));
    QN_TRY(qn_sw_forcing_make(job->ctx, job->config, job->city.surface.land_cover != NULL,
                              &job->forcing, err));
    QN_TRY(read_svf(job, err));
    QN_TRY(qn_sw_place_copy(&job->city.surface.dsm.place, &result->place, err));
    result->site = job->forcing.site;
    result->max_height = job->city.relief.max_height;
    result->has_vegetation = job->city.surface.cdsm.data != NULL;
    result->has_land_cover = job->city.surface.land_cover != NULL;
    result->was_smoothed = job->city.was_smoothed;
    result->times.load_s = job->city.load_s;
    result->times.walls_s = job->city.walls_s;
    qn_sw_job_plan(job);
out:
    return st;
}

static qn_status make_memory(qn_sw_job *job, qn_err *err)
{
    const qn_i64 n_tiles = qn_tiles_count(&job->result->plan);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_figures_new(job->forcing.n, n_tiles, job->options->pois, &job->result->place,
                             &job->figures, err));
    QN_TRY(QN_NEW(job->tile_ms, n_tiles, "tiles", err));
    QN_TRY(QN_NEW(job->progress, n_tiles, "tiles", err));
    QN_TRY(qn_sw_job_writes_begin(job, err));
out:
    return st;
}

static qn_status open_outputs(qn_sw_job *job, qn_err *err)
{
    char line[320];
    const qn_sw_outputs_options options = { .folder = job->options->out,
                                            .plan = line,
                                            .resume = job->options->resume,
                                            .place = &job->result->place,
                                            .tiles = &job->result->plan,
                                            .n_rasters = qn_sw_job_rasters(job),
                                            .name = qn_sw_job_raster_name,
                                            .see = qn_sw_job_see,
                                            .user = job };
    qn_status st = QN_OK;

    if (!job->options->out[0])
        return QN_OK;
    qn_sw_job_plan_line(job, line, sizeof line);
    QN_TRY(qn_sw_outputs_open(&options, &job->outputs, err));
    if (qn_run_folder_is_shared(qn_sw_outputs_folder(job->outputs)))
        qn_log_put(qn_ctx_log(job->ctx), QN_LOG_WARN,
                   "%s: also has files of an earlier run with other options", options.folder);
    for (qn_i64 t = 0; t < qn_tiles_count(&job->result->plan); t++)
        job->progress[t] = qn_sw_outputs_progress(job->outputs, t);
    job->result->was_finished =
        qn_run_folder_state(qn_sw_outputs_folder(job->outputs)) == QN_RUN_FINISHED;
    job->pace = qn_pace_begin();
out:
    return st;
}

/* The end. */

static qn_status fill_steps(qn_sw_job *job, qn_err *err)
{
    qn_sw_run_result *result = job->result;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(result->steps, job->forcing.n, "results of steps", err));
    result->n_steps = job->forcing.n;
    for (size_t r = 0; r < job->forcing.n; r++)
        result->steps[r] = qn_sw_figures_step(&job->figures, &job->forcing, r);
out:
    return st;
}

static void fill_times(qn_sw_job *job, double start)
{
    qn_sw_run_times *t = &job->result->times;
    const size_t done = (size_t)job->result->n_tiles_done;
    qn_stats stats = qn_stats_of(job->tile_ms, done);

    t->total_s = (qn_now_us() - start) * 1e-6;
    t->tile_mean_ms = done ? stats.mean : NAN;
    t->tile_p95_ms = done ? qn_sorted_rank(job->tile_ms, done, 95) : NAN;
    t->step_mean_s = done ? t->steps_s / (double)(done * job->forcing.n) : NAN;
}

static qn_status finish(qn_sw_job *job, double start, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(fill_steps(job, err));
    if (job->outputs) {
        qn_sw_job_advance(job, "rasters", 0.95);
        QN_TRY(qn_sw_outputs_assemble(job->outputs, err));
        fill_times(job, start);
        QN_TRY(qn_sw_job_files(job, err));
        QN_TRY(qn_run_folder_finish(qn_sw_outputs_folder(job->outputs), err));
    }
    fill_times(job, start);
    qn_sw_job_advance(job, "done", 1);
out:
    return st;
}

/* Frees everything. Returns whether the run, if interrupted, can be resumed with progress. */
static int drop(qn_sw_job *job)
{
    int has_progress;

    qn_sw_job_writes_end(job);
    has_progress = qn_sw_outputs_close(job->outputs);
    qn_sw_maps_free(job->maps);
    qn_sw_ray_tables_free(&job->tables);
    qn_sw_figures_free(&job->figures);
    qn_sw_svf_arrays_free(&job->cached);
    qn_sw_forcing_free(&job->forcing);
    qn_sw_city_free(&job->city);
    free(job->progress);
    free(job->tile_ms);
    return has_progress;
}

/* Computes all tiles and writes their files. */
static qn_status compute(qn_sw_job *job, double start, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_sw_maps_new(job, &job->maps, err));
    QN_TRY(qn_sw_job_tiles(job, err));
    QN_TRY(qn_sw_job_await_writes(job, err));
    QN_TRY(finish(job, start, err));
out:
    return st;
}

qn_status qn_sw_simulate(qn_ctx *ctx, const qn_sw_run_config *config, const qn_sw_run_hooks *hooks,
                         qn_sw_run_result *result, qn_err *err)
{
    const double start = qn_now_us();
    qn_sw_run_result local = { 0 };
    qn_sw_job job = {
        .ctx = ctx, .config = config, .options = &config->options, .hooks = hooks, .result = &local
    };
    qn_status st = QN_OK;

    qn_ctx_pack_memory(ctx);
    QN_TRY(load(&job, err));
    qn_sw_job_advance(&job, "layers", 0.05);
    QN_TRY(make_memory(&job, err));
    QN_TRY(open_outputs(&job, err));
    if (!local.was_finished)
        QN_TRY(compute(&job, start, err));
    if (result) {
        *result = local;
        local = (qn_sw_run_result){ 0 };
    }
out:
    if (drop(&job) && st != QN_OK)
        qn_suffix(err, QN_RUN_KEPT);
    qn_sw_run_result_free(&local);
    return st;
}

void qn_sw_run_result_free(qn_sw_run_result *result)
{
    qn_sw_place_free(&result->place);
    free(result->steps);
    *result = (qn_sw_run_result){ 0 };
}
