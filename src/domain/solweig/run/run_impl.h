/* run_impl.h - the state of a run, shared by the files of this folder. */
#ifndef QN_SW_RUN_IMPL_H
#define QN_SW_RUN_IMPL_H

#include "domain/solweig/output/outputs.h"
#include "domain/solweig/picture/map_png.h"
#include "domain/solweig/run/tile.h"
#include "engine/engine.h"
#include "util/pace.h"

typedef struct qn_sw_job qn_sw_job;
typedef struct qn_sw_maps qn_sw_maps;

/* A map file in memory. */
typedef struct qn_sw_picture {
    char name[64]; /* "tmrt_20060726_1300" */
    char *png;
    size_t bytes;
} qn_sw_picture;

/* Sums of every step in every tile, and values at points of interest (figures.c). */
typedef struct qn_sw_figures {
    size_t n_steps;
    qn_i64 n_tiles;
    qn_sw_step_sums **sums; /* per tile: [n_steps], NULL until the tile begins */
    qn_sw_pois pois;
    float *at_pois; /* [poi][step][plane]; NaN where not computed */
} qn_sw_figures;

/* Planes of a core on the host, waiting to be written. */
typedef struct qn_sw_step_slot {
    qn_sw_job *job;
    size_t step;
    qn_i64 minutes;
    qn_tile tile;
    float *plane[QN_SW_PLANES];
} qn_sw_step_slot;

enum { QN_SW_SLOTS = 3 };

#define QN_SW_TILE_DONE INT64_MAX

struct qn_sw_job {
    qn_ctx *ctx;
    const qn_sw_run_config *config;
    const qn_sw_run_options *options; /* of config */
    const qn_sw_run_hooks *hooks;
    qn_sw_run_result *result;
    qn_sw_city city;
    qn_sw_forcing forcing;
    qn_sw_svf_arrays cached; /* sky view factors of an earlier run */
    qn_sw_scene scene;
    qn_sw_ray_tables tables;
    qn_sw_tile *tile; /* being computed */
    qn_sw_figures figures;
    qn_sw_outputs *outputs;                   /* NULL without a folder */
    qn_sw_plane_set written, watched, wanted; /* for files; for the observer; for either */
    qn_sw_maps *maps;
    qn_write_queue *queue;
    qn_sw_step_slot slots[QN_SW_SLOTS];
    int n_slots;
    qn_i64 n_steps_put;
    double write_s;     /* spent by the queue */
    qn_sw_cut next;     /* layers of the tile after this one */
    qn_i64 next_ticket; /* items of the queue up to the one that cuts them */
    qn_i64 *progress;   /* of each tile: steps on the disk; QN_SW_TILE_DONE */
    qn_pace pace;       /* of checkpoints */
    double *tile_ms;
    double share; /* fraction of the work last reported */
};

/* Reports progress, which never goes backwards. */
void qn_sw_job_advance(qn_sw_job *job, const char *phase, double share);

/* plan.c: cuts the raster into tiles. */
void qn_sw_job_plan(qn_sw_job *job);

/* The plan line, which identifies an unfinished run: it differs whenever outputs might. */
void qn_sw_job_plan_line(const qn_sw_job *job, char *out, size_t size);

/* tiles.c: takes all tiles through all steps. */
qn_status qn_sw_job_tiles(qn_sw_job *job, qn_err *err);

/* writes.c: host work during the computation. A slot is filled, then put; put takes ownership of a
 * grid's `data`, even on failure. */
qn_status qn_sw_job_writes_begin(qn_sw_job *job, qn_err *err);
void qn_sw_job_writes_end(qn_sw_job *job);
qn_sw_step_slot *qn_sw_job_slot(qn_sw_job *job);
qn_status qn_sw_job_put_step(qn_sw_job *job, qn_sw_step_slot *slot, qn_err *err);
qn_status qn_sw_job_put_grid(qn_sw_job *job, int which, const qn_tile *tile, float *data,
                             qn_err *err);
