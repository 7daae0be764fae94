/* fit_reduced.c - the reduced system of kept blocks as a block-sparse matrix, and conjugate
 * gradients on it with two launches per iteration.
 *
 * S = B - sum over points of E C^-1 E'. With Y = E L^-T and C = L L', a block of S is a sum of Y Y'
 * over the pairs of entries that share a point. The lists of pairs are made once and divided into
 * chunks. Both triangles are stored, so that each row has one owner.
 *
 * No iteration waits for a scalar: every group of the next launch adds up the partial dot products
 * itself, in a fixed order, and the first group stores the result.
 */
PRECISIONS
#define LANES 128
#include "dialect.h"
#include "fit_reduced.h"
#include "fit_schur.h"
#include "fit_solve.h"
#include "fold.h"

/* The matrix. */

FN real j_at(i64 cell, i64 i, GLOBAL const i64 *at, GLOBAL const real *factor,
             GLOBAL const real *jacobian)
{
    return at[cell] < 0 ? factor[cell] : factor[cell] * jacobian[at[cell] + i];
}

/* Y of one entry, [scalar of the point][scalar]: first h = J_p L^-T, then J_c' h. */
FN void half_of(i32 rows, i32 point_dim, fit_reduced_par p, i64 e, u32 point, i64 l, i64 cell,
                i64 instance, GLOBAL const i64 *at, GLOBAL const real *factor,
                GLOBAL const real *jacobian, GLOBAL const real *packed, GLOBAL const real *active,
                GLOBAL const real *cholesky, GLOBAL real *halves)
{
    real h[FIT_SCHUR_ROWS * FIT_SCHUR_DIM];

    for (i32 r = 0; r < rows; r++)
        for (i32 i = 0; i < point_dim; i++) {
            real s = active[point + i] *
                     j_at(cell + (i64)r * p.stride + i, instance, at, factor, jacobian);

            for (i32 j = 0; j < i; j++)
                s -= cholesky[l + i * point_dim + j] * h[r * point_dim + j];
            h[r * point_dim + i] = s / cholesky[l + i * point_dim + i];
        }
    for (i32 c = 0; c < p.dim; c++)
        for (i32 i = 0; i < point_dim; i++) {
            real t = R(0);

            for (i32 r = 0; r < rows; r++)
                t += packed[(i64)(r * p.dim + c) * p.n + e] * h[r * point_dim + i];
            halves[(e * point_dim + i) * p.dim + c] = t;
        }
}

/* x: entries of the kept set; those without a point (point[k] is 0xffffffff) are in no pair. Terms
 * of two rows with points of 3 numbers have loops of fixed length. */
MAP(fit_reduced_half, VAL(fit_reduced_par, p), IN(u32, point), IN(i64, point_at),
    IN(u32, point_place), IN(u32, instance), IN(i64, at), IN(real, factor), IN(real, jacobian),
    IN(real, packed), IN(real, active), IN(real, cholesky), INOUT(real, halves))
{
    const i64 cell = (i64)point_place[GI] * p.rows * p.stride;

    if (point[GI] != 0xffffffffu && p.rows == 2 && p.point_dim == 3)
        half_of(2, 3, p, GI, point[GI], point_at[GI], cell, instance[GI], at, factor, jacobian,
                packed, active, cholesky, halves);
    else if (point[GI] != 0xffffffffu)
        half_of(p.rows, p.point_dim, p, GI, point[GI], point_at[GI], cell, instance[GI], at, factor,
                jacobian, packed, active, cholesky, halves);
}

/* x: chunks of pairs. Sums of Y Y', with a lane for each number of the block. */
GROUP(fit_reduced_pairs, VAL(fit_reduced_par, p), IN(i64, from), IN(i64, to), IN(u32, left),
      IN(u32, right), IN(real, halves), OUT(real, sums))
{
    EACH_LANE
    {
        const i32 all = p.dim * p.dim, apart = p.dim * p.point_dim;

        for (i32 c = LANE; c < all; c += LANES) {
            const i32 i = c / p.dim, j = c - i * p.dim;
            real t = R(0);

            for (i64 k = from[GROUP_X]; k < to[GROUP_X]; k++)
                for (i32 m = 0; m < apart; m += p.dim)
                    t += halves[(i64)left[k] * apart + m + i] *
                         halves[(i64)right[k] * apart + m + j];
            sums[(i64)GROUP_X * all + c] = t;
        }
    }
}

