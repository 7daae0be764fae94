/* arc_masks.h - connected parts of a plain grid of digits up to 32 x 32, by growing masks.
 *
 * A row is a word, a column a bit. A part grows from its first cell: in every round each row takes
 * the cells that it and its neighbouring rows touch, and fills the runs that were touched. Lanes
 * are rows, so a round takes a few steps of a team; a part takes about as many rounds as it is
 * high.
 */
#ifndef ARC_MASKS_H
#define ARC_MASKS_H

#include "arc_runs.h"

#define ARC_MASK_ROWS 32

typedef struct arc_masks {
    GLOBAL u32 *colour; /* 10 x 32: where each colour is */
    GLOBAL u32 *left;   /* 32: cells of the current class that belong to no part yet */
    GLOBAL u32 *part;   /* 34: the growing part, with an empty row before and after */
    GLOBAL u32 *grown;  /* 34: the same part a round later */
    GLOBAL slot *found; /* objects */
    i32 n_found;
    i32 only_largest; /* only one of which remains */
} arc_masks;

FN i32 arc_fits_masks(arc_grid g)
{
    return g.rows <= ARC_MASK_ROWS && g.cols <= 32;
}

/* All runs of `mask` touched by `seed`, which is a subset of it. */
FN u32 arc_fill_runs(u32 seed, u32 mask)
{
    const u32 up = (mask & ~(mask + seed)) | seed;
    u32 down = seed, way = mask;

    for (i32 by = 1; by < 32; by *= 2) {
        down |= way & (down >> by);
        way &= way >> by;
    }
    return up | down;
}

FN u32 arc_low_bit(u32 mask)
{
    return mask & (~mask + 1);
}

/* The column of the lowest bit. */
FN i32 arc_low_col(u32 mask)
{
    return 31 - CLZ32(arc_low_bit(mask));
}

/* Grows the part of the first cell left in row `first` in m.part until it touches nothing new. */
FN void arc_grow_part(TEAM_PARAM, arc_masks *m, i32 rows, i32 first, i32 diagonal)
{
    i32 grows = 1;

    EACH(r, rows + 2)
    {
        m->part[r] = r == first + 1 ? arc_low_bit(m->left[first]) : 0;
        m->grown[r] = 0;
    }
    while (grows) {
        GLOBAL u32 *swap = m->part;

        EACH(r, rows)
        {
            const u32 beside = m->part[r] | m->part[r + 2];
            const u32 touched =
                m->part[r + 1] | beside | (diagonal ? beside << 1 | beside >> 1 : 0);

            m->grown[r + 1] = arc_fill_runs(touched & m->left[r], m->left[r]);
        }
        ANY_OVER(grows, r, rows, m->grown[r + 1] != m->part[r + 1])
        MEET;
        m->part = m->grown;
        m->grown = swap;
    }
}

/* Appends the keys of the part's cells of one colour; returns how many. */
FN i32 arc_emit_mask(TEAM_PARAM, const arc_masks *m, i32 rows, i32 colour, GLOBAL u32 *keys)
{
    GLOBAL const u32 *own = m->colour + colour * ARC_MASK_ROWS;
    i32 n;

    EACH(r, rows)
    {
        u32 mask = m->part[r + 1] & own[r];
        i32 at = 0;

        for (i32 q = 0; q < r; q++)
            at += POPCOUNT32(m->part[q + 1] & own[q]);
        for (; mask; mask &= mask - 1)
            keys[at++] = ARC_KEY(colour, r, arc_low_col(mask));
    }
    SUM_OVER(n, r, rows, POPCOUNT32(m->part[r + 1] & own[r]))
    return n;
}

/* Whether the current part, of n cells with keys at `at`, is wanted besides those found. Among the
 * largest, the one with the least key wins. */
FN i32 arc_is_wanted(const arc_vm *vm, const arc_masks *m, i32 n, u32 at)
{
    const slot had = m->n_found > 0 ? m->found[0] : ARC_SLOT_EMPTY_SET;

    if (!m->only_largest || n != ARC_AUX(had))
        return !m->only_largest || n > ARC_AUX(had);
    return arc_keys_at(vm, at)[0] < arc_keys(vm, had)[0];
}

