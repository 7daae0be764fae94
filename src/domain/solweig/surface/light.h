/* light.h - what the records of time steps are filled from: the sky as patches, and plain rows. */
#ifndef QN_SW_LIGHT_H
#define QN_SW_LIGHT_H

#include "domain/solweig/radiation/dome.h"
#include "domain/solweig/shadow/patches.h"
#include "domain/solweig/sky/perez.h"
#include "domain/solweig/sky/series.h"
#include "domain/solweig/surface/row.h"

/* Patches as kernels want them, and their angles for luminance. */
typedef struct qn_sw_patch_sky {
    qn_sw_dome dome;
    float altitude[QN_SW_MAX_PATCHES], azimuth[QN_SW_MAX_PATCHES];
} qn_sw_patch_sky;

qn_status qn_sw_patch_sky_make(int patch_option, qn_sw_patch_sky *out, qn_err *err);

qn_sw_row qn_sw_row_of(const qn_sw_weather_row *weather, const qn_sw_sky_row *sky);

#endif
