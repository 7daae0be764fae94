/* passes.h - what is done to the nodes of a program before it becomes instructions.
 *
 * Each pass leaves outputs, records and failures as they were. A node that is not wanted any more
 * stays in the list and is not alive.
 */
#ifndef QN_ARC_PASSES_H
#define QN_ARC_PASSES_H

#include "compile.h"
#include "kinds.h"

/* A program being compiled: its own copy of the nodes. */
typedef struct qn_arc_draft {
    qn_arc_dag dag;      /* records are the source's */
    qn_arc_kinds *kinds; /* of each node */
    char *is_alive;      /* will become an instruction, or is needed by one */
    int *same;           /* of each node: the equal one that stands for it */
} qn_arc_draft;

/* Calls of functions whose parts are known become operations. */
qn_status qn_arc_inline(qn_arc_draft *work, qn_err *err);

/* Equal operations on equal operands become one. Closures are equal only to themselves, so a
 * node that makes some is left alone unless nothing can look at them but by calling them. */
qn_status qn_arc_merge(qn_arc_draft *work, qn_err *err);

/* Pairs of operations into one that does the same. Needs kinds. */
qn_status qn_arc_fuse(qn_arc_draft *work, unsigned off, qn_err *err);

typedef enum {
    QN_ARC_KEEP_ALL,
    QN_ARC_KEEP_FAILING, /* what has an effect, and what may fail: that would end the program */
    QN_ARC_KEEP_USED     /* what outputs and records need */
} qn_arc_keep;

void qn_arc_mark_alive(qn_arc_draft *work, qn_arc_keep keep);

/* Instructions, constants and header, into out->bytes. */
qn_status qn_arc_emit(const qn_arc_draft *work, const qn_arc_source *source, qn_arc_code *out,
                      qn_err *err);

#endif
