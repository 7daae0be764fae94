/* test_tasks.c - batches: results, costs, refusals. */
#include "engine_fixture.h"

#include <quern/tasks.h>

#include "engine/device/context.h"
#include "util/hash.h"

typedef struct {
    qn_ctx *ctx;
    qn_tasks *tasks;
} fixture;

static fixture open_fixture(const char *backend, const char *fault, qn_tasks_options options)
{
    fixture r = { .ctx = open_with(QN_OPTIONS(.backend = backend, .fault = fault, .log = "none")) };

    must(qn_tasks_new(r.ctx, &options, &r.tasks, &failure));
    return r;
}

static fixture sim_fixture(const char *fault)
{
    return open_fixture("sim", fault, (qn_tasks_options){ .size = sizeof(qn_tasks_options) });
}

static void close_fixture(fixture *r)
{
    qn_tasks_free(r->tasks);
    qn_ctx_close(r->ctx);
}

/* One task of every op, sizes at and around the edges of chunks, lanes and buckets. */
static const qn_task all_ops[] = {
    { 1, "vadd", 20000, 7, NULL },
    { 2, "vadd", 1, 8, "" },
    { 3, "saxpy", 16385, 9, "-0.5" },
    { 4, "chain", 1025, 10, "mul:2,add:1,abs,sqrt" },
    { 5, "chain", 3000, 28, "sub:0.25,sqrt,max:0.5,min:0.7,neg,square,div:3" },
    { 6, "chain", 3000, 12, "exp,tanh" },
    { 7, "sum", 4097, 13, NULL },
    { 8, "sum", 1, 14, NULL },
    { 9, "dot", 100000, 15, NULL },
    { 10, "max", 8191, 16, NULL },
    { 11, "matmul", 1, 17, NULL },
    { 12, "matmul", 65, 18, NULL },
    { 13, "matmul", 65, 19, NULL },
    { 14, "sha256", 65, 20, "0-130" },
    { 15, "sha256", 3, 21, "55" },
    { 16, "keccak256", 70, 22, "0-300" },
    { 17, "merkle", 1, 23, NULL },
    { 18, "merkle", 1025, 24, NULL },
    { 19, "merkle", 600, 25, "rfc6962" },
    { 20, "vadd", 20000, 26, NULL },
};

enum { N_ALL = sizeof all_ops / sizeof *all_ops };

/* Results. */

static void every_op_passes_its_check_on_every_backend_with_the_same_checksums(void **state)
{
    static const char *const backends[] = { "cpu", "sim" };
    char sums[2][N_ALL][QN_TASK_CHECKSUM_SIZE];

    (void)state;
    for (int b = 0; b < 2; b++) {
        fixture r =
            open_fixture(backends[b], NULL, (qn_tasks_options){ .size = sizeof(qn_tasks_options) });

        must(qn_tasks_run(r.tasks, all_ops, N_ALL, &failure));
        must(qn_tasks_verify(r.tasks, &failure));
        for (int i = 0; i < N_ALL; i++) {
            const qn_task_result *result = &qn_tasks_results(r.tasks)[i];

            must(qn_tasks_checksum(r.tasks, i, sums[b][i], &failure));
            assert_int_equal(result->id, all_ops[i].id);
            assert_int_equal(result->state, QN_TASK_OK);
            assert_memory_equal(result->device, backends[b], 3);
        }
        close_fixture(&r);
    }
    for (int i = 0; i < N_ALL; i++)
        assert_string_equal(sums[0][i], sums[1][i]);
    assert_string_equal(sums[0][5], "-"); /* exp and tanh */
}

static void results_are_the_formula_in_task_order(void **state)
{
    static const qn_task list[] = { { 5, "vadd", 300, 3, NULL },
                                    { 4, "vadd", 40000, 1, NULL },
                                    { 3, "vadd", 200, 9, NULL } };
    fixture r = sim_fixture(NULL);

    (void)state;
    must(qn_tasks_run(r.tasks, list, 3, &failure));
    for (int i = 0; i < 3; i++) {
        const size_t bytes = (size_t)list[i].n * sizeof(float);
        float *got = malloc(bytes);

        assert_int_equal(qn_tasks_results(r.tasks)[i].bytes, bytes);
        must(qn_tasks_read(r.tasks, i, got, bytes, &failure));
        for (qn_i64 j = 0; j < list[i].n; j++)
            assert_true(got[j] == qn_random_float(list[i].seed, (uint64_t)j) +
                                      qn_random_float(list[i].seed + 1, (uint64_t)j));
        free(got);
    }
    close_fixture(&r);
}

