/* fit_lbfgs.c - L-BFGS with all vectors on the device.
 *
 * Directions are sums of 2 m + 1 vectors, the basis, so the two loops of the method need only their
 * inner products. These are stored in a square matrix. A new pair and a new gradient change three
 * of its rows: one launch computes them, a second joins them and runs the loops on scalars, and a
 * third adds up the direction. Sums follow the order of fit_solve.c.
 */
PRECISIONS
#define LANES 256
#include "dialect.h"
#include "fold.h"
#include "fit_lbfgs.h"

#define CURVED 1e-10 /* a pair needs at least this curvature */

/* Where the next pair (step, change of the gradient) is stored. */
FN i64 next_pair(fit_lbfgs_par p, GLOBAL const double *scalars)
{
    return ((i64)scalars[FIT_L_NEWEST] + 1) % p.m;
}

/* x: scalars. */
MAP(fit_lbfgs_trial, IN(double, control), IN(real, x), IN(real, direction), OUT(real, trial))
{
    trial[GI] = x[GI] + R(control[FIT_L_SHARE]) * direction[GI];
}

/* NaN if either is NaN, so that it is noticed. */
FN double larger(double a, double b)
{
    return a != a ? a : b != b ? b : a > b ? a : b;
}

/* x: chunks. Writes the slope along the direction to sums[0 ..] and the largest entry of the
 * gradient to sums[n_chunks ..]. */
GROUP(fit_lbfgs_slope, VAL(fit_lbfgs_par, p), IN(real, gradient), IN(real, direction),
      INOUT(double, sums))
{
    LOCAL(double, slope, LANES);
    LOCAL(double, most, LANES);
    const i64 from = (i64)GROUP_X * FIT_LBFGS_CHUNK;
    const i64 to = from + FIT_LBFGS_CHUNK < p.n ? from + FIT_LBFGS_CHUNK : p.n;

    EACH_LANE
    {
        double s = 0, t = 0;

        for (i64 k = from + LANE; k < to; k += LANES) {
            s += (double)gradient[k] * (double)direction[k];
            t = larger(fabs((double)gradient[k]), t);
        }
        slope[LANE] = s;
        most[LANE] = t;
    }
    SYNC;
    FOLD_TREE(slope[LANE] += slope[LANE + w]; most[LANE] = larger(most[LANE], most[LANE + w]);)
    EACH_LANE if (LANE == 0)
    {
        sums[GROUP_X] = slope[0];
        sums[p.n_chunks + GROUP_X] = most[0];
    }
}

/* One group. */
GROUP(fit_lbfgs_slope_join, VAL(fit_lbfgs_par, p), IN(double, sums), IN(double, cost),
      INOUT(double, scalars))
{
    LOCAL(double, slope, LANES);
    LOCAL(double, most, LANES);

    EACH_LANE
    {
        double s = 0, t = 0;

        for (i64 k = LANE; k < p.n_chunks; k += LANES) {
            s += sums[k];
            t = larger(sums[p.n_chunks + k], t);
        }
        slope[LANE] = s;
        most[LANE] = t;
    }
    SYNC;
    FOLD_TREE(slope[LANE] += slope[LANE + w]; most[LANE] = larger(most[LANE], most[LANE + w]);)
    EACH_LANE if (LANE == 0)
    {
        scalars[FIT_L_COST] = cost[0];
        scalars[FIT_L_SLOPE] = slope[0];
        scalars[FIT_L_GRADIENT] = most[0];
    }
}

/* x: scalars. The trial becomes the point. */
MAP(fit_lbfgs_accept, VAL(fit_lbfgs_par, p), IN(double, scalars), IN(real, trial),
    IN(real, trial_gradient), INOUT(real, x), INOUT(real, basis))
{
    const i64 pair = next_pair(p, scalars);
    const i64 gradient = (i64)2 * p.m * p.n + GI;

    basis[pair * p.n + GI] = trial[GI] - x[GI];
    basis[(p.m + pair) * p.n + GI] = trial_gradient[GI] - basis[gradient];
    basis[gradient] = trial_gradient[GI];
    x[GI] = trial[GI];
}

/* x: chunks, y: rows of the basis. Products with the new step, change and gradient. */
GROUP(fit_lbfgs_gram, VAL(fit_lbfgs_par, p), IN(double, scalars), IN(real, basis),
      INOUT(double, sums))
{
    LOCAL(double, one, LANES);
    LOCAL(double, two, LANES);
    LOCAL(double, three, LANES);
    const i64 pair = next_pair(p, scalars);
    const i64 from = (i64)GROUP_X * FIT_LBFGS_CHUNK;
    const i64 to = from + FIT_LBFGS_CHUNK < p.n ? from + FIT_LBFGS_CHUNK : p.n;

    EACH_LANE
    {
        double s = 0, t = 0, u = 0;

        for (i64 k = from + LANE; k < to; k += LANES) {
            const double b = (double)basis[(i64)GROUP_Y * p.n + k];

            s += b * (double)basis[pair * p.n + k];
            t += b * (double)basis[(p.m + pair) * p.n + k];
            u += b * (double)basis[(i64)2 * p.m * p.n + k];
        }
        one[LANE] = s;
        two[LANE] = t;
        three[LANE] = u;
    }
    SYNC;
    for (i32 w = LANES / 2; w > 0; w /= 2) {
        EACH_LANE if (LANE < w)
        {
            one[LANE] += one[LANE + w];
            two[LANE] += two[LANE + w];
            three[LANE] += three[LANE + w];
        }
        SYNC;
    }
    EACH_LANE if (LANE == 0)
    {
        sums[(i64)(3 * GROUP_Y) * p.n_chunks + GROUP_X] = one[0];
        sums[(i64)(3 * GROUP_Y + 1) * p.n_chunks + GROUP_X] = two[0];
        sums[(i64)(3 * GROUP_Y + 2) * p.n_chunks + GROUP_X] = three[0];
    }
}

