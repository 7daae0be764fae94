/* ground_temperature.c - ground and walls over air, in f32 like the rasters it is made for. */
#include "step.h"

#include <math.h>

#define HALF_PI 1.57079632679490f

float qn_sw_ground_clearness(const qn_sw_step_weather *row)
{
    const int is_above = row->zenith > 0 && row->zenith < 90;
    const float low_sun = 0.3454f + (is_above ? 0.1473f * logf(90 - row->zenith) : 0);
    float share;

    if (!(row->altitude > 0 && row->clear_sky_global > 0))
        return 1;
    share = row->global / row->clear_sky_global + 1 - low_sun;
    return isfinite(share) ? fminf(share, 1) : 1;
}

/* `delay`: days from sunrise to the highest temperature. */
static float excess(const qn_sw_step_weather *row, const qn_sw_ground_class *kind, float delay)
{
    const float sunrise = row->sunrise_h / 24;
    const float amplitude = kind->tgk * row->altmax + kind->tstart;
    float t = 0;

    if (row->altitude <= 0)
        return 0;
    if (row->dectime > sunrise)
        t = amplitude * sinf((row->dectime - sunrise) / delay * HALF_PI);
    return fmaxf(t * qn_sw_ground_clearness(row), 0);
}

float qn_sw_ground_excess(const qn_sw_step_weather *row, const qn_sw_ground_class *ground)
{
    const float delay = ground->tmaxlst / 24 - row->sunrise_h / 24;

    return excess(row, ground, delay <= 0 ? 1 : delay);
}

float qn_sw_wall_excess(const qn_sw_step_weather *row, const qn_sw_ground_class *wall)
{
    const float delay = wall->tmaxlst / 24 - row->sunrise_h / 24;

    return delay > 0 ? excess(row, wall, delay) : 0;
}
