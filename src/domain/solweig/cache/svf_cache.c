/* svf_cache.c - sky view factors in memory, and their cache on disk. */
#include "domain/solweig/cache/svf_cache.h"
#include "util/env.h"
#include "util/file.h"
#include "util/json.h"
#include "util/npy.h"
#include "util/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_FILE "svf.json"

enum { NAME_SIZE = QN_SW_SVF_NAME, MAX_PATCHES = 4096 };

static const char *const matrix_names[QN_SW_SVF_MATRICES] = { "shadowmat", "vegshadowmat",
                                                              "vbshmat" };

const char *qn_sw_svf_map_name(int i, char out[QN_SW_SVF_NAME])
{
    static const char *const sides[] = { "", "N", "E", "S", "W" };
    static const char *const kinds[] = { "", "veg", "aveg" };

    snprintf(out, QN_SW_SVF_NAME, "svf%s%s", sides[i % 5], kinds[i / 5]);
    return out;
}

/* Memory: plain, or a mapped file without a name.
 *
 * All maps and bits take 120 bytes per pixel, for a large raster more than the memory of most
 * machines. With a mapped file the system can write unused pages to disk. */

#define MAPPED_PIXELS 50e6 /* larger rasters are mapped, unless the variable changes the limit */

static int is_large(size_t cells)
{
    return (double)cells > qn_env_number("QUERN_SOLWEIG_MEMMAP_PIXELS", MAPPED_PIXELS);
}

qn_status qn_sw_svf_arrays_new(size_t cells, int n_patches, qn_sw_svf_arrays *out, qn_err *err)
{
    qn_sw_svf_arrays a = { .n_patches = n_patches, .n_bytes = (n_patches + 7) / 8 };
    const size_t plane = cells * sizeof(float);
    size_t each = 0, bytes = 0;
    char *at = NULL;
    qn_status st = QN_OK;

    each = QN_SW_SVF_MAPS * sizeof(float) + QN_SW_SVF_MATRICES * (size_t)a.n_bytes;
    QN_TRY(qn_size_mul(cells, each, "view factors", &bytes, err));
    QN_TRY(qn_big_block_new(bytes, is_large(cells), "view factors", "svf", &a.block, err));
    at = a.block.data;
    for (int i = 0; i < QN_SW_SVF_MAPS; i++, at += plane)
        a.map[i] = (float *)(void *)at;
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++, at += cells * (size_t)a.n_bytes)
        a.matrix[i] = (uint8_t *)at;
    *out = a;
out:
    return st;
}

