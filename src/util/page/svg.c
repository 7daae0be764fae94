/* svg.c - scales, round ticks, value labels, markers.
 *
 * Colours are CSS classes s1 to s8 set by the page, so that one drawing works in light mode, dark
 * mode and print. Each colour has its own marker shape, so charts are readable in grey and by
 * colour-blind readers.
 */
#include "util/page/svg.h"
#include "util/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Half the size of a marker, and the mean advance of 13 px sans-serif letters. */
#define MARKER_R     3.6
#define LETTER_WIDTH 7.2

/* Values beyond it are not drawn, so that margins and decades stay finite. */
#define FARTHEST 1e150

void qn_xml_add(qn_str *out, const char *text)
{
    static const struct {
        char c;
        const char *as;
    } escapes[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" } };
    qn_str clean = { 0 };

    qn_utf8_add_clean(&clean, text);
    if (clean.failed)
        out->failed = 1;
    for (const char *c = qn_str_get(&clean); *c; c++) {
        const char *as = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
            as = escapes[i].c == *c ? escapes[i].as : as;
        qn_str_add_n(out, as ? as : c, as ? strlen(as) : 1);
    }
    qn_str_free(&clean);
}

double qn_svg_text_width(const char *text)
{
    return (double)qn_utf8_count(text) * LETTER_WIDTH;
}

/* Values. */

typedef struct prefix {
    double scale;
    const char *text;
} prefix;

static const prefix counts[] = {
    { 1, "" }, { 1e3, "k" }, { 1e6, "M" }, { 1e9, "G" }, { 1e12, "T" }
};
static const prefix times[] = {
    { 1e-3, " ns" }, { 1, " \xC2\xB5s" }, { 1e3, " ms" }, { 1e6, " s" }
};

/* Takes the largest prefix that leaves at least 1 after rounding, so that 999.96 does not become
 * "1000" of the smaller prefix. Beyond the last prefix numbers simply get longer. */
static void format_scaled(const prefix *list, size_t n, double value, int digits, char *out,
                          size_t size)
{
    const double rounding = 1 - 0.5 * pow(10, -digits);
    size_t i = 0;

    while (i + 1 < n && fabs(value) >= list[i + 1].scale * rounding)
        i++;
    const double x = value / list[i].scale;
    if (fabs(x) >= pow(10, digits) * rounding && fabs(x) < 1e7)
        snprintf(out, size, "%.0f%s", x, list[i].text);
    else
        snprintf(out, size, "%.*g%s", digits, x, list[i].text);
}

char *qn_unit_format(qn_unit unit, double value, int digits, char *out, size_t size)
{
    if (!isfinite(value))
        snprintf(out, size, "-");
    else if (value == 0)
        snprintf(out, size, "0");
    else if (unit == QN_UNIT_US)
        format_scaled(times, sizeof times / sizeof *times, value, digits, out, size);
    else if (unit == QN_UNIT_RATIO)
        snprintf(out, size, "%.*g\xC3\x97", digits, value);
    else
        format_scaled(counts, sizeof counts / sizeof *counts, value, digits, out, size);
    return out;
}

/* Scales. */

int qn_scale_takes(const qn_scale *scale, double value)
{
    return fabs(value) < FARTHEST && (!scale->is_log || value > 1 / FARTHEST);
}

void qn_scale_include(qn_scale *scale, double value)
{
    if (!qn_scale_takes(scale, value))
        return;
    if (!scale->has_values || value < scale->min)
        scale->min = value;
    if (!scale->has_values || value > scale->max)
        scale->max = value;
    scale->has_values = 1;
}

void qn_scale_finish(qn_scale *scale)
{
    if (!scale->has_values) {
        scale->min = scale->max = 1;
        scale->has_values = 1;
    }
    if (scale->is_log) {
        const double ratio = scale->max / scale->min;
        const double margin = ratio > 1.2 ? pow(ratio, 0.04) : 2;
        scale->min /= margin;
        scale->max *= margin;
        return;
    }
    if (scale->min > 0)
        scale->min = 0;
    if (scale->max < 0)
        scale->max = 0;
    if (scale->max - scale->min < 1 / FARTHEST)
        scale->max = scale->min + 1;
    const double margin = (scale->max - scale->min) * 0.04;
    scale->min -= scale->min < 0 ? margin : 0;
    scale->max += scale->max > 0 ? margin : 0;
}

double qn_scale_at(const qn_scale *scale, double value)
{
    const double share = scale->is_log ? log(value / scale->min) / log(scale->max / scale->min)
                                       : (value - scale->min) / (scale->max - scale->min);

    return scale->from + share * (scale->to - scale->from);
}

/* Ticks. */

static void add_linear_ticks(const qn_scale *scale, int most, qn_ticks *out)
{
    static const double steps[] = { 1, 2, 5, 10 };
    const double span = scale->max - scale->min;
    const double base = pow(10, floor(log10(span / most)));
    double step = base;

    for (int i = 0; i < 4 && floor(span / step) + 1 > most; i++)
        step = base * steps[i];
    for (double k = ceil(scale->min / step); k * step <= scale->max && out->n_major < most; k++)
        out->major[out->n_major++] = k * step;
}

/* Adds ticks at m * 10^e for the given m, every `every` decades. Returns 0 if there would be more
 * than `most`. */
static int add_decade_ticks(const qn_scale *scale, const int *digits, int every, int most,
                            double *out, int *n_out)
{
    const int first = (int)floor(log10(scale->min));
    const int last = (int)floor(log10(scale->max));
    int n = 0;

    for (int e = first; e <= last; e++) {
        if (((e % every) + every) % every != 0)
            continue;
        for (const int *m = digits; *m; m++) {
            const double value = *m * pow(10, e);
            if (value < scale->min || value > scale->max)
                continue;
            if (n == most)
                return 0;
            out[n++] = value;
        }
    }
    *n_out = n;
    return 1;
}

static void add_log_ticks(const qn_scale *scale, int most, qn_ticks *out)
{
    static const int one[] = { 1, 0 };
    static const int nice[] = { 1, 2, 5, 0 };
    static const int all[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 0 };
    const double decades = log10(scale->max / scale->min);

    /* Over less than a factor of about five, 1-2-5 would leave one label or none. */
    if (decades < 0.7) {
        add_linear_ticks(scale, most, out);
        return;
    }
    if (!add_decade_ticks(scale, nice, 1, most, out->major, &out->n_major)) {
        for (int every = 1; every < 400; every++) {
            if (add_decade_ticks(scale, one, every, most, out->major, &out->n_major))
                break;
        }
    }
    if (fabs(scale->to - scale->from) / decades > 40)
        add_decade_ticks(scale, all, 1, QN_TICKS_MINOR_MAX, out->minor, &out->n_minor);
}

void qn_ticks_find(const qn_scale *scale, int most, qn_ticks *out)
{
    out->n_major = out->n_minor = 0;
    most = most < 2 ? 2 : most > QN_TICKS_MAX ? QN_TICKS_MAX : most;
    if (scale->is_log)
        add_log_ticks(scale, most, out);
    else
        add_linear_ticks(scale, most, out);
}

/* Pieces. */

int qn_svg_color(int color, size_t position)
{
    return color >= 1 && color <= QN_COLORS ? color : (int)(position % QN_COLORS) + 1;
}

void qn_svg_marker(qn_str *out, int color, double x, double y, int is_hollow)
{
    /* Outlines of unit size with about equal areas. */
    static const char *const shapes[QN_COLORS] = {
        "",                                                /* a circle */
        "-.89 -.89h1.78v1.78h-1.78z",                      /* square */
        "0 -1.25l1.25 1.25l-1.25 1.25l-1.25 -1.25z",       /* diamond */
        "0 -1.2l1.2 2.1h-2.4z",                            /* triangle */
        "0 1.2l1.2 -2.1h-2.4z",                            /* triangle, down */
        "-.4 -1.2h.8v.8h.8v.8h-.8v.8h-.8v-.8h-.8v-.8h.8z", /* plus */
        "-1.15 0l.58 -1h1.14l.58 1l-.58 1h-1.14z",         /* hexagon */
        "-1 -1.1h2l-.7 1.1l.7 1.1h-2l.7 -1.1z"             /* hourglass */
    };
    const char *shape = shapes[(color - 1) % QN_COLORS];
    const char *class = is_hollow ? "dot hollow" : "dot";

    if (!shape[0])
        qn_str_addf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", class, x, y,
                    MARKER_R);
    else
        qn_str_addf(out,
                    "<path class=\"%s\" transform=\"translate(%.1f %.1f) scale(%.1f)\" "
                    "d=\"M%s\"/>",
                    class, x, y, MARKER_R, shape);
}

void qn_svg_legend_line(qn_str *out, int color, int is_dashed, const char *name)
{
    qn_str_addf(out,
                "<li class=\"s%d\"><svg class=\"key\" viewBox=\"0 0 34 14\" width=\"34\" "
                "height=\"14\"><path class=\"line%s\" d=\"M1 7H33\"/>",
                color, is_dashed ? " dashed" : "");
    qn_svg_marker(out, color, 17, 7, is_dashed);
    qn_str_add(out, "</svg><span>");
    qn_xml_add(out, name);
    qn_str_add(out, "</span></li>");
}
