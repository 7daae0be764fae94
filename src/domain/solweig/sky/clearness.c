/* clearness.c - clear sky, clearness index, direct and diffuse light, emissivity. */
#include "domain/solweig/sky/sky.h"

#include <math.h>

#define SOLAR_CONSTANT 1370.0

/* Smith's (1966) factor for water vapour: one row per 10 degrees of latitude, one column per
 * season. */
static const double vapour_factor[9][4] = {
    { 3.37, 2.85, 2.80, 2.64 }, { 2.99, 3.02, 2.70, 2.93 }, { 3.60, 3.00, 2.98, 2.93 },
    { 3.04, 3.11, 2.92, 2.94 }, { 2.70, 2.95, 2.77, 2.71 }, { 2.52, 3.07, 2.67, 2.93 },
    { 1.76, 2.69, 2.61, 2.61 }, { 1.60, 1.67, 2.24, 2.63 }, { 1.11, 1.44, 1.94, 2.02 },
};

static double vapour_factor_of(double latitude, int doy)
{
    const int band = (int)fmin(floor(fabs(latitude) / 10.0), 8.0);
    const int season = doy > 335 || doy <= 60 ? 0 : doy <= 152 ? 1 : doy <= 244 ? 2 : 3;

    return vapour_factor[band][season];
}

static double pressure_of(double pressure, qn_sw_pressure_rule rule)
{
    if (pressure == QN_SW_NO_PRESSURE)
        return 1013.0;
    return rule == QN_SW_PRESSURE_CORRECTED ? pressure : pressure * 10.0;
}

/* Transmission of water vapour along `path` air masses. */
static double through_vapour(const qn_sw_air *air, double latitude, int doy, double path)
{
    const double fraction = air->rh > 0 ? air->rh / 100.0 : 0.01;
    const double q = 17.27 * air->ta / (237.7 + air->ta) + log(fraction);
    const double dew_point = 237.7 * q / (17.27 - q);
    const double water = exp(0.1133 - log(vapour_factor_of(latitude, doy) + 1.0) +
                             0.0393 * (1.8 * dew_point + 32.0));

    return 1.0 - 0.077 * pow(water * path, 0.3);
}

qn_sw_clearness qn_sw_clearness_of(const qn_sw_air *air, double zenith_deg, int doy,
                                   double latitude, qn_sw_pressure_rule rule)
{
    const double z = zenith_deg * M_PI / 180.0, up = cos(z), altitude = 90.0 - zenith_deg;
    const double distance = sqrt(qn_sw_sun_nearness(doy));
    const double path = 35.0 * up / sqrt(1224.0 * up * up + 1.0);
    const double pressure = pressure_of(air->pressure, rule);
    const double gases = 1.021 - 0.084 * sqrt(path * (0.000949 * pressure + 0.051));
    const double i0 = fabs(z) > M_PI / 2.0
                          ? 0
                          : SOLAR_CONSTANT * up * gases * through_vapour(air, latitude, doy, path) *
                                distance * pow(0.935, path);
    qn_sw_clearness out = { .index = INFINITY };

    if (altitude < 0.01 || i0 == 0)
        return out;
    out.i0 = i0;
    out.i0_outside = SOLAR_CONSTANT * up * distance;
    out.kt = air->global / out.i0_outside;
    out.uncorrected = air->global / i0;
    out.index = out.uncorrected + 1.0 - (0.1473 * log(altitude) + 0.3454);
    if (isnan(out.index))
        out.index = INFINITY;
    return out;
}

static int is_known(double value)
{
    return value > -999.0; /* false for NaN */
}

static double diffuse_share(double kt, double s, double ta, double rh)
{
    const double h = rh / 100.0;

    if (!is_known(ta) || !is_known(rh))
        return kt <= 0.3 ? 1.020 - 0.248 * kt : kt < 0.78 ? 1.45 - 1.67 * kt : 0.147;
    if (kt <= 0.3)
        return 1.0 - 0.232 * kt + 0.0239 * s - 0.000682 * ta + 0.0195 * h;
    if (kt < 0.78)
        return 1.329 - 1.716 * kt + 0.267 * s - 0.00357 * ta + 0.106 * h;
    return 0.426 * kt - 0.256 * s + 0.00349 * ta + 0.0734 * h;
}

/* The direct part is computed before the diffuse part is capped, as in the reference. */
qn_sw_split qn_sw_reindl(double global, double altitude_deg, double kt, double ta, double rh)
{
    const double s = sin(altitude_deg * M_PI / 180.0);
    const double diffuse = global * diffuse_share(kt, s, ta, rh);
    double direct = s < 0.01 ? 0 : (global - diffuse) / s;

    direct = fmax(direct, 0);
    if (altitude_deg < 1.0 && direct > global)
        direct = global;
    return (qn_sw_split){ .direct = direct, .diffuse = fmin(diffuse, global) };
}

/* Emissivity. */

double qn_sw_sky_emissivity(double ta, double rh)
{
    const double vapour = 6.107 * pow(10.0, 7.5 * ta / (237.3 + ta)) * rh / 100.0;
    const double water = 46.5 * vapour / (ta + 273.15);

    return 1.0 - (1.0 + water) * exp(-sqrt(1.2 + 3.0 * water));
}

double qn_sw_clouded_emissivity(double emissivity, double clearness)
{
    return clearness < 0.95 ? clearness * emissivity + (1.0 - clearness) : emissivity;
}
