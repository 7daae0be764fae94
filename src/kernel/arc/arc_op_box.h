/* arc_op_box.h - primitives that make index sets by rule: neighbours, lines, boxes.
 *
 * Keys are written in ascending order, so that nothing has to be sorted.
 */
#ifndef ARC_OP_BOX_H
#define ARC_OP_BOX_H

#include "arc_op_patch.h"

/* Allocates n keys of an index set; check vm->error. */
FN u32 arc_new_keys(arc_vm *vm, i64 n)
{
    if (n > ARC_MOST_AUX)
        arc_fail(vm, ARC_E_RANGE);
    return arc_alloc(vm, n * 4);
}

/* Neighbours. */

/* Cells of the 3 x 3 block around loc: digit k of `which`, from the right, is the number of the
 * k-th cell, counted by rows from 0. */
FN_NOINLINE slot arc_neighbours_of(VM_PARAM, slot loc, u32 which, i32 n)
{
    const i64 i = arc_component(vm, loc, 0), j = arc_component(vm, loc, 1);
    GLOBAL u32 *keys;
    u32 at;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (i <= -ARC_COORD || j <= -ARC_COORD || i >= ARC_COORD - 1 || j >= ARC_COORD - 1)
        return arc_fail(vm, ARC_E_RANGE);
    at = arc_new_keys(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    keys = arc_keys_at(vm, at);
    EACH(k, n)
    {
        const i32 cell = (i32)(which >> 4 * k & 15);

        keys[k] = ARC_KEY(0, (i32)i + cell / 3 - 1, (i32)j + cell % 3 - 1);
    }
    return arc_keys_slot(0, at, n);
}

FN_NOINLINE slot arc_op_dneighbors(VM_PARAM, slot loc)
{
    return arc_neighbours_of(VM, loc, 0x7531, 4);
}

FN_NOINLINE slot arc_op_ineighbors(VM_PARAM, slot loc)
{
    return arc_neighbours_of(VM, loc, 0x8620, 4);
}

FN_NOINLINE slot arc_op_neighbors(VM_PARAM, slot loc)
{
    return arc_neighbours_of(VM, loc, 0x87653210, 8);
}

/* Lines. */

/* n positions starting at (i, j), each step_i rows (0 or 1) and step_j columns from the one
 * before. */
FN_NOINLINE slot arc_ray(VM_PARAM, i64 i, i64 j, i32 step_i, i32 step_j, i64 n)
{
    const i64 end_i = i + step_i * (n - 1), end_j = j + step_j * (n - 1);
    const u32 by = (u32)step_i * 4096u + (u32)step_j;
    GLOBAL u32 *keys;
    u32 at, first;

    if (i < -ARC_COORD || end_i >= ARC_COORD || MIN(j, end_j) < -ARC_COORD ||
        MAX(j, end_j) >= ARC_COORD)
        return arc_fail(vm, ARC_E_RANGE);
    at = arc_new_keys(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    keys = arc_keys_at(vm, at);
    first = ARC_KEY(0, (i32)i, (i32)j);
    EACH(k, (i32)n) keys[k] = first + (u32)k * by;
    return arc_keys_slot(0, at, (i32)n);
}

/* The segment between two points if it is horizontal, vertical or diagonal; otherwise nothing. */
FN slot arc_segment(VM_PARAM, i64 ai, i64 aj, i64 bi, i64 bj)
{
    const i64 di = bi - ai, dj = bj - aj;
    const i64 far_i = di < 0 ? -di : di, far_j = dj < 0 ? -dj : dj;
    const i32 is_back = di < 0 || (di == 0 && dj < 0);
    const i32 step_j = ((dj > 0) - (dj < 0)) * (is_back ? -1 : 1);

    if (di != 0 && dj != 0 && far_i != far_j)
        return ARC_SLOT_EMPTY_SET;
    return arc_ray(VM, is_back ? bi : ai, is_back ? bj : aj, di != 0, step_j,
                   MAX(far_i, far_j) + 1);
}

FN_NOINLINE slot arc_op_connect(VM_PARAM, slot a, slot b)
{
    const i64 ai = arc_coordinate(vm, a, 0), aj = arc_coordinate(vm, a, 1);
    const i64 bi = arc_coordinate(vm, b, 0), bj = arc_coordinate(vm, b, 1);

    return vm->error ? ARC_SLOT_NONE : arc_segment(VM, ai, aj, bi, bj);
}

#define ARC_SHOT 42 /* steps */

FN_NOINLINE slot arc_op_shoot(VM_PARAM, slot start, slot direction)
{
    const i64 i = arc_coordinate(vm, start, 0), j = arc_coordinate(vm, start, 1);
    const i64 di = arc_component(vm, direction, 0), dj = arc_component(vm, direction, 1);

    if (!vm->error && !arc_is_tuple(start))
        arc_fail(vm, ARC_E_TYPE);
    if (!vm->error && (di > ARC_FAR || di < -ARC_FAR || dj > ARC_FAR || dj < -ARC_FAR))
        arc_fail(vm, ARC_E_RANGE);
    return vm->error ? ARC_SLOT_NONE : arc_segment(VM, i, j, i + ARC_SHOT * di, j + ARC_SHOT * dj);
}

#define ARC_FRONTIER 30 /* cells, for any grid */

/* The tuples of `line` and 0 .. 29, in this order or reversed; `line` may be anything. */
FN slot arc_frontier_of_any(VM_PARAM, slot line, i32 is_row)
{
    const u32 at = arc_new_slots(vm, ARC_FRONTIER);
    GLOBAL slot *out = arc_slots_at(vm, at);

    for (i32 k = 0; k < ARC_FRONTIER && !vm->error; k++) {
        const slot place = is_row ? arc_tuple_of_2(VM, line, ARC_SLOT_INT(k))
                                  : arc_tuple_of_2(VM, ARC_SLOT_INT(k), line);

        if (!vm->error)
            out[k] = place;
        MEET;
    }
    return vm->error ? ARC_SLOT_NONE : arc_set_of(VM, at, ARC_FRONTIER);
}

FN_NOINLINE slot arc_frontier(VM_PARAM, slot location, i32 is_row)
{
    const i32 k = is_row ? 0 : 1;
    slot line;
    i64 n;

    if (!arc_is_tuple(location))
        return arc_fail(vm, ARC_E_TYPE);
    if (arc_len(vm, location) <= k)
        return arc_fail(vm, ARC_E_INDEX);
    line = arc_elem(vm, location, k);
    n = arc_is_num(line) ? arc_number(vm, line) : ARC_COORD;
    if (n < -ARC_COORD || n >= ARC_COORD)
        return arc_frontier_of_any(VM, line, is_row);
    return is_row ? arc_ray(VM, n, 0, 0, 1, ARC_FRONTIER) : arc_ray(VM, 0, n, 1, 0, ARC_FRONTIER);
}

FN_NOINLINE slot arc_op_vfrontier(VM_PARAM, slot location)
{
    return arc_frontier(VM, location, 0);
}

FN_NOINLINE slot arc_op_hfrontier(VM_PARAM, slot location)
{
    return arc_frontier(VM, location, 1);
}

/* The content of a box. */

FN_NOINLINE slot arc_op_backdrop(VM_PARAM, slot a)
{
    arc_box box;
    i32 cols, n;
    u32 at;
    GLOBAL u32 *keys;

    if (arc_len(vm, a) == 0)
        return ARC_SLOT_EMPTY_SET;
    box = arc_box_with_items(VM, a);
    if (vm->error)
        return ARC_SLOT_NONE;
    cols = arc_box_cols(box);
    n = arc_box_rows(box) * cols;
    at = arc_new_keys(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    keys = arc_keys_at(vm, at);
    EACH(k, n) keys[k] = ARC_KEY(0, box.i0 + k / cols, box.j0 + k % cols);
    return arc_keys_slot(0, at, n);
}

/* Positions of the box that are not in p, found with one byte per position. */
FN slot arc_holes_of(VM_PARAM, arc_patch p)
{
    const arc_box box = arc_box_of(TEAM_PASS, p);
    const i32 cols = arc_box_cols(box), cells = arc_box_rows(box) * cols;
    const u32 at = arc_new_keys(vm, arc_has_own_places(p) ? cells - p.n : cells);
    GLOBAL u32 *keys = arc_keys_at(vm, at);
    const u32 taken_at = arc_alloc(vm, cells);
    GLOBAL i8 *taken = arc_bytes_at(vm, taken_at);
    i32 n;

    if (vm->error)
        return ARC_SLOT_NONE;
    EACH(k, cells) taken[k] = 0;
    EACH(k, p.n)
    taken[(ARC_KEY_I(p.keys[k]) - box.i0) * cols + ARC_KEY_J(p.keys[k]) - box.j0] = 1;
    PACK(n, to, k, cells, !taken[k], keys[to] = ARC_KEY(0, box.i0 + k / cols, box.j0 + k % cols))
    arc_cut(vm, at, (i64)n * 4);
    return arc_keys_slot(0, at, n);
}

/* A tuple of cells becomes a set of positions; a tuple of pairs stays one, and cannot be subtracted
 * from a set. */
FN_NOINLINE slot arc_op_delta(VM_PARAM, slot a)
{
    const u32 mark = vm->top;
    const arc_patch p = arc_patch_of(VM, a);
    slot holes;

    if (!vm->error && p.n > 0 && !p.is_set && !p.is_object)
        arc_fail(vm, ARC_E_TYPE);
    if (vm->error)
        return ARC_SLOT_NONE;
    if (p.n == 0)
        return ARC_SLOT_EMPTY_SET;
    holes = arc_holes_of(VM, p);
    if (p.is_set || vm->error)
        return holes;
    return arc_keep(VM, mark, holes);
}

/* Outlines. */

/* Position k of the outline of a box, by rows: the first row, the ends of those between, the last
 * row. */
FN u32 arc_outline_key(arc_box box, i32 n, i32 k)
{
    const i32 cols = arc_box_cols(box);
    const i32 inner = k - cols, last = k - (n - cols);

    if (inner < 0)
        return ARC_KEY(0, box.i0, box.j0 + k);
    if (last >= 0)
        return ARC_KEY(0, box.i1, box.j0 + last);
    if (cols == 1)
        return ARC_KEY(0, box.i0 + 1 + inner, box.j0);
    return ARC_KEY(0, box.i0 + 1 + inner / 2, inner % 2 ? box.j1 : box.j0);
}

/* The outline of the patch's box with every side moved outwards by `grow`; sides that cross are
 * swapped. */
FN_NOINLINE slot arc_outline_of(VM_PARAM, slot a, i32 grow)
{
    const arc_box tight = arc_box_with_items(VM, a);
    const i32 i0 = tight.i0 - grow, j0 = tight.j0 - grow;
    const i32 i1 = tight.i1 + grow, j1 = tight.j1 + grow;
    GLOBAL u32 *keys;
    arc_box box;
    i32 rows, cols, n;
    u32 at;

    if (vm->error)
        return ARC_SLOT_NONE;
    box.i0 = MIN(i0, i1);
    box.j0 = MIN(j0, j1);
    box.i1 = MAX(i0, i1);
    box.j1 = MAX(j0, j1);
    if (!arc_box_fits(box))
        return arc_fail(vm, ARC_E_RANGE);
    rows = arc_box_rows(box);
    cols = arc_box_cols(box);
    n = rows == 1 ? cols : cols == 1 ? rows : 2 * (rows + cols) - 4;
    at = arc_new_keys(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    keys = arc_keys_at(vm, at);
    EACH(k, n) keys[k] = arc_outline_key(box, n, k);
    return arc_keys_slot(0, at, n);
}

FN_NOINLINE slot arc_op_inbox(VM_PARAM, slot a)
{
    return arc_outline_of(VM, a, -1);
}

FN_NOINLINE slot arc_op_outbox(VM_PARAM, slot a)
{
    return arc_outline_of(VM, a, 1);
}

FN_NOINLINE slot arc_op_box(VM_PARAM, slot a)
{
    return arc_len(vm, a) == 0 ? a : arc_outline_of(VM, a, 0);
}

#endif
