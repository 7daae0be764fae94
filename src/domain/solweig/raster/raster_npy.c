/* raster_npy.c - rasters as two-dimensional NumPy arrays, with their places as JSON.
 *
 * Only the rows of a window are read or written, so its cost does not depend on the size of the
 * array. An array in Fortran order is read whole.
 */
#include "raster_impl.h"
#include "util/file.h"
#include "util/json.h"
#include "util/list.h"
#include "util/npy.h"
#include "util/str.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 66 * 1024 }; /* larger than any accepted header */

/* Places, as JSON. */

/* Converts "a/dsm.npy" to "a/dsm.place.json". */
static qn_status name_of(const char *path, char **out, qn_err *err)
{
    const size_t stem = strlen(path) - strlen(qn_sw_format_npy.ending);

    return qn_text_new(out, err, "%.*s.place.json", (int)stem, path);
}

static qn_status read_transform(const json_t *json, const char *name, double out[6], qn_err *err)
{
    json_t *terms = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_json_get_array(json, "transform", name, &terms, err));
    if (json_array_size(terms) != 6)
        QN_FAIL(err, QN_ERR_INPUT, "%s: %zu terms of transform, not 6", name,
                json_array_size(terms));
    for (size_t i = 0; i < 6; i++) {
        const json_t *term = json_array_get(terms, i);

        if (!json_is_number(term))
            QN_FAIL(err, QN_ERR_INPUT, "%s: term %zu of transform is not a number", name, i);
        out[i] = json_number_value(term);
    }
    st = qn_sw_check_transform(name, out, err);
out:
    return st;
}

qn_status qn_sw_place_json_read(const char *path, qn_sw_place *place, qn_err *err)
{
    char *name = NULL;
    json_t *json = NULL;
    qn_sw_place found = *place;
    const char *crs = NULL;
    qn_status st = QN_OK;

    QN_TRY(name_of(path, &name, err));
    if (access(name, F_OK) != 0)
        goto out;
    QN_TRY(qn_json_read(name, &json, err));
    QN_TRY(read_transform(json, name, found.transform, err));
    if (json_object_get(json, "crs"))
        QN_TRY(qn_json_get_text(json, "crs", name, &crs, err));
    if (crs)
        QN_TRY(qn_text_new(&found.crs, err, "%s", crs));
    found.pixel_size = found.transform[1];
    found.is_placed = 1;
    *place = found;
out:
    json_decref(json);
    free(name);
    return st;
}

qn_status qn_sw_place_json_write(const char *path, const qn_sw_place *place, qn_err *err)
{
    char *name = NULL;
    json_t *json = json_object(), *terms = json_array();
    qn_status st = QN_OK;

    for (int i = 0; i < 6; i++)
        qn_json_push(&terms, qn_json_number(place->transform[i]));
    qn_json_put(&json, "transform", terms);
    if (place->crs)
        qn_json_put(&json, "crs", qn_json_text(place->crs));
    if (!json)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for its place", path);
    QN_TRY(name_of(path, &name, err));
    st = qn_json_write(name, json, err);
out:
    json_decref(json);
    free(name);
    return st;
}

/* Arrays. */

typedef struct {
    char *path;
    int fd;
    qn_npy array; /* type and shape; data only if in Fortran order */
    size_t data_at;
} npy_file;

static void close_npy(void *handle)
{
    npy_file *file = handle;

    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    qn_npy_free(&file->array);
    free(file);
}

static qn_status new_file(const char *path, npy_file **out, qn_err *err)
{
    npy_file *file = calloc(1, sizeof *file);

    if (!file || !(file->path = strdup(path))) {
        free(file);
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory to open it", path);
    }
    file->fd = -1;
    *out = file;
    return QN_OK;
}

static qn_status fail_errno(const char *doing, const char *path, qn_err *err)
{
    return qn_fail(err, QN_ERR_IO, "cannot %s %s: %s", doing, path, strerror(errno));
}

static qn_status read_at(const npy_file *file, void *data, size_t bytes, size_t at, qn_err *err)
{
    return qn_read_exactly_at(file->fd, data, bytes, at) ? QN_OK
                                                         : fail_errno("read", file->path, err);
}

static qn_status write_at(const npy_file *file, const void *data, size_t bytes, size_t at,
                          qn_err *err)
{
    return qn_write_exactly_at(file->fd, data, bytes, at) ? QN_OK
                                                          : fail_errno("write", file->path, err);
}

/* Reading. */

