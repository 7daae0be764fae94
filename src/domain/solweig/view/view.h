/* view.h - maps of a city that need no weather: sky view factors, shadows, walls.
 *
 * A raster too large for a device is computed in tiles (engine/tiles.h), which does not change a
 * bit. Only the cores of tiles are downloaded, each once.
 */
#ifndef QN_SOLWEIG_VIEW_VIEW_H
#define QN_SOLWEIG_VIEW_VIEW_H

#include "domain/solweig/cache/svf_cache.h"
#include "domain/solweig/surface/surface.h"
#include "domain/solweig/picture/map_png.h"
#include "domain/solweig/shadow/shadow.h"
#include "util/progress.h"
#include "engine/engine.h"

/* Sky view factors. */

typedef struct qn_sw_svf_job {
    int patch_option;      /* 1 to 4; 0 means 2, 153 patches */
    qn_i64 tile;           /* side of a tile's core; 0: as memory allows */
    qn_progress *progress; /* gets a phase of size `share`; may be NULL */
    double share;
} qn_sw_svf_job;

typedef struct qn_sw_svf_figures {
    qn_i64 n_tiles, core; /* side of a core */
    int overlap;          /* pixels around it; 0 for one tile */
    int n_patches;
    double wall_s, stitch_ms; /* stitching: copying cores into the maps */
    double tile_bytes;        /* of device memory, for the largest tile */
    double d2h_bytes;         /* downloaded */
    int is_mapped;            /* results are in a mapped file, not in memory */
    char device[32];          /* that computed the last sums: "cuda:0" */
} qn_sw_svf_figures;

/* `surface` is prepared (heights.h). Two tiles are in flight: one is computed while the core of the
 * previous one is copied. After a failure `out` is unchanged. `report` may be NULL. */
qn_status qn_sw_svf_compute(qn_ctx *ctx, const qn_sw_surface *surface, const qn_sw_svf_job *options,
                            qn_sw_svf_arrays *out, qn_sw_svf_figures *report, qn_err *err);

/* Shadow. */

typedef struct qn_sw_sun_job {
    double max_dist; /* metres after which rays end; 0: no limit */
    qn_i64 tile;     /* side of a tile's core in pixels; 0: what fits */
} qn_sw_sun_job;

/* 1 in the sun of `beam`, 0 in the shade, and in between below trees. `out` gets the place of the
 * DSM. */
qn_status qn_sw_shadow_compute(qn_ctx *ctx, const qn_sw_surface *surface, const qn_sw_beam *beam,
                               const qn_sw_sun_job *options, qn_sw_raster *out, qn_err *err);

/* Walls. */

typedef struct qn_sw_wall_job {
    double limit; /* lower steps in the ground, in metres, are not walls */
    qn_i64 tile;
} qn_sw_wall_job;

/* Heights in metres, 0 where there is no wall, and aspects of walls in degrees. */
qn_status qn_sw_walls_compute(qn_ctx *ctx, const qn_sw_raster *dsm, const qn_sw_wall_job *options,
                              qn_sw_raster *height, qn_sw_raster *aspect, qn_err *err);

/* Tiles. */

/* Plans tiles for the raster of `place` by the cost, border and core in `needs`. QN_ERR_LIMIT if
 * the raster is empty or too large. */
qn_status qn_sw_tiles_of(qn_ctx *ctx, const qn_sw_place *place, qn_tiles_needs *needs,
                         qn_tiles *out, qn_err *err);

/* The area for casting rays: results for the padded core of a tile. */
qn_sw_area qn_sw_area_of(const qn_tile *tile, float gmax);

/* Uploads the heights of a tile; without vegetation only the DSM. */
qn_status qn_sw_heights_upload(qn_ctx *ctx, const qn_sw_surface *surface, int has_veg,
                               const qn_tile *tile, qn_sw_height_bufs *out, qn_err *err);
void qn_sw_heights_free(qn_sw_height_bufs *bufs);

/* Pins the graph of a tile if needed, and starts it. */
qn_status qn_sw_tile_start(const qn_tile_slot *slot, qn_graph *graph, qn_err *err);

/* Files. */

/* Fails with QN_ERR_USAGE unless `path` ends with .tif, .npy or .png and this build can write
 * it. */
qn_status qn_sw_map_check(const char *path, qn_err *err);

/* Writes the values as .tif or .npy, or a picture according to `map` as .png. */
qn_status qn_sw_map_out(const char *path, const qn_sw_raster *raster, const qn_sw_map *map,
                        qn_err *err);

/* ".tif" if the raster has a place on the map and this build writes GeoTIFF, else ".npy". */
const char *qn_sw_map_ending(const qn_sw_place *place);

#endif