/* Removes parts from m.left one after another; the cells of each have colours from .. to. */
FN void arc_take_parts(VM_PARAM, arc_masks *m, i32 rows, i32 diagonal, i32 from, i32 to)
{
    for (;;) {
        const u32 at = vm->top;
        i32 first, n, n_keys = 0;

        FIRST_OVER(first, r, rows, m->left[r] != 0)
        if (first == rows || vm->error)
            return;
        arc_grow_part(TEAM_PASS, m, rows, first, diagonal);
        SUM_OVER(n, r, rows, POPCOUNT32(m->part[r + 1]))
        arc_alloc(vm, (i64)n * 4);
        if (vm->error)
            return;
        for (i32 colour = from; colour <= to && n_keys < n; colour++)
            n_keys += arc_emit_mask(TEAM_PASS, m, rows, colour, arc_keys_at(vm, at) + n_keys);
        EACH(r, rows) m->left[r] &= ~m->part[r + 1];
        if (!arc_is_wanted(vm, m, n, at)) {
            MEET;
            arc_cut(vm, at, 0);
            continue;
        }
        m->n_found = m->only_largest ? 0 : m->n_found;
        ONE_LANE m->found[m->n_found] = ARC_SLOT(ARC_OBJ, n, at);
        m->n_found++;
    }
}

FN void arc_grow_all(VM_PARAM, arc_masks *m, arc_grid g, arc_joining how)
{
    EACH(k, 10 * ARC_MASK_ROWS) m->colour[k] = 0;
    EACH(r, g.rows)
    for (i32 j = 0; j < g.cols; j++)
        m->colour[g.cells[r * g.cols + j] * ARC_MASK_ROWS + r] |= 1u << j;
    if (how.univalued) {
        for (i32 colour = 0; colour < 10 && !vm->error; colour++) {
            if (colour == how.bg)
                continue;
            EACH(r, g.rows) m->left[r] = m->colour[colour * ARC_MASK_ROWS + r];
            arc_take_parts(VM, m, g.rows, how.diagonal, colour, colour);
        }
        return;
    }
    EACH(r, g.rows)
    {
        u32 all = 0;

        for (i32 colour = 0; colour < 10; colour++)
            all |= colour == how.bg ? 0 : m->colour[colour * ARC_MASK_ROWS + r];
        m->left[r] = all;
    }
    arc_take_parts(VM, m, g.rows, how.diagonal, 0, 9);
}

/* Like arc_parts_by_runs, for a grid of digits that satisfies arc_fits_masks. */
FN_NOINLINE slot arc_parts_by_masks(VM_PARAM, arc_grid g, arc_joining how)
{
    const u32 limit = vm->limit;
    arc_masks m;
    u32 at;
    i32 n = 0;

    m.colour = arc_keys_at(vm, arc_borrow(vm, 10 * ARC_MASK_ROWS * 4));
    m.left = arc_keys_at(vm, arc_borrow(vm, ARC_MASK_ROWS * 4));
    m.part = arc_keys_at(vm, arc_borrow(vm, (ARC_MASK_ROWS + 2) * 4));
    m.grown = arc_keys_at(vm, arc_borrow(vm, (ARC_MASK_ROWS + 2) * 4));
    m.found = arc_slots_at(vm, arc_borrow(vm, (i64)g.rows * g.cols * 8));
    m.n_found = 0;
    m.only_largest = how.only_largest;
    at = vm->top;
    if (!vm->error)
        arc_grow_all(VM, &m, g, how);
    if (!vm->error && m.n_found > 0) {
        at = arc_new_slots(vm, m.n_found);
        if (!vm->error) {
            EACH(k, m.n_found) arc_slots_at(vm, at)[k] = m.found[k];
            n = m.n_found;
        }
    }
    vm->limit = limit;
    /* Parts were found from the top; those of several colours are ordered by the least one. */
    if (!vm->error && !how.univalued)
        n = arc_sort_slots(VM, at, n);
    if (vm->error)
        return ARC_SLOT_NONE;
    return n == 0 ? ARC_SLOT_EMPTY_SET : ARC_SLOT(ARC_SET, n, at);
}

#endif
