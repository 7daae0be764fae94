/* arc_state.h - the state of a team while it runs a program: its arena, its limits, the failure. */
#ifndef ARC_STATE_H
#define ARC_STATE_H

#include "arc_code.h"
#include "arc_lanes.h"
#include "arc_ops.h"

typedef u64 slot;

#ifndef ARC_DEPTH
#define ARC_DEPTH 16 /* how deeply nested containers may be when compared */
#endif

/* How many elements of containers of slots an instance may compare. Values share parts, so
 * comparing two of them can take longer than any limit on steps. The widest build must allow more
 * than all lanes of a team together. */
#ifndef ARC_COMPARED
#ifdef ARC_WIDE
#define ARC_COMPARED (1u << 28)
#else
#define ARC_COMPARED (1u << 23)
#endif
#endif

typedef struct arc_vm {
    GLOBAL u8 *arena;
    GLOBAL const u8 *pool;
    u32 top, limit; /* of the arena, in bytes */
    u32 high;       /* the greatest top so far */
    u32 closures;   /* number of the next closure */
    i32 error;      /* of the running primitive: ARC_OK or ARC_E_*; the same in all lanes */
    i32 deep;       /* ARC_E_DEPTH, ARC_E_COMPARED: comparing gave up; each lane has its own */
    u32 compared;   /* likewise */
#ifdef ARC_CLOCK
    u64 until_us; /* of the host's clock; 0: no limit */
    i64 work;     /* since it was looked at */
#endif
#ifdef ARC_RECURSES
    u32 steps_left; /* these are for calls: see arc_recurse.h */
    i32 depth, n_frames, most_depth;
#endif
} arc_vm;

/* Parameters and arguments of every helper that uses blocks. */
#define VM_PARAM TEAM_PARAM, arc_vm *vm
#define VM       TEAM_PASS, vm

FN slot arc_fail(arc_vm *vm, i32 code)
{
    if (vm->error == ARC_OK)
        vm->error = code;
    return ARC_SLOT_NONE;
}

/* Allocates `bytes` bytes at a multiple of 8. Fails if they do not fit: check vm->error. */
FN u32 arc_alloc(arc_vm *vm, i64 bytes)
{
    const u32 at = vm->top;
    const i64 end = (i64)at + ((bytes + 7) & ~(i64)7);

    if (end > (i64)vm->limit) {
        arc_fail(vm, ARC_E_ARENA);
        return at;
    }
    vm->top = (u32)end;
    vm->high = MAX(vm->high, vm->top);
    return at;
}

/* Releases everything from `at` on except the first `bytes`. */
FN void arc_cut(arc_vm *vm, u32 at, i64 bytes)
{
    vm->top = at + (u32)((bytes + 7) & ~(i64)7);
}

/* The content that a payload points to. Only fresh memory is written: see arc_alloc. */
FN GLOBAL const u8 *arc_at(const arc_vm *vm, u32 offset)
{
    return offset & ARC_POOLED ? vm->pool + (offset & ~ARC_POOLED) : vm->arena + offset;
}

FN GLOBAL const slot *arc_slots(const arc_vm *vm, slot v)
{
    return (GLOBAL const slot *)arc_at(vm, ARC_PAYLOAD(v));
}

FN GLOBAL const u32 *arc_keys(const arc_vm *vm, slot v)
{
    return (GLOBAL const u32 *)arc_at(vm, ARC_PAYLOAD(v));
}

FN GLOBAL const i8 *arc_bytes(const arc_vm *vm, slot v)
{
    return (GLOBAL const i8 *)arc_at(vm, ARC_PAYLOAD(v));
}

/* Fresh memory, to be filled. */
FN GLOBAL slot *arc_slots_at(const arc_vm *vm, u32 at)
{
    return (GLOBAL slot *)(vm->arena + at);
}

FN GLOBAL u32 *arc_keys_at(const arc_vm *vm, u32 at)
{
    return (GLOBAL u32 *)(vm->arena + at);
}

FN GLOBAL i8 *arc_bytes_at(const arc_vm *vm, u32 at)
{
    return (GLOBAL i8 *)(vm->arena + at);
}

/* Kinds. */

FN i32 arc_is_num(slot v)
{
    return ARC_TAG(v) == ARC_INT || ARC_TAG(v) == ARC_BOOL;
}

