/* launch.c - jobs as instances, and the place where a launch of them runs. */
#include "domain/arc/run/adapt.h"
#include "domain/arc/run/choose.h"
#include "domain/arc/run/launch.h"
#include "domain/arc/run/verify.h"
#include "engine/engine.h"
#include "util/clock.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* How much of a new launch goes into the mean time of a unit of cost. */
#define NEW_PACE 0.5

/* A shorter launch says more about launching than about its jobs. */
enum { TELLING_US = 2000 };

/* Where outputs are more than that, those that found no room are run again. */
enum { OUTPUT_PER_JOB = 1024, OUTPUT_PER_RECORD = 256 };

static uint64_t placed(const qn_arc_flight *f, int value)
{
    return value < 0 ? ARC_SLOT_NONE : f->s->values.items[value].placed;
}

/* Room for what the job's program puts out, in most cases. */
static size_t output_of(const qn_arc_flight *f, uint32_t job)
{
    const qn_arc_kept_program *kept = &f->s->programs.items[qn_arc_job_at(f, job)->program];
    const arc_program *program = (const arc_program *)(const void *)kept->bytes;

    return OUTPUT_PER_JOB + (size_t)program->n_records * OUTPUT_PER_RECORD;
}

static double list_jobs(qn_arc_flight *f)
{
    const qn_arc_queue *q = &f->waiting[f->tier];
    size_t bytes = 0;
    double units = 0;

#pragma omp parallel for schedule(static) if (f->n_now > QN_ARC_MANY) num_threads(f->s->threads)
    for (uint32_t k = 0; k < f->n_now; k++) {
        const qn_arc_job *j = qn_arc_job_at(f, q->jobs[k]);

        f->list[k] =
            (arc_instance){ .program = (uint32_t)(f->s->programs.items[j->program].placed / 16),
                            .number = k,
                            .args = { placed(f, j->args[0]), placed(f, j->args[1]),
                                      placed(f, j->args[2]) },
                            .expected = placed(f, j->expected) };
        f->listed[k] = f->costs[q->jobs[k]];
    }
    for (uint32_t k = 0; k < f->n_now; k++) { /* in order: the same sum for any number of threads */
        units += f->listed[k];
        bytes += output_of(f, q->jobs[k]);
    }
    if (!f->is_alone && bytes > f->output_bytes)
        f->output_bytes = bytes < QN_ARC_MOST_OUTPUT ? bytes : QN_ARC_MOST_OUTPUT;
    return units;
}

/* The pool. */

/* What a place whose pool is that of slice `loaded` lacks: what is new in this slice, or, having
 * missed one, everything. */
static qn_arc_pooled pooled_for(const qn_arc_flight *f, uint64_t loaded, qn_arc_range *whole)
{
    const qn_arc_pool *pool = f->slice->home->pool;
    qn_arc_pooled pooled = { .bytes = qn_arc_pool_bytes(pool), .n = qn_arc_pool_extent(pool) };

    *whole = (qn_arc_range){ .bytes = pooled.n };
    if (loaded + 1 == f->slice->number) {
        pooled.fresh = f->slice->fresh;
        pooled.n_fresh = f->slice->n_fresh;
    } else if (loaded != f->slice->number) {
        pooled.fresh = whole;
        pooled.n_fresh = pooled.n > 0;
    }
    return pooled;
}

static qn_arc_work work_of(const qn_arc_flight *f, qn_arc_pooled pooled)
{
    return (qn_arc_work){ .pool = pooled,
                          .list = f->list,
                          .n = f->n_now,
                          .want = f->slice->want,
                          .trace_stride = f->slice->trace_stride,
                          .max_steps = f->budgets[f->tier].steps,
                          .output_bytes = f->output_bytes };
}

/* Time that the context has spent on compiling kernels. */
static double compiled_us(const qn_ctx *ctx)
{
    return 1e3 *
           qn_metric_summary(qn_metric_of(qn_ctx_metrics(ctx), "kernel_compile_time_ms", NULL)).sum;
}

/* Places. */

