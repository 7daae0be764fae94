/* ic.c - initial fields made on the host. */
#include "ic.h"

#include "kernel/philox.h"
#include "util/npy.h"

#include <math.h>
#include <string.h>

qn_les_start qn_les_ic_start(const qn_les_options *config)
{
    switch (config->ic) {
    case QN_LES_IC_SPECTRAL:
        return QN_LES_START_SPECTRUM;
    case QN_LES_IC_BOX:
        return QN_LES_START_DEVICE;
    default:
        return QN_LES_START_FIELD;
    }
}

size_t qn_les_ic_elems(const qn_les_options *config)
{
    const size_t n = (size_t)config->N;

    switch (qn_les_ic_start(config)) {
    case QN_LES_START_SPECTRUM:
        return n * (n / 2 + 1) * 2;
    case QN_LES_START_FIELD:
        return n * n;
    case QN_LES_START_DEVICE:
        break;
    }
    return 0;
}

/* Spectral. */

static int is_drawn(int kx, int ky, int kmax)
{
    return (kx > 0 || ky > 0) && kx * kx + ky * ky <= kmax * kmax;
}

/* The coefficient of a mode before it is scaled. */
static void draw_mode(const qn_les_options *config, uint64_t seed, int kx, int ky, double out[2])
{
    const double k2 = kx * kx + ky * ky;
    const double t = k2 / (config->ic_k0 * config->ic_k0);
    const double amp =
        config->ic_shape == QN_LES_SHAPE_COMPACT ? sqrt(k2) / (1 + t * t) : sqrt(k2 / (1 + t * t));

    for (u32 draw = 0; draw < 2; draw++)
        out[draw] = amp * philox_gauss(philox_at(kx, ky, PHILOX_SPECTRAL, draw, seed));
}

/* Modes go by ky, then kx: the order of the sum is part of the result. Drawing each mode twice is
 * cheaper than storing it. */
static void fill_spectral(const qn_les_options *config, uint64_t seed, double *half)
{
    const int n = config->N, kmax = config->ic_kmax;
    const int edge = config->dealias == QN_LES_DEALIAS_TWO_THIRDS ? (n - 1) / 3 : (n - 1) / 2;
    const int k_end = kmax < edge ? kmax : edge;
    const size_t row = 2 * ((size_t)n / 2 + 1);
    double sum = 0, z[2];

    memset(half, 0, qn_les_ic_elems(config) * sizeof *half);
    for (int ky = -k_end; ky <= k_end; ky++) {
        for (int kx = 0; kx <= k_end; kx++) {
            if (!is_drawn(kx, ky, kmax))
                continue;
            draw_mode(config, seed, kx, ky, z);
            const double power = z[0] * z[0] + z[1] * z[1];
            sum += config->ic_norm == QN_LES_NORM_ENERGY ? power / (kx * kx + ky * ky) : power;
        }
    }

    const double c = config->ic_norm == QN_LES_NORM_ENERGY ? sqrt(config->ic_value / sum)
                                                           : config->ic_value / sqrt(2 * sum);
    const double scale = c * ((double)n * n);
    for (int ky = -k_end; ky <= k_end; ky++) {
        for (int kx = 0; kx <= k_end; kx++) {
            double *at = half + (size_t)(ky < 0 ? ky + n : ky) * row + 2 * (size_t)kx;

            if (!is_drawn(kx, ky, kmax))
                continue;
            draw_mode(config, seed, kx, ky, z);
            at[0] = z[0] * scale;
            at[1] = z[1] * scale;
            if (kx == 0) { /* its mirror image is in the half spectrum, too */
                half[(size_t)(n - ky) * row] = at[0];
                half[(size_t)(n - ky) * row + 1] = -at[1];
            }
        }
    }
}

/* On the grid. */

static void fill_taylor_green(const qn_les_options *config, double *field)
{
    const int n = config->N;

    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            field[(size_t)j * (size_t)n + (size_t)i] =
                2 * cos(2 * M_PI * i / n) * cos(2 * M_PI * j / n);
}

