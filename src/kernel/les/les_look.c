/* les_look.c - diagnostics of the flow: maxima, sums, the shell spectrum, the clock.
 *
 * A group reduces a row of modes or cells; a second kernel joins the rows of a member. Lanes take
 * elements in order and a tree of fixed shape folds them, always in double precision, so results
 * depend on nothing but the numbers.
 */
PRECISIONS
#include "dialect.h"
#include "fold.h"
#include "les_sim.h"

FN double plus(double a, double b)
{
    return a + b;
}

/* NaN wins. */
FN double larger(double a, double b)
{
    return ((a > b) | (a != a)) ? a : b;
}

/* Every element i of a row of n, lanes side by side: the CPU vectorises the block, which it would
 * not do with a loop within each lane. */
#define EACH_IN_ROW(n)                                                                             \
    for (i32 from = 0; from < (n); from += LANES)                                                  \
    EACH_LANE_BELOW(MIN(LANES, (n)-from))

/* The clock. */

/* Advances by n steps of fixed length. The time is a product, so that grouping does not matter. */
MAP(les_tick, VAL(i32, n_steps), INOUT(double, clock))
{
    const double step = clock[CLOCK_STEP] + n_steps;

    clock[CLOCK_STEP] = step;
    clock[CLOCK_TIME] = step * clock[CLOCK_DT];
}

/* Largest |u| + |v| and nu_t of row GROUP_X of member GROUP_Y, from fields on the grid; E is field
 * number e, D the next. */
GROUP(les_peak_rows, VAL(les_par, p), VAL(i32, e), IN(real, work), OUT(double, part))
{
    LOCAL(double, speed, LANES);
    LOCAL(double, nut, LANES);
    PRIV(double, most);
    PRIV(double, strain);
    const i64 row = ((i64)GROUP_Y * p.n + GROUP_X) * (p.n + 2);
    const i64 out = 2 * ((i64)GROUP_Y * p.n + GROUP_X);

    EACH_LANE
    {
        P(most) = 0;
        P(strain) = 0;
    }
    EACH_IN_ROW(p.n)
    {
        const i64 at = row + from + LANE;
        const double u = p.inv_cells * (double)work[at] + p.mean_u;
        const double v = p.inv_cells * (double)work[at + p.field] + p.mean_v;
        const double a = p.inv_cells * (double)work[at + e * p.field];
        const double b = p.inv_cells * (double)work[at + (e + 1) * p.field];

        P(most) = larger(P(most), fabs(u) + fabs(v));
        P(strain) = larger(P(strain), a * a + b * b);
    }
    EACH_LANE
    {
        speed[LANE] = P(most);
        nut[LANE] = p.smag * sqrt(P(strain) + p.strain_floor);
    }
    SYNC;
    FOLD_LANES(speed, larger)
    FOLD_LANES(nut, larger)
    EACH_LANE if (LANE == 0)
    {
        part[out] = speed[0];
        part[out + 1] = nut[0];
    }
}

/* The largest step for this speed and eddy viscosity. */
FN double largest_step(les_dt_par p, double speed, double nut)
{
    const double advective = p.advective / speed;
    const double diffusive = p.diffusive / ((p.nu0 + nut) * p.k2max + p.rate);

    return fmin(p.dt_max, fmin(advective, diffusive));
}

/* Stores the maxima of all n_rows rows in the clock, and uses them. */
GROUP(les_peak_join, VAL(les_dt_par, p), IN(double, part), INOUT(double, clock))
{
    LOCAL(double, speed, LANES);
    LOCAL(double, nut, LANES);

    EACH_LANE
    {
        double a = 0, b = 0;

        for (i32 k = LANE; k < p.n_rows; k += LANES) {
            a = larger(a, part[2 * k]);
            b = larger(b, part[2 * k + 1]);
        }
        speed[LANE] = a;
        nut[LANE] = b;
    }
    SYNC;
    FOLD_LANES(speed, larger)
    FOLD_LANES(nut, larger)
    EACH_LANE if (LANE == 0)
    {
        const double dt = largest_step(p, speed[0], nut[0]);

        clock[CLOCK_SPEED] = speed[0];
        clock[CLOCK_NUT] = nut[0];
        if (p.use == LES_DT_STEP) {
            clock[CLOCK_DT] = dt;
            clock[CLOCK_TIME] += dt;
            clock[CLOCK_STEP] += 1;
        }
        if (p.use == LES_DT_WATCH && clock[CLOCK_OUTGROWN] < 0 && dt < clock[CLOCK_DT]) {
            clock[CLOCK_OUTGROWN] = clock[CLOCK_STEP];
            clock[CLOCK_LIMIT] = dt;
        }
    }
}

/* Modes that are not finite. */

