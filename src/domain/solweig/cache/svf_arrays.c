/* svf_arrays.c - memory of view factors: plain, or a mapped file without a name.
 *
 * All maps and bits take 120 bytes of a pixel, for a large raster more than most machines have.
 * From a mapped file the system writes out the pages that are not in use.
 */
#include "svf_cache.h"

#include <stdlib.h>

#define MAPPED_PIXELS 50e6 /* larger rasters are mapped, unless the variable below says otherwise */

static int is_large(size_t cells)
{
    const char *text = getenv("QUERN_SOLWEIG_MEMMAP_PIXELS");
    const double limit = text && *text ? strtod(text, NULL) : MAPPED_PIXELS;

    return (double)cells > limit;
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
