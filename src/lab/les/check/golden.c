/* golden.c - compares the arrays of a run with those of a folder. */
#include "check_impl.h"

#include "domain/les/flow/ic.h"
#include "kernel/les_box.gen.h"
#include "kernel/les/les_box.h"
#include "util/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stages, run at once. */

qn_status qn_les_golden_finish(qn_graph *graph, qn_status st, qn_err *err)
{
    if (st == QN_OK)
        st = qn_run_graph(graph, err);
    qn_graph_free(graph);
    return st;
}

size_t qn_les_golden_cells(const golden *g)
{
    return (size_t)g->config.N * (size_t)g->config.N;
}

static qn_status compare_field(const golden *g, int t, qn_err *err)
{
    const double f64 = t <= 1 ? 1e-13 : t <= 10 ? 1e-12 : 1e-11;
    const double f32 = t <= 1 ? 1e-6 : t <= 10 ? 5e-6 : 3e-5;
    const int is_mcw = !strncmp(g->prefix, "mcw", 3);
    qn_graph *graph = NULL;
    qn_status st = QN_OK;
    char what[32];

    snprintf(what, sizeof what, "omega_t%d", t);
    QN_TRY(qn_graph_new(g->ctx, what, &graph, err));
    QN_TRY(qn_les_golden_finish(graph, qn_les_sim_add_field(g->sim, graph, g->field, err), err));
    QN_TRY(qn_les_golden_compare_buf(
        g, what, g->field, 0, qn_les_golden_cells(g), REL,
        is_mcw ? qn_les_golden_pick(g, 1e-10, 1e-4) : qn_les_golden_pick(g, f64, f32), err));
out:
    return st;
}

static qn_status compare_probes(const golden *g, qn_err *err)
{
    static const struct {
        const char *name;
        qn_les_probe probe;
        double f64, f32;
    } probes[] = {
        { "psi_t0", QN_LES_PROBE_PSI, 1e-13, 1e-6 }, { "u_t0", QN_LES_PROBE_U, 1e-13, 1e-6 },
        { "v_t0", QN_LES_PROBE_V, 1e-13, 1e-6 },     { "nut_t0", QN_LES_PROBE_NUT, 1e-12, 1e-5 },
        { "k1_t0", QN_LES_PROBE_RHS, 1e-12, 1e-4 },  { "rhs_t0", QN_LES_PROBE_RHS, 1e-12, 1e-4 }
    };
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        qn_graph *graph = NULL;

        QN_TRY(qn_graph_new(g->ctx, probes[i].name, &graph, err));
        QN_TRY(qn_les_golden_finish(
            graph, qn_les_sim_add_probe(g->sim, graph, probes[i].probe, g->field, err), err));
        QN_TRY(qn_les_golden_compare_buf(g, probes[i].name, g->field, 0, qn_les_golden_cells(g),
                                         REL, qn_les_golden_pick(g, probes[i].f64, probes[i].f32),
                                         err));
    }
out:
    return st;
}

/* Lists. */

static int by_value(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return x < y ? -1 : x > y;
}

/* Modes in the form of the file: (j, i) for codec quern, flat for origin. The order of the lists of
 * origin is arbitrary. */
static qn_status compare_modes(const golden *g, const char *what, int32_t *modes, int n,
                               qn_err *err)
{
    const int half = g->config.N / 2 + 1;
    int32_t *want;
    qn_npy file;
    double wrong = 0;
    qn_status st = QN_OK;

    if (!qn_les_golden_load(g, what, &file))
        return QN_OK;
    QN_TRY(qn_owned_memory(g->owned, (size_t)n * sizeof *want, &want, err));
    if (qn_npy_elems(&file) != (g->is_origin ? n : 2 * n)) {
        wrong = INFINITY;
    } else {
        for (int i = 0; i < n; i++)
            want[i] = (int32_t)(g->is_origin
                                    ? qn_npy_at(&file, i)
                                    : qn_npy_at(&file, 2 * i) * half + qn_npy_at(&file, 2 * i + 1));
        if (g->is_origin) {
            qsort(want, (size_t)n, sizeof *want, by_value);
            qsort(modes, (size_t)n, sizeof *modes, by_value);
        }
        for (int i = 0; i < n; i++)
            wrong += want[i] != modes[i];
    }
    qn_finding_within(g->findings, "golden", wrong, 0, 0, "%s %s, %s", g->prefix, what,
                      g->is_f64 ? "f64" : "f32");
out:
    qn_npy_free(&file);
    return st;
}

