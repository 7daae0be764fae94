/* segment.h - shared accumulation: many items add into few cells, always in the same order.
 *
 * The index sorts items by their cell once, on the host; each use is then three stages of
 * kernel/segment.c at most. Results depend on the index alone: same bits on every device, for
 * any number of threads.
 */
#ifndef QN_ENGINE_SEGMENT_H
#define QN_ENGINE_SEGMENT_H

#include <quern/graph.h>

typedef struct qn_segments qn_segments;

/* Item i belongs to cell target[i], 0 <= target[i] < n_cells; items of a cell keep their order.
 * `target` is not needed afterwards. */
qn_status qn_segments_new(qn_ctx *ctx, const char *name, const int32_t *target, qn_i64 n_items,
                          qn_i64 n_cells, qn_segments **out, qn_err *err);

/* Graphs that use it must be freed before. NULL is fine. */
void qn_segments_free(qn_segments *segments);

/* Adds stages "<name>.short", "<name>.part" and "<name>.join" (the last two only when a cell has
 * more than 32 items): cell[c] = sum of value[i] over the items of c. `value` has n_items
 * floats, `cell` n_cells. */
qn_status qn_segments_sum(qn_segments *segments, qn_graph *graph, const char *name, qn_buf *value,
                          qn_buf *cell, qn_err *err);

#endif
