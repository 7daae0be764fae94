/* sun.c - the solar position algorithm, step by step.
 *
 * Earth's position on its orbit gives the sun's apparent longitude; nutation and obliquity turn it
 * into right ascension and declination; the place on Earth gives the hour angle, corrected for
 * parallax; altitude and azimuth follow. Angles are in degrees unless a name ends in _rad.
 */
#include "domain/solweig/sky/sky.h"

#include <math.h>

static double rad(double degrees)
{
    return degrees * M_PI / 180.0;
}

static double deg(double radians)
{
    return radians * 180.0 / M_PI;
}

static double wrap(double degrees)
{
    return degrees - 360.0 * floor(degrees / 360.0);
}

/* Universal time is local time minus the offset, so it may be on another day. */
static double julian_day(const qn_sw_date *local, double utc_offset)
{
    const int is_early = local->month <= 2;
    const double year = is_early ? local->year - 1 : local->year;
    const double month = is_early ? local->month + 12 : local->month;
    const double day = local->day + (local->hour - utc_offset) / 24.0 + local->minute / 1440.0 +
                       local->second / 86400.0;
    const double century = floor(year / 100.0);
    const long date = local->year * 10000L + local->month * 100L + local->day;
    const double gregorian = date < 15821015L ? 0 : 2.0 - century + floor(century / 4.0);

    return day + gregorian + floor(365.25 * (year + 4716.0)) + floor(30.6001 * (month + 1.0)) -
           1524.5;
}

/* Polynomial in time whose coefficients are sums of cosines. */
static double orbit(const qn_sw_spa_series *series, int n_powers, double millennia)
{
    double sum = 0, power = 1;

    for (int k = 0; k < n_powers; k++, power *= millennia) {
        double part = 0;

        for (size_t i = 0; i < series[k].n_terms; i++) {
            const qn_sw_spa_term *t = &series[k].terms[i];

            part += t->amplitude * cos(t->phase + t->rate * millennia);
        }
        sum += part * power;
    }
    return sum / 1e8;
}

typedef struct nutation {
    double longitude, obliquity;
} nutation;

static nutation nutation_of(double centuries)
{
    const double t = centuries, t2 = t * t, t3 = t2 * t;
    const double angle[5] = {
        297.85036 + 445267.11148 * t - 0.0019142 * t2 + t3 / 189474.0,
        357.52772 + 35999.05034 * t - 0.0001603 * t2 - t3 / 300000.0,
        134.96298 + 477198.867398 * t + 0.0086972 * t2 + t3 / 56250.0,
        93.27191 + 483202.017538 * t - 0.0036825 * t2 + t3 / 327270.0,
        125.04452 - 1934.136261 * t + 0.0020708 * t2 + t3 / 450000.0,
    };
    nutation sum = { 0, 0 };

    for (int i = 0; i < QN_SW_SPA_NUTATION; i++) {
        const qn_sw_nutation_term *n = &qn_sw_spa_nutation[i];
        double at = 0;

        for (int k = 0; k < 5; k++)
            at += n->multiple[k] * angle[k];
        sum.longitude += (n->psi + n->psi_per_century * t) * sin(rad(at));
        sum.obliquity += (n->eps + n->eps_per_century * t) * cos(rad(at));
    }
    sum.longitude /= 36e6;
    sum.obliquity /= 36e6;
    return sum;
}

/* Mean obliquity of the ecliptic, in seconds of arc. */
static double mean_obliquity(double millennia)
{
    static const double factor[] = { 84381.448, -4680.93, -1.55, 1999.25, -51.38, -249.67,
                                     -39.05,    7.12,     27.87, 5.79,    2.45 };
    const double u = millennia / 10.0;
    double sum = 0;

    for (int k = 10; k >= 0; k--)
        sum = sum * u + factor[k];
    return sum;
}

/* As seen from the centre of Earth. */
typedef struct equatorial {
    double hour_angle, declination, radius;
} equatorial;

