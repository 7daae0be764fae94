/* stability.h - which time steps are stable, and which one is chosen.
 *
 * Two numbers decide: zd = (nu0 + max nu_t) k2max dt of diffusion, which Heun's method takes up
 * to 2, and za = max(|u| + |v|) kmax dt of advection, which it amplifies by 1 + za^4/8 per step.
 * `speed` is max(|u| + |v|) and `nut` max nu_t throughout.
 */
#ifndef QN_LES_STABILITY_H
#define QN_LES_STABILITY_H

#include "domain/les/options/options.h"

#define QN_LES_ZD_MAX 2.0
#define QN_LES_ZA_MAX 1.0

/* The largest wavenumber along an axis after dealiasing, and the square of the largest over both
 * axes. */
double qn_les_kmax(const qn_les_options *config);
double qn_les_k2max(const qn_les_options *config);

typedef struct qn_les_stability {
    double zd, za;
    double dt, dt_admissible; /* the step in question; the largest stable one, possibly infinite */
    int is_stable;
} qn_les_stability;

/* With visc ifac, zd is reported but sets no limit. */
qn_les_stability qn_les_stability_of(const qn_les_options *config, double dt, double speed,
                                     double nut);

/* QN_ERR_USAGE with the limit and the largest admissible step, unless `s` is stable or the options
 * allow an unstable step. */
qn_status qn_les_stability_check(const qn_les_options *config, const qn_les_stability *s,
                                 qn_err *err);

/* dt_mode cfl, as the device computes it. */
double qn_les_dt_cfl(const qn_les_options *config, double speed, double nut);

#endif
