/* sw_moment.h - records of time steps: everything in a step that all pixels share.
 *
 * The records of all steps lie on the device, and `now` (one i32) is the number of the present one,
 * so that one recorded step is replayed for a year without an upload: kernels read steps[now[0]],
 * and sw_next adds one. Everything that depends on weather and sun alone is computed on the host,
 * sines and exponentials included, so that devices agree about it.
 *
 *     steps   sw_moment [n_steps]
 *     sky     sw_sky [n_steps][n_patches]
 *     patches sw_patch [n_patches]: the same in all steps
 *
 * Tables of patches are filled up with empty ones, which add nothing (sw_radiation.h).
 *
 * Rasters are planes of rows * cols. Where a buffer has several planes, one after another, their
 * numbers are below.
 */
#ifndef QN_KERNEL_SW_MOMENT_H
#define QN_KERNEL_SW_MOMENT_H

#include "kernel/types.h"

/* Directions of radiation: planes of view factors, of Lup, of albedo. */
enum { SW_ALL, SW_N, SW_E, SW_S, SW_W, SW_DIRS };

/* Sky view factors: 3 * SW_DIRS planes, of buildings, vegetation, and vegetation before
 * buildings. */
enum { SW_SVF = 0, SW_VEG = SW_DIRS, SW_AVEG = 2 * SW_DIRS, SW_VIEW_PLANES = 3 * SW_DIRS };

/* Planes of radiation that make up the temperature of a person. K4 and L4 are sums over the four
 * sides; KSIDE and LSIDE are the radiation on a cylinder from all around. An isotropic sky has only
 * the first SW_ISO_PLANES: there KSIDE is the sun alone, LSIDE nothing. */
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

#define SW_CLASSES   16 /* of ground: land cover ids after their mapping */
#define SW_MAX_WORDS 20 /* of 32 patches each */

typedef struct {
    float ta;                     /* air temperature, C */
    float ta_k;                   /* and in K */
    float sbc;                    /* the constant of Stefan and Boltzmann */
    float air4;                   /* sbc * ta_k^4 */
    float wall4;                  /* sbc * (ta_k + tg_wall)^4 */
    float tg_wall;                /* excess of wall temperature over air */
    float wall_excess;            /* emission of a sunlit wall over one at air temperature */
    float direct, diffuse, total; /* of the sun, W/m2; total on flat ground */
    float sin_alt, cos_alt, tan_zen;
    float psi;            /* transmissivity of vegetation */
    float ci;             /* clearness index */
    float esky;           /* emissivity of a clear sky */
    float sky_scale;      /* diffuse over the luminance that falls on the ground; 0 by night */
    float delay_keep;     /* weight of the state in the delay */
    float box[4];         /* direct radiation on N, E, S, W of a box, of a pixel in full sun */
    float lit[4];         /* 1 where the walls that sides N, E, S, W see are sunlit, else 0 */
    float lit4[4];        /* sbc * T^4 of such walls */
    float tg[SW_CLASSES]; /* excess of ground temperature over air in full sun */
    i32 is_day;           /* the sun is above the horizon */
    i32 has_wedge;        /* the sun is 3 degrees up, so walls shade each other partly */
    i32 delay_reset;      /* the state begins with this step */
    i32 delay_moves;      /* the state takes the result */
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
    float warm_below, cool_from; /* tangents for heat: those of the patch if its walls face the sun,
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
