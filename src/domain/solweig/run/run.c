/* run.c - a run from its configuration to its files. */
#include "run_impl.h"

#include "domain/solweig/shadow/shadow.h"
#include "engine/engine.h"
#include "util/clock.h"
#include "util/stats.h"

#include <quern/metrics.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const qn_sw_threshold default_thresholds[] = { { 32, 1, 0 }, { 38, 1, 0 }, { 26, 0, 1 } };

void qn_sw_job_advance(qn_sw_job *job, const char *phase, double share)
{
    if (share < job->share)
        return;
    job->share = share > 1 ? 1 : share;
    if (job->hooks && job->hooks->progress)
        job->hooks->progress(job->hooks->user, phase, job->share);
}

/* The start. */

static qn_status check_config(const qn_sw_run_config *c, qn_err *err)
{
    if (c->patch_option && !qn_sw_patch_count(c->patch_option))
        return qn_fail(err, QN_ERR_USAGE, "patch option %d; there are 1 to 4", c->patch_option);
    if (c->tile < 0)
        return qn_fail(err, QN_ERR_USAGE, "tiles of %lld pixels", (long long)c->tile);
    if (c->n_thresholds < 0 || c->n_thresholds > SW_THRESHOLDS)
        return qn_fail(err, QN_ERR_LIMIT, "%d thresholds; the limit is %d", c->n_thresholds,
                       SW_THRESHOLDS);
    if (c->resume && !c->out)
        return qn_fail(err, QN_ERR_USAGE, "nothing to resume: there is no folder of outputs");
    return QN_OK;
}

