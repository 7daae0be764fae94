/* arc_op_paint.h - grids with some cells changed: fill, paint, and their forms that respect what is
 * there. */
#ifndef ARC_OP_PAINT_H
#define ARC_OP_PAINT_H

#include "arc_tally.h"

/* The source and the target of a paint. */
typedef struct arc_brush {
    slot value;  /* written at every place, unless has_own */
    slot under;  /* with is_under, written only where the cell holds this */
    i32 has_own; /* every item has its own colour */
    i32 is_under;
    i32 di, dj; /* the patch is moved by this */
} arc_brush;

/* Plain grids. */

/* The index of a key's cell, or -1 if it is outside. */
FN i32 arc_place_in(u32 key, arc_grid g, arc_brush b)
{
    const i32 i = ARC_KEY_I(key) + b.di, j = ARC_KEY_J(key) + b.dj;

    return i >= 0 && i < g.rows && j >= 0 && j < g.cols ? i * g.cols + j : -1;
}

FN void arc_dab(GLOBAL i8 *cells, u32 key, arc_grid g, arc_brush b, i32 value, i32 under)
{
    const i32 at = arc_place_in(key, g, b);

    if (at >= 0 && (!b.is_under || cells[at] == under))
        cells[at] = (i8)(b.has_own ? ARC_KEY_COLOUR(key) : value);
}

/* Items of one colour never fall on the same place; with several colours the last item wins. */
FN_NOINLINE slot arc_paint_plain(VM_PARAM, arc_grid g, arc_patch p, arc_brush b)
{
    const slot painted = arc_pick(VM, g.cells, g.rows, g.cols, 0, g.cols, 1);
    const i32 value = b.has_own ? 0 : (i32)arc_number(vm, b.value);
    const i32 under = b.is_under ? (i32)arc_number(vm, b.under) : 0;
    GLOBAL i8 *cells;

    if (vm->error)
        return ARC_SLOT_NONE;
    cells = arc_new_cells(vm, painted);
    if (!b.has_own) {
        EACH(k, p.n) arc_dab(cells, p.keys[k], g, b, value, under);
    } else if (p.is_set) {
        for (i32 from = 0; from < p.n;) {
            const i32 end = arc_stretch_end(p.keys, p.n, from, 24);

            EACH(k, end - from) arc_dab(cells, p.keys[from + k], g, b, value, under);
            from = end;
        }
    } else {
        ONE_LANE
        for (i32 k = 0; k < p.n; k++)
            arc_dab(cells, p.keys[k], g, b, value, under);
    }
    return painted;
}

/* Loose grids. */

/* The slots of all rows, one after another, and where each row starts; there are rows + 1
 * starts. */
typedef struct arc_loose {
    GLOBAL slot *cells;
    GLOBAL u32 *start;
} arc_loose;

FN_NOINLINE arc_loose arc_loosen(VM_PARAM, arc_grid g)
{
    arc_loose l;
    u32 at, n = 0;

    l.start = arc_keys_at(vm, arc_alloc(vm, ((i64)g.rows + 1) * 4));
    at = vm->top;
    l.cells = arc_slots_at(vm, at);
    for (i32 i = 0; i < g.rows && !vm->error; i++) {
        const slot row = arc_elem(vm, g.v, i);
        const i32 len = arc_len(vm, row);

        if (len < 0)
            arc_fail(vm, ARC_E_TYPE);
        arc_alloc(vm, (i64)MAX(len, 0) * 8);
        if (vm->error)
            return l;
        ONE_LANE l.start[i] = n;
        EACH(j, len) l.cells[n + (u32)j] = arc_elem(vm, row, j);
        n += (u32)len;
    }
    if (!vm->error) {
        ONE_LANE l.start[g.rows] = n;
    }
    return l;
}

FN slot arc_tighten(VM_PARAM, arc_loose l, i32 rows)
{
    const u32 at = arc_begin_rows(vm, rows);

    for (i32 i = 0; i < rows && !vm->error; i++) {
        const i32 from = (i32)l.start[i], n = (i32)l.start[i + 1] - from;
        const u32 row_at = arc_new_slots(vm, n);
        GLOBAL slot *row = arc_slots_at(vm, row_at);

        if (vm->error)
            break;
        EACH(k, n) row[k] = l.cells[from + k];
        arc_put_row(VM, at, i, arc_tuple_of(VM, row_at, n));
    }
    return arc_tuple_of_rows(VM, at, rows);
}

