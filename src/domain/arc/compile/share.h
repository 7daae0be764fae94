/* share.h - what programs of a batch have in common.
 *
 * A node that depends on the grid I and on constants alone has the same value in every program that
 * runs on that grid. Equal nodes are found exactly, by numbering all of them; the hash is for those
 * who keep values from one batch to the next.
 */
#ifndef QN_ARC_SHARE_H
#define QN_ARC_SHARE_H

#include "compile.h"

typedef struct qn_arc_shared_use {
    int program; /* in the list given */
    int node;    /* of its dag: for options->inputs, or options->part */
} qn_arc_shared_use;

typedef struct qn_arc_shared {
    int op;
    uint64_t hash;
    uint32_t cost;           /* of the node and all it is made from, each counted once */
    uint16_t kinds;          /* QN_ARC_IS_*, what its value can be */
    qn_arc_shared_use *uses; /* one for each program that has it, by program */
    int n_uses;
} qn_arc_shared;

typedef struct qn_arc_sharing {
    /* Nodes of class L, Q or H in two programs or more, operands first. A value in which closures
     * may be belongs to the run that made it, and is left out. */
    qn_arc_shared *items;
    int n;
    int n_nodes, n_distinct; /* operations that depend on I and constants: all, and different */
    qn_arc_shared_use *all_uses;
} qn_arc_sharing;

/* Programs with errors take no part. */
qn_status qn_arc_find_shared(const qn_arc_source *const *programs, int n, qn_arc_sharing *out,
                             qn_err *err);
void qn_arc_sharing_free(qn_arc_sharing *sharing);

#endif
