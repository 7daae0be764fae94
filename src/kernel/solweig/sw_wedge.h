/* sw_wedge.h - radiation terms used for both kinds of sky. */
#ifndef QN_KERNEL_SW_WEDGE_H
#define QN_KERNEL_SW_WEDGE_H

#include "sw_math.h"
#include "sw_moment.h"

/* Shaded fraction of the surrounding walls, from the sky view and the zenith angle of the sun. */
FN float sw_wedge(float svf, float veg, float tan_zen)
{
    const float side = sqrt(sw_unit(1.0f - sw_unit(svf + veg - 1.0f)));
    const float slope = sw_tan_asin(side);
    const float ta = slope > 1e-6f ? slope : 1e-6f;
    const float ba = 1.0f / ta;
    const float reach = ta * tan_zen;
    const float ha = 2.0f / (reach > 1e-6f ? reach : 1e-6f);
    const float xa = 1.0f - ha;
    const float half_reach = 0.5f * tan_zen;
    const float za2 = ba * ba - 0.25f * half_reach * half_reach;
    const float za = sqrt(za2 > 0.0f ? za2 : 0.0f);
    const float qa = half_reach > 1e-10f ? half_reach : 1e-10f;
    const float angle = sw_angle(za, qa);
    const float inv_hyp = 1.0f / sqrt(za * za + qa * qa);
    const float sine = za * inv_hyp, cosine = qa * inv_hyp;
    const float rest = 1.0f - cosine > 1e-10f ? 1.0f - cosine : 1e-10f;
    const float uk = xa < 0.0f ? 2.0f * ba * xa * ((sine - angle * cosine) / rest) : 0.0f;
    const float circle = 2.0f * SW_PI * ba;

    return (circle - (2.0f * ba * ha + uk)) / circle;
}

/* Sky seen through leaves of transmissivity psi. */
FN float sw_open_sky(float svf, float veg, float psi)
{
    return sw_unit(svf - (1.0f - veg) * (1.0f - psi));
}

/* Sunlight reflected by walls. */
FN float sw_from_walls(float albedo, float total, float diffuse, float shaded)
{
    return albedo * (total * (1.0f - shaded) + diffuse * shaded);
}

#endif
