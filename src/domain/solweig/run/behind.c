/* behind.c - a ring of items and the thread that takes them. */
#include "behind.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct entry {
    const qn_sw_behind_work *work;
    void *item;
} entry;

struct qn_sw_behind {
    int limit;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    entry ring[QN_SW_BEHIND_MAX];
    qn_i64 n_put, n_taken, n_over; /* over: done or dropped */
    qn_i64 n_done;
    int peak, is_closing;
    qn_status status; /* of the first failure */
    qn_err failure;
};

static void drop(const entry *e)
{
    if (e->work->drop)
        e->work->drop(e->item);
}

static qn_status told(const qn_sw_behind *b, qn_err *err)
{
    return b->status == QN_OK ? QN_OK : qn_fail(err, b->status, "%s", b->failure.text);
}

/* Does an item, unless one before it failed; the lock is not held. */
static void take(qn_sw_behind *b, const entry *e, int is_dropped)
{
    qn_err err = { .text = "" };
    const qn_status st = is_dropped ? QN_OK : e->work->run(e->item, &err);

    drop(e);
    pthread_mutex_lock(&b->lock);
    b->n_over++;
    b->n_done += !is_dropped && st == QN_OK;
    if (st != QN_OK && b->status == QN_OK) {
        b->status = st;
        b->failure = err;
    }
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static void *serve(void *user)
{
    qn_sw_behind *b = user;

    pthread_mutex_lock(&b->lock);
    while (!b->is_closing || b->n_taken < b->n_put) {
        if (b->n_taken == b->n_put) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        const entry e = b->ring[b->n_taken++ % QN_SW_BEHIND_MAX];
        const int is_dropped = b->is_closing || b->status != QN_OK;

        pthread_mutex_unlock(&b->lock);
        take(b, &e, is_dropped);
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

qn_status qn_sw_behind_open(int limit, qn_sw_behind **out, qn_err *err)
{
    qn_sw_behind *b = calloc(1, sizeof *b);

    if (limit < 0 || limit > QN_SW_BEHIND_MAX) {
        free(b);
        return qn_fail(err, QN_ERR_LIMIT, "%d items behind a computation; the limit is %d", limit,
                       QN_SW_BEHIND_MAX);
    }
    if (!b)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for work behind a computation");
    b->limit = limit;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    if (limit && pthread_create(&b->thread, NULL, serve, b) != 0)
        b->limit = 0; /* slower, but the same */
    *out = b;
    return QN_OK;
}

qn_status qn_sw_behind_put(qn_sw_behind *behind, const qn_sw_behind_work *work, void *item,
                           qn_err *err)
{
    qn_sw_behind *b = behind;
    const entry e = { work, item };
    qn_status st;

    pthread_mutex_lock(&b->lock);
    while (b->limit && b->n_put - b->n_over >= b->limit)
        pthread_cond_wait(&b->changed, &b->lock);
    st = told(b, err);
    b->n_put++;
    if (b->limit) {
        const int n = (int)(b->n_put - b->n_over);

        b->ring[(b->n_put - 1) % QN_SW_BEHIND_MAX] = e;
        b->peak = n > b->peak ? n : b->peak;
        pthread_cond_broadcast(&b->changed);
        pthread_mutex_unlock(&b->lock);
        return st;
    }
    b->n_taken++;
    pthread_mutex_unlock(&b->lock);
    take(b, &e, st != QN_OK);
    return told(b, err);
}

qn_status qn_sw_behind_wait(qn_sw_behind *behind, qn_i64 n, qn_err *err)
{
    qn_status st;

    pthread_mutex_lock(&behind->lock);
    while (behind->n_over < n && behind->n_over < behind->n_put)
        pthread_cond_wait(&behind->changed, &behind->lock);
    st = told(behind, err);
    pthread_mutex_unlock(&behind->lock);
    return st;
}

qn_sw_behind_stats qn_sw_behind_get_stats(qn_sw_behind *behind)
{
    qn_sw_behind_stats stats;

    pthread_mutex_lock(&behind->lock);
    stats = (qn_sw_behind_stats){ behind->n_put, behind->n_done, behind->peak };
    pthread_mutex_unlock(&behind->lock);
    return stats;
}

void qn_sw_behind_close(qn_sw_behind *behind)
{
    if (!behind)
        return;
    pthread_mutex_lock(&behind->lock);
    behind->is_closing = 1;
    pthread_cond_broadcast(&behind->changed);
    pthread_mutex_unlock(&behind->lock);
    if (behind->limit)
        pthread_join(behind->thread, NULL);
    pthread_cond_destroy(&behind->changed);
    pthread_mutex_destroy(&behind->lock);
    free(behind);
}
