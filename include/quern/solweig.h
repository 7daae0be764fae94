/* solweig.h - sky view and heat stress of a city, from arrays to arrays.
 *
 * What `quern solweig svf` and `quern solweig run` do with files (docs/solweig.md), for programs
 * that have layers in memory. All layers have rows x cols pixels, row 0 at the north edge; NaN is
 * no data. Results have the same shape, with NaN where some layer has no data around the part that
 * is computed.
 */
#ifndef QUERN_SOLWEIG_H
#define QUERN_SOLWEIG_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Layers are read during the call only; NULL is an absent one. */
typedef struct qn_solweig_layers {
    qn_i64 rows, cols;
    double pixel_size;                      /* metres; 0 means 1 */
    const float *dsm;                       /* ground and buildings, metres; must be there */
    const float *dem;                       /* ground */
    const float *cdsm, *tdsm;               /* canopy top and bottom */
    const float *land_cover;                /* ids, whole numbers of 0 .. 255 */
    const float *wall_height, *wall_aspect; /* both or none; none: they are computed */
    const float *albedo, *emissivity;       /* of the ground, where there is no land cover */

    int dsm_relative;                 /* the DSM is height above the DEM */
    int cdsm_absolute, tdsm_absolute; /* elevations, not heights above ground */
    int keep_quantised;               /* do not smooth a DEM of whole metres */
    double trunk_ratio;               /* canopy bottom over top, without a TDSM; 0 means 0.25 */
    double min_object_height;         /* metres; 0 means 1 */
} qn_solweig_layers;

/* Sky view factors. */

enum { QN_SOLWEIG_SVF_MAPS = 15, QN_SOLWEIG_SVF_MATRICES = 3 };

typedef struct qn_solweig_svf_options {
    int patches; /* of the sky: 145, 153, 305 or 609; 0 means 153 */
    qn_i64 tile; /* side of a tile, pixels; 0: what fits */
} qn_solweig_svf_options;

/* `maps` gets QN_SOLWEIG_SVF_MAPS * rows * cols floats: all, N, E, S, W of buildings, then of
 * vegetation, then of buildings behind vegetation. `matrices` (may be NULL) gets, for buildings,
 * vegetation, vegetation before buildings, rows * cols * ((patches + 7) / 8) bytes each: bit p of a
 * pixel is set when it sees patch p. `options` may be NULL. After a failure both are unchanged. */
QN_API qn_status qn_solweig_svf(qn_ctx *ctx, const qn_solweig_layers *layers,
                                const qn_solweig_svf_options *options, float *maps,
                                uint8_t *matrices, qn_err *err);

/* Runs. */

typedef struct qn_solweig_weather {
    qn_i64 minutes;         /* local time since the start of 1970; the end of the interval */
    double ta, rh, ws;      /* degrees C, %, m/s */
    double pressure_hpa;    /* NaN: 1013.25 */
    double global;          /* W/m2 */
    double direct, diffuse; /* W/m2; NaN: not measured */
} qn_solweig_weather;

/* Everything zero: the defaults of docs/solweig.md. Weather must be there, as rows or as files. */
typedef struct qn_solweig_run_options {
    const qn_solweig_weather *weather;
    size_t n_weather;
    const char *const *weather_files; /* one .epw file, or UMEP text files */
    size_t n_weather_files;
    const char *from, *to, *hours; /* "2006-07-26", "2006-07-27T12:00", "9,12-15" */

    int has_site; /* an .epw file knows; otherwise it is needed */
    double latitude, longitude, utc_offset, altitude;

    const char *outputs;       /* "tmrt,utci,pet,shadow,kdown,kup,ldown,lup"; NULL: tmrt */
    const char *out;           /* folder for the files of the command; NULL: no files */
    const char *svf;           /* folder of `quern solweig svf`; NULL: computed */
    const char *params;        /* file of materials, trees and person; NULL: the defaults */
    const char *wall_material; /* "brick", ...; NULL: of the params */
    int is_sitting, is_conifer, is_isotropic, has_pet_table;
    int ignore_split, fix_pressure, fixed;
    int patches;           /* as above */
    double max_distance_m; /* that shadows come from; 0 means 1000 */
    qn_i64 tile;
} qn_solweig_run_options;

/* What one row of the weather came to. */
typedef struct qn_solweig_row {
    qn_i64 minutes;
    double sun_altitude, sun_azimuth; /* degrees */
    double tmrt_mean, utci_mean;      /* over valid pixels */
    double sun_fraction;              /* of them in the sun */
    double direct, diffuse;           /* W/m2, measured or estimated */
    qn_i64 n_valid;
    int is_day;
} qn_solweig_row;

typedef struct qn_solweig_result qn_solweig_result;

QN_API qn_status qn_solweig_run(qn_ctx *ctx, const qn_solweig_layers *layers,
                                const qn_solweig_run_options *options, qn_solweig_result **out,
                                qn_err *err);
QN_API void qn_solweig_free(qn_solweig_result *result); /* NULL is fine */

QN_API size_t qn_solweig_n_rows(const qn_solweig_result *result);
QN_API const qn_solweig_row *qn_solweig_rows(const qn_solweig_result *result);
/* n_rows * rows * cols floats of one output, or NULL when it was not asked for. They live as long
 * as the result. */
QN_API const float *qn_solweig_plane(const qn_solweig_result *result, const char *output);

#ifdef __cplusplus
}
#endif
#endif
