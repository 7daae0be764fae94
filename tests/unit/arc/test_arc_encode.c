/* test_arc_encode.c - the canonical packed form of every value: encoding, decoding, moving. */
#include "arc_values.h"

#include <stdlib.h>

#include "kernel/arc/arc_value.h"
#include "kernel/types.h"

static qn_arc_heap *heap;

static int make_heap(void **state)
{
    (void)state;
    heap = open_heap();
    return 0;
}

static int drop_heap(void **state)
{
    (void)state;
    qn_arc_heap_free(heap);
    heap = NULL;
    return 0;
}

static uint64_t encode(qn_arc_value value, qn_arc_blob *blob)
{
    uint64_t slot = 0;
    qn_err err = { .text = "" };

    if (qn_arc_encode(&value, blob, &slot, &err) != QN_OK)
        fail_msg("%s", err.text);
    return slot;
}

static int tag_of(qn_arc_value value)
{
    qn_arc_blob blob = { 0 };
    const int tag = ARC_TAG(encode(value, &blob));

    qn_arc_blob_free(&blob);
    return tag;
}

static qn_arc_value decode(uint64_t slot, const qn_arc_blob *blob)
{
    qn_arc_value value = { .kind = QN_ARC_NONE };
    qn_err err = { .text = "" };

    if (qn_arc_decode(slot, blob->bytes, blob->n, blob->base, heap, &value, &err) != QN_OK)
        fail_msg("%s", err.text);
    return value;
}

/* The same value with every truth value in it replaced by a number. */
static qn_arc_value without_truth(qn_arc_value value)
{
    qn_arc_value *items = value.n ? qn_arc_values(heap, value.n) : NULL;

    for (int i = 0; i < value.n; i++)
        items[i] = without_truth(value.items[i]);
    value.items = items;
    if (value.kind == QN_ARC_BOOL)
        value.kind = QN_ARC_INT;
    return value;
}

