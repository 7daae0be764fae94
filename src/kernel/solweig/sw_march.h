/* sw_march.h - ray marching: parts shared by all its kernels.
 *
 * Before including this, a kernel file defines how lanes are arranged on the raster: SW_TILE_COLS x
 * SW_TILE_ROWS pixels per group, and SW_LANE_COL and SW_LANE_ROW of a lane. On the CPU, lanes along
 * a row load adjacent pixels; on GPUs, tiles of 8 columns keep the lanes of a warp close together,
 * so that a leg can be skipped for all of them more often.
 *
 * The limit of a lane is the height of its pixel, or infinity if the rest of the ray no longer
 * matters.
 */
#ifndef QN_KERNEL_SW_MARCH_H
#define QN_KERNEL_SW_MARCH_H

#include "sw_shadow.h"

/* State of a leg for the lanes of a group. */
#define LEG_ALIVE  1 /* the ray is still inside and below the highest object */
#define LEG_NEEDED 2 /* an object in its window is above the ray */

#define EACH_STEP(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

/* The lane's pixel in the core, and in the raster. */
#define CORE_ROW  (GROUP_Y * SW_TILE_ROWS + SW_LANE_ROW)
#define CORE_COL  (GROUP_X * SW_TILE_COLS + SW_LANE_COL)
#define ROW       (par.core_row + CORE_ROW)
#define COL       (par.core_col + CORE_COL)
#define FIRST_ROW (par.core_row + GROUP_Y * SW_TILE_ROWS)
#define FIRST_COL (par.core_col + GROUP_X * SW_TILE_COLS)
#define IN_CORE   (CORE_ROW < par.core_rows && CORE_COL < par.core_cols)

FN i32 is_inside(sw_grid par, i32 row, i32 col)
{
    return ((u32)row < (u32)par.rows) & ((u32)col < (u32)par.cols);
}

/* Whether all steps of a leg are inside, for all lanes of the group. */
FN i32 is_leg_inside(sw_grid par, sw_leg leg, i32 first_row, i32 first_col)
{
    return (first_row + leg.row0 >= 0) & (first_col + leg.col0 >= 0) &
           (first_row + SW_TILE_ROWS - 1 + leg.row1 < par.rows) &
           (first_col + SW_TILE_COLS - 1 + leg.col1 < par.cols);
}

/* How many legs of the ray are certainly inside for all lanes of the group. The distance is capped
 * at 2^20 pixels, so that the error of the product stays below half a pixel. */
FN i32 legs_inside(sw_grid par, sw_ray ray, i32 first_row, i32 first_col)
{
    const i32 below = par.rows - SW_TILE_ROWS - first_row;
    const i32 right = par.cols - SW_TILE_COLS - first_col;
    const i32 row_room = MIN(ray.row_way < 0 ? first_row : below, 1048576);
    const i32 col_room = MIN(ray.col_way < 0 ? first_col : right, 1048576);
    const float by_rows = (float)(row_room - 1) * ray.row_steps;
    const float by_cols = (float)(col_room - 1) * ray.col_steps;
    const float n = fmin(fmin(by_rows, by_cols), 1048576.0f);

    return below < 0 || right < 0 || n < 0.0f ? 0 : MIN(((i32)n + 1) / SW_LEG_STEPS, ray.n_legs);
}

/* LEG_* of a lane, for a leg inside the raster; `most` is the top of its window. */
FN i32 look_at_leg(sw_grid par, float prev, float most, float limit)
{
    const i32 is_alive = par.gmax - prev > limit;
    const i32 is_needed = most - prev > limit;

    return is_alive * LEG_ALIVE | is_needed * LEG_NEEDED;
}

/* LEG_* of a lane, for any leg. A leg is marched if its window begins outside, because that is
 * unknown, or if its exit is disabled. */
FN i32 look_at_edge(sw_grid par, sw_leg leg, GLOBAL const float *top, i32 row, i32 col, float limit)
{
    const i32 row0 = row + leg.row0, col0 = col + leg.col0;
    const i32 is_low = (par.gmax - leg.prev > limit) | !(par.exits & SW_EXIT_ABOVE);
    const i32 is_alive = is_inside(par, row + leg.row, col + leg.col) & is_low;
    const i32 is_known = is_alive & (row0 >= 0) & (col0 >= 0) & ((par.exits & SW_EXIT_LEGS) != 0);
    const float most = is_known ? top[(i64)row0 * par.cols + col0] : INFINITY;
    const i32 is_needed = is_alive & ((most - leg.prev > limit) | !is_known);

    return is_alive * LEG_ALIVE | is_needed * LEG_NEEDED;
}

/* Leaves shade if the ray passes through them: above the lower of canopy and trunk at this step,
 * and not above the higher one at the previous step. */
FN i32 passes_leaves(float high, float low, float dz, float prev, float limit)
{
    return (high - prev > limit) & !(low - dz > limit);
}

/* 0 for a wall that the sun can shine on, else 1; without a wall 1 or 2, as in the reference.
 * Angles are in radians. */
FN i32 facing_away(sw_ray ray, float height, float aspect)
{
    const i32 is_out = (aspect < ray.face_lo) | (aspect >= ray.face_hi);
    const i32 is_seen = (aspect > ray.face_lo) | (aspect <= ray.face_hi);
    const i32 inside = is_out - (height > 0.0f) + 1;

    return ray.faces == SW_FACES_NONE ? 0 : ray.faces == SW_FACES_INSIDE ? inside : !is_seen;
}

#endif
