/* fit_schur.c - the reduced system of kept blocks, where eliminated blocks are processed one by
 * one.
 *
 * J is stored and packed once, in the order of the lists. Eliminated blocks (points) have short
 * lists: one item processes the list of a block. Kept blocks (cameras) have long ones: 32 lanes
 * read adjacent entries, a tree joins the lanes, and one item joins the chunks. The order of
 * additions depends only on the lists.
 */
PRECISIONS
#define LANES 32
#include "dialect.h"
#include "fit_schur.h"

FN real j_at(i64 cell, i64 i, GLOBAL const i64 *at, GLOBAL const real *factor,
             GLOBAL const real *jacobian)
{
    return at[cell] < 0 ? factor[cell] : factor[cell] * jacobian[at[cell] + i];
}

/* Eliminated blocks. */

/* x: entries of a set. J in their order, with all numbers of an entry together, so that an item
 * reads one contiguous run for its block. */
MAP(fit_schur_pack_points, VAL(fit_schur_par, p), IN(u32, place), IN(u32, instance), IN(i64, at),
    IN(real, factor), IN(real, jacobian), OUT(real, packed))
{
    for (i32 r = 0; r < p.rows; r++)
        for (i32 c = 0; c < p.dim; c++)
            packed[(GI * p.rows + r) * p.dim + c] = j_at(
                ((i64)place[GI] * p.rows + r) * p.stride + c, instance[GI], at, factor, jacobian);
}

/* x: blocks of a set. J'J of each, and J' r. */
MAP(fit_schur_point, VAL(fit_schur_par, p), IN(i64, start), IN(u32, place), IN(u32, instance),
    IN(i64, row_at), IN(real, packed), IN(real, rows), IN(u8, is_fixed), INOUT(real, blocks),
    INOUT(real, gradient))
{
    real square[FIT_SCHUR_DIM * FIT_SCHUR_DIM], g[FIT_SCHUR_DIM];
    const i64 first = p.first + GI * p.dim;

    for (i32 c = 0; c < p.dim * p.dim; c++)
        square[c] = R(0);
    for (i32 c = 0; c < p.dim; c++)
        g[c] = R(0);
    for (i64 k = start[GI]; k < start[GI + 1]; k++)
        for (i32 r = 0; r < p.rows; r++) {
            const i64 row = (i64)place[k] * p.rows + r;
            const real u = row_at[row] < 0 ? R(0) : rows[row_at[row] + instance[k]];

            for (i32 a = 0; a < p.dim; a++) {
                const real j = packed[(k * p.rows + r) * p.dim + a];

                g[a] += j * u;
                for (i32 b = 0; b <= a; b++)
                    square[a * p.dim + b] += j * packed[(k * p.rows + r) * p.dim + b];
            }
        }
    for (i32 a = 0; a < p.dim; a++) {
        gradient[first + a] = is_fixed[first + a] ? R(0) : g[a];
        for (i32 b = 0; b <= a; b++) {
            const i32 is_off = is_fixed[first + a] || is_fixed[first + b];
            const i64 from = p.first_at + GI * p.dim * p.dim;

            blocks[from + a * p.dim + b] = is_off ? R(0) : square[a * p.dim + b];
            blocks[from + b * p.dim + a] = is_off ? R(0) : square[a * p.dim + b];
        }
    }
}

/* z += J' rows, of entry k. */
FN void add_entry(fit_schur_par p, i64 k, GLOBAL const u32 *place, GLOBAL const u32 *instance,
                  GLOBAL const i64 *row_at, GLOBAL const real *packed, GLOBAL const real *rows,
                  real *z)
{
    for (i32 r = 0; r < p.rows; r++) {
        const i64 row = (i64)place[k] * p.rows + r;
        const real u = row_at[row] < 0 ? R(0) : rows[row_at[row] + instance[k]];

        for (i32 c = 0; c < p.dim; c++)
            z[c] += u * packed[(k * p.rows + r) * p.dim + c];
    }
}

