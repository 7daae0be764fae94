/* les_codec_mode.h - one mode in the kernels of the codec. */
#ifndef QN_KERNEL_LES_CODEC_MODE_H
#define QN_KERNEL_LES_CODEC_MODE_H

typedef struct {
    double re, im;
} codec_value;

FN double added(double a, double b)
{
    return a + b;
}

FN i32 wavenumber(i32 n, i32 index)
{
    return 2 * index <= n ? index : index - n;
}

/* CODEC_MID, CODEC_HIGH, or -1: stored exactly, or not encoded at all. */
FN i32 band_of(codec_par p, i32 kx, i32 ky)
{
    const i32 n2 = kx * kx + ky * ky;
    const i32 band = n2 <= p.low2 ? -1 : n2 <= p.mid2 ? CODEC_MID : CODEC_HIGH;
    const i32 edge = p.is_full ? p.n : band == CODEC_HIGH ? p.edge : (p.n - 1) / 2;

    return IABS(kx) <= edge && IABS(ky) <= edge ? band : -1;
}

/* Place of mode (kx, ky) of member m in the map of anchors. */
FN i64 kept_at(codec_par p, i32 m, i32 kx, i32 ky)
{
    const i32 side = 2 * p.reach + 1;

    return ((i64)m * side + ky + p.reach) * side + kx + p.reach;
}

/* Whether only the energy of `band` represents the mode. */
FN i32 is_rest(codec_par p, GLOBAL const u8 *kept, i32 m, i32 band, i32 kx, i32 ky)
{
    return band == CODEC_HIGH || (band == CODEC_MID && !kept[kept_at(p, m, kx, ky)]);
}

/* The wavenumber of the conjugate mode; at Nyquist it is the same. */
FN i32 opposite(i32 n, i32 k)
{
    return 2 * k == n ? k : -k;
}

/* Element of the half spectrum with the value of a listed mode. In the other half of the full plane
 * the value is conjugated and *sign is -1. */
FN i64 half_at(codec_par p, i32 mode, i32 *sign)
{
    const i32 row = p.n / 2 + 1;
    const i32 width = p.is_full ? p.n : row;
    const i32 j = mode / width, i = mode % width;

    *sign = i < row ? 1 : -1;
    return i < row ? (i64)j * row + i : (i64)((p.n - j) % p.n) * row + p.n - i;
}

#endif
