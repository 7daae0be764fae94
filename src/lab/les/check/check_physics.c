/* check_physics.c - checks against exact solutions: decay, order in time, closure, forcing,
 * invariants. */
#include "check_impl.h"

#include "util/temp_dir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const precisions[] = { "f64", "f32" };
static const char *const forms[] = { "flux", "advective" };

/* The first precision to check on this device. */
static int first_precision(const qn_ctx *ctx)
{
    return qn_les_has_f64(ctx) ? 0 : 1;
}

static double *new_cells(size_t n, qn_err *err)
{
    double *cells = malloc(n * sizeof *cells);

    if (!cells)
        qn_fail(err, QN_ERR_NOMEM, "%zu cells exceed host memory", n);
    return cells;
}

/* amplitude * 2 cos(x - a) cos(y - b) */
static double *taylor_green(int n, double amplitude, double a, double b, qn_err *err)
{
    double *cells = new_cells((size_t)n * (size_t)n, err);

    for (int j = 0; cells && j < n; j++)
        for (int i = 0; i < n; i++)
            cells[j * n + i] =
                2 * amplitude * cos(2 * M_PI * i / n - a) * cos(2 * M_PI * j / n - b);
    return cells;
}

/* The vorticity of `flow` against 2 amplitude cos(x - a) cos(y - b). */
static qn_status off_taylor_green(qn_les_flow *flow, double amplitude, double a, double b,
                                  double *off, qn_err *err)
{
    double *got = NULL, *want = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_field(flow, &got, err));
    if (!(want = taylor_green(flow->config.N, amplitude, a, b, err))) {
        st = QN_ERR_NOMEM;
        goto out;
    }
    *off = qn_les_distance(got, want, flow->cells);
out:
    free(got);
    free(want);
    return st;
}

/* V1: decay of the Taylor-Green vortex. */

static qn_status decay_of(qn_ctx *ctx, const char *form, const char *precision,
                          qn_findings *findings, qn_err *err)
{
    const double z = 2 * 0.05 * 0.01, discrete = pow(1 - z + z * z / 2, 100);
    const int is_f64 = !strcmp(precision, "f64");
    qn_les_flow flow = { 0 };
    double off;
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_open(ctx,
                            QN_LES_OPTIONS("n", "64", "ic", "taylor_green", "nu0", "0.05", "cs",
                                           "0", "dt", "0.01", "form", form, "precision", precision,
                                           "integrator", "heun"),
                            &flow, err));
    QN_TRY(qn_les_flow_run(&flow, 100, err));
    QN_TRY(off_taylor_green(&flow, discrete, 0, 0, &off, err));
    qn_finding_within(findings, "V1", off, 0, is_f64 ? 1e-12 : 1e-5,
                      "%s %s: error of the exact discrete decay", form, precision);
    if (is_f64) {
        QN_TRY(off_taylor_green(&flow, exp(-2 * 0.05), 0, 0, &off, err));
        qn_finding_within(findings, "V1", off, 1.67e-8 * 0.98, 1.67e-8 * 1.02,
                          "%s %s: error in time, n z^3/6", form, precision);
    }
out:
    qn_les_flow_close(&flow);
    return st;
}

static qn_status check_vortex(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    qn_status st = QN_OK;

    for (int f = 0; f < 2; f++)
        for (int p = first_precision(ctx); p < 2; p++)
            QN_TRY(decay_of(ctx, forms[f], precisions[p], findings, err));
out:
    return st;
}

/* V2: order in time. */

static qn_status carried(qn_ctx *ctx, int n_steps, double *off, qn_err *err)
{
    char dt[32];
    qn_les_flow flow = { 0 };
    qn_status st = QN_OK;

    snprintf(dt, sizeof dt, "%.17g", 1.0 / n_steps);
    QN_TRY(
        qn_les_flow_open(ctx,
                         QN_LES_OPTIONS("n", "64", "ic", "taylor_green", "nu0", "0.05", "cs", "0",
                                        "dt", dt, "mean-u", "1", "mean-v", "0.5", "precision",
                                        "f64", "allow-unstable", "1", "integrator", "heun"),
                         &flow, err));
    QN_TRY(qn_les_flow_run(&flow, n_steps, err));
    QN_TRY(off_taylor_green(&flow, exp(-2 * 0.05), 1, 0.5, off, err));
out:
    qn_les_flow_close(&flow);
    return st;
}