qn_status qn_sw_job_put_state(qn_sw_job *job, const qn_tile *tile, qn_i64 step, qn_err *err);
qn_status qn_sw_job_put_end(qn_sw_job *job, const qn_tile *tile, qn_err *err);
qn_status qn_sw_job_put_next(qn_sw_job *job, const qn_tile *tile, qn_err *err);
qn_status qn_sw_job_await_writes(qn_sw_job *job, qn_err *err);

/* figures.c. `pois` is a file or "". */
qn_status qn_sw_figures_new(size_t n_steps, qn_i64 n_tiles, const char *pois,
                            const qn_sw_place *place, qn_sw_figures *out, qn_err *err);
void qn_sw_figures_free(qn_sw_figures *figures);

static inline float *qn_sw_figures_at(const qn_sw_figures *figures, size_t poi, size_t step)
{
    return figures->at_pois + (poi * figures->n_steps + step) * QN_SW_PLANES;
}

/* Allocates the sums of a tile. */
qn_status qn_sw_figures_begin(qn_sw_figures *figures, qn_i64 tile, qn_err *err);

/* Saves the figures of a tile to a file, and loads them. */
qn_status qn_sw_figures_save(qn_sw_figures *figures, const char *path, const qn_tile *tile,
                             qn_err *err);
qn_status qn_sw_figures_load(qn_sw_figures *figures, const char *path, const qn_tile *tile,
                             qn_err *err);

/* The figures of step number `step` over all tiles. */
qn_sw_step qn_sw_figures_step(const qn_sw_figures *figures, const qn_sw_forcing *forcing,
                              size_t step);

/* files.c: writes all files after the rasters. */
qn_status qn_sw_job_files(qn_sw_job *job, qn_err *err);

/* maps.c: *out is NULL when no maps were requested. A map gets its raster part by part, from north
 * to south, and is then drawn and written. */
qn_status qn_sw_maps_new(const qn_sw_job *job, qn_sw_maps **out, qn_err *err);
void qn_sw_maps_free(qn_sw_maps *maps);
qn_status qn_sw_maps_see(qn_sw_job *job, size_t step, qn_sw_plane plane, const qn_window *part,
                         const float *data, qn_err *err);

/* The first maps are used in the report. */
enum { QN_SW_PICTURES = 6 };
size_t qn_sw_maps_count(const qn_sw_maps *maps);
qn_status qn_sw_maps_picture(const qn_sw_job *job, size_t i, const qn_sw_picture **out,
                             qn_err *err);

/* report.c */
qn_status qn_sw_write_report(const qn_sw_job *job, qn_err *err);

/* progress.c: saves and restores the progress of the current tile. */

/* Restores a newly opened tile to where it was interrupted; *step is its next step. */
qn_status qn_sw_job_restore(qn_sw_job *job, const qn_tile_slot *slot, size_t *step, qn_err *err);

/* Saves the state after the first `step` steps, if that is due. */
qn_status qn_sw_job_save(qn_sw_job *job, qn_tile_slot *slot, size_t step, qn_err *err);

qn_status qn_sw_job_load_figures(qn_sw_job *job, const qn_tile *tile, qn_err *err);
qn_status qn_sw_job_end_tile(qn_sw_job *job, const qn_tile *tile, qn_err *err);

/* names.c. Rasters of a run are numbered: first those of time steps, then summary grids. */
size_t qn_sw_job_rasters(const qn_sw_job *job);
size_t qn_sw_job_raster(const qn_sw_job *job, size_t step, qn_sw_plane plane);
size_t qn_sw_job_grid(const qn_sw_job *job, int which);
void qn_sw_job_raster_name(void *job, size_t raster, char out[QN_SW_OUTPUT_NAME]);
qn_status qn_sw_job_see(void *job, size_t raster, const qn_window *part, const float *data,
                        qn_err *err); /* adds the map of a raster of a step */

int qn_sw_grid_count(const qn_sw_scene *scene);

/* "20060726_1307", and "2006-07-26T13:07". */
void qn_sw_stamp_name(qn_i64 minutes, char out[16]);
void qn_sw_stamp_iso(qn_i64 minutes, char out[20]);

#endif
