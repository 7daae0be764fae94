/* run.c - runs from arrays to arrays.
 *
 * Tiles hand out their rows as they are done. An output is one array of all rows, which grows while
 * the first tile tells how many rows there are.
 */
#include "api.h"

#include "domain/solweig/run/run.h"

#include <stdlib.h>
#include <string.h>

struct qn_solweig_result {
    qn_i64 rows, cols;               /* of the layers */
    const qn_solweig_layers *layers; /* during the run */
    float *planes[QN_SW_PLANES];     /* [row][rows][cols] */
    size_t n_planes[QN_SW_PLANES];   /* rows of weather that there is room for */
    qn_solweig_row *list;
    size_t n;
};

/* What comes out. */

static qn_status make_room(qn_solweig_result *r, int plane, size_t n, qn_err *err)
{
    const size_t cells = (size_t)r->rows * (size_t)r->cols;
    float *grown;
    size_t bytes;
    qn_status st = QN_OK;

    if (n <= r->n_planes[plane])
        return QN_OK;
    QN_TRY(
        qn_size_mul(n, cells * sizeof *grown, qn_sw_plane_name((qn_sw_plane)plane), &bytes, err));
    if (!(grown = realloc(r->planes[plane], bytes)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu rows of %zu pixels",
                       qn_sw_plane_name((qn_sw_plane)plane), n, cells);
    qn_sw_api_clear(grown + r->n_planes[plane] * cells, (n - r->n_planes[plane]) * cells);
    r->planes[plane] = grown;
    r->n_planes[plane] = n;
out:
    return st;
}

/* The window of a tile is that of the part which is computed; that part lies in the layers. */
static qn_status take_row(void *user, const qn_sw_row_view *view, qn_err *err)
{
    qn_solweig_result *r = user;
    const qn_sw_window part = qn_sw_api_window(r->layers, view->place);
    const qn_sw_window at = { part.row + view->window.row, part.col + view->window.col,
                              view->window.rows, view->window.cols };
    const size_t cells = (size_t)r->rows * (size_t)r->cols;
    qn_status st = QN_OK;

    for (int p = 0; p < QN_SW_PLANES; p++) {
        if (!view->plane[p])
            continue;
        QN_TRY(make_room(r, p, view->row + 1, err));
        qn_sw_api_paste(view->plane[p], at, r->cols, sizeof(float),
                        r->planes[p] + view->row * cells);
    }
out:
    return st;
}

static qn_status take_list(qn_solweig_result *r, const qn_sw_run_result *run, qn_err *err)
{
    if (!(r->list = calloc(run->n_rows + 1, sizeof *r->list)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu rows", run->n_rows);
    r->n = run->n_rows;
    for (size_t i = 0; i < r->n; i++) {
        const qn_sw_row_result *from = &run->rows[i];

        r->list[i] = (qn_solweig_row){ .minutes = from->minutes,
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

/* What goes in. */

static qn_status read_params(const qn_solweig_run_options *o, qn_sw_params *out, qn_err *err)
{
    qn_status st = QN_OK;

    qn_sw_params_default(out);
    if (o->params)
        QN_TRY(qn_sw_params_read(o->params, out, err));
    if (o->wall_material)
        QN_TRY(qn_sw_params_set_wall(out, o->wall_material, err));
    if (o->is_sitting)
        out->person.pose = QN_SW_SITTING;
    out->trees.is_conifer |= o->is_conifer;
out:
    return st;
}

static qn_status read_options(const qn_solweig_layers *layers, const qn_solweig_run_options *o,
                              qn_sw_run_config *out, qn_err *err)
{
    qn_sw_run_config c = { .surface = qn_sw_api_load(layers),
                           .weather = o->weather_files,
                           .n_weather = o->n_weather_files,
                           .weather_rows = o->weather,
                           .n_weather_rows = o->n_weather,
                           .rows = { .start = o->from, .end = o->to, .hours = o->hours },
                           .has_site = o->has_site,
                           .site = { o->latitude, o->longitude, o->altitude, o->utc_offset },
                           .sky = o->is_isotropic ? QN_SW_SKY_ISO : QN_SW_SKY_ANISO,
                           .pet = o->has_pet_table ? QN_SW_PET_TABLED : QN_SW_PET_SOLVED,
                           .max_distance_m = o->max_distance_m,
                           .ignore_split = o->ignore_split,
                           .fix_pressure = o->fix_pressure,
                           .fixed = o->fixed,
                           .tile = o->tile,
                           .svf = o->svf,
                           .out = o->out };
    qn_status st = QN_OK;

    if (o->n_weather && o->n_weather_files)
        return qn_fail(err, QN_ERR_USAGE, "weather as rows and as files; it is one or the other");
    if (o->max_distance_m < 0 || !(o->max_distance_m <= 1e6))
        return qn_fail(err, QN_ERR_USAGE, "shadows from %g m; the limits are 0 and 1e6",
                       o->max_distance_m);
    QN_TRY(qn_sw_api_patches(o->patches, &c.patch_option, err));
    QN_TRY(qn_sw_planes_parse(o->outputs ? o->outputs : "tmrt", &c.outputs, err));
    c.no_outputs = c.outputs == 0;
    *out = c;
out:
    return st;
}

/* The run. */

qn_status qn_solweig_run(qn_ctx *ctx, const qn_solweig_layers *layers,
                         const qn_solweig_run_options *options, qn_solweig_result **out,
                         qn_err *err)
{
    qn_solweig_result *result = calloc(1, sizeof *result);
    qn_sw_run_options how = { .observe = take_row, .user = result };
    qn_sw_run_result run = { 0 };
    qn_sw_run_config config;
    qn_sw_params params;
    qn_status st = QN_OK;

    if (!result)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a result");
    result->rows = layers->rows;
    result->cols = layers->cols;
    result->layers = layers;
    QN_TRY(read_options(layers, options, &config, err));
    QN_TRY(read_params(options, &params, err));
    config.params = &params;
    how.watched = config.outputs;
    QN_TRY(qn_sw_run(ctx, &config, &how, &run, err));
    QN_TRY(take_list(result, &run, err));
    result->layers = NULL;
    *out = result;
    result = NULL;
out:
    qn_sw_run_result_free(&run);
    qn_solweig_free(result);
    return st;
}

void qn_solweig_free(qn_solweig_result *result)
{
    if (!result)
        return;
    for (int p = 0; p < QN_SW_PLANES; p++)
        free(result->planes[p]);
    free(result->list);
    free(result);
}

size_t qn_solweig_n_rows(const qn_solweig_result *result)
{
    return result->n;
}

const qn_solweig_row *qn_solweig_rows(const qn_solweig_result *result)
{
    return result->list;
}

const float *qn_solweig_plane(const qn_solweig_result *result, const char *output)
{
    for (int p = 0; p < QN_SW_PLANES; p++)
        if (!strcmp(qn_sw_plane_name((qn_sw_plane)p), output))
            return result->planes[p];
    return NULL;
}
