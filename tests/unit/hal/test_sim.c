/* test_sim.c - the simulated device: limits, poison, exact grids. */
#include "sim_fixture.h"

#include "hal/geometry.h"
#include "hal/sim/sim_limits.h"

/* Limits. */

static void limits_are_read_from_text(void **state)
{
    qn_sim_limits l;

    (void)state;
    assert_int_equal(qn_sim_limits_parse("devices=4,max_grid=4x5x1,mem=64M,align=16,"
                                         "h2d_gbps=2.5,rate.1=0.5,async=0,replay=0",
                                         &l, NULL),
                     QN_OK);
    assert_int_equal(l.devices, 4);
    assert_true(l.max_grid[0] == 4 && l.max_grid[1] == 5 && l.max_grid[2] == 1);
    assert_int_equal(l.mem, 64 << 20);
    assert_int_equal(l.max_alloc, 64 << 20);
    assert_true(l.h2d_gbps == 2.5 && l.rate[0] == 1.0 && l.rate[1] == 0.5);
    assert_true(!l.async && !l.replay && l.align == 16);
    assert_int_equal(qn_sim_limits_parse("max_grid=7", &l, NULL), QN_OK);
    assert_true(l.max_grid[0] == 7 && l.max_grid[1] == 7 && l.max_grid[2] == 7);
    assert_int_equal(qn_sim_limits_parse(NULL, &l, NULL), QN_OK);
    assert_int_equal(l.devices, 1);
}