GROUP(les_check_rows, VAL(i32, n), IN(real, s), OUT(double, part))
{
    LOCAL(double, bad, LANES);
    PRIV(double, count);
    const i64 row = ((i64)GROUP_Y * n + GROUP_X) * (n + 2);

    EACH_LANE P(count) = 0;
    EACH_IN_ROW(n / 2 + 1)
    {
        const i64 at = row + 2 * (from + LANE);
        const real a = s[at], b = s[at + 1];

        P(count) += ((a - a == R(0)) & (b - b == R(0))) ? 0.0 : 1.0;
    }
    EACH_LANE bad[LANE] = P(count);
    SYNC;
    FOLD_LANES(bad, plus)
    EACH_LANE if (LANE == 0) part[(i64)GROUP_Y * n + GROUP_X] = bad[0];
}

GROUP(les_check_join, VAL(i32, n_rows), IN(double, part), INOUT(double, clock))
{
    LOCAL(double, bad, LANES);

    EACH_LANE
    {
        double count = 0;

        for (i32 k = LANE; k < n_rows; k += LANES)
            count += part[k];
        bad[LANE] = count;
    }
    SYNC;
    FOLD_LANES(bad, plus)
    EACH_LANE if (LANE == 0)
    {
        clock[CLOCK_BAD] += bad[0];
        if (bad[0] > 0 && clock[CLOCK_FIRST_BAD] < 0)
            clock[CLOCK_FIRST_BAD] = clock[CLOCK_STEP];
        if (clock[CLOCK_FIRST_BAD] < 0)
            clock[CLOCK_LAST_GOOD] = clock[CLOCK_STEP];
    }
}

/* Rows of the log. */

/* Energy, enstrophy and palinstrophy of row GROUP_X of the spectrum of member GROUP_Y, still to be
 * divided by 2 n^4. */
GROUP(les_sum_modes, VAL(les_par, p), IN(real, s), OUT(double, part))
{
    LOCAL(double, energy, LANES);
    LOCAL(double, enstrophy, LANES);
    LOCAL(double, palinstrophy, LANES);
    PRIV(double, e);
    PRIV(double, z);
    PRIV(double, k);
    const i32 j = GROUP_X, ny = 2 * j <= p.n ? j : j - p.n;
    const i64 row = ((i64)GROUP_Y * p.n + j) * (p.n + 2);
    const i64 out = 3 * ((i64)GROUP_Y * p.n + j);

    EACH_LANE
    {
        P(e) = 0;
        P(z) = 0;
        P(k) = 0;
    }
    EACH_IN_ROW(p.n / 2 + 1)
    {
        const i32 i = from + LANE;
        const double a = (double)s[row + 2 * i], b = (double)s[row + 2 * i + 1];
        const double weight = ((i == 0) | (2 * i == p.n)) ? 1.0 : 2.0;
        const double k2 = p.q * p.q * ((double)i * i + (double)ny * ny);
        const double power = weight * (a * a + b * b);

        P(e) += (i | ny) == 0 ? 0.0 : power / k2;
        P(z) += power;
        P(k) += power * k2;
    }
    EACH_LANE
    {
        energy[LANE] = P(e);
        enstrophy[LANE] = P(z);
        palinstrophy[LANE] = P(k);
    }
    SYNC;
    FOLD_LANES(energy, plus)
    FOLD_LANES(enstrophy, plus)
    FOLD_LANES(palinstrophy, plus)
    EACH_LANE if (LANE == 0)
    {
        part[out] = energy[0];
        part[out + 1] = enstrophy[0];
        part[out + 2] = palinstrophy[0];
    }
}

/* Sums of om, om^2, om^4 and the largest |om| of row GROUP_X of member GROUP_Y. */
GROUP(les_sum_cells, VAL(les_par, p), IN(real, work), OUT(double, part))
{
    LOCAL(double, first, LANES);
    LOCAL(double, second, LANES);
    LOCAL(double, fourth, LANES);
    LOCAL(double, most, LANES);
    PRIV(double, a);
    PRIV(double, b);
    PRIV(double, c);
    PRIV(double, d);
    const i64 row = ((i64)GROUP_Y * p.n + GROUP_X) * (p.n + 2);
    const i64 out = 4 * ((i64)GROUP_Y * p.n + GROUP_X);

    EACH_LANE
    {
        P(a) = 0;
        P(b) = 0;
        P(c) = 0;
        P(d) = 0;
    }
    EACH_IN_ROW(p.n)
    {
        const double om = p.inv_cells * (double)work[row + from + LANE], square = om * om;

        P(a) += om;
        P(b) += square;
        P(c) += square * square;
        P(d) = larger(P(d), fabs(om));
    }
    EACH_LANE
    {
        first[LANE] = P(a);
        second[LANE] = P(b);
        fourth[LANE] = P(c);
        most[LANE] = P(d);
    }
    SYNC;
    FOLD_LANES(first, plus)
    FOLD_LANES(second, plus)
    FOLD_LANES(fourth, plus)
    FOLD_LANES(most, larger)
    EACH_LANE if (LANE == 0)
    {
        part[out] = first[0];
        part[out + 1] = second[0];
        part[out + 2] = fourth[0];
        part[out + 3] = most[0];
    }
}

