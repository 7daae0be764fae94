/* stats.h - what runs of grid programs did, by the names under which it is reported. */
#ifndef QN_ARC_STATS_H
#define QN_ARC_STATS_H

#include "kernel/arc/arc_code.h"
#include "util/json.h"

typedef struct qn_arc_stats {
    uint64_t instances, ok, errors, limits, timeouts, not_ok_steps;
    uint64_t gpu_ops, cpu_ops;       /* primitive executions, by where they ran */
    uint64_t fallbacks[ARC_N_CODES]; /* to the CPU, by the code that sent them */
    uint64_t reruns;                 /* on the device, with more room */
    uint64_t launches;               /* of the first tier */
    uint64_t outsize;                /* jobs on the CPU that are larger than the pool */
    uint64_t pool_pieces;            /* batches cut because the pool was full */
    uint64_t pool_shrinks;           /* the device had no memory for the pool */
    uint64_t transfers, transfer_bytes;
    uint64_t cache_hits, cache_misses, cache_evictions, cache_bytes;
    uint64_t shared_nodes, shared_hits;
    uint64_t adapted_programs, cpu_programs; /* that were measured; that are in the CPU's set */
    uint64_t arena_high_water, frames_high_water, steps_total;
    double time_compile, time_upload, time_kernel, time_download, time_cpu; /* seconds */
} qn_arc_stats;

/* Whether the code means that more room, or another tier, may help. */
int qn_arc_code_is_limit(int code);

/* New reference, or NULL without memory. */
json_t *qn_arc_stats_json(const qn_arc_stats *stats);

#endif
