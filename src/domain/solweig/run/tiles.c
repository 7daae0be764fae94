/* tiles.c - takes all tiles through all steps.
 *
 * If no results of single steps are requested, steps are submitted without waiting, except after
 * every IN_FLIGHT of them, so that the device does not idle and its queue stays short.
 *
 * If results cannot be copied out, the state they came from is lost too. The CPU then continues
 * from the last checkpoint of the tile and rewrites the results after it.
 */
#include "run_impl.h"

#include "util/clock.h"

#include <quern/metrics.h>

#include <stdlib.h>

enum { IN_FLIGHT = 16 };

/* The start of a tile as a fraction of its work, for progress. */
#define START_SHARE 0.4

static void observe(qn_sw_job *job, const char *name, double value)
{
    qn_metric_observe(qn_metric_of(qn_ctx_metrics(job->ctx), name, NULL), value);
}

static qn_status read_pois(qn_sw_job *job, qn_tile_slot *slot, size_t step, qn_err *err)
{
    qn_sw_tile *tile = job->tile;
    qn_status st = QN_OK;

    for (size_t i = 0; i < job->figures.pois.n; i++) {
        const qn_sw_poi *poi = &job->figures.pois.list[i];
        float *to = qn_sw_figures_at(&job->figures, i, step);

        if (!qn_window_has(&slot->tile.core, poi->row, poi->col))
            continue;
        for (int p = 0; p < QN_SW_PLANES; p++) {
            if (p == QN_SW_PET && !tile->pet)
                continue;
            slot->stage = qn_sw_tile_stage_name(tile, (qn_sw_plane)p);
            QN_TRY(qn_sw_tile_pixel(tile, (qn_sw_plane)p, poi->row, poi->col, &to[p], err));
        }
    }
out:
    return st;
}

static qn_status show(const qn_sw_job *job, const qn_sw_step_slot *slot, size_t step, qn_err *err)
{
    const qn_sw_run_hooks *hooks = job->hooks;
    qn_sw_step_view view = { .step = step,
                             .weather = &job->forcing.weather.rows[step],
                             .sky = &job->forcing.sky[step],
                             .place = &job->city.surface.dsm.place,
                             .window = slot->tile.core };

    if (!hooks || !hooks->observe)
        return QN_OK;
    for (int p = 0; p < QN_SW_PLANES; p++)
        if (QN_SW_HAS(job->watched, p))
            view.plane[p] = slot->plane[p];
    return hooks->observe(hooks->user, &view, err);
}

/* Writes the files of a step and calls the observer. */
static qn_status hand_out(qn_sw_job *job, qn_tile_slot *slot, size_t step, qn_err *err)
{
    const double start = qn_now_us();
    qn_sw_step_slot *to = qn_sw_job_slot(job);
    qn_status st = QN_OK;

    for (int p = 0; p < QN_SW_PLANES; p++) {
        if (!QN_SW_HAS(job->wanted, p))
            continue;
        slot->stage = qn_sw_tile_stage_name(job->tile, (qn_sw_plane)p);
        QN_TRY(qn_sw_tile_read(job->tile, (qn_sw_plane)p, to->plane[p], err));
    }
    QN_TRY(read_pois(job, slot, step, err));
    slot->stage = NULL;
    job->result->times.stitch_ms += (qn_now_us() - start) * 1e-3;
    to->step = step;
    to->minutes = job->forcing.weather.rows[step].minutes;
    to->tile = slot->tile;
    QN_TRY(show(job, to, step, err));
    QN_TRY(qn_sw_job_put_step(job, to, err));
out:
    return st;
}

static double tile_share(const qn_sw_job *job, const qn_tile_slot *slot, double inside)
{
    return 0.05 +
           0.9 * ((double)slot->tile.number + inside) / (double)qn_tiles_count(&job->result->plan);
}

/* Waits for steps [first, end), which began at `start_us`. */
static qn_status wait_for_steps(qn_sw_job *job, size_t first, size_t end, double start_us,
                                qn_err *err)
{
    double seconds;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_wait(job->tile->step, err));
    seconds = (qn_now_us() - start_us) * 1e-6;
    for (size_t step = first; step < end; step++)
        observe(job, "timestep_wall_time_s", seconds / (double)(end - first));
    job->result->times.steps_s += seconds;
out:
    return st;
}

static qn_status run_steps(void *user, qn_tile_slot *slot, qn_err *err)
{
    qn_sw_job *job = user;
    const int is_watched = job->hooks && job->hooks->observe;
    const int is_requested = job->wanted || job->figures.pois.n || is_watched;
    const size_t n = job->forcing.n;
    qn_transfer_count before = { 0 }, after;
    double since = qn_now_us();
    size_t first = 0, waited;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_job_restore(job, slot, &first, err));
    waited = first;
    for (size_t step = first; step < n; step++) {
        const int is_wait =
            is_requested || step == first || step + 1 == n || step % IN_FLIGHT == IN_FLIGHT - 1;

        QN_TRY(qn_sw_tile_step(job->tile, step, err));
        if (is_wait)
            QN_TRY(wait_for_steps(job, waited, step + 1, since, err));
        if (step == first)
            before = qn_ctx_transfers(job->ctx); /* the first step has uploaded everything */
        if (is_requested)
            QN_TRY(hand_out(job, slot, step, err));
        if (is_wait) {
            QN_TRY(qn_sw_job_save(job, slot, step + 1, err));
            waited = step + 1;
            since = qn_now_us();
        }
        qn_sw_job_advance(
            job, "steps",
            tile_share(job, slot,
                       START_SHARE + (1 - START_SHARE) * (double)(step + 1) / (double)n));
    }
    after = qn_ctx_transfers(job->ctx);
    job->result->h2d_bytes_loop += after.h2d_bytes - before.h2d_bytes;
    job->result->d2h_bytes_loop += after.d2h_bytes - before.d2h_bytes;
