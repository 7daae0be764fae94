/* arc_op_colour.h - colours of grids and objects: which there are, how many, how often. */
#ifndef ARC_OP_COLOUR_H
#define ARC_OP_COLOUR_H

#include "arc_tally.h"

FN_NOINLINE slot arc_op_mostcolor(VM_PARAM, slot element)
{
    return arc_extreme_colour(VM, element, 1);
}

FN_NOINLINE slot arc_op_leastcolor(VM_PARAM, slot element)
{
    return arc_extreme_colour(VM, element, 0);
}

FN_NOINLINE slot arc_op_colorcount(VM_PARAM, slot element, slot value)
{
    const u32 mark = vm->top;
    const arc_grid g = arc_grid_of(vm, element);
    i32 count = 0;

    if (g.is_plain) {
        const i32 colour = arc_is_colour(vm, value) ? (i32)arc_number(vm, value) : -129;

        count = arc_count_of(TEAM_PASS, g.cells, g.rows * g.cols, colour);
    } else {
        const arc_tally t = arc_tally_of(VM, element);

        if (vm->error)
            return ARC_SLOT_NONE;
        SUM_OVER(count, d, t.n, arc_same(vm, t.value[d], value) ? (i32)t.count[d] : 0)
        MEET;
    }
    vm->top = mark;
    return ARC_SLOT_INT(count);
}

/* The values of an element, ascending, as a set or as a tuple. */
FN_NOINLINE slot arc_colours_of(VM_PARAM, slot element, i32 as_set)
{
    const u32 mark = vm->top;
    const arc_tally t = arc_tally_of(VM, element);

    if (vm->error)
        return ARC_SLOT_NONE;
    /* Values point only to content older than the tally: they can move to the front. */
    if (t.value != arc_slots_at(vm, mark))
        arc_copy_down(VM, mark, (GLOBAL const u8 *)t.value, t.n * 8);
    vm->top = mark + (u32)t.n * 8;
    return as_set ? arc_set_of(VM, mark, t.n) : arc_tuple_of(VM, mark, t.n);
}

FN_NOINLINE slot arc_op_palette(VM_PARAM, slot element)
{
    return arc_colours_of(VM, element, 1);
}

FN_NOINLINE slot arc_op_p_g(VM_PARAM, slot grid)
{
    return arc_colours_of(VM, grid, 0);
}

FN_NOINLINE slot arc_op_numcolors(VM_PARAM, slot element)
{
    const u32 mark = vm->top;
    const arc_tally t = arc_tally_of(VM, element);

    vm->top = mark;
    return ARC_SLOT_INT(t.n);
}

/* Where a value first appears in reading order. */
FN i32 arc_first_place(VM_PARAM, slot element, slot value)
{
    const i32 rows = arc_len(vm, element), of_rows = arc_is_tuple(element);
    i32 before = 0;

    for (i32 i = 0; i < rows; i++) {
        const slot row = arc_elem(vm, element, i);
        const i32 len = of_rows ? arc_len(vm, row) : 1;
        i32 j;

        if (arc_is_late(vm, len))
            break;
        FIRST_OVER(j, k, len, arc_same(vm, arc_elem(vm, row, k), value))
        before += j;
        if (j < len)
            break;
    }
    return before;
}

/* The value at a rank, most frequent first; among equally frequent ones, the first to appear. */
FN_NOINLINE slot arc_op_get_color_rank_t(VM_PARAM, slot element, slot rank)
{
    const u32 mark = vm->top;
    const arc_tally t = arc_tally_of(VM, element);
    const i32 asked = arc_int_operand(vm, rank);
    const i32 wanted = asked < 0 ? asked + t.n : asked;
    u32 first_at;
    GLOBAL i32 *first;
    slot value;
    i32 best;

    if (!vm->error && (wanted < 0 || wanted >= t.n))
        arc_fail(vm, ARC_E_INDEX);
    if (vm->error)
        return ARC_SLOT_NONE;
    first_at = arc_alloc(vm, (i64)t.n * 4);
    if (vm->error)
        return ARC_SLOT_NONE;
    first = (GLOBAL i32 *)arc_keys_at(vm, first_at);
    for (i32 d = 0; d < t.n; d++) {
        const i32 at = arc_first_place(VM, element, t.value[d]);

        ONE_LANE first[d] = at;
    }
    for (best = 0; best < t.n - 1 && !arc_is_late(vm, t.n); best++) {
        i32 before;

        SUM_OVER(before, d, t.n,
                 t.count[d] > t.count[best] ||
                     (t.count[d] == t.count[best] && first[d] < first[best]))
        if (before == wanted)
            break;
    }
    value = t.value[best];
    MEET;
    vm->top = mark;
    return value;
}

#endif