void qn_sw_svf_arrays_free(qn_sw_svf_arrays *arrays)
{
    for (int i = 0; !arrays->block.data && i < QN_SW_SVF_MAPS; i++)
        free(arrays->map[i]);
    for (int i = 0; !arrays->block.data && i < QN_SW_SVF_MATRICES; i++)
        free(arrays->matrix[i]);
    qn_big_block_free(&arrays->block);
    *arrays = (qn_sw_svf_arrays){ 0 };
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

/* Where to write `name` and its ending; the caller frees it. */
static qn_status path_in(qn_run_folder *to, const char *name, const char *ending,
                         char file[NAME_SIZE + 4], char **path, qn_err *err)
{
    snprintf(file, NAME_SIZE + 4, "%s%s", name, ending);
    return qn_run_folder_path(to, file, path, err);
}

/* Adds a map as GeoTIFF, which is first written to a file beside the archive. */
static qn_status add_map(qn_sw_zip *zip, const char *path, const char *member,
                         const qn_sw_raster *map, qn_err *err)
{
    qn_status st = QN_OK;
    char *content = NULL;
    size_t bytes = 0;

    QN_TRY(qn_sw_raster_save(path, map, err));
    QN_TRY(qn_file_read(path, &content, &bytes, err));
    QN_TRY(qn_sw_zip_add(zip, member, NULL, 0, content, bytes, err));
out:
    unlink(path);
    free(content);
    return st;
}

/* Begins an archive in `to`; NULL if GDAL is not available. */
static qn_status begin_archive(qn_run_folder *to, const char *name, const char *ending,
                               qn_sw_zip **out, qn_err *err)
{
    char file[NAME_SIZE + 4], *path = NULL;
    qn_status st = QN_OK;

    if (!qn_sw_has_geotiff())
        return QN_OK;
    QN_TRY(path_in(to, name, ending, file, &path, err));
    QN_TRY(qn_sw_zip_create(path, out, err));
    QN_TRY(qn_run_folder_add(to, file, err));
out:
    free(path);
    return st;
}

/* Commits an archive, if there is one and no write has failed. */
static qn_status end_archive(qn_sw_zip *zip, qn_status st, qn_err *err)
{
    if (zip && st == QN_OK)
        return qn_sw_zip_commit(zip, err);
    qn_sw_zip_abort(zip);
    return st;
}

static qn_status write_map(qn_run_folder *to, qn_sw_zip *zip, const char *name,
                           const qn_sw_raster *map, qn_err *err)
{
    char file[NAME_SIZE + 4], *path = NULL;
    qn_status st = QN_OK;

    QN_TRY(path_in(to, name, zip ? ".tif" : ".npy", file, &path, err));
    if (zip) {
        QN_TRY(add_map(zip, path, file, map, err));
    } else {
        QN_TRY(qn_sw_raster_save(path, map, err));
        QN_TRY(qn_run_folder_add(to, file, err));
    }
out:
    free(path);
    return st;
}

static qn_status write_maps(qn_run_folder *to, const qn_sw_place *place,
                            const qn_sw_svf_arrays *arrays, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_zip *zip = NULL;

    QN_TRY(begin_archive(to, "svfs", ".zip", &zip, err));
    for (int i = 0; i < QN_SW_SVF_MAPS; i++) {
        const qn_sw_raster map = { .place = *place, .data = arrays->map[i] }; /* both borrowed */
        char name[NAME_SIZE];

        QN_TRY(write_map(to, zip, qn_sw_svf_map_name(i, name), &map, err));
    }
out:
    return end_archive(zip, st, err);
}

/* Writes to the archive, or if there is none, to a separate file. */
static qn_status write_array(qn_run_folder *to, qn_sw_zip *zip, const char *name,
                             const qn_npy *array, qn_err *err)
{
    const size_t bytes = (size_t)qn_npy_elems(array) * qn_npy_elem_bytes(array->type);
    qn_status st = QN_OK;
    qn_str head = { 0 };
    char file[NAME_SIZE + 4], *path = NULL;

    QN_TRY(path_in(to, name, ".npy", file, &path, err));
    if (!zip) {
        QN_TRY(qn_npy_write(path, array, err));
        QN_TRY(qn_run_folder_add(to, file, err));
        goto out;
    }
    qn_npy_add_header(array, &head);
    st = head.failed ? qn_fail(err, QN_ERR_NOMEM, "%s: no memory to write it", file)
                     : qn_sw_zip_add(zip, file, head.data, head.len, array->data, bytes, err);
out:
    free(path);
    qn_str_free(&head);
    return st;
}

static qn_status write_matrices(qn_run_folder *to, const qn_sw_place *place,
                                const qn_sw_svf_arrays *arrays, qn_err *err)
{
    int32_t n_patches = arrays->n_patches;
    const qn_npy count = { .type = QN_NPY_I4, .n_dims = 0, .data = &n_patches };
    qn_status st = QN_OK;
    qn_sw_zip *zip = NULL;

    QN_TRY(begin_archive(to, "shadowmats", ".npz", &zip, err));
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++) {
        const qn_npy matrix = { .type = QN_NPY_U1,
                                .n_dims = 3,
                                .dims = { place->rows, place->cols, arrays->n_bytes },
                                .data = arrays->matrix[i] };

        QN_TRY(write_array(to, zip, matrix_names[i], &matrix, err));
    }
    QN_TRY(write_array(to, zip, "patch_count", &count, err));
out:
    return end_archive(zip, st, err);
}

static qn_status write_key(qn_run_folder *to, const qn_sw_place *place, int n_patches,
                           const qn_sw_svf_key *key, qn_err *err)
{
    char text[256];
    const int n = snprintf(text, sizeof text,
                           "{\n  \"key\": \"%s\",\n  \"rows\": %lld,\n  \"cols\": %lld,\n"
                           "  \"patches\": %d\n}\n",
                           key->hex, (long long)place->rows, (long long)place->cols, n_patches);

    return qn_run_folder_write(to, KEY_FILE, text, (size_t)n, err);
}

static qn_status check_arrays(const qn_sw_svf_arrays *a, qn_err *err)
{
    int n_missing = 0;

    for (int i = 0; i < QN_SW_SVF_MAPS; i++)
        n_missing += !a->map[i];
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        n_missing += !a->matrix[i];
    if (n_missing || a->n_patches < 1 || a->n_patches > MAX_PATCHES ||
        a->n_bytes != (a->n_patches + 7) / 8)
        return qn_fail(err, QN_ERR_USAGE, "sky view: %d arrays are missing, %d patches in %d bytes",
                       n_missing, a->n_patches, a->n_bytes);
    return QN_OK;
}

