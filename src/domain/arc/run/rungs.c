/* rungs.c - takes a batch down the rungs, until each job has run or failed for good. */
#include "domain/arc/run/cut.h"
#include "domain/arc/run/session_impl.h"
#include "util/clock.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* Bytes for the outputs of a repeated launch: at least LEAST_OUTPUT, and at most MOST_OUTPUT. */
enum { LEAST_OUTPUT = 8 << 20, MOST_OUTPUT = 256 << 20 };

/* Bytes that are enough for the output of most jobs. */
enum { OUTPUT_PER_JOB = 1024, OUTPUT_PER_RECORD = 256 };

static const arc_program *program_of(const qn_arc_batch *b, uint32_t job)
{
    return (const arc_program *)(const void *)b->s->programs.items[qn_arc_job_at(b, job)->program]
        .bytes;
}

/* Queues. */

/* The first rung of the home with enough slots, which is known before anything has run. */
static qn_arc_rung first_rung(const qn_arc_batch *b, uint32_t job)
{
    if (b->home != &b->s->usual)
        return QN_ARC_RUNG_CPU;
    return program_of(b, job)->n_slot <=
                   qn_arc_executor_room(b->home->executor, QN_ARC_RUNG_MANY).slots
               ? QN_ARC_RUNG_MANY
               : QN_ARC_RUNG_FEW;
}

static void push(qn_arc_queue *q, uint32_t job)
{
    q->jobs[q->n++] = job;
}

/* Jobs for the CPU beside a device come last. */
static qn_status queue_all(qn_arc_batch *b, qn_err *err)
{
    uint32_t *order = b->again; /* free before the first launch */
    qn_status st = QN_OK;

    QN_TRY(qn_arc_order(b, order, b->costs, err));
    for (int is_cpu = 0; is_cpu < 2; is_cpu++)
        for (uint32_t k = 0; k < b->n; k++)
            if (qn_arc_batch_is_for_cpu(b, order[k]) == is_cpu)
                push(&b->waiting[first_rung(b, order[k])], order[k]);
out:
    return st;
}

/* The next `size` bytes of the session's memory for lists. */
static void *carve(unsigned char **at, size_t size)
{
    void *p = *at;

    *at += (size + 15) / 16 * 16;
    return p;
}

/* Lists for all jobs, in memory that the session reuses from batch to batch. */
static qn_status make_lists(qn_arc_batch *b, qn_err *err)
{
    enum { N_ARRAYS = 5 + 2 * QN_ARC_N_RUNGS };
    const size_t n = b->n, word = sizeof(uint32_t);
    const size_t bytes = n * (sizeof *b->list + 2 * sizeof(float) +
                              word * (2 + 2 * QN_ARC_N_RUNGS) + sizeof *b->is_long) +
                         16 * (N_ARRAYS + 1);
    unsigned char *at;

    if (bytes > b->s->lists_room) {
        free(b->s->lists);
        b->s->lists_room = 0;
        if (!(b->s->lists = malloc(bytes)))
            return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u jobs", b->n);
        b->s->lists_room = bytes;
    }
    at = b->s->lists;
    b->list = carve(&at, n * sizeof *b->list);
    b->costs = carve(&at, n * sizeof *b->costs);
    b->listed = carve(&at, n * sizeof *b->listed);
    b->again = carve(&at, n * word);
    b->beside = (qn_arc_queue){ .jobs = carve(&at, n * word) };
    for (int r = 0; r < QN_ARC_N_RUNGS; r++) {
        b->waiting[r] = (qn_arc_queue){ .jobs = carve(&at, n * word) };
        b->budgets[r] = (qn_arc_budget){ .small = { .jobs = carve(&at, n * word) } };
    }
    b->is_long = memset(carve(&at, n), 0, n);
    return QN_OK;
}

/* A launch. */

static uint64_t pooled(const qn_arc_session *s, int value)
{
    return value < 0 ? ARC_SLOT_NONE : s->values.items[value].pooled;
}

arc_instance qn_arc_instance_of(const qn_arc_session *s, const qn_arc_job *job, uint32_t number)
{
    return (arc_instance){ .program = s->programs.items[job->program].pooled / 16,
                           .number = number,
                           .args = { pooled(s, job->args[0]), pooled(s, job->args[1]),
                                     pooled(s, job->args[2]) },
                           .expected = pooled(s, job->expected) };
}

