/* dome.h - patches of the sky as kernels want them. */
#ifndef QN_SW_DOME_H
#define QN_SW_DOME_H

#include "kernel/solweig/sw_moment.h"
#include "util/status.h"

typedef struct qn_sw_dome {
    int n;
    int n_table; /* with empty ones, so that kernels take them by fours */
    sw_patch table[32 * SW_MAX_WORDS];
    float thin[32 * SW_MAX_WORDS]; /* exp(0.308 (1.7 - 1/sin(altitude))), see moment.h */
} qn_sw_dome;

/* Angles in degrees, solid angles in steradians; at most 32 * SW_MAX_WORDS patches. */
qn_status qn_sw_dome_make(int n, const float *altitude, const float *azimuth,
                          const float *steradian, qn_sw_dome *out, qn_err *err);

/* The smallest tangent whose angle in degrees, atanf(x) * 180 / pi, is at least `altitude`; or, if
 * `is_beyond`, is greater. Infinity where there is none. */
float qn_sw_tangent_from(float altitude, int is_beyond);

#endif
