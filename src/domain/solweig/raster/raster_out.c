/* raster_out.c - raster files that appear in one piece. */
#include "raster_impl.h"
#include "util/file.h"

#include <stdlib.h>
#include <string.h>

struct qn_sw_raster_out {
    const qn_sw_format *format;
    void *file;
    char *path;
    qn_sw_place place;
};

static void drop(qn_sw_raster_out *out)
{
    qn_sw_place_free(&out->place);
    free(out->path);
    free(out);
}

qn_status qn_sw_raster_out_open(const char *path, const qn_sw_place *place, qn_sw_raster_out **out,
                                qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_raster_out *o = calloc(1, sizeof *o);

    if (!o || !(o->path = strdup(path)))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory to write it", path);
    QN_TRY(qn_sw_format_of(path, &o->format, err));
    QN_TRY(qn_sw_place_copy(place, &o->place, err));
    QN_TRY(o->format->create(path, place, &o->file, err));
    *out = o;
    o = NULL;
out:
    if (o)
        drop(o);
    return st;
}

qn_status qn_sw_raster_out_write(qn_sw_raster_out *out, qn_window window, const float *data,
                                 qn_i64 stride, qn_err *err)
{
    qn_status st = qn_sw_window_check(&out->place, window, err);

    if (st == QN_OK)
        st = out->format->write(out->file, window, data, stride, err);
    if (st != QN_OK)
        qn_prefix(err, "cannot write %s", out->path);
    return st;
}

qn_status qn_sw_raster_out_close(qn_sw_raster_out *out, qn_err *err)
{
    qn_status st = QN_OK;

    if (!out)
        return QN_OK;
    if ((st = out->format->finish(out->file, err)) != QN_OK)
        qn_prefix(err, "cannot write %s", out->path);
    drop(out);
    return st;
}

/* Whole rasters. */

qn_status qn_sw_raster_save(const char *path, const qn_sw_raster *raster, qn_err *err)
{
    const qn_window all = { 0, 0, raster->place.rows, raster->place.cols };
    qn_sw_raster_out *out = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_raster_out_open(path, &raster->place, &out, err));
    QN_TRY(qn_sw_raster_out_write(out, all, raster->data, raster->place.cols, err));
    st = qn_sw_raster_out_close(out, err);
    out = NULL;
out:
    qn_sw_raster_out_close(out, NULL);
    return st;
}

qn_status qn_sw_raster_write(const char *path, const qn_sw_raster *raster, qn_err *err)
{
    qn_partial partial;
    qn_status st = qn_partial_open(path, &partial, err);

    if (st != QN_OK)
        return st;
    if ((st = qn_sw_raster_save(partial.path, raster, err)) == QN_OK)
        return qn_partial_publish(&partial, path, err);
    qn_partial_drop(&partial);
    return st;
}
