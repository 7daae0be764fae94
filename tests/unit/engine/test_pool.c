/* test_pool.c - reuse rules of the buffer pool. */
#include "test.h"

#include "engine/device/pool.h"
#include "util/hash.h"

/* Memory whose device may still be busy; `busy` says so for every block. */
typedef struct {
    int live, busy;
    size_t limit_bytes, held_bytes;
} source_state;

static qn_status take(void *user, size_t bytes, unsigned usage, qn_block *block, qn_err *err)
{
    source_state *s = user;

    (void)usage;
    if (s->limit_bytes && s->held_bytes + bytes > s->limit_bytes)
        return qn_fail(err, QN_ERR_NOMEM, "device full");
    block->host = malloc(16);
    block->bytes = bytes;
    s->held_bytes += bytes;
    s->live++;
    return QN_OK;
}

static void give(void *user, qn_block *block)
{
    source_state *s = user;

    s->held_bytes -= block->bytes;
    s->live--;
    free(block->host);
}

static int is_idle(void *user, const qn_block *block)
{
    (void)block;
    return !((source_state *)user)->busy;
}

static qn_pool *open_pool(source_state *s, qn_pool_options opt)
{
    const qn_pool_source source = { s, take, give, is_idle };
    qn_pool *pool;
    qn_err err;

    opt.name = "test";
    assert_int_equal(qn_pool_new(&opt, &source, &pool, &err), QN_OK);
    return pool;
}

static qn_block *acquire(qn_pool *pool, size_t bytes, unsigned usage)
{
    qn_block *block = NULL;
    qn_err err;

    assert_int_equal(qn_pool_acquire(pool, bytes, usage, &block, &err), QN_OK);
    assert_true(block->bytes >= bytes);
    return block;
}

static void released_block_is_reused_for_same_bucket(void **state)
{
    source_state s = { 0 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ .budget_bytes = 1 << 20 });
    qn_block *first = acquire(pool, 20000, QN_USE_READ);

    (void)state;
    qn_pool_release(pool, first);
    assert_ptr_equal(acquire(pool, 30000, QN_USE_READ), first); /* both in 32 Ki */
    assert_int_equal(qn_pool_get_stats(pool).hits, 1);
    qn_pool_free(pool);
    assert_int_equal(s.live, 0);
}

static void block_without_needed_usage_is_not_reused(void **state)
{
    source_state s = { 0 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ .budget_bytes = 1 << 20 });
    qn_block *source = acquire(pool, 20000, QN_USE_COPY_SRC);

    (void)state;
    qn_pool_release(pool, source);
    assert_ptr_not_equal(acquire(pool, 20000, QN_USE_COPY_DST), source);
    assert_int_equal(qn_pool_get_stats(pool).usage_rejects, 1);
    assert_ptr_equal(acquire(pool, 20000, QN_USE_COPY_SRC), source);
    qn_pool_free(pool);
}

static void block_still_in_use_by_the_device_is_not_reused(void **state)
{
    source_state s = { .busy = 1 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ 0 });
    qn_block *first = acquire(pool, 20000, QN_USE_READ);

    (void)state;
    qn_pool_release(pool, first);
    assert_ptr_not_equal(acquire(pool, 20000, QN_USE_READ), first);
    s.busy = 0;
    assert_ptr_equal(acquire(pool, 20000, QN_USE_READ), first);
    qn_pool_free(pool);
}

static void next_bucket_is_used_only_under_pressure(void **state)
{
    source_state s = { 0 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ .budget_bytes = 131072 });
    qn_block *big = acquire(pool, 65536, QN_USE_READ);
    qn_block *small;

    (void)state;
    qn_pool_release(pool, big);
    small = acquire(pool, 32768, QN_USE_READ);
    assert_ptr_not_equal(small, big); /* 32 Ki fit beside the idle 64 Ki */
    acquire(pool, 32768, QN_USE_READ);
    assert_ptr_equal(acquire(pool, 32768, QN_USE_READ), big); /* now only the larger is left */
    qn_pool_free(pool);
}

static void idle_blocks_are_trimmed_for_the_budget(void **state)
{
    source_state s = { 0 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ .budget_bytes = 131072 });
    qn_block *blocks[4];
    qn_block *none;
    qn_err err;

    (void)state;
    for (int i = 0; i < 4; i++)
        blocks[i] = acquire(pool, 32768, QN_USE_READ);
    assert_int_equal(qn_pool_acquire(pool, 32768, QN_USE_READ, &none, &err), QN_ERR_NOMEM);
    assert_non_null(strstr(err.text, "budget 128.0 KiB"));
    for (int i = 0; i < 4; i++)
        qn_pool_release(pool, blocks[i]);
    acquire(pool, 131072, QN_USE_READ); /* all four idle ones are freed */
    assert_int_equal(qn_pool_get_stats(pool).trims, 4);
    assert_int_equal(s.live, 1);
    qn_pool_free(pool);
}

