/* tiers.c - a slice of jobs through the tiers, until each has run or failed for good. */
#include "domain/arc/run/tiers.h"
#include "domain/arc/run/order.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* Room for outputs of a launch that is run again. */
enum { OUTPUT_PER_JOB = 1024, LEAST_OUTPUT = 8 << 20, MOST_OUTPUT = 256 << 20 };

/* Jobs of a launch while nothing is known about its time; and the fewest that one on a device is
 * cut to, which run at the same time. */
enum { FIRST_LAUNCH = 1 << 12, LEAST_LAUNCH = 256 };

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

static qn_status queue_all(qn_arc_flight *f, qn_err *err)
{
    const uint32_t n = f->slice->n;
    uint32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    qn_status st = QN_OK;

    if (!order)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u jobs", n);
    QN_TRY(qn_arc_order(f->s, f->slice, order, f->costs, err));
    for (uint32_t k = 0; k < n; k++) {
        qn_arc_queue *q = &f->waiting[first_tier(f, order[k])];

        q->jobs[q->n++] = order[k];
    }
out:
    free(order);
    return st;
}

/* ---- a tier ---------------------------------------------------------------------------- */

/* As many of the first jobs as a launch may take by its estimated time: a display stays alive, and
 * a progress bar moves. */
static uint32_t count_now(const qn_arc_flight *f)
{
    const qn_arc_queue *q = &f->waiting[f->tier];
    const double most = f->s->us_per_unit > 0 ? f->s->slice_us / f->s->us_per_unit : 0;
    const uint32_t least =
        f->s->device == QN_CPU_SLOT ? qn_device_get(f->s->ctx, QN_CPU_SLOT)->units : LEAST_LAUNCH;
    double units = 0;
    uint32_t n = 0;

    if (f->is_alone)
        return 1;
    if (f->tier != QN_ARC_TIER_MANY || !(f->s->slice_us > 0))
        return q->n;
    if (!(most > 0))
        return q->n < FIRST_LAUNCH ? q->n : FIRST_LAUNCH;
    while (n < q->n && (n < least || units < most))
        units += f->costs[q->jobs[n++]];
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
    const size_t had = f->output_bytes ? f->output_bytes : (size_t)f->n_now * OUTPUT_PER_JOB;
    const size_t next = 2 * had > LEAST_OUTPUT ? 2 * had : LEAST_OUTPUT;

    if (f->is_alone && --f->n_alone == 0) {
        f->is_alone = 0;
        f->output_bytes = 0;
    } else if (!f->is_alone && f->n_again) {
        f->is_alone = none_is_done && f->output_bytes == MOST_OUTPUT;
        f->n_alone = f->n_again;
        f->output_bytes = next < MOST_OUTPUT ? next : MOST_OUTPUT;
    }
}

static qn_status run_tier(qn_arc_flight *f, qn_arc_tier tier, qn_err *err)
{
    const qn_arc_queue *q = &f->waiting[tier];
    qn_status st = QN_OK;

    f->tier = tier;
    f->output_bytes = 0;
    f->is_alone = 0;
    while (q->n) {
        f->n_again = 0;
        f->n_now = count_now(f);
        QN_TRY(qn_arc_launch(f, err));
        f->slice->n_launched++;
        drop_done(f);
        widen(f, f->n_again == f->n_now);
    }
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
    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        has_room &= (f->waiting[t].jobs = malloc(n * sizeof(uint32_t))) != NULL;
    if (!has_room || !f->list || !f->costs || !f->listed || !f->again)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u jobs", f->slice->n);
    return QN_OK;
}

qn_status qn_arc_run_tiers(qn_arc_session *session, qn_arc_slice *slice, qn_err *err)
{
    qn_arc_flight f = { .s = session, .slice = slice };
    qn_status st = QN_OK;

    QN_TRY(make_room(&f, err));
    QN_TRY(queue_all(&f, err));
    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        QN_TRY(run_tier(&f, (qn_arc_tier)t, err));
out:
    free(f.list);
    free(f.costs);
    free(f.listed);
    free(f.again);
    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        free(f.waiting[t].jobs);
    return st;
}
