/* golden_compare.c - compares numbers with those of a file. */
#include "check_impl.h"

#include <math.h>
#include <stdio.h>
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

/* `n` reals of `buf` from element `at` on, as doubles. */
qn_status qn_les_golden_read_reals(const golden *g, qn_buf *buf, size_t at, size_t n, double **out,
                                   qn_err *err)
{
    const size_t real = g->is_f64 ? sizeof(double) : sizeof(float);
    qn_status st = QN_OK;
    void *data;

    QN_TRY(qn_owned_memory(g->owned, n * real, &data, err));
    QN_TRY(qn_owned_memory(g->owned, n * sizeof **out, out, err));
    QN_TRY(qn_buf_read(buf, at * real, data, n * real, err));
    for (size_t i = 0; i < n; i++)
        (*out)[i] = g->is_f64 ? ((double *)data)[i] : (double)((float *)data)[i];
out:
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
    double *got;
    qn_status st = QN_OK;

    QN_TRY(qn_les_golden_read_reals(g, buf, at, n, &got, err));
    QN_TRY(qn_les_golden_compare(g, what, got, (qn_i64)n, by, limit));
out:
    return st;
}

qn_status qn_les_golden_compare_whole(const golden *g, const char *what, qn_buf *buf, size_t size,
                                      measure by, double limit, qn_err *err)
{
    const size_t bytes = qn_buf_bytes(buf), n = bytes / size;
    double *got;
    void *data;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(g->owned, n * sizeof *got, &got, err));
    QN_TRY(qn_buf_host(buf, QN_HOST_READ, &data, err));
    for (size_t i = 0; i < n; i++)
        got[i] = size == 1 ? ((const int8_t *)data)[i] : ((const int32_t *)data)[i];
    QN_TRY(qn_les_golden_compare(g, what, got, (qn_i64)n, by, limit));
out:
    return st;
}
