/* figure.c - what pictures and pages of grids have in common. */
#include "domain/arc/show/figure.h"
#include "util/status.h"

#include <string.h>

int qn_arc_grids_differ(const qn_arc_grid *a, const qn_arc_grid *b)
{
    int n = 0;

    if (!a->cells || !b->cells || a->rows != b->rows || a->cols != b->cols)
        return -1;
    for (int k = 0; k < a->rows * a->cols; k++)
        n += a->cells[k] != b->cells[k];
    return n;
}

static int ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path);

    return n > strlen(ending) && strcmp(path + n - strlen(ending), ending) == 0;
}

qn_status qn_arc_figure_write(const qn_arc_figure *figure, const char *path, qn_err *err)
{
    if (ends_in(path, ".png"))
        return qn_arc_figure_write_png(figure, path, err);
    if (ends_in(path, ".html"))
        return qn_arc_figure_write_html(figure, path, err);
    return qn_fail(err, QN_ERR_USAGE, "%s: grids are drawn to a .png or .html file", path);
}