out:
    return st;
}

/* Downloads all records at once, then reads each from the host. */
static qn_status read_sums(qn_sw_job *job, qn_tile_slot *slot, qn_err *err)
{
    qn_sw_summary *summary = job->tile->summary;
    qn_sw_step_sums *sums = job->figures.sums[slot->tile.number];
    void *records = NULL;
    qn_status st = QN_OK;

    slot->stage = "summary";
    QN_TRY(qn_buf_host(summary->records, QN_HOST_READ, &records, err));
    for (size_t step = 0; step < job->forcing.n; step++)
        QN_TRY(qn_sw_summary_read(summary, (int)step, &sums[step], err));
    slot->stage = NULL;
out:
    return st;
}

static qn_status write_grids(qn_sw_job *job, qn_tile_slot *slot, qn_err *err)
{
    float *grid = NULL;
    qn_status st = QN_OK;

    if (!job->outputs || job->options->no_summary)
        return QN_OK;
    for (int which = 0; which < qn_sw_grid_count(&job->scene); which++) {
        if (!(grid = malloc(qn_window_pixels(&slot->tile.core) * sizeof *grid)))
            return qn_fail(err, QN_ERR_NOMEM, "no memory for a summary grid");
        slot->stage = "summary";
        QN_TRY(qn_sw_tile_grid(job->tile, which, grid, err));
        slot->stage = NULL;
        st = qn_sw_job_put_grid(job, which, &slot->tile, grid, err);
        grid = NULL;
        QN_TRY(st);
    }
out:
    free(grid);
    return st;
}

/* Phases of a tile. */

static int is_done(void *user, qn_i64 number)
{
    return ((const qn_sw_job *)user)->progress[number] == QN_SW_TILE_DONE;
}

/* Waits for the layers of tile `number`, and queues cutting those of the next one. */
static qn_status take_layers(qn_sw_job *job, qn_i64 number, qn_sw_cut *out, qn_err *err)
{
    const qn_tiles *plan = &job->result->plan;
    qn_i64 next = number + 1;
    qn_status st = QN_OK;

    QN_TRY(qn_write_queue_wait(job->queue, job->next_ticket, err));
    *out = job->next;
    job->next = (qn_sw_cut){ 0 };
    while (next < qn_tiles_count(plan) && is_done(job, next))
        next++;
    if (next < qn_tiles_count(plan) && job->n_slots > 1) {
        const qn_tile tile = qn_tiles_at(plan, next);

        QN_TRY(qn_sw_job_put_next(job, &tile, err));
    }
out:
    return st;
}

static qn_status begin(void *user, qn_tile_slot *slot, qn_err *err)
{
    qn_sw_job *job = user;
    qn_sw_cut cut = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_figures_begin(&job->figures, slot->tile.number, err));
    if (!slot->is_on_cpu)
        QN_TRY(take_layers(job, slot->tile.number, &cut, err));
    QN_TRY(qn_sw_tile_open(&job->scene, slot, &cut, &job->tables, &job->tile, err));
    job->result->times.svf_s += job->tile->svf_s;
    if (!job->scene.cached) {
        observe(job, "svf_tile_wall_time_s", job->tile->svf_s);
        qn_metric_set(qn_metric_of(qn_ctx_metrics(job->ctx), "svf_patch_progress_rate", NULL),
                      job->tables.sky->n_patches /
                          (job->tile->svf_s > 0 ? job->tile->svf_s : 1e-9));
    }
    qn_sw_job_advance(job, "sky view", tile_share(job, slot, START_SHARE));
out:
    qn_sw_cut_free(&cut);
    return st;
}

static qn_status collect(void *user, qn_tile_slot *slot, qn_err *err)
{
    qn_sw_job *job = user;
    double ms;
    qn_status st = QN_OK;

    QN_TRY(read_sums(job, slot, err));
    QN_TRY(write_grids(job, slot, err));
    QN_TRY(qn_sw_job_put_end(job, &slot->tile, err));
    ms = (qn_now_us() - slot->start_us) * 1e-3;
    job->tile_ms[job->result->n_tiles_done++] = ms;
    observe(job, "tile_turnaround_ms", ms);
out:
    return st;
}

static void clear(void *user, QN_UNUSED qn_tile_slot *slot)
{
    qn_sw_job *job = user;

    qn_sw_tile_close(job->tile);
    job->tile = NULL;
}

/* Loads the progress of the interrupted run. */
static qn_status load_finished(qn_sw_job *job, qn_err *err)
{
    const qn_tiles *plan = &job->result->plan;
    qn_status st = QN_OK;

    for (qn_i64 t = 0; t < qn_tiles_count(plan); t++) {
        const qn_tile tile = qn_tiles_at(plan, t);

        if (!is_done(job, t))
            continue;
        job->result->n_tiles_resumed++;
        QN_TRY(qn_sw_job_load_figures(job, &tile, err));
    }
out:
    return st;
}

qn_status qn_sw_job_tiles(qn_sw_job *job, qn_err *err)
{
    const qn_tile_work work = { .user = job,
                                .is_done = is_done,
                                .begin = begin,
                                .compute = run_steps,
                                .collect = collect,
                                .clear = clear };
    qn_status st = QN_OK;

    QN_TRY(load_finished(job, err));
    QN_TRY(qn_tiles_run(job->ctx, &job->result->plan, &work, NULL, err));
out:
    return st;
}
