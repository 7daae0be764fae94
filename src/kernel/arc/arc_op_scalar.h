/* arc_op_scalar.h - primitives on numbers and pairs of numbers, truth values and choices. */
#ifndef ARC_OP_SCALAR_H
#define ARC_OP_SCALAR_H

#include "arc_make.h"

/* Number k (0 or 1) of a tuple; for a number, the number itself. */
FN i64 arc_part(arc_vm *vm, slot v, i32 k)
{
    slot e;

    if (arc_is_num(v))
        return arc_number(vm, v);
    if (ARC_TAG(v) == ARC_PAIR)
        return k ? ARC_PAIR_J(v) : ARC_PAIR_I(v);
    if (!arc_is_tuple(v)) {
        arc_fail(vm, ARC_E_TYPE);
        return 0;
    }
    if (arc_len(vm, v) < 2) {
        arc_fail(vm, ARC_E_INDEX);
        return 0;
    }
    e = arc_elem(vm, v, k);
    if (!arc_is_num(e)) {
        arc_fail(vm, ARC_E_TYPE);
        return 0;
    }
    return arc_number(vm, e);
}

/* Sums, differences and products of int32 fit int64; only a wide build can exceed it. */
FN i64 arc_calc(arc_vm *vm, i32 op, i64 a, i64 b)
{
#ifdef ARC_WIDE
    const i64 most = (i64)1 << 62;

    if (op == ARC_OP_multiply ? a != 0 && IABS(b) > most / IABS(a)
                              : IABS(a) > most || IABS(b) > most) {
        arc_fail(vm, ARC_E_OVERFLOW);
        return 0;
    }
#endif
    switch (op) {
    case ARC_OP_add:
        return a + b;
    case ARC_OP_subtract:
        return a - b;
    case ARC_OP_multiply:
        return a * b;
    default:
        if (b == 0) {
            arc_fail(vm, ARC_E_ZERO_DIV);
            return 0;
        }
        return floor_div(a, b);
    }
}

FN_NOINLINE slot arc_arith(arc_vm *vm, i32 op, slot a, slot b)
{
    if (arc_is_num(a) && arc_is_num(b)) {
        const i64 r = arc_calc(vm, op, arc_number(vm, a), arc_number(vm, b));
        return vm->error ? ARC_SLOT_NONE : arc_int(vm, r);
    }
    {
        const i64 a0 = arc_part(vm, a, 0), a1 = arc_part(vm, a, 1);
        const i64 b0 = arc_part(vm, b, 0), b1 = arc_part(vm, b, 1);
        i64 i, j;

        if (vm->error)
            return ARC_SLOT_NONE;
        i = arc_calc(vm, op, a0, b0);
        j = arc_calc(vm, op, a1, b1);
        return vm->error ? ARC_SLOT_NONE : arc_pair_of(vm, i, j);
    }
}

FN slot arc_op_identity(VM_PARAM, slot a)
{
    (void)vm;
    return a;
}

FN slot arc_op_add(VM_PARAM, slot a, slot b)
{
    return arc_arith(vm, ARC_OP_add, a, b);
}

FN slot arc_op_subtract(VM_PARAM, slot a, slot b)
{
    return arc_arith(vm, ARC_OP_subtract, a, b);
}

FN slot arc_op_multiply(VM_PARAM, slot a, slot b)
{
    return arc_arith(vm, ARC_OP_multiply, a, b);
}

FN slot arc_op_divide(VM_PARAM, slot a, slot b)
{
    return arc_arith(vm, ARC_OP_divide, a, b);
}

FN slot arc_op_invert(VM_PARAM, slot a)
{
    return arc_arith(vm, ARC_OP_multiply, a, ARC_SLOT_INT(-1));
}

FN slot arc_op_double(VM_PARAM, slot a)
{
    return arc_arith(vm, ARC_OP_multiply, a, ARC_SLOT_INT(2));
}

FN slot arc_op_halve(VM_PARAM, slot a)
{
    return arc_arith(vm, ARC_OP_divide, a, ARC_SLOT_INT(2));
}

