/* test_cuda_graph.c - captured work of the CUDA backend: what is recorded, replayed and updated,
 * and the state after a failure in between. */
/* test: cuda-mock */
#include "mock/cuda_fixture.h"

enum { N = 64 };

/* x is 1 and y is 0 on the device, so y sums the `a` of all launches. */
typedef struct work {
    fixture *f;
    float x[N], y[N], got[N];
    qn_mem *mem_x, *mem_y;
    qn_replay *replay;
    float a; /* of `call_with` */
    qn_launch_arg args[3];
} work;

static int set_up(void **state)
{
    static work w;
    const int failed = setup(state);

    w = (work){ .f = *state };
    for (int i = 0; i < N; i++)
        w.x[i] = 1.0f;
    w.mem_x = alloc_with(w.f, w.x, sizeof w.x);
    w.mem_y = alloc_with(w.f, w.y, sizeof w.y);
    must_do(w.f, cu->sync(w.f->dev, &w.f->err));
    *state = &w;
    return failed;
}

static int tear_down(void **state)
{
    work *w = *state;

    cu->replay_free(w->f->dev, w->replay);
    *state = w->f;
    return teardown(state);
}

static void begin(work *w)
{
    must_do(w->f, cu->capture_begin(w->f->dev, QN_COMPUTE, &w->f->err));
}

static void end(work *w)
{
    must_do(w->f, cu->capture_end(w->f->dev, QN_COMPUTE, &w->replay, &w->f->err));
}

static void replay(work *w)
{
    must_do(w->f, cu->replay(w->f->dev, w->replay, QN_COMPUTE, &w->f->err));
}

static void expect_y(work *w, float expected)
{
    read_back(w->f, w->mem_y, w->got, sizeof w->got);
    assert_all_equal(w->got, N, expected);
}

static void add(work *w, float a, qn_stream on)
{
    must_do(w->f, launch_saxpy(w->f, a, w->mem_x, w->mem_y, N, on));
}

static qn_launch call_with(work *w, float a)
{
    w->a = a;
    return saxpy_call(w->f, w->args, &w->a, w->mem_x, w->mem_y, N, QN_COMPUTE);
}

/* Two launches that together add 11. */
static void capture_two(work *w)
{
    begin(w);
    add(w, 1.0f, QN_COMPUTE);
    add(w, 10.0f, QN_COMPUTE);
    end(w);
}

static void expect_stream_works(work *w, float before)
{
    add(w, 1.0f, QN_COMPUTE);
    expect_y(w, before + 1.0f);
}

static void captured_work_runs_when_replayed(void **state)
{
    work *w = *state;
    fixture *f = w->f;

    capture_two(w);
    expect_y(w, 0.0f);
    replay(w);
    replay(w);
    expect_y(w, 22.0f);
    must_do(f, cu->replay(f->dev, w->replay, QN_COMPUTE + 1, &f->err));
    expect_y(w, 33.0f);
}

static void update_changes_the_replays_that_follow(void **state)
{
    work *w = *state;
    fixture *f = w->f;
    qn_launch call = call_with(w, 20.0f);

    capture_two(w);
    replay(w);
    must_do(f, cu->update(f->dev, w->replay, 1, &call, &f->err));
    expect_y(w, 11.0f); /* queued before the update */
    replay(w);
    expect_y(w, 11.0f + 21.0f);
}

static void update_of_a_launch_that_is_not_there_is_refused(void **state)
{
    work *w = *state;
    fixture *f = w->f;
    qn_launch call = call_with(w, 20.0f);

    capture_two(w);
    assert_int_equal(cu->update(f->dev, w->replay, 2, &call, &f->err), QN_ERR_LAUNCH);
    assert_string_equal(f->err.text, "launch 2 of a recording of 2");
    call.group[0] = 1024;
    assert_int_equal(cu->update(f->dev, w->replay, 1, &call, &f->err), QN_ERR_LIMIT);
}

