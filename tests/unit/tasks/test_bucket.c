/* test_bucket.c - which bucket a size belongs to, and how tasks are counted by bucket. */
#include "engine_fixture.h"

#include <quern/tasks.h>

#include "lab/tasks/bench.h"
#include "engine/device/context.h"
#include "engine/telemetry/export.h"

static uint64_t bucket_of(uint64_t n, uint64_t minimum)
{
    uint64_t bucket = 0;
    qn_err err = { .text = "" };

    if (qn_bucket(n, minimum, &bucket, &err) != QN_OK)
        fail_msg("%s", err.text);
    return bucket;
}

static void sizes_have_the_documented_buckets(void **state)
{
    static const uint64_t table[][2] = {
        { 10000, 16384 },
        { 20000, 32768 },
        { 25000, 32768 },
        { 30000, 32768 },
        { 40000, 65536 },
        { 200000, 262144 },
        { 256000, 262144 },
        { 0, 16384 },
        { 1, 16384 },
        { 16384, 16384 },
        { 16385, 32768 },
        { 32768, 32768 },
        { 32769, 65536 },
        { (uint64_t)1 << 62, (uint64_t)1 << 62 },
        { ((uint64_t)1 << 61) + 1, (uint64_t)1 << 62 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(bucket_of(table[i][0], 0), table[i][1]);
}

static void beyond_two_to_the_62_is_an_error(void **state)
{
    uint64_t bucket = 7;
    qn_err err;

    (void)state;
    assert_int_equal(qn_bucket(((uint64_t)1 << 62) + 1, 0, &bucket, &err), QN_ERR_LIMIT);
    assert_int_equal(qn_bucket(UINT64_MAX, 0, &bucket, &err), QN_ERR_LIMIT);
    assert_int_equal(bucket, 7);
}

static void the_smallest_bucket_can_be_another(void **state)
{
    (void)state;
    assert_int_equal(bucket_of(10, 1024), 1024);
    assert_int_equal(bucket_of(1025, 1024), 2048);
    assert_int_equal(bucket_of(20000, 1024), 32768);
    assert_int_equal(bucket_of(20000, 65536), 65536);
    assert_int_equal(bucket_of(65537, 65536), 131072);
}

/* Tasks. */

static void every_scenario_misses_once_per_bucket_and_hits_otherwise(void **state)
{
    static const struct {
        const char *name;
        int n_tasks, n_buckets;
    } cases[] = {
        { "Uniform-32k", 4, 1 },       { "Uniform-64k", 4, 1 },
        { "Mixed-Same-Bucket", 4, 1 }, { "Mixed-Adjacent-Buckets", 4, 2 },
        { "Mixed-Diverse", 4, 4 },     { "Large-Uniform", 8, 1 },
        { "Large-Mixed", 6, 2 },
    };

    (void)state;
    assert_int_equal(qn_scenario_count(), 7);
    for (int i = 0; i < 7; i++) {
        const qn_scenario *scenario = qn_scenario_find(cases[i].name);
        const int n = cases[i].n_tasks;
        qn_task list[QN_SCENARIO_TASKS];
        qn_ctx *ctx = open_sim(NULL);
        qn_tasks *tasks;

        assert_ptr_equal(scenario, qn_scenario_at(i));
        assert_int_equal(scenario->n_tasks, n);
        qn_scenario_tasks(scenario, "vadd", NULL, 1, list);
        must(qn_tasks_new(ctx, NULL, &tasks, &failure));
        must(qn_tasks_run(tasks, list, n, &failure));
        assert_int_equal(qn_tasks_get_stats(tasks).n_groups, cases[i].n_buckets);
        assert_int_equal(qn_tasks_get_stats(tasks).bucket_misses, cases[i].n_buckets);
        assert_int_equal(qn_tasks_get_stats(tasks).bucket_hits, n - cases[i].n_buckets);
        assert_true(metric(ctx, "bucket_misses", NULL) == cases[i].n_buckets);
        assert_true(metric(ctx, "bucket_hits", NULL) == n - cases[i].n_buckets);
        assert_true(metric(ctx, "bucket_count", NULL) == cases[i].n_buckets);
        assert_true(metric(ctx, "bucket_tasks", NULL) == n);
        must(qn_tasks_run(tasks, list, n, &failure));
        assert_int_equal(qn_tasks_get_stats(tasks).bucket_misses, cases[i].n_buckets);
        assert_int_equal(qn_tasks_get_stats(tasks).bucket_hits, 2 * n - cases[i].n_buckets);
        qn_tasks_free(tasks);
        qn_ctx_close(ctx);
    }
}

static void tasks_and_waste_are_told_by_bucket(void **state)
{
    static const qn_task list[] = { { 1, "vadd", 20000, 1, NULL },
                                    { 2, "sum", 24576, 1, NULL },
                                    { 3, "vadd", 40000, 1, NULL },
                                    { 4, "matmul", 150, 1, NULL } };
    qn_ctx *ctx = open_sim(NULL);
    qn_tasks *tasks;
    char text[2000];
    FILE *page = tmpfile();

    (void)state;
    must(qn_tasks_new(ctx, NULL, &tasks, &failure));
    must(qn_tasks_run(tasks, list, 4, &failure));
    assert_true(metric(ctx, "bucket_tasks", QN_LABELS("bucket", "32768")) == 3);
    assert_true(metric(ctx, "bucket_elems", QN_LABELS("bucket", "32768")) == 20000 + 24576 + 22500);
    assert_true(metric(ctx, "bucket_tasks", QN_LABELS("bucket", "65536")) == 1);
    qn_stats_print(page, qn_ctx_metrics(ctx));
    rewind(page);
    text[fread(text, 1, sizeof text - 1, page)] = 0;
    fclose(page);
    assert_non_null(strstr(text, "32768                     3     75.0     31.8\n"));
    assert_non_null(strstr(text, "65536                     1     25.0     39.0\n"));
    qn_tasks_free(tasks);
    qn_ctx_close(ctx);
}

static uint64_t bucket_in_batch(qn_i64 n, uint64_t minimum)
{
    const qn_task task = { 1, "vadd", n, 1, NULL };
    qn_ctx *ctx = open_sim(NULL);
    qn_tasks *tasks;
    uint64_t bucket;

    must(qn_tasks_new(
        ctx, &(qn_tasks_options){ .size = sizeof(qn_tasks_options), .bucket_min = (qn_i64)minimum },
        &tasks, &failure));
    must(qn_tasks_run(tasks, &task, 1, &failure));
    must(qn_tasks_verify(tasks, &failure));
    bucket = qn_tasks_results(tasks)[0].bucket;
    qn_tasks_free(tasks);
    qn_ctx_close(ctx);
    return bucket;
}

static void batches_take_the_smallest_bucket_from_options_then_environment(void **state)
{
    (void)state;
    assert_int_equal(bucket_in_batch(100, 0), 16384);
    assert_int_equal(bucket_in_batch(100, 1024), 1024);
    assert_int_equal(bucket_in_batch(20000, 65536), 65536);
    setenv("QUERN_BUCKET_MIN", "1024", 1);
    assert_int_equal(bucket_in_batch(100, 0), 1024);
    assert_int_equal(bucket_in_batch(1500, 0), 2048);
    assert_int_equal(bucket_in_batch(100, 65536), 65536);
    setenv("QUERN_BUCKET_MIN", "65536", 1);
    assert_int_equal(bucket_in_batch(100, 0), 65536);
    unsetenv("QUERN_BUCKET_MIN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_have_the_documented_buckets),
        cmocka_unit_test(beyond_two_to_the_62_is_an_error),
        cmocka_unit_test(the_smallest_bucket_can_be_another),
        cmocka_unit_test(every_scenario_misses_once_per_bucket_and_hits_otherwise),
        cmocka_unit_test(tasks_and_waste_are_told_by_bucket),
        cmocka_unit_test(batches_take_the_smallest_bucket_from_options_then_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
