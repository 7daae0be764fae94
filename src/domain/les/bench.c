/* bench.c - how long steps and their transforms take. */
#include "bench.h"

#include "output.h"
#include "run.h"
#include "sim.h"
#include "kernel/vector.gen.h"
#include "util/clock.h"
#include "util/stats.h"
#include "util/temp_dir.h"

#include <quern/fft.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 10, WARM_RUNS = 3, MAX_SAMPLES = 100 };
static const double SAMPLE_US = 5e4; /* a sample takes about so long, or one batch */

void qn_les_points_free(qn_les_points *points)
{
    free(points->list);
    *points = (qn_les_points){ 0 };
}

static qn_status lift(qn_ctx *ctx, qn_status st, qn_err *err)
{
    if (st != QN_OK && err && !err->text[0])
        qn_fail(err, st, "%s", qn_error(ctx)[0] ? qn_error(ctx) : qn_status_name(st));
    return st;
}

/* ---- timing ---------------------------------------------------------------------------------- */

static qn_status time_runs(qn_graph *graph, int runs, double *us)
{
    const double start = qn_now_us();
    qn_status st = QN_OK;

    for (int i = 0; i < runs; i++)
        QN_TRY(qn_graph_run(graph));
    QN_TRY(qn_graph_wait(graph));
    *us = (qn_now_us() - start) / runs;
out:
    return st;
}

/* Median time of a run of the graph; *first is that of the very first. */
static qn_status time_graph(qn_graph *graph, int samples, double *first, double *us)
{
    double times[MAX_SAMPLES], warm;
    qn_status st = QN_OK;
    int runs;

    QN_TRY(time_runs(graph, 1, first));
    for (int i = 0; i < WARM_RUNS; i++)
        QN_TRY(time_runs(graph, 1, &warm));
    runs = warm < SAMPLE_US ? (int)(SAMPLE_US / warm) : 1;
    for (int i = 0; i < samples && i < MAX_SAMPLES; i++)
        QN_TRY(time_runs(graph, runs, &times[i]));
    *us = qn_stats_of(times, (size_t)(samples < MAX_SAMPLES ? samples : MAX_SAMPLES)).median;
out:
    return st;
}

qn_status qn_les_bandwidth(qn_ctx *ctx, double *gbs, qn_err *err)
{
    enum { STAGES = 4, N = 1 << 25 };
    qn_buf *x = NULL, *y = NULL;
    qn_graph *graph = NULL;
    double first, us;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(ctx, "bench.x", (size_t)N * sizeof(float), &x));
    QN_TRY(qn_buf_new(ctx, "bench.y", (size_t)N * sizeof(float), &y));
    QN_TRY(qn_graph_new(ctx, "bench.saxpy", &graph));
    for (int i = 0; i < STAGES; i++)
        QN_TRY(stage_saxpy(graph, "bench.saxpy", qn_range_1d(N), 0.5f, x, y));
    QN_TRY(time_graph(graph, 3, &first, &us));
    *gbs = 12.0 * N * STAGES / us / 1e3;
out:
    st = lift(ctx, st, err);
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(y);
    return st;
}

/* ---- one point ------------------------------------------------------------------------------- */

/* The transforms of BATCH steps, on zeros: they take as long, and stay zeros. */
static qn_status add_transforms(qn_graph *graph, const qn_les_config *config, qn_buf *fields)
{
    static const int batches[2][4] = { { 4, 2, 4, 2 }, { 7, 1, 5, 1 } };
    const int *batch = batches[config->form == QN_LES_ADVECTIVE];
    qn_status st = QN_OK;

    for (int i = 0; i < 4 * BATCH; i++) {
        const qn_fft_shape shape = {
            .rows = config->N,
            .cols = config->N,
            .batch = batch[i % 4] * config->ensemble,
            .is_f64 = config->precision == QN_LES_F64,
            .keep = config->dealias == QN_LES_DEALIAS_TWO_THIRDS ? (config->N - 1) / 3 : 0,
        };

        QN_TRY(qn_graph_fft(graph, "bench.fft", &shape, i % 2 ? QN_FFT_FORWARD : QN_FFT_INVERSE,
                            fields, 0));
    }
out:
    return st;
}

