/* arc_op_move.h - primitives that give a patch another colour or place: recolor, shift, mirrors,
 * and periods, which are shifts that leave a patch unchanged. */
#ifndef ARC_OP_MOVE_H
#define ARC_OP_MOVE_H

#include "arc_patch.h"

/* Positions and colours. */

/* Component 1 of every item, if the first one has a tuple there; otherwise the patch itself. */
FN_NOINLINE slot arc_op_toindices(VM_PARAM, slot a)
{
    const i32 n = arc_len(vm, a);
    GLOBAL slot *out;
    i32 is_object, all;
    u32 at;

    if (n < 0)
        return arc_fail(vm, ARC_E_TYPE);
    if (n == 0)
        return ARC_SLOT_EMPTY_SET;
    if (ARC_TAG(a) == ARC_IDX)
        return a;
    if (ARC_TAG(a) == ARC_OBJ) {
        const arc_patch p = arc_patch_of(VM, a);

        return arc_places_of(VM, p);
    }
    is_object = arc_is_object(vm, a);
    if (vm->error || !is_object)
        return vm->error ? ARC_SLOT_NONE : a;
    ALL_OVER(all, k, n, arc_len(vm, arc_elem(vm, a, k)) == 2)
    if (!all)
        return arc_fail(vm, ARC_E_TYPE);
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_slots_at(vm, at);
    EACH(k, n) out[k] = arc_elem(vm, arc_elem(vm, a, k), 1);
    return arc_set_of(VM, at, n);
}

FN slot arc_recolor_keys(VM_PARAM, i32 colour, arc_patch p)
{
    const u32 high = (u32)(colour + 128) << 24;
    const u32 at = arc_alloc(vm, (i64)p.n * 4);
    GLOBAL u32 *keys = arc_keys_at(vm, at);

    if (vm->error)
        return ARC_SLOT_NONE;
    EACH(k, p.n) keys[k] = (p.keys[k] & ARC_KEY_PLACE) | high;
    return arc_has_own_places(p) ? arc_keys_slot(1, at, p.n) : arc_set_of_keys(VM, 1, at, p.n);
}