static qn_status closed(qn_ctx *ctx, const char *visc, int n_steps, double **field, size_t *cells,
                        qn_err *err)
{
    char dt[32];
    qn_les_flow flow = { 0 };
    qn_status st = QN_OK;

    snprintf(dt, sizeof dt, "%.17g", 0.64 / n_steps);
    QN_TRY(qn_les_flow_open(ctx,
                            QN_LES_OPTIONS("n", "64", "seed", "1", "cs", "0.5", "dt", dt, "visc",
                                           visc, "precision", "f64", "allow-unstable", "1",
                                           "integrator", "heun"),
                            &flow, err));
    QN_TRY(qn_les_flow_run(&flow, n_steps, err));
    QN_TRY(qn_les_flow_field(&flow, field, err));
    *cells = flow.cells;
out:
    qn_les_flow_close(&flow);
    return st;
}

/* Differences of runs with half the step each. */
static qn_status order_with_closure(qn_ctx *ctx, const char *visc, qn_findings *findings,
                                    qn_err *err)
{
    static const double wanted[] = { 2.03, 2.01, 2.00 };
    double *field[5] = { NULL }, off[4];
    size_t cells = 0;
    qn_status st = QN_OK;

    for (int i = 0; i < 5; i++)
        QN_TRY(closed(ctx, visc, 16 << i, &field[i], &cells, err));
    for (int i = 0; i < 4; i++)
        off[i] = qn_les_distance(field[i], field[i + 1], cells);
    for (int i = 0; i < 3; i++)
        qn_finding_within(findings, "V2", log2(off[i] / off[i + 1]), wanted[i] - 0.05,
                          wanted[i] + 0.05, "%s: order in time with closure, %d steps", visc,
                          16 << i);
out:
    for (int i = 0; i < 5; i++)
        free(field[i]);
    return st;
}

static qn_status check_order(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    static const double wanted[] = { 1.605e-4, 4.010e-5, 1.002e-5, 2.505e-6 };
    double off[4];
    qn_status st = QN_OK;

    if (first_precision(ctx))
        return QN_OK;
    for (int i = 0; i < 4; i++) {
        QN_TRY(carried(ctx, 50 << i, &off[i], err));
        qn_finding_within(findings, "V2", off[i], 0.99 * wanted[i], 1.01 * wanted[i],
                          "vortex in a mean flow, error of %d steps", 50 << i);
        if (i > 0)
            qn_finding_within(findings, "V2", log2(off[i - 1] / off[i]), 1.98, 2.02,
                              "vortex in a mean flow, order in time at %d steps", 50 << i);
    }
    QN_TRY(order_with_closure(ctx, "explicit", findings, err));
    QN_TRY(order_with_closure(ctx, "ifac", findings, err));
out:
    return st;
}

/* V3: the closure. */

static qn_status closure_of(qn_ctx *ctx, const char *n, const char *form, double low, double high,
                            qn_findings *findings, qn_err *err)
{
    qn_les_flow flow = { 0 };
    double *psi = NULL, *rhs = NULL, *nut = NULL, most = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_open(
        ctx,
        QN_LES_OPTIONS("n", n, "ic", "taylor_green", "nu0", "0", "form", form, "precision", "f64"),
        &flow, err));
    QN_TRY(qn_les_flow_probe(&flow, QN_LES_PROBE_PSI, &psi, err));
    QN_TRY(qn_les_flow_probe(&flow, QN_LES_PROBE_RHS, &rhs, err));
    QN_TRY(qn_les_flow_probe(&flow, QN_LES_PROBE_NUT, &nut, err));

    const double smag = flow.sim->par.smag;
    const int side = flow.config.N;
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++) {
            const double strain = 2 * fabs(sin(2 * M_PI * i / side) * sin(2 * M_PI * j / side));

            most = fmax(most, fabs(nut[j * side + i] / smag - strain));
        }
    qn_finding_within(findings, "V3", most, 0, 1e-12, "%s, N = %s: strain of the vortex", form, n);
    qn_finding_within(findings, "V3", -qn_les_mean_product(psi, rhs, flow.cells) / smag, low, high,
                      "%s, N = %s: energy drain over (Cs dx)^2", form, n);
out:
    free(psi);
    free(rhs);
    free(nut);
    qn_les_flow_close(&flow);
    return st;
}