#define CAMERA 9
#define TILE   3 /* a lane holds 3 x 3 numbers of the block, so that it reads less than it adds */
#define TEAMS  (LANES / CAMERA)

/* x: chunks of pairs. Sums of Y Y' for cameras of 9 numbers and points of 3: nine lanes compute a
 * block, and each team of nine takes every TEAMS-th pair. */
GROUP(fit_reduced_pairs_9, VAL(fit_reduced_par, p), IN(i64, from), IN(i64, to), IN(u32, left),
      IN(u32, right), IN(real, halves), OUT(real, sums))
{
    LOCAL(real, tile, LANES * CAMERA);

    EACH_LANE
    {
        const i32 team = LANE / CAMERA, own = LANE - team * CAMERA;
        const i32 i = own / TILE * TILE, j = own % TILE * TILE;
        const i64 end = team < TEAMS ? to[GROUP_X] : 0;
        real t[CAMERA] = { R(0) };

        for (i64 k = from[GROUP_X] + team; k < end; k += TEAMS) {
            GLOBAL const real *a = halves + (i64)left[k] * (CAMERA * TILE) + i;
            GLOBAL const real *b = halves + (i64)right[k] * (CAMERA * TILE) + j;

            for (i32 m = 0; m < CAMERA * TILE; m += CAMERA)
                for (i32 x = 0; x < TILE; x++)
                    for (i32 y = 0; y < TILE; y++)
                        t[x * TILE + y] += a[m + x] * b[m + y];
        }
        for (i32 x = 0; x < CAMERA; x++)
            tile[LANE * CAMERA + x] = t[x];
    }
    SYNC;
    EACH_LANE if (LANE < CAMERA * CAMERA)
    {
        const i32 i = LANE / CAMERA, j = LANE - i * CAMERA;
        const i32 own = i / TILE * TILE + j / TILE, at = i % TILE * TILE + j % TILE;
        real t = R(0);

        for (i32 team = 0; team < TEAMS; team++)
            t += tile[(team * CAMERA + own) * CAMERA + at];
        sums[(i64)GROUP_X * (CAMERA * CAMERA) + LANE] = t;
    }
    (void)p;
}

/* x: blocks of the lower triangle, y: numbers of a block. S, scaled and damped, at `where` and
 * transposed at `mirror`; diagonal blocks are also written unscaled to `diagonal`. */
MAP(fit_reduced_join, VAL(fit_reduced_par, p), IN(i64, begin), IN(real, sums), IN(u32, row),
    IN(u32, column), IN(u32, where), IN(u32, mirror), IN(real, blocks), IN(real, active),
    IN(real, damping), INOUT(real, diagonal), INOUT(real, matrix))
{
    const i32 all = p.dim * p.dim, i = gy / p.dim, j = gy - i * p.dim;
    const i32 is_diagonal = row[gx] == column[gx];
    const i64 square = p.first_at + (i64)row[gx] * all + gy;
    const i64 a = p.first + (i64)row[gx] * p.dim + i, b = p.first + (i64)column[gx] * p.dim + j;
    real t = is_diagonal ? blocks[square] : R(0);

    for (i64 c = begin[gx]; c < begin[gx + 1]; c++)
        t -= sums[c * all + gy];
    if (is_diagonal)
        diagonal[square] = t;
    t *= active[a] * active[b];
    if (is_diagonal && i == j)
        t += damping[a];
    matrix[(i64)where[gx] * all + j * p.dim + i] = t;
    if (!is_diagonal)
        matrix[(i64)mirror[gx] * all + i * p.dim + j] = t;
}

/* x: blocks, y: columns. (L L')^-1 from L. */
MAP(fit_reduced_inverse, VAL(fit_reduced_par, p), IN(real, cholesky), INOUT(real, inverse))
{
    GLOBAL const real *l = cholesky + p.first_at + (i64)gx * p.dim * p.dim;
    GLOBAL real *z = inverse + ((i64)gx * p.dim + gy) * p.dim;

    for (i32 i = 0; i < p.dim; i++) {
        real s = i == gy ? R(1) : R(0);

        for (i32 j = 0; j < i; j++)
            s -= l[i * p.dim + j] * z[j];
        z[i] = s / l[i * p.dim + i];
    }
    for (i32 i = p.dim - 1; i >= 0; i--) {
        real s = z[i];

        for (i32 j = i + 1; j < p.dim; j++)
            s -= l[j * p.dim + i] * z[j];
        z[i] = s / l[i * p.dim + i];
    }
}

