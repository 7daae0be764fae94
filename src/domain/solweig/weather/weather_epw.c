/* weather_epw.c - EnergyPlus weather: eight header lines, then one row per hour.
 *
 * The hour is 1 .. 24 and means the end of the interval, so hour 24 is stamped 00:00 of the next
 * day.
 */
#include "weather_impl.h"

#include <math.h>
#include <string.h>

enum { HEADER_LINES = 8, LEAST_FIELDS = 22, LOCATION_FIELDS = 10 };

enum { YEAR, MONTH, DAY, HOUR, MINUTE };

/* The columns that are read, each with the format's marker of missing values. */
static const struct {
    int at;
    double missing;
} columns[] = {
    { 6, 99.9 },   /* dry bulb */
    { 8, 999 },    /* humidity */
    { 9, 999999 }, /* pressure */
    { 13, 9999 },  /* global */
    { 14, 9999 },  /* direct */
    { 15, 9999 },  /* diffuse */
    { 21, 999 },   /* wind speed */
};

enum { TA, RH, PRESSURE, GLOBAL, DIRECT, DIFFUSE, WIND, N_COLUMNS };

static qn_status read_location(qn_sw_lines *lines, qn_sw_weather *place, qn_err *err)
{
    const struct {
        const char *what;
        int at;
        double min, max;
        double *out;
    } wanted[] = {
        { "latitude", 6, -90, 90, &place->latitude },
        { "longitude", 7, -180, 180, &place->longitude },
        { "UTC offset", 8, -12, 14, &place->utc_offset },
        { "elevation", 9, -1000, 9999.9, &place->elevation },
    };
    char *fields[LOCATION_FIELDS];
    char *line = qn_sw_next_line(lines);
    const size_t n = line ? qn_sw_split(line, ',', fields, LOCATION_FIELDS) : 0;

    if (n < LOCATION_FIELDS || strcmp(fields[0], "LOCATION") != 0)
        return qn_fail(err, QN_ERR_INPUT,
                       "%s:1: an EPW file starts with LOCATION and 9 more fields", lines->name);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const char *text = fields[wanted[i].at];

        if (!qn_sw_number(text, wanted[i].out) || *wanted[i].out < wanted[i].min ||
            *wanted[i].out > wanted[i].max)
            return qn_fail(err, QN_ERR_INPUT, "%s:1: %s \"%.40s\" is not a number of %g .. %g",
                           lines->name, wanted[i].what, text, wanted[i].min, wanted[i].max);
    }
    place->has_place = 1;
    return QN_OK;
}

/* The reference treats any of these as missing, in every column. */
static int is_any_mark(const char *text)
{
    static const char *const marks[] = { "99", "999", "9999", "99999", "999999999" };
    const size_t lead = strspn(text, " \t");
    size_t len = strlen(text + lead);

    while (len && strchr(" \t", text[lead + len - 1]))
        len--;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (strlen(marks[i]) == len && memcmp(text + lead, marks[i], len) == 0)
            return 1;
    }
    return 0;
}

static double value_of(char *const *fields, int column, int corrected)
{
    const char *text = fields[columns[column].at];
    double value;

    if (!qn_sw_number(text, &value))
        return NAN;
    return (corrected ? value == columns[column].missing : is_any_mark(text)) ? NAN : value;
}

static double or_default(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* Parses a whole number, as in dates; returns 0 if the field is not one. */
static int whole(const char *text, int *out)
{
    double value;

    if (strpbrk(text, ".eE") || !qn_sw_number(text, &value) || fabs(value) > 1e6)
        return 0;
    *out = (int)value;
    return 1;
}

static qn_status take_stamp(const qn_sw_lines *lines, const int d[5], qn_sw_weather_row *row,
                            qn_err *err)
{
    if (d[YEAR] < 1 || d[YEAR] > 9999 || d[MONTH] < 1 || d[MONTH] > 12 || d[DAY] < 1 ||
        d[DAY] > qn_sw_days_in_month(d[YEAR], d[MONTH]) || d[HOUR] < 0 || d[HOUR] > 24 ||
        d[MINUTE] < 0 || d[MINUTE] > 60)
        return qn_fail(err, QN_ERR_INPUT,
                       "%s:%zu: %d-%d-%d, hour %d, minute %d is not a time; hours are 1 .. 24",
                       lines->name, lines->line, d[YEAR], d[MONTH], d[DAY], d[HOUR], d[MINUTE]);
    /* Minute 60 and minute 0 both mean the end of the hour. */
    row->minutes = qn_sw_minutes_of(d[YEAR], d[MONTH], d[DAY], d[HOUR], d[MINUTE] % 60);
    row->date = qn_sw_date_of(row->minutes);
    return QN_OK;
}

static void take_values(char *const *fields, int corrected, qn_sw_weather_row *row)
{
    double v[N_COLUMNS];

    for (int i = 0; i < N_COLUMNS; i++)
        v[i] = value_of(fields, i, corrected);
    row->timestep_min = 60;
    row->ta = or_default(v[TA], 20);
    row->rh = or_default(v[RH], 50);
    row->ws = or_default(v[WIND], 1);
    row->pressure_hpa = or_default(v[PRESSURE] / 100, 1013.25);
    row->global = or_default(v[GLOBAL], 0);
    row->direct = v[DIRECT];
    row->diffuse = v[DIFFUSE];
}

qn_status qn_sw_read_epw(qn_sw_lines *lines, size_t file, const qn_sw_weather_options *options,
                         qn_sw_row_list *list, qn_sw_weather *place, qn_err *err)
{
    qn_status st = QN_OK;
    char *line;

    QN_TRY(read_location(lines, place, err));
    while (lines->line < HEADER_LINES) {
        if (!qn_sw_next_line(lines))
            return qn_fail(err, QN_ERR_INPUT, "%s:%zu: ends inside its %d header lines",
                           lines->name, lines->line, HEADER_LINES);
    }
    while ((line = qn_sw_next_line(lines))) {
        char *fields[LEAST_FIELDS];
        qn_sw_weather_row row = { .file = file, .line = lines->line };
        int date[5], is_dated = 1;

        if (qn_sw_split(line, ',', fields, LEAST_FIELDS) < LEAST_FIELDS)
            continue;
        for (int i = YEAR; i <= MINUTE; i++)
            is_dated &= whole(fields[i], &date[i]);
        if (!is_dated)
            continue;
        QN_TRY(take_stamp(lines, date, &row, err));
        take_values(fields, options->corrected, &row);
        QN_TRY(qn_sw_check_row(lines->name, &row, err));
        QN_TRY(qn_sw_add_row(list, lines->name, &row, err));
    }
out:
    return st;
}
