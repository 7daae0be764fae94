/* arc_op_grid_turn.h - reflected and rotated grids, and which of these maps inputs to outputs. */
#ifndef ARC_OP_GRID_TURN_H
#define ARC_OP_GRID_TURN_H

#include "arc_grid.h"
#include "arc_op_move.h"

/* Loose grids. */

/* Reverses every row; takes the rows forwards, or backwards from the last. */
FN_NOINLINE slot arc_loose_reverse(VM_PARAM, slot v, i32 is_backwards)
{
    const i32 rows = arc_len(vm, v);
    const u32 at = arc_begin_rows(vm, rows);

    for (i32 r = 0; r < rows && !vm->error; r++) {
        const slot row = arc_elem(vm, v, is_backwards ? rows - 1 - r : r);
        const i32 n = arc_rows_of_tuple(vm, row);

        if (!vm->error)
            arc_put_row(VM, at, r, arc_stretch(VM, row, n - 1, n, -1, 1));
    }
    return arc_tuple_of_rows(VM, at, rows);
}

#define ARC_COL_FORWARDS  0 /* result row r is column r */
#define ARC_COL_BACKWARDS 1 /* column n - 1 - r, where n is the length of the shortest row */
#define ARC_COL_FROM_END  2 /* the value of every row r before its last */

/* Columns become rows, cut to the shortest; rows are taken from the last if is_upwards. */
FN_NOINLINE slot arc_loose_turn(VM_PARAM, slot v, i32 is_upwards, i32 col)
{
    const i32 rows = arc_len(vm, v);
    const i32 n = arc_grid_shortest(VM, arc_grid_of(vm, v));
    const u32 at = arc_begin_rows(vm, n);

    for (i32 r = 0; r < n && !vm->error; r++) {
        const u32 row_at = arc_new_slots(vm, rows);
        GLOBAL slot *out = arc_slots_at(vm, row_at);

        if (vm->error)
            break;
        EACH(c, rows)
        {
            const slot row = arc_elem(vm, v, is_upwards ? rows - 1 - c : c);
            const i32 j = col == ARC_COL_FORWARDS    ? r
                          : col == ARC_COL_BACKWARDS ? n - 1 - r
                                                     : arc_len(vm, row) - 1 - r;
            out[c] = arc_elem(vm, row, j);
        }
        arc_put_row(VM, at, r, arc_tuple_of(VM, row_at, rows));
    }
    return arc_tuple_of_rows(VM, at, n);
}

/* Whether every row is a tuple, which reversing requires; if not, it fails. */
FN i32 arc_has_tuple_rows(VM_PARAM, slot v)
{
    const i32 rows = arc_rows_of_tuple(vm, v);
    i32 all;

    ALL_OVER(all, i, rows, arc_is_tuple(arc_elem(vm, v, i)))
    if (!all)
        arc_fail(vm, ARC_E_TYPE);
    return !vm->error;
}

/* Mirrors. */

FN_NOINLINE slot arc_op_hmirror(VM_PARAM, slot a)
{
    const arc_grid g = arc_grid_of(vm, a);

    if (g.is_plain)
        return arc_pick(VM, g.cells, g.rows, g.cols, (g.rows - 1) * g.cols, -g.cols, 1);
    if (!arc_is_tuple(a))
        return arc_hmirror_set(VM, a);
    return arc_stretch(VM, a, g.rows - 1, g.rows, -1, 1);
}

FN_NOINLINE slot arc_op_vmirror(VM_PARAM, slot a)
{
    const arc_grid g = arc_grid_of(vm, a);

    if (g.is_plain)
        return arc_pick(VM, g.cells, g.rows, g.cols, g.cols - 1, g.cols, -1);
    if (!arc_is_tuple(a))
        return arc_vmirror_set(VM, a);
    return arc_loose_reverse(VM, a, 0);
}

FN_NOINLINE slot arc_op_dmirror(VM_PARAM, slot a)
{
    const arc_grid g = arc_grid_of(vm, a);

    if (g.is_plain)
        return arc_pick(VM, g.cells, g.cols, g.rows, 0, 1, g.cols);
    if (!arc_is_tuple(a))
        return arc_dmirror_set(VM, a);
    return arc_loose_turn(VM, a, 0, ARC_COL_FORWARDS);
}

FN_NOINLINE slot arc_op_cmirror(VM_PARAM, slot a)
{
    const arc_grid g = arc_grid_of(vm, a);

    if (g.is_plain)
        return arc_pick(VM, g.cells, g.cols, g.rows, g.rows * g.cols - 1, -1, -g.cols);
    if (!arc_is_tuple(a))
        return arc_cmirror_set(VM, a);
    if (!arc_has_tuple_rows(VM, a))
        return ARC_SLOT_NONE;
    return arc_loose_turn(VM, a, 1, ARC_COL_FROM_END);
}

