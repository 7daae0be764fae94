/* arc_make.h - building containers: each in the first representation that can hold it.
 *
 * A maker takes elements in fresh memory at the end of the arena, leaves the container in their
 * place and releases scratch memory.
 */
#ifndef ARC_MAKE_H
#define ARC_MAKE_H

#include "arc_sort.h"

/* Copies bytes to a lower or disjoint place at the end of the arena, in blocks of LANES, each read
 * before it is written. */
FN_NOINLINE void arc_copy_down(VM_PARAM, u32 to, GLOBAL const u8 *from, i32 n_bytes)
{
    GLOBAL u8 *dst = vm->arena + to;

#if LANES > 1
    MEET;
    for (i32 b = 0; b < n_bytes; b += N_LANES) {
        const i32 k = b + MY_LANE;
        const u8 v = k < n_bytes ? from[k] : (u8)0;

        MEET;
        if (k < n_bytes)
            dst[k] = v;
        MEET;
    }
#elif defined(ARC_ON_CPU)
    memmove(dst, from, (size_t)n_bytes);
#else
    for (i32 k = 0; k < n_bytes; k++)
        dst[k] = from[k];
#endif
}

/* Bytes of a value's content. */
FN i64 arc_content(const arc_vm *vm, slot v)
{
    switch (ARC_TAG(v)) {
    case ARC_INT:
        return ARC_AUX(v) ? 8 : 0; /* boxed */
    case ARC_ROW:
        return ARC_AUX(v);
    case ARC_GRID:
        return ARC_GRID_HEAD + (i64)arc_grid_rows(vm, v) * arc_grid_cols(vm, v);
    case ARC_IDX:
    case ARC_OBJ:
        return (i64)ARC_AUX(v) * 4;
    case ARC_TUPLE:
    case ARC_SET:
        return (i64)ARC_AUX(v) * 8;
    case ARC_CLOS:
        return ARC_CLOS_HEAD + (i64)((GLOBAL const u16 *)arc_at(vm, ARC_PAYLOAD(v)))[1] * 8;
    default:
        return 0;
    }
}

/* Moves the content of a flat value down to `mark`, where it becomes the last thing allocated. */
FN_NOINLINE slot arc_move_down(VM_PARAM, u32 mark, slot v)
{
    const i64 n = arc_content(vm, v);

    if (ARC_PAYLOAD(v) != mark)
        arc_copy_down(VM, mark, arc_at(vm, ARC_PAYLOAD(v)), (i32)n);
    arc_cut(vm, mark, n);
    return ARC_SLOT(ARC_TAG(v), ARC_AUX(v), mark);
}

/* Drops everything allocated since `mark`, except v. A flat value moves down to the mark; if v
 * points to others, everything stays. Content older than the mark points to nothing younger. */
FN slot arc_keep(VM_PARAM, u32 mark, slot v)
{
    const i32 is_young = ARC_PAYLOAD(v) >= mark && !(ARC_PAYLOAD(v) & ARC_POOLED);

#ifdef ARC_WIDE
    if (ARC_TAG(v) == ARC_INT && ARC_AUX(v))
        return v; /* boxed */
#endif
    if (!arc_has_content(v) || !is_young) {
        vm->top = mark;
        return v;
    }
    return arc_is_flat(v) ? arc_move_down(VM, mark, v) : v;
}

/* Keys: index sets and objects. */

FN slot arc_keys_slot(i32 is_object, u32 at, i32 n)
{
    return n == 0 ? ARC_SLOT_EMPTY_SET : ARC_SLOT(is_object ? ARC_OBJ : ARC_IDX, n, at);
}

/* The set of the n keys at `at`, in any order and with duplicates; they are the last thing
 * allocated. */
FN slot arc_set_of_keys(VM_PARAM, i32 is_object, u32 at, i32 n)
{
    const i32 count = arc_sort_keys(VM, at, n);

    if (vm->error)
        return ARC_SLOT_NONE;
    arc_cut(vm, at, (i64)count * 4);
    return arc_keys_slot(is_object, at, count);
}

FN i32 arc_fits_coord(i32 i)
{
    return i >= -ARC_COORD && i < ARC_COORD;
}

FN i32 arc_fits_i8(i64 n)
{
    return n >= -128 && n <= 127;
}

