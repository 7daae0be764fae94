/* tile.h - one tile on the device: its layers, its state, and the graph of one time step.
 *
 * Opening a tile uploads its layers and computes what does not change with time. Then one graph is
 * run for each row, in order; it ends by moving on to the next record, so nothing is uploaded in
 * between.
 */
#ifndef QN_SW_RUN_TILE_H
#define QN_SW_RUN_TILE_H

#include "domain/solweig/cache/svf_cache.h"
#include "domain/solweig/radiation/radiation.h"
#include "domain/solweig/run/records.h"
#include "domain/solweig/run/tile_stage.h"
#include "domain/solweig/shadow/shadow.h"
#include "domain/solweig/ground/gvf.h"

/* What all tiles of a run share; borrowed. */
typedef struct qn_sw_scene {
    qn_ctx *ctx;
    const qn_sw_run_config *config;
    const qn_sw_params *params;
    const qn_sw_city *city;
    const qn_sw_records *records;
    const qn_sw_svf_arrays *kept; /* sky view factors of the whole raster; NULL: computed */
    const qn_sw_threshold *thresholds;
    int n_thresholds;
    int has_pet;
    int is_on_cpu; /* whatever the router says */
} qn_sw_scene;

/* Rays to suns and patches, which tiles of equal size share. Zero-initialised is none. */
typedef struct qn_sw_marches {
    int rows, cols;
    qn_sw_rays *suns;
    qn_sw_sky *sky; /* NULL where sky view factors are not computed */
} qn_sw_marches;

void qn_sw_marches_free(qn_sw_marches *marches);

typedef struct qn_sw_tile {
    const qn_sw_scene *scene;
    qn_sw_tile_place place;
    qn_sw_tile_stage stage; /* what layers and maps lie in on the host */
    qn_sw_layers layers;
    qn_sw_ground_maps maps;
    qn_sw_views views; /* bits of an anisotropic sky */
    qn_buf *svf, *veg; /* all planes and none (isotropic), or the two totals */
    qn_buf *shade, *state, *tmrt, *utci, *pet;
    qn_sw_shadow *shadow;
    qn_sw_gvf *gvf;
    qn_sw_radiation *radiation;
    qn_sw_summary *summary;
    qn_sw_pet_table *pet_table;
    qn_graph *step;
    int utci_stage, pet_stage; /* whose argument 0 changes with the row */
    double svf_s;
} qn_sw_tile;

/* What the bytes of a pixel depend on. */
typedef struct qn_sw_tile_needs {
    qn_sw_sky_kind sky;
    int patch_option; /* 1 .. 4 */
    int has_vegetation, has_pet, n_thresholds;
    qn_i64 n_rows; /* of the weather */
} qn_sw_tile_needs;

/* Bytes of a pixel in the plan of buffers below. */
qn_sw_plan_cost qn_sw_tile_cost(const qn_sw_tile_needs *needs);

/* Takes the layers of `stage` over, whatever it returns, where it is that of this tile; else they
 * are cut now. `marches` are made anew where they do not fit. */
qn_status qn_sw_tile_open(const qn_sw_scene *scene, const qn_sw_tile_place *place,
                          qn_sw_tile_stage *stage, qn_sw_marches *marches, qn_sw_tile **out,
                          qn_err *err);
void qn_sw_tile_close(qn_sw_tile *tile); /* NULL is fine */

/* Submits row number `row`; rows come in order from 0. */
qn_status qn_sw_tile_step(qn_sw_tile *tile, size_t row, qn_err *err);
qn_status qn_sw_tile_wait(qn_sw_tile *tile, qn_err *err);

/* The stage that makes a plane, as lines of fallbacks call it. */
const char *qn_sw_tile_stage_name(const qn_sw_tile *tile, qn_sw_plane plane);

/* The core of a plane after the last step, packed; and one pixel of it, in the raster's rows and
 * columns. */
qn_status qn_sw_tile_read(qn_sw_tile *tile, qn_sw_plane plane, float *out, qn_err *err);
qn_status qn_sw_tile_pixel(qn_sw_tile *tile, qn_sw_plane plane, qn_i64 row, qn_i64 col, float *out,
                           qn_err *err);

/* Summary grid `which` of the core, packed. No row comes after it. */
qn_status qn_sw_tile_grid(qn_sw_tile *tile, int which, float *out, qn_err *err);

#endif
