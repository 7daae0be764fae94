/* chart_bars.c - horizontal bars, grouped, with the values written out.
 *
 * Lengths compare, numbers inform: when one bar dwarfs the others they are still read by their
 * labels.
 */
#include "util/page/chart.h"
#include "util/page/svg.h"
#include "util/utf8.h"

#include <math.h>
#include <stdio.h>

enum {
    WIDTH = 900,
    BAR = 17,
    BAR_GAP = 3,
    GROUP_GAP = 16,
    LABEL_MOST = 34, /* characters of a group's name that are shown */
    CAP_HALF = 4
};

typedef struct layout {
    const qn_bar_chart *chart;
    qn_scale x;
    qn_ticks ticks;
    double left, right, top, bottom;
    double group_height;
} layout;

static double value_of(const qn_bar_series *s, size_t group, double *high)
{
    const double value = s->values[group];

    *high = s->highs && s->highs[group] > value ? s->highs[group] : value;
    return value;
}

/* The start of a long name with an ellipsis; the whole is in the tooltip. */
static void shorten(const char *name, qn_str *out)
{
    size_t n = 0;
    const char *at = name;

    for (; *at && n < LABEL_MOST; n++)
        at += qn_utf8_size(at) ? qn_utf8_size(at) : 1;
    qn_str_add_n(out, name, (size_t)(at - name));
    if (*at)
        qn_str_add(out, "\xE2\x80\xA6");
}

