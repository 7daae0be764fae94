/* svf_cache.c - writing and reading the cache of sky view factors. */
#include "svf_cache.h"
#include "zip.h"
#include "util/file.h"
#include "util/json.h"
#include "util/npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_SIZE = 32, MAX_PATCHES = 4096 };

static const char *const matrix_names[QN_SW_SVF_MATRICES] = { "shadowmat", "vegshadowmat",
                                                              "vbshmat" };

/* "svf", "svfN", ..., "svfveg", "svfNveg", ..., "svfaveg", ... */
static const char *map_name(int i, char out[NAME_SIZE])
{
    static const char *const sides[] = { "", "N", "E", "S", "W" };
    static const char *const kinds[] = { "", "veg", "aveg" };

    snprintf(out, NAME_SIZE, "svf%s%s", sides[i % 5], kinds[i / 5]);
    return out;
}

static char *path_of(const char *folder, const char *name, const char *ending)
{
    char *path = NULL;

    return asprintf(&path, "%s/%s%s", folder, name, ending) < 0 ? NULL : path;
}

/* The key. */

static void add_layer(qn_sha256 *hash, const qn_sw_raster *layer)
{
    const uint8_t is_there = layer->data != NULL;

    qn_sha256_add(hash, &is_there, 1);
    if (is_there)
        qn_sha256_add(hash, layer->data, qn_sw_elems(&layer->place) * sizeof *layer->data);
}

qn_sw_svf_key qn_sw_svf_key_of(const qn_sw_surface *s, int patch_option)
{
    const qn_i64 shape[] = { s->dsm.place.rows, s->dsm.place.cols, patch_option };
    uint8_t digest[QN_SHA256_BYTES];
    qn_sw_svf_key key;
    qn_sha256 hash;

    qn_sha256_begin(&hash);
    qn_sha256_add(&hash, shape, sizeof shape);
    qn_sha256_add(&hash, &s->dsm.place.pixel_size, sizeof s->dsm.place.pixel_size);
    add_layer(&hash, &s->dsm);
    add_layer(&hash, &s->cdsm);
    add_layer(&hash, &s->tdsm);
    qn_sha256_end(&hash, digest);
    qn_hex(digest, sizeof digest, key.hex);
    return key;
}

/* Writing. */

/* Adds a map as GeoTIFF, through a file beside the archive. */
static qn_status add_map(qn_sw_zip *zip, const char *folder, const char *name,
                         const qn_sw_raster *map, qn_err *err)
{
    qn_status st = QN_OK;
    char *path = path_of(folder, name, ".tif"), *content = NULL;
    char member[NAME_SIZE + 4];
    size_t bytes = 0;

    if (!path)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", folder);
    snprintf(member, sizeof member, "%s.tif", name);
    QN_TRY(qn_sw_raster_write(path, map, err));
    QN_TRY(qn_file_read(path, &content, &bytes, err));
    QN_TRY(qn_sw_zip_add(zip, member, NULL, 0, content, bytes, err));
out:
    unlink(path);
    free(path);
    free(content);
    return st;
}

static qn_status write_maps(const char *folder, const char *archive, const qn_sw_place *place,
                            const qn_sw_svf_arrays *arrays, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_zip *zip = NULL;

    if (archive)
        QN_TRY(qn_sw_zip_create(archive, &zip, err));
    for (int i = 0; i < QN_SW_SVF_MAPS; i++) {
        const qn_sw_raster map = { .place = *place, .data = arrays->map[i] }; /* both borrowed */
        char name[NAME_SIZE], *path;

        map_name(i, name);
        if (zip) {
            QN_TRY(add_map(zip, folder, name, &map, err));
            continue;
        }
        if (!(path = path_of(folder, name, ".npy"))) {
            st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", folder);
            goto out;
        }
        st = qn_sw_raster_write(path, &map, err);
        free(path);
        QN_TRY(st);
    }
    if (zip) {
        st = qn_sw_zip_commit(zip, err);
        zip = NULL;
    }
out:
    qn_sw_zip_abort(zip);
    return st;
}

/* Writes to the archive, or to a separate file where there is none. */
static qn_status write_array(const char *folder, qn_sw_zip *zip, const char *name,
                             const qn_npy *array, qn_err *err)
{
    const size_t bytes = (size_t)qn_npy_elems(array) * qn_npy_elem_bytes(array->type);
    qn_status st = QN_OK;
    qn_str head = { 0 };
    char *path = path_of(folder, name, ".npy");
    char member[NAME_SIZE + 4];

    snprintf(member, sizeof member, "%s.npy", name);
    qn_npy_add_header(array, &head);
    if (!path || head.failed) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory to write %s", folder, name);
        goto out;
    }
    if (zip)
        QN_TRY(qn_sw_zip_add(zip, member, head.data, head.len, array->data, bytes, err));
    else
        QN_TRY(qn_npy_write(path, array, err));
