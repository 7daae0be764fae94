/* arc_op_filter.h - primitives that choose among objects, list colours, or put cells together. */
#ifndef ARC_OP_FILTER_H
#define ARC_OP_FILTER_H

#include "arc_op_move.h"
#include "arc_op_patch.h"

/* Filters. */

/* The set of n slots at `at`, chosen from a set in its order. */
FN slot arc_set_of_chosen(VM_PARAM, u32 at, i32 n, i32 are_sorted)
{
    if (are_sorted && n > 0 && arc_key_kind(arc_slots_at(vm, at)[0]) == ARC_SET) {
        arc_cut(vm, at, (i64)n * 8);
        return ARC_SLOT(ARC_SET, n, at);
    }
    return arc_set_of(VM, at, n);
}

/* ARC_OK, or why the first colour, or the size, of an element is not defined. */
FN i32 arc_filter_error(const arc_vm *vm, slot e, i32 by_colour)
{
    const slot colour = by_colour ? arc_first_colour(vm, e) : ARC_SLOT_NONE;

    if (by_colour)
        return ARC_TAG(colour) == ARC_BAD ? (i32)ARC_PAYLOAD(colour) : ARC_OK;
    return arc_len(vm, e) < 0 ? ARC_E_TYPE : ARC_OK;
}

FN i32 arc_passes(arc_vm *vm, slot e, slot wanted, i32 by_colour)
{
    return arc_same(vm, by_colour ? arc_first_colour(vm, e) : ARC_SLOT_INT(arc_len(vm, e)), wanted);
}

/* The elements of a container whose first colour, or whose size, is the one wanted. */
FN_NOINLINE slot arc_filter(VM_PARAM, slot a, slot wanted, i32 by_colour, i32 to_tuple)
{
    const i32 n = arc_len(vm, a);
    GLOBAL slot *out;
    i32 wrong, count;
    u32 at;

    if (n < 0)
        return arc_fail(vm, ARC_E_TYPE);
    FIRST_OVER(wrong, k, n, arc_filter_error(vm, arc_elem(vm, a, k), by_colour) != ARC_OK)
    if (wrong < n)
        return arc_fail(vm, arc_filter_error(vm, arc_elem(vm, a, wrong), by_colour));
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_slots_at(vm, at);
    PACK(count, to, k, n, arc_passes(vm, arc_elem(vm, a, k), wanted, by_colour),
         out[to] = arc_elem(vm, a, k))
    arc_cut(vm, at, (i64)count * 8);
    return to_tuple ? arc_tuple_of(VM, at, count) : arc_set_of_chosen(VM, at, count, arc_is_set(a));
}

FN_NOINLINE slot arc_op_colorfilter(VM_PARAM, slot a, slot colour)
{
    return arc_filter(VM, a, colour, 1, 0);
}

FN_NOINLINE slot arc_op_sizefilter(VM_PARAM, slot a, slot n)
{
    return arc_filter(VM, a, n, 0, 0);
}

FN_NOINLINE slot arc_op_colorfilter_t(VM_PARAM, slot a, slot colour)
{
    return arc_filter(VM, a, colour, 1, 1);
}

FN_NOINLINE slot arc_op_sizefilter_t(VM_PARAM, slot a, slot n)
{
    return arc_filter(VM, a, n, 0, 1);
}

/* Colours. */

/* Component 0 of an item: its colour, or the row of a pair. */
FN i32 arc_item_colour(arc_patch p, i32 k)
{
    return p.is_object ? ARC_KEY_COLOUR(p.keys[k]) : ARC_KEY_I(p.keys[k]);
}

FN i32 arc_starts_colour(arc_patch p, i32 k)
{
    return k == 0 || arc_item_colour(p, k) != arc_item_colour(p, k - 1);
}

FN_NOINLINE slot arc_object_colours(VM_PARAM, slot a, i32 to_tuple)
{
    const u32 mark = vm->top;
    const arc_patch p = arc_patch_as_set(VM, a);
    GLOBAL slot *out;
    slot colours;
    i32 n;
    u32 at;

    if (vm->error)
        return ARC_SLOT_NONE;
    SUM_OVER(n, k, p.n, arc_starts_colour(p, k))
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_slots_at(vm, at);
    PACK(n, to, k, p.n, arc_starts_colour(p, k), out[to] = ARC_SLOT_INT(arc_item_colour(p, k)))
    colours = to_tuple ? arc_tuple_of(VM, at, n) : arc_set_of_chosen(VM, at, n, 1);
    return vm->error ? ARC_SLOT_NONE : arc_keep(VM, mark, colours);
}

