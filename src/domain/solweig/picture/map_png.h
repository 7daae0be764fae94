/* map_png.h - a grid as a PNG map: title, colours, legend with values, bar of lengths. */
#ifndef QN_SOLWEIG_PICTURE_MAP_PNG_H
#define QN_SOLWEIG_PICTURE_MAP_PNG_H

#include "util/big_block.h"
#include "util/window.h"

#include <stddef.h>

typedef struct qn_sw_map {
    const char *title;
    const char *unit;  /* of the values, above the legend; may be NULL */
    double low, high;  /* values of the first and the last colour; equal: those of the grid */
    double pixel_size; /* metres; 0: no bar of lengths */
} qn_sw_map;

/* Draws row 0 at the top. Small grids are enlarged by a whole number, large ones are averaged so
 * that no side has more than 1600 pixels. What is not finite is grey. */
qn_status qn_sw_map_write(const char *path, const float *grid, qn_i64 rows, qn_i64 cols,
                          const qn_sw_map *map, qn_err *err);

/* A grid whose parts come one by one. It holds what a map shows: each pixel, or sums over the
 * blocks of a large grid. Zero-initialised is empty. */
typedef struct qn_sw_map_grid {
    qn_i64 rows, cols;
    int shrink;         /* side of a block */
    qn_i64 n_added;     /* pixels */
    float low, high;    /* least and greatest finite value */
    float *value;       /* of pixels, where blocks have one; else of blocks: */
    double *sum;        /* over finite pixels */
    uint32_t *n;        /* and their number */
    qn_big_block block; /* where they lie */
} qn_sw_map_grid;

/* `is_mapped` as in big_block.h. QN_ERR_LIMIT for sides outside of 1 .. QN_PNG_MAX_SIDE. */
qn_status qn_sw_map_grid_new(qn_i64 rows, qn_i64 cols, int is_mapped, qn_sw_map_grid *out,
                             qn_err *err);
void qn_sw_map_grid_free(qn_sw_map_grid *grid);

/* Adds the pixels of `window`, which have no gaps; each pixel once. */
void qn_sw_map_grid_add(qn_sw_map_grid *grid, const qn_window *window, const float *data);

static inline int qn_sw_map_grid_is_full(const qn_sw_map_grid *grid)
{
    return grid->n_added == grid->rows * grid->cols;
}

/* The map as a file in memory; the caller frees *data. `path` names it in messages. */
qn_status qn_sw_map_encode(const char *path, const qn_sw_map_grid *grid, const qn_sw_map *map,
                           char **data, size_t *bytes, qn_err *err);

/* Colour of `value` on a scale from `low` to `high`: blue, yellow, dark red. */
void qn_sw_map_colour(double value, double low, double high, uint8_t rgb[3]);

#endif
