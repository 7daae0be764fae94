/* raster.c - rasters in memory, and in files of several formats. */
#include "raster_impl.h"
#include "util/file.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Memory. */

void qn_sw_place_free(qn_sw_place *place)
{
    free(place->crs);
    *place = (qn_sw_place){ 0 };
}

qn_status qn_sw_place_copy(const qn_sw_place *from, qn_sw_place *out, qn_err *err)
{
    qn_sw_place place = *from;

    if (from->crs && !(place.crs = strdup(from->crs)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for the name of a reference system");
    *out = place;
    return QN_OK;
}

qn_status qn_sw_raster_new(const qn_sw_place *place, qn_sw_raster *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_raster raster = { 0 };
    size_t elems = 0;

    if (place->rows < 1 || place->cols < 1)
        return qn_fail(err, QN_ERR_USAGE, "a raster of %lld x %lld pixels", (long long)place->rows,
                       (long long)place->cols);
    QN_TRY(
        qn_size_mul((size_t)place->rows, (size_t)place->cols, "pixels of a raster", &elems, err));
    QN_TRY(QN_NEW(raster.data, elems, "a raster", err));
    QN_TRY(qn_sw_place_copy(place, &raster.place, err));
    *out = raster;
    return QN_OK;
out:
    free(raster.data);
    return st;
}

void qn_sw_raster_free(qn_sw_raster *raster)
{
    free(raster->data);
    qn_sw_place_free(&raster->place);
    *raster = (qn_sw_raster){ 0 };
}

qn_status qn_sw_window_check(const qn_sw_place *place, qn_window w, qn_err *err)
{
    if (w.row >= 0 && w.col >= 0 && w.rows > 0 && w.cols > 0 && w.rows <= place->rows &&
        w.cols <= place->cols && w.row <= place->rows - w.rows && w.col <= place->cols - w.cols)
        return QN_OK;
    return qn_fail(err, QN_ERR_USAGE,
                   "a window of %lld x %lld pixels at row %lld, col %lld is not inside a raster of "
                   "%lld x %lld",
                   (long long)w.rows, (long long)w.cols, (long long)w.row, (long long)w.col,
                   (long long)place->rows, (long long)place->cols);
}

/* The place of `window` inside `place`. */
static qn_status cut_place(const qn_sw_place *place, qn_window window, qn_sw_place *out,
                           qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_place cut = { 0 };

    QN_TRY(qn_sw_window_check(place, window, err));
    QN_TRY(qn_sw_place_copy(place, &cut, err));
    cut.rows = window.rows;
    cut.cols = window.cols;
    cut.transform[0] += (double)window.col * place->transform[1];
    cut.transform[3] += (double)window.row * place->transform[5];
    *out = cut;
out:
    return st;
}

qn_status qn_sw_raster_cut(const qn_sw_raster *raster, qn_window window, qn_sw_raster *out,
                           qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_place place = { 0 };
    qn_sw_raster cut = { 0 };

    QN_TRY(cut_place(&raster->place, window, &place, err));
    QN_TRY(qn_sw_raster_new(&place, &cut, err));
    qn_window_cut(raster->data, raster->place.cols, &window, sizeof *cut.data, cut.data);
    cut.is_integer = raster->is_integer;
    *out = cut;
out:
    qn_sw_place_free(&place);
    return st;
}

/* Formats. */

int qn_sw_has_ending(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);

    return n > m && !strcasecmp(path + n - m, ending);
}

qn_status qn_sw_format_of(const char *path, const qn_sw_format **out, qn_err *err)
{
    static const struct {
        const char *ending;
        const qn_sw_format *format;
    } formats[] = {
        { ".npy", &qn_sw_format_npy },
        { ".tif", &qn_sw_format_geotiff },
        { ".tiff", &qn_sw_format_geotiff },
    };

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (qn_sw_has_ending(path, formats[i].ending)) {
            *out = formats[i].format;
            return QN_OK;
        }
    return qn_fail(err, QN_ERR_INPUT, "%s: a raster ends in .tif, .tiff or .npy", path);
}

qn_status qn_sw_check_transform(const char *name, const double transform[6], qn_err *err)
{
    enum { ROTATION_X = 2, ROTATION_Y = 4 };

    for (int i = 0; i < 6; i++) {
        if (!isfinite(transform[i]))
            return qn_fail(err, QN_ERR_INPUT, "%s: term %d of its transform is not finite", name,
                           i);
    }
    /* Rays are cast along rows and columns, so rotated grids cannot be used. */
    if (fabs(transform[ROTATION_X]) > 1e-9 || fabs(transform[ROTATION_Y]) > 1e-9)
        return qn_fail(err, QN_ERR_INPUT,
                       "%s: the grid is rotated (terms %g and %g, limit 1e-9); warp it to north-up",
                       name, transform[ROTATION_X], transform[ROTATION_Y]);
    if (!(transform[1] > 0) || !(transform[5] < 0))
        return qn_fail(err, QN_ERR_INPUT,
                       "%s: the grid is not north-up (pixel width %g, height %g)", name,
                       transform[1], transform[5]);
    return QN_OK;
}

/* Reading. */

static int has_finite(const qn_sw_raster *raster)
{
    const size_t n = qn_sw_elems(&raster->place);

    for (size_t i = 0; i < n; i++) {
        if (isfinite(raster->data[i]))
            return 1;
    }
    return 0;
}

static qn_status check_shape(const char *path, const qn_sw_place *place, const qn_sw_place *wanted,
                             qn_err *err)
{
    if (wanted && (place->rows != wanted->rows || place->cols != wanted->cols))
        return qn_fail(err, QN_ERR_INPUT, "%s: %lld x %lld pixels, not %lld x %lld", path,
                       (long long)place->rows, (long long)place->cols, (long long)wanted->rows,
                       (long long)wanted->cols);
    if (qn_sw_elems(place) > QN_MOST_ARRAY / sizeof(float))
        return qn_fail(err, QN_ERR_LIMIT, "%s: %lld x %lld pixels, the limit is %zu", path,
                       (long long)place->rows, (long long)place->cols,
                       QN_MOST_ARRAY / sizeof(float));
    return QN_OK;
}

qn_status qn_sw_raster_read(const char *path, const qn_sw_read_options *options, qn_sw_raster *out,
                            qn_err *err)
{
    static const qn_sw_read_options defaults;
    const qn_sw_format *format = NULL;
    qn_sw_place place = { 0 };
    qn_sw_raster raster = { 0 };
    void *file = NULL;
    int is_integer = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_format_of(path, &format, err));
    options = options ? options : &defaults;
    QN_TRY(format->open(path, options, &file, &place, &is_integer, err));
    QN_TRY(check_shape(path, &place, options->shape, err));
    QN_TRY(qn_sw_raster_new(&place, &raster, err));
    QN_TRY(format->read(file, (qn_window){ 0, 0, place.rows, place.cols }, raster.data, err));
    if (!options->may_be_empty && !has_finite(&raster))
        QN_FAIL(err, QN_ERR_INPUT, "%s: none of its %lld x %lld pixels has a value", path,
                (long long)place.rows, (long long)place.cols);
    raster.is_integer = is_integer;
    *out = raster;
    raster = (qn_sw_raster){ 0 };
out:
    qn_sw_raster_free(&raster);
    qn_sw_place_free(&place);
    if (file)
        format->close(file);
    return st;
}