static void full_device_is_retried_after_a_trim(void **state)
{
    source_state s = { .limit_bytes = 65536 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ 0 });

    (void)state;
    qn_pool_release(pool, acquire(pool, 32768, QN_USE_READ));
    acquire(pool, 65536, QN_USE_READ);
    assert_int_equal(s.live, 1);
    qn_pool_free(pool);
}

static void idle_blocks_per_bucket_are_bounded(void **state)
{
    source_state s = { 0 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ .max_idle = 16 });
    qn_block *blocks[20];

    (void)state;
    for (int i = 0; i < 20; i++)
        blocks[i] = acquire(pool, 20000, QN_USE_READ);
    for (int i = 0; i < 20; i++)
        qn_pool_release(pool, blocks[i]);
    assert_int_equal(qn_pool_get_stats(pool).n_idle, 16);
    qn_pool_free(pool);
}

static void large_blocks_are_rounded_to_two_mebibytes(void **state)
{
    source_state s = { 0 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ 0 });

    (void)state;
    assert_int_equal(acquire(pool, ((size_t)300 << 20) + 1, QN_USE_READ)->bytes, (size_t)302 << 20);
    assert_int_equal(acquire(pool, (size_t)200 << 20, QN_USE_READ)->bytes, (size_t)256 << 20);
    qn_pool_free(pool);
}

static void hundred_batches_hit_the_pool(void **state)
{
    source_state s = { 0 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ .max_idle = 16 });
    qn_pool_stats stats;

    (void)state;
    for (int batch = 0; batch < 100; batch++) {
        qn_block *blocks[12];

        for (int i = 0; i < 12; i++)
            blocks[i] = acquire(pool, (size_t)20000 * (1 + i % 4), QN_USE_READ);
        for (int i = 0; i < 12; i++)
            qn_pool_release(pool, blocks[i]);
    }
    stats = qn_pool_get_stats(pool);
    assert_true((double)stats.hits / (double)(stats.hits + stats.misses) >= 0.93);
    qn_pool_free(pool);
}

static void disabled_pool_never_reuses(void **state)
{
    source_state s = { 0 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ .disabled = 1 });

    (void)state;
    for (int i = 0; i < 5; i++)
        qn_pool_release(pool, acquire(pool, 100, QN_USE_READ));
    assert_int_equal(qn_pool_get_stats(pool).hits, 0);
    assert_int_equal(s.live, 0);
    qn_pool_free(pool);
}

/* 10^5 random acquires and releases: counters stay balanced, reuse rules hold. */
static void books_balance_under_random_use(void **state)
{
    enum { SLOTS = 32 };
    source_state s = { 0 };
    qn_pool *pool = open_pool(&s, (qn_pool_options){ .budget_bytes = (size_t)8 << 20 });
    qn_block *held[SLOTS] = { 0 };
    size_t live = 0;

    (void)state;
    for (uint64_t k = 0; k < 100000; k++) {
        const uint64_t r = qn_random_u64(11, k);
        const int i = (int)(r % SLOTS);
        const unsigned usage = 1u + (unsigned)(r >> 8) % 15;
        qn_err err;

        s.busy = (r >> 20) % 7 == 0;
        if (held[i]) {
            live -= held[i]->bytes;
            qn_pool_release(pool, held[i]);
            held[i] = NULL;
            continue;
        }
        if (qn_pool_acquire(pool, (size_t)(r >> 30) % 400000, usage, &held[i], &err) != QN_OK) {
            held[i] = NULL;
            continue;
        }
        live += held[i]->bytes;
        assert_int_equal(held[i]->usage & usage, usage);
        assert_int_equal(qn_pool_get_stats(pool).bytes_live, live);
        assert_true(s.held_bytes <= (size_t)8 << 20);
    }
    qn_pool_free(pool);
    assert_int_equal(s.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(released_block_is_reused_for_same_bucket),
        cmocka_unit_test(block_without_needed_usage_is_not_reused),
        cmocka_unit_test(block_still_in_use_by_the_device_is_not_reused),
        cmocka_unit_test(next_bucket_is_used_only_under_pressure),
        cmocka_unit_test(idle_blocks_are_trimmed_for_the_budget),
        cmocka_unit_test(full_device_is_retried_after_a_trim),
        cmocka_unit_test(idle_blocks_per_bucket_are_bounded),
        cmocka_unit_test(large_blocks_are_rounded_to_two_mebibytes),
        cmocka_unit_test(hundred_batches_hit_the_pool),
        cmocka_unit_test(disabled_pool_never_reuses),
        cmocka_unit_test(books_balance_under_random_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
