/* arc_op_objects.h - splitting grids: connected parts, colours, uniform rows and columns. */
#ifndef ARC_OP_OBJECTS_H
#define ARC_OP_OBJECTS_H

#include "arc_masks.h"
#include "arc_op_cells.h"
#include "arc_op_grid_join.h"

/* Connected parts. */

/* A team grows masks where they fit; a single lane is quicker with runs. */
FN slot arc_parts_of(VM_PARAM, arc_grid g, arc_joining how)
{
#if LANES == 1 && WIDTH == 1
    return arc_parts_by_runs(VM, g, how);
#else
    i32 are_digits;

    ALL_OVER(are_digits, k, g.rows * g.cols, g.cells[k] >= 0 && g.cells[k] <= 9)
    if (are_digits && arc_fits_masks(g))
        return arc_parts_by_masks(VM, g, how);
    return arc_parts_by_runs(VM, g, how);
#endif
}

/* All objects, or only the largest. */
FN_NOINLINE slot arc_objects_of(VM_PARAM, slot grid, i32 univalued, i32 diagonal, i32 without_bg,
                                i32 only_largest)
{
    arc_grid g = arc_grid_with_rows(vm, grid);
    arc_joining how;

    how.univalued = univalued;
    how.diagonal = diagonal;
    how.only_largest = only_largest;
    how.bg = ARC_NO_BG;
    if (!vm->error && without_bg) {
        const slot bg = arc_most_colour(VM, grid);

        /* A background that is not a byte equals no cell of a plain grid. */
        if (!vm->error && arc_is_colour(vm, bg))
            how.bg = (i32)arc_number(vm, bg);
    }
    if (vm->error)
        return ARC_SLOT_NONE;
    if (g.cols == 0)
        return ARC_SLOT_EMPTY_SET;
    g = arc_grid_cut(VM, g);
    if (vm->error || !arc_grid_fits_keys(vm, g.rows, g.cols))
        return ARC_SLOT_NONE;
    return arc_parts_of(VM, g, how);
}

FN_NOINLINE slot arc_op_objects(VM_PARAM, slot grid, slot univalued, slot diagonal, slot without_bg)
{
    return arc_objects_of(VM, grid, arc_is_true(vm, univalued), arc_is_true(vm, diagonal),
                          arc_is_true(vm, without_bg), 0);
}

/* Flags as bits: univalued 4, diagonal 2, without background 1. */
FN_NOINLINE slot arc_op_o_g(VM_PARAM, slot grid, slot flags)
{
    const i32 bits = arc_int_operand(vm, flags);

    if (!vm->error && (bits < 0 || bits > 7))
        arc_fail(vm, ARC_E_VALUE);
    if (vm->error)
        return ARC_SLOT_NONE;
    return arc_objects_of(VM, grid, bits >> 2 & 1, bits >> 1 & 1, bits & 1, 0);
}

/* A set of sets as a tuple of tuples, in canonical order. */
FN_NOINLINE slot arc_as_tuples(VM_PARAM, slot sets)
{
    const i32 n = arc_len(vm, sets);
    const u32 at = arc_begin_rows(vm, n);

    for (i32 k = 0; k < n && !vm->error; k++) {
        const slot set = arc_elem(vm, sets, k);

        arc_put_row(VM, at, k, arc_stretch(VM, set, 0, arc_len(vm, set), 1, 1));
    }
    return arc_tuple_of_rows(VM, at, n);
}

FN_NOINLINE slot arc_op_o_g_t(VM_PARAM, slot grid, slot flags)
{
    const slot objects = arc_op_o_g(VM, grid, flags);

    return vm->error ? ARC_SLOT_NONE : arc_as_tuples(VM, objects);
}

FN_NOINLINE slot arc_op_objects_t(VM_PARAM, slot grid, slot univalued, slot diagonal,
                                  slot without_bg)
{
    const slot objects = arc_op_objects(VM, grid, univalued, diagonal, without_bg);

    return vm->error ? ARC_SLOT_NONE : arc_as_tuples(VM, objects);
}

/* One object for each colour. */

/* The least colour of a grid above `colour`, or 128. */
FN i32 arc_next_colour(TEAM_PARAM, arc_grid g, arc_digits digits, i32 colour)
{
    i32 next;

    if (digits.others) {
        MIN_OVER(next, k, g.rows * g.cols, 128, g.cells[k] > colour ? g.cells[k] : 128)
        return next;
    }
    for (next = MAX(colour + 1, 0); next < 10; next++)
        if (arc_digit_count(digits, next) > 0)
            return next;
    return 128;
}

/* Like arc_find_classes, for a grid of digits and a single lane: one pass over the cells for all
 * colours.
 */
FN i32 arc_spread_classes(arc_vm *vm, arc_grid g, arc_digits digits, i32 bg, GLOBAL slot *found)
{
    const u32 start = vm->top;
    u32 cursor[10], end;
    i32 n = 0;

    for (i32 d = 0; d < 10; d++) {
        const i32 count = arc_digit_count(digits, d);
        const u32 at = vm->top;

        if (count == 0 || d == bg)
            continue;
        arc_alloc(vm, (i64)count * 4);
        cursor[d] = (at - start) / 4;
        found[n++] = ARC_SLOT(ARC_OBJ, count, at);
    }
    /* Cells of the background sort after all others, and are dropped. */
    end = vm->top;
    if (bg >= 0 && bg < 10) {
        cursor[bg] = (end - start) / 4;
        arc_alloc(vm, (i64)arc_digit_count(digits, bg) * 4);
    }
    if (vm->error)
        return 0;
    arc_spread_cells(g, cursor, arc_keys_at(vm, start));
    vm->top = end;
    return n;
}

