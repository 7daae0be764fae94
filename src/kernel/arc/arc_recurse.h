/* arc_recurse.h - the calls of arc_call.h on a CPU, with its own stack in place of frames.
 *
 * A frame in the arena costs a CPU more than most primitives that are called through it. So here a
 * function of C calls itself where the machine pushes a frame, counts the depth as the machine
 * does, and fails where it would: values, failures, steps and depths are the same as those of the
 * machine. Calls that the machine makes after its last pop are a loop here, so the stack grows only
 * with frames. If the limit on frames is too large for a thread's stack, the machine runs the call.
 *
 * Nearly all calls have one or two arguments, so these have their own functions, which pass
 * everything in registers.
 */
#ifndef ARC_RECURSE_H
#define ARC_RECURSE_H

#include "arc_loop.h"

#ifdef ARC_RECURSES

#define ARC_MOST_RECURSED 1024 /* frames; each is at most about 600 bytes of the stack */

static slot arc_recurse_one(VM_PARAM, slot f, slot x0);
static slot arc_recurse_two(VM_PARAM, slot f, slot x0, slot x1);
static slot arc_recurse_loop(VM_PARAM, i32 op, slot x0, slot x1, slot x2);
static slot arc_recurse(VM_PARAM, slot f, i32 n, slot x0, slot x1, slot x2, slot x3);

/* Like arc_push, without anything to store. Up to the greatest depth so far, frames are
 * available. */
FN i32 arc_descend(arc_vm *vm)
{
    if (vm->depth == vm->most_depth) {
        if (vm->depth == vm->n_frames) {
            arc_fail(vm, ARC_E_FRAMES);
            return 0;
        }
        vm->most_depth++;
    }
    vm->depth++;
    return 1;
}

FN slot arc_ascend(arc_vm *vm, slot r)
{
    vm->depth--;
    return r;
}

/* Primitives. */

#define ARC_ONE_1(number, fn)                                                                      \
    case number:                                                                                   \
        return fn(VM, a);
#define ARC_ONE_2(number, fn)
#define ARC_ONE_3(number, fn)
#define ARC_ONE_4(number, fn)
#define ARC_TWO_1(number, fn)
#define ARC_TWO_2(number, fn)                                                                      \
    case number:                                                                                   \
        return fn(VM, a, b);
#define ARC_TWO_3(number, fn)
#define ARC_TWO_4(number, fn)
#define ARC_ONE_S(number, fn, arity) ARC_ONE_##arity(number, fn)
#define ARC_ONE_L(number, fn, arity) ARC_ONE_##arity(number, fn)
#define ARC_ONE_Q(number, fn, arity) ARC_ONE_##arity(number, fn)
#define ARC_ONE_K(number, fn, arity) ARC_ONE_##arity(number, fn)
#define ARC_ONE_H(number, fn, arity)
#define ARC_TWO_S(number, fn, arity) ARC_TWO_##arity(number, fn)
#define ARC_TWO_L(number, fn, arity) ARC_TWO_##arity(number, fn)
#define ARC_TWO_Q(number, fn, arity) ARC_TWO_##arity(number, fn)
#define ARC_TWO_K(number, fn, arity) ARC_TWO_##arity(number, fn)
#define ARC_TWO_H(number, fn, arity)
#define ARC_ONE_OF(number, name, arity, class_, default_, priority)                                \
    ARC_ONE_##class_(number, arc_op_##name, arity)
#define ARC_TWO_OF(number, name, arity, class_, default_, priority)                                \
    ARC_TWO_##class_(number, arc_op_##name, arity)

/* Primitives of one and of two arguments: see arc_exec. Those that call functions are excluded;
 * none of them has one argument. */
FN_NOINLINE slot arc_run_one(VM_PARAM, slot a, i32 op)
{
    if (vm->steps_left == 0)
        return arc_fail(vm, ARC_E_STEPS);
    vm->steps_left--;
    switch (op) {
        ARC_OPS(ARC_ONE_OF)
    default:
        return arc_fail(vm, ARC_E_UNSUPPORTED);
    }
}

