/* arc_op_fixture.h - primitives of grid programs, called one by one on the host.
 *
 * Includes the kernel text as C. Before including this, define OPS_HEADER, a header that includes
 * the primitives and lists them by arity as OPS_1 .. OPS_4; and WIDTH, and LANES_BACKWARDS, to run
 * blocks like those of a team.
 */
#ifndef QN_TESTS_ARC_OP_FIXTURE_H
#define QN_TESTS_ARC_OP_FIXTURE_H

#include "arc_values.h"
#include "golden.h"

#include "lab/arc/check.h"
#include "domain/arc/value/value.h"

#define QN_TEAM 1
#include "kernel/dialect.h"

#include OPS_HEADER

#define ARENA_BYTES (1 << 20)
#define ARENA_GUARD 64
#define ARENA_FROM  64 /* offset 0 would hide a payload that was never set */
#define POISON      0xA5

typedef struct op_fixture {
    qn_arc_heap *heap;
    unsigned char *arena;
    arc_vm vm;
} op_fixture;

static inline op_fixture fixture_open(void)
{
    op_fixture fixture = { .heap = open_heap(), .arena = malloc(ARENA_BYTES + ARENA_GUARD) };

    assert_non_null(fixture.arena);
    return fixture;
}

static inline void fixture_close(op_fixture *fixture)
{
    qn_arc_heap_free(fixture->heap);
    free(fixture->arena);
}

/* An empty arena of `limit` bytes; memory beyond is watched by fixture_watch. */
static inline void fixture_clear(op_fixture *fixture, uint32_t limit)
{
    memset(fixture->arena, POISON, ARENA_BYTES + ARENA_GUARD);
    fixture->vm = (arc_vm){ .arena = fixture->arena, .top = ARENA_FROM, .limit = limit };
}

static inline void fixture_watch(const op_fixture *fixture)
{
    for (uint32_t k = 0; k < ARENA_GUARD; k++)
        assert_int_equal(fixture->arena[fixture->vm.limit + k], POISON);
}

/* The slot of a value, whose content is appended to the arena. */
static inline slot fixture_put(op_fixture *fixture, const qn_arc_value *value)
{
    const uint32_t at = (fixture->vm.top + 7) & ~7u;
    qn_arc_blob blob = { .base = at };
    qn_err err = { .text = "" };
    uint64_t v = 0;

    if (qn_arc_encode(value, &blob, &v, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_true(at + blob.n <= ARENA_BYTES);
    if (blob.n)
        memcpy(fixture->arena + at, blob.bytes, blob.n);
    fixture->vm.top = at + (((uint32_t)blob.n + 7) & ~7u);
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

static inline slot fixture_call(op_fixture *fixture, const char *name, const slot *a)
{
    const i32 qn_team = 0;
    arc_vm *vm = &fixture->vm;

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

/* Puts the arguments into an arena with `room` bytes after them and calls the primitive. */
static inline slot fixture_run(op_fixture *fixture, const char *op, const qn_arc_value *args, int n,
                               uint32_t room, uint32_t *mark)
{
    slot a[4] = { 0 };

    fixture_clear(fixture, ARENA_BYTES);
    for (int k = 0; k < n; k++)
        a[k] = fixture_put(fixture, &args[k]);
    *mark = fixture->vm.top;
    fixture->vm.limit = MIN(fixture->vm.top + room, (uint32_t)ARENA_BYTES);
    memset(fixture->arena + fixture->vm.top, POISON, ARENA_BYTES + ARENA_GUARD - fixture->vm.top);
    return fixture_call(fixture, op, a);
}

/* The text of a slot, for messages; the caller frees it. */
static inline qn_str fixture_text(op_fixture *fixture, slot v)
{
    qn_arc_value value = v_none();
    qn_err err = { .text = "" };
    qn_str text = { 0 };

    if (qn_arc_decode(v, fixture->arena, ARENA_BYTES, 0, fixture->heap, &value, &err) != QN_OK)
        fail_msg("%s", err.text);
    qn_arc_print(&text, &value);
    return text;
}

/* Equal values have equal representations, so this also finds a wrong representation. */
static inline int fixture_is(op_fixture *fixture, slot v, const qn_arc_value *expected)
{
    const uint32_t top = fixture->vm.top;
    slot wanted;
    int same;

    fixture->vm.limit = ARENA_BYTES;
    wanted = fixture_put(fixture, expected);
    same = arc_same(&fixture->vm, v, wanted);
    fixture->vm.top = top;
    return same && (ARC_TAG(v) == ARC_TAG(wanted) || arc_is_num(v));
}

#endif
