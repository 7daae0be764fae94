/* figures.c - line charts to JSON and back. */
#include "util/page/figures.h"

#include "util/folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format_name[] = "quern-figures/1";
static const char ending[] = ".figures.json";

/* Keeping. */

static json_t *text_or_null(const char *text)
{
    return text ? qn_json_text(text) : json_null();
}

void qn_page_keep(qn_page *page, const char *kind, json_t *figure)
{
    if (!page->figures)
        page->figures = json_array();
    qn_json_put(&figure, "kind", json_string(kind));
    qn_json_put(&figure, "section", qn_json_text(qn_str_get(&page->heading)));
    if (!figure || json_array_append(page->figures, figure) != 0)
        page->html.failed = 1;
    json_decref(figure);
}

static json_t *axis_of(const qn_axis *axis)
{
    return json_pack("{s:o, s:i, s:b}", "title", text_or_null(axis->title), "unit", (int)axis->unit,
                     "log", axis->is_log);
}

static json_t *series_of(const qn_series *s)
{
    json_t *points = json_array();

    for (size_t i = 0; i < s->n_points; i++) {
        const qn_point *p = &s->points[i];

        qn_json_push(&points, json_pack("[o, o, o, o]", qn_json_number(p->x), qn_json_number(p->y),
                                        qn_json_number(p->high), text_or_null(p->note)));
    }
    return json_pack("{s:o, s:i, s:b, s:o}", "name", text_or_null(s->name), "color", s->color,
                     "dashed", s->is_dashed, "points", points);
}

static json_t *chart_of(const qn_line_chart *chart)
{
    json_t *series = json_array(), *marks = json_array();

    for (size_t i = 0; i < chart->n_series; i++)
        qn_json_push(&series, series_of(&chart->series[i]));
    for (size_t i = 0; i < chart->n_marks; i++)
        qn_json_push(&marks, json_pack("{s:o, s:o, s:i}", "x", qn_json_number(chart->marks[i].x),
                                       "label", text_or_null(chart->marks[i].label), "color",
                                       chart->marks[i].color));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "title", text_or_null(chart->title), "x",
                     axis_of(&chart->x), "y", axis_of(&chart->y), "high",
                     text_or_null(chart->high_name), "series", series, "marks", marks);
}

void qn_page_keep_lines(qn_page *page, const qn_line_chart *charts, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        qn_json_push(&list, chart_of(&charts[i]));
    qn_page_keep(page, "lines", json_pack("{s:o}", "charts", list));
}

qn_status qn_figures_write(const qn_page *page, const char *page_path, qn_err *err)
{
    const size_t n = strlen(page_path), tail = strlen(".html");
    const int has_tail = n > tail && !strcmp(page_path + n - tail, ".html");
    json_t *root = NULL;
    char *path = NULL;
    qn_status st = QN_OK;

    if (!page->figures)
        return QN_OK;
    root = json_pack("{s:s, s:O}", "format", format_name, "figures", page->figures);
    if (!root || asprintf(&path, "%.*s%s", (int)(has_tail ? n - tail : n), page_path, ending) < 0) {
        path = NULL;
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for its figures", page_path);
    }
    QN_TRY(qn_json_write(path, root, err));
out:
    json_decref(root);
    free(path);
    return st;
}

/* Reading. */

int qn_figures_is_file(const char *file)
{
    return qn_has_ending(file, ending);
}

