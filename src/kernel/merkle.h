/* merkle.h - the memory layout of trees, for the kernels and their callers.
 *
 * Tree number t of a batch has the leaves [from[t], from[t + 1]) of 32 bytes each. A level of a
 * tree over n leaves has ceil(n / 2^level) nodes, the highest is the root; its first node in `tree`
 * is start[level * n_trees + t]. With the plain rule level 0 is the leaves themselves and need not
 * be in `tree`, and a tree of one leaf has a level 1, which is the leaf.
 *
 * One launch computes one level of all trees (x: parents / MERKLE_LANES, y: trees; lanes past the
 * end of a smaller tree do nothing). When no tree has more than MERKLE_TOP nodes left, one launch
 * of merkle_top (x: trees) computes the rest in local memory, since launches cost more than hashing
 * so little.
 */
#ifndef QN_KERNEL_MERKLE_H
#define QN_KERNEL_MERKLE_H

#include "kernel/types.h"

#define MERKLE_TOP   512 /* nodes that merkle_top can start from */
#define MERKLE_LANES 64  /* nodes that a group of the other kernels computes */

#ifndef QN_DIALECT_H
/* Lays out the levels first .. n_levels - 1 of all trees (first: 1 plain, 0 for RFC 6962), tree
 * after tree, root last. Levels above a root refer to the root. Returns the number of nodes in
 * `tree`. */
static inline i64 merkle_layout(const i64 *from, i32 n_trees, i32 first, i32 n_levels, i64 *start)
{
    i64 at = 0;

    for (i32 t = 0; t < n_trees; t++) {
        i64 n = from[t + 1] - from[t];

        start[t] = 0;
        if (first > 0)
            n = (n + 1) / 2;
        for (i32 level = first; level < n_levels; level++) {
            start[(i64)level * n_trees + t] = at;
            if (n > 1) {
                at += n;
                n = (n + 1) / 2;
            }
        }
        at++;
    }
    return at;
}
#endif

#endif
