/* arc_op_rig.h - primitives of grid programs, called one by one on the host.
 *
 * Takes in the kernel text as C. Define OPS_HEADER before, a header that takes in the primitives
 * and lists them by arity as OPS_1 .. OPS_4, and WIDTH, and LANES_BACKWARDS, to have blocks go the
 * way of a team.
 */
#ifndef QN_TESTS_ARC_OP_RIG_H
#define QN_TESTS_ARC_OP_RIG_H

#include "arc_values.h"
#include "golden.h"

#include "domain/arc/value/cases.h"
#include "domain/arc/value/op_names.h"
#include "domain/arc/value/text.h"

#define QN_TEAM 1
#include "kernel/dialect.h"

#include OPS_HEADER

#define ARENA_BYTES (1 << 20)
#define ARENA_GUARD 64
#define ARENA_FROM  64 /* offset 0 would hide a payload that nobody set */
#define POISON      0xA5

typedef struct op_rig {
    qn_arc_heap *heap;
    unsigned char *arena;
    arc_vm vm;
} op_rig;

static inline op_rig rig_open(void)
{
    op_rig rig = { .heap = open_heap(), .arena = malloc(ARENA_BYTES + ARENA_GUARD) };

    assert_non_null(rig.arena);
    return rig;
}

static inline void rig_close(op_rig *rig)
{
    qn_arc_heap_free(rig->heap);
    free(rig->arena);
}

/* An empty arena of `limit` bytes; what lies beyond is watched by rig_watch. */
static inline void rig_clear(op_rig *rig, uint32_t limit)
{
    memset(rig->arena, POISON, ARENA_BYTES + ARENA_GUARD);
    rig->vm = (arc_vm){ .arena = rig->arena, .top = ARENA_FROM, .limit = limit };
}

static inline void rig_watch(const op_rig *rig)
{
    for (uint32_t k = 0; k < ARENA_GUARD; k++)
        assert_int_equal(rig->arena[rig->vm.limit + k], POISON);
}

/* The slot of a value, whose content goes to the end of the arena. */
static inline slot rig_put(op_rig *rig, const qn_arc_value *value)
{
    const uint32_t at = (rig->vm.top + 7) & ~7u;
    qn_arc_blob blob = { .base = at };
    qn_err err = { .text = "" };
    uint64_t v = 0;

    if (qn_arc_encode(value, &blob, &v, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_true(at + blob.n <= ARENA_BYTES);
    if (blob.n)
        memcpy(rig->arena + at, blob.bytes, blob.n);
    rig->vm.top = at + (((uint32_t)blob.n + 7) & ~7u);
    qn_arc_blob_free(&blob);
    return v;
}

static inline int has_op(const char *name)
{
#define IS(op)                                                                                     \
    if (strcmp(name, #op) == 0)                                                                    \
        return 1;
    OPS_1(IS)
    OPS_2(IS)
    OPS_3(IS)
    OPS_4(IS)
#undef IS
    return 0;
}

static inline slot rig_call(op_rig *rig, const char *name, const slot *a)
{
    const i32 qn_team = 0;
    arc_vm *vm = &rig->vm;

#define IS(op, call)                                                                               \
    if (strcmp(name, #op) == 0)                                                                    \
        return call;
#define ONE(op)   IS(op, arc_op_##op(VM, a[0]))
#define TWO(op)   IS(op, arc_op_##op(VM, a[0], a[1]))
#define THREE(op) IS(op, arc_op_##op(VM, a[0], a[1], a[2]))
#define FOUR(op)  IS(op, arc_op_##op(VM, a[0], a[1], a[2], a[3]))
    OPS_1(ONE)
    OPS_2(TWO)
    OPS_3(THREE)
    OPS_4(FOUR)
#undef IS
#undef ONE
#undef TWO
#undef THREE
#undef FOUR
    fail_msg("no primitive %s", name);
    return 0;
}

/* Puts the arguments into an arena of `room` bytes beyond them and calls the primitive. */
static inline slot rig_run(op_rig *rig, const char *op, const qn_arc_value *args, int n,
                           uint32_t room, uint32_t *mark)
{
    slot a[4] = { 0 };

    rig_clear(rig, ARENA_BYTES);
    for (int k = 0; k < n; k++)
        a[k] = rig_put(rig, &args[k]);
    *mark = rig->vm.top;
    rig->vm.limit = MIN(rig->vm.top + room, (uint32_t)ARENA_BYTES);
    memset(rig->arena + rig->vm.top, POISON, ARENA_BYTES + ARENA_GUARD - rig->vm.top);
    return rig_call(rig, op, a);
}

/* The text of a slot, for messages; the caller frees it. */
static inline qn_str rig_text(op_rig *rig, slot v)
{
    qn_arc_value value = v_none();
    qn_err err = { .text = "" };
    qn_str text = { 0 };

    if (qn_arc_decode(v, rig->arena, ARENA_BYTES, 0, rig->heap, &value, &err) != QN_OK)
        fail_msg("%s", err.text);
    qn_arc_print(&text, &value);
    return text;
}

/* Equal values have equal representations, so this finds a wrong one too. */
static inline int rig_is(op_rig *rig, slot v, const qn_arc_value *expected)
{
    const uint32_t top = rig->vm.top;
    slot wanted;
    int same;

    rig->vm.limit = ARENA_BYTES;
    wanted = rig_put(rig, expected);
    same = arc_same(&rig->vm, v, wanted);
    rig->vm.top = top;
    return same && (ARC_TAG(v) == ARC_TAG(wanted) || arc_is_num(v));
}

#endif
