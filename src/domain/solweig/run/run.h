/* run.h - radiant temperature and comfort across a city, for every time step of a weather file.
 *
 * One call reads rasters and weather, cuts the raster into tiles that fit on the device, and takes
 * each tile through all steps. The data of a tile stay on the device, and only requested results
 * are copied back. Tiling does not change a single bit of the results.
 */
#ifndef QN_SW_RUN_H
#define QN_SW_RUN_H

#include "domain/solweig/surface/surface.h"
#include "domain/solweig/input/params.h"
#include "domain/solweig/input/poi.h"
#include "domain/solweig/radiation/summary.h"
#include "domain/solweig/sky/sky.h"
#include "domain/solweig/weather/weather.h"
#include "engine/engine.h"

/* The rasters of a time step that a run can output. */
typedef enum qn_sw_plane {
    QN_SW_TMRT,
    QN_SW_UTCI,
    QN_SW_PET,
    QN_SW_SHADOW,
    QN_SW_KDOWN,
    QN_SW_KUP,
    QN_SW_LDOWN,
    QN_SW_LUP,
    QN_SW_PLANES
} qn_sw_plane;

/* A set of planes: bit 1 << plane. */
typedef unsigned qn_sw_plane_set;

#define QN_SW_HAS(set, plane) (((set) >> (plane)) & 1u)

const char *qn_sw_plane_name(qn_sw_plane plane); /* "tmrt", also its folder */
const char *qn_sw_plane_unit(qn_sw_plane plane);

/* Parses "tmrt,utci" into a set; "none" is the empty set. An unknown name is QN_ERR_USAGE. */
qn_status qn_sw_planes_parse(const char *list, qn_sw_plane_set *out, qn_err *err);

/* The configuration of a run: checked options, and the parsed content of their texts and files.
 * Texts and arrays belong to the caller and are used during the call. */
typedef struct qn_sw_run_config {
    qn_sw_layer_options layers;
    qn_sw_run_options options;
    qn_sw_weather_options steps; /* which steps of the weather */
    qn_sw_params params;         /* materials, trees, person and pose */
    qn_sw_plane_set outputs;
    qn_sw_threshold thresholds[SW_THRESHOLDS]; /* for UTCI hours */
    int n_thresholds;
} qn_sw_run_config;

/* A step of a tile for an observer: packed planes of the core, rows * cols. */
typedef struct qn_sw_step_view {
    size_t step;
    const qn_sw_weather_row *weather;
    const qn_sw_sky_step *sky;
    const qn_sw_place *place;         /* of the whole raster */
    qn_window window;                 /* the core in the raster */
    const float *plane[QN_SW_PLANES]; /* NULL if not requested */
} qn_sw_step_view;

typedef struct qn_sw_run_hooks {
    /* Fraction done, 0 to 1, never decreasing; may be NULL. */
    void (*progress)(void *user, const char *phase, double share);

    /* Called after every step of every tile with the planes of `watched`; may be NULL. If a device
     * loses a tile, it is redone, and its steps are observed twice with equal planes. A failure
     * ends the run. */
    qn_status (*observe)(void *user, const qn_sw_step_view *view, qn_err *err);
    qn_sw_plane_set watched;
    void *user;
} qn_sw_run_hooks;

typedef struct qn_sw_run_times {
    double load_s, walls_s, svf_s, steps_s, write_s, total_s;
    /* Of one step of a tile; NaN, like the next two, if an interrupted run had finished all
     * tiles. */
    double step_mean_s;
    double tile_mean_ms, tile_p95_ms; /* from the start of a tile to its last file */
    double stitch_ms;                 /* copying cores out */
} qn_sw_run_times;

/* Zero-initialised: empty. */
typedef struct qn_sw_run_result {
    qn_sw_place place;
    qn_sw_step *steps;
    size_t n_steps;
    qn_tiles plan;
    qn_sw_run_times times;
    qn_sw_site site;
    float max_height;
    int n_tiles_done, n_tiles_resumed; /* computed now; finished by the interrupted run */
    qn_i64 n_steps_resumed;            /* finished steps of tiles it had begun */
    int n_tiles_ahead;                 /* tiles whose layers were cut during the previous tile */
    int queue_peak;                    /* most items of host work waiting or running at once */
    int has_vegetation, has_land_cover;
    int was_smoothed;        /* the DEM had whole metres */
    int was_finished;        /* by an earlier run: nothing was computed, and there are no steps */
    int svf_was_read;        /* read from the folder */
    char svf_note[160];      /* why it was not read; "" if no folder was given */
    uint64_t h2d_bytes_loop; /* uploaded inside the loops over steps */
    uint64_t d2h_bytes_loop; /* downloaded */
} qn_sw_run_result;

/* After a failure, finished work stays for a run with `resume`. `result` may be NULL; else pass an
 * empty one and free it. */
qn_status qn_sw_simulate(qn_ctx *ctx, const qn_sw_run_config *config, const qn_sw_run_hooks *hooks,
                         qn_sw_run_result *result, qn_err *err);
void qn_sw_run_result_free(qn_sw_run_result *result);

#endif
