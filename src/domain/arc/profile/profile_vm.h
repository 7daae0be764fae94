/* profile_vm.h - the virtual machine on one thread, with every primitive counted and timed. */
#ifndef QN_ARC_PROFILE_VM_H
#define QN_ARC_PROFILE_VM_H

#include "kernel/arc/arc_code.h"
#include "kernel/arc/arc_ops.h"

#include <stdint.h>

typedef struct qn_arc_op_count {
    uint64_t count;
    uint64_t elements; /* of its first operand: cells of grids, members of containers, else 1 */
    int64_t ticks;
} qn_arc_op_count;

typedef struct qn_arc_profile_vm qn_arc_profile_vm;

qn_arc_profile_vm *qn_arc_profile_vm_new(uint32_t max_steps); /* NULL when out of memory */
void qn_arc_profile_vm_free(qn_arc_profile_vm *vm);           /* may be NULL */

/* Runs one instance a few times and returns the ticks of the quickest run. The number of the
 * instance does not matter. */
int64_t qn_arc_profile_vm_run(qn_arc_profile_vm *vm, const unsigned char *pool,
                              const arc_instance *instance, arc_result *result);

/* The primitive that failed in a run: the innermost one, inside all that called functions. */
typedef struct qn_arc_blamed {
    int op;           /* -1: none */
    uint32_t failure; /* its ARC_FAILURE */
} qn_arc_blamed;

/* Runs one instance once. */
qn_arc_blamed qn_arc_profile_vm_blame(qn_arc_profile_vm *vm, const unsigned char *pool,
                                      const arc_instance *instance, arc_result *result);

/* The clock in whose ticks times are given. */
int64_t qn_arc_profile_now(void);

/* Counts of all runs by primitive: ARC_N_OPS of them. */
const qn_arc_op_count *qn_arc_profile_vm_ops(const qn_arc_profile_vm *vm);

#endif
