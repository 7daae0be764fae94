/* les.c - a flow that a program steps and inspects.
 *
 * Steps are two graphs that are recorded once: one of many steps, one of a single step. Graphs that
 * read the flow are made on first use.
 */
#include "domain/les/flow/sim.h"
#include "util/list.h"

#include <stdlib.h>

enum { MANY = 16 };

struct qn_les {
    qn_ctx *ctx;
    qn_les_options config;
    qn_les_sim *sim;
    qn_graph *many, *one, *field_graph, *row_graph, *check_graph;
    qn_buf *field;
};

/* The flow. */

qn_status qn_les_new(qn_ctx *ctx, const qn_les_options *options, qn_les **out, qn_err *err)
{
    qn_les *les = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(les, 1, "a flow", err));
    les->ctx = ctx;
    QN_TRY(qn_les_options_take(options, &les->config, err));
    QN_TRY(qn_les_sim_new(ctx, &les->config, &les->sim, err));
    QN_TRY(qn_les_sim_log_room(les->sim, 1, err));
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
    qn_graph_free(les->many);
    qn_graph_free(les->one);
    qn_graph_free(les->field_graph);
    qn_graph_free(les->row_graph);
    qn_graph_free(les->check_graph);
    qn_buf_free(les->field);
    qn_les_sim_free(les->sim);
    free(les);
}

void qn_les_get_size(const qn_les *les, qn_les_size *out)
{
    *out = (qn_les_size){ .n = les->config.N,
                          .ensemble = les->config.ensemble,
                          .is_f64 = les->config.precision == QN_LES_F64,
                          .n_shells = qn_les_sim_shells(&les->config) };
}

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

qn_status qn_les_step(qn_les *les, int n, qn_err *err)
{
    qn_status st = QN_OK;

    if (n < 0)
        return qn_fail(err, QN_ERR_USAGE, "%d steps", n);
    if (n >= MANY)
        QN_TRY(steps_graph(les, MANY, &les->many, err));
    if (n % MANY)
        QN_TRY(steps_graph(les, 1, &les->one, err));
    for (int i = 0; i < n / MANY; i++)
        QN_TRY(qn_graph_run(les->many, err));
    for (int i = 0; i < n % MANY; i++)
        QN_TRY(qn_graph_run(les->one, err));
    QN_TRY(check(les, err));
out:
    return st;
}

/* Reading. */

qn_status qn_les_vorticity(qn_les *les, void *out, size_t bytes, qn_err *err)
{
    const size_t real = les->config.precision == QN_LES_F64 ? sizeof(double) : sizeof(float);
    const size_t side = (size_t)les->config.N;
    const size_t wanted = (size_t)les->config.ensemble * side * side * real;
    qn_status st = QN_OK;

    if (bytes != wanted)
        return qn_fail(err, QN_ERR_USAGE, "a buffer of %zu bytes for a field of %zu", bytes,
                       wanted);
    if (!les->field)
        QN_TRY(qn_buf_new(les->ctx, "les.field", wanted, &les->field, err));
    if (!les->field_graph) {
        QN_TRY(qn_graph_new(les->ctx, "les.field", &les->field_graph, err));
        QN_TRY(qn_les_sim_add_field(les->sim, les->field_graph, les->field, err));
    }
    QN_TRY(qn_graph_run(les->field_graph, err));
    QN_TRY(qn_buf_read(les->field, 0, out, bytes, err));
out:
    return st;
}

qn_status qn_les_spectrum(qn_les *les, int member, double *out, size_t bytes, qn_err *err)
{
    const size_t wanted = (size_t)qn_les_sim_shells(&les->config) * sizeof(double);
    qn_graph *graph = NULL;
    qn_buf *shells = NULL;
    qn_status st = QN_OK;

    if (bytes != wanted)
        return qn_fail(err, QN_ERR_USAGE, "a buffer of %zu bytes for a spectrum of %zu", bytes,
                       wanted);
    if (member < 0 || member >= les->config.ensemble)
        return qn_fail(err, QN_ERR_USAGE, "member %d of %d", member, les->config.ensemble);
    QN_TRY(qn_buf_new(les->ctx, "les.spectrum", wanted, &shells, err));
    QN_TRY(qn_graph_new(les->ctx, "les.spectrum", &graph, err));
    QN_TRY(qn_les_sim_add_spectrum(les->sim, graph, member, shells, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_buf_read(shells, 0, out, bytes, err));
out:
    qn_graph_free(graph);
    qn_buf_free(shells);
    return st;
}

qn_status qn_les_inspect(qn_les *les, qn_les_state *out, qn_err *err)
{
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
