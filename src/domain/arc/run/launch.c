/* launch.c - runs a launch, and handles a device that cannot run it. */
#include "domain/arc/run/session_impl.h"
#include "util/clock.h"
#include "util/status.h"

#include <string.h>

/* Weight of a new launch in the mean time of a unit of cost. */
#define NEW_PACE 0.5

/* A shorter launch tells more about launching than about its jobs. */
enum { LEAST_TIMED_US = 2000 };

static qn_arc_launch launch_of(const qn_arc_batch *b)
{
    return (qn_arc_launch){ .list = b->list,
                            .n = b->n_now,
                            .want = b->want,
                            .trace_stride = b->trace_stride,
                            .max_steps = b->budgets[b->rung].steps,
                            .output_bytes = b->output_bytes,
                            .until_us = b->s->deadline_us };
}

static double compiled_us(const qn_arc_session *s)
{
    return 1e3 * qn_arc_waited_ms(s);
}

static double copied_us(const qn_arc_session *s)
{
    return qn_metric_value(qn_ctx_metrics(s->ctx), "transfer_time_us", NULL);
}

/* One executor. */

/* Runs on the executor of the home. *device is where it ran: the CPU after a failure. */
static qn_status run_home(qn_arc_batch *b, int *device, qn_err *err)
{
    const qn_arc_session *s = b->s;
    qn_arc_stats *stats = &b->s->stats;
    const double start = qn_now_us(), copied = copied_us(s), compiled = compiled_us(s);
    const qn_arc_launch launch = launch_of(b);
    qn_arc_answer answer = { 0 };
    double kernel_us, upload_us, compile_us;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_executor_run(b->home->executor, b->rung, b->home->pool, &launch, &answer, device,
                               err));
    kernel_us = qn_now_us() - start - answer.download_us;
    upload_us = copied_us(s) - copied;
    compile_us = compiled_us(s) - compiled;
    kernel_us -= upload_us + compile_us;
    stats->time_compile += compile_us * 1e-6;
    stats->time_upload += upload_us * 1e-6;
    stats->time_download += answer.download_us * 1e-6;
    *(*device == QN_CPU_SLOT ? &stats->time_cpu : &stats->time_kernel) +=
        kernel_us > 0 ? kernel_us * 1e-6 : 0;
    QN_TRY(qn_arc_take_results(b, 0, b->n_now, &answer, *device, err));
out:
    return st;
}

qn_status qn_arc_launch_on_cpu(qn_arc_batch *b, const arc_instance *list, uint32_t n,
                               qn_arc_answer *answer, qn_err *err)
{
    qn_arc_launch launch = launch_of(b);
    qn_arc_executor *cpu = NULL;
    int device;
    qn_status st = QN_OK;

    launch.list = list;
    launch.n = n;
    QN_TRY(qn_arc_session_executor(b->s, QN_CPU_SLOT, &cpu, err));
    QN_TRY(
        qn_arc_executor_run(cpu, QN_ARC_RUNG_MANY, b->home->pool, &launch, answer, &device, err));
out:
    return st;
}

static qn_status run_cpu(qn_arc_batch *b, qn_err *err)
{
    const double start = qn_now_us();
    qn_arc_answer answer = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_launch_on_cpu(b, b->list, b->n_now, &answer, err));
    b->s->stats.time_cpu += (qn_now_us() - start) * 1e-6;
    QN_TRY(qn_arc_take_results(b, 0, b->n_now, &answer, QN_CPU_SLOT, err));
out:
    return st;
}

/* Whether the CPU replaces the executor after a failure; logs that if so. The engine has tried
 * already, but it cannot restore data that only a lost device had, nor compile a variant without a
 * compiler. The host's copy of the pool and the built-in kernel need neither. */
static int is_replaced(qn_arc_batch *b, qn_status *st, qn_err *err)
{
    static const char prefix[] = "arc: ";

    if (*st == QN_OK || *st == QN_ERR_FALLBACK || *st == QN_ERR_NOMEM || b->n_again ||
        b->s->device == QN_CPU_SLOT || b->rung == QN_ARC_RUNG_CPU)
        return 0;
    qn_content_distrust(b->home->pool, b->s->device);
    if (!strncmp(err->text, prefix, sizeof prefix - 1)) /* the line names the stage itself */
        memmove(err->text, err->text + sizeof prefix - 1, strlen(err->text) - sizeof prefix + 2);
    *st = qn_fallback_note(b->s->ctx, "arc.vm", err);
    return *st == QN_OK;
}