/* Conjugate gradients. */

/* Rows of S x, lane by lane: lane part * dim + i takes every (LANES / dim)-th entry of row i. */
FN real part_of_row(i32 dim, i32 lane, i64 from, i64 to, real beta, GLOBAL const u32 *column,
                    GLOBAL const real *matrix, GLOBAL const real *z, GLOBAL const real *before)
{
    const i32 apart = LANES / dim, i = lane % dim;
    real t = R(0);

    for (i64 k = from + lane / dim; lane < apart * dim && k < to; k += apart) {
        const i64 at = (i64)column[k] * dim;

        for (i32 j = 0; j < dim; j++)
            t += matrix[(k * dim + j) * dim + i] * (z[at + j] + beta * before[at + j]);
    }
    return t;
}

/* Rows of S x for cameras of 9 numbers, with loops of fixed length. */
FN real row_part(i32 dim, i32 lane, i64 from, i64 to, real beta, GLOBAL const u32 *column,
                 GLOBAL const real *matrix, GLOBAL const real *z, GLOBAL const real *before)
{
    return dim == 9 ? part_of_row(9, lane, from, to, beta, column, matrix, z, before)
                    : part_of_row(dim, lane, from, to, beta, column, matrix, z, before);
}

/* Adds the four sums of all parts into lane 0 of each quarter of `fold`. */
#define FOLD_DOTS(p, sums, fold)                                                                   \
    EACH_LANE                                                                                      \
    {                                                                                              \
        double all[FIT_REDUCED_DOTS] = { 0, 0, 0, 0 };                                             \
                                                                                                   \
        for (i32 k = LANE; k < (p).n_parts; k += LANES)                                            \
            for (i32 d = 0; d < FIT_REDUCED_DOTS; d++)                                             \
                all[d] += sums[k * FIT_REDUCED_DOTS + d];                                          \
        for (i32 d = 0; d < FIT_REDUCED_DOTS; d++)                                                 \
            fold[d * LANES + LANE] = all[d];                                                       \
    }                                                                                              \
    SYNC;                                                                                          \
    FOLD_FOUR(fold)

#define FOLD_FOUR(fold)                                                                            \
    FOLD_TREE(fold[LANE] += fold[LANE + w]; fold[LANES + LANE] += fold[LANES + LANE + w];          \
              fold[2 * LANES + LANE] += fold[2 * LANES + LANE + w];                                \
              fold[3 * LANES + LANE] += fold[3 * LANES + LANE + w];)

/* Decides from the sums whether the previous iteration was the last, and computes beta. The first
 * iteration sets the goal from b.b. */
FN void judge(GLOBAL const double *state, GLOBAL const double *control, double rz, double rr,
              double yb, double yr, double *next)
{
    const i32 n = (i32)state[FIT_R_ITERATIONS];
    const double q = -0.5 * (yb + yr);
    i32 is_done = state[FIT_R_DONE] > 0;

    next[FIT_R_GOAL] = n ? state[FIT_R_GOAL] : control[FIT_C_SMALL] * sqrt(rr);
    if (n && n * (q - state[FIT_R_Q]) / q < control[FIT_C_ETA])
        is_done = 1;
    if (!(sqrt(rr) > next[FIT_R_GOAL]))
        is_done = 1;
    next[FIT_R_BETA] = n ? rz / state[FIT_R_RHO] : 0;
    next[FIT_R_RHO] = rz;
    next[FIT_R_Q] = q;
    next[FIT_R_ITERATIONS] = n;
    next[FIT_R_DONE] = is_done;
    next[FIT_R_FAILED] = state[FIT_R_FAILED];
}

