/* settle.c - options that depend on each other. */
#include "options.h"

#include "method.h"
#include "stability.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int qn_les_smooth_width(int n)
{
    const int nearest = (2 * 11 * n / 64 + 1) / 2;

    return (nearest > 3 ? nearest : 3) | 1;
}

double qn_les_dt_auto(int n)
{
    return 0.01 * fmin(1, 128.0 / n);
}

static qn_status settle_time(qn_les_options *c, qn_err *err)
{
    const double automatic = qn_les_dt_auto(c->N);
    const int is_given = !isnan(c->dt);
    const qn_les_method *method = qn_les_method_of(c);
    /* At this number the speed that fills a CFL of 1 is at the limit of the method. */
    const double cfl_max = method->imaginary * c->N / (qn_les_kmax(c) * c->L);

    if (c->dt_mode < 0)
        c->dt_mode = is_given ? QN_LES_DT_FIXED : QN_LES_DT_CFL;
    if (isnan(c->cfl))
        c->cfl = method->cfl;
    switch (c->dt_mode) {
    case QN_LES_DT_CFL:
        if (is_given)
            return qn_fail(err, QN_ERR_USAGE,
                           "dt: %g has no meaning with dt_mode cfl; its limit is dt_max", c->dt);
        if (c->cfl > cfl_max && !c->allow_unstable)
            return qn_fail(err, QN_ERR_USAGE,
                           "cfl: %g is above %.3g, the limit of %s (--allow-unstable runs all the "
                           "same)",
                           c->cfl, cfl_max, method->name);
        return QN_OK;
    case QN_LES_DT_AUTO:
        if (is_given && fabs(c->dt - automatic) > 1e-9 * automatic)
            return qn_fail(err, QN_ERR_USAGE, "dt: %g is not the step of dt_mode auto, %g", c->dt,
                           automatic);
        c->dt = automatic;
        return QN_OK;
    default:
        if (!is_given)
            c->dt = QN_LES_DT_DEFAULT;
        return QN_OK;
    }
}

/* Where a field comes from that may be in a file or in memory. */
typedef struct source {
    const char *option, *by_file; /* "ic" and its choice that needs one, "file" */
    const char *path;
    const double *field;
    size_t n;
    int choice, otherwise; /* the number of by_file, and that of the default */
} source;

static int is_given(const source *s)
{
    return s->path[0] || s->n;
}

/* A field that is given must be used, and one that is needed must be given. */
static qn_status settle_source(const source *s, int *choice, qn_err *err)
{
    if (*choice < 0)
        *choice = is_given(s) ? s->choice : s->otherwise;
    if (s->path[0] && s->n)
        return qn_fail(err, QN_ERR_USAGE, "%s: both %s_file and %s_field are given", s->option,
                       s->option, s->option);
    if (s->n && !s->field)
        return qn_fail(err, QN_ERR_USAGE, "%s_field: NULL with %zu numbers", s->option, s->n);
    if (is_given(s) && *choice != s->choice)
        return qn_fail(err, QN_ERR_USAGE, "%s_%s: %s is given, but %s is not %s", s->option,
                       s->n ? "field" : "file", s->n ? "an array" : s->path, s->option, s->by_file);
    if (!is_given(s) && *choice == s->choice)
        return qn_fail(err, QN_ERR_USAGE, "%s: %s needs %s_file, an array of NumPy", s->option,
                       s->by_file, s->option);
    return QN_OK;
}

/* An array in memory must have one of these lengths. */
static qn_status check_length(const char *name, size_t n, size_t one, size_t all, qn_err *err)
{
    if (!n || n == one || n == all)
        return QN_OK;
    return qn_fail(err, QN_ERR_USAGE, "%s: an array of %zu numbers, but %zu are needed", name, n,
                   one);
}

/* The wavenumbers of a force must be among those of the flow. */
static qn_status check_forced_band(const qn_les_options *c, qn_err *err)
{
    const int is_ring = c->forcing == QN_LES_FORCING_RING;
    const double half = is_ring ? c->forcing_width / 2 : 0;
    const int edge = c->dealias == QN_LES_DEALIAS_TWO_THIRDS ? (c->N - 1) / 3 : (c->N - 1) / 2;

    if (c->forcing != QN_LES_FORCING_KOLMOGOROV && !is_ring)
        return QN_OK;
    if (c->forcing_k + half > edge)
        return qn_fail(err, QN_ERR_USAGE,
                       "forcing_k: %d%s is above %d, the largest wavenumber of the flow",
                       c->forcing_k, is_ring ? " and half of forcing_width" : "", edge);
    return QN_OK;
}

/* What the integrator does with linear terms. */
static qn_status settle_linear(qn_les_options *c, qn_err *err)
{
    const int is_exact = c->integrator == QN_LES_IFRK4 || c->integrator == QN_LES_ETDRK4;

    if (c->visc < 0)
        c->visc = is_exact ? QN_LES_VISC_IFAC : QN_LES_VISC_EXPLICIT;
    if (is_exact && c->visc == QN_LES_VISC_EXPLICIT)
        return qn_fail(err, QN_ERR_USAGE,
                       "visc: explicit needs the integrator rk4, ssprk3 or heun; ifrk4 and etdrk4 "
                       "treat linear terms exactly");
    if (!is_exact && c->integrator != QN_LES_HEUN && c->visc == QN_LES_VISC_IFAC)
        return qn_fail(err, QN_ERR_USAGE,
                       "visc: ifac needs the integrator ifrk4, etdrk4 or heun; rk4 and ssprk3 "
                       "are explicit");
    return QN_OK;
}