FN i32 arc_is_tuple(slot v)
{
    return ARC_TAG(v) >= ARC_PAIR && ARC_TAG(v) <= ARC_TUPLE;
}

FN i32 arc_is_set(slot v)
{
    return ARC_TAG(v) >= ARC_IDX && ARC_TAG(v) <= ARC_SET;
}

FN i32 arc_is_container(slot v)
{
    return ARC_TAG(v) >= ARC_PAIR && ARC_TAG(v) <= ARC_SET;
}

FN i32 arc_is_function(slot v)
{
    return ARC_TAG(v) == ARC_PRIM || ARC_TAG(v) == ARC_CLOS;
}

/* Has content but no slots inside: can be moved by copying bytes. */
FN i32 arc_is_flat(slot v)
{
    return ARC_TAG(v) == ARC_ROW || ARC_TAG(v) == ARC_GRID || ARC_TAG(v) == ARC_IDX ||
           ARC_TAG(v) == ARC_OBJ;
}

FN i32 arc_has_content(slot v)
{
    return ARC_TAG(v) >= ARC_ROW && ARC_TAG(v) <= ARC_SET ? 1 : ARC_TAG(v) == ARC_CLOS;
}

/* The kind of an operand for failure messages: see ARC_FAILURE. */
FN u32 arc_given_kind(slot v)
{
    const u32 tag = (u32)ARC_TAG(v);

    if (ARC_AUX(v) == 0 && (tag == ARC_IDX || tag == ARC_TUPLE))
        return tag == ARC_IDX ? ARC_GIVEN_EMPTY_SET : ARC_GIVEN_EMPTY_TUPLE;
    return tag;
}

/* Numbers. */

FN i64 arc_number(const arc_vm *vm, slot v)
{
    if (ARC_TAG(v) == ARC_INT && ARC_AUX(v))
        return *(GLOBAL const i64 *)arc_at(vm, ARC_PAYLOAD(v));
    return (i32)ARC_PAYLOAD(v);
}

/* The slot of an integer. Beyond int32 it fails, except in a wide build, which boxes it. */
FN slot arc_int(arc_vm *vm, i64 n)
{
    if (n >= I32_MIN && n <= I32_MAX)
        return ARC_SLOT_INT(n);
#ifdef ARC_WIDE
    {
        const u32 at = arc_alloc(vm, 8);

        if (vm->error)
            return ARC_SLOT_NONE;
        *(GLOBAL i64 *)(vm->arena + at) = n;
        return ARC_SLOT(ARC_INT, 1, at);
    }
#else
    return arc_fail(vm, ARC_E_OVERFLOW);
#endif
}

FN i64 floor_div(i64 a, i64 b)
{
    const i64 q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Grids. */

FN i32 arc_grid_rows(const arc_vm *vm, slot v)
{
    return ((GLOBAL const u16 *)arc_at(vm, ARC_PAYLOAD(v)))[0];
}

FN i32 arc_grid_cols(const arc_vm *vm, slot v)
{
    return ((GLOBAL const u16 *)arc_at(vm, ARC_PAYLOAD(v)))[1];
}

/* The values of a grid, by rows. */
FN GLOBAL const i8 *arc_grid_cells(const arc_vm *vm, slot v)
{
    return (GLOBAL const i8 *)arc_at(vm, ARC_PAYLOAD(v)) + ARC_GRID_HEAD;
}

/* A fresh grid of rows x cols, both 1 .. 65535, whose cells are to be filled through arc_new_cells.
 * Other shapes fail with RANGE. */
FN slot arc_new_grid(arc_vm *vm, i32 rows, i32 cols)
{
    u32 at;

    if (rows < 1 || cols < 1 || rows > 65535 || cols > 65535)
        return arc_fail(vm, ARC_E_RANGE);
    at = arc_alloc(vm, ARC_GRID_HEAD + (i64)rows * cols);
    if (vm->error)
        return ARC_SLOT_NONE;
    *(GLOBAL u64 *)(vm->arena + at) = (u64)(u32)rows | (u64)(u32)cols << 16;
    return ARC_SLOT(ARC_GRID, 0, at);
}

FN GLOBAL i8 *arc_new_cells(const arc_vm *vm, slot grid)
{
    return (GLOBAL i8 *)(vm->arena + ARC_PAYLOAD(grid) + ARC_GRID_HEAD);
}

#endif
