/* test_evict.c - device memory stays within its budget, without losing data.
 *
 * Arrays of 4096 floats fill one block of 16 KiB; budgets are counted in such blocks.
 */
#include "engine_counters.h"

#include "engine/plan/graph_impl.h"

enum { N = 4096, BLOCK = 16384 };

static qn_ctx *open_blocks(int blocks, const char *fault)
{
    char budget[32];

    snprintf(budget, sizeof budget, "%d", blocks * BLOCK);
    return open_with(QN_OPTIONS(.backend = "sim", .mem_budget = budget, .fault = fault));
}

/* An array whose address the caller does not hold, so that the host may move it. */
static qn_buf *filled(qn_ctx *ctx, const char *name, float value)
{
    static float data[N];
    qn_buf *buf = array_of(ctx, name, N);

    for (int i = 0; i < N; i++)
        data[i] = value + (float)i;
    must(qn_buf_write(buf, 0, data, sizeof data, &failure));
    return buf;
}

static void check_all(qn_buf *buf, float value, float slope)
{
    static float got[N];

    must(qn_buf_read(buf, 0, got, sizeof got, &failure));
    for (int i = 0; i < N; i++)
        if (got[i] != value + slope * (float)i)
            fail_msg("%s[%d] = %g", qn_buf_name(buf), i, got[i]);
}

/* One stage: out = in + k. */
static qn_graph *add_graph(qn_ctx *ctx, qn_buf *in, float k, qn_buf *out)
{
    qn_graph *g;

    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_map_add(g, "add", qn_range_1d(N), k, in, out, &failure));
    return g;
}

/* Runs one such stage; `in` stays clean on the device, `out` becomes dirty. */
static void run_add(qn_ctx *ctx, qn_buf *in, float k, qn_buf *out)
{
    qn_graph *g = add_graph(ctx, in, k, out);

    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    qn_graph_free(g);
}

static int is_resident(const qn_buf *buf)
{
    return buf->copies[1].block != NULL;
}

