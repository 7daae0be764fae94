/* stats.c - order statistics and moments of timing samples; does not allocate. */
#include "util/stats.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Moves the finite values to the front; returns their number. */
static size_t gather_finite(double *values, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (isfinite(values[i])) {
            const double x = values[i];
            values[i] = values[kept];
            values[kept++] = x;
        }
    }
    return kept;
}

/* a + (b - a) / 2 overflows for huge values of opposite sign, (a + b) / 2 for those of equal
 * sign. */
static double middle(double a, double b)
{
    return a / 2 + b / 2;
}

double qn_sorted_median(const double *sorted, size_t n)
{
    if (n == 0)
        return NAN;
    return n % 2 ? sorted[n / 2] : middle(sorted[n / 2 - 1], sorted[n / 2]);
}

/* The rank is ceil(n pct / 100) in integers, because 0.95 * n in floating point may be just above
 * the true whole number. It is split so that n * pct does not overflow. */
double qn_sorted_rank(const double *sorted, size_t n, unsigned pct)
{
    if (n == 0)
        return NAN;
    size_t rank = n / 100 * pct + (n % 100 * pct + 99) / 100;
    if (rank < 1)
        rank = 1;
    if (rank > n)
        rank = n;
    return sorted[rank - 1];
}

/* Distances from the median grow outwards on both sides, so always stepping to the nearer side
 * visits them in ascending order without a second array. */
static double sorted_mad(const double *sorted, size_t n, double median)
{
    size_t above = 0;
    double last = 0;
    double before_last = 0;

    while (above < n && sorted[above] < median)
        above++;
    size_t below = above;
    for (size_t seen = 0; seen <= n / 2; seen++) {
        const int has_below = below > 0;
        const int has_above = above < n;
        before_last = last;
        if (has_below && (!has_above || median - sorted[below - 1] < sorted[above] - median))
            last = median - sorted[--below];
        else
            last = sorted[above++] - median;
    }
    return n % 2 ? last : middle(before_last, last);
}

qn_stats qn_stats_of(double *values, size_t n)
{
    qn_stats s = {
        .median = NAN, .p90 = NAN, .min = NAN, .max = NAN, .mean = NAN, .stddev = NAN, .mad = NAN
    };
    double square = 0;

    s.n = gather_finite(values, n);
    s.dropped = n - s.n;
    if (s.n == 0)
        return s;
    qsort(values, s.n, sizeof *values, ascending);

    s.median = qn_sorted_median(values, s.n);
    s.p90 = qn_sorted_rank(values, s.n, 90);
    s.min = values[0];
    s.max = values[s.n - 1];
    s.mad = sorted_mad(values, s.n, s.median);

    /* Two passes: subtracting the mean first preserves the digits of a small spread. */
    s.mean = 0;
    for (size_t i = 0; i < s.n; i++)
        s.mean += (values[i] - s.mean) / (double)(i + 1);
    for (size_t i = 0; i < s.n; i++)
        square += (values[i] - s.mean) * (values[i] - s.mean);
    s.stddev = s.n > 1 ? sqrt(square / (double)(s.n - 1)) : 0;
    return s;
}
