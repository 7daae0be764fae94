/* sim_begin.c - the state at t = 0.
 *
 * A half spectrum made on the host is the state already. A field on the grid becomes the state by
 * one transform, which defines all modes, and is then dealiased.
 */
#include "sim_impl.h"

#include "ic.h"

#include "kernel/les_grid.gen.h"
#include "kernel/les_look.gen.h"
#include "kernel/les_stage.gen.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes `n` doubles to the beginning of `buf`, in run precision. */
static qn_status put_reals(qn_les_sim *sim, qn_buf *buf, double *values, size_t n, qn_err *err)
{
    float *narrow = (float *)values;

    if (sim->is_f64)
        return qn_buf_write(buf, 0, values, n * sizeof *values, err);
    /* In place: no float is written past the double it comes from. */
    for (size_t i = 0; i < n; i++) {
        const float value = (float)values[i];

        memcpy(narrow + i, &value, sizeof value);
    }
    return qn_buf_write(buf, 0, narrow, n * sizeof *narrow, err);
}

/* Adds `members` fields of n x n cells to the spectra in `to`. */
static qn_status add_spectrum_of(qn_les_sim *sim, qn_graph *graph, qn_buf *field, qn_buf *to,
                                 int members, int drop_mean, qn_err *err)
{
    const int n = sim->par.n;
    const qn_fft_shape shape = { .rows = n, .cols = n, .batch = members, .is_f64 = sim->is_f64 };
    qn_status st = QN_OK;

    QN_TRY(LES_STAGE(sim, les_pad, graph, "les.pad", qn_range_3d(n + 2, n, members), n, field, to,
                     err));
    QN_TRY(qn_graph_fft(graph, "les.spectrum", &shape, QN_FFT_FORWARD, to, 0, err));
    QN_TRY(LES_STAGE(sim, les_clean, graph, "les.clean", qn_range_3d(n / 2 + 1, n, members),
                     sim->par, drop_mean, to, err));
out:
    return st;
}

/* Transforms `values`, n x n for each member, or the box field when it is NULL, to spectra in `to`.
 */
static qn_status take_fields(qn_les_sim *sim, double *values, qn_buf *to, int members,
                             int drop_mean, qn_err *err)
{
    const size_t cells = (size_t)sim->par.n * (size_t)sim->par.n * (size_t)members;
    const size_t real = sim->is_f64 ? sizeof(double) : sizeof(float);
    qn_buf *field = NULL;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(sim->ctx, "initial field", cells * real, &field, err));
    QN_TRY(qn_graph_new(sim->ctx, "les.begin", &graph, err));
    if (values)
        QN_TRY(put_reals(sim, field, values, cells, err));
    else
        QN_TRY(qn_les_ic_box(graph, sim->config, field, NULL, err));
    QN_TRY(add_spectrum_of(sim, graph, field, to, members, drop_mean, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
out:
    qn_graph_free(graph);
    qn_buf_free(field);
    return st;
}

qn_status qn_les_sim_set_fields(qn_les_sim *sim, double *values, qn_err *err)
{
    const int drop_mean = sim->config->ic == QN_LES_IC_SHEAR;

    return take_fields(sim, values, sim->state, sim->config->ensemble, drop_mean, err);
}

static qn_status begin_state(qn_les_sim *sim, qn_err *err)
{
    const qn_les_options *c = sim->config;
    const size_t elems = qn_les_ic_elems(c) * (size_t)c->ensemble;
    double *values = NULL;
    qn_status st = QN_OK;

    if (qn_les_ic_start(c) == QN_LES_START_DEVICE)
        return take_fields(sim, NULL, sim->state, c->ensemble, 0, err);
    QN_TRY(QN_NEW(values, elems, "the initial field", err));
    QN_TRY(qn_les_ic_fill(c, values, err));
    if (qn_les_ic_start(c) == QN_LES_START_SPECTRUM)
        st = put_reals(sim, sim->state, values, elems, err);
    else
        st = qn_les_sim_set_fields(sim, values, err);
out:
    free(values);
    return st;
}

/* Read in the same way as an initial field. */
qn_status qn_les_force_fill(const qn_les_options *config, double *values, qn_err *err)
{
    qn_les_options file = *config;

    file.ic = QN_LES_IC_FILE;
    file.ensemble = 1;
    file.ic_file = file.forcing_file;
    file.ic_field = file.forcing_field;
    file.n_ic_field = file.n_forcing_field;
    return qn_les_ic_fill(&file, values, err);
}

qn_status qn_les_sim_add_state(qn_les_sim *sim, qn_graph *graph, qn_buf *field, qn_err *err)
{
    return add_spectrum_of(sim, graph, field, sim->state, sim->config->ensemble, 0, err);
}

qn_status qn_les_sim_add_force(qn_les_sim *sim, qn_graph *graph, qn_buf *field, qn_err *err)
{
    return add_spectrum_of(sim, graph, field, sim->force, 1, 0, err);
}

/* One force for all members. */
static qn_status begin_force(qn_les_sim *sim, qn_err *err)
{
    const size_t cells = (size_t)sim->config->N * (size_t)sim->config->N;
    double *values = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(values, cells, "the force", err));
    QN_TRY(qn_les_force_fill(sim->config, values, err));
    QN_TRY(take_fields(sim, values, sim->force, 1, 0, err));
out:
    free(values);
    return st;
}

