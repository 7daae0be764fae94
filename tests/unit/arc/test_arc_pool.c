/* test_arc_pool.c - values and programs in the pool, where devices read them. */
#include "arc_values.h"

#include "domain/arc/run/executor.h"
#include "kernel/arc/arc_code.h"

static qn_content_store *open_pool(size_t budget)
{
    qn_content_store *pool = NULL;
    qn_err err = { .text = "" };

    if (qn_arc_pool_open(NULL, budget, &pool, &err) != QN_OK)
        fail_msg("%s", err.text);
    return pool;
}

/* Takes a grid of one row of 92 cells, 100 bytes. */
static qn_content_taken take_grid(qn_content_store *pool, qn_content_hold *hold)
{
    const uint16_t size[2] = { 1, 100 - ARC_GRID_HEAD };
    unsigned char bytes[100] = { 0 };
    uint64_t slot = ARC_SLOT(ARC_GRID, 0, 0);
    qn_content_taken taken = QN_CONTENT_FULL;

    memcpy(bytes, size, sizeof size);
    assert_int_equal(qn_arc_pool_value(pool, hold, bytes, sizeof bytes, NULL, &slot, &taken, NULL),
                     QN_OK);
    return taken;
}

static void slots_in_themselves_take_no_room(void **state)
{
    qn_content_store *pool = open_pool(0);
    qn_content_hold hold = { 0 };
    uint64_t slot = ARC_SLOT_PAIR(3, 4);
    qn_content_taken taken = QN_CONTENT_FULL;

    (void)state;
    assert_int_equal(qn_arc_pool_value(pool, &hold, NULL, 0, NULL, &slot, &taken, NULL), QN_OK);
    assert_int_equal(taken, QN_CONTENT_RESIDENT);
    assert_true(slot == ARC_SLOT_PAIR(3, 4));
    assert_int_equal(take_grid(pool, &hold), QN_CONTENT_TOO_LARGE);
    qn_content_release(pool, &hold);
    qn_content_close(pool);
}

static void nested_values_are_found_again_and_read_from_their_place(void **state)
{
    qn_arc_heap *heap = open_heap();
    qn_content_store *pool = open_pool(1 << 20);
    qn_content_hold hold = { 0 };
    arc_random random = { .seed = 9 };
    uint64_t hits = 0;

    (void)state;
    for (int round = 0; round < 300; round++) {
        const qn_arc_value value = random_value(heap, &random, 4);
        qn_arc_blob blob = { 0 };
        uint64_t slot = 0;
        uint64_t first = 0;
        qn_content_taken taken = QN_CONTENT_FULL;
        qn_arc_value back;

        assert_int_equal(qn_arc_encode(&value, &blob, &slot, NULL), QN_OK);
        for (int again = 0; again < 2; again++) {
            uint64_t pooled = slot;

            assert_int_equal(
                qn_arc_pool_value(pool, &hold, blob.bytes, blob.n, NULL, &pooled, &taken, NULL),
                QN_OK);
            assert_int_equal(taken, QN_CONTENT_RESIDENT);
            assert_true(!again || pooled == first);
            first = pooled;
        }
        assert_int_equal(qn_arc_decode(first, qn_content_bytes(pool), qn_content_extent(pool),
                                       ARC_POOLED, heap, &back, NULL),
                         QN_OK);
        assert_int_equal(qn_arc_compare(&value, &back), 0);
        hits += blob.n > 0;
        qn_arc_blob_free(&blob);
    }
    assert_true(qn_content_get_stats(pool).hits >= hits);
    qn_content_release(pool, &hold);
    qn_content_close(pool);
    qn_arc_heap_free(heap);
}

/* A program of one instruction with two constants, one of which is a row. */
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
    qn_content_store *pool = open_pool(4096);
    qn_content_hold hold = { 0 };
    unsigned char bytes[128];
    const size_t n = small_program(bytes);
    uint32_t place = 1;
    uint32_t again = 2;
    uint64_t constants[2];
    qn_content_taken taken = QN_CONTENT_FULL;

    (void)state;
    take_grid(pool, &hold);
    assert_int_equal(qn_arc_pool_program(pool, &hold, bytes, n, NULL, &place, &taken, NULL), QN_OK);
    assert_int_equal(taken, QN_CONTENT_RESIDENT);
    assert_int_equal(place, 112);
    memcpy(constants, qn_content_bytes(pool) + place + 48, sizeof constants);
    assert_true(constants[0] == ARC_SLOT_INT(5));
    assert_true(constants[1] == ARC_SLOT(ARC_ROW, 3, ARC_POOLED + 112 + 64));
    assert_int_equal(qn_arc_pool_program(pool, &hold, bytes, n, NULL, &again, &taken, NULL), QN_OK);
    assert_int_equal(again, place);
    qn_content_release(pool, &hold);
    qn_content_close(pool);
}

static void program_without_constants_is_found_again(void **state)
{
    qn_content_store *pool = open_pool(4096);
    qn_content_hold hold = { 0 };
    const arc_program head = { .magic = ARC_MAGIC, .version = 1, .bytes = 32 };
    uint32_t place = 1;
    qn_content_taken taken = QN_CONTENT_FULL;

    (void)state;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(qn_arc_pool_program(pool, &hold, (const unsigned char *)&head, sizeof head,
                                             NULL, &place, &taken, NULL),
                         QN_OK);
        assert_int_equal(place, 0);
    }
    assert_int_equal(qn_content_get_stats(pool).hits, 1);
    qn_content_release(pool, &hold);
    qn_content_close(pool);
}

static void damaged_programs_are_refused(void **state)
{
    qn_content_store *pool = open_pool(4096);
    qn_content_hold hold = { 0 };
    unsigned char bytes[128];
    uint32_t place = 0;
    qn_content_taken taken = QN_CONTENT_FULL;
    qn_err err = { .text = "" };

    (void)state;
    small_program(bytes);
    assert_int_equal(qn_arc_pool_program(pool, &hold, bytes, 20, NULL, &place, &taken, &err),
                     QN_ERR_INPUT);
    assert_int_equal(qn_arc_pool_program(pool, &hold, bytes, 60, NULL, &place, &taken, &err),
                     QN_ERR_INPUT);
    bytes[56] = 200; /* the row lies beyond the end */
    assert_int_equal(qn_arc_pool_program(pool, &hold, bytes, 67, NULL, &place, &taken, &err),
                     QN_ERR_INPUT);
    assert_int_equal(qn_content_get_stats(pool).bytes, 0);
    qn_content_release(pool, &hold);
    qn_content_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_in_themselves_take_no_room),
        cmocka_unit_test(nested_values_are_found_again_and_read_from_their_place),
        cmocka_unit_test(constants_of_a_program_point_into_the_pool),
        cmocka_unit_test(program_without_constants_is_found_again),
        cmocka_unit_test(damaged_programs_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
