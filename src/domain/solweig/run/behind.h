/* behind.h - host work that is done in order behind a computation, by one thread.
 *
 * Items are done one after the other in the order in which they were put. Never more than `limit`
 * are waiting or being done: who puts one more waits. The first failure is kept; items behind it
 * are dropped. With a limit of 0 there is no thread, and an item is done when it is put.
 */
#ifndef QN_SW_RUN_BEHIND_H
#define QN_SW_RUN_BEHIND_H

#include "util/status.h"

typedef struct qn_sw_behind qn_sw_behind;

/* `run` does an item; `drop` frees it, after it was done or instead. `drop` may be NULL. */
typedef struct qn_sw_behind_work {
    qn_status (*run)(void *item, qn_err *err);
    void (*drop)(void *item);
} qn_sw_behind_work;

typedef struct qn_sw_behind_stats {
    qn_i64 n_put, n_done; /* n_done does not count what was dropped */
    int peak;             /* items that were waiting or being done at once */
} qn_sw_behind_stats;

enum { QN_SW_BEHIND_MAX = 8 };

/* `limit` is at most QN_SW_BEHIND_MAX. */
qn_status qn_sw_behind_open(int limit, qn_sw_behind **out, qn_err *err);

/* Takes `item` over, whatever it returns: a failure is that of an earlier item, or with a limit of
 * 0 of this one. */
qn_status qn_sw_behind_put(qn_sw_behind *behind, const qn_sw_behind_work *work, void *item,
                           qn_err *err);

/* Waits until the first `n` items that were put are done or dropped; all of them: n_put. */
qn_status qn_sw_behind_wait(qn_sw_behind *behind, qn_i64 n, qn_err *err);
qn_sw_behind_stats qn_sw_behind_get_stats(qn_sw_behind *behind);

/* Ends after the item that is being done; those behind it are dropped. NULL is fine. */
void qn_sw_behind_close(qn_sw_behind *behind);

#endif
