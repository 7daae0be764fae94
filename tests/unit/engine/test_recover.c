/* test_recover.c - devices that die after work was submitted, and other failures that show late.
 *
 * sim.fail_at=N: the N-th launch and all later ones do nothing, downloads bring poison, and the
 * first caller to wait gets the error. sim.refuse_at=N: the N-th launch is refused when it is
 * submitted.
 */
#include "engine_counters.h"

#include "engine/plan/graph_impl.h"

enum { N = 2000 };

#define LOST                                                                                       \
    "^\\[GPU\\] [a-z0-9]+ failed: (download of [a-z]+: )?device sim:0 (is|was) lost\\. CPU "       \
    "fallback\\.\n"

/* Three arrays, a graph, and captured stderr. */
typedef struct {
    qn_ctx *ctx;
    qn_buf *x, *y, *z;
    qn_graph *g;
    char text[2000];
} fixture;

static fixture open_fixture(const char *fault)
{
    fixture r = { .ctx = open_sim(fault) };

    r.x = ramp(r.ctx, "x", N, 0, 1);
    r.y = ramp(r.ctx, "y", N, 1, 0);
    r.z = array_of(r.ctx, "z", N);
    must(qn_graph_new(r.ctx, "g", &r.g, &failure));
    return r;
}

static void close_fixture(fixture *r)
{
    qn_graph_free(r->g);
    qn_buf_free(r->x);
    qn_buf_free(r->y);
    qn_buf_free(r->z);
    assert_nothing_is_held(r->ctx);
    qn_ctx_close(r->ctx);
}

static qn_graph *new_graph(fixture *r, const char *name)
{
    qn_graph *g;

    must(qn_graph_new(r->ctx, name, &g, &failure));
    return g;
}

/* A fixture whose graph makes z = x + y. */
static fixture open_sum(const char *fault)
{
    fixture r = open_fixture(fault);

    must(stage_vadd(r.g, "add", qn_range_1d(N), r.x, r.y, r.z, &failure));
    return r;
}

/* Runs or awaits a graph, which reports `n_lines` fallbacks. */
static void run_tells(fixture *r, qn_graph *g, int n_lines)
{
    CAPTURE_STDERR(r->text, sizeof r->text, assert_int_equal(qn_graph_run(g, &failure), QN_OK));
    assert_int_equal(fallback_lines(r->text), n_lines);
}

static void wait_tells(fixture *r, qn_status want, int n_lines)
{
    CAPTURE_STDERR(r->text, sizeof r->text, assert_int_equal(qn_graph_wait(r->g, &failure), want));
    assert_int_equal(fallback_lines(r->text), n_lines);
}

static void check_all(qn_buf *buf, float first, float step)
{
    static float got[N];

    must(qn_buf_read(buf, 0, got, sizeof got, &failure));
    for (int i = 0; i < N; i++)
        if (got[i] != first + step * (float)i)
            fail_msg("%s[%d] = %g", qn_buf_name(buf), i, got[i]);
}

static void death_found_by_waiting_reruns_the_graph(void **state)
{
    (void)state;
    for (int outputs = 0; outputs < 2; outputs++) {
        fixture r = open_sum("sim.fail_at=1");

        if (outputs)
            must(qn_graph_output(r.g, r.z, &failure));
        run_tells(&r, r.g, 0); /* the failure has not shown yet */
        wait_tells(&r, QN_OK, 1);
        assert_true(matches(r.text, LOST));
        assert_true(fallbacks(r.ctx, "add", "device_lost") == 1);
        assert_true(count_of(r.ctx, "gpu_total_failures") == 1);
        check_all(r.z, 1, 1);

        run_tells(&r, r.g, 1);
        assert_true(
            matches(r.text, "^\\[GPU\\] add failed: device sim:0 was lost\\. CPU fallback\\.\n$"));
        check_all(r.z, 1, 1);
        close_fixture(&r);
    }
}

/* Read without waiting. */

typedef float (*reader)(fixture *r);

static float read_all(fixture *r)
{
    static float got[N];

    must(qn_buf_read(r->z, 0, got, sizeof got, &failure));
    return got[7];
}

