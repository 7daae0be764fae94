/* align.h - brings all layers onto one grid.
 *
 * The grid is the part of the map that every layer covers, or a box inside it, in pixels of the
 * DSM's size or a coarser one. A layer that already lies on it is left as it is; one that is a
 * whole number of pixels off is cut, not blurred; others are resampled.
 */
#ifndef QN_SOLWEIG_INPUT_ALIGN_H
#define QN_SOLWEIG_INPUT_ALIGN_H

#include "domain/solweig/input/raster.h"

typedef struct qn_sw_box {
    double west, south, east, north; /* map coordinates */
} qn_sw_box;

typedef enum qn_sw_resampling {
    QN_SW_BILINEAR, /* heights; a coarser grid averages over what its pixels cover */
    QN_SW_NEAREST   /* land-cover ids */
} qn_sw_resampling;

typedef struct qn_sw_layer {
    const char *name; /* starts error messages */
    qn_sw_raster *raster;
    qn_sw_resampling how;
} qn_sw_layer;

typedef struct qn_sw_align_options {
    const qn_sw_box *box; /* NULL: as much as possible */
    double pixel_size;    /* 0: the DSM's; at most 0.01 m finer than that */
} qn_sw_align_options;

qn_sw_box qn_sw_bounds(const qn_sw_place *place);

/* layers[0] is the DSM. A layer without a place on the map must have the DSM's shape. After a
 * failure no layer has changed. */
qn_status qn_sw_align(const qn_sw_layer *layers, size_t n, const qn_sw_align_options *options,
                      qn_err *err);

/* `from` on the grid of `place`. */
qn_status qn_sw_resample(const qn_sw_raster *from, const qn_sw_place *place, qn_sw_resampling how,
                         qn_sw_raster *out, qn_err *err);

#endif
