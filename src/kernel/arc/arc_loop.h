/* arc_loop.h - primitives that call a function per element: apply, sfilter, argmax and the like.
 *
 * All but extract collect the function's values for all elements, and make their result from them
 * at the end. Memory that a call leaves in the arena is freed once its value has been stored.
 */
#ifndef ARC_LOOP_H
#define ARC_LOOP_H

#include "arc_frame.h"

#define ARC_LOOP_TEST    1u /* only the truth of the function's value matters */
#define ARC_LOOP_EXTRACT 2u /* ends at the first element that passes */
#define ARC_LOOP_OTHER   4u /* the call is not f(element): see arc_other_call */

FN i32 arc_is_off(const arc_par *par, i32 op)
{
    return (i32)(par->off[op >> 5] >> (op & 31) & 1u);
}

FN u32 arc_loop_is_of(i32 op)
{
    switch (op) {
    case ARC_OP_sfilter:
    case ARC_OP_mfilter:
    case ARC_OP_mfilter_t:
        return ARC_LOOP_TEST;
    case ARC_OP_extract:
        return ARC_LOOP_TEST | ARC_LOOP_EXTRACT;
    case ARC_OP_rapply:
    case ARC_OP_papply:
    case ARC_OP_mpapply:
    case ARC_OP_prapply:
    case ARC_OP_c_iz:
    case ARC_OP_c_zo:
    case ARC_OP_c_iz_n:
    case ARC_OP_c_zo_n:
        return ARC_LOOP_OTHER;
    default:
        return 0;
    }
}

/* The operand that is the function, and the one that is the rank of an element. */
FN slot arc_loop_function(i32 op, const arc_machine *m)
{
    switch (op) {
    case ARC_OP_apply:
    case ARC_OP_mapply:
    case ARC_OP_papply:
    case ARC_OP_mpapply:
    case ARC_OP_prapply:
        return m->x0;
    case ARC_OP_get_nth_by_key_t:
    case ARC_OP_get_nth_by_key_f:
        return m->x2;
    default:
        return m->x1;
    }
}

FN i32 arc_is_of_samples(i32 op)
{
    return op == ARC_OP_c_iz || op == ARC_OP_c_zo || op == ARC_OP_c_iz_n || op == ARC_OP_c_zo_n;
}

/* How often the function is called; -1 if an operand is not a container. */
FN i64 arc_loop_count(const arc_vm *vm, i32 op, slot a, slot b)
{
    const i64 na = arc_len(vm, a), nb = arc_len(vm, b);

    if (na < 0)
        return -1;
    if (op == ARC_OP_papply || op == ARC_OP_mpapply)
        return MIN(na, nb);
    if (op == ARC_OP_prapply)
        return nb < 0 ? -1 : na * nb;
    return arc_is_of_samples(op) ? 2 * na : na;
}

/* The call for element k if it is not f(element). */
FN void arc_other_call(arc_vm *vm, arc_machine *m)
{
    const i32 k = m->in.k, n = arc_len(vm, m->in.a);
    const slot a = m->in.a;
    slot sample;

    switch (m->in.what) {
    case ARC_OP_rapply:
        m->f = arc_elem(vm, a, k);
        m->x0 = m->in.f;
        break;
    case ARC_OP_papply:
    case ARC_OP_mpapply:
        m->x0 = arc_elem(vm, a, k);
        m->x1 = arc_elem(vm, m->in.b, k);
        m->n = 2;
        break;
    case ARC_OP_prapply:
        m->x0 = arc_elem(vm, a, k % n);
        m->x1 = arc_elem(vm, m->in.b, k / n);
        m->n = 2;
        break;
    default: /* over samples: all inputs, then all outputs */
        sample = arc_elem(vm, a, k % n);
        if (!arc_is_tuple(sample) || arc_len(vm, sample) < 2)
            arc_fail(vm, ARC_E_TYPE);
        else
            m->x0 = arc_elem(vm, sample, k >= n);
    }
}

/* The call for element k. */
FN i32 arc_loop_call(arc_vm *vm, arc_machine *m)
{
    m->in.mark = vm->top;
    m->f = m->in.f;
    m->n = 1;
    if (m->in.is_of & ARC_LOOP_OTHER)
        arc_other_call(vm, m);
    else
        m->x0 = arc_elem(vm, m->in.a, m->in.k);
    return ARC_GO_ENTER;
}

