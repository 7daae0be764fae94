/* attic.h - memory for many small things that are all dropped at the same time. */
#ifndef QN_ARC_ATTIC_H
#define QN_ARC_ATTIC_H

#include <stddef.h>

/* Zeroed is empty. */
typedef struct qn_arc_attic {
    struct qn_arc_attic_block *newest;
    size_t used, room; /* of the newest block */
} qn_arc_attic;

/* Memory of `bytes`, aligned for anything; NULL without memory. */
void *qn_arc_attic_take(qn_arc_attic *attic, size_t bytes);
void qn_arc_attic_drop(qn_arc_attic *attic); /* everything; it can be used again */

#endif
