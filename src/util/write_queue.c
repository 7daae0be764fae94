/* write_queue.c - a ring of items and the thread that runs them. */
#include "util/write_queue.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct entry {
    const qn_write_work *work;
    void *item;
} entry;

struct qn_write_queue {
    int limit;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    entry ring[QN_WRITE_QUEUE_MAX];
    qn_i64 n_put, n_taken, n_over; /* over: run or dropped */
    qn_i64 n_done;
    int peak, is_closing;
    qn_status status; /* of the first item that failed */
    qn_err failure;
};

static void drop(const entry *e)
{
    if (e->work->drop)
        e->work->drop(e->item);
}

static qn_status first_failure(const qn_write_queue *q, qn_err *err)
{
    return q->status == QN_OK ? QN_OK : qn_fail(err, q->status, "%s", q->failure.text);
}

/* Runs an item, or only drops it. Called without the lock. */
static void run_item(qn_write_queue *q, const entry *e, int is_dropped)
{
    qn_err err = { .text = "" };
    const qn_status st = is_dropped ? QN_OK : e->work->run(e->item, &err);

    drop(e);
    pthread_mutex_lock(&q->lock);
    q->n_over++;
    q->n_done += !is_dropped && st == QN_OK;
    if (st != QN_OK && q->status == QN_OK) {
        q->status = st;
        q->failure = err;
    }
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void *serve(void *user)
{
    qn_write_queue *q = user;

    pthread_mutex_lock(&q->lock);
    while (!q->is_closing || q->n_taken < q->n_put) {
        if (q->n_taken == q->n_put) {
            pthread_cond_wait(&q->changed, &q->lock);
            continue;
        }
        const entry e = q->ring[q->n_taken++ % QN_WRITE_QUEUE_MAX];
        const int is_dropped = q->is_closing || q->status != QN_OK;

        pthread_mutex_unlock(&q->lock);
        run_item(q, &e, is_dropped);
        pthread_mutex_lock(&q->lock);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

qn_status qn_write_queue_open(int limit, qn_write_queue **out, qn_err *err)
{
    qn_write_queue *q = calloc(1, sizeof *q);

    if (limit < 0 || limit > QN_WRITE_QUEUE_MAX) {
        free(q);
        return qn_fail(err, QN_ERR_LIMIT, "a write queue of %d items; the limit is %d", limit,
                       QN_WRITE_QUEUE_MAX);
    }
    if (!q)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a write queue");
    q->limit = limit;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    if (limit && pthread_create(&q->thread, NULL, serve, q) != 0)
        q->limit = 0; /* slower, with the same results */
    *out = q;
    return QN_OK;
}

qn_status qn_write_queue_put(qn_write_queue *queue, const qn_write_work *work, void *item,
                             qn_err *err)
{
    qn_write_queue *q = queue;
    const entry e = { work, item };
    qn_status st;

    pthread_mutex_lock(&q->lock);
    while (q->limit && q->n_put - q->n_over >= q->limit)
        pthread_cond_wait(&q->changed, &q->lock);
    st = first_failure(q, err);
    q->n_put++;
    if (q->limit) {
        const int n = (int)(q->n_put - q->n_over);

        q->ring[(q->n_put - 1) % QN_WRITE_QUEUE_MAX] = e;
        q->peak = n > q->peak ? n : q->peak;
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->lock);
        return st;
    }
    q->n_taken++;
    pthread_mutex_unlock(&q->lock);
    run_item(q, &e, st != QN_OK);
    return first_failure(q, err);
}

qn_status qn_write_queue_wait(qn_write_queue *queue, qn_i64 n, qn_err *err)
{
    qn_status st;

    pthread_mutex_lock(&queue->lock);
    while (queue->n_over < n && queue->n_over < queue->n_put)
        pthread_cond_wait(&queue->changed, &queue->lock);
    st = first_failure(queue, err);
    pthread_mutex_unlock(&queue->lock);
    return st;
}

qn_write_queue_stats qn_write_queue_get_stats(qn_write_queue *queue)
{
    qn_write_queue_stats stats;

    pthread_mutex_lock(&queue->lock);
    stats = (qn_write_queue_stats){ queue->n_put, queue->n_done, queue->peak };
    pthread_mutex_unlock(&queue->lock);
    return stats;
}

void qn_write_queue_close(qn_write_queue *queue)
{
    if (!queue)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->is_closing = 1;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    if (queue->limit)
        pthread_join(queue->thread, NULL);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}
