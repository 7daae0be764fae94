/* light.c - from derived rows and patches of the sky to what records are filled from. */
#include "light.h"

qn_status qn_sw_patch_sky_make(int option, qn_sw_patch_sky *out, qn_err *err)
{
    qn_sw_patch patches[QN_SW_MAX_PATCHES];
    float steradian[QN_SW_MAX_PATCHES];
    const int n = qn_sw_patch_count(option);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_patches(option, patches, err));
    for (int i = 0; i < n; i++) {
        out->altitude[i] = patches[i].altitude;
        out->azimuth[i] = patches[i].azimuth;
    }
    qn_sw_steradians(out->altitude, (size_t)n, steradian);
    QN_TRY(qn_sw_dome_make(n, out->altitude, out->azimuth, steradian, &out->dome, err));
out:
    return st;
}

qn_sw_row qn_sw_row_of(const qn_sw_weather_row *w, const qn_sw_sky_row *s)
{
    return (qn_sw_row){ .ta = (float)w->ta,
                        .direct = (float)s->direct,
                        .diffuse = (float)s->diffuse,
                        .global = (float)w->global,
                        .azimuth = (float)s->sun.azimuth,
                        .altitude = (float)s->sun.altitude,
                        .zenith = (float)s->sun.zenith,
                        .altmax = (float)s->altmax,
                        .sunrise_h = (float)s->sunrise_h,
                        .dectime = (float)s->dectime,
                        .clear_sky_global = (float)s->clear_sky_global,
                        .ci = (float)s->clearness,
                        .esky = (float)s->emissivity,
                        .psi = (float)s->psi };
}
