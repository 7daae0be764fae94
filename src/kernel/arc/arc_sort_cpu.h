/* arc_sort_cpu.h - sorts keys and drops duplicates, for the single lane of a CPU.
 *
 * A few keys are inserted one by one. If there are many, each sets a bit in the smallest box of
 * colours, rows and columns whose sides are powers of two, and the bits are read in order.
 */
#ifndef ARC_SORT_CPU_H
#define ARC_SORT_CPU_H

#include "arc_elem.h"

#define SORT_INSERTED     24  /* fewer keys are inserted */
#define SORT_BITS_PER_KEY 256 /* a box with more is too sparse */

typedef struct arc_key_box {
    u32 base; /* the least colour, row and column, as a key */
    u32 mask_j, mask_i;
    i32 log_j, log_ij, log_all; /* binary logarithms of sides */
} arc_key_box;

/* The number of bits that hold 0 .. n. */
FN i32 bits_of(u32 n)
{
    return 32 - CLZ32(n);
}

FN arc_key_box arc_key_box_of(GLOBAL const u32 *keys, i32 n)
{
    i32 i0 = 0xfff, i1 = 0, j0 = 0xfff, j1 = 0, c0 = 255, c1 = 0;
    arc_key_box b;

    for (i32 k = 0; k < n; k++) {
        const u32 key = keys[k];
        const i32 c = (i32)(key >> 24), i = (i32)(key >> 12 & 0xfff), j = (i32)(key & 0xfff);

        c0 = MIN(c0, c);
        c1 = MAX(c1, c);
        i0 = MIN(i0, i);
        i1 = MAX(i1, i);
        j0 = MIN(j0, j);
        j1 = MAX(j1, j);
    }
    b.base = (u32)c0 << 24 | (u32)i0 << 12 | (u32)j0;
    b.log_j = bits_of((u32)(j1 - j0));
    b.log_ij = b.log_j + bits_of((u32)(i1 - i0));
    b.log_all = b.log_ij + bits_of((u32)(c1 - c0));
    b.mask_j = (1u << b.log_j) - 1;
    b.mask_i = (1u << (b.log_ij - b.log_j)) - 1;
    return b;
}

/* Returns how many keys remain, or -1 if they must be sorted in another way. */
FN i32 arc_sort_in_box(arc_vm *vm, GLOBAL u32 *keys, i32 n)
{
    const arc_key_box b = arc_key_box_of(keys, n);
    const u32 at = (vm->top + 7) & ~7u;
    GLOBAL u64 *words = (GLOBAL u64 *)(vm->arena + at);
    i32 n_words, count = 0;

    if (b.log_all > 24 || (1 << b.log_all) > (i64)n * SORT_BITS_PER_KEY)
        return -1;
    n_words = ((1 << b.log_all) + 63) / 64;
    if ((i64)at + (i64)n_words * 8 > (i64)vm->limit)
        return -1;
    memset(words, 0, (size_t)n_words * 8);
    for (i32 k = 0; k < n; k++) {
        /* No field is less than that of the base, so nothing is borrowed. */
        const u32 key = keys[k] - b.base;
        const u32 bit =
            (key >> 24) << b.log_ij | (key >> 12 & b.mask_i) << b.log_j | (key & b.mask_j);

        words[bit >> 6] |= (u64)1 << (bit & 63);
    }
    for (i32 w = 0; w < n_words; w++)
        for (u64 word = words[w]; word; word &= word - 1) {
            const u32 bit = (u32)w * 64 + (u32)__builtin_ctzll(word);

            keys[count++] = b.base + ((bit >> b.log_ij) << 24 | (bit >> b.log_j & b.mask_i) << 12 |
                                      (bit & b.mask_j));
        }
    return count;
}

/* The first `sorted` keys ascend; inserts the others. Returns how many remain. */
FN i32 arc_insert_keys(GLOBAL u32 *keys, i32 sorted, i32 n)
{
    i32 count = sorted;

    for (i32 k = sorted; k < n; k++) {
        const u32 key = keys[k];
        i32 to = count;

        while (to > 0 && keys[to - 1] > key)
            to--;
        if (to > 0 && keys[to - 1] == key)
            continue;
        for (i32 j = count; j > to; j--)
            keys[j] = keys[j - 1];
        keys[to] = key;
        count++;
    }
    return count;
}

/* How many keys ascend, starting at the first. */
FN i32 arc_ascending(GLOBAL const u32 *keys, i32 n)
{
    i32 k = 1;

    while (k < n && keys[k - 1] < keys[k])
        k++;
    return MIN(k, n);
}

#endif