/* ARC_IDX for a pair that has a key, ARC_OBJ for such a cell, otherwise ARC_SET. */
FN i32 arc_key_kind(slot e)
{
    if (ARC_TAG(e) != ARC_PAIR && ARC_TAG(e) != ARC_CELL)
        return ARC_SET;
    if (!arc_fits_coord(ARC_PAIR_I(e)) || !arc_fits_coord(ARC_PAIR_J(e)))
        return ARC_SET;
    if (ARC_TAG(e) == ARC_PAIR)
        return ARC_IDX;
    return arc_fits_i8(ARC_CELL_COLOUR(e)) ? ARC_OBJ : ARC_SET;
}

FN u32 arc_key_of(slot e)
{
    return ARC_KEY(ARC_TAG(e) == ARC_CELL ? ARC_CELL_COLOUR(e) : 0, ARC_PAIR_I(e), ARC_PAIR_J(e));
}

/* Sets. */

/* The set of the n slots at `at`, the last thing allocated (except for what they point to: in that
 * case only duplicates are released). */
FN_NOINLINE slot arc_set_of(VM_PARAM, u32 at, i32 n)
{
    GLOBAL const slot *in = arc_slots_at(vm, at);
    const u32 end = at + (u32)n * 8;
    const i32 kind = n ? arc_key_kind(in[0]) : ARC_IDX;
    i32 all = 1, count;

    MEET;
    if (n == 0) {
        if (vm->top == end)
            vm->top = at;
        return ARC_SLOT_EMPTY_SET;
    }
    if (kind != ARC_SET)
        ALL_OVER(all, k, n, arc_key_kind(in[k]) == kind)
    if (kind == ARC_SET || !all) {
        count = arc_sort_slots(VM, at, n);
        if (vm->error)
            return ARC_SLOT_NONE;
        if (vm->top == end)
            arc_cut(vm, at, (i64)count * 8);
        return ARC_SLOT(ARC_SET, count, at);
    }
    {
        const u32 fresh = arc_alloc(vm, (i64)n * 4);
        GLOBAL u32 *keys = arc_keys_at(vm, fresh);

        if (vm->error)
            return ARC_SLOT_NONE;
        EACH(k, n) keys[k] = arc_key_of(in[k]);
        count = arc_sort_keys(VM, fresh, n);
        if (vm->error)
            return ARC_SLOT_NONE;
        if (fresh != end) {
            arc_cut(vm, fresh, (i64)count * 4);
            return ARC_SLOT(kind, count, fresh);
        }
        arc_copy_down(VM, at, arc_at(vm, fresh), count * 4);
        arc_cut(vm, at, (i64)count * 4);
        return ARC_SLOT(kind, count, at);
    }
}

/* Tuples. */

FN i32 arc_fits_i16(i64 n)
{
    return n >= -32768 && n <= 32767;
}

/* A tuple of two numbers. */
FN_NOINLINE slot arc_pair_of(arc_vm *vm, i64 i, i64 j)
{
    u32 at;
    slot a, b;

    if (arc_fits_i16(i) && arc_fits_i16(j))
        return ARC_SLOT_PAIR(i, j);
    a = arc_int(vm, i);
    b = arc_int(vm, j);
    at = arc_alloc(vm, 16);
    if (vm->error)
        return ARC_SLOT_NONE;
    arc_slots_at(vm, at)[0] = a;
    arc_slots_at(vm, at)[1] = b;
    return ARC_SLOT(ARC_TUPLE, 2, at);
}

/* Width of a value that can be a row of a grid; otherwise 0. */
FN i32 arc_row_width(slot v)
{
    if (ARC_TAG(v) == ARC_ROW)
        return ARC_AUX(v);
    return ARC_TAG(v) == ARC_PAIR && arc_fits_i8(ARC_PAIR_I(v)) && arc_fits_i8(ARC_PAIR_J(v)) ? 2
                                                                                              : 0;
}

FN i32 arc_fits_row(const arc_vm *vm, slot v)
{
    return arc_is_num(v) && arc_fits_i8(arc_number(vm, v));
}

/* Value j of a row or a pair. */
FN i8 arc_row_at(const arc_vm *vm, slot row, i32 j)
{
    if (ARC_TAG(row) == ARC_PAIR)
        return (i8)(j ? ARC_PAIR_J(row) : ARC_PAIR_I(row));
    return arc_bytes(vm, row)[j];
}

