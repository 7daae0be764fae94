/* sw_walls.h - walls of a raster: heights and aspects. */
#ifndef QN_KERNEL_SW_WALLS_H
#define QN_KERNEL_SW_WALLS_H

#include "kernel/types.h"

#define SW_WALL_ANGLES 180
#define SW_WALL_WORDS  64 /* most words of a filter: 45 x 45 bits */

/* Filters are `side` x `side` bits, row by row, in `n_words` words. */
typedef struct {
    i32 rows, cols;
    i32 side, n_words;
    float limit; /* lower steps are not walls */
    i32 spare;
} sw_wall_par;
QN_PAR_SIZE(sw_wall_par, 24);

/* Three masks per angle: the line along the wall, and its two sides. */
enum { SW_WALL_LINE, SW_WALL_LEFT, SW_WALL_RIGHT, SW_WALL_MASKS };

#endif
