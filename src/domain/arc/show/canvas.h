/* canvas.h - pixels to draw grids on. */
#ifndef QN_ARC_CANVAS_H
#define QN_ARC_CANVAS_H

#include "domain/arc/task/task.h"

enum { QN_ARC_N_COLOURS = 10 };

/* Red, green and blue of colour 0 .. 9, from the highest byte down: 0x0074D9. */
uint32_t qn_arc_colour(int colour);

#define QN_ARC_LINE_COLOUR 0x555555u /* between cells */

typedef struct qn_arc_canvas {
    uint8_t *rgb;
    int width, height;
} qn_arc_canvas;

/* All white. */
qn_status qn_arc_canvas_new(qn_arc_canvas *canvas, int width, int height, qn_err *err);
void qn_arc_canvas_free(qn_arc_canvas *canvas);

/* Everything outside the canvas is cut off. */
void qn_arc_canvas_fill(qn_arc_canvas *canvas, int x, int y, int width, int height,
                        uint32_t colour);

/* A frame of `thick` pixels around the rectangle. */
void qn_arc_canvas_frame(qn_arc_canvas *canvas, int x, int y, int width, int height, int thick,
                         uint32_t colour);

/* An arrow to the right, whose tip is at (x + width, y). */
void qn_arc_canvas_arrow(qn_arc_canvas *canvas, int x, int y, int width, uint32_t colour);

/* Cells of `pitch` pixels with thin lines between and around: pitch * cols + 1 pixels wide. */
void qn_arc_canvas_grid(qn_arc_canvas *canvas, int x, int y, int pitch, const qn_arc_grid *grid);

/* Marks cell (i, j) of such a grid by a white square with a black rim. */
void qn_arc_canvas_mark(qn_arc_canvas *canvas, int x, int y, int pitch, int i, int j);

#endif
