/* test_plan.c - plans of batches: which are found again, made again, or dropped. */
#include "engine_fixture.h"

#include <quern/tasks.h>

#include "engine/device/context.h"

typedef struct {
    qn_ctx *ctx;
    qn_tasks *tasks;
} fixture;

static fixture open_fixture(qn_tasks_options options)
{
    fixture r = { .ctx = open_sim(NULL) };

    must(qn_tasks_new(r.ctx, &options, &r.tasks, &failure));
    return r;
}

static void close_fixture(fixture *r)
{
    qn_tasks_free(r->tasks);
    qn_ctx_close(r->ctx);
}

static void run(fixture *r, const qn_task *list, int n)
{
    must(qn_tasks_run(r->tasks, list, n, &failure));
    must(qn_tasks_verify(r->tasks, &failure));
}

static qn_tasks_stats stats(const fixture *r)
{
    return qn_tasks_get_stats(r->tasks);
}

/* Blocks that pools had to allocate from their device or the system. */
static uint64_t misses(const fixture *r)
{
    return qn_pool_get_stats(r->ctx->host_pool).misses +
           qn_pool_get_stats(r->ctx->devices[1].pool).misses;
}

static uint64_t acquired(const fixture *r)
{
    return misses(r) + qn_pool_get_stats(r->ctx->host_pool).hits +
           qn_pool_get_stats(r->ctx->devices[1].pool).hits;
}

static void a_repeated_task_always_finds_its_plan_and_asks_for_no_memory(void **state)
{
    static const qn_task task = { 1, "vadd", 20000, 3, NULL };
    fixture r = open_fixture((qn_tasks_options){ .size = sizeof(qn_tasks_options) });
    uint64_t before;

    (void)state;
    run(&r, &task, 1);
    assert_int_equal(stats(&r).was_planned, 1);
    before = acquired(&r);
    for (int i = 0; i < 100; i++) {
        must(qn_tasks_touch(r.tasks, &failure));
        must(qn_tasks_run(r.tasks, &task, 1, &failure));
        assert_int_equal(stats(&r).was_planned, 0);
    }
    assert_int_equal(acquired(&r), before);
    assert_int_equal(stats(&r).plan_hits, 100);
    assert_int_equal(stats(&r).plan_misses, 1);
    assert_true(count_of(r.ctx, "plan_hits") == 100);
    assert_true(count_of(r.ctx, "plan_misses") == 1);
    assert_true(count_of(r.ctx, "graph_captures") >= 1);
    assert_true(count_of(r.ctx, "graph_replays") >= 99);
    close_fixture(&r);
}

static void the_order_of_tasks_does_not_matter_to_the_plan(void **state)
{
    static const qn_task one[] = { { 1, "vadd", 20000, 3, NULL },
                                   { 2, "sum", 500, 4, NULL },
                                   { 3, "vadd", 21000, 5, NULL } };
    static const qn_task two[] = { { 1, "vadd", 21000, 5, NULL },
                                   { 2, "vadd", 20000, 3, NULL },
                                   { 3, "sum", 500, 4, NULL } };
    char sums[2][QN_TASK_CHECKSUM_SIZE];
    fixture r = open_fixture((qn_tasks_options){ .size = sizeof(qn_tasks_options) });

    (void)state;
    run(&r, one, 3);
    must(qn_tasks_checksum(r.tasks, 0, sums[0], &failure));
    run(&r, two, 3);
    must(qn_tasks_checksum(r.tasks, 1, sums[1], &failure));
    assert_int_equal(stats(&r).was_planned, 0);
    assert_string_equal(sums[0], sums[1]);
    close_fixture(&r);
}

static void another_op_argument_or_number_of_tasks_is_another_plan(void **state)
{
    static const qn_task base[] = { { 1, "saxpy", 300, 3, "2" }, { 2, "saxpy", 300, 4, "2" } };
    qn_task list[2];
    fixture r =
        open_fixture((qn_tasks_options){ .size = sizeof(qn_tasks_options), .no_bucket_cache = 1 });

    (void)state;
    run(&r, base, 2);
    memcpy(list, base, sizeof list);
    list[1].op = "vadd";
    list[1].arg = NULL;
    run(&r, list, 2);
    assert_int_equal(stats(&r).was_planned, 1);
    memcpy(list, base, sizeof list);
    list[1].arg = "3";
    run(&r, list, 2);
    assert_int_equal(stats(&r).was_planned, 1);
    run(&r, base, 1);
    assert_int_equal(stats(&r).was_planned, 1);
    run(&r, base, 2);
    assert_int_equal(stats(&r).was_planned, 0);
    close_fixture(&r);
}

static void sixty_four_plans_are_kept_and_the_oldest_goes_first(void **state)
{
    qn_task task = { 1, "vadd", 0, 3, NULL };
    fixture r =
        open_fixture((qn_tasks_options){ .size = sizeof(qn_tasks_options), .no_bucket_cache = 1 });

    (void)state;
    for (task.n = 1; task.n <= 64; task.n++)
        run(&r, &task, 1);
    task.n = 1; /* the oldest becomes the youngest */
    run(&r, &task, 1);
    assert_int_equal(stats(&r).was_planned, 0);
    task.n = 65;
    run(&r, &task, 1);
    task.n = 1;
    run(&r, &task, 1);
    assert_int_equal(stats(&r).was_planned, 0);
    task.n = 2;
    run(&r, &task, 1);
    assert_int_equal(stats(&r).was_planned, 1);
    close_fixture(&r);
}