FN_NOINLINE slot arc_run_two(VM_PARAM, slot a, slot b, i32 op)
{
    if (vm->steps_left == 0)
        return arc_fail(vm, ARC_E_STEPS);
    vm->steps_left--;
    switch (op) {
        ARC_OPS(ARC_TWO_OF)
    default:
        return arc_recurse_loop(VM, op, a, b, ARC_SLOT_NONE);
    }
}

FN_NOINLINE slot arc_run_more(VM_PARAM, slot x0, slot x1, slot x2, slot x3, i32 op)
{
    if (vm->steps_left == 0)
        return arc_fail(vm, ARC_E_STEPS);
    vm->steps_left--;
    return arc_calls(op) ? arc_recurse_loop(VM, op, x0, x1, x2) : arc_exec(VM, op, x0, x1, x2, x3);
}

#define ARC_IS_PRIM(f, n) ((u32)((f) >> 32) == ((u32)ARC_PRIM << 24 | (u32)(n)))

/* f of one or two arguments. */
FN slot arc_call_one(VM_PARAM, slot f, slot x0)
{
    return ARC_IS_PRIM(f, 1) ? arc_run_one(VM, x0, (i32)ARC_PAYLOAD(f))
                             : arc_recurse_one(VM, f, x0);
}

FN slot arc_call_two(VM_PARAM, slot f, slot x0, slot x1)
{
    return ARC_IS_PRIM(f, 2) ? arc_run_two(VM, x0, x1, (i32)ARC_PAYLOAD(f))
                             : arc_recurse_two(VM, f, x0, x1);
}

/* Loops. */

/* f on element k of a loop whose call is not f(element). */
FN_NOINLINE slot arc_recurse_other(VM_PARAM, const arc_frame *loop, i32 k)
{
    arc_machine m;

    m.in = *loop;
    m.in.k = k;
    m.f = loop->f;
    m.x0 = m.x1 = ARC_SLOT_NONE;
    m.n = 1;
    arc_other_call(vm, &m);
    return vm->error ? ARC_SLOT_NONE : arc_recurse(VM, m.f, m.n, m.x0, m.x1, 0, 0);
}

/* apply(f, pair), which usually gives a pair again. */
FN_NOINLINE slot arc_recurse_pair(VM_PARAM, slot f, slot pair)
{
    const u32 acc = arc_alloc(vm, 16);
    GLOBAL slot *got = arc_slots_at(vm, acc);
    slot r;

    if (vm->error || !arc_descend(vm))
        return ARC_SLOT_NONE;
    for (i32 k = 0; k < 2; k++) {
        const u32 mark = vm->top;

        r = arc_call_one(VM, f, ARC_SLOT_INT(k ? ARC_PAIR_J(pair) : ARC_PAIR_I(pair)));
        if (vm->error)
            return ARC_SLOT_NONE;
        got[k] = arc_keep(VM, mark, r);
    }
    r = arc_tuple_of(VM, acc, 2);
    return vm->error ? ARC_SLOT_NONE : arc_ascend(vm, arc_keep(VM, acc, r));
}

/* A primitive that calls a function per element. */
FN_NOINLINE slot arc_recurse_loop(VM_PARAM, i32 op, slot x0, slot x1, slot x2)
{
    arc_machine m;
    arc_frame loop;
    slot r;

    if (op == ARC_OP_apply && ARC_TAG(x1) == ARC_PAIR)
        return arc_recurse_pair(VM, x0, x1);
    m.x0 = x0;
    m.x1 = x1;
    m.x2 = x2;
    m.r = ARC_SLOT_NONE;
    arc_loop_begin(VM, &m, op);
    if (vm->error || !arc_descend(vm))
        return ARC_SLOT_NONE;
    loop = m.next;
    for (i32 k = 0; k < loop.n; k++) {
        const u32 mark = vm->top;

        r = loop.is_of & ARC_LOOP_OTHER ? arc_recurse_other(VM, &loop, k)
                                        : arc_call_one(VM, loop.f, arc_elem(vm, loop.a, k));
        if (vm->error)
            return ARC_SLOT_NONE;
        if (loop.is_of & ARC_LOOP_TEST)
            r = ARC_SLOT_BOOL(arc_is_true(vm, r));
        if (!(loop.is_of & ARC_LOOP_EXTRACT)) {
            arc_slots_at(vm, loop.acc)[k] = arc_keep(VM, mark, r);
            continue;
        }
        vm->top = mark;
        if (ARC_PAYLOAD(r))
            return arc_ascend(vm, arc_elem(vm, loop.a, k));
    }
    m.in = loop;
    if (arc_loop_end(VM, &m) == ARC_GO_RETURN)
        return arc_ascend(vm, m.r);
    vm->depth--;
    return arc_call_one(VM, m.f, m.x0);
}

