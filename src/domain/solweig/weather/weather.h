/* weather.h - reads weather rows from EPW and UMEP text files, or from memory. */
#ifndef QN_SOLWEIG_WEATHER_WEATHER_H
#define QN_SOLWEIG_WEATHER_WEATHER_H

#include "util/status.h"

#include <quern/solweig.h>

/* Local date and time.
 *
 * The calendar is Gregorian for every year. Stamps have no time zone; it comes from the place. */

typedef struct qn_sw_date {
    int year, month, day; /* from 1 */
    int hour, minute, second;
} qn_sw_date;

/* Whether it is a valid time: hour 0 .. 23, year 1 .. 9999. */
int qn_sw_date_is_valid(const qn_sw_date *date);
int qn_sw_day_of_year(const qn_sw_date *date); /* 1 .. 366 */

/* `date` plus whole seconds, which may be negative. */
qn_sw_date qn_sw_date_add(qn_sw_date date, long long seconds);

/* Reads exactly `n` digits and, unless `after` is 0, that character after them; returns 0 if they
 * are not there. */
int qn_sw_take_digits(const char **at, int n, char after, int *out);

/* Minutes since the start of 1970 in local time; negative before that. Month and day must be valid;
 * hours and minutes may be any number. */
qn_i64 qn_sw_minutes_of(int year, int month, int day, int hour, int minute);
qn_sw_date qn_sw_date_of(qn_i64 minutes);

int qn_sw_is_leap(int year);
int qn_sw_days_in_month(int year, int month);

/* Which rows of a weather file a run uses. */
typedef struct qn_sw_date_filter {
    enum { QN_SW_ALL_DATES, QN_SW_BETWEEN, QN_SW_EVERY_YEAR } kind;
    qn_i64 first, last;      /* minutes, for QN_SW_BETWEEN */
    int first_day, last_day; /* month * 100 + day, for QN_SW_EVERY_YEAR; may wrap */
    uint32_t hours;          /* bit h: rows with a stamp in hour h; 0 means all */
} qn_sw_date_filter;

/* `start` and `end` are YYYY-MM-DD, YYYY-MM-DDTHH:MM, or both MM-DD: whole days of any year. Each
 * may be NULL: no start means every date, no end means the start (its whole day, if it has no
 * time). An end at 00:00 includes that whole day. `hours` is like "9,12-15", or NULL. */
qn_status qn_sw_date_filter_parse(const char *start, const char *end, const char *hours,
                                  qn_sw_date_filter *out, qn_err *err);
int qn_sw_date_passes(const qn_sw_date_filter *filter, qn_i64 minutes);

/* Rows. */

typedef struct qn_sw_weather_row {
    qn_i64 minutes; /* the stamp in local time; qn_sw_date_of converts it */
    qn_sw_date date;
    double timestep_min;
    double ta; /* air temperature, degrees C */
    double rh; /* relative humidity, % */
    double ws; /* wind speed, m/s */
    double pressure_hpa;
    double global;          /* W/m2 */
    double direct, diffuse; /* W/m2; NaN: not measured */
    size_t file, line;      /* where the row was read */
} qn_sw_weather_row;

/* Zero-initialised: empty. */
typedef struct qn_sw_weather {
    qn_sw_weather_row *rows;
    size_t n_rows;
    int has_place; /* only an EPW file has its place */
    double latitude, longitude, utc_offset, elevation;
} qn_sw_weather;

/* Zero-initialised: every row. */
typedef struct qn_sw_weather_options {
    const char *start, *end, *hours; /* qn_sw_date_filter_parse */
    int hourly_only;                 /* for UMEP text: only rows at minute 0 */
    int corrected; /* for EPW: each column has its own missing-value marker, so 99 % is valid */
} qn_sw_weather_options;

/* Reads one .epw file, whose rows keep their order, or UMEP text files, which are joined and sorted
 * by time. Bad content is an error with file and line, and so is a duplicate time. */
qn_status qn_sw_weather_read(const char *const *paths, size_t n_paths,
                             const qn_sw_weather_options *options, qn_sw_weather *out, qn_err *err);

/* Copies rows from memory, with the same checks as for files. The time step is that of the first
 * two rows; an hour if there is one row. */
qn_status qn_sw_weather_take(const qn_sw_weather_step *rows, size_t n_rows,
                             const qn_sw_weather_options *options, qn_sw_weather *out, qn_err *err);
void qn_sw_weather_free(qn_sw_weather *weather);

#endif