FN slot arc_op_increment(VM_PARAM, slot a)
{
    return arc_arith(vm, ARC_OP_add, a, ARC_SLOT_INT(1));
}

FN slot arc_op_decrement(VM_PARAM, slot a)
{
    return arc_arith(vm, ARC_OP_subtract, a, ARC_SLOT_INT(1));
}

FN i64 arc_sign_of(i64 n)
{
    return ARC_SIGN(n, 0);
}

FN slot arc_op_sign(VM_PARAM, slot a)
{
    const i64 i = arc_part(vm, a, 0), j = arc_part(vm, a, 1);

    if (vm->error)
        return ARC_SLOT_NONE;
    return arc_is_num(a) ? ARC_SLOT_INT(arc_sign_of(i))
                         : ARC_SLOT_PAIR(arc_sign_of(i), arc_sign_of(j));
}

/* One away from zero; zero stays. */
FN slot arc_op_crement(VM_PARAM, slot a)
{
    const i64 i = arc_part(vm, a, 0), j = arc_part(vm, a, 1);

    if (vm->error)
        return ARC_SLOT_NONE;
    return arc_is_num(a) ? arc_int(vm, i + arc_sign_of(i))
                         : arc_pair_of(vm, i + arc_sign_of(i), j + arc_sign_of(j));
}

FN slot arc_op_even(VM_PARAM, slot a)
{
    return arc_is_num(a) ? ARC_SLOT_BOOL((arc_number(vm, a) & 1) == 0) : arc_fail(vm, ARC_E_TYPE);
}

FN slot arc_op_positive(VM_PARAM, slot a)
{
    return arc_is_num(a) ? ARC_SLOT_BOOL(arc_number(vm, a) > 0) : arc_fail(vm, ARC_E_TYPE);
}

/* Vectors may hold any value: (x, 0) and (0, x) are tuples for any x. */
FN slot arc_op_toivec(VM_PARAM, slot a)
{
    return arc_tuple_of_2(VM, a, ARC_SLOT_INT(0));
}

FN slot arc_op_tojvec(VM_PARAM, slot a)
{
    return arc_tuple_of_2(VM, ARC_SLOT_INT(0), a);
}

/* Truth and choice. */

FN slot arc_op_flip(VM_PARAM, slot a)
{
    return ARC_SLOT_BOOL(!arc_is_true(vm, a));
}

FN slot arc_op_both(VM_PARAM, slot a, slot b)
{
    return arc_is_true(vm, a) ? b : a;
}

FN slot arc_op_either(VM_PARAM, slot a, slot b)
{
    return arc_is_true(vm, a) ? a : b;
}

FN slot arc_op_branch(VM_PARAM, slot a, slot b, slot c)
{
    return arc_is_true(vm, a) ? b : c;
}

FN slot arc_op_astuple(VM_PARAM, slot a, slot b)
{
    return arc_tuple_of_2(VM, a, b);
}

/* Large flat values are compared by all lanes together, anything else by each lane by itself. */
FN_NOINLINE i32 arc_equal(VM_PARAM, slot a, slot b)
{
    i32 all;

    if (a == b)
        return 1;
    if (ARC_TAG(a) != ARC_TAG(b) || !arc_is_flat(a))
        return arc_same(vm, a, b);
    if (arc_content(vm, a) != arc_content(vm, b))
        return 0;
    {
        GLOBAL const u8 *x = arc_at(vm, ARC_PAYLOAD(a));
        GLOBAL const u8 *y = arc_at(vm, ARC_PAYLOAD(b));
        const i32 n = (i32)arc_content(vm, a);

        ALL_OVER(all, k, n, x[k] == y[k])
    }
    return all;
}

FN slot arc_op_equality(VM_PARAM, slot a, slot b)
{
    return ARC_SLOT_BOOL(arc_equal(VM, a, b));
}

FN slot arc_op_greater(VM_PARAM, slot a, slot b)
{
    const i32 r = arc_less(vm, b, a);
    return r < 0 ? arc_fail(vm, ARC_E_TYPE) : ARC_SLOT_BOOL(r);
}

#endif