/* Writes the objects of all colours except `bg` to `found`; returns how many. */
FN i32 arc_find_classes(VM_PARAM, arc_grid g, i32 bg, GLOBAL slot *found)
{
    const i32 n_cells = g.rows * g.cols;
    const arc_digits digits = arc_count_digits(TEAM_PASS, g.cells, n_cells);
    i32 colour = -129, n = 0;

#if LANES == 1 && WIDTH == 1
    if (!digits.others)
        return arc_spread_classes(vm, g, digits, bg, found);
#endif
    for (;;) {
        const u32 keys_at = vm->top;
        i32 count;

        colour = arc_next_colour(TEAM_PASS, g, digits, colour);
        if (colour == 128)
            return n;
        if (colour == bg)
            continue;
        count = digits.others ? arc_count_of(TEAM_PASS, g.cells, n_cells, colour)
                              : arc_digit_count(digits, colour);
        arc_alloc(vm, ((i64)count + 1) * 4);
        if (vm->error)
            return 0;
        arc_keys_of_colour(TEAM_PASS, g, colour, colour, arc_keys_at(vm, keys_at));
        arc_cut(vm, keys_at, (i64)count * 4);
        ONE_LANE found[n] = ARC_SLOT(ARC_OBJ, count, keys_at);
        n++;
    }
}

/* One object for each colour, or for each but the most common. */
FN_NOINLINE slot arc_colour_classes(VM_PARAM, slot grid, i32 without_bg)
{
    const u32 limit = vm->limit;
    const arc_grid g = arc_grid_of(vm, grid);
    const slot most = without_bg ? arc_most_colour(VM, grid) : ARC_SLOT_NONE;
    GLOBAL slot *found;
    i32 n = 0;
    u32 at;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (!g.is_plain) {
        n = arc_tally_of(VM, grid).n;
        return vm->error || n == 0 ? ARC_SLOT_EMPTY_SET : arc_fail(vm, ARC_E_RANGE);
    }
    if (!arc_grid_fits_keys(vm, g.rows, g.cols))
        return ARC_SLOT_NONE;
    found = arc_slots_at(vm, arc_borrow(vm, 256 * 8));
    if (!vm->error)
        n = arc_find_classes(VM, g, without_bg ? (i32)arc_number(vm, most) : ARC_NO_BG, found);
    at = arc_new_slots(vm, n);
    if (!vm->error) {
        EACH(k, n) arc_slots_at(vm, at)[k] = found[k];
    }
    vm->limit = limit;
    if (vm->error)
        return ARC_SLOT_NONE;
    return n == 0 ? ARC_SLOT_EMPTY_SET : ARC_SLOT(ARC_SET, n, at);
}

FN_NOINLINE slot arc_op_partition(VM_PARAM, slot grid)
{
    return arc_colour_classes(VM, grid, 0);
}

FN_NOINLINE slot arc_op_fgpartition(VM_PARAM, slot grid)
{
    return arc_colour_classes(VM, grid, 1);
}

/* Uniform rows and columns. */

FN_NOINLINE slot arc_op_frontiers(VM_PARAM, slot grid)
{
    const u32 limit = vm->limit;
    const arc_grid g = arc_grid_with_rows(vm, grid);
    GLOBAL u32 *row, *col;
    GLOBAL slot *slots;
    i32 rows, cols;
    u32 at, keys_at, row_step, col_step;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (!g.is_plain) {
        i32 n_empty;

        SUM_OVER(n_empty, i, g.rows, arc_len(vm, arc_elem(vm, grid, i)) == 0)
        return n_empty == g.rows ? ARC_SLOT_EMPTY_SET : arc_fail(vm, ARC_E_RANGE);
    }
    if (!arc_grid_fits_keys(vm, g.rows, g.cols))
        return ARC_SLOT_NONE;
    row = arc_keys_at(vm, arc_borrow(vm, (i64)g.rows * 4));
    col = arc_keys_at(vm, arc_borrow(vm, (i64)g.cols * 4));
    if (vm->error) {
        vm->limit = limit;
        return ARC_SLOT_NONE;
    }
    PACK(rows, to, i, g.rows, arc_is_uniform(g.cells + i * g.cols, g.cols, 1), row[to] = (u32)i)
    PACK(cols, to, j, g.cols, arc_is_uniform(g.cells + j, g.rows, g.cols), col[to] = (u32)j)
    row_step = (u32)(g.cols + 1) & ~1u;
    col_step = (u32)(g.rows + 1) & ~1u;
    at = arc_new_slots(vm, rows + cols);
    keys_at = arc_alloc(vm, 4 * ((i64)rows * row_step + (i64)cols * col_step));
    if (!vm->error) {
        const u32 cols_at = keys_at + 4 * (u32)rows * row_step;

        slots = arc_slots_at(vm, at);
        EACH_CELL(k, r, j, rows, g.cols)
        {
            const i32 i = (i32)row[r];

            arc_keys_at(vm, keys_at)[(u32)r * row_step + (u32)j] =
                ARC_KEY(g.cells[i * g.cols], i, j);
            if (j == 0)
                slots[r] = ARC_SLOT(ARC_OBJ, g.cols, keys_at + 4 * (u32)r * row_step);
        }
        EACH_CELL(k, c, i, cols, g.rows)
        {
            const i32 j = (i32)col[c];

            arc_keys_at(vm, cols_at)[(u32)c * col_step + (u32)i] = ARC_KEY(g.cells[j], i, j);
            if (i == 0)
                slots[rows + c] = ARC_SLOT(ARC_OBJ, g.rows, cols_at + 4 * (u32)c * col_step);
        }
    }
    vm->limit = limit;
    return vm->error ? ARC_SLOT_NONE : arc_set_of(VM, at, rows + cols);
}

#endif
