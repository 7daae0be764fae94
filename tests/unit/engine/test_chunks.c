/* test_chunks.c - which worker may take which items of a batch. */
#include "test.h"

#include "engine/split/split_impl.h"

static void chunks_that_come_back_are_for_anybody(void **state)
{
    const qn_i64 blocks[2] = { 5, 4 };
    qn_chunks *chunks;
    qn_chunk_source s;
    qn_chunk a, b, c;
    qn_err err;

    (void)state;
    assert_int_equal(qn_chunks_new(9, 3, blocks, 2, 4, &chunks, &err), QN_OK);
    s = qn_chunks_source(chunks);
    assert_true(s.take(s.state, 0, &a) && a.first == 0 && a.count == 3);
    assert_true(s.take(s.state, 0, &b) && b.first == 3 && b.count == 2);
    assert_false(s.take(s.state, 0, &c)); /* the rest is worker 1's */
    assert_int_equal(s.left(s.state), 4);
    s.give_back(s.state, 1, b);
    assert_true(s.take(s.state, 0, &c) && c.first == 3 && c.count == 2);
    s.leave(s.state, 1);
    assert_true(s.take(s.state, 0, &c) && c.first == 5 && c.count == 3);
    assert_true(s.take(s.state, 2, &c) && c.first == 8 && c.count == 1);
    assert_int_equal(s.left(s.state), 0);
    assert_false(s.is_over(s.state));
    s.finish(s.state, 0, (qn_chunk){ 0, 9 });
    assert_true(s.is_over(s.state));
    qn_chunks_free(chunks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_that_come_back_are_for_anybody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
