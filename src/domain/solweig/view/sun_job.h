/* sun_job.h - the shadow of one sun, and the walls, of a whole raster. */
#ifndef QN_SOLWEIG_VIEW_SUN_JOB_H
#define QN_SOLWEIG_VIEW_SUN_JOB_H

#include "domain/solweig/input/heights.h"
#include "domain/solweig/shadow/rays.h"

/* 1 in the sun, 0 in the shade, between them below trees, for the sun of `beam`; rays end after
 * `max_dist` metres, 0: never. `out` gets the place of the DSM. */
qn_status qn_sw_shadow_compute(qn_ctx *ctx, const qn_sw_surface *surface, const qn_sw_beam *beam,
                               double max_dist, qn_sw_raster *out, qn_err *err);

/* Heights in metres, 0 where there is no wall, and where walls face, in degrees. Steps lower than
 * `limit` metres are no walls. */
qn_status qn_sw_walls_compute(qn_ctx *ctx, const qn_sw_raster *dsm, double limit,
                              qn_sw_raster *height, qn_sw_raster *aspect, qn_err *err);

#endif
