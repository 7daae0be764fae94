/* batch_size.c - grow by 1.2, shrink by 0.8. */
#include "batch_size.h"

#include <math.h>

/* One batch that waits while another is computed is enough, and more than two are too many. */
static const double low_water = 0.5, high_water = 2, grow = 1.2, shrink = 0.8, smoothing = 0.1;

void qn_batch_size_note(qn_batch_size *size, int queued)
{
    size->queue += smoothing * (queued - size->queue);
    if (++size->n < QN_BATCHES_PER_LOOK)
        return;
    size->n = 0;
    if (size->queue < low_water)
        size->items = fmin(size->items * grow, size->most);
    else if (size->queue > high_water)
        size->items = fmax(size->items * shrink, size->least);
}
