/* session_impl.h - internals of a session, and a batch on its way down the rungs.
 *
 * A run goes through these files in this order:
 *
 *   prefixes.c   computes once what several programs compute from the same grid
 *   run.c        makes the programs and values of a batch resident
 *   rungs.c      takes the batch down the rungs; order.c and cut.c say which jobs are next
 *   launch.c     runs a launch on a device, on several (split.c), or on the CPU; place.c chooses
 *   results.c    stores results, and sends jobs that need more memory to the next rung
 */
#ifndef QN_ARC_SESSION_IMPL_H
#define QN_ARC_SESSION_IMPL_H

#include "domain/arc/compile/compile.h"
#include "domain/arc/run/costs.h"
#include "domain/arc/run/executor.h"
#include "engine/engine.h"
#include "util/arena.h"

/* From this many jobs on, it is worth waking threads of the host. */
enum { QN_ARC_MANY = 1 << 14 };

/* Programs and values that were added, with what the last batch that used them knows of them. */
typedef struct qn_arc_value_entry {
    const char *id;
    const unsigned char *bytes;
    uint32_t n;
    uint64_t slot;   /* its payload an offset into bytes */
    uint64_t pooled; /* while it is resident: the slot in the pool */
    qn_content_ticket ticket;
} qn_arc_value_entry;

typedef struct qn_arc_program_entry {
    const char *id;
    const unsigned char *bytes;
    size_t n;
    uint32_t pooled; /* while it is resident: the offset in the pool */
    qn_content_ticket ticket;
    uint64_t key;   /* in the table of costs */
    double cost;    /* of a run, by estimate */
    uint64_t steps; /* of runs that have not been added to the costs yet */
    uint32_t runs;
    qn_arc_place place;
} qn_arc_program_entry;

typedef struct qn_arc_values_added {
    qn_arc_value_entry *items;
    size_t n, room;
    qn_arena arena; /* ids and bytes */
} qn_arc_values_added;

typedef struct qn_arc_programs_added {
    qn_arc_program_entry *items;
    size_t n, room;
    qn_arena arena;
} qn_arc_programs_added;

/* Result of a job, and where in `out` the bytes of its launch begin. */
typedef struct qn_arc_outcome {
    arc_result result;
    size_t out_at, out_bytes;
} qn_arc_outcome;

/* A pool and the executor that uses it. */
typedef struct qn_arc_home {
    qn_content_store *pool;
    qn_arc_executor *executor;
} qn_arc_home;

/* Common parts of programs: prefixes.c. */
typedef struct qn_arc_common {
    qn_arc_prefix_mode mode;
    size_t n_planned; /* programs covered by the plan; if there are others, a new plan is made */
    qn_arc_prefixes plan;
    qn_arc_program_entry *programs; /* prefixes, followed by the rest of each program */
    qn_arena values;                /* of the run */
} qn_arc_common;

typedef struct qn_arc_split qn_arc_split;

/* Where the first rung runs, unless several devices share it. */
typedef enum qn_arc_route {
    QN_ARC_ROUTE_DEVICE,
    QN_ARC_ROUTE_CPU,
    QN_ARC_ROUTE_MEASURED /* the router decides for each batch */
} qn_arc_route;

/* A decision about one batch. */
typedef struct qn_arc_decision {
    qn_route_choice choice;
    double units;                  /* cost of the batch */
    int waits;                     /* the device's kernel has to be compiled */
    double waited_ms, compiled_ms; /* by the context, before the batch */
} qn_arc_decision;

struct qn_arc_session {
    qn_ctx *ctx;
    int threads; /* of the host, for long lists */
    int device;  /* of the first rung: the first device other than the CPU, if there is one */
    qn_arc_limits limits;
    qn_arc_home usual;
    qn_arc_home oversize; /* for jobs larger than the pool, on the CPU; made when needed */
    qn_arc_executor *executors[QN_MAX_DEVICES]; /* made when needed; one belongs to `usual` */
    qn_arc_split *split;                        /* shares the first rung between devices; or NULL */
    qn_arc_route route;
    int ran_last;         /* the device that the last batch was routed to */
    qn_arc_pace paces[2]; /* of the CPU and the device, as known before this process measured any */
    int is_ready;         /* the device's kernel is compiled */
    double on_cpu_us;     /* of batches that ran on the CPU because it was not */
    unsigned timed_first; /* bits: the places whose first batch in this process was timed */
    int measures_programs;
    int is_measuring; /* results of this run are not used, and nothing is logged about them */

