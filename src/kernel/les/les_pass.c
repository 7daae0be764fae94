/* les_pass.c - a step of the flow in passes over columns and rows.
 *
 * A transform of PASS_N points is three or four rounds of butterflies of radix 8, one of them of
 * radix 2 or 4 where PASS_N is no power of 8. A lane holds eight numbers; between two rounds they
 * are exchanged through local memory. The odd radix comes first in a forward transform and last in
 * an inverse one, so that each transform finds in a lane what the previous one left there. Every
 * address is one register and a constant, and a gap follows every eight numbers of local memory, so
 * that lanes do not conflict in a bank.
 */
PRECISIONS
#include "dialect.h"
#include "fold.h"
#include "les_pass.h"
#include "les_stage.h"

#define LANES 64
#ifndef PASS_N
#define PASS_N    64
#define PASS_SIDE 8
#define PASS_TILE 8
#endif
#ifndef PASS_RULE
#define PASS_RULE LES_RK
#endif

#define PER     8
#define N_HELD  (PASS_N * PASS_SIDE)
#define N_BANKS (128 / (int)sizeof(les_mode)) /* modes that local memory serves in one access */
#define GAP     (8 * PASS_SIDE > N_BANKS ? 8 * PASS_SIDE : N_BANKS)
#define ROOM    (N_HELD + N_HELD / GAP * PASS_SIDE + PASS_SIDE)

typedef struct {
    les_mode v[PER];
} eight;

/* Butterflies. */

FN les_mode minus(les_mode a, les_mode b)
{
    les_mode r;

    r.re = a.re - b.re;
    r.im = a.im - b.im;
    return r;
}

FN les_mode times(les_mode a, les_mode b)
{
    les_mode r;

    r.re = fma(a.re, b.re, -(a.im * b.im));
    r.im = fma(a.re, b.im, a.im * b.re);
    return r;
}

/* `s` is the sign of the exponent. */
FN void butterfly_2(les_mode *v, real s)
{
    const les_mode t = minus(v[0], v[1]);

    (void)s;
    v[0] = les_sum(v[0], v[1]);
    v[1] = t;
}

FN void butterfly_4(les_mode *v, real s)
{
    const les_mode a = les_sum(v[0], v[2]), b = minus(v[0], v[2]);
    const les_mode c = les_sum(v[1], v[3]), d = les_turned(s, minus(v[1], v[3]));

    v[0] = les_sum(a, c);
    v[1] = les_sum(b, d);
    v[2] = minus(a, c);
    v[3] = minus(b, d);
}

FN void butterfly_8(les_mode *v, real s)
{
    const real q = R(0.70710678118654752440);
    les_mode even[4], odd[4], a, b;

    for (i32 k = 0; k < 4; k++) {
        even[k] = les_sum(v[k], v[k + 4]);
        odd[k] = minus(v[k], v[k + 4]);
    }
    a = odd[1];
    b = odd[3];
    odd[1].re = q * (a.re - s * a.im);
    odd[1].im = q * (a.im + s * a.re);
    odd[2] = les_turned(s, odd[2]);
    odd[3].re = -q * (b.re + s * b.im);
    odd[3].im = q * (s * b.re - b.im);
    butterfly_4(even, s);
    butterfly_4(odd, s);
    for (i32 k = 0; k < 4; k++) {
        v[2 * k] = even[k];
        v[2 * k + 1] = odd[k];
    }
}

/* turn[i] = exp(2 pi i / PASS_N); higher powers are products, of two factors at most. */
FN les_mode turned_by(GLOBAL const real *turn, i32 i, real s)
{
    les_mode w = les_get(turn, 2 * i);

    w.im = s * w.im;
    return w;
}

FN void twiddle_2(les_mode *v, GLOBAL const real *turn, i32 w, real s)
{
    v[1] = times(v[1], turned_by(turn, w, s));
}

FN void twiddle_4(les_mode *v, GLOBAL const real *turn, i32 w, real s)
{
    const les_mode a = turned_by(turn, w, s), b = turned_by(turn, 2 * w, s);

    v[1] = times(v[1], a);
    v[2] = times(v[2], b);
    v[3] = times(v[3], times(a, b));
}

FN void twiddle_8(les_mode *v, GLOBAL const real *turn, i32 w, real s)
{
    const les_mode a = turned_by(turn, w, s), b = turned_by(turn, 2 * w, s);
    const les_mode d = turned_by(turn, 4 * w, s), c = times(a, b);

    v[1] = times(v[1], a);
    v[2] = times(v[2], b);
    v[3] = times(v[3], c);
    v[4] = times(v[4], d);
    v[5] = times(v[5], times(a, d));
    v[6] = times(v[6], times(b, d));
    v[7] = times(v[7], times(c, d));
}

