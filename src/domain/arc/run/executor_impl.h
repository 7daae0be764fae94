/* executor_impl.h - internals of an executor.
 *
 * executor.c makes it: the kernel and the limits of its rungs. slots.c launches.
 */
#ifndef QN_ARC_EXECUTOR_IMPL_H
#define QN_ARC_EXECUTOR_IMPL_H

#include "domain/arc/run/executor.h"
#include "engine/engine.h"
#include "util/status.h"

enum { QN_ARC_USUAL_LANES = 32, QN_ARC_KERNEL_ARGS = 7 };

typedef struct qn_arc_slot {
    int is_taken;
    qn_graph *graphs[QN_ARC_N_RUNGS];
    qn_buf *arenas[QN_ARC_N_RUNGS];
    qn_buf *todo, *results, *out, *trace; /* of all rungs */
    arc_result *host_results;
    unsigned char *host_out;
    uint64_t *host_trace;
    size_t results_room, out_room, trace_room;
} qn_arc_slot;

struct qn_arc_executor {
    qn_ctx *ctx;
    qn_arc_limits limits;
    int device, lanes;
    qn_kernel_module *variant; /* with other lanes than the built-in kernel, or NULL */
    const qn_kernel_info *kernel;
    qn_arc_room rooms[QN_ARC_N_RUNGS];
    void *wide; /* arenas of the last rung, which always runs on the CPU */
    arc_instance *list;
    size_t list_room;
    qn_arc_slot slots[QN_ARC_SLOTS];
    qn_buf *pool; /* the device's copy of it, which belongs to the pool */
};

static inline const qn_device_info *qn_arc_executor_info(const qn_arc_executor *executor)
{
    return qn_device_get(executor->ctx, executor->device);
}

static inline int qn_arc_executor_units(const qn_arc_executor *executor)
{
    const qn_device_info *info = qn_arc_executor_info(executor);

    return info->units ? (int)info->units : 1;
}

/* Whether the device computes on cores of the host, where a team is one lane. */
static inline int qn_arc_is_host(const qn_arc_executor *executor)
{
    const qn_device_kind kind = qn_arc_executor_info(executor)->kind;

    return kind == QN_KIND_CPU || kind == QN_KIND_SIM;
}

void qn_arc_slot_free_graphs(qn_arc_slot *slot);
void qn_arc_slot_free(qn_arc_slot *slot);

#endif
