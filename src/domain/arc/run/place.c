/* place.c - chooses where batches and programs run: on the device or on the CPU.
 *
 * The engine's router decides about batches; their size is the cost of their jobs. No batch waits for
 * a compiler, unless the device was asked for.
 *
 * A device that runs a batch sooner than the CPU may still be slower at some of its programs: those
 * whose steps depend on each other, or whose values are large. If the session measures programs,
 * the first batch with a new program runs its jobs in separate launches on the device and on the
 * CPU, repeated until they fill the device. From then on, a program that took longer on the device
 * runs on the CPU. The result of a job does not depend on where it ran.
 */
#include "domain/arc/run/session_impl.h"
#include "util/list.h"
#include "util/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Batches. */

static const char op_name[] = "arc.batch";

/* Guesses before anything has been measured, low enough that each place gets a try: microseconds
 * per launch, and units of cost per microsecond and unit of the device. */
#define CPU_LAUNCH_US    20.0
#define CPU_RATE         50.0
#define DEVICE_LAUNCH_US 100.0
#define DEVICE_RATE      25.0

/* Compiling the machine takes about as long: 6 s by NVRTC, 15 s by PoCL. */
#define COMPILE_US 1.5e7

/* Weight of a new first batch against those of earlier processes. */
#define NEW_FIRST 0.5

static void name_of(const qn_ctx *ctx, int device, char *out, size_t n)
{
    snprintf(out, n, "%s %s %u", qn_device_id(ctx, device), qn_device_get(ctx, device)->name,
             (unsigned)qn_device_get(ctx, device)->units);
}

static qn_arc_pace guess(const qn_ctx *ctx, int device)
{
    const double units = qn_device_get(ctx, device)->units ? qn_device_get(ctx, device)->units : 1;

    return device == QN_CPU_SLOT
               ? (qn_arc_pace){ .a_us = CPU_LAUNCH_US, .b_us = 1 / (CPU_RATE * units) }
               : (qn_arc_pace){ .a_us = DEVICE_LAUNCH_US, .b_us = 1 / (DEVICE_RATE * units) };
}

static qn_arc_route route_of(const qn_ctx *ctx, int device)
{
    if (device == QN_CPU_SLOT || qn_route_get_mode(ctx) == QN_ROUTE_CPU)
        return QN_ARC_ROUTE_CPU;
    if (qn_route_get_mode(ctx) == QN_ROUTE_GPU || qn_ctx_pinned(ctx) >= 0 ||
        !qn_device_is_candidate(ctx, QN_CPU_SLOT) || !qn_device_is_candidate(ctx, device))
        return QN_ARC_ROUTE_DEVICE;
    return QN_ARC_ROUTE_MEASURED;
}

void qn_arc_place_begin(qn_arc_session *s)
{
    s->route = route_of(s->ctx, s->device);
    s->ran_last = s->device;
    for (int d = 0; d <= s->device; d++) {
        char name[192];

        name_of(s->ctx, d, name, sizeof name);
        if (!qn_arc_costs_get_pace(s->costs, name, &s->paces[d]))
            s->paces[d] = guess(s->ctx, d);
    }
}

double qn_arc_waited_ms(const qn_arc_session *s)
{
    return qn_metric_value(qn_ctx_metrics(s->ctx), "kernel_compile_wait_ms", NULL);
}

static double compiled_ms(const qn_arc_session *s)
{
    return qn_metric_summary(qn_metric_of(qn_ctx_metrics(s->ctx), "kernel_compile_time_ms", NULL))
        .sum;
}

/* Compiling. */

int qn_arc_place_waits(qn_arc_session *s)
{
    if (s->route != QN_ARC_ROUTE_MEASURED || s->is_ready)
        return 0;
    s->is_ready = qn_compile_is_ready(s->ctx, s->device, qn_arc_executor_module(s->usual.executor));
    return !s->is_ready;
}

