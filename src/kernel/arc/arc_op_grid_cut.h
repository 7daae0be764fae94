/* arc_op_grid_cut.h - parts of grids, and grids made larger or smaller. */
#ifndef ARC_OP_GRID_CUT_H
#define ARC_OP_GRID_CUT_H

#include "arc_grid.h"

/* Slices. */

#define ARC_TO_END 0x40000000 /* a bound beyond every row */

/* rows[i0:i1], each of them [j0:j1], by the rules of slices. */
FN_NOINLINE slot arc_slice(VM_PARAM, slot v, i32 i0, i32 i1, i32 j0, i32 j1)
{
    const arc_grid g = arc_grid_of(vm, v);
    const i32 n_rows = arc_rows_of_tuple(vm, v);
    const i32 first = arc_slice_bound(i0, n_rows);
    const i32 rows = MAX(arc_slice_bound(i1, n_rows) - first, 0);
    u32 at;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (g.is_plain) {
        const i32 left = arc_slice_bound(j0, g.cols);
        const i32 cols = MAX(arc_slice_bound(j1, g.cols) - left, 0);

        return arc_pick(VM, g.cells, rows, cols, first * g.cols + left, g.cols, 1);
    }
    at = arc_begin_rows(vm, rows);
    for (i32 r = 0; r < rows && !vm->error; r++) {
        const slot row = arc_elem(vm, v, first + r);
        const i32 n = arc_rows_of_tuple(vm, row);
        const i32 left = arc_slice_bound(j0, n);

        if (!vm->error)
            arc_put_row(VM, at, r, arc_stretch(VM, row, left, arc_slice_bound(j1, n) - left, 1, 1));
    }
    return arc_tuple_of_rows(VM, at, rows);
}

FN_NOINLINE slot arc_op_crop(VM_PARAM, slot grid, slot start, slot dims)
{
    const i32 i = arc_pair_operand(vm, start, 0), j = arc_pair_operand(vm, start, 1);
    const i32 rows = arc_pair_operand(vm, dims, 0), cols = arc_pair_operand(vm, dims, 1);

    return vm->error ? ARC_SLOT_NONE : arc_slice(VM, grid, i, i + rows, j, j + cols);
}

FN_NOINLINE slot arc_op_subgrid(VM_PARAM, slot patch, slot grid)
{
    const u32 mark = vm->top;
    const arc_patch p = arc_patch_with_items(VM, patch);
    arc_box box;
    i32 rows, cols;

    if (vm->error)
        return ARC_SLOT_NONE;
    box = arc_box_of(TEAM_PASS, p);
    vm->top = mark;
    rows = arc_box_rows(box);
    cols = arc_box_cols(box);
    if (arc_is_tuple(patch)) {
        /* The corner is that of the items, but the shape is that of the tuple taken as a grid. */
        rows = arc_len(vm, patch);
        cols = 2;
    }
    return arc_slice(VM, grid, box.i0, box.i0 + rows, box.j0, box.j0 + cols);
}

FN_NOINLINE slot arc_op_trim(VM_PARAM, slot grid)
{
    return arc_slice(VM, grid, 1, -1, 1, -1);
}

/* Halves. */

/* Elements from .. from + n - 1 of a tuple: rows are not changed. */
FN slot arc_some_rows(VM_PARAM, slot v, i32 from, i32 n)
{
    const arc_grid g = arc_grid_of(vm, v);

    if (g.is_plain)
        return arc_pick(VM, g.cells, n, g.cols, from * g.cols, g.cols, 1);
    return arc_stretch(VM, v, from, n, 1, 1);
}

FN_NOINLINE slot arc_op_tophalf(VM_PARAM, slot grid)
{
    const i32 rows = arc_rows_of_tuple(vm, grid);

    return vm->error ? ARC_SLOT_NONE : arc_some_rows(VM, grid, 0, rows / 2);
}

FN_NOINLINE slot arc_op_bottomhalf(VM_PARAM, slot grid)
{
    const i32 rows = arc_rows_of_tuple(vm, grid);

    return vm->error ? ARC_SLOT_NONE : arc_some_rows(VM, grid, rows - rows / 2, rows / 2);
}