/* Rounds. */

/* Butterfly b of a lane works on line `line` at place `j`. */
#define PLACE(b) const u32 t_ = (u32)(LANE + (b)*LANES), line = t_ % PASS_SIDE, j = t_ / PASS_SIDE;

#define PAD(i)       ((u32)(i) + (u32)(i) / GAP * PASS_SIDE)
#define PADDED(rows) ((rows)*PASS_SIDE + (rows)*PASS_SIDE / GAP * PASS_SIDE)

#define EACH_BUTTERFLY(RADIX) for (i32 b = 0; b < PER / RADIX; b++)
#define EACH_STEP(RADIX)      for (i32 k = 0; k < RADIX; k++)

#define WORK(RADIX, DONE, SIGN)                                                                    \
    EACH_LANE                                                                                      \
    {                                                                                              \
        EACH_BUTTERFLY(RADIX)                                                                      \
        {                                                                                          \
            PLACE(b)                                                                               \
            if (DONE > 1)                                                                          \
                twiddle_##RADIX(&P(x).v[b * RADIX], circle,                                        \
                                (i32)(j % DONE * (PASS_N / (DONE * RADIX))), SIGN);                \
            butterfly_##RADIX(&P(x).v[b * RADIX], SIGN);                                           \
            (void)line;                                                                            \
        }                                                                                          \
    }

#define PUT(RADIX, DONE)                                                                           \
    EACH_LANE                                                                                      \
    {                                                                                              \
        EACH_BUTTERFLY(RADIX)                                                                      \
        {                                                                                          \
            PLACE(b)                                                                               \
            const u32 to = PAD((j / DONE * DONE * RADIX + j % DONE) * PASS_SIDE + line);           \
            EACH_STEP(RADIX) held[to + PADDED(k * DONE)] = P(x).v[b * RADIX + k];                  \
        }                                                                                          \
    }                                                                                              \
    SYNC;

#define GET(RADIX)                                                                                 \
    EACH_LANE                                                                                      \
    {                                                                                              \
        EACH_BUTTERFLY(RADIX)                                                                      \
        {                                                                                          \
            const u32 from = PAD(LANE + b * LANES);                                                \
            EACH_STEP(RADIX) P(x).v[b * RADIX + k] = held[from + PADDED(k * (PASS_N / RADIX))];    \
        }                                                                                          \
    }                                                                                              \
    SYNC;

#define ROUND(RADIX, DONE, SIGN) GET(RADIX) WORK(RADIX, DONE, SIGN)

/* From registers to registers. ODD is the radix of the first round forward and of the last round
 * inverse. */
#if PASS_N == 64
#define ODD     8
#define FORWARD WORK(8, 1, R(-1)) PUT(8, 1) ROUND(8, 8, R(-1))
#define INVERSE WORK(8, 1, R(1)) PUT(8, 1) ROUND(8, 8, R(1))
#elif PASS_N == 128
#define ODD     2
#define FORWARD WORK(2, 1, R(-1)) PUT(2, 1) ROUND(8, 2, R(-1)) PUT(8, 2) ROUND(8, 16, R(-1))
#define INVERSE WORK(8, 1, R(1)) PUT(8, 1) ROUND(8, 8, R(1)) PUT(8, 8) ROUND(2, 64, R(1))
#elif PASS_N == 256
#define ODD     4
#define FORWARD WORK(4, 1, R(-1)) PUT(4, 1) ROUND(8, 4, R(-1)) PUT(8, 4) ROUND(8, 32, R(-1))
#define INVERSE WORK(8, 1, R(1)) PUT(8, 1) ROUND(8, 8, R(1)) PUT(8, 8) ROUND(4, 64, R(1))
#elif PASS_N == 512
#define ODD     8
#define FORWARD WORK(8, 1, R(-1)) PUT(8, 1) ROUND(8, 8, R(-1)) PUT(8, 8) ROUND(8, 64, R(-1))
#define INVERSE WORK(8, 1, R(1)) PUT(8, 1) ROUND(8, 8, R(1)) PUT(8, 8) ROUND(8, 64, R(1))
#elif PASS_N == 1024
#define ODD 2
#define FORWARD                                                                                    \
    WORK(2, 1, R(-1))                                                                              \
    PUT(2, 1) ROUND(8, 2, R(-1)) PUT(8, 2) ROUND(8, 16, R(-1)) PUT(8, 16) ROUND(8, 128, R(-1))