/* The CPU runs batches until the device's kernel is compiled. That begins when the CPU has worked,
 * or will for the jobs that wait, for as long as it takes: so a process that ends soon does not
 * wait for a compiler, and one that goes on loses at most as much again. */
static void compile_when_due(qn_arc_batch *b, const qn_route_op *op)
{
    qn_arc_session *s = b->s;
    const double compile_us = s->paces[s->device].compile_us;
    const qn_arc_pace *cpu = &s->paces[QN_CPU_SLOT];
    double units = 0, left_us;

    for (uint32_t k = 0; k < b->waiting[b->rung].n; k++)
        units += b->costs[b->waiting[b->rung].jobs[k]];
    left_us = op ? qn_route_predict_us(op, QN_CPU_SLOT, units, (qn_line){ cpu->a_us, cpu->b_us })
                 : cpu->a_us + cpu->b_us * units;
    if (s->on_cpu_us + left_us > (compile_us > 0 ? compile_us : COMPILE_US))
        qn_compile_begin(s->ctx, s->device, qn_arc_executor_module(s->usual.executor));
}

qn_arc_decision qn_arc_place_batch(qn_arc_batch *b, double units)
{
    qn_arc_session *s = b->s;
    const int waits = qn_arc_place_waits(s);
    qn_route_op *op = qn_router_op(s->ctx, op_name);
    const int usual = s->route == QN_ARC_ROUTE_CPU ? QN_CPU_SLOT : s->device;
    qn_route_case question = { .size = units,
                               .bound = op && s->route == QN_ARC_ROUTE_MEASURED ? -1 : usual,
                               .why = qn_ctx_pinned(s->ctx) >= 0 ? QN_WHY_PINNED : QN_WHY_MODE,
                               .present = -1 };
    qn_arc_decision d = { .units = units,
                          .waits = waits,
                          .waited_ms = qn_arc_waited_ms(s),
                          .compiled_ms = compiled_ms(s) };

    if (waits)
        compile_when_due(b, op);
    for (int k = 0; op && k <= (waits ? QN_CPU_SLOT : s->device); k++) {
        question.devices |= 1u << k;
        question.prior[k] = (qn_line){ .a_us = s->paces[k].a_us, .b_us = s->paces[k].b_us };
        question.more_us[k] = qn_route_op_is_warm(op, k) ? 0 : s->paces[k].first_us;
    }
    d.choice = qn_route_choose(s->ctx, op, &question);
    return d;
}

/* Records the extra time of the first batch, for loading a module and making buffers. Compilation
 * is left out, since its result outlives the process. */
static void note_first(qn_arc_session *s, const qn_arc_decision *d, double us)
{
    qn_arc_pace *pace = &s->paces[d->choice.device];
    const double waited_us = 1e3 * (qn_arc_waited_ms(s) - d->waited_ms);
    const double more = us - waited_us - (pace->a_us + pace->b_us * d->units);
    const double first_us = more > 0 ? more : 0;

    pace->first_us += pace->first_us > 0 ? NEW_FIRST * (first_us - pace->first_us) : first_us;
    s->timed_first |= 1u << d->choice.device;
}

void qn_arc_batch_took(qn_arc_session *s, const qn_arc_decision *d, double us)
{
    qn_route_op *op = qn_router_op(s->ctx, op_name);
    const int device = d->choice.device;

    s->ran_last = device;
    if (compiled_ms(s) > d->compiled_ms)
        s->paces[s->device].compile_us = 1e3 * (compiled_ms(s) - d->compiled_ms);
    if (d->waits && us >= 0)
        s->on_cpu_us += us;
    qn_route_explain_choice(s->ctx, "arc.vm", op_name, (qn_i64)d->units, &d->choice,
                            us >= 0 ? us : NAN);
    if (op && us >= 0) {
        if (!qn_route_op_is_warm(op, device))
            note_first(s, d, us);
        qn_router_observe(s->ctx, op, device, d->units, us);
    } else if (op) {
        qn_router_failed(s->ctx, op, device, QN_ERR_BUSY);
    }
}

