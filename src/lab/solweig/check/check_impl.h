/* check_impl.h - shared by the checks: windows, sites, the view of the ground, days. */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_IMPL_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_IMPL_H

#include "domain/solweig/ground/gvf.h"
#include "domain/solweig/radiation/radiation.h"
#include "domain/solweig/raster/raster.h"
#include "domain/solweig/shadow/shadow.h"
#include "domain/solweig/sky/sky.h"
#include "domain/solweig/step/step.h"
#include "domain/solweig/surface/surface.h"
#include "domain/solweig/weather/weather.h"
#include "lab/golden.h"
#include "lab/solweig/check/check.h"

/* The window [row0, row1, col0, col1] in a member of `object`; empty unless it lies inside the
 * raster. */
qn_window qn_sw_golden_window_of(const json_t *object, const char *key, qn_i64 rows, qn_i64 cols);

/* Compares a window of `got`, an array of `pitch` columns, with all of a file. A missing file gives
 * a skipped finding. */
void qn_sw_golden_compare(qn_golden *g, const char *file, const float *got, qn_i64 pitch,
                          qn_window window, qn_limit limit);

/* For qn_owned_add. */
#define QN_SW_DROP(what)                                                                           \
    static inline void qn_sw_drop_##what(void *it)                                                 \
    {                                                                                              \
        qn_sw_##what##_free(it);                                                                   \
    }
QN_SW_DROP(step_table)
QN_SW_DROP(radiation)
QN_SW_DROP(rays)
QN_SW_DROP(shadow)
QN_SW_DROP(sky)
QN_SW_DROP(walls)
QN_SW_DROP(gvf)

/* Sites (check_site.c): heights on devices, for checks that cast rays over them. */

/* Heights on the host; walls only if given. A zero-initialised site is empty. */
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
 * are DSM*.npy and so on with their places beside them (raster.h, check.h). Blocks the check if the
 * files are missing. */
qn_status qn_sw_check_site_surface(qn_golden *g, const char *folder, qn_sw_surface *out,
                                   qn_err *err);

/* These layers as a site without walls. */
qn_status qn_sw_check_site_of(qn_golden *g, const char *folder, qn_sw_check_site *out, qn_err *err);

/* Paths of the layers of a folder; NULL if missing. */
typedef struct qn_sw_check_site_files {
    char *dsm, *dem, *cdsm, *land_cover;
} qn_sw_check_site_files;

qn_status qn_sw_check_site_find(qn_golden *g, const char *folder, qn_sw_check_site_files *out,
                                qn_err *err);

/* On devices. */

typedef struct qn_sw_check_city {
    const qn_sw_check_site *site;
    qn_sw_height_bufs layers;
    qn_sw_shadow_raster *shadow;
    size_t cells; /* of the core */
} qn_sw_check_city;

/* If `core` has no rows, it is the whole site. */
qn_status qn_sw_check_city_open(qn_golden *g, const qn_sw_check_site *site, qn_window core,
                                qn_sw_check_city *out, qn_err *err);

qn_sw_ray_limits qn_sw_check_site_reach(const qn_sw_check_site *site, float max_dist);

/* View factors (SW_SVF_PLANES planes) and words of bits of the core. A zero-initialised struct is
 * empty. */
typedef struct qn_sw_check_views {
    qn_sw_sky *sky;
    qn_buf *svf, *words[3]; /* buildings, vegetation, vegetation before buildings */
} qn_sw_check_views;

qn_status qn_sw_check_city_views(qn_golden *g, qn_sw_check_city *city, int patch_option,
                                 qn_sw_check_views *out, qn_err *err);

/* One step of the view of the ground over given rasters (check_ground.c). */

/* Rasters on the host, each of options.rows * options.cols. A zero-initialised struct is empty. */
typedef struct qn_sw_check_ground {
    qn_sw_gvf_options options;
    sw_moment step;
    int is_far_only; /* all steps of a ray count in both its near and its far part */
    float *albedo, *emissivity, *tg, *shadow;
    float *wall_height, *wall_aspect, *wall_sun;
    uint8_t *buildings;
} qn_sw_check_ground;

/* Planes of results. */
typedef struct qn_sw_check_seen {
    float *lup, *alb, *nosh;
} qn_sw_check_seen;

typedef enum qn_sw_gvf_variant { QN_SW_GVF_PRODUCTION, QN_SW_GVF_UMEP } qn_sw_gvf_variant;

