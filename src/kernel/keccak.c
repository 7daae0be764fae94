/* keccak.c - Keccak-256 (with the padding of 2012, as in Ethereum) of many messages, one per lane.
 *
 * Message number i is the bytes [start[i], start[i + 1]) of `data`, as in sha256.c. The state is 25
 * words in registers; a round is written out so that every index is constant.
 */
#define LANES 64
#include "dialect.h"

CONST_TABLE(u64, KECCAK_ROUND, 24) = {
    0x0000000000000001ul, 0x0000000000008082ul, 0x800000000000808aul, 0x8000000080008000ul,
    0x000000000000808bul, 0x0000000080000001ul, 0x8000000080008081ul, 0x8000000000008009ul,
    0x000000000000008aul, 0x0000000000000088ul, 0x0000000080008009ul, 0x000000008000000aul,
    0x000000008000808bul, 0x800000000000008bul, 0x8000000000008089ul, 0x8000000000008003ul,
    0x8000000000008002ul, 0x8000000000000080ul, 0x000000000000800aul, 0x800000008000000aul,
    0x8000000080008081ul, 0x8000000000008080ul, 0x0000000080000001ul, 0x8000000080008008ul
};

#define ROTL64(x, n) ((x) << (n) | (x) >> (64 - (n)))

/* Four bytes from any address: `low` has the first of them, `high` the rest, and `skip` is 8 times
 * the number of bytes to skip in `low`. */
FN u32 four_bytes(u32 low, u32 high, u32 skip)
{
    return (low >> skip) | ((high << 1) << (31 - skip));
}

/* The word of the padded message, if `left` bytes of the message remain from here on. */
FN u32 padded(u32 word, i32 left)
{
    const u32 bits = left <= 0 ? 0 : left >= 4 ? 24 : (u32)left * 8;
    const u32 part = (word & ((1u << bits) - 1)) | (1u << bits);

    return left >= 4 ? word : left < 0 ? 0 : part;
}

/* Loads the words of a block of each lane, and one more, into `raw`. FROM is a uniform base, OFFSET
 * the lane's distance from it. */
#define RAW_WORD(k, FROM, OFFSET, LAST)                                                            \
    P(raw[k]) = data[(FROM) + (OFFSET + (k) < (LAST) ? OFFSET + (k) : (LAST))];
#define RAW_WORDS(FROM, OFFSET, LAST)                                                              \
    for (i32 k = 0; k < 35; k++)                                                                   \
    EACH_LANE RAW_WORD(k, FROM, OFFSET, LAST)

#define ABSORB(k)                                                                                  \
    low = padded(four_bytes(P(raw[2 * k]), P(raw[2 * k + 1]), P(skip)), P(left) - 8 * k);          \
    high = padded(four_bytes(P(raw[2 * k + 1]), P(raw[2 * k + 2]), P(skip)), P(left) - 8 * k - 4); \
    P(a[k]) ^= (u64)high << 32 | low;

/* Column x: its parity c, and the value that theta adds to it. */
#define PARITY(x)       (P(a[x]) ^ P(a[x + 5]) ^ P(a[x + 10]) ^ P(a[x + 15]) ^ P(a[x + 20]))
#define TURNED(i, d, n) ROTL64(P(a[i]) ^ d, n)

/* Row of chi: a[at] .. a[at + 4] from the five words that rho and pi move there. */
#define ROW(at, e0, e1, e2, e3, e4)                                                                \
    P(a[at]) = e0 ^ (~e1 & e2);                                                                    \
    P(a[at + 1]) = e1 ^ (~e2 & e3);                                                                \
    P(a[at + 2]) = e2 ^ (~e3 & e4);                                                                \
    P(a[at + 3]) = e3 ^ (~e4 & e0);                                                                \
    P(a[at + 4]) = e4 ^ (~e0 & e1);

