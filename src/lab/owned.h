/* owned.h - memory, buffers, graphs and other things that are freed together.
 *
 * A bench or a check adds what it makes and frees everything in one call, latest first.
 */
#ifndef QN_LAB_OWNED_H
#define QN_LAB_OWNED_H

#include <quern/graph.h>

#include "util/status.h"

/* A zero-initialised list is empty. */
typedef struct qn_owned {
    struct qn_owned_thing *list;
    size_t n, room;
} qn_owned;

/* `drop` frees `what` later, or at once if memory runs out. */
qn_status qn_owned_add(qn_owned *owned, void *what, void (*drop)(void *what), qn_err *err);

/* Zeroed memory; `out` is the address of a pointer. */
qn_status qn_owned_memory(qn_owned *owned, size_t bytes, void *out, qn_err *err);

qn_status qn_owned_buf(qn_owned *owned, qn_ctx *ctx, const char *name, size_t bytes, qn_buf **out,
                       qn_err *err);
qn_status qn_owned_graph(qn_owned *owned, qn_ctx *ctx, const char *name, qn_graph **out,
                         qn_err *err);

/* Frees all but the first `n`. */
void qn_owned_free(qn_owned *owned, size_t n);

/* Runs a graph once and waits for it. */
qn_status qn_run_graph(qn_graph *graph, qn_err *err);

#endif