/* Gives every pixel its own temperature, `tg`, instead of those that stage ground makes of
 * classes. */
qn_status qn_sw_check_ground_see(qn_golden *g, const qn_sw_check_ground *ground,
                                 qn_sw_gvf_variant variant, qn_sw_check_seen *out, qn_err *err);

/* Rasters of Athens common to both kinds of files, cut to `window`: walls and the sun on them at
 * noon, and its shadow, bldg - (1 - veg) * leaf, at least 0. */
qn_status qn_sw_check_ground_athens(qn_golden *g, qn_window window, float leaf,
                                    qn_sw_check_ground *out, qn_err *err);

/* The record of a step from ta, tg_wall, emis_wall and sbc of a parameter file. */
sw_moment qn_sw_check_ground_step(const json_t *params);

/* Whole days of reference data at a site (check_days.c).
 *
 * A day is <kind>_timeseries.csv, where the kind names its settings: iso or aniso, sitting or not,
 * estimated_split or not, and its date, YYYYMMDD. Its weather is in the text file of the folder
 * that has the rows of the series. */

enum { QN_SW_STAMP_BYTES = 24 };

typedef struct qn_sw_day {
    const char *folder, *kind;
    char file[128]; /* of the series */
    char met[QN_GOLDEN_PATH + 300];
    char first[QN_SW_STAMP_BYTES], last[QN_SW_STAMP_BYTES]; /* stamps of the series */
    int has_more;                                           /* the weather file has other rows */
    int is_iso, is_sitting, is_estimated;
    const qn_csv *series;
    qn_sw_weather weather;
} qn_sw_day;

/* The location of both sites: Gothenburg. */
extern const qn_sw_site qn_sw_day_site;

typedef qn_status (*qn_sw_day_fn)(qn_golden *g, const qn_sw_day *day, qn_err *err);

/* Calls `run` for every day of a folder. A day without weather gives a skipped finding. */
qn_status qn_sw_each_day(qn_golden *g, const char *folder, qn_sw_day_fn run, qn_err *err);

/* Tmrt at the folder's point of interest, for every row; NaN if there is no such point. */
qn_status qn_sw_day_at_poi(qn_golden *g, const qn_sw_day *day, double *tmrt, qn_err *err);

/* The checks. */

qn_status qn_sw_check_shadow(qn_golden *g, qn_err *err);
qn_status qn_sw_check_svf(qn_golden *g, qn_err *err);
qn_status qn_sw_check_svf_ga(qn_golden *g, qn_err *err);
qn_status qn_sw_check_svf_gbg(qn_golden *g, qn_err *err);
qn_status qn_sw_check_walls(qn_golden *g, qn_err *err);
qn_status qn_sw_check_walls_ga(qn_golden *g, qn_err *err);
qn_status qn_sw_check_gvf(qn_golden *g, qn_err *err);
qn_status qn_sw_check_gvf_umep(qn_golden *g, qn_err *err);
qn_status qn_sw_check_radiation(qn_golden *g, qn_err *err);
qn_status qn_sw_check_aniso(qn_golden *g, qn_err *err);
qn_status qn_sw_check_comfort(qn_golden *g, qn_err *err);
qn_status qn_sw_check_utci_points(qn_golden *g, qn_err *err);
qn_status qn_sw_check_utci_grid(qn_golden *g, qn_err *err);
qn_status qn_sw_check_pet_points(qn_golden *g, qn_err *err);
qn_status qn_sw_check_pet_grid(qn_golden *g, qn_err *err);
qn_status qn_sw_check_points(qn_golden *g, qn_err *err);
qn_status qn_sw_check_delays(qn_golden *g, qn_err *err);
qn_status qn_sw_check_tmrt(qn_golden *g, qn_err *err);
qn_status qn_sw_check_weather(qn_golden *g, qn_err *err);
qn_status qn_sw_check_clearness(qn_golden *g, qn_err *err);
qn_status qn_sw_check_epw(qn_golden *g, qn_err *err);
qn_status qn_sw_check_days(qn_golden *g, qn_err *err);
qn_status qn_sw_check_tables(qn_golden *g, qn_err *err);
qn_status qn_sw_check_prep(qn_golden *g, qn_err *err);
qn_status qn_sw_check_ga(qn_golden *g, qn_err *err);
qn_status qn_sw_check_gbg(qn_golden *g, qn_err *err);

#endif
