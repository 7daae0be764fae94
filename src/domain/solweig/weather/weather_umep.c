/* weather_umep.c - UMEP's text files: columns separated by blanks, -999 for unknown values. */
#include "weather_impl.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 24, DEFAULT_STEP_MIN = 60 };

/* The columns that are read. */
enum { YEAR, DAY_OF_YEAR, HOUR, MINUTE, WIND, RH, TA, PRESSURE, GLOBAL, DIFFUSE, DIRECT, N_USED };

static const int column[N_USED] = { 0, 1, 2, 3, 9, 10, 11, 12, 14, 21, 22 };

static int is_missing(double value)
{
    return value <= -998;
}

static double or_default(double value, double otherwise)
{
    return is_missing(value) ? otherwise : value;
}

/* Returns 0 for lines without a row: comments, too few columns, text instead of a number. Some
 * files have a header line without the percent sign. */
static int take_numbers(char *line, double v[N_USED])
{
    char *fields[COLUMNS];

    line += strspn(line, " \t");
    if (*line == '%' || *line == '#' || !*line)
        return 0;
    if (qn_sw_split(line, ' ', fields, COLUMNS) < COLUMNS)
        return 0;
    for (int i = 0; i < N_USED; i++) {
        if (!qn_sw_number(fields[column[i]], &v[i]))
            return 0;
    }
    return 1;
}

static qn_status take_stamp(const qn_sw_lines *lines, const double v[N_USED],
                            qn_sw_weather_row *row, qn_err *err)
{
    const int year = v[YEAR] >= 1 && v[YEAR] <= 9999 ? (int)v[YEAR] : 0;
    const int days = year ? 365 + qn_sw_is_leap(year) : 0;
    const int is_whole = v[YEAR] == floor(v[YEAR]) && v[DAY_OF_YEAR] == floor(v[DAY_OF_YEAR]) &&
                         v[HOUR] == floor(v[HOUR]) && v[MINUTE] == floor(v[MINUTE]);

    if (!year || !is_whole || v[DAY_OF_YEAR] < 1 || v[DAY_OF_YEAR] > days || v[HOUR] < 0 ||
        v[HOUR] > 24 || v[MINUTE] < 0 || v[MINUTE] > 59)
        return qn_fail(err, QN_ERR_INPUT,
                       "%s:%zu: year %g, day %g, hour %g, minute %g is not a time", lines->name,
                       lines->line, v[YEAR], v[DAY_OF_YEAR], v[HOUR], v[MINUTE]);
    row->minutes = qn_sw_minutes_of(year, 1, (int)v[DAY_OF_YEAR], (int)v[HOUR], (int)v[MINUTE]);
    row->date = qn_sw_date_of(row->minutes);
    return QN_OK;
}

static void take_values(const double v[N_USED], qn_sw_weather_row *row)
{
    row->ta = v[TA];
    row->rh = v[RH];
    row->global = v[GLOBAL] > 0 ? v[GLOBAL] : 0;
    row->ws = or_default(v[WIND], 1);
    row->pressure_hpa = is_missing(v[PRESSURE]) ? 1013.25 : v[PRESSURE] * 10;
    row->direct = or_default(v[DIRECT], NAN);
    row->diffuse = or_default(v[DIFFUSE], NAN);
}

qn_status qn_sw_read_umep(qn_sw_lines *lines, size_t file, const qn_sw_weather_options *options,
                          qn_sw_row_list *list, qn_err *err)
{
    const size_t first_of_file = list->n;
    qn_i64 stamp[2] = { 0, 0 };
    qn_status st = QN_OK;
    size_t n_stamps = 0;
    double step = DEFAULT_STEP_MIN;
    char *line;

    while ((line = qn_sw_next_line(lines))) {
        qn_sw_weather_row row = { .file = file, .line = lines->line, .timestep_min = 1 };
        double v[N_USED];

        if (!take_numbers(line, v) || (options->hourly_only && v[MINUTE] != 0))
            continue;
        QN_TRY(take_stamp(lines, v, &row, err));
        /* The step is computed from the whole file, including rows that are dropped below. */
        if (n_stamps < 2)
            stamp[n_stamps++] = row.minutes;
        if (is_missing(v[TA]) || is_missing(v[RH]) || is_missing(v[GLOBAL]))
            continue;
        take_values(v, &row);
        QN_TRY(qn_sw_check_row(lines->name, &row, err));
        QN_TRY(qn_sw_add_row(list, lines->name, &row, err));
    }
    if (n_stamps == 2)
        step = stamp[1] - stamp[0] > 1 ? (double)(stamp[1] - stamp[0]) : 1;
    for (size_t i = first_of_file; i < list->n; i++)
        list->rows[i].timestep_min = step;
out:
    return st;
}
