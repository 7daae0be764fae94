/* sun.h - where the sun stands.
 *
 * The solar position algorithm of Reda and Andreas (2003), in double precision, with the difference
 * between terrestrial and universal time left out. Refraction is added also below the horizon.
 */
#ifndef QN_SW_SUN_H
#define QN_SW_SUN_H

#include "domain/solweig/sky/stamp.h"

typedef struct qn_sw_site {
    double latitude, longitude; /* degrees, north and east positive */
    double altitude;            /* metres */
    double utc_offset;          /* hours that local time is ahead of UTC */
} qn_sw_site;

/* Degrees; azimuth clockwise from north in [0, 360). */
typedef struct qn_sw_sun {
    double altitude, zenith, azimuth;
} qn_sw_sun;

qn_sw_sun qn_sw_sun_at(const qn_sw_site *place, const qn_sw_stamp *local);

/* The largest altitude of the quarter hours of the local day, at least 0. 96 positions. */
double qn_sw_altmax(const qn_sw_site *place, const qn_sw_stamp *day);

/* The same, computed once for each day and place that follow one another. Zero is empty. */
typedef struct qn_sw_altmax_cache {
    qn_sw_site place;
    qn_sw_stamp day;
    double altmax;
    int is_filled;
} qn_sw_altmax_cache;

double qn_sw_altmax_cached(qn_sw_altmax_cache *cache, const qn_sw_site *place,
                           const qn_sw_stamp *day);

/* Simple geometry of the day, in hours of solar time. */
typedef struct qn_sw_daylight {
    double declination; /* degrees */
    double length, sunrise, sunset;
} qn_sw_daylight;

qn_sw_daylight qn_sw_daylight_of(double latitude, int doy);

/* The sun's light on this day over its mean: the square of the mean distance over that of the day.
 */
double qn_sw_sun_nearness(int doy);

#endif
