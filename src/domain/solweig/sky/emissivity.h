/* emissivity.h - how well the sky radiates heat: as a whole, and patch by patch. */
#ifndef QN_SW_EMISSIVITY_H
#define QN_SW_EMISSIVITY_H

#include <stddef.h>

/* Of a clear sky, from the vapour near the ground (Prata 1996, Jonsson et al. 2006). */
double qn_sw_sky_emissivity(double ta, double rh);

/* With clouds: below a clearness index of 0.95 the sky goes towards a black body. */
double qn_sw_clouded_emissivity(double emissivity, double clearness);

/* How emissivity grows towards the horizon. The reference has Martin and Berdahl (1984) only. */
typedef enum {
    QN_SW_EMISSIVITY_MARTIN,   /* model 2, the default */
    QN_SW_EMISSIVITY_UNSWORTH, /* model 1, Unsworth and Monteith (1975) */
    QN_SW_EMISSIVITY_BLISS     /* model 3, Bliss (1961) */
} qn_sw_emissivity_model;

/* out[i] for a patch at altitude[i] degrees. */
void qn_sw_patch_emissivity(qn_sw_emissivity_model model, double emissivity, const float *altitude,
                            size_t n_patches, float *out);

#endif
