/* check_time.c - methods in time: their orders, exact solutions, the steps of random flows, and the
 * energy that random forcing adds. */
#include "check_impl.h"

#include "kernel/philox.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int order;
} methods[] = {
    { "rk4", 4 }, { "ifrk4", 4 }, { "etdrk4", 4 }, { "ssprk3", 3 }, { "heun", 2 },
};

enum { N_METHODS = sizeof methods / sizeof *methods };

/* V13: observed orders. */

#define CARRIED                                                                                    \
    "n", "32", "ic", "taylor_green", "nu0", "0.05", "cs", "0", "mean-u", "1", "mean-v", "0.5"
#define TURBULENT                                                                                  \
    "n", "64", "seed", "1", "nu0", "1e-3", "drag", "0.05", "beta", "5", "hyper-nu", "1e-10",       \
        "hypo-nu", "0.1", "forcing", "kolmogorov"

static qn_status field_after(qn_ctx *ctx, const char *const *pairs, int n_steps, qn_les_flow *flow,
                             double **field, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_open(ctx, pairs, flow, err));
    QN_TRY(qn_les_flow_run(flow, n_steps, err));
    QN_TRY(qn_les_flow_field(flow, field, err));
out:
    return st;
}

/* The error of a vortex carried by a mean flow for one unit of time, whose solution is known. */
static qn_status carried_off(qn_ctx *ctx, const char *method, int n_steps, double *off, qn_err *err)
{
    char dt[32];
    qn_les_flow flow = { 0 };
    double *got = NULL, sum = 0, norm = 0;
    qn_status st = QN_OK;

    snprintf(dt, sizeof dt, "%.17g", 1.0 / n_steps);
    QN_TRY(field_after(ctx,
                       QN_LES_OPTIONS(CARRIED, "dt", dt, "integrator", method, "precision", "f64",
                                      "allow-unstable", "1"),
                       n_steps, &flow, &got, err));
    for (int i = 0; i < 32 * 32; i++) {
        const double x = 2 * M_PI * (i % 32) / 32 - 1, y = 2 * M_PI * (int)(i / 32) / 32 - 0.5;
        const double want = 2 * exp(-0.1) * cos(x) * cos(y);

        sum += (got[i] - want) * (got[i] - want);
        norm += want * want;
    }
    *off = sqrt(sum / norm);
out:
    free(got);
    qn_les_flow_close(&flow);
    return st;
}

/* Turbulence with every linear term, at t = 1. */
static qn_status turbulent(qn_ctx *ctx, const char *method, int n_steps, double **field,
                           qn_err *err)
{
    char dt[32];
    qn_les_flow flow = { 0 };
    qn_status st;

    snprintf(dt, sizeof dt, "%.17g", 1.0 / n_steps);
    st = field_after(ctx,
                     QN_LES_OPTIONS(TURBULENT, "dt", dt, "integrator", method, "precision", "f64",
                                    "allow-unstable", "1"),
                     n_steps, &flow, field, err);
    qn_les_flow_close(&flow);
    return st;
}

static qn_status order_of(qn_ctx *ctx, int m, qn_findings *findings, qn_err *err)
{
    const char *name = methods[m].name;
    const double low = methods[m].order - 0.1, high = methods[m].order + 0.1;
    double off[2], *fields[3] = { NULL };
    qn_status st = QN_OK;

    for (int i = 0; i < 2; i++)
        QN_TRY(carried_off(ctx, name, 40 << i, &off[i], err));
    qn_finding_within(findings, "V13", log2(off[0] / off[1]), low, high,
                      "%s: order for a vortex in a mean flow", name);
    for (int i = 0; i < 3; i++)
        QN_TRY(turbulent(ctx, name, 160 << i, &fields[i], err));
    for (int i = 0; i < 2; i++)
        off[i] = qn_les_distance(fields[i], fields[i + 1], 64 * 64);
    qn_finding_within(findings, "V13", log2(off[0] / off[1]), low, high,
                      "%s: order for turbulence with all linear terms", name);
out:
    for (int i = 0; i < 3; i++)
        free(fields[i]);
    return st;
}

qn_status qn_les_check_orders(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    qn_status st = QN_OK;

    for (int m = 0; m < N_METHODS && qn_les_has_f64(ctx); m++)
        QN_TRY(order_of(ctx, m, findings, err));
out:
    return st;
}