/* Column `column` of `width` of the rows of member m, added up in lanes. */
#define SUM_ROWS(tile, source, width, column)                                                      \
    EACH_LANE                                                                                      \
    {                                                                                              \
        double t = 0;                                                                              \
                                                                                                   \
        for (i32 k = LANE; k < p.n; k += LANES)                                                    \
            t += source[(width) * ((i64)GROUP_X * p.n + k) + (column)];                            \
        tile[LANE] = t;                                                                            \
    }                                                                                              \
    SYNC;                                                                                          \
    FOLD_LANES(tile, plus)

/* The row of member GROUP_X. Log: one row with the number of rows in it, then rows by member. */
GROUP(les_log_row, VAL(les_par, p), VAL(i32, n_rows), IN(double, modes), IN(double, cells),
      IN(double, clock), INOUT(double, log_rows))
{
    LOCAL(double, energy, LANES);
    LOCAL(double, enstrophy, LANES);
    LOCAL(double, palinstrophy, LANES);
    LOCAL(double, first, LANES);
    LOCAL(double, second, LANES);
    LOCAL(double, fourth, LANES);
    LOCAL(double, most, LANES);

    SUM_ROWS(energy, modes, 3, 0)
    SUM_ROWS(enstrophy, modes, 3, 1)
    SUM_ROWS(palinstrophy, modes, 3, 2)
    SUM_ROWS(first, cells, 4, 0)
    SUM_ROWS(second, cells, 4, 1)
    SUM_ROWS(fourth, cells, 4, 2)
    EACH_LANE
    {
        double t = 0;

        for (i32 k = LANE; k < p.n; k += LANES)
            t = larger(t, cells[4 * ((i64)GROUP_X * p.n + k) + 3]);
        most[LANE] = t;
    }
    SYNC;
    FOLD_LANES(most, larger)
    EACH_LANE if (LANE == 0)
    {
        const i64 row = (i64)log_rows[0];
        const i64 out = LES_LOG_WORDS * (1 + row * p.members + GROUP_X);
        const double norm = 0.5 * p.inv_cells * p.inv_cells;
        const double square = p.inv_cells * second[0];

        if (row < n_rows) {
            log_rows[out] = clock[CLOCK_STEP];
            log_rows[out + 1] = clock[CLOCK_TIME];
            log_rows[out + 2] = norm * energy[0];
            log_rows[out + 3] = norm * enstrophy[0];
            log_rows[out + 4] = norm * palinstrophy[0];
            log_rows[out + 5] = most[0];
            log_rows[out + 6] = p.inv_cells * first[0];
            log_rows[out + 7] = square > 0 ? p.inv_cells * fourth[0] / (square * square) : 0.0;
        }
    }
}

MAP(les_log_next, VAL(i32, n_rows), INOUT(double, log_rows))
{
    log_rows[0] += log_rows[0] < n_rows ? 1.0 : 0.0;
}

/* The shell spectrum. */

/* Energy of shell GROUP_X of one member: rint(|k|) is b where b^2 - b < n2 <= b^2 + b, since
 * (b - 1/2)^2 and (b + 1/2)^2 lie a quarter above these integers. Lanes take rows, and of each the
 * few modes within the shell. */
GROUP(les_shells, VAL(les_par, p), VAL(i32, member), IN(real, s), OUT(double, shells))
{
    LOCAL(double, energy, LANES);
    const i32 b = GROUP_X, inner = b > 0 ? b * b - b + 1 : 0, outer = b * b + b;
    const double scale = 0.5 * p.inv_cells * p.inv_cells / (p.q * p.q);

    EACH_LANE
    {
        double sum = 0;

        for (i32 j = LANE; j < p.n; j += LANES) {
            const i32 ny = 2 * j <= p.n ? j : j - p.n, y2 = ny * ny;
            const i64 row = ((i64)member * p.n + j) * (p.n + 2);
            i32 i = inner > y2 ? (i32)sqrt((double)(inner - y2)) : 0;

            for (; 2 * i <= p.n && i * i + y2 <= outer; i++) {
                const i32 n2 = i * i + y2;
                const double re = (double)s[row + 2 * i], im = (double)s[row + 2 * i + 1];
                const double weight = i == 0 || 2 * i == p.n ? 1.0 : 2.0;

                if (n2 >= inner && n2 > 0)
                    sum += weight * (re * re + im * im) / n2;
            }
        }
        energy[LANE] = sum;
    }
    SYNC;
    FOLD_LANES(energy, plus)
    EACH_LANE if (LANE == 0) shells[b] = scale * energy[0];
}