    qn_arc_common common;
    qn_arc_programs_added programs;
    qn_arc_values_added values;
    qn_arc_costs *costs;
    char costs_path[1200]; /* "": they are not saved */
    double launch_us;      /* longest launch by estimate; 0: any */
    double us_per_unit;    /* of launches so far; 0: none was timed */
    double deadline_us;    /* of runs; 0: none */
    double verify_pct;     /* of the context, during a launch */
    uint64_t verify_seen;
    qn_arc_on_progress *on_progress;
    void *user;

    void *lists; /* memory of a batch's lists */
    size_t lists_room;
    qn_arc_outcome *outcomes;
    size_t outcomes_room;
    unsigned char *out; /* outputs of all launches of the last run */
    size_t n_out, out_room;
    uint64_t *trace;
    uint32_t trace_stride;

    qn_arc_stats stats;
};

/* Jobs waiting for a rung, by their number in the batch. */
typedef struct qn_arc_queue {
    uint32_t *jobs;
    uint32_t n;
} qn_arc_queue;

/* How many steps jobs of a rung may take under a deadline: see deadline.c. */
enum { QN_ARC_FIRST_STEPS = 1024 };

typedef struct qn_arc_budget {
    uint32_t steps;     /* of a job; 0: the limit on steps */
    double wave_us;     /* the longest wave of launches with this budget */
    qn_arc_queue small; /* jobs for which it was too small */
} qn_arc_budget;

/* Jobs first .. first + n - 1 of a run, with everything they need resident at `home`. */
typedef struct qn_arc_batch {
    qn_arc_session *s;
    const qn_arc_job *jobs; /* of the run */
    uint32_t first, n;
    uint32_t want, trace_stride;
    qn_arc_home *home;
    int n_launched; /* launches that ended well */

    qn_arc_rung rung; /* the current one */
    qn_arc_queue waiting[QN_ARC_N_RUNGS];
    qn_arc_budget budgets[QN_ARC_N_RUNGS];
    float *costs;        /* by job */
    qn_arc_queue beside; /* jobs that take longer than suits a device */
    uint8_t *is_long;    /* per job: whether it is one of them */

    /* The launch: the first n_now jobs of the rung's queue. */
    uint32_t n_now;
    arc_instance *list;
    float *listed;   /* costs by position in the list */
    uint32_t *again; /* jobs to be run on the same rung again */
    uint32_t n_again;
    size_t output_bytes; /* for outputs */
    int is_alone;        /* one job, whose output fits only by itself */
    uint32_t n_alone;    /* jobs like that, the first in the queue */
} qn_arc_batch;

static inline const qn_arc_job *qn_arc_job_at(const qn_arc_batch *batch, uint32_t job)
{
    return &batch->jobs[batch->first + job];
}

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

/* The value that is the job's grid, or -1. */
static inline int qn_arc_job_grid(const qn_arc_session *session, const qn_arc_job *job)
{
    return job->args[qn_arc_takes_three(session, job->program) ? 1 : 0];
}

/* session.c: the executor of a device. */
qn_status qn_arc_session_executor(qn_arc_session *session, int device, qn_arc_executor **out,
                                  qn_err *err);

/* prefixes.c: runs all jobs and fills the outcomes, unless no value would be shared. In that case
 * *is_done stays 0 and nothing has run. */
qn_status qn_arc_prefixes_run(qn_arc_session *session, const qn_arc_job *jobs, uint32_t n,
                              uint32_t want, int *is_done, qn_err *err);
void qn_arc_prefixes_forget(qn_arc_common *common); /* call it when the programs are gone */

/* run.c: runs jobs first .. n - 1 of the list and fills their outcomes; outcomes of jobs before
 * `first` stay. */
qn_status qn_arc_run_all(qn_arc_session *session, const qn_arc_job *jobs, uint32_t first,
                         uint32_t n, uint32_t want, uint32_t trace_stride, qn_err *err);

/* Makes all that the job needs resident at the batch's home, if it fits. */
qn_status qn_arc_take_job(qn_arc_batch *batch, qn_content_hold *hold, const qn_arc_job *job,
                          qn_content_taken *taken, qn_err *err);

/* order.c: the cost of a run of the program on a grid of a hundred cells, in scalar primitives, as
 * measured or else by its instructions. */
