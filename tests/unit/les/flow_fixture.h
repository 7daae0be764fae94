/* flow_fixture.h - flows in a context of their own, their steps and their results. */
#ifndef QN_TESTS_LES_FLOW_FIXTURE_H
#define QN_TESTS_LES_FLOW_FIXTURE_H

#include "golden.h"
#include "parity/parity.h"

#include "domain/les/flow/sim.h"
#include "domain/les/flow/sim_impl.h"

#include <math.h>

static inline qn_les_options config_of(const char *const *pairs)
{
    qn_les_options config;
    qn_err err = { .text = "" };

    if (qn_les_options_make(NULL, pairs, NULL, &config, &err) != QN_OK)
        fail_msg("%s", err.text);
    return config;
}

#define CONFIG(...) config_of((const char *const[]){ "what", "sim", __VA_ARGS__, NULL })

typedef struct flow {
    qn_ctx *ctx;
    qn_les_options config;
    qn_les_sim *sim;
} flow;

/* A call of the solver that takes a qn_err named `err`. */
#define must_do(call)                                                                              \
    do {                                                                                           \
        qn_err err = { .text = "" };                                                               \
        if ((call) != QN_OK)                                                                       \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* The flow must not move: the solver stores the address of its options. */
static inline void flow_open(flow *f, const place *at, qn_les_options config)
{
    *f = (flow){ .ctx = open_place(at), .config = config };
    must_do(qn_les_sim_new(f->ctx, &f->config, &f->sim, &err));
}

static inline void flow_close(flow *f)
{
    qn_les_sim_free(f->sim);
    qn_ctx_close(f->ctx);
}

static inline void flow_run(flow *f, int n_steps)
{
    qn_graph *graph = NULL;

    must(qn_graph_new(f->ctx, "steps", &graph, &failure));
    must(qn_les_sim_add_steps(f->sim, graph, n_steps, &failure));
    run_graph(graph);
}

static inline size_t flow_cells(const flow *f)
{
    return (size_t)f->config.N * (size_t)f->config.N * (size_t)f->config.ensemble;
}

/* The elements of `buf` as doubles; frees it. */
static inline double *flow_take(flow *f, qn_buf *buf)
{
    const size_t n = flow_cells(f);
    double *out = malloc(n * sizeof *out);
    void *data;

    assert_non_null(out);
    must(qn_buf_host(buf, QN_HOST_READ, &data, &failure));
    for (size_t i = 0; i < n; i++)
        out[i] = f->sim->is_f64 ? ((double *)data)[i] : (double)((float *)data)[i];
    qn_buf_free(buf);
    return out;
}

static inline qn_buf *flow_buf(flow *f)
{
    qn_buf *buf = NULL;

    must(qn_buf_new(f->ctx, "field", flow_cells(f) * (f->sim->is_f64 ? 8 : 4), &buf, &failure));
    return buf;
}

/* The vorticity, or the field of a probe; free with free(). */
static inline double *flow_field(flow *f)
{
    qn_buf *buf = flow_buf(f);
    qn_graph *graph = NULL;

    must(qn_graph_new(f->ctx, "field", &graph, &failure));
    must(qn_les_sim_add_field(f->sim, graph, buf, &failure));
    run_graph(graph);
    return flow_take(f, buf);
}

static inline double *flow_probe(flow *f, qn_les_probe what)
{
    qn_buf *buf = flow_buf(f);
    qn_graph *graph = NULL;

    must(qn_graph_new(f->ctx, "probe", &graph, &failure));
    must(qn_les_sim_add_probe(f->sim, graph, what, buf, &failure));
    run_graph(graph);
    return flow_take(f, buf);
}

/* One row of the log of the present state. */
static inline qn_les_row flow_row(flow *f)
{
    qn_graph *graph = NULL;
    qn_les_row *rows, last;
    int n;

    must(qn_graph_new(f->ctx, "row", &graph, &failure));
    must(qn_les_sim_add_log(f->sim, graph, &failure));
    run_graph(graph);
    must_do(qn_les_sim_read_log(f->sim, &rows, &n, &err));
    last = rows[(n - 1) * f->config.ensemble];
    free(rows);
    return last;
}

static inline double distance_of(const double *got, const double *want, size_t n)
{
    double off = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        off += (got[i] - want[i]) * (got[i] - want[i]);
        norm += want[i] * want[i];
    }
    return sqrt(off / norm);
}

#endif
