/* arc_op_near.h - primitives on two patches: common rows and columns, distance, gravity. */
#ifndef ARC_OP_NEAR_H
#define ARC_OP_NEAR_H

#include "arc_op_patch.h"

/* Common rows and columns. */

FN i32 arc_key_line(u32 key, i32 of_rows)
{
    return of_rows ? ARC_KEY_ROW(key) : ARC_KEY_COL(key);
}

/* Whether p and q, neither empty, have a row or a column in common; uses one byte for each line
 * that both boxes cross. */
FN i32 arc_share_line(VM_PARAM, arc_patch p, arc_patch q, i32 of_rows)
{
    const u32 mark = vm->top;
    const arc_box a = arc_box_of(TEAM_PASS, p), b = arc_box_of(TEAM_PASS, q);
    const i32 from = ARC_COORD + (of_rows ? MAX(a.i0, b.i0) : MAX(a.j0, b.j0));
    const i32 last = ARC_COORD + (of_rows ? MIN(a.i1, b.i1) : MIN(a.j1, b.j1));
    const i32 n = last - from + 1;
    GLOBAL i8 *taken;
    i32 any;

    if (n <= 0)
        return 0;
    taken = arc_bytes_at(vm, arc_alloc(vm, n));
    if (vm->error)
        return 0;
    EACH(k, n) taken[k] = 0;
    EACH(k, p.n)
    {
        const i32 line = arc_key_line(p.keys[k], of_rows) - from;

        if (line >= 0 && line < n)
            taken[line] = 1;
    }
    ANY_OVER(any, k, q.n,
             arc_key_line(q.keys[k], of_rows) >= from && arc_key_line(q.keys[k], of_rows) <= last &&
                 taken[arc_key_line(q.keys[k], of_rows) - from])
    vm->top = mark;
    return any;
}

FN_NOINLINE slot arc_matching(VM_PARAM, slot a, slot b, i32 of_rows)
{
    const u32 mark = vm->top;
    const arc_patch p = arc_patch_of(VM, a), q = arc_patch_of(VM, b);
    i32 share = 0;

    if (!vm->error && p.n > 0 && q.n > 0)
        share = arc_share_line(VM, p, q, of_rows);
    if (vm->error)
        return ARC_SLOT_NONE;
    vm->top = mark;
    return ARC_SLOT_BOOL(share);
}

FN_NOINLINE slot arc_op_hmatching(VM_PARAM, slot a, slot b)
{
    return arc_matching(VM, a, b, 1);
}

FN_NOINLINE slot arc_op_vmatching(VM_PARAM, slot a, slot b)
{
    return arc_matching(VM, a, b, 0);
}

/* Distance. */

/* From one position to the nearest of a patch. */
FN i32 arc_nearest(arc_vm *vm, u32 key, arc_patch q)
{
    const i32 i = ARC_KEY_ROW(key), j = ARC_KEY_COL(key);
    i32 least = I32_MAX;

    if (arc_is_late(vm, q.n))
        return least;
    for (i32 k = 0; k < q.n; k++) {
        const i32 di = ARC_KEY_ROW(q.keys[k]) - i, dj = ARC_KEY_COL(q.keys[k]) - j;
        const i32 far = (di < 0 ? -di : di) + (dj < 0 ? -dj : dj);

        least = MIN(least, far);
    }
    return least;
}

/* Sweeps along one line of distances: each is at most one more than its neighbours. */
FN void arc_spread(GLOBAL u16 *line, i32 n, i32 stride)
{
    i32 near = line[0];

    for (i32 k = 1; k < n; k++) {
        near = MIN(near + 1, line[k * stride]);
        line[k * stride] = (u16)near;
    }
    for (i32 k = n - 2; k >= 0; k--) {
        near = MIN(near + 1, line[k * stride]);
        line[k * stride] = (u16)near;
    }
}

#define ARC_BEYOND 0x4000 /* more than any distance */

/* The least distance between p and q, from a map of the distances to p within the box around
 * both. */
FN i32 arc_distance_by_map(TEAM_PARAM, GLOBAL u16 *map, arc_box box, arc_patch p, arc_patch q)
{
    const i32 rows = arc_box_rows(box), cols = arc_box_cols(box);
    const i32 i0 = box.i0 + ARC_COORD, j0 = box.j0 + ARC_COORD;
    i32 least;

    EACH(k, rows * cols) map[k] = ARC_BEYOND;
    EACH(k, p.n) map[(ARC_KEY_ROW(p.keys[k]) - i0) * cols + ARC_KEY_COL(p.keys[k]) - j0] = 0;
    EACH(i, rows) arc_spread(map + i * cols, cols, 1);
    EACH(j, cols) arc_spread(map + j, rows, cols);
    MIN_OVER(least, k, q.n, ARC_BEYOND,
             map[(ARC_KEY_ROW(q.keys[k]) - i0) * cols + ARC_KEY_COL(q.keys[k]) - j0])
    return least;
}

FN arc_box arc_join_boxes(arc_box a, arc_box b)
{
    a.i0 = MIN(a.i0, b.i0);
    a.j0 = MIN(a.j0, b.j0);
    a.i1 = MAX(a.i1, b.i1);
    a.j1 = MAX(a.j1, b.j1);
    return a;
}

