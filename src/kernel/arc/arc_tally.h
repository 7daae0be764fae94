/* arc_tally.h - how often each value occurs among the values of a grid or an object.
 *
 * The values of an element are those of all rows of a tuple, or component 0 of every item of a set.
 * They come in three forms, each with its own way of counting:
 *
 *   digits   the cells of a plain grid, if all are 0..9: ten counts of 16 bits in three words,
 *            counted by every lane and added up
 *   keys     colours, or rows, of ascending keys: equal ones lie together, found by bisection
 *   slots    anything else: collected, sorted, and counted one after another
 */
#ifndef ARC_TALLY_H
#define ARC_TALLY_H

#include "arc_grid.h"

/* Digits. */

typedef struct arc_digits {
    u64 part[3]; /* counts of 0..3, 4..7, 8..9 */
    i32 others;  /* cells that are not 0..9; if there are any, the counts mean nothing */
} arc_digits;

#define ARC_MOST_DIGITS 65535

FN i32 arc_digit_count(arc_digits t, i32 digit)
{
    const u64 part = digit < 4 ? t.part[0] : digit < 8 ? t.part[1] : t.part[2];

    return (i32)(part >> 16 * (digit & 3) & 0xffff);
}

/* How many cells hold a value. A single lane counts in bytes, 16 or more cells at a time. */
FN i32 arc_count_of(TEAM_PARAM, GLOBAL const i8 *cells, i32 n, i32 value)
{
    i32 count = 0;

#if LANES == 1 && WIDTH == 1
    const i8 wanted = (i8)value;

    if (!arc_fits_i8(value))
        return 0;
    for (i32 from = 0; from < n; from += 240) {
        const i32 end = MIN(from + 240, n);
        u8 some = 0;

        for (i32 k = from; k < end; k++)
            some = (u8)(some + (cells[k] == wanted));
        count += some;
    }
#else
    SUM_OVER(count, k, n, cells[k] == value)
#endif
    return count;
}

FN arc_digits arc_count_digits(TEAM_PARAM, GLOBAL const i8 *cells, i32 n)
{
    arc_digits t;

#if LANES == 1 && WIDTH == 1
    i32 left = n;

    t.part[0] = t.part[1] = t.part[2] = 0;
    for (i32 digit = 0; digit < 10 && left && n <= ARC_MOST_DIGITS; digit++) {
        const i32 count = arc_count_of(TEAM_PASS, cells, n, digit);

        t.part[digit >> 2] += (u64)count << 16 * (digit & 3);
        left -= count;
    }
    t.others = left != 0;
#else
    u64 low = 0, middle = 0, high = 0;
    u32 others = n > ARC_MOST_DIGITS;

    QN_SHARE(k, n)
    {
        const u32 v = (u8)cells[k];
        const u64 one = (u64)1 << 16 * (v & 3);

        low += v < 4 ? one : 0;
        middle += (v & 12) == 4 ? one : 0;
        high += v >= 8 ? one : 0;
        others |= v > 9;
    }
    t.part[0] = (u64)JOIN_ADD64((i64)low);
    t.part[1] = (u64)JOIN_ADD64((i64)middle);
    t.part[2] = (u64)JOIN_ADD64((i64)high);
    t.others = JOIN_ANY(others);
#endif
    return t;
}

/* Keys. */

/* The end of the stretch of keys from `from` on that agree above `shift` bits. */
FN i32 arc_stretch_end(GLOBAL const u32 *keys, i32 n, i32 from, i32 shift)
{
    const u32 own = keys[from] >> shift;
    i32 lo = from + 1, hi = n;

    if (keys[n - 1] >> shift == own)
        return n;
    while (lo < hi) {
        const i32 at = (lo + hi) / 2;

        if (keys[at] >> shift == own)
            lo = at + 1;
        else
            hi = at;
    }
    return lo;
}

/* Component 0 of the item of a key: the colour of a cell, the row of a pair. */
FN i32 arc_key_first(u32 key, i32 is_object)
{
    return is_object ? ARC_KEY_COLOUR(key) : ARC_KEY_I(key);
}

/* Values of any kind. */

/* The distinct values of an element, ascending, and how often each occurs. */
typedef struct arc_tally {
    GLOBAL slot *value;
    GLOBAL u32 *count;
    i32 n;
} arc_tally;

/* Collects all values of a tuple's rows, or component 0 of every item, at `at`; returns how
 * many. */
FN_NOINLINE i32 arc_collect_values(VM_PARAM, slot element, u32 at)
{
    const i32 rows = arc_len(vm, element), of_rows = arc_is_tuple(element);
    i32 n = 0;

    if (rows < 0)
        arc_fail(vm, ARC_E_TYPE);
    for (i32 i = 0; i < rows; i++) {
        const slot row = arc_elem(vm, element, i);
        const i32 len = arc_len(vm, row);
        const i32 take = of_rows ? len : 1;

        if (len < 0 || (!of_rows && len != 2)) {
            arc_fail(vm, len < 0 ? ARC_E_TYPE : ARC_E_VALUE);
            return 0;
        }
        arc_alloc(vm, (i64)take * 8);
        if (vm->error)
            return 0;
        EACH(k, take) arc_slots_at(vm, at)[n + k] = arc_elem(vm, row, k);
        n += take;
    }
    return n;
}

