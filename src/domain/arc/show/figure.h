/* figure.h - rows of grids, drawn as a PNG picture or as a page.
 *
 * A row is an input, an arrow, an output and, if known, the expected output. Cells in which the
 * outputs differ are marked.
 */
#ifndef QN_ARC_FIGURE_H
#define QN_ARC_FIGURE_H

#include "domain/arc/task/task.h"
#include "util/page/chart.h"

typedef struct qn_arc_figure_row {
    const char *label;                   /* "train 1" */
    const char *note;                    /* a line under the grids, or NULL */
    qn_arc_grid input, output, expected; /* borrowed; any may be missing */
    int is_checked;                      /* the output is compared with `expected` */
    int starts_part;                     /* a line above separates it */
} qn_arc_figure_row;

typedef struct qn_arc_figure {
    const char *title, *lead;
    const qn_arc_figure_row *rows;
    size_t n;
} qn_arc_figure;

/* Pictures have no text. The ending of `path` decides between picture and page. */
qn_status qn_arc_figure_write(const qn_arc_figure *figure, const char *path, qn_err *err);
qn_status qn_arc_figure_write_png(const qn_arc_figure *figure, const char *path, qn_err *err);
qn_status qn_arc_figure_write_html(const qn_arc_figure *figure, const char *path, qn_err *err);

/* A row on a page, and its data (util/page/figures.h): the kind "grids". Drawing needs only the
 * data; damaged data give QN_ERR_INPUT, and `where` starts the message. */
void qn_arc_figure_keep(qn_page *page, const qn_arc_figure_row *row);
qn_status qn_arc_figure_draw(qn_page *page, const json_t *figure, const char *where, qn_err *err);

/* Cells in which two grids of one shape differ, or -1 if the shapes differ or a grid is missing. */
int qn_arc_grids_differ(const qn_arc_grid *a, const qn_arc_grid *b);

/* Pixels to draw grids on. */

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

/* Clipped to the canvas. */
void qn_arc_canvas_fill(qn_arc_canvas *canvas, int x, int y, int width, int height,
                        uint32_t colour);

/* A frame of `thick` pixels around the rectangle. */
void qn_arc_canvas_frame(qn_arc_canvas *canvas, int x, int y, int width, int height, int thick,
                         uint32_t colour);

/* An arrow to the right, whose tip is at (x + width, y). */
void qn_arc_canvas_arrow(qn_arc_canvas *canvas, int x, int y, int width, uint32_t colour);

/* Cells of `pitch` pixels with thin lines between and around: pitch * cols + 1 pixels wide. */
void qn_arc_canvas_grid(qn_arc_canvas *canvas, int x, int y, int pitch, const qn_arc_grid *grid);

/* Marks cell (i, j) of such a grid with a white square and a black rim. */
void qn_arc_canvas_mark(qn_arc_canvas *canvas, int x, int y, int pitch, int i, int j);

#endif