/* sum of coefficient[j] gram[j][row] over the rows in use */
FN double along(fit_lbfgs_par p, i64 row, GLOBAL const double *gram,
                GLOBAL const double *coefficient)
{
    double s = 0;

    for (i32 j = 0; j < p.n_rows; j++)
        s += coefficient[j] * gram[(i64)j * p.n_rows + row];
    return s;
}

/* The two loops on scalars. `coefficient` holds n_rows numbers, then one per pair. */
FN double loops(fit_lbfgs_par p, i32 newest, i32 n_pairs, GLOBAL const double *gram,
                GLOBAL double *coefficient)
{
    const i32 n = p.n_rows;

    for (i32 j = 0; j < n; j++)
        coefficient[j] = j == n - 1 ? -1 : 0;
    for (i32 age = 0; age < n_pairs; age++) {
        const i32 s = (newest - age + p.m) % p.m, y = p.m + s;
        const double alpha = along(p, s, gram, coefficient) / gram[(i64)s * n + y];

        coefficient[n + age] = alpha;
        coefficient[y] -= alpha;
    }
    if (n_pairs) {
        const i32 y = p.m + newest;
        const double scale = gram[(i64)newest * n + y] / gram[(i64)y * n + y];

        for (i32 j = 0; j < n; j++)
            coefficient[j] *= scale;
    }
    for (i32 age = n_pairs - 1; age >= 0; age--) {
        const i32 s = (newest - age + p.m) % p.m, y = p.m + s;

        coefficient[s] +=
            coefficient[n + age] - along(p, y, gram, coefficient) / gram[(i64)s * n + y];
    }
    return along(p, n - 1, gram, coefficient);
}

/* One group. Joins the products into three rows of gram, decides whether to store the new pair, and
 * finds the coefficients of the direction. Unused rows of the basis have coefficient 0. */
GROUP(fit_lbfgs_direction, VAL(fit_lbfgs_par, p), IN(double, control), IN(double, sums),
      INOUT(double, gram), INOUT(double, coefficient), INOUT(double, scalars))
{
    EACH_LANE
    {
        const i64 pair = next_pair(p, scalars);

        for (i32 k = LANE; k < 3 * p.n_rows; k += LANES) {
            const i64 row = k / 3, which = k - 3 * row;
            const i64 with = which == 0 ? pair : which == 1 ? p.m + pair : p.n_rows - 1;
            double t = 0;

            for (i64 c = 0; c < p.n_chunks; c++)
                t += sums[(i64)k * p.n_chunks + c];
            gram[row * p.n_rows + with] = t;
            gram[with * p.n_rows + row] = t;
        }
    }
    SYNC;
    EACH_LANE if (LANE == 0)
    {
        const i64 pair = next_pair(p, scalars);
        const double ss = gram[pair * (p.n_rows + 1)];
        const double yy = gram[(p.m + pair) * (p.n_rows + 1)];
        const i32 is_curved = gram[pair * p.n_rows + p.m + pair] > CURVED * sqrt(ss * yy);
        const i32 is_kept = is_curved && control[FIT_L_IS_NEW] > 0;
        i32 n_pairs = (i32)scalars[FIT_L_PAIRS], newest = (i32)scalars[FIT_L_NEWEST];
        double slope, square = 0;

        newest = is_kept ? (i32)pair : newest;
        n_pairs = control[FIT_L_IS_FORGETTING] > 0 ? 0
                  : is_kept                        ? MIN(n_pairs + 1, p.m)
                                                   : MIN(n_pairs, p.m - 1);
        slope = loops(p, newest, n_pairs, gram, coefficient);
        if (!(slope < 0) && n_pairs > 0) {
            n_pairs = 0;
            slope = loops(p, newest, 0, gram, coefficient);
        }
        scalars[FIT_L_PAIRS] = n_pairs;
        scalars[FIT_L_NEWEST] = newest;
        scalars[FIT_L_SLOPE] = slope;
        for (i32 j = 0; j < p.n_rows; j++)
            square += coefficient[j] * along(p, j, gram, coefficient);
        scalars[FIT_L_LENGTH] = sqrt(MAX(square, 0.0));
    }
}

/* x: scalars. */
MAP(fit_lbfgs_combine, VAL(fit_lbfgs_par, p), IN(double, coefficient), IN(real, basis),
    OUT(real, direction))
{
    real t = R(0);

    for (i32 j = 0; j < p.n_rows; j++)
        if (coefficient[j] != 0)
            t += R(coefficient[j]) * basis[(i64)j * p.n + GI];
    direction[GI] = t;
}
