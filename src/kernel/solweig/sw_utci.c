/* sw_utci.c - the Universal Thermal Climate Index of every pixel.
 *
 * 8 bytes and 14 operations per pixel, so it is limited by memory. It uses only + and *, so every
 * device gives the same bits.
 */
#include "dialect.h"
#include "sw_utci.h"

FN i32 is_number(float x)
{
    return fabs(x) <= FLT_MAX;
}

MAP(sw_utci, VAL(sw_utci_par, p), IN(float, tmrt), OUT(float, utci))
{
    const i64 at = (i64)gy * p.cols + gx;
    const float t = tmrt[at], d = t - p.ta;
    float sum = p.c[UTCI_DEGREE];

    for (i32 j = UTCI_DEGREE - 1; j >= 0; j--)
        sum = sum * d + p.c[j];
    utci[at] = is_number(t) && t > -999.0f ? sum : NAN;
}

/* The polynomials of wind are written out, because gcc does not vectorise loops of varying
 * length. */
MAP(sw_utci_wind, VAL(sw_utci_wind_par, p), IN(float, wind), IN(float, tmrt), OUT(float, utci))
{
    const i64 at = (i64)gy * p.cols + gx;
    const float t = tmrt[at], d = t - p.ta, v = wind[at];
    const float c6 = p.w[0];
    const float c5 = p.w[1] * v + p.w[2];
    const float c4 = (p.w[3] * v + p.w[4]) * v + p.w[5];
    const float c3 = ((p.w[6] * v + p.w[7]) * v + p.w[8]) * v + p.w[9];
    const float c2 = (((p.w[10] * v + p.w[11]) * v + p.w[12]) * v + p.w[13]) * v + p.w[14];
    const float c1 =
        ((((p.w[15] * v + p.w[16]) * v + p.w[17]) * v + p.w[18]) * v + p.w[19]) * v + p.w[20];
    const float c0 =
        (((((p.w[21] * v + p.w[22]) * v + p.w[23]) * v + p.w[24]) * v + p.w[25]) * v + p.w[26]) *
            v +
        p.w[27];
    const float sum = (((((c6 * d + c5) * d + c4) * d + c3) * d + c2) * d + c1) * d + c0;

    utci[at] = is_number(t) && t > -999.0f && is_number(v) && v > 0.0f ? sum : NAN;
}
