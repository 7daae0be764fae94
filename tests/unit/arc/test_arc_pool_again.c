/* test_arc_pool_again.c - content asked for again by its ticket, and a pool that became smaller. */
#include "arc_pool_rig.h"

static void take_one(qn_arc_pool *pool, int id, size_t *at, qn_arc_ticket *ticket)
{
    qn_arc_batch batch = { 0 };

    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, id, 64, at), QN_ARC_RESIDENT);
    if (ticket)
        *ticket = qn_arc_pool_ticket(pool);
    qn_arc_pool_release(pool, &batch);
}

/* Tickets. */

static void ticket_finds_what_it_stands_for(void **state)
{
    qn_arc_pool *pool = open_pool(4096);
    qn_arc_batch batch = { 0 };
    qn_arc_ticket first, second;

    (void)state;
    take_one(pool, 1, NULL, &first);
    take_one(pool, 2, NULL, &second);
    assert_true(qn_arc_pool_retake(pool, &batch, first));
    assert_true(qn_arc_pool_retake(pool, &batch, second));
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_hits, 2);
    assert_int_equal(batch.n_held, 2);
    assert_int_equal(batch.n_uploads, 0);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void ticket_of_content_that_was_evicted_finds_nothing(void **state)
{
    qn_arc_pool *pool = open_pool(128);
    qn_arc_batch batch = { 0 };
    qn_arc_ticket first;

    (void)state;
    take_one(pool, 1, NULL, &first);
    take_one(pool, 2, NULL, NULL);
    take_one(pool, 3, NULL, NULL); /* in the entry and the place of the first */
    assert_false(qn_arc_pool_retake(pool, &batch, first));
    assert_false(qn_arc_pool_retake(pool, &batch, (qn_arc_ticket){ 0 }));
    assert_int_equal(batch.n_held, 0);
    qn_arc_pool_free(pool);
}

static void ticket_keeps_its_content_from_being_evicted(void **state)
{
    qn_arc_pool *pool = open_pool(128);
    qn_arc_batch batch = { 0 };
    qn_arc_ticket first;

    (void)state;
    take_one(pool, 1, NULL, &first);
    take_one(pool, 2, NULL, NULL);
    assert_true(qn_arc_pool_retake(pool, &batch, first));
    take_one(pool, 3, NULL, NULL); /* the second goes */
    assert_true(qn_arc_pool_retake(pool, &batch, first));
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void ticket_of_a_failed_upload_finds_nothing(void **state)
{
    qn_arc_pool *pool = open_pool(4096);
    qn_arc_batch batch = { 0 };
    qn_arc_ticket ticket;

    (void)state;
    take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 64, NULL);
    ticket = qn_arc_pool_ticket(pool);
    qn_arc_pool_abandon(pool, &batch);
    assert_false(qn_arc_pool_retake(pool, &batch, ticket));
    qn_arc_pool_free(pool);
}

/* Shrinking. */

static void smaller_pool_keeps_what_was_used_last(void **state)
{
    qn_arc_pool *pool = open_pool(1024);
    qn_arc_batch batch = { 0 };
    qn_arc_ticket tickets[8];
    int n_left = 0;

    (void)state;
    for (int id = 0; id < 8; id++)
        take_one(pool, id, NULL, &tickets[id]);
    qn_arc_pool_shrink(pool, 512);
    assert_int_equal(qn_arc_pool_budget(pool), 512);
    assert_true(qn_arc_pool_extent(pool) <= 512);
    for (int id = 0; id < 8; id++)
        n_left += qn_arc_pool_retake(pool, &batch, tickets[id]);
    assert_int_equal(n_left, 4); /* of 64 bytes, in half of 512 */
    assert_true(qn_arc_pool_retake(pool, &batch, tickets[7]));
    assert_false(qn_arc_pool_retake(pool, &batch, tickets[0]));
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void smaller_pool_takes_no_more_than_its_budget(void **state)
{
    qn_arc_pool *pool = open_pool(1024);
    qn_arc_batch batch = { 0 };
    int n = 0;

    (void)state;
    for (int id = 0; id < 16; id++)
        take_one(pool, id, NULL, NULL);
    qn_arc_pool_shrink(pool, 300); /* a multiple of 16 is less */
    while (take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 100 + n, 64, NULL) == QN_ARC_RESIDENT)
        n++;
    assert_int_equal(n, 4);
    assert_true(qn_arc_pool_extent(pool) <= 300);
    assert_int_equal(take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 400, NULL), QN_ARC_TOO_LARGE);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

static void pool_that_is_held_or_small_already_stays(void **state)
{
    qn_arc_pool *pool = open_pool(1024);
    qn_arc_batch batch = { 0 };

    (void)state;
    qn_arc_pool_shrink(pool, 2048);
    assert_int_equal(qn_arc_pool_budget(pool), 1024);
    take_grid(pool, &batch, QN_ARC_USE_ALWAYS, 1, 64, NULL);
    qn_arc_pool_shrink(pool, 512);
    assert_int_equal(qn_arc_pool_budget(pool), 1024);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticket_finds_what_it_stands_for),
        cmocka_unit_test(ticket_of_content_that_was_evicted_finds_nothing),
        cmocka_unit_test(ticket_keeps_its_content_from_being_evicted),
        cmocka_unit_test(ticket_of_a_failed_upload_finds_nothing),
        cmocka_unit_test(smaller_pool_keeps_what_was_used_last),
        cmocka_unit_test(smaller_pool_takes_no_more_than_its_budget),
        cmocka_unit_test(pool_that_is_held_or_small_already_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
