/* stability.c - stability limits on the spectral grid, and the time steps that follow from them. */
#include "stability.h"

#include "method.h"

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

/* Largest rates of the linear terms that the method treats explicitly. */

static double explicit_nu0(const qn_les_options *c)
{
    return qn_les_method_of(c)->rule == LES_RK ? c->nu0 : 0;
}

static double explicit_damping(const qn_les_options *c)
{
    const double k2 = qn_les_k2max(c), q = 2 * M_PI / c->L;

    if (qn_les_method_of(c)->rule != LES_RK)
        return 0;
    return c->drag + c->hyper_nu * pow(k2, c->hyper_order) +
           c->hypo_nu * pow(q, -2 * c->hypo_order);
}

static double explicit_wave(const qn_les_options *c)
{
    return qn_les_method_of(c)->rule == LES_RK ? fabs(c->beta) * c->L / (2 * M_PI) : 0;
}

/* Given steps. */

qn_les_stability qn_les_stability_of(const qn_les_options *config, double dt, double speed,
                                     double nut)
{
    const qn_les_method *method = qn_les_method_of(config);
    const double rate_a = speed * qn_les_kmax(config) + explicit_wave(config);
    const double rate_d =
        (explicit_nu0(config) + nut) * qn_les_k2max(config) + explicit_damping(config);
    double admissible = rate_a > 0 ? method->imaginary / rate_a : INFINITY;

    if (rate_d > 0)
        admissible = fmin(admissible, method->real / rate_d);

    qn_les_stability s = {
        .zd = rate_d * dt, .za = rate_a * dt, .dt = dt, .dt_admissible = admissible
    };
    /* A NaN anywhere is not stable. */
    s.is_stable = s.za <= method->imaginary && s.zd <= method->real;
    return s;
}

double qn_les_shown_step(double dt)
{
    const double unit = pow(10, floor(log10(dt)) - 2);

    return floor(dt / unit) * unit;
}

qn_status qn_les_stability_check(const qn_les_options *config, const qn_les_stability *s,
                                 qn_err *err)
{
    const qn_les_method *method = qn_les_method_of(config);

    if (s->is_stable || config->allow_unstable)
        return QN_OK;
    if (!(s->dt_admissible > 0) || !isfinite(s->za) || !isfinite(s->zd))
        return qn_fail(err, QN_ERR_USAGE, "the initial field has no finite velocity or viscosity");

    const int is_advection = !(s->za <= method->imaginary);
    return qn_fail(err, QN_ERR_USAGE,
                   "dt: %g is unstable: %s is %.3g, above %g, the limit of %s; the largest "
                   "admissible dt is %.3g (--allow-unstable runs all the same)",
                   s->dt, is_advection ? "za = max(|u|+|v|) kmax dt" : "zd = (nu0 + nu_t) k2max dt",
                   is_advection ? s->za : s->zd, is_advection ? method->imaginary : method->real,
                   method->name, qn_les_shown_step(s->dt_admissible));
}

/* Chosen steps. */

/* The largest step in which a flow that begins at rest stays within cfl cells: dt^2 times the
 * acceleration. Random kicks of rate eps give a speed of sqrt(2 eps dt) on average, and four times
 * that somewhere. */
static double dt_from_rest(const qn_les_options *c, double acceleration, double cells)
{
    double dt = c->dt_max;

    if (acceleration > 0)
        dt = fmin(dt, sqrt(cells / acceleration));
    if (c->forcing == QN_LES_FORCING_RING)
        dt = fmin(dt, cbrt(cells * cells / (32 * c->forcing_rate)));
    return dt;
}

les_dt_par qn_les_dt_rule(const qn_les_options *c, double acceleration, int use)
{
    const qn_les_method *method = qn_les_method_of(c);
    const double wave = explicit_wave(c);
    les_dt_par rule = {
        .nu0 = explicit_nu0(c), .k2max = qn_les_k2max(c), .rate = explicit_damping(c), .use = use
    };

    if (use == LES_DT_WATCH) {
        rule.dt_max = wave > 0 ? method->imaginary / wave : INFINITY;
        rule.advective = method->imaginary / qn_les_kmax(c);
        rule.diffusive = method->real;
    } else {
        rule.advective = c->cfl * c->L / c->N;
        rule.diffusive = method->diffusive;
        rule.dt_max = dt_from_rest(c, acceleration, rule.advective);
        if (wave > 0) /* half of the limit, so that advection has the other half */
            rule.dt_max = fmin(rule.dt_max, 0.5 * method->imaginary / wave);
    }
    return rule;
}

double qn_les_dt_of(const les_dt_par *rule, double speed, double nut)
{
    const double diffusive = rule->diffusive / ((rule->nu0 + nut) * rule->k2max + rule->rate);

    return fmin(rule->dt_max, fmin(rule->advective / speed, diffusive));
}

const char *qn_les_advice(const qn_les_options *config)
{
    const int is_aliased = config->dealias == QN_LES_DEALIAS_NONE;

    if (config->dt_mode != QN_LES_DT_CFL)
        return is_aliased ? "use a smaller --dt, --dt-mode cfl or --dealias two_thirds"
                          : "use a smaller --dt, or --dt-mode cfl";
    /* No step is small enough for what products without dealiasing may do. */
    return is_aliased ? "use --dealias two_thirds" : "use a smaller --cfl or --dt-max";
}
