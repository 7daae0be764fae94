/* sw_walls.c - heights of walls, and the direction each one faces.
 *
 * A wall pixel is the lower of two neighbours. Its direction is that of the line, out of 180, with
 * the most wall pixels around it; the higher side decides which of the two directions it faces.
 * Pixels of a line are counted as bits. If that gives nothing, or 0, the slope decides. Only + - *
 * / of doubles are used, so every backend gives the same bits.
 */
#include "dialect.h"
#include "sw_walls.h"

MAP(sw_wall_height, VAL(sw_wall_par, par), IN(float, dsm), OUT(float, height))
{
    const i64 at = (i64)gy * par.cols + gx;
    const i32 is_inner = (gx > 0) & (gy > 0) & (gx < par.cols - 1) & (gy < par.rows - 1);
    const i64 down = is_inner ? par.cols : 0, right = is_inner;
    const float across = fmax(dsm[at - right], dsm[at + right]);
    const float along = fmax(dsm[at - down], dsm[at + down]);
    const float step = fmax(across, along) - dsm[at];

    height[at] = (is_inner & (step >= par.limit)) ? step : 0.0f;
}

/* atan(k / 16) */
CONST_TABLE(double, ATAN_16THS, 17) = {
    0.0,
    0.06241880999595735,
    0.12435499454676144,
    0.18534794999569477,
    0.24497866312686414,
    0.30288486837497142,
    0.35877067027057225,
    0.41241044159738732,
    0.46364760900080609,
    0.51238946031073773,
    0.55859931534356244,
    0.60228734613496418,
    0.64350110879328437,
    0.68231655487474807,
    0.71882999962162453,
    0.75315128096219438,
    0.78539816339744828,
};

/* atan(x) for 0 <= x <= 1, to 2 ulp; NaN stays NaN. */
FN double atan_of(double x)
{
    const i32 k = x > 0 ? (i32)(x * 16.0 + 0.5) : 0;
    const double c = k / 16.0;
    const double t = (x - c) / (1.0 + x * c);
    const double u = t * t;
    const double series =
        1.0 - u * (1.0 / 3 - u * (1.0 / 5 - u * (1.0 / 7 - u * (1.0 / 9 - u * (1.0 / 11)))));

    return ATAN_16THS[k] + t * series;
}

/* The angle of (x, y) in -pi .. pi. */
FN double angle_of(double y, double x)
{
    const double ax = x < 0 ? -x : x, ay = y < 0 ? -y : y;
    const double small = ax < ay ? ax : ay, large = ax < ay ? ay : ax;
    double a = large > 0 ? atan_of(small / large) : 0.0;

    a = ax < ay ? 1.5707963267948966 - a : a;
    a = x < 0 ? 3.141592653589793 - a : a;
    return y < 0 ? -a : a;
}

/* Slope along an axis: between both neighbours, or to the only neighbour. */
FN double slope(GLOBAL const float *dsm, i64 at, i64 step, i32 has_before, i32 has_after)
{
    const double before = dsm[has_before ? at - step : at];
    const double after = dsm[has_after ? at + step : at];

    return has_before & has_after ? (after - before) / 2.0 : after - before;
}

/* Aspect in degrees, from the slope. */
FN float downhill(sw_wall_par par, GLOBAL const float *dsm, i32 x, i32 y)
{
    const i64 at = (i64)y * par.cols + x;
    const double gy = slope(dsm, at, par.cols, y > 0, y < par.rows - 1);
    const double gx = slope(dsm, at, 1, x > 0, x < par.cols - 1);
    double a = -angle_of(gy, gx);

    a = a < 0 ? a + 6.283185307179586 : a;
    return (float)a / 0.017453292519943295f;
}

/* Sum of the heights under the bits of a mask; exact, since heights have 24 bits. */
FN double sum_under(sw_wall_par par, GLOBAL const float *dsm, GLOBAL const u32 *mask, i32 x0,
                    i32 y0)
{
    double sum = 0;

    for (i32 bit = 0; bit < par.side * par.side; bit++) {
        if (mask[bit >> 5] >> (bit & 31) & 1)
            sum += dsm[(i64)(y0 + bit / par.side) * par.cols + x0 + bit % par.side];
    }
    return sum;
}

/* Aspect in degrees, from the best line through the pixel in the middle of the window at x0, y0. */
FN float best_line(sw_wall_par par, GLOBAL const float *dsm, GLOBAL const float *height,
                   GLOBAL const u32 *masks, i32 x0, i32 y0)
{
    u32 walls[SW_WALL_WORDS];
    i32 best = 0, best_angle = 0;
    double left, right, angle;

    for (i32 w = 0; w < par.n_words; w++)
        walls[w] = 0;
    for (i32 bit = 0; bit < par.side * par.side; bit++) {
        const i64 at = (i64)(y0 + bit / par.side) * par.cols + x0 + bit % par.side;

        walls[bit >> 5] |= (u32)(height[at] >= 0.5f) << (bit & 31);
    }
    for (i32 a = 0; a < SW_WALL_ANGLES; a++) {
        const i64 line = (i64)(a * SW_WALL_MASKS + SW_WALL_LINE) * par.n_words;
        i32 n = 0;

        for (i32 w = 0; w < par.n_words; w++)
            n += POPCOUNT32(walls[w] & masks[line + w]);
        best_angle = n > best ? a : best_angle;
        best = n > best ? n : best;
    }
    const i64 sides = (i64)best_angle * SW_WALL_MASKS * par.n_words;

    left = sum_under(par, dsm, masks + sides + SW_WALL_LEFT * par.n_words, x0, y0);
    right = sum_under(par, dsm, masks + sides + SW_WALL_RIGHT * par.n_words, x0, y0);
    angle = 270 - best_angle - (left > right ? 180 : 0);
    return best == 0 ? 0.0f : (float)(angle < 0 ? angle + 360 : angle);
}

/* Aspects in degrees, and in radians for ray marching. */
MAP(sw_wall_aspect, VAL(sw_wall_par, par), IN(float, dsm), IN(float, height), IN(u32, masks),
    OUT(float, degrees), OUT(float, radians))
{
    const i64 at = (i64)gy * par.cols + gx;
    const i32 reach = par.side / 2; /* the filter has as many pixels on each side */
    float aspect = 0.0f;

    if (height[at] >= 0.5f) {
        if (gx >= reach && gy >= reach && gx < par.cols - reach - 2 && gy < par.rows - reach - 2)
            aspect = best_line(par, dsm, height, masks, gx - reach, gy - reach);
        if (aspect == 0.0f)
            aspect = downhill(par, dsm, gx, gy);
    }
    degrees[at] = aspect;
    radians[at] = aspect * 0.017453292519943295f;
}
