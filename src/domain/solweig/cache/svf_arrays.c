/* svf_arrays.c - memory of view factors: plain, or a mapped file without a name.
 *
 * All maps and bits take 120 bytes of a pixel, for a large raster more than most machines have.
 * From a mapped file the system writes out the pages that are not in use.
 */
#include "svf_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPPED_PIXELS 50e6 /* larger rasters are mapped, unless the variable below says otherwise */

static int is_large(size_t cells)
{
    const char *text = getenv("QUERN_SOLWEIG_MEMMAP_PIXELS");
    const double limit = text && *text ? strtod(text, NULL) : MAPPED_PIXELS;

    return (double)cells > limit;
}

static const char *folder(void)
{
    static const char *const names[] = { "QUERN_SPILL_DIR", "TMPDIR" };

    for (int i = 0; i < 2; i++) {
        const char *name = getenv(names[i]);

        if (name && *name)
            return name;
    }
    return "/tmp";
}

/* Space on the disk is reserved now: a mapping that runs out of it later ends the process. */
static qn_status map_file(size_t bytes, void **out, qn_err *err)
{
    char path[1100];
    void *data = MAP_FAILED;
    int file, why = 0;

    snprintf(path, sizeof path, "%s/quern-svf-XXXXXX", folder());
    if ((file = mkostemp(path, O_CLOEXEC)) < 0)
        return qn_fail(err, QN_ERR_IO, "cannot create %s: %s", path, strerror(errno));
    unlink(path);
    why = posix_fallocate(file, 0, (off_t)bytes);
    if (!why &&
        (data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) == MAP_FAILED)
        why = errno;
    close(file);
    if (why)
        return qn_fail(err, QN_ERR_IO, "no room for view factors, %zu bytes, in %s: %s", bytes,
                       folder(), strerror(why));
    *out = data;
    return QN_OK;
}

qn_status qn_sw_svf_arrays_new(size_t cells, int n_patches, qn_sw_svf_arrays *out, qn_err *err)
{
    qn_sw_svf_arrays a = { .n_patches = n_patches, .n_bytes = (n_patches + 7) / 8 };
    const size_t plane = cells * sizeof(float);
    size_t each = 0;
    char *at = NULL;
    qn_status st = QN_OK;

    each = QN_SW_SVF_MAPS * sizeof(float) + QN_SW_SVF_MATRICES * (size_t)a.n_bytes;
    QN_TRY(qn_size_mul(cells, each, "view factors", &a.bytes, err));
    if (is_large(cells)) {
        QN_TRY(map_file(a.bytes, &a.block, err));
        a.is_mapped = 1;
    } else if (!(a.block = malloc(a.bytes))) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for view factors of %zu pixels", cells);
        goto out;
    }
    at = a.block;
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
    if (arrays->is_mapped) {
        munmap(arrays->block, arrays->bytes);
    } else if (arrays->block) {
        free(arrays->block);
    } else {
        for (int i = 0; i < QN_SW_SVF_MAPS; i++)
            free(arrays->map[i]);
        for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
            free(arrays->matrix[i]);
    }
    *arrays = (qn_sw_svf_arrays){ 0 };
}