/* z becomes C^-1 S z, by the Cholesky factor of C; S selects active scalars. */
FN void solve_block(i32 dim, GLOBAL const real *l, GLOBAL const real *active, real *z)
{
    for (i32 i = 0; i < dim; i++) {
        real s = z[i] * active[i];

        for (i32 j = 0; j < i; j++)
            s -= l[i * dim + j] * z[j];
        z[i] = s / l[i * dim + i];
    }
    for (i32 i = dim - 1; i >= 0; i--) {
        real s = z[i];

        for (i32 j = i + 1; j < dim; j++)
            s -= l[j * dim + i] * z[j];
        z[i] = s / l[i * dim + i];
    }
}

/* x: blocks of a set. C^-1 S g, or C^-1 S (g + J' rows), by sign and scale. */
MAP(fit_schur_points, VAL(fit_schur_par, p), IN(i64, start), IN(u32, place), IN(u32, instance),
    IN(i64, row_at), IN(real, packed), IN(real, rows), IN(real, gradient), IN(real, active),
    IN(real, cholesky), INOUT(real, out))
{
    real z[FIT_SCHUR_DIM];
    const i64 first = p.first + GI * p.dim, l = p.first_at + GI * p.dim * p.dim;

    for (i32 c = 0; c < p.dim; c++)
        z[c] = gradient[first + c];
    for (i64 k = start[GI]; p.kind == FIT_SCHUR_BOTH && k < start[GI + 1]; k++)
        add_entry(p, k, place, instance, row_at, packed, rows, z);
    solve_block(p.dim, cholesky + l, active + first, z);
    for (i32 i = 0; i < p.dim; i++)
        out[first + i] = R(p.sign) * (p.is_scaled ? active[first + i] * z[i] : z[i]);
}

/* x: blocks of a set. rows -= J_p S C^-1 S J_p' rows, for the instances of each block. */
MAP(fit_schur_reduce, VAL(fit_schur_par, p), IN(i64, start), IN(u32, place), IN(u32, instance),
    IN(i64, row_at), IN(real, packed), IN(real, active), IN(real, cholesky), INOUT(real, rows))
{
    real z[FIT_SCHUR_DIM];
    const i64 first = p.first + GI * p.dim, l = p.first_at + GI * p.dim * p.dim;
    const i64 from = start[GI], to = start[GI + 1];

    for (i32 c = 0; c < p.dim; c++)
        z[c] = R(0);
    for (i64 k = from; k < to; k++)
        add_entry(p, k, place, instance, row_at, packed, rows, z);
    solve_block(p.dim, cholesky + l, active + first, z);
    for (i32 c = 0; c < p.dim; c++)
        z[c] *= active[first + c];
    for (i64 k = from; k < to; k++)
        for (i32 r = 0; r < p.rows; r++) {
            const i64 row = (i64)place[k] * p.rows + r;
            real u = R(0);

            for (i32 c = 0; c < p.dim; c++)
                u += z[c] * packed[(k * p.rows + r) * p.dim + c];
            if (row_at[row] >= 0)
                rows[row_at[row] + instance[k]] -= u;
        }
}

/* Kept blocks. */

/* x: entries of a set. J in their order, [row][component][entry]. */
MAP(fit_schur_pack, VAL(fit_schur_par, p), IN(u32, place), IN(u32, instance), IN(i64, at),
    IN(real, factor), IN(real, jacobian), OUT(real, packed))
{
    for (i32 r = 0; r < p.rows; r++)
        for (i32 c = 0; c < p.dim; c++)
            packed[(i64)(r * p.dim + c) * p.n + GI] = j_at(
                ((i64)place[GI] * p.rows + r) * p.stride + c, instance[GI], at, factor, jacobian);
}