static qn_status read_head(npy_file *file, qn_err *err)
{
    qn_status st = QN_OK;
    struct stat info;
    size_t bytes = 0;
    char *head = NULL;

    QN_TRY(QN_NEW(head, HEAD_BYTES, "the head of an array", err));
    if (fstat(file->fd, &info) != 0 || !S_ISREG(info.st_mode))
        QN_FAIL(err, QN_ERR_IO, "cannot read %s: it is not a file", file->path);
    bytes = (size_t)info.st_size < HEAD_BYTES ? (size_t)info.st_size : HEAD_BYTES;
    QN_TRY(read_at(file, head, bytes, 0, err));
    QN_TRY(qn_npy_parse(file->path, head, bytes, &file->array, &file->data_at, err));
    if (file->array.n_dims != 2 || file->array.dims[0] < 1 || file->array.dims[1] < 1)
        QN_FAIL(err, QN_ERR_INPUT,
                "%s: a raster has two dimensions of at least 1, this array has %d", file->path,
                file->array.n_dims);
    const size_t want =
        (size_t)qn_npy_elems(&file->array) * qn_npy_elem_bytes(file->array.type) + file->data_at;
    if ((size_t)info.st_size != want)
        st = qn_fail(err, QN_ERR_INPUT, "%s: %zu bytes, but its shape needs %zu", file->path,
                     (size_t)info.st_size, want);
out:
    free(head);
    return st;
}

static qn_status open_npy(const char *path, const qn_sw_read_options *options, void **handle,
                          qn_sw_place *place, int *is_integer, qn_err *err)
{
    const double size = options->pixel_size != 0 ? options->pixel_size : 1;
    qn_status st = QN_OK;
    npy_file *file = NULL;

    if (!(size > 0) || !isfinite(size))
        return qn_fail(err, QN_ERR_USAGE, "%s: a pixel size of %g m is not positive", path, size);
    QN_TRY(new_file(path, &file, err));
    if ((file->fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
        st = fail_errno("open", path, err);
        goto out;
    }
    QN_TRY(read_head(file, err));
    if (file->array.is_fortran)
        QN_TRY(qn_npy_read(path, &file->array, err));
    *place =
        (qn_sw_place){ .rows = file->array.dims[0],
                       .cols = file->array.dims[1],
                       .transform = { 0, size, 0, (double)file->array.dims[0] * size, 0, -size },
                       .pixel_size = size };
    QN_TRY(qn_sw_place_json_read(path, place, err));
    *is_integer = file->array.type != QN_NPY_F4 && file->array.type != QN_NPY_F8;
    *handle = file;
    file = NULL;
out:
    close_npy(file);
    return st;
}

static qn_status read_npy(void *handle, qn_window window, float *data, qn_err *err)
{
    npy_file *file = handle;
    const size_t size = qn_npy_elem_bytes(file->array.type);
    qn_status st = QN_OK;
    qn_npy row = { .type = file->array.type, .data = malloc((size_t)window.cols * size) };

    if (!row.data)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a row of %lld pixels", file->path,
                       (long long)window.cols);
    for (qn_i64 y = 0; y < window.rows; y++) {
        const size_t from = (size_t)((window.row + y) * file->array.dims[1] + window.col) * size;
        const size_t bytes = (size_t)window.cols * size;

        if (file->array.data)
            memcpy(row.data, (const char *)file->array.data + from, bytes);
        else
            QN_TRY(read_at(file, row.data, bytes, file->data_at + from, err));
        for (qn_i64 x = 0; x < window.cols; x++)
            data[y * window.cols + x] = (float)qn_npy_at(&row, x);
    }
out:
    free(row.data);
    return st;
}

/* Writing. */

static qn_status create_npy(const char *path, const qn_sw_place *place, void **handle, qn_err *err)
{
    qn_status st = QN_OK;
    npy_file *file = NULL;
    qn_str head = { 0 };

    QN_TRY(new_file(path, &file, err));
    file->array = (qn_npy){ .type = QN_NPY_F4, .n_dims = 2, .dims = { place->rows, place->cols } };
    qn_npy_add_header(&file->array, &head);
    if (head.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for its header", path);
    file->data_at = head.len;
    if ((file->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0) {
        st = fail_errno("write", path, err);
        goto out;
    }
    if ((st = write_at(file, head.data, head.len, 0, err)) == QN_OK &&
        ftruncate(file->fd, (off_t)(head.len + qn_sw_elems(place) * sizeof(float))) != 0)
        st = fail_errno("write", path, err);
    if (st != QN_OK) {
        unlink(path);
        goto out;
    }
    *handle = file;
    file = NULL;
out:
    qn_str_free(&head);
    close_npy(file);
    return st;
}

static qn_status write_npy(void *handle, qn_window window, const float *data, qn_i64 stride,
                           qn_err *err)
{
    const npy_file *file = handle;
    qn_status st = QN_OK;

    for (qn_i64 y = 0; y < window.rows && st == QN_OK; y++) {
        const qn_i64 at = (window.row + y) * file->array.dims[1] + window.col;

        st = write_at(file, data + y * stride, (size_t)window.cols * sizeof *data,
                      file->data_at + (size_t)at * sizeof *data, err);
    }
    return st;
}

static qn_status finish_npy(void *handle, qn_err *err)
{
    npy_file *file = handle;
    qn_status st = QN_OK;

    if (close(file->fd) != 0)
        st = fail_errno("write", file->path, err);
    file->fd = -1;
    close_npy(file);
    return st;
}

const qn_sw_format qn_sw_format_npy = {
    .ending = ".npy",
    .open = open_npy,
    .read = read_npy,
    .close = close_npy,
    .create = create_npy,
    .write = write_npy,
    .finish = finish_npy,
};
