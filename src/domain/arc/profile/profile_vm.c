/* profile_vm.c - the kernel's text as plain C, with a clock around primitives.
 *
 * Two places call primitives, and primitives that call functions go through three more. Each gets a
 * wrapper: it is renamed before the text that calls it is included. Counters lie in front of the
 * arena, where a wrapper finds them without a global.
 */
#include "domain/arc/profile/profile_vm.h"

#include "domain/arc/value/value.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QN_TEAM 1
#include "kernel/dialect.h"

/* The kernel text shadows names, and relies on the implicit conversions of the dialect. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wpedantic"

#include "kernel/arc/arc_loop.h"

enum { N_FRAMES = 4096, N_SLOTS = 32767, USUAL_STEPS = 4000000, N_TRIES = 1000, N_RUNS = 3 };

/* Pages are touched only as programs need them. */
#define ARENA_BYTES ((size_t)256 << 20)

struct qn_arc_profile_vm {
    qn_arc_op_count ops[ARC_N_OPS];
    qn_arc_op_count before[ARC_N_OPS], best[ARC_N_OPS]; /* of the current run */
    int64_t overhead;                                   /* ticks between two readings of the
                                                         * clock */
    double pair;      /* ticks for two readings, with the code around them */
    uint64_t n_pairs; /* in this run */
    uint32_t max_steps;
    qn_arc_blamed blamed; /* of this run */
    _Alignas(64) unsigned char arena[];
};

static int64_t now(void)
{
#if defined __x86_64__
    return (int64_t)__builtin_ia32_rdtsc();
#else
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
#endif
}

static qn_arc_profile_vm *profile_of(const arc_vm *vm)
{
    return (qn_arc_profile_vm *)(void *)((unsigned char *)vm->arena -
                                         offsetof(qn_arc_profile_vm, arena));
}

static void add_ticks(const arc_vm *vm, i32 op, int64_t ticks)
{
    qn_arc_profile_vm *const p = profile_of(vm);

    p->ops[op].ticks += ticks - p->overhead;
    p->n_pairs++;
}

static u64 elements_of(const arc_vm *vm, slot a)
{
    const i32 n = arc_len(vm, a);

    if (ARC_TAG(a) == ARC_GRID)
        return (u64)arc_grid_rows(vm, a) * (u64)arc_grid_cols(vm, a);
    return n > 0 ? (u64)n : 1;
}

/* The innermost failure; callers pass it outwards. */
static void blame(const arc_vm *vm, i32 op, i32 n, slot a, slot b, slot c, slot d)
{
    const slot operands[ARC_MOST_OPERANDS] = { a, b, c, d };
    qn_arc_profile_vm *const p = profile_of(vm);
    u32 given = 0;

    if (!vm->error || p->blamed.op >= 0)
        return;
    for (i32 k = ARC_MOST_OPERANDS - 1; k >= 0; k--)
        given = given << 4 | (k < n ? arc_given_kind(operands[k]) : ARC_GIVEN_NOTHING);
    p->blamed = (qn_arc_blamed){ .op = op, .failure = ARC_FAILURE(vm->error, given) };
}

/* Wrappers. */

static slot timed_exec(VM_PARAM, i32 op, slot a, slot b, slot c, slot d)
{
    qn_arc_op_count *const count = &profile_of(vm)->ops[op];
    int64_t start;
    slot r;

    count->count++;
    count->elements += elements_of(vm, a);
    start = now();
    r = arc_exec(VM, op, a, b, c, d);
    add_ticks(vm, op, now() - start);
    blame(vm, op, qn_arc_op_arity(op), a, b, c, d);
    return r;
}

static i32 timed_begin(VM_PARAM, arc_machine *m, i32 op)
{
    qn_arc_op_count *const count = &profile_of(vm)->ops[op];
    int64_t start;
    i32 go;

    count->count++;
    count->elements +=
        elements_of(vm, ARC_TAG(m->x0) == ARC_PRIM || ARC_TAG(m->x0) == ARC_CLOS ? m->x1 : m->x0);
    start = now();
    go = arc_loop_begin(VM, m, op);
    add_ticks(vm, op, now() - start);
    blame(vm, op, m->n, m->x0, m->x1, m->x2, m->x3);
    return go;
}