/* The distinct values of f on all inputs (side 0) or outputs (side 1), in order. */
FN slot arc_of_side(VM_PARAM, i32 n_calls, u32 acc, i32 side)
{
    const i32 n = n_calls / 2;
    const slot part = ARC_SLOT(ARC_TUPLE, n, acc + (u32)(side * n) * 8);
    const slot all = arc_merge(VM, part, 0);

    return vm->error ? ARC_SLOT_NONE : arc_op_dedupe(VM, all);
}

FN_NOINLINE slot arc_of_samples(VM_PARAM, i32 what, i32 n, u32 acc)
{
    const i32 inputs_first = what == ARC_OP_c_iz || what == ARC_OP_c_iz_n;
    const slot ins = arc_of_side(VM, n, acc, 0);
    const slot outs = vm->error ? ARC_SLOT_NONE : arc_of_side(VM, n, acc, 1);

    if (vm->error)
        return ARC_SLOT_NONE;
    return inputs_first ? arc_op_difference(VM, ins, outs) : arc_op_difference(VM, outs, ins);
}

/* The result of primitive `what` once all n calls have returned, with their values at `acc`. Takes
 * no pointer to the frame, which can thus stay in registers. */
FN_NOINLINE slot arc_loop_result(VM_PARAM, i32 what, slot a, slot rank, i32 n, u32 acc)
{
    const slot got = ARC_SLOT(ARC_TUPLE, n, acc);
    GLOBAL const slot *is_in = arc_slots_at(vm, acc);
    slot r;
    i32 at;

    MEET;
    switch (what) {
    case ARC_OP_apply:
    case ARC_OP_rapply:
        return arc_make_like(VM, a, acc, n);
    case ARC_OP_papply:
        return arc_tuple_of(VM, acc, n);
    case ARC_OP_prapply:
        return arc_set_of(VM, acc, n);
    case ARC_OP_mapply:
        return arc_merge(VM, got, arc_is_set(a));
    case ARC_OP_mpapply:
        return arc_merge(VM, got, 0);
    case ARC_OP_sfilter:
    case ARC_OP_mfilter:
    case ARC_OP_mfilter_t:
        FILTERED(r, a, k, ARC_PAYLOAD(is_in[k]) != 0)
        if (vm->error || what == ARC_OP_sfilter)
            return r;
        return what == ARC_OP_mfilter ? arc_merge(VM, r, arc_is_set(a)) : arc_distinct(VM, r);
    case ARC_OP_order:
        return arc_order_by(VM, a, got);
    case ARC_OP_argmax:
    case ARC_OP_argmin:
    case ARC_OP_valmax:
    case ARC_OP_valmin:
        at = arc_best(VM, a, got, what == ARC_OP_argmax || what == ARC_OP_valmax);
        if (vm->error)
            return ARC_SLOT_NONE;
        return what == ARC_OP_argmax || what == ARC_OP_argmin ? arc_elem(vm, a, at) : is_in[at];
    case ARC_OP_get_nth_by_key_t:
    case ARC_OP_get_nth_by_key_f:
    case ARC_OP_get_arg_rank:
    case ARC_OP_get_val_rank:
        at = arc_ranked(VM, got, rank, what == ARC_OP_get_arg_rank);
        if (vm->error)
            return ARC_SLOT_NONE;
        return what == ARC_OP_get_val_rank ? is_in[at] : arc_elem(vm, a, at);
    default:
        return arc_of_samples(VM, what, n, acc);
    }
}

/* Every call has returned: the result goes to the enclosing frame or, for the _n forms, into
 * another function. */
