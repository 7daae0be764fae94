/* chart.c - line charts: log-log or linear, whiskers, marks, tooltips.
 *
 * A chart is laid out before it is drawn: the left margin depends on the widest tick label, the top
 * margin on the number of rows for the labels of the marks. Nothing needs clipping, since the
 * scales include every value drawn.
 */
#include "util/page/chart.h"
#include "util/page/figures.h"
#include "util/page/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WIDE = 900,
    WIDE_HEIGHT = 400,
    PANEL = 520,
    PANEL_HEIGHT = 340,
    ROW_HEIGHT = 19, /* of mark labels */
    LABEL_GAP = 10,
    LABEL_SHIFT = 8, /* overlap of a label beside its line */
    DOTS_MAX = 80,   /* longer series have tooltips but no markers */
    CAP_HALF = 3     /* of a whisker */
};

typedef struct label {
    double x;          /* of the line */
    double start, end; /* of the text */
    int row;           /* counted upwards from the plot; -1: not shown */
} label;

typedef struct layout {
    const qn_line_chart *chart;
    qn_scale x, y;
    qn_ticks x_ticks, y_ticks;
    double width, height;
    double left, right, top, bottom; /* of the plot */
    label *labels;                   /* one per mark */
    int n_rows;
} layout;

/* Layout. */

static void include_chart(qn_scale *x, qn_scale *y, const qn_line_chart *chart)
{
    for (size_t i = 0; i < chart->n_series; i++) {
        const qn_series *s = &chart->series[i];
        for (size_t k = 0; k < s->n_points; k++) {
            if (!qn_scale_takes(x, s->points[k].x) || !qn_scale_takes(y, s->points[k].y))
                continue;
            qn_scale_include(x, s->points[k].x);
            qn_scale_include(y, s->points[k].y);
            if (s->points[k].high > s->points[k].y)
                qn_scale_include(y, s->points[k].high);
        }
    }
    for (size_t i = 0; i < chart->n_marks; i++)
        qn_scale_include(x, chart->marks[i].x);
}

/* Whether `l->labels[i]` covers another label, or the line of another mark. */
static int is_in_the_way(const layout *l, size_t i)
{
    const label *a = &l->labels[i];

    for (size_t k = 0; k < l->chart->n_marks; k++) {
        const label *b = &l->labels[k];
        if (k == i || b->row < 0)
            continue;
        if (k < i && b->row == a->row && a->start < b->end + LABEL_GAP &&
            b->start < a->end + LABEL_GAP)
            return 1;
        if (a->start - 3 < b->x && b->x < a->end + 3 && fabs(a->x - b->x) > 1)
            return 1;
    }
    return 0;
}

/* Tries to put the label centred over its line, then left of it, then right of it. */
static int fits(layout *l, size_t i, double width)
{
    label *a = &l->labels[i];
    const double starts[] = { a->x - width / 2, a->x - width + LABEL_SHIFT, a->x - LABEL_SHIFT };
    const double last = l->width - 4 - width;

    for (int k = 0; k < 3; k++) {
        a->start = starts[k] < l->left ? l->left : starts[k];
        a->start = fmax(0, fmin(a->start, last));
        a->end = a->start + width;
        if (!is_in_the_way(l, i))
            return 1;
    }
    return 0;
}

/* Each mark in turn takes the lowest row where its label fits. A label with lines on both sides may
 * fit nowhere; it gets its own row, and its halo hides the lines behind it. */
static void place_labels(layout *l)
{
    const size_t n = l->chart->n_marks;

    l->n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        const int is_shown = qn_scale_takes(&l->x, l->chart->marks[i].x);
        l->labels[i].row = is_shown ? 0 : -1;
        l->labels[i].x = is_shown ? qn_scale_at(&l->x, l->chart->marks[i].x) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        const double width = qn_svg_text_width(l->chart->marks[i].label);
        label *a = &l->labels[i];
        if (a->row < 0)
            continue;
        while (a->row < l->n_rows && !fits(l, i, width))
            a->row++;
        if (a->row == l->n_rows) {
            fits(l, i, width);
            l->n_rows++;
        }
    }
}

