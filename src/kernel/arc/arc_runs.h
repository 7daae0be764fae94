/* arc_runs.h - connected parts of a plain grid by scan lines, for one lane.
 *
 * A run is a stretch of equal cells in a row, without the background. One sweep over the rows finds
 * the runs and joins each with those above that touch it (union-find, with the run of the lowest
 * number as the root). Runs are then sorted by colour; this order visits parts by their least keys,
 * which is the canonical order of objects, and gives each part its keys in ascending order.
 *
 * On one CPU core this is faster than growing masks (arc_masks.h) in every mode, by 1.4 to 6 times
 * on the inputs of the training tasks: its time depends neither on the number of parts nor on their
 * height.
 */
#ifndef ARC_RUNS_H
#define ARC_RUNS_H

#include "arc_grid.h"

/* How cells join. */
typedef struct arc_joining {
    i32 univalued;    /* only equal colours */
    i32 diagonal;     /* also across corners */
    i32 bg;           /* this colour belongs to no part; ARC_NO_BG: every cell belongs to one */
    i32 only_largest; /* only the first of the largest parts is wanted */
} arc_joining;

#define ARC_NO_BG 256

typedef struct arc_run {
    u32 key;   /* of its first cell */
    u32 end;   /* the column after its last cell, in the format of keys */
    u32 above; /* a run of the same part, found earlier; a root refers to itself */
    u32 part;  /* number of its part, once known; until then ARC_NO_PART */
} arc_run;

#define ARC_NO_PART 0xffffffffu

/* Memory for the labelling, at the far end of the arena. */
typedef struct arc_labels {
    GLOBAL arc_run *runs;
    GLOBAL u32 *order;  /* runs by colour, then in the order found */
    GLOBAL u32 *size;   /* cells of every part, later the position of its next key */
    GLOBAL u32 *tally;  /* 257: runs of every colour */
    GLOBAL u32 *totals; /* runs, parts, space for keys */
} arc_labels;

/* Allocates at the far end, out of the way of results. Set vm->limit back to release it. */
FN u32 arc_borrow(arc_vm *vm, i64 bytes)
{
    const i64 at = ((i64)vm->limit - bytes) & ~(i64)7;

    if (at < (i64)vm->top) {
        arc_fail(vm, ARC_E_ARENA);
        return vm->top;
    }
    vm->high = MAX(vm->high, vm->top + (vm->limit - (u32)at));
    vm->limit = (u32)at;
    return (u32)at;
}

FN arc_labels arc_borrow_labels(arc_vm *vm, i32 most_runs)
{
    arc_labels l;

    /* One more, which is written before it is known not to be a run. */
    l.runs = (GLOBAL arc_run *)(vm->arena + arc_borrow(vm, ((i64)most_runs + 1) * 16));
    l.order = arc_keys_at(vm, arc_borrow(vm, (i64)most_runs * 4));
    l.size = arc_keys_at(vm, arc_borrow(vm, (i64)most_runs * 4));
    l.tally = arc_keys_at(vm, arc_borrow(vm, 257 * 4));
    l.totals = arc_keys_at(vm, arc_borrow(vm, 3 * 4));
    return l;
}

/* Joining, by one lane. */

FN u32 arc_run_root(GLOBAL arc_run *runs, u32 r)
{
    while (runs[r].above != r) {
        runs[r].above = runs[runs[r].above].above;
        r = runs[r].above;
    }
    return r;
}

/* Joins the parts of two roots; returns the root of both. */
FN u32 arc_join_roots(GLOBAL arc_run *runs, u32 a, u32 b)
{
    const u32 low = MIN(a, b), high = MAX(a, b);

    runs[high].above = low;
    return low;
}

FN u32 arc_run_start(arc_run run)
{
    return run.key & 0xfff;
}