/* Two shear layers, u = tanh of the distance from each in units of r, and a small perturbation
 * v = 0.05 sin x that makes them roll up. */
static void fill_shear(const qn_les_options *config, double *field)
{
    const int n = config->N;
    const double r = M_PI / 15;

    for (int j = 0; j < n; j++) {
        const double y = 2 * M_PI * j / n;
        const int is_lower = 2 * j <= n;
        const double u = tanh((is_lower ? y - M_PI / 2 : 3 * M_PI / 2 - y) / r);
        const double du_dy = (is_lower ? 1 : -1) * (1 - u * u) / r;

        for (int i = 0; i < n; i++)
            field[(size_t)j * (size_t)n + (size_t)i] = 0.05 * cos(2 * M_PI * i / n) - du_dy;
    }
}

/* From a file, or from memory. */

static qn_status check_shape(const qn_les_options *config, const qn_npy *array, qn_err *err)
{
    const int d = array->n_dims;

    if (array->type != QN_NPY_F8 && array->type != QN_NPY_F4)
        return qn_fail(err, QN_ERR_INPUT, "%s: elements are %s, but <f8 or <f4 is needed",
                       config->ic_file, qn_npy_type_name(array->type));
    if (d != 2 && d != 3)
        return qn_fail(err, QN_ERR_INPUT, "%s: an array of %d dimensions, but 2 or 3 are needed",
                       config->ic_file, d);
    if (array->dims[d - 1] != config->N || array->dims[d - 2] != config->N)
        return qn_fail(err, QN_ERR_INPUT, "%s has %lld x %lld cells, but N is %d (--n)",
                       config->ic_file, (long long)array->dims[d - 2],
                       (long long)array->dims[d - 1], config->N);
    if (d == 3 && array->dims[0] != config->ensemble)
        return qn_fail(err, QN_ERR_INPUT, "%s: %lld fields for %d members of the ensemble",
                       config->ic_file, (long long)array->dims[0], config->ensemble);
    return QN_OK;
}

/* One field serves all members. */
static qn_status fill_given(const qn_les_options *config, double *out, qn_err *err)
{
    const size_t elems = qn_les_ic_elems(config), all = elems * (size_t)config->ensemble;
    qn_npy array = { 0 };
    qn_status st = QN_OK;
    size_t n = config->n_ic_field;

    if (!n) {
        QN_TRY(qn_npy_read(config->ic_file, &array, err));
        QN_TRY(check_shape(config, &array, err));
        n = (size_t)qn_npy_elems(&array);
    }
    for (size_t i = 0; i < n; i++) {
        const double value =
            config->n_ic_field ? config->ic_field[i] : qn_npy_at(&array, (qn_i64)i);

        if (!isfinite(value))
            QN_FAIL(err, QN_ERR_INPUT, "%s: the number at row %zu, column %zu is not finite",
                    config->n_ic_field ? "ic_field" : config->ic_file, i / (size_t)config->N,
                    i % (size_t)config->N);
        out[i] = value;
    }
    for (size_t at = n; at < all; at += elems)
        memcpy(out + at, out, elems * sizeof *out);
out:
    qn_npy_free(&array);
    return st;
}

qn_status qn_les_ic_fill(const qn_les_options *config, double *out, qn_err *err)
{
    const size_t elems = qn_les_ic_elems(config);

    if (config->ic == QN_LES_IC_FILE)
        return fill_given(config, out, err);
    for (int b = 0; b < config->ensemble; b++) {
        double *member = out + (size_t)b * elems;

        switch (config->ic) {
        case QN_LES_IC_SPECTRAL:
            fill_spectral(config, config->seed + (uint64_t)b, member);
            break;
        case QN_LES_IC_TAYLOR_GREEN:
            fill_taylor_green(config, member);
            break;
        case QN_LES_IC_SHEAR:
            fill_shear(config, member);
            break;
        default:
            return qn_fail(err, QN_ERR_USAGE, "ic: box is made on the device, not on the host");
        }
    }
    return QN_OK;
}
