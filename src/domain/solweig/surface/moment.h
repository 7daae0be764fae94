/* moment.h - from weather and sun to the record of a time step. */
#ifndef QN_SW_MOMENT_H
#define QN_SW_MOMENT_H

#include "domain/solweig/radiation/dome.h"
#include "domain/solweig/surface/delay.h"
#include "domain/solweig/surface/ground.h"

#define QN_SW_SBC 5.67051e-8f

/* What does not change from row to row. */
typedef struct qn_sw_materials {
    qn_sw_ground_class ground[SW_CLASSES];
    qn_sw_ground_class wall;
    float wall_emissivity, wall_albedo;
    float sbc;
} qn_sw_materials;

/* Ground of one class everywhere and generic walls. */
qn_sw_materials qn_sw_materials_default(void);

/* Fills `out`, and moves `delay` on; rows come in order of time. With `patches`, `luminance` has
 * their shares (n, adding up to 1), `emissivity` theirs, and sky[0 .. n_table) gets the row of the
 * table; all are NULL for an isotropic sky. Without `emissivity` it grows towards the horizon after
 * Martin and Berdahl, from that of the row with the clouds that its clearness index tells of. */
void qn_sw_moment_fill(const qn_sw_row *row, const qn_sw_materials *materials,
                       const qn_sw_dome *patches, const float *luminance, const float *emissivity,
                       qn_sw_delay *delay, sw_moment *out, sw_sky *sky);

#endif
