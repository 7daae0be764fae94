/* arc_op_container.h - primitives on tuples and sets in general. */
#ifndef ARC_OP_CONTAINER_H
#define ARC_OP_CONTAINER_H

#include "arc_op_scalar.h"

/* Whether e is an element of the container c. Uses no blocks: each lane may ask for its own e. */
FN_NOINLINE i32 arc_holds(arc_vm *vm, slot c, slot e)
{
    const i32 n = arc_len(vm, c);
    i32 lo = 0, hi = n;

    if (ARC_TAG(c) == ARC_IDX || ARC_TAG(c) == ARC_OBJ) {
        GLOBAL const u32 *keys = arc_keys(vm, c);
        u32 key;

        if (n == 0 || arc_key_kind(e) != ARC_TAG(c))
            return 0;
        key = arc_key_of(e);
        while (lo < hi) {
            const i32 mid = (lo + hi) / 2;

            if (keys[mid] < key)
                lo = mid + 1;
            else
                hi = mid;
        }
        return lo < n && keys[lo] == key;
    }
    if (ARC_TAG(c) == ARC_SET) {
        while (lo < hi) {
            const i32 mid = (lo + hi) / 2;

            if (arc_order(vm, arc_elem(vm, c, mid), e) < 0)
                lo = mid + 1;
            else
                hi = mid;
        }
        return lo < n && arc_same(vm, arc_elem(vm, c, lo), e);
    }
    if (arc_is_late(vm, n))
        return 0;
    for (i32 k = 0; k < n; k++)
        if (arc_same(vm, arc_elem(vm, c, k), e))
            return 1;
    return 0;
}

/* The elements k of c for which cond holds, in a container of the same type. */
#define FILTERED(result, c, k, cond)                                                               \
    {                                                                                              \
        const i32 qn_len = arc_len(vm, c);                                                         \
        const i32 qn_flat = ARC_TAG(c) == ARC_IDX || ARC_TAG(c) == ARC_OBJ;                        \
        const u32 qn_to = arc_alloc(vm, (i64)qn_len * (qn_flat ? 4 : 8));                          \
        i32 qn_count;                                                                              \
        result = ARC_SLOT_NONE;                                                                    \
        if (!vm->error && qn_flat) {                                                               \
            GLOBAL const u32 *qn_in = arc_keys(vm, c);                                             \
            GLOBAL u32 *qn_out = arc_keys_at(vm, qn_to);                                           \
            PACK(qn_count, qn_k, k, qn_len, cond, qn_out[qn_k] = qn_in[k])                         \
            arc_cut(vm, qn_to, (i64)qn_count * 4);                                                 \
            result = arc_keys_slot(ARC_TAG(c) == ARC_OBJ, qn_to, qn_count);                        \
        } else if (!vm->error) {                                                                   \
            GLOBAL slot *qn_out = arc_slots_at(vm, qn_to);                                         \
            PACK(qn_count, qn_k, k, qn_len, cond, qn_out[qn_k] = arc_elem(vm, c, k))               \
            arc_cut(vm, qn_to, (i64)qn_count * 8);                                                 \
            result = arc_is_set(c) ? arc_set_of(VM, qn_to, qn_count)                               \
                                   : arc_tuple_of(VM, qn_to, qn_count);                            \
        }                                                                                          \
    }

/* Writes the elements of c to slots from `to` on. */
FN void arc_unpack(VM_PARAM, slot c, GLOBAL slot *to)
{
    const i32 n = arc_len(vm, c);

    EACH(k, n) to[k] = arc_elem(vm, c, k);
}

/* A tuple or a set, whichever `like` is. */
FN slot arc_make_like(VM_PARAM, slot like, u32 at, i32 n)
{
    return arc_is_set(like) ? arc_set_of(VM, at, n) : arc_tuple_of(VM, at, n);
}

FN_NOINLINE slot arc_op_size(VM_PARAM, slot a)
{
    return arc_is_container(a) ? ARC_SLOT_INT(arc_len(vm, a)) : arc_fail(vm, ARC_E_TYPE);
}

