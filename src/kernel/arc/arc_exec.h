/* arc_exec.h - from an opcode to the primitive that does not call functions. */
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
    switch (op) {
        ARC_OPS(ARC_CASE_OF)
    default:
        return arc_fail(vm, ARC_E_UNSUPPORTED);
    }
}

/* ---- primitives that call a function per element -------------------------------------- */

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

/* Bit op of these words: the primitive calls functions. A switch would compare with each of them
 * in turn, for every primitive that runs. */
CONST_TABLE(u32, arc_calls_words, 8) = { 0u ARC_OPS(ARC_CALLS_0), 0u ARC_OPS(ARC_CALLS_1),
                                         0u ARC_OPS(ARC_CALLS_2), 0u ARC_OPS(ARC_CALLS_3),
                                         0u ARC_OPS(ARC_CALLS_4), 0u ARC_OPS(ARC_CALLS_5),
                                         0u ARC_OPS(ARC_CALLS_6), 0u };

FN i32 arc_calls(i32 op)
{
    return (i32)(arc_calls_words[op >> 5] >> (op & 31) & 1u);
}

#endif