out:
    free(path);
    qn_str_free(&head);
    return st;
}

static qn_status write_matrices(const char *folder, const char *archive, const qn_sw_place *place,
                                const qn_sw_svf_arrays *arrays, qn_err *err)
{
    int32_t n_patches = arrays->n_patches;
    const qn_npy count = { .type = QN_NPY_I4, .n_dims = 0, .data = &n_patches };
    qn_status st = QN_OK;
    qn_sw_zip *zip = NULL;

    if (archive)
        QN_TRY(qn_sw_zip_create(archive, &zip, err));
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++) {
        const qn_npy matrix = { .type = QN_NPY_U1,
                                .n_dims = 3,
                                .dims = { place->rows, place->cols, arrays->n_bytes },
                                .data = arrays->matrix[i] };

        QN_TRY(write_array(folder, zip, matrix_names[i], &matrix, err));
    }
    QN_TRY(write_array(folder, zip, "patch_count", &count, err));
    if (zip) {
        st = qn_sw_zip_commit(zip, err);
        zip = NULL;
    }
out:
    qn_sw_zip_abort(zip);
    return st;
}

/* The paths of a cache. */
typedef struct {
    char *maps, *matrices, *key;
} names;

static void free_names(names *n)
{
    free(n->maps);
    free(n->matrices);
    free(n->key);
}

static qn_status names_of(const char *folder, names *out, qn_err *err)
{
    names n = { path_of(folder, "svfs", ".zip"), path_of(folder, "shadowmats", ".npz"),
                path_of(folder, "svf", ".json") };

    if (!n.maps || !n.matrices || !n.key) {
        free_names(&n);
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its names", folder);
    }
    *out = n;
    return QN_OK;
}

static qn_status check_arrays(const char *folder, const qn_sw_svf_arrays *a, qn_err *err)
{
    int n_missing = 0;

    for (int i = 0; i < QN_SW_SVF_MAPS; i++)
        n_missing += !a->map[i];
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        n_missing += !a->matrix[i];
    if (n_missing || a->n_patches < 1 || a->n_patches > MAX_PATCHES ||
        a->n_bytes != (a->n_patches + 7) / 8)
        return qn_fail(err, QN_ERR_USAGE, "%s: %d arrays are missing, %d patches in %d bytes",
                       folder, n_missing, a->n_patches, a->n_bytes);
    return QN_OK;
}

qn_status qn_sw_svf_cache_write(const char *folder, const qn_sw_place *place,
                                const qn_sw_svf_arrays *arrays, const qn_sw_svf_key *key,
                                qn_err *err)
{
    const int has_zip = qn_sw_has_geotiff();
    qn_status st = QN_OK;
    json_t *root = NULL;
    names n = { 0 };

    QN_TRY(check_arrays(folder, arrays, err));
    QN_TRY(names_of(folder, &n, err));
    QN_TRY(qn_make_dirs(folder, err));
    if (unlink(n.key) != 0 && errno != ENOENT) {
        st = qn_fail(err, QN_ERR_IO, "cannot replace %s: %s", n.key, strerror(errno));
        goto out;
    }
    QN_TRY(write_maps(folder, has_zip ? n.maps : NULL, place, arrays, err));
    QN_TRY(write_matrices(folder, has_zip ? n.matrices : NULL, place, arrays, err));
    if (!(root = json_pack("{s:s, s:I, s:I, s:i}", "key", key->hex, "rows", (json_int_t)place->rows,
                           "cols", (json_int_t)place->cols, "patches", arrays->n_patches))) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its content", n.key);
        goto out;
    }
    QN_TRY(qn_json_write(n.key, root, err));
out:
    json_decref(root);
    free_names(&n);
    return st;
}

/* Reading. */

static qn_status check_key(const char *folder, const char *path, const qn_sw_svf_key *key,
                           int *n_patches, qn_err *err)
{
    qn_status st = QN_OK;
    json_t *root = NULL;
    const char *made_for;
    qn_i64 patches;

    QN_TRY(qn_json_read(path, &root, err));
    QN_TRY(qn_json_get_text(root, "key", path, &made_for, err));
    QN_TRY(qn_json_get_i64(root, "patches", path, &patches, err));
    if (strcmp(made_for, key->hex) != 0)
        st = qn_fail(err, QN_ERR_MISMATCH, "%s: made for another surface (key %.12s, not %.12s)",
                     folder, made_for, key->hex);
    else if (patches < 1 || patches > MAX_PATCHES)
        st = qn_fail(err, QN_ERR_INPUT, "%s: %lld patches are outside 1 .. %d", path,
                     (long long)patches, MAX_PATCHES);
    *n_patches = (int)patches;
out:
    json_decref(root);
    return st;
}

