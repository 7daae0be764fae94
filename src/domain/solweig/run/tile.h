/* tile.h - one tile on the device: its layers, its state, and the graph of one time step.
 *
 * Opening a tile uploads its layers and computes everything that does not change with time. Then
 * one graph runs for each step, in order. It ends by advancing to the next record of the forcing,
 * so nothing is uploaded in between.
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
    QN_SW_CUT_CLASS, /* these over the padded core; this and the next are bytes */
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
    unsigned borrowed; /* bits of layers borrowed from the city, whose window is the whole raster */
} qn_sw_cut;

/* Cuts the layers of a tile. This needs no device, so it can be done during the previous tile. */
qn_status qn_sw_cut_make(const qn_sw_city *city, const qn_tile *place, qn_sw_cut *out, qn_err *err);
void qn_sw_cut_free(qn_sw_cut *cut);

/* Tiles. */

/* Data shared by all tiles of a run; borrowed. */
typedef struct qn_sw_scene {
    qn_ctx *ctx;
    const qn_sw_run_config *config;
    const qn_sw_city *city;
    const qn_sw_forcing *forcing;
    const qn_sw_svf_arrays *cached; /* sky view factors of the whole raster; NULL: computed */
    int has_pet;
} qn_sw_scene;

/* Rays to suns and patches, shared by tiles of equal size. Zero-initialised: none. */
typedef struct qn_sw_ray_tables {
    int rows, cols;
    qn_sw_rays *suns;
    qn_sw_sky *sky; /* NULL if sky view factors are not computed */
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
    qn_buf *svf, *veg; /* isotropic: all planes, and NULL; else the two totals */
    qn_buf *shade, *state, *tmrt, *utci, *pet;
    qn_sw_shadow_raster *shadow;
    qn_sw_gvf *gvf;
    qn_sw_radiation *radiation;
    qn_sw_summary *summary;
    qn_sw_pet_table *pet_table;
    qn_graph *step;
    int utci_stage, pet_stage; /* stages whose argument 0 changes with the step */
    double svf_s;
} qn_sw_tile;

/* The settings that bytes per pixel depend on. */
typedef struct qn_sw_tile_needs {
    int sky;
    int patch_option; /* 1 .. 4 */
    int has_vegetation, has_pet, n_thresholds;
    qn_i64 n_steps;
} qn_sw_tile_needs;

/* Bytes per pixel for the buffers of a tile (plan.c). */
qn_tiles_cost qn_sw_tile_cost(const qn_sw_tile_needs *needs);

/* Opens the tile of `slot`, which is borrowed. Takes ownership of the layers in `cut`, even on
 * failure, if they belong to this tile; else cuts them now. `tables` are replaced if they do not
 * fit. */
qn_status qn_sw_tile_open(const qn_sw_scene *scene, const qn_tile_slot *slot, qn_sw_cut *cut,
                          qn_sw_ray_tables *tables, qn_sw_tile **out, qn_err *err);
void qn_sw_tile_close(qn_sw_tile *tile); /* NULL is fine */

/* Submits step number `step`; steps come in order from 0. */
qn_status qn_sw_tile_step(qn_sw_tile *tile, size_t step, qn_err *err);

/* The stage that computes a plane, for fallback lines. */
const char *qn_sw_tile_stage_name(const qn_sw_tile *tile, qn_sw_plane plane);

/* Reads the packed core of a plane after the last step; or one of its pixels, by row and column of
 * the raster. */
qn_status qn_sw_tile_read(qn_sw_tile *tile, qn_sw_plane plane, float *out, qn_err *err);
qn_status qn_sw_tile_pixel(qn_sw_tile *tile, qn_sw_plane plane, qn_i64 row, qn_i64 col, float *out,
                           qn_err *err);

/* Writes the state after the steps so far, and reads one so that step number `step` is next. */
size_t qn_sw_tile_state_bytes(const qn_sw_tile *tile);
qn_status qn_sw_tile_save(qn_sw_tile *tile, FILE *to, qn_err *err);
qn_status qn_sw_tile_load(qn_sw_tile *tile, FILE *from, size_t step, qn_err *err);

/* Computes summary grid `which` of the core, packed. No step may follow. */
qn_status qn_sw_tile_grid(qn_sw_tile *tile, int which, float *out, qn_err *err);

/* Shared by the files of a tile (tile_data.c). */

/* Fills layers and maps; and from the cache, view factors and bits. */
qn_status qn_sw_tile_layers(qn_sw_tile *tile, qn_err *err);
qn_status qn_sw_tile_cached(qn_sw_tile *tile, qn_err *err);

#endif
