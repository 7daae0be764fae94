/* test_cuda_graph.c - captured work of the CUDA backend: what is recorded, replayed, updated,
 * and what a failure in between leaves behind. */
#include "mock/cuda_fixture.h"

enum { N = 64 };

typedef struct work {
    float x[N], y[N], got[N];
    qn_mem *mem_x, *mem_y;
    qn_replay *replay;
} work;

/* x is 1 and y is 0 on the device, so y counts what a launch with `a` added. */
static void prepare(fixture *f, work *w)
{
    memset(w, 0, sizeof *w);
    for (int i = 0; i < N; i++)
        w->x[i] = 1.0f;
    w->mem_x = alloc_with(f, w->x, sizeof w->x);
    w->mem_y = alloc_with(f, w->y, sizeof w->y);
    must(f, cu->sync(f->dev, &f->err));
}

static void expect_y(fixture *f, work *w, float expected)
{
    read_back(f, w->mem_y, w->got, sizeof w->got);
    assert_all_equal(w->got, N, expected);
}

static void add(fixture *f, work *w, float a, qn_stream on)
{
    must(f, launch_saxpy(f, a, w->mem_x, w->mem_y, N, on));
}

/* Two launches that together add 11. */
static void capture_two(fixture *f, work *w)
{
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    add(f, w, 1.0f, QN_COMPUTE);
    add(f, w, 10.0f, QN_COMPUTE);
    must(f, cu->capture_end(f->dev, QN_COMPUTE, &w->replay, &f->err));
}

static void expect_stream_works(fixture *f, work *w, float before)
{
    add(f, w, 1.0f, QN_COMPUTE);
    expect_y(f, w, before + 1.0f);
}

static void captured_work_runs_when_replayed(void **state)
{
    fixture *f = *state;
    work w;

    prepare(f, &w);
    capture_two(f, &w);
    expect_y(f, &w, 0.0f);
    must(f, cu->replay(f->dev, w.replay, QN_COMPUTE, &f->err));
    must(f, cu->replay(f->dev, w.replay, QN_COMPUTE, &f->err));
    expect_y(f, &w, 22.0f);
    must(f, cu->replay(f->dev, w.replay, QN_COMPUTE + 1, &f->err));
    expect_y(f, &w, 33.0f);
    cu->replay_free(f->dev, w.replay);
}

static void update_changes_the_replays_that_follow(void **state)
{
    fixture *f = *state;
    const float a = 20.0f;
    qn_launch_arg args[3];
    qn_launch call;
    work w;

    prepare(f, &w);
    capture_two(f, &w);
    call = saxpy_call(f, args, &a, w.mem_x, w.mem_y, N, QN_COMPUTE);
    must(f, cu->replay(f->dev, w.replay, QN_COMPUTE, &f->err));
    must(f, cu->update(f->dev, w.replay, 1, &call, &f->err));
    expect_y(f, &w, 11.0f); /* queued before the update */
    must(f, cu->replay(f->dev, w.replay, QN_COMPUTE, &f->err));
    expect_y(f, &w, 11.0f + 21.0f);
    cu->replay_free(f->dev, w.replay);
}

static void update_of_a_launch_that_is_not_there_is_refused(void **state)
{
    fixture *f = *state;
    const float a = 20.0f;
    qn_launch_arg args[3];
    qn_launch call;
    work w;

    prepare(f, &w);
    capture_two(f, &w);
    call = saxpy_call(f, args, &a, w.mem_x, w.mem_y, N, QN_COMPUTE);
    assert_int_equal(cu->update(f->dev, w.replay, 2, &call, &f->err), QN_ERR_LAUNCH);
    assert_string_equal(f->err.text, "launch 2 of a recording of 2");
    call.group[0] = 1024;
    assert_int_equal(cu->update(f->dev, w.replay, 1, &call, &f->err), QN_ERR_LIMIT);
    cu->replay_free(f->dev, w.replay);
}

