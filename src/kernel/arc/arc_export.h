/* arc_export.h - values that leave the team: copied to the output buffer, or reduced to a hash. */
#ifndef ARC_EXPORT_H
#define ARC_EXPORT_H

#include "arc_make.h"

FN i64 arc_padded(i64 n)
{
    return (n + 7) & ~(i64)7;
}

/* Slots inside a value's content: how many, and after how many bytes. */
FN i32 arc_inner_count(const arc_vm *vm, slot v)
{
    if (ARC_TAG(v) == ARC_TUPLE || ARC_TAG(v) == ARC_SET)
        return ARC_AUX(v);
    return ARC_TAG(v) == ARC_CLOS ? ((GLOBAL const u16 *)arc_at(vm, ARC_PAYLOAD(v)))[1] : 0;
}

FN i32 arc_inner_at(slot v)
{
    return ARC_TAG(v) == ARC_CLOS ? ARC_CLOS_HEAD : 0;
}

/* Whether v has content, as a boxed integer also does. */
FN i32 arc_points(slot v)
{
    return arc_has_content(v) || (ARC_TAG(v) == ARC_INT && ARC_AUX(v));
}

/* A stack of values at the end of the arena. */
FN void arc_pile(VM_PARAM, slot v)
{
    const u32 at = arc_alloc(vm, 8);

    MEET;
    if (!vm->error)
        arc_slots_at(vm, at)[0] = v;
}

FN slot arc_unpile(arc_vm *vm)
{
    vm->top -= 8;
    return arc_slots_at(vm, vm->top)[0];
}

/* Bytes of everything that v points to, or some number beyond `most`: values share parts, so a few
 * of them can describe more than could ever be counted. */
FN_NOINLINE i64 arc_deep_bytes(VM_PARAM, slot v, i64 most)
{
    const u32 mark = vm->top;
    i64 total = 0;

    arc_pile(VM, v);
    while (!vm->error && vm->top > mark && total <= most) {
        const slot s = arc_unpile(vm);
        const i32 n = arc_inner_count(vm, s);
        GLOBAL const slot *inner =
            (GLOBAL const slot *)(arc_at(vm, ARC_PAYLOAD(s)) + arc_inner_at(s));

        total += arc_padded(arc_content(vm, s));
        for (i32 k = 0; k < n && !vm->error; k++)
            if (arc_points(inner[k]))
                arc_pile(VM, inner[k]);
    }
    vm->top = mark;
    return total;
}

/* Copies v and everything in it to `out` from byte `cursor` on; payloads are relative to `out`. */
FN_NOINLINE slot arc_copy_out(VM_PARAM, slot v, GLOBAL u8 *out, u32 cursor)
{
    const u32 mark = vm->top;
    const u32 begin = cursor;
    slot r = v;
    u32 from_slot = 0; /* where the slot of the value being copied is, plus 1; 0: it is r */

    arc_pile(VM, v);
    arc_pile(VM, from_slot);
    while (!vm->error && vm->top > mark) {
        const u32 place = (u32)arc_unpile(vm);
        const slot s = arc_unpile(vm);
        const i32 n_bytes = (i32)arc_content(vm, s), n = arc_inner_count(vm, s);
        GLOBAL const u8 *from = arc_at(vm, ARC_PAYLOAD(s));
        GLOBAL const slot *inner = (GLOBAL const slot *)(from + arc_inner_at(s));
        const slot moved = ARC_SLOT(ARC_TAG(s), ARC_AUX(s), cursor);

        EACH(k, n_bytes) out[cursor + (u32)k] = from[k];
        if (place)
            *(GLOBAL slot *)(out + place - 1) = moved;
        else
            r = moved;
        for (i32 k = 0; k < n && !vm->error; k++)
            if (arc_points(inner[k])) {
                arc_pile(VM, inner[k]);
                arc_pile(VM, cursor + (u32)arc_inner_at(s) + (u32)k * 8 + 1);
            }
        cursor += (u32)arc_padded(n_bytes);
    }
    (void)begin;
    vm->top = mark;
    return r;
}

