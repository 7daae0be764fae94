/* arc_exec.h - runs the primitive of an opcode, for primitives that do not call functions. */
#ifndef ARC_EXEC_H
#define ARC_EXEC_H

#include "arc_op_closure.h"
#include "arc_op_pick.h"
#include "arc_ops_all.h"

#define ARC_ARGS_1 (VM, a)
#define ARC_ARGS_2 (VM, a, b)
#define ARC_ARGS_3 (VM, a, b, c)
#define ARC_ARGS_4 (VM, a, b, c, d)
/* Names are pasted here and not further in, since some are macros of OpenCL compilers. */
#define ARC_CASE(number, fn, arity)                                                                \
    case number:                                                                                   \
        return fn ARC_ARGS_##arity;
#define ARC_CASE_S(number, fn, arity) ARC_CASE(number, fn, arity)
#define ARC_CASE_L(number, fn, arity) ARC_CASE(number, fn, arity)
#define ARC_CASE_Q(number, fn, arity) ARC_CASE(number, fn, arity)
#define ARC_CASE_K(number, fn, arity) ARC_CASE(number, fn, arity)
#define ARC_CASE_H(number, fn, arity)
#define ARC_CASE_OF(number, name, arity, class_, default_, priority)                               \
    ARC_CASE_##class_(number, arc_op_##name, arity)

FN_NOINLINE slot arc_exec(VM_PARAM, i32 op, slot a, slot b, slot c, slot d)
{
#ifdef ARC_WIDE /* where values have any size, so that every primitive may take long */
    if (arc_is_late(vm, ARC_WORK))
        return ARC_SLOT_NONE;
#endif
    switch (op) {
        ARC_OPS(ARC_CASE_OF)
    default:
        return arc_fail(vm, ARC_E_UNSUPPORTED);
    }
}

#endif