static qn_status read_map(const char *folder, const char *archive, const char *name,
                          const qn_sw_place *place, float *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_raster map = { 0 };
    char member[NAME_SIZE + 4];
    char *path;

    snprintf(member, sizeof member, "%s.tif", name);
    path = archive ? qn_sw_zip_member(archive, member) : path_of(folder, name, ".npy");
    if (!path)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", folder);
    QN_TRY(qn_sw_raster_read(path, NULL, &map, err));
    if (map.place.rows != place->rows || map.place.cols != place->cols) {
        st = qn_fail(err, QN_ERR_INPUT, "%s: %lld x %lld pixels, not %lld x %lld", path,
                     (long long)map.place.rows, (long long)map.place.cols, (long long)place->rows,
                     (long long)place->cols);
        goto out;
    }
    memcpy(out, map.data, qn_sw_elems(place) * sizeof *out);
out:
    qn_sw_raster_free(&map);
    free(path);
    return st;
}

/* The array inside `content`, which becomes its memory. */
static qn_status take_array(const char *where, char *content, size_t bytes, qn_npy *out,
                            qn_err *err)
{
    qn_npy array = { 0 };
    size_t at = 0;
    qn_status st = qn_npy_parse(where, content, bytes, &array, &at, err);

    if (st == QN_OK && bytes - at != (size_t)qn_npy_elems(&array) * qn_npy_elem_bytes(array.type))
        st = qn_fail(err, QN_ERR_INPUT, "%s: %zu bytes of data do not fit its shape", where,
                     bytes - at);
    if (st != QN_OK) {
        free(content);
        return st;
    }
    memmove(content, content + at, bytes - at);
    array.data = content;
    *out = array;
    return QN_OK;
}

static qn_status read_matrix(const char *folder, const char *archive, const char *name,
                             const qn_i64 dims[3], uint8_t *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_npy array = { 0 };
    char member[NAME_SIZE + 4], *content, *path = path_of(folder, name, ".npy");
    size_t bytes;

    if (!path)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", folder);
    snprintf(member, sizeof member, "%s.npy", name);
    if (archive) {
        QN_TRY(qn_sw_zip_read(archive, member, &content, &bytes, err));
        QN_TRY(take_array(archive, content, bytes, &array, err));
    } else {
        QN_TRY(qn_npy_read(path, &array, err));
    }
    if (array.type != QN_NPY_U1 || array.n_dims != 3 || array.is_fortran ||
        memcmp(array.dims, dims, 3 * sizeof *dims) != 0) {
        st = qn_fail(err, QN_ERR_INPUT, "%s: %s is not |u1 of shape (%lld, %lld, %lld)",
                     archive ? archive : folder, name, (long long)dims[0], (long long)dims[1],
                     (long long)dims[2]);
        goto out;
    }
    memcpy(out, array.data, (size_t)qn_npy_elems(&array));
out:
    qn_npy_free(&array);
    free(path);
    return st;
}

qn_status qn_sw_svf_cache_read(const char *folder, const qn_sw_place *place,
                               const qn_sw_svf_key *key, qn_sw_svf_arrays *out, qn_err *err)
{
    const int has_zip = qn_sw_has_geotiff();
    qn_status st = QN_OK;
    qn_sw_svf_arrays a = { 0 };
    names n = { 0 };
    int n_patches;

    QN_TRY(names_of(folder, &n, err));
    QN_TRY(check_key(folder, n.key, key, &n_patches, err));
    QN_TRY(qn_sw_svf_arrays_new(qn_sw_elems(place), n_patches, &a, err));
    for (int i = 0; i < QN_SW_SVF_MAPS; i++) {
        char name[NAME_SIZE];

        QN_TRY(read_map(folder, has_zip ? n.maps : NULL, map_name(i, name), place, a.map[i], err));
    }
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        QN_TRY(read_matrix(folder, has_zip ? n.matrices : NULL, matrix_names[i],
                           (const qn_i64[]){ place->rows, place->cols, a.n_bytes }, a.matrix[i],
                           err));
    *out = a;
    a = (qn_sw_svf_arrays){ 0 };
out:
    qn_sw_svf_arrays_free(&a);
    free_names(&n);
    return st;
}