/* Moves `v`, whose content of n bytes was made at `fresh`, to `at` if nothing lies between. */
FN slot arc_settle(VM_PARAM, slot v, u32 at, u32 end, u32 fresh, i64 n)
{
    if (fresh != end)
        return v;
    arc_copy_down(VM, at, arc_at(vm, fresh), (i32)n);
    arc_cut(vm, at, n);
    return ARC_SLOT(ARC_TAG(v), ARC_AUX(v), at);
}

/* The tuple of the n slots at `at`, with the same rules as arc_set_of. */
FN_NOINLINE slot arc_tuple_of(VM_PARAM, u32 at, i32 n)
{
    GLOBAL const slot *in = arc_slots_at(vm, at);
    const u32 end = at + (u32)n * 8;
    const slot first = n > 0 ? in[0] : ARC_SLOT_NONE, second = n > 1 ? in[1] : ARC_SLOT_NONE;
    const i32 width = n <= 65535 ? arc_row_width(first) : 0;
    i32 all = 0;

    MEET;
    if (n == 0) {
        if (vm->top == end)
            vm->top = at;
        return ARC_SLOT_EMPTY_TUPLE;
    }
    if (n == 2 && arc_is_num(first) && arc_is_num(second)) {
        const i64 i = arc_number(vm, first), j = arc_number(vm, second);

        if (arc_fits_i16(i) && arc_fits_i16(j)) {
            if (vm->top == end)
                vm->top = at;
            return ARC_SLOT_PAIR(i, j);
        }
    }
    if (n == 2 && arc_is_num(first) && ARC_TAG(second) == ARC_PAIR &&
        arc_fits_i16(arc_number(vm, first))) {
        const slot cell =
            ARC_SLOT_CELL(arc_number(vm, first), ARC_PAIR_I(second), ARC_PAIR_J(second));

        if (vm->top == end)
            vm->top = at;
        return cell;
    }
    if (n != 2 && arc_fits_row(vm, first))
        ALL_OVER(all, k, n, arc_fits_row(vm, in[k]))
    if (all) {
        const u32 fresh = arc_alloc(vm, n);
        GLOBAL i8 *row = arc_bytes_at(vm, fresh);

        if (vm->error)
            return ARC_SLOT_NONE;
        EACH(k, n) row[k] = (i8)arc_number(vm, in[k]);
        return arc_settle(VM, ARC_SLOT(ARC_ROW, n, fresh), at, end, fresh, n);
    }
    if (width > 0 && width <= 65535)
        ALL_OVER(all, k, n, arc_row_width(in[k]) == width)
    if (all) {
        const u32 fresh = vm->top;
        const slot grid = arc_new_grid(vm, n, width);
        GLOBAL i8 *cells = arc_new_cells(vm, grid);

        if (vm->error)
            return ARC_SLOT_NONE;
#ifdef ARC_ON_CPU
        for (i32 i = 0; i < n; i++)
            for (i32 j = 0; j < width; j++)
                cells[i * width + j] = arc_row_at(vm, in[i], j);
#else
        EACH(k, n * width) cells[k] = arc_row_at(vm, in[k / width], k % width);
#endif
        return arc_settle(VM, grid, at, end, fresh, ARC_GRID_HEAD + (i64)n * width);
    }
    return ARC_SLOT(ARC_TUPLE, n, at);
}

/* Allocates n slots to be passed to a maker; sets vm->error if they do not fit. */
FN u32 arc_new_slots(arc_vm *vm, i32 n)
{
    if (n > ARC_MOST_AUX)
        arc_fail(vm, ARC_E_RANGE);
    return arc_alloc(vm, (i64)n * 8);
}

FN slot arc_tuple_of_2(VM_PARAM, slot a, slot b)
{
    u32 at;

#ifdef ARC_ON_CPU
    /* The usual case, which needs no memory. */
    if (arc_is_num(a) && arc_is_num(b) && arc_fits_i16(arc_number(vm, a)) &&
        arc_fits_i16(arc_number(vm, b)))
        return ARC_SLOT_PAIR(arc_number(vm, a), arc_number(vm, b));
#endif
    at = arc_new_slots(vm, 2);
    if (vm->error)
        return ARC_SLOT_NONE;
    arc_slots_at(vm, at)[0] = a;
    arc_slots_at(vm, at)[1] = b;
    return arc_tuple_of(VM, at, 2);
}

#endif
