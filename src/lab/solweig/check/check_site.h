/* check_site.h - the heights of a site on devices, for checks that march over them. */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_SITE_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_SITE_H

#include "lab/solweig/check/check_impl.h"
#include "domain/solweig/surface/surface.h"
#include "domain/solweig/shadow/shadow.h"

/* Heights on the host; walls only where they are given. Zero-initialised is none. */
typedef struct qn_sw_check_site {
    int rows, cols;
    float pixel_m, max_height, max_dist;
    float *dsm, *canopy, *trunk;
    float *wall_height, *wall_aspect; /* degrees */
    json_t *params;                   /* of athens */
} qn_sw_check_site;

/* athens/in_*.npy with athens/params.json. */
qn_status qn_sw_check_site_athens(qn_golden *g, qn_sw_check_site *out, qn_err *err);

/* The layers of a folder with DSM*.tif and so on, prepared as the reference does; without GDAL they
 * are DSM*.npy and so on with their places beside them (raster.h, check.h). Without the
 * files it blocks the check. */
qn_status qn_sw_check_site_surface(qn_golden *g, const char *folder, qn_sw_surface *out,
                                   qn_err *err);

/* These layers as a site without walls. */
qn_status qn_sw_check_site_of(qn_golden *g, const char *folder, qn_sw_check_site *out, qn_err *err);
void qn_sw_check_site_free(qn_sw_check_site *site);

/* Paths of the layers of a folder; NULL where there is none. */
typedef struct qn_sw_check_site_files {
    char *dsm, *dem, *cdsm, *land_cover;
} qn_sw_check_site_files;

qn_status qn_sw_check_site_find(qn_golden *g, const char *folder, qn_sw_check_site_files *out,
                                qn_err *err);
void qn_sw_check_site_files_free(qn_sw_check_site_files *files);

/* On devices. */

typedef struct qn_sw_check_city {
    const qn_sw_check_site *site;
    qn_sw_height_bufs layers;
    qn_sw_shadow_raster *shadow;
    size_t cells; /* of the core */
} qn_sw_check_city;

/* `core` without rows is all of the site. */
qn_status qn_sw_check_city_open(qn_golden *g, const qn_sw_check_site *site, qn_window core,
                                qn_sw_check_city *out, qn_err *err);
void qn_sw_check_city_close(qn_sw_check_city *city);

qn_sw_ray_limits qn_sw_check_site_reach(const qn_sw_check_site *site, float max_dist);

/* View factors (SW_SVF_PLANES planes) and words of bits of the core. Zero-initialised is none. */
typedef struct qn_sw_check_views {
    qn_sw_sky *sky;
    qn_buf *svf, *words[3]; /* buildings, vegetation, vegetation before buildings */
} qn_sw_check_views;

qn_status qn_sw_check_city_views(qn_golden *g, qn_sw_check_city *city, int patch_option,
                                 qn_sw_check_views *out, qn_err *err);
void qn_sw_check_views_free(qn_sw_check_views *views);

#endif
