/* plan.h - how a raster is cut into tiles.
 *
 * A tile is a core, whose results count, and what lies around it that shadows and the view of the
 * ground reach over from. With enough of it the core's results are those of the whole raster, to
 * the bit: a pixel reads shadows `second - 1` pixels away, and each of those needs its full march.
 */
#ifndef QN_SW_RUN_PLAN_H
#define QN_SW_RUN_PLAN_H

#include "domain/solweig/raster/raster.h"

/* Zero in a limit: not known. */
typedef struct qn_sw_plan_limits {
    qn_i64 tile;           /* side of a core that is forced; 0: what fits */
    qn_i64 max_side;       /* of a tile with its border; QUERN_SOLWEIG_MAX_TILE_SIDE */
    uint64_t device_bytes; /* budget of the device, or of the host where it works there */
    uint64_t host_bytes;   /* free memory of the host */
    uint64_t max_alloc;    /* the largest single buffer */
    double fraction;       /* of the bytes that a tile may take; 0: 0.5 */
} qn_sw_plan_limits;

/* Bytes of one pixel. */
typedef struct qn_sw_plan_cost {
    double device, host; /* of everything a tile has there */
    double largest;      /* of its largest single buffer */
} qn_sw_plan_cost;

typedef struct qn_sw_plan {
    qn_sw_window box;     /* of the raster that is computed */
    qn_i64 shadow_border; /* pixels that shadows and sky view factors come from */
    qn_i64 view_border;   /* and those of the view of the ground */
    qn_i64 core;          /* side of a core */
    qn_i64 across, down;  /* number of tiles */
    qn_i64 max_side;      /* that was allowed, with borders */
    qn_sw_plan_cost cost;
    const char *limited_by; /* "raster", "forced", "device memory", "host memory", ... */
} qn_sw_plan;

/* One tile: windows of the whole raster, each inside the next. */
typedef struct qn_sw_tile_place {
    qn_i64 number;
    qn_sw_window core;
    qn_sw_window seen;  /* with the view of the ground: what every step is computed for */
    qn_sw_window reach; /* with what shadows come from */
} qn_sw_tile_place;

/* Borders of 0 are fine. A raster that fits whole is one tile without borders, unless a tile is
 * forced. */
qn_sw_plan qn_sw_plan_make(qn_sw_window box, qn_i64 shadow_border, qn_i64 view_border,
                           const qn_sw_plan_cost *cost, const qn_sw_plan_limits *limits);

static inline qn_i64 qn_sw_plan_tiles(const qn_sw_plan *plan)
{
    return plan->across * plan->down;
}

/* Tile `number`, row by row from the north-west. */
qn_sw_tile_place qn_sw_plan_tile(const qn_sw_plan *plan, qn_i64 number);

#endif