static void each_value_has_the_first_kind_that_holds_it(void **state)
{
    const struct {
        int tag;
        qn_arc_value value;
    } rows[] = {
        { ARC_NONE, v_none() },
        { ARC_BOOL, v_bool(1) },
        { ARC_INT, v_int(INT32_MIN) },
        { ARC_PAIR, v_pair(heap, -32768, 32767) },
        { ARC_PAIR, V_TUPLE(heap, v_bool(1), v_int(2)) },
        { ARC_TUPLE, v_pair(heap, 32768, 0) },
        { ARC_CELL, v_cell(heap, 300, -5000, 5000) },
        { ARC_TUPLE, v_cell(heap, 40000, 0, 0) },
        { ARC_ROW, V_TUPLE(heap, v_int(127)) },
        { ARC_TUPLE, V_TUPLE(heap, v_int(128)) },
        { ARC_ROW, V_TUPLE(heap, v_int(-128), v_bool(0), v_int(127)) },
        { ARC_GRID, V_TUPLE(heap, V_TUPLE(heap, v_int(1))) },
        { ARC_GRID, V_TUPLE(heap, v_pair(heap, 1, 2), v_pair(heap, 3, 4)) },
        { ARC_TUPLE, V_TUPLE(heap, v_pair(heap, 1, 2), v_pair(heap, 3, 400)) },
        { ARC_TUPLE, V_TUPLE(heap, v_pair(heap, 1, 2), V_TUPLE(heap, v_int(3))) },
        { ARC_TUPLE, v_tuple(heap, 0, NULL) },
        { ARC_TUPLE, V_TUPLE(heap, v_tuple(heap, 0, NULL)) },
        { ARC_TUPLE, V_TUPLE(heap, v_none()) },
        { ARC_IDX, v_set(heap, 0, NULL) },
        { ARC_IDX, V_SET(heap, v_pair(heap, -2048, 2047)) },
        { ARC_SET, V_SET(heap, v_pair(heap, -2049, 0)) },
        { ARC_OBJ, V_SET(heap, v_cell(heap, 127, 0, 0), v_cell(heap, -128, 5, 5)) },
        { ARC_SET, V_SET(heap, v_cell(heap, 128, 0, 0)) },
        { ARC_SET, V_SET(heap, v_cell(heap, 1, 0, 0), v_pair(heap, 1, 0)) },
        { ARC_SET, V_SET(heap, v_int(1)) },
        { ARC_SET, V_SET(heap, v_set(heap, 0, NULL)) },
        { ARC_PRIM, v_prim(7) },
        { ARC_CLOS, v_closure(heap, 0, 1, v_prim(1), v_prim(2)) },
        { ARC_BAD, { .kind = QN_ARC_BAD, .number = 3, .step = 77 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (tag_of(rows[i].value) != rows[i].tag)
            fail_msg("row %zu: kind %d instead of %d", i, tag_of(rows[i].value), rows[i].tag);
    }
}

static void decoded_value_equals_what_was_encoded(void **state)
{
    arc_random random = { .seed = 1 };

    (void)state;
    for (int round = 0; round < 20000; round++) {
        const qn_arc_value value = random_value(heap, &random, 4);
        qn_arc_blob blob = { .base = round % 3 ? ARC_POOLED + 64u * (unsigned)round : 8 };
        const uint64_t slot = encode(value, &blob);
        const qn_arc_value back = decode(slot, &blob);

        assert_int_equal(qn_arc_compare(&value, &back), 0);
        assert_int_equal(value.kind, back.kind);
        qn_arc_blob_free(&blob);
    }
}

static void equal_values_have_equal_bytes(void **state)
{
    arc_random random = { .seed = 2 };

    (void)state;
    for (int round = 0; round < 20000; round++) {
        const qn_arc_value value = without_truth(random_value(heap, &random, 4));
        qn_arc_blob first = { .base = ARC_POOLED };
        qn_arc_blob again = { .base = ARC_POOLED };
        const uint64_t slot = encode(value, &first);
        const uint64_t same = encode(decode(slot, &first), &again);

        assert_true(slot == same);
        assert_int_equal(first.n, again.n);
        if (first.n)
            assert_memory_equal(first.bytes, again.bytes, first.n);
        qn_arc_blob_free(&first);
        qn_arc_blob_free(&again);
    }
}

static void truth_values_become_numbers_in_compact_forms(void **state)
{
    const qn_arc_value one = V_TUPLE(heap, v_bool(1), v_int(0), v_bool(0));
    const qn_arc_value two = V_TUPLE(heap, v_int(1), v_int(0), v_int(0));
    qn_arc_blob a = { 0 };
    qn_arc_blob b = { 0 };

    (void)state;
    assert_true(encode(one, &a) == encode(two, &b));
    assert_memory_equal(a.bytes, b.bytes, a.n);
    qn_arc_blob_free(&a);
    qn_arc_blob_free(&b);
}

static void content_starts_at_multiples_of_8(void **state)
{
    qn_arc_blob blob = { 0 };

    (void)state;
    encode(V_TUPLE(heap, v_int(1), v_int(2), v_int(3)), &blob);
    assert_int_equal(blob.n, 3);
    assert_int_equal(ARC_PAYLOAD(encode(V_SET(heap, v_pair(heap, 1, 2)), &blob)), 8);
    qn_arc_blob_free(&blob);
}

static void too_large_integers_are_refused(void **state)
{
    const qn_arc_value value = V_TUPLE(heap, v_int((int64_t)INT32_MAX + 1));
    qn_arc_blob blob = { 0 };
    uint64_t slot = 0;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_arc_encode(&value, &blob, &slot, &err), QN_ERR_LIMIT);
    assert_non_null(strstr(err.text, "2147483648"));
    qn_arc_blob_free(&blob);
}

static void too_deep_values_are_refused(void **state)
{
    qn_arc_value value = v_none();
    qn_arc_blob blob = { 0 };
    uint64_t slot = 0;
    qn_err err = { .text = "" };

    (void)state;
    for (int i = 0; i < 300; i++)
        value = V_TUPLE(heap, value);
    assert_int_equal(qn_arc_encode(&value, &blob, &slot, &err), QN_ERR_LIMIT);
    qn_arc_blob_free(&blob);
}

static void content_beyond_the_addressable_pool_is_refused(void **state)
{
    const qn_arc_value value = V_TUPLE(heap, v_int(1), v_int(2), v_int(3));
    qn_arc_blob blob = { .base = 0xfffffffeu };
    uint64_t slot = 0;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_arc_encode(&value, &blob, &slot, &err), QN_ERR_LIMIT);
    qn_arc_blob_free(&blob);
}

