/* fit_solve.c - operations on the vectors of Levenberg-Marquardt and conjugate gradients.
 *
 * Dot products are divided into chunks of FIT_DOT_CHUNK. In a chunk lane l takes numbers l, l +
 * LANES, ..., a tree joins the lanes, and one group joins the chunks in the same way: the order
 * depends only on the length. The scalars of the iteration are in one small array, so that
 * iterations follow each other without the host; once FIT_S_DONE is set, they change nothing.
 */
PRECISIONS
#define LANES 256
#include "dialect.h"
#include "fit_solve.h"
#include "fold.h"

/* Sums. */

/* x: chunks. Writes a.b to sums[0 ..] and c.d to sums[n_chunks ..]. */
GROUP(fit_dots, VAL(i64, n), VAL(i64, n_chunks), IN(real, a), IN(real, b), IN(real, c), IN(real, d),
      OUT(double, sums))
{
    LOCAL(double, one, LANES);
    LOCAL(double, two, LANES);
    const i64 from = (i64)GROUP_X * FIT_DOT_CHUNK;
    const i64 to = from + FIT_DOT_CHUNK < n ? from + FIT_DOT_CHUNK : n;

    EACH_LANE
    {
        double s = 0, t = 0;

        for (i64 k = from + LANE; k < to; k += LANES) {
            s += (double)a[k] * (double)b[k];
            t += (double)c[k] * (double)d[k];
        }
        one[LANE] = s;
        two[LANE] = t;
    }
    SYNC;
    FOLD_TWO_SUMS(one, two)
    EACH_LANE if (LANE == 0)
    {
        sums[GROUP_X] = one[0];
        sums[n_chunks + GROUP_X] = two[0];
    }
}

/* x: chunks of a group's rows. r.v and v.v */
GROUP(fit_row_dots, VAL(fit_rows_par, p), IN(real, r), IN(real, v), INOUT(double, sums))
{
    LOCAL(double, one, LANES);
    LOCAL(double, two, LANES);
    const i64 from = (i64)GROUP_X * FIT_DOT_CHUNK;
    const i64 to = from + FIT_DOT_CHUNK < p.total ? from + FIT_DOT_CHUNK : p.total;

    EACH_LANE
    {
        double s = 0, t = 0;

        for (i64 k = from + LANE; k < to; k += LANES) {
            const i64 row = k / p.n;
            const i64 at = p.at + row * p.ld + (k - row * p.n);

            s += (double)r[at] * (double)v[at];
            t += (double)v[at] * (double)v[at];
        }
        one[LANE] = s;
        two[LANE] = t;
    }
    SYNC;
    FOLD_TWO_SUMS(one, two)
    EACH_LANE if (LANE == 0)
    {
        sums[p.first_chunk + GROUP_X] = one[0];
        sums[p.n_chunks + p.first_chunk + GROUP_X] = two[0];
    }
}

/* one[0] and two[0] from the chunks of both sums, by the lanes of one group. */
#define JOIN_CHUNKS(n_chunks, sums)                                                                \
    EACH_LANE                                                                                      \
    {                                                                                              \
        double s = 0, t = 0;                                                                       \
                                                                                                   \
        for (i64 k = LANE; k < n_chunks; k += LANES) {                                             \
            s += sums[k];                                                                          \
            t += sums[n_chunks + k];                                                               \
        }                                                                                          \
        one[LANE] = s;                                                                             \
        two[LANE] = t;                                                                             \
    }                                                                                              \
    SYNC;                                                                                          \
    FOLD_TWO_SUMS(one, two)

/* One group: joined[0] and joined[1] from the chunks of fit_dots. */
GROUP(fit_join, VAL(i64, n_chunks), IN(double, sums), OUT(double, joined))
{
    LOCAL(double, one, LANES);
    LOCAL(double, two, LANES);

    JOIN_CHUNKS(n_chunks, sums)
    EACH_LANE if (LANE == 0)
    {
        joined[0] = one[0];
        joined[1] = two[0];
    }
}

