/* check_flows.c - flows known from the literature, symmetries, and devices against each other. */
#include "check_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* V6: double shear layer. */

#define SHEAR                                                                                      \
    "ic", "shear", "nu0", "1e-3", "cs", "0", "dt", "0.005", "integrator", "heun", "precision", "f64"

/* om(x, y) against om(-x, pi - y), and against -om(pi - x, y + pi). */
static void shear_symmetries(const double *om, int n, double off[2])
{
    off[0] = off[1] = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const double here = om[j * n + i];
            const double turned = om[(n + n / 2 - j) % n * n + (n - i) % n];
            const double shifted = om[(j + n / 2) % n * n + (n + n / 2 - i) % n];

            off[0] = fmax(off[0], fabs(here - turned));
            off[1] = fmax(off[1], fabs(here + shifted));
        }
}

/* The field on every second point of a grid of 2 n, packed. */
static void thin_out(double *fine, int n)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            fine[j * n + i] = fine[2 * j * 2 * n + 2 * i];
}

/* Runs to `n_steps`, with a row of diagnostics every `stride`; 1 where energy and enstrophy never
 * grew. */
static qn_status run_watched(qn_les_flow *flow, int n_steps, int stride, int *only_fell,
                             qn_les_row *last, qn_err *err)
{
    qn_les_row row;
    qn_status st = QN_OK;

    for (int i = 0; i < n_steps; i += stride) {
        QN_TRY(qn_les_flow_run(flow, stride, err));
        QN_TRY(qn_les_flow_row(flow, &row, err));
        *only_fell &= row.energy <= last->energy && row.enstrophy <= last->enstrophy;
        *last = row;
    }
out:
    return st;
}

static qn_status shear_on_fine_grid(qn_ctx *ctx, double **at_6, qn_findings *findings, qn_err *err)
{
    qn_les_flow flow = { 0 };
    qn_les_row row;
    double *om = NULL, off[2];
    int only_fell = 1;
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_open(ctx, QN_LES_OPTIONS("n", "256", SHEAR), &flow, err));
    QN_TRY(qn_les_flow_row(&flow, &row, err));
    QN_TRY(run_watched(&flow, 1200, 40, &only_fell, &row, err));
    QN_TRY(qn_les_flow_field(&flow, at_6, err));
    QN_TRY(run_watched(&flow, 400, 40, &only_fell, &row, err));
    QN_TRY(qn_les_flow_field(&flow, &om, err));
    shear_symmetries(om, 256, off);
    qn_finding_within(findings, "V6", row.energy, 0.4197799 - 2e-7, 0.4197799 + 2e-7,
                      "energy at t = 8");
    qn_finding_within(findings, "V6", row.enstrophy, 0.742458 - 2e-5, 0.742458 + 2e-5,
                      "enstrophy at t = 8");
    qn_finding_within(findings, "V6", row.max_abs, 4.309 - 0.002, 4.309 + 0.002,
                      "largest vorticity at t = 8");
    qn_finding_within(findings, "V6", only_fell, 1, 1, "energy and enstrophy only fall");
    qn_finding_within(findings, "V6", off[0] / row.max_abs, 0, 1e-12, "symmetry om(-x, pi - y)");
    qn_finding_within(findings, "V6", off[1] / row.max_abs, 0, 1e-6,
                      "symmetry -om(pi - x, y + pi)");
out:
    free(om);
    qn_les_flow_close(&flow);
    return st;
}

qn_status qn_les_check_shear(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    qn_les_flow flow = { 0 };
    double *fine = NULL, *coarse = NULL;
    qn_status st = QN_OK;

    if (!qn_les_has_f64(ctx))
        return QN_OK;
    QN_TRY(shear_on_fine_grid(ctx, &fine, findings, err));
    QN_TRY(qn_les_flow_open(ctx, QN_LES_OPTIONS("n", "128", SHEAR), &flow, err));
    QN_TRY(qn_les_flow_run(&flow, 1200, err));
    QN_TRY(qn_les_flow_field(&flow, &coarse, err));
    thin_out(fine, 128);
    qn_finding_within(findings, "V6", qn_les_distance(coarse, fine, flow.cells), 0, 6e-3,
                      "N = 128 against 256 at t = 6");
out:
    free(fine);
    free(coarse);
    qn_les_flow_close(&flow);
    return st;
}