static void many_launches_keep_their_numbers(void **state)
{
    enum { MANY = 300 };
    work *w = *state;
    fixture *f = w->f;
    qn_launch call = call_with(w, 1000.0f);

    begin(w);
    for (int i = 0; i < MANY; i++)
        add(w, i == MANY - 1 ? 7.0f : 1.0f, QN_COMPUTE);
    end(w);
    must_do(f, cu->update(f->dev, w->replay, MANY - 1, &call, &f->err));
    replay(w);
    expect_y(w, (float)(MANY - 1) + 1000.0f);
}

/* Uploads, launches and downloads on three streams, joined by events at both ends. */
static void streams_join_a_capture_by_waiting_for_it(void **state)
{
    work *w = *state;
    fixture *f = w->f;
    float first[N], result[N];
    qn_event *begun = NULL, *uploaded = NULL, *computed = NULL, *back = NULL;

    begin(w);
    must_do(f, cu->record(f->dev, QN_COMPUTE, &begun, &f->err));
    must_do(f, cu->wait(f->dev, QN_UPLOAD, begun, &f->err));
    must_do(f, cu->upload(f->dev, w->mem_y, 0, first, sizeof first, QN_UPLOAD, &f->err));
    must_do(f, cu->record(f->dev, QN_UPLOAD, &uploaded, &f->err));
    must_do(f, cu->wait(f->dev, QN_COMPUTE, uploaded, &f->err));
    add(w, 4.0f, QN_COMPUTE);
    must_do(f, cu->record(f->dev, QN_COMPUTE, &computed, &f->err));
    must_do(f, cu->wait(f->dev, QN_DOWNLOAD, computed, &f->err));
    must_do(f, cu->download(f->dev, w->mem_y, 0, result, sizeof result, QN_DOWNLOAD, &f->err));
    must_do(f, cu->record(f->dev, QN_DOWNLOAD, &back, &f->err));
    must_do(f, cu->wait(f->dev, QN_COMPUTE, back, &f->err));
    end(w);
    cu->drop(f->dev, begun);
    cu->drop(f->dev, uploaded);
    cu->drop(f->dev, computed);
    cu->drop(f->dev, back);

    for (int run = 0; run < 3; run++) {
        for (int i = 0; i < N; i++)
            first[i] = (float)run;
        replay(w);
        must_do(f, cu->sync(f->dev, &f->err));
        assert_all_equal(result, N, (float)run + 4.0f);
    }
}

static void empty_capture_replays_as_nothing(void **state)
{
    work *w = *state;

    begin(w);
    end(w);
    replay(w);
    expect_stream_works(w, 0.0f);
}

static void work_beside_a_capture_runs_at_once(void **state)
{
    work *w = *state;
    fixture *f = w->f;
    qn_event *event = NULL;

    begin(w);
    add(w, 100.0f, QN_COMPUTE);
    add(w, 1.0f, QN_COMPUTE + 1);
    must_do(f, cu->record(f->dev, QN_COMPUTE + 1, &event, &f->err));
    must_do(f, cu->await(f->dev, event, &f->err));
    cu->drop(f->dev, event);
    end(w);
    expect_y(w, 1.0f);
    replay(w);
    expect_y(w, 101.0f);
}

/* Failures. */

static void event_of_a_capture_has_no_time_and_does_no_harm(void **state)
{
    work *w = *state;
    fixture *f = w->f;
    qn_event *event = NULL;

    begin(w);
    add(w, 1.0f, QN_COMPUTE);
    must_do(f, cu->record(f->dev, QN_COMPUTE, &event, &f->err));
    assert_int_equal(cu->is_done(f->dev, event), 0);
    assert_int_equal(cu->await(f->dev, event, &f->err), QN_ERR_LAUNCH);
    assert_true(cu->elapsed_us(f->dev, event, event) < 0.0);
    end(w);
    replay(w);
    expect_y(w, 1.0f);
    cu->drop(f->dev, event);
}

static void stream_that_does_not_come_back_spoils_the_capture(void **state)
{
    work *w = *state;
    fixture *f = w->f;
    qn_event *event = NULL;

    begin(w);
    add(w, 1.0f, QN_COMPUTE);
    must_do(f, cu->record(f->dev, QN_COMPUTE, &event, &f->err));
    must_do(f, cu->wait(f->dev, QN_COMPUTE + 1, event, &f->err));
    add(w, 1.0f, QN_COMPUTE + 1);
    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &w->replay, &f->err), QN_ERR_LAUNCH);
    assert_null(w->replay);
    cu->drop(f->dev, event);
    expect_stream_works(w, 0.0f);
}