FN_NOINLINE slot arc_op_p_o(VM_PARAM, slot a)
{
    return arc_object_colours(VM, a, 1);
}

FN_NOINLINE slot arc_op_p_f(VM_PARAM, slot a)
{
    return arc_object_colours(VM, a, 0);
}

/* The rank of run r among n runs, longest first; equal ones keep their order. */
FN i32 arc_run_rank(GLOBAL const i32 *start, i32 n, i32 r)
{
    const i32 length = start[r + 1] - start[r];
    i32 rank = 0;

    for (i32 k = 0; k < n; k++) {
        const i32 other = start[k + 1] - start[k];

        rank += other > length || (other == length && k < r);
    }
    return rank;
}

/* The colour at a rank, most frequent first; the colours of a set come in runs. */
FN_NOINLINE slot arc_op_get_color_rank_f(VM_PARAM, slot a, slot rank)
{
    const u32 mark = vm->top;
    const arc_patch p = arc_patch_of(VM, a);
    GLOBAL i32 *start;
    i64 wanted;
    i32 n, r;

    if (!vm->error && (!p.is_set || !arc_is_num(rank)))
        arc_fail(vm, ARC_E_TYPE);
    if (vm->error)
        return ARC_SLOT_NONE;
    SUM_OVER(n, k, p.n, arc_starts_colour(p, k))
    wanted = arc_number(vm, rank);
    wanted += wanted < 0 ? n : 0;
    if (wanted < 0 || wanted >= n)
        return arc_fail(vm, ARC_E_INDEX);
    start = (GLOBAL i32 *)arc_keys_at(vm, arc_alloc(vm, 4 * ((i64)n + 1)));
    if (vm->error)
        return ARC_SLOT_NONE;
    PACK(n, to, k, p.n, arc_starts_colour(p, k), start[to] = k)
    start[n] = p.n;
    FIRST_OVER(r, k, n, arc_run_rank(start, n, k) == (i32)wanted)
    r = arc_item_colour(p, start[r]);
    MEET;
    vm->top = mark;
    return ARC_SLOT_INT(r);
}

/* Cells. */

FN_NOINLINE slot arc_op_ascell(VM_PARAM, slot place, slot colour)
{
    return arc_tuple_of_2(VM, colour, place);
}

FN_NOINLINE slot arc_op_toij(VM_PARAM, slot cell)
{
    if (!arc_is_tuple(cell))
        return arc_fail(vm, ARC_E_TYPE);
    return arc_len(vm, cell) == 2 ? arc_elem(vm, cell, 1) : arc_fail(vm, ARC_E_VALUE);
}

FN_NOINLINE slot arc_op_astriple(VM_PARAM, slot a, slot b, slot c)
{
    const u32 at = arc_new_slots(vm, 3);
    GLOBAL slot *out = arc_slots_at(vm, at);

    if (vm->error)
        return ARC_SLOT_NONE;
    out[0] = a;
    out[1] = b;
    out[2] = c;
    return arc_tuple_of(VM, at, 3);
}

/* Cells from parallel places and colours, as many as the shorter one has. */
FN_NOINLINE slot arc_op_celltuple(VM_PARAM, slot places, slot colours)
{
    const i32 n = MIN(arc_len(vm, places), arc_len(vm, colours));
    GLOBAL slot *out;
    u32 at;

    if (n < 0)
        return arc_fail(vm, ARC_E_TYPE);
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_slots_at(vm, at);
    for (i32 k = 0; k < n; k++) {
        const slot cell = arc_tuple_of_2(VM, arc_elem(vm, colours, k), arc_elem(vm, places, k));

        if (vm->error)
            return ARC_SLOT_NONE;
        out[k] = cell;
        MEET;
    }
    return arc_tuple_of(VM, at, n);
}

#endif