static i32 timed_next(VM_PARAM, arc_machine *m)
{
    const i32 op = m->in.what;
    const int64_t start = now();
    const i32 go = arc_loop_next(VM, m);

    add_ticks(vm, op, now() - start);
    blame(vm, op, 0, 0, 0, 0, 0);
    return go;
}

static i32 timed_take(VM_PARAM, arc_machine *m)
{
    const i32 op = m->in.what;
    const int64_t start = now();
    const i32 go = arc_loop_take(VM, m);

    add_ticks(vm, op, now() - start);
    return go;
}

#define arc_exec       timed_exec
#define arc_loop_begin timed_begin
#define arc_loop_next  timed_next
#define arc_loop_take  timed_take

#include "kernel/arc/arc_team.h"

#pragma GCC diagnostic pop

/* The machine. */

static void measure_clock(qn_arc_profile_vm *vm)
{
    const int64_t begin = now();

    vm->overhead = INT64_MAX;
    for (int i = 0; i < N_TRIES; i++) {
        const int64_t start = now(), ticks = now() - start;

        vm->overhead = ticks < vm->overhead ? ticks : vm->overhead;
    }
    vm->pair = (double)(now() - begin) / N_TRIES;
}

qn_arc_profile_vm *qn_arc_profile_vm_new(uint32_t max_steps)
{
    qn_arc_profile_vm *vm = NULL;

    if (posix_memalign((void **)&vm, 64, sizeof *vm + ARENA_BYTES) != 0)
        return NULL;
    memset(vm, 0, sizeof *vm);
    measure_clock(vm);
    vm->max_steps = max_steps ? max_steps : USUAL_STEPS;
    return vm;
}

void qn_arc_profile_vm_free(qn_arc_profile_vm *vm)
{
    free(vm);
}

static int64_t run_once(qn_arc_profile_vm *vm, const unsigned char *pool,
                        const arc_instance *instance, arc_result *result)
{
    const i32 qn_team = 0;
    const arc_par par = { .n_instances = 1,
                          .arena_bytes = (u32)ARENA_BYTES,
                          .n_frames = N_FRAMES,
                          .n_slots = N_SLOTS,
                          .max_steps = vm->max_steps,
                          .output_bytes = 8,
                          .n_queues = 1,
                          .chunk = 1 };
    arc_result results[ARC_HEAD_RESULTS + 1];
    arc_instance own = *instance;
    u64 out = 0, trace = 0;
    const arc_arrays in = { .pool = pool,
                            .todo = &own,
                            .arena = vm->arena,
                            .results = results,
                            .out = (u8 *)&out,
                            .trace = &trace };
    int64_t start, ticks, clock;

    own.number = 0;
    memset(results, 0, sizeof results);
    vm->n_pairs = 0;
    start = now();
    arc_take_all(TEAM_PASS, &par, &in);
    ticks = now() - start;
    *result = results[ARC_HEAD_RESULTS];
    clock = (int64_t)(vm->pair * (double)vm->n_pairs);
    return ticks > 2 * clock ? ticks - clock : ticks / 2;
}

/* The first run touches memory for the first time, and any run may be interrupted: the quickest
 * counts.
 */
int64_t qn_arc_profile_vm_run(qn_arc_profile_vm *vm, const unsigned char *pool,
                              const arc_instance *instance, arc_result *result)
{
    int64_t least = INT64_MAX;

    memcpy(vm->before, vm->ops, sizeof vm->ops);
    for (int i = 0; i < N_RUNS; i++) {
        int64_t ticks;

        memcpy(vm->ops, vm->before, sizeof vm->ops);
        ticks = run_once(vm, pool, instance, result);
        if (ticks < least) {
            least = ticks;
            memcpy(vm->best, vm->ops, sizeof vm->ops);
        }
    }
    memcpy(vm->ops, vm->best, sizeof vm->ops);
    return least;
}

qn_arc_blamed qn_arc_profile_vm_blame(qn_arc_profile_vm *vm, const unsigned char *pool,
                                      const arc_instance *instance, arc_result *result)
{
    vm->blamed = (qn_arc_blamed){ .op = -1 };
    run_once(vm, pool, instance, result);
    return vm->blamed;
}

int64_t qn_arc_profile_now(void)
{
    return now();
}

const qn_arc_op_count *qn_arc_profile_vm_ops(const qn_arc_profile_vm *vm)
{
    return vm->ops;
}