static void wait_for_work_outside_spoils_the_capture(void **state)
{
    work *w = *state;
    fixture *f = w->f;
    qn_event *event = NULL;

    add(w, 1.0f, QN_COMPUTE + 1);
    must_do(f, cu->record(f->dev, QN_COMPUTE + 1, &event, &f->err));
    begin(w);
    assert_int_equal(cu->wait(f->dev, QN_COMPUTE, event, &f->err), QN_ERR_LAUNCH);
    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &w->replay, &f->err), QN_ERR_LAUNCH);
    assert_memory_equal(f->err.text, "cuStreamWaitEvent:", strlen("cuStreamWaitEvent:"));
    cu->drop(f->dev, event);
    expect_stream_works(w, 1.0f);
}

static void refused_launch_spoils_the_capture_with_its_own_words(void **state)
{
    work *w = *state;
    fixture *f = w->f;
    qn_launch call = call_with(w, 1.0f);

    call.group[0] = 512;
    begin(w);
    assert_int_equal(cu->launch(f->dev, &call, &f->err), QN_ERR_LIMIT);
    add(w, 1.0f, QN_COMPUTE);
    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &w->replay, &f->err), QN_ERR_LIMIT);
    assert_string_equal(f->err.text, "kernel saxpy: group of 512 exceeds its limit 256");
    assert_null(w->replay);
    expect_stream_works(w, 0.0f);
}

static void failures_inside_a_capture_leave_the_stream_usable(void **state)
{
    static const char *const entries[] = { "cuLaunchKernel", "cuStreamGetCaptureInfo_v3",
                                           "cuMemcpyHtoDAsync_v2", "cuGraphInstantiateWithFlags" };
    work *w = *state;
    fixture *f = w->f;

    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        begin(w);
        mock_cuda_fail(entries[i], 1, CUDA_ERROR_OUT_OF_MEMORY);
        launch_saxpy(f, 1.0f, w->mem_x, w->mem_y, N, QN_COMPUTE);
        cu->upload(f->dev, w->mem_x, 0, w->x, sizeof w->x, QN_COMPUTE, &f->err);
        assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &w->replay, &f->err), QN_ERR_NOMEM);
        assert_null(w->replay);
        expect_stream_works(w, (float)i);
    }
}

static void capture_that_was_never_ended_does_not_hinder_the_next(void **state)
{
    work *w = *state;

    begin(w);
    add(w, 100.0f, QN_COMPUTE);
    capture_two(w);
    replay(w);
    expect_y(w, 11.0f);
    begin(w); /* teardown closes while it is open */
}

static void end_without_begin_is_refused(void **state)
{
    work *w = *state;
    fixture *f = w->f;
    qn_replay *replay = NULL;

    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &replay, &f->err), QN_ERR_LAUNCH);
    begin(w);
    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE + 1, &replay, &f->err), QN_ERR_LAUNCH);
    assert_string_equal(f->err.text, "no capture was begun on stream 1");
    assert_null(replay);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(captured_work_runs_when_replayed),
        TEST(update_changes_the_replays_that_follow),
        TEST(update_of_a_launch_that_is_not_there_is_refused),
        TEST(many_launches_keep_their_numbers),
        TEST(streams_join_a_capture_by_waiting_for_it),
        TEST(empty_capture_replays_as_nothing),
        TEST(work_beside_a_capture_runs_at_once),
        TEST(event_of_a_capture_has_no_time_and_does_no_harm),
        TEST(stream_that_does_not_come_back_spoils_the_capture),
        TEST(wait_for_work_outside_spoils_the_capture),
        TEST(refused_launch_spoils_the_capture_with_its_own_words),
        TEST(failures_inside_a_capture_leave_the_stream_usable),
        TEST(capture_that_was_never_ended_does_not_hinder_the_next),
        TEST(end_without_begin_is_refused),
    };

    setenv("QUERN_CUDA_LIB", "libcuda_mock.so", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
