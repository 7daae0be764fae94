/* check_days.c - finds the days of a folder and their weather, and compares days with
 * measurements. */
#include "lab/solweig/check/check_impl.h"

#include "lab/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const qn_sw_site qn_sw_day_site = {
    .latitude = 57.7, .longitude = 12.0, .altitude = 10.0, .utc_offset = 1.0
};

static void print_stamp(const qn_sw_date *date, char out[QN_SW_STAMP_BYTES])
{
    snprintf(out, QN_SW_STAMP_BYTES, "%04u-%02u-%02uT%02u:%02u", (unsigned)date->year % 10000,
             (unsigned)date->month % 100, (unsigned)date->day % 100, (unsigned)date->hour % 100,
             (unsigned)date->minute % 100);
}

/* 1 if a file has a row with this stamp. */
static int has_stamp(const qn_sw_weather *w, const char *stamp)
{
    char text[QN_SW_STAMP_BYTES];

    for (size_t i = 0; i < w->n_rows; i++) {
        print_stamp(&w->rows[i].date, text);
        if (!strcmp(text, stamp))
            return 1;
    }
    return 0;
}

typedef enum { NO_WEATHER, SHORT_WEATHER, WHOLE_WEATHER } weather_kind;

/* Whether a file has the rows of the series. If so, they go to `day`, with the first and last stamp
 * if the file has more rows. */
static weather_kind read_weather(qn_sw_day *day, const char *path)
{
    const char *const paths[] = { path };
    const size_t n = day->series->n_rows;
    qn_sw_weather_options options = { 0 };
    qn_sw_weather w = { 0 };

    snprintf(day->first, sizeof day->first, "%s", n ? qn_csv_get(day->series, 0, 0) : "");
    snprintf(day->last, sizeof day->last, "%s", n ? qn_csv_get(day->series, n - 1, 0) : "");
    if (qn_sw_weather_read(paths, 1, &options, &w, NULL) != QN_OK)
        return NO_WEATHER;
    if (!has_stamp(&w, day->first) || !has_stamp(&w, day->last)) {
        const int has_first = has_stamp(&w, day->first);

        qn_sw_weather_free(&w);
        return has_first ? SHORT_WEATHER : NO_WEATHER;
    }
    day->has_more = w.n_rows > n;
    if (day->has_more) {
        qn_sw_weather_free(&w);
        options.start = day->first;
        options.end = day->last;
        if (qn_sw_weather_read(paths, 1, &options, &w, NULL) != QN_OK)
            return NO_WEATHER;
    }
    day->weather = w;
    snprintf(day->met, sizeof day->met, "%s", path);
    return WHOLE_WEATHER;
}

static qn_status find_weather(qn_golden *g, qn_sw_day *day, weather_kind *found, qn_err *err)
{
    char path[QN_GOLDEN_PATH + 300];
    qn_golden_names names = { 0 };
    qn_status st = QN_OK;

    *found = NO_WEATHER;
    QN_TRY(qn_golden_list(g, day->folder, "", ".txt", &names, err));
    for (size_t i = 0; i < names.n && *found != WHOLE_WEATHER; i++) {
        weather_kind kind;

        snprintf(path, sizeof path, "%s/%s/%s.txt", g->dir, day->folder, names.list[i]);
        kind = read_weather(day, path);
        *found = kind > *found ? kind : *found;
    }
out:
    return st;
}

static qn_status read_day(qn_golden *g, qn_sw_day *day, qn_sw_day_fn run, qn_err *err)
{
    weather_kind found = NO_WEATHER;
    qn_status st = QN_OK;

    snprintf(day->file, sizeof day->file, "%s/%s_timeseries.csv", day->folder, day->kind);
    day->is_iso = !strncmp(day->kind, "iso", 3);
    day->is_sitting = strstr(day->kind, "sitting") != NULL;
    day->is_estimated = strstr(day->kind, "estimated_split") != NULL;
    QN_TRY(qn_golden_csv(g, day->file, &day->series, err));
    QN_TRY(find_weather(g, day, &found, err));
    if (!day->series->n_rows)
        qn_golden_add_why(g, QN_FINDING_OUT, day->file, "it has no rows");
    else if (found == WHOLE_WEATHER)
        QN_TRY(run(g, day, err));
    else if (found == SHORT_WEATHER)
        qn_golden_add_why(g, QN_FINDING_OUT, day->file, "its weather file lacks rows");
    else
        qn_golden_add_why(g, QN_FINDING_SKIPPED, day->file, "no weather in %s begins with it",
                          day->folder);
out:
    qn_sw_weather_free(&day->weather);
    return st;
}