static float read_part(fixture *r)
{
    return value_at(r->z, 7);
}

static float read_rows(fixture *r)
{
    float got[4];

    must(qn_buf_read_rect(r->z, 7 * sizeof(float), sizeof(float), 4, 400, got, &failure));
    assert_true(got[3] == 8 + 300);
    return got[0];
}

static float read_host(fixture *r)
{
    void *host;

    must(qn_buf_host(r->z, QN_HOST_READ, &host, &failure));
    return ((float *)host)[7];
}

static float write_one(fixture *r)
{
    const float five = 5;

    must(qn_buf_write(r->z, 0, &five, sizeof five, &failure));
    assert_true(value_at(r->z, 0) == 5);
    return value_at(r->z, 7);
}

static float read_view(fixture *r)
{
    qn_buf *view;
    float got;

    must(qn_buf_view(r->z, "view", 7 * sizeof(float), 8, &view, &failure));
    got = value_at(view, 0);
    qn_buf_free(view);
    return got;
}

static void death_found_by_reading_reruns_the_graph(void **state)
{
    static const reader readers[] = { read_all,  read_part, read_rows,
                                      read_host, write_one, read_view };

    (void)state;
    for (size_t i = 0; i < 2 * sizeof readers / sizeof *readers; i++) {
        fixture r = open_sum("sim.fail_at=1");
        float got = 0;

        if (i % 2)
            must(qn_graph_output(r.g, r.z, &failure));
        must(qn_graph_run(r.g, &failure));
        CAPTURE_STDERR(r.text, sizeof r.text, got = readers[i / 2](&r));
        assert_int_equal(fallback_lines(r.text), 1);
        assert_true(matches(r.text, LOST));
        assert_true(got == 8);
        wait_tells(&r, QN_OK, 0); /* once is enough */
        close_fixture(&r);
    }
}

static qn_status double_it(void *user, void *const *data, qn_err *err)
{
    float *z = data[0];

    (void)err;
    ++*(int *)user;
    for (int i = 0; i < N; i++)
        z[i] *= 2;
    return QN_OK;
}

static void death_found_by_a_host_stage_reruns_the_graph(void **state)
{
    const qn_arg_mode inout[] = { QN_ARG_INOUT };
    fixture r = open_sum("sim.fail_at=1");
    int calls = 0;

    (void)state;
    must(qn_graph_host(r.g, "double", double_it, &calls, &r.z, inout, 1, &failure));
    run_tells(&r, r.g, 1);
    assert_true(
        fallbacks(r.ctx, "double", "device_lost") + fallbacks(r.ctx, "add", "device_lost") == 1);
    assert_int_equal(calls, 1);
    check_all(r.z, 2, 2);
    close_fixture(&r);
}

static void waiting_for_the_context_tells_and_waiting_for_the_graph_mends(void **state)
{
    fixture r = open_sum("sim.fail_at=1");

    (void)state;
    must(qn_graph_run(r.g, &failure));
    assert_int_equal(qn_ctx_sync(r.ctx, &failure), QN_ERR_DEVICE_LOST);
    wait_tells(&r, QN_OK, 1);
    check_all(r.z, 1, 1);
    close_fixture(&r);
}

static void forbidden_fallback_makes_the_wait_fail(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim", .fault = "sim.fail_at=1", .fallback = QN_FALLBACK_ERROR));
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *z = array_of(ctx, "z", N);
    qn_graph *g;
    float got;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_vadd(g, "add", qn_range_1d(N), x, x, z, &failure));
    must(qn_graph_run(g, &failure));
    assert_int_equal(qn_graph_wait(g, &failure), QN_ERR_FALLBACK);
    assert_string_equal(failure.text,
                        "stage add failed (device sim:0 is lost) and fallback is forbidden");
    assert_int_equal(qn_buf_read(z, 0, &got, 4, &failure), QN_ERR_FALLBACK);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(z);
    qn_ctx_close(ctx);
}

static qn_status count_calls(void *user, void *const *data, qn_err *err)
{
    (void)data;
    (void)err;
    ++*(int *)user;
    return QN_OK;
}

