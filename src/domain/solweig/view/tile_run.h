/* tile_run.h - stages over a raster, tile by tile, for work that has one graph a tile. */
#ifndef QN_SOLWEIG_VIEW_TILE_RUN_H
#define QN_SOLWEIG_VIEW_TILE_RUN_H

#include "tiles.h"

#include <quern/graph.h>

/* What one tile is made of. */
typedef struct qn_sw_tile_work {
    const char *stage; /* that a lost result is told by */
    void *user;
    /* Makes what the tile needs and adds its stages. */
    qn_status (*build)(void *user, const qn_sw_tile_cut *at, qn_graph *graph, qn_err *err);
    /* Reads the core's results to where they belong. */
    qn_status (*collect)(void *user, const qn_sw_tile_cut *at, qn_err *err);
    void (*clear)(void *user); /* frees what build made; also after a failure */
} qn_sw_tile_work;

/* All tiles, in order. */
qn_status qn_sw_tiles_run(qn_ctx *ctx, const qn_sw_tiles *tiles, const qn_sw_tile_work *work,
                          qn_err *err);

/* A new buffer with a window of a raster; and a window of a plane of `pitch` columns in `buf`, from
 * row `row` and column `col` on, into its place in a raster. */
qn_status qn_sw_window_upload(qn_ctx *ctx, const char *name, const qn_sw_raster *from,
                              const qn_sw_window *window, qn_buf **out, qn_err *err);
qn_status qn_sw_window_collect(qn_ctx *ctx, qn_buf *buf, qn_i64 pitch, qn_i64 row, qn_i64 col,
                               const qn_sw_window *window, qn_sw_raster *to, qn_err *err);

#endif
