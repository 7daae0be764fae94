/* arc_op_patch.h - primitives that measure a patch: its size, edges, corners, center, colour. */
#ifndef ARC_OP_PATCH_H
#define ARC_OP_PATCH_H

#include "arc_patch.h"

/* Height and width. */

FN_NOINLINE slot arc_op_height(VM_PARAM, slot a)
{
    arc_shape shape;

    if (arc_is_tuple(a))
        return ARC_SLOT_INT(arc_len(vm, a));
    shape = arc_shape_of(VM, a);
    return vm->error ? ARC_SLOT_NONE : ARC_SLOT_INT(shape.rows);
}

FN_NOINLINE slot arc_op_width(VM_PARAM, slot a)
{
    const arc_shape shape = arc_shape_of(VM, a);

    return vm->error ? ARC_SLOT_NONE : ARC_SLOT_INT(shape.cols);
}

FN_NOINLINE slot arc_op_shape(VM_PARAM, slot a)
{
    const arc_shape shape = arc_shape_of(VM, a);

    return vm->error ? ARC_SLOT_NONE : arc_pair_of(vm, shape.rows, shape.cols);
}

FN_NOINLINE slot arc_op_portrait(VM_PARAM, slot a)
{
    const arc_shape shape = arc_shape_of(VM, a);

    return vm->error ? ARC_SLOT_NONE : ARC_SLOT_BOOL(shape.rows > shape.cols);
}

/* A set must fill its box; for a tuple only the number of rows and the first row count. */
FN_NOINLINE slot arc_op_square(VM_PARAM, slot a)
{
    const arc_shape shape = arc_shape_of(VM, a);

    if (vm->error)
        return ARC_SLOT_NONE;
    if (arc_is_tuple(a))
        return shape.rows == 0 ? arc_fail(vm, ARC_E_INDEX)
                               : ARC_SLOT_BOOL(shape.rows == shape.cols);
    return ARC_SLOT_BOOL(shape.rows == shape.cols && shape.rows * shape.cols == arc_len(vm, a));
}

FN_NOINLINE slot arc_op_vline(VM_PARAM, slot a)
{
    const arc_shape shape = arc_shape_of(VM, a);

    return vm->error ? ARC_SLOT_NONE
                     : ARC_SLOT_BOOL(shape.rows == arc_len(vm, a) && shape.cols == 1);
}

FN_NOINLINE slot arc_op_hline(VM_PARAM, slot a)
{
    const arc_shape shape = arc_shape_of(VM, a);

    return vm->error ? ARC_SLOT_NONE
                     : ARC_SLOT_BOOL(shape.cols == arc_len(vm, a) && shape.rows == 1);
}

/* Edges. */

/* The box of a patch; fails if it is empty. */
FN_NOINLINE arc_box arc_box_with_items(VM_PARAM, slot a)
{
    const u32 mark = vm->top;
    const arc_patch p = arc_patch_with_items(VM, a);
    arc_box box;

    box.i0 = box.j0 = box.i1 = box.j1 = 0;
    if (!vm->error)
        box = arc_box_of(TEAM_PASS, p);
    vm->top = mark;
    return box;
}

FN_NOINLINE slot arc_op_uppermost(VM_PARAM, slot a)
{
    const arc_box box = arc_box_with_items(VM, a);

    return vm->error ? ARC_SLOT_NONE : ARC_SLOT_INT(box.i0);
}

FN_NOINLINE slot arc_op_lowermost(VM_PARAM, slot a)
{
    const arc_box box = arc_box_with_items(VM, a);

    return vm->error ? ARC_SLOT_NONE : ARC_SLOT_INT(box.i1);
}

FN_NOINLINE slot arc_op_leftmost(VM_PARAM, slot a)
{
    const arc_box box = arc_box_with_items(VM, a);

    return vm->error ? ARC_SLOT_NONE : ARC_SLOT_INT(box.j0);
}

FN_NOINLINE slot arc_op_rightmost(VM_PARAM, slot a)
{
    const arc_box box = arc_box_with_items(VM, a);

    return vm->error ? ARC_SLOT_NONE : ARC_SLOT_INT(box.j1);
}

/* The edge with this number. */
FN_NOINLINE slot arc_op_col_row(VM_PARAM, slot a, slot which)
{
    const arc_box box = arc_box_with_items(VM, a);
    const i64 edge = arc_is_num(which) ? arc_number(vm, which) : -1;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (edge < 0 || edge > 3)
        return arc_fail(vm, ARC_E_VALUE);
    return ARC_SLOT_INT(edge == 0 ? box.i1 : edge == 1 ? box.i0 : edge == 2 ? box.j0 : box.j1);
}

