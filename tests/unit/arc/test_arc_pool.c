/* test_arc_pool.c - what enters the pool of resident values, what stays and what goes. */
#include "arc_pool_rig.h"

static void input_grid_enters_at_once_and_is_found_again(void **state)
{
    qn_arc_pool *pool = open_pool(1024);
    qn_arc_batch batch = { 0 };
    size_t first = 0;
    size_t again = 1;

    (void)state;
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 100, &first), QN_ARC_RESIDENT);
    qn_arc_pool_release(pool, &batch);
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 100, &again), QN_ARC_RESIDENT);
    assert_int_equal(first, again);
    assert_int_equal(batch.n_uploads, 0);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_hits, 1);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_misses, 1);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_bytes, 112);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void shared_value_enters_at_its_third_access(void **state)
{
    qn_arc_pool *pool = open_pool(1024);
    qn_arc_batch batch = { 0 };

    (void)state;
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_SHARED, 1, 64, NULL), QN_ARC_COLD);
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_SHARED, 2, 64, NULL), QN_ARC_COLD);
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_SHARED, 1, 64, NULL), QN_ARC_COLD);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_bytes, 0);
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_SHARED, 1, 64, NULL), QN_ARC_RESIDENT);
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_SHARED, 2, 64, NULL), QN_ARC_COLD);
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_SHARED, 1, 64, NULL), QN_ARC_RESIDENT);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_hits, 1);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_misses, 5);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void threshold_of_hot_values_can_be_set(void **state)
{
    const qn_arc_pool_options options = { .budget_bytes = 1024, .hot_accesses = 5 };
    qn_arc_pool *pool = NULL;
    qn_arc_batch batch = { 0 };

    (void)state;
    assert_int_equal(qn_arc_pool_new(&options, &pool, NULL), QN_OK);
    for (int i = 0; i < 5; i++)
        assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_SHARED, 1, 64, NULL), QN_ARC_COLD);
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_SHARED, 1, 64, NULL), QN_ARC_RESIDENT);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void least_recently_used_goes_first(void **state)
{
    qn_arc_pool *pool = open_pool(256);
    qn_arc_batch batch = { 0 };
    size_t second = 0;
    size_t third = 0;

    (void)state;
    take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 128, NULL);
    take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 2, 128, &second);
    qn_arc_pool_release(pool, &batch);
    take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 128, NULL);
    qn_arc_pool_release(pool, &batch);

    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 3, 128, &third), QN_ARC_RESIDENT);
    assert_int_equal(third, second);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_evictions, 1);
    take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 128, NULL);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_hits, 2);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void what_a_batch_holds_is_not_evicted(void **state)
{
    qn_arc_pool *pool = open_pool(256);
    qn_arc_batch held = { 0 };
    qn_arc_batch other = { 0 };

    (void)state;
    take_grid(pool, &held, QN_ARC_USE_ALWAYS, 1, 128, NULL);
    take_grid(pool, &other, QN_ARC_USE_ALWAYS, 2, 128, NULL);
    assert_int_equal(take_grid(pool, &other, QN_ARC_USE_ALWAYS, 3, 128, NULL), QN_ARC_FULL);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_evictions, 0);

    qn_arc_pool_release(pool, &other); /* the batch was split: its second half */
    assert_int_equal(take_grid(pool, &other, QN_ARC_USE_ALWAYS, 3, 128, NULL), QN_ARC_RESIDENT);
    assert_int_equal(take_grid(pool, &other, QN_ARC_USE_ALWAYS, 1, 128, NULL), QN_ARC_RESIDENT);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_hits, 1);
    qn_arc_pool_release(pool, &held);
    assert_int_equal(take_grid(pool, &held, QN_ARC_USE_ALWAYS, 4, 128, NULL), QN_ARC_FULL);
    qn_arc_pool_release(pool, &other);
    qn_arc_pool_release(pool, &held);
    qn_arc_pool_free(pool);
}

static void value_beyond_the_budget_is_for_the_cpu(void **state)
{
    qn_arc_pool *pool = open_pool(250); /* 240 of them can be used */
    qn_arc_batch batch = { 0 };

    (void)state;
    take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 64, NULL);
    qn_arc_pool_release(pool, &batch);
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 2, 241, NULL), QN_ARC_TOO_LARGE);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_evictions, 0);
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 2, 240, NULL), QN_ARC_RESIDENT);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void places_are_multiples_of_16(void **state)
{
    qn_arc_pool *pool = open_pool(4096);
    qn_arc_batch batch = { 0 };

    (void)state;
    for (int id = 0; id < 20; id++) {
        size_t at = 1;

        take_grid(pool, &batch, QN_ARC_USE_ALWAYS, id, 13 + (size_t)id, &at);
        assert_int_equal(at % 16, 0);
    }
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void slots_in_themselves_take_no_room(void **state)
{
    qn_arc_pool *pool = open_pool(0);
    qn_arc_batch batch = { 0 };
    uint64_t slot = ARC_SLOT_PAIR(3, 4);
    qn_arc_taken taken = QN_ARC_FULL;

    (void)state;
    assert_int_equal(
        qn_arc_pool_take(pool, &batch, QN_ARC_USE_ALWAYS, &slot, NULL, 0, &taken, NULL), QN_OK);
    assert_int_equal(taken, QN_ARC_RESIDENT);
    assert_true(slot == ARC_SLOT_PAIR(3, 4));
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 64, NULL), QN_ARC_TOO_LARGE);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

