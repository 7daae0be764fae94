/* series.h - from weather rows to the scalars that every pixel shares.
 *
 * The sun is that of the middle of the interval which ends at the row's stamp; the day of year, the
 * time of day and the largest altitude of the day are those of the stamp itself. All in double
 * precision on the host, once for all rows: a position of the sun takes 4 us, a row needs one and a
 * new day 96 more.
 */
#ifndef QN_SW_SERIES_H
#define QN_SW_SERIES_H

#include "domain/solweig/sky/clearness.h"
#include "domain/solweig/sky/season.h"
#include "domain/solweig/sky/sun.h"
#include "domain/solweig/weather/weather.h"

#include <quern/quern.h>

typedef struct qn_sw_sky_row {
    qn_sw_sun sun;
    double altmax;           /* degrees */
    double sunrise_h;        /* solar hours */
    double dectime;          /* days, of the stamp */
    double direct, diffuse;  /* measured, or split from global */
    double clearness;        /* by night that of the last row by day */
    double clear_sky_global; /* of the ground temperature model */
    double psi;              /* light that trees let through */
    double emissivity;       /* of a clear sky */
    double emissivity_aniso; /* with the clouds that the clearness index tells of */
    int doy;
    int is_day; /* the sun is above the horizon */
} qn_sw_sky_row;

/* Zero is the way of the reference. */
typedef struct qn_sw_sky_rules {
    qn_sw_pressure_rule pressure;
    int ignore_measured_split; /* direct and diffuse are estimated for all rows */
} qn_sw_sky_rules;

/* Fills out[0 .. n_rows). A row or a place that has no meaning is QN_ERR_INPUT, naming row, value
 * and limit; rows are counted from 1. Rows must be in the order of time, since the clearness of the
 * day is carried into the night. */
qn_status qn_sw_sky_derive(const qn_sw_weather_row *rows, size_t n_rows, const qn_sw_site *place,
                           const qn_sw_trees *trees, const qn_sw_sky_rules *rules,
                           qn_sw_sky_row *out, qn_err *err);

#endif
