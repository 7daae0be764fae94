/* sw_radiation.h - parameters of the kernels of radiation. */
#ifndef QN_KERNEL_SW_RADIATION_H
#define QN_KERNEL_SW_RADIATION_H

#include "kernel/types.h"

/* Where the bits of vegetation come from. Without a canopy leaves hide no patch. The reference then
 * uses the bits of buildings as bits of vegetation in front of buildings, so that no building
 * counts as a wall (SW_BITS_BARE). With SW_BITS_WALLS buildings are walls. */
enum { SW_BITS_GIVEN, SW_BITS_BARE, SW_BITS_WALLS };

#define SW_PATCH_CHUNK 4 /* patches that a lane takes at once */

typedef struct {
    i64 plane; /* pixels of a raster */
    i32 cols;
    i32 n_patches; /* of tables, padded to a multiple of SW_PATCH_CHUNK */
    i32 bits;      /* SW_BITS_* */
    i32 is_aniso;
} sw_sky_par;
QN_PAR_SIZE(sw_sky_par, 24);

#endif
