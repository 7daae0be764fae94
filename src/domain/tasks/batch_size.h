/* batch_size.h - how large batches should be, by the queue that each of them finds.
 *
 * A device that runs dry between batches gets larger ones, by 1.2: less of its time is lost to
 * the host. Where many wait, smaller ones, by 0.8, bring results sooner and need less memory.
 * Looked at every 100 batches, by a smoothed queue. Numbers in, numbers out.
 */
#ifndef QN_TASKS_BATCH_SIZE_H
#define QN_TASKS_BATCH_SIZE_H

#include <quern/quern.h>

enum { QN_BATCHES_PER_LOOK = 100 };

typedef struct qn_batch_size {
    double items;       /* the size in force, before rounding down */
    double least, most; /* its bounds */
    double queue;       /* batches that were not done when the next one came, smoothed */
    int n;              /* since the last look */
} qn_batch_size;

/* One more batch was handed over and found `queued` before it that were not done. */
void qn_batch_size_note(qn_batch_size *size, int queued);

static inline qn_i64 qn_batch_size_get(const qn_batch_size *size)
{
    return (qn_i64)size->items;
}

#endif
