/* sim_steps.c - steps in time as stages, and the fields between them.
 *
 * Between two steps of a graph, the kernel that ends one begins the next. A kernel of its own ends
 * the last step, so that other stages find the finished state, with the same bits.
 */
#include "sim_impl.h"

#include "kernel/les_adv.gen.h"
#include "kernel/les_flux.gen.h"
#include "kernel/les_grid.gen.h"
#include "kernel/les_look.gen.h"
#include "kernel/les_step.gen.h"

#include "engine/engine.h"

qn_range qn_les_modes_range(const qn_les_sim *sim)
{
    return qn_range_3d(sim->par.n / 2 + 1, sim->par.n, sim->par.members);
}

qn_range qn_les_cells_range(const qn_les_sim *sim)
{
    return qn_range_3d(sim->par.n, sim->par.n, sim->par.members);
}

qn_range qn_les_rows_range(const qn_les_sim *sim)
{
    return qn_range_2d(sim->par.n, sim->par.members);
}

/* With the 2/3 rule all spectra that go to the grid are zero beyond `edge`, and nothing reads that
 * part of those that come back. */
qn_status qn_les_add_fft(qn_les_sim *sim, qn_graph *graph, qn_fft_direction direction, int n_fields,
                         qn_err *err)
{
    const int is_cut = sim->config->dealias == QN_LES_DEALIAS_TWO_THIRDS;
    const qn_fft_shape shape = { .rows = sim->par.n,
                                 .cols = sim->par.n,
                                 .batch = n_fields * sim->par.members,
                                 .is_f64 = sim->is_f64,
                                 .keep = is_cut ? sim->par.edge : 0 };

    return qn_graph_fft(graph, direction == QN_FFT_INVERSE ? "les.inverse" : "les.forward", &shape,
                        direction, sim->work, 0, err);
}

/* Adds the spectra of all fields of the vorticity `of`. */
static qn_status add_first(qn_les_sim *sim, qn_graph *graph, qn_buf *of, qn_err *err)
{
    const qn_range modes = qn_les_modes_range(sim);

    if (sim->par.is_flux)
        return LES_STAGE(sim, les_flux_first, graph, "les.first", modes, sim->par, of, sim->work,
                         err);
    return LES_STAGE(sim, les_adv_first, graph, "les.first", modes, sim->par, of, sim->work, err);
}

qn_status qn_les_add_fields(qn_les_sim *sim, qn_graph *graph, qn_err *err)
{
    const qn_status st = add_first(sim, graph, sim->state, err);

    return st == QN_OK ? qn_les_add_fft(sim, graph, QN_FFT_INVERSE, sim->n_fields, err) : st;
}

qn_status qn_les_add_peaks(qn_les_sim *sim, qn_graph *graph, int is_step, qn_err *err)
{
    const qn_les_options *c = sim->config;
    const les_dt_par par = { .dt_max = c->dt_max,
                             .cfl_dx = c->cfl * c->L / c->N,
                             .nu0 = c->nu0,
                             .k2max = qn_les_k2max(c),
                             .n_rows = sim->par.n * sim->par.members,
                             .is_step = is_step };
    qn_status st = QN_OK;

    QN_TRY(LES_STAGE(sim, les_peak_rows, graph, "les.peaks", qn_les_rows_range(sim), sim->par,
                     sim->e_field, sim->work, sim->cells, err));
    QN_TRY(LES_STAGE(sim, les_peak_join, graph, "les.dt", qn_range_1d(1), par, sim->cells,
                     sim->clock, err));
out:
    return st;
}

qn_status qn_les_add_products(qn_les_sim *sim, qn_graph *graph, int nu_from, qn_err *err)
{
    const qn_range cells = qn_les_cells_range(sim);
    qn_status st = QN_OK;

    if (sim->par.is_flux)
        QN_TRY(LES_STAGE(sim, les_flux_grid, graph, "les.grid", cells, sim->par, nu_from,
                         qn_les_or_any(sim, sim->nut), sim->work, err));
    else
        QN_TRY(LES_STAGE(sim, les_adv_grid, graph, "les.grid", cells, sim->par, nu_from,
                         qn_les_or_any(sim, sim->nut), sim->work, err));
    QN_TRY(qn_les_add_fft(sim, graph, QN_FFT_FORWARD, sim->par.is_flux ? 2 : 1, err));
out:
    return st;
}

/* From the nonlinear terms of the state to the fields of Heun's first stage. */
static qn_status add_mid(qn_les_sim *sim, qn_graph *graph, qn_err *err)
{
    const qn_range modes = qn_les_modes_range(sim);
    qn_status st = QN_OK;

    if (!sim->is_fused) {
        QN_TRY(LES_STAGE(sim, les_full_mid, graph, "les.mid", modes, sim->par, sim->clock,
                         qn_les_or_any(sim, sim->force), sim->state, sim->mid, sim->work, err));
        QN_TRY(add_first(sim, graph, sim->mid, err));
    } else if (sim->par.is_flux) {
        QN_TRY(LES_STAGE(sim, les_flux_mid, graph, "les.mid", modes, sim->par, sim->clock,
                         sim->state, sim->mid, sim->work, err));
    } else {
        QN_TRY(LES_STAGE(sim, les_adv_mid, graph, "les.mid", modes, sim->par, sim->clock,
                         sim->state, sim->mid, sim->work, err));
    }
out:
    return st;
}

