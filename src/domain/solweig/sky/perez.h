/* perez.h - which part of the sky is bright (Perez et al. 1993), and how large its patches are.
 *
 * Patches are given by their middles; the tables of the four patch sets are not made here.
 */
#ifndef QN_SW_PEREZ_H
#define QN_SW_PEREZ_H

#include <stddef.h>

typedef struct qn_sw_perez_sky {
    double zenith, azimuth; /* of the sun, degrees */
    double diffuse, direct; /* W/m2 */
    int doy;
} qn_sw_perez_sky;

/* out[i]: the luminance of the patch at altitude[i], azimuth[i] (degrees), relative; the sum over
 * patches is 1. Uniform where the model has no say: a sun lower than 3 degrees, diffuse radiation
 * below 10 W/m2, or coefficients that would make a patch darker than black. */
void qn_sw_perez_luminance(const qn_sw_perez_sky *sky, const float *altitude, const float *azimuth,
                           size_t n_patches, float *out);

/* Solid angles of patches at these altitudes, in degrees. Patches come in bands from the horizon
 * up, those of a band behind each other; the last band is the one patch around the zenith. */
void qn_sw_steradians(const float *altitude, size_t n_patches, float *out);

#endif
