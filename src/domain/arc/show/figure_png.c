/* figure_png.c - rows of grids as one picture. */
#include "domain/arc/show/figure.h"
#include "util/png.h"
#include "util/status.h"

enum { MARGIN = 16, GAP = 24, ARROW = 40, FRAME = 3 };

#define SEPARATOR 0xBBBBBBu
#define ARROW_INK 0x444444u
#define RIGHT     0x2ECC40u
#define WRONG     0xFF4136u

/* Small grids get large cells, so that all rows look alike. */
static int pitch_of(const qn_arc_figure *figure)
{
    int most = 1;

    for (size_t i = 0; i < figure->n; i++) {
        const qn_arc_grid *const grids[] = { &figure->rows[i].input, &figure->rows[i].output,
                                             &figure->rows[i].expected };

        for (int k = 0; k < 3; k++) {
            most = grids[k]->rows > most ? grids[k]->rows : most;
            most = grids[k]->cols > most ? grids[k]->cols : most;
        }
    }
    return most <= 10 ? 24 : most <= 20 ? 16 : most <= 30 ? 12 : 6;
}

static int width_of(const qn_arc_grid *grid, int pitch)
{
    return grid->cells ? grid->cols * pitch + 1 : 0;
}

static int height_of(const qn_arc_grid *grid, int pitch)
{
    return grid->cells ? grid->rows * pitch + 1 : 0;
}

static int largest(int a, int b)
{
    return a > b ? a : b;
}

static int row_height(const qn_arc_figure_row *row, int pitch)
{
    const int sides = largest(height_of(&row->input, pitch), height_of(&row->output, pitch));

    return largest(largest(sides, height_of(&row->expected, pitch)), pitch);
}

/* Widths of the three columns, and of the whole. */
typedef struct layout {
    int pitch, input, output, expected, width, height;
} layout;

static layout lay_out(const qn_arc_figure *figure)
{
    layout sizes = { .pitch = pitch_of(figure), .height = MARGIN };

    for (size_t i = 0; i < figure->n; i++) {
        const qn_arc_figure_row *const row = &figure->rows[i];

        sizes.input = largest(sizes.input, width_of(&row->input, sizes.pitch));
        sizes.output = largest(sizes.output, width_of(&row->output, sizes.pitch));
        sizes.expected = largest(sizes.expected, width_of(&row->expected, sizes.pitch));
        /* A picture of too many rows is refused by its size; the sum must not overflow before
         * that. */
        if (sizes.height < QN_PNG_MAX_SIDE)
            sizes.height += row_height(row, sizes.pitch) + GAP + (row->starts_part ? GAP : 0);
    }
    sizes.height += MARGIN - (figure->n ? GAP : 0);
    sizes.width = 2 * MARGIN + sizes.input + ARROW + 2 * GAP + largest(sizes.output, sizes.pitch) +
                  (sizes.expected ? GAP + sizes.expected : 0);
    return sizes;
}

static void draw_output(qn_arc_canvas *canvas, const qn_arc_figure_row *row, int x, int y,
                        int pitch)
{
    const qn_arc_grid *const out = &row->output;
    const int differing = qn_arc_grids_differ(out, &row->expected);

    qn_arc_canvas_grid(canvas, x, y, pitch, out);
    if (!row->is_checked || !row->expected.cells)
        return;
    qn_arc_canvas_frame(canvas, x, y, width_of(out, pitch), height_of(out, pitch), FRAME,
                        differing == 0 ? RIGHT : WRONG);
    for (int k = 0; differing > 0 && k < out->rows * out->cols; k++) {
        if (out->cells[k] != row->expected.cells[k])
            qn_arc_canvas_mark(canvas, x, y, pitch, k / out->cols, k % out->cols);
    }
}

static void draw_row(qn_arc_canvas *canvas, const qn_arc_figure_row *row, const layout *sizes,
                     int y)
{
    const int arrow_x = MARGIN + sizes->input + GAP;
    const int output_x = arrow_x + ARROW + GAP;
    const int expected_x = output_x + largest(sizes->output, sizes->pitch) + GAP;

    if (row->input.cells)
        qn_arc_canvas_grid(canvas, MARGIN, y, sizes->pitch, &row->input);
    qn_arc_canvas_arrow(canvas, arrow_x, y + row_height(row, sizes->pitch) / 2, ARROW, ARROW_INK);
    if (row->output.cells)
        draw_output(canvas, row, output_x, y, sizes->pitch);
    if (row->expected.cells)
        qn_arc_canvas_grid(canvas, expected_x, y, sizes->pitch, &row->expected);
}

qn_status qn_arc_figure_write_png(const qn_arc_figure *figure, const char *path, qn_err *err)
{
    const layout sizes = lay_out(figure);
    qn_arc_canvas canvas = { 0 };
    qn_status st = QN_OK;
    int y = MARGIN;

    QN_TRY(qn_arc_canvas_new(&canvas, sizes.width, sizes.height, err));
    for (size_t i = 0; i < figure->n; i++) {
        if (figure->rows[i].starts_part) {
            qn_arc_canvas_fill(&canvas, MARGIN, y, sizes.width - 2 * MARGIN, 1, SEPARATOR);
            y += GAP;
        }
        draw_row(&canvas, &figure->rows[i], &sizes, y);
        y += row_height(&figure->rows[i], sizes.pitch) + GAP;
    }
    QN_TRY(qn_png_write(path, canvas.rgb, canvas.width, canvas.height, err));
out:
    qn_arc_canvas_free(&canvas);
    return st;
}
