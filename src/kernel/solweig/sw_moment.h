/* sw_moment.h - records of time steps: everything in a step that is the same for all pixels.
 *
 * The records of all steps are on the device, and `now` (one i32) is the number of the current one,
 * so one recorded step can be replayed for a year without uploads: kernels read steps[now[0]], and
 * sw_next adds one. Everything that depends only on weather and sun, including sines and
 * exponentials, is computed on the host, so that it is the same on all devices.
 *
 *     steps   sw_moment [n_steps]
 *     sky     sw_sky [n_steps][n_patches]
 *     patches sw_patch [n_patches]: the same in all steps
 *
 * Patch tables are padded with empty patches, which add nothing (sw_radiation.h).
 *
 * Rasters are planes of rows * cols. The numbers of planes in buffers with several of them are
 * below.
 */
#ifndef QN_KERNEL_SW_MOMENT_H
#define QN_KERNEL_SW_MOMENT_H

#include "kernel/types.h"

/* Directions of radiation: planes of view factors, of Lup, of albedo. */
enum { SW_ALL, SW_N, SW_E, SW_S, SW_W, SW_DIRS };

/* Sky view factors: 3 * SW_DIRS planes, of buildings, vegetation, and vegetation in front of
 * buildings. */
enum { SW_SVF = 0, SW_VEG = SW_DIRS, SW_AVEG = 2 * SW_DIRS, SW_VIEW_PLANES = 3 * SW_DIRS };

/* Planes of radiation that make up the temperature of a person. K4 and L4 are sums over the four
 * sides; KSIDE and LSIDE are the radiation on a cylinder from all directions. An isotropic sky has
 * only the first SW_ISO_PLANES: there KSIDE is only the sun and LSIDE nothing. */
enum {
    SW_KDOWN,
    SW_KUP,
    SW_LDOWN,
    SW_K4,
    SW_L4,
    SW_ISO_PLANES,
    SW_KSIDE = SW_ISO_PLANES,
    SW_LSIDE,
    SW_RADIATION_PLANES
};

#define SW_CLASSES   16 /* of ground: mapped land-cover ids */
#define SW_MAX_WORDS 20 /* of 32 patches each */

typedef struct {
    float ta;                     /* air temperature, C */
    float ta_k;                   /* air temperature, K */
    float sbc;                    /* Stefan-Boltzmann constant */
    float air4;                   /* sbc * ta_k^4 */
    float wall4;                  /* sbc * (ta_k + tg_wall)^4 */
    float tg_wall;                /* excess of wall temperature over air */
    float wall_excess;            /* emission of a sunlit wall over one at air temperature */
    float direct, diffuse, total; /* of the sun, W/m2; total on flat ground */
    float sin_alt, cos_alt, tan_zen;
    float psi;            /* transmissivity of vegetation */
    float ci;             /* clearness index */
    float esky;           /* emissivity of a clear sky */
    float sky_scale;      /* diffuse light / luminance on the ground; 0 at night */
    float delay_keep;     /* weight of the state in the delay */
    float box[4];         /* direct radiation on N, E, S, W of a box in full sun */
    float lit[4];         /* 1 if the walls seen by side N, E, S, W are sunlit, else 0 */
    float lit4[4];        /* sbc * T^4 of such walls */
    float tg[SW_CLASSES]; /* excess of ground temperature over air in full sun */
    i32 is_day;           /* the sun is above the horizon */
    i32 has_wedge;        /* the sun is above 3 degrees, so walls partly shade each other */
    i32 delay_reset;      /* the state restarts at this step */
    i32 delay_moves;      /* the result becomes the state */
} sw_moment;
QN_PAR_SIZE(sw_moment, 200);

typedef struct {
    float cos_ster, sin_ster;   /* solid angle times cosine and sine of the altitude */
    float lit_below, dark_from; /* tangents: sunlit below the first, shaded from the second on */
    float altitude, azimuth;    /* degrees */
} sw_patch;
QN_PAR_SIZE(sw_patch, 24);

/* The same patch in one step. */
typedef struct {
    float share; /* of the luminance of the sky */
    float emissivity;
    float shift;                 /* of the tangents below, by the sun's direction; 0 or less */
    float warm_below, cool_from; /* tangents for temperature: the patch's if its walls face the sun,
                                  * else -infinity, so that all are cool */
} sw_sky;
QN_PAR_SIZE(sw_sky, 20);

/* Constants of walls and of the person. */
typedef struct {
    float wall_albedo, wall_emissivity;
    float abs_k, abs_l;
    float f_up, f_side, f_cyl;
    float box; /* 1: a box, sitting; 0: a cylinder, standing */
} sw_body;
QN_PAR_SIZE(sw_body, 32);

#endif
