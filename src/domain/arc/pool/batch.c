/* batch.c - what a batch holds and what it must upload. */
#include "domain/arc/pool/pool.h"

#include <stdlib.h>

static int by_address(const void *a, const void *b)
{
    const qn_arc_range *const one = a;
    const qn_arc_range *const other = b;

    return (one->at > other->at) - (one->at < other->at);
}

size_t qn_arc_batch_uploads(qn_arc_batch *batch, size_t gap, const qn_arc_range **ranges)
{
    size_t n = 0;

    if (batch->n_uploads > 1)
        qsort(batch->uploads, batch->n_uploads, sizeof *batch->uploads, by_address);
    for (size_t i = 0; i < batch->n_uploads; i++) {
        const qn_arc_range next = batch->uploads[i];
        qn_arc_range *const last = n ? &batch->uploads[n - 1] : NULL;

        if (last && next.at - (last->at + last->bytes) <= gap)
            last->bytes = next.at + next.bytes - last->at;
        else
            batch->uploads[n++] = next;
    }
    batch->n_uploads = n;
    *ranges = batch->uploads;
    return n;
}
