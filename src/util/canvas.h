/* canvas.h - pictures with text: pixels, letters of 5 x 7 dots, and the numbers beside a bar of colours.
 *
 * What is drawn beyond the edge is cut off. Letters are ASCII and the degree sign, as UTF-8.
 */
#ifndef QN_UTIL_CANVAS_H
#define QN_UTIL_CANVAS_H

#include "util/status.h"

typedef struct qn_canvas {
    uint8_t *rgb; /* rows from the top, three bytes per pixel, no gaps */
    int width, height;
} qn_canvas;

/* White; the caller frees rgb. `name` is what it is for. */
qn_status qn_canvas_new(int width, int height, const char *name, qn_canvas *out, qn_err *err);

void qn_canvas_fill(qn_canvas *canvas, int x, int y, int width, int height, const uint8_t rgb[3]);

/* Copies a picture of the same kind. */
void qn_canvas_put(qn_canvas *canvas, int x, int y, const uint8_t *rgb, int width, int height);

/* Black letters, `size` pixels per dot. A title is twice as large where that fits. */
void qn_canvas_text(qn_canvas *canvas, int x, int y, int size, const char *text);
void qn_canvas_title(qn_canvas *canvas, int x, int y, const char *text);

/* Marks and round numbers on the right of a bar that ends at `x`, for values from `low`, at its foot,
 * to `high`, at its top. */
void qn_canvas_ticks(qn_canvas *canvas, int x, int top, int height, double low, double high);

/* A round step, 1, 2 or 5 times a power of ten, of which at most `most` fit into `span` > 0. */
double qn_round_step(double span, int most);

enum { QN_FONT_COLS = 5, QN_FONT_ROWS = 7, QN_FONT_STEP = 6 /* from letter to letter */ };

/* 1 when the first letter of `letter`, which is not empty, has a dot there. */
int qn_font_has(const char *letter, int col, int row);

int qn_font_letters(const char *text);        /* how many letters */
const char *qn_font_next(const char *letter); /* the text after its first letter */

#endif
