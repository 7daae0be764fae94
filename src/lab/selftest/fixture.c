/* fixture.c - one graph with its buffers, built for every check. */
#include "lab/selftest/selftest_impl.h"

#include "util/hash.h"

#include <stdlib.h>
#include <string.h>

qn_status qn_fixture_open(qn_ctx *ctx, qn_fixture *fixture, qn_err *err)
{
    *fixture = (qn_fixture){ .ctx = ctx };
    return qn_graph_new(ctx, "selftest", &fixture->graph, err);
}

void qn_fixture_close(qn_fixture *fixture)
{
    qn_graph_free(fixture->graph);
    qn_segments_free(fixture->segments);
    for (int i = 0; i < fixture->n_bufs; i++)
        qn_buf_free(fixture->bufs[i]);
    *fixture = (qn_fixture){ 0 };
}

qn_buf *qn_fixture_new(qn_fixture *fixture, size_t bytes)
{
    char name[32];

    if (fixture->n_bufs == QN_FIXTURE_BUFS) {
        qn_fail(&fixture->err, QN_ERR_LIMIT, "selftest: more than %d buffers", QN_FIXTURE_BUFS);
        return NULL;
    }
    snprintf(name, sizeof name, "selftest.%d", fixture->n_bufs);
    if (qn_buf_new(fixture->ctx, name, bytes, &fixture->bufs[fixture->n_bufs], &fixture->err) !=
        QN_OK)
        return NULL;
    return fixture->bufs[fixture->n_bufs++];
}

/* A new buffer and the host memory to fill. */
static qn_buf *new_open(qn_fixture *fixture, size_t bytes, void **data)
{
    qn_buf *buf = qn_fixture_new(fixture, bytes);

    return buf && qn_buf_host(buf, QN_HOST_DISCARD, data, &fixture->err) == QN_OK ? buf : NULL;
}

qn_buf *qn_fixture_copy(qn_fixture *fixture, const void *data, size_t bytes)
{
    void *host;
    qn_buf *buf = new_open(fixture, bytes, &host);

    if (buf)
        memcpy(host, data, bytes);
    return buf;
}

qn_buf *qn_fixture_floats(qn_fixture *fixture, qn_i64 n, uint64_t seed)
{
    void *host;
    qn_buf *buf = new_open(fixture, (size_t)n * sizeof(float), &host);

    for (qn_i64 i = 0; buf && i < n; i++)
        ((float *)host)[i] = qn_random_float(seed, (uint64_t)i);
    return buf;
}

qn_buf *qn_fixture_bytes(qn_fixture *fixture, qn_i64 n, uint64_t seed)
{
    void *host;
    qn_buf *buf = new_open(fixture, (size_t)n, &host);

    for (qn_i64 i = 0; buf && i < n; i++)
        ((uint8_t *)host)[i] = qn_random_byte(seed, (uint64_t)i);
    return buf;
}

static qn_status run_and_read(qn_fixture *fixture, const char *device, void *data, size_t bytes,
                              qn_err *err)
{
    qn_status st = QN_OK;

    for (int s = 0; s < qn_graph_get_stats(fixture->graph).n_stages; s++)
        QN_TRY(qn_graph_pin(fixture->graph, s, device, err));
    qn_graph_set_fallback(fixture->graph, QN_FALLBACK_ERROR);
    QN_TRY(qn_graph_run(fixture->graph, err));
    QN_TRY(qn_graph_wait(fixture->graph, err));
    QN_TRY(qn_buf_read(fixture->out, 0, data, bytes, err));
out:
    return st;
}

qn_status qn_fixture_run(qn_fixture *fixture, const char *device, void **data, size_t *bytes,
                         qn_err *err)
{
    const size_t n = qn_buf_bytes(fixture->out);
    void *result = malloc(n);
    qn_status st;

    if (!result)
        return qn_fail(err, QN_ERR_NOMEM, "selftest: no memory for a result of %zu bytes", n);
    if ((st = run_and_read(fixture, device, result, n, err)) != QN_OK) {
        free(result);
        return st;
    }
    *data = result;
    *bytes = n;
    return QN_OK;
}
