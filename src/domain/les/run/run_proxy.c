/* run_proxy.c - learns, rolls out, decodes, compares and draws.
 *
 * There are two slots: while the host writes the files of one, the device decodes the next. All
 * comparisons go to one array, which is read once.
 */
#include "run_impl.h"

#include "digest.h"
#include "output.h"
#include "pictures.h"
#include "writes.h"
#include "util/npy.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

/* A snapshot being decoded and drawn. */
typedef struct slot {
    qn_graph *graph;
    qn_buf *flow; /* view of the store */
    qn_buf *lp, *full, *rgb;
    int step; /* -1: none */
} slot;

enum { SUMS_LP, SUMS_FULL, SUMS_PERSISTENCE, SUMS_ROWS };

typedef struct decoding {
    run *r;
    qn_buf *source; /* vectors to decode; NULL: only the flow is drawn */
    qn_buf *first;  /* low-pass field of the first frame */
    qn_buf *sums;
    slot slots[2];
    int panels;
    int has_fields;            /* what the caller gets: */
    qn_les_pictures *pictures; /* NULL: none */
} decoding;

static void slot_end(slot *s)
{
    qn_graph_free(s->graph);
    qn_buf_free(s->flow);
    s->graph = NULL;
    s->flow = NULL;
    s->step = -1;
}

static void decoding_free(decoding *d)
{
    qn_les_pictures_free(d->pictures);
    for (int i = 0; i < 2; i++) {
        slot_end(&d->slots[i]);
        qn_buf_free(d->slots[i].lp);
        qn_buf_free(d->slots[i].full);
        qn_buf_free(d->slots[i].rgb);
    }
    qn_buf_free(d->first);
    qn_buf_free(d->sums);
}

static qn_status decoding_new(decoding *d, qn_err *err)
{
    run *r = d->r;
    const size_t fields = qn_les_run_field_bytes(r) * (size_t)r->config->ensemble;
    const qn_les_frame_size size = qn_les_frame_size_of(r->config, d->panels);
    const int has_frames = d->has_fields && r->store && r->result->folder;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    for (int i = 0; i < 2; i++)
        d->slots[i].step = -1;
    if (has_frames)
        QN_TRY(qn_les_pictures_begin(r->config, r->result, d->panels, &d->pictures, err));
    for (int i = 0; i < 2; i++) {
        slot *s = &d->slots[i];

        if (d->source)
            QN_TRY(qn_buf_new(r->ctx, "les.low-pass", fields, &s->lp, err));
        if (d->source)
            QN_TRY(qn_buf_new(r->ctx, "les.decoded", fields, &s->full, err));
        if (d->pictures)
            QN_TRY(qn_buf_new(r->ctx, "les.frame", size.bytes, &s->rgb, err));
    }
    if (d->source && r->store) {
        QN_TRY(qn_buf_new(r->ctx, "les.first", fields, &d->first, err));
        QN_TRY(qn_buf_new(r->ctx, "les.sums",
                          (size_t)r->plan.n_snapshots * SUMS_ROWS * QN_LES_SUMS * sizeof(double),
                          &d->sums, err));
        QN_TRY(qn_graph_new(r->ctx, "les.decode", &graph, err));
        QN_TRY(qn_les_codec_add_decode(r->codec, graph, d->source, 0, 0, d->first, NULL, err));
        QN_TRY(qn_graph_run(graph, err));
    }
out:
    qn_graph_free(graph);
    return st;
}

/* Results of a snapshot. */

static qn_status output_decoded(decoding *d, qn_buf *buf, qn_les_field field, int step, qn_err *err)
{
    run *r = d->r;
    void *data;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_host(buf, QN_HOST_READ, &data, err));
    QN_TRY(qn_les_output_field(r->config, r->result, field, step, data, err));
out:
    return st;
}

static qn_status collect(decoding *d, slot *s, qn_err *err)
{
    run *r = d->r;
    void *rgb;
    qn_status st = QN_OK;

    if (s->step < 0)
        return QN_OK;
    QN_TRY(qn_les_run_wait(r, s->graph, err));
    if (d->has_fields && d->source) {
        QN_TRY(output_decoded(d, s->lp, QN_LES_FIELD_LOWPASS, s->step, err));
        QN_TRY(output_decoded(d, s->full, QN_LES_FIELD_DECODED, s->step, err));
    }
    if (s->rgb) {
        QN_TRY(qn_buf_host(s->rgb, QN_HOST_READ, &rgb, err));
        QN_TRY(qn_les_put_picture(d->pictures, rgb, s->step, err));
    }
    slot_end(s);
out:
    return st;
}

/* A snapshot. */