/* Their places in the list of the mid band. */
static qn_status compare_places(const golden *g, const int32_t *anchors, int n, qn_err *err)
{
    const qn_les_modes *m = qn_les_codec_modes(g->codec);
    qn_status st = QN_OK;
    double *places;

    QN_TRY(qn_owned_memory(g->owned, (size_t)n * sizeof *places, &places, err));
    for (int i = 0; i < n; i++) {
        int at = 0;

        while (at < m->n_mid && m->mid[at] != anchors[i])
            at++;
        places[i] = at;
    }
    QN_TRY(qn_les_golden_compare(g, "anchor_pos", places, n, ABS, 0));
out:
    return st;
}

/* Chooses anchors, compares them, and for origin sorts them as in the file. */
static qn_status choose_anchors(const golden *g, const char *what, qn_err *err)
{
    const int n = qn_les_codec_modes(g->codec)->n_anchors;
    qn_graph *graph = NULL;
    qn_npy file;
    qn_status st = QN_OK;
    int32_t *modes;

    QN_TRY(qn_owned_memory(g->owned, (size_t)n * sizeof *modes, &modes, err));
    QN_TRY(qn_graph_new(g->ctx, "anchors", &graph, err));
    QN_TRY(qn_les_golden_finish(
        graph, qn_les_codec_add_anchors(g->codec, graph, qn_les_sim_state(g->sim), err), err));
    QN_TRY(qn_les_codec_read_anchors(g->codec, modes, err));
    QN_TRY(compare_modes(g, what, modes, n, err));
    if (!g->is_origin && !strcmp(what, "anchor_idx"))
        QN_TRY(compare_places(g, modes, n, err));
    if (g->is_origin && qn_les_golden_load(g, what, &file)) {
        for (int i = 0; i < n && qn_npy_elems(&file) == n; i++)
            modes[i] = (int32_t)qn_npy_at(&file, i);
        qn_npy_free(&file);
        QN_TRY(qn_les_codec_set_anchors(g->codec, modes, err));
    }
out:
    return st;
}

static qn_status compare_low(const golden *g, qn_err *err)
{
    const qn_les_modes *m = qn_les_codec_modes(g->codec);
    qn_status st = QN_OK;
    int32_t *low;

    QN_TRY(qn_owned_memory(g->owned, (size_t)m->n_low * sizeof *low, &low, err));
    memcpy(low, m->low, (size_t)m->n_low * sizeof *low);
    QN_TRY(compare_modes(g, g->is_origin ? "mask_low_idx" : "low_idx", low, m->n_low, err));
out:
    return st;
}

/* Initial fields. */

static qn_status compare_start(const golden *g, qn_err *err)
{
    const size_t n = qn_les_ic_elems(&g->config);
    qn_status st = QN_OK;
    double *start;

    if (!n || g->is_origin)
        return QN_OK;
    QN_TRY(qn_owned_memory(g->owned, n * sizeof *start, &start, err));
    QN_TRY(qn_les_ic_fill(&g->config, start, err));
    if (qn_les_ic_start(&g->config) == QN_LES_START_SPECTRUM)
        QN_TRY(qn_les_golden_compare(g, "ic_hat", start, (qn_i64)n, ABS, 0));
out:
    return st;
}

/* Noise, sums and field of ic = box, with the width of the case. */
static qn_status compare_box(const golden *g, qn_err *err)
{
    const json_t *width = json_object_get(json_object_get(g->json, "box"), "width");
    const qn_range points = qn_range_2d(g->config.N, g->config.N);
    qn_les_options config = g->config;
    qn_buf *ints[3];
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    if (!width)
        return QN_OK;
    config.ic = QN_LES_IC_BOX;
    config.ic_width = (int)json_integer_value(width);
    const les_box_par par = { .seed = config.seed, .n = config.N, .reach = config.ic_width / 2 };
    for (int i = 0; i < 3; i++)
        QN_TRY(qn_owned_buf(g->owned, g->ctx, "box", qn_les_golden_cells(g) * sizeof(int32_t),
                            &ints[i], err));
    QN_TRY(qn_graph_new(g->ctx, "box", &graph, err));
    QN_TRY(stage_les_box_noise(graph, "box.noise", points, par, ints[0], err));
    QN_TRY(stage_les_box_rows(graph, "box.rows", points, par, ints[0], ints[1], err));
    QN_TRY(stage_les_box_cols(graph, "box.cols", points, par, ints[1], ints[2], err));
    QN_TRY(qn_les_golden_finish(graph, qn_les_ic_box(graph, &config, g->field, NULL, err), err));
    graph = NULL;
    QN_TRY(qn_les_golden_compare_whole(g, "box_noise_i32", ints[0], 4, ABS, 0, err));
    QN_TRY(qn_les_golden_compare_whole(g, "box_sum_i32", ints[2], 4, ABS, 0, err));
    QN_TRY(qn_les_golden_compare_buf(g, "box_omega", g->field, 0, qn_les_golden_cells(g), REL,
                                     qn_les_golden_pick(g, 0, 1e-7), err));
out:
    qn_graph_free(graph);

    return st;
}