#define INVERSE                                                                                    \
    WORK(8, 1, R(1))                                                                               \
    PUT(8, 1) ROUND(8, 8, R(1)) PUT(8, 8) ROUND(8, 64, R(1)) PUT(8, 64) ROUND(2, 512, R(1))
#elif PASS_N == 2048
#define ODD 4
#define FORWARD                                                                                    \
    WORK(4, 1, R(-1))                                                                              \
    PUT(4, 1) ROUND(8, 4, R(-1)) PUT(8, 4) ROUND(8, 32, R(-1)) PUT(8, 32) ROUND(8, 256, R(-1))
#define INVERSE                                                                                    \
    WORK(8, 1, R(1))                                                                               \
    PUT(8, 1) ROUND(8, 8, R(1)) PUT(8, 8) ROUND(8, 64, R(1)) PUT(8, 64) ROUND(4, 512, R(1))
#else
#define ODD 8
#define FORWARD                                                                                    \
    WORK(8, 1, R(-1))                                                                              \
    PUT(8, 1) ROUND(8, 8, R(-1)) PUT(8, 8) ROUND(8, 64, R(-1)) PUT(8, 64) ROUND(8, 512, R(-1))
#define INVERSE                                                                                    \
    WORK(8, 1, R(1))                                                                               \
    PUT(8, 1) ROUND(8, 8, R(1)) PUT(8, 8) ROUND(8, 64, R(1)) PUT(8, 64) ROUND(8, 512, R(1))
#endif

/* Tiles. */

/* Where the real part of mode (kx, y) is; rows of a tile are PASS_TILE modes apart. */
FN i64 pass_at(i64 from, i32 kx, i32 y)
{
    return 2 * (from + ((i64)(kx / PASS_TILE) * PASS_N + y) * PASS_TILE + kx % PASS_TILE);
}

#define ROW_STEP(RADIX) (2 * k * (PASS_N / RADIX) * PASS_TILE)
/* Wavenumber of row j + k PASS_N / 8. The Nyquist mode is always zero. */
#define WAVE_Y(j) ((real)(j) + (real)(k * (PASS_N / 8) - (k >= 4 ? PASS_N : 0)))

/* Half spectra to tiles and back. Range: columns, rows, members. */
MAP(les_pass_in, VAL(pass_par, p), IN(real, s), OUT(real, tile))
{
    const les_mode none = { R(0), R(0) };

    les_put(tile, pass_at(gz * p.member, gx, gy),
            gx <= p.les.edge ? les_get(s, les_at(p.les, gx, gy, gz)) : none);
}

MAP(les_pass_out, VAL(pass_par, p), IN(real, tile), OUT(real, s))
{
    const les_mode none = { R(0), R(0) };

    les_put(s, les_at(p.les, gx, gy, gz),
            gx <= p.les.edge ? les_get(tile, pass_at(gz * p.member, gx, gy)) : none);
}

/* Columns. */

