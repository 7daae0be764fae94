/* test_content_collide.c - contents with the same hash are still told apart. */
#include "content_fixture.h"

#include "engine/content/hash.h"

#define qn_content_hash(handle, bytes, n) ((void)(handle), (void)(bytes), (void)(n), UINT64_C(7))

#include "engine/content/store.c"

static void content_with_one_hash_is_kept_apart(void **state)
{
    qn_content_store *store = open_store(4096);
    qn_content_hold hold = { 0 };
    size_t places[20];

    (void)state;
    for (int id = 0; id < 20; id++)
        assert_int_equal(take(store, &hold, id, 64, &places[id]), QN_CONTENT_RESIDENT);
    for (int id = 0; id < 20; id++) {
        size_t at = 1;

        assert_int_equal(take(store, &hold, id, 64, &at), QN_CONTENT_RESIDENT);
        assert_int_equal(at, places[id]);
    }
    assert_int_equal(qn_content_get_stats(store).hits, 20);
    assert_int_equal(qn_content_get_stats(store).misses, 20);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void content_with_handles_and_one_hash_is_kept_apart(void **state)
{
    qn_content_store *store = open_store(4096);
    qn_content_hold hold = { 0 };
    uint64_t handles[10];

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int id = 0; id < 10; id++) {
            const uint64_t words[2] = { (uint64_t)id, HANDLE + 8 };
            const qn_content content = { .bytes = (const unsigned char *)words,
                                         .n = sizeof words,
                                         .has_handles = 1 };
            qn_content_taken taken = QN_CONTENT_FULL;
            uint64_t handle = 0;

            assert_int_equal(qn_content_take(store, &hold, &content, NULL, &handle, &taken, NULL),
                             QN_OK);
            assert_true(round == 0 || handle == handles[id]);
            handles[id] = handle;
        }
    }
    assert_int_equal(qn_content_get_stats(store).n_entries, 10);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void any_of_it_can_be_evicted(void **state)
{
    qn_content_store *store = open_store(256);

    (void)state;
    for (int id = 0; id < 100; id++) {
        qn_content_hold hold = { 0 };

        assert_int_equal(take(store, &hold, id % 7, 64, NULL), QN_CONTENT_RESIDENT);
        qn_content_release(store, &hold);
    }
    assert_int_equal(qn_content_get_stats(store).evictions, 96);
    qn_content_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_with_one_hash_is_kept_apart),
        cmocka_unit_test(content_with_handles_and_one_hash_is_kept_apart),
        cmocka_unit_test(any_of_it_can_be_evicted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
