/* figures.h - data of the figures of a page, in a file beside it; other pages draw them from it.
 *
 * NAME.figures.json beside NAME.html is { "format": "quern-figures/1", "figures": [...] }. A figure
 * has a "kind", its "section" of the page, and members of its kind: line charts have "charts" with
 * common scales.
 */
#ifndef QN_UTIL_PAGE_FIGURES_H
#define QN_UTIL_PAGE_FIGURES_H

#include "util/json.h"
#include "util/page/chart.h"

/* Adds a figure to the data of the page, which then owns it; NULL means out of memory. */
void qn_page_keep(qn_page *page, const char *kind, json_t *figure);
void qn_page_keep_lines(qn_page *page, const qn_line_chart *charts, size_t n);

/* Writes the figures of the page at `page_path`; does nothing if it has none. */
qn_status qn_figures_write(const qn_page *page, const char *page_path, qn_err *err);

/* Whether the name is that of such a file. */
int qn_figures_is_file(const char *file);

/* Reads a file; *list is borrowed from *root, which the caller releases. */
qn_status qn_figures_read(const char *path, json_t **root, json_t **list, qn_err *err);

/* The line charts of a figure. Texts are borrowed from the JSON. Zero-initialised: none. */
typedef struct qn_figure_lines {
    qn_line_chart *charts;
    size_t n;
} qn_figure_lines;

/* A damaged figure is QN_ERR_INPUT; `where` starts the message. */
qn_status qn_figure_lines_read(const json_t *figure, const char *where, qn_figure_lines *out,
                               qn_err *err);
void qn_figure_lines_free(qn_figure_lines *lines);

#endif
