/* surface.h - the layers of a city, from files or arrays, as heights for casting rays.
 *
 * All layers have the same grid. After qn_sw_prepare_heights every height is absolute, and NaN in
 * canopy and trunk means "no vegetation" and must not be filled again.
 */
#ifndef QN_SOLWEIG_SURFACE_SURFACE_H
#define QN_SOLWEIG_SURFACE_SURFACE_H

#include "domain/solweig/raster/raster.h"

#include <quern/solweig.h>

/* Zero-initialised: empty. A layer without data is absent; the DSM is always present. */
typedef struct qn_sw_surface {
    qn_sw_raster dsm, dem;
    qn_sw_raster cdsm, tdsm; /* canopy top; canopy bottom */
    qn_sw_raster wall_height, wall_aspect;
    qn_sw_raster albedo, emissivity;
    uint8_t *land_cover; /* NULL: absent; QN_SW_NO_COVER where unknown */
} qn_sw_surface;

void qn_sw_surface_free(qn_sw_surface *surface);

/* Land cover. */

enum { QN_SW_BUILDING = 2, QN_SW_WATER = 7, QN_SW_COVERS = 8, QN_SW_NO_COVER = 255 };

/* The id that gives the properties of a land-cover value: walls (100 and up) are buildings, other
 * values above water are water. */
static inline int qn_sw_cover_id(uint8_t value)
{
    return value >= 100 ? QN_SW_BUILDING : value > QN_SW_WATER ? QN_SW_WATER : value;
}

/* Reads land-cover ids from a raster: NaN becomes QN_SW_NO_COVER; other values must be whole
 * numbers 0 .. 255. `name` starts error messages; the caller frees *out. */
qn_status qn_sw_land_cover(const char *name, const qn_sw_raster *raster, uint8_t **out,
                           qn_err *err);

/* Heights. */

/* Zero-initialised gives the defaults. */
typedef struct qn_sw_height_options {
    int dsm_relative;         /* the DSM is height above the DEM, which is then required */
    int cdsm_absolute;        /* the top of the canopy is an elevation, not a height above ground */
    int tdsm_absolute;        /* the bottom of the canopy is an elevation */
    double trunk_ratio;       /* bottom / top without a TDSM; 0 means 0.25 */
    double min_object_height; /* metres; 0 means 1.0 */
    int keep_quantised;       /* do not smooth a DEM in whole metres */
    double smooth_sigma;      /* pixels; 0 means 3 */
    int reference;            /* treat NaN and missing trunks like the reference */
} qn_sw_height_options;

/* Prepares dsm, dem, cdsm and tdsm in place; makes a TDSM if there is only a CDSM. Sets
 * *was_smoothed (may be NULL) if it smoothed the DEM. */
qn_status qn_sw_prepare_heights(qn_sw_surface *surface, const qn_sw_height_options *options,
                                int *was_smoothed, qn_err *err);

/* Whether a DEM is in whole metres: by its type, or because at least 30 % of its finite pixels (100
 * or more) are within 0.01 of a whole number. */
int qn_sw_is_quantised(const qn_sw_raster *dem);

/* Gaussian smoothing, edges replicated. NaN spreads over the width of the kernel. */
qn_status qn_sw_smooth(qn_sw_raster *raster, double sigma, qn_err *err);

/* Loading. */

/* Reads or copies all layers, moves them to one grid, prepares the heights and cuts everything to
 * the valid pixels. Members of `layers` that are NULL, empty, NaN or 0 count as not given. Sets
 * *was_smoothed (may be NULL) if the DEM was in whole metres and was smoothed.
 */
qn_status qn_sw_surface_load(const qn_sw_layer_options *layers, qn_sw_surface *out,
                             int *was_smoothed, qn_err *err);

/* Properties of the whole raster, independent of tiles. */

typedef struct qn_sw_relief {
    float lowest, highest; /* of the DSM */
    float top;             /* maximum of DSM, canopy and trunk */
    float max_height;      /* highest of DSM and canopy above the lowest DSM; 0 if none */
    float max_building;    /* highest DSM above the lowest; 0 if none */
} qn_sw_relief;

qn_sw_relief qn_sw_relief_of(const qn_sw_surface *surface);

/* Sets invalid pixels to NaN (land cover: unknown), then cuts all layers to the box of valid
 * pixels. */
qn_status qn_sw_crop_to_valid(qn_sw_surface *surface, qn_err *err);

/* 1 on ground, 0 on buildings; the caller frees *out. It comes from the land cover if there is one;
 * else from walls and heights if walls are known; else everything is ground. It is computed for the
 * whole raster, because the percentile it uses would differ between tiles. */
qn_status qn_sw_building_mask(const qn_sw_surface *surface, uint8_t **out, qn_err *err);

/* The 10th percentile, linearly interpolated, of finite DSM pixels without a wall; NaN if there are
 * none. */
qn_status qn_sw_low_ground(const qn_sw_surface *surface, double *out, qn_err *err);

#endif