/* Lists the launch's jobs in the machine's format. */
static void list_jobs(qn_arc_batch *b)
{
    const qn_arc_session *s = b->s;
    const uint32_t *jobs = b->waiting[b->rung].jobs;
    size_t bytes = 0;

#pragma omp parallel for schedule(static) if (b->n_now > QN_ARC_MANY) num_threads(s->threads)
    for (uint32_t k = 0; k < b->n_now; k++) {
        b->list[k] = qn_arc_instance_of(s, qn_arc_job_at(b, jobs[k]), k);
        b->listed[k] = b->costs[jobs[k]];
    }
    for (uint32_t k = 0; k < b->n_now; k++)
        bytes += OUTPUT_PER_JOB + (size_t)program_of(b, jobs[k])->n_records * OUTPUT_PER_RECORD;
    if (!b->is_alone && bytes > b->output_bytes)
        b->output_bytes = bytes < MOST_OUTPUT ? bytes : MOST_OUTPUT;
}

/* Removes the jobs of the launch from the queue, except those to be run there again. */
static void drop_done(qn_arc_batch *b)
{
    qn_arc_queue *q = &b->waiting[b->rung];

    memmove(q->jobs + b->n_again, q->jobs + b->n_now, (q->n - b->n_now) * sizeof *q->jobs);
    memcpy(q->jobs, b->again, b->n_again * sizeof *q->jobs);
    q->n += b->n_again - b->n_now;
}

/* Doubles the memory for outputs that did not fit. Those that do not fit even into the largest run
 * alone. */
static void widen(qn_arc_batch *b)
{
    const int none_is_done = b->n_again == b->n_now;
    const size_t twice = 2 * b->output_bytes;
    const size_t next = twice > LEAST_OUTPUT ? twice : LEAST_OUTPUT;

    if (b->is_alone && --b->n_alone == 0) {
        b->is_alone = 0;
        b->output_bytes = 0;
    } else if (!b->is_alone && b->n_again) {
        b->is_alone = none_is_done && b->output_bytes == MOST_OUTPUT;
        b->n_alone = b->n_again;
        b->output_bytes = next < MOST_OUTPUT ? next : MOST_OUTPUT;
    }
}

/* A rung. */

/* Repeats on the same device are not a fallback, but worth a log line. */
static void log_reruns(const qn_arc_batch *b)
{
    const qn_arc_executor *x = b->home->executor;

    if (b->rung != QN_ARC_RUNG_FEW || !b->waiting[b->rung].n || b->s->is_measuring)
        return;
    qn_log_put(qn_ctx_log(b->s->ctx), QN_LOG_INFO,
               "arc.vm: %u runs on %s with %u KB instead of %u KB", b->waiting[b->rung].n,
               qn_device_id(b->s->ctx, b->s->device),
               qn_arc_executor_room(x, QN_ARC_RUNG_FEW).arena >> 10,
               qn_arc_executor_room(x, QN_ARC_RUNG_MANY).arena >> 10);
}

static qn_status run_rung(qn_arc_batch *b, qn_arc_rung rung, qn_err *err)
{
    const qn_arc_queue *q = &b->waiting[rung];
    qn_status st = QN_OK;

    b->rung = rung;
    log_reruns(b);
    b->output_bytes = 0;
    b->is_alone = 0;
    while (q->n && !qn_arc_deadline_is_over(b)) {
        const double start = qn_now_us();

        b->n_again = 0;
        b->n_now = qn_arc_cut_launch(b);
        list_jobs(b);
        QN_TRY(qn_arc_launch_run(b, err));
        qn_arc_deadline_took(b, qn_now_us() - start);
        b->n_launched++;
        drop_done(b);
        widen(b);
    }
    if (q->n)
        qn_arc_deadline_give_up(b, rung);
out:
    return st;
}

/* Queues the jobs that left the device for the CPU beside it. Returns 0 if there are none. */
static int queue_beside(qn_arc_batch *b)
{
    qn_arc_queue *q = &b->waiting[QN_ARC_RUNG_MANY];

    for (uint32_t k = 0; k < b->beside.n; k++)
        push(q, b->beside.jobs[k]);
    b->beside.n = 0;
    return q->n > 0;
}

qn_status qn_arc_run_rungs(qn_arc_batch *b, qn_err *err)
{
    qn_status st = QN_OK;
    int is_more;

    QN_TRY(make_lists(b, err));
    QN_TRY(queue_all(b, err));
    qn_arc_deadline_begin(b);
    do {
        for (int r = 0; r < QN_ARC_N_RUNGS; r++)
            QN_TRY(run_rung(b, (qn_arc_rung)r, err));
        is_more = qn_arc_deadline_again(b);
        is_more |= queue_beside(b);
    } while (is_more);
out:
    return st;
}
