/* svg.h - the pieces of charts: scales, ticks, markers, legends. */
#ifndef QN_UTIL_SVG_H
#define QN_UTIL_SVG_H

#include "util/page/chart.h"

enum { QN_TICKS_MAX = 24, QN_TICKS_MINOR_MAX = 160, QN_COLORS = 8 };

/* Appends `text` for use between tags or inside a double-quoted attribute. */
void qn_xml_add(qn_str *out, const char *text);

/* Width of `text` in the charts' type size, rounded up; used to place labels. */
double qn_svg_text_width(const char *text);

/* Scales. */

/* Maps [min, max] to pixels [from, to]. Starts empty; values widen it. */
typedef struct qn_scale {
    double min, max;
    double from, to;
    int is_log, has_values;
} qn_scale;

int qn_scale_takes(const qn_scale *scale, double value); /* not too large; positive on a log axis */
void qn_scale_include(qn_scale *scale, double value);
void qn_scale_finish(qn_scale *scale); /* adds a margin; a linear scale from 0 on starts at 0 */
double qn_scale_at(const qn_scale *scale, double value);

typedef struct qn_ticks {
    double major[QN_TICKS_MAX], minor[QN_TICKS_MINOR_MAX];
    int n_major, n_minor;
} qn_ticks;

/* At most `most` labelled ticks (2 to QN_TICKS_MAX) at round values inside the scale. */
void qn_ticks_find(const qn_scale *scale, int most, qn_ticks *out);

/* Pieces. */

/* `color`, or if it is 0, one by position: 1 to QN_COLORS. */
int qn_svg_color(int color, size_t position);

/* The colour chooses the shape, so that series differ even without colour. */
void qn_svg_marker(qn_str *out, int color, double x, double y, int is_hollow);

/* A list entry: line and marker. */
void qn_svg_legend_line(qn_str *out, int color, int is_dashed, const char *name);

#endif
