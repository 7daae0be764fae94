/* registry.h - the ops: what the engine knows about a kernel beyond its head.
 *
 * An op gives a kernel a name, a priority, a cost and a promise of exactness. Router, cross-check
 * and reports read them here; nothing else in the engine knows one kernel from another. A kernel
 * without an entry still runs: qn_op_of_kernel describes it by its head. An op without a kernel
 * runs on the CPU: new ops work before they are fast.
 */
#ifndef QN_ENGINE_REGISTRY_H
#define QN_ENGINE_REGISTRY_H

#include "engine/engine.h"
#include "util/status.h"

enum { QN_PRIORITY_HOT = 1, QN_PRIORITY_WARM = 3, QN_PRIORITY_CPU = 9 };

/* Where a range may be cut. Along x (y, z): point, group or team number k touches only the k-th
 * of equally many parts of each buffer, so a piece can run on slices of the buffers with its
 * range moved to 0. */
typedef enum { QN_SPLIT_NONE, QN_SPLIT_X, QN_SPLIT_Y, QN_SPLIT_Z } qn_split_axis;

typedef struct qn_cost {
    double read_bytes, write_bytes, flops; /* integer operations count as flops */
} qn_cost;

/* One use of an op, as a cost function sees it. Indexed by argument. */
typedef struct qn_op_use {
    const qn_kernel_info *kernel;
    qn_range range;
    const size_t *bytes;       /* of a buffer, from the stage's offset to its end; 0 for a value */
    const void *const *values; /* of a value; NULL for a buffer */
} qn_op_use;

typedef qn_cost (*qn_cost_fn)(const qn_op *op, const qn_op_use *use);

struct qn_op {
    const char *name;
    int priority;              /* 1 hot .. 3 warm; 9: CPU only */
    const char *kernel;        /* built-in kernel; NULL: no device version */
    const qn_kernel_info *cpu; /* head and body of an op without kernel, else NULL */
    qn_cost_fn cost;           /* never NULL */
    double work;               /* flops per point of the range, or per unit the cost counts */
    qn_exactness exactness;    /* how far a device's result may be from the CPU's */
    double tolerance;
    qn_split_axis split;
    const char *module; /* crypto, merkle, vector, reduce, matmul; NULL: none of them */
};

/* The op whose kernel this is; for a kernel outside the registry an op of priority 1 and
 * exactness BITS whose cost is the size of its arguments. Never NULL. */
const qn_op *qn_op_of_kernel(const qn_kernel_info *kernel);

qn_cost qn_op_cost(const qn_op *op, const qn_op_use *use);

#endif
