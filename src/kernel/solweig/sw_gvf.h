/* sw_gvf.h - ground view factors: 18 rays, and rasters with a border.
 *
 * A ray of azimuth 5 + 20 k degrees has `second` steps; the nearest `first` of them count twice.
 * Steps are offsets into rasters with a border of `pad` pixels on every side, so that rays need not
 * check for the edge of the grid. Rows of the step table are padded to a multiple of SW_GVF_CHUNK
 * beyond the first ones; steps after `second` are never reached, since a ray is blocked there at
 * the latest. Lengths of rays are 18 planes of bytes; if `second` is above 255, the high bytes
 * follow in 18 more planes.
 */
#ifndef QN_KERNEL_SW_GVF_H
#define QN_KERNEL_SW_GVF_H

#include "kernel/types.h"

#define SW_RAYS       18
#define SW_GVF_CHUNK  4 /* steps that a lane takes at once */
#define SW_MAX_SECOND 4095

/* First ray of each quarter between north, east, south and west: 0, 5, 9, 14, and 18 after the
 * last. */
#define SW_FIRST_RAY(quarter) ((9 * (quarter) + 1) / 2)

typedef struct {
    i64 plane;                   /* pixels of a raster */
    float near_plain, near_wall; /* 1 / first, 1 / (first + 1) */
    float far_plain, far_wall;   /* 1 / second, 1 / (second + 1) */
    float wall_albedo;
    i32 cols, rows;
    i32 pad, stride; /* of rasters with a border: border width, pixels per row */
    i32 first, second;
    i32 n_table; /* steps per row of the table */
    i32 n_dirs;  /* planes of results: SW_DIRS, or 1 without sides */
    i32 water;   /* class of ground whose emission has no excess; -1: none */
} sw_gvf_par;
QN_PAR_SIZE(sw_gvf_par, 64);

/* The half circle around each ray, for finding the walls that face it. */
typedef struct {
    float low[SW_RAYS], high[SW_RAYS]; /* radians, not wrapped */
    float unit;                        /* factor applied to the aspect first */
} sw_gvf_sectors;
QN_PAR_SIZE(sw_gvf_sectors, 148);

#endif