FN i32 arc_loop_end(VM_PARAM, arc_machine *m)
{
    const i32 what = m->in.what;
    const u32 acc = m->in.acc;
    const slot then = m->in.b;
    slot r;

    if (what == ARC_OP_extract ||
        (m->in.n == 0 && (what == ARC_OP_argmax || what == ARC_OP_argmin))) {
        arc_fail(vm, ARC_E_EMPTY);
        return ARC_GO_RETURN;
    }
    if (m->in.n == 0 && (what == ARC_OP_valmax || what == ARC_OP_valmin)) {
        m->f = m->in.f;
        m->x0 = ARC_SLOT_INT(0);
        m->n = 1;
        m->is_over = 1;
        return ARC_GO_ENTER;
    }
    r = arc_loop_result(VM, what, m->in.a, m->in.b, m->in.n, acc);
    if (vm->error)
        return ARC_GO_RETURN;
    r = arc_keep(VM, acc, r);
    m->is_over = 1;
    if (what == ARC_OP_c_iz_n || what == ARC_OP_c_zo_n) {
        m->f = then;
        m->x0 = r;
        m->n = 1;
        return ARC_GO_ENTER;
    }
    m->r = r;
    return ARC_GO_RETURN;
}

/* The least number of elements of a loop whose lanes are alone: for a loop that contains others,
 * which offer more work to divide, and for any other. */
#define ARC_SOLO_OUTER 16
#define ARC_SOLO_LEAST 4
#define ARC_SOLO_ROOM  1024 /* the least bytes that each of them gets */

/* Bytes of the arena for each lane if lanes are alone: three quarters of what is left. */
FN u32 arc_solo_own(const arc_vm *vm)
{
    return (vm->limit - vm->top) / 4 * 3 / LANES & ~7u;
}

FN i32 arc_wants_solo(const arc_vm *vm, const arc_machine *m, slot f, i64 n)
{
    return LANES > 1 && n >= ARC_SOLO_LEAST && !m->is_solo && !vm->error &&
           (n >= ARC_SOLO_OUTER || !arc_may_loop(f)) && arc_solo_own(vm) >= ARC_SOLO_ROOM;
}

/* Begins a primitive that calls a function; its operands are the machine's arguments. */
FN i32 arc_loop_begin(VM_PARAM, arc_machine *m, i32 op)
{
    const slot f = arc_loop_function(op, m);
    const i32 is_f_first = op == ARC_OP_apply || op == ARC_OP_mapply || op == ARC_OP_papply ||
                           op == ARC_OP_mpapply || op == ARC_OP_prapply;
    const slot a = is_f_first ? m->x1 : m->x0;
    const slot b = op == ARC_OP_get_nth_by_key_t || op == ARC_OP_get_nth_by_key_f ? m->x1 : m->x2;
    const i64 n = arc_loop_count(vm, op, a, b);
    const u32 acc = vm->top;

    if (n < 0 || (op == ARC_OP_get_nth_by_key_t && !arc_is_tuple(a)) ||
        (op == ARC_OP_get_nth_by_key_f && !arc_is_set(a)))
        arc_fail(vm, ARC_E_TYPE);
    else if (n > ARC_MOST_AUX)
        arc_fail(vm, ARC_E_RANGE);
    else if (op != ARC_OP_extract)
        arc_alloc(vm, n * 8);
    m->is_new = 1;
    m->next.what = op;
    m->next.f = f;
    m->next.a = a;
    m->next.b = b;
    m->next.k = 0;
    m->next.n = (i32)n;
    m->next.acc = acc;
    m->next.is_of = arc_loop_is_of(op);
    return arc_wants_solo(vm, m, op == ARC_OP_rapply && n > 0 ? arc_elem(vm, a, 0) : f, n)
               ? ARC_GO_SOLO
               : ARC_GO_NEXT;
}

FN i32 arc_loop_next(VM_PARAM, arc_machine *m)
{
    return m->in.k < m->in.n ? arc_loop_call(vm, m) : arc_loop_end(VM, m);
}

/* Call k has returned m->r. */
FN i32 arc_loop_take(VM_PARAM, arc_machine *m)
{
    const slot r = m->in.is_of & ARC_LOOP_TEST ? ARC_SLOT_BOOL(arc_is_true(vm, m->r)) : m->r;

    if (m->in.is_of & ARC_LOOP_EXTRACT) {
        MEET;
        vm->top = m->in.mark;
        if (ARC_PAYLOAD(r)) {
            m->r = arc_elem(vm, m->in.a, m->in.k);
            m->is_over = 1;
            return ARC_GO_RETURN;
        }
    } else {
        arc_slots_at(vm, m->in.acc)[m->in.k] = arc_keep(VM, m->in.mark, r);
    }
    m->in.k++;
    return ARC_GO_NEXT;
}

#endif
