/* arc_op_occurrences.h - where an object occurs in a grid.
 *
 * If the grid has up to 64 columns, each of its rows is a word for each colour of the object, and a
 * word holds the answers for a whole row of positions: a run of n cells fits where n neighbouring
 * bits are set, which takes a few shifts (arc_fitting), and all runs of the object must fit at
 * once. Wider grids are compared cell by cell at every position, up to the first difference.
 */
#ifndef ARC_OP_OCCURRENCES_H
#define ARC_OP_OCCURRENCES_H

#include "arc_op_cells.h"
#include "arc_runs.h"

#define ARC_WORD_COLS 64

/* A search at all positions 0 <= i < rows, 0 <= j < cols of the object's upper left corner. */
typedef struct arc_search {
    arc_grid g;             /* plain */
    GLOBAL const u32 *keys; /* of the object, ascending */
    i32 n_keys;
    arc_box box;
    i32 rows, cols;
} arc_search;

/* By words. */

/* A run of the object: its first key, its offset from the object's corner, its length, and where
 * the words of its colour begin. */
typedef struct arc_need {
    u32 first, row, col, n, words;
} arc_need;

/* Bit j stays if the n bits from j on are set. */
FN u64 arc_fitting(u64 bits, u32 n)
{
    u32 done = 1;

    for (; 2 * done <= n; done *= 2)
        bits &= bits >> done;
    return done < n ? bits & bits >> (n - done) : bits;
}

/* The positions in row i where all runs fit, as bits. */
FN u64 arc_fit_row(arc_search s, GLOBAL const arc_need *needs, i32 n, GLOBAL const u64 *words,
                   i32 i)
{
    u64 fits = ~(u64)0 >> (ARC_WORD_COLS - s.cols);

    for (i32 q = 0; q < n && fits; q++) {
        const i32 row = i + (i32)needs[q].row;

        if (row >= s.g.rows)
            return 0;
        fits &= arc_fitting(words[needs[q].words + (u32)row], needs[q].n) >> needs[q].col;
    }
    return fits;
}

/* Keys ascend, so the cells of a run are consecutive. Returns the number of runs. */
FN i32 arc_find_needs(TEAM_PARAM, arc_search s, GLOBAL arc_need *needs)
{
    i32 n;

    PACK(n, to, k, s.n_keys, k == 0 || s.keys[k] != s.keys[k - 1] + 1, needs[to].first = (u32)k)
    EACH(q, n)
    {
        const u32 first = needs[q].first;

        needs[q].row = (u32)(ARC_KEY_I(s.keys[first]) - s.box.i0);
        needs[q].col = (u32)(ARC_KEY_J(s.keys[first]) - s.box.j0);
        needs[q].n = (q + 1 < n ? needs[q + 1].first : (u32)s.n_keys) - first;
    }
    return n;
}

#ifdef ARC_ON_CPU
/* Bit k says whether cell k of eight has the colour that `eight` holds eight times: the highest bit
 * of each byte without a difference, collected by a multiplication. */
FN u64 arc_eight_bits(GLOBAL const i8 *cells, u64 eight)
{
    const u64 low = 0x7f7f7f7f7f7f7f7fu;
    u64 differ;

    __builtin_memcpy(&differ, cells, sizeof differ);
    differ ^= eight;
    return (~(((differ & low) + low) | differ | low) >> 7) * 0x0102040810204080u >> 56;
}
#endif

/* The words of one colour: bit j of word i says whether cell (i, j) has it. */
FN void arc_make_words(TEAM_PARAM, arc_grid g, i32 colour, GLOBAL u64 *words)
{
    EACH(i, g.rows)
    {
        GLOBAL const i8 *row = g.cells + i * g.cols;
        u64 bits = 0;
        i32 j = 0;

#ifdef ARC_ON_CPU
        for (; j + 8 <= g.cols; j += 8)
            bits |= arc_eight_bits(row + j, (u8)colour * 0x0101010101010101u) << j;
#endif
        for (; j < g.cols; j++)
            bits |= (u64)(row[j] == colour) << j;
        words[i] = bits;
    }
}

FN i32 arc_colours_in(GLOBAL const u32 *keys, i32 n)
{
    i32 colours = 0;

    for (i32 from = 0; from < n; colours++)
        from = arc_stretch_end(keys, n, from, 24);
    return colours;
}

/* Writes the keys of all positions that fit; returns how many. */
FN i32 arc_emit_fits(TEAM_PARAM, arc_search s, GLOBAL const u64 *fits, GLOBAL u32 *keys)
{
    i32 count = 0;

#if LANES == 1 && WIDTH == 1
    for (i32 i = 0; i < s.rows; i++)
        for (u64 left = fits[i], j = 0; left; left >>= 1, j++)
            if (left & 1)
                keys[count++] = ARC_KEY(0, i, (i32)j);
#else
    PACK_CELLS(count, at, k, i, j, s.rows, s.cols, fits[k / s.cols] >> k % s.cols & 1,
               keys[at] = ARC_KEY(0, i, j))
#endif
    return count;
}