/* Uploads. */

static void neighbours_are_uploaded_as_one_range(void **state)
{
    qn_arc_pool *pool = open_pool(4096);
    qn_arc_batch batch = { 0 };
    const qn_arc_range *ranges = NULL;

    (void)state;
    for (int id = 0; id < 10; id++)
        take_grid(pool, &batch, QN_ARC_USE_ALWAYS, id, 100, NULL);
    take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 3, 100, NULL);
    assert_int_equal(qn_arc_batch_uploads(&batch, 0, &ranges), 1);
    assert_int_equal(ranges[0].at, 0);
    assert_int_equal(ranges[0].bytes, 10 * 112);
    assert_int_equal(qn_arc_pool_extent(pool), 10 * 112);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void ranges_apart_are_joined_across_small_gaps_only(void **state)
{
    qn_arc_pool *pool = open_pool(512);
    qn_arc_batch batch = { 0 };
    qn_arc_batch held = { 0 };
    const qn_arc_range *ranges = NULL;

    (void)state;
    for (int id = 0; id < 8; id++) /* every other one is held */
        take_grid(pool, id % 2 ? &held : &batch, QN_ARC_USE_ALWAYS, id, 64, NULL);
    qn_arc_pool_release(pool, &batch);
    for (int id = 10; id < 14; id++)
        take_grid(pool, &batch, QN_ARC_USE_ALWAYS, id, 64, NULL);
    assert_int_equal(qn_arc_batch_uploads(&batch, 63, &ranges), 4);
    assert_int_equal(ranges[1].at, 128);
    assert_int_equal(ranges[1].bytes, 64);
    assert_int_equal(qn_arc_batch_uploads(&batch, 64, &ranges), 1);
    assert_int_equal(ranges[0].bytes, 448);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_release(pool, &held);
    qn_arc_pool_free(pool);
}

static void failed_upload_leaves_nothing_to_find(void **state)
{
    qn_arc_pool *pool = open_pool(1024);
    qn_arc_batch earlier = { 0 };
    qn_arc_batch failed = { 0 };
    qn_arc_batch later = { 0 };

    (void)state;
    take_grid(pool, &earlier, QN_ARC_USE_ALWAYS, 1, 64, NULL);
    take_grid(pool, &failed, QN_ARC_USE_ALWAYS, 1, 64, NULL);
    take_grid(pool, &failed, QN_ARC_USE_ALWAYS, 2, 64, NULL);
    take_grid(pool, &failed, QN_ARC_USE_ALWAYS, 3, 64, NULL);
    take_grid(pool, &later, QN_ARC_USE_ALWAYS, 3, 64, NULL);
    qn_arc_pool_abandon(pool, &failed);
    assert_int_equal(qn_arc_pool_get_stats(pool).n_entries, 2); /* 1, and 3, which `later` holds */

    take_grid(pool, &failed, QN_ARC_USE_ALWAYS, 3, 64, NULL);
    take_grid(pool, &failed, QN_ARC_USE_ALWAYS, 1, 64, NULL);
    assert_int_equal(failed.n_uploads, 1); /* 3 again, but not 1 */
    qn_arc_pool_abandon(pool, &later);
    qn_arc_pool_release(pool, &failed);
    qn_arc_pool_release(pool, &earlier);
    assert_int_equal(qn_arc_pool_get_stats(pool).n_entries, 2);
    qn_arc_pool_free(pool);
}

/* Nested values and programs. */

static void nested_values_are_found_again_and_read_from_their_place(void **state)
{
    qn_arc_heap *heap = open_heap();
    qn_arc_pool *pool = open_pool(1 << 20);
    qn_arc_batch batch = { 0 };
    arc_random random = { .seed = 9 };
    uint64_t hits = 0;

    (void)state;
    for (int round = 0; round < 300; round++) {
        const qn_arc_value value = random_value(heap, &random, 4);
        qn_arc_blob blob = { 0 };
        uint64_t slot = 0;
        uint64_t first = 0;
        qn_arc_taken taken = QN_ARC_FULL;
        qn_arc_value back;

        assert_int_equal(qn_arc_encode(&value, &blob, &slot, NULL), QN_OK);
        for (int again = 0; again < 2; again++) {
            uint64_t pooled = slot;

            assert_int_equal(qn_arc_pool_take(pool, &batch, QN_ARC_USE_ALWAYS, &pooled, blob.bytes,
                                              blob.n, &taken, NULL),
                             QN_OK);
            assert_int_equal(taken, QN_ARC_RESIDENT);
            assert_true(!again || pooled == first);
            first = pooled;
        }
        assert_int_equal(qn_arc_decode(first, qn_arc_pool_bytes(pool), qn_arc_pool_extent(pool),
                                       ARC_POOLED, heap, &back, NULL),
                         QN_OK);
        assert_int_equal(qn_arc_compare(&value, &back), 0);
        hits += blob.n > 0;
        qn_arc_blob_free(&blob);
    }
    assert_true(qn_arc_pool_get_stats(pool).cache_hits >= hits);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
    qn_arc_heap_free(heap);
}