static double widest_group(const qn_bar_chart *chart)
{
    double widest = 0;

    for (size_t i = 0; i < chart->n_groups; i++) {
        double width = qn_svg_text_width(chart->groups[i]);
        if (width > (LABEL_MOST + 1) * qn_svg_text_width("x"))
            width = (LABEL_MOST + 1) * qn_svg_text_width("x");
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void include_values(layout *l)
{
    const qn_bar_chart *chart = l->chart;
    double high;

    for (size_t i = 0; i < chart->n_series; i++) {
        for (size_t g = 0; g < chart->n_groups; g++) {
            qn_scale_include(&l->x, value_of(&chart->series[i], g, &high));
            qn_scale_include(&l->x, high);
        }
    }
    if (l->x.has_values && chart->reference > 0)
        qn_scale_include(&l->x, chart->reference);
}

static void lay_out(layout *l)
{
    const qn_bar_chart *chart = l->chart;

    qn_scale_finish(&l->x);
    l->group_height = (double)chart->n_series * (BAR + BAR_GAP) + GROUP_GAP;
    l->left = widest_group(chart) + 16;
    l->right = WIDTH - 84; /* the value of the longest bar stands behind it */
    l->top = 6;
    l->bottom = l->top + (double)chart->n_groups * l->group_height;
    l->x.from = l->left;
    l->x.to = l->right;
    qn_ticks_find(&l->x, (int)(l->right - l->left) / 80, &l->ticks);
}

static void draw_axis(qn_str *out, const layout *l)
{
    const qn_bar_chart *chart = l->chart;
    char text[32];

    for (int i = 0; i < l->ticks.n_major; i++) {
        const double x = qn_scale_at(&l->x, l->ticks.major[i]);
        qn_unit_format(chart->axis.unit, l->ticks.major[i], 6, text, sizeof text);
        qn_str_addf(out,
                    "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>"
                    "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                    x, l->top, l->bottom, x, l->bottom + 19, text);
    }
    if (chart->axis.title) {
        qn_str_addf(out, "<text class=\"mid strong\" x=\"%.1f\" y=\"%.1f\">",
                    (l->left + l->right) / 2, l->bottom + 41);
        qn_xml_add(out, chart->axis.title);
        qn_str_add(out, "</text>\n");
    }
}

/* Ends of a bar in pixels: where it starts, where it stops, and the tip of its whisker. */
static void bar_ends(const layout *l, const qn_bar_series *s, size_t group, double ends[3])
{
    double high;
    const double value = value_of(s, group, &high);
    const int is_shown = qn_scale_takes(&l->x, value);

    ends[0] = l->x.is_log ? l->left : qn_scale_at(&l->x, 0);
    ends[1] = is_shown ? qn_scale_at(&l->x, value) : ends[0];
    ends[2] = is_shown && qn_scale_takes(&l->x, high) ? qn_scale_at(&l->x, high) : ends[1];
}

static void draw_bar(qn_str *out, const layout *l, const qn_bar_series *s, size_t group, double y)
{
    const qn_bar_chart *chart = l->chart;
    double ends[3];
    double high;
    const double value = value_of(s, group, &high);
    char text[32];

    bar_ends(l, s, group, ends);
    qn_str_add(out, "<g class=\"p\"><title>");
    qn_xml_add(out, chart->groups[group]);
    qn_str_add(out, ", ");
    qn_xml_add(out, s->name);
    qn_str_addf(out, ": %s", qn_unit_format(chart->axis.unit, value, 4, text, sizeof text));
    if (ends[2] > ends[1])
        qn_str_addf(out, " to %s", qn_unit_format(chart->axis.unit, high, 4, text, sizeof text));
    qn_str_addf(out,
                "</title><rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
                "rx=\"2\"/>",
                fmin(ends[0], ends[1]), y, fabs(ends[1] - ends[0]), BAR);
    if (ends[2] > ends[1])
        qn_str_addf(out, "<path class=\"over\" d=\"M%.1f %.1fH%.1fm0 %dv%d\"/>", ends[1],
                    y + BAR / 2.0, ends[2], -CAP_HALF, 2 * CAP_HALF);
    qn_str_add(out, "</g>\n");
}

static void draw_value(qn_str *out, const layout *l, const qn_bar_series *s, size_t group, double y)
{
    double ends[3];
    double high;
    char text[32];

    bar_ends(l, s, group, ends);
    qn_unit_format(l->chart->axis.unit, value_of(s, group, &high), 3, text, sizeof text);
    qn_str_addf(out, "<text class=\"strong halo\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                fmax(ends[0], ends[2]) + 7, y + BAR / 2.0 + 4.5, text);
}

static double bar_top(const layout *l, size_t group, size_t series)
{
    return l->top + (double)group * l->group_height + GROUP_GAP / 2.0 +
           (double)series * (BAR + BAR_GAP);
}

static void draw_group(qn_str *out, const layout *l, size_t group)
{
    const qn_bar_chart *chart = l->chart;
    const double bars = (double)chart->n_series * (BAR + BAR_GAP) - BAR_GAP;
    qn_str name = { 0 };

    shorten(chart->groups[group], &name);
    qn_str_addf(out, "<g><title>");
    qn_xml_add(out, chart->groups[group]);
    qn_str_addf(out, "</title><text class=\"end strong\" x=\"%.1f\" y=\"%.1f\">", l->left - 10,
                bar_top(l, group, 0) + bars / 2 + 4.5);
    qn_xml_add(out, qn_str_get(&name));
    qn_str_add(out, "</text></g>\n");
    qn_str_free(&name);
    for (size_t i = 0; i < chart->n_series; i++) {
        qn_str_addf(out, "<g class=\"s%d\">", qn_svg_color(chart->series[i].color, i));
        draw_bar(out, l, &chart->series[i], group, bar_top(l, group, i));
        qn_str_add(out, "</g>\n");
    }
}

static void draw_chart(qn_str *out, layout *l)
{
    const qn_bar_chart *chart = l->chart;

    lay_out(l);
    qn_str_addf(out, "<svg class=\"wide\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"",
                WIDTH, l->bottom + (chart->axis.title ? 50 : 28));
    qn_xml_add(out, chart->title ? chart->title : "bar chart");
    qn_str_add(out, "\">\n");
    draw_axis(out, l);
    for (size_t g = 0; g < chart->n_groups; g++)
        draw_group(out, l, g);
    if (!l->x.is_log)
        qn_str_addf(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1f\"/>\n", qn_scale_at(&l->x, 0),
                    l->top, l->bottom);
    if (chart->reference > 0)
        qn_str_addf(out, "<path class=\"mark s0\" d=\"M%.1f %.1fV%.1f\"/>\n",
                    qn_scale_at(&l->x, chart->reference), l->top, l->bottom);
    for (size_t g = 0; g < chart->n_groups; g++) {
        for (size_t i = 0; i < chart->n_series; i++)
            draw_value(out, l, &chart->series[i], g, bar_top(l, g, i));
    }
    qn_str_add(out, "</svg>\n");
}

void qn_page_bars(qn_page *page, const qn_bar_chart *chart)
{
    qn_str *out = &page->html;
    layout l = { .chart = chart, .x = { .is_log = chart->axis.is_log } };

    qn_str_add(out, "<figure>\n");
    if (chart->title) {
        qn_str_add(out, "<figcaption>");
        qn_xml_add(out, chart->title);
        qn_str_add(out, "</figcaption>\n");
    }
    include_values(&l);
    if (!l.x.has_values) {
        qn_str_add(out, "<p>No data to draw.</p>\n");
    } else {
        qn_str_add(out, "<ul class=\"legend\">");
        for (size_t i = 0; i < chart->n_series; i++)
            qn_svg_legend_box(out, qn_svg_color(chart->series[i].color, i), chart->series[i].name);
        qn_str_add(out, "</ul>\n");
        draw_chart(out, &l);
    }
    qn_str_add(out, "</figure>\n");
}
