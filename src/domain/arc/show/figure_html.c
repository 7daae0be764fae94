/* figure_html.c - rows of grids as one page of inline SVG.
 *
 * All cells of a colour are one path, a run of equal cells in a row one piece of it: a page of a
 * thousand results stays small enough for a browser.
 */
#include "domain/arc/show/canvas.h"
#include "domain/arc/show/figure.h"
#include "util/page/chart.h"
#include "util/page/svg.h"
#include "util/status.h"

static void add_colour(qn_str *html, const qn_arc_grid *grid, int colour)
{
    int is_open = 0;

    for (int i = 0; i < grid->rows; i++) {
        const unsigned char *const row = grid->cells + (size_t)i * (size_t)grid->cols;

        for (int j = 0, n; j < grid->cols; j += n) {
            for (n = 1; j + n < grid->cols && row[j + n] == row[j]; n++)
                continue;
            if (row[j] != colour)
                continue;
            if (!is_open)
                qn_str_addf(html, "<path fill=\"#%06X\" d=\"", (unsigned)qn_arc_colour(colour));
            is_open = 1;
            qn_str_addf(html, "M%d %dh%dv1h-%dz", j, i, n, n);
        }
    }
    if (is_open)
        qn_str_add(html, "\"/>");
}

static void add_lines(qn_str *html, const qn_arc_grid *grid)
{
    qn_str_addf(html, "<path fill=\"none\" stroke=\"#%06X\" stroke-width=\".06\" d=\"",
                QN_ARC_LINE_COLOUR);
    for (int i = 0; i <= grid->rows; i++)
        qn_str_addf(html, "M0 %dH%d", i, grid->cols);
    for (int j = 0; j <= grid->cols; j++)
        qn_str_addf(html, "M%d 0V%d", j, grid->rows);
    qn_str_add(html, "\"/>");
}

static void add_marks(qn_str *html, const qn_arc_grid *grid, const qn_arc_grid *expected)
{
    qn_str_add(html,
               "<path class=\"diff\" fill=\"#fff\" stroke=\"#000\" stroke-width=\".08\" d=\"");
    for (int k = 0; k < grid->rows * grid->cols; k++) {
        if (grid->cells[k] != expected->cells[k])
            qn_str_addf(html, "M%d.32 %d.32h.36v.36h-.36z", k % grid->cols, k / grid->cols);
    }
    qn_str_add(html, "\"/>");
}

/* `expected` is NULL, or the grid that differing cells are marked against. */
static void add_grid(qn_str *html, const char *name, const qn_arc_grid *grid,
                     const qn_arc_grid *expected)
{
    const int longer = grid->rows > grid->cols ? grid->rows : grid->cols;
    const int pitch = longer <= 10 ? 24 : longer <= 20 ? 16 : longer <= 30 ? 12 : 6;

    qn_str_addf(html,
                "<div><div class=\"note\">%s, %d × %d</div>"
                "<svg role=\"img\" aria-label=\"%s\" width=\"%d\" height=\"%d\" "
                "viewBox=\"-.05 -.05 %d.1 %d.1\">",
                name, grid->rows, grid->cols, name, grid->cols * pitch, grid->rows * pitch,
                grid->cols, grid->rows);
    for (int colour = 0; colour < QN_ARC_N_COLOURS; colour++)
        add_colour(html, grid, colour);
    add_lines(html, grid);
    if (expected && qn_arc_grids_differ(grid, expected) > 0)
        add_marks(html, grid, expected);
    qn_str_add(html, "</svg></div>\n");
}

/* What the comparison says, for those who do not see colours. */
static void add_verdict(qn_str *html, const qn_arc_figure_row *row)
{
    const int differing = qn_arc_grids_differ(&row->output, &row->expected);

    if (!row->is_checked || !row->output.cells || !row->expected.cells)
        return;
    if (differing == 0)
        qn_str_add(html, "<p class=\"s3\">equal</p>\n");
    else if (differing > 0)
        qn_str_addf(html, "<p class=\"s2\">%d of %d cells differ</p>\n", differing,
                    row->output.rows * row->output.cols);
    else
        qn_str_add(html, "<p class=\"s2\">another shape</p>\n");
}

static void add_row(qn_str *html, const qn_arc_figure_row *row)
{
    qn_str_add(html, "<figure><figcaption>");
    qn_xml_add(html, row->label);
    qn_str_add(html, "</figcaption>\n<div style=\"display:flex;flex-wrap:wrap;gap:12px 28px;"
                     "align-items:flex-start\">\n");
    if (row->input.cells)
        add_grid(html, "input", &row->input, NULL);
    if (row->output.cells)
        add_grid(html, "output", &row->output, row->is_checked ? &row->expected : NULL);
    if (row->expected.cells)
        add_grid(html, "expected", &row->expected, NULL);
    qn_str_add(html, "</div>\n");
    add_verdict(html, row);
    if (row->note) {
        qn_str_add(html, "<p class=\"note\">");
        qn_xml_add(html, row->note);
        qn_str_add(html, "</p>\n");
    }
    qn_str_add(html, "</figure>\n");
}

qn_status qn_arc_figure_write_html(const qn_arc_figure *figure, const char *path, qn_err *err)
{
    qn_page page;

    qn_page_begin(&page, figure->title, figure->lead);
    for (size_t i = 0; i < figure->n; i++)
        add_row(&page.html, &figure->rows[i]);
    return qn_page_write(&page, path, err);
}
