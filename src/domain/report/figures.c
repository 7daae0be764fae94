/* figures.c - draws pictures and charts of a run from its PNG files and figure data. */
#include "domain/report/section.h"

#include "domain/arc/show/figure.h"
#include "util/file.h"
#include "util/page/figures.h"
#include "util/png.h"

#include <stdlib.h>
#include <string.h>

qn_status qn_rp_add_picture(qn_page *page, const qn_rp_run *run, const char *file,
                            const char *caption, qn_err *err)
{
    char *path = NULL, *png = NULL;
    size_t bytes = 0;
    int width, height;
    qn_status st = QN_OK;

    QN_TRY(qn_rp_path(run, file, &path, err));
    QN_TRY(qn_file_read_most(path, QN_MOST_REPORT, &png, &bytes, err));
    QN_TRY(qn_png_check(path, png, bytes, &width, &height, err));
    qn_page_picture(page, caption, png, bytes, width);
out:
    free(png);
    free(path);
    return st;
}

/* Figures. */

typedef struct painter {
    qn_page *page;
    const qn_rp_kind *kind;
    const char *path; /* of the file being drawn */
    size_t room;      /* figures that may still be added to the section */
    int in_row;
} painter;

/* Puts narrow figures side by side, wide ones alone. */
static void set_row(painter *p, int in_row)
{
    if (in_row == p->in_row)
        return;
    in_row ? qn_page_row(p->page, p->kind->least_px) : qn_page_row_end(p->page);
    p->in_row = in_row;
}

static qn_status draw_lines(painter *p, const json_t *figure, qn_err *err)
{
    const char *section = json_string_value(json_object_get(figure, "section"));
    qn_figure_lines lines = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_figure_lines_read(figure, p->path, &lines, err));
    for (size_t k = 0; k < lines.n && p->room; k++, p->room--) {
        qn_line_chart *chart = &lines.charts[k];
        char title[300];

        if (p->kind->has_headings && section && chart->title) {
            snprintf(title, sizeof title, "%s, %s", section, chart->title);
            chart->title = title;
        }
        set_row(p, lines.n > 1);
        qn_page_panel(p->page, lines.charts, lines.n, k);
    }
out:
    qn_figure_lines_free(&lines);
    return st;
}

static qn_status draw_figure(painter *p, const json_t *figure, qn_err *err)
{
    const char *kind = json_string_value(json_object_get(figure, "kind"));
    qn_status st;

    if (kind && !strcmp(kind, "lines"))
        return draw_lines(p, figure, err);
    if (!kind || strcmp(kind, "grids") != 0)
        return qn_fail(err, QN_ERR_INPUT, "%s: a figure of unknown kind '%.40s'", p->path,
                       kind ? kind : "");
    set_row(p, 1);
    st = qn_arc_figure_draw(p->page, figure, p->path, err);
    p->room--;
    return st;
}

static qn_status draw_file(painter *p, qn_err *err)
{
    json_t *root, *list;
    qn_status st = QN_OK;

    QN_TRY(qn_figures_read(p->path, &root, &list, err));
    for (size_t i = 0; i < json_array_size(list) && p->room; i++)
        QN_TRY(draw_figure(p, json_array_get(list, i), err));
    set_row(p, 0);
out:
    json_decref(root);
    return st;
}

qn_status qn_rp_add_figures(qn_page *page, const qn_rp_run *run, const qn_rp_kind *kind,
                            qn_err *err)
{
    painter p = { .page = page, .kind = kind, .room = kind->max_figures };
    char *path = NULL;
    qn_status st = QN_OK;

    for (size_t i = 0; i < run->files.n && p.room; i++) {
        if (!qn_figures_is_file(run->files.files[i]))
            continue;
        QN_TRY(qn_rp_path(run, run->files.files[i], &path, err));
        p.path = path;
        st = draw_file(&p, err);
        free(path);
        QN_TRY(st);
    }
out:
    return st;
}