/* The trajectory. */

int qn_les_golden_has(const golden *g, const char *format, int t)
{
    char what[32], path[1024];

    snprintf(what, sizeof what, "%s_t%d", format, t);
    snprintf(path, sizeof path, "%s/%s_%s.npy", g->dir, g->prefix, what);
    return access(path, R_OK) == 0;
}

static qn_status compare_spectrum(const golden *g, int t, qn_err *err)
{
    const int n = qn_les_sim_shells(&g->config);
    qn_graph *graph = NULL;
    qn_status st = QN_OK;
    double *shells;
    char what[32];

    QN_TRY(qn_owned_memory(g->owned, (size_t)n * sizeof *shells, &shells, err));
    snprintf(what, sizeof what, "spectrum_t%d", t);
    QN_TRY(qn_graph_new(g->ctx, what, &graph, err));
    QN_TRY(qn_les_golden_finish(graph, qn_les_sim_add_spectrum(g->sim, graph, 0, g->shells, err),
                                err));
    QN_TRY(qn_buf_read(g->shells, 0, shells, (size_t)n * sizeof *shells, err));
    QN_TRY(qn_les_golden_compare(g, what, shells, n, REL, qn_les_golden_pick(g, 1e-12, 1e-5)));
out:
    return st;
}

static qn_status compare_at(const golden *g, int t, qn_err *err)
{
    qn_status st = QN_OK;
    char what[32];

    if (qn_les_golden_has(g, "enc_s0", t)) {
        snprintf(what, sizeof what, "enc_s0_t%d", t);
        QN_TRY(qn_les_golden_compare_whole(g, what, qn_les_codec_ternary(g->codec, 1), 1, SHARE,
                                           qn_les_golden_pick(g, 0, 1e-3), err));
    }
    if (qn_les_golden_has(g, "enc_s", t)) {
        snprintf(what, sizeof what, "enc_s_t%d", t);
        QN_TRY(qn_les_golden_compare_whole(g, what, qn_les_codec_ternary(g->codec, 0), 1, SHARE,
                                           qn_les_golden_pick(g, 0, 5e-3), err));
    }
    if (qn_les_golden_has(g, "omega", t))
        QN_TRY(compare_field(g, t, err));
    if (qn_les_golden_has(g, "spectrum", t))
        QN_TRY(compare_spectrum(g, t, err));
out:
    return st;
}

static qn_status add_frame(const golden *g, qn_graph *graph, int n_steps, qn_err *err)
{
    qn_status st = QN_OK;

    if (n_steps)
        QN_TRY(qn_les_sim_add_steps(g->sim, graph, n_steps, err));
    QN_TRY(qn_les_codec_add_encode(g->codec, graph, qn_les_sim_state(g->sim), g->z,
                                   g->config.steps + 1, err));
out:
    return st;
}

static qn_status go(const golden *g, int is_tiny, qn_err *err)
{
    qn_graph *first = NULL, *next = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(g->ctx, "first", &first, err));
    QN_TRY(qn_les_golden_finish(first, add_frame(g, first, 0, err), err));
    QN_TRY(qn_graph_new(g->ctx, "step", &next, err));
    QN_TRY(add_frame(g, next, 1, err));
    if (!is_tiny)
        QN_TRY(compare_at(g, 0, err));
    for (int t = 1; t <= g->config.steps; t++) {
        QN_TRY(qn_graph_run(next, err));
        if (!is_tiny)
            QN_TRY(compare_at(g, t, err));
    }
    QN_TRY(qn_graph_wait(next, err));
out:
    qn_graph_free(next);
    return st;
}

/* A case. */

static void close_case(golden *g)
{
    qn_owned_free(g->owned, 0);
    qn_les_proxy_free(g->proxy);
    qn_les_codec_free(g->codec);
    qn_les_sim_free(g->sim);
    g->proxy = NULL;
    g->codec = NULL;
    g->sim = NULL;
}

