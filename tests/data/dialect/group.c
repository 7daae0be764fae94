/* group.c - text for the tests of the expander: a MAP of every shape, and GROUPs. */
// clang-format off
#include "dialect.h"

MAP(saxpy, VAL(float, a), IN(float, x), INOUT(float, y))
{
    y[gx] = a * x[gx] + y[gx];
}

MAP(saxpy4, UNROLL(4), VAL(float, a), IN(float, x), INOUT(float, y))
{
    y[GI] = a * x[GI] + y[GI];
}

typedef struct {
    float keep, spread;
    i32 cols, rows;
} blur_par;
QN_PAR_SIZE(blur_par, 16);

FN float clamped(GLOBAL const float *g, blur_par p, i32 x, i32 y)
{
    return g[(i64)clamp_i32(y, 0, p.rows - 1) * p.cols + clamp_i32(x, 0, p.cols - 1)];
}

MAP(blur,
    VAL(blur_par, p),  /* a struct by value, with a comma: , and a brace: { */
    IN(float, g),      // and one more MAP(x, y) {
    OUT(float, out))
{
    const float cross = clamped(g, p, gx - 1, gy) + clamped(g, p, gx + 1, gy)
                      + clamped(g, p, gx, gy - 1) + clamped(g, p, gx, gy + 1);

    if (gx == 0 && gy == 0) {
        out[0] = -1.0f;
        return;
    }
    out[(i64)gy * p.cols + gx] = p.keep * clamped(g, p, gx, gy) + p.spread * cross;
}

/* One partial sum per group. The tree is fixed, so every backend gives the same bits. */
GROUP(sum, VAL(i64, n), IN(float, x), OUT(float, part))
{
    LOCAL(float, tile, LANES);

    EACH_LANE {
        const i64 k = (i64)GROUP_X * LANES + LANE;
        tile[LANE] = k < n ? x[k] : 0.0f;
    }
    SYNC;
    for (i32 w = LANES / 2; w > 0; w /= 2) {
        EACH_LANE if (LANE < w) tile[LANE] += tile[LANE + w];
        SYNC;
    }
    EACH_LANE if (LANE == 0) part[GROUP_X] = tile[0];
}

/* The same sum; the lanes that rest cost nothing on the CPU. */
GROUP(sum_below, VAL(i64, n), IN(float, x), OUT(float, part))
{
    LOCAL(float, tile, LANES);

    EACH_LANE {
        const i64 k = (i64)GROUP_X * LANES + LANE;
        tile[LANE] = k < n ? x[k] : 0.0f;
    }
    SYNC;
    for (i32 w = LANES / 2; w > 0; w /= 2) {
        EACH_LANE_BELOW(w) {
            tile[LANE] += tile[LANE + w];
        }
        SYNC;
    }
    EACH_LANE_BELOW(1) part[GROUP_X] = tile[0];
}

/* How many halvings until a value is below one: lanes leave the loop at different times. */
GROUP(halvings, VAL(i32, n), IN(float, x), OUT(i32, steps))
{
    PRIV(float, v);
    PRIV(i32, count);
    i32 any;

    EACH_LANE {
        const i32 k = GROUP_X * LANES + LANE;
        P(v) = k < n ? x[k] : 0.0f;
        P(count) = 0;
    }
    for (;;) {
        ANY_LANE(any) {
            const i32 alive = P(v) >= 1.0f;
            P(v) = alive ? P(v) * 0.5f : P(v);
            P(count) += alive;
            any |= alive;
        }
        if (!any)
            break;
    }
    EACH_LANE {
        const i32 k = GROUP_X * LANES + LANE;
        if (k < n)
            steps[k] = P(count);
    }
}
