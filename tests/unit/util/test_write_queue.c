/* test_write_queue.c - host work beside a computation: order, bound, failures. */
/* test: tsan */
#include "test.h"

#include "util/write_queue.h"

#include <pthread.h>

enum { ITEMS = 200 };

static struct {
    int order[ITEMS], n_run, n_dropped;
    int fails_at; /* item; -1: none */
    pthread_mutex_t gate;
} seen;

static int ids[ITEMS];

static int begin(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    pthread_mutex_init(&seen.gate, NULL);
    seen.fails_at = -1;
    for (int i = 0; i < ITEMS; i++)
        ids[i] = i;
    return 0;
}

/* Passes only while the gate is open. */
static qn_status note(void *item, qn_err *err)
{
    const int id = *(int *)item;

    pthread_mutex_lock(&seen.gate);
    seen.order[seen.n_run++] = id;
    pthread_mutex_unlock(&seen.gate);
    return id == seen.fails_at ? qn_fail(err, QN_ERR_IO, "item %d is bad", id) : QN_OK;
}

static void count_drop(void *item)
{
    (void)item;
    seen.n_dropped++;
}

static const qn_write_work work = { note, count_drop };

static qn_write_queue *open_queue(int limit)
{
    qn_write_queue *b = NULL;

    assert_int_equal(qn_write_queue_open(limit, &b, NULL), QN_OK);
    return b;
}

static void items_run_in_order_within_the_limit(void **state)
{
    (void)state;
    for (int limit = 0; limit <= 3; limit++) {
        qn_write_queue *b;
        qn_write_queue_stats stats;

        begin(NULL);
        b = open_queue(limit);
        for (int i = 0; i < ITEMS; i++)
            assert_int_equal(qn_write_queue_put(b, &work, &ids[i], NULL), QN_OK);
        assert_int_equal(qn_write_queue_wait(b, ITEMS, NULL), QN_OK);
        stats = qn_write_queue_get_stats(b);
        assert_int_equal(stats.n_put, ITEMS);
        assert_int_equal(stats.n_done, ITEMS);
        assert_true(stats.peak <= limit);
        for (int i = 0; i < ITEMS; i++)
            assert_int_equal(seen.order[i], i);
        qn_write_queue_close(b);
        assert_int_equal(seen.n_dropped, ITEMS);
    }
}

typedef struct putter {
    qn_write_queue *queue;
    int n_put;
} putter;

static void *put_three(void *user)
{
    putter *p = user;

    for (int i = 0; i < 3; i++) {
        qn_write_queue_put(p->queue, &work, &ids[i], NULL);
        __atomic_add_fetch(&p->n_put, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

/* While the first is blocked, one more waits, and the third is not accepted. */
static void putting_too_many_items_waits(void **state)
{
    qn_write_queue *b = open_queue(2);
    putter p = { b, 0 };
    pthread_t thread;

    (void)state;
    pthread_mutex_lock(&seen.gate);
    assert_int_equal(pthread_create(&thread, NULL, put_three, &p), 0);
    while (__atomic_load_n(&p.n_put, __ATOMIC_SEQ_CST) < 2)
        usleep(100);
    usleep(2000);
    assert_int_equal(__atomic_load_n(&p.n_put, __ATOMIC_SEQ_CST), 2);
    assert_int_equal(seen.n_run, 0);
    pthread_mutex_unlock(&seen.gate);
    pthread_join(thread, NULL);
    assert_int_equal(qn_write_queue_wait(b, 3, NULL), QN_OK);
    assert_int_equal(qn_write_queue_get_stats(b).peak, 2);
    assert_int_equal(seen.n_run, 3);
    qn_write_queue_close(b);
}

static void a_failure_is_reported_and_later_items_are_dropped(void **state)
{
    (void)state;
    for (int limit = 0; limit <= 2; limit += 2) {
        qn_err err = { .text = "" };
        qn_write_queue *b;
        qn_status st = QN_OK;
        int n = 0;

        begin(NULL);
        seen.fails_at = 4;
        b = open_queue(limit);
        while (n < 20)
            if (qn_write_queue_put(b, &work, &ids[n++], &err) != QN_OK)
                st = QN_ERR_IO;
        assert_int_equal(st, QN_ERR_IO);
        assert_int_equal(qn_write_queue_wait(b, 20, &err), QN_ERR_IO);
        assert_string_equal(err.text, "item 4 is bad");
        assert_int_equal(qn_write_queue_get_stats(b).n_done, 4);
        qn_write_queue_close(b);
        assert_int_equal(seen.n_run, 5);
        assert_int_equal(seen.n_dropped, 20);
    }
}

static void waiting_items_are_dropped_on_close(void **state)
{
    qn_write_queue *b = open_queue(3);

    (void)state;
    pthread_mutex_lock(&seen.gate);
    for (int i = 0; i < 3; i++)
        qn_write_queue_put(b, &work, &ids[i], NULL);
    pthread_mutex_unlock(&seen.gate);
    qn_write_queue_close(b);
    assert_int_equal(seen.n_dropped, 3);
}

static void impossible_limits_are_refused(void **state)
{
    qn_write_queue *b = NULL;
    qn_err err;

    (void)state;
    assert_int_equal(qn_write_queue_open(QN_WRITE_QUEUE_MAX + 1, &b, &err), QN_ERR_LIMIT);
    assert_int_equal(qn_write_queue_open(-1, &b, &err), QN_ERR_LIMIT);
    assert_null(b);
    qn_write_queue_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_run_in_order_within_the_limit),
        cmocka_unit_test_setup(putting_too_many_items_waits, begin),
        cmocka_unit_test(a_failure_is_reported_and_later_items_are_dropped),
        cmocka_unit_test_setup(waiting_items_are_dropped_on_close, begin),
        cmocka_unit_test(impossible_limits_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
