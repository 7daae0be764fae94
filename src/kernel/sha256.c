/* sha256.c - SHA-256 (FIPS 180-4) of many messages, one per lane.
 *
 * Message number i is the bytes [start[i], start[i + 1]) of `data`. Lanes go through their blocks
 * together until the longest message has ended, so the CPU hashes as many messages at once as a
 * vector has lanes. Padding is computed on the fly; nothing is copied.
 */
#define LANES 64
#include "dialect.h"
#include "sha256.h"

/* Four bytes from any address, first byte highest: `low` has the first of them, `high` the rest,
 * and `skip` is 8 times the number of bytes to skip in `low`. */
FN u32 four_bytes(u32 low, u32 high, u32 skip)
{
    return sha_swap((low >> skip) | ((high << 1) << (31 - skip)));
}

/* The word of the padded message, if `left` bytes of the message remain from here on. */
FN u32 padded(u32 word, i32 left)
{
    const u32 bits = left <= 0 ? 0 : left >= 4 ? 24 : (u32)left * 8;
    const u32 part = (word & ~(0xffffffffu >> bits)) | (0x80000000u >> bits);

    return left >= 4 ? word : left < 0 ? 0 : part;
}

/* Loads words at..at + 16 of each lane into `raw`. FROM is a uniform base, OFFSET the lane's
 * distance. */
#define RAW_WORD(k, FROM, OFFSET, LAST)                                                            \
    P(raw[k]) = data[(FROM) + (OFFSET + (k) < (LAST) ? OFFSET + (k) : (LAST))];
#define RAW_WORDS(FROM, OFFSET, LAST)                                                              \
    EACH_LANE                                                                                      \
    {                                                                                              \
        RAW_WORD(0, FROM, OFFSET, LAST)                                                            \
        RAW_WORD(1, FROM, OFFSET, LAST)                                                            \
        RAW_WORD(2, FROM, OFFSET, LAST)                                                            \
        RAW_WORD(3, FROM, OFFSET, LAST)                                                            \
        RAW_WORD(4, FROM, OFFSET, LAST)                                                            \
        RAW_WORD(5, FROM, OFFSET, LAST)                                                            \
        RAW_WORD(6, FROM, OFFSET, LAST)                                                            \
        RAW_WORD(7, FROM, OFFSET, LAST)                                                            \
        RAW_WORD(8, FROM, OFFSET, LAST)                                                            \
        RAW_WORD(9, FROM, OFFSET, LAST)                                                            \
        RAW_WORD(10, FROM, OFFSET, LAST)                                                           \
        RAW_WORD(11, FROM, OFFSET, LAST)                                                           \
        RAW_WORD(12, FROM, OFFSET, LAST)                                                           \
        RAW_WORD(13, FROM, OFFSET, LAST)                                                           \
        RAW_WORD(14, FROM, OFFSET, LAST)                                                           \
        RAW_WORD(15, FROM, OFFSET, LAST)                                                           \
        RAW_WORD(16, FROM, OFFSET, LAST)                                                           \
    }
#define MESSAGE_WORD(k)                                                                            \
    m.w##k = padded(four_bytes(P(raw[k]), P(raw[k + 1]), P(skip)), P(left) - 4 * k);

/* `data` has n_words words, at least 1: the bytes of all messages, padded to a whole word. */
GROUP(sha256, VAL(i64, n), VAL(i64, n_words), IN(i64, start), IN(u32, data), OUT(u32, hash))
{
    PRIV(u32, s[8]);
    PRIV(u32, raw[17]);
    PRIV(i64, begin);
    PRIV(i64, size);
    PRIV(i64, blocks);
    PRIV(u32, bits[2]); /* length of the message */
    PRIV(u32, skip);
    PRIV(i32, left);
    PRIV(i32, is_last);
    const i64 first = (i64)GROUP_X * LANES, end = MIN(first + LANES, n);
    const i64 base = start[first] >> 2;
    /* The CPU gathers with 32-bit distances; with 64-bit ones it is six times slower. */
    const i32 is_near = (start[end] >> 2) - base < (1 << 30);
    i32 any;

    EACH_LANE
    {
        const i64 i = MIN(first + LANE, n - 1);
        const sha_state s0 = sha_start();

        P(begin) = start[i];
        P(size) = start[i + 1] - start[i];
        P(blocks) = first + LANE < n ? (P(size) + 8) / 64 + 1 : 0;
        P(bits[0]) = (u32)(P(size) >> 29);
        P(bits[1]) = (u32)(P(size) << 3);
        P(skip) = (u32)(P(begin) & 3) * 8;
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
        const i64 at = base + 16 * block;

        if (is_near) {
            const i32 last = (i32)MIN(n_words - 1 - at, (i64)1 << 30);

            RAW_WORDS(at, (i32)((P(begin) >> 2) - base), last)
        } else {
            RAW_WORDS(at, (P(begin) >> 2) - base, n_words - 1 - at)
        }
        /* Separate from the rounds, since vectors of 64-bit numbers have half as many lanes. */
        EACH_LANE
        {
            const i64 rest = P(size) - 64 * block;

            P(left) = (i32)(rest < -1 ? -1 : rest < 64 ? rest : 64);
            P(is_last) = block == P(blocks) - 1;
        }
        EACH_LANE
        {
            sha_state s0;
            sha_block m;

            MESSAGE_WORD(0)
            MESSAGE_WORD(1)
            MESSAGE_WORD(2)
            MESSAGE_WORD(3)
            MESSAGE_WORD(4)
            MESSAGE_WORD(5)
            MESSAGE_WORD(6)
            MESSAGE_WORD(7)
            MESSAGE_WORD(8)
            MESSAGE_WORD(9)
            MESSAGE_WORD(10)
            MESSAGE_WORD(11)
            MESSAGE_WORD(12)
            MESSAGE_WORD(13)
            MESSAGE_WORD(14)
            MESSAGE_WORD(15)
            m.w14 = P(is_last) ? P(bits[0]) : m.w14;
            m.w15 = P(is_last) ? P(bits[1]) : m.w15;
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
        ANY_LANE(any) any |= block + 1 < P(blocks);
        /* A lane that is done continues with the others; its results are ignored. */
        EACH_LANE if (P(is_last))
        {
            hash[8 * (first + LANE)] = sha_swap(P(s[0]));
            hash[8 * (first + LANE) + 1] = sha_swap(P(s[1]));
            hash[8 * (first + LANE) + 2] = sha_swap(P(s[2]));
            hash[8 * (first + LANE) + 3] = sha_swap(P(s[3]));
            hash[8 * (first + LANE) + 4] = sha_swap(P(s[4]));
            hash[8 * (first + LANE) + 5] = sha_swap(P(s[5]));
            hash[8 * (first + LANE) + 6] = sha_swap(P(s[6]));
            hash[8 * (first + LANE) + 7] = sha_swap(P(s[7]));
        }
        if (!any)
            break;
    }
}
