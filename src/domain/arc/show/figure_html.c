/* figure_html.c - rows of grids as one page of inline SVG.
 *
 * All cells of a colour are one path, with one piece for each run of equal cells in a row: this
 * keeps a page of a thousand results small enough for a browser.
 */
#include "domain/arc/show/figure.h"
#include "util/page/figures.h"
#include "util/page/svg.h"
#include "util/status.h"

#include <string.h>

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

/* `expected` is NULL, or the grid against which differing cells are marked. */
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

/* The comparison in words, for readers who cannot see the colours. */
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

/* Rows as data: a grid is a list of rows, each a string of digits. */

static json_t *grid_to_json(const qn_arc_grid *grid)
{
    json_t *rows = json_array();

    for (int i = 0; grid->cells && i < grid->rows; i++) {
        char digits[QN_ARC_MOST_SIDE];

        for (int j = 0; j < grid->cols; j++)
            digits[j] = (char)('0' + grid->cells[i * grid->cols + j]);
        qn_json_push(&rows, json_stringn(digits, (size_t)grid->cols));
    }
    return rows;
}

void qn_arc_figure_keep(qn_page *page, const qn_arc_figure_row *row)
{
    qn_page_keep(page, "grids",
                 json_pack("{s:o, s:o, s:b, s:o, s:o, s:o}", "label", qn_json_text(row->label),
                           "note", row->note ? qn_json_text(row->note) : json_null(), "checked",
                           row->is_checked, "input", grid_to_json(&row->input), "output",
                           grid_to_json(&row->output), "expected", grid_to_json(&row->expected)));
}

typedef struct cell_store {
    unsigned char cells[QN_ARC_MOST_SIDE * QN_ARC_MOST_SIDE];
} cell_store;

static qn_status grid_from_json(const json_t *figure, const char *key, const char *where,
                                cell_store *store, qn_arc_grid *out, qn_err *err)
{
    const json_t *rows = json_object_get(figure, key);
    const size_t n = json_array_size(rows);
    const size_t cols = json_string_length(json_array_get(rows, 0));

    *out = (qn_arc_grid){ 0 };
    if (!n)
        return QN_OK;
    if (n > QN_ARC_MOST_SIDE || cols < 1 || cols > QN_ARC_MOST_SIDE)
        return qn_fail(err, QN_ERR_INPUT, "%s: %s is a grid of %zu x %zu, over %d", where, key, n,
                       cols, QN_ARC_MOST_SIDE);
    for (size_t i = 0; i < n; i++) {
        const char *row = json_string_value(json_array_get(rows, i));

        if (!row || strlen(row) != cols || strspn(row, "0123456789") != cols)
            return qn_fail(err, QN_ERR_INPUT, "%s: row %zu of %s is not %zu digits", where, i + 1,
                           key, cols);
        for (size_t j = 0; j < cols; j++)
            store->cells[i * cols + j] = (unsigned char)(row[j] - '0');
    }
    *out = (qn_arc_grid){ .rows = (int)n, .cols = (int)cols, .cells = store->cells };
    return QN_OK;
}

qn_status qn_arc_figure_draw(qn_page *page, const json_t *figure, const char *where, qn_err *err)
{
    const char *label = json_string_value(json_object_get(figure, "label"));
    cell_store input, output, expected;
    qn_arc_figure_row row = { .label = label ? label : "",
                              .note = json_string_value(json_object_get(figure, "note")),
                              .is_checked = json_is_true(json_object_get(figure, "checked")) };
    qn_status st = QN_OK;

    QN_TRY(grid_from_json(figure, "input", where, &input, &row.input, err));
    QN_TRY(grid_from_json(figure, "output", where, &output, &row.output, err));
    QN_TRY(grid_from_json(figure, "expected", where, &expected, &row.expected, err));
    add_row(&page->html, &row);
out:
    return st;
}

qn_status qn_arc_figure_write_html(const qn_arc_figure *figure, const char *path, qn_err *err)
{
    qn_page page;

    qn_page_begin(&page, figure->title, figure->lead);
    for (size_t i = 0; i < figure->n; i++) {
        add_row(&page.html, &figure->rows[i]);
        qn_arc_figure_keep(&page, &figure->rows[i]);
    }
    return qn_page_write(&page, path, err);
}
