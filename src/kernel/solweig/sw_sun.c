/* sw_sun.c - shadow on ground and walls for one position of the sun, with lanes along a row.
 *
 * The number of the sun is read from memory, so that one recorded graph works for every hour of a
 * year.
 */
#define LANES 16
#include "dialect.h"

#define SW_TILE_COLS 16
#define SW_TILE_ROWS 1
#define SW_LANE_COL  LANE
#define SW_LANE_ROW  0
#include "sw_march.h"
#include "sw_shadow.h"

GROUP(sw_sun, VAL(sw_grid, par), IN(i32, which), IN(sw_ray, rays), IN(sw_leg, legs),
      IN(sw_step, steps), IN(float, dsm), IN(float, canopy), IN(float, high), IN(float, low),
      IN(float, top), IN(float, leaf_top), IN(float, wall_height), IN(float, wall_aspect),
      OUT(float, shadow), OUT(float, wall_sun), INOUT(float, detail))
{
#include "sw_sun_body.h"
}
