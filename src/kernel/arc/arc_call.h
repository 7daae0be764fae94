/* arc_call.h - calls of primitives and of closures. */
#ifndef ARC_CALL_H
#define ARC_CALL_H

#include "arc_loop.h"
#include "arc_recurse.h"
#include "arc_solo.h"

/* Pushes a frame for the work that remains once a closure's inner value is there. */
FN i32 arc_enter_closure(VM_PARAM, arc_machine *m)
{
    GLOBAL const slot *closure = arc_slots(vm, m->f);
    const u32 head = (u32)closure[0];
    const i32 form = (i32)(head & 255);
    const slot first = closure[1], second = head >> 16 > 1 ? closure[2] : ARC_SLOT_NONE;
    slot inner = first;

    if (m->n != (i32)(head >> 8 & 255)) {
        arc_fail(vm, ARC_E_ARITY);
        return ARC_GO_RETURN;
    }
    m->is_new = 1;
    m->next.f = first;
    m->next.a = m->x0;
    m->next.k = 0;
    switch (form) {
    case ARC_FORM_COMPOSE:
        m->next.what = ARC_THEN_CALL;
        inner = second;
        break;
    case ARC_FORM_CHAIN:
        m->next.what = ARC_THEN_CHAIN;
        m->next.f = m->f;
        inner = closure[3];
        break;
    case ARC_FORM_MATCHER:
        m->next.what = ARC_THEN_EQUAL;
        m->next.a = second;
        break;
    case ARC_FORM_RBIND:
        m->x1 = m->n == 1 ? second : m->x1;
        m->x2 = m->n == 2 ? second : m->x2;
        m->x3 = m->n == 3 ? second : m->x3;
        m->n++;
        m->is_new = 0;
        break;
    case ARC_FORM_LBIND:
        m->x3 = m->x2;
        m->x2 = m->x1;
        m->x1 = m->x0;
        m->x0 = second;
        m->n++;
        m->is_new = 0;
        break;
    case ARC_FORM_POWER:
        m->next.what = ARC_THEN_AGAIN;
        m->next.k = (i32)MIN(arc_number(vm, second) - 1, (i64)I32_MAX);
        break;
    case ARC_FORM_FORK:
        m->next.what = ARC_THEN_FORK;
        m->next.f = m->f;
        inner = second;
        break;
    default:
        m->is_new = 0;
        if (m->steps >= m->max_steps)
            arc_fail(vm, arc_code_of_steps(m));
        else
            m->steps++;
        m->r = first;
        return ARC_GO_RETURN;
    }
    m->f = inner;
    return ARC_GO_ENTER;
}

/* Calls m->f with m->n arguments. */
FN i32 arc_enter(VM_PARAM, arc_machine *m, const arc_par *par)
{
    i32 op;

    if (ARC_TAG(m->f) == ARC_CLOS)
        return arc_enter_closure(VM, m);
    op = (i32)ARC_PAYLOAD(m->f);
    if (ARC_TAG(m->f) != ARC_PRIM)
        arc_fail(vm, ARC_E_TYPE);
    else if (ARC_AUX(m->f) != m->n)
        arc_fail(vm, ARC_E_ARITY);
    else if (m->steps >= m->max_steps)
        arc_fail(vm, arc_code_of_steps(m));
    else if (arc_is_off(par, op))
        arc_fail(vm, ARC_E_UNSUPPORTED);
    if (vm->error)
        return ARC_GO_RETURN;
    m->steps++;
    if (arc_calls(op))
        return arc_loop_begin(VM, m, op);
    m->r = arc_exec(VM, op, m->x0, m->x1, m->x2, m->x3);
    return ARC_GO_RETURN;
}

/* Passes m->r to the innermost frame. */
FN i32 arc_return(VM_PARAM, arc_machine *m)
{
    const slot f = m->in.f;
    const i32 k = m->in.k;
    i32 go = ARC_GO_ENTER;

    if (m->in.what < ARC_THEN_CALL)
        return arc_loop_take(VM, m);
    m->n = 1;
    m->f = f;
    m->is_over = 1;
    switch (m->in.what) {
    case ARC_THEN_CALL:
        m->x0 = m->r;
        break;
    case ARC_THEN_EQUAL:
        m->r = ARC_SLOT_BOOL(arc_equal(VM, m->r, m->in.a));
        go = ARC_GO_RETURN;
        break;
    case ARC_THEN_AGAIN:
        m->x0 = m->r;
        m->is_over = k == 0;
        m->in.k = k - 1;
        go = k == 0 ? ARC_GO_RETURN : ARC_GO_ENTER;
        break;
    case ARC_THEN_CHAIN:
        m->x0 = m->r;
        m->f = arc_captured(vm, f, 1 - k);
        m->is_over = k;
        m->in.k = 1;
        break;
    default:
        m->is_over = k;
        m->f = arc_captured(vm, f, k ? 0 : 2);
        m->x0 = k ? m->in.b : m->in.a;
        m->x1 = m->r;
        m->n = 1 + k;
        m->in.b = m->r;
        m->in.k = 1;
    }
    return go;
}

/* Continues the call until it is finished, has failed, or comes to a loop with one lane per
 * element.
 */
FN void arc_go_on(VM_PARAM, arc_machine *m, const arc_par *par, i32 *next)
{
    i32 go = *next;

    while (go != ARC_GO_SOLO && (go != ARC_GO_RETURN || m->depth > m->base)) {
        MEET; /* the next primitive may overwrite what this one has read and released */
        m->is_new = 0;
        m->is_over = 0;
        go = go == ARC_GO_ENTER  ? arc_enter(VM, m, par)
             : go == ARC_GO_NEXT ? arc_loop_next(VM, m)
                                 : arc_return(VM, m);
        if (vm->error)
            break;
        if (m->is_over)
            arc_pop(TEAM_PASS, vm, m);
        else if (m->is_new)
            arc_push(VM, m);
    }
    *next = go;
}

/* Calls m->f and everything that follows from it; the value is in m->r unless vm->error is set. */
FN_NOINLINE void arc_call(VM_PARAM, arc_machine *to, const arc_par *par)
{
#ifdef ARC_RECURSES
    if (arc_can_recurse(to, par)) {
        arc_call_by_stack(VM, to);
        return;
    }
#endif
    arc_machine m = *to; /* a copy whose address is never taken: it can live in registers */
    i32 go = ARC_GO_ENTER;

    m.depth = 0;
    m.base = 0;
    m.is_solo = 0;
#if LANES > 1
    {
        arc_solo solo = { 0 };

        for (;;) {
            arc_go_on(m.is_solo ? 0 : qn_team, vm, &m, par, &go);
            if (m.is_solo)
                go = arc_solo_join(VM, &m, &solo);
            else if (go == ARC_GO_SOLO && !vm->error)
                go = arc_solo_begin(vm, &m, &solo);
            else
                break;
            if (vm->error)
                break;
            if (m.is_solo)
                go = arc_solo_call(TEAM_PASS, vm, &m, &solo);
        }
    }
#else
    arc_go_on(VM, &m, par, &go);
#endif
    *to = m;
}

#endif