/* x: entries of a set. A row vector in their order. */
MAP(fit_schur_rows, VAL(fit_schur_par, p), IN(u32, place), IN(u32, instance), IN(i64, row_at),
    IN(real, rows), OUT(real, out))
{
    for (i32 r = 0; r < p.rows; r++) {
        const i64 from = row_at[(i64)place[GI] * p.rows + r];

        out[(i64)r * p.n + GI] = from < 0 ? R(0) : rows[from + instance[GI]];
    }
}

/* x: entries of a set. I - J_p C^-1 J_p', [row][row][entry], J_p of the eliminated block of the
 * same instance; I if it has none (point[k] is 0xffffffff). */
MAP(fit_schur_weights, VAL(fit_schur_par, p), IN(u32, point), IN(i64, point_at),
    IN(u32, point_place), IN(u32, instance), IN(i64, at), IN(real, factor), IN(real, jacobian),
    IN(real, active), IN(real, cholesky), OUT(real, weights))
{
    real h[FIT_SCHUR_ROWS * FIT_SCHUR_DIM];
    const u32 from = point[GI];
    const i64 l = point_at[GI];
    const i32 dim = from == 0xffffffffu ? 0 : p.dim;

    for (i32 r = 0; r < p.rows; r++)
        for (i32 i = 0; i < dim; i++) {
            real s = active[from + i] * j_at(((i64)point_place[GI] * p.rows + r) * p.stride + i,
                                             instance[GI], at, factor, jacobian);

            for (i32 j = 0; j < i; j++)
                s -= cholesky[l + i * dim + j] * h[r * dim + j];
            h[r * dim + i] = s / cholesky[l + i * dim + i];
        }
    for (i32 r = 0; r < p.rows; r++)
        for (i32 s = 0; s < p.rows; s++) {
            real t = r == s ? R(1) : R(0);

            for (i32 i = 0; i < dim; i++)
                t -= h[r * dim + i] * h[s * dim + i];
            weights[(i64)(r * p.rows + s) * p.n + GI] = t;
        }
}

/* x: chunks of lists, y: components. J' u of a chunk. */
GROUP(fit_schur_sum, VAL(fit_schur_par, p), IN(i64, from), IN(i64, to), IN(real, packed),
      IN(real, u), INOUT(real, sums))
{
    LOCAL(real, tile, LANES);

    EACH_LANE
    {
        real t = R(0);

        for (i64 k = from[GROUP_X] + LANE; k < to[GROUP_X]; k += LANES)
            for (i32 r = 0; r < p.rows; r++)
                t += packed[(i64)(r * p.dim + GROUP_Y) * p.n + k] * u[(i64)r * p.n + k];
        tile[LANE] = t;
    }
    SYNC;
    for (i32 w = LANES / 2; w > 0; w /= 2) {
        EACH_LANE if (LANE < w) tile[LANE] += tile[LANE + w];
        SYNC;
    }
    EACH_LANE if (LANE == 0) sums[(i64)GROUP_Y * p.n_chunks + GROUP_X] = tile[0];
}

#define CAMERA 9

/* x: chunks of lists. J' u for blocks of 9 numbers, all at once and with rows read in place; the
 * order of additions is the same. */
GROUP(fit_schur_sum_9, VAL(fit_schur_par, p), IN(i64, from), IN(i64, to), IN(u32, place),
      IN(u32, instance), IN(i64, row_at), IN(real, packed), IN(real, rows), INOUT(real, sums))
{
    LOCAL(real, tile, LANES);
    PRIV(real, t[CAMERA]);

    EACH_LANE
    {
        for (i32 c = 0; c < CAMERA; c++)
            P(t[c]) = R(0);
        for (i64 k = from[GROUP_X] + LANE; k < to[GROUP_X]; k += LANES)
            for (i32 r = 0; r < p.rows; r++) {
                const i64 at = row_at[(i64)place[k] * p.rows + r];
                const real u = at < 0 ? R(0) : rows[at + instance[k]];

                for (i32 c = 0; c < CAMERA; c++)
                    P(t[c]) += packed[(i64)(r * CAMERA + c) * p.n + k] * u;
            }
    }
    for (i32 c = 0; c < CAMERA; c++) {
        SYNC;
        EACH_LANE tile[LANE] = P(t[c]);
        SYNC;
        for (i32 w = LANES / 2; w > 0; w /= 2) {
            EACH_LANE if (LANE < w) tile[LANE] += tile[LANE + w];
            SYNC;
        }
        EACH_LANE if (LANE == 0) sums[(i64)c * p.n_chunks + GROUP_X] = tile[0];
    }
}