/* Sky view factors of an earlier run, where they are those of this surface. */
static qn_status read_svf(qn_sw_job *job, qn_err *err)
{
    const int option = qn_sw_patch_option(job->config);
    qn_sw_run_result *result = job->result;
    qn_sw_svf_key key;
    qn_err why = { .text = "" };
    qn_status st;

    if (!job->config->svf)
        return QN_OK;
    key = qn_sw_svf_key_of(&job->city.surface, option);
    st = qn_sw_svf_cache_read(job->config->svf, &job->city.surface.dsm.place, &key, &job->cached,
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
    const qn_sw_run_config *c = job->config;

    if (c->out && !c->no_outputs)
        job->written = c->outputs ? c->outputs : 1u << QN_SW_TMRT;
    if (job->hooks && job->hooks->observe)
        job->watched = job->hooks->watched;
    job->wanted = job->written | job->watched;
    job->scene.has_pet = (int)QN_SW_HAS(job->wanted, QN_SW_PET);
}

static qn_status load(qn_sw_job *job, qn_err *err)
{
    const qn_sw_run_config *c = job->config;
    qn_sw_run_result *result = job->result;
    qn_status st = QN_OK;

    if (c->params)
        job->params = *c->params;
    else
        qn_sw_params_default(&job->params);
    job->scene = (qn_sw_scene){ .ctx = job->ctx,
                                .config = c,
                                .params = &job->params,
                                .city = &job->city,
                                .forcing = &job->forcing,
                                .thresholds = c->thresholds ? c->thresholds : default_thresholds,
                                .n_thresholds = c->thresholds ? c->n_thresholds : 3 };
    choose_planes(job);
    QN_TRY(qn_sw_city_load(job->ctx, c, &job->params, &job->city, err));
    QN_TRY(qn_sw_forcing_make(job->ctx, c, &job->params, job->city.surface.land_cover != NULL,
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

    QN_TRY(qn_sw_figures_new(job->forcing.n, n_tiles, job->config->pois, &job->result->place,
                             &job->figures, err));
    job->tile_ms = calloc((size_t)n_tiles, sizeof *job->tile_ms);
    job->is_done = calloc((size_t)n_tiles, 1);
    if (!job->tile_ms || !job->is_done)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %lld tiles", (long long)n_tiles);
    QN_TRY(qn_sw_job_writes_begin(job, err));
out:
    return st;
}

static qn_status open_outputs(qn_sw_job *job, qn_err *err)
{
    char line[320];
    const qn_sw_outputs_options options = { .folder = job->config->out,
                                            .place = &job->result->place,
                                            .plan = line,
                                            .start = job->config->resume ? QN_SW_OUT_RESUME
                                                                         : QN_SW_OUT_NEW };
    qn_status st = QN_OK;

    if (!job->config->out)
        return QN_OK;
    qn_sw_job_plan_line(job, line, sizeof line);
    QN_TRY(qn_sw_outputs_open(&options, &job->outputs, err));
    for (qn_i64 t = 0; t < qn_tiles_count(&job->result->plan); t++)
        job->is_done[t] = (uint8_t)qn_sw_outputs_has_tile(job->outputs, t);
out:
    return st;
}

/* The end. */

static qn_status fill_steps(qn_sw_job *job, qn_err *err)
{
    qn_sw_run_result *result = job->result;

    result->steps = calloc(job->forcing.n, sizeof *result->steps);
    if (!result->steps)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for results of %zu steps", job->forcing.n);
    result->n_steps = job->forcing.n;
    for (size_t r = 0; r < job->forcing.n; r++)
        result->steps[r] = qn_sw_figures_step(&job->figures, &job->forcing, r);
    return QN_OK;
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
    qn_sw_outputs *outputs = job->outputs;
    qn_status st = QN_OK;

    QN_TRY(fill_steps(job, err));
    if (outputs) {
        job->outputs = NULL; /* commit ends it, even on failure */
        QN_TRY(qn_sw_outputs_commit(outputs, err));
        qn_sw_figures_forget(&job->figures, job->config->out);
    }
    fill_times(job, start);
    if (job->config->out)
        QN_TRY(qn_sw_job_files(job, err));
    fill_times(job, start);
    qn_sw_job_advance(job, "done", 1);
out:
    return st;
}

static void drop(qn_sw_job *job)
{
    qn_sw_job_writes_end(job);
    if (job->outputs) {
        qn_sw_figures_forget(&job->figures, job->config->out);
        qn_sw_outputs_abort(job->outputs);
    }
    qn_sw_maps_free(job->maps);
    qn_sw_ray_tables_free(&job->tables);
    qn_sw_figures_free(&job->figures);
    qn_sw_svf_arrays_free(&job->cached);
    qn_sw_forcing_free(&job->forcing);
    qn_sw_city_free(&job->city);
    free(job->is_done);
    free(job->tile_ms);
}

qn_status qn_sw_simulate(qn_ctx *ctx, const qn_sw_run_config *config, const qn_sw_run_hooks *hooks,
                         qn_sw_run_result *result, qn_err *err)
{
    const double start = qn_now_us();
    qn_sw_run_result local = { 0 };
    qn_sw_job job = { .ctx = ctx, .config = config, .hooks = hooks, .result = &local };
    qn_status st = QN_OK;

    QN_TRY(check_config(config, err));
    qn_ctx_pack_memory(ctx);
    QN_TRY(load(&job, err));
    qn_sw_job_advance(&job, "layers", 0.05);
    QN_TRY(make_memory(&job, err));
    QN_TRY(open_outputs(&job, err));
    QN_TRY(qn_sw_maps_new(&job, &job.maps, err));
    QN_TRY(qn_sw_job_tiles(&job, err));
    QN_TRY(qn_sw_job_await_writes(&job, err));
    QN_TRY(finish(&job, start, err));
    if (result) {
        *result = local;
        local = (qn_sw_run_result){ 0 };
    }
out:
    drop(&job);
    qn_sw_run_result_free(&local);
    return st;
}

void qn_sw_run_result_free(qn_sw_run_result *result)
{
    qn_sw_place_free(&result->place);
    free(result->steps);
    *result = (qn_sw_run_result){ 0 };
}