static void clean_copies_go_before_dirty_ones(void **state)
{
    qn_ctx *ctx = open_blocks(4, NULL);
    qn_buf *a = filled(ctx, "a", 0), *b = array_of(ctx, "b", N);
    qn_buf *c = filled(ctx, "c", 5), *d = array_of(ctx, "d", N), *e = array_of(ctx, "e", N);

    (void)state;
    run_add(ctx, a, 1, b); /* b is dirty and older than c */
    run_add(ctx, c, 1, d);
    assert_true(is_resident(a) && is_resident(b) && is_resident(c) && is_resident(d));
    run_add(ctx, d, 1, e);
    assert_false(is_resident(a)); /* the oldest clean one */
    assert_true(is_resident(b) && is_resident(c) && is_resident(d) && is_resident(e));
    assert_true(count_of(ctx, "evictions_clean") == 1 && count_of(ctx, "evictions_dirty") == 0);
    assert_true(count_of(ctx, "spill_bytes") == 0);
    check_all(e, 7, 1);
    check_all(a, 0, 1);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_buf_free(c);
    qn_buf_free(d);
    qn_buf_free(e);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

static void dirty_copies_are_spilled_least_recently_used_first(void **state)
{
    qn_ctx *ctx = open_blocks(3, NULL);
    qn_buf *v[6];

    (void)state;
    v[0] = filled(ctx, "v0", 0);
    for (int i = 1; i < 6; i++) {
        char name[8];

        snprintf(name, sizeof name, "v%d", i);
        v[i] = array_of(ctx, name, N);
    }
    run_add(ctx, v[0], 1, v[1]);
    run_add(ctx, v[1], 1, v[2]); /* v0 v1 v2: full */
    run_add(ctx, v[1], 2, v[3]); /* v0 goes: it is clean */
    assert_true(count_of(ctx, "evictions_clean") == 1 && count_of(ctx, "evictions_dirty") == 0);
    run_add(ctx, v[1], 3, v[4]); /* v2 is older than v3; v1 is in use */
    assert_true(is_resident(v[1]) && !is_resident(v[2]) && is_resident(v[3]) && is_resident(v[4]));
    assert_true(count_of(ctx, "evictions_dirty") == 1);
    assert_true(count_of(ctx, "spill_bytes") == N * sizeof(float));
    run_add(ctx, v[3], 3, v[5]); /* v1 was used before v4 was written */
    assert_true(!is_resident(v[1]) && is_resident(v[4]));
    assert_true(count_of(ctx, "evictions_dirty") == 2);
    check_all(v[1], 1, 1);
    check_all(v[2], 2, 1);
    check_all(v[3], 3, 1);
    check_all(v[4], 4, 1);
    check_all(v[5], 6, 1);
    for (int i = 0; i < 6; i++)
        qn_buf_free(v[i]);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* The plan relies on the copy of `late`, which only its second stage uses. It must not be evicted
 * for the first stage, although it is the oldest and clean. */
static void plan_does_not_evict_what_its_later_steps_need(void **state)
{
    qn_ctx *ctx = open_blocks(4, NULL);
    qn_buf *late = filled(ctx, "late", 10), *other = array_of(ctx, "other", N);
    qn_buf *x = filled(ctx, "x", 0), *y = array_of(ctx, "y", N), *z = array_of(ctx, "z", N);
    qn_graph *g;

    (void)state;
    run_add(ctx, late, 1, other); /* late: clean and oldest; other: dirty */
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_map_add(g, "first", qn_range_1d(N), 1.0f, x, y, &failure));
    must(stage_vadd(g, "second", qn_range_1d(N), late, y, z, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    assert_int_equal(qn_buf_transfers(late).h2d_count, 1);
    assert_true(count_of(ctx, "evictions_clean") == 0 && count_of(ctx, "evictions_dirty") == 1);
    check_all(z, 11, 2);
    check_all(other, 11, 1);
    qn_graph_free(g);
    qn_buf_free(late);
    qn_buf_free(other);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(z);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* A recording holds the addresses of evicted blocks, so it must not be replayed. */
static void recording_is_not_replayed_once_its_blocks_are_evicted(void **state)
{
    qn_ctx *ctx = open_blocks(3, NULL);
    qn_buf *a = filled(ctx, "a", 0), *b = array_of(ctx, "b", N);
    qn_buf *c = filled(ctx, "c", 7), *d = array_of(ctx, "d", N);
    qn_graph *one = add_graph(ctx, a, 1, b), *two = add_graph(ctx, c, 2, d);

    (void)state;
    for (int round = 0; round < 5; round++) {
        for (int run = 0; run < 3; run++)
            must(qn_graph_run(one, &failure));
        check_all(b, 1, 1);
        for (int run = 0; run < 3; run++)
            must(qn_graph_run(two, &failure));
        check_all(d, 9, 1);
    }
    assert_true(count_of(ctx, "evictions_clean") + count_of(ctx, "evictions_dirty") >= 8);
    assert_true(qn_graph_get_stats(one).replays >= 5);
    assert_true(count_of(ctx, "gpu_fallback_count") == 0);
    qn_graph_free(one);
    qn_graph_free(two);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_buf_free(c);
    qn_buf_free(d);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* Temporaries of a graph that is not running hold nothing of value. */
static void idle_temporaries_make_room(void **state)
{
    qn_ctx *ctx = open_blocks(4, NULL);
    qn_buf *x = filled(ctx, "x", 0), *out = array_of(ctx, "out", N), *t[2];
    qn_buf *v = filled(ctx, "v", 3), *w = array_of(ctx, "w", N), *u = array_of(ctx, "u", N);
    qn_graph *g, *other = add_graph(ctx, v, 1, w), *third = add_graph(ctx, w, 1, u);

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(qn_graph_temp(g, "t0", N * sizeof(float), &t[0], &failure));
    must(qn_graph_temp(g, "t1", N * sizeof(float), &t[1], &failure));
    must(stage_map_add(g, "a", qn_range_1d(N), 1.0f, x, t[0], &failure));
    must(stage_map_add(g, "b", qn_range_1d(N), 1.0f, t[0], t[1], &failure));
    must(stage_map_add(g, "c", qn_range_1d(N), 1.0f, t[1], out, &failure));
    for (int round = 0; round < 3; round++) {
        must(qn_graph_run(g, &failure));
        check_all(out, 3, 1);
        must(qn_graph_run(other, &failure));
        must(qn_graph_run(third, &failure));
        check_all(u, 5, 1);
    }
    assert_true(count_of(ctx, "gpu_fallback_count") == 0);
    assert_true(count_of(ctx, "cpu_ops") == 0);
    qn_graph_free(g);
    qn_graph_free(other);
    qn_graph_free(third);
    qn_buf_free(x);
    qn_buf_free(out);
    qn_buf_free(v);
    qn_buf_free(w);
    qn_buf_free(u);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* 36 KiB fit a device that cannot give the 64 KiB of their bucket. */
static void array_that_fits_is_not_refused_for_its_bucket(void **state)
{
    static const qn_options limits[] = {
        { .size = sizeof(qn_options), .mem_budget = "100K" },
        { .size = sizeof(qn_options), .fault = "sim.max_alloc=40K" },
        { .size = sizeof(qn_options), .fault = "sim.mem=100K", .mem_budget = "100%" }
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        qn_options options = limits[i];
        qn_ctx *ctx;
        qn_buf *x, *y;
        qn_graph *g;

        options.backend = "sim";
        ctx = open_with(options);
        x = ramp(ctx, "x", 9 * 1024, 0, 1);
        y = array_of(ctx, "y", 9 * 1024);
        must(qn_graph_new(ctx, "g", &g, &failure));
        must(stage_map_add(g, "add", qn_range_1d(9 * 1024), 1.0f, x, y, &failure));
        must(qn_graph_run(g, &failure));
        assert_true(value_at(y, 9000) == 9001);
        assert_true(count_of(ctx, "gpu_ops") == 1 && count_of(ctx, "oom_splits") == 0);
        qn_graph_free(g);
        qn_buf_free(x);
        qn_buf_free(y);
        assert_nothing_is_held(ctx);
        qn_ctx_close(ctx);
    }
}

/* Host budget and files. */

static char spill_dir[64];

static int open_spill_dir(void **state)
{
    (void)state;
    strcpy(spill_dir, "/tmp/quern-spill-test-XXXXXX");
    if (!mkdtemp(spill_dir))
        return -1;
    setenv("QUERN_SPILL_DIR", spill_dir, 1);
    return 0;
}

static int close_spill_dir(void **state)
{
    (void)state;
    unsetenv("QUERN_SPILL_DIR");
    unsetenv("QUERN_HOST_BUDGET");
    return rmdir(spill_dir); /* fails if anything was left in it */
}

static void host_copies_go_to_files_over_the_host_budget(void **state)
{
    qn_ctx *ctx;
    qn_buf *v[12];

    (void)state;
    setenv("QUERN_HOST_BUDGET", "64K", 1);
    ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    for (int i = 0; i < 12; i++) {
        char name[8];

        snprintf(name, sizeof name, "v%d", i);
        v[i] = filled(ctx, name, (float)(100 * i));
    }
    assert_true(count_of(ctx, "spill_file_bytes") == 8 * BLOCK);
    assert_true(qn_pool_get_stats(ctx->host_pool).bytes_peak <= 65536);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 12; i++)
            check_all(v[i], (float)(100 * i), 1);
    for (int i = 0; i < 12; i++)
        qn_buf_free(v[i]);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

static void least_recently_used_host_copy_goes_first(void **state)
{
    qn_ctx *ctx;
    qn_buf *a, *b, *c;

    (void)state;
    setenv("QUERN_HOST_BUDGET", "32K", 1);
    ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    a = filled(ctx, "a", 1);
    b = filled(ctx, "b", 2);
    check_all(a, 1, 1); /* now b is older */
    c = filled(ctx, "c", 3);
    assert_true(a->host && !b->host && c->host);
    assert_true(b->spill_file >= 0);
    qn_buf_free(a);
    qn_buf_free(b); /* while it is in a file */
    qn_buf_free(c);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* A stage needs all its arrays at once: fetching one must not evict another. */
static void stages_keep_their_arrays_while_they_run(void **state)
{
    static const char *const backends[] = { "cpu", "sim" };

    (void)state;
    setenv("QUERN_HOST_BUDGET", "48K", 1); /* three arrays */
    for (int k = 0; k < 2; k++) {
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = backends[k], .mem_budget = "48K"));
        qn_buf *v[6];
        qn_graph *g;

        for (int i = 0; i < 6; i++)
            v[i] = filled(ctx, "v", (float)i);
        must(qn_graph_new(ctx, "g", &g, &failure));
        for (int i = 2; i < 6; i++)
            must(stage_vadd(g, "add", qn_range_1d(N), v[i - 2], v[i - 1], v[i], &failure));
        for (int i = 2; i < 6; i++)
            must(qn_graph_output(g, v[i], &failure));
        for (int run = 0; run < 3; run++) {
            must(qn_graph_run(g, &failure));
            must(qn_graph_wait(g, &failure));
        }
        check_all(v[2], 1, 2); /* 0 1 1 2 3 5, and the same for the slopes */
        check_all(v[3], 2, 3);
        check_all(v[4], 3, 5);
        check_all(v[5], 5, 8);
        assert_true(count_of(ctx, "spill_file_bytes") > 0);
        assert_true(count_of(ctx, "gpu_fallback_count") == 0);
        qn_graph_free(g);
        for (int i = 0; i < 6; i++)
            qn_buf_free(v[i]);
        assert_nothing_is_held(ctx);
        qn_ctx_close(ctx);
    }
}

static void address_in_the_callers_hands_stays_good(void **state)
{
    qn_ctx *ctx;
    qn_buf *mine, *v[4];
    void *before, *after;

    (void)state;
    setenv("QUERN_HOST_BUDGET", "48K", 1);
    ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    mine = filled(ctx, "mine", 5);
    must(qn_buf_host(mine, QN_HOST_READ, &before, &failure));
    for (int i = 0; i < 4; i++)
        v[i] = filled(ctx, "v", (float)i);
    assert_true(((const float *)before)[3] == 8);
    must(qn_buf_host(mine, QN_HOST_READ, &after, &failure));
    assert_ptr_equal(before, after);
    qn_buf_free(mine);
    for (int i = 0; i < 4; i++)
        qn_buf_free(v[i]);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* A host copy need not be written to a file if a device has the data too. */
static void host_copy_that_a_device_has_is_dropped(void **state)
{
    qn_ctx *ctx;
    qn_buf *a, *b, *c;

    (void)state;
    setenv("QUERN_HOST_BUDGET", "32K", 1);
    ctx = open_with(QN_OPTIONS(.backend = "sim"));
    a = filled(ctx, "a", 1);
    b = array_of(ctx, "b", N);
    run_add(ctx, a, 1, b);
    c = filled(ctx, "c", 3);
    check_all(b, 2, 1); /* needs host memory: a's goes */
    assert_true(count_of(ctx, "spill_file_bytes") == 0);
    check_all(a, 1, 1); /* comes back from the device */
    qn_buf_free(a);
    qn_buf_free(b);
    qn_buf_free(c);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

static void folder_that_is_none_is_named(void **state)
{
    qn_ctx *ctx;
    qn_buf *a, *b = NULL;
    float v = 0;

    (void)state;
    setenv("QUERN_HOST_BUDGET", "16K", 1);
    setenv("QUERN_SPILL_DIR", "/dev/null/no", 1);
    ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    a = filled(ctx, "a", 1);
    must(qn_buf_new(ctx, "b", BLOCK, &b, &failure));
    assert_int_equal(qn_buf_write(b, 0, &v, sizeof v, &failure), QN_ERR_IO);
    assert_true(matches(failure.text, "^buffer b: cannot create /dev/null/no/quern-spill-"));
    check_all(a, 1, 1);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_ctx_close(ctx);
}

static void without_a_folder_the_budget_is_the_end(void **state)
{
    qn_ctx *ctx;
    qn_buf *a, *b;
    float v = 0;

    (void)state;
    setenv("QUERN_HOST_BUDGET", "16K", 1);
    unsetenv("QUERN_SPILL_DIR");
    ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    a = filled(ctx, "a", 1);
    b = array_of(ctx, "b", N);
    assert_int_equal(qn_buf_write(b, 0, &v, sizeof v, &failure), QN_ERR_NOMEM);
    assert_string_equal(
        failure.text, "buffer b: out of memory (need 16.0 KiB, budget 16.0 KiB, in use 16.0 KiB)");
    check_all(a, 1, 1);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_ctx_close(ctx);
}

int main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, open_spill_dir, close_spill_dir)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_copies_go_before_dirty_ones),
        cmocka_unit_test(dirty_copies_are_spilled_least_recently_used_first),
        cmocka_unit_test(plan_does_not_evict_what_its_later_steps_need),
        cmocka_unit_test(recording_is_not_replayed_once_its_blocks_are_evicted),
        cmocka_unit_test(idle_temporaries_make_room),
        cmocka_unit_test(array_that_fits_is_not_refused_for_its_bucket),
        WITH_FOLDER(host_copies_go_to_files_over_the_host_budget),
        WITH_FOLDER(least_recently_used_host_copy_goes_first),
        WITH_FOLDER(stages_keep_their_arrays_while_they_run),
        WITH_FOLDER(address_in_the_callers_hands_stays_good),
        WITH_FOLDER(host_copy_that_a_device_has_is_dropped),
        WITH_FOLDER(folder_that_is_none_is_named),
        WITH_FOLDER(without_a_folder_the_budget_is_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
