/* tiers.h - a slice on its way through the tiers. Private to domain/arc/run.
 *
 * tiers.c says what runs next, launch.c where and how, settle.c what becomes of the results.
 */
#ifndef QN_ARC_TIERS_H
#define QN_ARC_TIERS_H

#include "domain/arc/run/session_impl.h"

/* Bytes of outputs of a launch. */
enum { QN_ARC_MOST_OUTPUT = 256 << 20 };

/* Jobs that a tier is to run, by their number in the slice. */
typedef struct qn_arc_queue {
    uint32_t *jobs;
    uint32_t n;
} qn_arc_queue;

/* What jobs of a tier may take where there is a deadline: see deadline.h. */
typedef struct qn_arc_budget {
    uint32_t steps;     /* of a job; 0: as many as any may have */
    double wave_us;     /* that launches with this budget took at most */
    qn_arc_queue small; /* jobs for which it was too little */
} qn_arc_budget;

typedef struct qn_arc_flight {
    qn_arc_session *s;
    qn_arc_slice *slice;
    qn_arc_queue waiting[QN_ARC_N_TIERS];
    uint32_t n_now;      /* jobs of the queue in this launch, the first ones */
    int is_alone;        /* which is one, since its output fits beside no other */
    uint32_t n_alone;    /* jobs of which that is so, the first of the queue */
    size_t output_bytes; /* room for outputs */
    arc_instance *list;
    float *costs;    /* by job */
    float *listed;   /* the same by place in the list, for a batch that is shared */
    uint32_t *again; /* jobs of this launch that are to run in the same tier again */
    uint32_t n_again;
    qn_arc_queue beside; /* jobs that take longer than the device is good for */
    uint8_t *is_long;    /* by job: it is one of them */
    qn_arc_budget budgets[QN_ARC_N_TIERS];
    qn_arc_tier tier;
} qn_arc_flight;

/* Runs the first n_now jobs of the tier's queue. */
qn_status qn_arc_launch(qn_arc_flight *flight, qn_err *err);

/* Takes results of jobs first .. first + n - 1 of the launch, which ran on `device`. */
qn_status qn_arc_settle(qn_arc_flight *flight, uint32_t first, uint32_t n,
                        const qn_arc_answer *answer, int device, qn_err *err);

/* Keeps a copy of a launch's outputs behind those of earlier ones; they begin at *at. */
qn_status qn_arc_keep_outputs(qn_arc_session *session, const qn_arc_answer *answer, size_t *at,
                              qn_err *err);

/* Whether the CPU runs a job of the first tier in the device's place. */
int qn_arc_flight_is_for_cpu(const qn_arc_flight *flight, uint32_t job);

static inline const qn_arc_job *qn_arc_job_at(const qn_arc_flight *flight, uint32_t job)
{
    return &flight->slice->jobs[flight->slice->first + job];
}

#endif