static qn_status check_closure(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    const double drain = 128 / (9 * M_PI * M_PI);
    qn_status st = QN_OK;

    if (first_precision(ctx))
        return QN_OK;
    QN_TRY(closure_of(ctx, "64", "flux", drain * (1 - 3e-6), drain * (1 + 3e-6), findings, err));
    QN_TRY(closure_of(ctx, "128", "flux", drain * (1 - 2e-7), drain * (1 + 2e-7), findings, err));
    /* A quarter of it: nu_t lap(om) is not the curl of a stress. */
    QN_TRY(closure_of(ctx, "64", "advective", 0.355, 0.362, findings, err));
out:
    return st;
}

/* V4: a steady solution made by a force. */

/* The vorticity of the steady flow, and the force that maintains it. */
static void steady_flow(int n, double *om, double *force)
{
    const double nu = 0.01;

    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const double x = 2 * M_PI * i / n, y = 2 * M_PI * j / n;
            const double a = sin(2 * x) * cos(2 * y), b = sin(x) * cos(3 * y);
            const double cross = cos(x) * cos(3 * y) * sin(2 * x) * sin(2 * y) -
                                 3 * cos(2 * x) * cos(2 * y) * sin(x) * sin(3 * y);

            om[j * n + i] = -8 * a - 20 * b;
            force[j * n + i] = -(nu * (64 * a + 200 * b) + 8 * cross);
        }
}

static qn_status steady_in(qn_les_flow *flow, const double *om, const double *force,
                           qn_findings *findings, qn_err *err)
{
    const int is_f64 = flow->sim->is_f64;
    const char *precision = precisions[!is_f64];
    double *rhs = NULL, *got = NULL;
    qn_les_row row;
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_set(flow, om, err));
    if (is_f64) {
        QN_TRY(qn_les_flow_probe(flow, QN_LES_PROBE_RHS, &rhs, err));
        qn_finding_within(findings, "V4",
                          qn_les_largest(rhs, NULL, flow->cells) /
                              qn_les_largest(force, NULL, flow->cells),
                          0, 1e-12, "f64: right-hand side of the steady flow");
    }
    QN_TRY(qn_les_flow_run(flow, 1000, err));
    QN_TRY(qn_les_flow_field(flow, &got, err));
    qn_finding_within(findings, "V4", qn_les_distance(got, om, flow->cells), 0,
                      is_f64 ? 1e-12 : 5e-5, "%s: steady flow at t = 1", precision);
    if (is_f64) {
        QN_TRY(qn_les_flow_row(flow, &row, err));
        qn_finding_within(findings, "V4", row.energy / 6 - 1, -1e-12, 1e-12, "f64: energy is 6");
        qn_finding_within(findings, "V4", row.enstrophy / 58 - 1, -1e-12, 1e-12,
                          "f64: enstrophy is 58");
    }
out:
    free(rhs);
    free(got);
    return st;
}

static qn_status check_steady(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    enum { N = 128 };
    qn_les_flow flow = { 0 };
    qn_temp_dir dir = { .path = "" };
    char path[sizeof dir.path + 16];
    double *om = new_cells(2 * (size_t)N * N, err), *force = om + (size_t)N * N;
    const qn_npy array = { .type = QN_NPY_F8, .n_dims = 2, .dims = { N, N }, .data = force };
    qn_status st = QN_OK;

    if (!om)
        return QN_ERR_NOMEM;
    steady_flow(N, om, force);
    QN_TRY(qn_temp_dir_make(&dir, err));
    snprintf(path, sizeof path, "%s/force.npy", dir.path);
    QN_TRY(qn_npy_write(path, &array, err));
    for (int p = first_precision(ctx); p < 2; p++) {
        QN_TRY(qn_les_flow_open(ctx,
                                QN_LES_OPTIONS("n", "128", "ic", "taylor_green", "nu0", "0.01",
                                               "cs", "0", "dt", "0.001", "forcing-file", path,
                                               "precision", precisions[p], "integrator", "heun"),
                                &flow, err));
        QN_TRY(steady_in(&flow, om, force, findings, err));
        qn_les_flow_close(&flow);
    }
out:
    qn_les_flow_close(&flow);
    qn_temp_dir_remove(&dir);
    free(om);
    return st;
}

/* V5: invariants. */

#define INVISCID                                                                                   \
    "n", "128", "seed", "7", "ic-shape", "mcwilliams", "nu0", "0", "cs", "0", "allow-unstable", "1"