/* x: block rows. Writes p = z + beta p to `after`, q = S p, and p.q of each row. */
GROUP(fit_reduced_product, VAL(fit_reduced_par, p), IN(double, control), IN(double, state),
      IN(double, sums), IN(i64, start), IN(u32, column), IN(real, matrix), IN(real, z),
      IN(real, before), INOUT(real, after), INOUT(real, q), INOUT(double, curvature),
      INOUT(double, noted))
{
    LOCAL(double, fold, FIT_REDUCED_DOTS *LANES);
    LOCAL(double, next, FIT_N_STATE);
    LOCAL(real, tile, LANES);

    FOLD_DOTS(p, sums, fold)
    EACH_LANE if (LANE == 0)
    {
        double now[FIT_N_STATE];

        judge(state, control, fold[0], fold[LANES], fold[2 * LANES], fold[3 * LANES], now);
        for (i32 k = 0; k < FIT_N_STATE; k++) {
            next[k] = now[k];
            if (GROUP_X == 0)
                noted[k] = now[k];
        }
    }
    SYNC;
    if (next[FIT_R_DONE] > 0)
        return;
    EACH_LANE tile[LANE] = row_part(p.dim, LANE, start[GROUP_X], start[GROUP_X + 1],
                                    R(next[FIT_R_BETA]), column, matrix, z, before);
    SYNC;
    EACH_LANE if (LANE < p.dim)
    {
        const i64 at = (i64)GROUP_X * p.dim + LANE;
        const real own = z[at] + R(next[FIT_R_BETA]) * before[at];
        real t = R(0);

        for (i32 k = LANE; k < LANES / p.dim * p.dim; k += p.dim)
            t += tile[k];
        after[at] = own;
        q[at] = t;
        fold[LANE] = (double)own * (double)t;
    }
    SYNC;
    EACH_LANE if (LANE == 0)
    {
        double t = 0;

        for (i32 k = 0; k < p.dim; k++)
            t += fold[k];
        curvature[GROUP_X] = t;
    }
}

/* z = M r of a part, with r in `tile`, and its four dot products; FOLD_FOUR and one store
 * follow. */
#define PART_DOTS(p, tile, inverse, z, y, b, fold)                                                 \
    EACH_LANE                                                                                      \
    {                                                                                              \
        const i32 own = LANE / (p).dim, i = LANE - own * (p).dim;                                  \
        const i64 block = (i64)GROUP_X * (LANES / (p).dim) + own;                                  \
        const i64 at = block * (p).dim + i;                                                        \
        const i32 is_in = own < LANES / (p).dim && block < (p).n_blocks;                           \
        real t = R(0);                                                                             \
                                                                                                   \
        for (i32 j = 0; is_in && j < (p).dim; j++)                                                 \
            t += inverse[(block * (p).dim + j) * (p).dim + i] * tile[own * (p).dim + j];           \
        fold[LANE] = is_in ? (double)tile[LANE] * (double)t : 0;                                   \
        fold[LANES + LANE] = is_in ? (double)tile[LANE] * (double)tile[LANE] : 0;                  \
        fold[2 * LANES + LANE] = is_in ? (double)y[at] * (double)b[at] : 0;                        \
        fold[3 * LANES + LANE] = is_in ? (double)y[at] * (double)tile[LANE] : 0;                   \
        if (is_in)                                                                                 \
            z[at] = t;                                                                             \
    }                                                                                              \
    SYNC;                                                                                          \
    FOLD_FOUR(fold)                                                                                \
    EACH_LANE if (LANE < FIT_REDUCED_DOTS) sums[GROUP_X * FIT_REDUCED_DOTS + LANE] =               \
        fold[LANE * LANES];

/* x: parts. y += alpha p, r -= alpha q, z = M r. If the curvature is not positive, the iteration
 * ends with the solution so far, which is 0 in the first. */
