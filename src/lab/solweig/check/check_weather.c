/* check_weather.c - sun, clearness, weather files, and the figures derived from their rows. */
#include "lab/solweig/check/check_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tables. */

/* "2018-07-03T12:21:00"; missing parts at the end are 0. */
static void read_stamp(const char *text, qn_sw_date *out)
{
    int *const parts[] = { &out->year, &out->month,  &out->day,
                           &out->hour, &out->minute, &out->second };

    for (size_t i = 0; i < sizeof parts / sizeof *parts && *text; i++) {
        char *end;

        *parts[i] = (int)strtol(text, &end, 10);
        text = end + (*end != 0);
    }
}

qn_status qn_sw_check_weather(qn_golden *g, qn_err *err)
{
    const char *file = "weather/sun_position.csv";
    qn_tally zenith = { .limit = { .abs = 1e-6 } }, azimuth = zenith;
    const qn_csv *csv;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_csv(g, file, &csv, err));
    for (size_t i = 0; i < csv->n_rows; i++) {
        const qn_sw_site place = { qn_golden_cell(csv, i, "latitude"),
                                   qn_golden_cell(csv, i, "longitude"),
                                   qn_golden_cell(csv, i, "altitude_m"),
                                   qn_golden_cell(csv, i, "utc_offset") };
        qn_sw_date at = { 0 };
        qn_sw_sun sun;

        read_stamp(qn_csv_get(csv, i, 0), &at);
        sun = qn_sw_sun_at(&place, &at);
        qn_tally_add(&zenith, sun.zenith, qn_golden_cell(csv, i, "zenith_deg"));
        qn_tally_add(&azimuth, sun.azimuth, qn_golden_cell(csv, i, "azimuth_deg"));
    }
    qn_golden_add(g, &zenith, "%s zenith", file);
    qn_golden_add(g, &azimuth, "%s azimuth", file);
out:
    return st;
}

enum { CLEARNESS_COLUMNS = 11 };

static const char *const clearness_columns[CLEARNESS_COLUMNS] = {
    "I0",       "CI",          "Kt",
    "I0et",     "CIuncorr",    "direct",
    "diffuse",  "daylength_h", "declination_deg",
    "sunset_h", "sunrise_h"
};

static void clearness_row(const qn_csv *csv, size_t i, double out[CLEARNESS_COLUMNS])
{
    const double zenith = qn_golden_cell(csv, i, "zenith_deg"),
                 global = qn_golden_cell(csv, i, "global");
    const double latitude = qn_golden_cell(csv, i, "latitude");
    const int doy = qn_golden_whole(csv, i, "jday");
    const qn_sw_air air = { qn_golden_cell(csv, i, "ta"), qn_golden_cell(csv, i, "rh"), global,
                            qn_golden_cell(csv, i, "pressure_arg") };
    const qn_sw_clearness c =
        qn_sw_clearness_of(&air, zenith, doy, latitude, QN_SW_PRESSURE_REFERENCE);
    const qn_sw_daylight day = qn_sw_daylight_of(latitude, doy);
    qn_sw_split split = { 0, global };

    if (zenith < 90 && global > 0)
        split = qn_sw_reindl(global, 90 - zenith, c.kt, air.ta, air.rh);
    const double made[CLEARNESS_COLUMNS] = { c.i0,          c.index,       c.kt,
                                             c.i0_outside,  c.uncorrected, split.direct,
                                             split.diffuse, day.length,    day.declination,
                                             day.sunset,    day.sunrise };

    memcpy(out, made, sizeof made);
}

qn_status qn_sw_check_clearness(qn_golden *g, qn_err *err)
{
    const char *file = "weather/clearness_diffuse.csv";
    qn_tally tally[CLEARNESS_COLUMNS];
    const qn_csv *csv;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_csv(g, file, &csv, err));
    for (int k = 0; k < CLEARNESS_COLUMNS; k++)
        tally[k] = (qn_tally){ .limit = { .abs = 1e-12, .rel = 1e-9 } };
    for (size_t i = 0; i < csv->n_rows; i++) {
        double got[CLEARNESS_COLUMNS];

        clearness_row(csv, i, got);
        for (int k = 0; k < CLEARNESS_COLUMNS; k++)
            qn_tally_add(&tally[k], got[k], qn_golden_cell(csv, i, clearness_columns[k]));
    }
    for (int k = 0; k < CLEARNESS_COLUMNS; k++)
        qn_golden_add(g, &tally[k], "%s %s", file, clearness_columns[k]);
out:
    return st;
}

/* Files that stand alone. */

/* The marks of a missing value. */
static int is_mark(const char *field)
{
    static const char *const marks[] = { "", "99", "999", "9999", "99999", "999999999" };

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strcmp(field, marks[i]))
            return 1;
    return 0;
}

/* Reads every .epw and compares its rows with its lines, whose fields are parsed here again, as
 * plainly as possible. */
static void compare_epw(qn_golden *g, const char *file, const char *path, const qn_sw_weather *w)
{
    static const int columns[] = { 6, 8, 13, 14, 15, 21 };
    qn_tally tally = { .limit = { 0 } };
    char line[2048], *fields[32];
    FILE *text = fopen(path, "r");
    size_t row = 0, n_line = 0;

    while (text && fgets(line, sizeof line, text)) {
        int n = 0;

        if (++n_line <= 8)
            continue;
        for (char *at = line; at && n < 32; at = strchr(at, ',')) {
            if (n)
                *at++ = 0;
            fields[n++] = at;
        }
        if (n < 22 || row >= w->n_rows)
            continue;
        const qn_sw_weather_row *r = &w->rows[row++];
        const double got[] = { r->ta, r->rh, r->global, r->direct, r->diffuse, r->ws };

        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            if (!is_mark(fields[columns[k]]))
                qn_tally_add(&tally, got[k], strtod(fields[columns[k]], NULL));
    }
    if (text)
        fclose(text);
    qn_golden_add(g, &tally, "%s, %zu rows", file, w->n_rows);
}

