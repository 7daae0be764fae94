/* progress.c - saves the progress of a tile, so that an interrupted run loses little.
 *
 * A step depends on earlier ones only through the state of the tile: delayed radiation and the sums
 * of the summary. A checkpoint is this state and the figures so far.
 */
#include "run_impl.h"

#include "util/clock.h"
#include "util/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef qn_status copy_figures(qn_sw_figures *figures, const char *path, const qn_tile *tile,
                               qn_err *err);

/* Saves or loads the figures of a tile after `step` steps. */
static qn_status with_figures(qn_sw_job *job, const qn_tile *tile, size_t step, copy_figures *copy,
                              qn_err *err)
{
    char *path = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_outputs_scratch(job->outputs, "figures", tile->number, (qn_i64)step, &path, err));
    QN_TRY(copy(&job->figures, path, tile, err));
out:
    free(path);
    return st;
}

qn_status qn_sw_job_load_figures(qn_sw_job *job, const qn_tile *tile, qn_err *err)
{
    return with_figures(job, tile, job->forcing.n, qn_sw_figures_load, err);
}

qn_status qn_sw_job_end_tile(qn_sw_job *job, const qn_tile *tile, qn_err *err)
{
    const size_t n = job->forcing.n;
    qn_status st = QN_OK;

    QN_TRY(with_figures(job, tile, n, qn_sw_figures_save, err));
    QN_TRY(qn_sw_outputs_note(job->outputs, tile->number, (qn_i64)n, 1, err));
out:
    return st;
}

qn_status qn_sw_job_restore(qn_sw_job *job, const qn_tile_slot *slot, size_t *step, qn_err *err)
{
    const qn_i64 progress = job->progress[slot->tile.number];
    char *path = NULL;
    FILE *file = NULL;
    qn_status st = QN_OK;

    *step = 0;
    if (!job->outputs || progress <= 0 || progress >= (qn_i64)job->forcing.n)
        return QN_OK;
    QN_TRY(qn_sw_job_await_writes(job, err));
    QN_TRY(with_figures(job, &slot->tile, (size_t)progress, qn_sw_figures_load, err));
    QN_TRY(qn_sw_outputs_scratch(job->outputs, "state", slot->tile.number, progress, &path, err));
    if (!(file = fopen(path, "rbe")))
        QN_FAIL(err, QN_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    QN_TRY(qn_sw_tile_load(job->tile, file, (size_t)progress, err));
    *step = (size_t)progress;
    job->result->n_steps_resumed += progress;
out:
    if (file)
        fclose(file);
    free(path);
    return st;
}

static qn_status save_state(qn_sw_job *job, qn_tile_slot *slot, size_t step, qn_err *err)
{
    char *path = NULL;
    qn_out out = { 0 };
    qn_status st = QN_OK;

    QN_TRY(
        qn_sw_outputs_scratch(job->outputs, "state", slot->tile.number, (qn_i64)step, &path, err));
    QN_TRY(qn_out_direct(path, &out, err));
    slot->stage = "checkpoint"; /* the stage that a device failure from here on is reported for */
    QN_TRY(qn_sw_tile_save(job->tile, out.file, err));
    slot->stage = NULL;
    QN_TRY(qn_out_commit(&out, err));
out:
    qn_out_abort(&out);
    free(path);
    return st;
}

/* The files are written here and noted by the queue, after all before `step`. */
qn_status qn_sw_job_save(qn_sw_job *job, qn_tile_slot *slot, size_t step, qn_err *err)
{
    const double start = qn_now_us(), bytes = (double)qn_sw_tile_state_bytes(job->tile);
    qn_status st = QN_OK;

    if (!job->outputs || step >= job->forcing.n || !qn_pace_is_due(&job->pace, bytes))
        return QN_OK;
    QN_TRY(with_figures(job, &slot->tile, step, qn_sw_figures_save, err));
    QN_TRY(save_state(job, slot, step, err));
    QN_TRY(qn_sw_job_put_state(job, &slot->tile, (qn_i64)step, err));
    job->progress[slot->tile.number] = (qn_i64)step;
    qn_pace_note(&job->pace, bytes, start);
out:
    return st;
}