#ifdef ARC_ON_CPU
/* The number of background cells at the beginning of a row, which can be skipped. */
FN i32 arc_blank_cells(GLOBAL const i8 *row, i32 cols, i32 bg)
{
    const u64 blank = (u64)(u8)bg * 0x0101010101010101u;
    u64 eight;
    i32 n = 0;

    if (bg < -128 || bg > 127)
        return 0;
    for (; n + 8 <= cols; n += 8) {
        memcpy(&eight, row + n, 8);
        if (eight != blank)
            break;
    }
    while (n < cols && row[n] == bg)
        n++;
    return n;
}
#else
#define arc_blank_cells(row, cols, bg) 0
#endif

/* Appends the runs of a row, so far only with their columns; returns the new number of runs. Every
 * column is written as a start and as an end, and counts only if it is one: without branches, which
 * would be mispredicted twice per run. */
FN i32 arc_find_row(GLOBAL const i8 *row, i32 cols, i32 bg, GLOBAL arc_run *runs, i32 n)
{
    const i32 from = arc_blank_cells(row, cols, bg);
    i32 colour = row[from < cols ? from : 0], starts = 1, ends = n;

    for (i32 j = from; j < cols; j++) {
        const i32 behind = j + 1 < cols ? row[j + 1] : ARC_NO_BG;
        const i32 differs = colour != behind, is_part = colour != bg;

        runs[n].key = (u32)j;
        n += is_part & starts;
        runs[ends].end = (u32)(j + 1 + ARC_COORD);
        ends += is_part & differs;
        colour = behind;
        starts = differs;
    }
    return n;
}

/* Completes the runs lower .. n - 1 of row i and joins them with each other and with those above,
 * upper .. lower - 1. */
FN void arc_join_row(GLOBAL const i8 *row, i32 i, GLOBAL arc_run *runs, i32 upper, i32 lower, i32 n,
                     arc_joining how)
{
    const u32 reach = how.diagonal ? 1 : 0;

    for (i32 r = lower; r < n; r++) {
        const i32 j = (i32)runs[r].key;
        const u32 key = ARC_KEY(row[j], i, j), end = runs[r].end;
        const u32 start = key & 0xfff, colour = key >> 24;

        u32 root = (u32)r;

        runs[r].key = key;
        runs[r].above = root;
        runs[r].part = ARC_NO_PART;
        if (!how.univalued && r > lower && runs[r - 1].end == start)
            root = arc_join_roots(runs, root, arc_run_root(runs, (u32)r - 1));
        while (upper < lower && runs[upper].end + reach <= start)
            upper++;
        for (i32 u = upper; u < lower && arc_run_start(runs[u]) < end + reach; u++)
            if (!how.univalued || runs[u].key >> 24 == colour)
                root = arc_join_roots(runs, root, arc_run_root(runs, (u32)u));
    }
}

/* Finds all runs and joins them; returns how many. */
FN i32 arc_find_runs(arc_grid g, arc_joining how, GLOBAL arc_run *runs)
{
    i32 n = 0, upper = 0;

    for (i32 i = 0; i < g.rows; i++) {
        GLOBAL const i8 *row = g.cells + (i64)i * g.cols;
        const i32 lower = n;

        n = arc_find_row(row, g.cols, how.bg, runs, n);
        arc_join_row(row, i, runs, upper, lower, n, how);
        upper = lower;
    }
    return n;
}

/* Sorts runs by colour; those of one colour stay in the order found. */
FN void arc_order_runs(arc_labels l, i32 n)
{
    u32 least = 255, most = 0, at = 0;

    for (i32 r = 0; r < n; r++) {
        const u32 colour = l.runs[r].key >> 24;

        least = MIN(least, colour);
        most = MAX(most, colour);
    }
    for (u32 c = least; c <= most; c++)
        l.tally[c] = 0;
    for (i32 r = 0; r < n; r++)
        l.tally[l.runs[r].key >> 24]++;
    for (u32 c = least; c <= most; c++) {
        const u32 count = l.tally[c];

        l.tally[c] = at;
        at += count;
    }
    for (i32 r = 0; r < n; r++)
        l.order[l.tally[l.runs[r].key >> 24]++] = (u32)r;
}