/* The data a rerun starts from. */

static void array_changed_in_place_is_rerun_from_the_host(void **state)
{
    fixture r = open_fixture("sim.fail_at=2");

    (void)state;
    must(stage_saxpy(r.g, "first", qn_range_1d(N), 1.0f, r.x, r.y, &failure));
    must(stage_saxpy(r.g, "second", qn_range_1d(N), 2.0f, r.x, r.y, &failure));
    must(qn_graph_run(r.g, &failure));
    wait_tells(&r, QN_OK, 1);
    check_all(r.y, 1, 3);
    close_fixture(&r);
}

static void array_that_lived_only_on_the_device_is_named(void **state)
{
    fixture r = open_fixture("sim.fail_at=2");

    (void)state;
    must(stage_saxpy(r.g, "first", qn_range_1d(N), 1.0f, r.x, r.y, &failure));
    must(qn_graph_run(r.g, &failure));
    must(qn_graph_wait(r.g, &failure));
    must(qn_graph_run(r.g, &failure));
    wait_tells(&r, QN_ERR_DEVICE_LOST, 1);
    assert_string_equal(failure.text, "buffer y: the host does not have what the run started from");
    close_fixture(&r);
}

/* In any run: the first is submitted, later ones are replayed or submitted as recorded. The array's
 * two host blocks are swapped each time. */
static void array_downloaded_in_place_is_rerun_from_the_host(void **state)
{
    (void)state;
    for (int last = 1; last <= 6; last++)
        for (int replay = 0; replay < 2; replay++) {
            char fault[64], text[2000];
            fixture r;

            snprintf(fault, sizeof fault, "sim.fail_at=%d,sim.replay=%d", last, replay);
            r = open_fixture(fault);
            must(stage_saxpy(r.g, "first", qn_range_1d(N), 1.0f, r.x, r.y, &failure));
            must(qn_graph_output(r.g, r.y, &failure));
            for (int run = 1; run <= last; run++) {
                must(qn_graph_run(r.g, &failure));
                CAPTURE_STDERR(text, sizeof text,
                               assert_int_equal(qn_graph_wait(r.g, &failure), QN_OK));
                assert_int_equal(fallback_lines(text), run == last);
                check_all(r.y, 1, (float)run);
            }
            assert_true(last < 5 || qn_graph_get_stats(r.g).replays > 1);
            close_fixture(&r);
        }
}

/* The download is not the last step of the run: a host stage reads the array in between. */
static void array_downloaded_for_a_host_stage_is_rerun_from_the_host(void **state)
{
    const qn_arg_mode modes[] = { QN_ARG_IN };
    fixture r = open_fixture("sim.fail_at=2");
    char text[2000];
    int calls = 0;

    (void)state;
    must(stage_saxpy(r.g, "first", qn_range_1d(N), 1.0f, r.x, r.y, &failure));
    must(qn_graph_host(r.g, "look", count_calls, &calls, &r.y, modes, 1, &failure));
    must(stage_saxpy(r.g, "second", qn_range_1d(N), 2.0f, r.x, r.y, &failure));
    must(qn_graph_output(r.g, r.y, &failure));
    must(qn_graph_run(r.g, &failure));
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_wait(r.g, &failure), QN_OK));
    assert_int_equal(fallback_lines(text), 1);
    assert_int_equal(calls, 2);
    check_all(r.y, 1, 3);
    close_fixture(&r);
}

static void wrapped_array_downloaded_in_place_is_named(void **state)
{
    static float mine[N];
    fixture r = open_fixture("sim.fail_at=1");
    char text[2000];
    qn_buf *wrapped;

    (void)state;
    must(qn_buf_wrap(r.ctx, "mine", mine, sizeof mine, &wrapped, &failure));
    must(stage_saxpy(r.g, "first", qn_range_1d(N), 1.0f, r.x, wrapped, &failure));
    must(qn_graph_output(r.g, wrapped, &failure));
    must(qn_graph_run(r.g, &failure));
    CAPTURE_STDERR(text, sizeof text,
                   assert_int_equal(qn_graph_wait(r.g, &failure), QN_ERR_DEVICE_LOST));
    assert_string_equal(failure.text,
                        "buffer mine: the host does not have what the run started from");
    qn_graph_free(r.g);
    r.g = NULL;
    qn_buf_free(wrapped);
    close_fixture(&r);
}

