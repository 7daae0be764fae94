/* cholesky.c - a = u' u, row by row, then two triangular solves.
 *
 * All inner loops run along rows, so that compilers vectorise them. A few hundred unknowns take
 * milliseconds, once per run, which does not justify a dependency.
 */
#include "cholesky.h"

#include <math.h>

/* x -= factor y */
static void subtract(int n, double factor, const double *restrict y, double *restrict x)
{
    for (int k = 0; k < n; k++)
        x[k] -= factor * y[k];
}

static void multiply(int n, double factor, double *x)
{
    for (int k = 0; k < n; k++)
        x[k] *= factor;
}

static qn_status factorise(int n, double *a, qn_err *err)
{
    for (int k = 0; k < n; k++) {
        double *row = a + (size_t)k * (size_t)n;

        if (!(row[k] > 0) || !isfinite(row[k]))
            return qn_fail(err, QN_ERR_FAILED,
                           "the Gram matrix is not positive definite: pivot %d of %d is %g; a "
                           "larger ridge helps",
                           k + 1, n, row[k]);
        multiply(n - k, 1 / sqrt(row[k]), row + k);
        for (int i = k + 1; i < n; i++)
            subtract(n - i, row[i], row + i, a + (size_t)i * (size_t)n + i);
    }
    return QN_OK;
}

qn_status qn_cholesky_solve(int n, double *a, double *b, qn_err *err)
{
    const size_t pitch = (size_t)n;
    qn_status st = QN_OK;

    QN_TRY(factorise(n, a, err));
    for (int k = 0; k < n; k++) {
        const double *row = a + (size_t)k * pitch;

        multiply(n, 1 / row[k], b + (size_t)k * pitch);
        for (int i = k + 1; i < n; i++)
            subtract(n, row[i], b + (size_t)k * pitch, b + (size_t)i * pitch);
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *row = a + (size_t)k * pitch;

        for (int i = k + 1; i < n; i++)
            subtract(n, row[i], b + (size_t)i * pitch, b + (size_t)k * pitch);
        multiply(n, 1 / row[k], b + (size_t)k * pitch);
    }
out:
    return st;
}
