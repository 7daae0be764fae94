/* addition.h - a graph of one addition, for tests that follow its stage. */
#ifndef QN_TESTS_ADDITION_H
#define QN_TESTS_ADDITION_H

#include "engine_fixture.h"

typedef struct {
    qn_ctx *ctx;
    qn_buf *x, *y, *sum;
    qn_graph *graph;
} addition;

static inline addition add_up(qn_ctx *ctx, int n)
{
    addition a = { .ctx = ctx,
                   .x = ramp(ctx, "x", n, 0, 1),
                   .y = ramp(ctx, "y", n, 1, 2),
                   .sum = array_of(ctx, "sum", n) };

    must(qn_graph_new(ctx, "add", &a.graph, &failure));
    must(stage_vadd(a.graph, "add", qn_range_1d(n), a.x, a.y, a.sum, &failure));
    must(qn_graph_output(a.graph, a.sum, &failure));
    return a;
}

static inline void addition_free(addition *a)
{
    qn_graph_free(a->graph);
    qn_buf_free(a->x);
    qn_buf_free(a->y);
    qn_buf_free(a->sum);
}

static inline void run(addition *a, int times)
{
    for (int i = 0; i < times; i++) {
        void *data;

        must(qn_buf_host(a->x, QN_HOST_UPDATE, &data, &failure));
        must(qn_graph_run(a->graph, &failure));
        must(qn_graph_wait(a->graph, &failure));
    }
}

#endif