static void inputs_written_since_the_run_are_not_clobbered(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        fixture r = open_sum("sim.fail_at=1");
        qn_buf *changed = which ? r.z : r.x;
        static float nines[N];

        for (int i = 0; i < N; i++)
            nines[i] = 9;
        must(qn_graph_run(r.g, &failure));
        must(qn_buf_write(changed, 0, nines, sizeof nines, &failure));
        wait_tells(&r, QN_ERR_DEVICE_LOST, 1);
        assert_non_null(
            strstr(failure.text, which ? "buffer z was written since the run that failed"
                                       : "buffer x was written since the run that failed"));
        check_all(changed, 9, 0);
        close_fixture(&r);
    }
}

/* Several graphs. */

/* `make` writes t, `use` reads it; both are in flight when the device dies under the first. */
static void graphs_that_build_on_each_other_are_all_rerun(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        fixture r = open_fixture("sim.fail_at=1");
        qn_buf *t = array_of(r.ctx, "t", N);
        qn_graph *make = new_graph(&r, "make"), *use = new_graph(&r, "use");

        must(stage_vadd(make, "make", qn_range_1d(N), r.x, r.x, t, &failure));
        must(stage_vadd(use, "use", qn_range_1d(N), t, r.y, r.z, &failure));
        must(qn_graph_run(make, &failure));
        must(qn_graph_run(use, &failure));
        CAPTURE_STDERR(r.text, sizeof r.text, {
            if (order < 2)
                assert_int_equal(qn_graph_wait(order ? make : use, &failure), QN_OK);
            assert_int_equal(qn_graph_wait(order ? use : make, &failure), QN_OK);
        });
        assert_int_equal(fallback_lines(r.text), 2);
        assert_true(fallbacks(r.ctx, "make", "device_lost") == 1);
        assert_true(fallbacks(r.ctx, "use", "device_lost") == 1);
        assert_true(count_of(r.ctx, "gpu_total_failures") == 1);
        check_all(t, 0, 2);
        check_all(r.z, 1, 2);
        qn_graph_free(make);
        qn_graph_free(use);
        qn_buf_free(t);
        close_fixture(&r);
    }
}

/* The second run is submitted before the death of the device under the first has shown. */
static void run_after_an_unnoticed_death_is_right(void **state)
{
    fixture r = open_sum("sim.fail_at=1");
    qn_graph *next = new_graph(&r, "next");

    (void)state;
    must(stage_saxpy(next, "more", qn_range_1d(N), 1.0f, r.x, r.z, &failure));
    must(qn_graph_run(r.g, &failure));
    CAPTURE_STDERR(r.text, sizeof r.text, {
        assert_int_equal(qn_graph_run(r.g, &failure), QN_OK);
        assert_int_equal(qn_graph_wait(r.g, &failure), QN_OK);
        assert_int_equal(qn_graph_run(next, &failure), QN_OK); /* the device is avoided */
    });
    assert_true(fallback_lines(r.text) >= 2);
    check_all(r.z, 1, 2);
    qn_graph_free(next);
    close_fixture(&r);
}

static void another_graph_learns_of_the_death_from_its_inputs(void **state)
{
    fixture r = open_sum("sim.fail_at=1");
    qn_graph *next = new_graph(&r, "next");

    (void)state;
    must(stage_saxpy(next, "more", qn_range_1d(N), 1.0f, r.x, r.z, &failure));
    must(qn_graph_run(r.g, &failure));
    assert_int_equal(qn_ctx_sync(r.ctx, &failure), QN_ERR_DEVICE_LOST);
    run_tells(&r, next, 2);
    check_all(r.z, 1, 2);
    must(qn_graph_wait(r.g, &failure));
    qn_graph_free(next);
    close_fixture(&r);
}