FN real boxed(real x, real lower, real upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

/* NaN if either is NaN, so that it is noticed. */
FN double larger_of(double a, double b)
{
    return a != a ? a : b != b ? b : a > b ? a : b;
}

#define FOLD_MOST_AND_SUM(most, sum)                                                               \
    FOLD_TREE(most[LANE] = larger_of(most[LANE], most[LANE + w]); sum[LANE] += sum[LANE + w];)

/* x: chunks. Writes the largest entry of P(x - g) - x to sums[0 ..] and x.x over free scalars to
 * sums[n_chunks ..]. */
GROUP(fit_lm_point, VAL(i64, n), VAL(i64, n_chunks), IN(real, x), IN(real, g), IN(real, lower),
      IN(real, upper), IN(u8, is_fixed), OUT(double, sums))
{
    LOCAL(double, most, LANES);
    LOCAL(double, sum, LANES);
    const i64 from = (i64)GROUP_X * FIT_DOT_CHUNK;
    const i64 to = from + FIT_DOT_CHUNK < n ? from + FIT_DOT_CHUNK : n;

    EACH_LANE
    {
        double m = 0, s = 0;

        for (i64 k = from + LANE; k < to; k += LANES) {
            const double move = (double)(boxed(x[k] - g[k], lower[k], upper[k]) - x[k]);

            if (!is_fixed[k]) {
                m = larger_of(g[k] != g[k] ? (double)g[k] : fabs(move), m);
                s += (double)x[k] * (double)x[k];
            }
        }
        most[LANE] = m;
        sum[LANE] = s;
    }
    SYNC;
    FOLD_MOST_AND_SUM(most, sum)
    EACH_LANE if (LANE == 0)
    {
        sums[GROUP_X] = most[0];
        sums[n_chunks + GROUP_X] = sum[0];
    }
}

/* One group. */
GROUP(fit_lm_point_join, VAL(i64, n_chunks), IN(double, sums), IN(double, cost),
      INOUT(double, scalars))
{
    LOCAL(double, most, LANES);
    LOCAL(double, sum, LANES);

    EACH_LANE
    {
        double m = 0, s = 0;

        for (i64 k = LANE; k < n_chunks; k += LANES) {
            m = larger_of(sums[k], m);
            s += sums[n_chunks + k];
        }
        most[LANE] = m;
        sum[LANE] = s;
    }
    SYNC;
    FOLD_MOST_AND_SUM(most, sum)
    EACH_LANE if (LANE == 0)
    {
        scalars[FIT_S_COST] = cost[0];
        scalars[FIT_S_GRADIENT] = most[0];
        scalars[FIT_S_X] = sqrt(sum[0]);
    }
}

/* The system of a step. */

/* x: scalars of a set. */
MAP(fit_lm_scale, VAL(fit_set_par, p), IN(real, blocks), IN(u8, is_fixed), INOUT(real, scale))
{
    const i64 block = GI / p.dim, c = GI - block * p.dim;
    const real square = blocks[p.first_at + block * p.dim * p.dim + c * (p.dim + 1)];

    scale[p.first + GI] = is_fixed[p.first + GI] ? R(0)
                          : p.kind               ? R(1) / (R(1) + sqrt(square))
                                                 : R(1);
}

/* x: scalars of a set. Finds which scalars may move, their damping, and the right-hand side. */
MAP(fit_lm_system, VAL(fit_set_par, p), IN(double, control), IN(real, blocks), IN(real, x),
    IN(real, g), IN(real, lower), IN(real, upper), IN(real, scale), INOUT(real, active),
    INOUT(real, damping), INOUT(real, b))
{
    const i64 block = GI / p.dim, c = GI - block * p.dim, k = p.first + GI;
    const i32 is_held = (x[k] <= lower[k] && g[k] > R(0)) || (x[k] >= upper[k] && g[k] < R(0));
    const real s = is_held ? R(0) : scale[k];
    const double square =
        (double)(blocks[p.first_at + block * p.dim * p.dim + c * (p.dim + 1)] * s * s);
    const double limited = square < p.low ? p.low : square > p.high ? p.high : square;
    const i32 kind = (i32)control[FIT_C_KIND];

    active[k] = s;
    damping[k] = s == R(0)   ? R(1)
                 : kind == 0 ? R(limited * control[FIT_C_BY])
                 : kind == 1 ? R(control[FIT_C_BY])
                             : R(0);
    b[k] = -s * g[k];
}

/* x: blocks of a set. L of S J'J S + D^2, or of its diagonal where that is not definite. */
MAP(fit_block_factor, VAL(fit_set_par, p), IN(real, blocks), IN(real, active), IN(real, damping),
    INOUT(real, factor))
{
    const i64 at = p.first_at + GI * p.dim * p.dim, k = p.first + GI * p.dim;
    i32 is_sound = 1;

    for (i32 j = 0; j < p.dim && is_sound; j++) {
        real d = blocks[at + j * p.dim + j] * active[k + j] * active[k + j] + damping[k + j];

        for (i32 m = 0; m < j; m++)
            d -= factor[at + j * p.dim + m] * factor[at + j * p.dim + m];
        is_sound = d > R(0);
        d = is_sound ? sqrt(d) : R(1);
        factor[at + j * p.dim + j] = d;
        for (i32 i = j + 1; i < p.dim; i++) {
            real s = blocks[at + i * p.dim + j] * active[k + i] * active[k + j];

            for (i32 m = 0; m < j; m++)
                s -= factor[at + i * p.dim + m] * factor[at + j * p.dim + m];
            factor[at + i * p.dim + j] = s / d;
        }
    }
    for (i32 i = 0; i < p.dim && !is_sound; i++)
        for (i32 j = 0; j <= i; j++) {
            const real d =
                blocks[at + i * p.dim + i] * active[k + i] * active[k + i] + damping[k + i];

            factor[at + i * p.dim + j] = i != j ? R(0) : d > R(0) ? sqrt(d) : R(1);
        }
}

/* x: blocks of a set. z = (L L')^-1 r */
MAP(fit_block_apply, VAL(fit_set_par, p), IN(real, factor), IN(real, r), INOUT(real, z))
{
    const i64 at = p.first_at + GI * p.dim * p.dim, k = p.first + GI * p.dim;

    for (i32 i = 0; i < p.dim; i++) {
        real s = r[k + i];

        for (i32 j = 0; j < i; j++)
            s -= factor[at + i * p.dim + j] * z[k + j];
        z[k + i] = s / factor[at + i * p.dim + i];
    }
    for (i32 i = p.dim - 1; i >= 0; i--) {
        real s = z[k + i];

        for (i32 j = i + 1; j < p.dim; j++)
            s -= factor[at + j * p.dim + i] * z[k + j];
        z[k + i] = s / factor[at + i * p.dim + i];
    }
}

/* Conjugate gradients. */

/* x: scalars. y = 0, r = b, p = 0. */
MAP(fit_cg_begin, IN(real, b), OUT(real, y), OUT(real, r), OUT(real, p))
{
    y[GI] = R(0);
    r[GI] = b[GI];
    p[GI] = R(0);
}

/* One item; joined[0] is b.b. */
MAP(fit_cg_start, IN(double, control), IN(double, joined), INOUT(double, scalars))
{
    scalars[FIT_S_GOAL] = control[FIT_C_SMALL] * sqrt(joined[0]);
    scalars[FIT_S_RHO] = 0;
    scalars[FIT_S_Q] = 0;
    scalars[FIT_S_ITERATIONS] = 0;
    scalars[FIT_S_DONE] = 0;
}

/* One group; sums are chunks of r.z and r.r. */
GROUP(fit_cg_beta, VAL(i64, n_chunks), IN(double, sums), INOUT(double, scalars))
{
    LOCAL(double, one, LANES);
    LOCAL(double, two, LANES);

    JOIN_CHUNKS(n_chunks, sums)
    EACH_LANE if (LANE == 0)
    {
        const double before = scalars[FIT_S_RHO];

        if (!(scalars[FIT_S_DONE] > 0) && !(sqrt(two[0]) > scalars[FIT_S_GOAL]))
            scalars[FIT_S_DONE] = 1;
        scalars[FIT_S_BETA] = scalars[FIT_S_ITERATIONS] > 0 ? one[0] / before : 0;
        scalars[FIT_S_RHO] = scalars[FIT_S_DONE] > 0 ? before : one[0];
    }
}

MAP(fit_cg_direction, IN(double, scalars), IN(real, z), IN(real, active), INOUT(real, p),
    OUT(real, v))
{
    const real next = z[GI] + R(scalars[FIT_S_BETA]) * p[GI];

    p[GI] = scalars[FIT_S_DONE] > 0 ? p[GI] : next;
    v[GI] = active[GI] * p[GI];
}

/* x: chunks. q = S q + D^2 p, with q = J'J S p on entry; writes p.q to sums. */
GROUP(fit_cg_product, VAL(i64, n), VAL(i64, n_chunks), IN(real, active), IN(real, damping),
      IN(real, p), INOUT(real, q), OUT(double, sums))
{
    LOCAL(double, one, LANES);
    const i64 from = (i64)GROUP_X * FIT_DOT_CHUNK;
    const i64 to = from + FIT_DOT_CHUNK < n ? from + FIT_DOT_CHUNK : n;

    EACH_LANE
    {
        double s = 0;

        for (i64 k = from + LANE; k < to; k += LANES) {
            q[k] = active[k] * q[k] + damping[k] * p[k];
            s += (double)p[k] * (double)q[k];
        }
        one[LANE] = s;
    }
    SYNC;
    FOLD_TREE(one[LANE] += one[LANE + w];)
    EACH_LANE if (LANE == 0)
    {
        sums[GROUP_X] = one[0];
        sums[n_chunks + GROUP_X] = 0;
    }
}

/* One group; sums are chunks of p.q. If the curvature is not positive, the iteration ends with the
 * solution so far, which is 0 in the first. */
GROUP(fit_cg_alpha, VAL(i64, n_chunks), IN(double, sums), INOUT(double, scalars))
{
    LOCAL(double, one, LANES);
    LOCAL(double, two, LANES);

    JOIN_CHUNKS(n_chunks, sums)
    EACH_LANE if (LANE == 0)
    {
        const i32 is_bad = !(one[0] > 0);

        if (is_bad && !(scalars[FIT_S_DONE] > 0))
            scalars[FIT_S_DONE] = scalars[FIT_S_ITERATIONS] > 0 ? 1 : 2;
        scalars[FIT_S_ALPHA] = scalars[FIT_S_DONE] > 0 ? 0 : scalars[FIT_S_RHO] / one[0];
    }
}

/* x: chunks. Takes the step along p, then writes y.b and y.r to sums. */
GROUP(fit_cg_step, VAL(i64, n), VAL(i64, n_chunks), IN(double, scalars), IN(real, p), IN(real, q),
      IN(real, b), INOUT(real, y), INOUT(real, r), OUT(double, sums))
{
    LOCAL(double, one, LANES);
    LOCAL(double, two, LANES);
    const real alpha = R(scalars[FIT_S_ALPHA]);
    const i32 is_done = scalars[FIT_S_DONE] > 0;
    const i64 from = (i64)GROUP_X * FIT_DOT_CHUNK;
    const i64 to = from + FIT_DOT_CHUNK < n ? from + FIT_DOT_CHUNK : n;

    EACH_LANE
    {
        double s = 0, t = 0;

        for (i64 k = from + LANE; k < to && !is_done; k += LANES) {
            y[k] += alpha * p[k];
            r[k] -= alpha * q[k];
            s += (double)y[k] * (double)b[k];
            t += (double)y[k] * (double)r[k];
        }
        one[LANE] = s;
        two[LANE] = t;
    }
    SYNC;
    FOLD_TWO_SUMS(one, two)
    EACH_LANE if (LANE == 0)
    {
        sums[GROUP_X] = one[0];
        sums[n_chunks + GROUP_X] = two[0];
    }
}

/* One group; sums are chunks of y.b and y.r. */
GROUP(fit_cg_stop, VAL(i64, n_chunks), IN(double, control), IN(double, sums),
      INOUT(double, scalars))
{
    LOCAL(double, one, LANES);
    LOCAL(double, two, LANES);

    JOIN_CHUNKS(n_chunks, sums)
    EACH_LANE if (LANE == 0 && !(scalars[FIT_S_DONE] > 0))
    {
        const double q = -0.5 * (one[0] + two[0]);

        scalars[FIT_S_ITERATIONS] += 1;
        if (scalars[FIT_S_ITERATIONS] * (q - scalars[FIT_S_Q]) / q < control[FIT_C_ETA])
            scalars[FIT_S_DONE] = 1;
        scalars[FIT_S_Q] = q;
    }
}

/* v = S y, to compute the residual from scratch; then r = b - q. */
MAP(fit_scaled, IN(real, active), IN(real, y), OUT(real, v))
{
    v[GI] = active[GI] * y[GI];
}

MAP(fit_cg_residual, IN(real, b), IN(real, q), OUT(real, r))
{
    r[GI] = b[GI] - q[GI];
}

/* The trial point. */

MAP(fit_lm_trial, IN(double, control), IN(real, x), IN(real, active), IN(real, y), IN(real, lower),
    IN(real, upper), OUT(real, trial), OUT(real, delta))
{
    const real step = R(control[FIT_C_SHARE]) * active[GI] * y[GI];
    const real to = active[GI] == R(0) ? x[GI] : boxed(x[GI] + step, lower[GI], upper[GI]);

    trial[GI] = to;
    delta[GI] = to - x[GI];
}

/* One item; rows is r.Jd and Jd.Jd, steps[0] is d.d. */
MAP(fit_lm_judge, IN(double, rows), IN(double, steps), IN(double, cost), INOUT(double, scalars))
{
    scalars[FIT_S_MODEL] = -(rows[0] + 0.5 * rows[1]);
    scalars[FIT_S_STEP] = sqrt(steps[0]);
    scalars[FIT_S_TRIAL] = cost[0];
}

MAP(fit_swap, INOUT(real, a), INOUT(real, b))
{
    const real before = a[GI];

    a[GI] = b[GI];
    b[GI] = before;
}

MAP(fit_copy, IN(real, a), OUT(real, b))
{
    b[GI] = a[GI];
}
