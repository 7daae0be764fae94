/* tiers.c - a slice of jobs through the tiers, until each has run or failed for good. */
#include "domain/arc/run/tiers.h"
#include "domain/arc/run/adapt.h"
#include "domain/arc/run/deadline.h"
#include "domain/arc/run/order.h"
#include "util/clock.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* Room for outputs of a launch that is run again, at least. */
enum { LEAST_OUTPUT = 8 << 20 };

/* Jobs of a launch while nothing is known about its time; and the fewest that one on a device is
 * cut to, which run at the same time. */
enum { FIRST_LAUNCH = 1 << 12, LEAST_LAUNCH = 256 };

#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))

/* The first tier of the device whose slots suffice, which is known before anything has run. */
static qn_arc_tier first_tier(const qn_arc_flight *f, uint32_t job)
{
    const qn_arc_kept_program *program = &f->s->programs.items[qn_arc_job_at(f, job)->program];
    const uint32_t n_slot = ((const arc_program *)(const void *)program->bytes)->n_slot;

    if (f->slice->home != &f->s->usual)
        return QN_ARC_TIER_CPU;
    return n_slot <= qn_arc_station_slots(f->s->usual.station, QN_ARC_TIER_MANY) ? QN_ARC_TIER_MANY
                                                                                 : QN_ARC_TIER_FEW;
}

int qn_arc_flight_is_for_cpu(const qn_arc_flight *f, uint32_t job)
{
    return f->is_long[job] || qn_arc_is_for_cpu(f->s, qn_arc_job_at(f, job)->program);
}

/* Those of the CPU's set wait behind the others. */
static qn_status queue_all(qn_arc_flight *f, qn_err *err)
{
    const uint32_t n = f->slice->n;
    uint32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    qn_status st = QN_OK;

    if (!order)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u jobs", n);
    QN_TRY(qn_arc_order(f->s, f->slice, order, f->costs, err));
    for (int is_cpu = 0; is_cpu < 2; is_cpu++)
        for (uint32_t k = 0; k < n; k++) {
            qn_arc_queue *q = &f->waiting[first_tier(f, order[k])];

            if (qn_arc_flight_is_for_cpu(f, order[k]) == is_cpu)
                q->jobs[q->n++] = order[k];
        }
out:
    free(order);
    return st;
}

/* A tier. */

/* As many of the first jobs as a launch may take by its estimated time: a display stays alive, and
 * a progress bar moves. */
static uint32_t count_timed(const qn_arc_flight *f)
{
    const qn_arc_queue *q = &f->waiting[f->tier];
    const double most = f->s->us_per_unit > 0 ? f->s->slice_us / f->s->us_per_unit : 0;
    const uint32_t least =
        f->s->device == QN_CPU_SLOT ? qn_device_get(f->s->ctx, QN_CPU_SLOT)->units : LEAST_LAUNCH;
    const uint32_t n_most = MIN_OF(q->n, qn_arc_deadline_jobs(f));
    double units = 0;
    uint32_t n = 0;

    if (f->is_alone)
        return 1;
    if (f->tier != QN_ARC_TIER_MANY || !(f->s->slice_us > 0))
        return n_most;
    if (!(most > 0))
        return MIN_OF(n_most, FIRST_LAUNCH);
    while (n < n_most && (n < least || units < most))
        units += f->costs[q->jobs[n++]];
    return n;
}

/* A launch has jobs of the CPU's set, or none of them. */
static uint32_t count_now(const qn_arc_flight *f)
{
    const qn_arc_queue *q = &f->waiting[f->tier];
    const uint32_t most = count_timed(f);
    uint32_t n = 1;

    if (f->tier != QN_ARC_TIER_MANY)
        return most;
    while (n < most &&
           qn_arc_flight_is_for_cpu(f, q->jobs[n]) == qn_arc_flight_is_for_cpu(f, q->jobs[0]))
        n++;
    return n;
}

/* The jobs of the launch leave the queue, but for those that are to run there again. */
static void drop_done(qn_arc_flight *f)
{
    qn_arc_queue *q = &f->waiting[f->tier];

    memmove(q->jobs + f->n_again, q->jobs + f->n_now, (q->n - f->n_now) * sizeof *q->jobs);
    memcpy(q->jobs, f->again, f->n_again * sizeof *q->jobs);
    q->n += f->n_again - f->n_now;
}

/* Outputs that found no room: twice as much the next time. What finds none in the most that there
 * is goes alone. */
