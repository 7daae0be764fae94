/* writes.c - host work during the computation: writes rasters of steps and grids, records finished
 * tiles, and cuts the layers of the next tile.
 *
 * All of it goes through one queue, so only one thread uses the files, and a tile is recorded after
 * all its data are written. Planes of steps are in slots. There is one slot more than queue items,
 * so that the next one to fill is always free.
 */
#include "run_impl.h"

#include "util/clock.h"

#include <quern/metrics.h>

#include <stdlib.h>

/* One item runs, one waits. */
enum { LIMIT = QN_SW_SLOTS - 1 };

qn_status qn_sw_job_writes_begin(qn_sw_job *job, qn_err *err)
{
    const qn_tiles *plan = &job->result->plan;
    const size_t pixels = (size_t)(plan->core < plan->rows ? plan->core : plan->rows) *
                          (size_t)(plan->core < plan->cols ? plan->core : plan->cols);
    const int limit = qn_ctx_settings(job->ctx)->overlap ? LIMIT : 0;

    for (int s = 0; s <= limit; s++) {
        job->slots[s].job = job;
        for (int p = 0; p < QN_SW_PLANES; p++)
            if (QN_SW_HAS(job->wanted, p) &&
                !(job->slots[s].plane[p] = malloc(pixels * sizeof(float))))
                return qn_fail(err, QN_ERR_NOMEM, "no memory for outputs of %zu pixels", pixels);
    }
    job->n_slots = limit + 1;
    return qn_write_queue_open(limit, &job->queue, err);
}

void qn_sw_job_writes_end(qn_sw_job *job)
{
    if (job->queue) /* what was put before another failure is still worth having */
        (void)qn_write_queue_wait(job->queue, qn_write_queue_get_stats(job->queue).n_put, NULL);
    qn_write_queue_close(job->queue);
    job->queue = NULL;
    for (int s = 0; s < QN_SW_SLOTS; s++)
        for (int p = 0; p < QN_SW_PLANES; p++)
            free(job->slots[s].plane[p]);
    qn_sw_cut_free(&job->next);
}

/* Steps. */

qn_sw_step_slot *qn_sw_job_slot(qn_sw_job *job)
{
    return &job->slots[job->n_steps_put % job->n_slots];
}

static qn_status write_step(void *item, qn_err *err)
{
    const qn_sw_step_slot *slot = item;
    qn_sw_job *job = slot->job;
    const double start = qn_now_us();
    qn_status st = QN_OK;

    for (int p = 0; p < QN_SW_PLANES; p++)
        if (QN_SW_HAS(job->written, p))
            QN_TRY(qn_sw_outputs_write(job->outputs, &slot->tile,
                                       qn_sw_job_raster(job, slot->step, (qn_sw_plane)p),
                                       slot->plane[p], err));
    job->write_s += (qn_now_us() - start) * 1e-6;
out:
    return st;
}

qn_status qn_sw_job_put_step(qn_sw_job *job, qn_sw_step_slot *slot, qn_err *err)
{
    static const qn_write_work work = { write_step, NULL };

    if (!job->outputs || !job->written)
        return QN_OK;
    job->n_steps_put++;
    return qn_write_queue_put(job->queue, &work, slot, err);
}

/* Grids, states, and the end of a tile. */

typedef struct grid_item {
    qn_sw_job *job;
    int which;
    qn_tile tile;
    float *data;
} grid_item;

static qn_status write_grid(void *item, qn_err *err)
{
    const grid_item *grid = item;

    return qn_sw_outputs_write(grid->job->outputs, &grid->tile,
                               qn_sw_job_grid(grid->job, grid->which), grid->data, err);
}

static void drop_grid(void *item)
{
    free(((grid_item *)item)->data);
    free(item);
}

qn_status qn_sw_job_put_grid(qn_sw_job *job, int which, const qn_tile *tile, float *data,
                             qn_err *err)
{
    static const qn_write_work work = { write_grid, drop_grid };
    grid_item *item = malloc(sizeof *item);

    if (!item) {
        free(data);
        return qn_fail(err, QN_ERR_NOMEM, "no memory to write a summary grid");
    }
    *item = (grid_item){ .job = job, .which = which, .tile = *tile, .data = data };
    return qn_write_queue_put(job->queue, &work, item, err);
}

typedef struct tile_item {
    qn_sw_job *job;
    qn_tile tile;
    qn_i64 step;
} tile_item;

static qn_status note_state(void *item, qn_err *err)
{
    const tile_item *at = item;

    return qn_sw_outputs_note(at->job->outputs, at->tile.number, at->step, 0, err);
}

static qn_status finish_tile(void *item, qn_err *err)
{
    const tile_item *tile = item;

    return qn_sw_job_end_tile(tile->job, &tile->tile, err);
}

static qn_status put_tile(qn_sw_job *job, const qn_write_work *work, const qn_tile *tile,
                          qn_i64 step, qn_err *err)
{
    tile_item *item = malloc(sizeof *item);

    if (!item)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for tile %lld", (long long)tile->number);
    *item = (tile_item){ job, *tile, step };
    return qn_write_queue_put(job->queue, work, item, err);
}

qn_status qn_sw_job_put_state(qn_sw_job *job, const qn_tile *tile, qn_i64 step, qn_err *err)
{
    static const qn_write_work work = { note_state, free };

    return put_tile(job, &work, tile, step, err);
}

qn_status qn_sw_job_put_end(qn_sw_job *job, const qn_tile *tile, qn_err *err)
{
    static const qn_write_work work = { finish_tile, free };

    return job->outputs ? put_tile(job, &work, tile, 0, err) : QN_OK;
}

/* The next tile. */

static qn_status cut_next(void *item, qn_err *err)
{
    const tile_item *tile = item;

    return qn_sw_cut_make(&tile->job->city, &tile->tile, &tile->job->next, err);
}

qn_status qn_sw_job_put_next(qn_sw_job *job, const qn_tile *tile, qn_err *err)
{
    static const qn_write_work work = { cut_next, free };
    const qn_status st = put_tile(job, &work, tile, 0, err);

    job->next_ticket = qn_write_queue_get_stats(job->queue).n_put;
    job->result->n_tiles_ahead++;
    return st;
}

/* Waits until everything is written, and sets the metrics of the queue. */
qn_status qn_sw_job_await_writes(qn_sw_job *job, qn_err *err)
{
    const qn_write_queue_stats stats = qn_write_queue_get_stats(job->queue);
    const qn_status st = qn_write_queue_wait(job->queue, stats.n_put, err);
    const int limit = qn_ctx_settings(job->ctx)->overlap ? LIMIT : 0;
    qn_metrics *metrics = qn_ctx_metrics(job->ctx);

    job->result->times.write_s = job->write_s;
    job->result->queue_peak = qn_write_queue_get_stats(job->queue).peak;
    /* Plus the tile or step being computed. */
    qn_metric_set(qn_metric_of(metrics, "inflight_limit", NULL), 1 + limit);
    qn_metric_max(qn_metric_of(metrics, "max_queue", NULL), 1 + job->result->queue_peak);
    return st;
}
