/* zip.c - archives through GDAL's virtual file system. Create and read load GDAL, so it is loaded
 * while an archive is open. */
#include "domain/solweig/cache/svf_cache.h"
#include "domain/solweig/raster/gdal_api.h"
#include "domain/solweig/raster/raster.h"
#include "util/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Braces delimit the archive's name, so that it may have any ending. */
qn_status qn_sw_zip_member(const char *path, const char *name, char **out, qn_err *err)
{
    return qn_text_new(out, err, "/vsizip/{%s}%s%s", path, *name ? "/" : "", name);
}

#ifdef QN_WITH_GDAL

struct qn_sw_zip {
    char *path;
    VSILFILE *root; /* open while files are added */
};

static VSILFILE *open_member(const char *path, const char *name, const char *mode)
{
    char *member = NULL;
    VSILFILE *file = NULL;

    errno = 0;
    if (qn_sw_zip_member(path, name, &member, NULL) != QN_OK)
        errno = ENOMEM;
    else
        file = qn_sw_gdal.VSIFOpenL(member, mode);
    free(member);
    return file;
}

/* Creates an archive, or a file in it. */
static VSILFILE *create_member(const qn_sw_zip *zip, const char *name)
{
    char *path = NULL;
    VSILFILE *file = NULL;

    if (asprintf(&path, QN_SW_GDAL_FILES "%s", zip->path) < 0)
        return NULL;
    file = open_member(path, name, "wb");
    free(path);
    return file;
}

static void drop(qn_sw_zip *zip)
{
    free(zip->path);
    free(zip);
}

qn_status qn_sw_zip_create(const char *path, qn_sw_zip **out, qn_err *err)
{
    const qn_status st = qn_sw_gdal_load(path, err);
    qn_sw_gdal_message m;
    qn_sw_zip *zip;

    if (st != QN_OK)
        return st;
    zip = calloc(1, sizeof *zip);
    if (!zip || !(zip->path = strdup(path))) {
        free(zip);
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory to write it", path);
    }
    unlink(path);
    qn_sw_gdal_listen(&m);
    zip->root = create_member(zip, "");
    qn_sw_gdal.CPLPopErrorHandler();
    if (!zip->root) {
        drop(zip);
        return qn_fail(err, QN_ERR_IO, "cannot write %s: %s", path,
                       qn_sw_gdal_said(&m, "the archive could not be made"));
    }
    *out = zip;
    return QN_OK;
}

static int write_all(VSILFILE *file, const void *data, size_t bytes)
{
    return bytes == 0 || qn_sw_gdal.VSIFWriteL(data, 1, bytes, file) == bytes;
}

qn_status qn_sw_zip_add(qn_sw_zip *zip, const char *name, const void *head, size_t head_bytes,
                        const void *data, size_t bytes, qn_err *err)
{
    qn_sw_gdal_message m;
    VSILFILE *file;
    int is_written, is_starved;

    qn_sw_gdal_listen(&m);
    file = create_member(zip, name);
    is_starved = !file && errno == ENOMEM;
    is_written = file && write_all(file, head, head_bytes) && write_all(file, data, bytes);
    if (file)
        is_written &= qn_sw_gdal.VSIFCloseL(file) == 0;
    qn_sw_gdal.CPLPopErrorHandler();
    if (!is_written || m.is_set)
        return qn_fail(err, is_starved ? QN_ERR_NOMEM : QN_ERR_IO,
                       "cannot write %s: %s of %zu bytes: %s", zip->path, name, head_bytes + bytes,
                       qn_sw_gdal_said(&m, "it could not be added"));
    return QN_OK;
}

qn_status qn_sw_zip_commit(qn_sw_zip *zip, qn_err *err)
{
    qn_sw_gdal_message m;
    qn_status st = QN_OK;

    qn_sw_gdal_listen(&m);
    const int is_closed = qn_sw_gdal.VSIFCloseL(zip->root) == 0;
    qn_sw_gdal.CPLPopErrorHandler();
    if (!is_closed || m.is_set) {
        st = qn_fail(err, QN_ERR_IO, "cannot write %s: %s", zip->path,
                     qn_sw_gdal_said(&m, "its end could not be written"));
        unlink(zip->path);
    }
    drop(zip);
    return st;
}

void qn_sw_zip_abort(qn_sw_zip *zip)
{
    if (!zip)
        return;
    qn_sw_gdal.CPLPushErrorHandler(qn_sw_gdal.CPLQuietErrorHandler);
    qn_sw_gdal.VSIFCloseL(zip->root);
    qn_sw_gdal.CPLPopErrorHandler();
    unlink(zip->path);
    drop(zip);
}

/* The size of an open file; rewinds it. */
static size_t size_of(VSILFILE *file)
{
    qn_sw_gdal.VSIFSeekL(file, 0, SEEK_END);
    const size_t bytes = (size_t)qn_sw_gdal.VSIFTellL(file);
    qn_sw_gdal.VSIFSeekL(file, 0, SEEK_SET);
    return bytes;
}

qn_status qn_sw_zip_read(const char *path, const char *name, size_t most, char **data,
                         size_t *bytes, qn_err *err)
{
    qn_status st = qn_sw_gdal_load(path, err);
    char *content = NULL;
    VSILFILE *file;

    if (st != QN_OK)
        return st;
    qn_sw_gdal.CPLPushErrorHandler(qn_sw_gdal.CPLQuietErrorHandler);
    file = open_member(path, name, "rb");
    qn_sw_gdal.CPLPopErrorHandler();
    if (!file)
        return qn_fail(err, access(path, R_OK) == 0 ? QN_ERR_INPUT : QN_ERR_IO,
                       "%s: has no %s, or is not an archive", path, name);
    qn_sw_gdal.CPLPushErrorHandler(qn_sw_gdal.CPLQuietErrorHandler);
    const size_t size = size_of(file);
    content = size <= most ? malloc(size ? size : 1) : NULL;
    const size_t got = content ? qn_sw_gdal.VSIFReadL(content, 1, size, file) : 0;
    qn_sw_gdal.VSIFCloseL(file);
    qn_sw_gdal.CPLPopErrorHandler();
    if (size > most) {
        st = qn_fail(err, QN_ERR_LIMIT, "%s: %s unpacks to %zu bytes, the limit for it is %zu",
                     path, name, size, most);
    } else if (!content) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for the %zu bytes of %s", path, size, name);
    } else if (got != size) {
        st = qn_fail(err, QN_ERR_INPUT, "%s: %s ends after %zu of its %zu bytes", path, name, got,
                     size);
        free(content);
    } else {
        *data = content;
        *bytes = size;
    }
    return st;
}

#else

qn_status qn_sw_zip_create(const char *path, QN_UNUSED qn_sw_zip **out, qn_err *err)
{
    return qn_sw_gdal_load(path, err);
}

qn_status qn_sw_zip_add(qn_sw_zip *zip, const char *name, const void *head, size_t head_bytes,
                        const void *data, size_t bytes, qn_err *err)
{
    (void)zip, (void)head, (void)head_bytes, (void)data, (void)bytes;
    return qn_sw_gdal_load(name, err);
}

qn_status qn_sw_zip_commit(QN_UNUSED qn_sw_zip *zip, qn_err *err)
{
    return qn_sw_gdal_load("archive", err);
}

void qn_sw_zip_abort(QN_UNUSED qn_sw_zip *zip)
{
}

qn_status qn_sw_zip_read(const char *path, const char *name, size_t most, char **data,
                         size_t *bytes, qn_err *err)
{
    (void)name, (void)most, (void)data, (void)bytes;
    return qn_sw_gdal_load(path, err);
}

#endif
