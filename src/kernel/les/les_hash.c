/* les_hash.c - hashes of arrays, and copies of parts of arrays, as words of 4 bytes.
 *
 * One item hashes a block, byte after byte. There are many blocks, and the last step is short.
 */
#include "dialect.h"
#include "les_hash.h"

#define FNV_START ((u64)0xCBF29CE484222325)
#define FNV_PRIME ((u64)0x100000001B3)

FN u64 fnv_word(u64 hash, u32 word)
{
    for (i32 b = 0; b < 4; b++)
        hash = (hash ^ (u64)(word >> (8 * b) & 255u)) * FNV_PRIME;
    return hash;
}

/* The hash of block gx of the `n` words from `from` on. */
MAP(les_hash_blocks, VAL(i64, from), VAL(i64, n), IN(u32, words), OUT(u64, part))
{
    const i64 first = (i64)gx * HASH_WORDS;
    const i64 end = MIN(first + HASH_WORDS, n);
    u64 hash = FNV_START;

    for (i64 k = first; k < end; k++)
        hash = fnv_word(hash, words[from + k]);
    part[gx] = hash;
}

/* The hash of all blocks, to place `slot` + gx of `out`. */
MAP(les_hash_fold, VAL(i64, n_parts), VAL(i64, slot), IN(u64, part), INOUT(u64, out))
{
    u64 hash = FNV_START;

    for (i64 k = 0; k < n_parts; k++) {
        hash = fnv_word(hash, (u32)(part[k] & 0xffffffffu));
        hash = fnv_word(hash, (u32)(part[k] >> 32));
    }
    out[slot + gx] = hash;
}

/* Copies the first words of `field` to word `to` of `store`. */
MAP(les_keep, VAL(i64, to), IN(u32, field), INOUT(u32, store))
{
    store[to + GI] = field[GI];
}
