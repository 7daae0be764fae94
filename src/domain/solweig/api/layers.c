/* layers.c - from the caller's arrays to the inside, and from parts back to whole arrays. */
#include "api.h"

#include "domain/solweig/shadow/shadow.h"

#include <math.h>
#include <string.h>

qn_sw_load_options qn_sw_api_load(const qn_solweig_layers *layers)
{
    return (qn_sw_load_options){ .layers = layers,
                                 .heights = { .dsm_relative = layers->dsm_relative,
                                              .cdsm_absolute = layers->cdsm_absolute,
                                              .tdsm_absolute = layers->tdsm_absolute,
                                              .keep_quantised = layers->keep_quantised,
                                              .trunk_ratio = layers->trunk_ratio,
                                              .min_object_height = layers->min_object_height } };
}

qn_status qn_sw_api_patches(int patches, int *option, qn_err *err)
{
    *option = patches ? 1 : 2;
    while (patches && qn_sw_patch_count(*option) != patches)
        if (++*option > 4)
            return qn_fail(err, QN_ERR_USAGE, "%d patches of the sky; there are %d, %d, %d or %d",
                           patches, qn_sw_patch_count(1), qn_sw_patch_count(2),
                           qn_sw_patch_count(3), qn_sw_patch_count(4));
    return QN_OK;
}

qn_sw_window qn_sw_api_window(const qn_solweig_layers *layers, const qn_sw_place *place)
{
    const double size = place->pixel_size;
    const double north = (double)layers->rows * size;

    return (qn_sw_window){ .row = (qn_i64)llround((north - place->transform[3]) / size),
                           .col = (qn_i64)llround(place->transform[0] / size),
                           .rows = place->rows,
                           .cols = place->cols };
}

void qn_sw_api_paste(const void *from, qn_sw_window at, qn_i64 cols, size_t bytes, void *to)
{
    const size_t row_bytes = (size_t)at.cols * bytes;

    for (qn_i64 r = 0; r < at.rows; r++)
        memcpy((char *)to + (size_t)((at.row + r) * cols + at.col) * bytes,
               (const char *)from + (size_t)r * row_bytes, row_bytes);
}

void qn_sw_api_clear(float *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = NAN;
}
