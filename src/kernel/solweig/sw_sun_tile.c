/* sw_sun_tile.c - the march of sw_sun.c with lanes in tiles, for devices whose lanes are threads.
 */
#define LANES 64
#include "dialect.h"

#define SW_TILE_COLS 8
#define SW_TILE_ROWS 8
#define SW_LANE_COL  (LANE & 7)
#define SW_LANE_ROW  (LANE >> 3)
#include "sw_march.h"
#include "sw_shadow.h"

GROUP(sw_sun_tile, VAL(sw_grid, par), IN(i32, which), IN(sw_ray, rays), IN(sw_leg, legs),
      IN(sw_step, steps), IN(float, dsm), IN(float, canopy), IN(float, high), IN(float, low),
      IN(float, top), IN(float, leaf_top), IN(float, wall_height), IN(float, wall_aspect),
      OUT(float, shadow), OUT(float, wall_sun), INOUT(float, detail))
{
#include "sw_sun_body.h"
}
