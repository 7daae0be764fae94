/* arc_sort.h - sorts keys, or slots in canonical order, and drops duplicates.
 *
 * A stable merge sort, so the first of equal elements stays. A team ranks: each lane finds the
 * position of its element by counting or by bisection. A single lane inserts and merges as usual.
 * Both give the same result.
 */
#ifndef ARC_SORT_H
#define ARC_SORT_H

#include "arc_elem.h"

#if LANES == 1 && WIDTH == 1
#define SORT_RUN 16
#else
#define SORT_RUN 32
#endif

#ifdef ARC_ON_CPU
#include "arc_sort_cpu.h"
#endif

#define SORT_BITS_FROM 24 /* keys; fewer are sorted just as quickly by comparing */
#ifndef SORT_BITS_PER_KEY
#define SORT_BITS_PER_KEY 256
#endif

/* An array of keys, or of slots; `are_keys` is a constant wherever this is used. */
typedef struct arc_list {
    GLOBAL u32 *keys;
    GLOBAL slot *slots;
} arc_list;

FN arc_list arc_list_at(const arc_vm *vm, u32 at)
{
    arc_list l;

    l.keys = arc_keys_at(vm, at);
    l.slots = arc_slots_at(vm, at);
    return l;
}

FN slot list_get(arc_list l, i32 k, i32 are_keys)
{
    return are_keys ? (slot)l.keys[k] : l.slots[k];
}

FN void list_put(arc_list l, i32 k, slot v, i32 are_keys)
{
    if (are_keys)
        l.keys[k] = (u32)v;
    else
        l.slots[k] = v;
}

FN i32 list_order(arc_vm *vm, slot a, slot b, i32 are_keys)
{
    return are_keys ? ARC_SIGN(a, b) : arc_order(vm, a, b);
}

#if LANES == 1 && WIDTH == 1

/* Sorted runs, in place. */
FN void sort_runs(arc_vm *vm, arc_list a, i32 n, i32 are_keys)
{
    for (i32 from = 0; from < n; from += SORT_RUN)
        for (i32 i = from + 1; i < MIN(from + SORT_RUN, n); i++) {
            const slot e = list_get(a, i, are_keys);
            i32 j = i;

            for (; j > from && list_order(vm, e, list_get(a, j - 1, are_keys), are_keys) < 0; j--)
                list_put(a, j, list_get(a, j - 1, are_keys), are_keys);
            list_put(a, j, e, are_keys);
        }
}

/* Merges neighbouring runs of `width` from a into b. */
FN void merge_runs(arc_vm *vm, arc_list a, arc_list b, i32 n, i32 width, i32 are_keys)
{
    for (i32 from = 0; from < n; from += 2 * width) {
        const i32 mid = MIN(from + width, n), end = MIN(from + 2 * width, n);
        i32 i = from, j = mid;

        for (i32 k = from; k < end; k++) {
            const i32 take_left =
                j == end || (i < mid && list_order(vm, list_get(a, j, are_keys),
                                                   list_get(a, i, are_keys), are_keys) >= 0);
            list_put(b, k, list_get(a, take_left ? i++ : j++, are_keys), are_keys);
        }
    }
}

#else

/* The position of element k within its run. */
FN i32 place_in_run(arc_vm *vm, arc_list a, i32 n, i32 k, i32 are_keys)
{
    const i32 from = k / SORT_RUN * SORT_RUN, end = MIN(from + SORT_RUN, n);
    const slot e = list_get(a, k, are_keys);
    i32 at = from;

    for (i32 j = from; j < end; j++) {
        const i32 order = list_order(vm, list_get(a, j, are_keys), e, are_keys);
        at += order < 0 || (order == 0 && j < k);
    }
    return at;
}

/* The position of element k after its run is merged with the neighbouring one. Elements of the left
 * run precede equal ones of the right. */
FN i32 place_in_both(arc_vm *vm, arc_list a, i32 n, i32 k, i32 width, i32 are_keys)
{
    const i32 from = k / (2 * width) * (2 * width);
    const i32 mid = MIN(from + width, n), end = MIN(from + 2 * width, n);
    const i32 is_left = k < mid;
    const slot e = list_get(a, k, are_keys);
    i32 lo = is_left ? mid : from, hi = is_left ? end : mid;
    const i32 base = lo;

    while (lo < hi) {
        const i32 at = (lo + hi) / 2;
        const i32 order = list_order(vm, list_get(a, at, are_keys), e, are_keys);

        if (order < 0 || (order == 0 && !is_left))
            lo = at + 1;
        else
            hi = at;
    }
    return from + (is_left ? k - from : k - mid) + lo - base;
}

