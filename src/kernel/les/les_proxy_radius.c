/* les_proxy_radius.c - scales of features, and the spectral radius of an operator.
 *
 * The radius is the limit of |A^m|^(1/m): the matrix is repeatedly divided by its norm and squared,
 * and the logarithms of the norms add up.
 */
#include "dialect.h"
#include "fold.h"
#include "les_proxy.h"

FN double added(double a, double b)
{
    return a + b;
}

FN double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Deviations, but none below a millionth of the largest; 1 where all are 0. One group. */
GROUP(les_scale, VAL(i32, size), IN(double, deviation), OUT(double, scale))
{
    LOCAL(double, tile, LANES);

    EACH_LANE
    {
        double most = 0.0;

        for (i32 k = LANE; k < size; k += LANES)
            most = larger(most, deviation[k]);
        tile[LANE] = most;
    }
    SYNC;
    FOLD_LANES(tile, larger)
    EACH_LANE
    {
        for (i32 k = LANE; k < size; k += LANES)
            scale[k] = tile[0] > 0.0 ? larger(deviation[k], 1e-6 * tile[0]) : 1.0;
    }
}

/* Sum of squares of chunk GROUP_X. */
GROUP(les_norm_part, VAL(i64, n), IN(double, a), OUT(double, part))
{
    LOCAL(double, tile, LANES);
    const i64 from = (i64)GROUP_X * NORM_CHUNK;
    const i32 count = (i32)MIN(n - from, NORM_CHUNK);

    EACH_LANE
    {
        double sum = 0.0;

        for (i32 k = LANE; k < count; k += LANES)
            sum += a[from + k] * a[from + k];
        tile[LANE] = sum;
    }
    SYNC;
    FOLD_LANES(tile, added)
    EACH_LANE if (LANE == 0) part[GROUP_X] = tile[0];
}

/* Norm number `round`, from 0, in a sequence of matrices that are each the square of the previous
 * one; it gives the radius from the power 2^round. One group. */
GROUP(les_norm_join, VAL(i32, n_chunks), VAL(i32, round), IN(double, part), INOUT(double, state))
{
    LOCAL(double, tile, LANES);

    EACH_LANE
    {
        double sum = 0.0;

        for (i32 k = LANE; k < n_chunks; k += LANES)
            sum += part[k];
        tile[LANE] = sum;
    }
    SYNC;
    FOLD_LANES(tile, added)
    EACH_LANE if (LANE == 0)
    {
        const double norm = sqrt(tile[0]);
        const double log_norm = (round ? 2.0 * state[RADIUS_LOG] : 0.0) + log(norm);

        state[RADIUS_NORM] = norm > 0.0 ? norm : 1.0;
        state[RADIUS_LOG] = log_norm;
        state[RADIUS_VALUE] = exp(log_norm / (double)(1 << round));
    }
}

MAP(les_divide, IN(double, state), IN(double, a), OUT(double, b))
{
    b[gx] = a[gx] / state[RADIUS_NORM];
}

/* Shrinks an operator that grows. */
MAP(les_shrink, IN(double, state), INOUT(double, a))
{
    a[gx] = state[RADIUS_VALUE] > 1.0 ? a[gx] / state[RADIUS_VALUE] : a[gx];
}

MAP(les_constant, VAL(double, value), OUT(double, a))
{
    a[gx] = value;
}