double qn_arc_program_cost(const qn_arc_session *session, const qn_arc_program_entry *program);

/* The jobs of the batch in the order of execution, and the cost of each. */
qn_status qn_arc_order(const qn_arc_batch *batch, uint32_t *order, float *costs, qn_err *err);

/* rungs.c: a job in the machine's format, once all it needs is resident. */
arc_instance qn_arc_instance_of(const qn_arc_session *session, const qn_arc_job *job,
                                uint32_t number);

/* Takes the batch down the rungs and fills the outcomes. */
qn_status qn_arc_run_rungs(qn_arc_batch *batch, qn_err *err);

/* launch.c: runs the launch of the batch. */
qn_status qn_arc_launch_run(qn_arc_batch *batch, qn_err *err);

/* Runs instances of the launch on the CPU, on the first rung. */
qn_status qn_arc_launch_on_cpu(qn_arc_batch *batch, const arc_instance *list, uint32_t n,
                               qn_arc_answer *answer, qn_err *err);

/* split.c: a launch on several devices. *out stays NULL if the user does not share work among
 * devices. */
qn_status qn_arc_split_new(qn_arc_session *session, const qn_split_options *options,
                           qn_arc_split **out, qn_err *err);
void qn_arc_split_free(qn_arc_split *split); /* may be NULL */
qn_status qn_arc_split_run(qn_arc_split *split, qn_arc_batch *batch, const qn_arc_launch *launch,
                           qn_err *err);
const char *qn_arc_split_name(const qn_arc_split *split); /* "sim:0+sim:1" */

/* place.c: where batches and programs run. */
void qn_arc_place_begin(qn_arc_session *session); /* reads what is known about both places */
void qn_arc_place_end(qn_arc_session *session);   /* adds the measurements to the costs */
qn_arc_decision qn_arc_place_batch(qn_arc_batch *batch, double units);

/* Whether batches stay on the CPU because the device's kernel is not compiled yet. */
int qn_arc_place_waits(qn_arc_session *session);

/* The batch took `us` where it was sent; us < 0: it ran elsewhere. */
void qn_arc_batch_took(qn_arc_session *session, const qn_arc_decision *decision, double us);

/* Milliseconds that runs of the context have waited for compilers. */
double qn_arc_waited_ms(const qn_arc_session *session);

/* Measures programs of the jobs that have no place yet, if the session measures programs. */
qn_status qn_arc_place_programs(qn_arc_session *session, const qn_arc_job *jobs, uint32_t n,
                                qn_err *err);

/* Whether the CPU runs the job of the batch in place of a device. */
int qn_arc_batch_is_for_cpu(const qn_arc_batch *batch, uint32_t job);

/* results.c: handles the results of jobs first .. first + n - 1 of the launch, which ran on
 * `device`. */
qn_status qn_arc_take_results(qn_arc_batch *batch, uint32_t first, uint32_t n,
                              const qn_arc_answer *answer, int device, qn_err *err);

/* Copies a launch's outputs after those of earlier ones; they begin at *at. */
qn_status qn_arc_keep_outputs(qn_arc_session *session, const qn_arc_answer *answer, size_t *at,
                              qn_err *err);

/* Logs a fallback of the job, and fails where fallback is forbidden. */
qn_status qn_arc_note_fallback(const qn_arc_session *session, const qn_arc_job *job,
                               qn_status status, const char *reason, qn_err *err);

/* verify.c: compares results of the launch with those of the CPU. Differing ones are replaced and
 * logged; under --fallback=error they are an error. */
qn_status qn_arc_verify(qn_arc_batch *batch, qn_err *err);

/* deadline.c: sets the first budgets of all rungs. */
void qn_arc_deadline_begin(qn_arc_batch *batch);
int qn_arc_deadline_is_over(const qn_arc_batch *batch);

/* Notes that a launch of the batch took `us`. */
void qn_arc_deadline_took(qn_arc_batch *batch, double us);

/* Whether a job with this result waits for a larger budget. */
int qn_arc_deadline_is_short(const qn_arc_batch *batch, const arc_result *result);

/* Queues jobs whose budget was too small again, with a larger one. Returns 0 if there are none, or
 * if there is no time for them and they have been given up. */
int qn_arc_deadline_again(qn_arc_batch *batch);

/* Gives up all jobs waiting for a rung. */
void qn_arc_deadline_give_up(qn_arc_batch *batch, qn_arc_rung rung);

#endif