/* For any colour and any items. */
FN slot arc_recolor_items(VM_PARAM, slot colour, slot a)
{
    const slot places = arc_op_toindices(VM, a);
    const i32 n = arc_len(vm, places);
    GLOBAL slot *out;
    u32 at;

    if (vm->error)
        return ARC_SLOT_NONE;
    at = arc_new_slots(vm, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    out = arc_slots_at(vm, at);
    for (i32 k = 0; k < n; k++) {
        const slot cell = arc_tuple_of_2(VM, colour, arc_elem(vm, places, k));

        if (vm->error)
            return ARC_SLOT_NONE;
        out[k] = cell;
        MEET;
    }
    return arc_set_of(VM, at, n);
}

FN_NOINLINE slot arc_op_recolor(VM_PARAM, slot colour, slot a)
{
    const u32 mark = vm->top;
    slot object;

    if ((ARC_TAG(a) == ARC_IDX || ARC_TAG(a) == ARC_OBJ) && arc_fits_row(vm, colour)) {
        const arc_patch p = arc_patch_of(VM, a);

        return arc_recolor_keys(VM, (i32)arc_number(vm, colour), p);
    }
    object = arc_recolor_items(VM, colour, a);
    return vm->error ? ARC_SLOT_NONE : arc_keep(VM, mark, object);
}

/* Shifts. */

FN i32 arc_leaves_keys(u32 key, i32 di, i32 dj)
{
    return ((ARC_KEY_ROW(key) + di) | (ARC_KEY_COL(key) + dj)) >> 12 != 0;
}

/* The set of all items moved by (di, dj); everything allocated since mark is dropped. */
FN_NOINLINE slot arc_shift_keys(VM_PARAM, u32 mark, arc_patch p, i32 di, i32 dj)
{
    const u32 by = (u32)di * 4096u + (u32)dj;
    GLOBAL u32 *keys;
    slot moved;
    i32 n_out;
    u32 at;

    SUM_OVER(n_out, k, p.n, arc_leaves_keys(p.keys[k], di, dj))
    if (n_out > 0)
        return arc_fail(vm, ARC_E_RANGE);
    at = arc_alloc(vm, (i64)p.n * 4);
    if (vm->error)
        return ARC_SLOT_NONE;
    keys = arc_keys_at(vm, at);
    EACH(k, p.n) keys[k] = p.keys[k] + by;
    if (p.is_set)
        return arc_keys_slot(p.is_object, at, p.n);
    moved = arc_set_of_keys(VM, p.is_object, at, p.n);
    return vm->error ? ARC_SLOT_NONE : arc_keep(VM, mark, moved);
}

FN_NOINLINE slot arc_op_shift(VM_PARAM, slot a, slot by)
{
    const u32 mark = vm->top;
    arc_patch p;
    i64 di, dj;

    if (arc_len(vm, a) == 0)
        return a;
    p = arc_patch_of(VM, a);
    di = arc_coordinate(vm, by, 0);
    dj = arc_coordinate(vm, by, 1);
    if (!vm->error && (di <= -2 * ARC_COORD || di >= 2 * ARC_COORD || dj <= -2 * ARC_COORD ||
                       dj >= 2 * ARC_COORD))
        arc_fail(vm, ARC_E_RANGE);
    return vm->error ? ARC_SLOT_NONE : arc_shift_keys(VM, mark, p, (i32)di, (i32)dj);
}

FN_NOINLINE slot arc_op_normalize(VM_PARAM, slot a)
{
    const u32 mark = vm->top;
    arc_patch p;
    arc_box box;

    if (arc_len(vm, a) == 0)
        return a;
    p = arc_patch_of(VM, a);
    if (vm->error)
        return ARC_SLOT_NONE;
    box = arc_box_of(TEAM_PASS, p);
    return arc_shift_keys(VM, mark, p, -box.i0, -box.j0);
}

/* Mirrors of sets. */

#define ARC_MIRROR_H 0 /* numbers of the mirrors in mir_rot_f */
#define ARC_MIRROR_D 1
#define ARC_MIRROR_V 2
#define ARC_MIRROR_C 3

FN u32 arc_mirror_key(u32 key, arc_box box, i32 how)
{
    const i32 down = ARC_KEY_I(key) - box.i0, up = box.i1 - ARC_KEY_I(key);
    const i32 right = ARC_KEY_J(key) - box.j0, left = box.j1 - ARC_KEY_J(key);
    i32 i = box.i0 + ARC_COORD, j = box.j0 + ARC_COORD;

    i += how == ARC_MIRROR_H ? up : how == ARC_MIRROR_V ? down : how == ARC_MIRROR_D ? right : left;
    j += how == ARC_MIRROR_H ? right : how == ARC_MIRROR_V ? left : how == ARC_MIRROR_D ? down : up;
    return (key & ~ARC_KEY_PLACE) | (u32)i << 12 | (u32)j;
}

/* Diagonal mirrors keep the upper left corner of the box and swap its sides. */
FN_NOINLINE slot arc_mirror_set(VM_PARAM, slot a, i32 how)
{
    const arc_patch p = arc_patch_with_items(VM, a);
    GLOBAL u32 *keys;
    arc_box box, turned;
    u32 at;

    if (!vm->error && !p.is_set)
        arc_fail(vm, ARC_E_TYPE);
    if (vm->error)
        return ARC_SLOT_NONE;
    box = turned = arc_box_of(TEAM_PASS, p);
    if (how == ARC_MIRROR_D || how == ARC_MIRROR_C) {
        turned.i1 = box.i0 + arc_box_cols(box) - 1;
        turned.j1 = box.j0 + arc_box_rows(box) - 1;
    }
    if (!arc_box_fits(turned))
        return arc_fail(vm, ARC_E_RANGE);
    at = arc_alloc(vm, (i64)p.n * 4);
    if (vm->error)
        return ARC_SLOT_NONE;
    keys = arc_keys_at(vm, at);
    EACH(k, p.n) keys[k] = arc_mirror_key(p.keys[k], box, how);
    return arc_set_of_keys(VM, p.is_object, at, p.n);
}

FN slot arc_hmirror_set(VM_PARAM, slot a)
{
    return arc_mirror_set(VM, a, ARC_MIRROR_H);
}

FN slot arc_vmirror_set(VM_PARAM, slot a)
{
    return arc_mirror_set(VM, a, ARC_MIRROR_V);
}

FN slot arc_dmirror_set(VM_PARAM, slot a)
{
    return arc_mirror_set(VM, a, ARC_MIRROR_D);
}

FN slot arc_cmirror_set(VM_PARAM, slot a)
{
    return arc_mirror_set(VM, a, ARC_MIRROR_C);
}

/* The mirror with this number; any other number leaves the patch as it is. */
FN_NOINLINE slot arc_op_mir_rot_f(VM_PARAM, slot a, slot which)
{
    const i64 how = arc_is_num(which) ? arc_number(vm, which) : -1;

    return how < ARC_MIRROR_H || how > ARC_MIRROR_C ? a : arc_mirror_set(VM, a, (i32)how);
}

/* Periods. */

/* The patch without duplicates and in order; at the end of the arena if it is a tuple. */
FN arc_patch arc_patch_as_set(VM_PARAM, slot a)
{
    arc_patch p = arc_patch_of(VM, a);

    if (!vm->error && !p.is_set && p.n > 0) {
        const slot set = arc_shift_keys(VM, vm->top, p, 0, 0);

        if (!vm->error)
            p = arc_patch_of(VM, set);
    }
    return p;
}

/* Whether the cells that stay in the box when everything moves left, or up, by `period` meet equal
 * cells. */
FN i32 arc_has_period(TEAM_PARAM, arc_patch p, arc_box box, i32 period, i32 of_rows)
{
    const i32 from = ARC_COORD + (of_rows ? box.i0 : box.j0) + period;
    const u32 by = of_rows ? (u32)period << 12 : (u32)period;
    i32 all;

    ALL_OVER(all, k, p.n,
             (of_rows ? ARC_KEY_ROW(p.keys[k]) : ARC_KEY_COL(p.keys[k])) < from ||
                 arc_has_key(p.keys, p.n, p.keys[k] - by))
    return all;
}

FN_NOINLINE slot arc_period_of(VM_PARAM, slot a, i32 of_rows)
{
    const u32 mark = vm->top;
    const arc_patch p = arc_patch_as_set(VM, a);
    i32 period = 1, most;
    arc_box box;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (p.n == 0)
        return ARC_SLOT_INT(0);
    box = arc_box_of(TEAM_PASS, p);
    most = of_rows ? arc_box_rows(box) : arc_box_cols(box);
    if (most > 1 && !p.is_object)
        return arc_fail(vm, ARC_E_TYPE);
    while (period < most && !arc_is_late(vm, p.n) &&
           !arc_has_period(TEAM_PASS, p, box, period, of_rows))
        period++;
    vm->top = mark;
    return ARC_SLOT_INT(period);
}

FN_NOINLINE slot arc_op_hperiod(VM_PARAM, slot a)
{
    return arc_period_of(VM, a, 0);
}

FN_NOINLINE slot arc_op_vperiod(VM_PARAM, slot a)
{
    return arc_period_of(VM, a, 1);
}

#endif
