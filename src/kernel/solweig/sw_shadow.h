/* sw_shadow.h - rays, grids and planes of results, for host and device.
 *
 * A ray is the path from a pixel towards the sun or a patch of sky, as a table of steps made on the
 * host: offsets in rows and columns, and the height of the ray. Kernels only subtract and compare,
 * so every backend gives the same bits.
 *
 * Steps are grouped into legs of SW_LEG_STEPS. No leg spans more than SW_LEG_STEPS rows or columns.
 * So one comparison with the greatest height in a window of that size, which is stored for every
 * pixel, decides whether a leg can be skipped. All pixels have the same legs, so lanes stay side by
 * side and loads contiguous.
 */
#ifndef QN_KERNEL_SW_SHADOW_H
#define QN_KERNEL_SW_SHADOW_H

#include "kernel/types.h"

#define SW_LEG_STEPS 8

/* `prev` is dz of the previous step. The last leg of a ray is padded with its last step; repeating
 * that changes nothing. */
typedef struct {
    i32 row, col;
    float dz, prev;
} sw_step;
QN_PAR_SIZE(sw_step, 16);

/* First and last row and column of a leg, its first step, and `prev` of that step. */
typedef struct {
    i32 row0, col0, row1, col1;
    i32 row, col;
    float prev;
    i32 spare;
} sw_leg;
QN_PAR_SIZE(sw_leg, 32);

/* A ray without legs is never shaded. Angles, in radians, are set only for suns. `psi` is the
 * fraction of light that leaves let through. `faces` (SW_FACES_*) selects the test for walls that
 * face the sun. The ray goes up or down rows (row_way -1 or 1), by at most r + 0.5 rows after
 * row_steps * r steps; likewise for columns. */
typedef struct {
    i32 leg, n_legs;
    float face_lo, face_hi, psi;
    i32 faces;
    i32 row_way, col_way;
    float row_steps, col_steps;
} sw_ray;
QN_PAR_SIZE(sw_ray, 40);

/* If a leg is completely inside the raster, its first corner and its steps are short records of 64
 * bits, one load each: the low half is the distance in the raster's array; the high half is the
 * bits of `prev` of the leg or of dz of the step. `prev` of later steps is dz of the previous
 * step. */
#define SW_SHORT_AT(record)     ((i32)(u32)(record))
#define SW_SHORT_HEIGHT(record) bits_f32((u32)((record) >> 32))

/* Whether the half circle of azimuths around the sun is inside 0 .. 2 pi, or wraps around.
 * SW_FACES_NONE: the sun is overhead or below the horizon. */
enum { SW_FACES_INSIDE, SW_FACES_ACROSS, SW_FACES_NONE };

/* Early exits that do not change results; tests disable them to prove it. */
enum { SW_EXIT_ABOVE = 1, SW_EXIT_LEGS = 2, SW_EXIT_SHADE = 4, SW_EXIT_LEAVES = 8, SW_EXITS = 15 };

/* A raster, and its window to compute. */
typedef struct {
    i32 rows, cols;
    i32 core_row, core_col, core_rows, core_cols;
    i32 n_rays;
    i32 has_veg;
    i32 exits;
    i32 has_walls;
    i32 has_detail; /* write the planes SW_DETAIL_* */
    float gmax;     /* largest height of the raster */
} sw_grid;
QN_PAR_SIZE(sw_grid, 48);

/* Further planes of a shadow, besides shadow and wall_sun. */
enum {
    SW_DETAIL_BLDG,
    SW_DETAIL_VEG,
    SW_DETAIL_VB,
    SW_DETAIL_WALL_SH,
    SW_DETAIL_WALL_SHVEG,
    SW_DETAIL_FACE_SH,
    SW_DETAIL_FACE_SUN,
    SW_DETAIL_PLANES
};

/* Weights of a patch in the five sums. */
typedef struct {
    float all, north, east, south, west;
} sw_weight;
QN_PAR_SIZE(sw_weight, 20);

/* Planes of view factors: five each of buildings, vegetation, and vegetation in front of buildings,
 * in the order of sw_weight. */
enum { SW_SVF_BLDG = 0, SW_SVF_VEG = 5, SW_SVF_AVEG = 10, SW_SVF_PLANES = 15 };

#endif
