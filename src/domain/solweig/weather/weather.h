/* weather.h - weather series from EPW and UMEP text files. */
#ifndef QN_SOLWEIG_WEATHER_WEATHER_H
#define QN_SOLWEIG_WEATHER_WEATHER_H

#include "domain/solweig/weather/dates.h"

#include <quern/solweig.h>

typedef struct qn_sw_weather_row {
    qn_i64 minutes; /* the stamp, local time; qn_sw_date_of takes it apart */
    qn_sw_date date;
    double timestep_min;
    double ta; /* air temperature, degrees C */
    double rh; /* relative humidity, % */
    double ws; /* wind speed, m/s */
    double pressure_hpa;
    double global;          /* W/m2 */
    double direct, diffuse; /* W/m2; NaN where not measured */
    size_t file, line;      /* where it was read */
} qn_sw_weather_row;

/* Zero-initialised is empty. */
typedef struct qn_sw_weather {
    qn_sw_weather_row *rows;
    size_t n_rows;
    int has_place; /* only an EPW file tells where it is from */
    double latitude, longitude, utc_offset, elevation;
} qn_sw_weather;

/* Zero-initialised takes every row. */
typedef struct qn_sw_weather_options {
    const char *start, *end, *hours; /* qn_sw_date_filter_parse */
    int hourly_only;                 /* of UMEP text: rows at minute 0 */
    int fixed; /* of EPW: what is missing is told by each column's own mark, so that 99 % is a value
                */
} qn_sw_weather_options;

/* Reads one .epw file, whose rows keep their order, or UMEP text files, which are joined and sorted
 * by time. Bad content is an error with file and line, as is a time that comes twice. */
qn_status qn_sw_weather_read(const char *const *paths, size_t n_paths,
                             const qn_sw_weather_options *options, qn_sw_weather *out, qn_err *err);

/* The same of rows in memory, each checked as those of files are. The time step is that of the
 * first two, an hour for one. */
qn_status qn_sw_weather_take(const qn_solweig_weather *rows, size_t n_rows,
                             const qn_sw_weather_options *options, qn_sw_weather *out, qn_err *err);
void qn_sw_weather_free(qn_sw_weather *weather);

#endif
