/* patches.h - the sky as patches: where they are, and their weights in view factors.
 *
 * Options 1 to 4 have 145, 153, 305 and 609 patches, band by band from the horizon up. Azimuths
 * and weights are the reference's, to the bit.
 */
#ifndef QN_SW_PATCHES_H
#define QN_SW_PATCHES_H

#include "kernel/solweig/sw_shadow.h"

#include "util/status.h"

enum { QN_SW_MAX_PATCHES = 609 };

typedef struct qn_sw_patch {
    float altitude, azimuth; /* degrees */
    sw_weight weight;
} qn_sw_patch;

/* Number of patches of the option, 0 where there is no such option. */
int qn_sw_patch_count(int option);

/* Fills `out`, which has room for them. An option that is not 1 to 4 is QN_ERR_INPUT. */
qn_status qn_sw_patches(int option, qn_sw_patch *out, qn_err *err);

#endif