static qn_status time_transforms(qn_ctx *ctx, const qn_les_config *config, int samples,
                                 qn_les_point *point)
{
    const int most = config->form == QN_LES_FLUX ? 4 : 7;
    const qn_fft_shape largest = { config->N, config->N, most * config->ensemble,
                                   config->precision == QN_LES_F64, 0 };
    qn_graph *graph = NULL;
    qn_buf *fields = NULL;
    double first, us;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(ctx, "bench.fields", qn_fft_bytes(&largest), &fields));
    QN_TRY(qn_graph_new(ctx, "bench.fft", &graph));
    QN_TRY(add_transforms(graph, config, fields));
    QN_TRY(time_graph(graph, samples, &first, &us));
    point->fft_us = us / BATCH;
    snprintf(point->device, sizeof point->device, "%s", qn_graph_stage_device(graph, 0));
out:
    qn_graph_free(graph);
    qn_buf_free(fields);
    return st;
}

static qn_status time_steps(qn_ctx *ctx, const qn_les_config *config, int samples,
                            qn_les_point *point, qn_err *err)
{
    const double start = qn_now_us();
    qn_les_sim *sim = NULL;
    qn_graph *graph = NULL;
    double made, first, us;
    qn_status st = QN_OK;

    QN_TRY(qn_les_sim_new(ctx, config, &sim, err));
    QN_TRY(qn_graph_new(ctx, "bench.steps", &graph));
    QN_TRY(qn_les_sim_add_steps(sim, graph, BATCH));
    made = qn_now_us() - start;
    QN_TRY(time_graph(graph, samples, &first, &us));
    point->first_s = (made + first) / 1e6;
    point->step_us = us / BATCH;
    snprintf(point->device, sizeof point->device, "%s", qn_graph_stage_device(graph, 0));
out:
    st = lift(ctx, st, err);
    qn_graph_free(graph);
    qn_les_sim_free(sim);
    return st;
}

qn_status qn_les_bench_add(qn_ctx *ctx, const qn_les_config *config, int samples, int is_fft_only,
                           qn_les_points *points, qn_err *err)
{
    qn_les_point point = { .n = config->N,
                           .members = config->ensemble,
                           .is_f64 = config->precision == QN_LES_F64,
                           .is_origin = config->form == QN_LES_ADVECTIVE,
                           .step_us = NAN };
    qn_les_point *list;
    qn_status st = QN_OK;

    QN_TRY(lift(ctx, time_transforms(ctx, config, samples, &point), err));
    if (!is_fft_only)
        QN_TRY(time_steps(ctx, config, samples, &point, err));
    point.cell_steps = 1e6 * config->N * config->N * config->ensemble / point.step_us;
    point.gbs = qn_les_step_bytes(config) / point.step_us / 1e3;
    point.roofline = points->gbs > 0 ? point.gbs / points->gbs : NAN;
    if (!(list = realloc(points->list, (points->n + 1) * sizeof *list)))
        return qn_fail(err, QN_ERR_NOMEM, "bench: no memory for %zu points", points->n + 1);
    points->list = list;
    list[points->n++] = point;
out:
    return st;
}

/* ---- whole runs --------------------------------------------------------------------------------
 */

qn_status qn_les_whole_run(qn_ctx *ctx, const qn_les_config *config, qn_les_whole *out, qn_err *err)
{
    const qn_les_run_options options = { .watch = { .mode = QN_PROGRESS_OFF } };
    qn_les_config local = *config;
    qn_les_result result = { 0 };
    qn_temp_dir dir = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_temp_dir_make(&dir, err));
    if (strlen(dir.path) >= sizeof local.out) {
        st = qn_fail(err, QN_ERR_LIMIT, "%s is longer than %zu bytes", dir.path, sizeof local.out);
        goto out;
    }
    memcpy(local.out, dir.path, strlen(dir.path) + 1);
    QN_TRY(qn_les_run(ctx, &local, &options, &result, err));
    *out = (qn_les_whole){ .total_s = result.total_s, .error = NAN };
    snprintf(out->device, sizeof out->device, "%s", result.device);
    out->step_us = 1e6 * result.times[QN_LES_TIME_SIM].wall_s / config->steps;
    out->rollout_us = 1e6 * result.times[QN_LES_TIME_ROLLOUT].wall_s / config->steps;
    if (result.n_compared)
        out->error = result.compared[result.n_compared - 1].lp.rel_l2;
out:
    qn_les_result_free(&result);
    qn_temp_dir_remove(&dir);
    return st;
}

