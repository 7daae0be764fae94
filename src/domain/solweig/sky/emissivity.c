/* emissivity.c - thermal radiation of the sky. */
#include "sky.h"

#include <math.h>

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

/* `s` is the sine of the altitude, so 1 / s is the length of the path through the air. */
static double emissivity_at(qn_sw_emissivity_model model, double e, double s)
{
    switch (model) {
    case QN_SW_EMISSIVITY_UNSWORTH:
        /* Linear in the logarithm of the water on the path; 0.5 is the mean of -log(s) over the
         * hemisphere. Near the horizon a moist sky would pass 1. */
        return fmin(e - 0.094 * (0.5 + log(s)), 1.0);
    case QN_SW_EMISSIVITY_BLISS:
        /* 1.8 is the equivalent path of the hemisphere. */
        return 1.0 - pow(1.0 - e, 1.0 / (1.8 * s));
    case QN_SW_EMISSIVITY_MARTIN:
        break;
    }
    return 1.0 - (1.0 - e) * exp(0.308 * (1.7 - 1.0 / s));
}

void qn_sw_patch_emissivity(qn_sw_emissivity_model model, double emissivity, const float *altitude,
                            size_t n_patches, float *out)
{
    for (size_t i = 0; i < n_patches; i++)
        out[i] = (float)emissivity_at(model, emissivity, sin((double)altitude[i] * M_PI / 180.0));
}
