/* qr.c - Householder QR: rows appended to a triangle, and least squares with pivoting.
 *
 * Plain loops over columns: these matrices have about ten columns, and digits matter more than
 * microseconds. Norms are scaled, since columns of a badly scaled problem overflow when squared.
 */
#include "domain/fit/linear/dense.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static double norm(const double *x, int n)
{
    double largest = 0, sum = 0;

    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    if (!(largest > 0) || !isfinite(largest))
        return largest;
    for (int i = 0; i < n; i++)
        sum += (x[i] / largest) * (x[i] / largest);
    return largest * sqrt(sum);
}

void qn_fit_qr_append(int n, int n_rhs, double *r, int ldr, int m, double *a, int lda)
{
    for (int k = 0; k < n; k++) {
        double *v = a + (size_t)k * lda;
        double *diagonal = r + (size_t)k * ldr + k;
        const double below = norm(v, m);
        double beta, head;

        if (below == 0)
            continue;
        beta = -copysign(hypot(*diagonal, below), *diagonal);
        head = *diagonal - beta; /* no cancellation: the signs differ */
        for (int i = 0; i < m; i++)
            v[i] /= head;
        *diagonal = beta;
        for (int c = k + 1; c < n + n_rhs; c++) {
            double *col = a + (size_t)c * lda;
            double *top = r + (size_t)c * ldr + k;
            double dot = *top;

            for (int i = 0; i < m; i++)
                dot += v[i] * col[i];
            dot *= -head / beta; /* tau = 2 / |(1, v)|^2 */
            *top -= dot;
            for (int i = 0; i < m; i++)
                col[i] -= dot * v[i];
        }
    }
}

static void swap_columns(double *a, int lda, int m, int j, int k, int *pivot, double *norms)
{
    const int p = pivot[j];
    const double s = norms[j];

    for (int i = 0; i < m; i++) {
        const double t = a[(size_t)j * lda + i];

        a[(size_t)j * lda + i] = a[(size_t)k * lda + i];
        a[(size_t)k * lda + i] = t;
    }
    pivot[j] = pivot[k];
    pivot[k] = p;
    norms[j] = norms[k];
    norms[k] = s;
}

/* Makes column k zero below the diagonal and applies the reflection to the columns to its right. */
static void reflect(int m, int n, double *a, int lda, double *b, int k)
{
    double *v = a + (size_t)k * lda + k;
    const double length = norm(v, m - k);
    const double beta = -copysign(length, v[0]);
    const double head = v[0] - beta;
    const double tau = -head / beta;

    for (int i = 1; i < m - k; i++)
        v[i] /= head;
    for (int c = k + 1; c <= n; c++) {
        double *col = c < n ? a + (size_t)c * lda + k : b + k;
        double dot = col[0];

        for (int i = 1; i < m - k; i++)
            dot += v[i] * col[i];
        dot *= tau;
        col[0] -= dot;
        for (int i = 1; i < m - k; i++)
            col[i] -= dot * v[i];
    }
    v[0] = beta;
}

int qn_fit_qr_solve(int m, int n, double *a, int lda, double *b, double *y, int *pivot,
                    double *norms)
{
    int rank = 0;

    for (int k = 0; k < n; k++)
        pivot[k] = k;
    for (int k = 0; k < n; k++, rank++) {
        int best = k;

        for (int c = k; c < n; c++) {
            norms[c] = norm(a + (size_t)c * lda + k, m - k);
            best = norms[c] > norms[best] ? c : best;
        }
        if (best != k)
            swap_columns(a, lda, m, k, best, pivot, norms);
        if (!(norms[k] > n * DBL_EPSILON * fabs(a[0])) || norms[k] == 0)
            break;
        reflect(m, n, a, lda, b, k);
    }
    for (int k = 0; k < n; k++)
        y[k] = 0;
    for (int k = rank - 1; k >= 0; k--) {
        double sum = b[k];

        for (int c = k + 1; c < rank; c++)
            sum -= a[(size_t)c * lda + k] * y[pivot[c]];
        y[pivot[k]] = sum / a[(size_t)k * lda + k];
    }
    return rank;
}