/* V7: decaying turbulence. */

static qn_status centroid_of(qn_les_flow *flow, double *out, qn_err *err)
{
    const int n = qn_les_sim_shells(&flow->config);
    const size_t bytes = (size_t)n * sizeof(double);
    double *energy = malloc(bytes), sum = 0, moment = 0;
    qn_buf *shells = NULL;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    if (!energy)
        return qn_fail(err, QN_ERR_NOMEM, "%d shells exceed host memory", n);
    QN_TRY(qn_buf_new(flow->ctx, "shells", bytes, &shells, err));
    QN_TRY(qn_graph_new(flow->ctx, "les.shells", &graph, err));
    QN_TRY(qn_les_sim_add_spectrum(flow->sim, graph, 0, shells, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_buf_read(shells, 0, energy, bytes, err));
    for (int b = 0; b < n; b++) {
        sum += energy[b];
        moment += b * energy[b];
    }
    *out = moment / sum;
out:
    qn_graph_free(graph);
    qn_buf_free(shells);
    free(energy);
    return st;
}

qn_status qn_les_check_decay(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    qn_les_flow flow = { 0 };
    qn_les_row row;
    double centroid = 0;
    int only_fell = 1;
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_open(ctx,
                            QN_LES_OPTIONS("n", "256", "seed", "2026", "ic-shape", "mcwilliams",
                                           "ic-norm", "energy", "ic-value", "0.5", "nu0", "0", "dt",
                                           "0.0025", "integrator", "heun", "precision",
                                           qn_les_has_f64(ctx) ? "f64" : "f32"),
                            &flow, err));
    QN_TRY(qn_les_flow_row(&flow, &row, err));
    qn_finding_within(findings, "V7", row.energy, 0.5 - 1e-6, 0.5 + 1e-6, "energy at t = 0");
    qn_finding_within(findings, "V7", row.enstrophy, 53.8105, 53.8115, "enstrophy at t = 0");
    qn_finding_within(findings, "V7", row.kurtosis, 3.0055, 3.0065, "kurtosis at t = 0");
    /* The closure always removes energy, but may add enstrophy for a while: between t = 7.25 and
     * 7.75 it grows by one per cent. Rows are one unit of time apart. */
    QN_TRY(run_watched(&flow, 4000, 400, &only_fell, &row, err));
    QN_TRY(centroid_of(&flow, &centroid, err));
    qn_finding_within(findings, "V7", row.energy, 0.43, 0.48, "energy at t = 10");
    qn_finding_within(findings, "V7", row.enstrophy, 0, 8.5, "enstrophy at t = 10");
    qn_finding_within(findings, "V7", row.kurtosis, 6, INFINITY, "kurtosis at t = 10");
    qn_finding_within(findings, "V7", centroid, 2.2, 3.2, "centroid of the energy at t = 10");
    qn_finding_within(findings, "V7", only_fell, 1, 1, "energy and enstrophy fall from t to t + 1");
out:
    qn_les_flow_close(&flow);
    return st;
}

/* V8: symmetries. */

enum { SIDE = 64, CELLS = SIDE * SIDE, SHIFT_X = 5, SHIFT_Y = 11 };

static void shifted(const double *in, double *out)
{
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            out[(j + SHIFT_Y) % SIDE * SIDE + (i + SHIFT_X) % SIDE] = in[j * SIDE + i];
}

/* Exchanging x and y reverses the sense of rotation. */
static void transposed(const double *in, double *out)
{
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            out[i * SIDE + j] = -in[j * SIDE + i];
}

static qn_status run_from(qn_les_flow *flow, const double *cells, double **out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_set(flow, cells, err));
    QN_TRY(qn_les_flow_run(flow, 20, err));
    QN_TRY(qn_les_flow_field(flow, out, err));
out:
    return st;
}