static qn_status add_comparisons(decoding *d, slot *s, int number, qn_err *err)
{
    qn_les_codec *codec = d->r->codec;
    const int row = number * SUMS_ROWS;
    qn_status st = QN_OK;

    QN_TRY(qn_les_codec_add_compare(codec, s->graph, s->flow, s->lp, d->sums, row + SUMS_LP, err));
    QN_TRY(
        qn_les_codec_add_compare(codec, s->graph, s->flow, s->full, d->sums, row + SUMS_FULL, err));
    QN_TRY(qn_les_codec_add_compare(codec, s->graph, s->flow, d->first, d->sums,
                                    row + SUMS_PERSISTENCE, err));
out:
    return st;
}

static qn_status submit(decoding *d, slot *s, int step, qn_err *err)
{
    run *r = d->r;
    const int number = step / r->config->stride;
    const size_t bytes = qn_les_run_field_bytes(r);
    double low, high;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(r->ctx, "les.decoding", &s->graph, err));
    if (r->store)
        QN_TRY(qn_buf_view(r->store, "flow", (size_t)number * bytes, bytes, &s->flow, err));
    if (d->source)
        QN_TRY(qn_les_codec_add_decode(r->codec, s->graph, d->source, step / r->plan.encode, step,
                                       s->lp, s->full, err));
    if (d->sums)
        QN_TRY(add_comparisons(d, s, number, err));
    if (s->rgb) {
        QN_TRY(qn_les_picture_range(d->pictures, s->flow, &low, &high, err));
        QN_TRY(qn_les_add_frame(s->graph, r->config, d->panels, low, high, s->flow,
                                d->source ? s->full : s->flow, s->rgb, err));
        QN_TRY(qn_graph_output(s->graph, s->rgb, err));
    }
    if (d->has_fields && d->source) {
        QN_TRY(qn_graph_output(s->graph, s->lp, err));
        QN_TRY(qn_graph_output(s->graph, s->full, err));
    }
    QN_TRY(qn_graph_run(s->graph, err));
    s->step = step;
    r->result->times[QN_LES_TIME_DECODE].count += d->source != NULL;
out:
    return st;
}

/* Snapshots that have an encoded frame. */
static int has_frame(const run *r, int step)
{
    return !r->plan.encode || step % r->plan.encode == 0;
}

static qn_status decode_all(decoding *d, qn_err *err)
{
    run *r = d->r;
    qn_status st = QN_OK;
    int n = 0;

    for (int step = 0; step <= r->step; step += r->config->stride) {
        slot *s = &d->slots[n % 2];

        if (!has_frame(r, step)) {
            qn_les_flag(r->result, "snapshots between encoded frames are not decoded");
            continue;
        }
        QN_TRY(collect(d, s, err));
        QN_TRY(submit(d, s, step, err));
        n++;
    }
    for (int k = 0; k < 2; k++)
        QN_TRY(collect(d, &d->slots[(n + k) % 2], err));
    qn_les_run_enter(r, QN_LES_TIME_PLOT);
    QN_TRY(qn_les_writes_wait(r->result, err));
    qn_les_run_enter(r, QN_LES_TIME_VIDEO);
    QN_TRY(qn_les_pictures_end(d->pictures, err));
out:
    return st;
}

/* Errors. */

static qn_status read_support(run *r, int row, double *out, qn_err *err)
{
    const size_t at = (size_t)row * qn_les_run_row_bytes(r) +
                      (size_t)r->result->layout.support * qn_les_run_real_bytes(r);
    float narrow = 0;
    qn_status st;

    if (r->config->precision == QN_LES_F64)
        return qn_buf_read(r->z, at, out, sizeof *out, err);
    st = qn_buf_read(r->z, at, &narrow, sizeof narrow, err);
    *out = (double)narrow;
    return st;
}

static qn_status read_errors(decoding *d, int n_train, qn_err *err)
{
    run *r = d->r;
    qn_les_result *result = r->result;
    const size_t bytes = qn_buf_bytes(d->sums);
    double(*sums)[QN_LES_SUMS] = malloc(bytes);
    qn_status st = QN_OK;

    result->compared = calloc((size_t)r->plan.n_snapshots + 1, sizeof *result->compared);
    if (!sums || !result->compared)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for %d comparisons", r->plan.n_snapshots);
    QN_TRY(qn_buf_read(d->sums, 0, sums, bytes, err));
    for (int k = 0; k * r->config->stride <= r->step; k++) {
        const int step = k * r->config->stride;
        qn_les_compared *c = &result->compared[result->n_compared];

        if (!has_frame(r, step))
            continue;
        c->step = step;
        c->window = !n_train ? "codec" : step / r->plan.encode >= n_train ? "forecast" : "fit";
        c->lp = qn_les_errors_of(r->config, sums[k * SUMS_ROWS + SUMS_LP]);
        c->full = qn_les_errors_of(r->config, sums[k * SUMS_ROWS + SUMS_FULL]);
        c->persistence = qn_les_errors_of(r->config, sums[k * SUMS_ROWS + SUMS_PERSISTENCE]).rel_l2;
        QN_TRY(read_support(r, step / r->plan.encode, &c->support, err));
        result->n_compared++;
    }
out:
    free(sums);
    return st;
}

