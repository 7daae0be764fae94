/* solweig.h - sky view, shadows and heat stress of a city (SOLWEIG; names begin with qn_sw_).
 *
 * The commands `quern solweig svf | shadow | walls | run` (docs/solweig.md) as calls. Each takes the
 * layers of a city and a struct of options, both filled with defaults first:
 *
 *     qn_sw_layer_options layers;
 *     qn_sw_svf_options options;
 *
 *     qn_sw_layer_options_init(&layers, sizeof layers);
 *     layers.rows = layers.cols = 512;
 *     layers.dsm = heights;
 *     layers.n_dsm = 512 * 512;
 *     qn_sw_svf_options_init(&options, sizeof options);
 *     options.patches = QN_SW_305_PATCHES;
 *     status = qn_sw_svf(ctx, &layers, &options, maps, NULL, NULL, &err);
 *
 * A layer is an array or a file. Arrays have rows x cols pixels, row 0 at the north edge; NaN is no
 * data. If the DSM is an array, results have its shape, with NaN where some layer has no data. If
 * it is a file, results have the shape of the area that all layers cover, which the report names.
 *
 * NULL options mean the defaults. After a failure results are unchanged. Texts and arrays belong to
 * the caller and are read only during the call.
 */
#ifndef QUERN_SOLWEIG_H
#define QUERN_SOLWEIG_H

#include <quern/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Layers. */

typedef struct qn_sw_layer_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/solweig_layer.def>
} qn_sw_layer_options;

QN_API void qn_sw_layer_options_init(qn_sw_layer_options *layers, size_t size);
QN_API const qn_option_table *qn_sw_layer_option_table(void);

/* The grid of results. */
typedef struct qn_sw_grid {
    qn_i64 rows, cols;
    double pixel_size; /* metres */
    int was_smoothed;  /* the DEM was in whole metres and was smoothed */
} qn_sw_grid;

/* Values of the choices below. */
enum { QN_SW_145_PATCHES, QN_SW_153_PATCHES, QN_SW_305_PATCHES, QN_SW_609_PATCHES };
enum { QN_SW_NO_RASTERS, QN_SW_TIF_RASTERS, QN_SW_NPY_RASTERS };
enum { QN_SW_ANISOTROPIC, QN_SW_ISOTROPIC };
enum { QN_SW_STANDING, QN_SW_SITTING };
enum { QN_SW_PROGRESS_OFF, QN_SW_PROGRESS_AUTO, QN_SW_PROGRESS_ON };

/* Sky view factors. */

enum { QN_SW_SVF_MAPS = 15, QN_SW_SVF_MATRICES = 3 };

typedef struct qn_sw_svf_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/solweig_svf.def>
} qn_sw_svf_options;

QN_API void qn_sw_svf_options_init(qn_sw_svf_options *options, size_t size);
QN_API const qn_option_table *qn_sw_svf_option_table(void);

typedef struct qn_sw_svf_report {
    qn_sw_grid grid;
    int n_patches, border;    /* pixels around the core of a tile */
    qn_i64 n_tiles, core;     /* side of a core */
    double wall_s, stitch_ms; /* stitching: copying cores into the maps */
    char device[32];          /* "cuda:0" */
} qn_sw_svf_report;

/* `maps` gets QN_SW_SVF_MAPS * rows * cols floats: all, N, E, S, W of buildings, then of
 * vegetation, then of vegetation in front of buildings. `matrices` gets rows * cols * ((patches +
 * 7) / 8) bytes for each of buildings, vegetation, and vegetation in front of buildings: bit p of a
 * pixel is set if it sees patch p. Both need a DSM in memory. maps, matrices and report may be
 * NULL. */
QN_API qn_status qn_sw_svf(qn_ctx *ctx, const qn_sw_layer_options *layers,
                           const qn_sw_svf_options *options, float *maps, uint8_t *matrices,
                           qn_sw_svf_report *report, qn_err *err);

/* The shadow for one position of the sun. */

typedef struct qn_sw_shadow_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/solweig_shadow.def>
} qn_sw_shadow_options;

QN_API void qn_sw_shadow_options_init(qn_sw_shadow_options *options, size_t size);
QN_API const qn_option_table *qn_sw_shadow_option_table(void);

typedef struct qn_sw_shadow_report {
    qn_sw_grid grid;
    double azimuth, altitude; /* of the sun, degrees */
    double sunlit;            /* mean of the map; NaN without a valid pixel */
} qn_sw_shadow_report;