qn_status qn_figures_read(const char *path, json_t **root, json_t **list, qn_err *err)
{
    const char *format;
    qn_status st = QN_OK;

    *root = *list = NULL;
    QN_TRY(qn_json_read(path, root, err));
    QN_TRY(qn_json_get_text(*root, "format", path, &format, err));
    if (strcmp(format, format_name) != 0)
        QN_FAIL(err, QN_ERR_INPUT, "%s: its format is '%.40s', not %s", path, format, format_name);
    QN_TRY(qn_json_get_array(*root, "figures", path, list, err));
out:
    if (st != QN_OK) {
        json_decref(*root);
        *root = NULL;
    }
    return st;
}

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static int whole_at(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));

    return value > 0 && value < 100 ? (int)value : 0;
}

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static qn_axis read_axis(const json_t *axis)
{
    const int unit = whole_at(axis, "unit");

    return (qn_axis){ .title = text_at(axis, "title"),
                      .unit = unit <= QN_UNIT_RATIO ? (qn_unit)unit : QN_UNIT_COUNT,
                      .is_log = json_is_true(json_object_get(axis, "log")) };
}

static int read_series(const json_t *from, qn_series *out)
{
    const json_t *list = json_object_get(from, "points");
    const char *name = text_at(from, "name");
    const size_t n = json_array_size(list);
    qn_point *points = calloc(n + 1, sizeof *points);

    *out = (qn_series){ .name = name ? name : "",
                        .points = points,
                        .n_points = points ? n : 0,
                        .color = whole_at(from, "color"),
                        .is_dashed = json_is_true(json_object_get(from, "dashed")) };
    for (size_t i = 0; i < out->n_points; i++) {
        const json_t *p = json_array_get(list, i);

        points[i] = (qn_point){ .x = number_of(json_array_get(p, 0)),
                                .y = number_of(json_array_get(p, 1)),
                                .high = number_of(json_array_get(p, 2)),
                                .note = json_string_value(json_array_get(p, 3)) };
    }
    return points != NULL;
}

static int read_chart(const json_t *from, qn_line_chart *out)
{
    const json_t *series = json_object_get(from, "series"), *marks = json_object_get(from, "marks");
    const size_t n_series = json_array_size(series), n_marks = json_array_size(marks);
    qn_series *its_series = calloc(n_series + 1, sizeof *its_series);
    qn_mark *its_marks = calloc(n_marks + 1, sizeof *its_marks);
    int is_ok = its_series && its_marks;

    *out = (qn_line_chart){ .title = text_at(from, "title"),
                            .x = read_axis(json_object_get(from, "x")),
                            .y = read_axis(json_object_get(from, "y")),
                            .series = its_series,
                            .marks = its_marks,
                            .high_name = text_at(from, "high") };
    for (; is_ok && out->n_series < n_series; out->n_series++)
        is_ok = read_series(json_array_get(series, out->n_series), &its_series[out->n_series]);
    for (; is_ok && out->n_marks < n_marks; out->n_marks++) {
        const json_t *mark = json_array_get(marks, out->n_marks);
        const char *label = text_at(mark, "label");

        its_marks[out->n_marks] = (qn_mark){ .x = number_of(json_object_get(mark, "x")),
                                             .label = label ? label : "",
                                             .color = whole_at(mark, "color") };
    }
    return is_ok;
}

qn_status qn_figure_lines_read(const json_t *figure, const char *where, qn_figure_lines *out,
                               qn_err *err)
{
    const json_t *list = json_object_get(figure, "charts");
    const size_t n = json_array_size(list);

    *out = (qn_figure_lines){ 0 };
    if (!n)
        return qn_fail(err, QN_ERR_INPUT, "%s: a figure of lines without charts", where);
    if (!(out->charts = calloc(n, sizeof *out->charts)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu charts", where, n);
    for (; out->n < n; out->n++)
        if (!read_chart(json_array_get(list, out->n), &out->charts[out->n])) {
            qn_figure_lines_free(out);
            return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu charts", where, n);
        }
    return QN_OK;
}

void qn_figure_lines_free(qn_figure_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++) {
        const qn_line_chart *chart = &lines->charts[i];

        for (size_t k = 0; k < chart->n_series; k++)
            free((void *)(uintptr_t)chart->series[k].points);
        free((void *)(uintptr_t)chart->series);
        free((void *)(uintptr_t)chart->marks);
    }
    free(lines->charts);
    *lines = (qn_figure_lines){ 0 };
}
