/* outputs.h - the rasters of a run, and where it can be continued.
 *
 * A raster is written in one piece, from the first row to the last, so its bytes depend neither on
 * tiles nor on interruptions. With one tile that happens when its values come. With several, the
 * values of each tile lie in a scratch file until all tiles are done.
 *
 * Rasters have numbers from 0; the caller says what they are called.
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

    /* Gets each part of a raster when it is written, from the north to the south; may be NULL. */
    qn_status (*see)(void *user, size_t raster, const qn_window *part, const float *data,
                     qn_err *err);
    void *user;
} qn_sw_outputs_options;

qn_status qn_sw_outputs_open(const qn_sw_outputs_options *options, qn_sw_outputs **out,
                             qn_err *err);

/* Where the run puts its other files, too; what is in there is the state of the run. */
qn_run_folder *qn_sw_outputs_folder(const qn_sw_outputs *outputs);

/* The calls below are for one thread at a time. */

/* The core of `tile` in raster number `raster`, packed. A second call replaces the first. */
qn_status qn_sw_outputs_write(qn_sw_outputs *outputs, const qn_tile *tile, size_t raster,
                              const float *data, qn_err *err);

/* Scratch files that belong to the progress of a tile: "figures", "state". */
qn_status qn_sw_outputs_scratch(qn_sw_outputs *outputs, const char *what, qn_i64 tile, qn_i64 step,
                                char **path, qn_err *err);

/* Progress. How many steps of a tile are on the disk, with the state after them: n_steps and more
 * means that the tile is done. */
qn_i64 qn_sw_outputs_progress(const qn_sw_outputs *outputs, qn_i64 tile);

/* Steps before `step` are written, and the scratch file "figures" of this tile and step, and
 * "state" unless the tile is done. Does not wait for the disk. */
qn_status qn_sw_outputs_note(qn_sw_outputs *outputs, qn_i64 tile, qn_i64 step, int is_done,
                             qn_err *err);

/* Writes the rasters of a run in several tiles, when all of them are done. */
qn_status qn_sw_outputs_assemble(qn_sw_outputs *outputs, qn_err *err);

/* Frees; an unfinished run stays on the disk as far as it was committed. Returns whether there is
 * something to continue from. NULL is fine. */
int qn_sw_outputs_close(qn_sw_outputs *outputs);

#endif
