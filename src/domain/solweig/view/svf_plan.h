/* svf_plan.h - how a raster is cut into tiles for its sky view factors.
 *
 * A tile is a core and what rays from the core can reach around it, up to the raster's edge. Rays
 * of the core then cross the same pixels as those of the whole raster, so results are equal to the
 * bit.
 */
#ifndef QN_SOLWEIG_VIEW_SVF_PLAN_H
#define QN_SOLWEIG_VIEW_SVF_PLAN_H

#include "domain/solweig/input/heights.h"
#include "domain/solweig/shadow/rays.h"

typedef struct qn_sw_svf_plan {
    qn_i64 rows, cols; /* of the raster */
    int patch_option;  /* as in patches.h */
    qn_sw_reach reach; /* over the whole raster */
    float gmax;        /* nothing is higher */
    int has_veg;       /* canopy and trunks count */
    int overlap;       /* pixels around a core */
    qn_i64 core;       /* side of a core */
    qn_i64 n_down, n_across;
    /* Of memory for a pixel of a tile, besides for one of its core, and of the widest array. */
    double area_bytes, core_bytes, widest_bytes;
} qn_sw_svf_plan;

/* One tile: its window of the raster, and the core inside the raster. */
typedef struct qn_sw_svf_tile {
    qn_sw_window area, core;
} qn_sw_svf_tile;

/* `core`: the side of a tile's core in pixels; 0: the whole raster where it fits into half of the
 * memory of every device, else as large as two tiles in flight allow. */
qn_status qn_sw_svf_plan_make(qn_ctx *ctx, const qn_sw_surface *surface, int patch_option,
                              qn_i64 core, qn_sw_svf_plan *out, qn_err *err);

qn_i64 qn_sw_svf_plan_tiles(const qn_sw_svf_plan *plan);
qn_sw_svf_tile qn_sw_svf_plan_tile(const qn_sw_svf_plan *plan, qn_i64 i);

/* Another side of cores. */
void qn_sw_svf_plan_set(qn_sw_svf_plan *plan, qn_i64 core);

/* Bytes of device memory that the largest tile needs. */
double qn_sw_svf_plan_bytes(const qn_sw_svf_plan *plan);

#endif
