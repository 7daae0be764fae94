/* map_png.h - a grid as a PNG map: title, colours, legend with values, bar of lengths. */
#ifndef QN_SOLWEIG_PICTURE_MAP_PNG_H
#define QN_SOLWEIG_PICTURE_MAP_PNG_H

#include "util/status.h"

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

/* Colour of `value` on a scale from `low` to `high`: blue, yellow, dark red. */
void qn_sw_map_colour(double value, double low, double high, uint8_t rgb[3]);

/* A round step, 1, 2 or 5 times a power of ten, of which at most `most` fit into `span` > 0. */
double qn_sw_round_step(double span, int most);

#endif
