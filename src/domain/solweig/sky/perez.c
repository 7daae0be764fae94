/* perez.c - the all-weather sky.
 *
 * Clearness and brightness of the sky determine five numbers: a and b shape the brightening towards
 * the horizon, c and d the glow around the sun, e the light scattered back opposite the sun.
 */
#include "domain/solweig/sky/sky.h"

#include <math.h>

#define SOLAR_CONSTANT 1367.0

typedef struct shape {
    double a, b, c, d, e;
} shape;

static double rad(double degrees)
{
    return degrees * M_PI / 180.0;
}

static int class_of(const qn_sw_perez_sky *sky, double z)
{
    static const double edge[] = { 1.065, 1.230, 1.500, 1.950, 2.800, 4.500, 6.200 };
    const double diffuse = fmax(sky->diffuse, 1.0), low_sun = 1.041 * z * z * z;
    const double clearness = ((diffuse + sky->direct) / diffuse + low_sun) / (1.0 + low_sun);
    int k = 0;

    while (k < QN_SW_PEREZ_CLASSES - 1 && clearness >= edge[k])
        k++;
    return k;
}

static double brightness_of(const qn_sw_perez_sky *sky)
{
    const double altitude = 90.0 - sky->zenith;
    const double outside = SOLAR_CONSTANT * qn_sw_sun_nearness(sky->doy);
    const double up = sin(rad(altitude));
    const double mass =
        altitude >= 10.0 ? 1.0 / up : 1.0 / (up + 0.50572 * pow(altitude + 6.07995, -1.6364));

    return sky->diffuse <= 10.0 ? 0 : fmin(mass, 40.0) * sky->diffuse / outside;
}

static double linear(const double x[4], double z, double brightness)
{
    return x[0] + x[1] * z + brightness * (x[2] + x[3] * z);
}

static shape shape_of(const qn_sw_perez_sky *sky)
{
    const double z = rad(sky->zenith), bright = brightness_of(sky);
    const int k = class_of(sky, z);
    const double(*x)[4] = qn_sw_perez[k];
    shape s = { linear(x[0], z, bright), linear(x[1], z, bright), linear(x[2], z, bright),
                linear(x[3], z, bright), linear(x[4], z, bright) };

    /* Overcast skies have their own formulas; the fourth c is not used. */
    if (k == 0) {
        s.c = exp(pow(bright * (x[2][0] + x[2][1] * z), x[2][2])) - 1.0;
        s.d = -exp(bright * (x[3][0] + x[3][1] * z)) + x[3][2] + bright * x[3][3];
    }
    return s;
}

static double luminance(const shape *s, const qn_sw_perez_sky *sky, double altitude, double azimuth)
{
    const double sun = rad(90.0 - sky->zenith), patch = rad(altitude);
    const double cos_g =
        sin(patch) * sin(sun) + cos(sun) * cos(patch) * cos(rad(fabs(azimuth - sky->azimuth)));
    const double g = acos(fmin(fmax(cos_g, -1.0), 1.0));

    return (1.0 + s->a * exp(s->b / cos(rad(90.0 - altitude)))) *
           (1.0 + s->c * exp(s->d * g) + s->e * cos_g * cos_g);
}

static void fill_uniform(size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)(1.0 / (double)n);
}

void qn_sw_perez_luminance(const qn_sw_perez_sky *sky, const float *altitude, const float *azimuth,
                           size_t n_patches, float *out)
{
    double sum = 0, least = 0;
    shape s;

    if (90.0 - sky->zenith < 3.0 || sky->diffuse < 10.0) {
        fill_uniform(n_patches, out);
        return;
    }
    s = shape_of(sky);
    for (size_t i = 0; i < n_patches; i++) {
        const double l = luminance(&s, sky, (double)altitude[i], (double)azimuth[i]);

        out[i] = (float)l;
        sum += l;
        least = fmin(least, l);
    }
    if (least < 0 || !(sum > 0)) {
        fill_uniform(n_patches, out);
        return;
    }
    for (size_t i = 0; i < n_patches; i++)
        out[i] = (float)((double)out[i] / sum);
}

static float sin_deg(float degrees)
{
    return sinf(degrees * (float)M_PI / 180.0f);
}

/* In single precision as in the reference: the zenith patch is a difference of nearly equal
 * numbers, which has a relative error of 4e-6. */
void qn_sw_steradians(const float *altitude, size_t n_patches, float *out)
{
    const float half = n_patches ? altitude[0] : 0, around = 2.0f * (float)M_PI;

    for (size_t from = 0, to; from < n_patches; from = to) {
        for (to = from + 1; to < n_patches && altitude[to] == altitude[from];)
            to++;
        const int is_zenith = to == n_patches && from > 0;
        const float low = is_zenith ? altitude[from - 1] + half : altitude[from] - half;
        const float high = is_zenith ? 90.0f : altitude[from] + half;
        const float size = around / (float)(to - from) * (sin_deg(high) - sin_deg(low));

        for (size_t i = from; i < to; i++)
            out[i] = size;
    }
}
