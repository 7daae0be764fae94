/* sim_steps.c - steps in time as stages, and the fields between them.
 *
 * Between two steps of a graph, the kernel that ends one begins the next; the last step leaves no
 * fields.
 */
#include "sim_impl.h"

#include "kernel/les_grid.gen.h"
#include "kernel/les_look.gen.h"
#include "kernel/les_products.gen.h"
#include "kernel/les_stage.gen.h"

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

/* Without the eddy viscosity, the advective form needs neither E nor D. */
static int needs_strain(const qn_les_sim *sim, int stage)
{
    return sim->par.is_flux || stage == 0 || sim->config->nu_update != QN_LES_NU_STEP;
}

static int fields_after(const qn_les_sim *sim, int i, int is_last_step)
{
    const int next = (i + 1) % sim->method->n_stages;

    if (next == 0 && is_last_step)
        return 0;
    return LES_VELOCITY | (sim->par.is_flux ? 0 : LES_GRADIENT) |
           (needs_strain(sim, next) ? LES_STRAIN : 0);
}

qn_status qn_les_add_first(qn_les_sim *sim, qn_graph *graph, qn_buf *of, int members, qn_err *err)
{
    const qn_range modes = qn_range_3d(sim->par.n / 2 + 1, sim->par.n, members);

    if (sim->par.is_flux)
        return LES_STAGE(sim, les_first, graph, "les.first", modes, sim->par, of, sim->work, err);
    return LES_STAGE(sim, les_adv_first, graph, "les.first", modes, sim->par, of, sim->work, err);
}

qn_status qn_les_add_fields(qn_les_sim *sim, qn_graph *graph, qn_err *err)
{
    const qn_status st = qn_les_add_first(sim, graph, sim->state, sim->par.members, err);

    return st == QN_OK ? qn_les_add_fft(sim, graph, QN_FFT_INVERSE, sim->n_fields, err) : st;
}

qn_status qn_les_add_limit(qn_les_sim *sim, qn_graph *graph, int n_parts, int use, qn_err *err)
{
    les_dt_par par = qn_les_dt_rule(sim->config, sim->acceleration, use);

    par.n_rows = n_parts;
    return LES_STAGE(sim, les_peak_join, graph, "les.dt", qn_range_1d(1), par, sim->cells,
                     sim->clock, err);
}