/* The state after the step. */
static qn_status add_close(qn_les_sim *sim, qn_graph *graph, qn_err *err)
{
    const qn_range modes = qn_les_modes_range(sim);

    if (!sim->is_fused)
        return LES_STAGE(sim, les_full_close, graph, "les.close", modes, sim->par, sim->clock,
                         qn_les_or_any(sim, sim->force), sim->state, sim->mid, sim->work, err);
    return LES_STAGE(sim, les_close, graph, "les.close", modes, sim->par, sim->clock, sim->state,
                     sim->mid, sim->work, err);
}

/* The state after the step, and the fields of the next. */
static qn_status add_next(qn_les_sim *sim, qn_graph *graph, qn_err *err)
{
    const qn_range modes = qn_les_modes_range(sim);

    if (!sim->is_fused) {
        const qn_status st = add_close(sim, graph, err);

        return st == QN_OK ? add_first(sim, graph, sim->state, err) : st;
    }
    if (sim->par.is_flux)
        return LES_STAGE(sim, les_flux_next, graph, "les.next", modes, sim->par, sim->clock,
                         sim->state, sim->mid, sim->work, err);
    return LES_STAGE(sim, les_adv_next, graph, "les.next", modes, sim->par, sim->clock, sim->state,
                     sim->mid, sim->work, err);
}

/* From the spectra of the first stage's fields to the nonlinear terms of the second. */
static qn_status add_step(qn_les_sim *sim, qn_graph *graph, qn_err *err)
{
    const int keeps_nu = sim->config->nu_update == QN_LES_NU_STEP;
    /* The advective form needs E and D only for the eddy viscosity. */
    const int n_second = sim->par.is_flux || !keeps_nu ? sim->n_fields : LES_ADV_E;
    qn_status st = QN_OK;

    QN_TRY(qn_les_add_fft(sim, graph, QN_FFT_INVERSE, sim->n_fields, err));
    if (sim->config->dt_mode == QN_LES_DT_CFL)
        QN_TRY(qn_les_add_peaks(sim, graph, 1, err));
    QN_TRY(qn_les_add_products(sim, graph, keeps_nu ? LES_NU_STORE : LES_NU_FRESH, err));
    QN_TRY(add_mid(sim, graph, err));
    QN_TRY(qn_les_add_fft(sim, graph, QN_FFT_INVERSE, n_second, err));
    QN_TRY(qn_les_add_products(sim, graph, keeps_nu ? LES_NU_LOAD : LES_NU_FRESH, err));
out:
    return st;
}

qn_status qn_les_sim_add_steps(qn_les_sim *sim, qn_graph *graph, int n, qn_err *err)
{
    qn_status st = QN_OK;

    if (n <= 0)
        return QN_OK;
    if (sim->passes) {
        QN_TRY(qn_les_passes_add_steps(sim, graph, n, err));
    } else {
        QN_TRY(add_first(sim, graph, sim->state, err));
        for (int i = 0; i < n; i++) {
            QN_TRY(add_step(sim, graph, err));
            QN_TRY(i < n - 1 ? add_next(sim, graph, err) : add_close(sim, graph, err));
        }
    }
    if (sim->config->dt_mode != QN_LES_DT_CFL)
        QN_TRY(LES_STAGE(sim, les_tick, graph, "les.tick", qn_range_1d(1), n, sim->clock, err));
out:
    return st;
}

/* For checks. */

qn_status qn_les_sim_add_probe(qn_les_sim *sim, qn_graph *graph, qn_les_probe what, qn_buf *field,
                               qn_err *err)
{
    const qn_range modes = qn_les_modes_range(sim), cells = qn_les_cells_range(sim);
    const size_t bytes = qn_fft_bytes(&(qn_fft_shape){
        .rows = sim->par.n, .cols = sim->par.n, .batch = sim->par.members, .is_f64 = sim->is_f64 });
    const double scale = what == QN_LES_PROBE_NUT ? 1 : sim->par.inv_cells;
    qn_buf *shown = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_view(sim->work, "shown field", what == QN_LES_PROBE_V ? bytes : 0, bytes, &shown,
                       err));
    if (what == QN_LES_PROBE_PSI)
        QN_TRY(
            LES_STAGE(sim, les_psi, graph, "les.psi", modes, sim->par, sim->state, sim->work, err));
    else
        QN_TRY(qn_les_add_fields(sim, graph, err));
    if (what == QN_LES_PROBE_NUT)
        QN_TRY(LES_STAGE(sim, les_nut, graph, "les.nut", cells, sim->par, sim->e_field, sim->work,
                         err));
    if (what == QN_LES_PROBE_RHS) {
        QN_TRY(qn_les_add_products(sim, graph, LES_NU_FRESH, err));
        QN_TRY(LES_STAGE(sim, les_rhs, graph, "les.rhs", modes, sim->par,
                         qn_les_or_any(sim, sim->force), sim->state, sim->work, err));
    }
    if (what == QN_LES_PROBE_PSI || what == QN_LES_PROBE_RHS)
        QN_TRY(qn_les_add_fft(sim, graph, QN_FFT_INVERSE, 1, err));
    QN_TRY(
        LES_STAGE(sim, les_unpad, graph, "les.probe", cells, sim->par.n, scale, shown, field, err));
out:
    qn_buf_free(shown);
    return st;
}
