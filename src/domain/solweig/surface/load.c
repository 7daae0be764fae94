/* load.c - reads, aligns, prepares and crops layers from files or memory. */
#include "surface.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Every layer, the DSM first. */
static const struct {
    size_t path, array, count; /* offsets in the options */
    size_t raster;             /* offset in the surface; 0 for land cover */
    const char *name;          /* name of an array in messages */
} kinds[] = {
#define GIVEN(m)                                                                                   \
    offsetof(qn_sw_layer_options, m##_file), offsetof(qn_sw_layer_options, m),                     \
        offsetof(qn_sw_layer_options, n_##m)
#define KIND(m, text)                                                                              \
    {                                                                                              \
        GIVEN(m), offsetof(qn_sw_surface, m), text                                                 \
    }
    KIND(dsm, "DSM"),
    KIND(dem, "DEM"),
    KIND(cdsm, "CDSM"),
    KIND(tdsm, "TDSM"),
    KIND(wall_height, "wall heights"),
    KIND(wall_aspect, "wall aspects"),
    KIND(albedo, "albedo"),
    KIND(emissivity, "emissivity"),
    { GIVEN(landcover), 0, "land cover" },
#undef KIND
#undef GIVEN
};

enum { KINDS = sizeof kinds / sizeof *kinds, COVER = KINDS - 1, HEIGHTS = 4, ASPECTS = 5 };

static const char *path_of(const qn_sw_layer_options *options, int kind)
{
    const char *path = *(const char *const *)((const char *)options + kinds[kind].path);

    return path && path[0] ? path : NULL;
}

static const float *array_of(const qn_sw_layer_options *options, int kind)
{
    return *(const float *const *)((const char *)options + kinds[kind].array);
}

static int has_layer(const qn_sw_layer_options *options, int kind)
{
    return array_of(options, kind) || path_of(options, kind);
}

static const char *name_of(const qn_sw_layer_options *options, int kind)
{
    return array_of(options, kind) ? kinds[kind].name : path_of(options, kind);
}

/* A GeoTIFF has its own pixel size; --pixel-size is then that of the common grid. */
static int is_geotiff(const qn_sw_layer_options *options)
{
    const char *path = path_of(options, 0);
    const size_t n = path ? strlen(path) : 0;

    return !array_of(options, 0) && !(n > 4 && !strcmp(path + n - 4, ".npy"));
}

static double pixel_size_of(const qn_sw_layer_options *options)
{
    return options->pixel_size > 0 && !is_geotiff(options) ? options->pixel_size : 1;
}

/* From memory, with the place of an .npy file that has none. */

static qn_status copy_array(const qn_sw_layer_options *options, int kind, qn_sw_raster *out,
                            qn_err *err)
{
    const size_t count = *(const size_t *)((const char *)options + kinds[kind].count);
    const double size = pixel_size_of(options);
    const qn_sw_place place = { .rows = options->rows,
                                .cols = options->cols,
                                .transform = { 0, size, 0, (double)options->rows * size, 0, -size },
                                .pixel_size = size };
    const float *data = array_of(options, kind);
    const char *name = kinds[kind].name;
    size_t n = 0, i = 0;
    qn_status st = QN_OK;

    if (options->rows < 1 || options->cols < 1)
        return qn_fail(err, QN_ERR_USAGE, "layers of %lld x %lld pixels", (long long)options->rows,
                       (long long)options->cols);
    QN_TRY(qn_size_mul((size_t)options->rows, (size_t)options->cols, "layers", &n, err));
    if (count != n)
        return qn_fail(err, QN_ERR_USAGE, "%s: %zu values for %lld x %lld pixels", name, count,
                       (long long)options->rows, (long long)options->cols);
    while (i < n && !isfinite(data[i]))
        i++;
    if (i == n)
        return qn_fail(err, QN_ERR_INPUT, "%s: none of its %zu pixels is finite", name, n);
    QN_TRY(qn_sw_raster_new(&place, out, err));
    memcpy(out->data, data, n * sizeof *data);
out:
    return st;
}

/* All of them, on one grid. */

static qn_status read_layer(const qn_sw_layer_options *options, int kind, qn_sw_raster *out,
                            qn_err *err)
{
    const qn_sw_read_options read = { .pixel_size = pixel_size_of(options),
                                      .crs = kind == 0 ? QN_SW_CRS_PROJECTED : QN_SW_CRS_ANY };

    if (array_of(options, kind))
        return copy_array(options, kind, out, err);
    return qn_sw_raster_read(path_of(options, kind), &read, out, err);
}

static qn_status read_aligned(const qn_sw_layer_options *options, qn_sw_surface *s,
                              qn_sw_raster *cover, qn_err *err)
{
    const qn_sw_align_options align = { .pixel_size = options->pixel_size > 0 && is_geotiff(options)
                                                          ? options->pixel_size
                                                          : 0 };
    qn_sw_layer layers[KINDS];
    size_t n = 0;
    qn_status st = QN_OK;

    for (int i = 0; i < KINDS; i++) {
        qn_sw_raster *raster =
            i == COVER ? cover : (qn_sw_raster *)(void *)((char *)s + kinds[i].raster);

        if (!has_layer(options, i))
            continue;
        QN_TRY(read_layer(options, i, raster, err));
        layers[n++] = (qn_sw_layer){ name_of(options, i), raster,
                                     i == COVER ? QN_SW_NEAREST : QN_SW_BILINEAR };
    }
    QN_TRY(qn_sw_align(layers, n, &align, err));
out:
    return st;
}

static qn_status check_given(const qn_sw_layer_options *o, qn_err *err)
{
    const int has_height = has_layer(o, HEIGHTS), has_aspect = has_layer(o, ASPECTS);

    if (!has_layer(o, 0))
        return qn_fail(err, QN_ERR_USAGE, "no DSM: a surface needs one");
    if (has_height != has_aspect)
        return qn_fail(err, QN_ERR_USAGE,
                       "give wall heights and wall aspects together, not only %s",
                       name_of(o, has_height ? HEIGHTS : ASPECTS));
    return QN_OK;
}

static qn_sw_height_options heights_of(const qn_sw_layer_options *o)
{
    return (qn_sw_height_options){ .dsm_relative = o->dsm_relative,
                                   .cdsm_absolute = o->cdsm_absolute,
                                   .tdsm_absolute = o->tdsm_absolute,
                                   .keep_quantised = o->keep_quantised,
                                   .trunk_ratio = o->trunk_ratio > 0 ? o->trunk_ratio : 0,
                                   .min_object_height = o->min_height,
                                   .reference = o->reference };
}

qn_status qn_sw_surface_load(const qn_sw_layer_options *layers, qn_sw_surface *out,
                             int *was_smoothed, qn_err *err)
{
    const qn_sw_height_options heights = heights_of(layers);
    qn_status st = QN_OK;
    qn_sw_surface s = { 0 };
    qn_sw_raster cover = { 0 };

    QN_TRY(check_given(layers, err));
    QN_TRY(read_aligned(layers, &s, &cover, err));
    if (cover.data)
        QN_TRY(qn_sw_land_cover(name_of(layers, COVER), &cover, &s.land_cover, err));
    QN_TRY(qn_sw_prepare_heights(&s, &heights, was_smoothed, err));
    QN_TRY(qn_sw_crop_to_valid(&s, err));
    *out = s;
    s = (qn_sw_surface){ 0 };
out:
    qn_sw_surface_free(&s);
    qn_sw_raster_free(&cover);
    return st;
}
