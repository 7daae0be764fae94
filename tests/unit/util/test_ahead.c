/* test_ahead.c - jobs are done once, whoever asks, and failures of threads lose none. */
#include "test.h"

#include "util/ahead.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MANY = 200, ASKERS = 8 };

typedef struct counted {
    qn_job job; /* first */
    atomic_int n;
} counted;

static void count(qn_job *job)
{
    counted *c = (counted *)job;

    for (volatile int spin = 0; spin < 20000; spin++)
        ;
    atomic_fetch_add(&c->n, 1);
}

typedef struct asker {
    qn_ahead *ahead;
    counted *jobs;
} asker;

static void *need_all(void *arg)
{
    const asker *a = arg;

    for (int i = 0; i < MANY; i++)
        qn_ahead_need(a->ahead, &a->jobs[i].job);
    return NULL;
}

/* Several threads need every job, posted or not. */
static void check(int n_threads, int is_posted)
{
    static counted jobs[MANY];
    asker a = { qn_ahead_new(n_threads), jobs };
    pthread_t threads[ASKERS];

    assert_non_null(a.ahead);
    for (int i = 0; i < MANY; i++) {
        jobs[i] = (counted){ .job = { .run = count } };
        if (is_posted)
            qn_ahead_post(a.ahead, &jobs[i].job);
    }
    for (int t = 0; t < ASKERS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, need_all, &a), 0);
    for (int t = 0; t < ASKERS; t++)
        pthread_join(threads[t], NULL);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(atomic_load(&jobs[i].n), 1);
        assert_true(qn_ahead_is_done(a.ahead, &jobs[i].job));
    }
    qn_ahead_free(a.ahead);
}

static void a_job_is_done_once_for_all_who_need_it(void **state)
{
    (void)state;
    check(3, 1);
    check(3, 0);
}

static void without_threads_who_needs_a_job_does_it(void **state)
{
    (void)state;
    check(0, 1);
}

static void a_dropped_job_is_not_begun(void **state)
{
    qn_ahead *a = qn_ahead_new(0);
    counted kept = { .job = { .run = count } }, dropped = { .job = { .run = count } },
            last = { .job = { .run = count } };

    (void)state;
    qn_ahead_post(a, &kept.job);
    qn_ahead_post(a, &dropped.job);
    qn_ahead_post(a, &last.job);
    qn_ahead_drop(a, &dropped.job);
    qn_ahead_drop(a, &last.job); /* the end of the list moves with it */
    qn_ahead_post(a, &last.job);
    qn_ahead_need(a, &kept.job);
    qn_ahead_need(a, &last.job);
    assert_int_equal(atomic_load(&dropped.n), 0);
    assert_int_equal(atomic_load(&kept.n), 1);
    assert_int_equal(atomic_load(&last.n), 1);
    qn_ahead_free(a);
}

static void the_end_waits_for_what_was_begun(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        counted jobs[4];
        qn_ahead *a = qn_ahead_new(2);

        for (int i = 0; i < 4; i++) {
            jobs[i] = (counted){ .job = { .run = count } };
            qn_ahead_post(a, &jobs[i].job);
        }
        qn_ahead_free(a); /* then the jobs on this stack may go */
        for (int i = 0; i < 4; i++)
            assert_true(atomic_load(&jobs[i].n) <= 1);
    }
    qn_ahead_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_done_once_for_all_who_need_it),
        cmocka_unit_test(without_threads_who_needs_a_job_does_it),
        cmocka_unit_test(a_dropped_job_is_not_begun),
        cmocka_unit_test(the_end_waits_for_what_was_begun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