/* Closures. */

/* Neither a closure nor a primitive with this many arguments. */
FN slot arc_no_function(arc_vm *vm, slot f)
{
    return arc_fail(vm, ARC_TAG(f) == ARC_PRIM ? ARC_E_ARITY : ARC_E_TYPE);
}

FN slot arc_constant(arc_vm *vm, slot value)
{
    if (vm->steps_left == 0)
        return arc_fail(vm, ARC_E_STEPS);
    vm->steps_left--;
    return value;
}

/* How often the function of a power is called after the first time. */
FN i32 arc_times_more(const arc_vm *vm, slot times)
{
    return (i32)MIN(arc_number(vm, times) - 1, (i64)I32_MAX);
}

/* The function that a closure calls first. */
FN slot arc_innermost(GLOBAL const slot *closure, i32 form)
{
    return closure[form == ARC_FORM_CHAIN                              ? 3
                   : form == ARC_FORM_COMPOSE || form == ARC_FORM_FORK ? 2
                                                                       : 1];
}

FN_NOINLINE slot arc_recurse_one(VM_PARAM, slot f, slot x0)
{
    for (;;) {
        GLOBAL const slot *closure = arc_slots(vm, f);
        slot r, second;

        if (ARC_IS_PRIM(f, 1))
            return arc_run_one(VM, x0, (i32)ARC_PAYLOAD(f));
        if (ARC_TAG(f) != ARC_CLOS)
            return arc_no_function(vm, f);
        if ((closure[0] >> 8 & 255) != 1)
            return arc_fail(vm, ARC_E_ARITY);
        switch ((i32)(closure[0] & 255)) {
        case ARC_FORM_RBIND:
            return arc_call_two(VM, closure[1], x0, closure[2]);
        case ARC_FORM_LBIND:
            return arc_call_two(VM, closure[1], closure[2], x0);
        case ARC_FORM_COMPOSE:
            if (!arc_descend(vm))
                return ARC_SLOT_NONE;
            x0 = arc_call_one(VM, closure[2], x0);
            break;
        case ARC_FORM_CHAIN:
            if (!arc_descend(vm))
                return ARC_SLOT_NONE;
            x0 = arc_call_one(VM, closure[3], x0);
            if (vm->error)
                return ARC_SLOT_NONE;
            x0 = arc_call_one(VM, closure[2], x0);
            break;
        case ARC_FORM_FORK:
            if (!arc_descend(vm))
                return ARC_SLOT_NONE;
            r = arc_call_one(VM, closure[2], x0);
            if (vm->error)
                return ARC_SLOT_NONE;
            second = arc_call_one(VM, closure[3], x0);
            if (vm->error)
                return ARC_SLOT_NONE;
            vm->depth--;
            return arc_call_two(VM, closure[1], r, second);
        case ARC_FORM_MATCHER:
            if (!arc_descend(vm))
                return ARC_SLOT_NONE;
            r = arc_call_one(VM, closure[1], x0);
            if (vm->error)
                return ARC_SLOT_NONE;
            vm->depth--;
            return ARC_SLOT_BOOL(arc_equal(VM, r, closure[2]));
        case ARC_FORM_POWER:
            if (!arc_descend(vm))
                return ARC_SLOT_NONE;
            r = arc_call_one(VM, closure[1], x0);
            for (i32 left = arc_times_more(vm, closure[2]); left != 0 && !vm->error; left--)
                r = arc_call_one(VM, closure[1], r);
            return arc_ascend(vm, r);
        default:
            return arc_constant(vm, closure[1]);
        }
        if (vm->error)
            return ARC_SLOT_NONE;
        vm->depth--;
        f = closure[1];
    }
}

