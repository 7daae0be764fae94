/* arc_op_grid_join.h - grids made of one value or of two grids, with colours exchanged, or without
 * uniform rows and columns. */
#ifndef ARC_OP_GRID_JOIN_H
#define ARC_OP_GRID_JOIN_H

#include "arc_grid.h"

FN_NOINLINE slot arc_op_canvas(VM_PARAM, slot value, slot dims)
{
    const i32 rows = arc_pair_operand(vm, dims, 0), cols = arc_pair_operand(vm, dims, 1);
    const u32 mark = vm->top;
    GLOBAL i8 *cells;
    slot grid;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (rows < 1 || cols < 1)
        return arc_no_cells(VM, rows);
    if (!arc_fits_row(vm, value)) {
        const slot row = arc_repeated(VM, value, cols);
        const slot all = vm->error ? row : arc_repeated(VM, row, rows);

        return vm->error ? ARC_SLOT_NONE : arc_keep(VM, mark, all);
    }
    grid = arc_new_grid(vm, rows, cols);
    if (vm->error)
        return ARC_SLOT_NONE;
    cells = arc_new_cells(vm, grid);
    {
        const i8 colour = (i8)arc_number(vm, value);

        EACH(k, rows * cols) cells[k] = colour;
    }
    return grid;
}

/* Two grids. */

/* The elements of two containers, one after the other, as a tuple. */
FN_NOINLINE slot arc_joined(VM_PARAM, slot a, slot b)
{
    const i32 na = arc_len(vm, a), n = na + arc_len(vm, b);
    const u32 at = arc_new_slots(vm, n);
    GLOBAL slot *out = arc_slots_at(vm, at);

    if (vm->error)
        return ARC_SLOT_NONE;
    EACH(k, n) out[k] = k < na ? arc_elem(vm, a, k) : arc_elem(vm, b, k - na);
    return arc_tuple_of(VM, at, n);
}

FN_NOINLINE slot arc_op_vconcat(VM_PARAM, slot a, slot b)
{
    const arc_grid ga = arc_grid_of(vm, a), gb = arc_grid_of(vm, b);
    const i32 n = ga.rows * ga.cols;
    slot grid;
    GLOBAL i8 *cells;

    if (!arc_is_tuple(a) || !arc_is_tuple(b))
        return arc_fail(vm, ARC_E_TYPE);
    if (!ga.is_plain || !gb.is_plain || ga.cols != gb.cols || ga.rows + gb.rows > 65535)
        return arc_joined(VM, a, b);
    grid = arc_new_grid(vm, ga.rows + gb.rows, ga.cols);
    if (vm->error)
        return ARC_SLOT_NONE;
    cells = arc_new_cells(vm, grid);
    EACH(k, n) cells[k] = ga.cells[k];
    EACH(k, gb.rows * gb.cols) cells[n + k] = gb.cells[k];
    return grid;
}