static void second_device_is_not_blamed_for_the_first(void **state)
{
    fixture r = open_fixture("sim.devices=2,device_lost:first*1");

    (void)state;
    must(stage_vadd(r.g, "first", qn_range_1d(N), r.x, r.y, r.z, &failure));
    must(stage_saxpy(r.g, "second", qn_range_1d(N), 1.0f, r.x, r.z, &failure));
    must(qn_graph_pin(r.g, 0, "sim:0", &failure));
    must(qn_graph_pin(r.g, 1, "sim:1", &failure));
    run_tells(&r, r.g, 1);
    check_all(r.z, 1, 2);
    assert_true(r.ctx->devices[1].lost);
    assert_false(r.ctx->devices[2].lost);
    run_tells(&r, r.g, 1);
    assert_true(count_of(r.ctx, "gpu_ops") == 1); /* `second`, on the device that is left */
    check_all(r.z, 1, 2);
    close_fixture(&r);
}

/* Refused while it was submitted. */

static fixture open_two_steps(const char *fault)
{
    fixture r = open_fixture(fault);

    must(stage_saxpy(r.g, "first", qn_range_1d(N), 1.0f, r.x, r.y, &failure));
    must(stage_saxpy(r.g, "second", qn_range_1d(N), 2.0f, r.x, r.y, &failure));
    return r;
}

/* Third run of recorded steps: the first stage has run when the second is refused. */
static void refusal_in_recorded_steps_goes_on_where_it_stood(void **state)
{
    fixture r = open_two_steps("sim.replay=0,sim.refuse_at=8");

    (void)state;
    for (int run = 0; run < 3; run++)
        must(qn_graph_run(r.g, &failure));
    run_tells(&r, r.g, 1);
    assert_true(qn_graph_get_stats(r.g).replays >= 1);
    assert_true(fallbacks(r.ctx, "second", "launch") == 1);
    check_all(r.y, 1, 12);
    must(qn_graph_run(r.g, &failure));
    check_all(r.y, 1, 15);
    close_fixture(&r);
}

/* A stage in several launches, the second of which is refused: half of the stage has been
 * applied. */
static void refusal_between_the_parts_of_a_stage_reruns_the_graph(void **state)
{
    (void)state;
    for (int at = 1; at <= 4; at++) { /* two stages of two parts each */
        char fault[64];
        fixture r;

        snprintf(fault, sizeof fault, "sim.max_grid=1,sim.refuse_at=%d", at);
        r = open_two_steps(fault);
        run_tells(&r, r.g, 1);
        check_all(r.y, 1, 3);
        must(qn_graph_run(r.g, &failure));
        check_all(r.y, 1, 6);
        close_fixture(&r);
    }
}

/* The device that timed out holds a wrong copy of data that the rerun corrected, with the same
 * number of writes; that copy must not count as valid. */
static void copy_from_before_a_rerun_is_not_believed(void **state)
{
    fixture r = open_fixture("corrupt:first*1,timeout:second*1");

    (void)state;
    must(stage_saxpy(r.g, "first", qn_range_1d(N), 1.0f, r.x, r.y, &failure));
    must(stage_vadd(r.g, "second", qn_range_1d(N), r.x, r.y, r.z, &failure));
    run_tells(&r, r.g, 1);
    check_all(r.y, 1, 1);
    must(qn_graph_run(r.g, &failure));
    check_all(r.y, 1, 2);
    check_all(r.z, 1, 3);
    close_fixture(&r);
}

/* A replay in which the device dies: the same report and the same recovery. */
static void death_in_a_replay_reruns_the_graph(void **state)
{
    fixture r = open_sum("sim.fail_at=5");

    (void)state;
    for (int run = 0; run < 4; run++)
        must(qn_graph_run(r.g, &failure));
    must(qn_graph_wait(r.g, &failure));
    assert_true(qn_graph_get_stats(r.g).replays >= 2);
    must(qn_graph_run(r.g, &failure));
    wait_tells(&r, QN_OK, 1);
    check_all(r.z, 1, 1);
    close_fixture(&r);
}