static void many_launches_keep_their_numbers(void **state)
{
    enum { MANY = 300 };
    fixture *f = *state;
    const float a = 1000.0f;
    qn_launch_arg args[3];
    qn_launch call;
    work w;

    prepare(f, &w);
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    for (int i = 0; i < MANY; i++)
        add(f, &w, i == MANY - 1 ? 7.0f : 1.0f, QN_COMPUTE);
    must(f, cu->capture_end(f->dev, QN_COMPUTE, &w.replay, &f->err));
    call = saxpy_call(f, args, &a, w.mem_x, w.mem_y, N, QN_COMPUTE);
    must(f, cu->update(f->dev, w.replay, MANY - 1, &call, &f->err));
    must(f, cu->replay(f->dev, w.replay, QN_COMPUTE, &f->err));
    expect_y(f, &w, (float)(MANY - 1) + 1000.0f);
    cu->replay_free(f->dev, w.replay);
}

/* Uploads, launches and downloads on three streams, joined by events at both ends. */
static void streams_join_a_capture_by_waiting_for_it(void **state)
{
    fixture *f = *state;
    float first[N], result[N];
    qn_event *begun = NULL, *uploaded = NULL, *computed = NULL, *back = NULL;
    work w;

    prepare(f, &w);
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    must(f, cu->record(f->dev, QN_COMPUTE, &begun, &f->err));
    must(f, cu->wait(f->dev, QN_UPLOAD, begun, &f->err));
    must(f, cu->upload(f->dev, w.mem_y, 0, first, sizeof first, QN_UPLOAD, &f->err));
    must(f, cu->record(f->dev, QN_UPLOAD, &uploaded, &f->err));
    must(f, cu->wait(f->dev, QN_COMPUTE, uploaded, &f->err));
    add(f, &w, 4.0f, QN_COMPUTE);
    must(f, cu->record(f->dev, QN_COMPUTE, &computed, &f->err));
    must(f, cu->wait(f->dev, QN_DOWNLOAD, computed, &f->err));
    must(f, cu->download(f->dev, w.mem_y, 0, result, sizeof result, QN_DOWNLOAD, &f->err));
    must(f, cu->record(f->dev, QN_DOWNLOAD, &back, &f->err));
    must(f, cu->wait(f->dev, QN_COMPUTE, back, &f->err));
    must(f, cu->capture_end(f->dev, QN_COMPUTE, &w.replay, &f->err));
    cu->drop(f->dev, begun);
    cu->drop(f->dev, uploaded);
    cu->drop(f->dev, computed);
    cu->drop(f->dev, back);

    for (int run = 0; run < 3; run++) {
        for (int i = 0; i < N; i++)
            first[i] = (float)run;
        must(f, cu->replay(f->dev, w.replay, QN_COMPUTE, &f->err));
        must(f, cu->sync(f->dev, &f->err));
        assert_all_equal(result, N, (float)run + 4.0f);
    }
    cu->replay_free(f->dev, w.replay);
}

static void empty_capture_replays_as_nothing(void **state)
{
    fixture *f = *state;
    work w;

    prepare(f, &w);
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    must(f, cu->capture_end(f->dev, QN_COMPUTE, &w.replay, &f->err));
    must(f, cu->replay(f->dev, w.replay, QN_COMPUTE, &f->err));
    expect_stream_works(f, &w, 0.0f);
    cu->replay_free(f->dev, w.replay);
}

static void work_beside_a_capture_runs_at_once(void **state)
{
    fixture *f = *state;
    qn_event *event = NULL;
    work w;

    prepare(f, &w);
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    add(f, &w, 100.0f, QN_COMPUTE);
    add(f, &w, 1.0f, QN_COMPUTE + 1);
    must(f, cu->record(f->dev, QN_COMPUTE + 1, &event, &f->err));
    must(f, cu->await(f->dev, event, &f->err));
    cu->drop(f->dev, event);
    must(f, cu->capture_end(f->dev, QN_COMPUTE, &w.replay, &f->err));
    expect_y(f, &w, 1.0f);
    must(f, cu->replay(f->dev, w.replay, QN_COMPUTE, &f->err));
    expect_y(f, &w, 101.0f);
    cu->replay_free(f->dev, w.replay);
}

/* ---- failures -------------------------------------------------------------------- */

static void event_of_a_capture_has_no_time_and_does_no_harm(void **state)
{
    fixture *f = *state;
    qn_event *event = NULL;
    work w;

    prepare(f, &w);
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    add(f, &w, 1.0f, QN_COMPUTE);
    must(f, cu->record(f->dev, QN_COMPUTE, &event, &f->err));
    assert_int_equal(cu->is_done(f->dev, event), 0);
    assert_int_equal(cu->await(f->dev, event, &f->err), QN_ERR_LAUNCH);
    assert_true(cu->elapsed_us(f->dev, event, event) < 0.0);
    must(f, cu->capture_end(f->dev, QN_COMPUTE, &w.replay, &f->err));
    must(f, cu->replay(f->dev, w.replay, QN_COMPUTE, &f->err));
    expect_y(f, &w, 1.0f);
    cu->drop(f->dev, event);
    cu->replay_free(f->dev, w.replay);
}

