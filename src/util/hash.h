/* hash.h - digests, checksums, and the generator of reproducible inputs. */
#ifndef QN_UTIL_HASH_H
#define QN_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256 (FIPS 180-4). */

enum { QN_SHA256_BYTES = 32 };

typedef struct qn_sha256 {
    uint32_t state[8];
    uint64_t bytes; /* hashed so far */
    uint8_t block[64];
} qn_sha256;

void qn_sha256_begin(qn_sha256 *hash);
void qn_sha256_add(qn_sha256 *hash, const void *data, size_t bytes);
void qn_sha256_end(qn_sha256 *hash, uint8_t out[QN_SHA256_BYTES]); /* call begin to reuse it */
void qn_sha256_of(const void *data, size_t bytes, uint8_t out[QN_SHA256_BYTES]);

/* Writes `bytes` bytes as lower-case hex with a NUL; `out` has at least 2 * bytes + 1 bytes. */
char *qn_hex(const void *data, size_t bytes, char *out);

/* FNV-1a, 64 bits. */

#define QN_FNV1A64_START UINT64_C(0xCBF29CE484222325)

uint64_t qn_fnv1a64(const void *data, size_t bytes);
uint64_t qn_fnv1a64_add(uint64_t hash, const void *data, size_t bytes); /* START first */

/* Inputs from a seed. */

/* Values depend only on (seed, index), not on order, thread or device. */
static inline uint64_t qn_random_u64(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * UINT64_C(0x9E3779B97F4A7C15) + index + 1;

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline float qn_random_float(uint64_t seed, uint64_t index) /* in [-1, 1) */
{
    return (float)(qn_random_u64(seed, index) >> 40) * (1.0f / 8388608.0f) - 1.0f;
}

static inline uint8_t qn_random_byte(uint64_t seed, uint64_t index)
{
    return (uint8_t)(qn_random_u64(seed, index) >> 56);
}

#endif
