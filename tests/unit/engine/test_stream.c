/* test_stream.c - points in the work of a device: what waits for what, and what does not.
 *
 * sim computes when work is submitted, so order shows in its clock: a copy that had to wait for a
 * kernel ends after it.
 */
#include "engine_counters.h"

#include "engine/plan/graph_impl.h"

enum { N = 1000 };

/* A kernel takes 1000 us and copies 10 us; everything else is free. */
#define SLOW                                                                                       \
    "sim.ns_per_item=1000,sim.launch_us=0,sim.gbps=1e9,sim.submit_us=0,"                           \
    "sim.h2d_us=10,sim.d2h_us=10,sim.h2d_gbps=1e9,sim.d2h_gbps=1e9"

typedef struct {
    qn_ctx *ctx;
    qn_device *device;
    qn_buf *x, *y, *z;
} fixture;

static fixture open_fixture(const char *fault)
{
    fixture r = { .ctx = open_sim(fault) };

    r.device = &r.ctx->devices[1];
    r.x = ramp(r.ctx, "x", N, 0, 1);
    r.y = ramp(r.ctx, "y", N, 1, 0);
    r.z = array_of(r.ctx, "z", N);
    return r;
}

static void close_fixture(fixture *r)
{
    qn_buf_free(r->x);
    qn_buf_free(r->y);
    qn_buf_free(r->z);
    assert_nothing_is_held(r->ctx);
    qn_ctx_close(r->ctx);
}

static double now(const fixture *r)
{
    return r->ctx->clock.host_us;
}

static void expect_us(double got, double want)
{
    if (got < want - 0.5 || got > want + 0.5)
        fail_msg("%g us, not %g", got, want);
}

static qn_graph *sum_graph(fixture *r, qn_buf *x, qn_buf *y, qn_buf *z, int stream)
{
    qn_graph *g;

    must(qn_graph_new(r->ctx, "g", &g, &failure));
    g->stream = stream;
    must(stage_vadd(g, "add", qn_range_1d(N), x, y, z, &failure));
    return g;
}

/* Points. */

static void point_zero_is_always_past(void **state)
{
    fixture r = open_fixture(SLOW);
    qn_err err;

    (void)state;
    for (int s = 0; s < QN_N_STREAMS; s++) {
        assert_true(qn_point_is_done(r.device, (qn_point){ s, 0 }));
        assert_int_equal(qn_point_await(r.device, (qn_point){ s, 0 }, &err), QN_OK);
        assert_int_equal(qn_stream_wait(r.device, QN_COMPUTE, (qn_point){ s, 0 }, &err), QN_OK);
    }
    assert_int_equal(qn_sim_live(r.device->dev), 2); /* host blocks of x and y: no event was made */
    close_fixture(&r);
}

static void points_of_one_stream_grow(void **state)
{
    fixture r = open_fixture(SLOW);
    const qn_point a = qn_stream_step(r.device, QN_UPLOAD), b = qn_stream_step(r.device, QN_UPLOAD);
    const qn_point other = qn_stream_step(r.device, QN_COMPUTE);

    (void)state;
    assert_int_equal(a.seq, 1);
    assert_int_equal(b.seq, 2);
    assert_int_equal(other.seq, 1);
    close_fixture(&r);
}

static void several_points_are_kept_one_per_stream(void **state)
{
    qn_points points = { { 0 } };

    (void)state;
    qn_points_add(&points, (qn_point){ QN_UPLOAD, 5 });
    qn_points_add(&points, (qn_point){ QN_UPLOAD, 3 }); /* already covered */
    qn_points_add(&points, (qn_point){ QN_COMPUTE + 2, 1 });
    assert_int_equal(points.seq[QN_UPLOAD], 5);
    assert_int_equal(points.seq[QN_COMPUTE + 2], 1);
    assert_int_equal(points.seq[QN_COMPUTE], 0);
}

/* The host does not wait. */

static void submission_returns_before_the_work_is_done(void **state)
{
    fixture r = open_fixture(SLOW);
    qn_graph *g = sum_graph(&r, r.x, r.y, r.z, 0);
    int polls = 0;

    (void)state;
    must(qn_graph_output(g, r.z, &failure));
    must(qn_graph_run(g, &failure));
    expect_us(now(&r), 0);
    assert_false(qn_graph_is_done(g));
    r.ctx->clock.host_us += 500; /* meanwhile the host works */
    assert_false(qn_graph_is_done(g));
    while (!qn_graph_is_done(g))
        polls++;
    assert_true(polls > 10);
    expect_us(now(&r), 1030); /* two uploads, kernel, download */
    must(qn_graph_wait(g, &failure));
    expect_us(now(&r), 1030);
    assert_true(value_at(r.z, 4) == 5);
    qn_graph_free(g);
    close_fixture(&r);
}

