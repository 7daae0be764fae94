/* arc_patch.h - patches: sets or tuples of pairs (indices) or of cells (an object), seen as keys.
 *
 * The first item of a patch decides what it is: if its component 1 is a tuple, the patch is an
 * object, otherwise indices. A piece that is a set is a patch; one that is a tuple, of anything, is
 * a grid.
 */
#ifndef ARC_PATCH_H
#define ARC_PATCH_H

#include "arc_make.h"

#define ARC_KEY_PLACE 0xffffffu   /* the bits of a key that are its position */
#define ARC_KEY_PLAIN 0x80000000u /* the colour of keys that have none */

typedef struct arc_patch {
    GLOBAL const u32 *keys; /* ascending for a set; a tuple keeps its order and duplicates */
    i32 n;
    i32 is_object;
    i32 is_set;
} arc_patch;

typedef struct arc_box {
    i32 i0, j0, i1, j1; /* first row and column, last row and column */
} arc_box;

typedef struct arc_shape {
    i32 rows, cols;
} arc_shape;

/* The view. */

/* Why e cannot be an item of a patch. RANGE: the language allows it, but keys cannot hold it. */
FN i32 arc_item_error(const arc_vm *vm, slot e, i32 is_object)
{
    const i32 kind = arc_key_kind(e);
    slot place = e;

    if (kind == (is_object ? ARC_OBJ : ARC_IDX))
        return ARC_OK;
    if (kind != ARC_SET || !arc_is_tuple(e) || arc_len(vm, e) != 2)
        return ARC_E_TYPE;
    if (is_object)
        place = arc_elem(vm, e, 1);
    if (!arc_is_tuple(place) || arc_len(vm, place) != 2 || !arc_is_num(arc_elem(vm, place, 0)) ||
        !arc_is_num(arc_elem(vm, place, 1)))
        return ARC_E_TYPE;
    return ARC_E_RANGE;
}

/* Whether the patch a, a container that is not empty, is an object. Fails if its first item has no
 * component 1. */
FN i32 arc_is_object(arc_vm *vm, slot a)
{
    const slot first = arc_elem(vm, a, 0);

    if (!arc_is_tuple(first))
        arc_fail(vm, ARC_E_TYPE);
    else if (arc_len(vm, first) < 2)
        arc_fail(vm, ARC_E_INDEX);
    else
        return arc_is_tuple(arc_elem(vm, first, 1));
    return 0;
}

FN_NOINLINE arc_patch arc_patch_of_items(VM_PARAM, slot a)
{
    const i32 n = arc_len(vm, a);
    arc_patch p;
    GLOBAL u32 *keys;
    i32 is_object, wrong, any;

    p.keys = arc_keys_at(vm, 0);
    p.n = p.is_object = 0;
    p.is_set = arc_is_set(a);
    if (n < 0)
        arc_fail(vm, ARC_E_TYPE);
    if (n <= 0)
        return p;
    is_object = arc_is_object(vm, a);
    if (vm->error)
        return p;
    MAX_OVER(wrong, k, n, ARC_OK, arc_item_error(vm, arc_elem(vm, a, k), is_object))
    if (wrong != ARC_OK) {
        /* Errors of the language take precedence. */
        ANY_OVER(any, k, n, arc_item_error(vm, arc_elem(vm, a, k), is_object) == ARC_E_TYPE)
        arc_fail(vm, any ? ARC_E_TYPE : ARC_E_RANGE);
        return p;
    }
    keys = arc_keys_at(vm, arc_alloc(vm, (i64)n * 4));
    if (vm->error)
        return p;
    EACH(k, n) keys[k] = arc_key_of(arc_elem(vm, a, k));
    p.keys = keys;
    p.n = n;
    p.is_object = is_object;
    return p;
}

/* The keys of a patch; check vm->error. Those of a tuple are made at the end of the arena: set
 * vm->top back to release them. */
FN arc_patch arc_patch_of(VM_PARAM, slot a)
{
    if (ARC_TAG(a) == ARC_IDX || ARC_TAG(a) == ARC_OBJ) {
        arc_patch p;

        p.keys = arc_keys(vm, a);
        p.n = ARC_AUX(a);
        p.is_object = ARC_TAG(a) == ARC_OBJ;
        p.is_set = 1;
        return p;
    }
    return arc_patch_of_items(VM, a);
}

/* Like arc_patch_of, but an empty patch fails. */
FN arc_patch arc_patch_with_items(VM_PARAM, slot a)
{
    const arc_patch p = arc_patch_of(VM, a);

    if (p.n == 0)
        arc_fail(vm, ARC_E_EMPTY);
    return p;
}

/* Whether all items have different positions: only tuples and objects of several colours may repeat
 * one. */
FN i32 arc_has_own_places(arc_patch p)
{
    return p.is_set && (p.n == 0 || p.keys[0] >> 24 == p.keys[p.n - 1] >> 24);
}

/* The positions of a patch without colours and duplicates, as a fresh index set. */
FN_NOINLINE slot arc_places_of(VM_PARAM, arc_patch p)
{
    const u32 at = arc_alloc(vm, (i64)p.n * 4);
    GLOBAL u32 *keys = arc_keys_at(vm, at);

    if (vm->error)
        return ARC_SLOT_NONE;
    EACH(k, p.n) keys[k] = (p.keys[k] & ARC_KEY_PLACE) | ARC_KEY_PLAIN;
    return arc_set_of_keys(VM, 0, at, p.n);
}

