/* run.c - runs from layers and weather to arrays and files.
 *
 * Tiles hand out their time steps as they are done. An output is one array of all steps, which
 * grows during the first tile, since only that knows how many steps there are.
 */
#include "api.h"

#include "domain/solweig/run/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct qn_sw_result {
    qn_i64 rows, cols;                 /* of the planes */
    const qn_sw_layer_options *layers; /* during the run */
    float *planes[QN_SW_PLANES];       /* [step][rows][cols] */
    size_t n_planes[QN_SW_PLANES];     /* steps that there is memory for */
    qn_sw_step *steps;
    size_t n;
    qn_sw_run_report report;
};

/* Results. */

static qn_status make_room(qn_sw_result *r, int plane, size_t n, qn_err *err)
{
    const char *name = qn_sw_plane_name((qn_sw_plane)plane);
    const size_t cells = (size_t)r->rows * (size_t)r->cols;
    float *grown;
    size_t bytes;
    qn_status st = QN_OK;

    if (n <= r->n_planes[plane])
        return QN_OK;
    QN_TRY(qn_size_mul(n, cells * sizeof *grown, name, &bytes, err));
    if (!(grown = realloc(r->planes[plane], bytes)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu time steps of %zu pixels", name, n,
                       cells);
    qn_sw_api_clear(grown + r->n_planes[plane] * cells, (n - r->n_planes[plane]) * cells);
    r->planes[plane] = grown;
    r->n_planes[plane] = n;
out:
    return st;
}

/* The window of a tile is that of the part which is computed; that part lies in the layers. */
static qn_status add_step(void *user, const qn_sw_step_view *view, qn_err *err)
{
    qn_sw_result *r = user;
    const qn_window part = qn_sw_api_window(r->layers, view->place);
    const qn_window at = { part.row + view->window.row, part.col + view->window.col,
                           view->window.rows, view->window.cols };
    qn_status st = QN_OK;

    r->rows = r->layers->n_dsm ? r->layers->rows : view->place->rows;
    r->cols = r->layers->n_dsm ? r->layers->cols : view->place->cols;
    for (int p = 0; p < QN_SW_PLANES; p++) {
        if (!view->plane[p])
            continue;
        QN_TRY(make_room(r, p, view->step + 1, err));
        qn_window_paste(view->plane[p], &at, sizeof(float),
                        r->planes[p] + view->step * (size_t)r->rows * (size_t)r->cols, r->cols);
    }
out:
    return st;
}

static qn_status take_steps(qn_sw_result *r, const qn_sw_run_result *run, qn_err *err)
{
    if (!(r->steps = calloc(run->n_steps + 1, sizeof *r->steps)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu time steps", run->n_steps);
    r->n = run->n_steps;
    for (size_t i = 0; i < r->n; i++) {
        const qn_sw_step_figures *from = &run->steps[i];

        r->steps[i] = (qn_sw_step){ .minutes = from->minutes,
                                    .sun_altitude = from->sun_altitude,
                                    .sun_azimuth = from->sun_azimuth,
                                    .tmrt_mean = from->tmrt_mean,
                                    .utci_mean = from->utci_mean,
                                    .sun_fraction = from->sun_fraction,
                                    .direct = from->direct,
                                    .diffuse = from->diffuse,
                                    .n_valid = from->n_valid,
                                    .is_day = from->is_day };
    }
    return QN_OK;
}

static qn_sw_run_report report_of(const qn_sw_run_result *run)
{
    const qn_tiles *plan = &run->plan;
    qn_sw_run_report r = { .grid = { .rows = run->place.rows,
                                     .cols = run->place.cols,
                                     .pixel_size = run->place.pixel_size,
                                     .was_smoothed = run->was_smoothed },
                           .total_s = run->times.total_s,
                           .svf_s = run->times.svf_s,
                           .step_mean_s = run->times.step_mean_s,
                           .tile_mean_ms = run->times.tile_mean_ms,
                           .tile_p95_ms = run->times.tile_p95_ms,
                           .device_bytes_per_pixel = plan->cost.device,
                           .n_tiles = qn_tiles_count(plan),
                           .core = plan->core,
                           .border = plan->border + plan->padding,
                           .n_tiles_resumed = run->n_tiles_resumed,
                           .svf_was_read = run->svf_was_read };

    snprintf(r.limited_by, sizeof r.limited_by, "%s", plan->limited_by);
    memcpy(r.svf_note, run->svf_note, sizeof r.svf_note);
    return r;
}

/* Options. */

static qn_status read_params(const qn_sw_run_options *o, qn_sw_params *out, qn_err *err)
{
    static const char *const walls[] = { "generic", "cobblestone", "brick", "concrete", "wood" };
    qn_status st = QN_OK;

    qn_sw_params_default(out);
    if (o->params[0])
        QN_TRY(qn_sw_params_read(o->params, out, err));
    if (o->wall_material >= 0)
        QN_TRY(qn_sw_params_set_wall(out, walls[o->wall_material], err));
    if (o->person >= 0)
        out->person.pose = o->person == QN_SW_SITTING ? QN_SW_SITTING : QN_SW_STANDING;
    out->trees.is_conifer |= o->conifer;
out:
    return st;
}

/* Adds the numbers of a list; one that is there already serves both day and night. */
static qn_status add_thresholds(const char *name, const char *list, int by_day, qn_sw_threshold *to,
                                int *n, qn_err *err)
{
    const char *at = strcmp(list, "none") ? list : "";

    while (*at) {
        char *end = NULL;
        const float above = strtof(at, &end);
        int i = 0;

        if (end == at || (*end && *end != ',') || !isfinite(above))
            return qn_fail(err, QN_ERR_USAGE, "--%s: '%s' is not a list of temperatures", name,
                           list);
        while (i < *n && to[i].above != above)
            i++;
        if (i == SW_THRESHOLDS)
            return qn_fail(err, QN_ERR_LIMIT, "--%s: over %d thresholds", name, SW_THRESHOLDS);
        to[i].above = above;
        to[i].by_day |= by_day;
        to[i].by_night |= !by_day;
        *n += i == *n;
        at = *end ? end + 1 : end;
    }
    return QN_OK;
}

/* Memory for what a configuration points to. */
typedef struct request {
    qn_sw_layer_options layers;
    qn_sw_run_options options;
    qn_sw_params params;
    qn_sw_threshold thresholds[SW_THRESHOLDS];
    qn_sw_run_config config;
} request;

static qn_status check_options(const qn_sw_run_options *o, qn_err *err)
{
    const int n_site = !isnan(o->latitude) + !isnan(o->longitude) + !isnan(o->utc_offset);
    qn_sw_date_filter filter;
    qn_status st = QN_OK;

    if (o->n_weather && o->n_weather_files)
        return qn_fail(err, QN_ERR_USAGE, "weather in memory and in files; it is one or the other");
    if (n_site != 0 && n_site != 3)
        return qn_fail(err, QN_ERR_USAGE, "--lat, --lon and --utc come together");
    if (o->maps[0])
        QN_TRY(qn_sw_date_filter_parse(NULL, NULL, o->maps, &filter, err));
    if (o->out[0])
        QN_TRY(qn_sw_api_folder(o->out, err));
out:
    return st;
}

static qn_status check_body(const qn_sw_person *p, qn_err *err)
{
    const qn_sw_body body = qn_sw_body_of(p);

    return qn_sw_body_check(&body, err);
}

static qn_status read_request(const qn_sw_layer_options *layers, const qn_sw_run_options *options,
                              request *r, qn_err *err)
{
    qn_sw_run_config *c = &r->config;
    qn_sw_run_options *o = &r->options;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_layer_take(layers, &r->layers, err));
    QN_TRY(qn_sw_run_take(options, o, err));
    QN_TRY(check_options(o, err));
    QN_TRY(read_params(o, &r->params, err));
    *c = (qn_sw_run_config){ .surface = r->layers,
                             .weather = o->weather_files,
                             .n_weather = o->n_weather_files,
                             .weather_steps = o->weather,
                             .n_weather_steps = o->n_weather,
                             .steps = { .start = qn_sw_text(o->from),
                                        .end = qn_sw_text(o->to),
                                        .hours = qn_sw_text(o->hours),
                                        .hourly_only = o->hourly },
                             .has_site = !isnan(o->latitude),
                             .site = { o->latitude, o->longitude, o->altitude, o->utc_offset },
                             .params = &r->params,
                             .sky = o->sky,
                             .patch_option = o->patches + 1,
                             .pet_table = o->pet_table,
                             .max_distance_m = o->max_distance,
                             .ignore_split = o->ignore_split,
                             .fix_pressure = o->fix_pressure,
                             .corrected = o->corrected,
                             .reference = r->layers.reference,
                             .tile = o->tile,
                             .svf = qn_sw_text(o->svf),
                             .out = qn_sw_text(o->out),
                             .no_summary = o->no_summary,
                             .maps = qn_sw_text(o->maps),
                             .resume = o->resume,
                             .pois = qn_sw_text(o->pois),
                             .thresholds = r->thresholds };
    QN_TRY(add_thresholds("above-day", o->above_day, 1, r->thresholds, &c->n_thresholds, err));
    QN_TRY(add_thresholds("above-night", o->above_night, 0, r->thresholds, &c->n_thresholds, err));
    QN_TRY(qn_sw_planes_parse(o->outputs, &c->outputs, err));
    c->no_outputs = c->outputs == 0;
    if (QN_SW_HAS(c->outputs, QN_SW_PET))
        QN_TRY(check_body(&r->params.person, err));
out:
    return st;
}

/* The run. */

/* For the hooks of a run. */
typedef struct watcher {
    qn_sw_result *result;
    qn_progress *progress;
} watcher;

static void watch_share(void *user, const char *phase, double share)
{
    (void)phase;
    qn_progress_at(((watcher *)user)->progress, share);
}

static qn_status watch_step(void *user, const qn_sw_step_view *view, qn_err *err)
{
    return add_step(((watcher *)user)->result, view, err);
}

qn_status qn_sw_run(qn_ctx *ctx, const qn_sw_layer_options *layers,
                    const qn_sw_run_options *options, qn_sw_result **out, qn_err *err)
{
    request *r = calloc(1, sizeof *r);
    qn_sw_result *result = calloc(1, sizeof *result);
    watcher w = { .result = result };
    qn_sw_run_hooks how = { .progress = watch_share, .user = &w };
    qn_sw_run_result run = { 0 };
    qn_status st = QN_OK;

    if (!r || !result) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for a result");
        goto out;
    }
    QN_TRY(read_request(layers, options, r, err));
    result->layers = &r->layers;
    if (!r->options.files_only) {
        how.observe = watch_step;
        how.watched = r->config.outputs;
    }
    QN_TRY(qn_sw_api_progress("solweig run", r->options.progress, &w.progress, err));
    QN_TRY(qn_sw_simulate(ctx, &r->config, &how, &run, err));
    qn_progress_done(w.progress);
    QN_TRY(take_steps(result, &run, err));
    result->report = report_of(&run);
    result->layers = NULL;
    *out = result;
    result = NULL;
out:
    qn_progress_free(w.progress);
    qn_sw_run_result_free(&run);
    qn_sw_result_free(result);
    free(r);
    return st;
}

void qn_sw_result_free(qn_sw_result *result)
{
    if (!result)
        return;
    for (int p = 0; p < QN_SW_PLANES; p++)
        free(result->planes[p]);
    free(result->steps);
    free(result);
}

size_t qn_sw_result_n_steps(const qn_sw_result *result)
{
    return result->n;
}

const qn_sw_step *qn_sw_result_steps(const qn_sw_result *result)
{
    return result->steps;
}

const qn_sw_run_report *qn_sw_result_report(const qn_sw_result *result)
{
    return &result->report;
}

const float *qn_sw_result_plane(const qn_sw_result *result, const char *output)
{
    for (int p = 0; p < QN_SW_PLANES; p++)
        if (!strcmp(qn_sw_plane_name((qn_sw_plane)p), output))
            return result->planes[p];
    return NULL;
}