/* Freeing. */

/* Buffers first, or the graph first: neither order may hang, leak or touch freed memory. */
static void everything_can_be_freed_while_the_device_dies(void **state)
{
    (void)state;
    for (int graph_first = 0; graph_first < 2; graph_first++) {
        fixture r = open_sum("sim.fail_at=1");
        qn_buf *t;

        must(qn_graph_temp(r.g, "t", N * sizeof(float), &t, &failure));
        must(stage_vadd(r.g, "temp", qn_range_1d(N), r.x, r.z, t, &failure));
        must(qn_graph_output(r.g, r.z, &failure));
        must(qn_graph_run(r.g, &failure));
        CAPTURE_STDERR(r.text, sizeof r.text, {
            if (graph_first)
                qn_graph_free(r.g);
            qn_buf_free(r.x);
            qn_buf_free(r.y);
            qn_buf_free(r.z);
            if (!graph_first)
                qn_graph_free(r.g);
        });
        assert_int_equal(fallback_lines(r.text), 1);
        assert_nothing_is_held(r.ctx);
        qn_ctx_close(r.ctx);
    }
}

/* Work in flight holds what it uses. */
static void buffer_freed_in_flight_is_not_reused_too_early(void **state)
{
    fixture r = open_fixture("sim.ns_per_item=1000");
    qn_buf *t = array_of(r.ctx, "t", N), *u = array_of(r.ctx, "u", N);
    const qn_mem *mem;
    double end_us;

    (void)state;
    must(stage_vadd(r.g, "slow", qn_range_1d(N), r.x, r.y, t, &failure));
    must(qn_graph_run(r.g, &failure));
    mem = t->copies[1].block->mem;
    end_us = r.ctx->clock.host_us + N; /* 1 us per item */
    r.g->bufs[2].root->refs--;         /* the graph drops its reference: only the work still uses
                                        * it */
    qn_buf_free(t);
    r.g->bufs[2].root = u;
    u->refs++;
    must(qn_buf_need_block(u, &r.ctx->devices[1], "test", 1, &(qn_err){ 0 }) == QN_OK
             ? QN_OK
             : QN_ERR_FAILED);
    assert_true(r.ctx->clock.host_us < end_us);
    assert_ptr_not_equal(u->copies[1].block->mem, mem);
    qn_buf_free(u);
    close_fixture(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(death_found_by_waiting_reruns_the_graph),
        cmocka_unit_test(death_found_by_reading_reruns_the_graph),
        cmocka_unit_test(death_found_by_a_host_stage_reruns_the_graph),
        cmocka_unit_test(waiting_for_the_context_tells_and_waiting_for_the_graph_mends),
        cmocka_unit_test(forbidden_fallback_makes_the_wait_fail),
        cmocka_unit_test(array_changed_in_place_is_rerun_from_the_host),
        cmocka_unit_test(array_that_lived_only_on_the_device_is_named),
        cmocka_unit_test(array_downloaded_in_place_is_rerun_from_the_host),
        cmocka_unit_test(array_downloaded_for_a_host_stage_is_rerun_from_the_host),
        cmocka_unit_test(wrapped_array_downloaded_in_place_is_named),
        cmocka_unit_test(inputs_written_since_the_run_are_not_clobbered),
        cmocka_unit_test(graphs_that_build_on_each_other_are_all_rerun),
        cmocka_unit_test(run_after_an_unnoticed_death_is_right),
        cmocka_unit_test(another_graph_learns_of_the_death_from_its_inputs),
        cmocka_unit_test(second_device_is_not_blamed_for_the_first),
        cmocka_unit_test(refusal_in_recorded_steps_goes_on_where_it_stood),
        cmocka_unit_test(refusal_between_the_parts_of_a_stage_reruns_the_graph),
        cmocka_unit_test(copy_from_before_a_rerun_is_not_believed),
        cmocka_unit_test(death_in_a_replay_reruns_the_graph),
        cmocka_unit_test(everything_can_be_freed_while_the_device_dies),
        cmocka_unit_test(buffer_freed_in_flight_is_not_reused_too_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
