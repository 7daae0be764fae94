/* dense.c - Cholesky, plain and by panels.
 *
 * A panel of QN_FIT_PANEL columns is factored, copied transposed, and subtracted from the columns
 * to its right, row by row: the inner loop runs along rows and vectorises without changing the
 * order of any sum.
 */
#include "domain/fit/linear/dense.h"

#include <math.h>

#include "kernel/dialect.h"
#include "util/status.h"

int qn_fit_chol_small(int n, double *a)
{
    for (int j = 0; j < n; j++) {
        double d = a[j * n + j];

        for (int k = 0; k < j; k++)
            d -= a[j * n + k] * a[j * n + k];
        if (!(d > 0) || !isfinite(d))
            return 0;
        a[j * n + j] = sqrt(d);
        for (int i = j + 1; i < n; i++) {
            double s = a[i * n + j];

            for (int k = 0; k < j; k++)
                s -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = s / a[j * n + j];
        }
    }
    return 1;
}

static inline __attribute__((always_inline)) void solve_triangles(int n, const double *l, double *b)
{
    for (int i = 0; i < n; i++) {
        const double *row = l + (size_t)i * n;
        double s = b[i];

        for (int k = 0; k < i; k++)
            s -= row[k] * b[k];
        b[i] = s / row[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = l + (size_t)i * n;

        b[i] /= row[i];
        for (int k = 0; k < i; k++)
            b[k] -= row[k] * b[i];
    }
}

void qn_fit_chol_solve(int n, const double *l, double *b)
{
    solve_triangles(n, l, b);
}

/* The sizes of vertices and cameras, with loops that the compiler unrolls. */
void qn_fit_chol_small_solve(int n, const double *l, double *b)
{
    if (n == 3)
        solve_triangles(3, l, b);
    else if (n == 9)
        solve_triangles(9, l, b);
    else
        solve_triangles(n, l, b);
}

/* The triangle of the panel itself, from column `c` on. */
static int factor_top(int n, double *a, int c, int width)
{
    for (int j = c; j < c + width; j++) {
        double *row = a + (size_t)j * n;
        double d = row[j];

        for (int k = c; k < j; k++)
            d -= row[k] * row[k];
        if (!(d > 0) || !isfinite(d))
            return 0;
        row[j] = sqrt(d);
        for (int i = j + 1; i < c + width; i++) {
            double *below = a + (size_t)i * n;
            double s = below[j];

            for (int k = c; k < j; k++)
                s -= below[k] * row[k];
            below[j] = s / row[j];
        }
    }
    return 1;
}

static void factor_row(int n, const double *a, int c, int width, double *row, double *panel, int i)
{
    for (int j = c; j < c + width; j++) {
        const double *top = a + (size_t)j * n;
        double s = row[j];

        for (int k = c; k < j; k++)
            s -= row[k] * top[k];
        row[j] = s / top[j];
        panel[(size_t)(j - c) * n + i] = row[j];
    }
}

QN_CLONES static void subtract_panel(int n, int c, int width, double *restrict row,
                                     const double *restrict panel, int i)
{
    int k = 0;

    for (; k + 4 <= width; k += 4) {
        const double *p0 = panel + (size_t)k * n, *p1 = p0 + n, *p2 = p1 + n, *p3 = p2 + n;
        const double l0 = row[c + k], l1 = row[c + k + 1], l2 = row[c + k + 2], l3 = row[c + k + 3];

        for (int j = c + width; j <= i; j++)
            row[j] -= (l0 * p0[j] + l1 * p1[j]) + (l2 * p2[j] + l3 * p3[j]);
    }
    for (; k < width; k++) {
        const double l = row[c + k];

        for (int j = c + width; j <= i; j++)
            row[j] -= l * panel[(size_t)k * n + j];
    }
}

int qn_fit_chol(int n, double *a, double *panel, QN_UNUSED int n_threads)
{
    for (int c = 0; c < n; c += QN_FIT_PANEL) {
        const int width = c + QN_FIT_PANEL < n ? QN_FIT_PANEL : n - c;

        if (!factor_top(n, a, c, width))
            return 0;
#pragma omp parallel for num_threads(n_threads) schedule(static) if (n - c > 256)
        for (int i = c + width; i < n; i++)
            factor_row(n, a, c, width, a + (size_t)i * n, panel, i);
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 16) if (n - c > 256)
        for (int i = c + width; i < n; i++)
            subtract_panel(n, c, width, a + (size_t)i * n, panel, i);
    }
    return 1;
}
