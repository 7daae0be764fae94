/* canvas.c - rectangles, arrows and grids as pixels. */
#include "domain/arc/show/figure.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* A larger picture could not be viewed, and would take memory that a page does not need. */
#define MOST_PIXELS ((size_t)100 << 20)

uint32_t qn_arc_colour(int colour)
{
    static const uint32_t colours[QN_ARC_N_COLOURS] = { 0x000000, 0x0074D9, 0xFF4136, 0x2ECC40,
                                                        0xFFDC00, 0xAAAAAA, 0xF012BE, 0xFF851B,
                                                        0x7FDBFF, 0x870C25 };

    return colours[colour >= 0 && colour < QN_ARC_N_COLOURS ? colour : 0];
}

qn_status qn_arc_canvas_new(qn_arc_canvas *canvas, int width, int height, qn_err *err)
{
    const size_t pixels = (size_t)width * (size_t)height;
    uint8_t *rgb;

    if (pixels > MOST_PIXELS)
        return qn_fail(err, QN_ERR_LIMIT,
                       "a picture of %d x %d pixels exceeds %zu; an .html file has no such limit",
                       width, height, MOST_PIXELS);
    if (!(rgb = malloc(pixels * 3)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %d x %d pixels", width, height);
    memset(rgb, 0xff, pixels * 3);
    *canvas = (qn_arc_canvas){ .rgb = rgb, .width = width, .height = height };
    return QN_OK;
}

void qn_arc_canvas_free(qn_arc_canvas *canvas)
{
    free(canvas->rgb);
    *canvas = (qn_arc_canvas){ 0 };
}

void qn_arc_canvas_fill(qn_arc_canvas *canvas, int x, int y, int width, int height, uint32_t colour)
{
    const int left = x > 0 ? x : 0;
    const int top = y > 0 ? y : 0;
    const int right = x + width < canvas->width ? x + width : canvas->width;
    const int bottom = y + height < canvas->height ? y + height : canvas->height;

    for (int row = top; row < bottom; row++) {
        for (int col = left; col < right; col++) {
            uint8_t *const pixel =
                canvas->rgb + ((size_t)row * (size_t)canvas->width + (size_t)col) * 3;

            pixel[0] = (uint8_t)(colour >> 16);
            pixel[1] = (uint8_t)(colour >> 8);
            pixel[2] = (uint8_t)colour;
        }
    }
}

void qn_arc_canvas_frame(qn_arc_canvas *canvas, int x, int y, int width, int height, int thick,
                         uint32_t colour)
{
    qn_arc_canvas_fill(canvas, x - thick, y - thick, width + 2 * thick, thick, colour);
    qn_arc_canvas_fill(canvas, x - thick, y + height, width + 2 * thick, thick, colour);
    qn_arc_canvas_fill(canvas, x - thick, y, thick, height, colour);
    qn_arc_canvas_fill(canvas, x + width, y, thick, height, colour);
}

void qn_arc_canvas_arrow(qn_arc_canvas *canvas, int x, int y, int width, uint32_t colour)
{
    const int tip = width / 2 < 8 ? width / 2 : 8;

    qn_arc_canvas_fill(canvas, x, y - 1, width - tip, 3, colour);
    for (int k = 0; k < tip; k++)
        qn_arc_canvas_fill(canvas, x + width - 1 - k, y - k, 1, 2 * k + 1, colour);
}

void qn_arc_canvas_grid(qn_arc_canvas *canvas, int x, int y, int pitch, const qn_arc_grid *grid)
{
    qn_arc_canvas_fill(canvas, x, y, pitch * grid->cols + 1, pitch * grid->rows + 1,
                       QN_ARC_LINE_COLOUR);
    for (int k = 0; k < grid->rows * grid->cols; k++)
        qn_arc_canvas_fill(canvas, x + 1 + k % grid->cols * pitch, y + 1 + k / grid->cols * pitch,
                           pitch - 1, pitch - 1, qn_arc_colour(grid->cells[k]));
}

void qn_arc_canvas_mark(qn_arc_canvas *canvas, int x, int y, int pitch, int i, int j)
{
    const int side = pitch / 3 > 2 ? pitch / 3 : 2;
    const int left = x + j * pitch + (pitch + 1 - side) / 2;
    const int top = y + i * pitch + (pitch + 1 - side) / 2;

    qn_arc_canvas_fill(canvas, left - 1, top - 1, side + 2, side + 2, 0x000000);
    qn_arc_canvas_fill(canvas, left, top, side, side, 0xffffff);
}
