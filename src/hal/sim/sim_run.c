/* sim_run.c - work of a sim device: done at once, timed on the virtual clock.
 *
 * Work starts when the host has submitted it, its stream has reached it and its engine is free. All
 * three are stored as times, which models overlap and its limits without threads.
 */
#include <string.h>

#include "hal/cpu/cpu_module.h"
#include "hal/sim/sim_dev.h"
#include "util/hash.h"

static double max2(double a, double b)
{
    return a > b ? a : b;
}

static int32_t clip(int32_t from, int32_t to, uint64_t covered)
{
    return (uint64_t)((int64_t)to - from) <= covered ? to : (int32_t)(from + (int64_t)covered);
}

/* The points that the grid of a launch really covers: a box from the low corner of the span. If the
 * grid is too small, the far points stay unwritten, as on a real device. */
static qn_span covered_by(const qn_launch *call)
{
    const qn_kernel_info *kernel = call->kernel;
    const qn_span *s = &call->span;
    uint64_t covers[3] = { call->group[0], call->group[1], call->group[2] };

    if (kernel->form == QN_FORM_MAP && kernel->unroll > 1)
        covers[0] *= kernel->unroll;
    if (kernel->form != QN_FORM_MAP) {
        covers[0] = kernel->form == QN_FORM_TEAM ? call->group[1] : 1;
        covers[1] = covers[2] = 1;
    }
    return (qn_span){ s->x0, clip(s->x0, s->x1, covers[0] * call->grid[0]),
                      s->y0, clip(s->y0, s->y1, covers[1] * call->grid[1]),
                      s->z0, clip(s->z0, s->z1, covers[2] * call->grid[2]) };
}

static void run_kernel(qn_dev *dev, const qn_launch *call, const qn_span *covered)
{
    const qn_kernel_info *kernel = call->kernel;
    void *address[QN_MAX_ARGS], *args[QN_MAX_ARGS];

    for (int i = 0; i < kernel->n_args; i++) {
        const qn_launch_arg *arg = &call->args[i];

        if (kernel->args[i].mode == QN_ARG_VAL) {
            args[i] = (void *)(uintptr_t)arg->value; /* kernels only read it */
            continue;
        }
        address[i] = arg->mem ? arg->mem->data + arg->at : NULL;
        args[i] = &address[i];
    }
    qn_cpu_run(&dev->threads, kernel, qn_cpu_module_function(call), covered, args);
}

/* Time of work on that many bytes and items. */
static double work_us(qn_dev *dev, double bytes, double items)
{
    const qn_sim_limits *l = &dev->limits;
    const double noise =
        l->noise_pct / 100.0 * qn_random_float((uint64_t)dev->index, dev->n_launches++);

    return (l->launch_us + max2(bytes / (l->gbps * 1e3), items * l->ns_per_item / 1e3)) *
               (1.0 + noise) / l->rate[dev->index] +
           l->slow[dev->index];
}

/* An estimate that a test can work out by hand: every item touches one element of each buffer. */
static double launch_us(qn_dev *dev, const qn_launch *call, const qn_span *covered)
{
    const qn_kernel_info *kernel = call->kernel;
    double items = ((double)covered->x1 - covered->x0) * ((double)covered->y1 - covered->y0) *
                   ((double)covered->z1 - covered->z0);
    double bytes = 0;

    if (kernel->form == QN_FORM_GROUP)
        items *= kernel->lanes;
    for (int i = 0; i < kernel->n_args; i++)
        if (kernel->args[i].mode != QN_ARG_VAL)
            bytes += items * (double)qn_cpu_module_arg_size(call, i);
    return work_us(dev, bytes, items);
}

static void run_fft(qn_dev *dev, const qn_sim_op *op)
{
    qn_err ignored; /* only unaligned memory could fail, and blocks are aligned */

    qn_cpu_fft_run(op->fft, op->direction, op->mem->data + op->at, &dev->threads, &ignored);
}

/* Adds `us` of work to a stream and an engine; returns its start. */
static double pass(qn_dev *dev, double *stream_us, double *engine_us, double us)
{
    const double start = max2(dev->clock->host_us, max2(*stream_us, *engine_us));

    *stream_us = *engine_us = start + us;
    return start;
}

/* The compute engine that is free first. */
static double *compute_engine(qn_dev *dev)
{
    double *best = dev->compute_free_us;

    for (uint32_t i = 1; i < dev->limits.kernels; i++)
        if (dev->compute_free_us[i] < *best)
            best = &dev->compute_free_us[i];
    return best;
}