#define ARC_FEW_PAIRS 512 /* up to this many are compared without considering a map */

/* The least distance between positions of p and q, neither empty: by comparing all pairs or, if
 * that is less work and fits, by a map. */
FN_NOINLINE i32 arc_distance(VM_PARAM, arc_patch p, arc_patch q)
{
    const i64 n_pairs = (i64)p.n * q.n;
    i32 least;

    if (n_pairs > ARC_FEW_PAIRS) {
        const u32 mark = vm->top;
        const arc_box box = arc_join_boxes(arc_box_of(TEAM_PASS, p), arc_box_of(TEAM_PASS, q));
        const i64 cells = (i64)arc_box_rows(box) * arc_box_cols(box);

        if (n_pairs > 4 * cells && vm->top + 2 * cells <= vm->limit) {
            GLOBAL u16 *map = (GLOBAL u16 *)arc_bytes_at(vm, arc_alloc(vm, 2 * cells));

            least = arc_distance_by_map(TEAM_PASS, map, box, p, q);
            vm->top = mark;
            return least;
        }
    }
    if (p.n < q.n) {
        const arc_patch larger = q;

        q = p;
        p = larger;
    }
    MIN_OVER(least, k, p.n, I32_MAX, arc_nearest(vm, p.keys[k], q))
    return least;
}

FN_NOINLINE slot arc_op_manhattan(VM_PARAM, slot a, slot b)
{
    const u32 mark = vm->top;
    const arc_patch p = arc_patch_with_items(VM, a), q = arc_patch_with_items(VM, b);
    i32 least;

    if (vm->error)
        return ARC_SLOT_NONE;
    least = arc_distance(VM, p, q);
    vm->top = mark;
    return ARC_SLOT_INT(least);
}

FN_NOINLINE slot arc_op_adjacent(VM_PARAM, slot a, slot b)
{
    const slot least = arc_op_manhattan(VM, a, b);

    return vm->error ? ARC_SLOT_NONE : ARC_SLOT_BOOL(ARC_PAYLOAD(least) == 1);
}

/* Gravity. */

#define ARC_FALL 42 /* steps at most */

/* Marks the steps after which `key`, moving along rows or columns, touches a position of q (1) and
 * those after which it lies on one (2). */
FN void arc_mark_touch(arc_vm *vm, GLOBAL i8 *touch, GLOBAL i8 *cover, u32 key, arc_patch q,
                       i32 down, i32 right)
{
    if (arc_is_late(vm, q.n))
        return;
    for (i32 k = 0; k < q.n; k++) {
        const i32 di = ARC_KEY_ROW(q.keys[k]) - ARC_KEY_ROW(key);
        const i32 dj = ARC_KEY_COL(q.keys[k]) - ARC_KEY_COL(key);
        const i32 ahead = di * down + dj * right, aside = down ? dj : di;

        if (aside < -1 || aside > 1 || ahead < -1 || ahead > ARC_FALL)
            continue;
        if (aside != 0) {
            if (ahead >= 0 && ahead < ARC_FALL)
                touch[ahead] = 1;
            continue;
        }
        if (ahead >= 0 && ahead < ARC_FALL)
            cover[ahead] = 1;
        if (ahead >= 1)
            touch[ahead - 1] = 1;
        if (ahead + 1 < ARC_FALL)
            touch[ahead + 1] = 1;
    }
}

/* The number of steps until p touches q and covers none of it. */
FN i32 arc_fall(VM_PARAM, arc_patch p, arc_patch q, i32 down, i32 right)
{
    const u32 at = arc_alloc(vm, 2 * ARC_FALL);
    GLOBAL i8 *touch = arc_bytes_at(vm, at);
    GLOBAL i8 *cover = touch + ARC_FALL;
    i32 steps;

    if (vm->error)
        return 0;
    EACH(k, 2 * ARC_FALL) touch[k] = 0;
    EACH(k, p.n) arc_mark_touch(vm, touch, cover, p.keys[k], q, down, right);
    FIRST_OVER(steps, k, ARC_FALL, touch[k] && !cover[k])
    return steps;
}

/* How far `a` moves towards b: along columns if they share one, otherwise along rows. */
FN_NOINLINE slot arc_op_gravitate(VM_PARAM, slot a, slot b)
{
    const u32 mark = vm->top;
    const arc_point from = arc_center_of(VM, a, 0), to = arc_center_of(VM, b, 0);
    const arc_patch p = arc_patch_of(VM, a), q = arc_patch_of(VM, b);
    i32 down = 0, right = 0, steps;

    if (vm->error)
        return ARC_SLOT_NONE;
    if (arc_share_line(VM, p, q, 0))
        down = from.i < to.i ? 1 : -1;
    else
        right = from.j < to.j ? 1 : -1;
    steps = arc_fall(VM, p, q, down, right);
    if (vm->error)
        return ARC_SLOT_NONE;
    vm->top = mark;
    return ARC_SLOT_PAIR(down * steps, right * steps);
}

#endif
