/* run_read.c - reads results back at the end of a run. */
#include "run_impl.h"

#include "output.h"
#include "util/clock.h"
#include "util/npy.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>

/* Appends the rows of member 0 to those restored from a checkpoint. */
static qn_status read_log(run *r, qn_err *err)
{
    const int members = r->config->ensemble, before = r->result->n_rows;
    qn_les_row *rows = NULL, *all;
    qn_status st = QN_OK;
    int n = 0;

    QN_TRY(qn_les_sim_read_log(r->sim, &rows, &n, err));
    if (!(all = realloc(r->result->rows, (size_t)(before + n + 1) * sizeof *all)))
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for %d rows of the log", before + n);
    r->result->rows = all;
    for (int i = 0; i < n; i++)
        all[before + i] = rows[i * members];
    r->result->n_rows = before + n;
out:
    free(rows);
    return st;
}

/* Reads the spectrum of the first step from the buffer, then computes that of the last step. */
static qn_status read_shells(run *r, qn_err *err)
{
    const size_t bytes = qn_buf_bytes(r->shells);
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    r->result->n_shells = (int)(bytes / sizeof(double));
    for (int i = 0; i < 2; i++) {
        QN_TRY(QN_NEW(r->result->shells[i], r->result->n_shells, "a spectrum", err));
        if (i == 1) {
            QN_TRY(qn_graph_new(r->ctx, "les.spectrum", &graph, err));
            QN_TRY(qn_les_sim_add_spectrum(r->sim, graph, 0, r->shells, err));
            QN_TRY(qn_graph_run(graph, err));
        }
        QN_TRY(qn_buf_read(r->shells, 0, r->result->shells[i], bytes, err));
    }
out:
    qn_graph_free(graph);
    return st;
}

static qn_status read_hashes(run *r, qn_err *err)
{
    const int n = qn_les_due_count(&r->plan, r->plan.hash, r->step, 0);
    uint64_t *values = NULL;
    qn_les_hash *hashes = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(values, 2 * n, "hashes", err));
    QN_TRY(QN_NEW(hashes, n, "hashes", err));
    QN_TRY(qn_buf_read(r->hashes, 0, values, 2 * (size_t)n * sizeof *values, err));
    for (int i = 0; i < n; i++)
        hashes[i] = (qn_les_hash){ .step = i * r->plan.hash,
                                   .has_z = r->codec != NULL,
                                   .omega = values[2 * i],
                                   .z = values[2 * i + 1] };
    r->result->hashes = hashes;
    r->result->n_hashes = n;
    hashes = NULL;
out:
    free(values);
    free(hashes);
    return st;
}

qn_status qn_les_run_read_rows(run *r, const char *name, qn_buf *buf, int rows, qn_err *err)
{
    const int members = r->config->ensemble;
    const qn_i64 d = r->result->layout.size;
    const qn_i64 two[] = { rows, d }, three[] = { rows, members, d };
    const int type = r->config->precision == QN_LES_F64 ? QN_NPY_F8 : QN_NPY_F4;
    char *data = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(data, (size_t)rows * qn_les_run_row_bytes(r), name, err));
    QN_TRY(qn_buf_read(buf, 0, data, (size_t)rows * qn_les_run_row_bytes(r), err));
    st = qn_les_output_array(r->config, r->result, name, type, members > 1 ? 3 : 2,
                             members > 1 ? three : two, data, err);
    data = NULL;
out:
    free(data);
    return st;
}

static qn_status read_anchors(run *r, qn_err *err)
{
    const int members = r->config->ensemble, n = r->result->modes.n_anchors;
    const qn_i64 one[] = { n }, two[] = { members, n };
    int32_t *modes = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(modes, (size_t)n * (size_t)members, "anchors", err));
    QN_TRY(qn_les_codec_read_anchors(r->codec, modes, err));
    st = qn_les_output_array(r->config, r->result, "anchors", QN_NPY_I4, members > 1 ? 2 : 1,
                             members > 1 ? two : one, modes, err);
    modes = NULL;
out:
    free(modes);
    return st;
}

qn_status qn_les_run_read(run *r, qn_err *err)
{
    qn_status st = QN_OK;

    r->result->residency.syncs++;
    QN_TRY(qn_les_sim_progress(r->sim, &r->result->end, err));
    r->is_stopped |= qn_les_is_lost(&r->result->end);
    if (r->plan.log)
        QN_TRY(read_log(r, err));
    if (r->hashes)
        QN_TRY(read_hashes(r, err));
    if (r->shells)
        QN_TRY(read_shells(r, err));
    if (r->codec && r->config->observer != QN_LES_OBSERVE_NONE) {
        QN_TRY(qn_les_run_read_rows(r, "z", r->z, r->step / r->plan.encode + 1, err));
        QN_TRY(read_anchors(r, err));
    }
out:
    return st;
}

/* Encodings run in the same submissions as the steps, so their time is measured by running a few of
 * them alone. Their rows are beyond the last one, so they write nothing. */
qn_status qn_les_run_measure_encode(run *r, qn_err *err)
{
    enum { FEW = 4 };
    qn_les_time *sim = &r->result->times[QN_LES_TIME_SIM];
    qn_les_time *encode = &r->result->times[QN_LES_TIME_ENCODE];
    qn_graph *graph = NULL;
    double us = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_les_codec_set_row(r->codec, r->plan.n_frames, err));
    QN_TRY(qn_graph_new(r->ctx, "les.encode", &graph, err));
    for (int i = 0; i < FEW; i++)
        QN_TRY(qn_les_codec_add_encode(r->codec, graph, qn_les_sim_state(r->sim), r->z,
                                       r->plan.n_frames, err));
    for (int i = 0; i < 3; i++) { /* the third is a replay */
        const double start = qn_now_us();

        QN_TRY(qn_graph_run(graph, err));
        QN_TRY(qn_graph_wait(graph, err));
        us = qn_now_us() - start;
    }
    encode->count = r->step / r->plan.encode - r->result->first_step / r->plan.encode;
    encode->wall_s = fmin(us / 1e6 / FEW * (double)encode->count, 0.95 * sim->wall_s);
    sim->wall_s -= encode->wall_s;
out:
    qn_graph_free(graph);
    return st;
}
