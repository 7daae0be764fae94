/* golden_compare.c - compares numbers with those of a file. */
#include "golden_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Reading. */

/* 0 when the case has no such array. One that cannot be read is a finding. */
int qn_les_golden_load(const golden *g, const char *what, qn_npy *out)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/%s_%s.npy", g->dir, g->prefix, what);
    *out = (qn_npy){ 0 };
    if (access(path, F_OK) != 0)
        return 0;
    if (qn_npy_read(path, out, NULL) == QN_OK)
        return 1;
    qn_finding_within(g->findings, "golden", INFINITY, 0, 0, "%s %s cannot be read", g->prefix,
                      what);
    return 0;
}

/* `n` reals of `buf` from element `at` on, as doubles; free() them. */
qn_status qn_les_golden_read_reals(const golden *g, qn_buf *buf, size_t at, size_t n, double **out,
                                   qn_err *err)
{
    double *wide = malloc((n + 1) * sizeof *wide);
    float *narrow = malloc((n + 1) * sizeof *narrow);
    qn_status st = QN_OK;

    if (!wide || !narrow)
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for %zu numbers", n);
    else if (g->is_f64)
        st = qn_buf_read(buf, at * 8, wide, n * 8, err);
    else
        st = qn_buf_read(buf, at * 4, narrow, n * 4, err);
    for (size_t i = 0; st == QN_OK && !g->is_f64 && i < n; i++)
        wide[i] = (double)narrow[i];
    free(narrow);
    *out = wide;
    if (st != QN_OK)
        free(wide);
    return st;
}

/* Comparing. */

static double distance(const double *got, const qn_npy *want, qn_i64 n, measure by)
{
    double difference = 0, norm = 0, most = 0, count = 0;

    for (qn_i64 i = 0; i < n; i++) {
        const double w = qn_npy_at(want, i), d = got[i] - w;

        difference += d * d;
        norm += w * w;
        most = d == d ? fmax(most, fabs(d)) : INFINITY;
        count += d != 0;
    }
    return by == ABS ? most : by == SHARE ? count / (double)n : sqrt(difference / (norm + 1e-300));
}

/* Compares `n` numbers with the array `what`, where there is one. */
qn_status qn_les_golden_compare(const golden *g, const char *what, const double *got, qn_i64 n,
                                measure by, double limit)
{
    qn_npy want;
    double value;

    if (!qn_les_golden_load(g, what, &want))
        return QN_OK;
    value = qn_npy_elems(&want) <= n ? distance(got, &want, qn_npy_elems(&want), by) : INFINITY;
    qn_finding_within(g->findings, "golden", value, 0, limit, "%s %s, %s", g->prefix, what,
                      g->is_f64 ? "f64" : "f32");
    qn_npy_free(&want);
    return QN_OK;
}

double qn_les_golden_pick(const golden *g, double f64, double f32)
{
    return g->is_f64 ? f64 : f32;
}

qn_status qn_les_golden_compare_buf(const golden *g, const char *what, qn_buf *buf, size_t at,
                                    size_t n, measure by, double limit, qn_err *err)
{
    double *got = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_les_golden_read_reals(g, buf, at, n, &got, err));
    QN_TRY(qn_les_golden_compare(g, what, got, (qn_i64)n, by, limit));
    free(got);
out:
    return st;
}

qn_status qn_les_golden_compare_bytes(const golden *g, const char *what, qn_buf *buf, double limit,
                                      qn_err *err)
{
    const size_t n = qn_buf_bytes(buf);
    int8_t *bytes = malloc(n);
    double *got = malloc(n * sizeof *got);
    qn_status st = QN_OK;

    if (!bytes || !got) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for %zu cells", n);
        goto out;
    }
    QN_TRY(qn_buf_read(buf, 0, bytes, n, err));
    for (size_t i = 0; i < n; i++)
        got[i] = bytes[i];
    QN_TRY(qn_les_golden_compare(g, what, got, (qn_i64)n, SHARE, limit));
out:
    free(bytes);
    free(got);
    return st;
}