#endif

/* Elements that could not be compared have no order: places would be left out, and what lies there
 * is no value. */
FN i32 arc_has_order(VM_PARAM, i32 n, i32 are_keys)
{
    if (arc_is_late(vm, n))
        return 0;
    if (are_keys)
        return 1;
    vm->deep = JOIN_MAX(vm->deep);
    if (vm->deep)
        arc_fail(vm, vm->deep);
    return !vm->deep;
}

FN i32 arc_sort(VM_PARAM, u32 at, i32 n, i32 are_keys)
{
    const i32 size = are_keys ? 4 : 8;
    const u32 top = vm->top;
    arc_list a = arc_list_at(vm, at), b, swap;
    i32 in_place = 1, count, first_wrong;

    FIRST_OVER(first_wrong, k, n - 1,
               list_order(vm, list_get(a, k, are_keys), list_get(a, k + 1, are_keys), are_keys) >=
                   0)
    if (first_wrong >= n - 1)
        return n;
    b = arc_list_at(vm, arc_alloc(vm, (i64)n * size));
    if (vm->error)
        return 0;
#if LANES == 1 && WIDTH == 1
    sort_runs(vm, a, n, are_keys);
#else
    EACH(k, n) list_put(b, place_in_run(vm, a, n, k, are_keys), list_get(a, k, are_keys), are_keys);
    swap = a, a = b, b = swap, in_place = 0;
#endif
    if (!arc_has_order(VM, n, are_keys))
        return 0;
    for (i32 width = SORT_RUN; width < n; width *= 2) {
#if LANES == 1 && WIDTH == 1
        merge_runs(vm, a, b, n, width, are_keys);
#else
        EACH(k, n)
        list_put(b, place_in_both(vm, a, n, k, width, are_keys), list_get(a, k, are_keys),
                 are_keys);
#endif
        swap = a, a = b, b = swap, in_place = !in_place;
        if (!arc_has_order(VM, n, are_keys))
            return 0;
    }
    PACK(count, to, k, n,
         k == 0 ||
             list_order(vm, list_get(a, k - 1, are_keys), list_get(a, k, are_keys), are_keys) != 0,
         list_put(b, to, list_get(a, k, are_keys), are_keys))
    if (in_place) {
        EACH(k, count) list_put(a, k, list_get(b, k, are_keys), are_keys);
    }
    vm->top = top;
    return count;
}

/* Keys by bits. */

/* Keys that lie in a small box of colours, rows and columns need no comparing: each sets a bit, and
 * the bits are read in order. The sides of the box are powers of two, so that shifts alone turn a
 * key into the number of its bit. */
typedef struct arc_bits {
    i32 colour, i, j; /* least of each */
    i32 log_i, log_j; /* binary logarithms of the sides */
    i32 n_words;      /* 0: the box is too large to be worth it */
} arc_bits;

FN i32 ceil_log2(i32 n)
{
    return 32 - CLZ32(n - 1);
}

FN arc_bits arc_bits_of(VM_PARAM, GLOBAL const u32 *keys, i32 n)
{
    arc_bits b;
    i32 most_colour, most_i, most_j;
    i64 n_bits;

    (void)vm;
    MIN_OVER(b.colour, k, n, 255, (i32)(keys[k] >> 24))
    MAX_OVER(most_colour, k, n, 0, (i32)(keys[k] >> 24))
    MIN_OVER(b.i, k, n, 4095, (i32)(keys[k] >> 12 & 4095))
    MAX_OVER(most_i, k, n, 0, (i32)(keys[k] >> 12 & 4095))
    MIN_OVER(b.j, k, n, 4095, (i32)(keys[k] & 4095))
    MAX_OVER(most_j, k, n, 0, (i32)(keys[k] & 4095))
    b.log_i = ceil_log2(most_i - b.i + 1);
    b.log_j = ceil_log2(most_j - b.j + 1);
    n_bits = (i64)(most_colour - b.colour + 1) << (b.log_i + b.log_j);
    b.n_words = n_bits <= (i64)n * SORT_BITS_PER_KEY ? (i32)((n_bits + 31) / 32) : 0;
    return b;
}

