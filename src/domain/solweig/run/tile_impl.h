/* tile_impl.h - what the files of a tile share. */
#ifndef QN_SW_RUN_TILE_IMPL_H
#define QN_SW_RUN_TILE_IMPL_H

#include "domain/solweig/run/tile.h"

static inline size_t qn_sw_window_pixels(const qn_sw_window *window)
{
    return (size_t)window->rows * (size_t)window->cols;
}

/* What a call of the engine said, in `err`. */
qn_status qn_sw_told(const qn_ctx *ctx, qn_status st, qn_err *err);

/* A new buffer of `elems` elements. */
qn_status qn_sw_tile_make(qn_sw_tile *tile, const char *name, size_t elems, size_t bytes,
                          qn_buf **out, qn_err *err);

/* Fills layers and maps; and view factors and bits, from what was kept. */
qn_status qn_sw_tile_layers(qn_sw_tile *tile, qn_err *err);
qn_status qn_sw_tile_kept(qn_sw_tile *tile, qn_err *err);

#endif
