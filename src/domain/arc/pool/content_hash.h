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

/* Eight bytes at a time: every grid that is new goes through here. FNV, byte by byte, took most of
 * the host's time of a batch. */
static inline uint64_t qn_arc_content_hash(uint64_t slot, const unsigned char *bytes, size_t n)
{
    uint64_t hash = qn_arc_mix(n, slot), word;
    size_t k = 0;

    for (; k + sizeof word <= n; k += sizeof word) {
        memcpy(&word, bytes + k, sizeof word);
        hash = qn_arc_mix(hash, word);
    }
    word = 0;
    if (k < n)
        memcpy(&word, bytes + k, n - k);
    return qn_arc_mix(hash, word);
}

#endif
