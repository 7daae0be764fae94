/* test_route_light.c - the cost of the router once it has decided.
 *
 * Everything is simulated, and every reading of the clock takes a microsecond of virtual time, so
 * that readings cost something and can be counted.
 */
#include "addition.h"
#include "alloc_count.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>

#include "engine/place/place.h"

enum { N = 4096, WARM_UP = 400 };

/* Counting. */

static long n_reads, n_locks;
static const qn_backend *real_backend;
static qn_backend costly_backend;
static qn_ctx *read_by;

static double costly_now_us(qn_dev *dev)
{
    n_reads++;
    read_by->clock.host_us += 1;
    return real_backend->now_us(dev);
}

#ifndef HAS_SANITIZER
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*real)(pthread_mutex_t *);

    if (!real) { /* a function cannot be assigned from dlsym's object pointer */
        void *const found = dlsym(RTLD_NEXT, "pthread_mutex_lock");

        memcpy(&real, &found, sizeof real);
    }
    n_locks++;
    return real(mutex);
}
#endif

/* Two devices; a read of the clock takes a microsecond. */
static qn_ctx *open_costly(const char *fault)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim:0,sim:1", .threads = 1, .fault = fault));

    real_backend = ctx->timekeeper->backend;
    costly_backend = *real_backend;
    costly_backend.now_us = costly_now_us;
    read_by = ctx;
    for (int d = 1; d < ctx->n_devices; d++)
        ctx->devices[d].backend = &costly_backend;
    return ctx;
}

/* Settling. */

/* Runs until the next run needs no reading of the clock. */
static struct qn_graph_route *settle(addition *a)
{
    qn_buf *const arrays[] = { a->x, a->y, a->sum };

    run(a, WARM_UP);
    for (int i = 0; i < 3; i++) /* from before the router knew anything */
        qn_buf_drop_copy(arrays[i], &a->ctx->devices[2]);
    run(a, WARM_UP);
    for (int i = 0; i < 100 && !a->graph->route->n_lighter; i++)
        run(a, 1);
    assert_true(a->graph->route->n_lighter > 0);
    return a->graph->route;
}

/* Once settled, reading the clock takes less than 1.5 % of the time. */
static void assert_looks_are_few(addition *a)
{
    double start_us;
    long before;

    settle(a);
    start_us = a->ctx->clock.host_us;
    before = n_reads;
    run(a, 2000);
    assert_true((double)(n_reads - before) < 0.015 * (a->ctx->clock.host_us - start_us));
}

#define TWO "sim.devices=2,sim.launch_us=50"
/* The second device is slower by more than it could ever make up for. */
#define UNEVEN TWO ",sim.slow.1=400"

/* Runs between readings. */

