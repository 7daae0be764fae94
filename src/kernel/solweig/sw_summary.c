/* sw_summary.c - accumulators of a series on the device. */
#include "dialect.h"
#include "fold.h"
#include "sw_moment.h"
#include "sw_summary.h"

FN double plus(double a, double b)
{
    return a + b;
}

FN i32 sw_is_finite(float x)
{
    return x - x == 0.0f;
}

/* The word with count k, and the lowest bit of the count in that word. */
FN i32 sw_word(sw_summary_par p, i32 k)
{
    return p.per_word == 2 ? k >> 1 : k;
}

FN i32 sw_shift(sw_summary_par p, i32 k)
{
    return p.per_word == 2 ? (k & 1) << 4 : 0;
}

FN i32 sw_count(sw_summary_par p, GLOBAL const u32 *counts, i32 k, i64 at)
{
    const u32 word = counts[sw_word(p, k) * p.plane + at] >> sw_shift(p, k);

    return (i32)(p.per_word == 2 ? word & 0xffffu : word);
}

MAP(sw_summary_clear, VAL(i64, plane), VAL(i32, n_words), OUT(double, sums), OUT(float, extremes),
    INOUT(u32, counts))
{
    for (i32 k = 0; k < SW_SUMS; k++)
        sums[k * plane + GI] = 0.0;
    for (i32 k = 0; k < n_words; k++)
        counts[k * plane + GI] = 0u;
    extremes[SW_TMRT_MAX * plane + GI] = -INFINITY;
    extremes[SW_TMRT_MIN * plane + GI] = INFINITY;
    extremes[SW_UTCI_MAX * plane + GI] = -INFINITY;
    extremes[SW_UTCI_MIN * plane + GI] = INFINITY;
}

/* Adds one pixel of the core. Values that are not numbers do not count. */
MAP(sw_summary, VAL(sw_summary_par, p), IN(i32, now), IN(sw_moment, steps), IN(float, tmrt),
    IN(float, utci), IN(float, shadow), INOUT(double, sums), INOUT(float, extremes),
    INOUT(u32, counts))
{
    const i64 from = (i64)(gy + p.y0) * p.cols + gx + p.x0;
    const i64 at = (i64)gy * p.core_cols + gx;
    const i32 is_day = steps[now[0]].is_day, night = is_day ? 0 : 1;
    const float t = tmrt[from], u = utci[from];
    const i32 has_t = sw_is_finite(t), has_u = has_t & sw_is_finite(u);
    const i64 t_sum = (SW_SUM_TMRT_DAY + night) * p.plane + at;
    const i64 u_sum = (SW_SUM_UTCI_DAY + night) * p.plane + at;
    const i32 t_count = SW_N_TMRT_DAY + night, u_count = SW_N_UTCI_DAY + night;
    const i64 t_max = SW_TMRT_MAX * p.plane + at, t_min = SW_TMRT_MIN * p.plane + at;
    const i64 u_max = SW_UTCI_MAX * p.plane + at, u_min = SW_UTCI_MIN * p.plane + at;
    const double sunny = (double)shadow[from] * p.dt_hours;

    sums[t_sum] += has_t ? (double)t : 0.0;
    sums[u_sum] += has_u ? (double)u : 0.0;
    sums[SW_SUM_SUN * p.plane + at] += has_t & is_day ? sunny : 0.0;
    counts[sw_word(p, t_count) * p.plane + at] += (u32)has_t << sw_shift(p, t_count);
    counts[sw_word(p, u_count) * p.plane + at] += (u32)has_u << sw_shift(p, u_count);
    extremes[t_max] = (has_t & (t > extremes[t_max])) ? t : extremes[t_max];
    extremes[t_min] = (has_t & (t < extremes[t_min])) ? t : extremes[t_min];
    extremes[u_max] = (has_u & (u > extremes[u_max])) ? u : extremes[u_max];
    extremes[u_min] = (has_u & (u < extremes[u_min])) ? u : extremes[u_min];
}

/* Counts the thresholds of a pixel that are in word gz of the threshold counts. */
MAP(sw_summary_above, VAL(sw_summary_par, p), IN(i32, now), IN(sw_moment, steps), IN(float, tmrt),
    IN(float, utci), INOUT(u32, counts))
{
    const i64 from = (i64)(gy + p.y0) * p.cols + gx + p.x0;
    const i64 at = (sw_word(p, SW_COUNTS) + gz) * p.plane + (i64)gy * p.core_cols + gx;
    const i32 asked = steps[now[0]].is_day ? 1 : 2;
    u32 more = 0u;

    for (i32 k = gz * p.per_word; k < MIN(p.n_thresholds, (gz + 1) * p.per_word); k++)
        if ((p.when[k] & asked) && sw_is_finite(tmrt[from]) && utci[from] > p.above[k])
            more += 1u << sw_shift(p, SW_COUNTS + k);
    counts[at] += more;
}