/* Fits a line through the measurements. If they are all of one size, scales the guess instead.
 * Returns 0 if there are none. */
static int fit_pace(const qn_route_op *op, int device, qn_arc_pace *pace)
{
    const int n = qn_route_op_points(op, device);
    const qn_line fit = qn_route_op_fit(op, device);
    qn_route_point first;
    double ratio;

    if (!n)
        return 0;
    if (n > 1 && fit.a_us > 0 && fit.b_us > 0) {
        pace->a_us = fit.a_us;
        pace->b_us = fit.b_us;
        return 1;
    }
    first = qn_route_op_point(op, device, 0);
    ratio = first.median_us / (pace->a_us + pace->b_us * first.size);
    if (!(ratio > 0) || !isfinite(ratio))
        return 0;
    pace->a_us *= ratio;
    pace->b_us *= ratio;
    return 1;
}

void qn_arc_place_end(qn_arc_session *s)
{
    qn_route_op *op = s->costs ? qn_router_op(s->ctx, op_name) : NULL;

    for (int d = 0; op && d <= s->device; d++) {
        qn_arc_pace pace = s->paces[d];
        char name[192];

        if (!fit_pace(op, d, &pace) && !(s->timed_first >> d & 1))
            continue;
        name_of(s->ctx, d, name, sizeof name);
        qn_arc_costs_set_pace(s->costs, name, &pace);
    }
}

/* Programs. */

/* How many jobs of a program are measured, and how often: the shortest time counts. They are copied
 * until there are as many as the device runs at once, so that the launch itself hardly counts, but
 * no more than the CPU runs in MOST_FILL_US. */
enum { MOST_SAMPLES = 32, TRIES = 2, LEAST_FILLED = 256, MOST_FILL_US = 200000 };

/* A smaller gain per run is no reason to leave the device. */
#define LEAST_GAIN_US 0.1

int qn_arc_batch_is_for_cpu(const qn_arc_batch *b, uint32_t job)
{
    const qn_arc_session *s = b->s;

    return b->is_long[job] ||
           (s->programs.items[qn_arc_job_at(b, job)->program].place == QN_ARC_PLACE_CPU &&
            s->device != QN_CPU_SLOT && !s->split);
}

/* The shortest time of the jobs at one place, by the router's clock. */
static qn_status time_at(qn_arc_session *s, qn_arc_route route, const qn_arc_job *jobs, uint32_t n,
                         double *us, qn_err *err)
{
    const qn_arc_route had = s->route;
    qn_status st = QN_OK;

    s->route = route;
    for (int i = 0; st == QN_OK && i < TRIES; i++) {
        const double start = qn_ctx_now_us(s->ctx);
        double seconds, took;

        st = qn_arc_session_time(s, jobs, n, &seconds, err);
        took = qn_ctx_now_us(s->ctx) - start;
        *us = i == 0 || took < *us ? took : *us;
    }
    s->route = had;
    return st;
}

/* The first jobs of a program; returns how many. */
static uint32_t take_samples(const qn_arc_job *jobs, uint32_t n, int program, qn_arc_job *out)
{
    uint32_t k = 0;

    for (uint32_t i = 0; i < n && k < MOST_SAMPLES; i++)
        if (jobs[i].program == program)
            out[k++] = jobs[i];
    return k;
}

/* Repeats the n samples until there are `enough`; returns their new number. */
static uint32_t fill(qn_arc_job *samples, uint32_t n, uint32_t enough)
{
    uint32_t k = n;

    for (; k < enough; k++)
        samples[k] = samples[k - n];
    return k;
}

static uint32_t enough_jobs(const qn_arc_session *s)
{
    const int n_teams = qn_arc_executor_room(s->usual.executor, QN_ARC_RUNG_MANY).n_teams;

    return n_teams > LEAST_FILLED ? (uint32_t)n_teams : LEAST_FILLED;
}

