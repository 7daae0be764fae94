/* window.h - a rectangle of pixels inside a raster. */
#ifndef QN_UTIL_WINDOW_H
#define QN_UTIL_WINDOW_H

#include <quern/quern.h>

typedef struct qn_window {
    qn_i64 row, col, rows, cols;
} qn_window;

static inline size_t qn_window_pixels(const qn_window *window)
{
    return (size_t)window->rows * (size_t)window->cols;
}

static inline int qn_window_has(const qn_window *window, qn_i64 row, qn_i64 col)
{
    return row >= window->row && row < window->row + window->rows && col >= window->col &&
           col < window->col + window->cols;
}

/* `window` widened by `border` pixels on every side, clipped to a raster of `rows` x `cols`. */
qn_window qn_window_widen(qn_window window, qn_i64 border, qn_i64 rows, qn_i64 cols);

/* Copy `window` of a raster with `cols` columns into `packed`, which has no gaps, and back. A pixel
 * has `bytes` bytes. */
void qn_window_cut(const void *raster, qn_i64 cols, const qn_window *window, size_t bytes,
                   void *packed);
void qn_window_paste(const void *packed, const qn_window *window, size_t bytes, void *raster,
                     qn_i64 cols);

#endif
