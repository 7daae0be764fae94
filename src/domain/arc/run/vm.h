/* vm.h - what goes into a launch of the virtual machine, and what comes out.
 *
 * Three tiers, each with more room and fewer teams than the one before. What a tier could not do
 * for want of room is run again from its beginning in the next; the last is the CPU with the widest
 * limits, and what fails there has failed. See tiers.c; station.h launches.
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

#define QN_ARC_ANY_TURNS UINT32_MAX

/* 0 anywhere: the default of the tier. */
typedef struct qn_arc_limits {
    uint32_t arena, frames, max_steps; /* of the first tier; max_steps of all */
    uint32_t max_turns; /* of devices: a longer run is left to the CPU; QN_ARC_ANY_TURNS: none */
    int group;          /* lanes of a team: 8, 16 or 32 */
    uint32_t off[8];    /* primitives that devices refuse: bit op */
    uint32_t in_step;   /* groups of so many instances that run one program, also where no teams
                         * share a group; 0: as many as teams do */
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
    uint32_t max_steps;  /* of a run; 0: the limit of the station */
    size_t output_bytes; /* room for outputs at least; 0: what most need */
} qn_arc_work;

typedef struct qn_arc_answer {
    arc_result *results; /* by number */
    unsigned char *out;  /* what their values point to */
    size_t n_out;
    uint64_t *trace;    /* trace_stride hashes per number */
    double download_us; /* of outputs and traces */
} qn_arc_answer;

#endif