FN u32 arc_bit_of_key(const arc_bits *b, u32 key)
{
    return ((key >> 24) - (u32)b->colour) << (b->log_i + b->log_j) |
           ((key >> 12 & 4095) - (u32)b->i) << b->log_j | ((key & 4095) - (u32)b->j);
}

FN u32 arc_key_of_bit(const arc_bits *b, u32 bit)
{
    const u32 i = bit >> b->log_j & ((1u << b->log_i) - 1), j = bit & ((1u << b->log_j) - 1);

    return ((bit >> (b->log_i + b->log_j)) + (u32)b->colour) << 24 | (i + (u32)b->i) << 12 |
           (j + (u32)b->j);
}

/* Writes the keys of word k from position `to` on. */
FN void arc_put_word(const arc_bits *b, GLOBAL u32 *keys, i32 to, i32 k, u32 word)
{
    while (word) {
        const i32 low = 31 - CLZ32(word & (0u - word));

        keys[to++] = arc_key_of_bit(b, (u32)k * 32 + (u32)low);
        word &= word - 1;
    }
}

/* Returns how many keys remain, or -1 if they must be sorted the other way. */
FN i32 arc_sort_bits(VM_PARAM, u32 at, i32 n)
{
    GLOBAL u32 *keys = arc_keys_at(vm, at);
    const u32 top = vm->top;
    const arc_bits b = arc_bits_of(VM, keys, n);
    GLOBAL u32 *words = arc_keys_at(vm, top);
    i32 count = 0;

    if (b.n_words == 0 || (i64)top + (i64)b.n_words * 4 > (i64)vm->limit)
        return -1;
    arc_alloc(vm, (i64)b.n_words * 4);
    EACH(k, b.n_words) words[k] = 0;
    EACH(k, n)
    {
        const u32 bit = arc_bit_of_key(&b, keys[k]);
#if LANES > 1
        ATOMIC_OR(&words[bit / 32], 1u << (bit & 31));
#else
        words[bit / 32] |= 1u << (bit & 31);
#endif
    }
#if LANES > 1
    for (i32 from = 0; from < b.n_words; from += N_LANES) {
        const i32 k = from + MY_LANE;
        const u32 word = k < b.n_words ? words[k] : 0;
        const i32 bits = POPCOUNT32(word);

        arc_put_word(&b, keys, count + JOIN_SCAN(bits), k, word);
        count += JOIN_ADD(bits);
    }
    MEET;
#else
    for (i32 k = 0; k < b.n_words; k++) {
        arc_put_word(&b, keys, count, k, words[k]);
        count += POPCOUNT32(words[k]);
    }
#endif
    vm->top = top;
    return count;
}

/* Entry points for makers. */

/* Sort the elements at `at` in the arena and drop duplicates; return how many remain. */
FN_NOINLINE i32 arc_sort_keys(VM_PARAM, u32 at, i32 n)
{
#ifdef ARC_ON_CPU
    GLOBAL u32 *keys = arc_keys_at(vm, at);
    const i32 sorted = arc_ascending(keys, n);
    i32 count;

    if (sorted == n || n < SORT_INSERTED)
        return arc_insert_keys(keys, sorted, n);
    count = arc_sort_in_box(vm, keys, n);
    return count >= 0 ? count : arc_sort(VM, at, n, 1);
#else
    if (n >= SORT_BITS_FROM) {
        GLOBAL const u32 *keys = arc_keys_at(vm, at);
        i32 first_wrong, count;

        FIRST_OVER(first_wrong, k, n - 1, keys[k] >= keys[k + 1])
        if (first_wrong >= n - 1)
            return n;
        count = arc_sort_bits(VM, at, n);
        if (count >= 0)
            return count;
    }
    return arc_sort(VM, at, n, 1);
#endif
}

FN_NOINLINE i32 arc_sort_slots(VM_PARAM, u32 at, i32 n)
{
    return arc_sort(VM, at, n, 0);
}

#endif