/* Sums over row GROUP_X of the core: lanes take pixels in order, then a fixed tree adds them up. */
GROUP(sw_row_sums, VAL(sw_summary_par, p), IN(float, tmrt), IN(float, utci), IN(float, shadow),
      OUT(double, part))
{
    LOCAL(double, sum_t, LANES);
    LOCAL(double, sum_u, LANES);
    LOCAL(double, sum_s, LANES);
    LOCAL(double, n_t, LANES);
    LOCAL(double, n_u, LANES);
    const i64 row = (i64)(GROUP_X + p.y0) * p.cols + p.x0;
    const i64 out = (i64)GROUP_X * SW_ROW_WORDS;

    EACH_LANE
    {
        sum_t[LANE] = 0.0;
        sum_u[LANE] = 0.0;
        sum_s[LANE] = 0.0;
        n_t[LANE] = 0.0;
        n_u[LANE] = 0.0;
    }
    for (i32 from = 0; from < p.core_cols; from += LANES)
        EACH_LANE_BELOW(MIN(LANES, p.core_cols - from))
        {
            const i64 at = row + from + LANE;
            const i32 has_t = sw_is_finite(tmrt[at]), has_u = has_t & sw_is_finite(utci[at]);

            sum_t[LANE] += has_t ? (double)tmrt[at] : 0.0;
            sum_u[LANE] += has_u ? (double)utci[at] : 0.0;
            sum_s[LANE] += has_t ? (double)shadow[at] : 0.0;
            n_t[LANE] += (double)has_t;
            n_u[LANE] += (double)has_u;
        }
    SYNC;
    FOLD_LANES(sum_t, plus)
    FOLD_LANES(sum_u, plus)
    FOLD_LANES(sum_s, plus)
    FOLD_LANES(n_t, plus)
    FOLD_LANES(n_u, plus)
    EACH_LANE if (LANE == 0)
    {
        part[out + SW_ROW_TMRT] = sum_t[0];
        part[out + SW_ROW_UTCI] = sum_u[0];
        part[out + SW_ROW_SHADOW] = sum_s[0];
        part[out + SW_ROW_N_TMRT] = n_t[0];
        part[out + SW_ROW_N_UTCI] = n_u[0];
        for (i32 k = SW_ROW_N_UTCI + 1; k < SW_ROW_WORDS; k++)
            part[out + k] = 0.0;
    }
}

/* Computes word GROUP_X of the record of this step. */
GROUP(sw_row_join, VAL(i32, n_rows), IN(i32, now), IN(double, part), INOUT(double, records))
{
    LOCAL(double, sum, LANES);

    EACH_LANE
    {
        double t = 0.0;

        for (i32 k = LANE; k < n_rows; k += LANES)
            t += part[(i64)k * SW_ROW_WORDS + GROUP_X];
        sum[LANE] = t;
    }
    SYNC;
    FOLD_LANES(sum, plus)
    EACH_LANE if (LANE == 0) records[(i64)now[0] * SW_ROW_WORDS + GROUP_X] = sum[0];
}

/* Grids at the end. */

FN float sw_mean(double sum, i32 n)
{
    return n > 0 ? (float)(sum / (double)n) : NAN;
}

MAP(sw_summary_grid, VAL(sw_summary_par, p), VAL(i32, which), IN(double, sums), IN(float, extremes),
    IN(u32, counts), OUT(float, grid))
{
    const i64 at = (i64)gy * p.core_cols + gx;
    const i32 is_utci = (which >= SW_GRID_UTCI_MEAN) & (which <= SW_GRID_UTCI_NIGHT);
    const i32 kind = is_utci ? which - SW_GRID_UTCI_MEAN : which, first = is_utci ? 2 : 0;
    const double day = sums[first * p.plane + at], night = sums[(first + 1) * p.plane + at];
    const i32 n_day = sw_count(p, counts, first, at), n_night = sw_count(p, counts, first + 1, at);
    const double sunny = sums[SW_SUM_SUN * p.plane + at];
    float value = 0.0f;

    if (which >= SW_GRIDS)
        value = (float)((double)sw_count(p, counts, SW_COUNTS + which - SW_GRIDS, at) * p.dt_hours);
    else if (which == SW_GRID_SUN_HOURS)
        value = (float)sunny;
    else if (which == SW_GRID_SHADE_HOURS)
        value = (float)((double)(n_day + n_night) * p.dt_hours - sunny);
    else if (kind == SW_GRID_TMRT_MEAN)
        value = sw_mean(day + night, n_day + n_night);
    else if (kind == SW_GRID_TMRT_DAY)
        value = sw_mean(day, n_day);
    else if (kind == SW_GRID_TMRT_NIGHT)
        value = sw_mean(night, n_night);
    else
        value =
            n_day + n_night > 0 ? extremes[(first + kind - SW_GRID_TMRT_MAX) * p.plane + at] : NAN;
    grid[at] = value;
}
