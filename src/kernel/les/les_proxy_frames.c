/* les_proxy_frames.c - scales encoded frames and restores them. Learning is always in double
 * precision. */
PRECISIONS
#include "dialect.h"
#include "les_proxy.h"

/* Mean and population deviation of every feature over n frames. */
MAP(les_feature, VAL(frames_par, p), IN(real, z), OUT(double, mean), OUT(double, deviation))
{
    double sum = 0.0, square = 0.0;

    for (i32 t = 0; t < p.n; t++)
        sum += (double)z[t * p.pitch + gx];
    const double mu = sum / p.n;
    for (i32 t = 0; t < p.n; t++) {
        const double d = (double)z[t * p.pitch + gx] - mu;

        square += d * d;
    }
    mean[gx] = mu;
    deviation[gx] = sqrt(square / p.n);
}

/* Frames without gaps between them, minus their mean, divided by their scale. */
MAP(les_standardise, VAL(frames_par, p), IN(double, mean), IN(double, scale), IN(real, z),
    OUT(double, y))
{
    y[(i64)gy * p.size + gx] = ((double)z[gy * p.pitch + gx] - mean[gx]) / scale[gx];
}

/* The first vectors of a rollout, and zeros in all others, so that none are uploaded. Points:
 * features, vectors. */
MAP(les_begin, VAL(i32, size), VAL(i32, members), IN(double, mean), IN(double, scale), IN(real, z),
    OUT(real, y))
{
    const i64 at = (i64)gy * size + gx;

    y[at] = gy < members ? (real)(((double)z[at] - mean[gx]) / scale[gx]) : R(0);
}

/* Restores all vectors in place. */
MAP(les_restore, VAL(i32, size), IN(double, mean), IN(double, scale), INOUT(real, y))
{
    const i64 at = (i64)gy * size + gx;

    y[at] = (real)((double)y[at] * scale[gx] + mean[gx]);
}

/* An operator, transposed, in run precision. */
MAP(les_transpose, VAL(i32, size), IN(double, a), OUT(real, b))
{
    b[(i64)gy * size + gx] = (real)a[(i64)gx * size + gy];
}
