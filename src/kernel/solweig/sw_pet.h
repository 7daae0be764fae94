/* sw_pet.h - parameters of the PET kernels: body, clothing and air. */
#ifndef QN_KERNEL_SW_PET_H
#define QN_KERNEL_SW_PET_H

#include "kernel/types.h"

/* Powers are W, areas m2, temperatures C, vapour pressures hPa. Made by qn_sw_pet_prepare. */
typedef struct {
    i64 n;                                   /* pixels */
    float ta, vapour;                        /* air */
    float hc;                                /* heat loss to wind, per K and m2 */
    float met;                               /* heat produced by the body */
    float breath;                            /* heat loss by breathing this air */
    float c1;                                /* met + breath */
    float breath_dry, breath_wet;            /* by breathing, per K and per hPa */
    float radiation;                         /* of clothes, per K^4 and m2 of body */
    float htcl;                              /* from skin through clothes, per K and m2 */
    float skin_radiation, clothes_radiation; /* per K^4 */
    float skin_area, clothes_area;           /* in the wind */
    float area;                              /* of the body */
    float conduction;                        /* core to skin without blood flow, per K */
    float blood_rest;                        /* core to skin by the smallest blood flow, per K */
    float c5, c6;                            /* of blood flow, numbered as in the publication */
    float core_most;                         /* core above skin at the largest blood flow, K */
    float sweat;                             /* kg/s per K of body temperature above 36.6 */
    float clothes_wet;                       /* vapour resistance of clothes, per hc */
    float diffusion;                         /* through dry skin, per hPa */
    i32 is_wind_map;                         /* wind differs between pixels; hc is not read */
} sw_pet_par;
QN_PAR_SIZE(sw_pet_par, 104);

/* A table of PET for one time step by Tmrt: `first`, first + 1 / per_k, ... */
typedef struct {
    float first, per_k;
    i32 n;
    i32 cols;
} sw_pet_look_par;
QN_PAR_SIZE(sw_pet_look_par, 16);

#endif