/* The station of the home. *device: where it ran, which is the CPU after a failure. */
static qn_status run_home(qn_arc_flight *f, int *device, qn_err *err)
{
    qn_arc_home *home = f->slice->home;
    qn_arc_stats *stats = &f->s->stats;
    const double start = qn_now_us();
    const double copied = qn_metric_value(qn_ctx_metrics(f->s->ctx), "transfer_time_us", NULL);
    const double compiled = compiled_us(f->s->ctx);
    qn_arc_range whole;
    const qn_arc_work work = work_of(f, pooled_for(f, home->loaded, &whole));
    qn_arc_answer answer = { 0 };
    double kernel_us, upload_us, compile_us;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_station_run(home->station, f->tier, &work, &answer, device, err));
    home->loaded = f->slice->number;
    kernel_us = qn_now_us() - start - answer.download_us;
    upload_us = qn_metric_value(qn_ctx_metrics(f->s->ctx), "transfer_time_us", NULL) - copied;
    compile_us = compiled_us(f->s->ctx) - compiled;
    kernel_us -= upload_us + compile_us;
    stats->time_compile += compile_us * 1e-6;
    stats->time_upload += upload_us * 1e-6;
    stats->time_download += answer.download_us * 1e-6;
    *(*device == QN_CPU_SLOT ? &stats->time_cpu : &stats->time_kernel) +=
        kernel_us > 0 ? kernel_us * 1e-6 : 0;
    QN_TRY(qn_arc_settle(f, 0, f->n_now, &answer, *device, err));
out:
    return st;
}

qn_status qn_arc_launch_cpu(qn_arc_flight *f, const arc_instance *list, uint32_t n,
                            qn_arc_answer *answer, qn_err *err)
{
    qn_arc_session *s = f->s;
    const qn_arc_limits limits = qn_arc_station_on_cpu(s->usual.station);
    qn_arc_range whole;
    qn_arc_work work = work_of(f, pooled_for(f, s->cpu_loaded, &whole));
    int device;
    qn_status st = QN_OK;

    work.list = list;
    work.n = n;
    if (!s->cpu)
        QN_TRY(qn_arc_station_new(s->ctx, &limits, QN_CPU_SLOT, &s->cpu, err));
    QN_TRY(qn_arc_station_run(s->cpu, QN_ARC_TIER_MANY, &work, answer, &device, err));
    s->cpu_loaded = f->slice->number;
out:
    return st;
}

static qn_status run_cpu(qn_arc_flight *f, qn_err *err)
{
    const double start = qn_now_us();
    qn_arc_answer answer = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_launch_cpu(f, f->list, f->n_now, &answer, err));
    f->s->stats.time_cpu += (qn_now_us() - start) * 1e-6;
    QN_TRY(qn_arc_settle(f, 0, f->n_now, &answer, QN_CPU_SLOT, err));
out:
    return st;
}

/* Whether the CPU does what the station failed to do, with the line that says so. The engine has
 * tried: what a lost device alone had it cannot know, nor compile a variant without a compiler. The
 * host's copy of the pool and the built-in kernel can. */
static int is_replaced(qn_arc_flight *f, qn_status *st, qn_err *err)
{
    static const char prefix[] = "arc: ";

    if (*st == QN_OK || *st == QN_ERR_FALLBACK || *st == QN_ERR_NOMEM || f->n_again ||
        f->s->device == QN_CPU_SLOT || f->tier == QN_ARC_TIER_CPU)
        return 0;
    f->slice->home->loaded = 0;
    if (!strncmp(err->text, prefix, sizeof prefix - 1)) /* the line names the stage itself */
        memmove(err->text, err->text + sizeof prefix - 1, strlen(err->text) - sizeof prefix + 2);
    *st = qn_fallback_note(f->s->ctx, "arc.vm", err);
    return *st == QN_OK;
}

static qn_status run_device(qn_arc_flight *f, int *device, qn_err *err)
{
    qn_status st = run_home(f, device, err);

    if (!is_replaced(f, &st, err))
        return st;
    *device = QN_CPU_SLOT;
    return run_cpu(f, err);
}

