/* window.c - rectangles of pixels, widened and copied. */
#include "util/window.h"

#include <string.h>

/* Widens [*at, *at + *n) by `border` on both sides, clipped to [0, end). */
static void widen(qn_i64 border, qn_i64 end, qn_i64 *at, qn_i64 *n)
{
    const qn_i64 from = *at > border ? *at - border : 0;
    const qn_i64 to = *at + *n + border < end ? *at + *n + border : end;

    *at = from;
    *n = to - from;
}

qn_window qn_window_widen(qn_window window, qn_i64 border, qn_i64 rows, qn_i64 cols)
{
    widen(border, rows, &window.row, &window.rows);
    widen(border, cols, &window.col, &window.cols);
    return window;
}

void qn_window_cut(const void *raster, qn_i64 cols, const qn_window *w, size_t bytes, void *packed)
{
    const size_t line = (size_t)w->cols * bytes;

    for (qn_i64 r = 0; r < w->rows; r++)
        memcpy((char *)packed + (size_t)r * line,
               (const char *)raster + (size_t)((w->row + r) * cols + w->col) * bytes, line);
}

void qn_window_paste(const void *packed, const qn_window *w, size_t bytes, void *raster,
                     qn_i64 cols)
{
    const size_t line = (size_t)w->cols * bytes;

    for (qn_i64 r = 0; r < w->rows; r++)
        memcpy((char *)raster + (size_t)((w->row + r) * cols + w->col) * bytes,
               (const char *)packed + (size_t)r * line, line);
}
