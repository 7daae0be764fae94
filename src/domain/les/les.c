/* les.c - a flow that a program steps and inspects.
 *
 * Steps are two graphs that are recorded once: one of many steps, one of a single step. Every call is a
 * piece of work that is done again on the CPU when the device fails (safe.h): the flow is recreated
 * there, from its last state on the host, and makes the steps since then. Whatever changes the flow
 * otherwise copies the state first.
 */
#include "les_impl.h"

#include "util/clock.h"
#include "util/list.h"

#include <stdlib.h>

enum { MANY = 16 };

/* Guarded work. */

typedef struct call {
    qn_les *les;
    qn_status (*work)(qn_les *les, void *arguments, qn_err *err);
    void *arguments;
} call;

static void drop_flow(qn_les *les)
{
    qn_graph_free(les->many);
    qn_graph_free(les->one);
    qn_graph_free(les->row_graph);
    qn_graph_free(les->check_graph);
    les->many = les->one = les->row_graph = les->check_graph = NULL;
    for (int q = 0; q < QN_LES_QUANTITIES; q++) {
        qn_graph_free(les->get[q]);
        qn_graph_free(les->put[q]);
        les->get[q] = les->put[q] = NULL;
    }
    qn_les_sim_free(les->sim);
    les->sim = NULL;
}

static qn_status make_flow(qn_les *les, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_les_sim_new(les->ctx, &les->config, &les->sim, err));
    QN_TRY(qn_les_sim_log_room(les->sim, 1, err));
out:
    return st;
}

qn_status qn_les_keep(qn_les *les, qn_err *err)
{
    const size_t bytes = qn_les_sim_save_bytes(les->sim);
    const double start = qn_now_us();
    char *state = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(state, bytes, "a state", err));
    QN_TRY(qn_les_sim_save(les->sim, state, err));
    free(les->state);
    les->state = state;
    les->since = 0;
    state = NULL;
    qn_pace_note(&les->pace, (double)bytes, start);
out:
    free(state);
    return st;
}

static qn_status add_steps(qn_les *les, qn_i64 n, qn_err *err);

qn_status qn_les_remake(qn_les *les, qn_err *err)
{
    qn_status st = QN_OK;

    drop_flow(les);
    les->is_force_in_field = 0; /* its copy on the device may be lost */
    if (les->state) { /* what it began with is overwritten, and the caller's memory anyway */
        les->config.ic = QN_LES_IC_TAYLOR_GREEN;
        les->config.ic_file = "";
        les->config.ic_field = NULL;
        les->config.n_ic_field = 0;
        les->config.allow_unstable = 1;
    }
    QN_TRY(make_flow(les, err));
    if (les->state)
        QN_TRY(qn_les_sim_restore(les->sim, les->state, err));
    QN_TRY(add_steps(les, les->since, err));
out:
    return st;
}

static qn_status do_call(void *user, qn_err *err)
{
    const call *c = user;
    qn_status st = QN_OK;

    if (!c->les->sim) /* for the first time, or it could not be recreated */
        QN_TRY(qn_les_remake(c->les, err));
    st = c->work(c->les, c->arguments, err);
out:
    return st;
}

static qn_status go_back(void *user, qn_err *err)
{
    return qn_les_remake(((const call *)user)->les, err);
}

qn_status qn_les_guarded(qn_les *les, qn_status (*work)(qn_les *, void *, qn_err *),
                         void *arguments, qn_err *err)
{
    call c = { les, work, arguments };
    const qn_les_work safely = { do_call, go_back, &c };

    return qn_les_safely(&les->safe, &safely, err);
}

/* From the beginning to the end. */

static qn_status take_force(qn_les *les, qn_err *err)
{
    const size_t cells = (size_t)les->config.N * (size_t)les->config.N;
    qn_status st = QN_OK;

    if (les->config.forcing != QN_LES_FORCING_STATIC)
        return QN_OK;
    QN_TRY(QN_NEW(les->force, cells, "the force", err));
    QN_TRY(qn_les_force_fill(&les->config, les->force, err));
    les->config.forcing_file = "";
    les->config.forcing_field = les->force;
    les->config.n_forcing_field = cells;
out:
    return st;
}

static qn_status begin(qn_les *les, void *none, qn_err *err)
{
    qn_status st = QN_OK;

    (void)none;
    if (les->safe.keeps)
        QN_TRY(qn_les_keep(les, err));
out:
    return st;
}

qn_status qn_les_new(qn_ctx *ctx, const qn_les_options *options, qn_les **out, qn_err *err)
{
    qn_les *les = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(les, 1, "a flow", err));
    les->ctx = ctx;
    les->safe = qn_les_safe_of(ctx, "les.flow");
    les->pace = qn_pace_begin();
    QN_TRY(qn_les_options_take(options, &les->config, err));
    QN_TRY(take_force(les, err));
    QN_TRY(qn_les_guarded(les, begin, NULL, err));
    *out = les;
    les = NULL;
out:
    qn_les_free(les);
    return st;
}

void qn_les_free(qn_les *les)
{
    if (!les)
        return;
    drop_flow(les);
    for (int q = 0; q < QN_LES_QUANTITIES; q++)
        qn_buf_free(les->fields[q]);
    free(les->force);
    free(les->state);
    free(les);
}

void qn_les_get_size(const qn_les *les, qn_les_size *out)
{
    *out = (qn_les_size){ .n = les->config.N,
                          .ensemble = les->config.ensemble,
                          .is_f64 = les->config.precision == QN_LES_F64,
                          .n_shells = qn_les_sim_shells(&les->config) };
}

