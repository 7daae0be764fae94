/* test_sim_clock.c - the simulated device: its virtual clock, its recordings. */
#include "sim_fixture.h"

/* The virtual clock. */

/* 1000 bytes take 10 us to upload and 30 us to download; a launch of 100 floats takes 15 us, 1 us
 * of it on the host. */
#define ROUND_NUMBERS                                                                              \
    "h2d_us=5,h2d_gbps=0.2,d2h_us=10,d2h_gbps=0.05,launch_us=5,gbps=0.04,submit_us=1"

static void copies_and_launches_take_their_time(void **state)
{
    qn_dev *dev = open_sim(ROUND_NUMBERS, 0);
    float data[250] = { 0 };
    qn_mem *mem = block(dev, sizeof data);
    qn_event *begin = mark(dev, 0), *end;

    (void)state;
    put(dev, mem, data, 1000, 0);
    add(dev, mem, 100, 0);
    expect_us(host_us(), 1.0); /* nothing was waited for */
    get(dev, mem, data, 1000, 0);
    end = mark(dev, 0);
    assert_int_equal(sim->is_done(dev, end), 0);
    assert_int_equal(sim->await(dev, end, NULL), QN_OK);
    expect_us(host_us(), 10 + 15 + 30);
    assert_int_equal(sim->is_done(dev, end), 1);
    expect_us(sim->elapsed_us(dev, begin, end), 55);
    expect_us(sim->now_us(dev), 55);
    sim->drop(dev, begin);
    sim->drop(dev, end);
    sim->release(dev, mem);
    close_sim(dev);
}

static void arithmetic_bounds_a_launch_where_memory_does_not(void **state)
{
    qn_dev *dev = open_sim("launch_us=2,gbps=1000,ns_per_item=100,submit_us=0", 0);
    qn_mem *mem = block(dev, 4000);

    (void)state;
    add(dev, mem, 1000, 0);
    sim->sync(dev, NULL);
    expect_us(host_us(), 2 + 100);
    sim->release(dev, mem);
    close_sim(dev);
}

/* Three batches through upload, compute and download streams. The download is the bottleneck,
 * so the wall time is the way to the first download and then three downloads. */
