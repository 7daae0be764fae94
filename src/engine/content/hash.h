/* hash.h - the hash by which content is found. It is never written to a file. */
#ifndef QN_ENGINE_CONTENT_HASH_H
#define QN_ENGINE_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t qn_content_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

/* Reads eight bytes at a time in four independent strands, since a single strand would wait for its
 * multiplications. It must be fast because all new content is hashed. */
static inline uint64_t qn_content_hash(uint64_t handle, const unsigned char *bytes, size_t n)
{
    enum { STRANDS = 4, WIDTH = STRANDS * sizeof(uint64_t) };
    uint64_t strands[STRANDS] = { qn_content_mix(n, handle), 1, 2, 3 }, words[STRANDS];
    size_t k = 0;

    for (; k + WIDTH <= n; k += WIDTH) {
        memcpy(words, bytes + k, WIDTH);
        for (int i = 0; i < STRANDS; i++)
            strands[i] = qn_content_mix(strands[i], words[i]);
    }
    memset(words, 0, WIDTH);
    if (k < n)
        memcpy(words, bytes + k, n - k);
    for (int i = 0; i < STRANDS; i++)
        strands[i] = qn_content_mix(strands[i], words[i]);
    return qn_content_mix(qn_content_mix(strands[0], strands[1]),
                          qn_content_mix(strands[2], strands[3]));
}

#endif
