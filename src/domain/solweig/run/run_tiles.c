/* run_tiles.c - one tile through all rows.
 *
 * Where nothing of a row is asked for, rows are submitted one behind the other and waited for every
 * IN_FLIGHT of them: the device does not idle, and its queue stays short.
 *
 * A stage that fails is the engine's business. Results that cannot be copied out are lost with the
 * state they came from, so the tile is begun again on the CPU; what it has written it writes again.
 */
#include "run_impl.h"
#include "tile_impl.h"

#include "engine/engine.h"
#include "util/clock.h"

#include <quern/metrics.h>

#include <stdlib.h>

enum { IN_FLIGHT = 16 };

/* How the work of a tile is shared between its start and its rows, for progress. */
#define START_SHARE 0.4

static void observe(qn_sw_job *job, const char *name, double value)
{
    qn_metric_observe(qn_metric_of(qn_ctx_metrics(job->ctx), name, NULL), value);
}

static qn_status read_pois(qn_sw_job *job, qn_sw_tile *tile, size_t row, qn_err *err)
{
    qn_status st = QN_OK;

    for (size_t i = 0; i < job->rows.pois.n; i++) {
        const qn_sw_poi *poi = &job->rows.pois.list[i];
        float *to = qn_sw_rows_at(&job->rows, i, row);

        if (!qn_sw_is_inside(poi, &tile->place.core))
            continue;
        for (int p = 0; p < QN_SW_PLANES; p++) {
            if (p == QN_SW_PET && !tile->pet)
                continue;
            job->copied = qn_sw_tile_stage_name(tile, (qn_sw_plane)p);
            QN_TRY(qn_sw_tile_pixel(tile, (qn_sw_plane)p, poi->row, poi->col, &to[p], err));
        }
    }
out:
    return st;
}

static void show(const qn_sw_job *job, const qn_sw_tile *tile, size_t row,
                 const qn_sw_row_slot *slot, qn_sw_row_view *out)
{
    *out = (qn_sw_row_view){ .row = row,
                             .weather = &job->records.weather.rows[row],
                             .sky = &job->records.sky[row],
                             .place = &job->city.surface.dsm.place,
                             .window = tile->place.core };
    for (int p = 0; p < QN_SW_PLANES; p++)
        if (QN_SW_HAS(job->watched, p))
            out->plane[p] = slot->plane[p];
}

/* Files of a row, and the observer. */
static qn_status hand_out(qn_sw_job *job, qn_sw_tile *tile, size_t row, qn_err *err)
{
    const double start = qn_now_us();
    qn_sw_row_slot *slot = qn_sw_job_slot(job);
    qn_sw_row_view view;
    qn_status st = QN_OK;

    for (int p = 0; p < QN_SW_PLANES; p++) {
        if (!QN_SW_HAS(job->wanted, p))
            continue;
        job->copied = qn_sw_tile_stage_name(tile, (qn_sw_plane)p);
        QN_TRY(qn_sw_tile_read(tile, (qn_sw_plane)p, slot->plane[p], err));
    }
    QN_TRY(read_pois(job, tile, row, err));
    job->copied = NULL;
    job->result->times.stitch_ms += (qn_now_us() - start) * 1e-3;
    slot->minutes = job->records.weather.rows[row].minutes;
    slot->window = tile->place.core;
    if (job->options && job->options->observe) {
        show(job, tile, row, slot, &view);
        QN_TRY(job->options->observe(job->options->user, &view, err));
    }
    QN_TRY(qn_sw_job_put_row(job, slot, err));
out:
    return st;
}

static double tile_share(const qn_sw_job *job, qn_i64 number, double inside)
{
    return 0.05 + 0.9 * ((double)number + inside) / (double)qn_sw_plan_tiles(&job->result->plan);
}

static qn_status run_rows(qn_sw_job *job, qn_sw_tile *tile, qn_err *err)
{
    const int has_observer = job->options && job->options->observe;
    const int is_asked = job->wanted || job->rows.pois.n || has_observer;
    const size_t n = job->records.n;
    qn_transfer_count before = { 0 }, after;
    double since = qn_now_us();
    void *records = NULL;
    size_t waited = 0;
    qn_status st = QN_OK;

    for (size_t row = 0; row < n; row++) {
        QN_TRY(qn_sw_tile_step(tile, row, err));
        if (is_asked || row == 0 || row + 1 == n || row % IN_FLIGHT == IN_FLIGHT - 1) {
            double now;

            QN_TRY(qn_sw_tile_wait(tile, err));
            now = qn_now_us();
            for (size_t done = waited; done <= row; done++)
                observe(job, "timestep_wall_time_s",
                        (now - since) * 1e-6 / (double)(row + 1 - waited));
            job->result->times.steps_s += (now - since) * 1e-6;
            waited = row + 1;
        }
        if (row == 0)
            before = qn_ctx_transfers(job->ctx); /* the first run brought everything there */
        if (is_asked)
            QN_TRY(hand_out(job, tile, row, err));
        if (waited == row + 1)
            since = qn_now_us();
        qn_sw_job_tell(job, "rows",
                       tile_share(job, tile->place.number,
                                  START_SHARE + (1 - START_SHARE) * (double)(row + 1) / (double)n));
    }
    after = qn_ctx_transfers(job->ctx);
    job->result->h2d_bytes_loop += after.h2d_bytes - before.h2d_bytes;
    job->result->d2h_bytes_loop += after.d2h_bytes - before.d2h_bytes;
    /* All records in one download; then each is read from the host. */
    job->copied = "summary";
    QN_TRY(qn_buf_host(tile->summary->records, QN_HOST_READ, &records, err));
    for (size_t row = 0; row < n; row++)
        QN_TRY(qn_sw_summary_read(tile->summary, (int)row, &job->rows.sums[tile->place.number][row],
                                  err));
    job->copied = NULL;
out:
    return st;
}