/* The operator. */

/* Adds a copy of `from` as an array of D (n_dims 1) or D x D (n_dims 2) numbers. */
static qn_status add_copy(run *r, const char *name, int n_dims, const double *from, qn_err *err)
{
    const qn_i64 d = r->result->layout.size, dims[] = { d, d };
    const size_t bytes = (size_t)(n_dims > 1 ? d * d : d) * sizeof *from;
    double *data = malloc(bytes);

    if (!data)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu bytes", name, bytes);
    memcpy(data, from, bytes);
    return qn_les_output_array(r->config, r->result, name, QN_NPY_F8, n_dims, dims, data, err);
}

static qn_status read_operator(run *r, qn_err *err)
{
    const qn_i64 d = r->result->layout.size;
    double *a = NULL, *mu;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(a, d * d + 2 * d, "an operator", err));
    mu = a + d * d;
    QN_TRY(qn_les_proxy_read(r->proxy, a, mu, mu + d, err));
    QN_TRY(add_copy(r, "A", 2, a, err));
    QN_TRY(add_copy(r, "mu", 1, mu, err));
    QN_TRY(add_copy(r, "scale", 1, mu + d, err));
out:
    free(a);
    return st;
}

static qn_status learn(run *r, int n_train, qn_err *err)
{
    qn_les_result *result = r->result;
    qn_status st = QN_OK;

    qn_les_run_enter(r, QN_LES_TIME_LEARN);
    QN_TRY(qn_les_proxy_new(r->ctx, r->config, result->layout.size, &r->proxy, err));
    QN_TRY(qn_les_proxy_learn(r->proxy, r->z, n_train, err));
    result->times[QN_LES_TIME_LEARN].count = n_train;
    result->residency.syncs++;
    result->proxy = qn_les_proxy_get(r->proxy);
    result->has_proxy = 1;
    if (result->proxy.is_host_solved)
        qn_les_flag(result, "operator solved on the host");
    if (result->proxy.growth > 10) {
        qn_les_flag(result, "spectral radius %.6f grows by %.3g over the run",
                    result->proxy.spectral_radius, result->proxy.growth);
        fprintf(stderr,
                "[les] the operator has spectral radius %.6f: over %d steps it may grow by "
                "%.3g; --stabilize shrink prevents that\n",
                result->proxy.spectral_radius, r->config->steps, result->proxy.growth);
    }
    if (r->config->observer != QN_LES_OBSERVE_NONE)
        QN_TRY(read_operator(r, err));
out:
    return st;
}