/* V14: waves of one wavelength, |k| = 5, which do not act on each other: each decays, moves with the
 * mean flow and on the gradient of planetary vorticity, and approaches its force. */

#define WAVES                                                                                      \
    "n", "32", "ic", "taylor_green", "cs", "0", "nu0", "0.01", "drag", "0.1", "hyper-nu", "1e-7",  \
        "hyper-order", "4", "hypo-nu", "2", "beta", "8", "mean-u", "0.7", "mean-v", "-0.3",        \
        "forcing", "kolmogorov", "forcing-k", "5", "forcing-amplitude", "0.5"

static double waves_at(double x, double y, double t)
{
    static const int modes[][2] = { { 5, 0 }, { 4, 3 }, { 3, 4 }, { 0, 5 }, { 3, -4 } };
    const double decay = 0.01 * 25 + 0.1 + 1e-7 * pow(25, 4) + 2.0 / 25;
    double sum = 0;

    for (int i = 0; i < 5; i++) {
        const int kx = modes[i][0], ky = modes[i][1];
        const double complex rate = -decay + I * (8 * kx / 25.0 - 0.7 * kx + 0.3 * ky);
        const double complex rest = kx == 0 ? 0.5 * 5 / rate : 0;
        const double complex now = rest + (1 + 0.5 * i - rest) * cexp(rate * t);

        sum += creal(now * cexp(I * (kx * x + ky * y)));
    }
    return sum;
}

static double *waves(double t, qn_err *err)
{
    double *cells = malloc(32 * 32 * sizeof *cells);

    if (!cells)
        qn_fail(err, QN_ERR_NOMEM, "no memory for a field of waves");
    for (int i = 0; cells && i < 32 * 32; i++)
        cells[i] = waves_at(2 * M_PI * (i % 32) / 32, 2 * M_PI * (int)(i / 32) / 32, t);
    return cells;
}

static qn_status waves_off(qn_ctx *ctx, const char *method, int n_steps, double *off, qn_err *err)
{
    char dt[32];
    qn_les_flow flow = { 0 };
    double *first = waves(0, err), *want = waves(1, err), *got = NULL;
    qn_status st = first && want ? QN_OK : QN_ERR_NOMEM;

    snprintf(dt, sizeof dt, "%.17g", 1.0 / n_steps);
    QN_TRY(st);
    QN_TRY(qn_les_flow_open(ctx,
                            QN_LES_OPTIONS(WAVES, "dt", dt, "integrator", method, "precision",
                                           "f64", "allow-unstable", "1"),
                            &flow, err));
    QN_TRY(qn_les_flow_set(&flow, first, err));
    QN_TRY(qn_les_flow_run(&flow, n_steps, err));
    QN_TRY(qn_les_flow_field(&flow, &got, err));
    *off = qn_les_distance(got, want, 32 * 32);
out:
    free(first);
    free(want);
    free(got);
    qn_les_flow_close(&flow);
    return st;
}

qn_status qn_les_check_waves(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    double off[2];
    qn_status st = QN_OK;

    for (int m = 0; m < N_METHODS && qn_les_has_f64(ctx); m++) {
        for (int i = 0; i < 2; i++)
            QN_TRY(waves_off(ctx, methods[m].name, 100 << i, &off[i], err));
        qn_finding_within(findings, "V14", log2(off[0] / off[1]), methods[m].order - 0.1,
                          methods[m].order + 0.1, "%s: order for forced waves", methods[m].name);
        qn_finding_within(findings, "V14", off[1], 0, methods[m].order == 4 ? 1e-6 : 1e-2,
                          "%s: error of forced waves, 200 steps", methods[m].name);
    }
out:
    return st;
}

/* V15: random flows with the steps that are the default. */

/* The options of case `i`: choices by a counter, so that each case is itself whatever others do. */
typedef struct draw {
    int number;
    char text[8][32];
    const char *pairs[48];
    int n, n_texts, n_drawn;
} draw;

static double next(draw *d)
{
    return philox_at(d->number, d->n_drawn++, PHILOX_SPECTRAL, 0, 2026).a / 4294967296.0;
}

static void put(draw *d, const char *name, const char *value)
{
    d->pairs[d->n++] = name;
    d->pairs[d->n++] = value;
    d->pairs[d->n] = NULL;
}

