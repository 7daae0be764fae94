/* run.c - a run from layers and weather to arrays and files.
 *
 * Tiles hand out each time step when it is done. An output is one array of all steps, which grows
 * during the first tile, because the number of steps is not known before.
 */
#include "api.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

struct qn_sw_result {
    qn_i64 rows, cols;                 /* of the planes */
    const qn_sw_layer_options *layers; /* during the run */
    float *planes[QN_SW_PLANES];       /* [step][rows][cols] */
    size_t n_planes[QN_SW_PLANES];     /* allocated steps */
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

/* The window of a tile is relative to the computed part, which is a window of the layers. */
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
                           .n_steps_resumed = run->n_steps_resumed,
                           .was_finished = run->was_finished,
                           .svf_was_read = run->svf_was_read };

    snprintf(r.limited_by, sizeof r.limited_by, "%s", plan->limited_by);
    memcpy(r.svf_note, run->svf_note, sizeof r.svf_note);
    return r;
}

/* The run. */

/* State of the hooks of a run. */
typedef struct watcher {
    qn_sw_result *result;
    qn_progress *progress;
} watcher;

static void watch_share(void *user, QN_UNUSED const char *phase, double share)
{
    qn_progress_at(((watcher *)user)->progress, share);
}

static qn_status watch_step(void *user, const qn_sw_step_view *view, qn_err *err)
{
    return add_step(((watcher *)user)->result, view, err);
}

qn_status qn_sw_run(qn_ctx *ctx, const qn_sw_layer_options *layers,
                    const qn_sw_run_options *options, qn_sw_result **out, qn_err *err)
{
    qn_sw_run_config *config = NULL;
    qn_sw_result *result = NULL;
    watcher w = { 0 };
    qn_sw_run_hooks how = { .progress = watch_share, .user = &w };
    qn_sw_run_result run = { 0 };
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(config, 1, "a result", err));
    QN_TRY(QN_NEW(result, 1, "a result", err));
    w.result = result;
    QN_TRY(qn_sw_run_config_read(layers, options, config, err));
    result->layers = &config->layers;
    if (!config->options.files_only) {
        how.observe = watch_step;
        how.watched = config->outputs;
    }
    QN_TRY(qn_sw_api_progress("solweig run", config->options.progress, &w.progress, err));
    QN_TRY(qn_sw_simulate(ctx, config, &how, &run, err));
    qn_progress_done(w.progress);
    result->steps = run.steps;
    result->n = run.n_steps;
    run.steps = NULL;
    result->report = report_of(&run);
    result->layers = NULL;
    *out = result;
    result = NULL;
out:
    qn_progress_free(w.progress);
    qn_sw_run_result_free(&run);
    qn_sw_result_free(result);
    free(config);
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
