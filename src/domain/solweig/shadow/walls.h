/* walls.h - walls of a raster as stages: how high they are, and where they face. */
#ifndef QN_SW_WALLS_H
#define QN_SW_WALLS_H

#include "kernel/solweig/sw_walls.h"

#include <quern/graph.h>

/* Lines and their sides, as bits, for one pixel size. */
typedef struct qn_sw_walls {
    sw_wall_par par;
    qn_buf *masks;
} qn_sw_walls;

/* `limit`: steps in the ground that are lower, in metres, are no walls (1). A pixel below 0.2 m is
 * QN_ERR_LIMIT: its lines have more than 45 pixels. */
qn_status qn_sw_walls_new(qn_ctx *ctx, int rows, int cols, float px, float limit, qn_sw_walls **out,
                          qn_err *err);
void qn_sw_walls_free(qn_sw_walls *walls); /* NULL is fine */

/* How many pixels around one decide about its wall. */
int qn_sw_wall_reach(const qn_sw_walls *walls);

/* Adds heights in metres; 0 where there is no wall. */
qn_status qn_sw_add_wall_heights(const qn_sw_walls *walls, qn_graph *graph, qn_buf *dsm,
                                 qn_buf *height, qn_err *err);

/* Adds aspects of walls of these heights, in degrees and in radians. */
qn_status qn_sw_add_wall_aspects(const qn_sw_walls *walls, qn_graph *graph, qn_buf *dsm,
                                 qn_buf *height, qn_buf *degrees, qn_buf *radians, qn_err *err);

/* Both. */
qn_status qn_sw_add_walls(const qn_sw_walls *walls, qn_graph *graph, qn_buf *dsm, qn_buf *height,
                          qn_buf *degrees, qn_buf *radians, qn_err *err);

#endif