/* Damaged bytes. */

static qn_status try_decode(uint64_t slot, const unsigned char *bytes, size_t n, uint32_t base)
{
    qn_arc_value value;
    qn_err err = { .text = "" };
    const qn_status st = qn_arc_decode(slot, bytes, n, base, heap, &value, &err);

    assert_true(st == QN_OK || err.text[0]);
    return st;
}

static void every_cut_of_the_content_is_noticed(void **state)
{
    const qn_arc_value value =
        V_TUPLE(heap, V_SET(heap, v_cell(heap, 1, 2, 3)), V_TUPLE(heap, v_int(1), v_int(200)),
                v_closure(heap, 0, 1, v_prim(0), v_prim(1)), V_TUPLE(heap, v_pair(heap, 1, 2)));
    qn_arc_blob blob = { .base = 16 };
    const uint64_t slot = encode(value, &blob);

    (void)state;
    for (size_t n = 0; n < blob.n; n++) {
        unsigned char *part = malloc(n + 1); /* so that a sanitizer sees a read beyond it */

        memcpy(part, blob.bytes, n);
        part = realloc(part, n ? n : 1);
        assert_int_equal(try_decode(slot, part, n, 16), QN_ERR_INPUT);
        free(part);
    }
    assert_int_equal(try_decode(slot, blob.bytes, blob.n, 24), QN_ERR_INPUT);
    qn_arc_blob_free(&blob);
}

static void random_bytes_are_decoded_or_refused(void **state)
{
    arc_random random = { .seed = 8 };
    unsigned char bytes[256];

    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint64_t slot =
            ARC_SLOT(next_below(&random, 16), next_below(&random, 9), next_below(&random, 260));

        for (size_t i = 0; i < sizeof bytes; i += 8) {
            const uint64_t word =
                ARC_SLOT(next_below(&random, 16), next_below(&random, 4), next_below(&random, 260));

            memcpy(bytes + i, &word, sizeof word);
        }
        try_decode(slot, bytes, sizeof bytes, 0);
        qn_arc_move(&slot, bytes, sizeof bytes, 0, 8, NULL);
        if (round % 100 == 0) {
            qn_arc_heap_free(heap);
            heap = open_heap();
        }
    }
}

static void values_that_hold_themselves_are_refused(void **state)
{
    const uint64_t slot = ARC_SLOT(ARC_TUPLE, 1, 0);

    (void)state;
    assert_int_equal(try_decode(slot, (const unsigned char *)&slot, sizeof slot, 0), QN_ERR_LIMIT);
}

static void shared_content_may_not_unfold_without_bound(void **state)
{
    uint64_t words[20][8];
    uint64_t slot = ARC_SLOT_NONE;

    (void)state;
    for (int level = 0; level < 20; level++) { /* 8 to the power of 20 */
        for (int i = 0; i < 8; i++)
            words[level][i] = slot;
        slot = ARC_SLOT(ARC_TUPLE, 8, level * 64);
    }
    assert_int_equal(try_decode(slot, (const unsigned char *)words, sizeof words, 0), QN_ERR_LIMIT);
    qn_arc_heap_free(heap);
    heap = open_heap();
}

/* Wide integers and views. */

static void wide_integers_are_read(void **state)
{
    const int64_t wide = INT64_C(1) << 40;
    qn_arc_value value;

    (void)state;
    assert_int_equal(qn_arc_decode(ARC_SLOT(ARC_INT, 1, 0), (const unsigned char *)&wide,
                                   sizeof wide, 0, heap, &value, NULL),
                     QN_OK);
    assert_true(value.number == wide);
}

static void row_may_lie_inside_a_grid(void **state)
{
    const unsigned char bytes[] = { 2, 0, 3, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6 };
    const qn_arc_value expected = V_TUPLE(heap, v_int(4), v_int(5), v_int(6));
    qn_arc_value row;

    (void)state;
    assert_int_equal(
        qn_arc_decode(ARC_SLOT(ARC_ROW, 3, 11), bytes, sizeof bytes, 0, heap, &row, NULL), QN_OK);
    assert_int_equal(qn_arc_compare(&row, &expected), 0);
}

/* Moving. */