static void checksum_is_fnv_of_the_result_bytes(void **state)
{
    static const qn_task list[] = { { 1, "saxpy", 5000, 3, "1.5" } };
    fixture r = sim_fixture(NULL);
    float got[5000];
    char want[32], sum[QN_TASK_CHECKSUM_SIZE];

    (void)state;
    must(qn_tasks_run(r.tasks, list, 1, &failure));
    must(qn_tasks_read(r.tasks, 0, got, sizeof got, &failure));
    must(qn_tasks_checksum(r.tasks, 0, sum, &failure));
    snprintf(want, sizeof want, "%016llx", (unsigned long long)qn_fnv1a64(got, sizeof got));
    assert_string_equal(sum, want);
    close_fixture(&r);
}

static void shares_of_tasks_add_up_to_the_batch(void **state)
{
    fixture r = sim_fixture(NULL);
    double sum = 0;

    (void)state;
    must(qn_tasks_run(r.tasks, all_ops, N_ALL, &failure));
    for (int i = 0; i < N_ALL; i++)
        sum += qn_tasks_results(r.tasks)[i].exec_us;
    assert_true(qn_tasks_get_stats(r.tasks).wall_us > 0);
    assert_float_equal(sum, qn_tasks_get_stats(r.tasks).wall_us, 0.01);
    close_fixture(&r);
}

/* Cutting. */

static void a_task_larger_than_a_chunk_gives_the_same_bits(void **state)
{
    static const qn_task list[] = { { 1, "vadd", 100001, 3, NULL },
                                    { 2, "saxpy", 50000, 4, NULL },
                                    { 3, "chain", 33333, 5, NULL },
                                    { 4, "vadd", 70000, 6, NULL } };
    char sums[2][4][QN_TASK_CHECKSUM_SIZE];
    int n_stages[2];

    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        fixture r = open_fixture(
            "sim", NULL,
            (qn_tasks_options){ .size = sizeof(qn_tasks_options), .chunk_elems = cut ? 10000 : 0 });

        must(qn_tasks_run(r.tasks, list, 4, &failure));
        must(qn_tasks_verify(r.tasks, &failure));
        n_stages[cut] = qn_tasks_get_stats(r.tasks).n_stages;
        for (int i = 0; i < 4; i++)
            must(qn_tasks_checksum(r.tasks, i, sums[cut][i], &failure));
        close_fixture(&r);
    }
    assert_int_equal(n_stages[0], 3);
    assert_int_equal(n_stages[1], 11 + 5 + 4 + 7);
    for (int i = 0; i < 4; i++)
        assert_string_equal(sums[0][i], sums[1][i]);
}

static void small_tasks_fill_chunks_without_being_cut(void **state)
{
    qn_task list[10];
    fixture r = open_fixture(
        "sim", NULL, (qn_tasks_options){ .size = sizeof(qn_tasks_options), .chunk_elems = 10000 });

    (void)state;
    for (int i = 0; i < 10; i++)
        list[i] = (qn_task){ i, i % 2 ? "vadd" : "sum", 3000, 40 + (uint64_t)i, NULL };
    must(qn_tasks_run(r.tasks, list, 10, &failure));
    must(qn_tasks_verify(r.tasks, &failure));
    /* Five tasks of 3000 in chunks of 10000: 3 + 2, of vadd and of the two stages of sum. */
    assert_int_equal(qn_tasks_get_stats(r.tasks).n_stages, 2 + 2 * 2);
    close_fixture(&r);
}

/* Costs. */

