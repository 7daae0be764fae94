/* figures.h - the figures of a page as data, in a file beside it, from which other pages draw them.
 *
 * NAME.figures.json beside NAME.html is { "format": "quern-figures/1", "figures": [...] }. A figure
 * has a "kind", the "section" of the page that it stands in, and what its kind needs: line charts
 * have "charts", which share their scales.
 */
#ifndef QN_UTIL_PAGE_FIGURES_H
#define QN_UTIL_PAGE_FIGURES_H

#include "util/json.h"
#include "util/page/chart.h"

/* Adds a figure to the data of the page, which takes it over; NULL is lack of memory. */
void qn_page_keep(qn_page *page, const char *kind, json_t *figure);
void qn_page_keep_lines(qn_page *page, const qn_line_chart *charts, size_t n);

/* Writes the figures of the page that is written to `page_path`; nothing when it has none. */
qn_status qn_figures_write(const qn_page *page, const char *page_path, qn_err *err);

/* Whether a file name is one of such data. */
int qn_figures_is_file(const char *file);

/* Reads a file; *list is borrowed from *root, which the caller drops. */
qn_status qn_figures_read(const char *path, json_t **root, json_t **list, qn_err *err);

/* The line charts of a figure. Texts are borrowed from the JSON. Zero-initialised is none. */
typedef struct qn_figure_lines {
    qn_line_chart *charts;
    size_t n;
} qn_figure_lines;

/* A figure that is damaged is QN_ERR_INPUT; `where` starts the message. */
qn_status qn_figure_lines_read(const json_t *figure, const char *where, qn_figure_lines *out,
                               qn_err *err);
void qn_figure_lines_free(qn_figure_lines *lines);

#endif
