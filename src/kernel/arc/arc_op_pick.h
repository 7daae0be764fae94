/* arc_op_pick.h - primitives that choose an element: by place, by value, by count. */
#ifndef ARC_OP_PICK_H
#define ARC_OP_PICK_H

#include "arc_op_container.h"

/* Element k, counted from the end if k is negative. */
FN slot arc_nth(arc_vm *vm, slot c, slot k)
{
    const i32 n = arc_len(vm, c);
    i64 at;

    if (!arc_is_num(k))
        return arc_fail(vm, ARC_E_TYPE);
    at = arc_number(vm, k);
    at += at < 0 ? n : 0;
    return at >= 0 && at < n ? arc_elem(vm, c, (i32)at) : arc_fail(vm, ARC_E_INDEX);
}

FN slot arc_op_first(VM_PARAM, slot a)
{
    const i32 n = arc_len(vm, a);
    return n > 0 ? arc_elem(vm, a, 0) : arc_fail(vm, n ? ARC_E_TYPE : ARC_E_EMPTY);
}

FN slot arc_op_second(VM_PARAM, slot a)
{
    const i32 n = arc_len(vm, a);
    return n > 1 ? arc_elem(vm, a, 1) : arc_fail(vm, n < 0 ? ARC_E_TYPE : ARC_E_EMPTY);
}

FN slot arc_op_last(VM_PARAM, slot a)
{
    const i32 n = arc_len(vm, a);
    return n > 0 ? arc_elem(vm, a, n - 1) : arc_fail(vm, n ? ARC_E_TYPE : ARC_E_EMPTY);
}

FN slot arc_op_get_nth_t(VM_PARAM, slot a, slot b)
{
    return arc_is_tuple(a) ? arc_nth(vm, a, b) : arc_fail(vm, ARC_E_TYPE);
}

FN slot arc_op_get_nth_f(VM_PARAM, slot a, slot b)
{
    return arc_is_set(a) ? arc_nth(vm, a, b) : arc_fail(vm, ARC_E_TYPE);
}

/* Where a call is expensive, numbers are compared without one. */
#ifdef ARC_ON_CPU
#define ARC_LESS(a, b)                                                                             \
    (arc_is_num(a) && arc_is_num(b) ? arc_number(vm, a) < arc_number(vm, b) : arc_less(vm, a, b))
#else
#define ARC_LESS(a, b) arc_less(vm, a, b)
#endif

/* The first element that none exceeds (or, for the least, undercuts), judged by the keys in `keys`,
 * or by itself if that is NONE; returns its index, or -1 after a failure. */
FN_NOINLINE i32 arc_best(VM_PARAM, slot c, slot keys, i32 want_most)
{
    const slot by = ARC_TAG(keys) == ARC_NONE ? c : keys;
    const i32 n = arc_len(vm, by);
    i32 best = 0;

    for (i32 k = 1; k < n; k++) {
        const slot e = arc_elem(vm, by, k), old = arc_elem(vm, by, best);
        const i32 is_better = want_most ? ARC_LESS(old, e) : ARC_LESS(e, old);

        if (is_better < 0) {
            arc_fail(vm, ARC_E_TYPE);
            return -1;
        }
        best = is_better ? k : best;
    }
    return best;
}

