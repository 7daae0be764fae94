/* sw_cover.c - prepares the obstacles of rays.
 *
 * Of canopy and trunk a ray needs only the higher one, and the lower one where both exist. A window
 * has the greatest height of the SW_LEG_STEPS x SW_LEG_STEPS pixels below and to the right of a
 * pixel; by doubling, windows are made in three passes. NaN means that there is nothing.
 */
#include "dialect.h"
#include "sw_shadow.h"

MAP(sw_cover, VAL(sw_grid, par), IN(float, dsm), IN(float, canopy), IN(float, trunk),
    OUT(float, high), OUT(float, low), OUT(float, top))
{
    const i64 at = (i64)gy * par.cols + gx;
    const float c = canopy[at], t = trunk[at];
    const float most = fmax(c, t);

    high[at] = most;
    low[at] = c != c || t != t ? NAN : fmin(c, t);
    top[at] = fmax(dsm[at], most);
}

FN float window(GLOBAL const float *from, i64 at, i64 right, i64 down)
{
    const float upper = fmax(from[at], from[at + right]);
    const float lower = fmax(from[at + down], from[at + down + right]);

    return fmax(upper, lower);
}

/* Makes windows of twice the side from windows of side `side`. At the edge a window is cut off. */
MAP(sw_window, VAL(sw_grid, par), VAL(i32, side), IN(float, from), OUT(float, to))
{
    const i64 at = (i64)gy * par.cols + gx;
    const i64 right = MIN(side, par.cols - 1 - gx);
    const i64 down = (i64)MIN(side, par.rows - 1 - gy) * par.cols;

    to[at] = window(from, at, right, down);
}

/* Clears the planes of words before they are filled, possibly in parts. */
MAP(sw_words, VAL(sw_grid, par), OUT(u32, bldg), OUT(u32, veg), OUT(u32, vb))
{
    const i64 at = ((i64)gz * par.core_rows + gy) * par.core_cols + gx;

    bldg[at] = 0;
    veg[at] = 0;
    vb[at] = 0;
}