/* A program of one instruction with two constants, of which one is a row. */
static size_t small_program(unsigned char out[128])
{
    const arc_program head = {
        .magic = ARC_MAGIC, .version = 1, .n_ins = 1, .n_const = 2, .bytes = 67
    };
    const uint64_t constants[] = { ARC_SLOT_INT(5), ARC_SLOT(ARC_ROW, 3, 64) };

    memset(out, 0, 128);
    memcpy(out, &head, sizeof head);
    memcpy(out + 48, constants, sizeof constants);
    memcpy(out + 64, "\1\2\3", 3);
    return 67;
}

static void constants_of_a_program_point_into_the_pool(void **state)
{
    qn_arc_pool *pool = open_pool(4096);
    qn_arc_batch batch = { 0 };
    unsigned char bytes[128];
    const size_t n = small_program(bytes);
    uint32_t place = 1;
    uint32_t again = 2;
    uint64_t constants[2];
    qn_arc_taken taken = QN_ARC_FULL;

    (void)state;
    take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 100, NULL);
    assert_int_equal(qn_arc_pool_take_program(pool, &batch, bytes, n, &place, &taken, NULL), QN_OK);
    assert_int_equal(taken, QN_ARC_RESIDENT);
    assert_int_equal(place, 112);
    memcpy(constants, qn_arc_pool_bytes(pool) + place + 48, sizeof constants);
    assert_true(constants[0] == ARC_SLOT_INT(5));
    assert_true(constants[1] == ARC_SLOT(ARC_ROW, 3, ARC_POOLED + 112 + 64));
    assert_int_equal(qn_arc_pool_take_program(pool, &batch, bytes, n, &again, &taken, NULL), QN_OK);
    assert_int_equal(again, place);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void program_without_constants_is_found_again(void **state)
{
    qn_arc_pool *pool = open_pool(4096);
    qn_arc_batch batch = { 0 };
    const arc_program head = { .magic = ARC_MAGIC, .version = 1, .bytes = 32 };
    uint32_t place = 1;
    qn_arc_taken taken = QN_ARC_FULL;

    (void)state;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(qn_arc_pool_take_program(pool, &batch, (const unsigned char *)&head,
                                                  sizeof head, &place, &taken, NULL),
                         QN_OK);
        assert_int_equal(place, 0);
    }
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_hits, 1);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void damaged_programs_are_refused(void **state)
{
    qn_arc_pool *pool = open_pool(4096);
    qn_arc_batch batch = { 0 };
    unsigned char bytes[128];
    uint32_t place = 0;
    qn_arc_taken taken = QN_ARC_FULL;
    qn_err err = { .text = "" };

    (void)state;
    small_program(bytes);
    assert_int_equal(qn_arc_pool_take_program(pool, &batch, bytes, 20, &place, &taken, &err),
                     QN_ERR_INPUT);
    assert_int_equal(qn_arc_pool_take_program(pool, &batch, bytes, 60, &place, &taken, &err),
                     QN_ERR_INPUT);
    bytes[56] = 200; /* the row lies behind the end */
    assert_int_equal(qn_arc_pool_take_program(pool, &batch, bytes, 67, &place, &taken, &err),
                     QN_ERR_INPUT);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_bytes, 0);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input_grid_enters_at_once_and_is_found_again),
        cmocka_unit_test(shared_value_enters_at_its_third_access),
        cmocka_unit_test(threshold_of_hot_values_can_be_set),
        cmocka_unit_test(least_recently_used_goes_first),
        cmocka_unit_test(what_a_batch_holds_is_not_evicted),
        cmocka_unit_test(value_beyond_the_budget_is_for_the_cpu),
        cmocka_unit_test(places_are_multiples_of_16),
        cmocka_unit_test(slots_in_themselves_take_no_room),
        cmocka_unit_test(neighbours_are_uploaded_as_one_range),
        cmocka_unit_test(ranges_apart_are_joined_across_small_gaps_only),
        cmocka_unit_test(failed_upload_leaves_nothing_to_find),
        cmocka_unit_test(nested_values_are_found_again_and_read_from_their_place),
        cmocka_unit_test(constants_of_a_program_point_into_the_pool),
        cmocka_unit_test(program_without_constants_is_found_again),
        cmocka_unit_test(damaged_programs_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
