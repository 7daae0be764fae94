/* bench_whole.c - whole runs: on one device, and mixed. */
#include "bench.h"
#include "lab/owned.h"

#include "domain/les/options/options.h"
#include "domain/les/codec/codec.h"
#include "domain/les/proxy/proxy.h"
#include "domain/les/run/run.h"
#include "domain/les/flow/sim.h"
#include "util/clock.h"
#include "util/temp_dir.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* On one device. */

qn_status qn_les_whole_run(qn_ctx *ctx, const qn_les_options *options, qn_les_whole *out,
                           qn_err *err)
{
    qn_les_options local = *options;
    qn_les_result *result = NULL;
    qn_temp_dir dir = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_temp_dir_make(&dir, err));
    if (strlen(dir.path) >= QN_OPTION_TEXT_BYTES)
        QN_FAIL(err, QN_ERR_LIMIT, "%s is longer than %d bytes", dir.path,
                QN_OPTION_TEXT_BYTES - 1);
    local.out = dir.path;
    local.hold = QN_LES_HOLD_TABLES;
    QN_TRY(qn_les_run(ctx, &local, &result, err));
    *out = (qn_les_whole){ .total_s = result->total_s, .error = NAN };
    snprintf(out->device, sizeof out->device, "%s", result->device);
    out->step_us = 1e6 * result->times[QN_LES_TIME_SIM].wall_s / options->steps;
    out->rollout_us = 1e6 * result->times[QN_LES_TIME_ROLLOUT].wall_s / options->steps;
    if (result->n_compared)
        out->error = result->compared[result->n_compared - 1].lp.rel_l2;
out:
    qn_les_result_free(result);
    qn_temp_dir_remove(&dir);
    return st;
}

/* Mixed. */

/* A mixed run: the flow in one context, the frames in the other. */
typedef struct mixed {
    qn_les_sim *sim;
    qn_les_codec *codec;
    qn_les_proxy *proxy;
    qn_buf *state, *z, *zhat;
    qn_graph *steps, *first, *encode, *rollout;
    qn_owned owned; /* these buffers and graphs */
} mixed;

static void mixed_free(mixed *m)
{
    qn_owned_free(&m->owned, 0);
    qn_les_proxy_free(m->proxy);
    qn_les_codec_free(m->codec);
    qn_les_sim_free(m->sim);
}

static qn_status mixed_make(qn_ctx *cpu, qn_ctx *device, const qn_les_options *config, int frames,
                            mixed *m, qn_err *err)
{
    const size_t real = config->precision == QN_LES_F64 ? sizeof(double) : sizeof(float);
    size_t row;
    qn_status st = QN_OK;

    QN_TRY(qn_les_sim_new(cpu, config, &m->sim, err));
    QN_TRY(qn_owned_graph(&m->owned, cpu, "les.steps", &m->steps, err));
    QN_TRY(qn_les_sim_add_steps(m->sim, m->steps, config->encode_every, err));
    QN_TRY(qn_les_codec_new(device, config, &m->codec, err));
    row = (size_t)qn_les_codec_layout(m->codec).size * (size_t)config->ensemble * real;
    QN_TRY(qn_owned_buf(&m->owned, device, "les.state", qn_buf_bytes(qn_les_sim_state(m->sim)),
                        &m->state, err));
    QN_TRY(qn_owned_buf(&m->owned, device, "les.z", (size_t)frames * row, &m->z, err));
    QN_TRY(qn_owned_buf(&m->owned, device, "les.zhat", (size_t)frames * row, &m->zhat, err));
    QN_TRY(qn_owned_graph(&m->owned, device, "les.anchors", &m->first, err));
    QN_TRY(qn_les_codec_add_anchors(m->codec, m->first, m->state, err));
    QN_TRY(qn_owned_graph(&m->owned, device, "les.encode", &m->encode, err));
    QN_TRY(qn_les_codec_add_encode(m->codec, m->encode, m->state, m->z, frames, err));
    QN_TRY(qn_les_proxy_new(device, config, qn_les_codec_layout(m->codec).size, &m->proxy, err));
out:
    return st;
}

static qn_status mixed_encode(mixed *m, void *host, int is_first, qn_err *err)
{
    const size_t bytes = qn_buf_bytes(m->state);
    qn_status st = QN_OK;

    QN_TRY(qn_buf_write(m->state, 0, host, bytes, err));
    if (is_first)
        QN_TRY(qn_graph_run(m->first, err));
    QN_TRY(qn_graph_run(m->encode, err));
out:
    return st;
}

qn_status qn_les_mixed_run(qn_ctx *cpu, qn_ctx *device, const qn_les_options *options,
                           qn_les_whole *out, qn_err *err)
{
    const int frames = options->steps / options->encode_every + 1;
    const double start = qn_now_us();
    qn_status st = QN_OK;
    mixed m = { 0 };
    qn_les_options config;
    void *host;

    QN_TRY(qn_les_options_take(options, &config, err));
    QN_TRY(mixed_make(cpu, device, &config, frames, &m, err));
    for (int f = 0; f < frames; f++) {
        if (f)
            QN_TRY(qn_graph_run(m.steps, err));
        QN_TRY(qn_buf_host(qn_les_sim_state(m.sim), QN_HOST_READ, &host, err));
        QN_TRY(mixed_encode(&m, host, f == 0, err));
    }
    QN_TRY(qn_les_proxy_learn(m.proxy, m.z, qn_les_proxy_train(&config, frames), err));
    QN_TRY(qn_owned_graph(&m.owned, device, "les.rollout", &m.rollout, err));
    QN_TRY(qn_les_proxy_add_rollout(m.proxy, m.rollout, m.z, frames - 1, m.zhat, err));
    QN_TRY(qn_run_graph(m.rollout, err));
    *out = (qn_les_whole){ .total_s = (qn_now_us() - start) / 1e6, .error = NAN };
    snprintf(out->device, sizeof out->device, "cpu+%s",
             qn_graph_stage_device(m.encode, 0) ? qn_graph_stage_device(m.encode, 0) : "?");
    out->step_us = 1e6 * out->total_s / config.steps;
out:
    mixed_free(&m);
    return st;
}
