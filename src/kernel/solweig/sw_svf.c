/* sw_svf.c - which patches of the sky a pixel sees, with lanes along a row.
 *
 * Groups are 16 columns, a row, and a word of 32 patches; one launch makes all words. The sums are
 * made from the bits afterwards (sw_svf_finish.c): in the same order, so to the same bits, and the
 * march needs no accumulators.
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
