/* sim.c - parameters and buffers of the solver, from its creation to its end. */
#include "sim_impl.h"

#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static les_par parameters(const qn_les_options *c)
{
    const double q = 2 * M_PI / c->L, dx = c->L / c->N, cells = (double)c->N * c->N;
    const int is_flux = c->form == QN_LES_FLUX;
    const int is_cut = c->dealias == QN_LES_DEALIAS_TWO_THIRDS;
    const int is_filtered = c->dealias == QN_LES_DEALIAS_EXP;
    const int has_wave = c->forcing == QN_LES_FORCING_KOLMOGOROV;
    const double kmax = q * c->N / 2;
    les_par p = { .q = q, .nu0 = c->nu0, .drag = c->drag, .n = c->N, .members = c->ensemble };

    p.field = (i64)c->ensemble * c->N * (c->N + 2);
    p.second = is_flux ? p.field : 0;
    p.smag = c->Cs * dx * c->Cs * dx;
    p.strain_floor = is_flux ? 0 : 1e-30;
    p.mean_u = c->mean_u;
    p.mean_v = c->mean_v;
    p.inv_cells = 1 / cells;
    p.filter_alpha = is_filtered ? c->filter_alpha : 0;
    p.filter_power = c->filter_power / 2;
    p.filter_scale = 1 / (kmax * kmax);
    /* A sin(kf y) along x has the curl -A kf cos(kf y), half of it in each of two modes. */
    p.wave_force = has_wave ? -c->forcing_amplitude * q * c->forcing_k * cells / 2 : 0;
    p.force_k = has_wave ? c->forcing_k : 0;
    p.edge = is_cut ? (c->N - 1) / 3 : c->N / 2;
    p.lap_dc = c->lap_dc;
    p.is_forced = c->forcing == QN_LES_FORCING_STATIC;
    p.is_ifac = c->visc == QN_LES_VISC_IFAC;
    p.is_flux = is_flux;
    return p;
}

/* The device that will run the stages, as far as it is known. */
static qn_status check_library(qn_ctx *ctx, const qn_les_options *c, qn_err *err)
{
    const char *id = qn_device_id(ctx, qn_device_count(ctx) > 1 ? 1 : 0);
    const int is_vkfft = !strncmp(id, "opencl", 6) || !strncmp(id, "cuda", 4);

    if (c->fft != QN_LES_FFT_AUTO && c->fft != QN_LES_FFT_OWN &&
        is_vkfft != (c->fft == QN_LES_FFT_VKFFT))
        return qn_fail(err, QN_ERR_USAGE, "fft: %s does not run on %s, which has %s",
                       c->fft == QN_LES_FFT_VKFFT ? "vkfft" : "fftw", id,
                       is_vkfft ? "vkfft" : "fftw");
    return QN_OK;
}

static qn_status check(qn_ctx *ctx, const qn_les_options *c, qn_err *err)
{
    if (c->visc == QN_LES_VISC_IFAC && c->form != QN_LES_FLUX)
        return qn_fail(err, QN_ERR_USAGE, "visc: ifac needs form flux");
    if (c->N % 2 || c->N < 16)
        return qn_fail(err, QN_ERR_USAGE, "N: %d is not an even number from 16", c->N);
    return check_library(ctx, c, err);
}

static qn_status allocate(qn_les_sim *sim, qn_err *err)
{
    const size_t real = sim->is_f64 ? sizeof(double) : sizeof(float);
    const size_t field = (size_t)sim->par.field * real;
    const size_t rows = (size_t)sim->par.n * (size_t)sim->par.members * sizeof(double);
    const size_t all = field * (size_t)sim->n_fields;
    const int keeps_nu = sim->config->nu_update == QN_LES_NU_STEP;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(sim->ctx, "state", field, &sim->state, err));
    QN_TRY(qn_buf_new(sim->ctx, "stage", field, &sim->mid, err));
    QN_TRY(qn_buf_new(sim->ctx, "work", all, &sim->work, err));
    if (keeps_nu)
        QN_TRY(qn_buf_new(sim->ctx, "eddy viscosity", field, &sim->nut, err));
    if (sim->par.is_forced) /* one for all members */
        QN_TRY(qn_buf_new(sim->ctx, "force", field / (size_t)sim->par.members, &sim->force, err));
    QN_TRY(qn_buf_new(sim->ctx, "clock", CLOCK_WORDS * sizeof(double), &sim->clock, err));
    QN_TRY(qn_buf_new(sim->ctx, "sums of modes", 3 * rows, &sim->modes, err));
    QN_TRY(qn_buf_new(sim->ctx, "sums of cells", 4 * rows, &sim->cells, err));
out:
    return st;
}

/* Reads two maxima, once. In dt_mode cfl the step follows from them and is never refused. */
static qn_status check_stability(qn_les_sim *sim, qn_err *err)
{
    const qn_les_options *c = sim->config;
    const int is_cfl = c->dt_mode == QN_LES_DT_CFL;
    double clock[CLOCK_WORDS];
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(sim->ctx, "les.stability", &graph, err));
    QN_TRY(qn_les_add_fields(sim, graph, err));
    QN_TRY(qn_les_add_peaks(sim, graph, 0, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    QN_TRY(qn_buf_read(sim->clock, 0, clock, sizeof clock, err));
out:
    qn_graph_free(graph);
    if (st != QN_OK)
        return st;

    const double speed = clock[CLOCK_SPEED], nut = clock[CLOCK_NUT];
    sim->stability =
        qn_les_stability_of(c, is_cfl ? qn_les_dt_cfl(c, speed, nut) : c->dt, speed, nut);
    return is_cfl && isfinite(speed) && isfinite(nut)
               ? QN_OK
               : qn_les_stability_check(c, &sim->stability, err);
}

qn_status qn_les_sim_new(qn_ctx *ctx, const qn_les_options *config, qn_les_sim **out, qn_err *err)
{
    const int keeps_nu = config->nu_update == QN_LES_NU_STEP;
    qn_les_sim *sim = NULL;
    qn_status st = QN_OK;

    QN_TRY(check(ctx, config, err));
    QN_TRY(QN_NEW(sim, 1, "a flow", err));
    sim->ctx = ctx;
    sim->config = config;
    sim->is_f64 = config->precision == QN_LES_F64;
    sim->par = parameters(config);
    sim->is_fused = !sim->par.is_ifac && !sim->par.is_forced && sim->par.filter_alpha == 0 &&
                    (sim->par.is_flux || keeps_nu);
    sim->n_fields = sim->par.is_flux ? LES_FLUX_FIELDS : LES_ADV_FIELDS;
    sim->e_field = sim->par.is_flux ? LES_E : LES_ADV_E;
    QN_TRY(allocate(sim, err));
    QN_TRY(qn_les_sim_begin(sim, err));
    QN_TRY(check_stability(sim, err));
    QN_TRY(qn_les_passes_open(sim, err));
    *out = sim;
    return QN_OK;
out:
    qn_les_sim_free(sim);
    return st;
}

void qn_les_sim_free(qn_les_sim *sim)
{
    if (!sim)
        return;

    qn_buf *const bufs[] = { sim->state, sim->mid,   sim->work,  sim->nut, sim->force,
                             sim->clock, sim->modes, sim->cells, sim->log };
    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++)
        qn_buf_free(bufs[i]);
    qn_les_passes_close(sim);
    free(sim);
}

qn_les_stability qn_les_sim_stability(const qn_les_sim *sim)
{
    return sim->stability;
}

qn_buf *qn_les_sim_state(const qn_les_sim *sim)
{
    return sim->state;
}
