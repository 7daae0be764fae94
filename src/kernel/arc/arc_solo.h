/* arc_solo.h - loops in which each lane processes its own elements.
 *
 * The function that a primitive calls for each element is usually too small for a whole team. So a
 * loop over enough elements runs in rounds: each lane calls the function on its own element, alone
 * (see arc_lanes.h), in its own part of the arena. Then lanes meet, and the values of the calls
 * move to the common part in the order of elements, as if the calls had been made one by one.
 *
 * Where this could make a difference (a call fails, memory runs out, a value points to others) the
 * loop starts again, one element after the other by the whole team. It also does so if there are
 * too many steps, unless the run may leave the device: then the CPU finds out where exactly, in a
 * hundredth of the time.
 */
#ifndef ARC_SOLO_H
#define ARC_SOLO_H

#include "arc_loop.h"

#if LANES > 1

typedef struct arc_solo {
    arc_frame loop;
    i32 from;           /* first element of this round */
    u32 begin;          /* where the values of the calls begin */
    u32 top, end;       /* their end and its limit, where the lanes' own parts begin */
    u32 own;            /* bytes of a lane's part */
    u32 limit;          /* of the arena, while lanes have their own parts */
    u32 high;           /* likewise */
    u32 steps;          /* before this round */
    u32 steps_at_begin; /* before the first */
    u32 max_steps_at_begin;
    u32 closures, closures_at_begin;
} arc_solo;

/* Memory for lanes was found when the loop began: see arc_wants_solo. */
FN i32 arc_solo_begin(const arc_vm *vm, arc_machine *m, arc_solo *solo)
{
    solo->loop = m->in;
    solo->from = 0;
    solo->begin = solo->top = vm->top;
    solo->own = arc_solo_own(vm);
    solo->end = vm->limit - solo->own * LANES;
    solo->limit = vm->limit;
    solo->high = vm->high;
    solo->steps = solo->steps_at_begin = m->steps;
    solo->max_steps_at_begin = m->max_steps;
    solo->closures = solo->closures_at_begin = vm->closures;
    m->is_solo = 1;
    return ARC_GO_NEXT;
}

/* Begins the call of this lane in a round, if there is an element left for it. */
FN i32 arc_solo_call(TEAM_PARAM, arc_vm *vm, arc_machine *m, const arc_solo *solo)
{
    m->base = m->depth;
    m->in.k = solo->from + LANE;
    vm->top = solo->end + solo->own * (u32)LANE;
    vm->limit = vm->top + solo->own;
    m->r = ARC_SLOT_NONE;
    return m->in.k < m->in.n ? arc_loop_call(vm, m) : ARC_GO_RETURN;
}

/* The team continues together; the loop's frame is the innermost again. */
FN void arc_solo_end(arc_vm *vm, arc_machine *m, const arc_solo *solo)
{
    m->in = solo->loop;
    m->depth = m->base;
    m->base = 0;
    m->is_solo = 0;
    vm->error = ARC_OK;
    vm->limit = solo->limit;
    vm->high = MAX(solo->high, solo->top);
}

/* Restores the state from before any lane was alone. */
FN i32 arc_solo_undo(arc_vm *vm, arc_machine *m, const arc_solo *solo)
{
    arc_solo_end(vm, m, solo);
    vm->top = solo->begin;
    vm->closures = solo->closures_at_begin;
    m->steps = solo->steps_at_begin;
    m->max_steps = solo->max_steps_at_begin;
    return ARC_GO_NEXT;
}

/* The run leaves the device. */
FN i32 arc_solo_leave(arc_vm *vm, arc_machine *m, const arc_solo *solo)
{
    arc_solo_end(vm, m, solo);
    m->steps = solo->steps;
    arc_fail(vm, ARC_E_LOOPS);
    return ARC_GO_RETURN;
}

/* Moves this lane's value to `to`. */
FN slot arc_solo_move(const arc_vm *vm, u32 to, slot v)
{
    const i32 n = (i32)arc_content(vm, v);
    GLOBAL const u8 *from = arc_at(vm, ARC_PAYLOAD(v));

    if (ARC_TAG(v) == ARC_ROW) { /* may lie anywhere in a grid */
        for (i32 k = 0; k < n; k++)
            vm->arena[to + (u32)k] = from[k];
    } else {
        for (i32 k = 0; k < (n + 3) / 4; k++)
            ((GLOBAL u32 *)(vm->arena + to))[k] = ((GLOBAL const u32 *)from)[k];
    }
    return ARC_SLOT(ARC_TAG(v), ARC_AUX(v), to);
}

/* All calls of a round have ended. */
FN i32 arc_solo_join(VM_PARAM, arc_machine *m, arc_solo *solo)
{
    const i32 k = solo->from + LANE, n = solo->loop.n;
    const i32 is_test = (solo->loop.is_of & ARC_LOOP_TEST) != 0;
    const i32 is_extract = (solo->loop.is_of & ARC_LOOP_EXTRACT) != 0;
    const slot r = is_test && !vm->error && k < n ? ARC_SLOT_BOOL(arc_is_true(vm, m->r)) : m->r;
    const i32 is_own = arc_has_content(r) && ARC_PAYLOAD(r) >= solo->end &&
                       !(ARC_PAYLOAD(r) & ARC_POOLED) && !vm->error;
    const i32 is_hit = is_extract && k < n && !vm->error && ARC_PAYLOAD(r);
    const i32 hit = is_hit ? k : n;
    const i32 last = is_extract ? TEAM_MIN(hit) : n; /* no call after it would have been made */
    const i32 counts = k <= last && k < n;
    const i32 is_bad = counts && (vm->error || (is_own && !arc_is_flat(r)));
    const i32 bytes = is_own && counts && !is_bad ? ((i32)arc_content(vm, r) + 7) & ~7 : 0;
    const i32 before = TEAM_SCAN(bytes), all = TEAM_ADD(bytes);
    const i32 steps = counts ? (i32)(m->steps - solo->steps) : 0;
    const i32 is_long = counts && (vm->error == ARC_E_STEPS || vm->error == ARC_E_LOOPS);
    const i32 most = TEAM_MAX(steps), together = TEAM_ADD(steps);
    const i32 closures = counts ? (i32)(vm->closures - solo->closures) : 0;

    solo->steps += (u32)together;
    solo->closures += (u32)TEAM_ADD(closures);
    m->most_depth = TEAM_MAX(m->most_depth);
    m->max_steps = MIN(m->max_steps + (u32)(together - most), m->most_steps);
    if (!m->is_patient && (TEAM_ANY(is_long) || solo->steps > m->max_steps))
        return arc_solo_leave(vm, m, solo);
    if (TEAM_ANY(is_bad) || solo->steps > m->max_steps || (i64)solo->top + all > (i64)solo->end)
        return arc_solo_undo(vm, m, solo);
    if (counts && !is_extract)
        arc_slots_at(vm, solo->loop.acc)[k] =
            bytes ? arc_solo_move(vm, solo->top + (u32)before, r) : r;
    SYNC;
    solo->top += (u32)all;
    solo->from += LANES;
    m->steps = solo->steps;
    vm->closures = solo->closures;
    vm->error = ARC_OK;
    m->in = solo->loop;
    m->depth = m->base;
    if (last == n && solo->from < n)
        return ARC_GO_NEXT;
    arc_solo_end(vm, m, solo);
    vm->top = solo->top;
    m->in.k = last;
    if (last == n)
        return ARC_GO_NEXT;
    m->r = arc_elem(vm, m->in.a, last);
    arc_pop(TEAM_PASS, vm, m);
    return ARC_GO_RETURN;
}

#endif

#endif