/* The grid is inspected only if the patch does not touch its first row or column. */
FN_NOINLINE slot arc_op_bordering(VM_PARAM, slot a, slot grid)
{
    const arc_box box = arc_box_with_items(VM, a);
    i32 rows, cols;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (box.i0 == 0 || box.j0 == 0)
        return ARC_SLOT_BOOL(1);
    rows = arc_len(vm, grid);
    if (rows < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (box.i1 == rows - 1)
        return ARC_SLOT_BOOL(1);
    if (!arc_is_tuple(grid))
        return arc_fail(vm, ARC_E_TYPE);
    if (rows == 0)
        return arc_fail(vm, ARC_E_INDEX);
    cols = arc_tuple_cols(vm, grid);
    return vm->error ? ARC_SLOT_NONE : ARC_SLOT_BOOL(box.j1 == cols - 1);
}

/* Corners. */

#define ARC_CORNER_UL 0
#define ARC_CORNER_UR 1
#define ARC_CORNER_LL 2
#define ARC_CORNER_LR 3

#define ARC_COLUMN_MIN  0
#define ARC_COLUMN_MAX  1
#define ARC_COLUMN_MEAN 2

FN i8 arc_column_fold(GLOBAL const i8 *column, i32 rows, i32 cols, i32 how)
{
    i32 lo = column[0], hi = column[0];
    i64 sum = 0;

    for (i32 i = 0; i < rows; i++) {
        const i32 v = column[(i64)i * cols];

        lo = MIN(lo, v);
        hi = MAX(hi, v);
        sum += v;
    }
    return (i8)(how == ARC_COLUMN_MIN ? lo : how == ARC_COLUMN_MAX ? hi : floor_div(sum, rows));
}

/* A grid of three or more columns counts as indices with that many components where only the least,
 * the greatest or the mean of each is needed. */
FN i32 arc_has_columns(const arc_vm *vm, slot a)
{
    return ARC_TAG(a) == ARC_GRID && arc_grid_cols(vm, a) > 2;
}

FN_NOINLINE slot arc_columns_of(VM_PARAM, slot grid, i32 how)
{
    const i32 rows = arc_grid_rows(vm, grid), cols = arc_grid_cols(vm, grid);
    GLOBAL const i8 *cells = arc_grid_cells(vm, grid);
    const u32 at = arc_alloc(vm, cols);
    GLOBAL i8 *row = arc_bytes_at(vm, at);

    if (vm->error)
        return ARC_SLOT_NONE;
    EACH(j, cols) row[j] = arc_column_fold(cells + j, rows, cols, how);
    return ARC_SLOT(ARC_ROW, cols, at);
}

FN slot arc_box_corner(arc_box box, i32 which)
{
    return ARC_SLOT_PAIR(which == ARC_CORNER_UL || which == ARC_CORNER_UR ? box.i0 : box.i1,
                         which == ARC_CORNER_UL || which == ARC_CORNER_LL ? box.j0 : box.j1);
}

FN_NOINLINE slot arc_corner_of(VM_PARAM, slot a, i32 which)
{
    const u32 mark = vm->top;
    arc_patch p;
    slot corner = ARC_SLOT_EMPTY_TUPLE;

    if (arc_has_columns(vm, a) && (which == ARC_CORNER_UL || which == ARC_CORNER_LR))
        return arc_columns_of(VM, a, which == ARC_CORNER_UL ? ARC_COLUMN_MIN : ARC_COLUMN_MAX);
    p = arc_patch_of(VM, a);
    if (vm->error)
        return ARC_SLOT_NONE;
    if (p.n > 0)
        corner = arc_box_corner(arc_box_of(TEAM_PASS, p), which);
    vm->top = mark;
    return corner;
}

FN_NOINLINE slot arc_op_ulcorner(VM_PARAM, slot a)
{
    return arc_corner_of(VM, a, ARC_CORNER_UL);
}

FN_NOINLINE slot arc_op_urcorner(VM_PARAM, slot a)
{
    return arc_corner_of(VM, a, ARC_CORNER_UR);
}

FN_NOINLINE slot arc_op_llcorner(VM_PARAM, slot a)
{
    return arc_corner_of(VM, a, ARC_CORNER_LL);
}

FN_NOINLINE slot arc_op_lrcorner(VM_PARAM, slot a)
{
    return arc_corner_of(VM, a, ARC_CORNER_LR);
}

FN_NOINLINE slot arc_op_corner(VM_PARAM, slot a, slot which)
{
    const i64 corner = arc_is_num(which) ? arc_number(vm, which) : 0;

    return arc_corner_of(VM, a, corner >= 1 && corner <= 3 ? (i32)corner : ARC_CORNER_UL);
}

/* All four; for an empty patch they are the same: the empty tuple. */
FN_NOINLINE slot arc_op_corners(VM_PARAM, slot a)
{
    const u32 mark = vm->top;
    const arc_patch p = arc_patch_of(VM, a);
    const i32 n = p.n > 0 ? 4 : 1;
    arc_box box;
    GLOBAL slot *out;
    u32 at;

    if (vm->error)
        return ARC_SLOT_NONE;
    box.i0 = box.j0 = box.i1 = box.j1 = 0;
    if (p.n > 0)
        box = arc_box_of(TEAM_PASS, p);
    vm->top = mark;
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_slots_at(vm, at);
    EACH(k, n) out[k] = p.n > 0 ? arc_box_corner(box, k) : ARC_SLOT_EMPTY_TUPLE;
    return arc_set_of(VM, at, n);
}

/* Centers. */

typedef struct arc_point {
    i32 i, j;
} arc_point;

/* The upper left corner and half the height and width. A tuple counts as a piece here, with its
 * items as rows; with of_places a tuple of cells first becomes the set of their positions. */
FN_NOINLINE arc_point arc_center_of(VM_PARAM, slot a, i32 of_places)
{
    const u32 mark = vm->top;
    const arc_patch p = arc_patch_with_items(VM, a);
    arc_point center;

    center.i = center.j = 0;
    if (!vm->error) {
        const arc_box box = arc_box_of(TEAM_PASS, p);
        const i32 is_piece = !p.is_set && !(of_places && p.is_object);

        center.i = box.i0 + (is_piece ? p.n : arc_box_rows(box)) / 2;
        center.j = box.j0 + (is_piece ? 2 : arc_box_cols(box)) / 2;
    }
    vm->top = mark;
    return center;
}

FN_NOINLINE slot arc_op_center(VM_PARAM, slot a)
{
    const arc_point center = arc_center_of(VM, a, 0);

    return vm->error ? ARC_SLOT_NONE : arc_pair_of(vm, center.i, center.j);
}

/* The direction of b, seen from a. */
FN_NOINLINE slot arc_op_position(VM_PARAM, slot a, slot b)
{
    const arc_point from = arc_center_of(VM, a, 1), to = arc_center_of(VM, b, 1);
    const i32 down = from.i < to.i ? 1 : -1, right = from.j < to.j ? 1 : -1;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (from.i == to.i)
        return ARC_SLOT_PAIR(0, right);
    return from.j == to.j ? ARC_SLOT_PAIR(down, 0) : ARC_SLOT_PAIR(down, right);
}

#define ARC_SUM_AT_ONCE (1 << 19) /* rows or columns from 0 to 4095 that add up within int32 */

/* Each position is summed once, but the sum is divided by the number of items. */
FN_NOINLINE slot arc_op_centerofmass(VM_PARAM, slot a)
{
    const u32 mark = vm->top;
    arc_patch p;
    i64 n, sum_i = 0, sum_j = 0;

    if (arc_has_columns(vm, a))
        return arc_columns_of(VM, a, ARC_COLUMN_MEAN);
    p = arc_patch_of(VM, a);
    if (vm->error)
        return ARC_SLOT_NONE;
    if (p.n == 0)
        return ARC_SLOT_EMPTY_TUPLE;
    n = p.n;
    if (p.is_object && !arc_has_own_places(p)) {
        const slot places = arc_places_of(VM, p);

        if (vm->error)
            return ARC_SLOT_NONE;
        p = arc_patch_of(VM, places);
    }
    for (i32 from = 0; from < p.n; from += ARC_SUM_AT_ONCE) {
        const i32 part = MIN(p.n - from, ARC_SUM_AT_ONCE);
        GLOBAL const u32 *keys = p.keys + from;
        i32 rows, cols;

        SUM_OVER(rows, k, part, ARC_KEY_ROW(keys[k]))
        SUM_OVER(cols, k, part, ARC_KEY_COL(keys[k]))
        sum_i += rows - (i64)part * ARC_COORD;
        sum_j += cols - (i64)part * ARC_COORD;
    }
    vm->top = mark;
    return arc_pair_of(vm, floor_div(sum_i, n), floor_div(sum_j, n));
}

/* Colour. */

/* Component 0 of the first item; BAD with an error code if there is none. Uses no blocks. */
FN slot arc_first_colour(const arc_vm *vm, slot a)
{
    const i32 n = arc_len(vm, a);
    slot first;

    if (n <= 0)
        return ARC_SLOT(ARC_BAD, 0, n < 0 ? ARC_E_TYPE : ARC_E_EMPTY);
    first = arc_elem(vm, a, 0);
    if (!arc_is_tuple(first))
        return ARC_SLOT(ARC_BAD, 0, ARC_E_TYPE);
    return arc_len(vm, first) ? arc_elem(vm, first, 0) : ARC_SLOT(ARC_BAD, 0, ARC_E_INDEX);
}

FN_NOINLINE slot arc_op_color(VM_PARAM, slot a)
{
    const slot colour = arc_first_colour(vm, a);

    if (ARC_TAG(colour) == ARC_BAD)
        return arc_fail(vm, (i32)ARC_PAYLOAD(colour));
    return colour;
}

#endif
