/* fft_stage.c - a stage that is a Fourier transform.
 *
 * For the rest of the engine it is an ordinary stage: a head with one INOUT argument, and an op
 * with a cost and an exactness. Only preparation and launch differ: they ask the backend for a plan
 * instead of a module.
 */
#include "engine/graph/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const qn_kernel_module module;

static const qn_arg_info data_f32[] = { { "data", "float", sizeof(float), QN_ARG_INOUT } };
static const qn_arg_info data_f64[] = { { "data", "double", sizeof(double), QN_ARG_INOUT } };

static const qn_kernel_info heads[2] = {
    { .name = "fft_f32", .n_args = 1, .unroll = 1, .args = data_f32, .module = &module },
    { .name = "fft_f64", .n_args = 1, .unroll = 1, .args = data_f64, .module = &module },
};

static const qn_kernel_info *const head_list[] = { &heads[0], &heads[1] };
static const qn_kernel_module module = { .name = "fft", .kernels = head_list, .n_kernels = 2 };

/* Two passes that read and write every field; 2.5 n log2 n operations for n points. */
static qn_cost cost(const qn_op *op, const qn_op_use *use)
{
    const qn_range *r = &use->range;
    const double n = (double)(r->x1 - r->x0) * (double)(r->y1 - r->y0);
    const double all = n * (double)(r->z1 - r->z0);
    const double bytes = 2 * all * use->kernel->args[0].size;

    return (qn_cost){ bytes, bytes, op->work * all * log2(n) };
}

static const qn_op ops[2] = {
    { .name = "fft_f32",
      .priority = QN_PRIORITY_HOT,
      .cost = cost,
      .work = 2.5,
      .exactness = QN_EXACT_NORM,
      .tolerance = 5e-6 },
    { .name = "fft_f64",
      .priority = QN_PRIORITY_HOT,
      .cost = cost,
      .work = 2.5,
      .exactness = QN_EXACT_NORM,
      .tolerance = 1e-13 },
};

static qn_status check(const char *name, const qn_fft_shape *shape, const qn_buf *buf,
                       size_t offset, qn_err *err)
{
    const int sides[] = { shape->rows, shape->cols };

    for (int i = 0; i < 2; i++)
        if (sides[i] < 4 || sides[i] > 65536 || sides[i] % 2)
            return qn_fail(err, QN_ERR_USAGE,
                           "stage %s: a field of %d x %d; sides are even, from 4 to 65536", name,
                           shape->rows, shape->cols);
    if (shape->batch < 1 || shape->batch > 65535)
        return qn_fail(err, QN_ERR_USAGE, "stage %s: a batch of %d fields, not 1 to 65535", name,
                       shape->batch);
    if (shape->keep &&
        (shape->keep < 1 || 2 * shape->keep >= shape->rows || 2 * shape->keep >= shape->cols))
        return qn_fail(err, QN_ERR_USAGE, "stage %s: keeps modes up to %d of a field of %d x %d",
                       name, shape->keep, shape->rows, shape->cols);
    if ((buf->offset + offset) % 16)
        return qn_fail(err, QN_ERR_USAGE, "stage %s: offset %zu is not a multiple of 16", name,
                       buf->offset + offset);
    if (offset > buf->bytes || qn_fft_bytes(shape) > buf->bytes - offset)
        return qn_fail(err, QN_ERR_USAGE,
                       "stage %s: %zu bytes at %zu exceed buffer %s of %zu bytes", name,
                       qn_fft_bytes(shape), offset, buf->name, buf->bytes);
    return QN_OK;
}

qn_status qn_graph_fft(qn_graph *graph, const char *name, const qn_fft_shape *shape,
                       qn_fft_direction direction, qn_buf *buf, size_t offset, qn_err *err)
{
    const qn_arg arg = qn_arg_at(buf, offset);
    qn_stage_fft *fft = NULL;
    qn_status st = QN_OK;
    qn_range range;
    int which;

    QN_TRY(QN_CHECK_CALL(NULL, err, graph, name, shape, buf));
    which = shape->is_f64 != 0;
    range = qn_range_3d(shape->cols, shape->rows, shape->batch);
    QN_TRY(check(name, shape, buf, offset, err));
    if (!(fft = calloc(1, sizeof *fft)))
        QN_FAIL(err, QN_ERR_NOMEM, "stage %s: out of host memory", name);
    fft->shape = *shape;
    fft->direction = direction;
    QN_TRY(qn_graph_add(graph, name, &ops[which], &heads[which], range, &arg, err));
    graph->stages[graph->n_stages - 1].fft = fft;
    return QN_OK;
out:
    free(fft);
    return st;
}

void qn_stage_fft_free(qn_graph *graph, qn_stage_fft *fft)
{
    for (int d = 0; fft && d < graph->ctx->n_devices; d++)
        if (fft->own >> d & 1)
            qn_fft_free(&graph->ctx->devices[d], fft->plans[d]);
    free(fft);
}

qn_status qn_stage_fft_plan(qn_stage *stage, qn_device *device, qn_err *err)
{
    qn_stage_fft *fft = stage->fft;
    qn_status st;
    int is_own;

    if (fft->plans[device->slot])
        return QN_OK;
    if (device->slot != QN_CPU_SLOT &&
        qn_fault_hits(device->ctx->faults, "compile", stage->name, 0))
        return qn_fail(err, QN_ERR_INJECTED, "injected compile fault (kernel %s)",
                       stage->kernel->name);
    st = qn_fft_get(device, &fft->shape, &fft->plans[device->slot], &is_own, err);
    if (st == QN_OK)
        fft->own |= (unsigned)is_own << device->slot;
    return st;
}

qn_status qn_stage_fft_run(qn_stage *stage, qn_device *device, const qn_launch_arg *data,
                           qn_stream on, qn_err *err)
{
    return device->backend->fft_run(device->dev, stage->fft->plans[device->slot],
                                    stage->fft->direction, data, on, err);
}

/* The number of reals in row `y` that have a defined value after the transform. */
static int defined_reals(const qn_stage_fft *fft, int y)
{
    const qn_fft_shape *s = &fft->shape;
    const int ky = y % s->rows <= s->rows / 2 ? y % s->rows : s->rows - y % s->rows;

    if (fft->direction == QN_FFT_INVERSE)
        return s->cols;
    if (!s->keep)
        return s->cols + 2;
    return ky <= s->keep ? 2 * (s->keep + 1) : 0;
}

void qn_stage_fft_ignore(const qn_stage *stage, void *want, const void *got)
{
    const qn_fft_shape *s = &stage->fft->shape;
    const size_t real = s->is_f64 ? sizeof(double) : sizeof(float);
    const size_t row = ((size_t)s->cols + 2) * real;
    size_t at = stage->args[0].offset;

    for (int y = 0; y < s->batch * s->rows; y++, at += row) {
        const size_t skip = (size_t)defined_reals(stage->fft, y) * real;

        memcpy((char *)want + at + skip, (const char *)got + at + skip, row - skip);
    }
}
