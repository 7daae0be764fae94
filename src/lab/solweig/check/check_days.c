/* check_days.c - finds the days of a folder and their weather. */
#include "lab/solweig/check/check_days.h"

#include <stdio.h>
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

/* 1 when a file has a row of this stamp. */
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

/* Whether a file has the rows of the series. If so they go to `day`, with the first and last stamp
 * where the file has more rows. */
static weather_kind take_weather(qn_sw_day *day, const char *path)
{
    const char *const paths[] = { path };
    const size_t n = day->series.n_rows;
    qn_sw_weather_options options = { 0 };
    qn_sw_weather w = { 0 };

    snprintf(day->first, sizeof day->first, "%s", n ? qn_csv_get(&day->series, 0, 0) : "");
    snprintf(day->last, sizeof day->last, "%s", n ? qn_csv_get(&day->series, n - 1, 0) : "");
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
        kind = take_weather(day, path);
        *found = kind > *found ? kind : *found;
    }
out:
    qn_golden_names_free(&names);
    return st;
}

static qn_status take_day(qn_golden *g, qn_sw_day *day, qn_sw_day_fn run, qn_err *err)
{
    weather_kind found = NO_WEATHER;
    qn_status st = QN_OK;

    snprintf(day->file, sizeof day->file, "%s/%s_timeseries.csv", day->folder, day->kind);
    day->is_iso = !strncmp(day->kind, "iso", 3);
    day->is_sitting = strstr(day->kind, "sitting") != NULL;
    day->is_estimated = strstr(day->kind, "estimated_split") != NULL;
    QN_TRY(qn_golden_csv(g, day->file, &day->series, err));
    QN_TRY(find_weather(g, day, &found, err));
    if (!day->series.n_rows)
        qn_golden_add_why(g, QN_FINDING_OUT, day->file, "it has no rows");
    else if (found == WHOLE_WEATHER)
        QN_TRY(run(g, day, err));
    else if (found == SHORT_WEATHER)
        qn_golden_add_why(g, QN_FINDING_OUT, day->file, "its weather file lacks rows");
    else
        qn_golden_add_why(g, QN_FINDING_SKIPPED, day->file, "no weather in %s begins with it",
                          day->folder);
out:
    qn_csv_free(&day->series);
    qn_sw_weather_free(&day->weather);
    return st;
}

qn_status qn_sw_each_day(qn_golden *g, const char *folder, qn_sw_day_fn run, qn_err *err)
{
    qn_golden_names names = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_golden_list(g, folder, "", "_timeseries.csv", &names, err));
    for (size_t i = 0; i < names.n; i++) {
        qn_sw_day day = { .folder = folder, .kind = names.list[i] };

        QN_TRY(qn_golden_unblock(g, take_day(g, &day, run, err), err));
    }
    if (!names.n)
        qn_golden_add_why(g, QN_FINDING_SKIPPED, folder, "no *_timeseries.csv in it");
out:
    qn_golden_names_free(&names);
    return st;
}
