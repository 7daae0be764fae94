/* sun_job.h - the shadow of one sun, and the walls, of a whole raster.
 *
 * A raster that devices do not hold is done tile by tile, with the same bits. A tile whose results
 * a device loses is done again on the CPU, with the line that every fallback has.
 */
#ifndef QN_SOLWEIG_VIEW_SUN_JOB_H
#define QN_SOLWEIG_VIEW_SUN_JOB_H

#include "domain/solweig/surface/surface.h"
#include "domain/solweig/shadow/shadow.h"

typedef struct qn_sw_sun_options {
    double max_dist; /* rays end after so many metres; 0: never */
    qn_i64 tile;     /* side of a tile's core in pixels; 0: what fits */
} qn_sw_sun_options;

/* 1 in the sun, 0 in the shade, between them below trees, for the sun of `beam`. `out` gets the
 * place of the DSM. */
qn_status qn_sw_shadow_compute(qn_ctx *ctx, const qn_sw_surface *surface, const qn_sw_beam *beam,
                               const qn_sw_sun_options *options, qn_sw_raster *out, qn_err *err);

typedef struct qn_sw_walls_options {
    double limit; /* lower steps in the ground, in metres, are no walls */
    qn_i64 tile;
} qn_sw_walls_options;

/* Heights in metres, 0 where there is no wall, and where walls face, in degrees. */
qn_status qn_sw_walls_compute(qn_ctx *ctx, const qn_sw_raster *dsm,
                              const qn_sw_walls_options *options, qn_sw_raster *height,
                              qn_sw_raster *aspect, qn_err *err);

#endif