/* Whether `key` is among ascending keys. */
FN i32 arc_has_key(GLOBAL const u32 *keys, i32 n, u32 key)
{
    i32 lo = 0, hi = n;

    while (lo < hi) {
        const i32 at = (lo + hi) / 2;

        if (keys[at] < key)
            lo = at + 1;
        else
            hi = at;
    }
    return lo < n && keys[lo] == key;
}

/* Boxes and shapes. */

#define ARC_KEY_ROW(key) ((i32)((key) >> 12 & 0xfff)) /* from 0 */
#define ARC_KEY_COL(key) ((i32)((key)&0xfff))

/* The bounding box of a patch that is not empty. */
FN_NOINLINE arc_box arc_box_of(TEAM_PARAM, arc_patch p)
{
    GLOBAL const u32 *keys = p.keys;
    i32 i0, j0, i1, j1;
    arc_box box;

#ifdef ARC_ON_CPU
    i0 = j0 = 0xfff;
    i1 = j1 = 0;
    for (i32 k = 0; k < p.n; k++) {
        i0 = MIN(i0, ARC_KEY_ROW(keys[k]));
        i1 = MAX(i1, ARC_KEY_ROW(keys[k]));
        j0 = MIN(j0, ARC_KEY_COL(keys[k]));
        j1 = MAX(j1, ARC_KEY_COL(keys[k]));
    }
#else
    if (p.is_set && !p.is_object) {
        i0 = ARC_KEY_ROW(keys[0]);
        i1 = ARC_KEY_ROW(keys[p.n - 1]);
    } else {
        MIN_OVER(i0, k, p.n, 0xfff, ARC_KEY_ROW(keys[k]))
        MAX_OVER(i1, k, p.n, 0, ARC_KEY_ROW(keys[k]))
    }
    MIN_OVER(j0, k, p.n, 0xfff, ARC_KEY_COL(keys[k]))
    MAX_OVER(j1, k, p.n, 0, ARC_KEY_COL(keys[k]))
#endif
    box.i0 = i0 - ARC_COORD;
    box.j0 = j0 - ARC_COORD;
    box.i1 = i1 - ARC_COORD;
    box.j1 = j1 - ARC_COORD;
    return box;
}

FN i32 arc_box_rows(arc_box box)
{
    return box.i1 - box.i0 + 1;
}

FN i32 arc_box_cols(arc_box box)
{
    return box.j1 - box.j0 + 1;
}

FN i32 arc_box_fits(arc_box box)
{
    return arc_fits_coord(box.i0) && arc_fits_coord(box.j0) && arc_fits_coord(box.i1) &&
           arc_fits_coord(box.j1);
}

/* Columns of a tuple taken as a grid: the length of its first row. Fails if it has none. */
FN i32 arc_tuple_cols(arc_vm *vm, slot a)
{
    i32 cols;

    if (ARC_TAG(a) == ARC_GRID)
        return arc_grid_cols(vm, a);
    if (arc_len(vm, a) == 0)
        return 0;
    cols = arc_len(vm, arc_elem(vm, a, 0));
    if (cols < 0)
        arc_fail(vm, ARC_E_TYPE);
    return MAX(cols, 0);
}

/* Height and width of a piece; check vm->error. */
FN arc_shape arc_shape_of(VM_PARAM, slot a)
{
    arc_shape shape;

    if (arc_is_tuple(a)) {
        shape.rows = arc_len(vm, a);
        shape.cols = arc_tuple_cols(vm, a);
    } else {
        const u32 mark = vm->top;
        const arc_patch p = arc_patch_of(VM, a);

        shape.rows = shape.cols = 0;
        if (p.n > 0) {
            const arc_box box = arc_box_of(TEAM_PASS, p);

            shape.rows = arc_box_rows(box);
            shape.cols = arc_box_cols(box);
        }
        vm->top = mark;
    }
    return shape;
}

/* Points. */

/* Component k of a tuple, a number. 0 and a failure if there is none. */
FN i64 arc_component(arc_vm *vm, slot v, i32 k)
{
    slot e;

    if (!arc_is_tuple(v)) {
        arc_fail(vm, ARC_E_TYPE);
        return 0;
    }
    if (arc_len(vm, v) <= k) {
        arc_fail(vm, ARC_E_INDEX);
        return 0;
    }
    e = arc_elem(vm, v, k);
    if (!arc_is_num(e)) {
        arc_fail(vm, ARC_E_TYPE);
        return 0;
    }
    return arc_number(vm, e);
}

#define ARC_FAR ((i64)1 << 40) /* beyond any coordinate; sums of a few of these fit int64 */

/* Number k of a container of exactly two, within ARC_FAR; check vm->error. */
FN i64 arc_coordinate(arc_vm *vm, slot v, i32 k)
{
    const i32 n = arc_len(vm, v);
    slot e;
    i64 number;

    if (n != 2) {
        arc_fail(vm, n < 0 ? ARC_E_TYPE : ARC_E_VALUE);
        return 0;
    }
    e = arc_elem(vm, v, k);
    number = arc_is_num(e) ? arc_number(vm, e) : 0;
    if (!arc_is_num(e))
        arc_fail(vm, ARC_E_TYPE);
    if (number > ARC_FAR || number < -ARC_FAR)
        arc_fail(vm, ARC_E_RANGE);
    return number;
}

#endif