/* Half the columns, of the shortest row in a loose grid; without columns, no rows. */
FN slot arc_half_cols(VM_PARAM, slot v, i32 is_right)
{
    const arc_grid g = arc_grid_of(vm, v);
    i32 width, half_width, left;
    u32 at;

    arc_rows_of_tuple(vm, v);
    if (vm->error)
        return ARC_SLOT_NONE;
    width = arc_grid_shortest(VM, g);
    half_width = width / 2;
    left = is_right ? width - half_width : 0;
    if (vm->error || half_width == 0)
        return ARC_SLOT_EMPTY_TUPLE;
    if (g.is_plain)
        return arc_pick(VM, g.cells, g.rows, half_width, left, g.cols, 1);
    at = arc_begin_rows(vm, g.rows);
    for (i32 r = 0; r < g.rows && !vm->error; r++)
        arc_put_row(VM, at, r, arc_stretch(VM, arc_elem(vm, v, r), left, half_width, 1, 1));
    return arc_tuple_of_rows(VM, at, g.rows);
}

FN_NOINLINE slot arc_op_lefthalf(VM_PARAM, slot grid)
{
    return arc_half_cols(VM, grid, 0);
}

FN_NOINLINE slot arc_op_righthalf(VM_PARAM, slot grid)
{
    return arc_half_cols(VM, grid, 1);
}

/* Splits. */

/* n parts of equal size along one axis, separated by a row or column if the size is not
 * divisible. */
FN_NOINLINE slot arc_split(VM_PARAM, slot grid, slot parts, i32 is_vertical)
{
    const arc_grid g = arc_grid_with_rows(vm, grid);
    const i32 n = arc_int_operand(vm, parts);
    i32 total, size, apart;
    u32 at;

    if (!vm->error && n == 0)
        arc_fail(vm, ARC_E_ZERO_DIV);
    if (vm->error)
        return ARC_SLOT_NONE;
    if (n < 0)
        return ARC_SLOT_EMPTY_TUPLE;
    total = is_vertical ? g.rows : g.cols;
    size = total / n;
    apart = size + (total % n != 0);
    at = arc_new_slots(vm, n);
    for (i32 k = 0; k < n && !vm->error; k++) {
        const i32 from = k * apart;
        const slot part = is_vertical ? arc_slice(VM, grid, from, from + size, 0, g.cols)
                                      : arc_slice(VM, grid, 0, g.rows, from, from + size);
        arc_put_row(VM, at, k, part);
    }
    return arc_tuple_of_rows(VM, at, n);
}

FN_NOINLINE slot arc_op_hsplit(VM_PARAM, slot grid, slot parts)
{
    return arc_split(VM, grid, parts, 0);
}

FN_NOINLINE slot arc_op_vsplit(VM_PARAM, slot grid, slot parts)
{
    return arc_split(VM, grid, parts, 1);
}

/* Larger and smaller. */

/* Like arc_enlarge, for a single lane: without a division per cell. */
FN void arc_enlarge_cells(arc_grid g, i32 down, i32 across, GLOBAL i8 *out)
{
    const i32 cols = g.cols * across;

    for (i32 i = 0; i < g.rows; i++) {
        GLOBAL const i8 *row = g.cells + (i64)i * g.cols;
        GLOBAL i8 *first = out;

        for (i32 j = 0; j < g.cols; j++)
            for (i32 t = 0; t < across; t++)
                *out++ = row[j];
        for (i32 d = 1; d < down; d++)
            for (i32 j = 0; j < cols; j++)
                *out++ = first[j];
    }
}

/* Repeats every row `down` times, and every value in it `across` times. */
FN_NOINLINE slot arc_enlarge(VM_PARAM, slot v, i32 down, i32 across)
{
    const arc_grid g = arc_grid_of(vm, v);
    const i64 rows = (i64)MAX(g.rows, 0) * MAX(down, 0);
    const i64 cols = (i64)MAX(g.cols, 0) * MAX(across, 0);
    u32 at;

    if (!arc_is_container(v))
        return arc_fail(vm, ARC_E_TYPE);
    if (rows > ARC_MOST_AUX || cols > ARC_MOST_AUX)
        return arc_fail(vm, ARC_E_RANGE);
    if (g.is_plain && rows > 0 && cols > 0) {
        const slot grid = arc_new_grid(vm, (i32)rows, (i32)cols);
        GLOBAL i8 *out;

        if (vm->error)
            return ARC_SLOT_NONE;
        out = arc_new_cells(vm, grid);
#if LANES == 1 && WIDTH == 1
        arc_enlarge_cells(g, down, across, out);
#else
        EACH_CELL(k, i, j, (i32)rows, (i32)cols)
        out[k] = g.cells[i / down * g.cols + j / across];
#endif
        return grid;
    }
    at = arc_begin_rows(vm, (i32)rows);
    for (i32 r = 0; r < g.rows && !vm->error; r++) {
        const slot row = arc_elem(vm, v, r);
        const i32 n = arc_len(vm, row);
        const slot wide = n < 0 ? arc_fail(vm, ARC_E_TYPE) : arc_stretch(VM, row, 0, n, 1, across);

        for (i32 k = 0; k < down && !vm->error; k++)
            arc_put_row(VM, at, r * down + k, wide);
    }
    return arc_tuple_of_rows(VM, at, (i32)rows);
}

