/* test_arc_vm_resident.c - programs and grids that stay on the device, and those that were
 * evicted. */
#include "arc_session_fixture.h"

#include "engine/device/context.h"
#include "engine/device/pool.h"

enum { SMALL_POOL = 28 << 10 };

static fixture open_pool(const char *backend, size_t pool_bytes)
{
    return fixture_in(open_with(QN_OPTIONS(.backend = backend, .log = "none")),
                      (qn_arc_session_options){ .pool_bytes = pool_bytes });
}

static size_t live_bytes(const qn_ctx *ctx)
{
    return qn_pool_get_stats(ctx->devices[1].pool).bytes_live;
}

/* Eviction. */

static void small_pool_evicts_and_changes_no_result(void **state)
{
    static const char *const backends[] = { "cpu", "sim" };

    (void)state;
    for (int b = 0; b < 2; b++) {
        fixture large = open_pool(backends[b], 0), small = open_pool(backends[b], SMALL_POOL);
        const qn_arc_stats *stats;

        add_made(&large, 600, 800);
        add_made(&small, 600, 800);
        for (int round = 0; round < 3; round++) {
            fixture_run(&large);
            fixture_run(&small);
            assert_same(&large, &small, backends[b]);
        }
        stats = qn_arc_session_stats(small.s);
        assert_true(stats->cache_evictions > 100);
        assert_true(stats->cache_bytes <= SMALL_POOL);
        assert_int_equal(qn_arc_session_stats(large.s)->cache_evictions, 0);
        fixture_close(&large);
        fixture_close(&small);
    }
}

/* Batches fill the pool in a different order each time. */
static void jobs_in_any_order_give_the_same_from_a_small_pool(void **state)
{
    fixture r = open_pool("sim", SMALL_POOL), ref = open_pool("cpu", 0);
    qn_arc_job *saved;

    (void)state;
    add_made(&r, 800, 200);
    add_made(&ref, 800, 200);
    fixture_run(&ref);
    saved = malloc(r.n * sizeof *saved);
    assert_non_null(saved);
    memcpy(saved, r.jobs, r.n * sizeof *saved);
    for (uint32_t round = 1; round < 6; round++) {
        const uint32_t step = 2 * round * 3 + 1; /* 200 has no factor of 7, 13, 19, 31 */

        if (step == 25)
            continue;
        for (uint32_t k = 0; k < r.n; k++) {
            r.jobs[k] = saved[k * step % r.n];
            ref.jobs[k] = r.jobs[k];
        }
        fixture_run(&ref);
        fixture_run(&r);
        assert_same(&ref, &r, "shuffled");
    }
    free(saved);
    fixture_close(&r);
    fixture_close(&ref);
}

/* A program of 6 KB, for a pool of 4 KB. */
static int add_long(fixture *r)
{
    qn_str text = { 0 };
    int program;

    qn_str_add(&text, "def solve_long(I):\n    x0 = size(I)\n");
    for (int i = 1; i < 400; i++)
        qn_str_addf(&text, "    x%d = add(x%d, %d)\n", i, i - 1, i);
    qn_str_add(&text, "    return x399\n");
    program = fixture_program(r, "long", qn_str_get(&text));
    qn_str_free(&text);
    return program;
}

static void job_larger_than_the_pool_runs_on_the_cpu_and_says_so(void **state)
{
    fixture ref = open_pool("cpu", 0);
    fixture r = fixture_in(open_with(QN_OPTIONS(.backend = "sim")),
                           (qn_arc_session_options){ .pool_bytes = 4096 });
    fixture *const both[] = { &ref, &r };
    char text[4096];

    (void)state;
    for (int k = 0; k < 2; k++) {
        fixture_job(both[k], fixture_made_program(both[k], 51, 0), fixture_made_grid(both[k], 1));
        fixture_job(both[k], add_long(both[k]), fixture_made_grid(both[k], 2));
        fixture_job(both[k], fixture_made_program(both[k], 51, 0), fixture_made_grid(both[k], 3));
    }
    fixture_run(&ref);
    CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
    assert_same(&ref, &r, "oversize");
    assert_string_equal(text, "[GPU] arc.vm failed: POOL limit 4 KB (program long, grid grid2). "
                              "CPU fallback.\n");
    assert_int_equal(qn_arc_session_stats(r.s)->oversize, 1);
    assert_true(qn_arc_session_stats(r.s)->gpu_ops > 0);
    assert_true(qn_arc_session_stats(r.s)->cpu_ops >= 400);
    fixture_close(&r);
    fixture_close(&ref);
}