/* Without async copies the device does one thing at a time, and the host waits for it. */
static double pass_copy(qn_dev *dev, double *stream_us, double *engine_us, double us)
{
    double start;

    for (uint32_t i = 0; !dev->limits.async && i < dev->limits.kernels; i++)
        *engine_us = max2(*engine_us, dev->compute_free_us[i]);
    start = pass(dev, stream_us, engine_us, us);
    for (uint32_t i = 0; !dev->limits.async && i < dev->limits.kernels; i++)
        dev->compute_free_us[i] = dev->clock->host_us = *engine_us;
    return start;
}

/* Rounding must not look like a race. */
#define SLACK_US 1e-6

static void check_start(qn_mem *mem, int writes, double start)
{
    const double free_us = writes ? max2(mem->written_us, mem->read_us) : mem->written_us;

    mem->dev->n_races += start + SLACK_US < free_us;
}

static void note_end(qn_mem *mem, int writes, double end)
{
    double *us = writes ? &mem->written_us : &mem->read_us;

    *us = max2(*us, end);
}

static void use_mem(qn_mem *mem, int writes, double start, double end)
{
    check_start(mem, writes, start);
    note_end(mem, writes, end);
}

/* Arguments may share a block, so all are checked before any use is recorded. */
static void use_args(const qn_launch *call, double start, double end)
{
    const qn_arg_info *args = call->kernel->args;

    for (int i = 0; i < call->kernel->n_args; i++)
        if (args[i].mode != QN_ARG_VAL)
            check_start(call->args[i].mem, args[i].mode != QN_ARG_IN, start);
    for (int i = 0; i < call->kernel->n_args; i++)
        if (args[i].mode != QN_ARG_VAL)
            note_end(call->args[i].mem, args[i].mode != QN_ARG_IN, end);
}

static void copy_rows(const qn_sim_op *op)
{
    unsigned char *mem = op->mem->data + op->at;

    for (size_t row = 0; op->bytes && row < op->rows; row++) {
        if (op->kind == QN_SIM_UPLOAD)
            memcpy(mem + row * op->pitch, (const char *)op->src + row * op->bytes, op->bytes);
        else
            memcpy((char *)op->dst + row * op->bytes, mem + row * op->pitch, op->bytes);
    }
}

/* On a lost device downloads fill the host's memory with poison. */
static void run_dead(const qn_sim_op *op)
{
    if (op->kind == QN_SIM_DOWNLOAD)
        memset(op->dst, QN_SIM_POISON, op->bytes * op->rows);
}

void qn_sim_run(qn_dev *dev, const qn_sim_op *op, double *ready_us)
{
    const qn_sim_limits *l = &dev->limits;
    const double total = (double)op->bytes * (double)op->rows;
    double *stream = &ready_us[op->on];
    double start;
    qn_span covered;

    if ((op->kind == QN_SIM_LAUNCH || op->kind == QN_SIM_FFT) && dev->n_launches + 1 == l->fail_at)
        dev->is_dead = 1;
    if (dev->is_dead) {
        run_dead(op);
        return;
    }
    switch (op->kind) {
    case QN_SIM_LAUNCH:
        covered = covered_by(&op->call);
        run_kernel(dev, &op->call, &covered);
        start = pass(dev, stream, compute_engine(dev), launch_us(dev, &op->call, &covered));
        use_args(&op->call, start, *stream);
        break;
    case QN_SIM_FFT:
        run_fft(dev, op);
        start =
            pass(dev, stream, compute_engine(dev), work_us(dev, qn_cpu_fft_traffic(op->fft), 0));
        use_mem(op->mem, 1, start, *stream);
        break;
    case QN_SIM_UPLOAD:
        copy_rows(op);
        start = pass_copy(dev, stream, &dev->h2d_free_us, l->h2d_us + total / (l->h2d_gbps * 1e3));
        use_mem(op->mem, 1, start, *stream);
        break;
    case QN_SIM_DOWNLOAD:
        copy_rows(op);
        start = pass_copy(dev, stream, &dev->d2h_free_us, l->d2h_us + total / (l->d2h_gbps * 1e3));
        use_mem(op->mem, 0, start, *stream);
        break;
    case QN_SIM_PEER:
        if (op->peer->dev->is_dead)
            memset(op->mem->data, QN_SIM_POISON, op->bytes);
        else
            memcpy(op->mem->data, op->peer->data, op->bytes);
        start =
            pass_copy(dev, stream, &dev->h2d_free_us, l->peer_us + total / (l->peer_gbps * 1e3));
        use_mem(op->peer, 0, start, *stream);
        use_mem(op->mem, 1, start, *stream);
        break;
    case QN_SIM_FILL:
        memset(op->mem->data + op->at, QN_SIM_POISON, op->bytes);
        start = max2(dev->clock->host_us, *stream);
        use_mem(op->mem, 1, start, start);
        break;
    case QN_SIM_MARK:
    case QN_SIM_WAIT:
        break; /* a replay orders its own streams */
    }
}
