/* svf_cache.h - sky view factors cached for later runs.
 *
 * A folder holds svfs.zip with the maps as GeoTIFF, shadowmats.npz with the bits of every patch,
 * and svf.json with the key of the surface they were made for. Without GDAL the same arrays are
 * cached as .npy. svf.json gets its name last, and the one before goes before the files that it was
 * made for: without it there is no cache.
 */
#ifndef QN_SOLWEIG_CACHE_SVF_CACHE_H
#define QN_SOLWEIG_CACHE_SVF_CACHE_H

#include "domain/solweig/surface/surface.h"
#include "util/big_block.h"
#include "util/hash.h"
#include "util/run_folder.h"

/* Each map is rows * cols; its order is all, N, E, S, W of buildings, then of vegetation, then of
 * vegetation before buildings. A matrix has n_bytes bytes for each pixel. Zero-initialised is
 * none. */
typedef struct qn_sw_svf_arrays {
    float *map[QN_SW_SVF_MAPS];
    uint8_t *matrix[QN_SW_SVF_MATRICES]; /* shadow, vegetation, vegetation and buildings */
    int n_patches;
    int n_bytes;        /* (n_patches + 7) / 8 */
    qn_big_block block; /* where all of them lie; empty: each by itself */
} qn_sw_svf_arrays;

/* Room for `cells` pixels, in one block. Above QUERN_SOLWEIG_MEMMAP_PIXELS of them (50e6) that is a
 * mapped file without a name in QUERN_SPILL_DIR, else TMPDIR, else /tmp. */
qn_status qn_sw_svf_arrays_new(size_t cells, int n_patches, qn_sw_svf_arrays *out, qn_err *err);

void qn_sw_svf_arrays_free(qn_sw_svf_arrays *arrays);

typedef struct qn_sw_svf_key {
    char hex[2 * QN_SHA256_BYTES + 1];
} qn_sw_svf_key;

/* Of everything that sky view factors depend on: prepared heights, pixel size, patch option. */
qn_sw_svf_key qn_sw_svf_key_of(const qn_sw_surface *surface, int patch_option);

/* The name of map i: "svf", "svfN", ..., "svfveg", "svfNveg", ..., "svfaveg", ... */
enum { QN_SW_SVF_NAME = 32 };
const char *qn_sw_svf_map_name(int i, char out[QN_SW_SVF_NAME]);

/* Replaces the cache of the folder, when that is finished. */
qn_status qn_sw_svf_cache_write(qn_run_folder *to, const qn_sw_place *place,
                                const qn_sw_svf_arrays *arrays, const qn_sw_svf_key *key,
                                qn_err *err);

/* Fails with QN_ERR_MISMATCH when the folder was made for another surface; with another status when
 * there is nothing in it, or nothing that can be read. */
qn_status qn_sw_svf_cache_read(const char *folder, const qn_sw_place *place,
                               const qn_sw_svf_key *key, qn_sw_svf_arrays *out, qn_err *err);

/* Archives of named files, by GDAL: .zip, and NumPy's .npz. */

typedef struct qn_sw_zip qn_sw_zip;

/* An archive in a folder of unfinished files. */
qn_status qn_sw_zip_create(const char *path, qn_sw_zip **out, qn_err *err);

/* Adds a file that holds `head`, then `data`. */
qn_status qn_sw_zip_add(qn_sw_zip *zip, const char *name, const void *head, size_t head_bytes,
                        const void *data, size_t bytes, qn_err *err);

/* Both end `zip`; NULL is fine for the second. Commit that fails leaves nothing. */
qn_status qn_sw_zip_commit(qn_sw_zip *zip, qn_err *err);
void qn_sw_zip_abort(qn_sw_zip *zip);

/* Reads one file of an archive; the caller frees *data. One that unpacks to more than `most` bytes
 * is refused before: QN_ERR_LIMIT. */
qn_status qn_sw_zip_read(const char *path, const char *name, size_t most, char **data,
                         size_t *bytes, qn_err *err);

/* The name by which GDAL opens a file inside an archive, which the caller frees. */
qn_status qn_sw_zip_member(const char *path, const char *name, char **out, qn_err *err);

#endif