qn_status qn_sw_each_day(qn_golden *g, const char *folder, qn_sw_day_fn run, qn_err *err)
{
    qn_golden_names names = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_golden_list(g, folder, "", "_timeseries.csv", &names, err));
    const size_t n_owned = g->owned.n;

    for (size_t i = 0; i < names.n; i++) {
        qn_sw_day day = { .folder = folder, .kind = names.list[i] };

        QN_TRY(qn_golden_end(g, n_owned, read_day(g, &day, run, err), err));
    }
    if (!names.n)
        qn_golden_add_why(g, QN_FINDING_SKIPPED, folder, "no *_timeseries.csv in it");
out:
    return st;
}

/* Compares a run and the reference with measurements: a measured hour belongs to the row whose time
 * stamp lies in it. */

typedef struct measuring {
    qn_csv measured;
    qn_sw_measured_list *out;
} measuring;

void qn_sw_measured_free(qn_sw_measured_list *list)
{
    free(list->list);
    *list = (qn_sw_measured_list){ 0 };
}

/* Sums over pairs of a modelled and a measured value. */
typedef struct pair_sums {
    double n, a, b, aa, bb, ab, dd;
} pair_sums;

static void add_pair(pair_sums *s, double a, double b)
{
    s->n++;
    s->a += a;
    s->b += b;
    s->aa += a * a;
    s->bb += b * b;
    s->ab += a * b;
    s->dd += (a - b) * (a - b);
}

static qn_sw_fit fit_of(const pair_sums *s)
{
    const double va = s->aa - s->a * s->a / s->n, vb = s->bb - s->b * s->b / s->n;

    return (qn_sw_fit){ .rmse = sqrt(s->dd / s->n),
                        .bias = (s->a - s->b) / s->n,
                        .correlation = (s->ab - s->a * s->b / s->n) / sqrt(va * vb) };
}

/* The measured Tmrt of the hour of a row; NaN if there is none. */
static double measured_at(const qn_csv *measured, const qn_sw_date *date)
{
    const double day = date->year * 10000.0 + date->month * 100.0 + date->day;

    for (size_t i = 0; i < measured->n_rows; i++)
        if (qn_golden_cell(measured, i, "day") == day &&
            qn_golden_cell(measured, i, "hour") == date->hour)
            return qn_golden_cell(measured, i, "Tmrt");
    return NAN;
}

static int has_hours(const measuring *m, const qn_sw_day *day)
{
    for (size_t i = 0; i < day->weather.n_rows; i++)
        if (!isnan(measured_at(&m->measured, &day->weather.rows[i].date)))
            return 1;
    return 0;
}

static qn_status measure_day(qn_golden *g, const qn_sw_day *day, qn_err *err)
{
    measuring *m = g->user;
    const size_t n = day->weather.n_rows;
    double *tmrt;
    pair_sums ours = { 0 }, reference = { 0 };
    qn_sw_measured found = { 0 };
    qn_status st = QN_OK;

    if (!has_hours(m, day))
        goto out;
    QN_TRY(qn_owned_memory(&g->owned, n * sizeof *tmrt, &tmrt, err));
    QN_TRY(qn_sw_day_at_poi(g, day, tmrt, err));
    for (size_t i = 0; i < n && i < day->series->n_rows; i++) {
        const double measured = measured_at(&m->measured, &day->weather.rows[i].date);

        if (isnan(measured))
            continue;
        add_pair(&ours, tmrt[i], measured);
        add_pair(&reference, qn_golden_cell(day->series, i, "poi_tmrt"), measured);
    }
    snprintf(found.day, sizeof found.day, "%s", day->kind);
    found.n_hours = (int)ours.n;
    found.ours = fit_of(&ours);
    found.reference = fit_of(&reference);
    QN_TRY(QN_SHEET_ADD(m->out->list, m->out->n, m->out->room, &found, err));
out:
    return st;
}

qn_status qn_sw_check_measured(qn_ctx *ctx, const char *dir, qn_sw_measured_list *out, qn_err *err)
{
    qn_findings findings = { 0 };
    measuring m = { .out = out };
    qn_golden g = { .ctx = ctx, .dir = dir, .part = "measured", .findings = &findings, .user = &m };
    char path[QN_GOLDEN_PATH];
    qn_status st = QN_OK;

    qn_golden_path(&g, "ga/measurements_ga.csv", path);
    QN_TRY(qn_csv_read(path, &m.measured, err));
    QN_TRY(qn_sw_each_day(&g, "ga", measure_day, err));
    if (!out->n)
        st = qn_fail(err, QN_ERR_INPUT, "%s has no day that %s is about%s%s", dir,
                     "ga/measurements_ga.csv", findings.n ? "; " : "",
                     findings.n ? findings.list[0].note : "");
out:
    qn_owned_free(&g.owned, 0);
    qn_csv_free(&m.measured);
    qn_findings_free(&findings);
    return st;
}
