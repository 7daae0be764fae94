/* run.h - how hot it feels across a city, for every row of a weather file.
 *
 * One call reads rasters and weather, cuts the raster into tiles that fit into the device, and
 * takes each tile through all rows. What belongs to a tile stays on the device meanwhile; only what
 * was asked for comes back. Results do not depend on the tiles, to the bit.
 */
#ifndef QN_SW_RUN_H
#define QN_SW_RUN_H

#include "domain/solweig/surface/surface.h"
#include "domain/solweig/input/params.h"
#include "domain/solweig/input/poi.h"
#include "domain/solweig/radiation/summary.h"
#include "domain/solweig/run/plan.h"
#include "domain/solweig/run/planes.h"
#include "domain/solweig/sky/sky.h"
#include "domain/solweig/weather/weather.h"

typedef enum qn_sw_sky_kind { QN_SW_SKY_ANISO, QN_SW_SKY_ISO } qn_sw_sky_kind;
typedef enum qn_sw_pet_way { QN_SW_PET_SOLVED, QN_SW_PET_TABLED } qn_sw_pet_way;

/* Zero-initialised gives the defaults; surface.dsm and weather must be there. Everything is
 * borrowed for the time of the call. */
typedef struct qn_sw_run_config {
    qn_sw_load_options surface;
    const char *const *weather; /* one .epw, or UMEP text files */
    size_t n_weather;
    const qn_solweig_weather *weather_rows; /* instead of files */
    size_t n_weather_rows;
    qn_sw_weather_options rows; /* which rows of them; `fixed` below is added */

    /* Where it is. An EPW file tells; UMEP text does not, so there has_site is needed. */
    int has_site;
    qn_sw_site site;

    const qn_sw_params *params; /* materials, trees, person and pose; NULL: the defaults */
    qn_sw_sky_kind sky;
    int patch_option;      /* 1 .. 4; 0 means 2 */
    qn_sw_pet_way pet;     /* how PET is computed where it is asked for */
    double max_distance_m; /* shadows come from no further; 0 means 1000 */
    int ignore_split;      /* direct and diffuse light are estimated for all rows */
    int fix_pressure;      /* the clearness index takes hPa for hPa */
    int fixed;             /* that, and the other known faults of the reference mended */
    int parity;            /* missing heights as the reference has them, too */

    qn_i64 tile;     /* side of a tile's core, pixels; 0: what fits */
    const char *svf; /* folder with sky view factors, used where they match; may be NULL */

    /* Files. Without `out` nothing is written. */
    const char *out;
    qn_sw_plane_set outputs;    /* rasters of every row; 0 means tmrt, unless no_outputs */
    int no_outputs, no_summary; /* not even those; no summary grids */
    const char *maps;           /* hours of the day that get a PNG of each output, like "9,12-15" */
    int resume;                 /* go on with what a killed run left in `out` */
    const char *pois;           /* points whose values are written as series; may be NULL */
    const qn_sw_threshold *thresholds; /* of UTCI hours; NULL: 32 and 38 by day, 26 by night */
    int n_thresholds;
} qn_sw_run_config;

/* A row of a tile, as an observer sees it: planes of the core, rows * cols packed. */
typedef struct qn_sw_row_view {
    size_t row;
    const qn_sw_weather_row *weather;
    const qn_sw_sky_row *sky;
    const qn_sw_place *place;         /* of the whole raster */
    qn_sw_window window;              /* the core in it */
    const float *plane[QN_SW_PLANES]; /* NULL where not asked for */
} qn_sw_row_view;

typedef struct qn_sw_run_options {
    /* Share done, 0 to 1, never backwards; may be NULL. */
    void (*progress)(void *user, const char *phase, double share);

    /* Called after every row of every tile with the planes of `watched`; may be NULL. A tile that a
     * device has lost is begun again: its rows come twice then, the same. A failure ends the run.
     */
    qn_status (*observe)(void *user, const qn_sw_row_view *view, qn_err *err);
    qn_sw_plane_set watched;
    void *user;
} qn_sw_run_options;

/* What one row came to over the whole raster. */
typedef struct qn_sw_row_result {
    qn_i64 minutes; /* the stamp */
    double ta, rh, ws, global, direct, diffuse;
    double sun_altitude, sun_azimuth;
    double tmrt_mean, utci_mean; /* over valid pixels; NaN if there are none */
    double sun_fraction;         /* 0 by night */
    double diffuse_fraction;     /* NaN without light */
    double clearness;
    qn_i64 n_valid;
    int is_day;
} qn_sw_row_result;

typedef struct qn_sw_run_times {
    double load_s, walls_s, svf_s, steps_s, write_s, total_s;
    double step_mean_s;               /* of a row of a tile */
    double tile_mean_ms, tile_p95_ms; /* from its first work to its last file */
    double stitch_ms;                 /* copying cores out */
} qn_sw_run_times;

/* Zero-initialised is empty. */
typedef struct qn_sw_run_result {
    qn_sw_place place;
    qn_sw_row_result *rows;
    size_t n_rows;
    qn_sw_plan plan;
    qn_sw_run_times times;
    qn_sw_site site;
    float max_height;
    int n_tiles_done, n_tiles_kept; /* computed now; finished by the run that was killed */
    int n_tiles_ahead;              /* whose layers were cut while the one before was computed */
    int behind_peak;                /* items of host work waiting or being done meanwhile */
    int has_vegetation, has_land_cover;
    int was_smoothed;        /* the DEM was of whole metres */
    int svf_was_read;        /* from the folder */
    char svf_note[160];      /* why it was not, "" where none was given */
    uint64_t h2d_bytes_loop; /* went to the device inside the loops over rows */
    uint64_t d2h_bytes_loop; /* came from it */
} qn_sw_run_result;

/* On failure partial files are removed, except those of a run that was killed. *result (may be
 * NULL) is empty before, and to be freed. */
qn_status qn_sw_run(qn_ctx *ctx, const qn_sw_run_config *config, const qn_sw_run_options *options,
                    qn_sw_run_result *result, qn_err *err);
void qn_sw_run_result_free(qn_sw_run_result *result);

#endif