FN_NOINLINE slot arc_paint_loose(VM_PARAM, arc_grid g, arc_patch p, arc_brush b)
{
    const arc_loose l = arc_loosen(VM, g);
    i32 beyond;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (g.cols == 0)
        return arc_tighten(VM, l, g.rows);
    /* A row may be shorter than the first. */
    ANY_OVER(beyond, k, p.n,
             arc_place_in(p.keys[k], g, b) >= 0 &&
                 ARC_KEY_J(p.keys[k]) + b.dj >= (i32)(l.start[ARC_KEY_I(p.keys[k]) + b.di + 1] -
                                                      l.start[ARC_KEY_I(p.keys[k]) + b.di]))
    if (beyond)
        return arc_fail(vm, ARC_E_INDEX);
    ONE_LANE
    for (i32 k = 0; k < p.n; k++) {
        const u32 key = p.keys[k];

        if (arc_place_in(key, g, b) >= 0) {
            const i32 at = (i32)l.start[ARC_KEY_I(key) + b.di] + ARC_KEY_J(key) + b.dj;

            if (!b.is_under || arc_same(vm, l.cells[at], b.under))
                l.cells[at] = b.has_own ? ARC_SLOT_INT(ARC_KEY_COLOUR(key)) : b.value;
        }
    }
    return arc_tighten(VM, l, g.rows);
}

/* The primitives. */

FN_NOINLINE slot arc_painted(VM_PARAM, arc_grid g, arc_patch p, arc_brush b)
{
    if (!vm->error && b.has_own && p.n > 0 && !p.is_object)
        arc_fail(vm, ARC_E_TYPE);
    if (vm->error)
        return ARC_SLOT_NONE;
    if (g.is_plain && (b.has_own || arc_is_colour(vm, b.value)))
        return arc_paint_plain(VM, g, p, b);
    return arc_paint_loose(VM, g, p, b);
}

FN arc_brush arc_brush_of(slot value, i32 has_own)
{
    arc_brush b;

    b.value = value;
    b.under = ARC_SLOT_NONE;
    b.has_own = has_own;
    b.is_under = 0;
    b.di = b.dj = 0;
    return b;
}

/* Without own colours, writes the value at every place; with `is_under` only where the grid has its
 * most common colour. */
FN slot arc_paint_patch(VM_PARAM, slot grid, slot value, slot patch, i32 has_own, i32 is_under)
{
    const u32 mark = vm->top;
    const arc_grid g = arc_grid_with_rows(vm, grid);
    arc_brush b = arc_brush_of(value, has_own);
    arc_patch p;
    slot painted;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (is_under) {
        b.is_under = 1;
        b.under = arc_most_colour(VM, grid);
    }
    p = arc_patch_of(VM, patch);
    painted = arc_painted(VM, g, p, b);
    return vm->error ? ARC_SLOT_NONE : arc_keep(VM, mark, painted);
}

FN_NOINLINE slot arc_op_fill(VM_PARAM, slot grid, slot value, slot patch)
{
    return arc_paint_patch(VM, grid, value, patch, 0, 0);
}

FN_NOINLINE slot arc_op_paint(VM_PARAM, slot grid, slot object)
{
    return arc_paint_patch(VM, grid, ARC_SLOT_NONE, object, 1, 0);
}

FN_NOINLINE slot arc_op_underfill(VM_PARAM, slot grid, slot value, slot patch)
{
    return arc_paint_patch(VM, grid, value, patch, 0, 1);
}

FN_NOINLINE slot arc_op_underpaint(VM_PARAM, slot grid, slot object)
{
    return arc_paint_patch(VM, grid, ARC_SLOT_NONE, object, 1, 1);
}

FN_NOINLINE slot arc_op_cover(VM_PARAM, slot grid, slot patch)
{
    const slot most = arc_most_colour(VM, grid);

    return vm->error ? ARC_SLOT_NONE : arc_paint_patch(VM, grid, most, patch, 0, 0);
}

/* Covers the object and paints it, as a set, at its new place. */
FN_NOINLINE slot arc_op_move(VM_PARAM, slot grid, slot object, slot offset)
{
    const u32 mark = vm->top;
    const slot covered = arc_op_cover(VM, grid, object);
    arc_brush b = arc_brush_of(ARC_SLOT_NONE, 1);
    arc_patch p;
    slot moved;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (arc_len(vm, object) == 0)
        return covered;
    b.di = arc_pair_operand(vm, offset, 0);
    b.dj = arc_pair_operand(vm, offset, 1);
    p = arc_patch_of(VM, object);
    if (!vm->error && !p.is_set) {
        const u32 at = arc_alloc(vm, (i64)p.n * 4);
        GLOBAL u32 *keys = arc_keys_at(vm, at);

        if (vm->error)
            return ARC_SLOT_NONE;
        EACH(k, p.n) keys[k] = p.keys[k];
        p = arc_patch_of(VM, arc_set_of_keys(VM, p.is_object, at, p.n));
    }
    moved = arc_painted(VM, arc_grid_of(vm, covered), p, b);
    return vm->error ? ARC_SLOT_NONE : arc_keep(VM, mark, moved);
}

#endif
