/* sky.h - sun and sky: turns weather rows into numbers that are the same for all pixels.
 *
 * Everything is computed in double precision on the host, once for all rows: a position of the sun
 * takes 4 us; a row needs one and a new day 96 more.
 */
#ifndef QN_SOLWEIG_SKY_SKY_H
#define QN_SOLWEIG_SKY_SKY_H

#include "domain/solweig/weather/weather.h"

#include <stddef.h>

/* The middle of the interval of `step_min` minutes that ends at the stamp, truncated to whole
 * seconds. */
qn_sw_date qn_sw_half_step_before(qn_sw_date stamp, double step_min);

/* The sun.
 *
 * The solar position algorithm of Reda and Andreas (2003), in double precision, without the
 * difference between terrestrial and universal time. Refraction is added even below the horizon. */

typedef struct qn_sw_site {
    double latitude, longitude; /* degrees, north and east positive */
    double altitude;            /* metres */
    double utc_offset;          /* hours that local time is ahead of UTC */
} qn_sw_site;

/* Degrees; azimuth clockwise from north in [0, 360). */
typedef struct qn_sw_sun {
    double altitude, zenith, azimuth;
} qn_sw_sun;

qn_sw_sun qn_sw_sun_at(const qn_sw_site *place, const qn_sw_date *local);

/* The largest altitude at the quarter hours of the local day, at least 0. Computes 96 positions. */
double qn_sw_altmax(const qn_sw_site *place, const qn_sw_date *day);

/* Simple day geometry, in hours of solar time. */
typedef struct qn_sw_daylight {
    double declination; /* degrees */
    double length, sunrise, sunset;
} qn_sw_daylight;

qn_sw_daylight qn_sw_daylight_of(double latitude, int doy);

/* Sunlight on this day relative to its mean: (mean distance / distance of the day) squared.
 */
double qn_sw_sun_nearness(int doy);

/* Trees: how much light they transmit on a day. */

typedef struct qn_sw_trees {
    double leaf_on, leaf_off;          /* fraction of light that passes a crown */
    int first_leaf_day, last_leaf_day; /* days of the year; both without leaves */
    int is_conifer;                    /* leaves all year */
} qn_sw_trees;

/* 0.03 and 0.5, days 97 and 300, broadleaved: the tree settings of UMEP. */
qn_sw_trees qn_sw_trees_default(void);

/* There are leaves strictly between the two days. If the first day is after the last one, the
 * season spans the end of the year, as in the southern hemisphere. */
int qn_sw_has_leaves(const qn_sw_trees *trees, int doy);
double qn_sw_psi(const qn_sw_trees *trees, int doy);

/* Clearness: how much sunlight the air transmits, and how it splits.
 *
 * A clear sky is estimated from sun, temperature and humidity (Crawford and Duchon 1999); the
 * clearness index is the measured radiation divided by that of a clear sky. If direct and diffuse
 * light were not measured, global radiation is split after Reindl et al. (1990). */

/* The reference multiplies a pressure in hPa by ten, as if it were kPa. That raises the daytime
 * clearness index to 1.1 or more. */
typedef enum { QN_SW_PRESSURE_REFERENCE, QN_SW_PRESSURE_CORRECTED } qn_sw_pressure_rule;

#define QN_SW_NO_PRESSURE (-999.0) /* means 1013 hPa under both rules */

typedef struct qn_sw_air {
    double ta;       /* C */
    double rh;       /* % */
    double global;   /* W/m2, horizontal */
    double pressure; /* hPa, or QN_SW_NO_PRESSURE */
} qn_sw_air;

typedef struct qn_sw_clearness {
    double i0;          /* global radiation of a clear sky, W/m2 */
    double index;       /* corrected for a low sun; infinite if the clear sky has no radiation */
    double uncorrected; /* global / i0 */
    double i0_outside;  /* above the atmosphere */
    double kt;          /* global / i0_outside */
} qn_sw_clearness;

qn_sw_clearness qn_sw_clearness_of(const qn_sw_air *air, double zenith_deg, int doy,
                                   double latitude, qn_sw_pressure_rule rule);

typedef struct qn_sw_split {
    double direct;  /* on a surface normal to the beam */
    double diffuse; /* horizontal */
} qn_sw_split;

/* Temperature or humidity of NaN or at most -999 are unknown; the split then uses only Kt.
 */
qn_sw_split qn_sw_reindl(double global, double altitude_deg, double kt, double ta, double rh);

/* Emissivity of the sky. */