static void lay_out(layout *l, int is_panel)
{
    char text[32];
    double widest = 0;

    l->width = is_panel ? PANEL : WIDE;
    l->height = is_panel ? PANEL_HEIGHT : WIDE_HEIGHT;
    l->y.from = l->height; /* set again below; ticks need only the length */
    l->y.to = 0;
    qn_ticks_find(&l->y, (int)l->height / 42, &l->y_ticks);
    for (int i = 0; i < l->y_ticks.n_major; i++) {
        qn_unit_format(l->chart->y.unit, l->y_ticks.major[i], 6, text, sizeof text);
        const double width = qn_svg_text_width(text);
        widest = width > widest ? width : widest;
    }

    l->left = widest + 38;
    l->right = l->width - 14;
    l->x.from = l->left;
    l->x.to = l->right;
    qn_ticks_find(&l->x, (int)(l->right - l->left) / 56, &l->x_ticks);
    place_labels(l);
    l->top = 10 + l->n_rows * ROW_HEIGHT;
    l->height += l->n_rows * ROW_HEIGHT;
    l->bottom = l->height - 48;
    l->y.from = l->bottom;
    l->y.to = l->top;
}

/* Drawing. */

static void add_text(qn_str *out, const char *class, double x, double y, const char *text)
{
    qn_str_addf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    qn_xml_add(out, text);
    qn_str_add(out, "</text>\n");
}

static void draw_grid(qn_str *out, const layout *l, const char *class, const double *xs, int n_x,
                      const double *ys, int n_y)
{
    if (n_x + n_y == 0)
        return;
    qn_str_addf(out, "<path class=\"%s\" d=\"", class);
    for (int i = 0; i < n_x; i++)
        qn_str_addf(out, "M%.1f %.1fV%.1f", qn_scale_at(&l->x, xs[i]), l->top, l->bottom);
    for (int i = 0; i < n_y; i++)
        qn_str_addf(out, "M%.1f %.1fH%.1f", l->left, qn_scale_at(&l->y, ys[i]), l->right);
    qn_str_add(out, "\"/>\n");
}

static void draw_axes(qn_str *out, const layout *l)
{
    const double middle = (l->top + l->bottom) / 2;
    char text[32];

    draw_grid(out, l, "minor", l->x_ticks.minor, l->x_ticks.n_minor, l->y_ticks.minor,
              l->y_ticks.n_minor);
    draw_grid(out, l, "grid", l->x_ticks.major, l->x_ticks.n_major, l->y_ticks.major,
              l->y_ticks.n_major);
    qn_str_addf(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", l->left, l->top,
                l->bottom, l->right);
    for (int i = 0; i < l->x_ticks.n_major; i++) {
        qn_unit_format(l->chart->x.unit, l->x_ticks.major[i], 6, text, sizeof text);
        add_text(out, "mid", qn_scale_at(&l->x, l->x_ticks.major[i]), l->bottom + 19, text);
    }
    for (int i = 0; i < l->y_ticks.n_major; i++) {
        qn_unit_format(l->chart->y.unit, l->y_ticks.major[i], 6, text, sizeof text);
        add_text(out, "end", l->left - 8, qn_scale_at(&l->y, l->y_ticks.major[i]) + 4.5, text);
    }
    if (l->chart->x.title)
        add_text(out, "mid strong", (l->left + l->right) / 2, l->bottom + 41, l->chart->x.title);
    if (l->chart->y.title) {
        qn_str_addf(out, "<g transform=\"translate(14 %.1f) rotate(-90)\">", middle);
        add_text(out, "mid strong", 0, 0, l->chart->y.title);
        qn_str_add(out, "</g>\n");
    }
}