FN_NOINLINE slot arc_op_contained(VM_PARAM, slot a, slot b)
{
    const i32 n = arc_len(vm, b);
    i32 any;

    if (n < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (arc_is_set(b))
        return ARC_SLOT_BOOL(arc_holds(vm, b, a));
    ANY_OVER(any, k, n, arc_same(vm, arc_elem(vm, b, k), a))
    return ARC_SLOT_BOOL(any);
}

/* Joining. */

/* Both are index sets, or both are objects: keys remain keys. */
FN_NOINLINE slot arc_union_keys(VM_PARAM, slot a, slot b)
{
    const i32 na = ARC_AUX(a), nb = ARC_AUX(b);
    const u32 at = arc_alloc(vm, (i64)(na + nb) * 4);
    GLOBAL u32 *out = arc_keys_at(vm, at);
    GLOBAL const u32 *x = arc_keys(vm, a);
    GLOBAL const u32 *y = arc_keys(vm, b);

    if (vm->error)
        return ARC_SLOT_NONE;
#if LANES == 1 && WIDTH == 1
    {
        i32 i = 0, j = 0, n = 0;

        while (i < na || j < nb) {
            const u32 key = j == nb || (i < na && x[i] <= y[j]) ? x[i] : y[j];

            i += i < na && x[i] == key;
            j += j < nb && y[j] == key;
            out[n++] = key;
        }
        arc_cut(vm, at, (i64)n * 4);
        return ARC_SLOT(ARC_TAG(a), n, at);
    }
#else
    EACH(k, na + nb) out[k] = k < na ? x[k] : y[k - na];
    return arc_set_of_keys(VM, ARC_TAG(a) == ARC_OBJ, at, na + nb);
#endif
}

FN_NOINLINE slot arc_op_combine(VM_PARAM, slot a, slot b)
{
    const i32 na = arc_len(vm, a), nb = arc_len(vm, b);
    u32 at;

    if (na < 0 || nb < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (arc_is_set(a) && arc_is_set(b)) {
        if (na == 0 || nb == 0)
            return na ? a : b;
        if (ARC_TAG(a) == ARC_TAG(b) && ARC_TAG(a) != ARC_SET)
            return arc_union_keys(VM, a, b);
    }
    at = arc_new_slots(vm, na + nb);
    if (vm->error)
        return ARC_SLOT_NONE;
    arc_unpack(VM, a, arc_slots_at(vm, at));
    arc_unpack(VM, b, arc_slots_at(vm, at) + na);
    return arc_make_like(VM, a, at, na + nb);
}

/* The kind if all inner containers are index sets, or all are objects; otherwise ARC_SET. */
FN i32 arc_inner_keys(VM_PARAM, slot c, i32 n)
{
    i32 n_idx, n_obj, n_empty;

    SUM_OVER(n_idx, k, n, ARC_TAG(arc_elem(vm, c, k)) == ARC_IDX)
    SUM_OVER(n_obj, k, n, ARC_TAG(arc_elem(vm, c, k)) == ARC_OBJ)
    SUM_OVER(n_empty, k, n, arc_elem(vm, c, k) == ARC_SLOT_EMPTY_SET)
    return n_idx == n ? ARC_IDX : n_obj + n_empty == n ? ARC_OBJ : ARC_SET;
}

/* All elements of the containers in a, one after the other; a set drops duplicates. */
FN_NOINLINE slot arc_merge(VM_PARAM, slot a, i32 want_set)
{
    const i32 n = arc_len(vm, a);
    i32 all, total = 0, kind, at_elem = 0;
    u32 at;

    if (n < 0)
        return arc_fail(vm, ARC_E_TYPE);
    ALL_OVER(all, k, n, arc_is_container(arc_elem(vm, a, k)))
    if (!all)
        return arc_fail(vm, ARC_E_TYPE);
    SUM_OVER(total, k, n, arc_len(vm, arc_elem(vm, a, k)))
    kind = want_set ? arc_inner_keys(VM, a, n) : ARC_SET;
    if (total > ARC_MOST_AUX || total < 0)
        return arc_fail(vm, ARC_E_RANGE);
    if (kind != ARC_SET) {
        at = arc_alloc(vm, (i64)total * 4);
        if (vm->error)
            return ARC_SLOT_NONE;
        for (i32 i = 0; i < n; i++) {
            const slot inner = arc_elem(vm, a, i);
            GLOBAL const u32 *from = arc_keys(vm, inner);
            GLOBAL u32 *to = arc_keys_at(vm, at) + at_elem;
            const i32 len = ARC_AUX(inner);

            EACH(k, len) to[k] = from[k];
            at_elem += len;
        }
        return arc_set_of_keys(VM, kind == ARC_OBJ, at, total);
    }
    at = arc_new_slots(vm, total);
    if (vm->error)
        return ARC_SLOT_NONE;
    for (i32 i = 0; i < n; i++) {
        const slot inner = arc_elem(vm, a, i);

        arc_unpack(VM, inner, arc_slots_at(vm, at) + at_elem);
        at_elem += arc_len(vm, inner);
    }
    return want_set ? arc_set_of(VM, at, total) : arc_tuple_of(VM, at, total);
}

FN_NOINLINE slot arc_op_merge(VM_PARAM, slot a)
{
    return arc_merge(VM, a, arc_is_set(a));
}

#ifdef ARC_ON_CPU

/* Both are index sets, or both are objects: a single lane steps through both together. */
FN i32 arc_are_like_keys(slot a, slot b)
{
    return ARC_TAG(a) == ARC_TAG(b) && (ARC_TAG(a) == ARC_IDX || ARC_TAG(a) == ARC_OBJ);
}

#define ARC_STRIDE 16 /* keys skipped in one step */

/* The keys of a that are in b (is_in 1), or that are not (0). */
FN_NOINLINE slot arc_common_keys(arc_vm *vm, slot a, slot b, i32 is_in)
{
    const i32 na = ARC_AUX(a), nb = ARC_AUX(b);
    const u32 at = arc_alloc(vm, (i64)na * 4);
    GLOBAL u32 *out = arc_keys_at(vm, at);
    GLOBAL const u32 *x = arc_keys(vm, a);
    GLOBAL const u32 *y = arc_keys(vm, b);
    i32 n = 0, j = 0;

    if (vm->error)
        return ARC_SLOT_NONE;
    for (i32 i = 0; i < na; i++) {
        const u32 key = x[i];

        while (j + ARC_STRIDE < nb && y[j + ARC_STRIDE] < key)
            j += ARC_STRIDE;
        while (j < nb && y[j] < key)
            j++;
        out[n] = key;
        n += (j < nb && y[j] == key) == is_in;
    }
    arc_cut(vm, at, (i64)n * 4);
    return arc_keys_slot(ARC_TAG(a) == ARC_OBJ, at, n);
}

#endif

FN_NOINLINE slot arc_op_intersection(VM_PARAM, slot a, slot b)
{
    slot r;

    if (!arc_is_set(a) || !arc_is_set(b))
        return arc_fail(vm, ARC_E_TYPE);
#ifdef ARC_ON_CPU
    if (arc_are_like_keys(a, b))
        return arc_common_keys(vm, a, b, 1);
#endif
    FILTERED(r, a, k, arc_holds(vm, b, arc_elem(vm, a, k)))
    return r;
}

FN_NOINLINE slot arc_op_difference(VM_PARAM, slot a, slot b)
{
    slot r;

    if (!arc_is_container(a) || !arc_is_container(b))
        return arc_fail(vm, ARC_E_TYPE);
#ifdef ARC_ON_CPU
    if (arc_are_like_keys(a, b))
        return arc_common_keys(vm, a, b, 0);
#endif
    FILTERED(r, a, k, !arc_holds(vm, b, arc_elem(vm, a, k)))
    return r;
}

FN_NOINLINE slot arc_op_difference_tuple(VM_PARAM, slot a, slot b)
{
    return arc_is_tuple(a) ? arc_op_difference(VM, a, b) : arc_fail(vm, ARC_E_TYPE);
}

FN_NOINLINE slot arc_op_remove(VM_PARAM, slot a, slot b)
{
    slot r;

    if (!arc_is_container(b))
        return arc_fail(vm, ARC_E_TYPE);
    FILTERED(r, b, k, !arc_same(vm, arc_elem(vm, b, k), a))
    return r;
}

FN_NOINLINE slot arc_op_other(VM_PARAM, slot a, slot b)
{
    const i32 n = arc_len(vm, a);
    i32 at;

    if (n < 0)
        return arc_fail(vm, ARC_E_TYPE);
    FIRST_OVER(at, k, n, !arc_same(vm, arc_elem(vm, a, k), b))
    return at < n ? arc_elem(vm, a, at) : arc_fail(vm, ARC_E_EMPTY);
}

/* Whether element k differs from all before it. */
FN i32 arc_is_new(arc_vm *vm, slot c, i32 k)
{
    if (arc_is_late(vm, k))
        return 0;
    for (i32 j = 0; j < k; j++)
        if (arc_same(vm, arc_elem(vm, c, j), arc_elem(vm, c, k)))
            return 0;
    return 1;
}

FN_NOINLINE slot arc_op_dedupe(VM_PARAM, slot a)
{
    slot r;

    if (!arc_is_tuple(a))
        return arc_fail(vm, ARC_E_TYPE);
    FILTERED(r, a, k, arc_is_new(vm, a, k))
    return r;
}

FN_NOINLINE slot arc_op_initset(VM_PARAM, slot a)
{
    const u32 at = arc_new_slots(vm, 1);

    if (vm->error)
        return ARC_SLOT_NONE;
    arc_slots_at(vm, at)[0] = a;
    return arc_set_of(VM, at, 1);
}

FN_NOINLINE slot arc_op_insert(VM_PARAM, slot a, slot b)
{
    slot one;

    if (!arc_is_set(b))
        return arc_fail(vm, ARC_E_TYPE);
    one = arc_op_initset(VM, a);
    return vm->error ? ARC_SLOT_NONE : arc_op_combine(VM, b, one);
}

/* Making. */

FN_NOINLINE slot arc_op_totuple(VM_PARAM, slot a)
{
    const i32 n = arc_len(vm, a);
    u32 at;

    if (n < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (arc_is_tuple(a))
        return a;
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    arc_unpack(VM, a, arc_slots_at(vm, at));
    return arc_tuple_of(VM, at, n);
}

FN_NOINLINE slot arc_op_repeat(VM_PARAM, slot a, slot b)
{
    i64 n;
    u32 at;

    if (!arc_is_num(b))
        return arc_fail(vm, ARC_E_TYPE);
    n = arc_number(vm, b);
    if (n <= 0)
        return ARC_SLOT_EMPTY_TUPLE;
    if (n > ARC_MOST_AUX)
        return arc_fail(vm, ARC_E_RANGE);
    at = arc_new_slots(vm, (i32)n);
    if (vm->error)
        return ARC_SLOT_NONE;
    EACH(k, (i32)n) arc_slots_at(vm, at)[k] = a;
    return arc_tuple_of(VM, at, (i32)n);
}

FN_NOINLINE slot arc_op_interval(VM_PARAM, slot a, slot b, slot c)
{
    i64 from, to, by, n;
    u32 at;

    if (!arc_is_num(a) || !arc_is_num(b) || !arc_is_num(c))
        return arc_fail(vm, ARC_E_TYPE);
    from = arc_number(vm, a);
    to = arc_number(vm, b);
    by = arc_number(vm, c);
    if (by == 0)
        return arc_fail(vm, ARC_E_VALUE);
    n = by > 0 ? floor_div(to - from + by - 1, by) : floor_div(from - to - by - 1, -by);
    if (n <= 0)
        return ARC_SLOT_EMPTY_TUPLE;
    if (n > ARC_MOST_AUX)
        return arc_fail(vm, ARC_E_RANGE);
    at = arc_new_slots(vm, (i32)n);
    if (vm->error)
        return ARC_SLOT_NONE;
    EACH(k, (i32)n) arc_slots_at(vm, at)[k] = arc_int(vm, from + k * by);
    return arc_tuple_of(VM, at, (i32)n);
}

/* Rows of a grid, each of two values. */
FN i32 arc_are_small_pairs(slot a, slot b)
{
    return ARC_TAG(a) == ARC_PAIR && ARC_TAG(b) == ARC_PAIR && arc_row_width(a) == 2 &&
           arc_row_width(b) == 2;
}

/* Tuples of two that lanes make from elements: PAIR, CELL, or in 16 bytes at `room` a grid or a
 * TUPLE. */
FN slot arc_two_of(const arc_vm *vm, slot a, slot b, u32 room)
{
    if (arc_is_num(a) && arc_fits_i16(arc_number(vm, a))) {
        if (arc_is_num(b) && arc_fits_i16(arc_number(vm, b)))
            return ARC_SLOT_PAIR(arc_number(vm, a), arc_number(vm, b));
        if (ARC_TAG(b) == ARC_PAIR)
            return ARC_SLOT_CELL(arc_number(vm, a), ARC_PAIR_I(b), ARC_PAIR_J(b));
    }
    if (arc_are_small_pairs(a, b)) { /* a grid of 2 x 2 */
        GLOBAL i8 *cells = arc_bytes_at(vm, room + ARC_GRID_HEAD);

        arc_slots_at(vm, room)[0] = 2 | 2 << 16;
        cells[0] = (i8)ARC_PAIR_I(a);
        cells[1] = (i8)ARC_PAIR_J(a);
        cells[2] = (i8)ARC_PAIR_I(b);
        cells[3] = (i8)ARC_PAIR_J(b);
        return ARC_SLOT(ARC_GRID, 0, room);
    }
    arc_slots_at(vm, room)[0] = a;
    arc_slots_at(vm, room)[1] = b;
    return ARC_SLOT(ARC_TUPLE, 2, room);
}

/* 0: all tuples of two are PAIRs or CELLs, 1: some need slots, 2: some are rows, hence grids. */
FN i32 arc_two_need(const arc_vm *vm, slot a, slot b)
{
    if (arc_is_num(a) && arc_fits_i16(arc_number(vm, a)) &&
        ((arc_is_num(b) && arc_fits_i16(arc_number(vm, b))) || ARC_TAG(b) == ARC_PAIR))
        return 0;
    if (arc_are_small_pairs(a, b))
        return 1;
    return arc_row_width(a) > 0 && arc_row_width(a) == arc_row_width(b) ? 2 : 1;
}

#ifdef ARC_ON_CPU

/* Like arc_twos, as long as it makes pairs and cells; returns whether all were. */
FN i32 arc_plain_twos(const arc_vm *vm, u32 at, i32 n, slot a, slot b, i32 nb, i32 all_with_all)
{
    GLOBAL slot *to = arc_slots_at(vm, at);

    for (i32 k = 0; k < n; k++) {
        const slot x = arc_elem(vm, a, all_with_all ? k / nb : k);
        const slot y = arc_elem(vm, b, all_with_all ? k % nb : k);
        const u32 number = ARC_PAYLOAD(x);

        if (!arc_is_num(x) || ARC_AUX(x) || !arc_fits_i16((i32)number))
            return 0;
        if (ARC_TAG(y) == ARC_PAIR)
            to[k] = ARC_SLOT(ARC_CELL, number & 0xffff, ARC_PAYLOAD(y));
        else if (arc_is_num(y) && !ARC_AUX(y) && arc_fits_i16((i32)ARC_PAYLOAD(y)))
            to[k] = ARC_SLOT_PAIR(number, ARC_PAYLOAD(y));
        else
            return 0;
    }
    return 1;
}

#endif

/* Replaces slots 0 .. n - 1 at `at` by the tuples (a[first(k)], b[second(k)]). With `all_with_all`,
 * k counts through b for each element of a; otherwise through both in parallel. */
FN_NOINLINE void arc_twos(VM_PARAM, u32 at, i32 n, slot a, slot b, i32 all_with_all)
{
    const i32 nb = all_with_all ? arc_len(vm, b) : 1;
    const u32 mark = vm->top;
    u32 room;
    i32 need;

#ifdef ARC_ON_CPU
    if (arc_plain_twos(vm, at, n, a, b, nb, all_with_all))
        return;
#endif
    MAX_OVER(need, k, n, 0,
             arc_two_need(vm, arc_elem(vm, a, all_with_all ? k / nb : k),
                          arc_elem(vm, b, all_with_all ? k % nb : k)))
    room = arc_alloc(vm, need == 1 ? (i64)n * 16 : 0);
    if (vm->error)
        return;
    if (need < 2) {
        EACH(k, n)
        arc_slots_at(vm, at)[k] =
            arc_two_of(vm, arc_elem(vm, a, all_with_all ? k / nb : k),
                       arc_elem(vm, b, all_with_all ? k % nb : k), room + (u32)k * 16);
        return;
    }
    vm->top = mark;
    for (i32 k = 0; k < n; k++) {
        const slot x = arc_elem(vm, a, all_with_all ? k / nb : k);
        const slot y = arc_elem(vm, b, all_with_all ? k % nb : k);
        const slot two = arc_tuple_of_2(VM, x, y);

        if (vm->error)
            return;
        arc_slots_at(vm, at)[k] = two;
    }
}

FN_NOINLINE slot arc_op_pair(VM_PARAM, slot a, slot b)
{
    const i32 na = arc_len(vm, a), nb = arc_len(vm, b);
    const i32 n = MIN(na, nb);
    u32 at;

    if (na < 0 || nb < 0)
        return arc_fail(vm, ARC_E_TYPE);
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    arc_twos(VM, at, n, a, b, 0);
    return vm->error ? ARC_SLOT_NONE : arc_tuple_of(VM, at, n);
}

#ifdef ARC_ON_CPU

/* Whether the elements of v are ascending coordinates. */
FN i32 arc_are_coords(const arc_vm *vm, slot v, i32 n)
{
    i64 before = -ARC_COORD - 1;

    for (i32 k = 0; k < n; k++) {
        const slot e = arc_elem(vm, v, k);
        const i64 number = arc_is_num(e) ? arc_number(vm, e) : before;

        if (number <= before || number >= ARC_COORD)
            return 0;
        before = number;
    }
    return 1;
}

/* The product of ascending coordinates: keys, already in order. */
FN_NOINLINE slot arc_product_keys(arc_vm *vm, slot a, slot b, i32 na, i32 nb)
{
    const u32 at = arc_alloc(vm, (i64)na * nb * 4);
    GLOBAL u32 *keys = arc_keys_at(vm, at);
    u32 first = 0;

    if (vm->error)
        return ARC_SLOT_NONE;
    for (i32 i = 0; i < na; i++) {
        const u32 row = (u32)(i32)arc_number(vm, arc_elem(vm, a, i)) << 12;

        if (i == 0) {
            first = row;
            for (i32 j = 0; j < nb; j++)
                keys[j] = ARC_KEY(0, 0, arc_number(vm, arc_elem(vm, b, j))) + row;
        } else {
            for (i32 j = 0; j < nb; j++)
                keys[i * nb + j] = keys[j] + row - first;
        }
    }
    return arc_keys_slot(0, at, na * nb);
}

#endif

FN_NOINLINE slot arc_op_product(VM_PARAM, slot a, slot b)
{
    const i32 na = arc_len(vm, a), nb = arc_len(vm, b);
    const i64 n = (i64)na * nb;
    u32 at;

    if (na < 0 || nb < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (n > ARC_MOST_AUX)
        return arc_fail(vm, ARC_E_RANGE);
#ifdef ARC_ON_CPU
    if (arc_are_coords(vm, a, na) && arc_are_coords(vm, b, nb))
        return arc_product_keys(vm, a, b, na, nb);
#endif
    at = arc_new_slots(vm, (i32)n);
    if (vm->error)
        return ARC_SLOT_NONE;
    arc_twos(VM, at, (i32)n, a, b, 1);
    if (vm->error)
        return ARC_SLOT_NONE;
    /* From two sets, all are distinct and in order already. */
    if (n > 0 && arc_is_set(a) && arc_is_set(b) && arc_key_kind(arc_slots_at(vm, at)[0]) == ARC_SET)
        return ARC_SLOT(ARC_SET, n, at);
    return arc_set_of(VM, at, (i32)n);
}

#endif