/* Emissivity of a clear sky, from the vapour near the ground (Prata 1996, Jonsson et al. 2006). */
double qn_sw_sky_emissivity(double ta, double rh);

/* Emissivity with clouds: below a clearness index of 0.95 the sky approaches a black body. */
double qn_sw_clouded_emissivity(double emissivity, double clearness);

/* Luminance of the sky (Perez et al. 1993), and solid angles of its patches. Patches are given by
 * their centres. */

typedef struct qn_sw_perez_sky {
    double zenith, azimuth; /* of the sun, degrees */
    double diffuse, direct; /* W/m2 */
    int doy;
} qn_sw_perez_sky;

/* out[i]: the relative luminance of the patch at altitude[i], azimuth[i] (degrees); the sum over
 * patches is 1. Uniform if the model does not apply: a sun below 3 degrees, diffuse radiation below
 * 10 W/m2, or coefficients that would make a patch negative. */
void qn_sw_perez_luminance(const qn_sw_perez_sky *sky, const float *altitude, const float *azimuth,
                           size_t n_patches, float *out);

/* Solid angles of patches at these altitudes, in degrees. Patches are ordered by bands from the
 * horizon up; the last band is the single patch around the zenith. */
void qn_sw_steradians(const float *altitude, size_t n_patches, float *out);

/* Everything above, for all rows.
 *
 * A row describes the interval that ends at its stamp: the sun is taken at the middle of it; day of
 * year, time of day and the day's largest altitude are those of the stamp. */

typedef struct qn_sw_sky_step {
    qn_sw_sun sun;
    double altmax;           /* degrees */
    double sunrise_h;        /* solar hours */
    double dectime;          /* days, by hour and minute of the stamp */
    double direct, diffuse;  /* measured, or split from global */
    double clearness;        /* at night that of the last daytime row */
    double clear_sky_global; /* for the ground temperature model */
    double psi;              /* fraction of light that trees transmit */
    double emissivity;       /* of a clear sky */
    double emissivity_aniso; /* with clouds, by the clearness index */
    int doy;
    int is_day; /* the sun is above the horizon */
} qn_sw_sky_step;

/* Zero-initialised: as in the reference. */
typedef struct qn_sw_sky_rules {
    qn_sw_pressure_rule pressure;
    int ignore_measured_split; /* estimate direct and diffuse for all rows */
} qn_sw_sky_rules;

/* Fills out[0 .. n_rows). An invalid row or place is QN_ERR_INPUT, naming row, value and limit;
 * rows are counted from 1. Rows must be in order of time, since the clearness of the day is used
 * for the night. */
qn_status qn_sw_sky_derive(const qn_sw_weather_row *rows, size_t n_rows, const qn_sw_site *place,
                           const qn_sw_trees *trees, const qn_sw_sky_rules *rules,
                           qn_sw_sky_step *out, qn_err *err);

/* The published coefficients of sun.c and perez.c. */

/* The solar position algorithm. */

typedef struct qn_sw_spa_term {
    double amplitude, phase, rate;
} qn_sw_spa_term;

typedef struct qn_sw_spa_series {
    const qn_sw_spa_term *terms;
    size_t n_terms;
} qn_sw_spa_series;

typedef struct qn_sw_nutation_term {
    int multiple[5];             /* multiples of the five angles of sun and moon */
    double psi, psi_per_century; /* longitude, 1e-4 arc seconds */
    double eps, eps_per_century; /* obliquity */
} qn_sw_nutation_term;

enum {
    QN_SW_SPA_LONGITUDE = 6, /* powers of time, from 0 on */
    QN_SW_SPA_LATITUDE = 2,
    QN_SW_SPA_RADIUS = 5,
    QN_SW_SPA_NUTATION = 63
};

extern const qn_sw_spa_series qn_sw_spa_longitude[QN_SW_SPA_LONGITUDE];
extern const qn_sw_spa_series qn_sw_spa_latitude[QN_SW_SPA_LATITUDE];
extern const qn_sw_spa_series qn_sw_spa_radius[QN_SW_SPA_RADIUS];
extern const qn_sw_nutation_term qn_sw_spa_nutation[QN_SW_SPA_NUTATION];

/* The luminance of the sky. */

enum { QN_SW_PEREZ_CLASSES = 8, QN_SW_PEREZ_LETTERS = 5 };

extern const double qn_sw_perez[QN_SW_PEREZ_CLASSES][QN_SW_PEREZ_LETTERS][4];

#endif
