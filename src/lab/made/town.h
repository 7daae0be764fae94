/* city.h - a made-up city, always the same for the same numbers; and mirrored copies of a real one.
 */
#ifndef QN_LAB_MADE_TOWN_H
#define QN_LAB_MADE_TOWN_H

#include "domain/solweig/input/heights.h"

typedef struct qn_sw_made_city {
    qn_i64 side;   /* pixels of 1 m, in both directions */
    double relief; /* metres from the ground to the highest roof */
    int has_trees;
} qn_sw_made_city;

/* Blocks of 44 m with courts between streets of 16 m; trees along the streets and in courts. The
 * DSM is absolute, the CDSM height above ground: as files have them, before heights.h. */
qn_status qn_sw_city_make(const qn_sw_made_city *made, qn_sw_surface *out, qn_err *err);

/* Repeats every layer `down` times `across` times, each copy the mirror image of its neighbours, so
 * that no cliffs arise between them. */
qn_status qn_sw_city_mirror(qn_sw_surface *surface, int down, int across, qn_err *err);

#endif
