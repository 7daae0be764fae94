/* test_content_store.c - which content enters a store, stays, and leaves. */
#include "content_fixture.h"

static void content_is_found_again(void **state)
{
    qn_content_store *store = open_store(1024);
    qn_content_hold hold = { 0 };
    size_t first = 0;
    size_t again = 1;

    (void)state;
    assert_int_equal(take(store, &hold, 1, 100, &first), QN_CONTENT_RESIDENT);
    qn_content_release(store, &hold);
    assert_int_equal(take(store, &hold, 1, 100, &again), QN_CONTENT_RESIDENT);
    assert_int_equal(first, again);
    assert_int_equal(qn_content_get_stats(store).hits, 1);
    assert_int_equal(qn_content_get_stats(store).misses, 1);
    assert_int_equal(qn_content_get_stats(store).bytes, 112);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void least_recently_used_goes_first(void **state)
{
    qn_content_store *store = open_store(256);
    qn_content_hold hold = { 0 };
    size_t second = 0;
    size_t third = 0;

    (void)state;
    take(store, &hold, 1, 128, NULL);
    take(store, &hold, 2, 128, &second);
    qn_content_release(store, &hold);
    take(store, &hold, 1, 128, NULL);
    qn_content_release(store, &hold);

    assert_int_equal(take(store, &hold, 3, 128, &third), QN_CONTENT_RESIDENT);
    assert_int_equal(third, second);
    assert_int_equal(qn_content_get_stats(store).evictions, 1);
    take(store, &hold, 1, 128, NULL);
    assert_int_equal(qn_content_get_stats(store).hits, 2);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void what_is_held_is_not_evicted(void **state)
{
    qn_content_store *store = open_store(256);
    qn_content_hold held = { 0 };
    qn_content_hold other = { 0 };

    (void)state;
    take(store, &held, 1, 128, NULL);
    take(store, &other, 2, 128, NULL);
    assert_int_equal(take(store, &other, 3, 128, NULL), QN_CONTENT_FULL);
    assert_int_equal(qn_content_get_stats(store).evictions, 0);

    qn_content_release(store, &other); /* the hold was split: its second half */
    assert_int_equal(take(store, &other, 3, 128, NULL), QN_CONTENT_RESIDENT);
    assert_int_equal(take(store, &other, 1, 128, NULL), QN_CONTENT_RESIDENT);
    assert_int_equal(qn_content_get_stats(store).hits, 1);
    qn_content_release(store, &held);
    assert_int_equal(take(store, &held, 4, 128, NULL), QN_CONTENT_FULL);
    qn_content_release(store, &other);
    qn_content_release(store, &held);
    qn_content_close(store);
}

static void content_beyond_the_budget_is_too_large(void **state)
{
    qn_content_store *store = open_store(250); /* 240 of these can be used */
    qn_content_hold hold = { 0 };

    (void)state;
    take(store, &hold, 1, 64, NULL);
    qn_content_release(store, &hold);
    assert_int_equal(take(store, &hold, 2, 241, NULL), QN_CONTENT_TOO_LARGE);
    assert_int_equal(qn_content_get_stats(store).evictions, 0);
    assert_int_equal(take(store, &hold, 2, 240, NULL), QN_CONTENT_RESIDENT);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void places_are_multiples_of_16(void **state)
{
    qn_content_store *store = open_store(4096);
    qn_content_hold hold = { 0 };

    (void)state;
    for (int id = 0; id < 20; id++) {
        size_t at = 1;

        take(store, &hold, id, 13 + (size_t)id, &at);
        assert_int_equal(at % 16, 0);
    }
    qn_content_release(store, &hold);
    qn_content_close(store);
}

/* What is new. */

static void neighbours_become_one_range(void **state)
{
    qn_content_store *store = open_store(4096);
    qn_content_hold hold = { 0 };
    const qn_content_range *ranges = NULL;
    size_t n = 0;

    (void)state;
    for (int id = 0; id < 10; id++)
        take(store, &hold, id, 100, NULL);
    take(store, &hold, 3, 100, NULL);
    must(qn_content_since(store, 0, 0, &ranges, &n, &failure));
    assert_int_equal(n, 1);
    assert_int_equal(ranges[0].at, 0);
    assert_int_equal(ranges[0].bytes, 10 * 112);
    assert_int_equal(qn_content_extent(store), 10 * 112);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void ranges_apart_are_joined_across_small_gaps_only(void **state)
{
    qn_content_store *store = open_store(512);
    qn_content_hold hold = { 0 };
    qn_content_hold held = { 0 };
    const qn_content_range *ranges = NULL;
    uint64_t stamp;
    size_t n = 0;

    (void)state;
    for (int id = 0; id < 8; id++) /* every other one is held */
        take(store, id % 2 ? &held : &hold, id, 64, NULL);
    qn_content_release(store, &hold);
    stamp = store->stamps;
    for (int id = 10; id < 14; id++)
        take(store, &hold, id, 64, NULL);
    must(qn_content_since(store, stamp, 63, &ranges, &n, &failure));
    assert_int_equal(n, 4);
    assert_int_equal(ranges[1].at, 128);
    assert_int_equal(ranges[1].bytes, 64);
    must(qn_content_since(store, stamp, 64, &ranges, &n, &failure));
    assert_int_equal(n, 1);
    assert_int_equal(ranges[0].bytes, 448);
    qn_content_release(store, &hold);
    qn_content_release(store, &held);
    qn_content_close(store);
}

/* Content that was evicted since need not be brought to anyone. */
static void what_is_gone_is_not_new(void **state)
{
    qn_content_store *store = open_store(256);
    qn_content_hold hold = { 0 };
    const qn_content_range *ranges = NULL;
    size_t n = 0;

    (void)state;
    for (int id = 0; id < 3; id++) {
        take(store, &hold, id, 128, NULL);
        qn_content_release(store, &hold);
    }
    must(qn_content_since(store, store->stamps - 2, 0, &ranges, &n, &failure));
    assert_int_equal(n, 1);
    assert_int_equal(ranges[0].bytes, 256);
    must(qn_content_since(store, store->stamps - 1, 0, &ranges, &n, &failure));
    assert_int_equal(n, 1);
    assert_int_equal(ranges[0].bytes, 128);
    must(qn_content_since(store, store->stamps, 0, &ranges, &n, &failure));
    assert_int_equal(n, 0);
    qn_content_close(store);
}

/* Handles. */

static void content_of_no_bytes_takes_no_room(void **state)
{
    qn_content_store *store = open_store(0);
    qn_content_hold hold = { 0 };
    const qn_content none = { .handle = 42 };
    qn_content_taken taken = QN_CONTENT_FULL;
    uint64_t handle = 0;

    (void)state;
    assert_int_equal(qn_content_take(store, &hold, &none, NULL, &handle, &taken, NULL), QN_OK);
    assert_int_equal(taken, QN_CONTENT_RESIDENT);
    assert_true(handle == 42);
    assert_int_equal(take(store, &hold, 1, 64, NULL), QN_CONTENT_TOO_LARGE);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void handles_in_content_point_to_its_place(void **state)
{
    qn_content_store *store = open_store(4096);
    qn_content_hold hold = { 0 };
    const uint64_t words[3] = { 5, HANDLE + 16, 6 };
    const qn_content content = { .handle = HANDLE + 8,
                                 .bytes = (const unsigned char *)words,
                                 .n = sizeof words,
                                 .has_handles = 1 };
    uint64_t in_store[3], handle = 0;
    qn_content_taken taken = QN_CONTENT_FULL;

    (void)state;
    take(store, &hold, 1, 100, NULL);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(qn_content_take(store, &hold, &content, NULL, &handle, &taken, NULL),
                         QN_OK);
        assert_true(handle == HANDLE + BASE + 112 + 8);
        memcpy(in_store, qn_content_bytes(store) + 112, sizeof in_store);
        assert_true(in_store[0] == 5 && in_store[1] == HANDLE + BASE + 112 + 16);
        assert_true(in_store[2] == 6);
    }
    assert_int_equal(qn_content_get_stats(store).hits, 1);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void same_bytes_with_another_handle_are_other_content(void **state)
{
    qn_content_store *store = open_store(4096);
    qn_content_hold hold = { 0 };
    const uint64_t words[2] = { 1, 2 };
    uint64_t handles[2] = { 0 };

    (void)state;
    for (int k = 0; k < 2; k++) {
        const qn_content content = { .handle = (uint64_t)k << 40,
                                     .bytes = (const unsigned char *)words,
                                     .n = sizeof words };
        qn_content_taken taken = QN_CONTENT_FULL;

        assert_int_equal(qn_content_take(store, &hold, &content, NULL, &handles[k], &taken, NULL),
                         QN_OK);
    }
    assert_int_equal(qn_content_get_stats(store).n_entries, 2);
    assert_true(handles[0] == BASE && handles[1] == (UINT64_C(1) << 40) + BASE + 16);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void store_without_a_move_adds_to_the_handle_alone(void **state)
{
    qn_content_store *store = NULL;
    qn_content_hold hold = { 0 };
    size_t at = 1;

    (void)state;
    assert_int_equal(qn_content_open(NULL,
                                     &(qn_content_options){ .budget_bytes = 4096, .base = BASE },
                                     &store, NULL),
                     QN_OK);
    for (int id = 0; id < 3; id++) {
        take(store, &hold, id, 20, &at);
        assert_int_equal(at, 32 * id);
    }
    qn_content_release(store, &hold);
    qn_content_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_is_found_again),
        cmocka_unit_test(least_recently_used_goes_first),
        cmocka_unit_test(what_is_held_is_not_evicted),
        cmocka_unit_test(content_beyond_the_budget_is_too_large),
        cmocka_unit_test(places_are_multiples_of_16),
        cmocka_unit_test(neighbours_become_one_range),
        cmocka_unit_test(ranges_apart_are_joined_across_small_gaps_only),
        cmocka_unit_test(what_is_gone_is_not_new),
        cmocka_unit_test(content_of_no_bytes_takes_no_room),
        cmocka_unit_test(handles_in_content_point_to_its_place),
        cmocka_unit_test(same_bytes_with_another_handle_are_other_content),
        cmocka_unit_test(store_without_a_move_adds_to_the_handle_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