qn_status qn_sw_svf_cache_write(qn_run_folder *to, const qn_sw_place *place,
                                const qn_sw_svf_arrays *arrays, const qn_sw_svf_key *key,
                                qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(check_arrays(arrays, err));
    QN_TRY(write_maps(to, place, arrays, err));
    QN_TRY(write_matrices(to, place, arrays, err));
    QN_TRY(qn_run_folder_remove(to, KEY_FILE, err)); /* it is for the old files */
    QN_TRY(qn_run_folder_commit(to, NULL, NULL, err));
    QN_TRY(write_key(to, place, arrays->n_patches, key, err));
out:
    return st;
}

/* Reading. */

static qn_status check_key(const char *folder, const qn_sw_svf_key *key, int *n_patches,
                           qn_err *err)
{
    qn_status st = QN_OK;
    json_t *root = NULL;
    char *path = NULL;
    const char *made_for;
    qn_i64 patches;

    QN_TRY(qn_text_new(&path, err, "%s/" KEY_FILE, folder));
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
    free(path);
    return st;
}

static qn_status read_map(const char *folder, const char *archive, const char *name,
                          const qn_sw_place *place, float *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_raster map = { 0 };
    char member[NAME_SIZE + 4];
    char *path = NULL;

    snprintf(member, sizeof member, "%s.tif", name);
    QN_TRY(archive ? qn_sw_zip_member(archive, member, &path, err)
                   : qn_text_new(&path, err, "%s/%s.npy", folder, name));
    QN_TRY(qn_sw_raster_read(path, &(qn_sw_read_options){ .shape = place }, &map, err));
    memcpy(out, map.data, qn_sw_elems(place) * sizeof *out);
out:
    qn_sw_raster_free(&map);
    free(path);
    return st;
}

/* Makes an array of `content` and takes ownership of that. */
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
    char member[NAME_SIZE + 4], *content, *path = NULL;
    size_t bytes, most;

    QN_TRY(qn_text_new(&path, err, "%s/%s.npy", folder, name));
    snprintf(member, sizeof member, "%s.npy", name);
    if (archive) {
        most = QN_NPY_MAX_HEAD + (size_t)dims[0] * (size_t)dims[1] * (size_t)dims[2];
        QN_TRY(qn_sw_zip_read(archive, member, most, &content, &bytes, err));
        QN_TRY(take_array(archive, content, bytes, &array, err));
    } else {
        QN_TRY(qn_npy_read(path, &array, err));
    }
    if (array.type != QN_NPY_U1 || array.n_dims != 3 || array.is_fortran ||
        memcmp(array.dims, dims, 3 * sizeof *dims) != 0)
        QN_FAIL(err, QN_ERR_INPUT, "%s: %s is not |u1 of shape (%lld, %lld, %lld)",
                archive ? archive : folder, name, (long long)dims[0], (long long)dims[1],
                (long long)dims[2]);
    memcpy(out, array.data, (size_t)qn_npy_elems(&array));
out:
    qn_npy_free(&array);
    free(path);
    return st;
}

qn_status qn_sw_svf_cache_read(const char *folder, const qn_sw_place *place,
                               const qn_sw_svf_key *key, qn_sw_svf_arrays *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_svf_arrays a = { 0 };
    char *maps = NULL, *matrices = NULL; /* archives; NULL: separate files */
    int n_patches = 0;

    QN_TRY(check_key(folder, key, &n_patches, err));
    if (qn_sw_has_geotiff()) {
        QN_TRY(qn_text_new(&maps, err, "%s/svfs.zip", folder));
        QN_TRY(qn_text_new(&matrices, err, "%s/shadowmats.npz", folder));
    }
    QN_TRY(qn_sw_svf_arrays_new(qn_sw_elems(place), n_patches, &a, err));
    for (int i = 0; i < QN_SW_SVF_MAPS; i++) {
        char name[NAME_SIZE];

        QN_TRY(read_map(folder, maps, qn_sw_svf_map_name(i, name), place, a.map[i], err));
    }
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        QN_TRY(read_matrix(folder, matrices, matrix_names[i],
                           (const qn_i64[]){ place->rows, place->cols, a.n_bytes }, a.matrix[i],
                           err));
    *out = a;
    a = (qn_sw_svf_arrays){ 0 };
out:
    qn_sw_svf_arrays_free(&a);
    free(maps);
    free(matrices);
    return st;
}