static qn_status open_case(golden *g, int is_tiny, qn_err *err)
{
    const size_t real = g->is_f64 ? 8 : 4;
    qn_status st = QN_OK;

    QN_TRY(qn_les_golden_config(g->dir, g->prefix, g->json, g->is_f64, is_tiny, &g->texts,
                                &g->config, err));
    g->is_origin = g->config.codec == QN_LES_CODEC_ORIGIN;
    QN_TRY(qn_les_sim_new(g->ctx, &g->config, &g->sim, err));
    QN_TRY(qn_les_codec_new(g->ctx, &g->config, &g->codec, err));
    g->d = qn_les_codec_layout(g->codec).size;
    QN_TRY(qn_owned_buf(g->owned, g->ctx, "z", (size_t)(g->config.steps + 1) * (size_t)g->d * real,
                        &g->z, err));
    QN_TRY(qn_owned_buf(g->owned, g->ctx, "field", qn_les_golden_cells(g) * real, &g->field, err));
    QN_TRY(
        qn_owned_buf(g->owned, g->ctx, "decoded", qn_les_golden_cells(g) * real, &g->other, err));
    QN_TRY(qn_owned_buf(g->owned, g->ctx, "shells",
                        (size_t)qn_les_sim_shells(&g->config) * sizeof(double), &g->shells, err));
out:
    return st;
}

static qn_status check_tiny(golden *g, qn_err *err)
{
    const int frames =
        (int)json_integer_value(json_object_get(json_object_get(g->json, "tiny"), "T"));
    qn_buf *zhat = NULL;
    qn_npy file;
    qn_status st = QN_OK;

    if (!qn_les_golden_load(g, "tiny_Z", &file))
        return QN_OK;
    qn_npy_free(&file);
    QN_TRY(open_case(g, 1, err));
    QN_TRY(choose_anchors(g, "tiny_anchor_idx", err));
    QN_TRY(go(g, 1, err));
    QN_TRY(qn_les_golden_compare_buf(g, "tiny_Z", g->z, 0, (size_t)(frames + 1) * (size_t)g->d, ABS,
                                     qn_les_golden_pick(g, 1e-12, 1e-3), err));
    QN_TRY(qn_les_golden_learn(g, frames + 1, &zhat, err));
    QN_TRY(qn_les_golden_compare_operator(g, 1, err));
    QN_TRY(qn_les_golden_compare_buf(g, "tiny_Zhat", zhat, 0, (size_t)(frames + 1) * (size_t)g->d,
                                     REL, qn_les_golden_pick(g, 1e-8, 1e-3), err));
out:
    qn_buf_free(zhat);
    close_case(g);
    return st;
}

static qn_status check_case(golden *g, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(open_case(g, 0, err));
    QN_TRY(compare_start(g, err));
    QN_TRY(compare_box(g, err));
    QN_TRY(compare_low(g, err));
    QN_TRY(compare_probes(g, err));
    QN_TRY(choose_anchors(g, "anchor_idx", err));
    QN_TRY(go(g, 0, err));
    QN_TRY(qn_les_golden_compare_proxy(g, err));
    QN_TRY(qn_les_golden_compare_decoded(g, err));
    close_case(g);
    QN_TRY(check_tiny(g, err));
out:
    close_case(g);
    return st;
}

/* A folder. */

static qn_status run_case(qn_ctx *ctx, const char *dir, const char *prefix, int is_f64,
                          qn_findings *findings, qn_err *err)
{
    qn_owned owned = { 0 };
    golden g = { .ctx = ctx,
                 .dir = dir,
                 .is_f64 = is_f64,
                 .findings = findings,
                 .prefix = prefix,
                 .owned = &owned };
    char path[QN_GOLDEN_PATH];
    qn_status st = QN_OK;

    snprintf(path, sizeof path, "%s/%s.json", dir, prefix);
    QN_TRY(qn_json_read(path, &g.json, err));
    QN_TRY(check_case(&g, err));
out:
    qn_option_store_free(&g.texts);
    json_decref(g.json);
    return st;
}

qn_status qn_les_check_golden(qn_ctx *ctx, const char *dir, int is_f64, qn_findings *findings,
                              qn_err *err)
{
    qn_golden folder = { .ctx = ctx, .dir = dir, .part = "golden", .findings = findings };
    qn_golden_names cases = { 0 };
    qn_status st = QN_OK;

    if (!qn_golden_has(&folder, "."))
        return qn_fail(err, QN_ERR_INPUT, "cannot read the folder %s: %s", dir, strerror(errno));
    QN_TRY(qn_golden_list(&folder, ".", "", ".json", &cases, err));
    if (!cases.n)
        st = qn_fail(err, QN_ERR_INPUT, "%s has no case, a file <prefix>.json", dir);
    for (size_t i = 0; i < cases.n; i++)
        QN_TRY(run_case(ctx, dir, cases.list[i], is_f64, findings, err));
out:
    qn_owned_free(&folder.owned, 0);
    return st;
}