FN_NOINLINE arc_tally arc_tally_slots(VM_PARAM, slot element)
{
    const u32 at = vm->top;
    const i32 n = arc_collect_values(VM, element, at);
    GLOBAL const slot *all = arc_slots_at(vm, at);
    arc_tally t;
    u32 value_at = at, count_at = at;

    t.n = 0;
    if (!vm->error) {
        value_at = arc_new_slots(vm, n);
        count_at = arc_alloc(vm, (i64)n * 4);
    }
    t.value = arc_slots_at(vm, value_at);
    t.count = arc_keys_at(vm, count_at);
    if (vm->error || n == 0)
        return t;
    EACH(k, n) t.value[k] = all[k];
    t.n = arc_sort_slots(VM, value_at, n);
    for (i32 d = 0; d < t.n && !vm->error && !arc_is_late(vm, n); d++) {
        i32 count;

        SUM_OVER(count, k, n, arc_same(vm, all[k], t.value[d]))
        ONE_LANE t.count[d] = (u32)count;
    }
    return t;
}

FN_NOINLINE arc_tally arc_tally_cells(VM_PARAM, arc_grid g)
{
    const i32 n = g.rows * g.cols;
    const u32 value_at = arc_alloc(vm, 256 * 8), count_at = arc_alloc(vm, 256 * 4);
    arc_tally t;
    i32 value = -129;

    t.value = arc_slots_at(vm, value_at);
    t.count = arc_keys_at(vm, count_at);
    t.n = 0;
    if (vm->error)
        return t;
    for (;;) {
        i32 next, count;

        MIN_OVER(next, k, n, 128, g.cells[k] > value ? g.cells[k] : 128)
        if (next == 128 || arc_is_late(vm, n))
            return t;
        value = next;
        count = arc_count_of(TEAM_PASS, g.cells, n, value);
        ONE_LANE
        {
            t.value[t.n] = ARC_SLOT_INT(value);
            t.count[t.n] = (u32)count;
        }
        t.n++;
    }
}

FN_NOINLINE arc_tally arc_tally_digits(VM_PARAM, arc_digits digits)
{
    const u32 value_at = arc_alloc(vm, 10 * 8), count_at = arc_alloc(vm, 10 * 4);
    arc_tally t;

    t.value = arc_slots_at(vm, value_at);
    t.count = arc_keys_at(vm, count_at);
    t.n = 0;
    if (vm->error)
        return t;
    MEET;
    for (i32 digit = 0; digit < 10; digit++)
        if (arc_digit_count(digits, digit) > 0) {
            t.value[t.n] = ARC_SLOT_INT(digit);
            t.count[t.n++] = (u32)arc_digit_count(digits, digit);
        }
    MEET;
    return t;
}

FN_NOINLINE arc_tally arc_tally_keys(VM_PARAM, slot set)
{
    GLOBAL const u32 *keys = arc_keys(vm, set);
    const i32 n = ARC_AUX(set), is_object = ARC_TAG(set) == ARC_OBJ;
    const i32 most = is_object ? MIN(n, 256) : n;
    const u32 value_at = arc_alloc(vm, (i64)most * 8), count_at = arc_alloc(vm, (i64)most * 4);
    arc_tally t;

    t.value = arc_slots_at(vm, value_at);
    t.count = arc_keys_at(vm, count_at);
    t.n = 0;
    if (vm->error)
        return t;
    MEET;
    for (i32 from = 0; from < n; t.n++) {
        const i32 end = arc_stretch_end(keys, n, from, is_object ? 24 : 12);

        t.value[t.n] = ARC_SLOT_INT(arc_key_first(keys[from], is_object));
        t.count[t.n] = (u32)(end - from);
        from = end;
    }
    MEET;
    return t;
}

/* The tally of any element; check vm->error. It lies at the end of the arena, values first. */
FN arc_tally arc_tally_of(VM_PARAM, slot element)
{
    const arc_grid g = arc_grid_of(vm, element);

    if (g.is_plain) {
        const arc_digits digits = arc_count_digits(TEAM_PASS, g.cells, g.rows * g.cols);

        return digits.others ? arc_tally_cells(VM, g) : arc_tally_digits(VM, digits);
    }
    if (ARC_TAG(element) == ARC_IDX || ARC_TAG(element) == ARC_OBJ)
        return arc_tally_keys(VM, element);
    return arc_tally_slots(VM, element);
}

/* Queries by primitives. */

/* The value with the greatest or the smallest count; on a tie the least value. */
FN_NOINLINE slot arc_extreme_colour(VM_PARAM, slot element, i32 is_most)
{
    const u32 mark = vm->top;
    const arc_grid g = arc_grid_of(vm, element);
    arc_tally t;
    i32 best = 0;
    slot value;

    if (g.is_plain) {
        const arc_digits digits = arc_count_digits(TEAM_PASS, g.cells, g.rows * g.cols);
        i32 digit = -1, bar = 0;

        for (i32 d = 0; d < 10; d++) {
            const i32 count = arc_digit_count(digits, d);

            if (count > 0 && (digit < 0 || (is_most ? count > bar : count < bar))) {
                digit = d;
                bar = count;
            }
        }
        if (!digits.others)
            return ARC_SLOT_INT(digit);
    }
    t = arc_tally_of(VM, element);
    if (!vm->error && t.n == 0)
        arc_fail(vm, ARC_E_EMPTY);
    if (vm->error)
        return ARC_SLOT_NONE;
    for (i32 d = 1; d < t.n; d++)
        if (is_most ? t.count[d] > t.count[best] : t.count[d] < t.count[best])
            best = d;
    value = t.value[best];
    MEET;
    vm->top = mark;
    return value;
}

FN slot arc_most_colour(VM_PARAM, slot element)
{
    return arc_extreme_colour(VM, element, 1);
}

/* Whether v is a byte that a plain grid can hold. */
FN i32 arc_is_colour(const arc_vm *vm, slot v)
{
    return arc_fits_row(vm, v);
}

#endif
