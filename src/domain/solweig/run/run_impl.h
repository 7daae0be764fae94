/* run_impl.h - a run in progress, as its files share it. */
#ifndef QN_SW_RUN_IMPL_H
#define QN_SW_RUN_IMPL_H

#include "domain/solweig/output/outputs.h"
#include "domain/solweig/run/behind.h"
#include "domain/solweig/run/rows.h"
#include "domain/solweig/run/tile.h"

typedef struct qn_sw_job qn_sw_job;

/* Planes of a core on the host, on their way to files. */
typedef struct qn_sw_row_slot {
    qn_sw_job *job;
    qn_i64 minutes;
    qn_sw_window window;
    float *plane[QN_SW_PLANES];
} qn_sw_row_slot;

enum { QN_SW_SLOTS = 3 };

struct qn_sw_job {
    qn_ctx *ctx;
    const qn_sw_run_config *config;
    const qn_sw_run_options *options;
    qn_sw_run_result *result;
    qn_sw_params params;
    qn_sw_city city;
    qn_sw_records records;
    qn_sw_svf_arrays kept;
    qn_sw_scene scene;
    qn_sw_marches marches;
    qn_sw_rows rows;
    qn_sw_outputs *outputs;                   /* NULL without a folder */
    qn_sw_plane_set written, watched, wanted; /* as files; by the observer; by either */
    qn_sw_behind *behind;
    qn_sw_row_slot slots[QN_SW_SLOTS];
    int n_slots;
    qn_i64 n_rows_put;
    double write_s;        /* spent behind */
    qn_sw_tile_stage next; /* layers of the tile after this one */
    qn_i64 next_ticket;    /* of the queue: where they are cut */
    uint8_t *is_done;      /* tiles that a killed run has finished */
    double *tile_ms;
    double share;       /* of the work, as told last */
    const char *copied; /* stage whose results are on their way to the host; NULL: none */
};

/* Progress goes forward only. */
void qn_sw_job_tell(qn_sw_job *job, const char *phase, double share);

/* run_tiles.c: all rows of one tile, and its grids. */
qn_status qn_sw_job_tile(qn_sw_job *job, qn_i64 number, qn_err *err);

/* run_writes.c: what is done behind the computation. A slot is filled, then put; grids are taken
 * over. */
qn_status qn_sw_job_writes_begin(qn_sw_job *job, qn_err *err);
void qn_sw_job_writes_end(qn_sw_job *job);
qn_sw_row_slot *qn_sw_job_slot(qn_sw_job *job);
qn_status qn_sw_job_put_row(qn_sw_job *job, qn_sw_row_slot *slot, qn_err *err);
qn_status qn_sw_job_put_grid(qn_sw_job *job, const char *name, const qn_sw_window *window,
                             float *data, qn_err *err);
qn_status qn_sw_job_put_end(qn_sw_job *job, const qn_sw_tile_place *place, qn_err *err);
qn_status qn_sw_job_put_next(qn_sw_job *job, const qn_sw_tile_place *place, qn_err *err);
qn_status qn_sw_job_await_next(qn_sw_job *job, qn_err *err);
qn_status qn_sw_job_await_writes(qn_sw_job *job, qn_err *err);

/* run_files.c: the name of summary grid `which`; and what is written when all tiles are done. */
void qn_sw_grid_name(const qn_sw_scene *scene, int which, char *out, size_t size);
int qn_sw_grid_count(const qn_sw_scene *scene);
qn_status qn_sw_job_files(qn_sw_job *job, qn_err *err);

/* metadata.c, report.c, poi.c, maps.c: files in the folder of outputs. */
qn_status qn_sw_write_metadata(const qn_sw_job *job, qn_err *err);
qn_status qn_sw_write_report(const qn_sw_job *job, qn_err *err);
qn_status qn_sw_write_pois(const qn_sw_job *job, qn_err *err);
qn_status qn_sw_write_rows(const qn_sw_job *job, qn_err *err);
qn_status qn_sw_write_maps(const qn_sw_job *job, qn_err *err);

/* <out>/<what follows>, into `path`; QN_ERR_LIMIT where it does not fit. */
enum { QN_SW_PATH = 2048 };
__attribute__((format(printf, 4, 5))) qn_status qn_sw_job_path(const qn_sw_job *job,
                                                               char path[QN_SW_PATH], qn_err *err,
                                                               const char *format, ...);

/* "20060726_1307", and "2006-07-26T13:07". */
void qn_sw_stamp_name(qn_i64 minutes, char out[16]);
void qn_sw_stamp_iso(qn_i64 minutes, char out[20]);

#endif