/* The later tiers. Jobs of few teams that failed go to the last tier, which is the CPU's. */
static qn_status run_later(qn_arc_flight *f, qn_err *err)
{
    qn_arc_queue *last = &f->waiting[QN_ARC_TIER_CPU];
    int device;
    qn_status st = run_home(f, &device, err);

    if (!is_replaced(f, &st, err))
        return st;
    memcpy(last->jobs + last->n, f->waiting[f->tier].jobs, f->n_now * sizeof *last->jobs);
    last->n += f->n_now;
    return QN_OK;
}

static qn_status take_piece(void *user, uint32_t first, uint32_t n, const qn_arc_answer *answer,
                            int device, qn_err *err)
{
    return qn_arc_settle(user, first, n, answer, device, err);
}

/* All devices that share the batch; kernels and copies of several overlap. */
static qn_status run_spread(qn_arc_flight *f, qn_err *err)
{
    const double start = qn_now_us();
    qn_arc_range whole;
    const qn_arc_spread_work work = { .work =
                                          work_of(f, pooled_for(f, f->slice->number - 1, &whole)),
                                      .state = f->slice->number,
                                      .costs = f->listed,
                                      .deliver = take_piece,
                                      .user = f };
    const qn_status st = qn_arc_spread_run(f->s->spread, &work, err);

    f->s->stats.time_kernel += (qn_now_us() - start) * 1e-6;
    return st;
}

/* The session's device or the CPU, and what it took. */
static qn_status run_chosen(qn_arc_flight *f, double units, qn_err *err)
{
    const qn_arc_decision d = qn_arc_choose(f->s, units);
    const double start = qn_ctx_now_us(f->s->ctx);
    int device = QN_CPU_SLOT;
    const qn_status st = d.choice.device == QN_CPU_SLOT && f->s->device != QN_CPU_SLOT
                             ? run_cpu(f, err)
                             : run_device(f, &device, err);

    if (st == QN_OK)
        qn_arc_chosen(f->s, &d, device == d.choice.device ? qn_ctx_now_us(f->s->ctx) - start : -1);
    return st;
}

/* Jobs of a launch are all of the CPU's set, or none is. */
static int is_cpu_set(const qn_arc_flight *f)
{
    return qn_arc_flight_is_for_cpu(f, f->waiting[f->tier].jobs[0]);
}

/* The first launch compiles and makes buffers. Disturbances only ever add time, so what is far
 * quicker is believed at once. */
static void note_pace(qn_arc_session *s, double units, double us)
{
    const double pace = units > 0 ? us / units : 0, had = s->us_per_unit;

    if (s->stats.launches == 0 || us < TELLING_US || !(pace > 0))
        return;
    s->us_per_unit = !(had > 0) || pace < had / 4 ? pace : had + NEW_PACE * (pace - had);
}

static qn_status launch(qn_arc_flight *f, qn_err *err)
{
    qn_arc_session *s = f->s;
    const int is_first = f->tier == QN_ARC_TIER_MANY && !f->is_alone && f->slice->home == &s->usual;
    const double units = list_jobs(f), start = qn_now_us();
    qn_status st = QN_OK;

    if (!is_first)
        return run_later(f, err);
    if (is_cpu_set(f))
        return run_cpu(f, err);
    QN_TRY(s->spread ? run_spread(f, err) : run_chosen(f, units, err));
    if (s->verify_pct > 0 && s->device != QN_CPU_SLOT)
        QN_TRY(qn_arc_verify(f, err));
    note_pace(s, units, qn_now_us() - start);
    s->stats.launches++;
out:
    return st;
}

qn_status qn_arc_launch(qn_arc_flight *f, qn_err *err)
{
    const double compiled = compiled_us(f->s->ctx);
    qn_status st;

    qn_arc_verify_begin(f->s);
    st = launch(f, err);
    qn_arc_verify_end(f->s);
    if (f->s->deadline_us > 0) /* which is for runs */
        f->s->deadline_us += compiled_us(f->s->ctx) - compiled;
    return st;
}