/* All lines first, so that a label's halo covers lines behind it. */
static void draw_marks(qn_str *out, const layout *l)
{
    const qn_mark *marks = l->chart->marks;
    char class[32];

    for (size_t i = 0; i < l->chart->n_marks; i++) {
        const label *a = &l->labels[i];
        if (a->row >= 0)
            qn_str_addf(out, "<path class=\"mark s%d\" d=\"M%.1f %.1fV%.1f\"/>\n",
                        marks[i].color > 0 ? qn_svg_color(marks[i].color, 0) : 0, a->x,
                        l->top - 4 - a->row * ROW_HEIGHT, l->bottom);
    }
    for (size_t i = 0; i < l->chart->n_marks; i++) {
        const label *a = &l->labels[i];
        if (a->row < 0)
            continue;
        snprintf(class, sizeof class, "tag mid s%d",
                 marks[i].color > 0 ? qn_svg_color(marks[i].color, 0) : 0);
        add_text(out, class, (a->start + a->end) / 2, l->top - 8 - a->row * ROW_HEIGHT,
                 marks[i].label);
    }
}

static int is_drawn(const layout *l, const qn_point *p)
{
    return qn_scale_takes(&l->x, p->x) && qn_scale_takes(&l->y, p->y);
}

static void draw_line(qn_str *out, const layout *l, const qn_series *s)
{
    int is_joined = 0;

    qn_str_addf(out, "<path class=\"line%s\" d=\"", s->is_dashed ? " dashed" : "");
    for (size_t i = 0; i < s->n_points; i++) {
        const qn_point *p = &s->points[i];
        if (is_drawn(l, p))
            qn_str_addf(out, "%c%.1f %.1f", is_joined ? 'L' : 'M', qn_scale_at(&l->x, p->x),
                        qn_scale_at(&l->y, p->y));
        is_joined = is_drawn(l, p);
    }
    qn_str_add(out, "\"/>\n<path class=\"whisker\" d=\"");
    for (size_t i = 0; i < s->n_points; i++) {
        const qn_point *p = &s->points[i];
        if (!is_drawn(l, p) || !(p->high > p->y) || !qn_scale_takes(&l->y, p->high))
            continue;
        qn_str_addf(out, "M%.1f %.1fV%.1fm%d 0h%d", qn_scale_at(&l->x, p->x),
                    qn_scale_at(&l->y, p->y), qn_scale_at(&l->y, p->high), -CAP_HALF, 2 * CAP_HALF);
    }
    qn_str_add(out, "\"/>\n");
}

static void add_tooltip(qn_str *out, const layout *l, const qn_series *s, const qn_point *p)
{
    const qn_line_chart *chart = l->chart;
    char x[32];
    char y[32];
    char high[32];

    qn_unit_format(chart->x.unit, p->x, 6, x, sizeof x);
    qn_unit_format(chart->y.unit, p->y, 4, y, sizeof y);
    qn_str_add(out, "<title>");
    qn_xml_add(out, s->name);
    qn_str_addf(out, ", %s: %s", x, y);
    if (p->high > p->y) {
        qn_unit_format(chart->y.unit, p->high, 4, high, sizeof high);
        qn_str_add(out, " (");
        qn_xml_add(out, chart->high_name ? chart->high_name : "high");
        qn_str_addf(out, " %s)", high);
    }
    if (p->note) {
        qn_str_add(out, "\n");
        qn_xml_add(out, p->note);
    }
    qn_str_add(out, "</title>");
}

static void draw_points(qn_str *out, const layout *l, const qn_series *s, int color)
{
    for (size_t i = 0; i < s->n_points; i++) {
        const qn_point *p = &s->points[i];
        if (!is_drawn(l, p))
            continue;
        const double x = qn_scale_at(&l->x, p->x);
        const double y = qn_scale_at(&l->y, p->y);
        qn_str_add(out, "<g class=\"p\">");
        add_tooltip(out, l, s, p);
        qn_str_addf(out, "<circle class=\"hit\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/>", x, y);
        if (s->n_points <= DOTS_MAX)
            qn_svg_marker(out, color, x, y, s->is_dashed);
        qn_str_add(out, "</g>\n");
    }
}