/* What a mixed run has: the flow in one context, the frames in the other. */
typedef struct mixed {
    qn_les_sim *sim;
    qn_les_codec *codec;
    qn_les_proxy *proxy;
    qn_buf *state, *z, *zhat;
    qn_graph *steps, *first, *encode, *rollout;
} mixed;

static void mixed_free(mixed *m)
{
    qn_graph_free(m->steps);
    qn_graph_free(m->first);
    qn_graph_free(m->encode);
    qn_graph_free(m->rollout);
    qn_buf_free(m->state);
    qn_buf_free(m->z);
    qn_buf_free(m->zhat);
    qn_les_proxy_free(m->proxy);
    qn_les_codec_free(m->codec);
    qn_les_sim_free(m->sim);
}

static qn_status mixed_make(qn_ctx *cpu, qn_ctx *device, const qn_les_config *config, int frames,
                            mixed *m, qn_err *err)
{
    const size_t real = config->precision == QN_LES_F64 ? sizeof(double) : sizeof(float);
    size_t row;
    qn_status st = QN_OK;

    QN_TRY(qn_les_sim_new(cpu, config, &m->sim, err));
    QN_TRY(lift(cpu, qn_graph_new(cpu, "les.steps", &m->steps), err));
    QN_TRY(lift(cpu, qn_les_sim_add_steps(m->sim, m->steps, config->encode_every), err));
    QN_TRY(qn_les_codec_new(device, config, &m->codec, err));
    row = (size_t)qn_les_codec_layout(m->codec).size * (size_t)config->ensemble * real;
    QN_TRY(qn_buf_new(device, "les.state", qn_buf_bytes(qn_les_sim_state(m->sim)), &m->state));
    QN_TRY(qn_buf_new(device, "les.z", (size_t)frames * row, &m->z));
    QN_TRY(qn_buf_new(device, "les.zhat", (size_t)frames * row, &m->zhat));
    QN_TRY(qn_graph_new(device, "les.anchors", &m->first));
    QN_TRY(qn_les_codec_add_anchors(m->codec, m->first, m->state));
    QN_TRY(qn_graph_new(device, "les.encode", &m->encode));
    QN_TRY(qn_les_codec_add_encode(m->codec, m->encode, m->state, m->z, frames));
    QN_TRY(qn_les_proxy_new(device, config, qn_les_codec_layout(m->codec).size, &m->proxy, err));
out:
    return lift(device, st, err);
}

static qn_status mixed_encode(mixed *m, void *host, int is_first)
{
    const size_t bytes = qn_buf_bytes(m->state);
    qn_status st = QN_OK;

    QN_TRY(qn_buf_write(m->state, 0, host, bytes));
    if (is_first)
        QN_TRY(qn_graph_run(m->first));
    QN_TRY(qn_graph_run(m->encode));
out:
    return st;
}

qn_status qn_les_mixed_run(qn_ctx *cpu, qn_ctx *device, const qn_les_config *config,
                           qn_les_whole *out, qn_err *err)
{
    const int frames = config->steps / config->encode_every + 1;
    const double start = qn_now_us();
    qn_status st = QN_OK;
    mixed m = { 0 };
    void *host;

    QN_TRY(mixed_make(cpu, device, config, frames, &m, err));
    for (int f = 0; f < frames; f++) {
        if (f)
            QN_TRY(lift(cpu, qn_graph_run(m.steps), err));
        QN_TRY(lift(cpu, qn_buf_host(qn_les_sim_state(m.sim), QN_HOST_READ, &host), err));
        QN_TRY(lift(device, mixed_encode(&m, host, f == 0), err));
    }
    QN_TRY(qn_les_proxy_learn(m.proxy, m.z, qn_les_proxy_train(config, frames), err));
    QN_TRY(lift(device, qn_graph_new(device, "les.rollout", &m.rollout), err));
    QN_TRY(
        lift(device, qn_les_proxy_add_rollout(m.proxy, m.rollout, m.z, frames - 1, m.zhat), err));
    QN_TRY(lift(device, qn_graph_run(m.rollout), err));
    QN_TRY(lift(device, qn_graph_wait(m.rollout), err));
    *out = (qn_les_whole){ .total_s = (qn_now_us() - start) / 1e6, .error = NAN };
    snprintf(out->device, sizeof out->device, "cpu+%s",
             qn_graph_stage_device(m.encode, 0) ? qn_graph_stage_device(m.encode, 0) : "?");
    out->step_us = 1e6 * out->total_s / config->steps;
out:
    mixed_free(&m);
    return st;
}