GROUP(fit_reduced_step, VAL(fit_reduced_par, p), IN(double, state), IN(double, curvature),
      IN(real, inverse), IN(real, b), IN(real, direction), IN(real, q), INOUT(real, y),
      INOUT(real, r), INOUT(real, z), INOUT(double, sums), INOUT(double, noted))
{
    LOCAL(double, fold, FIT_REDUCED_DOTS *LANES);
    LOCAL(double, next, 2); /* alpha; whether the iteration has ended */
    LOCAL(real, tile, LANES);

    EACH_LANE
    {
        double t = 0;

        for (i32 k = LANE; k < p.n_blocks; k += LANES)
            t += curvature[k];
        fold[LANE] = t;
    }
    SYNC;
    FOLD_TREE(fold[LANE] += fold[LANE + w];)
    EACH_LANE if (LANE == 0)
    {
        const i32 is_bad = !(fold[0] > 0), was_done = state[FIT_R_DONE] > 0;

        next[0] = is_bad ? 0 : state[FIT_R_RHO] / fold[0];
        next[1] = is_bad || was_done;
        for (i32 k = 0; GROUP_X == 0 && k < FIT_N_STATE; k++)
            noted[k] = state[k];
        if (GROUP_X == 0 && !was_done) {
            noted[FIT_R_DONE] = is_bad;
            noted[FIT_R_FAILED] = is_bad && !(state[FIT_R_ITERATIONS] > 0);
            noted[FIT_R_ITERATIONS] = state[FIT_R_ITERATIONS] + !is_bad;
        }
    }
    SYNC;
    if (next[1] > 0)
        return;
    EACH_LANE
    {
        const i32 own = LANE / p.dim;
        const i64 block = (i64)GROUP_X * (LANES / p.dim) + own;
        const i64 at = block * p.dim + LANE - own * p.dim;

        tile[LANE] = R(0);
        if (own < LANES / p.dim && block < p.n_blocks) {
            const real rest = r[at] - R(next[0]) * q[at];

            y[at] += R(next[0]) * direction[at];
            r[at] = rest;
            tile[LANE] = rest;
        }
    }
    SYNC;
    PART_DOTS(p, tile, inverse, z, y, b, fold)
}

/* x: parts. z and the dot products of a new r; at the start y is 0, r is b, p is 0. */
GROUP(fit_reduced_begin, VAL(fit_reduced_par, p), VAL(i32, is_first), IN(real, inverse),
      IN(real, b), INOUT(real, y), INOUT(real, r), INOUT(real, z), INOUT(real, direction),
      INOUT(double, sums), INOUT(double, state))
{
    LOCAL(double, fold, FIT_REDUCED_DOTS *LANES);
    LOCAL(real, tile, LANES);

    EACH_LANE
    {
        const i32 own = LANE / p.dim;
        const i64 block = (i64)GROUP_X * (LANES / p.dim) + own;
        const i64 at = block * p.dim + LANE - own * p.dim;
        const i32 is_in = own < LANES / p.dim && block < p.n_blocks;

        if (is_first && is_in) {
            y[at] = R(0);
            r[at] = b[at];
            direction[at] = R(0);
        }
        tile[LANE] = is_in ? r[at] : R(0);
        if (is_first && GROUP_X == 0 && LANE < FIT_N_STATE)
            state[LANE] = 0;
    }
    SYNC;
    PART_DOTS(p, tile, inverse, z, y, b, fold)
}

/* x: block rows. r = b - S y */
GROUP(fit_reduced_residual, VAL(fit_reduced_par, p), IN(i64, start), IN(u32, column),
      IN(real, matrix), IN(real, b), IN(real, y), INOUT(real, r))
{
    LOCAL(real, tile, LANES);

    EACH_LANE tile[LANE] =
        row_part(p.dim, LANE, start[GROUP_X], start[GROUP_X + 1], R(0), column, matrix, y, y);
    SYNC;
    EACH_LANE if (LANE < p.dim)
    {
        const i64 at = (i64)GROUP_X * p.dim + LANE;
        real t = R(0);

        for (i32 k = LANE; k < LANES / p.dim * p.dim; k += p.dim)
            t += tile[k];
        r[at] = b[at] - t;
    }
}

/* One group: writes the scalars for the host, as the next iteration would compute them. */
GROUP(fit_reduced_show, VAL(fit_reduced_par, p), IN(double, control), IN(double, state),
      IN(double, sums), INOUT(double, scalars))
{
    LOCAL(double, fold, FIT_REDUCED_DOTS *LANES);

    FOLD_DOTS(p, sums, fold)
    EACH_LANE if (LANE == 0)
    {
        double now[FIT_N_STATE];

        judge(state, control, fold[0], fold[LANES], fold[2 * LANES], fold[3 * LANES], now);
        scalars[FIT_S_ITERATIONS] = now[FIT_R_ITERATIONS];
        scalars[FIT_S_DONE] = now[FIT_R_FAILED] > 0 ? 2 : now[FIT_R_DONE];
    }
}
