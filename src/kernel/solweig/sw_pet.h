/* sw_pet.h - body, clothing and air: the parameters of the PET kernels. */
#ifndef QN_KERNEL_SW_PET_H
#define QN_KERNEL_SW_PET_H

#include "kernel/types.h"

/* Powers are W, areas m2, temperatures C, vapour pressures hPa. Made by qn_sw_pet_prepare. */
typedef struct {
    i64 n;                                   /* pixels */
    float ta, vapour;                        /* air */
    float hc;                                /* heat to the wind, per K and m2 */
    float met;                               /* heat that the body makes */
    float breath;                            /* heat by breathing this air */
    float c1;                                /* met + breath */
    float breath_dry, breath_wet;            /* by breathing, per K and per hPa */
    float radiation;                         /* of clothes, per K^4 and m2 of body */
    float htcl;                              /* from skin through clothes, per K and m2 */
    float skin_radiation, clothes_radiation; /* per K^4 */
    float skin_area, clothes_area;           /* in the wind */
    float area;                              /* of the body */
    float conduction;                        /* core to skin without blood, per K */
    float blood_rest;                        /* core to skin by the least blood, per K */
    float c5, c6;                            /* by blood, as the published equations number them */
    float core_most;                         /* core above skin with most blood, K */
    float sweat;                             /* kg/s per K of body above 36.6 */
    float clothes_wet;                       /* how clothes hold back vapour, per hc */
    float diffusion;                         /* through dry skin, per hPa */
    i32 is_wind_map;                         /* wind differs from pixel to pixel, hc is not read */
} sw_pet_par;
QN_PAR_SIZE(sw_pet_par, 104);

/* PET of one time step by Tmrt: `first`, first + 1 / per_k, ... */
typedef struct {
    float first, per_k;
    i32 n;
    i32 cols;
} sw_pet_look_par;
QN_PAR_SIZE(sw_pet_look_par, 16);

#endif
