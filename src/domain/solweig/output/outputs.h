/* outputs.h - writes the rasters of a run, and records its progress for a resume.
 *
 * A raster is written in one piece, from the first row to the last, so its bytes do not depend on
 * tiles or interruptions. With one tile that happens as soon as its values arrive. With several,
 * the values of each tile stay in a scratch file until all tiles are done.
 *
 * Rasters have numbers from 0; the caller names them.
 */
#ifndef QN_SOLWEIG_OUTPUT_OUTPUTS_H
#define QN_SOLWEIG_OUTPUT_OUTPUTS_H

#include "domain/solweig/raster/raster.h"
#include "engine/engine.h"
#include "util/run_folder.h"

typedef struct qn_sw_outputs qn_sw_outputs;

enum { QN_SW_OUTPUT_NAME = 128 };

typedef struct qn_sw_outputs_options {
    const char *folder; /* made if it does not exist */
    const char *plan;   /* one line; only a run with the same plan can resume */
    int resume;
    const qn_sw_place *place; /* this and `tiles` are borrowed */
    const qn_tiles *tiles;
    size_t n_rasters;

    /* "tmrt/tmrt_20060726_1300", without an ending. */
    void (*name)(void *user, size_t raster, char out[QN_SW_OUTPUT_NAME]);

    /* Called for each part of a raster when it is written, from north to south; may be NULL. */
    qn_status (*see)(void *user, size_t raster, const qn_window *part, const float *data,
                     qn_err *err);
    void *user;
} qn_sw_outputs_options;

qn_status qn_sw_outputs_open(const qn_sw_outputs_options *options, qn_sw_outputs **out,
                             qn_err *err);

/* The folder of the run, for its other files too; it has the state of the run. */
qn_run_folder *qn_sw_outputs_folder(const qn_sw_outputs *outputs);

/* Only one thread at a time may use the calls below. */

/* Writes the packed core of `tile` in raster number `raster`. A second call replaces the first. */
qn_status qn_sw_outputs_write(qn_sw_outputs *outputs, const qn_tile *tile, size_t raster,
                              const float *data, qn_err *err);

/* Scratch files that belong to the progress of a tile: "figures", "state". */
qn_status qn_sw_outputs_scratch(qn_sw_outputs *outputs, const char *what, qn_i64 tile, qn_i64 step,
                                char **path, qn_err *err);

/* Progress: how many steps of a tile are on the disk, with the state after them. n_steps or more
 * means that the tile is done. */
qn_i64 qn_sw_outputs_progress(const qn_sw_outputs *outputs, qn_i64 tile);

/* Steps before `step` are written, and the scratch file "figures" of this tile and step, and
 * "state" unless the tile is done. Does not wait for the disk. */
qn_status qn_sw_outputs_note(qn_sw_outputs *outputs, qn_i64 tile, qn_i64 step, int is_done,
                             qn_err *err);

/* Writes the rasters of a run with several tiles, after all tiles are done. */
qn_status qn_sw_outputs_assemble(qn_sw_outputs *outputs, qn_err *err);

/* Frees the outputs; what an unfinished run has committed stays on the disk. Returns whether the
 * run can be resumed with progress. NULL is fine. */
int qn_sw_outputs_close(qn_sw_outputs *outputs);

#endif
