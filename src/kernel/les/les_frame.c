/* les_frame.c - fields as colours, so that only pixels leave the device.
 *
 * Blue below zero, almost white at zero, red above: five colours with linear interpolation. NaN is
 * black. Only + - * / of doubles are used, which round alike, so every device draws
 * the same picture.
 */
PRECISIONS
#include "dialect.h"
#include "les_frame.h"

#define FRAME_KNOTS 5

/* Colours at -1, -1/2, 0, 1/2 and 1. */
CONST_TABLE(u8, knot, 15) = { 10, 40, 120, 80, 150, 220, 245, 245, 245, 230, 120, 80, 130, 10, 30 };

/* Channel `c` of the colour of `v`, which is 1 at the end of the scale. */
FN u8 colour(double v, i32 c)
{
    const double low = v > -1.0 ? v : -1.0;
    const double at = ((low < 1.0 ? low : 1.0) + 1.0) * 2.0;
    const i32 k = MIN((i32)at, FRAME_KNOTS - 2);
    const double from = (double)knot[3 * k + c], to = (double)knot[3 * k + 3 + c];

    return v == v ? (u8)(i32)(from + (at - (double)k) * (to - from) + 0.5) : (u8)0;
}

MAP(les_frame, VAL(les_frame_par, p), IN(real, a), IN(real, b), OUT(u8, rgb))
{
    const i32 side = p.n * p.zoom, panel = gx / (side + FRAME_GAP);
    const i32 x = gx - panel * (side + FRAME_GAP);
    const i32 is_bar = panel == p.panels, is_gap = !is_bar && x >= side;
    const i64 cell = (i64)(gy / p.zoom) * p.n + (is_bar || is_gap ? 0 : x / p.zoom);
    const double va = (double)a[cell], vb = (double)b[cell];
    const double value = panel == 0 ? va - p.middle : panel == 1 ? vb - p.middle : vb - va;
    const double level = 1.0 - 2.0 * (double)gy / (double)(side - 1);
    const double v = is_bar ? level : value * p.inverse;
    const i64 at = 3 * ((i64)gy * p.width + gx);

    for (i32 c = 0; c < 3; c++)
        rgb[at + c] = is_gap ? (u8)255 : colour(v, c);
}
