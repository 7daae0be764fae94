/* heights.h - from the layers as read to the surface that shadows are marched over.
 *
 * All layers lie on the same grid (align.h). After qn_sw_prepare_heights every height is absolute,
 * and NaN in canopy and trunk means "no vegetation": it must not be filled again.
 */
#ifndef QN_SOLWEIG_INPUT_HEIGHTS_H
#define QN_SOLWEIG_INPUT_HEIGHTS_H

#include "domain/solweig/input/raster.h"

/* Zero-initialised is empty; a layer without data is absent. The DSM is always there. */
typedef struct qn_sw_surface {
    qn_sw_raster dsm, dem;
    qn_sw_raster cdsm, tdsm; /* canopy top; canopy bottom */
    qn_sw_raster wall_height, wall_aspect;
    qn_sw_raster albedo, emissivity;
    uint8_t *land_cover; /* NULL when absent; QN_SW_NO_COVER where unknown */
} qn_sw_surface;

enum { QN_SW_NO_COVER = 255 };

void qn_sw_surface_free(qn_sw_surface *surface);

/* Land-cover ids from a raster: NaN becomes QN_SW_NO_COVER, other values are whole numbers of
 * 0 .. 255. `name` starts error messages; the caller frees *out. */
qn_status qn_sw_land_cover(const char *name, const qn_sw_raster *raster, uint8_t **out,
                           qn_err *err);

/* Zero-initialised gives the defaults. */
typedef struct qn_sw_height_options {
    int dsm_relative;         /* the DSM is height above the DEM, which must be there */
    int cdsm_absolute;        /* the canopy is elevation, not height above ground */
    int tdsm_absolute;        /* the same of the canopy's bottom */
    double trunk_ratio;       /* bottom over top where there is no TDSM; 0 means 0.25 */
    double min_object_height; /* metres; 0 means 1.0 */
    int keep_quantised;       /* do not smooth a DEM of whole metres */
    double smooth_sigma;      /* pixels; 0 means 3 */
    int parity;               /* NaN and missing trunks as the reference treats them */
} qn_sw_height_options;

/* Prepares dsm, dem, cdsm and tdsm in place; makes a TDSM where there is only a CDSM. *was_smoothed
 * (may be NULL) tells whether the DEM was. */
qn_status qn_sw_prepare_heights(qn_sw_surface *surface, const qn_sw_height_options *options,
                                int *was_smoothed, qn_err *err);

/* 1 when a DEM holds whole metres: by its type, or by at least 30 % of its finite pixels (100 or
 * more of them) lying within 0.01 of a whole number. */
int qn_sw_is_quantised(const qn_sw_raster *dem);

/* Gaussian smoothing, edges replicated. NaN spreads over the kernel's width. */
qn_status qn_sw_smooth(qn_sw_raster *raster, double sigma, qn_err *err);

/* What holds for the whole raster, however it is tiled. */

typedef struct qn_sw_relief {
    float lowest, highest; /* of the DSM */
    float top;             /* of DSM, canopy and trunk: nothing is higher */
    float max_height;      /* highest of DSM and canopy above the lowest DSM; 0 if none */
    float max_building;    /* the same without the canopy */
} qn_sw_relief;

qn_sw_relief qn_sw_relief_of(const qn_sw_surface *surface);

/* 1 where DSM, and DEM and walls where present, are finite and the land cover is known. */
qn_status qn_sw_valid_mask(const qn_sw_surface *surface, uint8_t **out, qn_err *err);

/* The smallest window with every valid pixel; fails when there is none. */
qn_status qn_sw_valid_box(const qn_sw_place *place, const uint8_t *mask, qn_sw_window *out,
                          qn_err *err);

/* NaN (land cover: unknown) outside the valid pixels, then all layers cut to their box. */
qn_status qn_sw_crop_to_valid(qn_sw_surface *surface, qn_err *err);

/* The part of a run worth computing: the valid box where it is under 98 % of the area, else all. */
qn_status qn_sw_work_box(const qn_sw_surface *surface, qn_sw_window *out, qn_err *err);

#endif
