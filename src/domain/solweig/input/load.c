/* load.c - the whole way of the layers, in its order. */
#include "load.h"

#include <stddef.h>

enum { MAX_LAYERS = 9 };

/* Every layer that may be read as heights, the DSM first. */
static const struct {
    size_t path, raster; /* offsets in the options, and in the surface */
} kinds[] = {
    { offsetof(qn_sw_load_options, dsm), offsetof(qn_sw_surface, dsm) },
    { offsetof(qn_sw_load_options, dem), offsetof(qn_sw_surface, dem) },
    { offsetof(qn_sw_load_options, cdsm), offsetof(qn_sw_surface, cdsm) },
    { offsetof(qn_sw_load_options, tdsm), offsetof(qn_sw_surface, tdsm) },
    { offsetof(qn_sw_load_options, wall_height), offsetof(qn_sw_surface, wall_height) },
    { offsetof(qn_sw_load_options, wall_aspect), offsetof(qn_sw_surface, wall_aspect) },
    { offsetof(qn_sw_load_options, albedo), offsetof(qn_sw_surface, albedo) },
    { offsetof(qn_sw_load_options, emissivity), offsetof(qn_sw_surface, emissivity) },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *path_of(const qn_sw_load_options *options, int kind)
{
    return *(const char *const *)((const char *)options + kinds[kind].path);
}

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

qn_status qn_sw_surface_load(const qn_sw_load_options *options, qn_sw_surface *out,
                             int *was_smoothed, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_surface s = { 0 };
    qn_sw_raster cover = { 0 };
    qn_sw_layer layers[MAX_LAYERS];
    size_t n = 0;

    if (!options->dsm)
        return qn_fail(err, QN_ERR_USAGE, "no DSM: a surface needs one");
    if (!options->wall_height != !options->wall_aspect)
        return qn_fail(err, QN_ERR_USAGE,
                       "wall heights and wall aspects come together, not %s alone",
                       options->wall_height ? options->wall_height : options->wall_aspect);
    QN_TRY(read_layers(options, &s, &cover, layers, &n, err));
    QN_TRY(qn_sw_align(layers, n, &options->align, err));
    if (cover.data)
        QN_TRY(qn_sw_land_cover(options->land_cover, &cover, &s.land_cover, err));
    QN_TRY(qn_sw_prepare_heights(&s, &options->heights, was_smoothed, err));
    QN_TRY(qn_sw_crop_to_valid(&s, err));
    *out = s;
    s = (qn_sw_surface){ 0 };
out:
    qn_sw_surface_free(&s);
    qn_sw_raster_free(&cover);
    return st;
}
