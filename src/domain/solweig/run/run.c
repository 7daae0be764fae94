/* run.c - a run from its configuration to its files. */
#include "run_impl.h"
#include "tile_impl.h"

#include "domain/solweig/output/journal.h"
#include "domain/solweig/shadow/shadow.h"
#include "engine/engine.h"
#include "util/clock.h"
#include "util/stats.h"

#include <quern/metrics.h>

#include <stdlib.h>
#include <string.h>

/* How the line of a plan begins that unfinished runs are known by. */
#define PLAN_HEAD "solweig 1 tile=%lld border=%lld+%lld"

static const qn_sw_threshold default_thresholds[] = { { 32, 1, 0 }, { 38, 1, 0 }, { 26, 0, 1 } };

void qn_sw_job_tell(qn_sw_job *job, const char *phase, double share)
{
    if (share < job->share)
        return;
    job->share = share > 1 ? 1 : share;
    if (job->options && job->options->progress)
        job->options->progress(job->options->user, phase, job->share);
}

/* The plan. */

static double number_of(const char *name)
{
    const char *text = getenv(name);

    return text && *text ? strtod(text, NULL) : 0;
}

/* The device with the least room among those that may be chosen. */
static qn_sw_plan_limits limits_of(const qn_sw_job *job)
{
    qn_sw_plan_limits limits = { .tile = job->config->tile,
                                 .max_side = (qn_i64)number_of("QUERN_SOLWEIG_MAX_TILE_SIDE"),
                                 .fraction = number_of("QUERN_SOLWEIG_RAM_FRACTION"),
                                 .host_bytes = qn_device_get(job->ctx, 0)->mem_free };

    for (int d = 0; d < qn_device_count(job->ctx); d++) {
        const qn_tile_limits room = qn_device_tiles(job->ctx, d);

        if (!qn_device_is_candidate(job->ctx, d))
            continue;
        if (!limits.device_bytes || room.usable_bytes < limits.device_bytes)
            limits.device_bytes = room.usable_bytes;
        if (!limits.max_alloc || room.array_bytes < limits.max_alloc)
            limits.max_alloc = room.array_bytes;
    }
    return limits;
}

/* Pixels that shadows come from, and that the view of the ground reaches over. */
static void borders_of(const qn_sw_job *job, qn_i64 *shadow, qn_i64 *view)
{
    const qn_sw_place *place = &job->city.surface.dsm.place;
    const double cap = job->config->max_distance_m > 0 ? job->config->max_distance_m : 1000;
    qn_sw_reach reach = { .rows = (int)place->rows,
                          .cols = (int)place->cols,
                          .px = (float)place->pixel_size,
                          .max_height = job->city.relief.max_height,
                          .max_dist = job->scene.kept ? (float)cap : 0 };
    const qn_sw_gvf_options gvf = { .pixel_m = (float)place->pixel_size,
                                    .height_m = (float)job->params.person.height_m,
                                    .divides_by_pixel = job->config->fixed };
    int first, second;

    qn_sw_gvf_reach(&gvf, &first, &second);
    *shadow = qn_sw_reach_pixels(&reach);
    *view = second > 1 ? second - 1 : 0;
}

/* The numbers of such a line; 0 when it has another form. */
static int read_plan(const char *line, qn_i64 *core, qn_i64 *border)
{
    static const char *const names[] = { "tile=", "border=", "+" };
    qn_i64 numbers[3];
    char *end = NULL;

    for (int i = 0; i < 3; i++) {
        const char *at = strstr(i ? end : line, names[i]);

        if (!at)
            return 0;
        numbers[i] = strtoll(at + strlen(names[i]), &end, 10);
    }
    *core = numbers[0];
    *border = numbers[1] + numbers[2];
    return 1;
}

/* What fits into memory today need not have fitted when the run began: one that is gone on with
 * keeps its tiles, unless others are asked for. 1: it does. */
static int keep_tiles(const qn_sw_job *job, qn_sw_plan_limits *limits)
{
    qn_sw_journal journal = { .fd = -1 };
    char path[QN_SW_PATH];
    qn_i64 core, border;
    int is_known;

    if (!job->config->resume || job->config->tile ||
        qn_sw_job_path(job, path, NULL, "unfinished.txt") != QN_OK ||
        qn_sw_journal_open(path, &journal, NULL) != QN_OK)
        return 0;
    is_known = read_plan(journal.plan, &core, &border);
    if (is_known)
        *limits = (qn_sw_plan_limits){ .tile = border ? core : 0, .max_side = core };
    qn_sw_journal_close(&journal);
    return is_known;
}

/* Bytes of the largest tile on a device. */
static double tile_bytes(const qn_sw_plan *plan)
{
    const qn_i64 side = plan->core + 2 * (plan->shadow_border + plan->view_border);

    return plan->cost.device * (double)(side < plan->box.rows ? side : plan->box.rows) *
           (double)(side < plan->box.cols ? side : plan->box.cols);
}

