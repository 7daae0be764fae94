/* sha256.c - SHA-256 (FIPS 180-4) of many messages, one per lane.
 *
 * Message number i is the bytes [start[i], start[i + 1]) of `data`. Lanes march through their
 * blocks together, so the CPU hashes as many messages at once as a vector has lanes; a lane
 * whose message has ended keeps its state. Padding is made on the fly: nothing is copied.
 */
#define LANES 64
#include "dialect.h"
#include "sha256.h"

/* Four bytes from any address, first byte highest: `low` holds the first of them, `high` the
 * rest, and `skip` is 8 times the bytes of `low` in front. */
FN u32 four_bytes(u32 low, u32 high, u32 skip)
{
    return sha_swap((low >> skip) | ((high << 1) << (31 - skip)));
}

/* The word as the padded message has it when `left` bytes of the message begin here. */
FN u32 padded(u32 word, i64 left)
{
    const u32 bits = left <= 0 ? 0 : left >= 4 ? 24 : (u32)left * 8;
    const u32 part = (word & ~(0xffffffffu >> bits)) | (0x80000000u >> bits);

    return left >= 4 ? word : left < 0 ? 0 : part;
}

#define WORD_AT(k) data[at + (k) < n_words ? at + (k) : n_words - 1]
#define MESSAGE_WORD(k, low, high)                                                                 \
    const u32 high = WORD_AT(k + 1);                                                               \
    m.w##k = padded(four_bytes(low, high, skip), left - 4 * k);

/* `data` has n_words words: the bytes of all messages, filled up to a whole word, at least 1. */
GROUP(sha256, VAL(i64, n), VAL(i64, n_words), IN(i64, start), IN(u32, data), OUT(u32, hash))
{
    PRIV(u32, s[8]);
    PRIV(i64, begin);
    PRIV(i64, size);
    PRIV(i64, blocks);
    i32 any;

    EACH_LANE
    {
        const i64 i = (i64)GROUP_X * LANES + LANE;
        const sha_state s0 = sha_start();

        P(begin) = i < n ? start[i] : 0;
        P(size) = i < n ? start[i + 1] - start[i] : 0;
        P(blocks) = i < n ? (P(size) + 8) / 64 + 1 : 0;
        P(s[0]) = s0.a;
        P(s[1]) = s0.b;
        P(s[2]) = s0.c;
        P(s[3]) = s0.d;
        P(s[4]) = s0.e;
        P(s[5]) = s0.f;
        P(s[6]) = s0.g;
        P(s[7]) = s0.h;
    }
    for (i64 block = 0;; block++) {
        ANY_LANE(any)
        {
            const i64 left = P(size) - 64 * block;
            const i64 at = (P(begin) + 64 * block) >> 2;
            const u32 skip = (u32)(P(begin) & 3) * 8;
            sha_state s0;
            sha_block m;

            if (block < P(blocks)) {
                const u32 x0 = WORD_AT(0);
                MESSAGE_WORD(0, x0, x1)
                MESSAGE_WORD(1, x1, x2)
                MESSAGE_WORD(2, x2, x3)
                MESSAGE_WORD(3, x3, x4)
                MESSAGE_WORD(4, x4, x5)
                MESSAGE_WORD(5, x5, x6)
                MESSAGE_WORD(6, x6, x7)
                MESSAGE_WORD(7, x7, x8)
                MESSAGE_WORD(8, x8, x9)
                MESSAGE_WORD(9, x9, x10)
                MESSAGE_WORD(10, x10, x11)
                MESSAGE_WORD(11, x11, x12)
                MESSAGE_WORD(12, x12, x13)
                MESSAGE_WORD(13, x13, x14)
                MESSAGE_WORD(14, x14, x15)
                MESSAGE_WORD(15, x15, x16)
                m.w14 = block == P(blocks) - 1 ? (u32)(P(size) >> 29) : m.w14;
                m.w15 = block == P(blocks) - 1 ? (u32)(P(size) << 3) : m.w15;
                s0.a = P(s[0]);
                s0.b = P(s[1]);
                s0.c = P(s[2]);
                s0.d = P(s[3]);
                s0.e = P(s[4]);
                s0.f = P(s[5]);
                s0.g = P(s[6]);
                s0.h = P(s[7]);
                s0 = sha_next(s0, m);
                P(s[0]) = s0.a;
                P(s[1]) = s0.b;
                P(s[2]) = s0.c;
                P(s[3]) = s0.d;
                P(s[4]) = s0.e;
                P(s[5]) = s0.f;
                P(s[6]) = s0.g;
                P(s[7]) = s0.h;
            }
            any |= block + 1 < P(blocks);
        }
        if (!any)
            break;
    }
    EACH_LANE
    {
        const i64 i = (i64)GROUP_X * LANES + LANE;

        if (i < n) {
            hash[8 * i] = sha_swap(P(s[0]));
            hash[8 * i + 1] = sha_swap(P(s[1]));
            hash[8 * i + 2] = sha_swap(P(s[2]));
            hash[8 * i + 3] = sha_swap(P(s[3]));
            hash[8 * i + 4] = sha_swap(P(s[4]));
            hash[8 * i + 5] = sha_swap(P(s[5]));
            hash[8 * i + 6] = sha_swap(P(s[6]));
            hash[8 * i + 7] = sha_swap(P(s[7]));
        }
    }
}