static qn_status run_device(qn_arc_batch *b, int *device, qn_err *err)
{
    qn_status st = run_home(b, device, err);

    if (!is_replaced(b, &st, err))
        return st;
    *device = QN_CPU_SLOT;
    return run_cpu(b, err);
}

/* Later rungs. If the device fails, or its kernel is not compiled yet, jobs of the rung with few
 * teams go to the last rung, the CPU. */
static qn_status run_later(qn_arc_batch *b, qn_err *err)
{
    const int waits = b->rung == QN_ARC_RUNG_FEW && qn_arc_place_waits(b->s);
    qn_arc_queue *last = &b->waiting[QN_ARC_RUNG_CPU];
    int device;
    qn_status st = waits ? QN_OK : run_home(b, &device, err);

    if (!waits && !is_replaced(b, &st, err))
        return st;
    memcpy(last->jobs + last->n, b->waiting[b->rung].jobs, b->n_now * sizeof *last->jobs);
    last->n += b->n_now;
    return QN_OK;
}

/* The first rung. */

/* Kernels and copies of the devices overlap, so they are timed together. */
static qn_status run_split(qn_arc_batch *b, qn_err *err)
{
    const double start = qn_now_us();
    const qn_arc_launch launch = launch_of(b);
    const qn_status st = qn_arc_split_run(b->s->split, b, &launch, err);

    b->s->stats.time_kernel += (qn_now_us() - start) * 1e-6;
    return st;
}

/* On the session's device or the CPU, as the router decides. */
static qn_status run_routed(qn_arc_batch *b, double units, qn_err *err)
{
    qn_arc_session *s = b->s;
    const qn_arc_decision d = qn_arc_place_batch(b, units);
    const double start = qn_ctx_now_us(s->ctx);
    int device = QN_CPU_SLOT;
    const qn_status st = d.choice.device == QN_CPU_SLOT && s->device != QN_CPU_SLOT
                             ? run_cpu(b, err)
                             : run_device(b, &device, err);

    if (st == QN_OK)
        qn_arc_batch_took(s, &d, device == d.choice.device ? qn_ctx_now_us(s->ctx) - start : -1);
    return st;
}

/* The first launch compiles kernels and makes buffers. Disturbances only ever add time, so a much
 * quicker launch is believed at once. */
static void note_pace(qn_arc_session *s, double units, double us)
{
    const double pace = units > 0 ? us / units : 0, had = s->us_per_unit;

    if (s->stats.launches == 0 || us < LEAST_TIMED_US || !(pace > 0))
        return;
    s->us_per_unit = !(had > 0) || pace < had / 4 ? pace : had + NEW_PACE * (pace - had);
}

static qn_status run_first(qn_arc_batch *b, qn_err *err)
{
    qn_arc_session *s = b->s;
    const double start = qn_now_us();
    double units = 0;
    qn_status st = QN_OK;

    if (qn_arc_batch_is_for_cpu(b, b->waiting[b->rung].jobs[0])) /* then so are all jobs of the
                                                                  * launch */
        return run_cpu(b, err);
    for (uint32_t k = 0; k < b->n_now; k++) /* in order, so that the sum does not depend on the
                                             * number of threads */
        units += b->listed[k];
    QN_TRY(s->split ? run_split(b, err) : run_routed(b, units, err));
    if (s->verify_pct > 0 && s->device != QN_CPU_SLOT)
        QN_TRY(qn_arc_verify(b, err));
    note_pace(s, units, qn_now_us() - start);
    s->stats.launches++;
out:
    return st;
}

qn_status qn_arc_launch_run(qn_arc_batch *b, qn_err *err)
{
    qn_arc_session *s = b->s;
    const double compiled = compiled_us(s);
    const int is_first = b->rung == QN_ARC_RUNG_MANY && !b->is_alone && b->home == &s->usual;
    qn_status st;

    s->verify_pct = qn_ctx_set_verify(s->ctx, 0); /* results are compared here, not by the engine */
    st = is_first ? run_first(b, err) : run_later(b, err);
    qn_ctx_set_verify(s->ctx, s->verify_pct);
    if (s->deadline_us > 0) /* compiling is not counted */
        s->deadline_us += compiled_us(s) - compiled;
    return st;
}
