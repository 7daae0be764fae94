/* content_hash.h - by which content of the pool is found; never written anywhere. */
#ifndef QN_ARC_CONTENT_HASH_H
#define QN_ARC_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t qn_arc_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

/* Eight bytes at a time in four strands, since every grid that is new goes through here: one strand
 * waits for its multiplications. */
static inline uint64_t qn_arc_content_hash(uint64_t slot, const unsigned char *bytes, size_t n)
{
    enum { STRANDS = 4, WIDTH = STRANDS * sizeof(uint64_t) };
    uint64_t strands[STRANDS] = { qn_arc_mix(n, slot), 1, 2, 3 }, words[STRANDS];
    size_t k = 0;

    for (; k + WIDTH <= n; k += WIDTH) {
        memcpy(words, bytes + k, WIDTH);
        for (int i = 0; i < STRANDS; i++)
            strands[i] = qn_arc_mix(strands[i], words[i]);
    }
    memset(words, 0, WIDTH);
    if (k < n)
        memcpy(words, bytes + k, n - k);
    for (int i = 0; i < STRANDS; i++)
        strands[i] = qn_arc_mix(strands[i], words[i]);
    return qn_arc_mix(qn_arc_mix(strands[0], strands[1]), qn_arc_mix(strands[2], strands[3]));
}

#endif
