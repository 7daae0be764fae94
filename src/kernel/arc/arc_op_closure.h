/* arc_op_closure.h - functions as values: closures, their arities, and which of them loop. */
#ifndef ARC_OP_CLOSURE_H
#define ARC_OP_CLOSURE_H

#include "arc_make.h"

/* Primitives that call a function per element. */

#define ARC_CALLS_S 0u
#define ARC_CALLS_L 0u
#define ARC_CALLS_Q 0u
#define ARC_CALLS_K 0u
#define ARC_CALLS_H 1u
#define ARC_CALLS_IN(word, number, class_)                                                         \
    | ((number) / 32 == (word) ? ARC_CALLS_##class_ << ((number) % 32) : 0u)
#define ARC_CALLS_0(number, name, arity, class_, default_, priority) ARC_CALLS_IN(0, number, class_)
#define ARC_CALLS_1(number, name, arity, class_, default_, priority) ARC_CALLS_IN(1, number, class_)
#define ARC_CALLS_2(number, name, arity, class_, default_, priority) ARC_CALLS_IN(2, number, class_)
#define ARC_CALLS_3(number, name, arity, class_, default_, priority) ARC_CALLS_IN(3, number, class_)
#define ARC_CALLS_4(number, name, arity, class_, default_, priority) ARC_CALLS_IN(4, number, class_)
#define ARC_CALLS_5(number, name, arity, class_, default_, priority) ARC_CALLS_IN(5, number, class_)
#define ARC_CALLS_6(number, name, arity, class_, default_, priority) ARC_CALLS_IN(6, number, class_)

/* Bit op of these words: the primitive calls functions. A switch would compare with each of them in
 * turn, for every primitive that runs. */
CONST_TABLE(u32, arc_calls_words, 8) = { 0u ARC_OPS(ARC_CALLS_0), 0u ARC_OPS(ARC_CALLS_1),
                                         0u ARC_OPS(ARC_CALLS_2), 0u ARC_OPS(ARC_CALLS_3),
                                         0u ARC_OPS(ARC_CALLS_4), 0u ARC_OPS(ARC_CALLS_5),
                                         0u ARC_OPS(ARC_CALLS_6), 0u };

FN i32 arc_calls(i32 op)
{
    return (i32)(arc_calls_words[op >> 5] >> (op & 31) & 1u);
}

/* Closures. */

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

/* Whether a call of this value may be a loop over elements. */
FN i32 arc_may_loop(slot f)
{
    return ARC_TAG(f) == ARC_PRIM ? arc_calls((i32)ARC_PAYLOAD(f))
                                  : ARC_TAG(f) == ARC_CLOS && ARC_AUX(f);
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
    return ARC_SLOT(ARC_CLOS, arc_may_loop(a) || arc_may_loop(b) || arc_may_loop(c), at);
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

/* Binding a function that takes neither two nor three arguments gives one that takes three and
 * calls it with four. */
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