/* Steps. */

/* Makes the graph of `n` steps at *graph on first use. */
static qn_status steps_graph(qn_les *les, int n, qn_graph **graph, qn_err *err)
{
    qn_graph *made = NULL;
    qn_status st = QN_OK;

    if (*graph)
        return QN_OK;
    QN_TRY(qn_graph_new(les->ctx, "les.steps", &made, err));
    QN_TRY(qn_les_sim_add_steps(les->sim, made, n, err));
    *graph = made;
    made = NULL;
out:
    qn_graph_free(made);
    return st;
}

static qn_status add_steps(qn_les *les, qn_i64 n, qn_err *err)
{
    qn_status st = QN_OK;

    if (n >= MANY)
        QN_TRY(steps_graph(les, MANY, &les->many, err));
    if (n % MANY)
        QN_TRY(steps_graph(les, 1, &les->one, err));
    for (qn_i64 i = 0; i < n / MANY; i++)
        QN_TRY(qn_graph_run(les->many, err));
    for (qn_i64 i = 0; i < n % MANY; i++)
        QN_TRY(qn_graph_run(les->one, err));
out:
    return st;
}

/* Checks for NaN and infinity, which waits for the steps. */
static qn_status check(qn_les *les, qn_err *err)
{
    qn_les_progress now;
    qn_status st = QN_OK;

    if (!les->check_graph) {
        QN_TRY(qn_graph_new(les->ctx, "les.check", &les->check_graph, err));
        QN_TRY(qn_les_sim_add_check(les->sim, les->check_graph, err));
    }
    QN_TRY(qn_graph_run(les->check_graph, err));
    QN_TRY(qn_graph_wait(les->check_graph, err));
    QN_TRY(qn_les_sim_progress(les->sim, &now, err));
    if (qn_les_is_lost(&now))
        st = qn_les_lost(&les->config, &now, "", err);
out:
    return st;
}

static qn_status make_steps(qn_les *les, void *user, qn_err *err)
{
    const int n = *(const int *)user;
    qn_status st = QN_OK;

    QN_TRY(add_steps(les, n, err));
    QN_TRY(check(les, err));
    if (les->safe.keeps && qn_pace_is_due(&les->pace, (double)qn_les_sim_save_bytes(les->sim)))
        return qn_les_keep(les, err); /* after a failure, the steps are made again */
    les->since += n;
out:
    return st;
}

qn_status qn_les_step(qn_les *les, int n, qn_err *err)
{
    qn_err own;

    err = qn_err_begin(err, &own);
    if (n < 0)
        return qn_fail(err, QN_ERR_USAGE, "%d steps", n);
    return qn_les_guarded(les, make_steps, &n, err);
}

/* Numbers. */

typedef struct spectrum_call {
    int member;
    double *out;
    size_t bytes;
} spectrum_call;

static qn_status read_spectrum(qn_les *les, void *user, qn_err *err)
{
    const spectrum_call *r = user;
    qn_graph *graph = NULL;
    qn_buf *shells = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(les->ctx, "les.spectrum", r->bytes, &shells, err));
    QN_TRY(qn_graph_new(les->ctx, "les.spectrum", &graph, err));
    QN_TRY(qn_les_sim_add_spectrum(les->sim, graph, r->member, shells, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_buf_read(shells, 0, r->out, r->bytes, err));
out:
    qn_graph_free(graph);
    qn_buf_free(shells);
    return st;
}

qn_status qn_les_spectrum(qn_les *les, int member, double *out, size_t bytes, qn_err *err)
{
    const size_t wanted = (size_t)qn_les_sim_shells(&les->config) * sizeof(double);
    spectrum_call r = { member, out, bytes };
    qn_err own;

    err = qn_err_begin(err, &own);
    if (bytes != wanted)
        return qn_fail(err, QN_ERR_USAGE, "a buffer of %zu bytes for a spectrum of %zu", bytes,
                       wanted);
    if (member < 0 || member >= les->config.ensemble)
        return qn_fail(err, QN_ERR_USAGE, "member %d of %d", member, les->config.ensemble);
    return qn_les_guarded(les, read_spectrum, &r, err);
}

static qn_status inspect(qn_les *les, void *user, qn_err *err)
{
    qn_les_state *out = user;
    qn_les_progress now;
    qn_les_row *rows = NULL;
    qn_status st = QN_OK;
    int n = 0;

    if (!les->row_graph) {
        QN_TRY(qn_graph_new(les->ctx, "les.row", &les->row_graph, err));
        QN_TRY(qn_les_sim_add_log(les->sim, les->row_graph, err));
    }
    QN_TRY(qn_les_sim_clear_log(les->sim, err));
    QN_TRY(qn_graph_run(les->row_graph, err));
    QN_TRY(qn_les_sim_read_log(les->sim, &rows, &n, err));
    QN_TRY(qn_les_sim_progress(les->sim, &now, err));
    if (n < 1)
        QN_FAIL(err, QN_ERR_FAILED, "the log of the flow is empty");
    *out = (qn_les_state){ .step = now.step,
                           .time = now.time,
                           .dt = now.dt,
                           .energy = rows[0].energy,
                           .enstrophy = rows[0].enstrophy,
                           .palinstrophy = rows[0].palinstrophy,
                           .max_vorticity = rows[0].max_abs };
out:
    free(rows);
    return st;
}

qn_status qn_les_inspect(qn_les *les, qn_les_state *out, qn_err *err)
{
    qn_err own;

    err = qn_err_begin(err, &own);
    return qn_les_guarded(les, inspect, out, err);
}
