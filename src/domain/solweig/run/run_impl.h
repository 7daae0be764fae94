/* run_impl.h - a run in progress, as its files share it. */
#ifndef QN_SW_RUN_IMPL_H
#define QN_SW_RUN_IMPL_H

#include "domain/solweig/output/outputs.h"
#include "domain/solweig/picture/map_png.h"
#include "domain/solweig/run/tile.h"
#include "engine/engine.h"

typedef struct qn_sw_job qn_sw_job;
typedef struct qn_sw_maps qn_sw_maps;

/* A map as a file in memory. */
typedef struct qn_sw_picture {
    char name[32]; /* "tmrt 20060726_1300" */
    char *png;
    size_t bytes;
} qn_sw_picture;

/* Sums of every step in every tile, and values at points of interest (figures.c). */
typedef struct qn_sw_figures {
    size_t n_steps;
    qn_i64 n_tiles;
    qn_sw_step_sums **sums; /* by tile: [n_steps], NULL until the tile begins */
    qn_sw_pois pois;
    float *at_pois; /* [poi][step][plane]; NaN where not computed */
} qn_sw_figures;

/* Planes of a core on the host, on their way to files. */
typedef struct qn_sw_step_slot {
    qn_sw_job *job;
    size_t step;
    qn_i64 minutes;
    qn_tile tile;
    float *plane[QN_SW_PLANES];
} qn_sw_step_slot;

enum { QN_SW_SLOTS = 3 };

struct qn_sw_job {
    qn_ctx *ctx;
    const qn_sw_run_config *config;
    const qn_sw_run_hooks *hooks;
    qn_sw_run_result *result;
    qn_sw_params params;
    qn_sw_city city;
    qn_sw_forcing forcing;
    qn_sw_svf_arrays cached; /* sky view factors of an earlier run */
    qn_sw_scene scene;
    qn_sw_ray_tables tables;
    qn_sw_tile *tile; /* that is being computed */
    qn_sw_figures figures;
    qn_sw_outputs *outputs;                   /* NULL without a folder */
    qn_sw_plane_set written, watched, wanted; /* as files; by the observer; by either */
    qn_sw_maps *maps;
    qn_write_queue *queue;
    qn_sw_step_slot slots[QN_SW_SLOTS];
    int n_slots;
    qn_i64 n_steps_put;
    double write_s;     /* spent by the queue */
    qn_sw_cut next;     /* layers of the tile after this one */
    qn_i64 next_ticket; /* items of the queue up to the one that cuts them */
    uint8_t *is_done;   /* tiles that the interrupted run has finished */
    double *tile_ms;
    double share; /* of the work, as last reported */
};

/* Progress goes forward only. */
void qn_sw_job_advance(qn_sw_job *job, const char *phase, double share);

/* plan.c: cuts the raster into tiles. */
void qn_sw_job_plan(qn_sw_job *job);

/* The line of the plan that identifies an unfinished run: it differs where outputs could. */
void qn_sw_job_plan_line(const qn_sw_job *job, char *out, size_t size);

/* tiles.c: all tiles through all steps. */
qn_status qn_sw_job_tiles(qn_sw_job *job, qn_err *err);

/* writes.c: host work beside the computation. A slot is filled, then put; a grid's `data` changes
 * hands, even on failure. */
qn_status qn_sw_job_writes_begin(qn_sw_job *job, qn_err *err);
void qn_sw_job_writes_end(qn_sw_job *job);
qn_sw_step_slot *qn_sw_job_slot(qn_sw_job *job);
qn_status qn_sw_job_put_step(qn_sw_job *job, qn_sw_step_slot *slot, qn_err *err);
qn_status qn_sw_job_put_grid(qn_sw_job *job, const char *name, const qn_window *window, float *data,
                             qn_err *err);
qn_status qn_sw_job_put_end(qn_sw_job *job, const qn_tile *tile, qn_err *err);
qn_status qn_sw_job_put_next(qn_sw_job *job, const qn_tile *tile, qn_err *err);
qn_status qn_sw_job_await_next(qn_sw_job *job, qn_err *err);
qn_status qn_sw_job_await_writes(qn_sw_job *job, qn_err *err);

/* figures.c. `pois` is a file or NULL. */
qn_status qn_sw_figures_new(size_t n_steps, qn_i64 n_tiles, const char *pois,
                            const qn_sw_place *place, qn_sw_figures *out, qn_err *err);
void qn_sw_figures_free(qn_sw_figures *figures);

static inline float *qn_sw_figures_at(const qn_sw_figures *figures, size_t poi, size_t step)
{
    return figures->at_pois + (poi * figures->n_steps + step) * QN_SW_PLANES;
}

/* Memory for the sums of a tile. */
qn_status qn_sw_figures_begin(qn_sw_figures *figures, qn_i64 tile, qn_err *err);

/* Saves the figures of a finished tile under `folder`, loads them, and removes all such files. */
qn_status qn_sw_figures_save(const qn_sw_figures *figures, const char *folder, const qn_tile *tile,
                             qn_err *err);
qn_status qn_sw_figures_load(qn_sw_figures *figures, const char *folder, const qn_tile *tile,
                             qn_err *err);
void qn_sw_figures_forget(const qn_sw_figures *figures, const char *folder);

/* Step number `step` over all tiles. */
qn_sw_step_figures qn_sw_figures_step(const qn_sw_figures *figures, const qn_sw_forcing *forcing,
                                      size_t step);

/* files.c: writes everything that follows the rasters. */
qn_status qn_sw_job_files(qn_sw_job *job, qn_err *err);

/* maps.c: *out is NULL when no maps were requested. Every tile adds to the maps of a step; a complete
 * map is drawn and written. Tiles that an interrupted run finished are loaded from its files. */
qn_status qn_sw_maps_new(const qn_sw_job *job, qn_sw_maps **out, qn_err *err);
void qn_sw_maps_free(qn_sw_maps *maps);
qn_status qn_sw_maps_add(qn_sw_job *job, const qn_sw_step_slot *slot, qn_err *err);
qn_status qn_sw_maps_load(qn_sw_job *job, const qn_tile *tile, qn_err *err);

/* The first maps, for the report. */
enum { QN_SW_PICTURES = 6 };
size_t qn_sw_maps_count(const qn_sw_maps *maps);
const qn_sw_picture *qn_sw_maps_picture(const qn_sw_maps *maps, size_t i);

/* report.c */
qn_status qn_sw_write_report(const qn_sw_job *job, qn_err *err);

/* names.c. The name of summary grid `which`. */
void qn_sw_grid_name(const qn_sw_scene *scene, int which, char *out, size_t size);
int qn_sw_grid_count(const qn_sw_scene *scene);

/* <out>/ and the formatted text, into `path`; QN_ERR_LIMIT where it does not fit. */
enum { QN_SW_PATH = 2048 };
__attribute__((format(printf, 4, 5))) qn_status qn_sw_job_path(const qn_sw_job *job,
                                                               char path[QN_SW_PATH], qn_err *err,
                                                               const char *format, ...);

/* "20060726_1307", and "2006-07-26T13:07". */
void qn_sw_stamp_name(qn_i64 minutes, char out[16]);
void qn_sw_stamp_iso(qn_i64 minutes, char out[20]);

#endif
