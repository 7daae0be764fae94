/* sim.c - parameters and buffers of the solver, from its creation to its end. */
#include "sim_impl.h"

#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A mode of the kicks times sqrt(dt): all modes of the ring have the same, and on average their
 * energy grows at the rate of the option. */
static double kick_amplitude(const qn_les_options *c, const qn_les_sim *sim)
{
    const int edge = sim->par.driven_edge;
    double sum = 0;

    for (int y = -edge; y <= edge; y++)
        for (int x = -edge; x <= edge; x++) {
            const int n2 = x * x + y * y;

            sum += n2 >= sim->ring.low2 && n2 <= sim->ring.high2 ? 1.0 / n2 : 0;
        }
    return sim->par.q * sqrt(2 * c->forcing_rate / sum) / sim->par.inv_cells;
}

static void set_forcing(qn_les_sim *sim)
{
    const qn_les_options *c = sim->config;
    const double half = c->forcing_width / 2, low = fmax(c->forcing_k - half, 1);
    const double high = c->forcing_k + half;
    les_par *p = &sim->par;

    switch (c->forcing) {
    case QN_LES_FORCING_KOLMOGOROV:
        /* A sin(kf y) along x has the curl -A kf cos(kf y), half of it in each of two modes. */
        p->wave_force = -c->forcing_amplitude * p->q * c->forcing_k / (2 * p->inv_cells);
        p->force_k = c->forcing_k;
        sim->acceleration = fabs(c->forcing_amplitude);
        break;
    case QN_LES_FORCING_STATIC:
        p->driven = LES_FORCED;
        break;
    case QN_LES_FORCING_RING:
        p->driven = LES_KICKED;
        p->driven_edge = (int)high;
        sim->ring = (les_ring_par){ .seed = c->seed,
                                    .low2 = (i32)ceil(low * low),
                                    .high2 = (i32)floor(high * high) };
        sim->ring.amplitude = kick_amplitude(c, sim);
        break;
    default:
        break;
    }
}

static void set_parameters(qn_les_sim *sim)
{
    const qn_les_options *c = sim->config;
    const double dx = c->L / c->N;
    const int is_flux = c->form == QN_LES_FLUX;
    les_par *p = &sim->par;

    *p = (les_par){ .nu0 = c->nu0, .drag = c->drag, .n = c->N, .members = c->ensemble };
    p->q = 2 * M_PI / c->L;
    p->beta = c->beta;
    p->field = (i64)c->ensemble * c->N * (c->N + 2);
    p->second = is_flux ? p->field : 0;
    p->smag = c->Cs * dx * c->Cs * dx;
    p->strain_floor = is_flux ? 0 : 1e-30;
    p->mean_u = c->mean_u;
    p->mean_v = c->mean_v;
    p->inv_cells = 1 / ((double)c->N * c->N);
    p->edge = c->dealias == QN_LES_DEALIAS_TWO_THIRDS ? (c->N - 1) / 3 : c->N / 2;
    p->lap_dc = c->lap_dc;
    p->is_flux = is_flux;
    p->is_filtered = c->dealias == QN_LES_DEALIAS_EXP && c->filter_alpha > 0;
    /* Powers of numbers up to 1, which single precision can hold. */
    p->hyper_unit = 1 / qn_les_k2max(c);
    p->hyper = c->hyper_nu * pow(qn_les_k2max(c), c->hyper_order);
    p->hyper_order = c->hyper_order;
    p->hypo_unit = p->q * p->q;
    p->hypo = c->hypo_nu * pow(p->q, -2 * c->hypo_order);
    p->hypo_order = c->hypo_order;
    set_forcing(sim);
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
    if (sim->method->has_mid)
        QN_TRY(qn_buf_new(sim->ctx, "stage", field, &sim->mid, err));
    if (sim->method->has_sum)
        QN_TRY(qn_buf_new(sim->ctx, "sum of stages", field, &sim->sum, err));
    QN_TRY(qn_buf_new(sim->ctx, "work", all, &sim->work, err));
    if (keeps_nu)
        QN_TRY(qn_buf_new(sim->ctx, "eddy viscosity", field, &sim->nut, err));
    if (sim->par.driven != LES_UNFORCED) /* a force is one for all members */
        QN_TRY(qn_buf_new(sim->ctx, "force",
                          sim->par.driven == LES_KICKED ? field : field / (size_t)sim->par.members,
                          &sim->force, err));
    if (sim->par.is_filtered)
        QN_TRY(qn_buf_new(sim->ctx, "filter", field / (size_t)sim->par.members / 2, &sim->filter,
                          err));
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
    const les_dt_par rule = qn_les_dt_rule(c, sim->acceleration, LES_DT_STEP);
    double clock[CLOCK_WORDS];
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(sim->ctx, "les.stability", &graph, err));
    QN_TRY(qn_les_add_fields(sim, graph, err));
    QN_TRY(qn_les_add_peaks(sim, graph, LES_DT_LOOK, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    QN_TRY(qn_buf_read(sim->clock, 0, clock, sizeof clock, err));
out:
    qn_graph_free(graph);
    if (st != QN_OK)
        return st;

    const double speed = clock[CLOCK_SPEED], nut = clock[CLOCK_NUT];
    sim->stability =
        qn_les_stability_of(c, is_cfl ? qn_les_dt_of(&rule, speed, nut) : c->dt, speed, nut);
    return is_cfl && isfinite(speed) && isfinite(nut)
               ? QN_OK
               : qn_les_stability_check(c, &sim->stability, err);
}

qn_status qn_les_sim_new(qn_ctx *ctx, const qn_les_options *config, qn_les_sim **out, qn_err *err)
{
    qn_les_sim *sim = NULL;
    qn_status st = QN_OK;

    QN_TRY(check(ctx, config, err));
    QN_TRY(QN_NEW(sim, 1, "a flow", err));
    sim->ctx = ctx;
    sim->config = config;
    sim->is_f64 = config->precision == QN_LES_F64;
    sim->method = qn_les_method_of(config);
    set_parameters(sim);
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

    qn_buf *const bufs[] = { sim->state,  sim->mid,   sim->sum,   sim->work,  sim->nut, sim->force,
                             sim->filter, sim->clock, sim->modes, sim->cells, sim->log };
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
