/* buildings.h - which pixels are ground, for the view of the ground around a person. */
#ifndef QN_SOLWEIG_INPUT_BUILDINGS_H
#define QN_SOLWEIG_INPUT_BUILDINGS_H

#include "domain/solweig/input/heights.h"

/* 1 on ground, 0 on buildings; the caller frees *out. From the land cover where there is one; else
 * from walls and heights, where walls are known; else all ground. Made for the whole raster: the
 * percentile inside it would differ between tiles. */
qn_status qn_sw_building_mask(const qn_sw_surface *surface, uint8_t **out, qn_err *err);

/* The 10th percentile, linearly interpolated, of the finite DSM where there is no wall; NaN when
 * there is no such pixel. */
qn_status qn_sw_low_ground(const qn_sw_surface *surface, double *out, qn_err *err);

#endif
