/* golden_device.c - arrays to devices and back, for checks. */
#include "lab/golden.h"

#include <stdlib.h>

qn_status qn_golden_upload(const qn_golden *g, const void *data, size_t bytes, qn_buf **out,
                           qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_golden_fresh(g, bytes, out, err));
    QN_TRY(qn_buf_write(*out, 0, data, bytes, err));
out:
    return st;
}

qn_status qn_golden_fresh(const qn_golden *g, size_t bytes, qn_buf **out, qn_err *err)
{
    return qn_buf_new(g->ctx, g->part, bytes, out, err);
}

qn_status qn_golden_finish(qn_graph **graph, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_graph_run(*graph, err));
    QN_TRY(qn_graph_wait(*graph, err));
out:
    qn_graph_free(*graph);
    *graph = NULL;
    return st;
}

qn_status qn_golden_floats_new(size_t n, float value, float **out, qn_err *err)
{
    float *values = malloc((n + 1) * sizeof *values);

    if (!values)
        return qn_fail(err, QN_ERR_NOMEM, "an array of %zu floats", n);
    for (size_t i = 0; i < n; i++)
        values[i] = value;
    *out = values;
    return QN_OK;
}

qn_status qn_golden_download(qn_buf *buf, size_t n, float **out, qn_err *err)
{
    float *values = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_floats_new(n, 0, &values, err));
    QN_TRY(qn_buf_read(buf, 0, values, n * sizeof *values, err));
    *out = values;
    values = NULL;
out:
    free(values);
    return st;
}
