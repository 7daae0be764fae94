/* check_pipeline.c - flow, codec, proxy and decoding together, against figures of an independent
 * program in double precision. */
#include "check_impl.h"

#include <math.h>

enum { LP_L2, LP_CORR, FULL_L2, FULL_CORR, DE_REL, DZ_REL, PERSISTENCE, N_FIGURES };

static const char *const figure_names[N_FIGURES] = {
    "rel_l2_lp", "corr_lp", "rel_l2", "corr", "dE_rel", "dZ_rel", "persistence_rel_l2"
};

/* Seed 1, 300 steps of 0.01, every one encoded: N, step, figures. */
enum { SIZE, STEP, FIGURES };

static const double known[][FIGURES + N_FIGURES] = {
    { 64, 0, 0.11961481386, 0.99282037464, 0.17582142911, 0.98454341253, -0.00017718807559, 0,
      0.11961481386 },
    { 64, 10, 0.12722464264, 0.99215526523, 0.1718810768, 0.98579435292, 0.022341858887,
      0.04512384833, 0.13943232604 },
    { 64, 100, 0.33688217172, 0.95350935223, 0.3767134911, 0.94251811834, 0.11470553998,
      0.24646803753, 0.6503105486 },
    { 64, 210, 0.30957393269, 0.953489339, 0.40510062548, 0.92412327581, 0.044742760033,
      0.12084137077, 0.98867567464 },
    { 64, 255, 0.34884079915, 0.93733979957, 0.42445104454, 0.90669659161, -0.06213518209,
      -0.089485796851, 1.0637196836 },
    { 64, 300, 0.90660791438, 0.57615371354, 0.92187510594, 0.5686312159, -0.081781192702,
      -0.030172003616, 1.1265183415 },
    { 128, 0, 0.12240610242, 0.99248009859, 0.17930500929, 0.98392485682, -0.00034685130186, 0,
      0.12240610242 },
    { 128, 10, 0.13037992224, 0.99174275424, 0.17718436657, 0.98488152314, 0.021932777952,
      0.04470761363, 0.14221649025 },
    { 128, 100, 0.34882154327, 0.94998648924, 0.38943707263, 0.93849023634, 0.1171559614,
      0.25117670635, 0.65146758116 },
    { 128, 210, 0.32657518189, 0.94764598665, 0.43193927759, 0.91322165521, 0.039241625844,
      0.11631497939, 0.98639221732 },
    { 128, 255, 0.36555414713, 0.93093399572, 0.44785806403, 0.89592502582, -0.062212616551,
      -0.091775226664, 1.0589212575 },
    { 128, 300, 0.86832911505, 0.59881944126, 0.88376234581, 0.59051260268, -0.10430664604,
      -0.096153523987, 1.1192313006 },
};
enum { STEPS = 300, N_TIMES = 6 };

typedef struct {
    qn_ctx *ctx;
    qn_les_options config;
    qn_les_sim *sim;
    qn_les_codec *codec;
    qn_les_proxy *proxy;
    qn_buf *z, *zhat, *lp, *full, *first, *sums;
    qn_buf *truth[N_TIMES];
    qn_owned owned; /* the buffers */
    int from;       /* row of `known` with t = 0 */
} pipeline;

static void close_pipeline(pipeline *p)
{
    qn_owned_free(&p->owned, 0);
    qn_les_proxy_free(p->proxy);
    qn_les_codec_free(p->codec);
    qn_les_sim_free(p->sim);
}

static qn_status make_buffers(pipeline *p, qn_err *err)
{
    const size_t real = p->config.precision == QN_LES_F64 ? sizeof(double) : sizeof(float);
    const size_t cells = (size_t)p->config.N * (size_t)p->config.N * real;
    const size_t rows = (STEPS + 1) * (size_t)qn_les_codec_layout(p->codec).size * real;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_buf(&p->owned, p->ctx, "z", rows, &p->z, err));
    QN_TRY(qn_owned_buf(&p->owned, p->ctx, "zhat", rows, &p->zhat, err));
    QN_TRY(qn_owned_buf(&p->owned, p->ctx, "lp", cells, &p->lp, err));
    QN_TRY(qn_owned_buf(&p->owned, p->ctx, "full", cells, &p->full, err));
    QN_TRY(qn_owned_buf(&p->owned, p->ctx, "lp of frame 0", cells, &p->first, err));
    QN_TRY(
        qn_owned_buf(&p->owned, p->ctx, "sums", 3 * QN_LES_SUMS * sizeof(double), &p->sums, err));
    for (int i = 0; i < N_TIMES; i++)
        QN_TRY(qn_owned_buf(&p->owned, p->ctx, "true field", cells, &p->truth[i], err));
out:
    return st;
}

static qn_status open_pipeline(qn_ctx *ctx, const char *n, const char *precision, pipeline *p,
                               qn_err *err)
{
    const char *const pairs[] = { "n",         n,         "seed", "1",          "steps",
                                  "300",       "dt",      "0.01", "integrator", "heun",
                                  "precision", precision, NULL };
    qn_status st = QN_OK;

    *p = (pipeline){ .ctx = ctx };
    QN_TRY(qn_les_options_make(NULL, pairs, NULL, &p->config, err));
    while ((int)known[p->from][SIZE] != p->config.N)
        p->from++;
    QN_TRY(qn_les_sim_new(ctx, &p->config, &p->sim, err));
    QN_TRY(qn_les_codec_new(ctx, &p->config, &p->codec, err));
    QN_TRY(qn_les_proxy_new(ctx, &p->config, qn_les_codec_layout(p->codec).size, &p->proxy, err));
    QN_TRY(make_buffers(p, err));
out:
    return st;
}