/* x: blocks, y: components; block b has the chunks begin[b] .. begin[b + 1] - 1. */
MAP(fit_schur_join, VAL(fit_schur_par, p), IN(i64, begin), IN(real, sums), IN(u8, is_fixed),
    INOUT(real, out))
{
    const i64 k = p.first + (i64)gx * p.dim + gy;
    real t = R(0);

    for (i64 c = begin[gx]; c < begin[gx + 1]; c++)
        t += sums[(i64)gy * p.n_chunks + c];
    out[k] = is_fixed[k] ? R(0) : t;
}

/* x: chunks of lists, y: pairs of components, the lower triangle by rows. J' W J of a chunk; kind
 * 1: W is I. */
GROUP(fit_schur_square, VAL(fit_schur_par, p), IN(i64, from), IN(i64, to), IN(real, packed),
      IN(real, weights), INOUT(real, sums))
{
    LOCAL(real, tile, LANES);
    i32 a = 0;

    while ((a + 1) * (a + 2) / 2 <= GROUP_Y)
        a++;
    EACH_LANE
    {
        const i64 ca = (i64)a * p.n, cb = (i64)(GROUP_Y - a * (a + 1) / 2) * p.n;
        real t = R(0);

        for (i64 k = from[GROUP_X] + LANE; k < to[GROUP_X]; k += LANES)
            for (i32 r = 0; r < p.rows; r++) {
                const real j = packed[(i64)r * p.dim * p.n + ca + k];

                if (p.kind)
                    t += j * packed[(i64)r * p.dim * p.n + cb + k];
                for (i32 s = 0; !p.kind && s < p.rows; s++)
                    t += j * weights[(i64)(r * p.rows + s) * p.n + k] *
                         packed[(i64)s * p.dim * p.n + cb + k];
            }
        tile[LANE] = t;
    }
    SYNC;
    for (i32 w = LANES / 2; w > 0; w /= 2) {
        EACH_LANE if (LANE < w) tile[LANE] += tile[LANE + w];
        SYNC;
    }
    EACH_LANE if (LANE == 0) sums[(i64)GROUP_Y * p.n_chunks + GROUP_X] = tile[0];
}

/* x: blocks, y: pairs of components. */
MAP(fit_schur_join_square, VAL(fit_schur_par, p), IN(i64, begin), IN(real, sums), IN(u8, is_fixed),
    INOUT(real, blocks))
{
    const i64 at = p.first_at + (i64)gx * p.dim * p.dim, first = p.first + (i64)gx * p.dim;
    i32 a = 0, b;
    real t = R(0);

    while ((a + 1) * (a + 2) / 2 <= gy)
        a++;
    b = gy - a * (a + 1) / 2;
    for (i64 c = begin[gx]; c < begin[gx + 1]; c++)
        t += sums[(i64)gy * p.n_chunks + c];
    if (is_fixed[first + a] || is_fixed[first + b])
        t = R(0);
    blocks[at + a * p.dim + b] = t;
    blocks[at + b * p.dim + a] = t;
}

/* x: kept scalars. b += S q */
MAP(fit_schur_right, IN(real, active), IN(real, q), INOUT(real, b))
{
    b[GI] += active[GI] * q[GI];
}
