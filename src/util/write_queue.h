/* write_queue.h - one thread for host work, such as writing files, during a computation.
 *
 * The thread runs items in the order in which they were put. At most `limit` items are waiting or
 * running; putting one more waits. After the first failure the following items are dropped. With a
 * limit of 0 there is no thread: an item runs inside the call that puts it.
 */
#ifndef QN_UTIL_WRITE_QUEUE_H
#define QN_UTIL_WRITE_QUEUE_H

#include "util/status.h"

typedef struct qn_write_queue qn_write_queue;

/* `run` does the work of an item. `drop` frees the item, even if it did not run; may be NULL. */
typedef struct qn_write_work {
    qn_status (*run)(void *item, qn_err *err);
    void (*drop)(void *item);
} qn_write_work;

typedef struct qn_write_queue_stats {
    qn_i64 n_put, n_done; /* n_done excludes failed and dropped items */
    int peak;             /* largest number of items waiting or running at once */
} qn_write_queue_stats;

enum { QN_WRITE_QUEUE_MAX = 8 };

/* `limit` is at most QN_WRITE_QUEUE_MAX. */
qn_status qn_write_queue_open(int limit, qn_write_queue **out, qn_err *err);

/* Takes ownership of `item` even on failure. A returned failure is that of an earlier item, or of
 * this one if the limit is 0. */
qn_status qn_write_queue_put(qn_write_queue *queue, const qn_write_work *work, void *item,
                             qn_err *err);

/* Waits until the first `n` items have run or were dropped; use n_put to wait for all. Returns the
 * first failure of any item so far. */
qn_status qn_write_queue_wait(qn_write_queue *queue, qn_i64 n, qn_err *err);
qn_write_queue_stats qn_write_queue_get_stats(qn_write_queue *queue);

/* Waits for the running item and drops the rest. NULL is fine. */
void qn_write_queue_close(qn_write_queue *queue);

#endif
