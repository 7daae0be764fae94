/* tiles.h - how a raster is cut so that devices hold its parts.
 *
 * A tile is a core and what counts for the core around it, up to the raster's edge: then results
 * of the core are those of the whole raster, to the bit.
 */
#ifndef QN_SOLWEIG_VIEW_TILES_H
#define QN_SOLWEIG_VIEW_TILES_H

#include "domain/solweig/raster/raster.h"

#include <quern/quern.h>

typedef struct qn_sw_tiles {
    qn_i64 rows, cols; /* of the raster */
    int overlap;       /* pixels around a core */
    qn_i64 core;       /* side of a core */
    qn_i64 n_down, n_across;
    /* Of memory for a pixel of a tile, besides for one of its core, and of the core's widest array.
     * Arrays of the whole tile have 4 bytes a pixel. */
    double area_bytes, core_bytes, widest_bytes;
} qn_sw_tiles;

/* One tile: its window of the raster, and the core inside the raster. */
typedef struct qn_sw_tile_cut {
    qn_sw_window area, core;
} qn_sw_tile_cut;

/* Sets the side of cores, and counts them. */
void qn_sw_tiles_set(qn_sw_tiles *tiles, qn_i64 core);

/* Chooses the side: the whole raster where it fits into half of the memory of every device, else as
 * large as `n_in_flight` tiles allow. Where a device has less memory than it says, half of that
 * side: once, since what is still too large then is the engine's to move. */
void qn_sw_tiles_fit(qn_ctx *ctx, qn_sw_tiles *tiles, int n_in_flight);

qn_i64 qn_sw_tiles_count(const qn_sw_tiles *tiles);
qn_sw_tile_cut qn_sw_tiles_at(const qn_sw_tiles *tiles, qn_i64 i);

/* Bytes of device memory that the largest tile needs. */
double qn_sw_tiles_bytes(const qn_sw_tiles *tiles);

#endif
