/* sim_inspect.c - fields, log, checks and spectrum of the flow, and reading them back to the host.
 */
#include "sim_impl.h"

#include "kernel/les_grid.gen.h"
#include "kernel/les_look.gen.h"

#include "engine/engine.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ROOM = 1024 };

_Static_assert(sizeof(qn_les_row) == LES_LOG_WORDS * sizeof(double), "a row of the log");

/* The vorticity on the grid, times n^2, in the first field of work. */
static qn_status add_vorticity(qn_les_sim *sim, qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(LES_STAGE(sim, les_lift, graph, "les.lift", qn_les_modes_range(sim), sim->par,
                     sim->state, sim->work, err));
    QN_TRY(qn_les_add_fft(sim, graph, QN_FFT_INVERSE, 1, err));
out:
    return st;
}

qn_status qn_les_sim_add_field(qn_les_sim *sim, qn_graph *graph, qn_buf *field, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(add_vorticity(sim, graph, err));
    QN_TRY(LES_STAGE(sim, les_unpad, graph, "les.field", qn_les_cells_range(sim), sim->par.n,
                     sim->par.inv_cells, sim->work, field, err));
out:
    return st;
}

/* `log` has room for `room` rows. */
static qn_status add_row(qn_les_sim *sim, qn_graph *graph, int room, qn_buf *log, qn_err *err)
{
    const qn_range rows = qn_les_rows_range(sim);
    qn_status st = QN_OK;

    QN_TRY(LES_STAGE(sim, les_sum_modes, graph, "les.sums", rows, sim->par, sim->state, sim->modes,
                     err));
    QN_TRY(add_vorticity(sim, graph, err));
    QN_TRY(LES_STAGE(sim, les_sum_cells, graph, "les.moments", rows, sim->par, sim->work,
                     sim->cells, err));
    QN_TRY(LES_STAGE(sim, les_log_row, graph, "les.log", qn_range_1d(sim->par.members), sim->par,
                     room, sim->modes, sim->cells, sim->clock, log, err));
out:
    return st;
}

size_t qn_les_sim_row_bytes(const qn_les_options *config)
{
    return (1 + (size_t)config->ensemble) * sizeof(qn_les_row);
}

qn_status qn_les_sim_add_row(qn_les_sim *sim, qn_graph *graph, qn_buf *row, qn_err *err)
{
    return add_row(sim, graph, 1, row, err);
}

qn_status qn_les_sim_add_log(qn_les_sim *sim, qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;

    if (!sim->log)
        QN_TRY(qn_les_sim_log_room(sim, DEFAULT_ROOM, err));
    QN_TRY(add_row(sim, graph, sim->log_room, sim->log, err));
    QN_TRY(LES_STAGE(sim, les_log_next, graph, "les.logged", qn_range_1d(1), sim->log_room,
                     sim->log, err));
out:
    return st;
}

qn_status qn_les_sim_add_check(qn_les_sim *sim, qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;

    if (sim->config->dt_mode != QN_LES_DT_CFL && !sim->config->allow_unstable) {
        QN_TRY(qn_les_add_fields(sim, graph, err));
        QN_TRY(qn_les_add_peaks(sim, graph, LES_DT_WATCH, err));
    }
    QN_TRY(LES_STAGE(sim, les_check_rows, graph, "les.check", qn_les_rows_range(sim), sim->par.n,
                     sim->state, sim->modes, err));
    QN_TRY(LES_STAGE(sim, les_check_join, graph, "les.checked", qn_range_1d(1),
                     sim->par.n * sim->par.members, sim->modes, sim->clock, err));
out:
    return st;
}

int qn_les_sim_shells(const qn_les_options *config)
{
    return (int)rint(config->N / sqrt(2)) + 1;
}

qn_status qn_les_sim_add_spectrum(qn_les_sim *sim, qn_graph *graph, int member, qn_buf *shells,
                                  qn_err *err)
{
    const int n = qn_les_sim_shells(sim->config);

    if (member < 0 || member >= sim->par.members)
        return qn_fail(err, QN_ERR_USAGE, "spectrum of member %d, but there are %d", member,
                       sim->par.members);
    return LES_STAGE(sim, les_shells, graph, "les.shells", qn_range_1d(n), sim->par, member,
                     sim->state, shells, err);
}

qn_status qn_les_sim_add_output(qn_les_sim *sim, qn_graph *graph, qn_les_probe what, qn_buf *field,
                                qn_err *err)
{
    const double mean = what == QN_LES_PROBE_U   ? sim->config->mean_u
                        : what == QN_LES_PROBE_V ? sim->config->mean_v
                                                 : 0;
    const qn_i64 n = (qn_i64)sim->par.members * sim->par.n * sim->par.n;
    qn_status st = QN_OK;

    QN_TRY(qn_les_sim_add_probe(sim, graph, what, field, err));
    if (mean != 0)
        QN_TRY(LES_STAGE(sim, les_shift, graph, "les.mean", qn_range_1d(n), mean, field, err));
out:
    return st;
}

/* Reading back. */

static size_t row_bytes(const qn_les_sim *sim)
{
    return (size_t)sim->par.members * sizeof(qn_les_row);
}

