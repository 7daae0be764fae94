/* perf_overlap.c - a replay copies and computes at once, by the virtual clock of sim.
 *
 * With 1 GB/s each way and computation that costs next to nothing, P parts of U bytes up and D
 * bytes down take P (U + D) one after the other, and P U + D when they overlap: uploads follow each
 * other without a gap, and only the last download remains after them.
 */
#include "engine_fixture.h"

#include "engine/device/context.h"

enum { PARTS = 8, N = 100000 };

static const char limits[] = "sim.h2d_gbps=1,sim.d2h_gbps=1,sim.h2d_us=0,sim.d2h_us=0,"
                             "sim.launch_us=0,sim.submit_us=0,sim.gbps=1000000,sim.ns_per_item=0";

typedef struct {
    qn_ctx *ctx;
    qn_graph *graph;
    qn_buf *x[PARTS], *y[PARTS], *z[PARTS];
} fixture;

static fixture open_fixture(void)
{
    fixture r = { .ctx = open_sim(limits) };

    must(qn_graph_new(r.ctx, "parts", &r.graph, &failure));
    for (int p = 0; p < PARTS; p++) {
        r.x[p] = ramp(r.ctx, "x", N, (float)p, 1);
        r.y[p] = ramp(r.ctx, "y", N, 1, 0);
        r.z[p] = array_of(r.ctx, "z", N);
        must(stage_vadd(r.graph, "vadd", qn_range_1d(N), r.x[p], r.y[p], r.z[p], &failure));
        must(qn_graph_output(r.graph, r.z[p], &failure));
    }
    return r;
}

static void close_fixture(fixture *r)
{
    qn_graph_free(r->graph);
    for (int p = 0; p < PARTS; p++) {
        qn_buf_free(r->x[p]);
        qn_buf_free(r->y[p]);
        qn_buf_free(r->z[p]);
    }
    qn_ctx_close(r->ctx);
}

/* One run from host memory to host memory; virtual microseconds. */
static double run_fresh(fixture *r, float first)
{
    double begin;

    for (int p = 0; p < PARTS; p++) {
        must(qn_buf_write(r->x[p], 0, &first, sizeof first, &failure));
        must(qn_buf_write(r->y[p], 0, &first, sizeof first, &failure));
    }
    begin = qn_ctx_now_us(r->ctx);
    must(qn_graph_run(r->graph, &failure));
    must(qn_graph_wait(r->graph, &failure));
    return qn_ctx_now_us(r->ctx) - begin;
}

static void replayed_parts_overlap_their_copies(void **state)
{
    const double up_us = 2 * N * sizeof(float) / 1e3, down_us = N * sizeof(float) / 1e3;
    const double best = PARTS * up_us + down_us;
    fixture r = open_fixture();
    double us = 0;

    (void)state;
    for (int run = 0; run < 4; run++)
        us = run_fresh(&r, (float)run);
    assert_true(qn_graph_get_stats(r.graph).replays >= 2);
    assert_true(us <= 1.01 * best);
    assert_true(us >= 0.99 * best); /* faster than the bus would mean that a copy is missing */
    for (int p = 0; p < PARTS; p++) {
        assert_true(value_at(r.z[p], 0) == 6);
        assert_true(value_at(r.z[p], N - 1) == (float)(p + N - 1) + 1);
    }
    close_fixture(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replayed_parts_overlap_their_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