static void forbidden_fallback_makes_a_job_larger_than_the_pool_an_error(void **state)
{
    fixture r = fixture_in(open_with(QN_OPTIONS(.backend = "sim", .fallback = QN_FALLBACK_ERROR)),
                           (qn_arc_session_options){ .pool_bytes = 4096 });
    qn_err err = { .text = "" };

    (void)state;
    fixture_job(&r, add_long(&r), fixture_made_grid(&r, 1));
    assert_int_equal(qn_arc_session_run(r.s, r.jobs, r.n, ARC_WANT_OUTPUT, 0, &err),
                     QN_ERR_FALLBACK);
    assert_non_null(strstr(err.text, "POOL limit 4 KB (program long, grid grid1)"));
    fixture_close(&r);
}

/* 4000 grids need more memory than the device has besides the arenas. */
static void pool_shrinks_to_what_the_device_has_and_says_so(void **state)
{
    fixture ref = open_pool("cpu", 0);
    fixture r =
        fixture_in(open_with(QN_OPTIONS(.backend = "sim", .fault = "sim.mem=700K")),
                   (qn_arc_session_options){ .limits = { .arena = 8192 }, .pool_bytes = 4 << 20 });
    fixture *const both[] = { &ref, &r };
    char text[8192];

    (void)state;
    for (int k = 0; k < 2; k++) {
        const int program =
            fixture_program(both[k], "turn", "def solve_a(I):\n    O = vmirror(I)\n    return O\n");

        for (uint64_t g = 0; g < 4000; g++)
            fixture_job(both[k], program, fixture_made_grid(both[k], g));
    }
    fixture_run_with(&ref, 0, 0);
    CAPTURE_STDERR(text, sizeof text, fixture_run_with(&r, 0, 0));
    for (uint32_t k = 0; k < r.n; k++)
        assert_memory_equal(qn_arc_session_result(ref.s, k), qn_arc_session_result(r.s, k),
                            offsetof(arc_result, arena));
    if (!strstr(text, "arc: sim:0 has no memory for "))
        fail_msg("%s", text);
    assert_true(qn_arc_session_stats(r.s)->pool_shrinks > 0);
    assert_true(qn_arc_session_stats(r.s)->pool_pieces > 0);
    fixture_close(&r);
    fixture_close(&ref);
}

/* Time. */

static void count_progress(void *user, uint32_t n)
{
    uint32_t *const seen = user;

    seen[0] += n;
    seen[1]++;
}

/* 60 ms of work in launches of 5 ms: none of them blocks a display, and the progress bar moves. */
static void long_batch_goes_in_several_launches(void **state)
{
    static const char text[] = "def solve_a(I):\n    f = power(increment, 2000)\n"
                               "    O = f(ZERO)\n    return O\n";
    fixture r = fixture_in(open_with(QN_OPTIONS(.backend = "sim", .log = "none")),
                           (qn_arc_session_options){ .launch_ms = 5 });
    const int program = fixture_program(&r, "a", text), grid = fixture_made_grid(&r, 1);
    uint32_t counts[2] = { 0 };
    uint64_t first;

    (void)state;
    for (int k = 0; k < 3000; k++)
        fixture_job(&r, program, grid);
    fixture_run(&r); /* compiles */
    fixture_run(&r); /* measures the time */
    first = qn_arc_session_stats(r.s)->launches;
    qn_arc_session_watch(r.s, count_progress, counts);
    fixture_run(&r);
    assert_true(qn_arc_session_stats(r.s)->launches - first > 2);
    assert_int_equal(counts[0], r.n);
    assert_true(counts[1] > 2);
    for (uint32_t k = 0; k < r.n; k++)
        assert_output(&r, k, "2000");
    fixture_close(&r);
}

static void time_of_uploads_is_reported(void **state)
{
    fixture r = open_pool("sim", 0);

    (void)state;
    add_made(&r, 90, 60);
    fixture_run(&r);
    assert_true(qn_arc_session_stats(r.s)->time_upload > 0);
    assert_true(qn_arc_session_stats(r.s)->time_kernel > 0);
    fixture_close(&r);
}

/* Residency. */