/* A group is PASS_SIDE columns of a member: range (columns / PASS_SIDE, members). */
GROUP(les_pass_cols, VAL(pass_par, p), VAL(les_stage_par, t), IN(double, clock), IN(real, turn),
      IN(real, pq), IN(real, force), INOUT(real, s), INOUT(real, mid), INOUT(real, sum),
      OUT(real, abc))
{
    LOCAL(les_mode, held, ROOM);
    PRIV(eight, x);
    PRIV(eight, h);
    const i64 member = GROUP_Y * p.member;
    const i32 first = GROUP_X * PASS_SIDE;

    EACH_LANE EACH_STEP(8)
    {
        P(h).v[k].re = R(0);
        P(h).v[k].im = R(0);
    }
    for (i32 f = 0; f < p.two && !p.is_first; f++) {
        GLOBAL const real *const circle = turn + f * p.none;

        EACH_LANE
        {
            EACH_BUTTERFLY(ODD)
            {
                PLACE(b)
                const i64 at = pass_at(f * p.plane + member, first + (i32)line, (i32)j);

                EACH_STEP(ODD) P(x).v[b * ODD + k] = les_get(pq, at + ROW_STEP(ODD));
            }
        }
        FORWARD
        EACH_LANE
        {
            PLACE(0)
            const real m = (real)(first + (i32)line), q2 = (real)(p.les.q * p.les.q);
            const u32 row = j + (u32)(f * p.none);

            EACH_STEP(8)
            {
                const real n = WAVE_Y(row);
                const real c = q2 * (f == 0 ? n * n - m * m : -(m * n));

                P(h).v[k].re = fma(c, P(x).v[k].re, P(h).v[k].re);
                P(h).v[k].im = fma(c, P(x).v[k].im, P(h).v[k].im);
            }
        }
    }
    EACH_LANE
    {
        PLACE(0)
        const i32 kx = first + (i32)line;
        const i64 at = pass_at(member, kx, (i32)j);
        const real dt = (real)clock[CLOCK_DT], cells = (real)p.les.inv_cells;

        EACH_STEP(8)
        {
            const les_mode none = { R(0), R(0) };
            const les_wave w = les_wave_at(p.les, kx, (i32)j + k * (PASS_N / 8));
            const real m = (real)kx, n = WAVE_Y(j), n2 = m * m + n * n;
            const i32 is_kept =
                (w.i <= p.les.edge) & ((w.j <= p.les.edge) | (PASS_N - w.j <= p.les.edge));
            les_mode now = none, b = none, c = none, r;

            if (p.is_first || (t.touches & LES_GETS_S))
                now = les_get(s, at + ROW_STEP(8));
            if (!p.is_first) {
                const les_mode l = les_operator(p.les, w);
                const les_factors factors = les_factors_of(PASS_RULE, l, dt);
                les_mode value;

                if (t.touches & LES_GETS_MID)
                    b = les_get(mid, at + ROW_STEP(8));
                if (t.touches & LES_GETS_SUM)
                    c = les_get(sum, at + ROW_STEP(8));
                r = les_waved(p.les, w, P(h).v[k]);
                if (p.les.driven == LES_FORCED)
                    r = les_sum(r, les_get(force, les_at(p.les, w.i, w.j, 0)));
                if (PASS_RULE == LES_RK)
                    r = les_sum(r, les_times(l, les_pick(t.is_from_mid, b, now)));
                value = les_value(t, PASS_RULE, factors, dt, now, b, c, r);
                if (p.les.driven == LES_KICKED && (t.touches & LES_PUTS_S) &&
                    les_is_driven(p.les, w))
                    value = les_sum(value, les_get(force, les_at(p.les, w.i, w.j, GROUP_Y)));
                value = les_scaled(is_kept ? R(1) : R(0), value);
                if (t.touches & LES_PUTS_SUM)
                    les_put(sum, at + ROW_STEP(8),
                            les_scaled(is_kept ? R(1) : R(0),
                                       les_added(t, PASS_RULE, factors, dt, now, c, r)));
                if (t.touches & LES_PUTS_S)
                    les_put(s, at + ROW_STEP(8), value);
                if (t.touches & LES_PUTS_MID)
                    les_put(mid, at + ROW_STEP(8), value);
                now = value;
            }
            P(h).v[k] = les_scaled(is_kept & (n2 > R(0)) ? cells / n2 : R(0), now);
        }
    }
    for (i32 f = 0; f < p.three; f++) { /* b, a, c: each with one more factor n */
        GLOBAL const real *const circle = turn + f * p.none;

        EACH_LANE
        {
            PLACE(0)
            const u32 row = j + (u32)(f * p.none);

            EACH_STEP(8)
            {
                if (f > 0)
                    P(h).v[k] = les_scaled(WAVE_Y(row), P(h).v[k]);
                P(x).v[k] = P(h).v[k];
            }
            (void)line;
        }
        INVERSE
        EACH_LANE
        {
            EACH_BUTTERFLY(ODD)
            {
                PLACE(b)
                const i64 at = pass_at(f * p.plane + member, first + (i32)line, (i32)j);

                EACH_STEP(ODD) les_put(abc, at + ROW_STEP(ODD), P(x).v[b * ODD + k]);
            }
        }
        SYNC;
    }
}

/* Rows. */

/* Modes of PASS_SIDE rows, tile by tile, in the order of memory. */
#define N_TILED    ((PASS_N / 3 / PASS_TILE + 1) * PASS_TILE * PASS_SIDE)
#define EACH_TILED for (i32 i = LANE; i < N_TILED; i += LANES)
#define TILED_KX   ((i32)((u32)i / (PASS_TILE * PASS_SIDE) * PASS_TILE + (u32)i % PASS_TILE))
#define TILED_Y    ((i32)((u32)i / PASS_TILE % PASS_SIDE))