static void explain(qn_arc_session *s, const qn_arc_program_entry *p, uint32_t n,
                    const double us[2])
{
    qn_route_choice choice = { .device = p->place == QN_ARC_PLACE_CPU ? QN_CPU_SLOT : s->device,
                               .why = QN_WHY_BEST };

    for (int d = 0; d < QN_MAX_DEVICES; d++)
        choice.predicted_us[d] = d == QN_CPU_SLOT ? us[0] : d == s->device ? us[1] : NAN;
    qn_route_explain_choice(s->ctx, p->id, "arc.program", n, &choice, NAN);
}

/* `samples` has space for the copies. */
static qn_status measure(qn_arc_session *s, int program, qn_arc_job *samples, uint32_t n,
                         qn_err *err)
{
    const uint32_t enough = enough_jobs(s);
    double us[2] = { 0, 0 }; /* on the CPU, on the device */
    qn_arc_program_entry *p;
    uint32_t n_filled = n;
    int is_cpu;
    qn_status st = QN_OK;

    QN_TRY(time_at(s, QN_ARC_ROUTE_CPU, samples, n, &us[0], err));
    if (us[0] / n * enough < MOST_FILL_US) {
        n_filled = fill(samples, n, enough);
        QN_TRY(time_at(s, QN_ARC_ROUTE_CPU, samples, n_filled, &us[0], err));
    }
    QN_TRY(time_at(s, QN_ARC_ROUTE_DEVICE, samples, n_filled, &us[1], err));
    us[0] /= n_filled;
    us[1] /= n_filled;
    is_cpu = us[1] > us[0] + LEAST_GAIN_US;
    p = &s->programs.items[program];
    p->place = is_cpu ? QN_ARC_PLACE_CPU : QN_ARC_PLACE_DEVICE;
    s->stats.cpu_programs += (uint64_t)is_cpu;
    s->stats.measured_programs++;
    explain(s, p, n, us);
out:
    return st;
}

/* Programs of the batch without a place, in the order of their first jobs. */
static uint32_t find_new(const qn_arc_session *s, const qn_arc_job *jobs, uint32_t n, int *out)
{
    char *is_listed = calloc(s->programs.n + 1, 1);
    uint32_t n_new = 0;

    for (uint32_t k = 0; is_listed && k < n; k++) {
        const int p = jobs[k].program;

        if (s->programs.items[p].place == QN_ARC_PLACE_OPEN && !is_listed[p])
            out[n_new++] = p;
        is_listed[p] = 1;
    }
    free(is_listed);
    return n_new;
}

qn_status qn_arc_place_programs(qn_arc_session *s, const qn_arc_job *jobs, uint32_t n, qn_err *err)
{
    qn_arc_job *samples = NULL;
    int *fresh = NULL;
    uint32_t n_fresh;
    double ignored;
    qn_status st = QN_OK;

    if (!s->measures_programs || s->device == QN_CPU_SLOT || s->split ||
        s->route == QN_ARC_ROUTE_CPU || qn_arc_place_waits(s))
        return QN_OK;
    QN_TRY(QN_NEW(fresh, s->programs.n + 1, "programs to measure", err));
    QN_TRY(QN_NEW(samples, enough_jobs(s) + MOST_SAMPLES, "programs to measure", err));
    n_fresh = find_new(s, jobs, n, fresh);
    for (uint32_t k = 0; k < n_fresh; k++) {
        const uint32_t n_own = take_samples(jobs, n, fresh[k], samples);

        if (k == 0) /* the first launch loads the module and makes buffers */
            QN_TRY(time_at(s, QN_ARC_ROUTE_DEVICE, samples, n_own, &ignored, err));
        QN_TRY(measure(s, fresh[k], samples, n_own, err));
    }
out:
    free(fresh);
    free(samples);
    return st;
}