static void a_batch_is_one_submission_and_a_group_one_launch(void **state)
{
    qn_task list[24];
    fixture r = sim_fixture(NULL);

    (void)state;
    for (int i = 0; i < 24; i++)
        list[i] = (qn_task){ i, "vadd", 17000 + 500 * i, (uint64_t)i, NULL };
    must(qn_tasks_run(r.tasks, list, 24, &failure));
    assert_int_equal(qn_tasks_get_stats(r.tasks).submissions, 1);
    assert_int_equal(qn_tasks_get_stats(r.tasks).n_groups, 1);
    assert_int_equal(qn_tasks_get_stats(r.tasks).n_stages, 2); /* 545 000 elements: two chunks */
    assert_int_equal(qn_ctx_transfers(r.ctx).h2d_count, 2 * 2);
    assert_int_equal(qn_ctx_transfers(r.ctx).d2h_count, 2);
    close_fixture(&r);
}

static void unchanged_inputs_are_uploaded_once_and_touched_ones_again(void **state)
{
    static const qn_task list[] = { { 1, "vadd", 20000, 3, NULL }, { 2, "vadd", 30000, 4, NULL } };
    fixture r = sim_fixture(NULL);

    (void)state;
    for (int i = 0; i < 3; i++)
        must(qn_tasks_run(r.tasks, list, 2, &failure));
    assert_int_equal(qn_ctx_transfers(r.ctx).h2d_count, 2);
    assert_int_equal(qn_ctx_transfers(r.ctx).d2h_count, 3);
    must(qn_tasks_touch(r.tasks, &failure));
    must(qn_tasks_run(r.tasks, list, 2, &failure));
    must(qn_tasks_verify(r.tasks, &failure));
    assert_int_equal(qn_ctx_transfers(r.ctx).h2d_count, 4);
    close_fixture(&r);
}

static void an_operand_that_a_run_overwrites_is_made_again(void **state)
{
    static const qn_task list[] = { { 1, "saxpy", 20000, 3, "3" } };
    fixture r = sim_fixture(NULL);

    (void)state;
    for (int i = 0; i < 4; i++) {
        must(qn_tasks_run(r.tasks, list, 1, &failure));
        must(qn_tasks_verify(r.tasks, &failure));
        if (i == 2)
            must(qn_tasks_touch(r.tasks, &failure));
    }
    close_fixture(&r);
}

static void other_seeds_make_other_inputs_in_the_same_arrays(void **state)
{
    qn_task list[] = { { 1, "vadd", 20000, 3, NULL }, { 2, "sum", 5000, 3, NULL } };
    char first[QN_TASK_CHECKSUM_SIZE], second[QN_TASK_CHECKSUM_SIZE];
    fixture r = sim_fixture(NULL);

    (void)state;
    must(qn_tasks_run(r.tasks, list, 2, &failure));
    must(qn_tasks_checksum(r.tasks, 0, first, &failure));
    list[0].seed = 4;
    must(qn_tasks_run(r.tasks, list, 2, &failure));
    must(qn_tasks_verify(r.tasks, &failure));
    must(qn_tasks_checksum(r.tasks, 0, second, &failure));
    assert_string_not_equal(first, second);
    assert_int_equal(qn_tasks_get_stats(r.tasks).was_planned, 0);
    close_fixture(&r);
}

static void metrics_tell_the_last_batch_and_the_modules(void **state)
{
    static const qn_task list[] = { { 1, "vadd", 20000, 3, NULL },
                                    { 2, "vadd", 30000, 3, NULL },
                                    { 3, "merkle", 700, 3, NULL },
                                    { 4, "sha256", 70, 3, NULL } };
    fixture r = sim_fixture(NULL);

    (void)state;
    must(qn_tasks_run(r.tasks, list, 4, &failure));
    assert_true(count_of(r.ctx, "hybrid_batch_size") == 4);
    assert_true(count_of(r.ctx, "hybrid_executor_duration_ms") > 0);
    assert_true(count_of(r.ctx, "hybrid_throughput_tps") > 0);
    assert_true(count_of(r.ctx, "gpu_vector_executions_total") == 1);
    assert_true(count_of(r.ctx, "gpu_vector_last_batch_size") == 2);
    assert_true(count_of(r.ctx, "gpu_crypto_executions_total") == 1);
    assert_true(count_of(r.ctx, "gpu_merkle_last_tree_size") == 700);
    assert_true(count_of(r.ctx, "gpu_merkle_failures_total") == 0);
    assert_true(count_of(r.ctx, "gpu_vector_last_latency_ms") > 0);
    close_fixture(&r);
}

