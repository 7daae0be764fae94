/* perf_pipe.c - the gain of a pipeline, on the virtual clock.
 *
 * One batch takes the host h (to submit it), the bus u for its uploads, the device k for its kernel
 * and the bus d for its download: L = h + u + k + d one after the other. With asynchronous copies
 * these are four machines that work at the same time on different batches, each on one batch at a
 * time, so batches leave no faster than one per max(h, u, k, d). With `depth` slots a batch starts
 * only when the one `depth` places before it has left, so no faster than one per L / depth either.
 * The first batch leaves after L, the others follow at that pace:
 *
 *     wall(n) = L + (n - 1) * max(h, u, k, d, L / depth)
 *
 * With two slots pairs of batches start together, so the end may be early by less than one pace.
 */
#include "engine_fixture.h"

#include <quern/pipe.h>

#include "engine/device/context.h"

#include <math.h>

/* The figures of the simulated device: vadd moves two arrays up, one down, and touches three. */
#define SUBMIT_US 2.0
#define COPY_US   8.0
#define LAUNCH_US 5.0
#define BUS_GBPS  12.0
#define MEM_GBPS  400.0
#define FIGURES                                                                                    \
    "sim.submit_us=2,sim.launch_us=5,sim.h2d_us=8,sim.d2h_us=8,sim.h2d_gbps=12,sim.d2h_gbps=12,"   \
    "sim.gbps=400"

enum { N_TASKS = 24 };

typedef struct {
    qn_ctx *ctx;
    int elems;
    qn_buf *a[QN_PIPE_MAX_DEPTH], *b[QN_PIPE_MAX_DEPTH], *c[QN_PIPE_MAX_DEPTH];
} work;

static qn_status build(void *user, int slot, qn_graph *graph, qn_err *err)
{
    work *w = user;

    (void)err;
    w->a[slot] = array_of(w->ctx, "a", w->elems);
    w->b[slot] = array_of(w->ctx, "b", w->elems);
    w->c[slot] = array_of(w->ctx, "c", w->elems);
    must(stage_vadd(graph, "vadd", qn_range_1d(w->elems), w->a[slot], w->b[slot], w->c[slot], err));
    must(qn_graph_output(graph, w->c[slot], err));
    return QN_OK;
}

static qn_status prepare(void *user, int slot, qn_i64 batch, qn_err *err)
{
    work *w = user;
    void *data;

    (void)err;
    must(qn_buf_host(w->a[slot], QN_HOST_DISCARD, &data, err));
    for (int i = 0; i < w->elems; i++)
        ((float *)data)[i] = (float)(i + batch);
    must(qn_buf_host(w->b[slot], QN_HOST_DISCARD, &data, err));
    for (int i = 0; i < w->elems; i++)
        ((float *)data)[i] = (float)i;
    return QN_OK;
}

static qn_status deliver(void *user, int slot, qn_i64 batch, qn_err *err)
{
    work *w = user;

    (void)err;
    assert_true(value_at(w->c[slot], 0) == (float)batch);
    assert_true(value_at(w->c[slot], w->elems - 1) == (float)(2 * (w->elems - 1) + batch));
    return QN_OK;
}

/* Virtual microseconds of N_TASKS batches through a pipe that has run before. */
static double wall_us(const char *more, int elems, int depth)
{
    char rules[512];
    qn_pipe_work calls;
    work w = { .elems = elems };
    qn_pipe *pipe;
    double begin, us;

    snprintf(rules, sizeof rules, FIGURES "%s", more);
    w.ctx = open_with(QN_OPTIONS(.backend = "sim", .threads = 1, .fault = rules));
    calls = (qn_pipe_work){ .user = &w, .build = build, .prepare = prepare, .deliver = deliver };
    must(qn_pipe_open(w.ctx, "perf", depth, &calls, &pipe, &failure));
    must(qn_pipe_run(pipe, 3 * depth, &failure));
    begin = qn_ctx_now_us(w.ctx);
    must(qn_pipe_run(pipe, N_TASKS, &failure));
    us = qn_ctx_now_us(w.ctx) - begin;
    qn_pipe_close(pipe);
    for (int s = 0; s < depth; s++) {
        qn_buf_free(w.a[s]);
        qn_buf_free(w.b[s]);
        qn_buf_free(w.c[s]);
    }
    qn_ctx_close(w.ctx);
    return us;
}

static double optimum_us(int elems, double ns_per_item, int depth)
{
    const double bytes = elems * 4.0;
    const double h = SUBMIT_US, u = 2 * (COPY_US + bytes / (BUS_GBPS * 1e3));
    const double d = COPY_US + bytes / (BUS_GBPS * 1e3);
    const double k = LAUNCH_US + fmax(3 * bytes / (MEM_GBPS * 1e3), elems * ns_per_item / 1e3);
    const double alone = h + u + k + d;

    return alone + (N_TASKS - 1) * fmax(fmax(fmax(h, u), fmax(k, d)), alone / depth);
}

static void expect_optimum(int elems, double ns_per_item, int depth)
{
    const double best = optimum_us(elems, ns_per_item, depth);
    char more[64];
    double us;

    snprintf(more, sizeof more, ",sim.ns_per_item=%g", ns_per_item);
    us = wall_us(more, elems, depth);
    if (!(fabs(us - best) <= 0.01 * best))
        fail_msg("%d elements, %g ns each, depth %d: %.3f us, optimum %.3f us", elems, ns_per_item,
                 depth, us, best);
}

static void transfer_bound_batches_take_the_analytic_optimum(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 4; depth++) {
        expect_optimum(32768, 0, depth);
        expect_optimum(262144, 0, depth);
    }
}

static void compute_bound_batches_take_the_analytic_optimum(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 4; depth++)
        expect_optimum(32768, 10, depth); /* 328 us against 57 us of copies */
}

static void balanced_batches_take_the_analytic_optimum(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 4; depth++)
        expect_optimum(32768, 1.2, depth); /* kernels as long as the uploads */
}

static void expect_gain(int elems, double least)
{
    const double one = wall_us("", elems, 1), two = wall_us("", elems, 2);

    if (!(one >= least * two))
        fail_msg("%d tasks of %d: depth 1 %.3f us, depth 2 %.3f us, gain %.3f below %.2f", N_TASKS,
                 elems, one, two, one / two, least);
}

static void two_slots_gain_a_tenth_on_24_tasks_of_32768(void **state)
{
    (void)state;
    expect_gain(32768, 1.10);
}

static void two_slots_gain_a_fifth_on_24_tasks_of_524288(void **state)
{
    (void)state;
    expect_gain(524288, 1.20);
}

static void without_asynchronous_copies_depth_costs_nothing(void **state)
{
    const double one = wall_us(",sim.async=0", 32768, 1);

    (void)state;
    for (int depth = 2; depth <= 4; depth += 2) {
        const double more = wall_us(",sim.async=0", 32768, depth);

        if (!(more <= 1.02 * one))
            fail_msg("depth 1 %.3f us, depth %d %.3f us", one, depth, more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfer_bound_batches_take_the_analytic_optimum),
        cmocka_unit_test(compute_bound_batches_take_the_analytic_optimum),
        cmocka_unit_test(balanced_batches_take_the_analytic_optimum),
        cmocka_unit_test(two_slots_gain_a_tenth_on_24_tasks_of_32768),
        cmocka_unit_test(two_slots_gain_a_fifth_on_24_tasks_of_524288),
        cmocka_unit_test(without_asynchronous_copies_depth_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
