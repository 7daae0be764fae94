/* load.h - from files to a surface that is ready to be computed with. */
#ifndef QN_SOLWEIG_INPUT_LOAD_H
#define QN_SOLWEIG_INPUT_LOAD_H

#include "domain/solweig/input/align.h"
#include "domain/solweig/input/heights.h"

#include <quern/solweig.h>

typedef struct qn_sw_load_options {
    /* Paths; NULL where there is no such layer. The DSM must be there, and walls come in pairs. */
    const char *dsm, *dem, *cdsm, *tdsm, *land_cover;
    const char *wall_height, *wall_aspect, *albedo, *emissivity;

    /* Layers in memory instead of files; NULL: there are files. How heights are meant is told by
     * `heights` in either case. */
    const qn_solweig_layers *layers;

    double npy_pixel_size; /* of .npy files, metres; 0 means 1 */
    qn_sw_align_options align;
    qn_sw_height_options heights;
} qn_sw_load_options;

/* Reads all layers, brings them onto one grid, prepares the heights and cuts everything to the
 * valid pixels. *was_smoothed (may be NULL) tells whether the DEM was of whole metres and smoothed.
 */
qn_status qn_sw_surface_load(const qn_sw_load_options *options, qn_sw_surface *out,
                             int *was_smoothed, qn_err *err);

#endif