static void settled_run_reads_no_clock_takes_no_lock_and_no_memory(void **state)
{
    qn_ctx *ctx = open_costly(UNEVEN);
    addition a = add_up(ctx, N);
    const struct qn_graph_route *r = settle(&a);
    const uint64_t priced = ctx->router->n_priced;

    (void)state;
    while (r->n_lighter > 0) {
        const long reads = n_reads, locks = n_locks, allocs = count_allocs();

        run(&a, 1);
        assert_int_equal(n_reads, reads);
        assert_int_equal(n_locks, locks);
        assert_int_equal(count_allocs(), allocs);
    }
    assert_int_equal(ctx->router->n_priced, priced);
#ifndef HAS_SANITIZER
    assert_true(n_locks > 0); /* making a metric takes one, so they are noticed */
#endif
    assert_true(value_at(a.sum, 10) == 31.0f);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void looks_take_a_small_part_of_the_time(void **state)
{
    qn_ctx *ctx = open_costly(UNEVEN);
    addition a = add_up(ctx, N);

    (void)state;
    assert_looks_are_few(&a);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void graph_without_a_choice_is_looked_at_as_seldom(void **state)
{
    qn_ctx *ctx = open_costly(UNEVEN);
    addition a = add_up(ctx, N);

    (void)state;
    qn_route_set_mode(ctx, QN_ROUTE_GPU);
    assert_looks_are_few(&a);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void every_run_is_counted_in_the_end(void **state)
{
    qn_ctx *ctx = open_costly(UNEVEN);
    addition a = add_up(ctx, N);

    (void)state;
    settle(&a);
    qn_graph_free(a.graph);
    a.graph = NULL;
    assert_true(metric(ctx, "hybrid_routing_decisions_total", NULL) >= WARM_UP);
    assert_int_equal(metric(ctx, "hybrid_routing_decisions_total", NULL),
                     metric(ctx, "gpu_ops", NULL));
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void change_of_a_link_or_a_device_is_seen_at_once(void **state)
{
    qn_ctx *ctx = open_costly(TWO ",sim.rate.1=0.5");
    addition a = add_up(ctx, N);
    const struct qn_graph_route *r = settle(&a);

    (void)state;
    assert_int_equal(a.graph->stages[0].device, 1);
    for (int i = 0; i < 4; i++)
        qn_router_failed(ctx, NULL, 1, QN_ERR_BUSY);
    run(&a, 1);
    assert_int_equal(r->n_light, 0);
    assert_int_equal(a.graph->stages[0].device, 2);
    addition_free(&a);
    qn_ctx_close(ctx);
}

/* The time of a run that was awaited together with later ones is not its own time. */
static void runs_that_overlap_teach_no_times(void **state)
{
    qn_ctx *ctx = open_costly(UNEVEN);
    addition a = add_up(ctx, N);
    struct qn_graph_route *r = settle(&a);
    const double usual = r->usual_us;

    (void)state;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 20; i++)
            must(qn_graph_run(a.graph, &failure));
        must(qn_graph_wait(a.graph, &failure));
    }
    assert_true(r->usual_us < 1.5 * usual);
    addition_free(&a);
    qn_ctx_close(ctx);
}

/* The cost of measuring. */

/* Time earned by other graphs of the op is not spent on this one. */
static void probes_of_a_small_graph_stay_within_its_own_time(void **state)
{
    qn_ctx *ctx = open_costly(TWO ",sim.slow.1=2000");
    addition a = add_up(ctx, N);
    qn_route_op *op = qn_router_op(ctx, "vadd");
    const struct qn_graph_route *r;
    double before;

    (void)state;
    r = settle(&a); /* the first probe, of an unknown device, may lose any amount */
    before = r->lost_us;
    for (int i = 0; i < 100; i++) {
        op->total_us = 1e9;
        op->decisions += 1000;
        run(&a, 100);
    }
    assert_true(r->own_us > 600000);
    assert_true(r->lost_us <= fmax(before, 0.005 * r->own_us));
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void device_that_proved_hopeless_gets_a_tenth_of_the_probes(void **state)
{
    qn_ctx *ctx = open_costly(TWO ",sim.slow.1=400");
    addition a = add_up(ctx, N);
    qn_route_op *op = qn_router_op(ctx, "vadd");
    struct qn_graph_route *r;
    double before;

    (void)state;
    r = settle(&a);
    r->hopeless = 1u << 2;
    r->lost_us = 0.0004 * r->own_us;
    op->total_us = 1e9;
    before = metric(ctx, "route_probe_total", NULL);
    for (int i = 0; i < 20; i++) {
        op->decisions += 1000;
        run(&a, 100);
    }
    assert_true(r->lost_us <= 0.0006 * r->own_us);
    assert_true(metric(ctx, "route_probe_total", NULL) - before <= 2);
    addition_free(&a);
    qn_ctx_close(ctx);
}

/* All stages of one run were slow, as when the machine was disturbed. Even graphs that run only a
 * few times must recover from that. */
static void one_bad_run_does_not_banish_a_device_from_large_graphs(void **state)
{
    qn_ctx *ctx = open_costly("sim.devices=2,sim.rate.1=4,sim.launch_us=1000");
    qn_route_op *op = qn_router_op(ctx, "vadd");
    addition a = add_up(ctx, N);

    (void)state;
    for (int i = 0; i < 4; i++) /* one for the cold start */
        qn_route_observe(op, 2, N, 3000);
    for (int i = 0; i < 8; i++)
        qn_route_observe(op, 1, N, 1000);
    op->decisions = 100000;
    op->total_us = 1e8;
    run(&a, 60);
    assert_int_equal(a.graph->stages[0].device, 2);
    addition_free(&a);
    qn_ctx_close(ctx);
}

/* Leftovers. */

/* A run in which the second device was probed, and the next. */
static void run_with_probe(addition *a)
{
    struct qn_graph_route *r = a->graph->route;
    qn_route_op *op = qn_router_op(a->ctx, "vadd");
    const double before = metric(a->ctx, "route_probe_total", NULL);

    op->total_us = r->own_us = 1e12;
    op->decisions += 100000;
    for (int i = 0; i < 300 && metric(a->ctx, "route_probe_total", NULL) == before; i++)
        run(a, 1);
    assert_true(metric(a->ctx, "route_probe_total", NULL) > before);
    assert_int_equal(r->tried_on, 2);
    run(a, 1);
}

static void copies_of_a_failed_probe_are_dropped(void **state)
{
    qn_ctx *ctx = open_costly(UNEVEN);
    addition a = add_up(ctx, N);
    const qn_buf *const arrays[] = { a.x, a.y, a.sum };

    (void)state;
    settle(&a);
    run_with_probe(&a);
    assert_int_equal(a.graph->route->tried_on, -1);
    assert_int_equal(a.graph->stages[0].device, 1);
    for (int i = 0; i < 3; i++)
        assert_null(arrays[i]->copies[2].block);
    assert_true(value_at(a.sum, 10) == 31.0f);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void copies_of_a_failed_trial_are_dropped(void **state)
{
    qn_ctx *ctx = open_costly(UNEVEN);
    addition a = add_up(ctx, N);
    const qn_buf *const arrays[] = { a.x, a.y, a.sum };
    struct qn_graph_route *r = settle(&a);
    qn_route_op *op = qn_router_op(ctx, "vadd");

    (void)state;
    op->total_us = r->own_us = 1e12;
    op->decisions += 100000;
    op->sampled_at[2] = op->decisions; /* no probe is due */
    r->hopeless = 0;
    r->trials.next_at[2] = 0;
    r->trials.seen_us[2] = 1.5 * r->usual_us; /* as it seemed once */
    for (int i = 0; i < 300 && r->trials.device < 0; i++)
        run(&a, 1);
    assert_int_equal(r->trials.device, 2);
    assert_non_null(a.x->copies[2].block);
    for (int i = 0; i < QN_TRIAL_RUNS && r->trials.device >= 0; i++)
        run(&a, 1);
    assert_int_equal(r->trials.device, -1);
    assert_int_equal(r->trials.held, -1);
    run(&a, 1);
    for (int i = 0; i < 3; i++)
        assert_null(arrays[i]->copies[2].block);
    assert_true(value_at(a.sum, 10) == 31.0f);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void copies_that_were_there_before_a_probe_stay(void **state)
{
    qn_ctx *ctx = open_costly(UNEVEN);
    addition a = add_up(ctx, N);

    (void)state;
    settle(&a);
    must(qn_buf_reserve(a.y, 2, &failure));
    run_with_probe(&a);
    assert_null(a.x->copies[2].block);
    assert_non_null(a.y->copies[2].block);
    addition_free(&a);
    qn_ctx_close(ctx);
}

/* Replays start from where the data are: a copy left on the other device would need a new
 * recording. */
static void run_after_a_probe_is_replayed_as_before(void **state)
{
    qn_ctx *ctx = open_costly(UNEVEN);
    addition a = add_up(ctx, N);
    uint64_t captures;

    (void)state;
    settle(&a);
    run_with_probe(&a);
    run(&a, 2);
    captures = qn_graph_get_stats(a.graph).captures;
    run_with_probe(&a);
    run(&a, 2);
    assert_int_equal(qn_graph_get_stats(a.graph).captures, captures);
    addition_free(&a);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_of_allocations_works),
        cmocka_unit_test(settled_run_reads_no_clock_takes_no_lock_and_no_memory),
        cmocka_unit_test(looks_take_a_small_part_of_the_time),
        cmocka_unit_test(graph_without_a_choice_is_looked_at_as_seldom),
        cmocka_unit_test(every_run_is_counted_in_the_end),
        cmocka_unit_test(change_of_a_link_or_a_device_is_seen_at_once),
        cmocka_unit_test(runs_that_overlap_teach_no_times),
        cmocka_unit_test(probes_of_a_small_graph_stay_within_its_own_time),
        cmocka_unit_test(device_that_proved_hopeless_gets_a_tenth_of_the_probes),
        cmocka_unit_test(one_bad_run_does_not_banish_a_device_from_large_graphs),
        cmocka_unit_test(copies_of_a_failed_probe_are_dropped),
        cmocka_unit_test(copies_of_a_failed_trial_are_dropped),
        cmocka_unit_test(copies_that_were_there_before_a_probe_stay),
        cmocka_unit_test(run_after_a_probe_is_replayed_as_before),
    };

    return cmocka_run_group_tests(tests, watch_allocator, NULL);
}