static void add_legend(qn_str *out, const qn_line_chart *chart)
{
    qn_str_add(out, "<ul class=\"legend\">");
    for (size_t i = 0; i < chart->n_series; i++)
        qn_svg_legend_line(out, qn_svg_color(chart->series[i].color, i), chart->series[i].is_dashed,
                           chart->series[i].name);
    qn_str_add(out, "</ul>\n");
}

static void draw_chart(qn_str *out, const layout *l)
{
    const qn_line_chart *chart = l->chart;

    qn_str_addf(out, "<svg%s viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
                l->width == WIDE ? " class=\"wide\"" : "", l->width, l->height);
    qn_xml_add(out, chart->title ? chart->title : chart->y.title ? chart->y.title : "chart");
    qn_str_add(out, "\">\n");
    draw_axes(out, l);
    draw_marks(out, l);
    for (size_t i = 0; i < chart->n_series; i++) {
        qn_str_addf(out, "<g class=\"s%d\">\n", qn_svg_color(chart->series[i].color, i));
        draw_line(out, l, &chart->series[i]);
        qn_str_add(out, "</g>\n");
    }
    /* Points after all lines, or the line of one series would hide the points of another. */
    for (size_t i = 0; i < chart->n_series; i++) {
        const int color = qn_svg_color(chart->series[i].color, i);
        qn_str_addf(out, "<g class=\"s%d\">\n", color);
        draw_points(out, l, &chart->series[i], color);
        qn_str_add(out, "</g>\n");
    }
    qn_str_add(out, "</svg>\n");
}

static void add_figure(qn_str *out, const qn_line_chart *chart, const qn_scale *x,
                       const qn_scale *y, int is_panel)
{
    layout l = { .chart = chart, .x = *x, .y = *y };

    qn_str_add(out, "<figure>\n");
    if (chart->title) {
        qn_str_add(out, "<figcaption>");
        qn_xml_add(out, chart->title);
        qn_str_add(out, "</figcaption>\n");
    }
    if (!x->has_values || !y->has_values) {
        qn_str_add(out, "<p>No data to draw.</p>\n");
    } else if (!(l.labels = calloc(chart->n_marks + 1, sizeof *l.labels))) {
        out->failed = 1;
    } else {
        qn_scale_finish(&l.x);
        qn_scale_finish(&l.y);
        lay_out(&l, is_panel);
        add_legend(out, chart);
        draw_chart(out, &l);
    }
    qn_str_add(out, "</figure>\n");
    free(l.labels);
}

static void find_scales(const qn_line_chart *charts, size_t n, qn_scale *x, qn_scale *y)
{
    *x = (qn_scale){ .is_log = charts[0].x.is_log };
    *y = (qn_scale){ .is_log = charts[0].y.is_log };
    for (size_t i = 0; i < n; i++)
        include_chart(x, y, &charts[i]);
}

void qn_page_lines(qn_page *page, const qn_line_chart *charts, size_t n)
{
    qn_scale x, y;

    if (n == 0)
        return;
    find_scales(charts, n, &x, &y);
    qn_page_keep_lines(page, charts, n);
    if (n > 1)
        qn_str_add(&page->html, "<div class=\"panels\">\n");
    for (size_t i = 0; i < n; i++)
        add_figure(&page->html, &charts[i], &x, &y, n > 1);
    if (n > 1)
        qn_str_add(&page->html, "</div>\n");
}

void qn_page_panel(qn_page *page, const qn_line_chart *charts, size_t n, size_t k)
{
    qn_scale x, y;

    find_scales(charts, n, &x, &y);
    add_figure(&page->html, &charts[k], &x, &y, n > 1);
}