static void widen(qn_arc_flight *f, int none_is_done)
{
    const size_t twice = 2 * f->output_bytes;
    const size_t next = twice > LEAST_OUTPUT ? twice : LEAST_OUTPUT;

    if (f->is_alone && --f->n_alone == 0) {
        f->is_alone = 0;
        f->output_bytes = 0;
    } else if (!f->is_alone && f->n_again) {
        f->is_alone = none_is_done && f->output_bytes == QN_ARC_MOST_OUTPUT;
        f->n_alone = f->n_again;
        f->output_bytes = next < QN_ARC_MOST_OUTPUT ? next : QN_ARC_MOST_OUTPUT;
    }
}

/* Runs that are repeated on the same device are no fallback, but somebody may want to know. */
static void tell_rerun(const qn_arc_flight *f)
{
    const qn_arc_station *station = f->slice->home->station;

    if (f->tier != QN_ARC_TIER_FEW || !f->waiting[f->tier].n || f->s->is_measuring)
        return;
    qn_log_put(qn_ctx_log(f->s->ctx), QN_LOG_INFO,
               "arc.vm: %u runs on %s with %u KB instead of %u KB", f->waiting[f->tier].n,
               qn_device_id(f->s->ctx, f->s->device),
               qn_arc_station_arena(station, QN_ARC_TIER_FEW) >> 10,
               qn_arc_station_arena(station, QN_ARC_TIER_MANY) >> 10);
}

static qn_status run_tier(qn_arc_flight *f, qn_arc_tier tier, qn_err *err)
{
    const qn_arc_queue *q = &f->waiting[tier];
    qn_status st = QN_OK;

    f->tier = tier;
    tell_rerun(f);
    f->output_bytes = 0;
    f->is_alone = 0;
    while (q->n && !qn_arc_deadline_is_over(f)) {
        const double start = qn_now_us();

        f->n_again = 0;
        f->n_now = count_now(f);
        QN_TRY(qn_arc_launch(f, err));
        qn_arc_deadline_took(f, qn_now_us() - start);
        f->slice->n_launched++;
        drop_done(f);
        widen(f, f->n_again == f->n_now);
    }
    if (q->n)
        qn_arc_deadline_give_up(f, tier);
out:
    return st;
}

static qn_status make_room(qn_arc_flight *f, qn_err *err)
{
    const size_t n = (size_t)f->slice->n + 1;
    int has_room = 1;

    f->list = malloc(n * sizeof *f->list);
    f->costs = malloc(n * sizeof *f->costs);
    f->listed = malloc(n * sizeof *f->listed);
    f->again = malloc(n * sizeof *f->again);
    f->beside.jobs = malloc(n * sizeof *f->beside.jobs);
    f->is_long = calloc(n, sizeof *f->is_long);
    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        has_room &= (f->waiting[t].jobs = malloc(n * sizeof(uint32_t))) != NULL &&
                    (f->budgets[t].small.jobs = malloc(n * sizeof(uint32_t))) != NULL;
    if (!has_room || !f->list || !f->costs || !f->listed || !f->again || !f->beside.jobs ||
        !f->is_long)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u jobs", f->slice->n);
    return QN_OK;
}

/* What left the device waits in its first tier again, for the CPU. 0: there is nothing. */
static int queue_beside(qn_arc_flight *f)
{
    qn_arc_queue *q = &f->waiting[QN_ARC_TIER_MANY];

    memcpy(q->jobs + q->n, f->beside.jobs, f->beside.n * sizeof *q->jobs);
    q->n += f->beside.n;
    f->beside.n = 0;
    return q->n > 0;
}

qn_status qn_arc_run_tiers(qn_arc_session *session, qn_arc_slice *slice, qn_err *err)
{
    qn_arc_flight f = { .s = session, .slice = slice };
    qn_status st = QN_OK;
    int is_more;

    QN_TRY(make_room(&f, err));
    QN_TRY(queue_all(&f, err));
    qn_arc_deadline_begin(&f);
    do {
        for (int t = 0; t < QN_ARC_N_TIERS; t++)
            QN_TRY(run_tier(&f, (qn_arc_tier)t, err));
        is_more = qn_arc_deadline_again(&f);
        is_more |= queue_beside(&f);
    } while (is_more);
out:
    free(f.list);
    free(f.costs);
    free(f.listed);
    free(f.again);
    free(f.beside.jobs);
    free(f.is_long);
    for (int t = 0; t < QN_ARC_N_TIERS; t++) {
        free(f.waiting[t].jobs);
        free(f.budgets[t].small.jobs);
    }
    return st;
}