static qn_status write_grids(qn_sw_job *job, qn_sw_tile *tile, qn_err *err)
{
    const qn_sw_window *core = &tile->place.core;
    float *grid = NULL;
    qn_status st = QN_OK;

    if (!job->outputs || job->config->no_summary)
        return QN_OK;
    for (int which = 0; which < qn_sw_grid_count(&job->scene); which++) {
        char name[64];

        if (!(grid = malloc((size_t)core->rows * (size_t)core->cols * sizeof *grid)))
            return qn_fail(err, QN_ERR_NOMEM, "no memory for a summary grid");
        qn_sw_grid_name(&job->scene, which, name, sizeof name);
        job->copied = "summary";
        QN_TRY(qn_sw_tile_grid(tile, which, grid, err));
        job->copied = NULL;
        st = qn_sw_job_put_grid(job, name, core, grid, err);
        grid = NULL;
        QN_TRY(st);
    }
out:
    free(grid);
    return st;
}

/* The tile after `number` that is still to be computed; -1: none. */
static qn_i64 next_tile(const qn_sw_job *job, qn_i64 number)
{
    for (qn_i64 t = number + 1; t < qn_sw_plan_tiles(&job->result->plan); t++)
        if (!job->is_done[t])
            return t;
    return -1;
}

/* Waits for this tile's layers, and has those of the next one cut meanwhile. */
static qn_status look_ahead(qn_sw_job *job, qn_i64 number, qn_sw_tile_stage *stage, qn_err *err)
{
    const qn_i64 next = next_tile(job, number);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_job_await_next(job, err));
    *stage = job->next;
    job->next = (qn_sw_tile_stage){ 0 };
    if (next >= 0 && job->n_slots > 1) {
        const qn_sw_tile_place place = qn_sw_plan_tile(&job->result->plan, next);

        QN_TRY(qn_sw_job_put_next(job, &place, err));
    }
out:
    return st;
}

static qn_status compute_tile(qn_sw_job *job, const qn_sw_tile_place *place,
                              qn_sw_tile_stage *stage, qn_err *err)
{
    qn_sw_tile *tile = NULL;
    qn_status st = QN_OK;

    job->copied = NULL;
    QN_TRY(qn_sw_tile_open(&job->scene, place, stage, &job->marches, &tile, err));
    job->result->times.svf_s += tile->svf_s;
    if (!job->scene.kept) {
        observe(job, "svf_tile_wall_time_s", tile->svf_s);
        qn_metric_set(qn_metric_of(qn_ctx_metrics(job->ctx), "svf_patch_progress_rate", NULL),
                      job->marches.sky->n_patches / (tile->svf_s > 0 ? tile->svf_s : 1e-9));
    }
    qn_sw_job_tell(job, "sky view", tile_share(job, place->number, START_SHARE));
    QN_TRY(run_rows(job, tile, err));
    QN_TRY(write_grids(job, tile, err));
out:
    qn_sw_tile_close(tile);
    return st;
}

/* A device that fails inside a graph has had its line from the engine; so has not a copy. */
static qn_status compute_again(qn_sw_job *job, const qn_sw_tile_place *place, qn_err *err)
{
    qn_sw_tile_stage none = { 0 };
    qn_status st = QN_OK;

    if (job->copied)
        QN_TRY(qn_fallback_note(job->ctx, job->copied, err));
    job->scene.is_on_cpu = 1;
    QN_TRY(compute_tile(job, place, &none, err));
out:
    job->scene.is_on_cpu = 0;
    return st;
}

qn_status qn_sw_job_tile(qn_sw_job *job, qn_i64 number, qn_err *err)
{
    const qn_sw_tile_place place = qn_sw_plan_tile(&job->result->plan, number);
    const double start = qn_now_us();
    qn_sw_tile_stage stage = { 0 };
    qn_status st = QN_OK;

    if (job->is_done[number]) {
        job->result->n_tiles_kept++;
        return qn_sw_rows_load(&job->rows, job->config->out, &place, err);
    }
    QN_TRY(qn_sw_rows_begin(&job->rows, number, err));
    QN_TRY(look_ahead(job, number, &stage, err));
    st = compute_tile(job, &place, &stage, err);
    if (qn_sw_is_of_device(st))
        st = compute_again(job, &place, err);
    QN_TRY(st);
    QN_TRY(qn_sw_job_put_end(job, &place, err));
    job->tile_ms[job->result->n_tiles_done++] = (qn_now_us() - start) * 1e-3;
    observe(job, "tile_turnaround_ms", (qn_now_us() - start) * 1e-3);
out:
    qn_sw_stage_free(&stage);
    return st;
}