static qn_status record_truth(pipeline *p, int i, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(p->ctx, "les.check.truth", &graph, err));
    QN_TRY(qn_les_sim_add_field(p->sim, graph, p->truth[i], err));
    QN_TRY(qn_run_graph(graph, err));
out:
    qn_graph_free(graph);
    return st;
}

/* The flow, with every step encoded, and its fields at the times that are known. */
static qn_status run_flow(pipeline *p, qn_err *err)
{
    qn_buf *state = qn_les_sim_state(p->sim);
    qn_graph *begin = NULL, *step = NULL;
    int next = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(p->ctx, "les.check.begin", &begin, err));
    QN_TRY(qn_les_codec_add_anchors(p->codec, begin, state, err));
    QN_TRY(qn_les_codec_add_encode(p->codec, begin, state, p->z, STEPS + 1, err));
    QN_TRY(qn_graph_run(begin, err));
    QN_TRY(qn_graph_new(p->ctx, "les.check.step", &step, err));
    QN_TRY(qn_les_sim_add_steps(p->sim, step, 1, err));
    QN_TRY(qn_les_codec_add_encode(p->codec, step, state, p->z, STEPS + 1, err));
    for (int t = 0; t <= STEPS; t++) {
        if (t > 0)
            QN_TRY(qn_graph_run(step, err));
        if (next < N_TIMES && (int)known[p->from + next][STEP] == t)
            QN_TRY(record_truth(p, next++, err));
    }
    QN_TRY(qn_graph_wait(step, err));
out:
    qn_graph_free(begin);
    qn_graph_free(step);
    return st;
}

static qn_status roll_out(pipeline *p, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(p->ctx, "les.check.rollout", &graph, err));
    QN_TRY(qn_les_proxy_add_rollout(p->proxy, graph, p->z, STEPS, p->zhat, err));
    QN_TRY(qn_les_codec_add_decode(p->codec, graph, p->zhat, 0, 0, p->first, NULL, err));
    QN_TRY(qn_run_graph(graph, err));
out:
    qn_graph_free(graph);
    return st;
}

static qn_status compare_at(pipeline *p, int i, double figures[N_FIGURES], qn_err *err)
{
    const int t = (int)known[p->from + i][STEP];
    double sums[3 * QN_LES_SUMS];
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(p->ctx, "les.check.compare", &graph, err));
    QN_TRY(qn_les_codec_add_decode(p->codec, graph, p->zhat, t, t, p->lp, p->full, err));
    QN_TRY(qn_les_codec_add_compare(p->codec, graph, p->truth[i], p->lp, p->sums, 0, err));
    QN_TRY(qn_les_codec_add_compare(p->codec, graph, p->truth[i], p->full, p->sums, 1, err));
    QN_TRY(qn_les_codec_add_compare(p->codec, graph, p->truth[i], p->first, p->sums, 2, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_buf_read(p->sums, 0, sums, sizeof sums, err));

    const qn_les_errors lp = qn_les_errors_of(&p->config, sums);
    const qn_les_errors full = qn_les_errors_of(&p->config, sums + QN_LES_SUMS);
    const qn_les_errors still = qn_les_errors_of(&p->config, sums + 2 * QN_LES_SUMS);
    figures[LP_L2] = lp.rel_l2;
    figures[LP_CORR] = lp.corr;
    figures[FULL_L2] = full.rel_l2;
    figures[FULL_CORR] = full.corr;
    figures[DE_REL] = full.dE_rel;
    figures[DZ_REL] = full.dZ_rel;
    figures[PERSISTENCE] = still.rel_l2;
out:
    qn_graph_free(graph);
    return st;
}

static qn_status check_at(qn_ctx *ctx, const char *n, const char *precision, double limit,
                          qn_findings *findings, qn_err *err)
{
    pipeline p = { 0 };
    double got[N_FIGURES] = { 0 };
    qn_status st = QN_OK;

    QN_TRY(open_pipeline(ctx, n, precision, &p, err));
    QN_TRY(run_flow(&p, err));
    QN_TRY(qn_les_proxy_learn(p.proxy, p.z, qn_les_proxy_train(&p.config, STEPS + 1), err));
    QN_TRY(roll_out(&p, err));
    for (int i = 0; i < N_TIMES; i++) {
        const int t = (int)known[p.from + i][STEP];

        QN_TRY(compare_at(&p, i, got, err));
        for (int k = 0; k < N_FIGURES; k++) {
            const double want = known[p.from + i][FIGURES + k];

            qn_finding_within(findings, "V11", got[k], want - limit, want + limit,
                              "N %s %s t %d: %s", n, precision, t, figure_names[k]);
        }
        if (t >= 10)
            qn_finding_within(findings, "V11", got[LP_L2] / got[PERSISTENCE], 0, 1,
                              "N %s %s t %d: low-pass error over persistence", n, precision, t);
    }
out:
    close_pipeline(&p);
    return st;
}

qn_status qn_les_check_pipeline(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(check_at(ctx, "64", "f64", 1e-8, findings, err));
    QN_TRY(check_at(ctx, "128", "f64", 1e-8, findings, err));
    QN_TRY(check_at(ctx, "64", "f32", 2e-3, findings, err));
    QN_TRY(check_at(ctx, "128", "f32", 2e-3, findings, err));
out:
    return st;
}
