/* rays.h - tables of steps towards suns or patches of sky.
 *
 * All rays of a run lie in three arrays that stay on the device; a march is told by a number which
 * ray it takes. Offsets and heights are made here, in single precision and in the reference's order
 * of operations: no device computes an angle, so none can move the edge of a shadow.
 */
#ifndef QN_SW_RAYS_H
#define QN_SW_RAYS_H

#include "kernel/solweig/sw_shadow.h"

#include <quern/graph.h>

/* The raster that rays cross. `max_height` is the highest thing above the lowest ground, both in
 * metres; `max_dist` ends rays after so many metres, 0 never. */
typedef struct qn_sw_reach {
    int rows, cols;
    float px, max_height, max_dist;
} qn_sw_reach;

/* Degrees, and the share of light that leaves let through. From an altitude of 89.5 on, and at or
 * below the horizon, a ray has no steps: nothing is shaded. */
typedef struct qn_sw_beam {
    float azimuth, altitude, psi;
} qn_sw_beam;

typedef struct qn_sw_rays {
    int n;
    qn_i64 n_legs, n_steps; /* steps without those that fill the last legs */
    sw_ray *list;           /* as on the device */
    qn_buf *rays, *legs, *steps, *short_legs, *short_steps;
} qn_sw_rays;

/* An azimuth or altitude that is not a number, or a raster without pixels, is QN_ERR_INPUT; a ray
 * that leads 2^31 pixels or more through the raster's array is QN_ERR_LIMIT. */
qn_status qn_sw_rays_new(qn_ctx *ctx, const qn_sw_reach *reach, const qn_sw_beam *suns, int n,
                         qn_sw_rays **out, qn_err *err);
void qn_sw_rays_free(qn_sw_rays *rays); /* NULL is fine */

/* How many pixels a shadow can come from: what a tile needs around its core. At most 2^30. */
int qn_sw_reach_pixels(const qn_sw_reach *reach);

/* The steps of one ray alone; free() them. *n is 0, and *out NULL, for a ray without steps. */
qn_status qn_sw_ray_steps(const qn_sw_reach *reach, const qn_sw_beam *sun, sw_step **out, int *n,
                          qn_err *err);

/* How many pixels, by rows or columns, that ray goes away from where it begins. */
qn_status qn_sw_ray_pixels(const qn_sw_reach *reach, const qn_sw_beam *sun, int *out, qn_err *err);

#endif