/* A device may have less memory than it says: then tiles are half as wide, once. What is still too
 * large is the engine's to move. */
static void make_plan(qn_sw_job *job)
{
    const qn_sw_place *place = &job->city.surface.dsm.place;
    const qn_sw_window box = { 0, 0, place->rows, place->cols };
    qn_sw_plan_limits limits = limits_of(job);
    const qn_sw_tile_needs needs = { .sky = job->config->sky,
                                     .patch_option = qn_sw_patch_option(job->config),
                                     .has_vegetation = job->city.surface.cdsm.data != NULL,
                                     .has_pet = job->scene.has_pet,
                                     .n_thresholds = job->scene.n_thresholds,
                                     .n_rows = (qn_i64)job->records.n };
    const qn_sw_plan_cost cost = qn_sw_tile_cost(&needs);
    const int is_kept = keep_tiles(job, &limits);
    qn_sw_plan *plan = &job->result->plan;
    qn_i64 shadow, view;

    borders_of(job, &shadow, &view);
    *plan = qn_sw_plan_make(box, shadow, view, &cost, &limits);
    if (is_kept || plan->core < 2 || qn_devices_can_hold(job->ctx, tile_bytes(plan)))
        return;
    limits.tile = (plan->core + 1) / 2;
    *plan = qn_sw_plan_make(box, shadow, view, &cost, &limits);
    plan->limited_by = "lack of memory";
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
    st = qn_sw_svf_cache_read(job->config->svf, &job->city.surface.dsm.place, &key, &job->kept,
                              &why);
    if (st == QN_ERR_NOMEM)
        return qn_fail(err, st, "%s", why.text);
    if (st == QN_OK) {
        job->scene.kept = &job->kept;
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
    if (job->options && job->options->observe)
        job->watched = job->options->watched;
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
                                .records = &job->records,
                                .thresholds = c->thresholds ? c->thresholds : default_thresholds,
                                .n_thresholds = c->thresholds ? c->n_thresholds : 3 };
    choose_planes(job);
    QN_TRY(qn_sw_city_load(job->ctx, c, &job->params, &job->city, err));
    QN_TRY(qn_sw_records_make(job->ctx, c, &job->params, job->city.surface.land_cover != NULL,
                              &job->records, err));
    QN_TRY(read_svf(job, err));
    QN_TRY(qn_sw_place_copy(&job->city.surface.dsm.place, &result->place, err));
    result->site = job->records.site;
    result->max_height = job->city.relief.max_height;
    result->has_vegetation = job->city.surface.cdsm.data != NULL;
    result->has_land_cover = job->city.surface.land_cover != NULL;
    result->was_smoothed = job->city.was_smoothed;
    result->times.load_s = job->city.load_s;
    result->times.walls_s = job->city.walls_s;
    make_plan(job);
out:
    return st;
}

static qn_status make_room(qn_sw_job *job, qn_err *err)
{
    const qn_i64 n_tiles = qn_sw_plan_tiles(&job->result->plan);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_rows_new(job->records.n, n_tiles, job->config->pois, &job->result->place,
                          &job->rows, err));
    job->tile_ms = calloc((size_t)n_tiles, sizeof *job->tile_ms);
    job->is_done = calloc((size_t)n_tiles, 1);
    if (!job->tile_ms || !job->is_done)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %lld tiles", (long long)n_tiles);
    QN_TRY(qn_sw_job_writes_begin(job, err));
out:
    return st;
}

/* Of everything that outputs depend on. */
static uint64_t hash_of(const qn_sw_job *job)
{
    const qn_sw_run_config *c = job->config;
    const qn_sw_city *city = &job->city;
    const qn_sw_person *person = &job->params.person;
    const qn_sw_posture *posture = &job->params.posture[person->pose];
    const double body[] = { person->abs_k, person->abs_l,  person->height_m,    posture->f_side,
                            posture->f_up, posture->f_cyl, (double)person->pose };
    const size_t n = qn_sw_elems(&job->result->place), bytes = n * sizeof(float);
    const qn_sw_svf_key key = qn_sw_svf_key_of(&city->surface, qn_sw_patch_option(c));
    uint64_t hash = job->records.hash;

    hash = qn_fnv1a64_add(hash, key.hex, sizeof key.hex);
    hash = qn_fnv1a64_add(hash, body, sizeof body);
    hash = qn_fnv1a64_add(hash, city->class_of, n);
    hash = qn_fnv1a64_add(hash, city->buildings, n);
    hash = qn_fnv1a64_add(hash, city->ground.albedo, bytes);
    hash = qn_fnv1a64_add(hash, city->ground.emissivity, bytes);
    hash = qn_fnv1a64_add(hash, city->surface.wall_height.data, bytes);
    hash = qn_fnv1a64_add(hash, city->wall_radians, bytes);
    for (int i = 0; i < job->scene.n_thresholds; i++)
        hash = qn_fnv1a64_add(hash, &job->scene.thresholds[i], sizeof(qn_sw_threshold));
    for (size_t i = 0; i < job->rows.pois.n; i++) {
        const qn_i64 at[] = { job->rows.pois.list[i].row, job->rows.pois.list[i].col };

        hash = qn_fnv1a64_add(hash, at, sizeof at);
    }
    return hash;
}

