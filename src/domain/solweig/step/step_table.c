/* step_table.c - records of time steps in buffers. */
#include "step.h"

#include "kernel/solweig/sw_radiation.h"
#include "kernel/sw_ground.gen.h"
#include "util/list.h"

#include <stdlib.h>

qn_status qn_sw_buf_new(qn_ctx *ctx, const char *name, size_t elems, size_t bytes, qn_buf **out,
                        qn_err *err)
{
    size_t all = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_size_mul(elems, bytes, name, &all, err));
    QN_TRY(qn_buf_new(ctx, name, all, out, err));
out:
    return st;
}

static qn_status filled(qn_ctx *ctx, const char *name, const void *data, size_t n, size_t bytes,
                        qn_buf **out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_sw_buf_new(ctx, name, n, bytes, out, err));
    QN_TRY(qn_buf_write(*out, 0, data, n * bytes, err));
out:
    return st;
}

qn_status qn_sw_step_table_new(qn_ctx *ctx, int n_steps, const sw_moment *steps, int n_patches,
                               const sw_patch *patches, const sw_sky *sky, qn_sw_step_table **out,
                               qn_err *err)
{
    const int zero = 0;
    qn_sw_step_table *series = NULL;
    qn_status st = QN_OK;

    if (n_steps < 1)
        return qn_fail(err, QN_ERR_USAGE, "a series of %d steps", n_steps);
    if (n_patches < 0 || n_patches > 32 * SW_MAX_WORDS || n_patches % SW_PATCH_CHUNK)
        return qn_fail(err, QN_ERR_USAGE, "a table of %d patches; it has a multiple of %d up to %d",
                       n_patches, SW_PATCH_CHUNK, 32 * SW_MAX_WORDS);
    QN_TRY(QN_NEW(series, 1, "a series of steps", err));
    *series = (qn_sw_step_table){ .ctx = ctx, .n_steps = n_steps, .n_patches = n_patches };
    QN_TRY(filled(ctx, "now", &zero, 1, sizeof zero, &series->now, err));
    QN_TRY(filled(ctx, "steps", steps, (size_t)n_steps, sizeof *steps, &series->steps, err));
    if (n_patches) {
        QN_TRY(filled(ctx, "patches", patches, (size_t)n_patches, sizeof *patches, &series->patches,
                      err));
        QN_TRY(filled(ctx, "sky", sky, (size_t)n_steps, (size_t)n_patches * sizeof *sky,
                      &series->sky, err));
    }
    *out = series;
    series = NULL;
out:
    qn_sw_step_table_free(series);
    return st;
}

void qn_sw_step_table_free(qn_sw_step_table *series)
{
    if (!series)
        return;
    qn_buf_free(series->now);
    qn_buf_free(series->steps);
    qn_buf_free(series->sky);
    qn_buf_free(series->patches);
    free(series);
}

qn_status qn_sw_step_table_seek(qn_sw_step_table *series, int step, qn_err *err)
{
    if (step < 0 || step >= series->n_steps)
        return qn_fail(err, QN_ERR_USAGE, "step %d of a series of %d", step, series->n_steps);
    return qn_buf_write(series->now, 0, &step, sizeof step, err);
}

qn_status qn_sw_add_next(qn_sw_step_table *series, qn_graph *graph, qn_err *err)
{
    return stage_sw_next(graph, "next", qn_range_1d(1), series->now, err);
}