static qn_status check_epw(qn_golden *g, const char *name, QN_UNUSED qn_err *err)
{
    char file[320], path[QN_GOLDEN_PATH];
    const char *const paths[] = { path };
    const qn_sw_weather_options options = { 0 };
    qn_sw_weather w = { 0 };
    qn_err local = { .text = "" };

    snprintf(file, sizeof file, "weather/%s.epw", name);
    qn_golden_path(g, file, path);
    if (qn_sw_weather_read(paths, 1, &options, &w, &local) != QN_OK)
        qn_golden_add_why(g, QN_FINDING_OUT, file, "cannot be read: %s", local.text);
    else
        compare_epw(g, file, path, &w);
    qn_sw_weather_free(&w);
    return QN_OK;
}

qn_status qn_sw_check_epw(qn_golden *g, qn_err *err)
{
    qn_golden_names names = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_golden_list(g, "weather", "", ".epw", &names, err));
    for (size_t i = 0; i < names.n; i++)
        QN_TRY(check_epw(g, names.list[i], err));
    if (!names.n)
        qn_golden_add_why(g, QN_FINDING_SKIPPED, "weather/*.epw", "absent");
out:
    return st;
}

/* Rows of days. */

enum { DAY_COLUMNS = 16 };

static const char *const day_columns[DAY_COLUMNS] = {
    "ta",           "rh",          "ws",     "global",          "direct",           "diffuse",
    "sun_altitude", "sun_azimuth", "altmax", "clearness_index", "clear_sky_global", "snup_h",
    "psi",          "tg_wall",     "ci_tg",  "timeadd_after"
};

/* The figures of a row that all pixels share, compared with the series of the reference. */
static void day_row(const qn_sw_weather_row *w, const qn_sw_sky_step *s, qn_sw_delay *delay,
                    double out[DAY_COLUMNS])
{
    const qn_sw_step_weather row = { .altitude = (float)s->sun.altitude,
                                     .zenith = (float)s->sun.zenith,
                                     .altmax = (float)s->altmax,
                                     .sunrise_h = (float)s->sunrise_h,
                                     .dectime = (float)s->dectime,
                                     .global = (float)w->global,
                                     .clear_sky_global = (float)s->clear_sky_global };
    const qn_sw_materials materials = qn_sw_materials_default();
    sw_moment step = { .is_day = s->is_day };

    qn_sw_delay_take(delay, &step);
    const double made[DAY_COLUMNS] = { w->ta,
                                       w->rh,
                                       w->ws,
                                       w->global,
                                       s->direct,
                                       s->diffuse,
                                       s->sun.altitude,
                                       s->sun.azimuth,
                                       s->altmax,
                                       s->clearness,
                                       s->clear_sky_global,
                                       s->sunrise_h,
                                       s->psi,
                                       (double)qn_sw_wall_excess(&row, &materials.wall),
                                       (double)qn_sw_ground_clearness(&row),
                                       delay->timeadd };

    memcpy(out, made, sizeof made);
}

static qn_status check_day(qn_golden *g, const qn_sw_day *day, qn_err *err)
{
    const qn_sw_trees trees = qn_sw_trees_default();
    const qn_sw_sky_rules rules = { .ignore_measured_split = day->is_estimated };
    const qn_sw_weather *w = &day->weather;
    qn_sw_sky_step *sky;
    qn_tally tally[DAY_COLUMNS];
    qn_sw_delay delay;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&g->owned, w->n_rows * sizeof *sky, &sky, err));
    QN_TRY(qn_golden_refuse(
        g, day->file,
        qn_sw_sky_derive(w->rows, w->n_rows, &qn_sw_day_site, &trees, &rules, sky, err), err));
    if (w->n_rows != day->series->n_rows) {
        qn_golden_add_why(g, QN_FINDING_OUT, day->file, "%zu rows, not %zu", day->series->n_rows,
                          w->n_rows);
        goto out;
    }
    delay = qn_sw_delay_begin(w->n_rows > 1 ? w->rows[0].timestep_min / 1440 : 1.0 / 24);
    for (int k = 0; k < DAY_COLUMNS; k++)
        tally[k] = (qn_tally){ .limit = { .abs = 1e-6, .rel = 1e-4 } };
    for (size_t i = 0; i < w->n_rows; i++) {
        double got[DAY_COLUMNS];

        day_row(&w->rows[i], &sky[i], &delay, got);
        for (int k = 0; k < DAY_COLUMNS; k++)
            qn_tally_add(&tally[k], got[k], qn_golden_cell(day->series, i, day_columns[k]));
    }
    for (int k = 0; k < DAY_COLUMNS; k++)
        qn_golden_add(g, &tally[k], "%s %s", day->file, day_columns[k]);
out:
    return st;
}

qn_status qn_sw_check_days(qn_golden *g, qn_err *err)
{
    static const char *const folders[] = { "ga", "gbg" };
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        QN_TRY(qn_sw_each_day(g, folders[i], check_day, err));
out:
    return st;
}
