/* philox.h - counter-based random numbers: Philox4x32 with 10 rounds, in kernels and on the host.
 *
 * A number depends only on (counter, key), so cells and modes can be drawn in any order on any
 * device. Only integers are used, so every backend gives the same bits.
 */
#ifndef QN_KERNEL_PHILOX_H
#define QN_KERNEL_PHILOX_H

#include "kernel/types.h"

#ifdef QN_DIALECT_H
#define PHILOX_FN FN
#else
#define PHILOX_FN static inline
#endif

/* Third word of the counter: the purpose of the numbers. */
#define PHILOX_GRID     0
#define PHILOX_SPECTRAL 1
#define PHILOX_PHASE    2
#define PHILOX_RING     3

typedef struct {
    u32 a, b, c, d;
} philox_words;

#define PHILOX_ROUND                                                                               \
    {                                                                                              \
        const u64 p = (u64)0xD2511F53u * w.a, q = (u64)0xCD9E8D57u * w.c;                          \
                                                                                                   \
        w.a = (u32)(q >> 32) ^ w.b ^ k0;                                                           \
        w.b = (u32)q;                                                                              \
        w.c = (u32)(p >> 32) ^ w.d ^ k1;                                                           \
        w.d = (u32)p;                                                                              \
        k0 += 0x9E3779B9u;                                                                         \
        k1 += 0xBB67AE85u;                                                                         \
    }

PHILOX_FN philox_words philox(philox_words w, u32 k0, u32 k1)
{
    /* Written out, since a loop would prevent vectorisation on the CPU. */
    PHILOX_ROUND
    PHILOX_ROUND
    PHILOX_ROUND
    PHILOX_ROUND
    PHILOX_ROUND
    PHILOX_ROUND
    PHILOX_ROUND
    PHILOX_ROUND
    PHILOX_ROUND
    PHILOX_ROUND
    return w;
}

/* The four words for counter (x, y, stream, draw); the key is the seed, low word first. */
PHILOX_FN philox_words philox_at(i32 x, i32 y, u32 stream, u32 draw, u64 seed)
{
    philox_words w;

    w.a = (u32)x;
    w.b = (u32)y;
    w.c = stream;
    w.d = draw;
    return philox(w, (u32)seed, (u32)(seed >> 32));
}

/* Nearly normal: the sum of the eight 16-bit halves minus its mean, in [-262140, 262140] with
 * variance 8 (2^32 - 1) / 12. */
PHILOX_FN i32 philox_gauss(philox_words w)
{
    const u32 low = (w.a & 0xffffu) + (w.b & 0xffffu) + (w.c & 0xffffu) + (w.d & 0xffffu);
    const u32 high = (w.a >> 16) + (w.b >> 16) + (w.c >> 16) + (w.d >> 16);

    return (i32)(low + high) - 262140;
}

#endif
