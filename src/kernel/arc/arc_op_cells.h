/* arc_op_cells.h - conversions between grids and sets of their cells; cells by position and
 * colour. */
#ifndef ARC_OP_CELLS_H
#define ARC_OP_CELLS_H

#include "arc_tally.h"

/* All cells. */

FN_NOINLINE slot arc_op_asindices(VM_PARAM, slot grid)
{
    arc_grid g = arc_grid_of(vm, grid);
    u32 at;
    GLOBAL u32 *keys;

    if (g.rows < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (g.rows == 0)
        return ARC_SLOT_EMPTY_SET;
    g = arc_grid_with_rows(vm, grid);
    if (vm->error || !arc_grid_fits_keys(vm, g.rows, g.cols))
        return ARC_SLOT_NONE;
    if (g.cols == 0)
        return ARC_SLOT_EMPTY_SET;
    at = arc_alloc(vm, (i64)g.rows * g.cols * 4);
    if (vm->error)
        return ARC_SLOT_NONE;
    keys = arc_keys_at(vm, at);
    EACH_CELL(k, i, j, g.rows, g.cols) keys[k] = ARC_KEY(0, i, j);
    return arc_keys_slot(0, at, g.rows * g.cols);
}

/* Writes the keys of cells with one colour, as colour `own`, to `keys`; returns how many. There
 * must be space for one more, since a single lane stores every key and only advances past those
 * that count. */
FN i32 arc_keys_of_colour(TEAM_PARAM, arc_grid g, i32 colour, i32 own, GLOBAL u32 *keys)
{
    GLOBAL const i8 *cells = g.cells;
    i32 count = 0;

#if LANES == 1 && WIDTH == 1
    EACH_CELL(k, i, j, g.rows, g.cols)
    {
        keys[count] = ARC_KEY(own, i, j);
        count += cells[k] == colour;
    }
#else
    PACK_CELLS(count, at, k, i, j, g.rows, g.cols, cells[k] == colour,
               keys[at] = ARC_KEY(own, i, j))
#endif
    return count;
}

/* The keys of a grid of digits, by a single lane: those of digit d start at keys[cursor[d]]. */
FN void arc_spread_cells(arc_grid g, u32 *cursor, GLOBAL u32 *keys)
{
    for (i32 i = 0; i < g.rows; i++)
        for (i32 j = 0; j < g.cols; j++) {
            const i32 colour = g.cells[i * g.cols + j];

            keys[cursor[colour]++] = ARC_KEY(colour, i, j);
        }
}

/* Positions of a value in rows of any kind. */
FN_NOINLINE slot arc_loose_ofcolor(VM_PARAM, arc_grid g, slot value)
{
    const u32 at = vm->top;
    i32 n = 0;

    for (i32 i = 0; i < g.rows; i++) {
        const slot row = arc_elem(vm, g.v, i);
        const i32 len = arc_len(vm, row);
        GLOBAL u32 *keys = arc_keys_at(vm, at) + n;
        i32 count;

        if (len < 0)
            arc_fail(vm, ARC_E_TYPE);
        arc_cut(vm, at, (i64)n * 4);
        arc_alloc(vm, (i64)MAX(len, 0) * 4);
        if (vm->error || !arc_grid_fits_keys(vm, g.rows, len))
            return ARC_SLOT_NONE;
        PACK(count, to, j, len, arc_same(vm, arc_elem(vm, row, j), value),
             keys[to] = ARC_KEY(0, i, j))
        n += count;
    }
    arc_cut(vm, at, (i64)n * 4);
    return arc_keys_slot(0, at, n);
}

FN_NOINLINE slot arc_op_ofcolor(VM_PARAM, slot grid, slot value)
{
    const arc_grid g = arc_grid_of(vm, grid);
    u32 at;
    i32 n;

    if (g.rows < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (!g.is_plain)
        return arc_loose_ofcolor(VM, g, value);
    if (!arc_is_colour(vm, value))
        return ARC_SLOT_EMPTY_SET;
    if (!arc_grid_fits_keys(vm, g.rows, g.cols))
        return ARC_SLOT_NONE;
    at = arc_alloc(vm, ((i64)g.rows * g.cols + 1) * 4);
    if (vm->error)
        return ARC_SLOT_NONE;
    n = arc_keys_of_colour(TEAM_PASS, g, (i32)arc_number(vm, value), 0, arc_keys_at(vm, at));
    arc_cut(vm, at, (i64)n * 4);
    return arc_keys_slot(0, at, n);
}

/* The set of (value, (i, j)) for every value of rows of any kind. */
FN_NOINLINE slot arc_loose_asobject(VM_PARAM, arc_grid g)
{
    i32 n = 0, is_wrong;
    u32 at;

    ANY_OVER(is_wrong, i, g.rows, arc_len(vm, arc_elem(vm, g.v, i)) < 0)
    if (is_wrong)
        return arc_fail(vm, ARC_E_TYPE);
    SUM_OVER(n, i, g.rows, arc_len(vm, arc_elem(vm, g.v, i)))
    at = arc_new_slots(vm, n);
    n = 0;
    for (i32 i = 0; i < g.rows && !vm->error; i++) {
        const slot row = arc_elem(vm, g.v, i);
        const i32 len = arc_len(vm, row);

        for (i32 j = 0; j < len && !vm->error; j++) {
            const slot place = arc_pair_of(vm, i, j);

            if (!vm->error)
                arc_put_row(VM, at, n++, arc_tuple_of_2(VM, arc_elem(vm, row, j), place));
        }
    }
    return vm->error ? ARC_SLOT_NONE : arc_set_of(VM, at, n);
}

/* Writes the keys of all cells of a plain grid, ascending, to `keys`, which has space for one
 * more. */
FN void arc_keys_of_cells(TEAM_PARAM, arc_grid g, GLOBAL u32 *keys)
{
    const i32 n_cells = g.rows * g.cols;
    i32 n = 0, colour = -129;

#if LANES == 1 && WIDTH == 1
    const arc_digits digits = arc_count_digits(TEAM_PASS, g.cells, n_cells);
    u32 cursor[10];

    if (!digits.others) {
        for (i32 d = 0; d < 10; d++) {
            cursor[d] = (u32)n;
            n += arc_digit_count(digits, d);
        }
        arc_spread_cells(g, cursor, keys);
    }
#endif
    while (n < n_cells) {
        i32 next;

        MIN_OVER(next, k, n_cells, 128, g.cells[k] > colour ? g.cells[k] : 128)
        colour = next;
        n += arc_keys_of_colour(TEAM_PASS, g, colour, colour, keys + n);
    }
}

FN_NOINLINE slot arc_op_asobject(VM_PARAM, slot grid)
{
    const arc_grid g = arc_grid_of(vm, grid);
    const i64 n = (i64)g.rows * g.cols;
    u32 at;

    if (g.rows < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (!g.is_plain)
        return arc_loose_asobject(VM, g);
    if (!arc_grid_fits_keys(vm, g.rows, g.cols))
        return ARC_SLOT_NONE;
    at = arc_alloc(vm, (n + 1) * 4);
    if (vm->error)
        return ARC_SLOT_NONE;
    arc_keys_of_cells(TEAM_PASS, g, arc_keys_at(vm, at));
    arc_cut(vm, at, n * 4);
    return arc_keys_slot(1, at, (i32)n);
}

/* Cells of a patch. */

FN i32 arc_is_inside(u32 key, i32 rows, i32 cols)
{
    return ARC_KEY_I(key) >= 0 && ARC_KEY_I(key) < rows && ARC_KEY_J(key) >= 0 &&
           ARC_KEY_J(key) < cols;
}

FN slot arc_loose_toobject(VM_PARAM, arc_grid g, arc_patch p)
{
    const u32 at = arc_new_slots(vm, p.n);
    i32 n = 0;

    for (i32 k = 0; k < p.n && !vm->error; k++) {
        const u32 key = p.keys[k];
        slot row;

        if (!arc_is_inside(key, g.rows, g.cols))
            continue;
        row = arc_elem(vm, g.v, ARC_KEY_I(key));
        if (!arc_is_tuple(row))
            arc_fail(vm, ARC_E_TYPE);
        else if (ARC_KEY_J(key) >= arc_len(vm, row))
            arc_fail(vm, ARC_E_INDEX);
        if (!vm->error)
            arc_put_row(VM, at, n++,
                        arc_tuple_of_2(VM, arc_elem(vm, row, ARC_KEY_J(key)), arc_key_pair(key)));
    }
    return vm->error ? ARC_SLOT_NONE : arc_set_of(VM, at, n);
}

/* Sorts by colour keys whose places ascend. Returns how many there are. */
FN_NOINLINE i32 arc_sort_by_colour(VM_PARAM, u32 at, i32 n)
{
    const u32 mark = vm->top;
    const u32 sorted_at = arc_alloc(vm, (i64)n * 4);
    GLOBAL u32 *keys = arc_keys_at(vm, at), *sorted = arc_keys_at(vm, sorted_at);
    i32 done = 0;

    if (vm->error)
        return 0;
#if LANES == 1 && WIDTH == 1
    u32 cursor[256];

    for (i32 c = 0; c < 256; c++)
        cursor[c] = 0;
    for (i32 k = 0; k < n; k++)
        cursor[keys[k] >> 24]++;
    for (i32 c = 0; c < 256; c++) {
        const u32 count = cursor[c];

        cursor[c] = (u32)done;
        done += (i32)count;
    }
    for (i32 k = 0; k < n; k++)
        sorted[cursor[keys[k] >> 24]++] = keys[k];
#else
    for (i32 colour = -1; done < n;) {
        i32 next, count;

        MIN_OVER(next, k, n, 256, (i32)(keys[k] >> 24) > colour ? (i32)(keys[k] >> 24) : 256)
        colour = next;
        PACK(count, to, k, n, (i32)(keys[k] >> 24) == colour, sorted[done + to] = keys[k])
        done += count;
    }
#endif
    EACH(k, n) keys[k] = sorted[k];
    vm->top = mark;
    return n;
}

FN_NOINLINE slot arc_op_toobject(VM_PARAM, slot patch, slot grid)
{
    const u32 mark = vm->top;
    const arc_grid g = arc_grid_with_rows(vm, grid);
    arc_patch p;
    u32 at;
    GLOBAL u32 *keys;
    i32 n;
    slot object;

    if (vm->error)
        return ARC_SLOT_NONE;
    p = arc_patch_of(VM, patch);
    if (vm->error)
        return ARC_SLOT_NONE;
    if (!g.is_plain)
        return arc_loose_toobject(VM, g, p);
    at = arc_alloc(vm, (i64)p.n * 4);
    if (vm->error)
        return ARC_SLOT_NONE;
    keys = arc_keys_at(vm, at);
    PACK(n, to, k, p.n, arc_is_inside(p.keys[k], g.rows, g.cols),
         keys[to] = (p.keys[k] & ARC_KEY_PLACE) |
                    (u32)(g.cells[ARC_KEY_I(p.keys[k]) * g.cols + ARC_KEY_J(p.keys[k])] + 128)
                        << 24)
    /* The places of an index set ascend. */
    if (n > SORT_RUN && p.is_set && !p.is_object)
        n = arc_sort_by_colour(VM, at, n);
    object = vm->error ? ARC_SLOT_NONE : arc_set_of_keys(VM, 1, at, n);
    return vm->error ? ARC_SLOT_NONE : arc_keep(VM, mark, object);
}

FN_NOINLINE slot arc_op_index(VM_PARAM, slot grid, slot place)
{
    const arc_grid g = arc_grid_with_rows(vm, grid);
    const i32 is_pair = arc_len(vm, place) == 2;
    const i32 i = arc_pair_operand(vm, place, 0), j = arc_pair_operand(vm, place, 1);

    if (!vm->error && !is_pair)
        arc_fail(vm, ARC_E_VALUE);
    if (vm->error || i < 0 || i >= g.rows || j < 0 || j >= g.cols)
        return ARC_SLOT_NONE;
    if (!g.is_plain) {
        const slot row = arc_elem(vm, grid, i);

        if (!arc_is_tuple(row))
            return arc_fail(vm, ARC_E_TYPE);
        if (j >= arc_len(vm, row))
            return arc_fail(vm, ARC_E_INDEX);
    }
    return arc_grid_at(vm, g, i, j);
}

#endif