/* Faults. */

static void a_failed_launch_falls_back_and_says_which_tasks(void **state)
{
    static const qn_task list[] = { { 1, "vadd", 20000, 3, NULL }, { 2, "sum", 5000, 3, NULL } };
    fixture r;

    (void)state;
    r = sim_fixture("launch:vadd");
    must(qn_tasks_run(r.tasks, list, 2, &failure));
    must(qn_tasks_verify(r.tasks, &failure));
    assert_int_equal(qn_tasks_results(r.tasks)[0].state, QN_TASK_FALLBACK);
    assert_string_equal(qn_tasks_results(r.tasks)[0].device, "cpu:0");
    assert_int_equal(qn_tasks_results(r.tasks)[1].state, QN_TASK_OK);
    assert_string_equal(qn_tasks_results(r.tasks)[1].device, "sim:0");
    assert_true(count_of(r.ctx, "gpu_vector_cpu_fallback_total") == 1);
    assert_true(count_of(r.ctx, "gpu_reduce_cpu_fallback_total") == 0);
    close_fixture(&r);
}

static void a_lost_device_fails_no_task(void **state)
{
    fixture r = sim_fixture("device_lost@5");

    (void)state;
    for (int i = 0; i < 3; i++) {
        must(qn_tasks_run(r.tasks, all_ops, N_ALL, &failure));
        must(qn_tasks_verify(r.tasks, &failure));
    }
    assert_int_equal(qn_tasks_results(r.tasks)[0].state, QN_TASK_FALLBACK);
    close_fixture(&r);
}

static void a_wrong_result_is_found_and_named(void **state)
{
    static const qn_task list[] = { { 17, "vadd", 20000, 3, NULL }, { 18, "max", 5000, 3, NULL } };
    fixture r = sim_fixture("corrupt:vadd*1");

    (void)state;
    must(qn_tasks_run(r.tasks, list, 2, &failure));
    assert_int_equal(qn_tasks_verify(r.tasks, &failure), QN_ERR_MISMATCH);
    assert_non_null(strstr(failure.text, "task 17 (vadd, size 20000): 1 of 20000 values"));
    assert_int_equal(qn_tasks_results(r.tasks)[0].state, QN_TASK_FAILED);
    assert_int_equal(qn_tasks_results(r.tasks)[1].state, QN_TASK_OK);
    close_fixture(&r);
}

static void every_op_notices_a_flipped_bit(void **state)
{
    (void)state;
    for (int i = 0; i < N_ALL; i++) {
        const char *op = all_ops[i].op;
        const int is_reduction = !strcmp(op, "sum") || !strcmp(op, "dot") || !strcmp(op, "max");
        char rule[64];
        fixture r;

        if (all_ops[i].arg && strstr(all_ops[i].arg, "exp"))
            continue; /* the bit is within its tolerance */
        /* The second stage of a reduction: a bit flipped in both stages would cancel out. */
        snprintf(rule, sizeof rule, "corrupt:%s%s", op, is_reduction ? "@2" : "");
        r = sim_fixture(rule);
        must(qn_tasks_run(r.tasks, &all_ops[i], 1, &failure));
        if (qn_tasks_verify(r.tasks, &failure) != QN_ERR_MISMATCH)
            fail_msg("task %d, %s: a flipped bit was not noticed", i + 1, op);
        close_fixture(&r);
    }
}