/* One line that differs where outputs could. */
static void plan_line(const qn_sw_job *job, char *out, size_t size)
{
    const qn_sw_run_config *c = job->config;
    const qn_sw_plan *plan = &job->result->plan;

    snprintf(out, size,
             PLAN_HEAD " rows=%zu outputs=%x grids=%d sky=%d fixed=%d pet=%d distance=%g "
                       "key=%016llx",
             (long long)plan->core, (long long)plan->shadow_border, (long long)plan->view_border,
             job->records.n, job->written, c->no_summary ? 0 : qn_sw_grid_count(&job->scene),
             (int)c->sky, c->fixed, (int)c->pet, c->max_distance_m,
             (unsigned long long)hash_of(job));
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
    plan_line(job, line, sizeof line);
    QN_TRY(qn_sw_outputs_open(&options, &job->outputs, err));
    for (qn_i64 t = 0; t < qn_sw_plan_tiles(&job->result->plan); t++)
        job->is_done[t] = (uint8_t)qn_sw_outputs_has_tile(job->outputs, t);
out:
    return st;
}

/* The end. */

static qn_status fill_rows(qn_sw_job *job, qn_err *err)
{
    qn_sw_run_result *result = job->result;

    result->rows = calloc(job->records.n, sizeof *result->rows);
    if (!result->rows)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for results of %zu rows", job->records.n);
    result->n_rows = job->records.n;
    for (size_t r = 0; r < job->records.n; r++)
        result->rows[r] = qn_sw_rows_result(&job->rows, &job->records, r);
    return QN_OK;
}

static void fill_times(qn_sw_job *job, double start)
{
    qn_sw_run_times *t = &job->result->times;
    const size_t done = (size_t)job->result->n_tiles_done;
    qn_stats stats = qn_stats_of(job->tile_ms, done);

    t->total_s = (qn_now_us() - start) * 1e-6;
    t->tile_mean_ms = done ? stats.mean : 0;
    t->tile_p95_ms = done ? qn_sorted_rank(job->tile_ms, done, 95) : 0;
    t->step_mean_s = done ? t->steps_s / (double)(done * job->records.n) : 0;
}

static qn_status finish(qn_sw_job *job, double start, qn_err *err)
{
    qn_sw_outputs *outputs = job->outputs;
    qn_status st = QN_OK;

    QN_TRY(fill_rows(job, err));
    if (outputs) {
        job->outputs = NULL; /* commit ends it, whatever comes */
        QN_TRY(qn_sw_outputs_commit(outputs, err));
        qn_sw_rows_forget(&job->rows, job->config->out);
    }
    fill_times(job, start);
    if (job->config->out)
        QN_TRY(qn_sw_job_files(job, err));
    fill_times(job, start);
    qn_sw_job_tell(job, "done", 1);
out:
    return st;
}

static void drop(qn_sw_job *job)
{
    qn_sw_job_writes_end(job);
    if (job->outputs) {
        qn_sw_rows_forget(&job->rows, job->config->out);
        qn_sw_outputs_abort(job->outputs);
    }
    qn_sw_marches_free(&job->marches);
    qn_sw_rows_free(&job->rows);
    qn_sw_svf_arrays_free(&job->kept);
    qn_sw_records_free(&job->records);
    qn_sw_city_free(&job->city);
    free(job->is_done);
    free(job->tile_ms);
}

qn_status qn_sw_run(qn_ctx *ctx, const qn_sw_run_config *config, const qn_sw_run_options *options,
                    qn_sw_run_result *result, qn_err *err)
{
    const double start = qn_now_us();
    qn_sw_run_result local = { 0 };
    qn_sw_job job = { .ctx = ctx, .config = config, .options = options, .result = &local };
    qn_status st = QN_OK;

    QN_TRY(check_config(config, err));
    qn_ctx_pack_memory(ctx);
    QN_TRY(load(&job, err));
    qn_sw_job_tell(&job, "layers", 0.05);
    QN_TRY(make_room(&job, err));
    QN_TRY(open_outputs(&job, err));
    for (qn_i64 t = 0; t < qn_sw_plan_tiles(&local.plan); t++)
        QN_TRY(qn_sw_job_tile(&job, t, err));
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
    free(result->rows);
    *result = (qn_sw_run_result){ 0 };
}
