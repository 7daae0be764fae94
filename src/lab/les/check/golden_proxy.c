/* golden_proxy.c - compares vectors, operators and decoded fields with those of a folder. */
#include "check_impl.h"

#include "util/json.h"
#include "util/temp_dir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vectors, operator, rollout. */

/* Logarithms of energies have a limit of their own in single precision. */
static qn_status compare_z(const golden *g, int t, qn_err *err)
{
    const qn_les_layout layout = qn_les_codec_layout(g->codec);
    double *z, logs = 0;
    qn_status st = QN_OK;
    qn_npy want;
    char what[32];

    snprintf(what, sizeof what, "z_t%d", t);
    if (t > g->config.steps || !qn_les_golden_load(g, what, &want))
        return QN_OK;
    QN_TRY(qn_les_golden_read_reals(g, g->z, (size_t)t * (size_t)g->d, (size_t)g->d, &z, err));
    if (!g->is_f64 && !g->is_origin && qn_npy_elems(&want) == g->d) {
        const int at[2] = { layout.mid, layout.high };

        for (int i = 0; i < 2; i++) {
            logs = fmax(logs, fabs(z[at[i]] - qn_npy_at(&want, at[i])));
            z[at[i]] = qn_npy_at(&want, at[i]);
        }
        qn_finding_within(g->findings, "golden", logs, 0, 1e-3, "%s %s logarithms, f32", g->prefix,
                          what);
    }
    QN_TRY(qn_les_golden_compare(g, what, z, g->d, ABS, qn_les_golden_pick(g, 1e-12, 1e-6)));
out:
    qn_npy_free(&want);
    return st;
}

qn_status qn_les_golden_compare_operator(const golden *g, int is_tiny, qn_err *err)
{
    const size_t d = (size_t)g->d;
    const double limit = g->is_origin ? 1e-6 : 1e-8;
    qn_status st = QN_OK;
    double *a;

    QN_TRY(qn_owned_memory(g->owned, (d * d + 2 * d) * sizeof *a, &a, err));
    QN_TRY(qn_les_proxy_read(g->proxy, a, a + d * d, a + d * d + d, err));
    if (g->is_f64)
        QN_TRY(qn_les_golden_compare(g, is_tiny ? "tiny_A" : "A_row_head", a, (qn_i64)(d * d), REL,
                                     limit));
    if (is_tiny) {
        QN_TRY(qn_les_golden_compare(g, "tiny_mu", a + d * d, (qn_i64)d, REL,
                                     qn_les_golden_pick(g, 1e-12, 1e-5)));
        QN_TRY(qn_les_golden_compare(g, "tiny_scale", a + d * d + d, (qn_i64)d, REL,
                                     qn_les_golden_pick(g, 1e-11, 1e-4)));
    }
out:
    return st;
}

qn_status qn_les_golden_learn(golden *g, int n_train, qn_buf **zhat, qn_err *err)
{
    const int n = g->config.steps;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_les_proxy_new(g->ctx, &g->config, g->d, &g->proxy, err));
    QN_TRY(qn_les_proxy_learn(g->proxy, g->z, n_train, err));
    QN_TRY(qn_buf_new(g->ctx, "zhat", qn_buf_bytes(g->z), zhat, err));
    QN_TRY(qn_graph_new(g->ctx, "rollout", &graph, err));
    QN_TRY(qn_les_golden_finish(
        graph, qn_les_proxy_add_rollout(g->proxy, graph, g->z, n, *zhat, err), err));
out:
    return st;
}

qn_status qn_les_golden_compare_proxy(golden *g, qn_err *err)
{
    qn_buf *zhat = NULL;
    qn_status st = QN_OK;
    char what[32];

    for (int t = 0; t <= g->config.steps; t++)
        QN_TRY(compare_z(g, t, err));
    QN_TRY(qn_les_golden_learn(g, qn_les_proxy_train(&g->config, g->config.steps + 1), &zhat, err));
    QN_TRY(qn_les_golden_compare_operator(g, 0, err));
    for (int t = 1; t <= g->config.steps; t++)
        if (qn_les_golden_has(g, "zhat", t)) {
            snprintf(what, sizeof what, "zhat_t%d", t);
            QN_TRY(qn_les_golden_compare_buf(g, what, zhat, (size_t)t * (size_t)g->d, (size_t)g->d,
                                             REL, qn_les_golden_pick(g, 1e-8, 1e-3), err));
        }
out:
    qn_buf_free(zhat);
    return st;
}

/* Decoding. */

