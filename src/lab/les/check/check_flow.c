/* check_flow.c - flows of checks, and distances between their fields. */
#include "check_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double qn_les_distance(const double *a, const double *b, size_t n)
{
    double off = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        off += (a[i] - b[i]) * (a[i] - b[i]);
        norm += b[i] * b[i];
    }
    return sqrt(off / norm);
}

double qn_les_largest(const double *a, const double *b, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        const double off = fabs(a[i] - (b ? b[i] : 0));

        if (!(off <= most))
            most = off;
    }
    return most;
}

double qn_les_mean_product(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum / (double)n;
}

int qn_les_has_f64(const qn_ctx *ctx)
{
    const int last = qn_device_count(ctx) - 1;

    return qn_device_get(ctx, last)->has_f64;
}

/* Flows. */

qn_status qn_les_flow_open(qn_ctx *ctx, const char *const *pairs, qn_les_flow *out, qn_err *err)
{
    qn_status st = QN_OK;

    *out = (qn_les_flow){ .ctx = ctx };
    QN_TRY(qn_les_options_make(NULL, pairs, NULL, &out->config, err));
    QN_TRY(qn_les_sim_new(ctx, &out->config, &out->sim, err));
    out->cells = (size_t)out->config.N * (size_t)out->config.N * (size_t)out->config.ensemble;
    QN_TRY(qn_buf_new(ctx, "probe",
                      out->cells * (out->sim->is_f64 ? sizeof(double) : sizeof(float)), &out->field,
                      err));
out:
    if (st != QN_OK)
        qn_les_flow_close(out);
    return st;
}

void qn_les_flow_close(qn_les_flow *flow)
{
    qn_buf_free(flow->field);
    qn_les_sim_free(flow->sim);
    *flow = (qn_les_flow){ 0 };
}

/* Runs the graph `times` times and frees it. `st` is the status of building it. */
static qn_status run_built(qn_graph *graph, int times, qn_status st, qn_err *err)
{
    QN_TRY(st);
    for (int i = 0; i < times; i++)
        QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
out:
    qn_graph_free(graph);
    return st;
}

static qn_status run_groups(qn_les_flow *flow, int n_steps, int times, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = qn_graph_new(flow->ctx, "les.steps", &graph, err);

    if (st == QN_OK)
        st = qn_les_sim_add_steps(flow->sim, graph, n_steps, err);
    return run_built(graph, times, st, err);
}

/* Graphs of twenty steps, recorded once and replayed. */
qn_status qn_les_flow_run(qn_les_flow *flow, int n_steps, qn_err *err)
{
    enum { GROUP = 20 };
    qn_status st = QN_OK;

    if (n_steps >= GROUP)
        QN_TRY(run_groups(flow, GROUP, n_steps / GROUP, err));
    if (n_steps % GROUP)
        QN_TRY(run_groups(flow, n_steps % GROUP, 1, err));
out:
    return st;
}

static qn_status read_cells(qn_les_flow *flow, double **out, qn_err *err)
{
    double *cells = malloc(flow->cells * sizeof *cells);
    void *data;
    qn_status st;

    if (!cells)
        return qn_fail(err, QN_ERR_NOMEM, "%zu cells exceed host memory", flow->cells);
    st = qn_buf_host(flow->field, QN_HOST_READ, &data, err);
    for (size_t i = 0; st == QN_OK && i < flow->cells; i++)
        cells[i] = flow->sim->is_f64 ? ((double *)data)[i] : (double)((float *)data)[i];
    if (st != QN_OK)
        free(cells);
    else
        *out = cells;
    return st;
}

qn_status qn_les_flow_field(qn_les_flow *flow, double **out, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = qn_graph_new(flow->ctx, "les.field", &graph, err);

    if (st == QN_OK)
        st = qn_les_sim_add_field(flow->sim, graph, flow->field, err);
    st = run_built(graph, 1, st, err);
    return st == QN_OK ? read_cells(flow, out, err) : st;
}

qn_status qn_les_flow_probe(qn_les_flow *flow, qn_les_probe what, double **out, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = qn_graph_new(flow->ctx, "les.probe", &graph, err);

    if (st == QN_OK)
        st = qn_les_sim_add_probe(flow->sim, graph, what, flow->field, err);
    st = run_built(graph, 1, st, err);
    return st == QN_OK ? read_cells(flow, out, err) : st;
}

qn_status qn_les_flow_row(qn_les_flow *flow, qn_les_row *out, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_les_row *rows = NULL;
    int n = 0;
    qn_status st = qn_graph_new(flow->ctx, "les.row", &graph, err);

    if (st == QN_OK)
        st = qn_les_sim_add_log(flow->sim, graph, err);
    QN_TRY(qn_les_sim_clear_log(flow->sim, err)); /* a full one takes no more rows */
    QN_TRY(run_built(graph, 1, st, err));
    QN_TRY(qn_les_sim_read_log(flow->sim, &rows, &n, err));
    *out = rows[(n - 1) * flow->config.ensemble];
out:
    free(rows);
    return st;
}

qn_status qn_les_flow_set(qn_les_flow *flow, const double *cells, qn_err *err)
{
    double *copy = malloc(flow->cells * sizeof *copy);
    qn_status st;

    if (!copy)
        return qn_fail(err, QN_ERR_NOMEM, "%zu cells exceed host memory", flow->cells);
    memcpy(copy, cells, flow->cells * sizeof *copy);
    st = qn_les_sim_set_fields(flow->sim, copy, err);
    free(copy);
    return st;
}
