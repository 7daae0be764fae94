/* vm.h - launches of the virtual machine: code, values and instances in, results out.
 *
 * Four tiers, each with more room and fewer teams than the one before. What a tier could not do for
 * want of room is run again from its beginning in the next; the last is the CPU with the widest
 * limits, and what fails there has failed. See tiers.c.
 */
#ifndef QN_ARC_VM_H
#define QN_ARC_VM_H

#include "domain/arc/pool/places.h"
#include "kernel/arc/arc_code.h"

#include <quern/graph.h>

typedef enum qn_arc_tier {
    QN_ARC_TIER_MANY, /* the chosen device, all teams */
    QN_ARC_TIER_FEW,  /* the same, few teams with large arenas */
    QN_ARC_TIER_CPU,  /* the CPU, wide integers */
    QN_ARC_N_TIERS
} qn_arc_tier;

/* 0 anywhere: the default of the tier. */
typedef struct qn_arc_limits {
    uint32_t arena, frames, max_steps; /* of the first tier; max_steps of all */
    int group;                         /* lanes of a team: 8, 16 or 32 */
    uint32_t off[8];                   /* primitives that devices refuse: bit op */
} qn_arc_limits;

/* The host's bytes of the pool, and the ranges of it that are new since the last run, by address.
 */
typedef struct qn_arc_pooled {
    const unsigned char *bytes;
    size_t n;
    const qn_arc_range *fresh;
    size_t n_fresh;
} qn_arc_pooled;

typedef struct qn_arc_work {
    qn_arc_pooled pool;
    const arc_instance *list; /* number: 0 .. n - 1, each once, in any order */
    uint32_t n;
    uint32_t want; /* ARC_WANT_* */
    uint32_t trace_stride;
    size_t output_bytes; /* room for outputs at least; 0: what most need */
} qn_arc_work;

typedef struct qn_arc_answer {
    arc_result *results; /* by number */
    unsigned char *out;  /* what their values point to */
    size_t n_out;
    uint64_t *trace; /* trace_stride hashes per number */
} qn_arc_answer;

typedef struct qn_arc_vm qn_arc_vm;

/* A virtual machine on the context's device: the first beyond the CPU where there is one. */
qn_status qn_arc_vm_new(qn_ctx *ctx, const qn_arc_limits *limits, qn_arc_vm **out, qn_err *err);
void qn_arc_vm_free(qn_arc_vm *vm);

/* Slots of a tier: programs with more are for a later one. */
uint32_t qn_arc_vm_slots(const qn_arc_vm *vm, qn_arc_tier tier);

/* Runs every instance once in the tier. The answer is the machine's and stays until its next run.
 * A device that fails makes the CPU run the launch, with the line that says so. */
qn_status qn_arc_vm_run(qn_arc_vm *vm, qn_arc_tier tier, const qn_arc_work *work,
                        qn_arc_answer *answer, qn_err *err);

/* The device that ran the last launch ("cuda:0"), and whether it is another than the CPU. */
const char *qn_arc_vm_device(const qn_arc_vm *vm);
int qn_arc_vm_was_on_device(const qn_arc_vm *vm);

/* Bytes per team of a tier's arena. */
uint32_t qn_arc_vm_arena(const qn_arc_vm *vm, qn_arc_tier tier);

/* Microseconds of the last launch: until everything was on the device, until it had run (with the
 * wait for results), until outputs were here. */
typedef struct qn_arc_times {
    double upload, kernel, download;
} qn_arc_times;
qn_arc_times qn_arc_vm_times(const qn_arc_vm *vm);

#endif
