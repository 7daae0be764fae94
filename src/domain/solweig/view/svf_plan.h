/* svf_plan.h - how a raster is cut into tiles for its sky view factors: around a core lies what
 * rays from the core can reach. */
#ifndef QN_SOLWEIG_VIEW_SVF_PLAN_H
#define QN_SOLWEIG_VIEW_SVF_PLAN_H

#include "domain/solweig/surface/surface.h"
#include "domain/solweig/shadow/shadow.h"
#include "domain/solweig/view/tiles.h"

typedef struct qn_sw_svf_plan {
    qn_sw_tiles tiles;
    int patch_option;  /* as in patches.h */
    qn_sw_reach reach; /* over the whole raster */
    float gmax;        /* nothing is higher */
    int has_veg;       /* canopy and trunks count */
} qn_sw_svf_plan;

/* `core`: the side of a tile's core in pixels; 0: what fits, with two tiles in flight. */
qn_status qn_sw_svf_plan_make(qn_ctx *ctx, const qn_sw_surface *surface, int patch_option,
                              qn_i64 core, qn_sw_svf_plan *out, qn_err *err);

#endif