/* `name` with a number between low and high, evenly in its logarithm. */
static void put_number(draw *d, const char *name, double low, double high)
{
    char *text = d->text[d->n_texts++];

    snprintf(text, sizeof d->text[0], "%.3g", low * pow(high / low, next(d)));
    put(d, name, text);
}

static const char *pick(draw *d, const char *const *list, int n)
{
    return list[(int)(n * next(d))];
}

static void draw_case(draw *d, int i, int n_sizes)
{
    static const char *const sizes[] = { "64", "64", "64", "128", "128", "256", "512" };
    static const char *const forcings[] = { "none", "kolmogorov", "kolmogorov", "ring" };
    static const char *const names[] = { "ifrk4", "ifrk4", "etdrk4", "rk4", "ssprk3", "heun" };
    static const char *const precisions[] = { "f32", "f64" };

    *d = (draw){ .number = i };
    put(d, "what", "sim");
    put(d, "n", pick(d, sizes, n_sizes));
    put(d, "integrator", pick(d, names, 6));
    put(d, "precision", pick(d, precisions, 2));
    put(d, "forcing", pick(d, forcings, 4));
    put(d, "forcing-k", next(d) < 0.5 ? "4" : "8");
    put_number(d, "forcing-amplitude", 0.1, 10);
    put_number(d, "forcing-rate", 0.01, 10);
    put_number(d, "ic-value", 0.1, 10);
    put_number(d, "nu0", 1e-6, 1e-2);
    if (next(d) < 0.5)
        put_number(d, "drag", 1e-2, 1);
    if (next(d) < 0.3)
        put_number(d, "hyper-nu", 1e-16, 1e-12);
    if (next(d) < 0.3)
        put_number(d, "beta", 0.1, 30);
}

enum { BUDGET_STEPS = 16 };

/* The integral of `g` over times `t`, by parabolas through three points. */
static double integral(const double *t, const double *g, int n)
{
    double sum = 0;

    for (int i = 0; i + 2 <= n; i += 2) {
        const double a = t[i + 1] - t[i], b = t[i + 2] - t[i + 1], h = a + b;

        sum += h / 6 * ((2 - b / a) * g[i] + h * h / (a * b) * g[i + 1] + (2 - a / b) * g[i + 2]);
    }
    return sum;
}

/* Change of the energy against the integral of its rate, <psi rhs>, relative to the energy that goes
 * through: that of the largest rate, and what drag and viscosity take where the rest balances it. */
static qn_status budget_of(qn_les_flow *flow, double *off, qn_err *err)
{
    double t[BUDGET_STEPS + 1], g[BUDGET_STEPS + 1], most = 0;
    double *psi = NULL, *rhs = NULL;
    qn_les_row first, last;
    qn_les_progress now;
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_row(flow, &first, err));
    for (int i = 0; i <= BUDGET_STEPS; i++) {
        if (i > 0)
            QN_TRY(qn_les_flow_run(flow, 1, err));
        QN_TRY(qn_les_flow_probe(flow, QN_LES_PROBE_PSI, &psi, err));
        QN_TRY(qn_les_flow_probe(flow, QN_LES_PROBE_RHS, &rhs, err));
        QN_TRY(qn_les_sim_progress(flow->sim, &now, err));
        t[i] = now.time;
        g[i] = qn_les_mean_product(psi, rhs, flow->cells);
        most = fmax(most, fabs(g[i]));
        free(psi);
        free(rhs);
        psi = rhs = NULL;
    }
    QN_TRY(qn_les_flow_row(flow, &last, err));
    most += 2 * flow->config.drag * last.energy + 2 * flow->config.nu0 * last.enstrophy;
    *off = fabs(last.energy - first.energy - integral(t, g, BUDGET_STEPS)) /
           (most * (t[BUDGET_STEPS] - t[0]) + (flow->sim->is_f64 ? 1e-10 : 1e-4) * last.energy);
out:
    free(psi);
    free(rhs);
    return st;
}

