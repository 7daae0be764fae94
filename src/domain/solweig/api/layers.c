/* layers.c - turns the caller's layers into a surface, and parts back into whole arrays. */
#include "api.h"

#include "util/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

qn_status qn_sw_api_load(const qn_sw_layer_options *given, int has_arrays,
                         qn_sw_layer_options *layers, qn_sw_surface *surface, qn_sw_grid *grid,
                         qn_err *err)
{
    int was_smoothed = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_layer_take(given, layers, err));
    if (has_arrays && !layers->n_dsm)
        return qn_fail(err, QN_ERR_USAGE,
                       "results in memory have the shape of the DSM's array, and there is none");
    QN_TRY(qn_sw_surface_load(layers, surface, &was_smoothed, err));
    *grid = (qn_sw_grid){ .rows = surface->dsm.place.rows,
                          .cols = surface->dsm.place.cols,
                          .pixel_size = surface->dsm.place.pixel_size,
                          .was_smoothed = was_smoothed };
out:
    return st;
}

qn_window qn_sw_api_window(const qn_sw_layer_options *layers, const qn_sw_place *place)
{
    const double size = place->pixel_size;
    const double north = (double)layers->rows * size;

    if (!layers->n_dsm)
        return (qn_window){ 0, 0, place->rows, place->cols };
    return (qn_window){ .row = (qn_i64)llround((north - place->transform[3]) / size),
                        .col = (qn_i64)llround(place->transform[0] / size),
                        .rows = place->rows,
                        .cols = place->cols };
}

void qn_sw_api_clear(float *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = NAN;
}

void qn_sw_api_give(const qn_sw_layer_options *layers, const qn_sw_raster *from, float *to)
{
    const qn_window at = qn_sw_api_window(layers, &from->place);

    if (!to)
        return;
    qn_sw_api_clear(to, (size_t)layers->rows * (size_t)layers->cols);
    qn_window_paste(from->data, &at, sizeof *to, to, layers->cols);
}

qn_status qn_sw_api_progress(const char *name, int progress, qn_progress **out, qn_err *err)
{
    static const qn_progress_mode modes[] = { [QN_SW_PROGRESS_OFF] = QN_PROGRESS_OFF,
                                              [QN_SW_PROGRESS_AUTO] = QN_PROGRESS_AUTO,
                                              [QN_SW_PROGRESS_ON] = QN_PROGRESS_ON };
    const qn_progress_options options = { .mode = modes[progress] };

    return qn_progress_new(&options, name, "", 1, out, err);
}

qn_status qn_sw_api_folder(const char *folder, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_make_dirs(folder, err));
    if (access(folder, W_OK | X_OK))
        st = qn_fail(err, QN_ERR_IO, "cannot write into %s: %s", folder, strerror(errno));
out:
    return st;
}

qn_status qn_sw_api_begin(const char *folder, const char *what, qn_run_folder **out, qn_err *err)
{
    const qn_run_folder_options options = { .path = folder, .plan = what };

    return folder[0] ? qn_run_folder_open(&options, out, err) : QN_OK;
}

qn_status qn_sw_api_put(qn_run_folder *to, const char *name, const char *ending,
                        const qn_sw_raster *raster, const qn_sw_map *look, qn_err *err)
{
    char *path = NULL, file[64];
    qn_status st = QN_OK;

    snprintf(file, sizeof file, "%s%s", name, ending);
    QN_TRY(qn_run_folder_path(to, file, &path, err));
    QN_TRY(qn_sw_map_out(path, raster, look, err));
    QN_TRY(qn_run_folder_add(to, file, err));
out:
    free(path);
    return st;
}
