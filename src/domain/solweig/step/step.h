/* step.h - everything in a time step that is the same for all pixels.
 *
 * Weather and sun of a step (qn_sw_step_weather) and the materials become a record of numbers
 * (sw_moment) and, with a sky of patches, a row of its table (sw_sky). All records are made before
 * the first step, uploaded once, and stay on the device with the number of the current step.
 */
#ifndef QN_SOLWEIG_STEP_STEP_H
#define QN_SOLWEIG_STEP_STEP_H

#include "domain/solweig/shadow/shadow.h"
#include "domain/solweig/sky/sky.h"
#include "kernel/solweig/sw_moment.h"

/* Weather and sun of one step, as plain numbers. */
typedef struct qn_sw_step_weather {
    float ta;                        /* air, C */
    float direct, diffuse, global;   /* W/m2 */
    float azimuth, altitude, zenith; /* of the sun, degrees */
    float altmax;                    /* highest altitude of the day */
    float sunrise_h;                 /* solar hours */
    float dectime;                   /* of the row's stamp, days since midnight */
    float clear_sky_global;          /* W/m2, for the ground's temperature */
    float ci;                        /* clearness index, at night that of the day */
    float esky;                      /* emissivity of a clear sky */
    float psi;                       /* transmissivity of vegetation */
} qn_sw_step_weather;

qn_sw_step_weather qn_sw_step_weather_of(const qn_sw_weather_row *weather,
                                         const qn_sw_sky_step *sky);

/* Ground temperature: how much warmer than air ground and walls are in full sun.
 *
 * A sine that starts at sunrise, with an amplitude linear in the highest altitude of the sun, times
 * the clearness of the sky. It is computed per class of ground, not per pixel. */

typedef struct qn_sw_ground_class {
    float tgk, tstart; /* amplitude = tgk * altmax + tstart */
    float tmaxlst;     /* hour of the highest temperature */
} qn_sw_ground_class;

/* Fraction of clear-sky radiation, at most 1. */
float qn_sw_ground_clearness(const qn_sw_step_weather *row);

/* Excess over air temperature, K; 0 with the sun below the horizon. If the highest temperature
 * comes before sunrise, a wall has no excess, while ground takes another day to warm up. */
float qn_sw_ground_excess(const qn_sw_step_weather *row, const qn_sw_ground_class *ground);
float qn_sw_wall_excess(const qn_sw_step_weather *row, const qn_sw_ground_class *wall);

/* The delay: the ground responds to changes of the sun with an exponential mean.
 *
 * All pixels are at the same point in time, so the clock is here and the device only has the state
 * of the pixels. It restarts at the first step of the day and at every step of the night. */

typedef struct qn_sw_delay {
    int is_first;     /* the next step restarts the state */
    double timeadd;   /* age of the state, days */
    double step_days; /* between rows */
} qn_sw_delay;

/* The state before the first row; `step_days` is the interval of the first two rows, 1/24 for one
 * row. */
qn_sw_delay qn_sw_delay_begin(double step_days);

/* Fills the delay's part of the record of a step, and advances the clock. */
void qn_sw_delay_take(qn_sw_delay *delay, sw_moment *step);

/* Patches of the sky in the form for kernels. */

typedef struct qn_sw_dome {
    int n;
    int n_table; /* padded with empty ones to a multiple of four for kernels */
    sw_patch table[32 * SW_MAX_WORDS];
    float thin[32 * SW_MAX_WORDS]; /* exp(0.308 (1.7 - 1/sin(altitude))), see qn_sw_moment_fill */
} qn_sw_dome;

/* Angles in degrees, solid angles in steradians; at most 32 * SW_MAX_WORDS patches. */
qn_status qn_sw_dome_make(int n, const float *altitude, const float *azimuth,
                          const float *steradian, qn_sw_dome *out, qn_err *err);

/* The smallest tangent whose angle in degrees, atanf(x) * 180 / pi, is at least `altitude` or, if
 * `is_beyond`, greater. Infinity if there is none. */
float qn_sw_tangent_from(float altitude, int is_beyond);

/* The dome of a patch option, and the patches' angles, for their luminance. */
typedef struct qn_sw_patch_sky {
    qn_sw_dome dome;
    float altitude[QN_SW_MAX_PATCHES], azimuth[QN_SW_MAX_PATCHES];
} qn_sw_patch_sky;

qn_status qn_sw_patch_sky_make(int patch_option, qn_sw_patch_sky *out, qn_err *err);

/* Records. */

#define QN_SW_SBC 5.67051e-8f

/* Properties that do not change between steps. */
typedef struct qn_sw_materials {
    qn_sw_ground_class ground[SW_CLASSES];
    qn_sw_ground_class wall;
    float wall_emissivity, wall_albedo;
    float sbc;
} qn_sw_materials;

/* One class of ground everywhere, and generic walls. */
qn_sw_materials qn_sw_materials_default(void);

/* Fills `out` and advances `delay`; rows come in order of time. With `patches`, `luminance` and
 * `emissivity` have one value per patch (luminances add up to 1), and sky[0 .. n_table) gets the
 * row of the table; all are NULL for an isotropic sky. If `emissivity` is NULL, it is computed from
 * that of the row, increasing towards the horizon after Martin and Berdahl, with clouds by the
 * row's clearness index. */
void qn_sw_moment_fill(const qn_sw_step_weather *row, const qn_sw_materials *materials,
                       const qn_sw_dome *patches, const float *luminance, const float *emissivity,
                       qn_sw_delay *delay, sw_moment *out, sw_sky *sky);

/* Makes a buffer of `elems` elements of `bytes` each. */
qn_status qn_sw_buf_new(qn_ctx *ctx, const char *name, size_t elems, size_t bytes, qn_buf **out,
                        qn_err *err);

/* All records on the device. A graph of one step ends with qn_sw_add_next and is run repeatedly. */
typedef struct qn_sw_step_table {
    qn_ctx *ctx;
    int n_steps;
    int n_patches; /* of the tables, including empty ones; 0: isotropic sky */
    qn_buf *now;   /* the number of the current step */
    qn_buf *steps;
    qn_buf *sky, *patches; /* NULL for an isotropic sky */
} qn_sw_step_table;

/* `steps` and the tables are copied. `sky` has [n_steps][n_patches] entries (qn_sw_moment_fill);
 * without patches it and `patches` are NULL. */
qn_status qn_sw_step_table_new(qn_ctx *ctx, int n_steps, const sw_moment *steps, int n_patches,
                               const sw_patch *patches, const sw_sky *sky, qn_sw_step_table **out,
                               qn_err *err);
void qn_sw_step_table_free(qn_sw_step_table *series);

/* Makes number `step` the next step to run. */
qn_status qn_sw_step_table_seek(qn_sw_step_table *series, int step, qn_err *err);

/* Adds the stage that advances to the next step. */
qn_status qn_sw_add_next(qn_sw_step_table *series, qn_graph *graph, qn_err *err);

/* Adds the delay: planes of `value` (such as Lup) become their delayed means; `state` has as many
 * planes and persists between steps. */
qn_status qn_sw_add_delay(qn_graph *graph, const qn_sw_step_table *series, int cols, int rows,
                          int planes, qn_buf *value, qn_buf *state, qn_err *err);

#endif
