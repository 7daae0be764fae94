/* sha256.h - the SHA-256 compression function, for every kernel that hashes.
 *
 * State and message block are structs of scalars, passed by value, and all rounds are written out,
 * so no index is computed at run time: a device keeps everything in registers, and the CPU hashes
 * one message per vector lane.
 */
#ifndef QN_KERNEL_SHA256_H
#define QN_KERNEL_SHA256_H

typedef struct {
    u32 a, b, c, d, e, f, g, h;
} sha_state;

/* A block of 64 bytes as big-endian words. */
typedef struct {
    u32 w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15;
} sha_block;

CONST_TABLE(u32, SHA_K,
            64) = { 0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u,
                    0x923f82a4u, 0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u,
                    0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u,
                    0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
                    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u,
                    0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u,
                    0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu,
                    0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
                    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au,
                    0x5b9cca4fu, 0x682e6ff3u, 0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u,
                    0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u };

#define SHA_UPPER0(x)     (ROTR32(x, 2) ^ ROTR32(x, 13) ^ ROTR32(x, 22))
#define SHA_UPPER1(x)     (ROTR32(x, 6) ^ ROTR32(x, 11) ^ ROTR32(x, 25))
#define SHA_LOWER0(x)     (ROTR32(x, 7) ^ ROTR32(x, 18) ^ ((x) >> 3))
#define SHA_LOWER1(x)     (ROTR32(x, 17) ^ ROTR32(x, 19) ^ ((x) >> 10))
#define SHA_PICK(e, f, g) ((g) ^ ((e) & ((f) ^ (g))))
#define SHA_VOTE(a, b, c) (((a) & (b)) | ((c) & ((a) | (b))))

#define SHA_ROUND(a, b, c, d, e, f, g, h, word)                                                    \
    h += SHA_UPPER1(e) + SHA_PICK(e, f, g) + (word);                                               \
    d += h;                                                                                        \
    h += SHA_UPPER0(a) + SHA_VOTE(a, b, c);

/* Sixteen rounds; WORD(t, i, ...) gives round t + i its constant and word. Afterwards every
 * variable has its old role again. */
#define SHA_ROUNDS(t, WORD)                                                                        \
    SHA_ROUND(a, b, c, d, e, f, g, h, WORD(t, 0, m.w0, m.w1, m.w9, m.w14))                         \
    SHA_ROUND(h, a, b, c, d, e, f, g, WORD(t, 1, m.w1, m.w2, m.w10, m.w15))                        \
    SHA_ROUND(g, h, a, b, c, d, e, f, WORD(t, 2, m.w2, m.w3, m.w11, m.w0))                         \
    SHA_ROUND(f, g, h, a, b, c, d, e, WORD(t, 3, m.w3, m.w4, m.w12, m.w1))                         \
    SHA_ROUND(e, f, g, h, a, b, c, d, WORD(t, 4, m.w4, m.w5, m.w13, m.w2))                         \
    SHA_ROUND(d, e, f, g, h, a, b, c, WORD(t, 5, m.w5, m.w6, m.w14, m.w3))                         \
    SHA_ROUND(c, d, e, f, g, h, a, b, WORD(t, 6, m.w6, m.w7, m.w15, m.w4))                         \
    SHA_ROUND(b, c, d, e, f, g, h, a, WORD(t, 7, m.w7, m.w8, m.w0, m.w5))                          \
    SHA_ROUND(a, b, c, d, e, f, g, h, WORD(t, 8, m.w8, m.w9, m.w1, m.w6))                          \
    SHA_ROUND(h, a, b, c, d, e, f, g, WORD(t, 9, m.w9, m.w10, m.w2, m.w7))                         \
    SHA_ROUND(g, h, a, b, c, d, e, f, WORD(t, 10, m.w10, m.w11, m.w3, m.w8))                       \
    SHA_ROUND(f, g, h, a, b, c, d, e, WORD(t, 11, m.w11, m.w12, m.w4, m.w9))                       \
    SHA_ROUND(e, f, g, h, a, b, c, d, WORD(t, 12, m.w12, m.w13, m.w5, m.w10))                      \
    SHA_ROUND(d, e, f, g, h, a, b, c, WORD(t, 13, m.w13, m.w14, m.w6, m.w11))                      \
    SHA_ROUND(c, d, e, f, g, h, a, b, WORD(t, 14, m.w14, m.w15, m.w7, m.w12))                      \
    SHA_ROUND(b, c, d, e, f, g, h, a, WORD(t, 15, m.w15, m.w0, m.w8, m.w13))

/* Given words; and computed words, each replacing the one of 16 rounds ago. */
#define SHA_GIVEN(t, i, w, w1, w9, w14) SHA_K[(t) + (i)] + w
#define SHA_MADE(t, i, w, w1, w9, w14)                                                             \
    SHA_K[(t) + (i)] + (w += SHA_LOWER0(w1) + w9 + SHA_LOWER1(w14))

FN sha_state sha_start(void)
{
    sha_state s;

    s.a = 0x6a09e667u;
    s.b = 0xbb67ae85u;
    s.c = 0x3c6ef372u;
    s.d = 0xa54ff53au;
    s.e = 0x510e527fu;
    s.f = 0x9b05688cu;
    s.g = 0x1f83d9abu;
    s.h = 0x5be0cd19u;
    return s;
}

FN sha_state sha_added(sha_state s, u32 a, u32 b, u32 c, u32 d, u32 e, u32 f, u32 g, u32 h)
{
    s.a += a;
    s.b += b;
    s.c += c;
    s.d += d;
    s.e += e;
    s.f += f;
    s.g += g;
    s.h += h;
    return s;
}

/* The state after another block. */
FN sha_state sha_next(sha_state s, sha_block m)
{
    u32 a = s.a, b = s.b, c = s.c, d = s.d, e = s.e, f = s.f, g = s.g, h = s.h;

    SHA_ROUNDS(0, SHA_GIVEN)
    SHA_ROUNDS(16, SHA_MADE)
    SHA_ROUNDS(32, SHA_MADE)
    SHA_ROUNDS(48, SHA_MADE)
    return sha_added(s, a, b, c, d, e, f, g, h);
}

/* Converts between a word in memory (little-endian on every device we know) and a word of
 * SHA-256. */
FN u32 sha_swap(u32 x)
{
    const u32 odd = ROTR32(x, 24);

    return odd ^ ((odd ^ ROTR32(x, 8)) & 0xff00ff00u);
}

#endif
