/* merkle_nodes.h - shared by the kernels of both tree rules: nodes, levels, the climb to the root.
 *
 * A kernel computes nodes lane by lane into `made` and stores them in a second lane block. Lanes
 * past the end repeat the last node, because a test around the loads would keep the CPU from
 * hashing in vectors.
 *
 * Nodes are stored as their 32 bytes, so that any level can be read back unchanged; swapping the
 * bytes of 24 words is 2 % of the work of a parent.
 */
#ifndef QN_KERNEL_MERKLE_NODES_H
#define QN_KERNEL_MERKLE_NODES_H

#include "merkle.h"
#include "sha256.h"

FN sha_state node_at(GLOBAL const u32 *tree, i64 base, i32 at)
{
    sha_state s;

    s.a = sha_swap(tree[base + at]);
    s.b = sha_swap(tree[base + at + 1]);
    s.c = sha_swap(tree[base + at + 2]);
    s.d = sha_swap(tree[base + at + 3]);
    s.e = sha_swap(tree[base + at + 4]);
    s.f = sha_swap(tree[base + at + 5]);
    s.g = sha_swap(tree[base + at + 6]);
    s.h = sha_swap(tree[base + at + 7]);
    return s;
}

FN sha_block joined(sha_state l, sha_state r)
{
    sha_block m;

    m.w0 = l.a;
    m.w1 = l.b;
    m.w2 = l.c;
    m.w3 = l.d;
    m.w4 = l.e;
    m.w5 = l.f;
    m.w6 = l.g;
    m.w7 = l.h;
    m.w8 = r.a;
    m.w9 = r.b;
    m.w10 = r.c;
    m.w11 = r.d;
    m.w12 = r.e;
    m.w13 = r.f;
    m.w14 = r.g;
    m.w15 = r.h;
    return m;
}

/* a if `first`, else b. */
FN sha_state picked(i32 first, sha_state a, sha_state b)
{
    a.a = first ? a.a : b.a;
    a.b = first ? a.b : b.b;
    a.c = first ? a.c : b.c;
    a.d = first ? a.d : b.d;
    a.e = first ? a.e : b.e;
    a.f = first ? a.f : b.f;
    a.g = first ? a.g : b.g;
    a.h = first ? a.h : b.h;
    return a;
}

/* Number of nodes of a level over n leaves. */
FN i64 level_nodes(i64 n, i32 level)
{
    return (n + ((i64)1 << level) - 1) >> level;
}

#define MADE_PUT(s)                                                                                \
    P(made[0]) = sha_swap(s.a);                                                                    \
    P(made[1]) = sha_swap(s.b);                                                                    \
    P(made[2]) = sha_swap(s.c);                                                                    \
    P(made[3]) = sha_swap(s.d);                                                                    \
    P(made[4]) = sha_swap(s.e);                                                                    \
    P(made[5]) = sha_swap(s.f);                                                                    \
    P(made[6]) = sha_swap(s.g);                                                                    \
    P(made[7]) = sha_swap(s.h);
#define MADE_STORE(to)                                                                             \
    tree[to] = P(made[0]);                                                                         \
    tree[(to) + 1] = P(made[1]);                                                                   \
    tree[(to) + 2] = P(made[2]);                                                                   \
    tree[(to) + 3] = P(made[3]);                                                                   \
    tree[(to) + 4] = P(made[4]);                                                                   \
    tree[(to) + 5] = P(made[5]);                                                                   \
    tree[(to) + 6] = P(made[6]);                                                                   \
    tree[(to) + 7] = P(made[7]);

/* Stores the nodes of this group at tree[to]. NODE computes one from i, which is the lane, or the
 * last node if the lane is past it. */
