/* zip.c - archives through GDAL's virtual file system. Create and read load GDAL; an open archive
 * means that it is loaded. */
#include "zip.h"
#include "domain/solweig/raster/gdal_api.h"
#include "domain/solweig/raster/raster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Braces end the archive's name, whatever its ending. */
char *qn_sw_zip_member(const char *path, const char *name)
{
    char *member = NULL;

    return asprintf(&member, "/vsizip/{%s}%s%s", path, *name ? "/" : "", name) < 0 ? NULL : member;
}

#ifdef QN_WITH_GDAL

struct qn_sw_zip {
    char *path, *partial;
    VSILFILE *root; /* open as long as files are added */
};

static VSILFILE *open_member(const char *path, const char *name, const char *mode)
{
    char *member = qn_sw_zip_member(path, name);
    VSILFILE *file = NULL;

    qn_sw_gdal.CPLPushErrorHandler(qn_sw_gdal.CPLQuietErrorHandler);
    if (member)
        file = qn_sw_gdal.VSIFOpenL(member, mode);
    qn_sw_gdal.CPLPopErrorHandler();
    free(member);
    return file;
}

static void drop(qn_sw_zip *zip)
{
    free(zip->path);
    free(zip->partial);
    free(zip);
}

qn_status qn_sw_zip_create(const char *path, qn_sw_zip **out, qn_err *err)
{
    const qn_status st = qn_sw_gdal_load(path, err);
    qn_sw_zip *zip;

    if (st != QN_OK)
        return st;
    zip = calloc(1, sizeof *zip);
    if (!zip || !(zip->path = strdup(path)) || !(zip->partial = qn_sw_partial_name(path))) {
        if (zip)
            drop(zip);
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory to write it", path);
    }
    unlink(zip->partial);
    if (!(zip->root = open_member(zip->partial, "", "wb"))) {
        drop(zip);
        return qn_fail(err, QN_ERR_IO, "cannot write %s: the archive could not be made", path);
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
    VSILFILE *file = open_member(zip->partial, name, "wb");
    int is_written;

    if (!file)
        return qn_fail(err, QN_ERR_IO, "cannot write %s: %s could not be added", zip->path, name);
    qn_sw_gdal.CPLPushErrorHandler(qn_sw_gdal.CPLQuietErrorHandler);
    is_written = write_all(file, head, head_bytes) && write_all(file, data, bytes);
    is_written &= qn_sw_gdal.VSIFCloseL(file) == 0;
    qn_sw_gdal.CPLPopErrorHandler();
    if (!is_written)
        return qn_fail(err, QN_ERR_IO, "cannot write %s: %zu bytes of %s did not fit", zip->path,
                       head_bytes + bytes, name);
    return QN_OK;
}

qn_status qn_sw_zip_commit(qn_sw_zip *zip, qn_err *err)
{
    qn_status st = QN_OK;

    qn_sw_gdal.CPLPushErrorHandler(qn_sw_gdal.CPLQuietErrorHandler);
    const int is_closed = qn_sw_gdal.VSIFCloseL(zip->root) == 0;
    qn_sw_gdal.CPLPopErrorHandler();
    if (!is_closed || rename(zip->partial, zip->path) != 0) {
        st = qn_fail(err, QN_ERR_IO, "cannot write %s: its end could not be written", zip->path);
        unlink(zip->partial);
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
    unlink(zip->partial);
    drop(zip);
}

/* The size of an open file, which is rewound. */
static size_t size_of(VSILFILE *file)
{
    qn_sw_gdal.VSIFSeekL(file, 0, SEEK_END);
    const size_t bytes = (size_t)qn_sw_gdal.VSIFTellL(file);
    qn_sw_gdal.VSIFSeekL(file, 0, SEEK_SET);
    return bytes;
}

qn_status qn_sw_zip_read(const char *path, const char *name, char **data, size_t *bytes,
                         qn_err *err)
{
    qn_status st = qn_sw_gdal_load(path, err);
    char *content = NULL;
    VSILFILE *file;

    if (st != QN_OK)
        return st;
    if (!(file = open_member(path, name, "rb")))
        return qn_fail(err, access(path, R_OK) == 0 ? QN_ERR_INPUT : QN_ERR_IO,
                       "%s: no %s in it, or it is no archive", path, name);
    qn_sw_gdal.CPLPushErrorHandler(qn_sw_gdal.CPLQuietErrorHandler);
    const size_t size = size_of(file);
    content = malloc(size ? size : 1);
    const size_t got = content ? qn_sw_gdal.VSIFReadL(content, 1, size, file) : 0;
    qn_sw_gdal.VSIFCloseL(file);
    qn_sw_gdal.CPLPopErrorHandler();
    if (!content) {
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

qn_status qn_sw_zip_create(const char *path, qn_sw_zip **out, qn_err *err)
{
    (void)out;
    return qn_sw_gdal_load(path, err);
}

qn_status qn_sw_zip_add(qn_sw_zip *zip, const char *name, const void *head, size_t head_bytes,
                        const void *data, size_t bytes, qn_err *err)
{
    (void)zip, (void)head, (void)head_bytes, (void)data, (void)bytes;
    return qn_sw_gdal_load(name, err);
}

qn_status qn_sw_zip_commit(qn_sw_zip *zip, qn_err *err)
{
    (void)zip;
    return qn_sw_gdal_load("archive", err);
}

void qn_sw_zip_abort(qn_sw_zip *zip)
{
    (void)zip;
}

qn_status qn_sw_zip_read(const char *path, const char *name, char **data, size_t *bytes,
                         qn_err *err)
{
    (void)name, (void)data, (void)bytes;
    return qn_sw_gdal_load(path, err);
}

#endif
