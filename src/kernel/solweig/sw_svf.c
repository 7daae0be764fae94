/* sw_svf.c - finds which patches of the sky a pixel sees, with lanes along a row.
 *
 * A group is 16 columns, one row, and one word of 32 patches; one launch makes all words. The sums
 * are computed from the bits afterwards (sw_svf_finish.c), in a fixed order, so the march needs no
 * accumulators.
 */
#define LANES 16
#include "dialect.h"

#define SW_TILE_COLS 16
#define SW_TILE_ROWS 1
#define SW_LANE_COL  LANE
#define SW_LANE_ROW  0
#include "sw_march.h"
#include "sw_shadow.h"

GROUP(sw_svf, VAL(sw_grid, par), IN(sw_ray, rays), IN(sw_leg, legs), IN(sw_step, steps),
      IN(u64, short_legs), IN(u64, short_steps), IN(float, dsm), IN(float, canopy),
      IN(float, trunk), IN(float, high), IN(float, low), IN(float, top), IN(float, leaf_top),
      INOUT(u32, bldg), INOUT(u32, veg), INOUT(u32, vb))
{
#include "sw_svf_body.h"
}