FN i32 arc_search_words(VM_PARAM, arc_search s, GLOBAL u32 *keys)
{
    const i32 colours = arc_colours_in(s.keys, s.n_keys);
    const u32 needs_at = arc_borrow(vm, (i64)s.n_keys * 20);
    const u32 words_at = arc_borrow(vm, (i64)colours * s.g.rows * 8);
    const u32 fits_at = arc_borrow(vm, (i64)s.rows * 8);
    GLOBAL arc_need *needs = (GLOBAL arc_need *)(vm->arena + needs_at);
    GLOBAL u64 *words = (GLOBAL u64 *)(vm->arena + words_at);
    GLOBAL u64 *fits = (GLOBAL u64 *)(vm->arena + fits_at);
    i32 n, from = 0;

    if (vm->error)
        return 0;
    n = arc_find_needs(TEAM_PASS, s, needs);
    for (i32 c = 0; c < colours; c++) {
        const i32 end = arc_stretch_end(s.keys, s.n_keys, from, 24);

        arc_make_words(TEAM_PASS, s.g, ARC_KEY_COLOUR(s.keys[from]), words + c * s.g.rows);
        EACH(q, n)
        if ((i32)needs[q].first >= from && (i32)needs[q].first < end)
            needs[q].words = (u32)(c * s.g.rows);
        from = end;
    }
    EACH(i, s.rows) fits[i] = arc_fit_row(s, needs, n, words, i);
    return arc_emit_fits(TEAM_PASS, s, fits, keys);
}

/* Cell by cell. */

FN i32 arc_occurs_at(arc_vm *vm, arc_search s, i32 i, i32 j)
{
    for (i32 k = 0; k < s.n_keys; k++) {
        const i32 row = i + ARC_KEY_I(s.keys[k]) - s.box.i0;
        const i32 col = j + ARC_KEY_J(s.keys[k]) - s.box.j0;

        if (row >= s.g.rows || col >= s.g.cols ||
            s.g.cells[row * s.g.cols + col] != ARC_KEY_COLOUR(s.keys[k]))
            return 0;
        if (k % 256 == 255 && arc_is_late(vm, 256))
            return 0;
    }
    return 1;
}

FN i32 arc_search_cells(VM_PARAM, arc_search s, GLOBAL u32 *keys)
{
    i32 count;

    PACK_CELLS(count, at, k, i, j, s.rows, s.cols, arc_occurs_at(vm, s, k / s.cols, k % s.cols),
               keys[at] = ARC_KEY(0, i, j))
    return count;
}

/* The primitive. */

/* Every position of rows x cols. */
FN slot arc_all_places(VM_PARAM, i32 rows, i32 cols)
{
    const u32 at = arc_alloc(vm, (i64)rows * cols * 4);
    GLOBAL u32 *keys = arc_keys_at(vm, at);

    if (vm->error || !arc_grid_fits_keys(vm, rows, cols))
        return ARC_SLOT_NONE;
    EACH_CELL(k, i, j, rows, cols) keys[k] = ARC_KEY(0, i, j);
    return arc_keys_slot(0, at, rows * cols);
}

FN_NOINLINE slot arc_search_all(VM_PARAM, arc_search s)
{
    const u32 limit = vm->limit;
    const u32 at = arc_alloc(vm, (i64)s.rows * s.cols * 4);
    i32 n;

    if (vm->error || !arc_grid_fits_keys(vm, s.rows, s.cols))
        return ARC_SLOT_NONE;
    if (s.g.cols <= ARC_WORD_COLS)
        n = arc_search_words(VM, s, arc_keys_at(vm, at));
    else
        n = arc_search_cells(VM, s, arc_keys_at(vm, at));
    vm->limit = limit;
    if (vm->error)
        return ARC_SLOT_NONE;
    arc_cut(vm, at, (i64)n * 4);
    return arc_keys_slot(0, at, n);
}

FN_NOINLINE slot arc_op_occurrences(VM_PARAM, slot grid, slot object)
{
    const u32 mark = vm->top;
    arc_search s;
    arc_patch p;
    arc_shape shape;
    slot found;

    s.g = arc_grid_with_rows(vm, grid);
    p = arc_patch_of(VM, object);
    if (vm->error)
        return ARC_SLOT_NONE;
    if (p.n == 0)
        return arc_all_places(VM, s.g.rows + 1, s.g.cols + 1);
    /* A tuple has the shape of a grid, so at some positions a cell may lie outside. */
    shape = arc_shape_of(VM, object);
    s.rows = s.g.rows - shape.rows + 1;
    s.cols = s.g.cols - shape.cols + 1;
    if (vm->error || s.rows < 1 || s.cols < 1)
        return ARC_SLOT_EMPTY_SET;
    if (!p.is_object)
        return arc_fail(vm, ARC_E_TYPE);
    s.box = arc_box_of(TEAM_PASS, p);
    s.g = arc_grid_cut(VM, s.g);
    if (vm->error || arc_box_rows(s.box) > s.g.rows || arc_box_cols(s.box) > s.g.cols)
        return ARC_SLOT_EMPTY_SET;
    if (!p.is_set) {
        const u32 at = arc_alloc(vm, (i64)p.n * 4);
        GLOBAL u32 *keys = arc_keys_at(vm, at);

        if (vm->error)
            return ARC_SLOT_NONE;
        EACH(k, p.n) keys[k] = p.keys[k];
        p = arc_patch_of(VM, arc_set_of_keys(VM, 1, at, p.n));
    }
    s.keys = p.keys;
    s.n_keys = p.n;
    found = arc_search_all(VM, s);
    return vm->error ? ARC_SLOT_NONE : arc_keep(VM, mark, found);
}

#endif
