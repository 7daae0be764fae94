/* sw_utci.h - parameters of the UTCI kernels: the weather. */
#ifndef QN_KERNEL_SW_UTCI_H
#define QN_KERNEL_SW_UTCI_H

#include "kernel/types.h"

#define UTCI_DEGREE 6

/* UTCI = sum of c[j] * (Tmrt - ta)^j; the coefficients are the same for all pixels. c[0] includes
 * air temperature. Coefficients are NaN if the index is not defined. */
typedef struct {
    float c[UTCI_DEGREE + 1];
    float ta;
    i32 cols;
} sw_utci_par;
QN_PAR_SIZE(sw_utci_par, 36);

/* For wind that differs between pixels: w[i] runs over j = 6, 5, .. 0, and for each over the powers
 * 6 - j, .. 0 of wind. */
#define UTCI_WIND_TERMS 28

typedef struct {
    float w[UTCI_WIND_TERMS];
    float ta;
    i32 cols;
} sw_utci_wind_par;
QN_PAR_SIZE(sw_utci_wind_par, 120);

#endif
