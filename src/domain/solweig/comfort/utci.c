/* utci.c - coefficients of a time step, and the stages that use them. */
#include "domain/solweig/comfort/comfort.h"

#include "kernel/sw_utci.gen.h"

#include <math.h>

enum { POWERS = QN_SW_UTCI_DEGREE + 1 };

static int is_given(double value)
{
    return isfinite(value) && value > -999.0;
}

/* Saturation pressure over water (Hardy 1998), times the humidity, in kPa. */
static double vapour_kpa(double ta, double rh)
{
    static const double g[] = { -2836.5744,   -6028.076559,  19.54263612,   -0.02737830188,
                                1.6261698e-5, 7.0229056e-10, -1.8680009e-13 };
    const double kelvin = ta + 273.15;
    double power = 1.0 / (kelvin * kelvin), sum = 2.7150305 * log(kelvin);

    for (int i = 0; i < 7; i++, power *= kelvin)
        sum += g[i] * power;
    return exp(sum) * 0.01 * rh / 100.0 / 10.0;
}

static void fill_powers(double x, double power[POWERS])
{
    power[0] = 1;
    for (int k = 1; k < POWERS; k++)
        power[k] = power[k - 1] * x;
}

/* sum[j][b]: the factor of dT^j va^b. */
static void gather(double ta, double rh, double sum[POWERS][POWERS])
{
    double t[POWERS], p[POWERS];

    fill_powers(ta, t);
    fill_powers(vapour_kpa(ta, rh), p);
    for (int j = 0; j < POWERS; j++)
        for (int b = 0; b < POWERS; b++)
            sum[j][b] = 0;
    for (int i = 0; i < QN_SW_UTCI_TERMS; i++) {
        const qn_sw_utci_term *term = &qn_sw_utci_terms[i];

        sum[term->dt][term->va] += term->factor * t[term->ta] * p[term->pa];
    }
    sum[0][0] += ta;
}

/* The factors of dT^j at one wind. */
static void gather_at(double ta, double rh, double va, double c[POWERS])
{
    double sum[POWERS][POWERS], v[POWERS];

    gather(ta, rh, sum);
    fill_powers(va, v);
    for (int j = 0; j < POWERS; j++) {
        c[j] = 0;
        for (int b = 0; b < POWERS; b++)
            c[j] += sum[j][b] * v[b];
        if (!is_given(ta) || !is_given(rh) || !is_given(va) || va <= 0)
            c[j] = NAN;
    }
}

sw_utci_par qn_sw_utci_prepare(double ta, double rh, double va, int cols)
{
    sw_utci_par par = { .ta = (float)ta, .cols = cols };
    double c[POWERS];

    gather_at(ta, rh, va, c);
    for (int j = 0; j < POWERS; j++)
        par.c[j] = (float)c[j];
    return par;
}

sw_utci_wind_par qn_sw_utci_prepare_wind(double ta, double rh, int cols)
{
    const int is_missing = !is_given(ta) || !is_given(rh);
    sw_utci_wind_par par = { .ta = (float)ta, .cols = cols };
    double sum[POWERS][POWERS];
    int k = 0;

    gather(ta, rh, sum);
    for (int j = QN_SW_UTCI_DEGREE; j >= 0; j--)
        for (int b = QN_SW_UTCI_DEGREE - j; b >= 0; b--)
            par.w[k++] = is_missing ? NAN : (float)sum[j][b];
    return par;
}

qn_status qn_sw_add_utci(qn_graph *graph, const sw_utci_par *par, int rows, qn_buf *tmrt,
                         qn_buf *utci, qn_err *err)
{
    return stage_sw_utci(graph, "utci", qn_range_2d(par->cols, rows), *par, tmrt, utci, err);
}

qn_status qn_sw_add_utci_wind(qn_graph *graph, const sw_utci_wind_par *par, int rows, qn_buf *wind,
                              qn_buf *tmrt, qn_buf *utci, qn_err *err)
{
    return stage_sw_utci_wind(graph, "utci", qn_range_2d(par->cols, rows), *par, wind, tmrt, utci,
                              err);
}