FN_NOINLINE slot arc_recurse_two(VM_PARAM, slot f, slot x0, slot x1)
{
    if (ARC_IS_PRIM(f, 2))
        return arc_run_two(VM, x0, x1, (i32)ARC_PAYLOAD(f));
    return arc_recurse(VM, f, 2, x0, x1, 0, 0);
}

/* f of n arguments. Closures of more than one are mostly bound ones; but a bytecode file may have
 * others, which pass all their arguments to the function they call first. */
FN_NOINLINE slot arc_recurse(VM_PARAM, slot f, i32 n, slot x0, slot x1, slot x2, slot x3)
{
    while (ARC_TAG(f) == ARC_CLOS) {
        GLOBAL const slot *closure = arc_slots(vm, f);
        const i32 form = (i32)(closure[0] & 255);
        slot r, second;

        if (n == 1)
            return arc_recurse_one(VM, f, x0);
        if (n != (i32)(closure[0] >> 8 & 255))
            return arc_fail(vm, ARC_E_ARITY);
        if (form == ARC_FORM_CONST)
            return arc_constant(vm, closure[1]);
        if (form == ARC_FORM_RBIND) {
            x2 = n == 2 ? closure[2] : x2;
            x3 = n == 3 ? closure[2] : x3;
            f = closure[1];
            n++;
            continue;
        }
        if (form == ARC_FORM_LBIND) {
            x3 = x2;
            x2 = x1;
            x1 = x0;
            x0 = closure[2];
            f = closure[1];
            n++;
            continue;
        }
        if (!arc_descend(vm))
            return ARC_SLOT_NONE;
        r = arc_recurse(VM, arc_innermost(closure, form), n, x0, x1, x2, x3);
        if (vm->error)
            return ARC_SLOT_NONE;
        second = r;
        if (form == ARC_FORM_CHAIN || form == ARC_FORM_FORK)
            second = arc_recurse_one(VM, closure[form == ARC_FORM_CHAIN ? 2 : 3],
                                     form == ARC_FORM_CHAIN ? r : x0);
        if (form == ARC_FORM_POWER)
            for (i32 left = arc_times_more(vm, closure[2]); left != 0 && !vm->error; left--)
                second = arc_recurse_one(VM, closure[1], second);
        vm->depth--;
        if (vm->error || form == ARC_FORM_POWER)
            return second;
        if (form == ARC_FORM_MATCHER)
            return ARC_SLOT_BOOL(arc_equal(VM, r, closure[2]));
        return form == ARC_FORM_FORK ? arc_recurse_two(VM, closure[1], r, second)
                                     : arc_recurse_one(VM, closure[1], second);
    }
    return ARC_IS_PRIM(f, n) ? arc_run_more(VM, x0, x1, x2, x3, (i32)ARC_PAYLOAD(f))
                             : arc_no_function(vm, f);
}

/* Whether the limits and switches of a launch allow calls by recursion. */
FN i32 arc_can_recurse(const arc_machine *m, const arc_par *par)
{
    u32 any_off = 0;

    for (i32 k = 0; k < 8; k++)
        any_off |= par->off[k];
    return m->n_frames <= ARC_MOST_RECURSED && !any_off;
}

/* Like arc_call. */
FN void arc_call_by_stack(VM_PARAM, arc_machine *m)
{
    vm->depth = 0;
    vm->n_frames = m->n_frames;
    vm->most_depth = m->most_depth;
    vm->steps_left = m->max_steps - m->steps;
    m->r = arc_recurse(VM, m->f, m->n, m->x0, m->x1, m->x2, m->x3);
    m->most_depth = vm->most_depth;
    m->steps = m->max_steps - vm->steps_left;
    if (vm->error == ARC_E_STEPS)
        vm->error = arc_code_of_steps(m);
}

#endif

#endif