/* Keeps only the first of the largest parts: the others get no number. */
FN void arc_keep_largest(arc_labels l, i32 n, u32 parts)
{
    u32 best = 0;

    for (u32 p = 1; p < parts; p++)
        best = l.size[p] > l.size[best] ? p : best;
    for (i32 r = 0; r < n; r++)
        l.runs[r].part = l.runs[r].part == best ? 0 : ARC_NO_PART;
    l.size[0] = l.size[best];
}

/* Numbers parts and counts their cells. */
FN void arc_label_runs(arc_grid g, arc_joining how, arc_labels l)
{
    const i32 n = arc_find_runs(g, how, l.runs);
    u32 parts = 0, room = 0;

    arc_order_runs(l, n);
    for (i32 t = 0; t < n; t++) {
        const u32 r = l.order[t], root = arc_run_root(l.runs, r);

        if (l.runs[root].part == ARC_NO_PART) {
            l.size[parts] = 0;
            l.runs[root].part = parts++;
        }
        l.runs[r].part = l.runs[root].part;
        l.size[l.runs[r].part] += l.runs[r].end - arc_run_start(l.runs[r]);
    }
    if (how.only_largest && parts > 0) {
        arc_keep_largest(l, n, parts);
        parts = 1;
    }
    for (u32 p = 0; p < parts; p++)
        room += (l.size[p] + 1) & ~1u; /* content starts at multiples of 8 bytes */
    l.totals[0] = (u32)n;
    l.totals[1] = parts;
    l.totals[2] = room;
}

/* Writes the slots of the objects and their keys, which begin at `keys_at`. */
FN void arc_emit_runs(arc_labels l, GLOBAL slot *slots, GLOBAL u32 *keys, u32 keys_at)
{
    const i32 n = (i32)l.totals[0];
    const u32 parts = l.totals[1];
    u32 at = 0;

    for (u32 p = 0; p < parts; p++) {
        const u32 size = l.size[p];

        slots[p] = ARC_SLOT(ARC_OBJ, size, keys_at + at * 4);
        l.size[p] = at;
        at += (size + 1) & ~1u;
    }
    for (i32 t = 0; t < n; t++) {
        const arc_run run = l.runs[l.order[t]];
        u32 to, n_keys;

        if (run.part == ARC_NO_PART)
            continue;
        to = l.size[run.part];
        n_keys = run.end - arc_run_start(run);
        for (u32 k = 0; k < n_keys; k++)
            keys[to + k] = run.key + k;
        l.size[run.part] = to + n_keys;
    }
}

/* The set of parts. */

FN_NOINLINE slot arc_parts_by_runs(VM_PARAM, arc_grid g, arc_joining how)
{
    const i32 n = g.rows * g.cols;
    const u32 limit = vm->limit;
    arc_labels l;
    i32 changes, parts = 0, room;
    u32 slots_at = 0, keys_at;

    SUM_OVER(changes, k, n - 1, g.cells[k] != g.cells[k + 1])
    l = arc_borrow_labels(vm, MIN(n, changes + g.rows));
    if (!vm->error) {
        ONE_LANE arc_label_runs(g, how, l);
        parts = (i32)l.totals[1];
        room = (i32)l.totals[2];
        slots_at = arc_new_slots(vm, parts);
        keys_at = arc_alloc(vm, (i64)room * 4);
        if (!vm->error) {
            ONE_LANE
            arc_emit_runs(l, arc_slots_at(vm, slots_at), arc_keys_at(vm, keys_at), keys_at);
        }
    }
    vm->limit = limit;
    if (vm->error)
        return ARC_SLOT_NONE;
    return parts == 0 ? ARC_SLOT_EMPTY_SET : ARC_SLOT(ARC_SET, parts, slots_at);
}

#endif