/* A group is PASS_SIDE rows of a member: range (rows / PASS_SIDE, members). */
GROUP(les_pass_rows, VAL(pass_par, p), IN(real, turn), IN(real, abc), OUT(real, pq),
      INOUT(double, part))
{
    LOCAL(les_mode, held, ROOM);
    PRIV(eight, x);
    PRIV(eight, h);
    PRIV(les_mode, most); /* |u| + |v|, |S|^2 */
    const i64 member = GROUP_Y * p.member;
    const i32 first = GROUP_X * PASS_SIDE, edge = p.les.edge;

    for (i32 f = 0; f < p.two; f++) { /* E + i D, then u + i v */
        GLOBAL const real *const circle = turn + f * p.none;

        EACH_LANE
        {
            for (i32 i = LANE + (edge + 1) * PASS_SIDE; i < (PASS_N - edge) * PASS_SIDE;
                 i += LANES) {
                held[PAD(i)].re = R(0);
                held[PAD(i)].im = R(0);
            }
            EACH_TILED
            {
                const i32 kx = TILED_KX, row = TILED_Y;

                if (kx <= edge) {
                    const i64 at = pass_at(member, kx, first + row);
                    const real m = (real)kx, iq = R(1) / (real)p.les.q;
                    const les_mode a = les_get(abc, at + 2 * p.plane), b = les_get(abc, at);
                    les_mode g, w, out;

                    if (f == 0) {
                        g = les_scaled(R(-2) * m, a);
                        w = minus(les_scaled(m * m, b), les_get(abc, at + 4 * p.plane));
                    } else {
                        g = les_turned(iq, a);
                        w = les_turned(-m * iq, b);
                    }
                    out.re = g.re - w.im;
                    out.im = g.im + w.re;
                    held[PAD(kx * PASS_SIDE + row)] = out;
                    out.re = g.re + w.im;
                    out.im = w.re - g.im;
                    if (kx > 0)
                        held[PAD((PASS_N - kx) * PASS_SIDE + row)] = out;
                }
            }
        }
        SYNC;
        GET(8)
        INVERSE
        if (f == 0) {
            EACH_LANE
            {
                P(most).re = R(0);
                P(most).im = R(0);
                EACH_STEP(8)
                {
                    const les_mode v = P(x).v[k];
                    const real strain = v.re * v.re + v.im * v.im;
                    const real nu = (real)p.les.smag * sqrt(strain);

                    P(h).v[k].re = nu * v.im;
                    P(h).v[k].im = R(2) * nu * v.re;
                    P(most).im = fmax(P(most).im, strain);
                }
            }
        }
    }
    EACH_LANE EACH_STEP(8)
    {
        const real u = P(x).v[k].re + (real)p.les.mean_u, v = P(x).v[k].im + (real)p.les.mean_v;

        P(x).v[k].re = P(h).v[k].re - u * v;
        P(x).v[k].im = u * u - v * v - P(h).v[k].im;
        P(most).re = fmax(P(most).re, fabs(u) + fabs(v));
    }
    if (p.has_peaks) {
        EACH_LANE held[LANE] = P(most);
        SYNC;
        FOLD_TREE(held[LANE].re = fmax(held[LANE].re, held[LANE + w].re);
                  held[LANE].im = fmax(held[LANE].im, held[LANE + w].im);)
        EACH_LANE if (LANE == 0)
        {
            const i64 to = 2 * ((i64)GROUP_Y * (PASS_N / PASS_SIDE) + GROUP_X);

            part[to] = (double)held[0].re;
            part[to + 1] = p.les.smag * sqrt((double)held[0].im);
        }
        SYNC;
    }
    GLOBAL const real *const circle = turn + p.none;

    FORWARD
    EACH_LANE
    {
        const u32 to = PAD(LANE);

        EACH_STEP(8) held[to + PADDED(k * (PASS_N / 8))] = P(x).v[k];
    }
    SYNC;
    EACH_LANE
    {
        EACH_TILED
        {
            const i32 kx = TILED_KX, row = TILED_Y;
            const les_mode a = held[PAD(kx * PASS_SIDE + row)];
            const les_mode m = held[PAD((kx > 0 ? PASS_N - kx : 0) * PASS_SIDE + row)];
            const i64 at = pass_at(member, kx, first + row);
            les_mode out;

            out.re = R(0.5) * (a.re + m.re);
            out.im = R(0.5) * (a.im - m.im);
            les_put(pq, at, out);
            out.re = R(0.5) * (a.im + m.im);
            out.im = R(0.5) * (m.re - a.re);
            les_put(pq, at + 2 * p.plane, out);
        }
    }
}