static void bad_limits_are_named_by_open(void **state)
{
    static const char *const bad[][2] = {
        { "colour=3", "sim limit 'colour' is unknown" },
        { "devices=2,rate=1", "sim limit 'rate' is unknown" },
        { "mem.0=1", "sim limit 'mem.0' is unknown" },
        { "mem", "sim limit 'mem' has no value" },
        { "max_grid=4x4", "sim limit max_grid cannot be '4x4'" },
        { "max_grid=0", "sim limit max_grid cannot be '0'" },
        { "devices=1.5", "sim limit devices cannot be '1.5'" },
        { "gbps=0", "sim limit gbps cannot be '0'" },
        { "async=2", "sim limit async cannot be '2'" },
        { "rate.99=1", "sim limit rate.99 cannot be '1'" },
        { "mem=much", "sim limit mem cannot be 'much'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const qn_hal_config config = { .sim = bad[i][0], .clock = &sim_clock };
        qn_dev *dev = NULL;
        qn_err err;

        assert_int_equal(sim->count(&config, NULL, 0), 1);
        assert_int_equal(sim->open(&config, 0, &dev, &err), QN_ERR_USAGE);
        assert_string_equal(err.text, bad[i][1]);
        assert_null(dev);
    }
}

static void devices_are_counted_and_described(void **state)
{
    qn_hal_config config = { .sim = "devices=4,mem=8M,max_group=64,max_grid=9,async=0" };
    qn_dev *dev = NULL;
    qn_device_info info;
    char reason[80];
    qn_err err;

    (void)state;
    assert_int_equal(sim->count(&config, reason, sizeof reason), 4);
    assert_int_equal(sim->open(&config, 4, &dev, &err), QN_ERR_INIT);
    assert_int_equal(sim->open(&config, 3, &dev, &err), QN_OK); /* with a clock of its own */
    sim->info(dev, &info);
    assert_int_equal(info.kind, QN_KIND_SIM);
    assert_int_equal(info.mem_free, 8 << 20);
    assert_int_equal(info.max_group, 64);
    assert_int_equal(info.max_grid[1], 9);
    assert_true(!info.unified_memory && !info.has_async_copy && info.has_graph_replay);
    assert_true(sim->now_us(dev) == 0.0);
    close_sim(dev);
    config.sim = "devices=0";
    assert_int_equal(sim->count(&config, reason, sizeof reason), 0);
    assert_string_equal(reason, "sim.devices=0");
}

static void launches_beyond_the_limits_are_refused(void **state)
{
    qn_dev *dev = open_sim("max_grid=4x3x2,max_group=128", 0);
    qn_mem *mem = block(dev, 4096);
    const qn_launch_arg args[] = { { .mem = mem } };
    qn_launch call = { .kernel = &add_one,
                       .args = args,
                       .span = { 0, 1000, 0, 1, 0, 1 },
                       .group = { 64, 1, 1 },
                       .grid = { 5, 1, 1 } };
    qn_err err;

    (void)state;
    assert_int_equal(sim->launch(dev, &call, &err), QN_ERR_LIMIT);
    assert_string_equal(err.text, "kernel add_one: grid of 5 exceeds device limit 4");
    call.grid[0] = 1;
    call.grid[1] = 4;
    assert_int_equal(sim->launch(dev, &call, &err), QN_ERR_LIMIT);
    assert_string_equal(err.text, "kernel add_one: grid of 4 exceeds device limit 3");
    call.grid[1] = 1;
    call.group[1] = 4;
    assert_int_equal(sim->launch(dev, &call, &err), QN_ERR_LIMIT);
    assert_string_equal(err.text, "kernel add_one: group of 256 exceeds device limit 128");
    call.grid[0] = 0;
    call.group[1] = 1;
    assert_int_equal(sim->launch(dev, &call, &err), QN_ERR_LAUNCH);
    expect_us(host_us(), 0.0);
    sim->release(dev, mem);
    close_sim(dev);
}

static void kernels_get_the_group_they_are_compiled_for(void **state)
{
    qn_dev *dev = open_sim("", 0);
    qn_mem *mem = block(dev, 4096);
    const qn_launch_arg one[] = { { .mem = mem } };
    const float k = 1.0f;
    const qn_launch_arg three[] = { { .value = &k }, { .mem = mem }, { .mem = mem } };
    qn_err err;

    (void)state;
    assert_int_equal(run(dev, &add_group, one, 4, 32, 4, 0, &err), QN_ERR_LAUNCH);
    assert_string_equal(err.text, "kernel add_group: group of 32 x 1 x 1, compiled for 64");
    assert_int_equal(run(dev, &add_group, one, 4, 64, 4, 0, &err), QN_OK);
    assert_int_equal(run(dev, &scale4, three, 1000, 128, 2, 0, &err), QN_ERR_LAUNCH);
    assert_int_equal(run(dev, &scale4, three, 1000, 256, 1, 0, &err), QN_OK);
    sim->release(dev, mem);
    close_sim(dev);
}

static void arguments_must_be_memory_of_the_device(void **state)
{
    qn_dev *dev = open_sim("devices=2", 0), *other = open_sim("devices=2", 1);
    qn_mem *far = block(other, 4096);
    float host[4];
    const qn_launch_arg on_host[] = { { .host = host } }, elsewhere[] = { { .mem = far } };
    qn_err err;

    (void)state;
    assert_int_equal(run(dev, &add_one, on_host, 4, 32, 1, 0, &err), QN_ERR_LAUNCH);
    assert_string_equal(err.text, "kernel add_one: argument data has no device memory");
    assert_int_equal(run(dev, &add_one, elsewhere, 4, 32, 1, 0, &err), QN_ERR_LAUNCH);
    assert_string_equal(err.text, "kernel add_one on sim:0: argument data is on sim:1");
    assert_int_equal(sim->upload(dev, far, 0, host, 16, 0, &err), QN_ERR_LAUNCH);
    sim->release(other, far);
    close_sim(dev);
    close_sim(other);
}

static void memory_ends_where_the_limit_says(void **state)
{
    qn_dev *dev = open_sim("mem=3M,max_alloc=2M", 0);
    qn_mem *first = block(dev, 2 << 20), *second = NULL;
    qn_device_info info;
    qn_err err;

    (void)state;
    assert_int_equal(sim->alloc(dev, 3 << 19, 0, &second, &err), QN_ERR_NOMEM);
    assert_string_equal(err.text, "out of memory (need 1.5 MiB, free 1.0 MiB of 3.0 MiB)");
    assert_null(second);
    sim->info(dev, &info);
    assert_int_equal(info.mem_free, 1 << 20);
    second = block(dev, 1 << 20);
    sim->release(dev, first);
    sim->release(dev, second);
    assert_int_equal(sim->alloc(dev, (2 << 20) + 1, 0, &first, &err), QN_ERR_LIMIT);
    assert_string_equal(err.text, "allocation of 2097153 bytes exceeds device limit 2097152");
    close_sim(dev);
}

/* Memory. */

static void unwritten_memory_is_poisoned(void **state)
{
    qn_dev *dev = open_sim("", 0);
    qn_mem *mem = block(dev, 16);
    unsigned char bytes[16] = { 0 };

    (void)state;
    get(dev, mem, bytes, 16, QN_DOWNLOAD);
    for (int i = 0; i < 16; i++)
        assert_int_equal(bytes[i], 0xA5);
    memset(bytes, 0, sizeof bytes);
    put(dev, mem, bytes, 16, QN_UPLOAD);
    assert_int_equal(qn_sim_poison(dev, mem, 4, 2, 0, NULL), QN_OK);
    get(dev, mem, bytes, 16, QN_DOWNLOAD);
    assert_true(bytes[3] == 0 && bytes[4] == 0xA5 && bytes[5] == 0xA5 && bytes[6] == 0);
    assert_int_equal(qn_sim_poison(dev, mem, 15, 2, 0, NULL), QN_ERR_LAUNCH);
    sim->release(dev, mem);
    close_sim(dev);
}

static void device_memory_is_not_host_memory(void **state)
{
    qn_dev *dev = open_sim("", 0);
    qn_mem *mem = block(dev, 4);
    float value = 1.0f;

    (void)state;
    put(dev, mem, &value, 4, QN_UPLOAD);
    value = 7.0f; /* the device keeps its stale copy */
    add(dev, mem, 1, 0);
    get(dev, mem, &value, 4, QN_DOWNLOAD);
    assert_true(value == 2.0f);
    sim->release(dev, mem);
    close_sim(dev);
}

static void huge_blocks_are_sparse(void **state)
{
    qn_dev *dev = open_sim("mem=1000G", 0);
    qn_mem *mem = block(dev, (size_t)500 << 30);
    float value = 3.0f, back = 0.0f;

    (void)state;
    assert_int_equal(sim->upload(dev, mem, (size_t)499 << 30, &value, 4, 0, NULL), QN_OK);
    assert_int_equal(sim->download(dev, mem, (size_t)499 << 30, &back, 4, 0, NULL), QN_OK);
    assert_true(back == 3.0f);
    sim->release(dev, mem);
    close_sim(dev);
}

static void rows_are_gathered_by_a_rectangular_download(void **state)
{
    qn_dev *dev = open_sim("d2h_us=1,d2h_gbps=0.001", 0); /* a byte per us */
    qn_mem *mem = block(dev, 12);
    char rows[7] = "";
    qn_err err;

    (void)state;
    put(dev, mem, "abcdefghijkl", 12, QN_COMPUTE);
    sim->sync(dev, NULL);
    const double begin_us = host_us();

    assert_int_equal(sim->download_rect(dev, mem, 1, 4, rows, 2, 3, QN_COMPUTE, &err), QN_OK);
    assert_string_equal(rows, "bcfgjk");
    sim->sync(dev, NULL);
    expect_us(host_us() - begin_us, 1 + 6);
    assert_int_equal(sim->download_rect(dev, mem, 3, 4, rows, 2, 3, 0, &err), QN_ERR_LAUNCH);
    sim->release(dev, mem);
    close_sim(dev);
}

static void a_grid_covers_its_blocks_and_no_more(void **state)
{
    qn_dev *dev = open_sim("", 0);
    float in[4000], out[4000];
    const float k = 2.0f, *poison = out + 3999;
    qn_mem *a = block(dev, sizeof in), *b = block(dev, sizeof out);
    const qn_launch_arg args[] = { { .value = &k }, { .mem = a }, { .mem = b } };
    qn_launch call = { .kernel = &scale,
                       .args = args,
                       .span = { 10, 1000, 1, 4, 0, 1 },
                       .group = { 32, 2, 1 },
                       .grid = { 3, 1, 1 } };

    (void)state;
    for (int i = 0; i < 4000; i++)
        in[i] = (float)i;
    put(dev, a, in, sizeof in, 0);
    assert_int_equal(sim->launch(dev, &call, NULL), QN_OK);
    get(dev, b, out, sizeof out, 0);
    for (int i = 0; i < 4000; i++) {
        const int x = i % 1000, y = i / 1000;
        const int covered = x >= 10 && x < 10 + 96 && y >= 1 && y < 3;

        assert_true(covered ? out[i] == 2.0f * in[i] : memcmp(&out[i], poison, 4) == 0);
    }
    assert_int_equal(run(dev, &scale4, args, 4000, 256, 3, 0, NULL), QN_OK);
    get(dev, b, out, sizeof out, 0);
    assert_true(out[3 * 1024 - 1] == 2.0f * in[3 * 1024 - 1]);
    assert_memory_equal(&out[3 * 1024], poison, 4);
    sim->release(dev, a);
    sim->release(dev, b);
    close_sim(dev);
}

static void geometry_covers_a_range_on_a_tiny_device(void **state)
{
    qn_dev *dev = open_sim("max_grid=4x4x1", 0);
    float out[4000];
    qn_mem *mem = block(dev, sizeof out);
    const qn_launch_arg args[] = { { .mem = mem } };
    qn_launch call = { .kernel = &add_one, .args = args };
    const qn_range range = qn_range_1d(4000);
    qn_device_info info;
    int n = 0;

    (void)state;
    memset(out, 0, sizeof out);
    put(dev, mem, out, sizeof out, 0);
    sim->info(dev, &info);
    assert_int_equal(qn_launch_range(sim, dev, &info, &call, &range, 1, &n, NULL), QN_OK);
    assert_int_equal(n, 4);
    get(dev, mem, out, sizeof out, 0);
    for (int i = 0; i < 4000; i++)
        assert_true(out[i] == 1.0f);
    sim->release(dev, mem);
    close_sim(dev);
}

static void live_objects_are_counted(void **state)
{
    static const qn_kernel_info *const list[] = { &add_one };
    static const qn_kernel_module info = { .name = "adds", .kernels = list, .n_kernels = 1 };
    qn_dev *dev = open_sim("", 0);
    qn_source src = { .module = &info };
    qn_mem *mem = block(dev, 4);
    qn_event *event = mark(dev, 0);
    qn_module *module = NULL;
    void *host = NULL;

    (void)state;
    assert_int_equal(sim->build(dev, &src, &module, NULL), QN_OK);
    assert_int_equal(sim->host_alloc(dev, 100, &host, NULL), QN_OK);
    assert_int_equal(qn_sim_live(dev), 4);
    sim->release(dev, mem);
    sim->drop(dev, event);
    assert_int_equal(qn_sim_live(dev), 2);
    sim->unload(dev, module);
    sim->host_free(dev, host);
    close_sim(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_read_from_text),
        cmocka_unit_test(bad_limits_are_named_by_open),
        cmocka_unit_test(devices_are_counted_and_described),
        cmocka_unit_test(launches_beyond_the_limits_are_refused),
        cmocka_unit_test(kernels_get_the_group_they_are_compiled_for),
        cmocka_unit_test(arguments_must_be_memory_of_the_device),
        cmocka_unit_test(memory_ends_where_the_limit_says),
        cmocka_unit_test(unwritten_memory_is_poisoned),
        cmocka_unit_test(device_memory_is_not_host_memory),
        cmocka_unit_test(huge_blocks_are_sparse),
        cmocka_unit_test(rows_are_gathered_by_a_rectangular_download),
        cmocka_unit_test(a_grid_covers_its_blocks_and_no_more),
        cmocka_unit_test(geometry_covers_a_range_on_a_tiny_device),
        cmocka_unit_test(live_objects_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