static qn_status symmetry_of(qn_ctx *ctx, const char *form, const char *dealias,
                             qn_findings *findings, qn_err *err)
{
    static const struct {
        const char *name;
        void (*apply)(const double *in, double *out);
    } maps[] = { { "shifted", shifted }, { "transposed", transposed } };
    qn_les_flow flow = { 0 };
    double *first = NULL, *last = NULL, *got = NULL, *moved = malloc(CELLS * sizeof *moved);
    qn_status st = QN_OK;

    if (!moved)
        return qn_fail(err, QN_ERR_NOMEM, "%d cells exceed host memory", CELLS);
    QN_TRY(qn_les_flow_open(ctx,
                            QN_LES_OPTIONS("n", "64", "ic", "box", "ic-width", "3", "seed", "3",
                                           "form", form, "dealias", dealias, "dt", "0.005",
                                           "precision", "f64"),
                            &flow, err));
    QN_TRY(qn_les_flow_field(&flow, &first, err));
    QN_TRY(run_from(&flow, first, &last, err));
    for (int i = 0; i < 2; i++) {
        maps[i].apply(first, moved);
        QN_TRY(run_from(&flow, moved, &got, err));
        maps[i].apply(last, moved);
        qn_finding_within(findings, "V8", qn_les_distance(got, moved, CELLS), 0, 1e-12,
                          "%s, dealias %s: %s field", form, dealias, maps[i].name);
        free(got);
        got = NULL;
    }
out:
    free(first);
    free(last);
    free(moved);
    free(got);
    qn_les_flow_close(&flow);
    return st;
}

qn_status qn_les_check_symmetry(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    static const char *const forms[] = { "flux", "advective" };
    static const char *const rules[] = { "none", "two_thirds", "exp" };
    qn_status st = QN_OK;

    if (!qn_les_has_f64(ctx))
        return QN_OK;
    for (int f = 0; f < 2; f++)
        for (int d = 0; d < 3; d++)
            QN_TRY(symmetry_of(ctx, forms[f], rules[d], findings, err));
out:
    return st;
}

/* V12: devices. */

static qn_status hundred_steps(qn_ctx *ctx, const char *form, const char *precision, double **out,
                               qn_err *err)
{
    qn_les_flow flow = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_les_flow_open(
        ctx,
        QN_LES_OPTIONS("n", "64", "seed", "1", "dt", "0.01", "form", form, "precision", precision),
        &flow, err));
    QN_TRY(qn_les_flow_run(&flow, 100, err));
    QN_TRY(qn_les_flow_field(&flow, out, err));
out:
    qn_les_flow_close(&flow);
    return st;
}

/* The same run on the device twice, and on the CPU in double precision. */
static qn_status agreement_of(qn_ctx *ctx, qn_ctx *cpu, const char *form, const char *precision,
                              qn_findings *findings, qn_err *err)
{
    const int is_f64 = !strcmp(precision, "f64");
    double *once = NULL, *again = NULL, *want = NULL;
    qn_status st = QN_OK;

    QN_TRY(hundred_steps(ctx, form, precision, &once, err));
    QN_TRY(hundred_steps(ctx, form, precision, &again, err));
    QN_TRY(hundred_steps(cpu, form, "f64", &want, err));
    qn_finding_within(findings, "V12", memcmp(once, again, CELLS * sizeof *once) != 0, 0, 0,
                      "%s %s: the same bits twice", form, precision);
    qn_finding_within(findings, "V12", qn_les_distance(once, want, CELLS), 0, is_f64 ? 1e-11 : 3e-5,
                      "%s %s: against the CPU in f64", form, precision);
out:
    free(once);
    free(again);
    free(want);
    return st;
}

qn_status qn_les_check_backends(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    static const char *const forms[] = { "flux", "advective" };
    const qn_options options = QN_OPTIONS(.backend = "cpu");
    qn_ctx *cpu = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_ctx_open(&options, &cpu, err));
    for (int f = 0; f < 2; f++) {
        if (qn_les_has_f64(ctx))
            QN_TRY(agreement_of(ctx, cpu, forms[f], "f64", findings, err));
        QN_TRY(agreement_of(ctx, cpu, forms[f], "f32", findings, err));
    }
out:
    qn_ctx_close(cpu);
    return st;
}
