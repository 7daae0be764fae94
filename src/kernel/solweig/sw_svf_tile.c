/* sw_svf_tile.c - the march of sw_svf.c with lanes in tiles, for devices whose lanes are threads.
 *
 * A group is 8 x 8 pixels, so that a warp is 8 x 4 and can skip a leg more often than 32 lanes
 * along a row (2324 steps per pixel of Athens, against 3469).
 */
#define LANES 64
#include "dialect.h"

#define SW_TILE_COLS 8
#define SW_TILE_ROWS 8
#define SW_LANE_COL  (LANE & 7)
#define SW_LANE_ROW  (LANE >> 3)
#include "sw_march.h"
#include "sw_shadow.h"

GROUP(sw_svf_tile, VAL(sw_grid, par), IN(sw_ray, rays), IN(sw_leg, legs), IN(sw_step, steps),
      IN(u64, short_legs), IN(u64, short_steps), IN(float, dsm), IN(float, canopy),
      IN(float, trunk), IN(float, high), IN(float, low), IN(float, top), IN(float, leaf_top),
      INOUT(u32, bldg), INOUT(u32, veg), INOUT(u32, vb))
{
#include "sw_svf_body.h"
}
