/* town.h - a generated town, reproducible from its options; and mirrored copies of a real one. */
#ifndef QN_LAB_MADE_TOWN_H
#define QN_LAB_MADE_TOWN_H

#include "domain/solweig/surface/surface.h"

typedef struct qn_made_town {
    qn_i64 side;   /* pixels of 1 m, in both directions */
    double relief; /* metres from the ground to the highest roof */
    int has_trees;
} qn_made_town;

/* Blocks of 44 m with courts between streets of 16 m; trees along the streets and in courts. The
 * DSM is absolute, the CDSM height above ground, as in files. */
qn_status qn_town_make(const qn_made_town *made, qn_sw_surface *out, qn_err *err);

/* Writes dsm.npy and, if there are trees, cdsm.npy; makes the folder if it is missing. */
qn_status qn_town_save(const qn_sw_surface *town, const char *folder, qn_err *err);

/* Repeats every layer `down` times `across` times, each copy the mirror image of its neighbours,
 * so that there are no cliffs between them. */
qn_status qn_town_mirror(qn_sw_surface *surface, int down, int across, qn_err *err);

#endif
