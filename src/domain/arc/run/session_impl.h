/* session_impl.h - the inside of a session. Private to domain/arc/run. */
#ifndef QN_ARC_SESSION_IMPL_H
#define QN_ARC_SESSION_IMPL_H

#include "domain/arc/pool/pool.h"
#include "domain/arc/run/attic.h"
#include "domain/arc/run/costs.h"
#include "domain/arc/run/session.h"
#include "domain/arc/run/share.h"
#include "domain/arc/run/spread.h"
#include "domain/arc/run/station.h"
#include "engine/engine.h"

/* From so many jobs on, threads of the host are worth waking up. */
enum { QN_ARC_MANY = 1 << 14 };

/* A value that the session keeps. */
typedef struct qn_arc_kept_value {
    const char *id;
    const unsigned char *bytes;
    uint32_t n;
    uint64_t slot;   /* its payload an offset into bytes */
    uint64_t placed; /* of the slice `slice`: the pooled slot */
    uint64_t slice;
    qn_arc_ticket ticket;
} qn_arc_kept_value;

typedef struct qn_arc_kept_program {
    const char *id;
    const unsigned char *bytes;
    size_t n;
    uint64_t placed; /* of the slice `slice`: the place in the pool */
    uint64_t slice;
    qn_arc_ticket ticket;
    uint64_t key;   /* what it is found by among costs */
    double cost;    /* of a run, by estimate */
    uint64_t steps; /* of runs that have not been added to the costs */
    uint32_t runs;
    qn_arc_place place;
} qn_arc_kept_program;

typedef struct qn_arc_kept_values {
    qn_arc_kept_value *items;
    size_t n, room;
    qn_arc_attic attic; /* ids and bytes */
} qn_arc_kept_values;

typedef struct qn_arc_kept_programs {
    qn_arc_kept_program *items;
    size_t n, room;
    qn_arc_attic attic;
} qn_arc_kept_programs;

/* Result of a job, and where in `out` the bytes of its launch begin. */
typedef struct qn_arc_outcome {
    arc_result result;
    size_t out_at, out_bytes;
} qn_arc_outcome;

/* Where the first tier runs, unless several devices share it. */
typedef enum qn_arc_route {
    QN_ARC_ROUTE_DEVICE,
    QN_ARC_ROUTE_CPU,
    QN_ARC_ROUTE_MEASURED /* as choose.h decides for each batch */
} qn_arc_route;

/* A pool, and the station that has a copy of it. */
typedef struct qn_arc_home {
    qn_arc_pool *pool;
    qn_arc_station *station;
    uint64_t loaded; /* the slice whose pool the station has; 0: none */
} qn_arc_home;

struct qn_arc_session {
    qn_ctx *ctx;
    int threads; /* of the host, for long lists */
    int device;  /* of the usual station: the first beyond the CPU where there is one */
    qn_arc_limits limits;
    qn_arc_home usual;
    qn_arc_home outsize;   /* for what is larger than the pool, on the CPU; made when needed */
    qn_arc_spread *spread; /* several devices that share the first tier, or NULL */
    qn_arc_station *cpu;   /* the CPU beside a device; made when needed */
    uint64_t cpu_loaded;
    qn_arc_route route;
    int adapts;
    int is_measuring;     /* runs whose results nobody looks at: nothing is told of them */
    int ran_last;         /* the device that the last batch was routed to */
    qn_arc_pace paces[2]; /* of the CPU and the device, before this process measured any */
    unsigned timed_first; /* places whose first batch of this process was timed, by bits */

    qn_arc_share share;

    qn_arc_kept_programs programs;
    qn_arc_kept_values values;
    qn_arc_costs *costs;
    char costs_path[1200]; /* "": they are not kept */
    uint64_t slice;
    double slice_us;    /* a launch is to be shorter by estimate; 0: any */
    double us_per_unit; /* of launches so far; 0: none was timed */
    double deadline_us; /* of runs; 0: none */
    double verify_pct;  /* of the context, during a launch */
    uint64_t verify_seen;
    qn_arc_told told;
    void *told_user;

    qn_arc_outcome *outcomes;
    uint32_t n_outcomes, outcomes_room;
    unsigned char *out; /* outputs of all launches of the last run */
    size_t n_out, out_room;
    uint64_t *trace;
    uint32_t trace_stride;

    qn_arc_stats stats;
};

/* The bytes of the outcome's launch; NULL when no launch had any. */
static inline const unsigned char *qn_arc_out_of(const qn_arc_session *session,
                                                 const qn_arc_outcome *outcome)
{
    return session->out ? session->out + outcome->out_at : NULL;
}

static inline int qn_arc_takes_three(const qn_arc_session *session, int program)
{
    const void *bytes = session->programs.items[program].bytes;

    return (((const arc_program *)bytes)->flags & ARC_FLAG_THREE) != 0;
}

/* The value that is the job's grid; -1: none. */
static inline int qn_arc_job_grid(const qn_arc_session *session, const qn_arc_job *job)
{
    return job->args[qn_arc_takes_three(session, job->program) ? 1 : 0];
}

/* slices.c: runs jobs first .. n - 1 of the list and fills their outcomes; those of jobs before
 * `first` stay. */
qn_status qn_arc_run_all(qn_arc_session *session, const qn_arc_job *jobs, uint32_t first,
                         uint32_t n, uint32_t want, uint32_t trace_stride, qn_err *err);

/* A slice of a run: jobs first .. first + n - 1, with everything resident at `home`. */
typedef struct qn_arc_slice {
    const qn_arc_job *jobs;
    uint32_t first, n;
    uint32_t want, trace_stride;
    qn_arc_home *home;
    uint64_t number;
    const qn_arc_range *fresh; /* new in the pool since the slice before */
    size_t n_fresh;
    int n_launched; /* launches that ended well */
} qn_arc_slice;

/* tiers.c: runs the slice, what did not fit again in the next tier, and fills the outcomes. */
qn_status qn_arc_run_tiers(qn_arc_session *session, qn_arc_slice *slice, qn_err *err);

#endif
