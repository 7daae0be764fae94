/* merkle.c - trees over leaves of 32 bytes: parent = SHA-256(left || right).
 *
 * The last node of an odd level is paired with itself, leaves are used as nodes unchanged, and a
 * single leaf is the root. merkle.h describes the memory layout.
 */
#define LANES 64
#include "dialect.h"
#include "merkle_nodes.h"

/* K plus the schedule of the second block of every 64-byte message: padding only. */
CONST_TABLE(u32, SHA_PAD64,
            64) = { 0xc28a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u,
                    0x923f82a4u, 0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u,
                    0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf374u, 0x649b69c1u, 0xf0fe4786u,
                    0x0fe1edc6u, 0x240cf254u, 0x4fe9346fu, 0x6cc984beu, 0x61b9411eu, 0x16f988fau,
                    0xf2c65152u, 0xa88e5a6du, 0xb019fc65u, 0xb9d99ec7u, 0x9a1231c3u, 0xe70eeaa0u,
                    0xfdb1232bu, 0xc7353eb0u, 0x3069bad5u, 0xcb976d5fu, 0x5a0f118fu, 0xdc1eeefdu,
                    0x0a35b689u, 0xde0b7a04u, 0x58f4ca9du, 0xe15d5b16u, 0x007f3e86u, 0x37088980u,
                    0xa507ea32u, 0x6fab9537u, 0x17406110u, 0x0d8cd6f1u, 0xcdaa3b6du, 0xc0bbbe37u,
                    0x83613bdau, 0xdb48a363u, 0x0b02e931u, 0x6fd15ca7u, 0x521afacau, 0x31338431u,
                    0x6ed41a95u, 0x6d437890u, 0xc39c91f2u, 0x9eccabbdu, 0xb5c9a0e6u, 0x532fb63cu,
                    0xd2c741c6u, 0x07237ea3u, 0xa4954b68u, 0x4c191d76u };
#define SHA_PADDING(t, i, w, w1, w9, w14) SHA_PAD64[(t) + (i)]

/* SHA-256 of exactly 64 bytes: the second block needs no message schedule. */
FN sha_state sha_of_64(sha_block m)
{
    const sha_state s = sha_next(sha_start(), m);
    u32 a = s.a, b = s.b, c = s.c, d = s.d, e = s.e, f = s.f, g = s.g, h = s.h;

    SHA_ROUNDS(0, SHA_PADDING)
    SHA_ROUNDS(16, SHA_PADDING)
    SHA_ROUNDS(32, SHA_PADDING)
    SHA_ROUNDS(48, SHA_PADDING)
    return sha_added(s, a, b, c, d, e, f, g, h);
}

FN sha_state parent_plain(sha_state l, sha_state r)
{
    return sha_of_64(joined(l, r));
}

/* Leaves to level 1, plain rule. A single leaf is the root. */
GROUP(merkle_first, VAL(i32, n_trees), IN(i64, from), IN(i64, start), IN(u32, leaf),
      INOUT(u32, tree))
{
    PRIV(u32, made[8]);
    const i64 first = (i64)GROUP_X * LANES, leaves = from[GROUP_Y + 1] - from[GROUP_Y];
    const i64 src = 8 * (from[GROUP_Y] + 2 * first);
    const i64 dst = 8 * (start[n_trees + GROUP_Y] + first);
    const i32 n = (i32)MIN(leaves - 2 * first, 2 * LANES);

    if (n > 0) {
        MERKLE_MAKE((n + 1) / 2, dst,
                    picked(leaves == 1, node_at(leaf, src, 0),
                           parent_plain(node_at(leaf, src, 16 * i),
                                        node_at(leaf, src, 8 * RIGHT_OF(i, n)))))
    }
}

/* Level to level + 1, plain rule. */
GROUP(merkle_level, VAL(i32, level), VAL(i32, n_trees), IN(i64, from), IN(i64, start),
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
            parent_plain(node_at(tree, src, 16 * i), node_at(tree, src, 8 * RIGHT_OF(i, n))))
    }
}

/* `root` gets 8 words per tree. */
GROUP(merkle_top, VAL(i32, level), VAL(i32, n_trees), IN(i64, from), IN(i64, start),
      INOUT(u32, tree), OUT(u32, root))
{
    LOCAL(u32, top, 8 * MERKLE_TOP);
    PRIV(u32, made[8]);

    MERKLE_CLIMB(parent_plain(l, r))
}
