/* bench_file.c - writes the points of a bench to files. */
#include "bench.h"

#include "util/csv.h"
#include "util/file.h"
#include "util/json.h"
#include "util/page/chart.h"
#include "util/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One column: its name, and how the value of a point is written. */
typedef struct column {
    const char *name;
    double (*value)(const qn_les_point *p);
} column;

#define COLUMN(name_, expression)                                                                  \
    static double col_##name_(const qn_les_point *p)                                               \
    {                                                                                              \
        return expression;                                                                         \
    }

COLUMN(n, p->n)
COLUMN(members, p->members)
COLUMN(ms_per_step, p->step_us / 1e3)
COLUMN(cell_steps, p->cell_steps)
COLUMN(fft_ms, p->fft_us / 1e3)
COLUMN(over_fft, p->step_us / p->fft_us)
COLUMN(gbs, p->gbs)
COLUMN(roofline, p->roofline)
COLUMN(first_s, p->first_s)

static const column columns[] = {
    { "n", col_n },
    { "members", col_members },
    { "ms_per_step", col_ms_per_step },
    { "cell_steps_per_s", col_cell_steps },
    { "fft_ms", col_fft_ms },
    { "step_over_fft", col_over_fft },
    { "gbs_model", col_gbs },
    { "roofline_frac", col_roofline },
    { "first_s", col_first_s },
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

static const char *precision_of(const qn_les_point *p)
{
    return p->is_f64 ? "f64" : "f32";
}

static const char *profile_of(const qn_les_point *p)
{
    return p->is_origin ? "origin" : "quern";
}

static qn_status write_csv(const qn_les_points *points, const char *path, qn_err *err)
{
    qn_out out = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_out_open(path, &out, err));
    qn_csv_writer w = { .to = out.file };
    qn_csv_put(&w, "profile");
    qn_csv_put(&w, "precision");
    qn_csv_put(&w, "device");
    for (int c = 0; c < N_COLUMNS; c++)
        qn_csv_put(&w, columns[c].name);
    qn_csv_end_row(&w);
    for (size_t i = 0; i < points->n; i++) {
        const qn_les_point *p = &points->list[i];

        qn_csv_put(&w, profile_of(p));
        qn_csv_put(&w, precision_of(p));
        qn_csv_put(&w, p->device);
        for (int c = 0; c < N_COLUMNS; c++)
            if (isfinite(columns[c].value(p)))
                qn_csv_putf(&w, "%.9g", columns[c].value(p));
            else
                qn_csv_put(&w, "");
        qn_csv_end_row(&w);
    }
    QN_TRY(qn_out_commit(&out, err));
out:
    qn_out_abort(&out);
    return st;
}

static qn_status write_json(const qn_les_points *points, const char *path, const char *command,
                            qn_err *err)
{
    json_t *root = json_object(), *rows = json_array();
    int ok = root && rows && !json_object_set_new(root, "schema", json_string("quern-les-bench/1"));
    qn_status st;

    ok = ok && !json_object_set_new(root, "command", qn_json_text(command));
    ok = ok && !json_object_set_new(root, "memory_gbs", qn_json_number(points->gbs));
    for (size_t i = 0; i < points->n && ok; i++) {
        const qn_les_point *p = &points->list[i];
        json_t *row = json_object();

        ok = !json_object_set_new(row, "profile", json_string(profile_of(p))) &&
             !json_object_set_new(row, "precision", json_string(precision_of(p))) &&
             !json_object_set_new(row, "device", qn_json_text(p->device));
        for (int c = 0; c < N_COLUMNS && ok; c++)
            ok = !json_object_set_new(row, columns[c].name, qn_json_number(columns[c].value(p)));
        ok = !json_array_append_new(rows, row) && ok;
    }
    ok = !json_object_set_new(root, "points", rows) && ok;
    st = ok ? qn_json_write(path, root, err) : qn_fail(err, QN_ERR_NOMEM, "no memory for %s", path);
    json_decref(root);
    return st;
}

/* The page. */

static int is_same_curve(const qn_les_point *a, const qn_les_point *b)
{
    return a->members == b->members && a->is_f64 == b->is_f64 && a->is_origin == b->is_origin &&
           !strcmp(a->device, b->device);
}

/* Time per step by N: one curve per device, precision, profile and number of members. */
static void add_chart(qn_page *page, const qn_les_points *points)
{
    enum { CURVES = 16 };
    qn_point *xy = calloc(points->n + 1, sizeof *xy);
    qn_series series[CURVES];
    char names[CURVES][96];
    size_t n_series = 0, used = 0;

    for (size_t i = 0; xy && i < points->n && n_series < CURVES; i++) {
        const qn_les_point *first = &points->list[i];
        qn_series *s = &series[n_series];
        size_t k = 0;

        while (k < i && !is_same_curve(&points->list[k], first))
            k++;
        if (k < i) /* drawn already */
            continue;
        *s = (qn_series){ .name = names[n_series], .points = xy + used };
        snprintf(names[n_series++], sizeof names[0], "%s %s %s%s", first->device,
                 precision_of(first), profile_of(first), first->members > 1 ? ", ensemble" : "");
        for (k = i; k < points->n; k++)
            if (is_same_curve(&points->list[k], first)) {
                xy[used++] = (qn_point){ .x = points->list[k].n, .y = points->list[k].step_us };
                s->n_points++;
            }
    }
    qn_page_lines(page,
                  &(qn_line_chart){ .title = "Time per step",
                                    .x = { "cells along a side", QN_UNIT_COUNT, 1 },
                                    .y = { "time per step", QN_UNIT_US, 1 },
                                    .series = series,
                                    .n_series = n_series },
                  1);
    page->html.failed |= !xy;
    free(xy);
}

static qn_status write_page(const qn_les_points *points, const char *path, const char *command,
                            qn_err *err)
{
    qn_table table = qn_table_begin("Profile", "Precision", "Device", "N", "Members", "ms per step",
                                    "cell steps/s", "FFT ms", "Step / FFT", "GB/s", "Roofline");
    const qn_fact facts[] = { { "command", command, NULL } };
    qn_page page = { 0 };

    for (size_t i = 0; i < points->n; i++) {
        const qn_les_point *p = &points->list[i];

        qn_table_add(&table, profile_of(p));
        qn_table_add(&table, precision_of(p));
        qn_table_add(&table, p->device);
        for (int c = 0; c < N_COLUMNS - 1; c++)
            qn_table_addf(&table, "%.4g", columns[c].value(p));
    }
    qn_page_begin(&page, "quern les bench", "Time per step of the flow, by grid size.");
    qn_page_conditions(&page, facts, 1);
    qn_page_section(&page, "Steps");
    add_chart(&page, points);
    qn_page_table(&page, NULL, &table);
    qn_table_free(&table);
    return qn_page_write(&page, path, err);
}

qn_status qn_les_bench_write(const qn_les_points *points, const char *prefix, const char *command,
                             qn_err *err)
{
    char path[QN_OPTION_TEXT_BYTES + 64];
    qn_status st = QN_OK;

    QN_TRY(qn_make_parent(prefix, err));
    snprintf(path, sizeof path, "%s.csv", prefix);
    QN_TRY(write_csv(points, path, err));
    snprintf(path, sizeof path, "%s.json", prefix);
    QN_TRY(write_json(points, path, command, err));
    snprintf(path, sizeof path, "%s.html", prefix);
    QN_TRY(write_page(points, path, command, err));
out:
    return st;
}
