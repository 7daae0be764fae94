/* raster_out.c - raster files that appear in one piece. */
#include "raster.h"
#include "raster_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct qn_sw_raster_out {
    const qn_sw_format *format;
    void *file;
    char *path, *partial;
    qn_sw_place place;
};

char *qn_sw_partial_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    const int stem = dot ? (int)(dot - path) : (int)strlen(path);
    char *name = NULL;

    return asprintf(&name, "%.*s.partial%s", stem, path, dot ? dot : "") < 0 ? NULL : name;
}

static void drop(qn_sw_raster_out *out)
{
    qn_sw_place_free(&out->place);
    free(out->path);
    free(out->partial);
    free(out);
}

qn_status qn_sw_raster_out_open(const char *path, const qn_sw_place *place, qn_sw_out_start start,
                                qn_sw_raster_out **out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_raster_out *o = calloc(1, sizeof *o);

    if (!o || !(o->path = strdup(path)) || !(o->partial = qn_sw_partial_name(path))) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory to write it", path);
        goto out;
    }
    QN_TRY(qn_sw_format_of(path, &o->format, err));
    QN_TRY(qn_sw_place_copy(place, &o->place, err));
    if (start == QN_SW_OUT_RESUME)
        QN_TRY(o->format->reopen(o->partial, place, &o->file, err));
    else
        QN_TRY(o->format->create(o->partial, place, &o->file, err));
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

/* The content reaches the disk before the name does: a power cut leaves no empty file. */
qn_status qn_sw_partial_commit(const char *path, qn_err *err)
{
    qn_status st = QN_OK;
    char *partial = qn_sw_partial_name(path);
    const int fd = partial ? open(partial, O_RDWR | O_CLOEXEC) : -1;

    if (!partial)
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its name", path);
    else if (fd < 0 || fsync(fd) != 0 || rename(partial, path) != 0)
        st = qn_fail(err, QN_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(partial);
    return st;
}

qn_status qn_sw_raster_out_commit(qn_sw_raster_out *out, qn_err *err)
{
    qn_status st = out->format->finish(out->file, err);

    if (st != QN_OK)
        qn_prefix(err, "cannot write %s", out->path);
    else
        st = qn_sw_partial_commit(out->path, err);
    if (st != QN_OK)
        unlink(out->partial);
    drop(out);
    return st;
}

qn_status qn_sw_raster_out_keep(qn_sw_raster_out *out, qn_err *err)
{
    qn_status st = QN_OK;

    if (!out)
        return QN_OK;
    if ((st = out->format->finish(out->file, err)) != QN_OK)
        qn_prefix(err, "cannot keep %s", out->partial);
    drop(out);
    return st;
}

void qn_sw_raster_out_abort(qn_sw_raster_out *out)
{
    if (!out)
        return;
    out->format->finish(out->file, NULL);
    unlink(out->partial);
    drop(out);
}

qn_status qn_sw_raster_write(const char *path, const qn_sw_raster *raster, qn_err *err)
{
    const qn_window all = { 0, 0, raster->place.rows, raster->place.cols };
    qn_status st = QN_OK;
    qn_sw_raster_out *out = NULL;

    QN_TRY(qn_sw_raster_out_open(path, &raster->place, QN_SW_OUT_NEW, &out, err));
    QN_TRY(qn_sw_raster_out_write(out, all, raster->data, raster->place.cols, err));
    st = qn_sw_raster_out_commit(out, err);
    out = NULL;
out:
    qn_sw_raster_out_abort(out);
    return st;
}