static qn_status roll_out(run *r, int n, qn_buf **zhat, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    qn_les_run_enter(r, QN_LES_TIME_ROLLOUT);
    QN_TRY(
        qn_buf_new(r->ctx, "les.rolled out", (size_t)(n + 1) * qn_les_run_row_bytes(r), zhat, err));
    QN_TRY(qn_graph_new(r->ctx, "les.rollout", &graph, err));
    QN_TRY(qn_les_proxy_add_rollout(r->proxy, graph, r->z, n, *zhat, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_les_run_wait(r, graph, err));
    r->result->times[QN_LES_TIME_ROLLOUT].count = n;
    if (!r->result->device[0] && qn_graph_stage_device(graph, 0))
        snprintf(r->result->device, sizeof r->result->device, "%s",
                 qn_graph_stage_device(graph, 0));
out:
    qn_graph_free(graph);
    return st;
}

qn_status qn_les_run_proxy(run *r, qn_err *err)
{
    const qn_les_options *config = r->config;
    const int has_proxy = r->codec && config->what == QN_LES_WHAT_ALL;
    const int n_train = has_proxy ? qn_les_proxy_train(config, r->plan.n_frames) : 0;
    qn_buf *zhat = NULL;
    decoding d = { .r = r,
                   .panels = r->codec ? 3 : 1,
                   .has_fields = config->observer == QN_LES_OBSERVE_SNAPSHOTS };
    qn_status st = QN_OK;

    if (has_proxy) {
        QN_TRY(learn(r, n_train, err));
        QN_TRY(roll_out(r, r->plan.n_frames - 1, &zhat, err));
    }
    if (!r->store)
        goto out;
    qn_les_run_enter(r, QN_LES_TIME_DECODE);
    d.source = zhat ? zhat : r->z;
    QN_TRY(decoding_new(&d, err));
    QN_TRY(decode_all(&d, err));
    qn_les_run_enter(r, QN_LES_TIME_METRICS);
    if (d.sums)
        QN_TRY(read_errors(&d, n_train, err));
out:
    decoding_free(&d);
    qn_buf_free(zhat);
    return st;
}

/* Without a flow. */

static qn_status read_part(const run *r, const char *name, qn_npy *out, qn_err *err)
{
    char path[QN_OPTION_TEXT_BYTES + 16];

    snprintf(path, sizeof path, "%s/%s.npy", r->config->kernel_only, name);
    return qn_npy_read(path, out, err);
}

/* A number of an array of floats or doubles. */
static double number_at(const qn_npy *array, qn_i64 i)
{
    return array->type == QN_NPY_F8 ? ((const double *)array->data)[i]
                                    : (double)((const float *)array->data)[i];
}

static qn_status put_first_row(run *r, const qn_npy *z, qn_err *err)
{
    const qn_i64 n = (qn_i64)r->config->ensemble * r->result->layout.size;
    void *row;
    qn_status st = QN_OK;

    if ((z->type != QN_NPY_F8 && z->type != QN_NPY_F4) || z->n_dims < 2 ||
        z->dims[z->n_dims - 1] != r->result->layout.size || qn_npy_elems(z) < n)
        return qn_fail(err, QN_ERR_INPUT, "%s/z.npy is not [rows][%d members][%d] of reals",
                       r->config->kernel_only, r->config->ensemble, r->result->layout.size);
    QN_TRY(qn_buf_host(r->z, QN_HOST_DISCARD, &row, err));
    for (qn_i64 i = 0; i < n; i++)
        if (r->config->precision == QN_LES_F64)
            ((double *)row)[i] = number_at(z, i);
        else
            ((float *)row)[i] = (float)number_at(z, i);
out:
    return st;
}

static qn_status expect_elems(const run *r, const char *name, const qn_npy *array, qn_npy_type type,
                              qn_i64 n, qn_err *err)
{
    if (array->type == type && qn_npy_elems(array) == n)
        return QN_OK;
    return qn_fail(err, QN_ERR_INPUT, "%s/%s.npy has %lld elements of %s, not %lld of %s",
                   r->config->kernel_only, name, (long long)qn_npy_elems(array),
                   qn_npy_type_name(array->type), (long long)n, qn_npy_type_name(type));
}

static qn_status load_operator(run *r, qn_err *err)
{
    enum { Z, A, MU, SCALE, ANCHORS, N_PARTS };
    static const char *const names[N_PARTS] = { "z", "A", "mu", "scale", "anchors" };
    const qn_i64 d = r->result->layout.size;
    const qn_i64 sizes[N_PARTS] = { 0, d * d, d, d,
                                    (qn_i64)r->result->modes.n_anchors * r->config->ensemble };
    qn_npy parts[N_PARTS] = { { 0 } };
    qn_status st = QN_OK;

    for (int i = 0; i < N_PARTS; i++) {
        QN_TRY(read_part(r, names[i], &parts[i], err));
        if (i != Z)
            QN_TRY(expect_elems(r, names[i], &parts[i], i == ANCHORS ? QN_NPY_I4 : QN_NPY_F8,
                                sizes[i], err));
    }
    QN_TRY(put_first_row(r, &parts[Z], err));
    QN_TRY(qn_les_proxy_new(r->ctx, r->config, (int)d, &r->proxy, err));
    QN_TRY(qn_les_proxy_set(r->proxy, parts[A].data, parts[MU].data, parts[SCALE].data, err));
    if (sizes[ANCHORS])
        QN_TRY(qn_les_codec_set_anchors(r->codec, parts[ANCHORS].data, err));
    r->result->proxy = qn_les_proxy_get(r->proxy);
    r->result->has_proxy = 1;
out:
    for (int i = 0; i < N_PARTS; i++)
        qn_npy_free(&parts[i]);
    return st;
}

qn_status qn_les_run_kernel_only(run *r, qn_err *err)
{
    qn_buf *zhat = NULL;
    decoding d = { .r = r,
                   .panels = 1,
                   .has_fields = r->config->observer == QN_LES_OBSERVE_SNAPSHOTS };
    qn_status st = QN_OK;

    QN_TRY(load_operator(r, err));
    QN_TRY(roll_out(r, r->plan.n_frames - 1, &zhat, err));
    r->step = r->plan.steps;
    qn_les_run_enter(r, QN_LES_TIME_DECODE);
    d.source = zhat;
    if (r->config->observer != QN_LES_OBSERVE_NONE) {
        QN_TRY(qn_les_run_read_rows(r, "zhat", zhat, r->plan.n_frames, err));
        QN_TRY(decoding_new(&d, err));
        QN_TRY(decode_all(&d, err));
    }
out:
    decoding_free(&d);
    qn_buf_free(zhat);
    return st;
}
