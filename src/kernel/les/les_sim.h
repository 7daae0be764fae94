/* les_sim.h - parameters and layout of the kernels of the flow.
 *
 *     s, mid     half spectra of the vorticity, [members][n][n/2 + 1] complex: the state, and the
 *                first stage of Heun's method
 *     work       [fields][members] fields with padded rows (quern/fft.h): as spectra, then on the
 *                grid, then the nonlinear terms in the first of them
 *     clock      doubles, CLOCK_*
 *
 * A step; its first line is fused with the last line of the previous step:
 *
 *     les_flux_first   s -> spectra of u, v, E, D
 *     inverse FFT, les_flux_grid (u, v, E, D -> P, Q), FFT
 *     les_flux_mid     P, Q, s -> mid -> spectra of u, v, E, D
 *     inverse FFT, les_flux_grid, FFT
 *     les_flux_next    P, Q, s, mid -> s -> spectra of u, v, E, D; or les_close, without spectra
 *
 * The advective form works in the same way with u, v, the gradient and the Laplacian of the
 * vorticity, and E and D where it computes the eddy viscosity; one nonlinear term comes back.
 */
#ifndef QN_KERNEL_LES_SIM_H
#define QN_KERNEL_LES_SIM_H

#include "kernel/types.h"

/* Fields of work. */
enum { LES_U, LES_V, LES_E, LES_D, LES_FLUX_FIELDS };
enum { LES_OM_X = 2, LES_OM_Y, LES_LAP, LES_ADV_E, LES_ADV_D, LES_ADV_FIELDS };

/* Where the eddy viscosity of a stage comes from. */
enum { LES_NU_FRESH, LES_NU_STORE, LES_NU_LOAD };

typedef struct {
    i64 field;  /* reals of one field of all members */
    i64 second; /* place of Q in work; 0: there is none */
    double q;   /* 2 pi / L */
    double nu0, drag;
    double smag;         /* (Cs dx)^2 */
    double strain_floor; /* added to |S|^2 */
    double mean_u, mean_v;
    double inv_cells;    /* 1 / n^2: the factor missing in the inverse transform */
    double filter_alpha; /* of dealias exp; 0: no filter */
    double filter_power; /* half of it, for squares of wavenumbers */
    double filter_scale; /* 1 / kmax^2 of that filter */
    double wave_force;   /* the mode of forcing kolmogorov */
    i32 n;               /* cells along a side */
    i32 members;
    i32 edge;      /* modes with |nx|, |ny| above this are removed */
    i32 lap_dc;    /* k^2 of the mean in the Laplacian */
    i32 force_k;   /* wavenumber of forcing kolmogorov, 0: none */
    i32 is_forced; /* the force is a given spectrum */
    i32 is_ifac;
    i32 is_flux;
} les_par;
QN_PAR_SIZE(les_par, 144);

/* How the maxima set the size of a step. */
typedef struct {
    double dt_max, cfl_dx, nu0, k2max;
    i32 n_rows;
    i32 is_step; /* 0: the maxima are only stored */
} les_dt_par;
QN_PAR_SIZE(les_dt_par, 40);

#define LES_LOG_WORDS 8 /* doubles in a row of the log */

enum {
    CLOCK_DT,
    CLOCK_TIME,
    CLOCK_STEP,
    CLOCK_SPEED,     /* largest |u| + |v| when last computed */
    CLOCK_NUT,       /* largest nu_t when last computed */
    CLOCK_BAD,       /* modes that were not finite, over all checks */
    CLOCK_LAST_GOOD, /* steps of the last check without and the first with such modes; -1: none */
    CLOCK_FIRST_BAD,
    CLOCK_WORDS
};

#endif
