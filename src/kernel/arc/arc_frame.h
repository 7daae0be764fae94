/* arc_frame.h - calls without recursion: frames of the work to be done with a value once it is
 * known.
 *
 * A frame is either the rest of a closure (compose: call the outer function) or a primitive that
 * calls a function per element. The innermost frame is in private memory, the others in the arena,
 * where every lane has its own; word by word, the frames of all lanes lie side by side.
 */
#ifndef ARC_FRAME_H
#define ARC_FRAME_H

#include "arc_exec.h"

/* The kinds of work, beyond the opcodes of primitives. */
#define ARC_THEN_CALL  512 /* f of the value */
#define ARC_THEN_EQUAL 513 /* whether the value equals a */
#define ARC_THEN_AGAIN 514 /* f of the value, k times more */
#define ARC_THEN_FORK  515 /* k 0: the value is the first of f's two; k 1: the second */
#define ARC_THEN_CHAIN 516 /* k 0: the middle function of f is next; k 1: the outer */

typedef struct arc_frame {
    slot a, b, f;
    i32 what, k, n;
    u32 acc;   /* results so far: slots */
    u32 mark;  /* top of the arena before the call in progress */
    u32 is_of; /* ARC_LOOP_* of a primitive */
} arc_frame;

/* The next thing to do. */
#define ARC_GO_ENTER  0 /* call f with n arguments */
#define ARC_GO_RETURN 1 /* pass r to the innermost frame */
#define ARC_GO_NEXT   2 /* continue with the next element of the innermost frame, or end it */
#define ARC_GO_SOLO   3 /* process the elements of the innermost frame, one lane each */

typedef struct arc_machine {
    slot f, x0, x1, x2, x3, r;
    i32 n;
    i32 depth, n_frames, most_depth;
    i32 base;    /* depth at which the current call ends */
    i32 is_solo; /* lanes are alone: see arc_solo.h */
    u32 frames_at;
    u32 steps;
    u32 max_steps;       /* where the run stops; it grows by steps made beside others */
    u32 most_steps;      /* limit of its growth */
    i32 is_patient;      /* there is no limit on loops */
    i32 is_new, is_over; /* `next` is to be pushed; the innermost frame is to be popped */
    arc_frame in;        /* the innermost frame */
    arc_frame next;
} arc_machine;

/* Why a run fails that has reached max_steps. */
FN i32 arc_code_of_steps(const arc_machine *m)
{
    return m->max_steps < m->most_steps ? ARC_E_LOOPS : ARC_E_STEPS;
}

#define ARC_FRAME_WORDS 6

/* The first word of frame k. */
FN GLOBAL u64 *arc_frame_at(TEAM_PARAM, const arc_vm *vm, const arc_machine *m, i32 k)
{
    return (GLOBAL u64 *)(vm->arena + m->frames_at) + (k * ARC_FRAME_WORDS * LANES + LANE);
}

FN u64 arc_two(u32 low, u32 high)
{
    return low | (u64)high << 32;
}

/* Frames are pushed and popped in one place each, arc_call, since every copy of this is a hundred
 * instructions for a device to fetch. */
FN void arc_push(VM_PARAM, arc_machine *m)
{
    if (m->depth == m->n_frames) {
        arc_fail(vm, ARC_E_FRAMES);
        return;
    }
    if (m->depth > 0) {
        GLOBAL u64 *to = arc_frame_at(TEAM_PASS, vm, m, m->depth - 1);

        to[0] = m->in.a;
        to[LANES] = m->in.b;
        to[2 * LANES] = m->in.f;
        to[3 * LANES] = arc_two((u32)m->in.what, (u32)m->in.k);
        to[4 * LANES] = arc_two((u32)m->in.n, m->in.acc);
        to[5 * LANES] = arc_two(m->in.mark, m->in.is_of);
    }
    m->depth++;
    m->most_depth = MAX(m->most_depth, m->depth);
    m->in = m->next;
}

FN void arc_pop(TEAM_PARAM, const arc_vm *vm, arc_machine *m)
{
    m->depth--;
    if (m->depth > 0) {
        GLOBAL const u64 *from = arc_frame_at(TEAM_PASS, vm, m, m->depth - 1);

        m->in.a = from[0];
        m->in.b = from[LANES];
        m->in.f = from[2 * LANES];
        m->in.what = (i32)from[3 * LANES];
        m->in.k = (i32)(from[3 * LANES] >> 32);
        m->in.n = (i32)from[4 * LANES];
        m->in.acc = (u32)(from[4 * LANES] >> 32);
        m->in.mark = (u32)from[5 * LANES];
        m->in.is_of = (u32)(from[5 * LANES] >> 32);
    }
}

#endif
