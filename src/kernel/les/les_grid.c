/* les_grid.c - fields between arrays of n x n cells and the padded rows of the transforms. */
PRECISIONS
#include "dialect.h"
#include "les_sim.h"
#include "les_mode.h"

/* Points are those of padded rows. */
MAP(les_pad, VAL(i32, n), IN(real, field), OUT(real, padded))
{
    padded[((i64)gz * n + gy) * (n + 2) + gx] = field[((i64)gz * n + gy) * n + MIN(gx, n - 1)];
}

MAP(les_unpad, VAL(i32, n), VAL(double, scale), IN(real, padded), OUT(real, field))
{
    field[((i64)gz * n + gy) * n + gx] = (real)scale * padded[((i64)gz * n + gy) * (n + 2) + gx];
}

/* A copy of the state as the first field of work, which goes to the grid. */
MAP(les_lift, VAL(les_par, p), IN(real, s), INOUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);

    les_put(work, at, les_get(s, at));
}

MAP(les_copy, VAL(les_par, p), IN(real, s), OUT(real, to))
{
    const i64 at = les_at(p, gx, gy, gz);

    les_put(to, at, les_get(s, at));
}

/* Clears the modes that dealiasing removes, and the mean where required. */
MAP(les_clean, VAL(les_par, p), VAL(i32, drop_mean), INOUT(real, s))
{
    const i64 at = les_at(p, gx, gy, gz);
    const real mean = drop_mean ? R(0) : R(1);
    const les_mode h = les_kept(p, les_wave_at(p, gx, gy), les_get(s, at));

    les_put(s, at, les_scaled((gx | gy) == 0 ? mean : R(1), h));
}

/* nu_t of the fields e and e + 1 of work on the grid, in its first. */
MAP(les_nut, VAL(les_par, p), VAL(i32, e), INOUT(real, work))
{
    const i64 at = ((i64)gz * p.n + gy) * (p.n + 2) + gx;
    const real scale = (real)p.inv_cells;
    const real first = scale * work[at + e * p.field],
               second = scale * work[at + (e + 1) * p.field];

    work[at] = (real)p.smag * sqrt(first * first + second * second + (real)p.strain_floor);
}

MAP(les_shift, VAL(double, by), INOUT(real, field))
{
    field[GI] = field[GI] + (real)by;
}
