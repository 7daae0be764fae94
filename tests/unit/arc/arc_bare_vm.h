/* arc_bare_vm.h - the virtual machine as plain C, for tests without an engine.
 *
 * Includes the kernel text. Before including this, define WIDTH, and LANES_BACKWARDS, to run blocks
 * like those of a team; TEAM_OF for a team of that many lanes; or ARC_WIDE and ARC_DEPTH for the
 * widest limits. Every array has exactly the size that the machine is given, so that a sanitizer
 * sees accesses beyond it.
 */
#ifndef QN_TESTS_ARC_BARE_VM_H
#define QN_TESTS_ARC_BARE_VM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/made/make.h"
#include "domain/arc/run/executor.h"
#include "domain/arc/task/task.h"
#include "domain/arc/value/value.h"

#define QN_TEAM 1
#include "kernel/dialect.h"
#ifdef TEAM_OF
#include "arc_team_of.h"
#endif

/* The kernel text has names that headers of the engine also have. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "kernel/arc/arc_team.h"
#pragma GCC diagnostic pop

typedef struct bare_vm {
    arc_par par;
    qn_content_store *pool;
    qn_content_hold hold;
    arc_instance *list;
    uint32_t room;
    arc_result *results; /* by number */
    unsigned char *out;
    uint64_t *trace;
} bare_vm;

static inline void bare_must(int is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "bare machine: %s\n", what);
    abort();
}

static inline bare_vm bare_open(uint32_t arena, uint32_t max_steps)
{
    bare_vm vm = { .par = { .arena_bytes = arena,
                            .n_frames = 64,
                            .n_slots = 64,
                            .max_steps = max_steps,
                            .output_bytes = 1 << 20,
                            .flags = ARC_WANT_OUTPUT,
                            .n_queues = 1,
                            .chunk = 1 } };
    qn_err err;

    bare_must(qn_arc_pool_open(NULL, (size_t)1 << 30, &vm.pool, &err) == QN_OK, "no pool");
    return vm;
}

static inline void bare_close(bare_vm *vm)
{
    qn_content_release(vm->pool, &vm->hold);
    qn_content_close(vm->pool);
    free(vm->list);
    free(vm->results);
    free(vm->out);
    free(vm->trace);
}

/* The pooled slot of a value. */
static inline uint64_t bare_value(bare_vm *vm, const qn_arc_value *value)
{
    qn_arc_blob blob = { 0 };
    qn_content_taken taken = QN_CONTENT_FULL;
    uint64_t v = 0;
    qn_err err;

    bare_must(qn_arc_encode(value, &blob, &v, &err) == QN_OK, "a value cannot be encoded");
    bare_must(qn_arc_pool_value(vm->pool, &vm->hold, blob.bytes, blob.n, NULL, &v, &taken, &err) ==
                      QN_OK &&
                  taken == QN_CONTENT_RESIDENT,
              "a value does not fit");
    qn_arc_blob_free(&blob);
    return v;
}

/* The pooled slot of a generated grid. */
static inline uint64_t bare_made_grid(bare_vm *vm, uint64_t seed)
{
    unsigned char cells[QN_ARC_MAKE_CELLS];
    const qn_arc_grid grid = qn_arc_make_grid(seed, cells);
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    qn_err err;
    uint64_t v;

    bare_must(qn_arc_heap_new(&heap, &err) == QN_OK &&
                  qn_arc_grid_value(&grid, heap, &value, &err) == QN_OK,
              "a grid cannot be made");
    v = bare_value(vm, &value);
    qn_arc_heap_free(heap);
    return v;
}

/* Adds an instance of the program, in its file format, and returns its number. */
static inline uint32_t bare_add(bare_vm *vm, const unsigned char *code, size_t n,
                                const uint64_t args[3])
{
    qn_content_taken taken = QN_CONTENT_FULL;
    uint32_t place = 0;
    qn_err err;

    bare_must(qn_arc_pool_program(vm->pool, &vm->hold, code, n, NULL, &place, &taken, &err) ==
                      QN_OK &&
                  taken == QN_CONTENT_RESIDENT,
              "a program does not fit");
    if (vm->par.n_instances == vm->room) {
        vm->room = vm->room ? 2 * vm->room : 64;
        vm->list = realloc(vm->list, vm->room * sizeof *vm->list);
        bare_must(vm->list != NULL, "no memory");
    }
    vm->list[vm->par.n_instances] = (arc_instance){ .program = place / 16,
                                                    .number = vm->par.n_instances,
                                                    .args = { args[0], args[1], args[2] } };
    return vm->par.n_instances++;
}

#ifdef TEAM_OF
static const arc_arrays *bare_arrays;
static const arc_par *bare_par;

static void team_lane(void)
{
    arc_take_all(team_now, bare_par, bare_arrays);
    team_leave();
}

static inline void bare_take_all(const arc_par *par, const arc_arrays *in)
{
    bare_par = par;
    bare_arrays = in;
    team_run();
}
#else
static inline void bare_take_all(const arc_par *par, const arc_arrays *in)
{
    const i32 qn_team = 0;

    arc_take_all(TEAM_PASS, par, in);
}
#endif

/* Runs all instances, one after the other, in one arena. */
static inline void bare_run(bare_vm *vm)
{
    const size_t n = (size_t)vm->par.n_instances, extent = qn_content_extent(vm->pool);
    uint64_t *pool = malloc(extent + 8), *arena = malloc(vm->par.arena_bytes);
    arc_result *results = calloc(n + ARC_HEAD_RESULTS, sizeof *results);

    vm->out = realloc(vm->out, vm->par.output_bytes);
    vm->trace = realloc(vm->trace, n * vm->par.trace_stride * 8 + 8);
    bare_must(pool && arena && results && vm->out && vm->trace, "no memory");
    memcpy(pool, qn_content_bytes(vm->pool), extent);
    memset(arena, 0xA5, vm->par.arena_bytes);
    {
        const arc_arrays in = { .pool = (const u8 *)pool,
                                .todo = vm->list,
                                .arena = (u8 *)arena,
                                .results = results,
                                .out = vm->out,
                                .trace = (u64 *)vm->trace };

        bare_take_all(&vm->par, &in);
    }
    vm->results = realloc(vm->results, (n + 1) * sizeof *results);
    bare_must(vm->results != NULL, "no memory");
    memcpy(vm->results, results + ARC_HEAD_RESULTS, n * sizeof *results);
    free(pool);
    free(arena);
    free(results);
}

/* The output of an instance that succeeded. */
static inline qn_status bare_output(const bare_vm *vm, uint32_t number, qn_arc_heap *heap,
                                    qn_arc_value *value, qn_err *err)
{
    return qn_arc_decode(vm->results[number].value, vm->out, vm->par.output_bytes, 0, heap, value,
                         err);
}

#endif