/* `shadow` gets rows * cols floats: 1 in the sun, 0 in the shade of a building, psi in the shade of
 * a tree. It needs a DSM in memory. shadow and report may be NULL. */
QN_API qn_status qn_sw_shadow(qn_ctx *ctx, const qn_sw_layer_options *layers,
                              const qn_sw_shadow_options *options, float *shadow,
                              qn_sw_shadow_report *report, qn_err *err);

/* Walls. */

typedef struct qn_sw_wall_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/solweig_wall.def>
} qn_sw_wall_options;

QN_API void qn_sw_wall_options_init(qn_sw_wall_options *options, size_t size);
QN_API const qn_option_table *qn_sw_wall_option_table(void);

typedef struct qn_sw_wall_report {
    qn_sw_grid grid;
    qn_i64 n_walls; /* pixels with a wall */
    double highest; /* metres */
    char ending[8]; /* of the files: ".tif" or ".npy" */
} qn_sw_wall_report;

/* `height` gets rows * cols floats in metres, 0 where there is no wall; `aspect` gets rows * cols
 * floats in degrees clockwise from north. Both need a DSM in memory. height, aspect and report may
 * be NULL. */
QN_API qn_status qn_sw_walls(qn_ctx *ctx, const qn_sw_layer_options *layers,
                             const qn_sw_wall_options *options, float *height, float *aspect,
                             qn_sw_wall_report *report, qn_err *err);

/* Runs over the time steps of a weather series. */

typedef struct qn_sw_weather_step {
    qn_i64 minutes;         /* local time since the start of 1970; the end of the interval */
    double ta, rh, ws;      /* degrees C, %, m/s */
    double pressure_hpa;    /* NaN: 1013.25 */
    double global;          /* W/m2 */
    double direct, diffuse; /* W/m2; NaN: not measured */
} qn_sw_weather_step;

typedef struct qn_sw_run_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/solweig_run.def>
} qn_sw_run_options;

QN_API void qn_sw_run_options_init(qn_sw_run_options *options, size_t size);
QN_API const qn_option_table *qn_sw_run_option_table(void);

/* Weather, sun and results of one time step over the whole raster. */
typedef struct qn_sw_step {
    qn_i64 minutes;
    double ta, rh, ws;              /* degrees C, %, m/s */
    double global, direct, diffuse; /* W/m2, measured or estimated */
    double diffuse_fraction;        /* NaN without light */
    double clearness;
    double sun_altitude, sun_azimuth; /* degrees */
    double tmrt_mean, utci_mean;      /* over valid pixels; NaN without any */
    double sun_fraction;              /* fraction of valid pixels in the sun; 0 at night */
    qn_i64 n_valid;
    int is_day;
} qn_sw_step;

typedef struct qn_sw_run_report {
    qn_sw_grid grid;
    double total_s, svf_s;            /* of the whole run; of preparing tiles, with sky view */
    double step_mean_s;               /* of one step of a tile; NaN, like the next two, if a resumed
                                       * run had no tile left */
    double tile_mean_ms, tile_p95_ms; /* from the start of a tile to its last file */
    double device_bytes_per_pixel;
    qn_i64 n_tiles, core, border; /* pixels: side of a core, width around it */
    char limited_by[32];          /* what limits the size of tiles */
    qn_i64 n_tiles_resumed;       /* finished by the interrupted run */
    qn_i64 n_steps_resumed;       /* finished steps of its unfinished tiles */
    int was_finished;             /* nothing was left to do; there are no steps */
    int svf_was_read;             /* 1: read from the folder `svf` */
    char svf_note[160];           /* why it was not read; "" if no folder was given */
} qn_sw_run_report;

typedef struct qn_sw_result qn_sw_result;

/* Keeps the outputs in memory, unless options->files_only is set. Free *out. */
QN_API qn_status qn_sw_run(qn_ctx *ctx, const qn_sw_layer_options *layers,
                           const qn_sw_run_options *options, qn_sw_result **out, qn_err *err);
QN_API void qn_sw_result_free(qn_sw_result *result); /* NULL is fine */

/* These live as long as the result. */
QN_API size_t qn_sw_result_n_steps(const qn_sw_result *result);
QN_API const qn_sw_step *qn_sw_result_steps(const qn_sw_result *result);
QN_API const qn_sw_run_report *qn_sw_result_report(const qn_sw_result *result);
/* n_steps * rows * cols floats of one output, or NULL if the result does not have it. */
QN_API const float *qn_sw_result_plane(const qn_sw_result *result, const char *output);

#ifdef __cplusplus
}
#endif
#endif
