/* stability.h - which time steps are stable, and which one is chosen.
 *
 * Two numbers decide: zd of diffusion, (nu0 + max nu_t) k2max dt with all other damping that is
 * treated explicitly, and za = max(|u| + |v|) kmax dt of advection, with explicit planetary waves.
 * Their limits are those of the method in time (method.h); what a method treats exactly does not
 * count. `speed` is max(|u| + |v|) and `nut` max nu_t throughout.
 */
#ifndef QN_LES_STABILITY_H
#define QN_LES_STABILITY_H

#include "options.h"

#include "kernel/les/les_sim.h"

/* The largest wavenumber along an axis after dealiasing, and the square of the largest over both
 * axes. */
double qn_les_kmax(const qn_les_options *config);
double qn_les_k2max(const qn_les_options *config);

typedef struct qn_les_stability {
    double zd, za;
    double dt, dt_admissible; /* the step in question; the largest stable one, possibly infinite */
    int is_stable;
} qn_les_stability;

qn_les_stability qn_les_stability_of(const qn_les_options *config, double dt, double speed,
                                     double nut);

/* QN_ERR_USAGE with the limit and the largest admissible step, unless `s` is stable or the options
 * allow an unstable step. */
qn_status qn_les_stability_check(const qn_les_options *config, const qn_les_stability *s,
                                 qn_err *err);

/* How maxima set the step of dt_mode cfl, and with LES_DT_WATCH the limit of a step that is given.
 * `acceleration` is the largest one of the forcing: a flow at rest must not begin with a step in
 * which the forcing would carry it across cells. The caller fills in n_rows. */
les_dt_par qn_les_dt_rule(const qn_les_options *config, double acceleration, int use);

/* The step, as the device computes it. */
double qn_les_dt_of(const les_dt_par *rule, double speed, double nut);

/* What to do about a flow that is too fast for its steps; static text. */
const char *qn_les_advice(const qn_les_options *config);

/* Three digits, rounded down: the printed step must itself be admissible. */
double qn_les_shown_step(double dt);

#endif