static void a_pipeline_on_three_streams_overlaps(void **state)
{
    qn_dev *dev = open_sim(ROUND_NUMBERS, 0);
    float data[3][250] = { { 0 } };
    qn_mem *mem[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        mem[i] = block(dev, 1000);
    for (int i = 0; i < 3; i++) {
        put(dev, mem[i], data[i], 1000, QN_UPLOAD);
        order(dev, QN_UPLOAD, QN_COMPUTE);
        add(dev, mem[i], 100, QN_COMPUTE);
        order(dev, QN_COMPUTE, QN_DOWNLOAD);
        get(dev, mem[i], data[i], 1000, QN_DOWNLOAD);
    }
    expect_us(host_us(), 3.0);
    sim->sync(dev, NULL);
    expect_us(host_us(), 10 + 15 + 3 * 30);
    for (int i = 0; i < 3; i++) {
        assert_true(data[i][99] == 1.0f && data[i][100] == 0.0f);
        sim->release(dev, mem[i]);
    }
    close_sim(dev);
}

static void streams_share_one_engine_of_each_kind(void **state)
{
    qn_dev *dev = open_sim(ROUND_NUMBERS, 0);
    float data[250] = { 0 };
    qn_mem *a = block(dev, 1000), *b = block(dev, 1000);

    (void)state;
    put(dev, a, data, 1000, 0);
    put(dev, b, data, 1000, 1); /* after the other upload: 20 us */
    get(dev, a, data, 1000, 2); /* another direction: 30 us */
    sim->sync(dev, NULL);
    expect_us(host_us(), 30);
    add(dev, a, 100, 0);
    add(dev, b, 100, 1);
    sim->sync(dev, NULL);
    expect_us(host_us(), 30 + 1 + 15 + 15);
    sim->release(dev, a);
    sim->release(dev, b);
    close_sim(dev);
}

static void kernels_run_at_the_same_time_up_to_their_number(void **state)
{
    qn_dev *dev = open_sim("launch_us=10,gbps=1e9,submit_us=0,kernels=2", 0);
    qn_mem *mem[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        mem[i] = block(dev, 1000);
        add(dev, mem[i], 1, i);
    }
    sim->sync(dev, NULL);
    if (host_us() < 20 || host_us() > 20.1)
        fail_msg("%g us", host_us());
    for (int i = 0; i < 3; i++)
        sim->release(dev, mem[i]);
    close_sim(dev);
}

static void work_that_does_not_wait_for_its_memory_is_counted(void **state)
{
    qn_dev *dev = open_sim(ROUND_NUMBERS ",kernels=2", 0);
    float data[250] = { 0 };
    qn_mem *mem = block(dev, sizeof data);

    (void)state;
    put(dev, mem, data, sizeof data, QN_UPLOAD);
    order(dev, QN_UPLOAD, 0);
    add(dev, mem, 100, 0);
    assert_int_equal(qn_sim_races(dev), 0);
    add(dev, mem, 100, 1); /* writes what another stream writes */
    assert_int_equal(qn_sim_races(dev), 1);
    get(dev, mem, data, sizeof data, QN_DOWNLOAD); /* reads what is being written */
    assert_int_equal(qn_sim_races(dev), 2);
    order(dev, 0, 1);
    add(dev, mem, 100, 1); /* writes what is being read */
    assert_int_equal(qn_sim_races(dev), 3);
    sim->release(dev, mem);
    close_sim(dev);
}

static void without_async_copies_nothing_overlaps(void **state)
{
    qn_dev *dev = open_sim(ROUND_NUMBERS ",async=0", 0);
    float data[250] = { 0 };
    qn_mem *mem = block(dev, 1000);

    (void)state;
    put(dev, mem, data, 1000, QN_UPLOAD);
    expect_us(host_us(), 10);
    add(dev, mem, 100, QN_COMPUTE);
    get(dev, mem, data, 1000, QN_DOWNLOAD);
    expect_us(host_us(), 10 + 1 + 15 + 30);
    sim->release(dev, mem);
    close_sim(dev);
}

static void asking_for_an_event_ends(void **state)
{
    qn_dev *dev = open_sim(ROUND_NUMBERS, 0);
    float data[250] = { 0 };
    qn_mem *mem = block(dev, 1000);
    qn_event *event;
    int n = 0;

    (void)state;
    put(dev, mem, data, 1000, 0);
    event = mark(dev, 0);
    while (sim->is_done(dev, event) == 0 && n < 100000)
        n++;
    assert_int_equal(sim->is_done(dev, event), 1);
    assert_true(host_us() >= 10 && host_us() < 10.1);
    sim->drop(dev, event);
    sim->release(dev, mem);
    close_sim(dev);
}

static void slow_devices_take_longer_on_the_same_clock(void **state)
{
    static const char limits[] = "devices=2,launch_us=10,gbps=1000000,submit_us=0,rate.1=0.5";
    qn_dev *fast = open_sim(limits, 0), *slow = open_sim(limits, 1);
    qn_mem *a = block(fast, 400), *b = block(slow, 400);

    (void)state;
    add(slow, b, 1, 0);
    add(fast, a, 1, 0);
    sim->sync(fast, NULL);
    assert_true(fabs(host_us() - 10) < 1e-3);
    sim->sync(slow, NULL);
    assert_true(fabs(host_us() - 20) < 1e-3);
    sim->release(fast, a);
    sim->release(slow, b);
    close_sim(fast);
    close_sim(slow);
}

static void noise_is_bounded_and_repeats(void **state)
{
    double first[50];

    (void)state;
    for (int round = 0; round < 2; round++) {
        qn_dev *dev = open_sim("launch_us=100,submit_us=0,noise_pct=5", 0);
        qn_mem *mem = block(dev, 4);
        int n_equal = 0;

        for (int i = 0; i < 50; i++) {
            const double begin_us = host_us();

            add(dev, mem, 1, 0);
            sim->sync(dev, NULL);
            const double us = host_us() - begin_us;

            assert_true(us > 94.9 && us < 105.1);
            if (round == 0)
                first[i] = us;
            else
                expect_us(us, first[i]);
            n_equal += fabs(us - 100) < 0.01;
        }
        assert_true(n_equal < 10);
        sim->release(dev, mem);
        close_sim(dev);
    }
}

static void peers_copy_without_the_host(void **state)
{
    static const char limits[] = "devices=2,peer_us=3,peer_gbps=0.1,h2d_us=0,h2d_gbps=1000000";
    qn_dev *a = open_sim(limits, 0), *b = open_sim(limits, 1);
    qn_mem *from = block(a, 1000), *to = block(b, 1000);
    float value = 5.0f, back = 0.0f;
    qn_event *event;
    qn_err err;

    (void)state;
    put(a, from, &value, 4, 0);
    sim->sync(a, NULL);
    const double begin_us = host_us();

    assert_int_equal(sim->copy_peer(a, from, b, to, 1000, 0, &err), QN_OK);
    event = mark(b, 0);
    sim->await(b, event, NULL);
    expect_us(host_us() - begin_us, 3 + 10);
    get(b, to, &back, 4, 0);
    assert_true(back == 5.0f);
    assert_int_equal(sim->copy_peer(a, from, b, to, 1001, 0, &err), QN_ERR_LAUNCH);
    sim->drop(b, event);
    sim->release(a, from);
    sim->release(b, to);
    close_sim(a);
    close_sim(b);
}

/* Recordings. */

/* Records upload, two launches and download of `data`, each on its stream. */
static qn_replay *record_round_trip(qn_dev *dev, qn_mem *mem, float *data)
{
    qn_replay *recording = NULL;
    qn_err err;

    assert_int_equal(sim->capture_begin(dev, QN_COMPUTE, &err), QN_OK);
    order(dev, QN_COMPUTE, QN_UPLOAD);
    put(dev, mem, data, 1000, QN_UPLOAD);
    order(dev, QN_UPLOAD, QN_COMPUTE);
    add(dev, mem, 100, QN_COMPUTE);
    add(dev, mem, 100, QN_COMPUTE);
    order(dev, QN_COMPUTE, QN_DOWNLOAD);
    get(dev, mem, data, 1000, QN_DOWNLOAD);
    order(dev, QN_DOWNLOAD, QN_COMPUTE);
    assert_int_equal(sim->capture_end(dev, QN_COMPUTE, &recording, &err), QN_OK);
    return recording;
}

static void a_replay_executes_again(void **state)
{
    qn_dev *dev = open_sim(ROUND_NUMBERS, 0);
    float data[250] = { 0 };
    qn_mem *mem = block(dev, 1000);
    qn_replay *recording = record_round_trip(dev, mem, data);

    (void)state;
    assert_true(data[0] == 0.0f); /* recorded, not run */
    expect_us(host_us(), 0);
    assert_int_equal(sim->replay(dev, recording, QN_COMPUTE, NULL), QN_OK);
    assert_true(data[0] == 2.0f && data[99] == 2.0f && data[100] == 0.0f);
    assert_int_equal(sim->replay(dev, recording, QN_COMPUTE, NULL), QN_OK);
    assert_true(data[0] == 4.0f);
    expect_us(host_us(), 2); /* one submission each */
    sim->sync(dev, NULL);
    expect_us(host_us(), 1 + 2 * (10 + 15 + 15 + 30));
    sim->replay_free(dev, recording);
    sim->release(dev, mem);
    close_sim(dev);
}

static void an_update_replaces_values(void **state)
{
    qn_dev *dev = open_sim("", 0);
    float data[2] = { 1.0f, 10.0f }, k = 2.0f, other = 7.0f, back[2];
    qn_mem *in = block(dev, 8), *out = block(dev, 8);
    qn_launch_arg args[] = { { .value = &k }, { .mem = in }, { .mem = out } };
    qn_launch call = { .kernel = &scale,
                       .args = args,
                       .span = { 0, 2, 0, 1, 0, 1 },
                       .group = { 256, 1, 1 },
                       .grid = { 1, 1, 1 } };
    qn_replay *recording = NULL;
    qn_err err;

    (void)state;
    put(dev, in, data, 8, 0);
    sim->capture_begin(dev, 0, NULL);
    assert_int_equal(sim->launch(dev, &call, NULL), QN_OK);
    assert_int_equal(sim->capture_end(dev, 0, &recording, NULL), QN_OK);
    k = -1.0f; /* the recording has its own copy */
    sim->replay(dev, recording, 0, NULL);
    get(dev, out, back, 8, 0);
    assert_true(back[1] == 20.0f);

    args[0].value = &other;
    assert_int_equal(sim->update(dev, recording, 0, &call, &err), QN_OK);
    sim->replay(dev, recording, 0, NULL);
    get(dev, out, back, 8, 0);
    assert_true(back[1] == 70.0f);
    assert_int_equal(sim->update(dev, recording, 1, &call, &err), QN_ERR_USAGE);
    sim->replay_free(dev, recording);
    sim->release(dev, in);
    sim->release(dev, out);
    close_sim(dev);
}

static void poison_is_part_of_a_recording(void **state)
{
    qn_dev *dev = open_sim("", 0);
    qn_mem *mem = block(dev, 4);
    const unsigned char zero[4] = { 0 };
    unsigned char back[4];
    qn_replay *recording = NULL;

    (void)state;
    put(dev, mem, zero, 4, 0);
    sim->capture_begin(dev, 0, NULL);
    assert_int_equal(qn_sim_poison(dev, mem, 0, 4, 0, NULL), QN_OK);
    sim->capture_end(dev, 0, &recording, NULL);
    get(dev, mem, back, 4, 0);
    assert_int_equal(back[0], 0);
    sim->replay(dev, recording, 0, NULL);
    get(dev, mem, back, 4, 0);
    assert_int_equal(back[0], 0xA5);
    sim->replay_free(dev, recording);
    sim->release(dev, mem);
    close_sim(dev);
}

static void work_outside_a_capture_runs_at_once(void **state)
{
    qn_dev *dev = open_sim("", 0);
    qn_mem *mem = block(dev, 4);
    float value = 3.0f;
    qn_replay *recording = NULL;

    (void)state;
    sim->capture_begin(dev, 0, NULL);
    put(dev, mem, &value, 4, QN_UPLOAD);
    add(dev, mem, 1, 1);
    get(dev, mem, &value, 4, QN_DOWNLOAD);
    assert_true(value == 4.0f);
    assert_int_equal(sim->capture_end(dev, 0, &recording, NULL), QN_OK);
    sim->replay_free(dev, recording);
    sim->release(dev, mem);
    close_sim(dev);
}

static void captures_are_as_strict_as_the_strictest_device(void **state)
{
    qn_dev *dev = open_sim("", 0);
    qn_mem *mem = block(dev, 400);
    qn_event *outside = mark(dev, 0), *inside;
    qn_replay *recording = NULL;
    qn_err err;

    (void)state;
    sim->capture_begin(dev, 0, NULL);
    assert_int_equal(sim->capture_begin(dev, 1, &err), QN_ERR_LAUNCH);
    assert_int_equal(sim->capture_end(dev, 0, &recording, &err), QN_ERR_LAUNCH);

    sim->capture_begin(dev, 0, NULL);
    assert_int_equal(sim->wait(dev, 0, outside, &err), QN_ERR_LAUNCH);
    assert_int_equal(sim->sync(dev, &err), QN_ERR_LAUNCH);
    assert_int_equal(sim->capture_end(dev, 0, &recording, &err), QN_ERR_LAUNCH);

    sim->capture_begin(dev, 0, NULL);
    order(dev, 0, 1);
    add(dev, mem, 1, 1); /* nothing waits for it */
    assert_int_equal(sim->capture_end(dev, 0, &recording, &err), QN_ERR_LAUNCH);
    assert_non_null(strstr(err.text, "did not wait for"));

    sim->capture_begin(dev, 0, NULL);
    inside = mark(dev, 0);
    assert_int_equal(sim->await(dev, inside, &err), QN_ERR_LAUNCH);
    assert_int_equal(sim->is_done(dev, inside), -1);
    assert_int_equal(sim->capture_end(dev, 0, &recording, &err), QN_OK);
    assert_int_equal(sim->wait(dev, 0, inside, &err), QN_ERR_LAUNCH);

    sim->replay_free(dev, recording);
    sim->drop(dev, outside);
    sim->drop(dev, inside);
    sim->release(dev, mem);
    close_sim(dev);
}

static void a_device_without_replay_refuses_to_capture(void **state)
{
    qn_dev *dev = open_sim("replay=0", 0);
    qn_err err;

    (void)state;
    assert_int_equal(sim->capture_begin(dev, 0, &err), QN_ERR_UNSUPPORTED);
    close_sim(dev);
}

static void closing_inside_a_capture_leaks_nothing(void **state)
{
    qn_dev *dev = open_sim("", 0);
    qn_mem *mem = block(dev, 400);

    (void)state;
    sim->capture_begin(dev, 0, NULL);
    add(dev, mem, 1, 0);
    sim->release(dev, mem);
    close_sim(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_and_launches_take_their_time),
        cmocka_unit_test(arithmetic_bounds_a_launch_where_memory_does_not),
        cmocka_unit_test(a_pipeline_on_three_streams_overlaps),
        cmocka_unit_test(streams_share_one_engine_of_each_kind),
        cmocka_unit_test(kernels_run_at_the_same_time_up_to_their_number),
        cmocka_unit_test(work_that_does_not_wait_for_its_memory_is_counted),
        cmocka_unit_test(without_async_copies_nothing_overlaps),
        cmocka_unit_test(asking_for_an_event_ends),
        cmocka_unit_test(slow_devices_take_longer_on_the_same_clock),
        cmocka_unit_test(noise_is_bounded_and_repeats),
        cmocka_unit_test(peers_copy_without_the_host),
        cmocka_unit_test(a_replay_executes_again),
        cmocka_unit_test(an_update_replaces_values),
        cmocka_unit_test(poison_is_part_of_a_recording),
        cmocka_unit_test(work_outside_a_capture_runs_at_once),
        cmocka_unit_test(captures_are_as_strict_as_the_strictest_device),
        cmocka_unit_test(a_device_without_replay_refuses_to_capture),
        cmocka_unit_test(closing_inside_a_capture_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