qn_status qn_les_sim_log_room(qn_les_sim *sim, int n_rows, qn_err *err)
{
    if (sim->log)
        return qn_fail(err, QN_ERR_USAGE, "the log has %d rows already", sim->log_room);
    if (n_rows < 1)
        return qn_fail(err, QN_ERR_USAGE, "a log of %d rows", n_rows);
    sim->log_room = n_rows;
    return qn_buf_new(sim->ctx, "log", sizeof(qn_les_row) + (size_t)n_rows * row_bytes(sim),
                      &sim->log, err);
}

qn_status qn_les_sim_clear_log(qn_les_sim *sim, qn_err *err)
{
    const double none = 0;

    return sim->log ? qn_buf_write(sim->log, 0, &none, sizeof none, err) : QN_OK;
}

qn_status qn_les_sim_read_log(qn_les_sim *sim, qn_les_row **rows, int *n, qn_err *err)
{
    qn_les_row *read = NULL;
    double count = 0;
    qn_status st = QN_OK;

    *rows = NULL;
    *n = 0;
    if (!sim->log)
        return QN_OK;
    QN_TRY(qn_buf_read(sim->log, 0, &count, sizeof count, err));
    if (count < 1)
        return QN_OK;
    QN_TRY(QN_NEW(read, (size_t)count * (size_t)sim->par.members, "a log", err));
    QN_TRY(qn_buf_read(sim->log, sizeof(qn_les_row), read, (size_t)count * row_bytes(sim), err));
    *rows = read;
    *n = (int)count;
    return QN_OK;
out:
    free(read);
    return st;
}

qn_status qn_les_sim_progress(qn_les_sim *sim, qn_les_progress *out, qn_err *err)
{
    double clock[CLOCK_WORDS];
    const qn_status st = qn_buf_read(sim->clock, 0, clock, sizeof clock, err);

    if (st == QN_OK)
        *out = (qn_les_progress){ .step = (qn_i64)clock[CLOCK_STEP],
                                  .time = clock[CLOCK_TIME],
                                  .dt = clock[CLOCK_DT],
                                  .n_not_finite = (qn_i64)clock[CLOCK_BAD],
                                  .last_good = (qn_i64)clock[CLOCK_LAST_GOOD],
                                  .first_bad = (qn_i64)clock[CLOCK_FIRST_BAD],
                                  .outgrown = (qn_i64)clock[CLOCK_OUTGROWN],
                                  .dt_limit = clock[CLOCK_LIMIT] };
    return st;
}

qn_status qn_les_sim_forgive(qn_les_sim *sim, qn_err *err)
{
    double clock[CLOCK_WORDS];
    qn_status st = QN_OK;

    QN_TRY(qn_buf_read(sim->clock, 0, clock, sizeof clock, err));
    clock[CLOCK_BAD] = 0;
    clock[CLOCK_LAST_GOOD] = clock[CLOCK_FIRST_BAD] = clock[CLOCK_OUTGROWN] = -1;
    QN_TRY(qn_buf_write(sim->clock, 0, clock, sizeof clock, err));
out:
    return st;
}

int qn_les_is_lost(const qn_les_progress *progress)
{
    return progress->n_not_finite > 0 || progress->outgrown >= 0;
}

qn_status qn_les_lost(const qn_les_options *config, const qn_les_progress *p, const char *also,
                      qn_err *err)
{
    if (p->outgrown >= 0 && !(p->first_bad >= 0 && p->first_bad < p->outgrown))
        return qn_fail(err, QN_ERR_FAILED,
                       "the flow has become too fast for its time step: at step %lld the largest "
                       "stable dt is %.3g; %s%s",
                       (long long)p->outgrown, qn_les_shown_step(p->dt_limit),
                       qn_les_advice(config), also);
    return qn_fail(err, QN_ERR_FAILED,
                   "the flow has cells that are not finite: they came between steps %lld and "
                   "%lld; %s%s",
                   (long long)p->last_good, (long long)p->first_bad, qn_les_advice(config), also);
}

/* Checkpoints: the state, then the clock. */

size_t qn_les_sim_save_bytes(const qn_les_sim *sim)
{
    return qn_buf_bytes(sim->state) + qn_buf_bytes(sim->clock);
}

qn_status qn_les_sim_save(qn_les_sim *sim, void *out, qn_err *err)
{
    const size_t state = qn_buf_bytes(sim->state), clock = qn_buf_bytes(sim->clock);
    qn_status st = QN_OK;

    QN_TRY(qn_buf_read(sim->state, 0, out, state, err));
    QN_TRY(qn_buf_read(sim->clock, 0, (char *)out + state, clock, err));
out:
    return st;
}

qn_status qn_les_sim_restore(qn_les_sim *sim, const void *saved, qn_err *err)
{
    static const int counts[] = { CLOCK_STEP, CLOCK_BAD, CLOCK_LAST_GOOD, CLOCK_FIRST_BAD,
                                  CLOCK_OUTGROWN };
    const double most = 9007199254740992.0; /* 2^53: whole numbers so far */
    const size_t state = qn_buf_bytes(sim->state);
    double clock[CLOCK_WORDS];
    qn_status st = QN_OK;

    memcpy(clock, (const char *)saved + state, sizeof clock);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (!(clock[counts[i]] >= -1 && clock[counts[i]] <= most))
            QN_FAIL(err, QN_ERR_INPUT, "the clock of a saved flow has %g in place %d",
                    clock[counts[i]], counts[i]);
    QN_TRY(qn_buf_write(sim->state, 0, saved, state, err));
    QN_TRY(qn_buf_write(sim->clock, 0, clock, sizeof clock, err));
out:
    return st;
}