/* Reading a result waits only for that result, not for work submitted after it. */
static void reading_waits_only_as_long_as_it_must(void **state)
{
    fixture r = open_fixture(SLOW);
    qn_buf *w = array_of(r.ctx, "w", N);
    qn_graph *first = sum_graph(&r, r.x, r.y, r.z, 0), *second = sum_graph(&r, r.x, r.y, w, 1);
    void *host;

    (void)state;
    first->is_fenced = 1;
    must(qn_graph_output(first, r.z, &failure));
    must(qn_graph_run(first, &failure));
    must(qn_graph_run(second, &failure));
    must(qn_graph_wait(first, &failure));
    expect_us(now(&r), 1030);
    must(qn_buf_host(r.z, QN_HOST_READ, &host, &failure));
    expect_us(now(&r), 1030);
    assert_false(qn_graph_is_done(second));
    must(qn_graph_wait(second, &failure));
    expect_us(now(&r), 2020);
    qn_graph_free(first);
    qn_graph_free(second);
    qn_buf_free(w);
    close_fixture(&r);
}

/* The last step of the plan is a download that does not depend on the last stage. */
static void waiting_for_a_graph_covers_every_stream(void **state)
{
    fixture r = open_fixture(SLOW);
    qn_buf *w = array_of(r.ctx, "w", N);
    qn_graph *g = sum_graph(&r, r.x, r.y, r.z, 0);

    (void)state;
    must(stage_vadd(g, "more", qn_range_1d(N), r.x, r.x, w, &failure));
    must(qn_graph_output(g, r.z, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    for (int s = 0; s < QN_N_STREAMS; s++)
        assert_true(r.device->streams[s].done >= g->last[1].seq[s]);
    assert_true(now(&r) >= 2020);
    qn_graph_free(g);
    qn_buf_free(w);
    close_fixture(&r);
}

/* Streams wait for each other. */

static void read_after_write_across_streams_waits(void **state)
{
    fixture r = open_fixture(SLOW);
    qn_buf *w = array_of(r.ctx, "w", N);
    qn_graph *make = sum_graph(&r, r.x, r.y, r.z, 0), *use = sum_graph(&r, r.z, r.x, w, 1);

    (void)state;
    must(qn_graph_run(make, &failure));
    must(qn_graph_run(use, &failure));
    must(qn_graph_wait(use, &failure));
    expect_us(now(&r), 2020);
    assert_true(value_at(w, 10) == 21);
    qn_graph_free(make);
    qn_graph_free(use);
    qn_buf_free(w);
    close_fixture(&r);
}

/* Two streams read the same table; then it is replaced. The upload has to wait for both readers,
 * not only for the later one. */
static void overwriting_waits_for_readers_on_all_streams(void **state)
{
    (void)state;
    for (int replay = 0; replay < 2; replay++) {
        fixture r = open_fixture(replay ? SLOW : SLOW ",sim.replay=0");
        qn_buf *table = ramp(r.ctx, "table", N, 0, 1), *w = array_of(r.ctx, "w", 1);
        qn_buf *one = ramp(r.ctx, "one", 1, 1, 0);
        qn_graph *slow = sum_graph(&r, table, r.y, r.z, 0), *quick;
        const float five = 5;
        double start, end;

        must(qn_graph_new(r.ctx, "quick", &quick, &failure));
        quick->stream = 1;
        must(stage_vadd(quick, "quick", qn_range_1d(1), table, one, w, &failure));
        for (int run = 0; run < 3; run++) { /* until both are recorded */
            must(qn_graph_run(slow, &failure));
            must(qn_graph_run(quick, &failure));
            must(qn_ctx_sync(r.ctx, &failure));
        }
        start = now(&r);
        must(qn_graph_run(slow, &failure));  /* reads the table for 1000 us */
        must(qn_graph_run(quick, &failure)); /* reads it for 1 us, later */
        assert_int_equal(table->copies[1].used.seq[0] > r.device->streams[0].done, 1);
        assert_int_equal(table->copies[1].used.seq[1] > r.device->streams[1].done, 1);
        must(qn_buf_write(table, 0, &five, sizeof five, &failure));
        must(qn_graph_run(quick, &failure));
        must(qn_graph_wait(quick, &failure));
        end = now(&r);
        assert_true(end - start >= 1010);
        assert_true(value_at(w, 0) == 6);
        assert_true(value_at(r.z, 7) == 8);
        qn_graph_free(slow);
        qn_graph_free(quick);
        qn_buf_free(table);
        qn_buf_free(one);
        qn_buf_free(w);
        close_fixture(&r);
    }
}

/* Readers need not wait for readers: that makes a table shareable. */
static void readers_on_two_streams_do_not_wait_for_each_other(void **state)
{
    fixture r = open_fixture(SLOW);
    qn_buf *w = array_of(r.ctx, "w", N);
    qn_graph *a = sum_graph(&r, r.x, r.y, r.z, 0), *b = sum_graph(&r, r.x, r.y, w, 1);

    (void)state;
    must(qn_graph_run(a, &failure));
    must(qn_graph_run(b, &failure));
    must(qn_graph_run(a, &failure));
    must(qn_graph_run(b, &failure));
    assert_true(r.device->streams[1].seen[0] == 0); /* stream 1 never waited for stream 0 */
    must(qn_graph_wait(a, &failure));
    must(qn_graph_wait(b, &failure));
    qn_graph_free(a);
    qn_graph_free(b);
    qn_buf_free(w);
    close_fixture(&r);
}

static void host_write_waits_for_the_upload_only(void **state)
{
    fixture r = open_fixture(SLOW);
    qn_graph *g = sum_graph(&r, r.x, r.y, r.z, 0);
    const float nine = 9;

    (void)state;
    must(qn_graph_run(g, &failure));
    must(qn_buf_write(r.x, 0, &nine, sizeof nine, &failure));
    expect_us(now(&r), 20);             /* not 1020 */
    assert_true(value_at(r.z, 0) == 1); /* of the old x */
    qn_graph_free(g);
    close_fixture(&r);
}

/* A second device copies from the first; the first must not overwrite data still being read. */
static void peer_copy_is_protected_from_its_source(void **state)
{
    fixture r = open_fixture("sim.devices=2,sim.peer_us=700,sim.submit_us=0");
    qn_graph *make, *use, *again;
    qn_buf *w = array_of(r.ctx, "w", N);

    (void)state;
    make = sum_graph(&r, r.x, r.y, r.z, 0);
    use = sum_graph(&r, r.z, r.x, w, 0);
    again = sum_graph(&r, r.x, r.x, r.z, 0);
    must(qn_graph_pin(make, 0, "sim:0", &failure));
    must(qn_graph_pin(use, 0, "sim:1", &failure));
    must(qn_graph_pin(again, 0, "sim:0", &failure));
    must(qn_graph_run(make, &failure));
    must(qn_graph_run(use, &failure));
    assert_int_equal(qn_ctx_transfers(r.ctx).d2d_count, 1);
    assert_int_equal(r.z->copies[2].source, 1);
    must(qn_graph_run(again, &failure)); /* writes z on sim:0 */
    assert_true(qn_point_is_done(&r.ctx->devices[2], r.z->copies[2].arrived));
    assert_true(now(&r) >= 700);
    assert_true(value_at(w, 10) == 21);
    assert_true(value_at(r.z, 10) == 20);
    qn_graph_free(make);
    qn_graph_free(use);
    qn_graph_free(again);
    qn_buf_free(w);
    close_fixture(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(point_zero_is_always_past),
        cmocka_unit_test(points_of_one_stream_grow),
        cmocka_unit_test(several_points_are_kept_one_per_stream),
        cmocka_unit_test(submission_returns_before_the_work_is_done),
        cmocka_unit_test(reading_waits_only_as_long_as_it_must),
        cmocka_unit_test(waiting_for_a_graph_covers_every_stream),
        cmocka_unit_test(read_after_write_across_streams_waits),
        cmocka_unit_test(overwriting_waits_for_readers_on_all_streams),
        cmocka_unit_test(readers_on_two_streams_do_not_wait_for_each_other),
        cmocka_unit_test(host_write_waits_for_the_upload_only),
        cmocka_unit_test(peer_copy_is_protected_from_its_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
