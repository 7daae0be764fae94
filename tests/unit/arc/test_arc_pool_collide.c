/* test_arc_pool_collide.c - values whose hashes are all the same are still told apart. */
#include "arc_pool_rig.h"

#include "domain/arc/pool/content_hash.h"

#define qn_arc_content_hash(slot, bytes, n) ((void)(slot), (void)(bytes), (void)(n), UINT64_C(7))

#include "domain/arc/pool/pool.c"

static void values_with_one_hash_are_told_apart(void **state)
{
    qn_arc_pool *pool = open_pool(4096);
    qn_arc_batch batch = { 0 };
    size_t places[20];

    (void)state;
    for (int id = 0; id < 20; id++)
        assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, id, 64, &places[id]),
                         QN_ARC_RESIDENT);
    for (int id = 0; id < 20; id++) {
        size_t at = 1;

        assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, id, 64, &at), QN_ARC_RESIDENT);
        assert_int_equal(at, places[id]);
    }
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_hits, 20);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_misses, 20);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void nested_values_with_one_hash_are_told_apart(void **state)
{
    qn_arc_pool *pool = open_pool(4096);
    qn_arc_batch batch = { 0 };
    uint64_t pooled[10];

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int id = 0; id < 10; id++) {
            const uint64_t words[2] = { ARC_SLOT_INT(id), ARC_SLOT_NONE };
            uint64_t slot = ARC_SLOT(ARC_TUPLE, 2, 0);
            qn_arc_taken taken = QN_ARC_FULL;

            assert_int_equal(qn_arc_pool_take(pool, &batch, QN_ARC_USE_ALWAYS, &slot,
                                              (const unsigned char *)words, sizeof words, &taken,
                                              NULL),
                             QN_OK);
            assert_true(round == 0 || slot == pooled[id]);
            pooled[id] = slot;
        }
    }
    assert_int_equal(qn_arc_pool_get_stats(pool).n_entries, 10);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void any_of_them_can_be_evicted(void **state)
{
    qn_arc_pool *pool = open_pool(256);

    (void)state;
    for (int id = 0; id < 100; id++) {
        qn_arc_batch batch = { 0 };

        assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, id % 7, 64, NULL),
                         QN_ARC_RESIDENT);
        qn_arc_pool_release(pool, &batch);
    }
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_evictions, 96);
    qn_arc_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_with_one_hash_are_told_apart),
        cmocka_unit_test(nested_values_with_one_hash_are_told_apart),
        cmocka_unit_test(any_of_them_can_be_evicted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