FN_NOINLINE slot arc_op_hupscale(VM_PARAM, slot grid, slot factor)
{
    const i32 f = arc_int_operand(vm, factor);

    return vm->error ? ARC_SLOT_NONE : arc_enlarge(VM, grid, 1, f);
}

/* Repeats the rows themselves, of any kind. */
FN_NOINLINE slot arc_op_vupscale(VM_PARAM, slot grid, slot factor)
{
    const i32 f = arc_int_operand(vm, factor);

    if (vm->error)
        return ARC_SLOT_NONE;
    if (!arc_is_container(grid))
        return arc_fail(vm, ARC_E_TYPE);
    if (ARC_TAG(grid) == ARC_GRID)
        return arc_enlarge(VM, grid, f, 1);
    return arc_stretch(VM, grid, 0, arc_len(vm, grid), 1, f);
}

/* Replaces every cell of an object by a block of f x f, relative to its upper left corner. */
FN slot arc_enlarge_object(VM_PARAM, slot object, i32 f)
{
    const arc_patch p = arc_patch_of(VM, object);
    arc_box box;
    u32 at;
    GLOBAL u32 *out;

    if (!vm->error && p.n > 0 && !p.is_object)
        arc_fail(vm, ARC_E_TYPE);
    if (vm->error)
        return ARC_SLOT_NONE;
    if (p.n == 0 || f < 1)
        return ARC_SLOT_EMPTY_SET;
    box = arc_box_of(TEAM_PASS, p);
    if (f > ARC_COORD || !arc_fits_coord(box.i0 + arc_box_rows(box) * f - 1) ||
        !arc_fits_coord(box.j0 + arc_box_cols(box) * f - 1))
        return arc_fail(vm, ARC_E_RANGE);
    at = arc_alloc(vm, (i64)p.n * f * f * 4);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_keys_at(vm, at);
    EACH(k, p.n * f * f)
    {
        const u32 key = p.keys[k / (f * f)];
        const i32 in_block = k % (f * f);
        const i32 i = box.i0 + (ARC_KEY_I(key) - box.i0) * f + in_block / f;
        const i32 j = box.j0 + (ARC_KEY_J(key) - box.j0) * f + in_block % f;

        out[k] = (key & ~ARC_KEY_PLACE) | (ARC_KEY(0, i, j) & ARC_KEY_PLACE);
    }
    return arc_set_of_keys(VM, 1, at, p.n * f * f);
}

FN_NOINLINE slot arc_op_upscale(VM_PARAM, slot element, slot factor)
{
    const u32 mark = vm->top;
    const i32 f = arc_int_operand(vm, factor);
    slot enlarged;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (arc_is_tuple(element))
        return arc_enlarge(VM, element, f, f);
    enlarged = arc_enlarge_object(VM, element, f);
    return vm->error ? ARC_SLOT_NONE : arc_keep(VM, mark, enlarged);
}

/* Rows and columns whose numbers are divisible by f. */
FN_NOINLINE slot arc_op_downscale(VM_PARAM, slot grid, slot factor)
{
    const arc_grid g = arc_grid_with_rows(vm, grid);
    const i32 signed_f = arc_int_operand(vm, factor);
    const i32 f = signed_f == I32_MIN ? I32_MAX : IABS(signed_f);
    i32 rows, cols;
    u32 at;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (f == 0)
        return arc_fail(vm, ARC_E_ZERO_DIV);
    rows = (g.rows - 1) / f + 1;
    cols = g.cols == 0 ? 0 : (g.cols - 1) / f + 1;
    if (g.is_plain)
        return arc_pick(VM, g.cells, rows, cols, 0, rows > 1 ? f * g.cols : 0, cols > 1 ? f : 0);
    if (arc_grid_shortest(VM, g) <= (cols - 1) * f && cols > 0)
        arc_fail(vm, ARC_E_INDEX);
    at = arc_begin_rows(vm, rows);
    for (i32 r = 0; r < rows && !vm->error; r++)
        arc_put_row(VM, at, r, arc_stretch(VM, arc_elem(vm, grid, r * f), 0, cols, f, 1));
    return arc_tuple_of_rows(VM, at, rows);
}

#endif