qn_status qn_les_add_peaks(qn_les_sim *sim, qn_graph *graph, int use, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(LES_STAGE(sim, les_peak_rows, graph, "les.peaks", qn_les_rows_range(sim), sim->par,
                     sim->e_field, sim->work, sim->cells, err));
    QN_TRY(qn_les_add_limit(sim, graph, sim->par.n * sim->par.members, use, err));
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

/* Kicks belong to the number of their step. The clock of dt_mode cfl has it already plus one, that
 * of other modes stands still until the end of the graph. */
qn_status qn_les_add_kicks(qn_les_sim *sim, qn_graph *graph, int i, qn_err *err)
{
    const int edge = sim->par.driven_edge;
    les_ring_par ring = sim->ring;

    if (sim->par.driven != LES_KICKED)
        return QN_OK;
    ring.ahead = sim->config->dt_mode == QN_LES_DT_CFL ? -1 : i;
    return LES_STAGE(sim, les_ring, graph, "les.ring",
                     qn_range_3d(edge + 1, 2 * edge + 1, sim->par.members), sim->par, ring,
                     sim->clock, sim->force, err);
}

/* A stage of a flow without a filter and an array of forces; 0 when there is no kernel of its own for
 * it. */
static int add_plain(qn_les_sim *sim, qn_graph *graph, const les_stage_par *stage, qn_status *st,
                     qn_err *err)
{
    const int is_flux = sim->par.is_flux, keeps_nu = sim->config->nu_update == QN_LES_NU_STEP;
    const qn_range modes = qn_les_modes_range(sim);

#define PLAIN(is_form, rule_, touches_, kernel, ...)                                               \
    if ((is_form) && sim->method->rule == (rule_) && stage->touches == (touches_)) {               \
        *st = LES_STAGE(sim, kernel, graph, "les.stage", modes, sim->par, *stage, sim->clock,      \
                        sim->state, __VA_ARGS__, sim->work, err);                                  \
        return 1;                                                                                  \
    }
    PLAIN(is_flux, LES_RK, LES_TWO_BEGIN, les_two_begin, sim->mid)
    PLAIN(is_flux, LES_RK, LES_TWO_MORE, les_two_more, sim->mid)
    PLAIN(is_flux, LES_RK, LES_TWO_END, les_two_end, sim->mid)
    PLAIN(is_flux, LES_RK, LES_BOTH_BEGIN, les_rk4_begin, sim->mid, sim->sum)
    PLAIN(is_flux, LES_RK, LES_BOTH_MORE, les_rk4_more, sim->mid, sim->sum)
    PLAIN(is_flux, LES_RK, LES_BOTH_END, les_rk4_end, sim->mid, sim->sum)
    PLAIN(is_flux, LES_IF, LES_SUM_BEGIN, les_if_begin, sim->sum)
    PLAIN(is_flux, LES_IF, LES_SUM_MORE, les_if_more, sim->sum)
    PLAIN(is_flux, LES_IF, LES_SUM_END, les_if_end, sim->sum)
    PLAIN(!is_flux && keeps_nu, LES_RK, LES_TWO_BEGIN, les_adv_begin, sim->mid)
    PLAIN(!is_flux && keeps_nu, LES_RK, LES_TWO_END, les_adv_end, sim->mid)
#undef PLAIN
    return 0;
}

/* From the nonlinear terms of stage `i` to its value, and the fields of the next. */
static qn_status add_value(qn_les_sim *sim, qn_graph *graph, int i, int is_last_step, qn_err *err)
{
    les_stage_par stage = sim->method->stages[i];
    /* Kicks come with the last stage only. */
    const int is_driven = sim->par.driven == LES_FORCED ||
                          (sim->par.driven == LES_KICKED && (stage.touches & LES_PUTS_S));
    const int is_plain = !sim->par.is_filtered && !is_driven;
    qn_status st = QN_OK;

    stage.fields = fields_after(sim, i, is_last_step);
    if (is_plain && add_plain(sim, graph, &stage, &st, err))
        return st;

#define ANY(kernel)                                                                                \
    LES_STAGE(sim, kernel, graph, "les.stage", qn_les_modes_range(sim), sim->par, stage,           \
              sim->clock, qn_les_or_any(sim, sim->filter), qn_les_or_any(sim, sim->force),         \
              sim->state, qn_les_or_any(sim, sim->mid), qn_les_or_any(sim, sim->sum), sim->work,   \
              err)
    switch (sim->method->rule) {
    case LES_RK:
        return ANY(les_any_rk);
    case LES_IF:
        return ANY(les_any_if);
    default:
        return ANY(les_any_etd);
    }
#undef ANY
}

static qn_status add_step(qn_les_sim *sim, qn_graph *graph, int number, int is_last, qn_err *err)
{
    const int keeps_nu = sim->config->nu_update == QN_LES_NU_STEP;
    qn_status st = QN_OK;

    for (int i = 0; i < sim->method->n_stages; i++) {
        const int nu_from = !keeps_nu ? LES_NU_FRESH : i == 0 ? LES_NU_STORE : LES_NU_LOAD;

        QN_TRY(qn_les_add_fft(sim, graph, QN_FFT_INVERSE,
                              needs_strain(sim, i) ? sim->n_fields : LES_ADV_E, err));
        if (i == 0 && sim->config->dt_mode == QN_LES_DT_CFL)
            QN_TRY(qn_les_add_peaks(sim, graph, LES_DT_STEP, err));
        if (i == 0)
            QN_TRY(qn_les_add_kicks(sim, graph, number, err));
        QN_TRY(qn_les_add_products(sim, graph, nu_from, err));
        QN_TRY(add_value(sim, graph, i, is_last, err));
    }
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
        QN_TRY(qn_les_add_first(sim, graph, sim->state, sim->par.members, err));
        for (int i = 0; i < n; i++)
            QN_TRY(add_step(sim, graph, i, i == n - 1, err));
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
                         qn_les_or_any(sim, sim->filter), qn_les_or_any(sim, sim->force),
                         sim->state, sim->work, err));
    }
    if (what == QN_LES_PROBE_PSI || what == QN_LES_PROBE_RHS)
        QN_TRY(qn_les_add_fft(sim, graph, QN_FFT_INVERSE, 1, err));
    QN_TRY(
        LES_STAGE(sim, les_unpad, graph, "les.probe", cells, sim->par.n, scale, shown, field, err));
out:
    qn_buf_free(shown);
    return st;
}