static qn_status random_flow(qn_ctx *ctx, int i, int n_sizes, int n_steps, qn_findings *findings,
                             qn_err *err)
{
    draw d;
    qn_les_flow flow = { 0 };
    qn_graph *graph = NULL;
    qn_les_progress end;
    double off = 0;
    qn_status st = QN_OK;

    draw_case(&d, i, n_sizes);
    if (!qn_les_has_f64(ctx) && !strcmp(d.pairs[7], "f64"))
        return QN_OK;
    QN_TRY(qn_les_flow_open(ctx, d.pairs, &flow, err));
    QN_TRY(qn_les_flow_run(&flow, n_steps, err));
    QN_TRY(qn_graph_new(ctx, "les.check", &graph, err));
    QN_TRY(qn_les_sim_add_check(flow.sim, graph, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_les_sim_progress(flow.sim, &end, err));
    qn_finding_within(findings, "V15", (double)end.n_not_finite, 0, 0,
                      "case %d (N %s, %s, %s, %s): cells that are not finite after %d steps", i,
                      d.pairs[3], d.pairs[5], d.pairs[7], d.pairs[9], n_steps);
    if (flow.config.forcing != QN_LES_FORCING_RING && end.n_not_finite == 0) {
        QN_TRY(budget_of(&flow, &off, err));
        qn_finding_within(findings, "V15", off, 0, flow.sim->method->n_stages == 4 ? 1e-3 : 1e-2,
                          "case %d: energy budget over %d steps", i, BUDGET_STEPS);
    }
out:
    qn_graph_free(graph);
    qn_les_flow_close(&flow);
    return st;
}

enum { CASES = 60, STEPS = 2000, ALL_SIZES = 7, SMALL_SIZES = 5 };

qn_status qn_les_check_random(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    qn_status st = QN_OK;

    for (int i = 0; i < CASES; i++)
        QN_TRY(random_flow(ctx, i, ALL_SIZES, STEPS, findings, err));
out:
    return st;
}

qn_status qn_les_check_random_small(qn_ctx *ctx, int n_cases, qn_findings *findings, qn_err *err)
{
    qn_status st = QN_OK;

    for (int i = 0; i < n_cases; i++)
        QN_TRY(random_flow(ctx, i, SMALL_SIZES, 300, findings, err));
out:
    return st;
}

/* V16: random forcing. Its energy is what the flow gains and dissipates. */

#define RING                                                                                       \
    "n", "64", "forcing", "ring", "forcing-k", "8", "forcing-width", "3", "forcing-rate", "0.2",   \
        "nu0", "0", "cs", "0", "hyper-nu", "1e-9", "drag", "0.5", "dt", "0.025", "ic-value",       \
        "1e-6"

qn_status qn_les_check_ring(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    enum { SPANS = 2000, SPAN = 8, BEGIN = 40 };
    qn_les_flow flow = { 0 };
    double *psi = NULL, *rhs = NULL, lost = 0, hyper = 0;
    qn_les_row first = { 0 }, last;
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_open(
        ctx, QN_LES_OPTIONS(RING, "precision", qn_les_has_f64(ctx) ? "f64" : "f32"), &flow, err));
    for (int i = 0; i <= SPANS; i++) {
        QN_TRY(qn_les_flow_row(&flow, &last, err));
        QN_TRY(qn_les_flow_probe(&flow, QN_LES_PROBE_PSI, &psi, err));
        QN_TRY(qn_les_flow_probe(&flow, QN_LES_PROBE_RHS, &rhs, err));
        if (i == BEGIN)
            first = last;
        if (i >= BEGIN) {
            const double weight = i == BEGIN || i == SPANS ? 0.5 : 1;
            const double drain = -qn_les_mean_product(psi, rhs, flow.cells);

            lost += weight * drain * SPAN * 0.025;
            hyper += weight * (drain - 2 * 0.5 * last.energy) * SPAN * 0.025;
        }
        free(psi);
        free(rhs);
        psi = rhs = NULL;
        if (i < SPANS)
            QN_TRY(qn_les_flow_run(&flow, SPAN, err));
    }
    qn_finding_within(findings, "V16",
                      (last.energy - first.energy + lost) / (last.time - first.time), 0.98 * 0.2,
                      1.02 * 0.2, "energy that forcing of rate 0.2 adds");
    qn_finding_within(findings, "V16", hyper / lost, 0.02, 0.98,
                      "share that hyperviscosity dissipates");
out:
    free(psi);
    free(rhs);
    qn_les_flow_close(&flow);
    return st;
}