/* Reserves `bytes` of the output buffer; returns where they begin, or ARC_POOLED when it is full.
 * The counter must not wrap around to 0: it no longer changes once the buffer is full, and what
 * teams add at the same time is bounded by how much arc_export lets each request. */
FN u32 arc_reserve(VM_PARAM, GLOBAL u32 *used, i64 bytes, u32 room)
{
    i32 units = 0;

    (void)vm;
    if (bytes > (i64)room)
        return ARC_POOLED;
    ONE_LANE units = *used > room / 8 ? I32_MAX : (i32)ATOMIC_ADD(used, (u32)(bytes / 8));
#if LANES > 1
    units = TEAM_FIRST(units);
#endif
    return (u32)units > (room - (u32)bytes) / 8 ? ARC_POOLED : (u32)units * 8;
}

#define ARC_OUTPUT_BESIDE (1 << 20) /* the most bytes of an output that is not the only one */

FN slot arc_export(VM_PARAM, slot v, GLOBAL u8 *out, GLOBAL u32 *used, const arc_par *par)
{
    const u32 room = par->output_bytes;
    const u32 most = par->n_instances > 1 ? MIN(room, (u32)ARC_OUTPUT_BESIDE) : room;
    i64 bytes;
    u32 at;

    if (!arc_points(v) || v == ARC_SLOT_EMPTY_TUPLE || v == ARC_SLOT_EMPTY_SET)
        return v;
    bytes = arc_deep_bytes(VM, v, most);
    if (vm->error)
        return ARC_SLOT_NONE;
    at = bytes > (i64)most ? ARC_POOLED : arc_reserve(VM, used, bytes, room);
    return at == ARC_POOLED ? arc_fail(vm, ARC_E_RESULT) : arc_copy_out(VM, v, out, at);
}

/* Hashes. */

#define ARC_HASHED (1 << 20)

FN u64 arc_mix(u64 h, u64 v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

FN u64 arc_hash_flat(const arc_vm *vm, u64 h, slot v)
{
    const i32 n = (i32)arc_content(vm, v);
    GLOBAL const u8 *bytes = arc_at(vm, ARC_PAYLOAD(v));

    h = arc_mix(h, (u64)(u32)ARC_TAG(v) << 32 | (u32)n);
    for (i32 k = 0; k < n; k++)
        h = arc_mix(h, bytes[k]);
    return h;
}

/* Equal values have equal hashes. Only the first ARC_HASHED parts of a huge value are hashed. A
 * closure is hashed by its number, which says when it was made. */
FN_NOINLINE u64 arc_hash(VM_PARAM, slot v)
{
    const u32 mark = vm->top;
    u64 h = 0x51f15e5eed5u;
    i32 left = ARC_HASHED;

    arc_pile(VM, v);
    while (!vm->error && vm->top > mark && left-- > 0) {
        const slot s = arc_unpile(vm);

        if (arc_is_flat(s)) {
            h = arc_hash_flat(vm, h, s);
        } else if (ARC_TAG(s) == ARC_TUPLE || ARC_TAG(s) == ARC_SET) {
            const i32 n = ARC_AUX(s);

            h = arc_mix(h, (u64)(u32)ARC_TAG(s) << 32 | (u32)n);
            for (i32 k = n - 1; k >= 0 && !vm->error; k--)
                arc_pile(VM, arc_slots(vm, s)[k]);
        } else if (ARC_TAG(s) == ARC_CLOS) {
            h = arc_mix(h, *arc_slots(vm, s));
        } else {
            h = arc_mix(h, arc_is_num(s) ? (u64)arc_number(vm, s) : s);
        }
    }
    vm->top = mark;
    return h;
}

#endif