static void a_small_budget_changes_no_result(void **state)
{
    static const qn_task list[] = { { 1, "vadd", 200000, 3, NULL },
                                    { 2, "saxpy", 200000, 4, NULL },
                                    { 3, "chain", 100000, 5, NULL } };
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .mem_budget = "3M", .log = "none"));
    qn_tasks *tasks;

    (void)state;
    must(qn_tasks_new(ctx, &(qn_tasks_options){ .size = sizeof(qn_tasks_options) }, &tasks,
                      &failure));
    for (int i = 0; i < 3; i++) {
        must(qn_tasks_run(tasks, list, 3, &failure));
        must(qn_tasks_verify(tasks, &failure));
    }
    qn_tasks_free(tasks);
    qn_ctx_close(ctx);
}

/* Refusals. */

static void what_has_no_meaning_is_refused_by_name(void **state)
{
    static const struct {
        qn_task task;
        qn_status status;
        const char *text;
    } cases[] = {
        { { 7, "vsub", 10, 1, NULL }, QN_ERR_USAGE, "task 7: unknown op 'vsub'" },
        { { 7, "vadd", 0, 1, NULL }, QN_ERR_USAGE, "task 7: size 0; vadd needs at least 1" },
        { { 7, "merkle", 0, 1, NULL }, QN_ERR_USAGE, "size 0; merkle" },
        { { 7, "sum", -5, 1, NULL }, QN_ERR_USAGE, "size -5" },
        { { 7, "vadd", (qn_i64)1 << 31, 1, NULL }, QN_ERR_LIMIT, "exceeds the limit 1073741824" },
        { { 7, "matmul", 10000, 1, NULL }, QN_ERR_LIMIT, "size 10000 exceeds the limit 8192" },
        { { 7, "vadd", 10, 1, "2" }, QN_ERR_USAGE, "takes no arg, not '2'" },
        { { 7, "saxpy", 10, 1, "x" }, QN_ERR_USAGE, "arg 'x' is not a number" },
        { { 7, "saxpy", 10, 1, "inf" }, QN_ERR_USAGE, "is not a number" },
        { { 7, "chain", 10, 1, "mul:2,,abs" }, QN_ERR_USAGE, "unknown map ''" },
        { { 7, "chain", 10, 1, "mul" }, QN_ERR_USAGE, "mul takes a number" },
        { { 7, "chain", 10, 1, "abs:2" }, QN_ERR_USAGE, "abs takes no number" },
        { { 7, "chain", 10, 1, "mul:2x" }, QN_ERR_USAGE, "has no number" },
        { { 7, "chain", 10, 1,
            "abs,abs,abs,abs,abs,abs,abs,abs,abs,abs,abs,abs,abs,abs,abs,abs,abs" },
          QN_ERR_LIMIT,
          "more than 16 maps" },
        { { 7, "sha256", 10, 1, "9-3" }, QN_ERR_USAGE, "is not LEN or LEAST-MOST" },
        { { 7, "sha256", 10, 1, "-3" }, QN_ERR_USAGE, "is not LEN" },
        { { 7, "sha256", 10, 1, "1-2-3" }, QN_ERR_USAGE, "is not LEN" },
        { { 7, "keccak256", 10, 1, "99999999999" }, QN_ERR_LIMIT, "exceed the limit" },
        { { 7, "merkle", 10, 1, "rfc" }, QN_ERR_USAGE, "is not plain or rfc6962" },
    };
    static const qn_task good = { 1, "vadd", 100, 1, NULL };
    fixture r = sim_fixture(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const qn_status st = qn_tasks_run(r.tasks, &cases[i].task, 1, &failure);

        if (st != cases[i].status || !strstr(failure.text, cases[i].text))
            fail_msg("case %zu: %s: %s", i, qn_status_name(st), failure.text);
        assert_null(qn_tasks_results(r.tasks));
        must(qn_tasks_run(r.tasks, &good, 1, &failure));
    }
    assert_int_equal(qn_tasks_run(r.tasks, &good, 0, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_tasks_run(r.tasks, &good, QN_MAX_TASKS + 1, &failure), QN_ERR_LIMIT);
    close_fixture(&r);
}

static void a_batch_larger_than_the_machine_is_out_of_memory(void **state)
{
    static const qn_task list[] = { { 1, "sha256", 1 << 26, 1, "1073741824" } };
    fixture r = sim_fixture(NULL);

    (void)state;
    assert_int_equal(qn_tasks_run(r.tasks, list, 1, &failure), QN_ERR_NOMEM);
    assert_non_null(strstr(failure.text, "batch of 1 tasks: out of memory (need "));
    close_fixture(&r);
}

static void reading_needs_a_result_and_its_size(void **state)
{
    static const qn_task list[] = { { 1, "vadd", 100, 1, NULL } };
    char sum[QN_TASK_CHECKSUM_SIZE];
    float out[100];
    fixture r = sim_fixture(NULL);

    (void)state;
    assert_int_equal(qn_tasks_read(r.tasks, 0, out, sizeof out, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_tasks_memory_map(r.tasks, "/nowhere/map.md", &failure), QN_ERR_USAGE);
    must(qn_tasks_run(r.tasks, list, 1, &failure));
    assert_int_equal(qn_tasks_read(r.tasks, 1, out, sizeof out, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_tasks_read(r.tasks, 0, out, sizeof out - 4, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_tasks_checksum(r.tasks, -1, sum, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_tasks_memory_map(r.tasks, "/nowhere/map.md", &failure), QN_ERR_IO);
    close_fixture(&r);
}

static void options_of_an_older_program_have_defaults_for_the_rest(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_tasks_options options;
    qn_tasks *tasks;

    (void)state;
    memset(&options, 0xff, sizeof options);
    qn_tasks_options_init(&options, offsetof(qn_tasks_options, bucket_min));
    must(qn_tasks_new(ctx, &options, &tasks, &failure));
    qn_tasks_free(tasks);
    must(qn_tasks_new(ctx, NULL, &tasks, &failure));
    qn_tasks_free(tasks);
    qn_ctx_close(ctx);
}

static void options_without_meaning_are_refused(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_tasks *tasks;

    (void)state;
    assert_int_equal(
        qn_tasks_new(ctx,
                     &(qn_tasks_options){ .size = sizeof(qn_tasks_options), .bucket_min = 1000 },
                     &tasks, &failure),
        QN_ERR_USAGE);
    assert_non_null(strstr(failure.text, "smallest bucket 1000 is not a power of two"));
    assert_int_equal(qn_tasks_new(ctx, &(qn_tasks_options){ 0 }, &tasks, &failure), QN_ERR_USAGE);
    assert_int_equal(
        qn_tasks_new(ctx,
                     &(qn_tasks_options){ .size = sizeof(qn_tasks_options), .chunk_elems = -1 },
                     &tasks, &failure),
        QN_ERR_USAGE);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_passes_its_check_on_every_backend_with_the_same_checksums),
        cmocka_unit_test(results_are_the_formula_in_task_order),
        cmocka_unit_test(checksum_is_fnv_of_the_result_bytes),
        cmocka_unit_test(shares_of_tasks_add_up_to_the_batch),
        cmocka_unit_test(a_task_larger_than_a_chunk_gives_the_same_bits),
        cmocka_unit_test(small_tasks_fill_chunks_without_being_cut),
        cmocka_unit_test(a_batch_is_one_submission_and_a_group_one_launch),
        cmocka_unit_test(unchanged_inputs_are_uploaded_once_and_touched_ones_again),
        cmocka_unit_test(an_operand_that_a_run_overwrites_is_made_again),
        cmocka_unit_test(other_seeds_make_other_inputs_in_the_same_arrays),
        cmocka_unit_test(metrics_tell_the_last_batch_and_the_modules),
        cmocka_unit_test(a_failed_launch_falls_back_and_says_which_tasks),
        cmocka_unit_test(a_lost_device_fails_no_task),
        cmocka_unit_test(a_wrong_result_is_found_and_named),
        cmocka_unit_test(every_op_notices_a_flipped_bit),
        cmocka_unit_test(a_small_budget_changes_no_result),
        cmocka_unit_test(what_has_no_meaning_is_refused_by_name),
        cmocka_unit_test(a_batch_larger_than_the_machine_is_out_of_memory),
        cmocka_unit_test(reading_needs_a_result_and_its_size),
        cmocka_unit_test(options_of_an_older_program_have_defaults_for_the_rest),
        cmocka_unit_test(options_without_meaning_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
