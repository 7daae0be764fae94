/* load.c - layers from files or memory: read, align, prepare, crop. */
#include "surface.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MAX_LAYERS = 9 };

/* Every layer that may be read as heights, the DSM first. */
static const struct {
    size_t path, array, raster; /* offsets in the options, in layers in memory, in the surface */
    const char *name;           /* of an array, in messages */
} kinds[] = {
#define KIND(m, text)                                                                              \
    {                                                                                              \
        offsetof(qn_sw_load_options, m), offsetof(qn_solweig_layers, m),                           \
            offsetof(qn_sw_surface, m), text                                                       \
    }
    KIND(dsm, "DSM"),
    KIND(dem, "DEM"),
    KIND(cdsm, "CDSM"),
    KIND(tdsm, "TDSM"),
    KIND(wall_height, "wall heights"),
    KIND(wall_aspect, "wall aspects"),
    KIND(albedo, "albedo"),
    KIND(emissivity, "emissivity"),
#undef KIND
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *path_of(const qn_sw_load_options *options, int kind)
{
    return *(const char *const *)((const char *)options + kinds[kind].path);
}

/* From memory. */

static const float *array_of(const qn_solweig_layers *layers, int kind)
{
    return *(const float *const *)((const char *)layers + kinds[kind].array);
}

static qn_status copy_array(const char *name, const float *data, const qn_sw_place *place,
                            qn_sw_raster *out, qn_err *err)
{
    const size_t n = qn_sw_elems(place);
    qn_status st = QN_OK;
    size_t i = 0;

    while (i < n && !isfinite(data[i]))
        i++;
    if (i == n)
        return qn_fail(err, QN_ERR_INPUT, "%s: none of its %zu pixels is finite", name, n);
    QN_TRY(qn_sw_raster_new(place, out, err));
    memcpy(out->data, data, n * sizeof *data);
out:
    return st;
}

/* The place is that of an .npy file without one. */
static qn_status copy_layers(const qn_solweig_layers *layers, qn_sw_surface *s, qn_sw_raster *cover,
                             qn_err *err)
{
    const double size = layers->pixel_size != 0 ? layers->pixel_size : 1;
    const qn_sw_place place = { .rows = layers->rows,
                                .cols = layers->cols,
                                .transform = { 0, size, 0, (double)layers->rows * size, 0, -size },
                                .pixel_size = size };
    size_t elems;
    qn_status st = QN_OK;

    if (!(size > 0) || !isfinite(size))
        return qn_fail(err, QN_ERR_USAGE, "a pixel size of %g m is not positive", size);
    if (layers->rows < 1 || layers->cols < 1)
        return qn_fail(err, QN_ERR_USAGE, "layers of %lld x %lld pixels", (long long)layers->rows,
                       (long long)layers->cols);
    QN_TRY(qn_size_mul((size_t)layers->rows, (size_t)layers->cols * sizeof(float), "layers", &elems,
                       err));
    for (int i = 0; i < KINDS; i++)
        if (array_of(layers, i))
            QN_TRY(copy_array(kinds[i].name, array_of(layers, i), &place,
                              (qn_sw_raster *)(void *)((char *)s + kinds[i].raster), err));
    if (layers->land_cover)
        QN_TRY(copy_array("land cover", layers->land_cover, &place, cover, err));
out:
    return st;
}

/* From files. */

/* Reads the layers that are asked for; `layers` gets one entry for each. */
static qn_status read_layers(const qn_sw_load_options *options, qn_sw_surface *s,
                             qn_sw_raster *cover, qn_sw_layer *layers, size_t *n, qn_err *err)
{
    qn_sw_read_options read = { .pixel_size = options->npy_pixel_size };
    qn_status st = QN_OK;

    *n = 0;
    for (int i = 0; i < KINDS; i++) {
        const char *path = path_of(options, i);
        qn_sw_raster *raster = (qn_sw_raster *)(void *)((char *)s + kinds[i].raster);

        if (!path)
            continue;
        read.crs = i == 0 ? QN_SW_CRS_PROJECTED : QN_SW_CRS_ANY;
        QN_TRY(qn_sw_raster_read(path, &read, raster, err));
        layers[(*n)++] = (qn_sw_layer){ path, raster, QN_SW_BILINEAR };
    }
    if (options->land_cover) {
        read.crs = QN_SW_CRS_ANY;
        QN_TRY(qn_sw_raster_read(options->land_cover, &read, cover, err));
        layers[(*n)++] = (qn_sw_layer){ options->land_cover, cover, QN_SW_NEAREST };
    }
out:
    return st;
}

static qn_status read_aligned(const qn_sw_load_options *options, qn_sw_surface *s,
                              qn_sw_raster *cover, qn_err *err)
{
    qn_sw_layer layers[MAX_LAYERS];
    size_t n = 0;
    qn_status st = QN_OK;

    QN_TRY(read_layers(options, s, cover, layers, &n, err));
    QN_TRY(qn_sw_align(layers, n, &options->align, err));
out:
    return st;
}

/* Both. */

static qn_status check_given(const qn_sw_load_options *o, qn_err *err)
{
    const qn_solweig_layers *m = o->layers;
    const int has_dsm = m ? m->dsm != NULL : o->dsm != NULL;
    const int has_height = m ? m->wall_height != NULL : o->wall_height != NULL;
    const int has_aspect = m ? m->wall_aspect != NULL : o->wall_aspect != NULL;
    const char *file = o->wall_height ? o->wall_height : o->wall_aspect;

    if (!has_dsm)
        return qn_fail(err, QN_ERR_USAGE, "no DSM: a surface needs one");
    if (has_height != has_aspect)
        return qn_fail(err, QN_ERR_USAGE,
                       "wall heights and wall aspects come together, not %s alone",
                       !m           ? file
                       : has_height ? "wall heights"
                                    : "wall aspects");
    return QN_OK;
}

qn_status qn_sw_surface_load(const qn_sw_load_options *options, qn_sw_surface *out,
                             int *was_smoothed, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_surface s = { 0 };
    qn_sw_raster cover = { 0 };

    QN_TRY(check_given(options, err));
    if (options->layers)
        QN_TRY(copy_layers(options->layers, &s, &cover, err));
    else
        QN_TRY(read_aligned(options, &s, &cover, err));
    if (cover.data)
        QN_TRY(qn_sw_land_cover(options->layers ? "land cover" : options->land_cover, &cover,
                                &s.land_cover, err));
    QN_TRY(qn_sw_prepare_heights(&s, &options->heights, was_smoothed, err));
    QN_TRY(qn_sw_crop_to_valid(&s, err));
    *out = s;
    s = (qn_sw_surface){ 0 };
out:
    qn_sw_surface_free(&s);
    qn_sw_raster_free(&cover);
    return st;
}
