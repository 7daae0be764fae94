/* tile.h - one tile on the device: its layers, its state, and the graph of one time step.
 *
 * Opening a tile uploads its layers and computes what does not change with time. Then one graph
 * runs for each step, in order. It ends by moving on to the next record of the forcing, so nothing
 * is uploaded in between.
 */
#ifndef QN_SW_RUN_TILE_H
#define QN_SW_RUN_TILE_H

#include "domain/solweig/cache/svf_cache.h"
#include "domain/solweig/radiation/radiation.h"
#include "domain/solweig/run/inputs.h"
#include "domain/solweig/shadow/shadow.h"
#include "domain/solweig/ground/gvf.h"

/* Layers of a tile on the host. */

typedef enum qn_sw_cut_layer {
    QN_SW_CUT_DSM, /* these five over the outer window */
    QN_SW_CUT_CANOPY,
    QN_SW_CUT_TRUNK,
    QN_SW_CUT_WALL_HEIGHT,
    QN_SW_CUT_WALL_RADIANS,
    QN_SW_CUT_CLASS, /* the others over the padded core; this and the next are bytes */
    QN_SW_CUT_BUILDINGS,
    QN_SW_CUT_ALBEDO,
    QN_SW_CUT_EMISSIVITY,
    QN_SW_CUT_PADDED_WALL_HEIGHT,
    QN_SW_CUT_PADDED_WALL_ASPECT,
    QN_SW_CUT_LAYERS
} qn_sw_cut_layer;

/* Zero-initialised is empty. */
typedef struct qn_sw_cut {
    qn_i64 number; /* of the tile */
    void *data[QN_SW_CUT_LAYERS];
    size_t bytes[QN_SW_CUT_LAYERS];
    unsigned borrowed; /* layers of the city itself: their window is the whole raster */
} qn_sw_cut;

/* Cutting needs no device: layers of the next tile can be cut while one is computed. */
qn_status qn_sw_cut_make(const qn_sw_city *city, const qn_tile *place, qn_sw_cut *out, qn_err *err);
void qn_sw_cut_free(qn_sw_cut *cut);

/* Tiles. */

/* What all tiles of a run share; borrowed. */
typedef struct qn_sw_scene {
    qn_ctx *ctx;
    const qn_sw_run_config *config;
    const qn_sw_city *city;
    const qn_sw_forcing *forcing;
    const qn_sw_svf_arrays *cached; /* sky view factors of the whole raster; NULL: computed */
    int has_pet;
} qn_sw_scene;

/* Rays to suns and patches, which tiles of equal size share. Zero-initialised is none. */
typedef struct qn_sw_ray_tables {
    int rows, cols;
    qn_sw_rays *suns;
    qn_sw_sky *sky; /* NULL where sky view factors are not computed */
} qn_sw_ray_tables;

void qn_sw_ray_tables_free(qn_sw_ray_tables *tables);

typedef struct qn_sw_tile {
    const qn_sw_scene *scene;
    const qn_tile_slot *slot;
    qn_tile place;
    qn_sw_cut cut; /* memory of layers and maps on the host */
    qn_sw_height_bufs layers;
    qn_sw_ground_maps maps;
    qn_sw_views views; /* bits of an anisotropic sky */
    qn_buf *svf, *veg; /* all planes and none (isotropic), or the two totals */
    qn_buf *shade, *state, *tmrt, *utci, *pet;
    qn_sw_shadow_raster *shadow;
    qn_sw_gvf *gvf;
    qn_sw_radiation *radiation;
    qn_sw_summary *summary;
    qn_sw_pet_table *pet_table;
    qn_graph *step;
    int utci_stage, pet_stage; /* whose argument 0 changes with the step */
    double svf_s;
} qn_sw_tile;

/* What the bytes of a pixel depend on. */
typedef struct qn_sw_tile_needs {
    int sky;
    int patch_option; /* 1 .. 4 */
    int has_vegetation, has_pet, n_thresholds;
    qn_i64 n_steps;
} qn_sw_tile_needs;

/* Bytes of a pixel, by the buffers of a tile (plan.c). */
qn_tiles_cost qn_sw_tile_cost(const qn_sw_tile_needs *needs);

/* Opens the tile of `slot`, which is borrowed. Takes the layers of `cut` over, even on failure,
 * where they are those of this tile; else cuts them now. `tables` are replaced where they do not
 * fit. */
qn_status qn_sw_tile_open(const qn_sw_scene *scene, const qn_tile_slot *slot, qn_sw_cut *cut,
                          qn_sw_ray_tables *tables, qn_sw_tile **out, qn_err *err);
void qn_sw_tile_close(qn_sw_tile *tile); /* NULL is fine */

/* Submits step number `step`; steps come in order from 0. */
qn_status qn_sw_tile_step(qn_sw_tile *tile, size_t step, qn_err *err);

/* The stage that makes a plane, as fallback lines name it. */
const char *qn_sw_tile_stage_name(const qn_sw_tile *tile, qn_sw_plane plane);

/* The core of a plane after the last step, packed; and one pixel of it, in the raster's rows and
 * columns. */
qn_status qn_sw_tile_read(qn_sw_tile *tile, qn_sw_plane plane, float *out, qn_err *err);
qn_status qn_sw_tile_pixel(qn_sw_tile *tile, qn_sw_plane plane, qn_i64 row, qn_i64 col, float *out,
                           qn_err *err);

/* Writes the state after the steps so far, and reads one so that step number `step` is next. */
size_t qn_sw_tile_state_bytes(const qn_sw_tile *tile);
qn_status qn_sw_tile_save(qn_sw_tile *tile, FILE *to, qn_err *err);
qn_status qn_sw_tile_load(qn_sw_tile *tile, FILE *from, size_t step, qn_err *err);

/* Summary grid `which` of the core, packed. No step comes after it. */
qn_status qn_sw_tile_grid(qn_sw_tile *tile, int which, float *out, qn_err *err);

/* What the files of a tile share (tile_data.c). */

/* Fills layers and maps; and view factors and bits, from the cache. */
qn_status qn_sw_tile_layers(qn_sw_tile *tile, qn_err *err);
qn_status qn_sw_tile_cached(qn_sw_tile *tile, qn_err *err);

#endif