/* The golden phases of codec origin, two files, as the one that --phases takes. */
static int join_phases(const golden *g, int t, const char *path)
{
    const qn_i64 n = g->config.N;
    qn_npy mid = { 0 }, high = { 0 };
    qn_npy both = { .type = QN_NPY_F8, .n_dims = 3, .dims = { 2, n, n } };
    char what[32];
    int ok;

    snprintf(what, sizeof what, "dec_phase_mid_t%d", t);
    ok = qn_les_golden_load(g, what, &mid);
    snprintf(what, sizeof what, "dec_phase_high_t%d", t);
    ok = ok && qn_les_golden_load(g, what, &high) && qn_npy_elems(&mid) == n * n &&
         mid.type == QN_NPY_F8 && qn_npy_elems(&high) == n * n && high.type == QN_NPY_F8 &&
         (both.data = malloc((size_t)(2 * n * n) * sizeof(double)));
    if (ok) {
        memcpy(both.data, mid.data, (size_t)(n * n) * sizeof(double));
        memcpy((double *)both.data + n * n, high.data, (size_t)(n * n) * sizeof(double));
        ok = qn_npy_write(path, &both, NULL) == QN_OK;
    }
    free(both.data);
    qn_npy_free(&mid);
    qn_npy_free(&high);
    return ok;
}

/* Decodes row t with another codec: another gate, or given phases. */
static qn_status decode_as(const golden *g, int t, int gate, const char *phases, const char *full,
                           qn_err *err)
{
    const int n_anchors = qn_les_codec_modes(g->codec)->n_anchors;
    qn_les_options config = g->config;
    qn_les_codec *codec = NULL;
    qn_graph *graph = NULL;
    int32_t *anchors;
    qn_status st = QN_OK;
    char what[32];

    QN_TRY(qn_owned_memory(g->owned, (size_t)n_anchors * sizeof *anchors, &anchors, err));
    config.gate = gate;
    config.phases = phases;
    QN_TRY(qn_les_codec_new(g->ctx, &config, &codec, err));
    QN_TRY(qn_les_codec_read_anchors(g->codec, anchors, err));
    QN_TRY(qn_les_codec_set_anchors(codec, anchors, err));
    QN_TRY(qn_graph_new(g->ctx, "decode", &graph, err));
    QN_TRY(qn_les_golden_finish(
        graph, qn_les_codec_add_decode(codec, graph, g->z, t, t, g->field, g->other, err), err));
    snprintf(what, sizeof what, "dec_lp_t%d", t);
    if (gate)
        QN_TRY(qn_les_golden_compare_buf(g, what, g->field, 0, qn_les_golden_cells(g), REL,
                                         qn_les_golden_pick(g, 1e-12, 1e-5), err));
    if (gate) {
        snprintf(what, sizeof what, "dec_s_t%d", t);
        QN_TRY(qn_les_golden_compare_whole(g, what, qn_les_codec_ternary(codec, 0), 1, SHARE,
                                           qn_les_golden_pick(g, 0, 5e-3), err));
    }
    snprintf(what, sizeof what, "%s_t%d", full, t);
    if (!g->is_origin || phases[0])
        QN_TRY(qn_les_golden_compare_buf(g, what, g->other, 0, qn_les_golden_cells(g), REL,
                                         qn_les_golden_pick(g, 1e-12, 1e-5), err));
out:
    qn_les_codec_free(codec);
    return st;
}

/* Decodes the vector of the file, so that only decoding is judged. */
static qn_status put_z(const golden *g, int t, qn_err *err)
{
    const size_t real = g->is_f64 ? 8 : 4, row = (size_t)g->d * real;
    qn_status st = QN_OK;
    qn_npy want;
    void *z;
    char what[32];

    snprintf(what, sizeof what, "z_t%d", t);
    if (!qn_les_golden_load(g, what, &want))
        return QN_OK;
    QN_TRY(qn_owned_memory(g->owned, row, &z, err));
    for (int i = 0; i < g->d && qn_npy_elems(&want) == g->d; i++)
        if (g->is_f64)
            ((double *)z)[i] = qn_npy_at(&want, i);
        else
            ((float *)z)[i] = (float)qn_npy_at(&want, i);
    QN_TRY(qn_buf_write(g->z, (size_t)t * row, z, row, err));
out:
    qn_npy_free(&want);
    return st;
}

qn_status qn_les_golden_compare_decoded(const golden *g, qn_err *err)
{
    qn_temp_dir dir = { 0 };
    char path[1100];
    qn_status st = QN_OK;

    QN_TRY(qn_temp_dir_make(&dir, err));
    snprintf(path, sizeof path, "%s/phases.npy", dir.path);
    for (int t = 0; t <= g->config.steps; t++) {
        if (!qn_les_golden_has(g, "dec_lp", t))
            continue;
        const int has_phases = g->is_origin && join_phases(g, t, path);

        QN_TRY(put_z(g, t, err));
        QN_TRY(decode_as(g, t, 1, has_phases ? path : "", "dec_full", err));
        if (!g->is_origin)
            QN_TRY(decode_as(g, t, 0, "", "dec_full_nogate", err));
    }
out:
    qn_temp_dir_remove(&dir);
    return st;
}