static void second_run_uploads_nothing_but_the_list(void **state)
{
    enum { PROGRAMS = 20, GRIDS = 15 };
    fixture r = fixture_open(
        "sim", (qn_arc_session_options){ .limits = { .arena = 2 << 20 }, .launch_ms = -1 });
    qn_arc_stats first, second;
    qn_transfer_count before, after;
    int grids[GRIDS];

    (void)state;
    for (int g = 0; g < GRIDS; g++)
        grids[g] = fixture_made_grid(&r, (uint64_t)g);
    for (int p = 0; p < PROGRAMS; p++) {
        const int program = fixture_made_program(&r, 3 + (uint64_t)p, 0);

        for (int g = 0; g < GRIDS; g++)
            fixture_job(&r, program, grids[g]);
    }
    fixture_run(&r);
    first = *qn_arc_session_stats(r.s);
    assert_int_equal(first.reruns, 0);
    assert_int_equal(first.cache_misses, PROGRAMS + GRIDS);
    before = qn_ctx_transfers(r.ctx);
    fixture_run(&r);
    after = qn_ctx_transfers(r.ctx);
    second = *qn_arc_session_stats(r.s);
    assert_int_equal(second.cache_misses, first.cache_misses);
    assert_int_equal(second.cache_hits - first.cache_hits, PROGRAMS + GRIDS);
    assert_int_equal(after.h2d_count - before.h2d_count, 1);
    /* The buffer of the list is rounded up to a power of two. */
    assert_true(after.h2d_bytes - before.h2d_bytes >= r.n * sizeof(arc_instance));
    assert_true(after.h2d_bytes - before.h2d_bytes < 2 * r.n * sizeof(arc_instance));
    assert_int_equal(after.d2h_count - before.d2h_count, 2);
    assert_int_equal(second.transfers - first.transfers, 3);
    fixture_close(&r);
}

/* A new grid is uploaded by itself, not with everything already there. */
static void new_grid_is_all_that_is_uploaded(void **state)
{
    fixture r = fixture_open("sim", (qn_arc_session_options){ .launch_ms = -1 });
    const int program = fixture_made_program(&r, 51, 0);
    qn_transfer_count before, after;

    (void)state;
    for (uint64_t g = 0; g < 200; g++)
        fixture_job(&r, program, fixture_made_grid(&r, g));
    fixture_run(&r);
    fixture_job(&r, program, fixture_made_grid(&r, 1000));
    before = qn_ctx_transfers(r.ctx);
    fixture_run(&r);
    after = qn_ctx_transfers(r.ctx);
    assert_int_equal(after.h2d_count - before.h2d_count, 2); /* the new content, and the list */
    assert_true(after.h2d_bytes - before.h2d_bytes < 200 * 1024);
    fixture_close(&r);
}

static void equal_grids_are_resident_once(void **state)
{
    fixture r = open_pool("sim", 0);
    const int program = fixture_made_program(&r, 51, 0);
    size_t bytes;

    (void)state;
    fixture_job(&r, program, fixture_made_grid(&r, 9));
    fixture_run(&r);
    bytes = qn_arc_session_stats(r.s)->cache_bytes;
    for (int k = 0; k < 50; k++)
        fixture_job(&r, program, fixture_made_grid(&r, 9));
    fixture_run(&r);
    assert_int_equal(qn_arc_session_stats(r.s)->cache_bytes, bytes);
    assert_int_equal(qn_arc_session_stats(r.s)->cache_misses, 2);
    fixture_close(&r);
}

/* Long runs. */

/* New grids in every batch, from a pool that holds a few batches. */
static void thousand_batches_leave_the_memory_as_it_was(void **state)
{
    enum { BATCHES = 1000, JOBS = 12, GRIDS = 400 };
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .log = "none"));
    const size_t start = live_bytes(ctx);
    fixture r = fixture_in(ctx, (qn_arc_session_options){ .pool_bytes = SMALL_POOL });
    int grids[GRIDS], programs[4];
    size_t warm = 0;

    (void)state;
    for (int g = 0; g < GRIDS; g++)
        grids[g] = fixture_made_grid(&r, (uint64_t)g);
    for (int p = 0; p < 4; p++)
        programs[p] = fixture_made_program(&r, 50 + (uint64_t)p, 0);
    for (int b = 0; b < BATCHES; b++) {
        r.n = 0;
        for (int k = 0; k < JOBS; k++)
            fixture_job(&r, programs[k % 4], grids[(b * JOBS + k) % GRIDS]);
        fixture_run(&r);
        assert_true(qn_arc_session_stats(r.s)->cache_bytes <= SMALL_POOL);
        if (b == 100)
            warm = live_bytes(ctx);
    }
    assert_int_equal(live_bytes(ctx), warm);
    assert_int_equal(qn_arc_session_stats(r.s)->instances, BATCHES * JOBS);
    assert_true(qn_arc_session_stats(r.s)->cache_evictions > BATCHES);
    qn_arc_session_free(r.s);
    assert_int_equal(live_bytes(ctx), start);
    free(r.jobs);
    qn_ctx_close(ctx);
}

