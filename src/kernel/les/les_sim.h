/* les_sim.h - parameters and layout of the kernels of the flow.
 *
 *     s          half spectra of the vorticity, [members][n][n/2 + 1] complex: the state
 *     mid, sum   of the same shape: a value inside a step, and what is added up for its end
 *     work       [fields][members] fields with padded rows (quern/fft.h): as spectra, then on the
 *                grid, then the nonlinear terms in the first of them
 *     clock      doubles, CLOCK_*
 *
 * A step of a method with n stages:
 *
 *     les_first         s -> spectra of u, v, E, D
 *     n times           inverse FFT, les_flux_grid (u, v, E, D -> P, Q), FFT,
 *                       les_stage: P, Q, s, mid, sum -> a value -> spectra of u, v, E, D
 *
 * The last value is the new state, and its spectra begin the next step; those of the last step of a
 * graph are left out.
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

/* Which spectra a value leaves in work. */
enum { LES_VELOCITY = 1, LES_GRADIENT = 2, LES_STRAIN = 4 };

/* What drives the flow from an array of modes: nothing, a force, or a kick at the end of a step. */
enum { LES_UNFORCED, LES_FORCED, LES_KICKED };

typedef struct {
    i64 field;  /* reals of one field of all members */
    i64 second; /* place of Q in work; 0: there is none */
    double q;   /* 2 pi / L */
    double nu0, drag, beta;
    double hyper, hyper_unit; /* rate hyper (k^2 hyper_unit)^hyper_order */
    double hypo, hypo_unit;   /* rate hypo (hypo_unit / k^2)^hypo_order */
    double smag;              /* (Cs dx)^2 */
    double strain_floor;      /* added to |S|^2 */
    double mean_u, mean_v;
    double inv_cells;  /* 1 / n^2: the factor missing in the inverse transform */
    double wave_force; /* the mode of forcing kolmogorov */
    i32 n;             /* cells along a side */
    i32 members;
    i32 edge;        /* modes with |nx|, |ny| above this are removed */
    i32 lap_dc;      /* k^2 of the mean in the Laplacian */
    i32 force_k;     /* wavenumber of forcing kolmogorov, 0: none */
    i32 driven;      /* LES_UNFORCED, ... */
    i32 driven_edge; /* the array has no modes with |nx|, |ny| above this */
    i32 is_filtered; /* an array of factors of modes damps the right-hand side */
    i32 is_flux;
    i32 hyper_order, hypo_order; /* from 0 to 15 */
    i32 pad;
} les_par;
QN_PAR_SIZE(les_par, 176);

/* Stages in time (les_stage.h). */

/* How linear terms are treated: in the right-hand side, by an exact factor e^(L t), or by the
 * weights of exponential time differencing. */
enum { LES_RK, LES_IF, LES_ETD };

/* What a stage reads and where its value and sum go. */
enum {
    LES_GETS_S = 1,
    LES_GETS_MID = 2,
    LES_GETS_SUM = 4,
    LES_PUTS_S = 8,
    LES_PUTS_MID = 16,
    LES_PUTS_SUM = 32,
    LES_TWO_BEGIN = LES_GETS_S | LES_PUTS_MID,
    LES_TWO_MORE = LES_GETS_S | LES_GETS_MID | LES_PUTS_MID,
    LES_TWO_END = LES_GETS_S | LES_GETS_MID | LES_PUTS_S,
    LES_SUM_BEGIN = LES_GETS_S | LES_PUTS_SUM,
    LES_SUM_MORE = LES_GETS_S | LES_GETS_SUM | LES_PUTS_SUM,
    LES_SUM_END = LES_GETS_SUM | LES_PUTS_S,
    LES_BOTH_BEGIN = LES_TWO_BEGIN | LES_PUTS_SUM,
    LES_BOTH_MORE = LES_TWO_MORE | LES_GETS_SUM | LES_PUTS_SUM,
    LES_BOTH_END = LES_SUM_END | LES_GETS_MID
};

/* With E = e^(L dt/2) and r the right-hand side, the stage computes
 *
 *     value = s E^s_power s + mid m mid + sum sum + rate dt w r
 *     sum   = sum_s E^sum_s_power s + sum_sum sum + sum_rate dt w r
 *
 * where m is 1, and E - 1 for LES_ETD; the weight w is 1 for LES_RK, a power of E for LES_IF, and for
 * LES_ETD one of
 *
 *     phi_1(L dt/2) / 2, phi_1 - 3 phi_2 + 4 phi_3, phi_2 - 2 phi_3, 4 phi_3 - phi_2   (of L dt)
 */
typedef struct {
    double s, mid, sum, rate;
    double sum_s, sum_sum, sum_rate;
    i32 s_power, sum_s_power, rate_weight, sum_rate_weight;
    i32 is_from_mid; /* r is that of mid, else that of s */
    i32 touches;     /* LES_GETS_S, ... */
    i32 fields;      /* LES_VELOCITY, ... of the value */
    i32 pad;
} les_stage_par;
QN_PAR_SIZE(les_stage_par, 88);

/* Random kicks of the modes with |k| from `low` to `high`, in units of q. */
typedef struct {
    u64 seed;         /* of member 0; the others add their number */
    double amplitude; /* of a mode, times sqrt(dt) */
    i32 low2, high2;  /* smallest and largest nx^2 + ny^2 */
    i32 ahead;        /* steps from the clock's to the one that is kicked */
    i32 pad;
} les_ring_par;
QN_PAR_SIZE(les_ring_par, 32);

/* How the maxima set the size of a step. */
enum { LES_DT_LOOK, LES_DT_STEP, LES_DT_WATCH };

/* The largest step is the least of dt_max, advective / speed and diffusive / (nu_t k2max + rate). */
typedef struct {
    double dt_max, advective, diffusive, nu0, k2max, rate;
    i32 n_rows;
    i32 use; /* LES_DT_LOOK: the maxima are only stored; STEP: they set the step that has begun;
              * WATCH: they tell whether the step of the clock is too large */
} les_dt_par;
QN_PAR_SIZE(les_dt_par, 56);

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
    CLOCK_OUTGROWN, /* the first step whose flow was too fast for the step size; -1: none */
    CLOCK_LIMIT,    /* the largest step size then */
    CLOCK_WORDS
};

#endif
