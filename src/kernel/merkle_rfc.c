/* merkle_rfc.c - trees over leaves of 32 bytes by the rule of RFC 6962.
 *
 * A leaf's node is SHA-256(0 || leaf), parent = SHA-256(1 || left || right), and the last node of
 * an odd level moves up unchanged. merkle.h describes the memory layout.
 */
#define LANES 64
#include "dialect.h"
#include "merkle_nodes.h"

/* The block shifted by one byte, with the byte `first` in front; the last byte drops out. */
FN sha_block moved(u32 first, sha_block m)
{
    m.w15 = m.w14 << 24 | m.w15 >> 8;
    m.w14 = m.w13 << 24 | m.w14 >> 8;
    m.w13 = m.w12 << 24 | m.w13 >> 8;
    m.w12 = m.w11 << 24 | m.w12 >> 8;
    m.w11 = m.w10 << 24 | m.w11 >> 8;
    m.w10 = m.w9 << 24 | m.w10 >> 8;
    m.w9 = m.w8 << 24 | m.w9 >> 8;
    m.w8 = m.w7 << 24 | m.w8 >> 8;
    m.w7 = m.w6 << 24 | m.w7 >> 8;
    m.w6 = m.w5 << 24 | m.w6 >> 8;
    m.w5 = m.w4 << 24 | m.w5 >> 8;
    m.w4 = m.w3 << 24 | m.w4 >> 8;
    m.w3 = m.w2 << 24 | m.w3 >> 8;
    m.w2 = m.w1 << 24 | m.w2 >> 8;
    m.w1 = m.w0 << 24 | m.w1 >> 8;
    m.w0 = first << 24 | m.w0 >> 8;
    return m;
}

/* A block of eight words, zeros, and the length in bits. */
FN sha_block closing(sha_state x, u32 w8, u32 bits)
{
    sha_state none;

    none.a = w8;
    none.b = none.c = none.d = none.e = none.f = none.g = 0;
    none.h = bits;
    return joined(x, none);
}

FN sha_state parent_rfc(sha_state l, sha_state r)
{
    sha_state rest;

    rest.a = r.h << 24 | 0x00800000u;
    rest.b = rest.c = rest.d = rest.e = rest.f = rest.g = rest.h = 0;
    return sha_next(sha_next(sha_start(), moved(1, joined(l, r))), closing(rest, 0, 65 * 8));
}

FN sha_state leaf_rfc(sha_state x)
{
    sha_block m = moved(0, closing(x, 0x80000000u, 0));

    m.w15 = 33 * 8;
    return sha_next(sha_start(), m);
}

/* Leaves to level 0, RFC 6962. */
GROUP(merkle_leaf_rfc, IN(i64, from), IN(i64, start), IN(u32, leaf), INOUT(u32, tree))
{
    PRIV(u32, made[8]);
    const i64 first = (i64)GROUP_X * LANES;
    const i64 src = 8 * (from[GROUP_Y] + first), dst = 8 * (start[GROUP_Y] + first);
    const i32 n = (i32)MIN(from[GROUP_Y + 1] - from[GROUP_Y] - first, LANES);

    if (n > 0) {
        MERKLE_MAKE(n, dst, leaf_rfc(node_at(leaf, src, 8 * i)))
    }
}

/* Level to level + 1, RFC 6962. */
GROUP(merkle_level_rfc, VAL(i32, level), VAL(i32, n_trees), IN(i64, from), IN(i64, start),
      INOUT(u32, tree))
{
    PRIV(u32, made[8]);
    const i64 first = (i64)GROUP_X * LANES;
    const i64 nodes = level_nodes(from[GROUP_Y + 1] - from[GROUP_Y], level);
    const i64 src = 8 * (start[(i64)level * n_trees + GROUP_Y] + 2 * first);
    const i64 dst = 8 * (start[(i64)(level + 1) * n_trees + GROUP_Y] + first);
    const i32 n = (i32)MIN(nodes - 2 * first, 2 * LANES);

    if (n > 0 && nodes > 1) {
        MERKLE_MAKE(
            (n + 1) / 2, dst,
            picked(2 * i + 1 == n, node_at(tree, src, 16 * i),
                   parent_rfc(node_at(tree, src, 16 * i), node_at(tree, src, 8 * RIGHT_OF(i, n)))))
    }
}

/* merkle_top for RFC 6962. */
GROUP(merkle_top_rfc, VAL(i32, level), VAL(i32, n_trees), IN(i64, from), IN(i64, start),
      INOUT(u32, tree), OUT(u32, root))
{
    LOCAL(u32, top, 8 * MERKLE_TOP);
    PRIV(u32, made[8]);

    MERKLE_CLIMB(picked(i == j, l, parent_rfc(l, r)))
}