/* `data` has n_words words, at least 1: the bytes of all messages, padded to a whole word. */
GROUP(keccak256, VAL(i64, n), VAL(i64, n_words), IN(i64, start), IN(u32, data), OUT(u32, hash))
{
    PRIV(u64, a[25]);
    PRIV(u32, raw[35]);
    PRIV(i64, begin);
    PRIV(i64, size);
    PRIV(i64, blocks);
    PRIV(u32, skip);
    PRIV(i32, left);
    const i64 first = (i64)GROUP_X * LANES, end = MIN(first + LANES, n);
    const i64 base = start[first] >> 2;
    const i32 is_near = (start[end] >> 2) - base < (1 << 30); /* as in sha256.c */
    i32 any;

    for (i32 k = 0; k < 25; k++)
        EACH_LANE P(a[k]) = 0;
    EACH_LANE
    {
        const i64 i = MIN(first + LANE, n - 1);

        P(begin) = start[i];
        P(size) = start[i + 1] - start[i];
        P(blocks) = first + LANE < n ? P(size) / 136 + 1 : 0;
        P(skip) = (u32)(P(begin) & 3) * 8;
    }
    for (i64 block = 0;; block++) {
        const i64 at = base + 34 * block;

        if (is_near) {
            const i32 last = (i32)MIN(n_words - 1 - at, (i64)1 << 30);

            RAW_WORDS(at, (i32)((P(begin) >> 2) - base), last)
        } else {
            RAW_WORDS(at, (P(begin) >> 2) - base, n_words - 1 - at)
        }
        EACH_LANE
        {
            const i64 rest = P(size) - 136 * block;

            P(left) = (i32)(rest < -1 ? -1 : rest < 136 ? rest : 136);
        }
        EACH_LANE
        {
            u32 low, high;

            ABSORB(0)
            ABSORB(1)
            ABSORB(2)
            ABSORB(3)
            ABSORB(4)
            ABSORB(5)
            ABSORB(6)
            ABSORB(7)
            ABSORB(8)
            ABSORB(9)
            ABSORB(10)
            ABSORB(11)
            ABSORB(12)
            ABSORB(13)
            ABSORB(14)
            ABSORB(15)
            ABSORB(16)
            P(a[16]) ^= block == P(blocks) - 1 ? 0x8000000000000000ul : 0;
        }
        for (i32 round = 0; round < 24; round++) {
            EACH_LANE
            {
                const u64 c0 = PARITY(0);
                const u64 c1 = PARITY(1);
                const u64 c2 = PARITY(2);
                const u64 c3 = PARITY(3);
                const u64 c4 = PARITY(4);
                const u64 d0 = c4 ^ ROTL64(c1, 1);
                const u64 d1 = c0 ^ ROTL64(c2, 1);
                const u64 d2 = c1 ^ ROTL64(c3, 1);
                const u64 d3 = c2 ^ ROTL64(c4, 1);
                const u64 d4 = c3 ^ ROTL64(c0, 1);
                const u64 b0 = P(a[0]) ^ d0;
                const u64 b1 = TURNED(6, d1, 44);
                const u64 b2 = TURNED(12, d2, 43);
                const u64 b3 = TURNED(18, d3, 21);
                const u64 b4 = TURNED(24, d4, 14);
                const u64 b5 = TURNED(3, d3, 28);
                const u64 b6 = TURNED(9, d4, 20);
                const u64 b7 = TURNED(10, d0, 3);
                const u64 b8 = TURNED(16, d1, 45);
                const u64 b9 = TURNED(22, d2, 61);
                const u64 b10 = TURNED(1, d1, 1);
                const u64 b11 = TURNED(7, d2, 6);
                const u64 b12 = TURNED(13, d3, 25);
                const u64 b13 = TURNED(19, d4, 8);
                const u64 b14 = TURNED(20, d0, 18);
                const u64 b15 = TURNED(4, d4, 27);
                const u64 b16 = TURNED(5, d0, 36);
                const u64 b17 = TURNED(11, d1, 10);
                const u64 b18 = TURNED(17, d2, 15);
                const u64 b19 = TURNED(23, d3, 56);
                const u64 b20 = TURNED(2, d2, 62);
                const u64 b21 = TURNED(8, d3, 55);
                const u64 b22 = TURNED(14, d4, 39);
                const u64 b23 = TURNED(15, d0, 41);
                const u64 b24 = TURNED(21, d1, 2);

                ROW(0, b0, b1, b2, b3, b4)
                ROW(5, b5, b6, b7, b8, b9)
                ROW(10, b10, b11, b12, b13, b14)
                ROW(15, b15, b16, b17, b18, b19)
                ROW(20, b20, b21, b22, b23, b24)
                P(a[0]) ^= KECCAK_ROUND[round];
            }
        }
        ANY_LANE(any) any |= block + 1 < P(blocks);
        EACH_LANE if (block == P(blocks) - 1)
        {
            for (i32 k = 0; k < 4; k++) {
                hash[8 * (first + LANE) + 2 * k] = (u32)P(a[k]);
                hash[8 * (first + LANE) + 2 * k + 1] = (u32)(P(a[k]) >> 32);
            }
        }
        if (!any)
            break;
    }
}