/* The largest acceleration by the force: the velocity that belongs to it as a vorticity. */
static qn_status measure_force(qn_les_sim *sim, qn_err *err)
{
    const int n = sim->par.n;
    const les_dt_par look = { .n_rows = n, .use = LES_DT_LOOK };
    les_par one = sim->par;
    double clock[CLOCK_WORDS];
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    one.mean_u = one.mean_v = 0;
    QN_TRY(qn_graph_new(sim->ctx, "les.force", &graph, err));
    QN_TRY(qn_les_add_first(sim, graph, sim->force, 1, err));
    QN_TRY(qn_les_add_fft(sim, graph, QN_FFT_INVERSE, sim->n_fields, err));
    QN_TRY(LES_STAGE(sim, les_peak_rows, graph, "les.peaks", qn_range_2d(n, 1), one, sim->e_field,
                     sim->work, sim->cells, err));
    QN_TRY(LES_STAGE(sim, les_peak_join, graph, "les.look", qn_range_1d(1), look, sim->cells,
                     sim->clock, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    QN_TRY(qn_buf_read(sim->clock, 0, clock, sizeof clock, err));
    sim->acceleration = clock[CLOCK_SPEED];
out:
    qn_graph_free(graph);
    return st;
}

/* Factors of dealias exp: exp(-alpha (k / kmax)^power), the Nyquist mode of an axis being kmax. */
static qn_status begin_filter(qn_les_sim *sim, qn_err *err)
{
    const qn_les_options *c = sim->config;
    const int n = c->N, cols = n / 2 + 1;
    double *values = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(values, (size_t)n * (size_t)cols, "the filter", err));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < cols; i++) {
            const double y = 2 * j <= n ? j : j - n, k2 = 4 * (i * (double)i + y * y) / n / n;

            values[j * cols + i] = exp(-c->filter_alpha * pow(k2, c->filter_power / 2));
        }
    QN_TRY(put_reals(sim, sim->filter, values, (size_t)n * (size_t)cols, err));
out:
    free(values);
    return st;
}

/* Arrays of stages are first written on the device, so that nothing is sent to it for them. */
static qn_status begin_stages(qn_les_sim *sim, qn_err *err)
{
    qn_buf *const arrays[] = { sim->mid, sim->sum };
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(sim->ctx, "les.begin", &graph, err));
    for (int i = 0; i < 2; i++)
        if (arrays[i])
            QN_TRY(LES_STAGE(sim, les_copy, graph, "les.first", qn_les_modes_range(sim), sim->par,
                             sim->state, arrays[i], err));
    QN_TRY(qn_graph_run(graph, err));
out:
    qn_graph_free(graph);
    return st;
}

qn_status qn_les_sim_begin(qn_les_sim *sim, qn_err *err)
{
    const double dt = isnan(sim->config->dt) ? QN_LES_DT_DEFAULT : sim->config->dt;
    const double clock[CLOCK_WORDS] = {
        [CLOCK_DT] = dt, [CLOCK_LAST_GOOD] = -1, [CLOCK_FIRST_BAD] = -1, [CLOCK_OUTGROWN] = -1
    };
    qn_status st = QN_OK;

    QN_TRY(qn_buf_write(sim->clock, 0, clock, sizeof clock, err));
    QN_TRY(begin_state(sim, err));
    QN_TRY(begin_stages(sim, err));
    if (sim->filter)
        QN_TRY(begin_filter(sim, err));
    if (sim->par.driven == LES_FORCED) {
        QN_TRY(begin_force(sim, err));
        QN_TRY(measure_force(sim, err));
    }
out:
    return st;
}