/* Faults. */

static int n_injected(const fixture *r)
{
    return (int)qn_metric_value(qn_ctx_metrics(r->ctx), "gpu_fallback_count", NULL);
}

/* Whichever allocation of the device fails, once or from then on, results do not change. */
static void every_failed_allocation_of_the_device_is_survived(void **state)
{
    fixture ref = open_pool("cpu", 0);
    int n_survived = 0;

    (void)state;
    add_made(&ref, 91, 30);
    fixture_run(&ref);
    for (int k = 1; k <= 24; k++)
        for (int once = 0; once < 2; once++) {
            char fault[32];
            fixture r;

            snprintf(fault, sizeof fault, "alloc@%d%s", k, once ? "*1" : "");
            r = fixture_in(open_with(QN_OPTIONS(.backend = "sim", .fault = fault, .log = "none")),
                           (qn_arc_session_options){ 0 });
            add_made(&r, 91, 30);
            for (int round = 0; round < 2; round++) {
                fixture_run(&r);
                assert_same(&ref, &r, fault);
            }
            n_survived += n_injected(&r) > 0;
            fixture_close(&r);
        }
    assert_true(n_survived > 3);
    fixture_close(&ref);
}

/* The device fails at some point; the CPU takes over with the same results. */
static void device_that_fails_changes_no_result(void **state)
{
    static const char *const faults[] = { "launch@1",     "launch@2",     "launch@3*2",
                                          "alloc@1",      "alloc@3",      "alloc@5*1",
                                          "copy_h2d@1",   "copy_h2d@2*1", "compile@1*1",
                                          "device_lost@2" };
    fixture ref = open_pool("cpu", 0);

    (void)state;
    add_made(&ref, 90, 60);
    fixture_run(&ref);
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        fixture r =
            fixture_in(open_with(QN_OPTIONS(.backend = "sim", .fault = faults[f], .log = "none")),
                       (qn_arc_session_options){ 0 });

        add_made(&r, 90, 60);
        for (int round = 0; round < 3; round++) {
            fixture_run(&r);
            assert_same(&ref, &r, faults[f]);
        }
        fixture_close(&r);
    }
    fixture_close(&ref);
}

/* Content that was uploaded in pieces exists only on the device and in the host's copy of the
 * pool. */
static void device_lost_after_pieces_were_loaded_changes_no_result(void **state)
{
    fixture ref = open_pool("cpu", 0);

    (void)state;
    for (uint64_t round = 0; round < 4; round++)
        add_made(&ref, 90 + round, 40);
    fixture_run(&ref);
    for (int at = 1; at < 24; at++) {
        char fault[32];
        fixture r;

        snprintf(fault, sizeof fault, "device_lost@%d", at);
        r = fixture_in(open_with(QN_OPTIONS(.backend = "sim", .fault = fault, .log = "none")),
                       (qn_arc_session_options){ 0 });
        for (uint64_t round = 0; round < 4; round++) {
            add_made(&r, 90 + round, 40);
            fixture_run(&r);
        }
        assert_same(&ref, &r, fault);
        fixture_close(&r);
    }
    fixture_close(&ref);
}

/* Outputs take 2 MiB, the arenas of all teams 1 MiB. */
static void device_with_little_memory_runs_fewer_teams(void **state)
{
    static const char *const limits[] = { "sim.mem=16M", "sim.mem=3M", "sim.mem=2900K",
                                          "alloc:arc.arenas*3", "sim.mem=64M,sim.max_alloc=2M" };
    fixture ref = open_pool("cpu", 0);
    uint64_t steps;

    (void)state;
    add_made(&ref, 90, 60);
    fixture_run(&ref);
    steps = qn_arc_session_stats(ref.s)->steps_total;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        fixture r = fixture_in(
            open_with(QN_OPTIONS(.backend = "sim", .fault = limits[i], .log = "none")),
            (qn_arc_session_options){ .pool_bytes = 1 << 20, .limits = { .arena = 64 << 10 } });
        const qn_arc_stats *stats = qn_arc_session_stats(r.s);

        add_made(&r, 90, 60);
        fixture_run(&r);
        assert_same(&ref, &r, limits[i]);
        if (stats->gpu_ops < steps || stats->cpu_ops > 0 || fixture_fallbacks(&r))
            fail_msg("%s: %llu operations on the device, %llu on the CPU", limits[i],
                     (unsigned long long)stats->gpu_ops, (unsigned long long)stats->cpu_ops);
        fixture_close(&r);
    }
    fixture_close(&ref);
}

