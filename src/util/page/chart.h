/* chart.h - report pages: one self-contained HTML file with charts and tables.
 *
 * A page is built from top to bottom and written once. It has inline CSS and SVG, no script and no
 * external references; it follows the reader's light or dark mode, can be printed, and is
 * well-formed XML. Every text is escaped here; bytes that are not UTF-8 become U+FFFD. If memory
 * runs out, qn_page_write reports it.
 */
#ifndef QN_UTIL_CHART_H
#define QN_UTIL_CHART_H

#include "util/json.h"
#include "util/status.h"
#include "util/str.h"
#include "util/table.h"

/* How values on an axis are written. */
typedef enum qn_unit {
    QN_UNIT_COUNT, /* 250k, 1M */
    QN_UNIT_US,    /* given in microseconds: 100 ns, 21.5 µs, 3 ms, 2 s */
    QN_UNIT_RATIO  /* 1.8× */
} qn_unit;

/* Writes `value` with `digits` significant digits (at least 3) to `out`; "-" if it is not
 * finite. */
char *qn_unit_format(qn_unit unit, double value, int digits, char *out, size_t size);

typedef struct qn_axis {
    const char *title;
    qn_unit unit;
    int is_log; /* skips values that are not positive; a linear axis starts at zero */
} qn_axis;

/* The page. */

typedef struct qn_page {
    qn_str html;
    int in_section;
    qn_str heading;  /* of the section */
    json_t *figures; /* data of the figures (figures.h); NULL: none yet */
} qn_page;

typedef struct qn_fact {
    const char *label, *value;
    const char *note; /* may be NULL */
} qn_fact;

/* `lead` is one sentence under the title, or NULL. */
void qn_page_begin(qn_page *page, const char *title, const char *lead);
void qn_page_tiles(qn_page *page, const qn_fact *facts, size_t n);      /* a few key figures */
void qn_page_conditions(qn_page *page, const qn_fact *facts, size_t n); /* of a measurement */
void qn_page_section(qn_page *page, const char *heading);
void qn_page_text(qn_page *page, const char *text); /* a paragraph */
void qn_page_note(qn_page *page, const char *text); /* a paragraph in small type */

/* Marked cells are highlighted. `caption` may be NULL. */
void qn_page_table(qn_page *page, const char *caption, const qn_table *table);

/* Pictures, commands (picture.c). */

/* Command lines, each after a "$". */
void qn_page_command(qn_page *page, const char *const *lines, size_t n);

/* Figures up to the end of the row stand side by side if each gets at least `least` pixels. */
void qn_page_row(qn_page *page, int least);
void qn_page_row_end(qn_page *page);

/* A PNG image inside the page. `width` is its own width in pixels; small images are enlarged.
 * `caption` is also the alternative text. */
void qn_page_picture(qn_page *page, const char *caption, const void *png, size_t bytes, int width);

/* A table whose rows become paragraphs on a narrow page. */
void qn_page_stack(qn_page *page, const qn_table *table);

/* Content up to the end of the fold is hidden until the reader opens `summary`. */
void qn_page_fold(qn_page *page, const char *summary);
void qn_page_fold_end(qn_page *page);

/* Closes the page, writes it in one piece and the data of its figures beside it (figures.h), and
 * frees it, even on failure. */
qn_status qn_page_write(qn_page *page, const char *path, qn_err *err);
void qn_page_free(qn_page *page);

/* Line charts. */

typedef struct qn_point {
    double x, y;
    double high;      /* end of a whisker that starts at y; no whisker unless above y */
    const char *note; /* second line of the tooltip; may be NULL */
} qn_point;

typedef struct qn_series {
    const char *name;
    const qn_point *points; /* in order of x; a y that is not finite leaves a gap */
    size_t n_points;
    int color;     /* 1 to 8, for one colour per device in several charts; 0: by position */
    int is_dashed; /* draws hollow points too */
} qn_series;

/* A vertical line at `x`. Labels are laid out in rows above the plot and never overlap. */
typedef struct qn_mark {
    double x;
    const char *label;
    int color; /* 0: neutral */
} qn_mark;

typedef struct qn_line_chart {
    const char *title; /* may be NULL */
    qn_axis x, y;
    const qn_series *series;
    size_t n_series;
    const qn_mark *marks;
    size_t n_marks;
    const char *high_name; /* name of the whisker's end in tooltips: "p90" */
} qn_line_chart;

/* One chart of full width, or several panels side by side with the same scales. */
void qn_page_lines(qn_page *page, const qn_line_chart *charts, size_t n);

/* Draws chart `k` of several with the same scales, without storing its data. */
void qn_page_panel(qn_page *page, const qn_line_chart *charts, size_t n, size_t k);

#endif