static void without_the_cache_every_batch_is_planned_from_pooled_memory(void **state)
{
    static const qn_task task = { 1, "vadd", 20000, 3, NULL };
    fixture r =
        open_fixture((qn_tasks_options){ .size = sizeof(qn_tasks_options), .no_plan_cache = 1 });
    uint64_t before;

    (void)state;
    run(&r, &task, 1);
    before = misses(&r);
    for (int i = 0; i < 10; i++) {
        run(&r, &task, 1);
        assert_int_equal(stats(&r).was_planned, 1);
    }
    assert_int_equal(misses(&r), before);
    assert_int_equal(stats(&r).plan_hits, 0);
    close_fixture(&r);
}

static void sizes_of_one_bucket_share_a_plan_and_stay_right(void **state)
{
    static const char *const ops[] = { "vadd", "saxpy", "chain", "sum", "dot", "max" };

    (void)state;
    for (int o = 0; o < 6; o++) {
        qn_task list[3] = { { 1, ops[o], 0, 3, NULL },
                            { 2, ops[o], 0, 40, NULL },
                            { 3, ops[o], 0, 50, NULL } };
        fixture r = open_fixture(
            (qn_tasks_options){ .size = sizeof(qn_tasks_options), .chunk_elems = 50000 });
        int n_shared = 0;

        for (int i = 0; i < 12; i++) {
            list[0].n = 17000 + 1000 * i;
            list[1].n = 32768 - 500 * i;
            list[2].n = 40000 + 2000 * i; /* cut in two if its op allows it */
            run(&r, list, 3);
            n_shared += !stats(&r).was_planned;
        }
        assert_true(n_shared >= 2); /* both variants are tried */
        assert_int_equal(stats(&r).plan_hits, 0);
        close_fixture(&r);
    }
}

static void a_shape_that_comes_again_gets_a_plan_of_its_own(void **state)
{
    qn_task task = { 1, "vadd", 20000, 3, NULL };
    size_t room;
    fixture r = open_fixture((qn_tasks_options){ .size = sizeof(qn_tasks_options) });

    (void)state;
    run(&r, &task, 1); /* tight */
    task.n = 21000;
    run(&r, &task, 1); /* padded, for the first time */
    room = qn_pool_get_stats(r.ctx->devices[1].pool).n_live;
    run(&r, &task, 1); /* again: tight */
    assert_int_equal(stats(&r).was_planned, 1);
    assert_true(qn_pool_get_stats(r.ctx->devices[1].pool).n_live > room);
    run(&r, &task, 1);
    assert_int_equal(stats(&r).was_planned, 0);
    assert_int_equal(stats(&r).plan_hits, 1);
    close_fixture(&r);
}

static void ops_whose_cost_follows_their_size_are_not_padded(void **state)
{
    static const char *const ops[] = { "matmul", "sha256", "keccak256", "merkle" };

    (void)state;
    for (int o = 0; o < 4; o++) {
        qn_task task = { 1, ops[o], 0, 3, NULL };
        fixture r = open_fixture((qn_tasks_options){ .size = sizeof(qn_tasks_options) });

        for (task.n = 20; task.n < 26; task.n++) {
            run(&r, &task, 1);
            assert_int_equal(stats(&r).was_planned, 1);
        }
        close_fixture(&r);
    }
}

static void old_plans_make_room_when_host_memory_is_limited(void **state)
{
    qn_task task = { 1, "vadd", 0, 3, NULL };
    fixture r;

    (void)state;
    setenv("QUERN_HOST_BUDGET", "4M", 1);
    r = open_fixture((qn_tasks_options){ .size = sizeof(qn_tasks_options), .no_bucket_cache = 1 });
    unsetenv("QUERN_HOST_BUDGET");
    for (task.n = 60000; task.n < 60010; task.n++) /* 768 KiB of blocks each */
        run(&r, &task, 1);
    close_fixture(&r);
}

static void nothing_is_left_when_tasks_are_freed(void **state)
{
    qn_task task = { 1, "merkle", 0, 3, NULL };
    fixture r = open_fixture((qn_tasks_options){ .size = sizeof(qn_tasks_options) });

    (void)state;
    for (task.n = 600; task.n < 620; task.n++)
        run(&r, &task, 1);
    qn_tasks_free(r.tasks);
    r.tasks = NULL;
    assert_int_equal(qn_pool_get_stats(r.ctx->host_pool).n_live, 0);
    assert_int_equal(qn_pool_get_stats(r.ctx->devices[1].pool).n_live, 0);
    assert_null(r.ctx->bufs);
    close_fixture(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_repeated_task_always_finds_its_plan_and_asks_for_no_memory),
        cmocka_unit_test(the_order_of_tasks_does_not_matter_to_the_plan),
        cmocka_unit_test(another_op_argument_or_number_of_tasks_is_another_plan),
        cmocka_unit_test(sixty_four_plans_are_kept_and_the_oldest_goes_first),
        cmocka_unit_test(without_the_cache_every_batch_is_planned_from_pooled_memory),
        cmocka_unit_test(sizes_of_one_bucket_share_a_plan_and_stay_right),
        cmocka_unit_test(a_shape_that_comes_again_gets_a_plan_of_its_own),
        cmocka_unit_test(ops_whose_cost_follows_their_size_are_not_padded),
        cmocka_unit_test(old_plans_make_room_when_host_memory_is_limited),
        cmocka_unit_test(nothing_is_left_when_tasks_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