static void device_without_memory_leaves_everything_to_the_cpu(void **state)
{
    fixture ref = open_pool("cpu", 0);
    fixture r = fixture_in(open_with(QN_OPTIONS(.backend = "sim", .fault = "sim.mem=1M")),
                           (qn_arc_session_options){ .pool_bytes = 1 << 20 });
    char text[8192];

    (void)state;
    add_made(&ref, 90, 60);
    add_made(&r, 90, 60);
    fixture_run(&ref);
    CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
    assert_same(&ref, &r, "1M");
    assert_non_null(strstr(text, "[GPU] arc.vm failed: "));
    assert_non_null(strstr(text, "CPU fallback.\n"));
    assert_int_equal(qn_arc_session_stats(r.s)->gpu_ops, 0);
    assert_true(qn_arc_session_stats(r.s)->cpu_ops > 0);
    fixture_close(&r);
    fixture_close(&ref);
}

static void results_that_never_arrived_come_from_the_cpu(void **state)
{
    static const char *const faults[] = { "copy_d2h@1*1", "copy_d2h@2*1" };
    fixture ref = open_pool("cpu", 0);

    (void)state;
    add_made(&ref, 90, 60);
    fixture_run(&ref);
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        fixture r = fixture_in(open_with(QN_OPTIONS(.backend = "sim", .fault = faults[f])),
                               (qn_arc_session_options){ 0 });
        char text[4096];

        add_made(&r, 90, 60);
        CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
        if (!strstr(text, "injected copy_d2h fault") || !strstr(text, "CPU fallback.\n"))
            fail_msg("%s", text);
        assert_same(&ref, &r, faults[f]);
        fixture_run(&r);
        assert_same(&ref, &r, faults[f]);
        assert_true(qn_arc_session_stats(r.s)->gpu_ops > 0);
        fixture_close(&r);
    }
    fixture_close(&ref);
}

static void results_that_never_arrived_are_an_error_where_fallback_is_forbidden(void **state)
{
    fixture r = fixture_in(open_with(QN_OPTIONS(.backend = "sim", .fault = "copy_d2h@1*1",
                                                .fallback = QN_FALLBACK_ERROR)),
                           (qn_arc_session_options){ 0 });
    qn_err err = { .text = "" };

    (void)state;
    add_made(&r, 90, 60);
    assert_int_equal(qn_arc_session_run(r.s, r.jobs, r.n, ARC_WANT_OUTPUT, 0, &err),
                     QN_ERR_FALLBACK);
    assert_non_null(strstr(err.text, "injected copy_d2h fault"));
    fixture_run(&r);
    fixture_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_pool_evicts_and_changes_no_result),
        cmocka_unit_test(jobs_in_any_order_give_the_same_from_a_small_pool),
        cmocka_unit_test(job_larger_than_the_pool_runs_on_the_cpu_and_says_so),
        cmocka_unit_test(forbidden_fallback_makes_a_job_larger_than_the_pool_an_error),
        cmocka_unit_test(pool_shrinks_to_what_the_device_has_and_says_so),
        cmocka_unit_test(long_batch_goes_in_several_launches),
        cmocka_unit_test(time_of_uploads_is_reported),
        cmocka_unit_test(second_run_uploads_nothing_but_the_list),
        cmocka_unit_test(new_grid_is_all_that_is_uploaded),
        cmocka_unit_test(equal_grids_are_resident_once),
        cmocka_unit_test(thousand_batches_leave_the_memory_as_it_was),
        cmocka_unit_test(device_that_fails_changes_no_result),
        cmocka_unit_test(every_failed_allocation_of_the_device_is_survived),
        cmocka_unit_test(device_lost_after_pieces_were_loaded_changes_no_result),
        cmocka_unit_test(device_with_little_memory_runs_fewer_teams),
        cmocka_unit_test(device_without_memory_leaves_everything_to_the_cpu),
        cmocka_unit_test(results_that_never_arrived_come_from_the_cpu),
        cmocka_unit_test(results_that_never_arrived_are_an_error_where_fallback_is_forbidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