static qn_status settle_field(qn_les_options *c, qn_err *err)
{
    const size_t cells = (size_t)c->N * (size_t)c->N;
    const source ic = { "ic",          "file",         c->ic_file,        c->ic_field,
                        c->n_ic_field, QN_LES_IC_FILE, QN_LES_IC_SPECTRAL };
    const source forcing = { "forcing",          "static",           c->forcing_file,
                             c->forcing_field,   c->n_forcing_field, QN_LES_FORCING_STATIC,
                             QN_LES_FORCING_NONE };
    qn_status st = QN_OK;

    QN_TRY(settle_source(&ic, &c->ic, err));
    QN_TRY(settle_source(&forcing, &c->forcing, err));
    QN_TRY(check_length("ic_field", c->n_ic_field, cells, cells * (size_t)c->ensemble, err));
    QN_TRY(check_length("forcing_field", c->n_forcing_field, cells, cells, err));
    if (c->ic_k0 == 0)
        c->ic_k0 = c->ic_shape == QN_LES_SHAPE_COMPACT ? 4 : 6;
    if (c->ic == QN_LES_IC_BOX && (c->ic_width % 2 == 0 || c->ic_width > c->N))
        return qn_fail(err, QN_ERR_USAGE, "ic_width: %d is not an odd number up to N, %d",
                       c->ic_width, c->N);
    QN_TRY(check_forced_band(c, err));
    if (c->seed > (uint64_t)INT64_MAX - (uint64_t)c->ensemble)
        return qn_fail(err, QN_ERR_USAGE, "seed: %llu plus %d members is beyond the largest seed",
                       (unsigned long long)c->seed, c->ensemble);
out:
    return st;
}

static qn_status settle_codec(qn_les_options *c, qn_err *err)
{
    const size_t cells = (size_t)c->N * (size_t)c->N;
    qn_status st;

    if (c->smooth_k == 0)
        c->smooth_k = c->smooth == QN_LES_SMOOTH_PADDED ? 11 : qn_les_smooth_width(c->N);
    if (c->phases[0] && c->n_phase_field)
        return qn_fail(err, QN_ERR_USAGE, "phases: both a file and phase_field are given");
    if (c->n_phase_field && !c->phase_field)
        return qn_fail(err, QN_ERR_USAGE, "phase_field: NULL with %zu numbers", c->n_phase_field);
    if ((st = check_length("phase_field", c->n_phase_field, 2 * cells, 2 * cells, err)) != QN_OK)
        return st;
    if (c->what == QN_LES_WHAT_SIM)
        return QN_OK;
    if (c->smooth_k % 2 == 0 || c->smooth_k > c->N)
        return qn_fail(err, QN_ERR_USAGE, "smooth_k: %d is not an odd number up to N, %d",
                       c->smooth_k, c->N);
    if (2 * c->k_cut >= c->N)
        return qn_fail(err, QN_ERR_USAGE, "k_cut: %g is not below N/2, %d", c->k_cut, c->N / 2);
    if (c->k_mid < c->k_cut)
        return qn_fail(err, QN_ERR_USAGE, "k_mid: %g is below k_cut, %g", c->k_mid, c->k_cut);
    return QN_OK;
}

/* Files that only make sense in a folder. */
static qn_status settle_files(qn_les_options *c, qn_err *err)
{
    const char *needs = c->resume_with_changes ? "resume_with_changes"
                        : c->resume            ? "resume"
                        : c->checkpoint_every  ? "checkpoint_every"
                                               : NULL;

    c->resume |= c->resume_with_changes;
    if (needs && !c->out[0])
        return qn_fail(err, QN_ERR_USAGE, "%s: checkpoints need out, a folder", needs);
    if (c->format != QN_LES_FORMAT_NPY && c->kernel_only[0])
        return qn_fail(err, QN_ERR_USAGE, "format: without a flow there is only npy");
    if (c->format != QN_LES_FORMAT_NPY && c->observer != QN_LES_OBSERVE_SNAPSHOTS)
        return qn_fail(err, QN_ERR_USAGE,
                       "format: netcdf stores the fields of snapshots: add --observer snapshots");
    return QN_OK;
}

int qn_les_clim(const qn_les_options *options, double *low, double *high)
{
    int end = 0;

    return sscanf(options->clim, "%lf,%lf%n", low, high, &end) == 2 && !options->clim[end] &&
           isfinite(*high - *low) && *low < *high;
}

int qn_les_clim_rolls(const qn_les_options *options)
{
    return !strcmp(options->clim, "rolling");
}

static qn_status settle_pictures(const qn_les_options *c, qn_err *err)
{
    double low, high;

    if (!strcmp(c->clim, "first") || qn_les_clim_rolls(c) || qn_les_clim(c, &low, &high))
        return QN_OK;
    return qn_fail(err, QN_ERR_USAGE,
                   "clim: '%s' is neither first, rolling, nor two numbers LO,HI with LO below HI",
                   c->clim);
}

qn_status qn_les_options_settle(qn_les_options *config, qn_err *err)
{
    qn_status st = QN_OK;

    if (config->N % 2)
        return qn_fail(err, QN_ERR_USAGE, "N: %d is odd; the grid has an even number of cells",
                       config->N);
    QN_TRY(settle_linear(config, err));
    QN_TRY(settle_time(config, err));
    QN_TRY(settle_field(config, err));
    QN_TRY(settle_codec(config, err));
    QN_TRY(settle_files(config, err));
    QN_TRY(settle_pictures(config, err));
out:
    return st;
}