#define MERKLE_MAKE(count, to, NODE)                                                               \
    EACH_LANE                                                                                      \
    {                                                                                              \
        const i32 i = LANE < (count) ? LANE : (count)-1;                                           \
        const sha_state s = NODE;                                                                  \
                                                                                                   \
        MADE_PUT(s)                                                                                \
    }                                                                                              \
    EACH_LANE if (LANE < (count))                                                                  \
    {                                                                                              \
        MADE_STORE((to) + 8 * LANE)                                                                \
    }

/* The right child of parent i among `n` nodes; the last node is paired with itself. */
#define RIGHT_OF(i, n) (2 * (i) + 1 < (n) ? 2 * (i) + 1 : (n)-1)

#define TOP(word, node) top[(word)*MERKLE_TOP + (node)]
#define TOP_GET(s, node)                                                                           \
    s.a = TOP(0, node);                                                                            \
    s.b = TOP(1, node);                                                                            \
    s.c = TOP(2, node);                                                                            \
    s.d = TOP(3, node);                                                                            \
    s.e = TOP(4, node);                                                                            \
    s.f = TOP(5, node);                                                                            \
    s.g = TOP(6, node);                                                                            \
    s.h = TOP(7, node);

/* Reads level `level` of the tree into `top`, computes the levels above it there in place, and
 * stores each of them. A pass computes LANES parents and writes below the children that later
 * passes of the level read. SHARE is the parent of l and r; i == j marks a node without a
 * sibling. */
#define MERKLE_CLIMB(SHARE)                                                                        \
    const i64 src = 8 * start[(i64)level * n_trees + GROUP_X];                                     \
    i32 n = (i32)level_nodes(from[GROUP_X + 1] - from[GROUP_X], level);                            \
                                                                                                   \
    for (i32 k = 0; k < 8 * n; k += LANES)                                                         \
        EACH_LANE if (k + LANE < 8 * n)                                                            \
        {                                                                                          \
            TOP((k + LANE) & 7, (k + LANE) >> 3) = sha_swap(tree[src + k + LANE]);                 \
        }                                                                                          \
    SYNC;                                                                                          \
    for (i32 above = level + 1; n > 1; above++) {                                                  \
        const i64 dst = 8 * start[(i64)above * n_trees + GROUP_X];                                 \
        const i32 parents = (n + 1) / 2;                                                           \
                                                                                                   \
        for (i32 k = 0; k < parents; k += LANES) {                                                 \
            EACH_LANE                                                                              \
            {                                                                                      \
                const i32 i = 2 * (k + LANE < parents ? k + LANE : parents - 1);                   \
                const i32 j = i + 1 < n ? i + 1 : i;                                               \
                sha_state l, r;                                                                    \
                                                                                                   \
                TOP_GET(l, i)                                                                      \
                TOP_GET(r, j)                                                                      \
                l = SHARE;                                                                         \
                MADE_PUT(l)                                                                        \
            }                                                                                      \
            SYNC;                                                                                  \
            EACH_LANE if (k + LANE < parents)                                                      \
            {                                                                                      \
                MADE_STORE(dst + 8 * (k + LANE))                                                   \
                TOP(0, k + LANE) = sha_swap(P(made[0]));                                           \
                TOP(1, k + LANE) = sha_swap(P(made[1]));                                           \
                TOP(2, k + LANE) = sha_swap(P(made[2]));                                           \
                TOP(3, k + LANE) = sha_swap(P(made[3]));                                           \
                TOP(4, k + LANE) = sha_swap(P(made[4]));                                           \
                TOP(5, k + LANE) = sha_swap(P(made[5]));                                           \
                TOP(6, k + LANE) = sha_swap(P(made[6]));                                           \
                TOP(7, k + LANE) = sha_swap(P(made[7]));                                           \
            }                                                                                      \
            SYNC;                                                                                  \
        }                                                                                          \
        n = parents;                                                                               \
    }                                                                                              \
    EACH_LANE if (LANE < 8) root[8 * (i64)GROUP_X + LANE] = sha_swap(TOP(LANE, 0));

#endif
