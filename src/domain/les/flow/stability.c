/* stability.c - stability limits of Heun's method on the spectral grid. */
#include "stability.h"

#include <math.h>

double qn_les_kmax(const qn_les_options *config)
{
    const int n =
        config->dealias == QN_LES_DEALIAS_TWO_THIRDS ? (config->N - 1) / 3 : config->N / 2;

    return 2 * M_PI / config->L * n;
}

double qn_les_k2max(const qn_les_options *config)
{
    const double kmax = qn_les_kmax(config);

    return 2 * kmax * kmax;
}

qn_les_stability qn_les_stability_of(const qn_les_options *config, double dt, double speed,
                                     double nut)
{
    const double rate_a = speed * qn_les_kmax(config);
    const double rate_d = (config->nu0 + nut) * qn_les_k2max(config);
    const int is_explicit = config->visc == QN_LES_VISC_EXPLICIT;
    double admissible = rate_a > 0 ? QN_LES_ZA_MAX / rate_a : INFINITY;

    if (is_explicit && rate_d > 0)
        admissible = fmin(admissible, QN_LES_ZD_MAX / rate_d);

    qn_les_stability s = {
        .zd = rate_d * dt, .za = rate_a * dt, .dt = dt, .dt_admissible = admissible
    };
    /* A NaN anywhere is not stable. */
    s.is_stable = s.za <= QN_LES_ZA_MAX && (!is_explicit || s.zd <= QN_LES_ZD_MAX);
    return s;
}

/* Three digits, rounded down: the printed step must itself be admissible. */
static double shown_step(double dt)
{
    const double unit = pow(10, floor(log10(dt)) - 2);

    return floor(dt / unit) * unit;
}

qn_status qn_les_stability_check(const qn_les_options *config, const qn_les_stability *s,
                                 qn_err *err)
{
    if (s->is_stable || config->allow_unstable)
        return QN_OK;
    if (!(s->dt_admissible > 0) || !isfinite(s->za) || !isfinite(s->zd))
        return qn_fail(err, QN_ERR_USAGE, "the initial field has no finite velocity or viscosity");

    const int is_advection = !(s->za <= QN_LES_ZA_MAX);
    return qn_fail(err, QN_ERR_USAGE,
                   "dt: %g is unstable: %s is %.3g, above %g; the largest admissible dt is %.3g "
                   "(--allow-unstable runs all the same)",
                   s->dt, is_advection ? "za = max(|u|+|v|) kmax dt" : "zd = (nu0 + nu_t) k2max dt",
                   is_advection ? s->za : s->zd, is_advection ? QN_LES_ZA_MAX : QN_LES_ZD_MAX,
                   shown_step(s->dt_admissible));
}

double qn_les_dt_cfl(const qn_les_options *config, double speed, double nut)
{
    const double dx = config->L / config->N;

    return fmin(config->dt_max,
                fmin(config->cfl * dx / speed, 1.6 / ((config->nu0 + nut) * qn_les_k2max(config))));
}