FN slot arc_extreme(VM_PARAM, slot a, i32 want_most)
{
    const i32 n = arc_len(vm, a);
    i32 at;

    if (n < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (n == 0)
        return ARC_SLOT_INT(0);
    at = arc_best(VM, a, ARC_SLOT_NONE, want_most);
    return vm->error ? ARC_SLOT_NONE : arc_elem(vm, a, at);
}

FN slot arc_op_maximum(VM_PARAM, slot a)
{
    return arc_extreme(VM, a, 1);
}

FN slot arc_op_minimum(VM_PARAM, slot a)
{
    return arc_extreme(VM, a, 0);
}

/* How many elements of c equal e. */
FN i32 arc_times_in(arc_vm *vm, slot c, slot e)
{
    const i32 n = arc_len(vm, c);
    i32 count = 0;

    if (arc_is_late(vm, n))
        return 0;
    for (i32 k = 0; k < n; k++)
        count += arc_same(vm, arc_elem(vm, c, k), e);
    return count;
}

/* The distinct elements of c, as a set. */
FN slot arc_distinct(VM_PARAM, slot c)
{
    const i32 n = arc_len(vm, c);
    const u32 at = arc_new_slots(vm, n);

    if (vm->error)
        return ARC_SLOT_NONE;
    arc_unpack(VM, c, arc_slots_at(vm, at));
    return arc_set_of(VM, at, n);
}

/* The first of the distinct values, in canonical order, with the greatest or smallest count. */
FN_NOINLINE slot arc_by_count(VM_PARAM, slot a, i32 want_most)
{
    const u32 mark = vm->top;
    slot distinct, best;
    i32 n, wanted, at;

    if (!arc_is_tuple(a))
        return arc_fail(vm, ARC_E_TYPE);
    if (arc_len(vm, a) == 0)
        return arc_fail(vm, ARC_E_EMPTY);
    distinct = arc_distinct(VM, a);
    if (vm->error)
        return ARC_SLOT_NONE;
    n = arc_len(vm, distinct);
    if (want_most)
        MAX_OVER(wanted, k, n, 0, arc_times_in(vm, a, arc_elem(vm, distinct, k)))
    else
        MIN_OVER(wanted, k, n, I32_MAX, arc_times_in(vm, a, arc_elem(vm, distinct, k)))
    FIRST_OVER(at, k, n, arc_times_in(vm, a, arc_elem(vm, distinct, k)) == wanted)
    if (vm->error)
        return ARC_SLOT_NONE;
    best = arc_elem(vm, distinct, at);
    MEET;
    return arc_keep(VM, mark, best);
}

FN slot arc_op_mostcommon(VM_PARAM, slot a)
{
    return arc_by_count(VM, a, 1);
}

FN slot arc_op_leastcommon(VM_PARAM, slot a)
{
    return arc_by_count(VM, a, 0);
}

FN_NOINLINE slot arc_op_get_common_rank(VM_PARAM, slot a, slot b)
{
    const i32 len = arc_len(vm, a);
    slot distinct;
    i64 rank;
    i32 n, at;

    if (len < 0 || !arc_is_num(b))
        return arc_fail(vm, ARC_E_TYPE);
    distinct = arc_distinct(VM, a);
    if (vm->error)
        return ARC_SLOT_NONE;
    n = arc_len(vm, distinct);
    rank = arc_number(vm, b);
    rank += rank < 0 ? n : 0;
    if (rank < 0 || rank >= n)
        return arc_fail(vm, ARC_E_INDEX);
    {
        const u32 counts_at = arc_alloc(vm, (i64)n * 4);
        GLOBAL u32 *counts = arc_keys_at(vm, counts_at);

        if (vm->error)
            return ARC_SLOT_NONE;
        EACH(k, n) counts[k] = (u32)arc_times_in(vm, a, arc_elem(vm, distinct, k));
        at = 0;
        for (i32 k = 0; k < n && !arc_is_late(vm, n); k++) {
            i32 before;

            SUM_OVER(before, j, n, counts[j] < counts[k] || (counts[j] == counts[k] && j < k))
            at = before == (i32)rank ? k : at;
        }
    }
    return arc_elem(vm, distinct, at);
}

/* Sorting by keys. */

/* Whether element j precedes element k: ascending or descending, equal ones in their given
 * order. */
FN i32 arc_goes_before(arc_vm *vm, slot keys, i32 j, i32 k, i32 descending)
{
    const slot x = arc_elem(vm, keys, j), y = arc_elem(vm, keys, k);
    const i32 less = descending ? arc_less(vm, y, x) : arc_less(vm, x, y);
    const i32 more = descending ? arc_less(vm, x, y) : arc_less(vm, y, x);

    return less > 0 || (more == 0 && j < k);
}

FN i32 arc_place(arc_vm *vm, slot keys, i32 n, i32 k, i32 descending)
{
    i32 at = 0;

    if (arc_is_late(vm, n))
        return 0;
    for (i32 j = 0; j < n; j++)
        at += j != k && arc_goes_before(vm, keys, j, k, descending);
    return at;
}

/* Fails if keys cannot be sorted: kinds that do not compare, or sets, whose order is partial. */
FN void arc_check_keys(VM_PARAM, slot keys)
{
    const i32 n = arc_len(vm, keys);
    i32 any_set, all;

    if (n < 2)
        return;
    ANY_OVER(any_set, k, n, arc_is_set(arc_elem(vm, keys, k)))
    ALL_OVER(all, k, n - 1, arc_less(vm, arc_elem(vm, keys, k), arc_elem(vm, keys, k + 1)) >= 0)
    if (!all)
        arc_fail(vm, ARC_E_TYPE);
    else if (any_set)
        arc_fail(vm, ARC_E_UNSUPPORTED);
}

/* The elements of c by ascending keys. */
FN_NOINLINE slot arc_order_by(VM_PARAM, slot c, slot keys)
{
    const i32 n = arc_len(vm, c);
    u32 at;

    arc_check_keys(VM, keys);
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    EACH(k, n) arc_slots_at(vm, at)[arc_place(vm, keys, n, k, 0)] = arc_elem(vm, c, k);
    return vm->error ? ARC_SLOT_NONE : arc_tuple_of(VM, at, n);
}

/* The index of the element whose key has rank `rank`; fails if there is none. */
FN_NOINLINE i32 arc_ranked(VM_PARAM, slot keys, slot rank, i32 descending)
{
    const i32 n = arc_len(vm, keys);
    i64 wanted;
    i32 at;

    if (!arc_is_num(rank)) {
        arc_fail(vm, ARC_E_TYPE);
        return 0;
    }
    arc_check_keys(VM, keys);
    wanted = arc_number(vm, rank);
    wanted += wanted < 0 ? n : 0;
    if (wanted < 0 || wanted >= n)
        arc_fail(vm, ARC_E_INDEX);
    if (vm->error)
        return 0;
    FIRST_OVER(at, k, n, arc_place(vm, keys, n, k, descending) == (i32)wanted)
    return vm->error ? 0 : at;
}

FN_NOINLINE slot arc_op_get_rank(VM_PARAM, slot a, slot b)
{
    i32 at;

    if (arc_len(vm, a) < 0)
        return arc_fail(vm, ARC_E_TYPE);
    at = arc_ranked(VM, a, b, 1);
    return vm->error ? ARC_SLOT_NONE : arc_elem(vm, a, at);
}

#endif