static void moved_content_reads_the_same(void **state)
{
    arc_random random = { .seed = 5 };

    (void)state;
    for (int round = 0; round < 5000; round++) {
        const qn_arc_value value = random_value(heap, &random, 4);
        qn_arc_blob blob = { .base = 0 };
        uint64_t slot = encode(value, &blob);
        qn_arc_value back;

        assert_int_equal(qn_arc_move(&slot, blob.bytes, blob.n, 0, ARC_POOLED + 4096, NULL), QN_OK);
        blob.base = ARC_POOLED + 4096;
        back = decode(slot, &blob);
        assert_int_equal(qn_arc_compare(&value, &back), 0);
        qn_arc_blob_free(&blob);
    }
}

static void moved_content_is_what_is_encoded_there(void **state)
{
    arc_random random = { .seed = 6 };

    (void)state;
    for (int round = 0; round < 5000; round++) {
        const qn_arc_value value = random_value(heap, &random, 4);
        qn_arc_blob here = { .base = 64 };
        qn_arc_blob there = { .base = 640 };
        uint64_t slot = encode(value, &here);
        const uint64_t expected = encode(value, &there);

        assert_int_equal(qn_arc_move(&slot, here.bytes, here.n, 64, 576, NULL), QN_OK);
        assert_true(slot == expected);
        if (here.n)
            assert_memory_equal(here.bytes, there.bytes, here.n);
        qn_arc_blob_free(&here);
        qn_arc_blob_free(&there);
    }
}

static void shared_content_is_moved_once(void **state)
{
    /* a tuple of the same tuple twice, which holds a row of three */
    uint64_t words[] = { ARC_SLOT(ARC_TUPLE, 1, 16), ARC_SLOT(ARC_TUPLE, 1, 16),
                         ARC_SLOT(ARC_ROW, 3, 24), 0x030201 };
    uint64_t slot = ARC_SLOT(ARC_TUPLE, 2, 0);
    qn_arc_value value;

    (void)state;
    assert_int_equal(qn_arc_move(&slot, (unsigned char *)words, sizeof words, 0, 800, NULL), QN_OK);
    assert_int_equal(ARC_PAYLOAD(words[2]), 824);
    assert_int_equal(
        qn_arc_decode(slot, (unsigned char *)words, sizeof words, 800, heap, &value, NULL), QN_OK);
    assert_int_equal(value.items[1].items[0].items[2].number, 3);
}

static void slots_in_themselves_do_not_move(void **state)
{
    uint64_t slots[] = { ARC_SLOT_INT(5), ARC_SLOT_PAIR(1, 2), ARC_SLOT_EMPTY_TUPLE,
                         ARC_SLOT_EMPTY_SET, ARC_SLOT(ARC_PRIM, 2, 7) };

    (void)state;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        const uint64_t before = slots[i];

        assert_int_equal(qn_arc_move(&slots[i], NULL, 0, 0, 800, NULL), QN_OK);
        assert_true(slots[i] == before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_has_the_first_kind_that_holds_it),
        cmocka_unit_test(decoded_value_equals_what_was_encoded),
        cmocka_unit_test(equal_values_have_equal_bytes),
        cmocka_unit_test(truth_values_become_numbers_in_compact_forms),
        cmocka_unit_test(content_starts_at_multiples_of_8),
        cmocka_unit_test(too_large_integers_are_refused),
        cmocka_unit_test(too_deep_values_are_refused),
        cmocka_unit_test(content_beyond_the_addressable_pool_is_refused),
        cmocka_unit_test(every_cut_of_the_content_is_noticed),
        cmocka_unit_test(random_bytes_are_decoded_or_refused),
        cmocka_unit_test(values_that_hold_themselves_are_refused),
        cmocka_unit_test(shared_content_may_not_unfold_without_bound),
        cmocka_unit_test(wide_integers_are_read),
        cmocka_unit_test(row_may_lie_inside_a_grid),
        cmocka_unit_test(moved_content_reads_the_same),
        cmocka_unit_test(moved_content_is_what_is_encoded_there),
        cmocka_unit_test(shared_content_is_moved_once),
        cmocka_unit_test(slots_in_themselves_do_not_move),
    };

    return cmocka_run_group_tests(tests, make_heap, drop_heap);
}