/* Turns. */

FN_NOINLINE slot arc_op_rot90(VM_PARAM, slot a)
{
    const arc_grid g = arc_grid_of(vm, a);

    if (g.is_plain)
        return arc_pick(VM, g.cells, g.cols, g.rows, (g.rows - 1) * g.cols, 1, -g.cols);
    if (!arc_is_tuple(a))
        return arc_fail(vm, ARC_E_TYPE);
    return arc_loose_turn(VM, a, 1, ARC_COL_FORWARDS);
}

FN_NOINLINE slot arc_op_rot180(VM_PARAM, slot a)
{
    const arc_grid g = arc_grid_of(vm, a);

    if (g.is_plain)
        return arc_pick(VM, g.cells, g.rows, g.cols, g.rows * g.cols - 1, -g.cols, -1);
    if (!arc_is_tuple(a))
        return arc_fail(vm, ARC_E_TYPE);
    return arc_loose_reverse(VM, a, 1);
}

FN_NOINLINE slot arc_op_rot270(VM_PARAM, slot a)
{
    const arc_grid g = arc_grid_of(vm, a);

    if (g.is_plain)
        return arc_pick(VM, g.cells, g.cols, g.rows, g.cols - 1, -1, g.cols);
    if (!arc_is_tuple(a))
        return arc_fail(vm, ARC_E_TYPE);
    return arc_loose_turn(VM, a, 0, ARC_COL_BACKWARDS);
}

/* Turns by number. */

FN_NOINLINE slot arc_mirror_or_turn(VM_PARAM, slot grid, i32 which)
{
    switch (which) {
    case 0:
        return arc_op_hmirror(VM, grid);
    case 1:
        return arc_op_dmirror(VM, grid);
    case 2:
        return arc_op_vmirror(VM, grid);
    case 3:
        return arc_op_cmirror(VM, grid);
    case 4:
        return arc_op_rot90(VM, grid);
    case 5:
        return arc_op_rot180(VM, grid);
    case 6:
        return arc_op_rot270(VM, grid);
    default:
        return grid;
    }
}

FN_NOINLINE slot arc_op_mir_rot_t(VM_PARAM, slot grid, slot which)
{
    return arc_mirror_or_turn(VM, grid, arc_is_num(which) ? arc_int_operand(vm, which) : -1);
}

/* Fails unless every element of `samples` is a tuple of two. */
FN i32 arc_are_samples(VM_PARAM, slot samples)
{
    const i32 n = arc_len(vm, samples);
    i32 all = 0;

    if (n >= 0)
        ALL_OVER(all, k, n,
                 arc_is_tuple(arc_elem(vm, samples, k)) &&
                     arc_len(vm, arc_elem(vm, samples, k)) == 2)
    if (!all)
        arc_fail(vm, ARC_E_TYPE);
    return all;
}

/* The least number whose turn maps every input to its output. */
FN_NOINLINE slot arc_op_a_mr(VM_PARAM, slot samples)
{
    const u32 mark = vm->top;
    const i32 n = arc_len(vm, samples);

    if (!arc_are_samples(VM, samples))
        return ARC_SLOT_NONE;
    for (i32 which = 0; which < 8; which++) {
        i32 k = 0;

        for (; k < n; k++) {
            const slot sample = arc_elem(vm, samples, k);
            const slot turned = arc_mirror_or_turn(VM, arc_elem(vm, sample, 0), which);
            i32 same;

            if (vm->error)
                return ARC_SLOT_NONE;
            MEET;
            same = arc_same(vm, turned, arc_elem(vm, sample, 1));
            MEET;
            vm->top = mark;
            if (!same)
                break;
        }
        if (k == n)
            return ARC_SLOT_INT(which);
    }
    return ARC_SLOT_NONE;
}

FN_NOINLINE slot arc_op_dedupe_pair_tuple(VM_PARAM, slot samples)
{
    const i32 n = arc_len(vm, samples);
    u32 at;
    GLOBAL slot *out;
    i32 count;

    if (!arc_are_samples(VM, samples))
        return ARC_SLOT_NONE;
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_slots_at(vm, at);
    PACK(count, to, k, n,
         !arc_same(vm, arc_elem(vm, arc_elem(vm, samples, k), 0),
                   arc_elem(vm, arc_elem(vm, samples, k), 1)),
         out[to] = arc_elem(vm, samples, k))
    arc_cut(vm, at, (i64)count * 8);
    return arc_tuple_of(VM, at, count);
}

#endif
