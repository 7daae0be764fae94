/* arc_op_closure.h - functions as values: closures and what they take. */
#ifndef ARC_OP_CLOSURE_H
#define ARC_OP_CLOSURE_H

#include "arc_make.h"

/* Captured value k. */
FN slot arc_captured(const arc_vm *vm, slot f, i32 k)
{
    return *(GLOBAL const slot *)(arc_at(vm, ARC_PAYLOAD(f)) + ARC_CLOS_HEAD + 8 * k);
}

/* How many arguments a function takes. */
FN i32 arc_arity(const arc_vm *vm, slot f)
{
    return ARC_TAG(f) == ARC_PRIM ? ARC_AUX(f) : arc_at(vm, ARC_PAYLOAD(f))[1];
}

FN_NOINLINE slot arc_closure(arc_vm *vm, i32 form, i32 arity, i32 n, slot a, slot b, slot c)
{
    const u32 at = arc_alloc(vm, ARC_CLOS_HEAD + 8 * n);
    GLOBAL slot *to = arc_slots_at(vm, at);

    if (vm->error)
        return ARC_SLOT_NONE;
    to[0] =
        (slot)(u32)form | (slot)(u32)arity << 8 | (slot)(u32)n << 16 | (slot)vm->closures++ << 32;
    to[1] = a;
    if (n > 1)
        to[2] = b;
    if (n > 2)
        to[3] = c;
    return ARC_SLOT(ARC_CLOS, 0, at);
}

FN slot arc_op_compose(VM_PARAM, slot a, slot b)
{
    return arc_closure(vm, ARC_FORM_COMPOSE, 1, 2, a, b, 0);
}

FN slot arc_op_chain(VM_PARAM, slot a, slot b, slot c)
{
    return arc_closure(vm, ARC_FORM_CHAIN, 1, 3, a, b, c);
}

FN slot arc_op_matcher(VM_PARAM, slot a, slot b)
{
    return arc_closure(vm, ARC_FORM_MATCHER, 1, 2, a, b, 0);
}

FN slot arc_op_fork(VM_PARAM, slot a, slot b, slot c)
{
    return arc_closure(vm, ARC_FORM_FORK, 1, 3, a, b, c);
}

/* Of a function that takes neither two nor three arguments comes one that takes three and calls it
 * with four. */
FN slot arc_bind(arc_vm *vm, i32 form, slot f, slot value)
{
    i32 arity;

    if (!arc_is_function(f))
        return arc_fail(vm, ARC_E_TYPE);
    arity = arc_arity(vm, f);
    return arc_closure(vm, form, arity == 2 ? 1 : arity == 3 ? 2 : 3, 2, f, value, 0);
}

FN slot arc_op_rbind(VM_PARAM, slot a, slot b)
{
    return arc_bind(vm, ARC_FORM_RBIND, a, b);
}

FN slot arc_op_lbind(VM_PARAM, slot a, slot b)
{
    return arc_bind(vm, ARC_FORM_LBIND, a, b);
}

FN slot arc_op_power(VM_PARAM, slot a, slot b)
{
    i64 times;

    if (!arc_is_num(b))
        return arc_fail(vm, ARC_E_TYPE);
    times = arc_number(vm, b);
    if (times < 1)
        return arc_fail(vm, ARC_E_VALUE);
    return times == 1 ? a : arc_closure(vm, ARC_FORM_POWER, 1, 2, a, b, 0);
}

#endif