static void stream_that_does_not_come_back_spoils_the_capture(void **state)
{
    fixture *f = *state;
    qn_event *event = NULL;
    work w;

    prepare(f, &w);
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    add(f, &w, 1.0f, QN_COMPUTE);
    must(f, cu->record(f->dev, QN_COMPUTE, &event, &f->err));
    must(f, cu->wait(f->dev, QN_COMPUTE + 1, event, &f->err));
    add(f, &w, 1.0f, QN_COMPUTE + 1);
    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &w.replay, &f->err), QN_ERR_LAUNCH);
    assert_null(w.replay);
    cu->drop(f->dev, event);
    expect_stream_works(f, &w, 0.0f);
}

static void wait_for_work_outside_spoils_the_capture(void **state)
{
    fixture *f = *state;
    qn_event *event = NULL;
    work w;

    prepare(f, &w);
    add(f, &w, 1.0f, QN_COMPUTE + 1);
    must(f, cu->record(f->dev, QN_COMPUTE + 1, &event, &f->err));
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    assert_int_equal(cu->wait(f->dev, QN_COMPUTE, event, &f->err), QN_ERR_LAUNCH);
    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &w.replay, &f->err), QN_ERR_LAUNCH);
    assert_memory_equal(f->err.text, "cuStreamWaitEvent:", strlen("cuStreamWaitEvent:"));
    cu->drop(f->dev, event);
    expect_stream_works(f, &w, 1.0f);
}

static void refused_launch_spoils_the_capture_with_its_own_words(void **state)
{
    fixture *f = *state;
    const float a = 1.0f;
    qn_launch_arg args[3];
    qn_launch call;
    work w;

    prepare(f, &w);
    call = saxpy_call(f, args, &a, w.mem_x, w.mem_y, N, QN_COMPUTE);
    call.group[0] = 512;
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    assert_int_equal(cu->launch(f->dev, &call, &f->err), QN_ERR_LIMIT);
    add(f, &w, 1.0f, QN_COMPUTE);
    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &w.replay, &f->err), QN_ERR_LIMIT);
    assert_string_equal(f->err.text, "kernel saxpy: group of 512 exceeds its limit 256");
    assert_null(w.replay);
    expect_stream_works(f, &w, 0.0f);
}

static void failures_inside_a_capture_leave_the_stream_usable(void **state)
{
    static const char *const entries[] = { "cuLaunchKernel", "cuStreamGetCaptureInfo_v3",
                                           "cuMemcpyHtoDAsync_v2", "cuGraphInstantiateWithFlags" };
    fixture *f = *state;
    work w;

    prepare(f, &w);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
        mock_cuda_fail(entries[i], 1, CUDA_ERROR_OUT_OF_MEMORY);
        launch_saxpy(f, 1.0f, w.mem_x, w.mem_y, N, QN_COMPUTE);
        cu->upload(f->dev, w.mem_x, 0, w.x, sizeof w.x, QN_COMPUTE, &f->err);
        assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &w.replay, &f->err), QN_ERR_NOMEM);
        assert_null(w.replay);
        expect_stream_works(f, &w, (float)i);
    }
}

static void capture_that_was_never_ended_does_not_hinder_the_next(void **state)
{
    fixture *f = *state;
    work w;

    prepare(f, &w);
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    add(f, &w, 100.0f, QN_COMPUTE);
    capture_two(f, &w);
    must(f, cu->replay(f->dev, w.replay, QN_COMPUTE, &f->err));
    expect_y(f, &w, 11.0f);
    cu->replay_free(f->dev, w.replay);
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err)); /* teardown closes with it open */
}

static void end_without_begin_is_refused(void **state)
{
    fixture *f = *state;
    qn_replay *replay = NULL;

    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &replay, &f->err), QN_ERR_LAUNCH);
    must(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE + 1, &replay, &f->err), QN_ERR_LAUNCH);
    assert_string_equal(f->err.text, "no capture was begun on stream 1");
    assert_null(replay);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

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