static equatorial seen_from_centre(double day, double longitude)
{
    const double centuries = (day - 2451545.0) / 36525.0, millennia = centuries / 10.0;
    const double helio = wrap(deg(orbit(qn_sw_spa_longitude, QN_SW_SPA_LONGITUDE, millennia)));
    const double helio_lat = deg(orbit(qn_sw_spa_latitude, QN_SW_SPA_LATITUDE, millennia));
    const double radius = orbit(qn_sw_spa_radius, QN_SW_SPA_RADIUS, millennia);
    const nutation shift = nutation_of(centuries);
    const double e = rad(mean_obliquity(millennia) / 3600.0 + shift.obliquity);
    const double aberration = -20.4898 / (3600.0 * radius);
    const double l = rad(wrap(helio + 180.0) + shift.longitude + aberration);
    const double b = rad(wrap(-helio_lat));
    const double sidereal =
        wrap(280.46061837 + 360.98564736629 * (day - 2451545.0) +
             0.000387933 * centuries * centuries - centuries * centuries * centuries / 38710000.0) +
        shift.longitude * cos(e);
    const double ascension = wrap(deg(atan2(sin(l) * cos(e) - tan(b) * sin(e), cos(l))));

    return (equatorial){ .hour_angle = wrap(sidereal + longitude - ascension),
                         .declination = asin(sin(b) * cos(e) + cos(b) * sin(e) * sin(l)),
                         .radius = radius };
}

/* Refraction of the air, above -5.11 degrees. Near that limit the formula is meaningless, but then
 * the sun is down, and the reference uses it too. */
static double refraction(double altitude)
{
    return 1.02 / (60.0 * tan(rad(altitude + 10.3 / (altitude + 5.11))));
}

qn_sw_sun qn_sw_sun_at(const qn_sw_site *place, const qn_sw_date *local)
{
    const equatorial sun = seen_from_centre(julian_day(local, place->utc_offset), place->longitude);
    const double lat = rad(place->latitude), h_rad = rad(sun.hour_angle), d = sun.declination;
    const double parallax = rad(8.794 / (3600.0 * sun.radius));
    const double u = atan(0.99664719 * tan(lat));
    const double x = cos(u) + place->altitude / 6378140.0 * cos(lat);
    const double y = 0.99664719 * sin(u) + place->altitude / 6378140.0 * sin(lat);
    const double shift =
        atan2(-x * sin(parallax) * sin(h_rad), cos(d) - x * sin(parallax) * cos(h_rad));
    /* In the second term the published algorithm has x instead of y. */
    const double seen =
        atan2((sin(d) - y * sin(parallax)) * cos(shift), cos(d) - y * sin(parallax) * cos(h_rad));
    const double h = h_rad - shift;
    const double e0 = deg(asin(sin(lat) * sin(seen) + cos(lat) * cos(seen) * cos(h)));
    const double altitude = e0 + refraction(e0);

    return (qn_sw_sun){ .altitude = altitude,
                        .zenith = 90.0 - altitude,
                        .azimuth = wrap(
                            deg(atan2(sin(h), cos(h) * sin(lat) - tan(seen) * cos(lat))) + 180.0) };
}

double qn_sw_altmax(const qn_sw_site *place, const qn_sw_date *day)
{
    double most = 0;

    for (int quarter = 0; quarter < 96; quarter++) {
        qn_sw_date at = *day;

        at.hour = quarter / 4;
        at.minute = quarter % 4 * 15;
        at.second = 0;
        most = fmax(most, qn_sw_sun_at(place, &at).altitude);
    }
    return most;
}

qn_sw_daylight qn_sw_daylight_of(double latitude, int doy)
{
    const double declination = -23.45 * cos(2.0 * M_PI * (doy + 10) / 365.0);
    const double soc = fmin(fmax(tan(rad(declination)) * tan(rad(latitude)), -1.0), 1.0);
    const double length = 12.0 + 24.0 * asin(soc) / M_PI;

    return (qn_sw_daylight){ .declination = declination,
                             .length = length,
                             .sunrise = 12.0 - length / 2.0,
                             .sunset = 12.0 + length / 2.0 };
}

double qn_sw_sun_nearness(int doy)
{
    const double b = 2.0 * M_PI * doy / 365.0;

    return 1.00011 + 0.034221 * cos(b) + 0.00128 * sin(b) + 0.000719 * cos(2.0 * b) +
           0.000077 * sin(2.0 * b);
}
