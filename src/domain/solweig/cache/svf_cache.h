/* svf_cache.h - sky view factors cached for later runs.
 *
 * A folder holds svfs.zip with the maps as GeoTIFF, shadowmats.npz with the bits of every patch,
 * and svf.json with the key of the surface they were made for. Without GDAL the same arrays are
 * cached as .npy. A cache without svf.json is invalid, so the old svf.json is removed before the
 * files it belongs to are replaced, and the new one gets its name last.
 */
#ifndef QN_SOLWEIG_CACHE_SVF_CACHE_H
#define QN_SOLWEIG_CACHE_SVF_CACHE_H

#include "domain/solweig/surface/surface.h"
#include "util/big_block.h"
#include "util/hash.h"
#include "util/run_folder.h"

/* Each map is rows * cols; the order is all, N, E, S, W of buildings, then of vegetation, then of
 * vegetation in front of buildings. A matrix has n_bytes bytes per pixel. Zero-initialised:
 * none. */
typedef struct qn_sw_svf_arrays {
    float *map[QN_SW_SVF_MAPS];
    uint8_t *matrix[QN_SW_SVF_MATRICES]; /* shadow, vegetation, vegetation and buildings */
    int n_patches;
    int n_bytes;        /* (n_patches + 7) / 8 */
    qn_big_block block; /* memory of all arrays; empty: each is allocated separately */
} qn_sw_svf_arrays;

/* Allocates `cells` pixels in one block. Above QUERN_SOLWEIG_MEMMAP_PIXELS (50e6) that is a mapped
 * file without a name in QUERN_SPILL_DIR, else TMPDIR, else /tmp. */
qn_status qn_sw_svf_arrays_new(size_t cells, int n_patches, qn_sw_svf_arrays *out, qn_err *err);

void qn_sw_svf_arrays_free(qn_sw_svf_arrays *arrays);

typedef struct qn_sw_svf_key {
    char hex[2 * QN_SHA256_BYTES + 1];
} qn_sw_svf_key;

/* The key of everything that sky view factors depend on: prepared heights, pixel size, patch
 * option. */
qn_sw_svf_key qn_sw_svf_key_of(const qn_sw_surface *surface, int patch_option);

/* The name of map i: "svf", "svfN", ..., "svfveg", "svfNveg", ..., "svfaveg", ... */
enum { QN_SW_SVF_NAME = 32 };
const char *qn_sw_svf_map_name(int i, char out[QN_SW_SVF_NAME]);

/* Writes the cache of the folder; it replaces the old one when the run folder is finished. */
qn_status qn_sw_svf_cache_write(qn_run_folder *to, const qn_sw_place *place,
                                const qn_sw_svf_arrays *arrays, const qn_sw_svf_key *key,
                                qn_err *err);

/* Fails with QN_ERR_MISMATCH if the folder was made for another surface, and with another status if
 * it has no readable cache. */
qn_status qn_sw_svf_cache_read(const char *folder, const qn_sw_place *place,
                               const qn_sw_svf_key *key, qn_sw_svf_arrays *out, qn_err *err);

/* Archives of named files, using GDAL: .zip, and NumPy's .npz. */

typedef struct qn_sw_zip qn_sw_zip;

/* Creates an archive in a folder of unfinished files. */
qn_status qn_sw_zip_create(const char *path, qn_sw_zip **out, qn_err *err);

/* Adds a file with `head` followed by `data`. */
qn_status qn_sw_zip_add(qn_sw_zip *zip, const char *name, const void *head, size_t head_bytes,
                        const void *data, size_t bytes, qn_err *err);

/* Both end `zip`; NULL is fine for the second. A failed commit leaves no file. */
qn_status qn_sw_zip_commit(qn_sw_zip *zip, qn_err *err);
void qn_sw_zip_abort(qn_sw_zip *zip);

/* Reads one file of an archive; the caller frees *data. If it would unpack to more than `most`
 * bytes, it is not read: QN_ERR_LIMIT. */
qn_status qn_sw_zip_read(const char *path, const char *name, size_t most, char **data,
                         size_t *bytes, qn_err *err);

/* The name under which GDAL opens a file inside an archive; the caller frees it. */
qn_status qn_sw_zip_member(const char *path, const char *name, char **out, qn_err *err);

#endif
