/* fit_device_fixture.h - a problem on a backend, and its evaluation in host memory. */
#ifndef QN_TESTS_FIT_DEVICE_FIXTURE_H
#define QN_TESTS_FIT_DEVICE_FIXTURE_H

#include "engine_fixture.h"
#include "fit_products.h"
#include "fit_problems.h"

#include "domain/fit/device/device.h"

#include <math.h>

typedef struct {
    qn_fit_text *text;
    const qn_fit_problem *p;
    qn_fit_host *host;
    qn_ctx *ctx;
    qn_fit_device *device;
    qn_graph *graph;
    qn_buf *x, *v, *out, *cost, *rows;
    double *want, *got, *host_rows;
    qn_err err;
} fixture;

/* Returns 0 if there is no such backend. */
static inline int open_fixture(fixture *r, qn_fit_text *text, const char *backend,
                               qn_fit_precision precision)
{
    *r = (fixture){ .text = text, .p = text->problem };
    if (!(r->ctx = open_if_present(backend))) {
        qn_fit_text_free(text);
        return 0;
    }
    must_ok(qn_fit_host_new(r->p, (qn_fit_host_options){ 0 }, &r->host, &r->err), &r->err);
    must_ok(qn_fit_device_new(r->ctx, r->p, precision, &r->device, &r->err), &r->err);
    must_ok(qn_fit_device_vector(r->device, "x", r->p->x, &r->x, &r->err), &r->err);
    must_ok(qn_fit_device_vector(r->device, "out", NULL, &r->out, &r->err), &r->err);
    must_ok(qn_fit_device_cost(r->device, "cost", &r->cost, &r->err), &r->err);
    must_ok(qn_fit_device_rows(r->device, "rows", &r->rows, &r->err), &r->err);
    r->want = calloc(r->p->n_scalars + 1, sizeof *r->want);
    r->got = calloc(r->p->n_scalars + 1, sizeof *r->got);
    r->host_rows = calloc((size_t)qn_fit_host_n_rows(r->host) + 1, sizeof *r->host_rows);
    must(qn_graph_new(r->ctx, "fit", &r->graph, &failure));
    return 1;
}

static inline void close_fixture(fixture *r)
{
    qn_graph_free(r->graph);
    qn_buf_free(r->x);
    qn_buf_free(r->v);
    qn_buf_free(r->out);
    qn_buf_free(r->cost);
    qn_buf_free(r->rows);
    qn_fit_device_free(r->device);
    qn_ctx_close(r->ctx);
    qn_fit_host_free(r->host);
    qn_fit_text_free(r->text);
    free(r->want);
    free(r->got);
    free(r->host_rows);
}

static inline void run_graph(fixture *r)
{
    must(qn_graph_run(r->graph, &failure));
    must(qn_graph_wait(r->graph, &failure));
}

static inline void read_out(fixture *r)
{
    must_ok(qn_fit_device_read(r->device, r->out, r->got, r->p->n_scalars, &r->err), &r->err);
}

/* tolerance 0: the same bits */
static inline void assert_vector(const fixture *r, double tolerance)
{
    for (uint32_t s = 0; s < r->p->n_scalars; s++)
        if (!(fabs(r->got[s] - r->want[s]) <= tolerance * (1 + fabs(r->want[s]))))
            fail_msg("scalar %u: %.17g, on the CPU %.17g", s, r->got[s], r->want[s]);
}

/* Runs the graph once and compares with the wanted vector. */
static inline void assert_run(fixture *r, double tolerance)
{
    run_graph(r);
    read_out(r);
    assert_vector(r, tolerance);
}

static inline void make_tangent(fixture *r)
{
    double *v = calloc(r->p->n_scalars, sizeof *v);

    for (uint32_t s = 0; s < r->p->n_scalars; s++)
        v[s] = r->p->is_fixed[s] ? 0 : qn_random_float(21, s);
    must_ok(qn_fit_device_vector(r->device, "v", v, &r->v, &r->err), &r->err);
    fit_host_jv(r->host, v, r->host_rows);
    fit_host_jtu(r->host, r->host_rows, r->want);
    free(v);
}

#endif
