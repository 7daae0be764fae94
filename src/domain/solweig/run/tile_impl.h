/* tile_impl.h - what the files of a tile share. */
#ifndef QN_SW_RUN_TILE_IMPL_H
#define QN_SW_RUN_TILE_IMPL_H

#include "domain/solweig/run/tile.h"
#include "domain/solweig/view/of_device.h"

static inline size_t qn_sw_window_pixels(const qn_sw_window *window)
{
    return (size_t)window->rows * (size_t)window->cols;
}

static inline int qn_sw_patch_option(const qn_sw_run_config *config)
{
    return config->patch_option ? config->patch_option : 2;
}

/* Pins all stages to the CPU where the scene is to be computed there. */
qn_status qn_sw_tile_pin(const qn_sw_tile *tile, qn_graph *graph, qn_err *err);

/* A new buffer of `elems` elements. */
qn_status qn_sw_tile_make(qn_sw_tile *tile, const char *name, size_t elems, size_t bytes,
                          qn_buf **out, qn_err *err);

/* Fills layers and maps; and view factors and bits, from what was kept. */
qn_status qn_sw_tile_layers(qn_sw_tile *tile, qn_err *err);
qn_status qn_sw_tile_kept(qn_sw_tile *tile, qn_err *err);

#endif
