/* test_content_again.c - content acquired again by its ticket, and a store that became smaller. */
#include "content_fixture.h"

static void take_one(qn_content_store *store, int id, size_t *at, qn_content_ticket *ticket)
{
    qn_content_hold hold = { 0 };

    assert_int_equal(take_with(store, &hold, id, 64, ticket, at), QN_CONTENT_RESIDENT);
    qn_content_release(store, &hold);
}

/* Tickets. */

static void ticket_finds_what_it_stands_for(void **state)
{
    qn_content_store *store = open_store(4096);
    qn_content_hold hold = { 0 };
    qn_content_ticket first, second;

    (void)state;
    take_one(store, 1, NULL, &first);
    take_one(store, 2, NULL, &second);
    assert_true(qn_content_retake(store, &hold, &first));
    assert_true(qn_content_retake(store, &hold, &second));
    assert_int_equal(qn_content_get_stats(store).hits, 2);
    assert_int_equal(hold.n_held, 2);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void ticket_of_content_that_was_evicted_finds_nothing(void **state)
{
    qn_content_store *store = open_store(128);
    qn_content_hold hold = { 0 };
    qn_content_ticket first;

    (void)state;
    take_one(store, 1, NULL, &first);
    take_one(store, 2, NULL, NULL);
    take_one(store, 3, NULL, NULL); /* in the entry and the place of the first */
    assert_false(qn_content_retake(store, &hold, &first));
    assert_false(qn_content_retake(store, &hold, &(qn_content_ticket){ 0 }));
    assert_int_equal(hold.n_held, 0);
    qn_content_close(store);
}

static void ticket_keeps_its_content_from_being_evicted(void **state)
{
    qn_content_store *store = open_store(128);
    qn_content_hold hold = { 0 };
    qn_content_ticket first;

    (void)state;
    take_one(store, 1, NULL, &first);
    take_one(store, 2, NULL, NULL);
    assert_true(qn_content_retake(store, &hold, &first));
    take_one(store, 3, NULL, NULL); /* the second goes */
    assert_true(qn_content_retake(store, &hold, &first));
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void hold_takes_the_content_of_a_ticket_once(void **state)
{
    qn_content_store *store = open_store(4096);
    qn_content_hold hold = { 0 };
    qn_content_ticket ticket;

    (void)state;
    take_one(store, 1, NULL, &ticket);
    assert_false(qn_content_is_held(&hold, &ticket));
    for (int k = 0; k < 3; k++) {
        assert_true(qn_content_retake(store, &hold, &ticket));
        assert_true(qn_content_is_held(&hold, &ticket));
    }
    assert_int_equal(hold.n_held, 1);
    assert_int_equal(qn_content_get_stats(store).hits, 1);
    qn_content_release(store, &hold);
    assert_false(qn_content_is_held(&hold, &ticket));
    qn_content_close(store);
}

static void ticket_of_another_store_finds_nothing(void **state)
{
    qn_content_ticket ticket;

    (void)state;
    for (int round = 0; round < 3; round++) { /* each likely where the last one was */
        qn_content_store *store = open_store(4096);
        qn_content_hold hold = { 0 };

        if (round)
            assert_false(qn_content_retake(store, &hold, &ticket));
        take_one(store, 1, NULL, &ticket);
        qn_content_release(store, &hold);
        qn_content_close(store);
    }
}

/* Shrinking. */

static void smaller_store_keeps_what_was_used_last(void **state)
{
    qn_content_store *store = open_store(1024);
    qn_content_hold hold = { 0 };
    qn_content_ticket tickets[8];
    int n_left = 0;

    (void)state;
    for (int id = 0; id < 8; id++)
        take_one(store, id, NULL, &tickets[id]);
    qn_content_shrink(store, 512);
    assert_int_equal(qn_content_budget(store), 512);
    assert_true(qn_content_extent(store) <= 512);
    for (int id = 0; id < 8; id++)
        n_left += qn_content_retake(store, &hold, &tickets[id]);
    assert_int_equal(n_left, 4); /* of 64 bytes, in half of 512 */
    assert_true(qn_content_retake(store, &hold, &tickets[7]));
    assert_false(qn_content_retake(store, &hold, &tickets[0]));
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void smaller_store_takes_no_more_than_its_budget(void **state)
{
    qn_content_store *store = open_store(1024);
    qn_content_hold hold = { 0 };
    int n = 0;

    (void)state;
    for (int id = 0; id < 16; id++)
        take_one(store, id, NULL, NULL);
    qn_content_shrink(store, 300); /* a multiple of 16 is less */
    while (take(store, &hold, 100 + n, 64, NULL) == QN_CONTENT_RESIDENT)
        n++;
    assert_int_equal(n, 4);
    assert_true(qn_content_extent(store) <= 300);
    assert_int_equal(take(store, &hold, 1, 400, NULL), QN_CONTENT_TOO_LARGE);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

static void held_or_smaller_store_stays(void **state)
{
    qn_content_store *store = open_store(1024);
    qn_content_hold hold = { 0 };

    (void)state;
    qn_content_shrink(store, 2048);
    assert_int_equal(qn_content_budget(store), 1024);
    take(store, &hold, 1, 64, NULL);
    qn_content_shrink(store, 512);
    assert_int_equal(qn_content_budget(store), 1024);
    qn_content_release(store, &hold);
    qn_content_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticket_finds_what_it_stands_for),
        cmocka_unit_test(ticket_of_content_that_was_evicted_finds_nothing),
        cmocka_unit_test(ticket_keeps_its_content_from_being_evicted),
        cmocka_unit_test(hold_takes_the_content_of_a_ticket_once),
        cmocka_unit_test(ticket_of_another_store_finds_nothing),
        cmocka_unit_test(smaller_store_keeps_what_was_used_last),
        cmocka_unit_test(smaller_store_takes_no_more_than_its_budget),
        cmocka_unit_test(held_or_smaller_store_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
