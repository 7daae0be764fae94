/* arc_grid.h - any tuple of rows seen as a grid.
 *
 * Nearly all grids are plain: of kind GRID, whose cells are bytes. Others are loose: rows of
 * unequal or zero length, values beyond a byte, values that are not numbers. Primitives have a fast
 * path for plain grids; for loose ones they read slots, row by row, and build their result from
 * slots with the makers.
 */
#ifndef ARC_GRID_H
#define ARC_GRID_H

#include "arc_patch.h"

typedef struct arc_grid {
    slot v;
    GLOBAL const i8 *cells; /* of a plain grid */
    i32 rows;
    i32 cols; /* length of the first row; 0 without rows, -1 if the first row is not a container */
    i32 is_plain;
} arc_grid;

/* Loops over the cells of rows x cols: i, j, and k which counts them all. A single lane needs no
 * division. */
#if LANES == 1 && WIDTH == 1
#define EACH_CELL(k, i, j, rows, cols)                                                             \
    for (i32 i = 0, k = 0; i < (rows); i++)                                                        \
        for (i32 j = 0; j < (cols); j++, k++)
/* As PACK; `cond` sees k, i and j. */
#define PACK_CELLS(count, at, k, i, j, rows, cols, cond, store)                                    \
    {                                                                                              \
        count = 0;                                                                                 \
        EACH_CELL(k, i, j, rows, cols)                                                             \
        if (cond) {                                                                                \
            const i32 at = count++;                                                                \
            store;                                                                                 \
        }                                                                                          \
    }
#else
#define EACH_CELL(k, i, j, rows, cols)                                                             \
    EACH(k, (rows) * (cols))                                                                       \
    for (i32 i = k / (cols), j = k % (cols), qn_here = 1; qn_here; qn_here = 0)
#define QN_CELL_CASE(k, i, j, cols, what)                                                          \
    {                                                                                              \
        const i32 i = k / (cols), j = k % (cols);                                                  \
        what;                                                                                      \
    }
#define PACK_CELLS(count, at, k, i, j, rows, cols, cond, store)                                    \
    PACK(count, at, k, (rows) * (cols), cond, QN_CELL_CASE(k, i, j, cols, store))
#endif

/* The view. */

FN arc_grid arc_grid_of(const arc_vm *vm, slot v)
{
    arc_grid g;

    g.v = v;
    g.is_plain = ARC_TAG(v) == ARC_GRID;
    g.cells = (GLOBAL const i8 *)vm->arena;
    if (g.is_plain) {
        g.cells = arc_grid_cells(vm, v);
        g.rows = arc_grid_rows(vm, v);
        g.cols = arc_grid_cols(vm, v);
    } else {
        g.rows = arc_len(vm, v);
        g.cols = g.rows > 0 ? arc_len(vm, arc_elem(vm, v, 0)) : 0;
    }
    return g;
}

/* The view for a primitive that needs the length of the first row: fails if there is none. */
FN arc_grid arc_grid_with_rows(arc_vm *vm, slot v)
{
    const arc_grid g = arc_grid_of(vm, v);

    if (!arc_is_tuple(v) || g.cols < 0)
        arc_fail(vm, ARC_E_TYPE);
    else if (g.rows == 0)
        arc_fail(vm, ARC_E_EMPTY);
    return g;
}

/* Fails unless v is a tuple; returns its length. */
FN i32 arc_rows_of_tuple(arc_vm *vm, slot v)
{
    if (arc_is_tuple(v))
        return arc_len(vm, v);
    arc_fail(vm, ARC_E_TYPE);
    return 0;
}

/* Value (i, j), which exists. */
FN slot arc_grid_at(const arc_vm *vm, arc_grid g, i32 i, i32 j)
{
    if (g.is_plain)
        return ARC_SLOT_INT(g.cells[(i64)i * g.cols + j]);
    return arc_elem(vm, arc_elem(vm, g.v, i), j);
}

/* Whether the positions of a grid have keys; if not, it fails. */
FN i32 arc_grid_fits_keys(arc_vm *vm, i32 rows, i32 cols)
{
    if (rows <= ARC_COORD && cols <= ARC_COORD)
        return 1;
    arc_fail(vm, ARC_E_RANGE);
    return 0;
}

/* The length of the shortest row; fails if a row is not a container. */
FN i32 arc_grid_shortest(VM_PARAM, arc_grid g)
{
    i32 least;

    if (g.is_plain || g.rows <= 0)
        return MAX(g.cols, 0);
    MIN_OVER(least, i, g.rows, ARC_MOST_AUX, arc_len(vm, arc_elem(vm, g.v, i)))
    if (least < 0)
        arc_fail(vm, ARC_E_TYPE);
    return MAX(least, 0);
}

/* A plain grid of the first g.cols values of every row, as code that reads [i][j] sees it. Fails if
 * a row is shorter, and with RANGE if a value is not a byte or the grid has no columns. */