/* How far the right-hand side is from orthogonal to the stream function and the vorticity. */
static qn_status angles_of(qn_ctx *ctx, const char *dealias, const char *precision,
                           double angles[2], qn_err *err)
{
    qn_les_flow flow = { 0 };
    double *rhs = NULL, *with[2] = { NULL };
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_open(
        ctx, QN_LES_OPTIONS(INVISCID, "dealias", dealias, "precision", precision), &flow, err));
    QN_TRY(qn_les_flow_probe(&flow, QN_LES_PROBE_RHS, &rhs, err));
    QN_TRY(qn_les_flow_probe(&flow, QN_LES_PROBE_PSI, &with[0], err));
    QN_TRY(qn_les_flow_field(&flow, &with[1], err));
    for (int i = 0; i < 2; i++)
        angles[i] = fabs(qn_les_mean_product(with[i], rhs, flow.cells)) /
                    sqrt(qn_les_mean_product(with[i], with[i], flow.cells) *
                         qn_les_mean_product(rhs, rhs, flow.cells));
out:
    free(rhs);
    free(with[0]);
    free(with[1]);
    qn_les_flow_close(&flow);
    return st;
}

static qn_status drift_of(qn_ctx *ctx, const char *dt, int n_steps, double energy, double enstrophy,
                          qn_findings *findings, qn_err *err)
{
    qn_les_flow flow = { 0 };
    qn_les_row before, after;
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_open(
        ctx, QN_LES_OPTIONS(INVISCID, "dt", dt, "integrator", "heun", "precision", "f64"), &flow,
        err));
    QN_TRY(qn_les_flow_row(&flow, &before, err));
    QN_TRY(qn_les_flow_run(&flow, n_steps, err));
    QN_TRY(qn_les_flow_row(&flow, &after, err));
    qn_finding_within(findings, "V5", fabs(after.energy / before.energy - 1), 0.98 * energy,
                      1.02 * energy, "drift of the energy to t = 4, dt = %s", dt);
    qn_finding_within(findings, "V5", fabs(after.enstrophy / before.enstrophy - 1),
                      0.98 * enstrophy, 1.02 * enstrophy,
                      "drift of the enstrophy to t = 4, dt = %s", dt);
out:
    qn_les_flow_close(&flow);
    return st;
}

static qn_status check_invariants(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    static const char *const names[] = { "energy", "enstrophy" };
    double angles[2];
    qn_status st = QN_OK;

    for (int p = first_precision(ctx); p < 2; p++) {
        QN_TRY(angles_of(ctx, "two_thirds", precisions[p], angles, err));
        for (int i = 0; i < 2; i++)
            qn_finding_within(findings, "V5", angles[i], 0, p == 0 ? 1e-13 : 1e-6,
                              "%s: production of %s", precisions[p], names[i]);
    }
    if (first_precision(ctx))
        return QN_OK;
    QN_TRY(angles_of(ctx, "none", "f64", angles, err));
    qn_finding_within(findings, "V5", fmax(angles[0], angles[1]), 1e-13, INFINITY,
                      "production where nothing is dealiased");
    QN_TRY(drift_of(ctx, "0.04", 100, 1.733e-4, 2.504e-3, findings, err));
    QN_TRY(drift_of(ctx, "0.02", 200, 2.109e-5, 3.029e-4, findings, err));
    QN_TRY(drift_of(ctx, "0.01", 400, 2.628e-6, 3.771e-5, findings, err));
out:
    return st;
}

const qn_les_check qn_les_checks[] = {
    { "V1", "decay of the Taylor-Green vortex", check_vortex, 0 },
    { "V2", "order in time", check_order, 0 },
    { "V3", "Smagorinsky term", check_closure, 0 },
    { "V4", "steady flow under a force", check_steady, 0 },
    { "V5", "inviscid invariants", check_invariants, 0 },
    { "V6", "double shear layer", qn_les_check_shear, 0 },
    { "V7", "decaying turbulence", qn_les_check_decay, 0 },
    { "V8", "symmetries", qn_les_check_symmetry, 0 },
    { "V12", "equal results on every device", qn_les_check_backends, 0 },
    { "V13", "orders of the integrators", qn_les_check_orders, 0 },
    { "V14", "forced waves on the beta plane", qn_les_check_waves, 0 },
    { "V15", "random flows with default steps", qn_les_check_random, 1 },
    { "V16", "energy of random forcing", qn_les_check_ring, 0 },
    { 0 },
};