FN_NOINLINE slot arc_op_hconcat(VM_PARAM, slot a, slot b)
{
    const arc_grid ga = arc_grid_of(vm, a), gb = arc_grid_of(vm, b);
    const i32 rows = MIN(ga.rows, gb.rows);
    u32 at;

    if (rows < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (ga.is_plain && gb.is_plain && ga.cols + gb.cols <= 65535) {
        const i32 cols = ga.cols + gb.cols;
        const slot grid = arc_new_grid(vm, rows, cols);
        GLOBAL i8 *cells;

        if (vm->error)
            return ARC_SLOT_NONE;
        cells = arc_new_cells(vm, grid);
        EACH_CELL(k, i, j, rows, cols)
        cells[k] = j < ga.cols ? ga.cells[i * ga.cols + j] : gb.cells[i * gb.cols + j - ga.cols];
        return grid;
    }
    at = arc_begin_rows(vm, rows);
    for (i32 r = 0; r < rows && !vm->error; r++) {
        const slot left = arc_elem(vm, a, r), right = arc_elem(vm, b, r);

        if (!arc_is_tuple(left) || !arc_is_tuple(right))
            arc_fail(vm, ARC_E_TYPE);
        else
            arc_put_row(VM, at, r, arc_joined(VM, left, right));
    }
    return arc_tuple_of_rows(VM, at, rows);
}

/* Rows of any kind; fails unless row i of both has at least `cols` values. */
FN slot arc_loose_cellwise(VM_PARAM, arc_grid ga, slot b, slot fallback)
{
    const u32 at = arc_begin_rows(vm, ga.rows);

    for (i32 i = 0; i < ga.rows && !vm->error; i++) {
        const slot left = arc_elem(vm, ga.v, i);
        const slot right = i < arc_len(vm, b) ? arc_elem(vm, b, i) : ARC_SLOT_NONE;
        u32 row_at;
        GLOBAL slot *row;

        if (ga.cols > 0 && (!arc_is_tuple(b) || !arc_is_tuple(left)))
            arc_fail(vm, ARC_E_TYPE);
        else if (ga.cols > 0 && (!arc_is_tuple(right) || arc_len(vm, right) < ga.cols ||
                                 arc_len(vm, left) < ga.cols))
            arc_fail(vm, ARC_E_INDEX);
        row_at = arc_new_slots(vm, ga.cols);
        row = arc_slots_at(vm, row_at);
        if (vm->error)
            break;
        EACH(j, ga.cols)
        {
            const slot value = arc_elem(vm, left, j);
            row[j] = arc_same(vm, value, arc_elem(vm, right, j)) ? value : fallback;
        }
        arc_put_row(VM, at, i, arc_tuple_of(VM, row_at, ga.cols));
    }
    return arc_tuple_of_rows(VM, at, ga.rows);
}

/* The cells on which two grids agree, otherwise the fallback. */
FN_NOINLINE slot arc_op_cellwise(VM_PARAM, slot a, slot b, slot fallback)
{
    const arc_grid ga = arc_grid_with_rows(vm, a), gb = arc_grid_of(vm, b);
    slot grid;
    GLOBAL i8 *cells;
    i32 otherwise;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (!ga.is_plain || !gb.is_plain || !arc_fits_row(vm, fallback))
        return arc_loose_cellwise(VM, ga, b, fallback);
    if (gb.rows < ga.rows || gb.cols < ga.cols)
        return arc_fail(vm, ARC_E_INDEX);
    grid = arc_new_grid(vm, ga.rows, ga.cols);
    if (vm->error)
        return ARC_SLOT_NONE;
    cells = arc_new_cells(vm, grid);
    otherwise = (i32)arc_number(vm, fallback);
    EACH_CELL(k, i, j, ga.rows, ga.cols)
    cells[k] = (i8)(ga.cells[k] == gb.cells[i * gb.cols + j] ? ga.cells[k] : otherwise);
    return grid;
}

/* Colours. */

FN_NOINLINE slot arc_loose_exchange(VM_PARAM, slot v, slot from, slot to, i32 is_mutual)
{
    const i32 rows = arc_len(vm, v);
    const u32 at = arc_begin_rows(vm, rows);

    if (rows < 0)
        return arc_fail(vm, ARC_E_TYPE);
    for (i32 i = 0; i < rows && !vm->error; i++) {
        const slot row = arc_elem(vm, v, i);
        const i32 n = arc_len(vm, row);
        const u32 row_at = arc_new_slots(vm, MAX(n, 0));
        GLOBAL slot *out = arc_slots_at(vm, row_at);

        if (n < 0)
            arc_fail(vm, ARC_E_TYPE);
        if (vm->error)
            break;
        EACH(j, n)
        {
            const slot value = arc_elem(vm, row, j);

            out[j] = arc_same(vm, value, from)              ? to
                     : is_mutual && arc_same(vm, value, to) ? from
                                                            : value;
        }
        arc_put_row(VM, at, i, arc_tuple_of(VM, row_at, n));
    }
    return arc_tuple_of_rows(VM, at, rows);
}

/* Changes `from` to `to`, and if mutual also `to` to `from`. */
FN slot arc_exchange(VM_PARAM, slot v, slot from, slot to, i32 is_mutual)
{
    const arc_grid g = arc_grid_of(vm, v);
    slot grid;
    GLOBAL i8 *cells;
    i32 x, y;

    if (!g.is_plain || !arc_fits_row(vm, from) || !arc_fits_row(vm, to))
        return arc_loose_exchange(VM, v, from, to, is_mutual);
    grid = arc_new_grid(vm, g.rows, g.cols);
    if (vm->error)
        return ARC_SLOT_NONE;
    cells = arc_new_cells(vm, grid);
    x = (i32)arc_number(vm, from);
    y = (i32)arc_number(vm, to);
    if (is_mutual) {
        EACH(k, g.rows * g.cols)
        cells[k] = (i8)(g.cells[k] == x ? y : g.cells[k] == y ? x : g.cells[k]);
    } else {
        EACH(k, g.rows * g.cols) cells[k] = (i8)(g.cells[k] == x ? y : g.cells[k]);
    }
    return grid;
}

FN_NOINLINE slot arc_op_replace(VM_PARAM, slot grid, slot replacee, slot replacer)
{
    return arc_exchange(VM, grid, replacee, replacer, 0);
}

FN_NOINLINE slot arc_op_switch(VM_PARAM, slot grid, slot a, slot b)
{
    return arc_exchange(VM, grid, a, b, 1);
}

/* Uniform rows and columns. */

/* Whether n cells at distance `apart` are equal. */
FN i32 arc_is_uniform(GLOBAL const i8 *cells, i32 n, i32 apart)
{
    for (i32 k = 1; k < n; k++)
        if (cells[k * apart] != cells[0])
            return 0;
    return 1;
}

/* Rows and columns without uniform ones, in the order of the grid. */
FN_NOINLINE slot arc_op_compress(VM_PARAM, slot v)
{
    const u32 mark = vm->top;
    const arc_grid g = arc_grid_of(vm, v);
    u32 row_at, col_at;
    GLOBAL u32 *row, *col;
    GLOBAL i8 *cells;
    i32 rows, cols;
    slot grid;

    if (!g.is_plain) {
        const i32 n = arc_rows_of_tuple(vm, v);
        i32 n_empty;

        if (vm->error)
            return ARC_SLOT_NONE;
        SUM_OVER(n_empty, i, n, arc_len(vm, arc_elem(vm, v, i)) == 0)
        return n_empty == n ? v : arc_fail(vm, ARC_E_RANGE);
    }
    row_at = arc_alloc(vm, (i64)g.rows * 4);
    col_at = arc_alloc(vm, (i64)g.cols * 4);
    if (vm->error)
        return ARC_SLOT_NONE;
    row = arc_keys_at(vm, row_at);
    col = arc_keys_at(vm, col_at);
    PACK(rows, at, i, g.rows, !arc_is_uniform(g.cells + i * g.cols, g.cols, 1), row[at] = (u32)i)
    PACK(cols, at, j, g.cols, !arc_is_uniform(g.cells + j, g.rows, g.cols), col[at] = (u32)j)
    if (rows < 1 || cols < 1) {
        vm->top = mark;
        return arc_no_cells(VM, rows);
    }
    grid = arc_new_grid(vm, rows, cols);
    if (vm->error)
        return ARC_SLOT_NONE;
    cells = arc_new_cells(vm, grid);
    EACH_CELL(k, i, j, rows, cols) cells[k] = g.cells[(i32)row[i] * g.cols + (i32)col[j]];
    return arc_keep(VM, mark, grid);
}

#endif