FN_NOINLINE arc_grid arc_grid_cut(VM_PARAM, arc_grid g)
{
    slot v;
    GLOBAL i8 *cells;
    i32 n_bytes;

    if (g.is_plain)
        return g;
    if (arc_grid_shortest(VM, g) < g.cols)
        arc_fail(vm, ARC_E_INDEX);
    if (vm->error)
        return g;
    v = arc_new_grid(vm, g.rows, g.cols);
    if (vm->error)
        return g;
    SUM_OVER(n_bytes, k, g.rows * g.cols,
             arc_fits_row(vm, arc_grid_at(vm, g, k / g.cols, k % g.cols)))
    if (n_bytes < g.rows * g.cols) {
        arc_fail(vm, ARC_E_RANGE);
        return g;
    }
    cells = arc_new_cells(vm, v);
    EACH(k, g.rows * g.cols)
    cells[k] = (i8)arc_number(vm, arc_grid_at(vm, g, k / g.cols, k % g.cols));
    return arc_grid_of(vm, v);
}

/* Operands. */

/* A number, cut to int32; fails on anything else. */
FN i32 arc_int_operand(arc_vm *vm, slot v)
{
    i64 n;

    if (!arc_is_num(v)) {
        arc_fail(vm, ARC_E_TYPE);
        return 0;
    }
    n = arc_number(vm, v);
    return (i32)(n > I32_MAX ? I32_MAX : n < I32_MIN ? I32_MIN : n);
}

/* Component 0 or 1 of a tuple of numbers, cut to a value outside any grid. */
FN i32 arc_pair_operand(arc_vm *vm, slot v, i32 k)
{
    const i64 n =
        ARC_TAG(v) == ARC_PAIR ? (k ? ARC_PAIR_J(v) : ARC_PAIR_I(v)) : arc_component(vm, v, k);
    const i64 far = 1 << 28;

    return (i32)(n > far ? far : n < -far ? -far : n);
}

/* A bound of a slice: a negative one counts from the end, once; then it is clamped to 0 .. len. */
FN i32 arc_slice_bound(i32 at, i32 len)
{
    const i32 from_start = at < 0 ? at + len : at;

    return clamp_i32(from_start, 0, len);
}

/* Results. */

/* The tuple of n times v; empty when n is below 1. */
FN_NOINLINE slot arc_repeated(VM_PARAM, slot v, i32 n)
{
    u32 at;
    GLOBAL slot *out;

    if (n < 1)
        return ARC_SLOT_EMPTY_TUPLE;
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_slots_at(vm, at);
    EACH(k, n) out[k] = v;
    return arc_tuple_of(VM, at, n);
}

/* The value of a shape without cells: the empty tuple, or a tuple of `rows` empty tuples. */
FN slot arc_no_cells(VM_PARAM, i32 rows)
{
    return arc_repeated(VM, ARC_SLOT_EMPTY_TUPLE, rows);
}

/* The plain grid of rows x cols whose cell (r, c) is cells[at + r * dr + c * dc]. Every cut,
 * rotation and reflection of a plain grid is one of these. */
FN_NOINLINE slot arc_pick(VM_PARAM, GLOBAL const i8 *cells, i32 rows, i32 cols, i32 at, i32 dr,
                          i32 dc)
{
    slot v;
    GLOBAL i8 *out;

    if (rows < 1 || cols < 1)
        return arc_no_cells(VM, rows);
    v = arc_new_grid(vm, rows, cols);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_new_cells(vm, v);
    cells += at;
    EACH_CELL(k, r, c, rows, cols) out[k] = cells[r * dr + c * dc];
    return v;
}

/* Loose results. */

/* Up to n slots (none if n < 0) at the end of the arena, for the rows of a result. Each row is made
 * after them and stored by arc_put_row; arc_tuple_of_rows ends the construction. */
FN u32 arc_begin_rows(arc_vm *vm, i32 n)
{
    return arc_new_slots(vm, MAX(n, 0));
}

FN void arc_put_row(VM_PARAM, u32 rows_at, i32 r, slot row)
{
    if (!vm->error) {
        ONE_LANE arc_slots_at(vm, rows_at)[r] = row;
    }
}

FN slot arc_tuple_of_rows(VM_PARAM, u32 rows_at, i32 n)
{
    slot v;

    if (vm->error)
        return ARC_SLOT_NONE;
    v = arc_tuple_of(VM, rows_at, n);
    return vm->error ? v : arc_keep(VM, rows_at, v);
}

/* Elements from .. from + n - 1 of a container, or with `step` -1 going back from there, each
 * repeated `times` times, as a tuple. */
FN_NOINLINE slot arc_stretch(VM_PARAM, slot row, i32 from, i32 n, i32 step_, i32 times)
{
    const i64 total = (i64)MAX(n, 0) * MAX(times, 0);
    u32 at;
    GLOBAL slot *out;

    if (total > ARC_MOST_AUX)
        return arc_fail(vm, ARC_E_RANGE);
    at = arc_new_slots(vm, (i32)total);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_slots_at(vm, at);
    EACH(k, (i32)total) out[k] = arc_elem(vm, row, from + k / times * step_);
    return arc_tuple_of(VM, at, (i32)total);
}

#endif
