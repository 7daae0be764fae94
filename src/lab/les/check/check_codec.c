/* check_codec.c - checks random numbers, codec and operator without a reference program: by
 * published vectors, sums of integers, and identities. */
#include "check_impl.h"
#include "check_impl.h"

#include "domain/les/flow/ic.h"
#include "kernel/philox.h"
#include "util/hash.h"

#include <math.h>
#include <quern/fft.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds the finding that an error is at most `limit`, which NaN is not. */
static void expect(qn_findings *findings, const char *check, const char *what, double value,
                   double limit)
{
    qn_finding_within(findings, check, value, 0, limit, "%s", what);
}

#define MAKE(config, ...)                                                                          \
    qn_les_options_make(NULL, (const char *const[]){ __VA_ARGS__, NULL }, NULL, config, err)

/* V9: random numbers and initial fields. */

static void check_philox(qn_findings *findings)
{
    static const struct {
        philox_words counter;
        u32 key[2];
        philox_words want;
    } known[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    int n_off = 0;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const philox_words got = philox(known[i].counter, known[i].key[0], known[i].key[1]);

        n_off += memcmp(&got, &known[i].want, sizeof got) != 0;
    }
    expect(findings, "V9", "known answers of Philox that differ", n_off, 0);
}

static double differs(const void *data, size_t bytes, const char *sha256)
{
    uint8_t digest[QN_SHA256_BYTES];
    char text[2 * QN_SHA256_BYTES + 1];

    qn_sha256_of(data, bytes, digest);
    return strcmp(qn_hex(digest, sizeof digest, text), sha256) != 0;
}

static qn_status check_spectral(qn_findings *findings, qn_err *err)
{
    qn_les_options config;
    double *half = NULL;
    qn_status st = QN_OK;

    QN_TRY(MAKE(&config, "n", "64", "seed", "1"));
    if (!(half = calloc(qn_les_ic_elems(&config), sizeof *half)))
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for a field of %d cells a side", config.N);
    QN_TRY(qn_les_ic_fill(&config, half, err));
    expect(findings, "V9", "ic spectral: half spectrum is not the known one",
           differs(half, qn_les_ic_elems(&config) * sizeof *half,
                   "a26bac24a78ed6012589ccb47c00c8eeae3455a5eb20b8d880cdf8257081fa21"),
           0);
out:
    free(half);
    return st;
}

static qn_status check_box(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    static const qn_i64 want[QN_LES_BOX_MOMENTS] = { 361644437, 74924923, 34349767941 };
    qn_i64 got[QN_LES_BOX_MOMENTS];
    qn_les_options config;
    qn_buf *field = NULL, *moments = NULL;
    qn_graph *graph = NULL;
    void *cells;
    qn_status st = MAKE(&config, "n", "64", "seed", "1", "ic", "box", "precision", "f64");

    if (st != QN_OK)
        return st;
    QN_TRY(qn_buf_new(ctx, "field", 64 * 64 * sizeof(double), &field, err));
    QN_TRY(qn_buf_new(ctx, "moments", sizeof got, &moments, err));
    QN_TRY(qn_graph_new(ctx, "les.check.box", &graph, err));
    QN_TRY(qn_les_ic_box(graph, &config, field, moments, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_buf_read(moments, 0, got, sizeof got, err));
    QN_TRY(qn_buf_host(field, QN_HOST_READ, &cells, err));
    expect(findings, "V9", "ic box: integer sums differ", memcmp(got, want, sizeof got) != 0, 0);
    expect(findings, "V9", "ic box: field is not the known one",
           differs(cells, 64 * 64 * sizeof(double),
                   "793b9f76558144fa6114f1c9805a651c718d1b5b8ae2537e247d97fdff9e4435"),
           0);
out:
    qn_graph_free(graph);
    qn_buf_free(field);
    qn_buf_free(moments);
    return st;
}

static qn_status check_random(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    qn_status st = QN_OK;

    check_philox(findings);
    QN_TRY(check_spectral(findings, err));
    QN_TRY(check_box(ctx, findings, err));
out:
    return st;
}

/* V10: identities of the codec. */

/* A codec with a field to encode: N = 64, f64. */
typedef struct {
    qn_ctx *ctx;
    qn_les_options config;
    qn_les_codec *codec;
    qn_buf *state, *z, *field, *lp, *full, *sums;
    double *row[2]; /* of z, read back */
    qn_owned owned; /* these */
} bench;

enum { SIDE = 64, CELLS = SIDE * SIDE, HALF = SIDE * (SIDE + 2) };

static const qn_fft_shape shape = { .rows = SIDE, .cols = SIDE, .batch = 1, .is_f64 = 1 };

static void close_bench(bench *b)
{
    qn_owned_free(&b->owned, 0);
    qn_les_codec_free(b->codec);
    b->codec = NULL;
}

/* The initial field of the configuration as state, and as cells in b->field. */
static qn_status open_bench(qn_ctx *ctx, const char *const *pairs, bench *b, qn_err *err)
{
    double *half;
    qn_status st = QN_OK;

    *b = (bench){ .ctx = ctx };
    QN_TRY(qn_les_options_make(NULL, pairs, NULL, &b->config, err));
    QN_TRY(qn_les_codec_new(ctx, &b->config, &b->codec, err));
    const size_t d = (size_t)qn_les_codec_layout(b->codec).size;
    QN_TRY(qn_owned_memory(&b->owned, HALF * sizeof *half, &half, err));
    for (int i = 0; i < 2; i++)
        QN_TRY(qn_owned_memory(&b->owned, d * sizeof *half, &b->row[i], err));
    QN_TRY(qn_les_ic_fill(&b->config, half, err));
    const struct {
        const char *name;
        size_t n;
        qn_buf **out;
    } bufs[] = { { "state", HALF, &b->state },  { "z", 2 * d, &b->z },
                 { "field", CELLS, &b->field }, { "lp", CELLS, &b->lp },
                 { "full", CELLS, &b->full },   { "sums", 2 * QN_LES_SUMS, &b->sums } };

    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        QN_TRY(
            qn_owned_buf(&b->owned, ctx, bufs[i].name, bufs[i].n * sizeof *half, bufs[i].out, err));
    QN_TRY(qn_buf_write(b->state, 0, half, HALF * sizeof *half, err));
out:
    return st;
}

/* Transforms cells to the state, or the state to cells; on the host, since it is done once. */
static qn_status turn(bench *b, qn_fft_direction direction, qn_buf *cells, qn_err *err)
{
    const int is_forward = direction == QN_FFT_FORWARD;
    qn_graph *graph = NULL;
    qn_buf *work = NULL;
    void *padded, *plain;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(b->ctx, "transform", HALF * sizeof(double), &work, err));
    QN_TRY(qn_buf_host(work, QN_HOST_DISCARD, &padded, err));
    if (is_forward) {
        QN_TRY(qn_buf_host(cells, QN_HOST_READ, &plain, err));
        for (int j = 0; j < SIDE; j++)
            memcpy((double *)padded + j * (SIDE + 2), (double *)plain + j * SIDE,
                   SIDE * sizeof(double));
    } else {
        QN_TRY(qn_buf_read(b->state, 0, padded, HALF * sizeof(double), err));
    }
    QN_TRY(qn_graph_new(b->ctx, "les.check.transform", &graph, err));
    QN_TRY(qn_graph_fft(graph, "transform", &shape, direction, work, 0, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_buf_host(work, QN_HOST_READ, &padded, err));
    if (is_forward) {
        QN_TRY(qn_buf_write(b->state, 0, padded, HALF * sizeof(double), err));
        goto out;
    }
    QN_TRY(qn_buf_host(cells, QN_HOST_DISCARD, &plain, err));
    for (int k = 0; k < CELLS; k++)
        ((double *)plain)[k] = ((double *)padded)[k / SIDE * (SIDE + 2) + k % SIDE] / CELLS;
out:
    qn_graph_free(graph);
    qn_buf_free(work);
    return st;
}

/* Encodes the state, decodes the vector, compares both fields with the true one, and encodes the
 * low-pass field. */
static qn_status run_bench(bench *b, qn_les_errors *lp, qn_les_errors *full, qn_err *err)
{
    const size_t bytes = (size_t)qn_les_codec_layout(b->codec).size * sizeof(double);
    double sums[2 * QN_LES_SUMS];
    qn_graph *graph = NULL, *again = NULL;
    qn_status st = QN_OK;

    QN_TRY(turn(b, QN_FFT_INVERSE, b->field, err));
    QN_TRY(qn_graph_new(b->ctx, "les.check.codec", &graph, err));
    QN_TRY(qn_les_codec_add_anchors(b->codec, graph, b->state, err));
    QN_TRY(qn_les_codec_add_encode(b->codec, graph, b->state, b->z, 2, err));
    QN_TRY(qn_les_codec_add_decode(b->codec, graph, b->z, 0, 7, b->lp, b->full, err));
    QN_TRY(qn_les_codec_add_compare(b->codec, graph, b->field, b->lp, b->sums, 0, err));
    QN_TRY(qn_les_codec_add_compare(b->codec, graph, b->field, b->full, b->sums, 1, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_buf_read(b->sums, 0, sums, sizeof sums, err));
    *lp = qn_les_errors_of(&b->config, sums);
    *full = qn_les_errors_of(&b->config, sums + QN_LES_SUMS);

    QN_TRY(turn(b, QN_FFT_FORWARD, b->lp, err));
    QN_TRY(qn_graph_new(b->ctx, "les.check.again", &again, err));
    QN_TRY(qn_les_codec_add_encode(b->codec, again, b->state, b->z, 2, err));
    QN_TRY(qn_run_graph(again, err));
    QN_TRY(qn_buf_read(b->z, 0, b->row[0], bytes, err));
    QN_TRY(qn_buf_read(b->z, bytes, b->row[1], bytes, err));
out:
    qn_graph_free(graph);
    qn_graph_free(again);
    return st;
}

/* The largest difference of entries that are waves. */
static double waves_off(const bench *b)
{
    const qn_les_layout at = qn_les_codec_layout(b->codec);
    double off = 0;

    for (int k = 0; k < at.size; k++)
        if (k < at.support || k >= at.anchor_re)
            off = fmax(off, fabs(b->row[0][k] - b->row[1][k]));
    return off;
}

/* Relative difference of the mean square of the field and the sum of the bands of its vector. */
static double parseval_off(const bench *b)
{
    const qn_les_modes *m = qn_les_codec_modes(b->codec);
    const qn_les_layout at = qn_les_codec_layout(b->codec);
    const double *z = b->row[0];
    double sum = 0, square = 0;
    void *cells;

    for (int k = at.low_re; k < at.support; k++)
        sum += 2 * z[k] * z[k];
    for (int k = at.anchor_re; k < at.size; k++)
        sum += 2 * z[k] * z[k];
    sum += z[at.mean] * z[at.mean] + 2 * (m->n_mid - m->n_anchors) * exp(z[at.mid]) +
           2 * (double)m->n_high * exp(z[at.high]);
    if (qn_buf_host(b->field, QN_HOST_READ, &cells, NULL) != QN_OK)
        return NAN;
    for (int k = 0; k < CELLS; k++)
        square += ((double *)cells)[k] * ((double *)cells)[k] / CELLS;
    return fabs(sum / square - 1);
}

static qn_status check_codec(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    static const char *const gated[] = { "n",   "64",   "seed", "1", "precision",
                                         "f64", "gate", "1",    NULL };
    static const char *const open[] = { "n",   "64",   "seed", "1", "precision",
                                        "f64", "gate", "0",    NULL };
    static const char *const all[] = { "n",     "64", "seed",  "1",  "precision", "f64",
                                       "k_cut", "30", "k_mid", "31", NULL };
    qn_les_errors lp, full;
    bench b = { 0 };
    qn_status st = QN_OK;

    QN_TRY(open_bench(ctx, gated, &b, err));
    QN_TRY(run_bench(&b, &lp, &full, err));
    expect(findings, "V10", "encoding of the decoded low-pass field: error of waves", waves_off(&b),
           1e-13);
    expect(findings, "V10", "bands do not add up to the enstrophy", parseval_off(&b), 1e-12);
    expect(findings, "V10", "gate 1: enstrophy off", fabs(full.dZ_rel), 1e-12);
    close_bench(&b);
    QN_TRY(open_bench(ctx, open, &b, err));
    QN_TRY(run_bench(&b, &lp, &full, err));
    expect(findings, "V10", "gate 0: enstrophy off", fabs(full.dZ_rel), 1e-12);
    close_bench(&b);
    QN_TRY(open_bench(ctx, all, &b, err));
    QN_TRY(run_bench(&b, &lp, &full, err));
    expect(findings, "V10", "all modes stored: error of the field", lp.rel_l2, 1e-12);
out:
    close_bench(&b);
    return st;
}

/* V11: recovery of an operator. */

enum { D = 20, T = 200 };

/* Ten planes, each with its own rate of rotation and decay. */
static void make_operator(double *a)
{
    memset(a, 0, D * D * sizeof *a);
    for (int k = 0; k < D; k += 2) {
        const double decay = 1 - 0.0005 * k, angle = 0.11 + 0.13 * k;

        a[k * D + k] = a[(k + 1) * D + k + 1] = decay * cos(angle);
        a[k * D + k + 1] = decay * sin(angle);
        a[(k + 1) * D + k] = -decay * sin(angle);
    }
}

static void make_frames(const double *a, double *z)
{
    for (int k = 0; k < D; k++)
        z[k] = 1 + 0.1 * k;
    for (int t = 1; t < T; t++)
        for (int k = 0; k < D; k++) {
            double sum = 0;

            for (int i = 0; i < D; i++)
                sum += z[(t - 1) * D + i] * a[i * D + k];
            z[t * D + k] = sum;
        }
}

static qn_status check_recovery(qn_ctx *ctx, qn_findings *findings, qn_err *err)
{
    double want[D * D], got[D * D], mu[D], scale[D], frames[T * D], off = 0;
    qn_les_options config;
    qn_les_proxy *proxy = NULL;
    qn_buf *z = NULL;
    qn_status st = QN_OK;

    QN_TRY(MAKE(&config, "precision", "f64", "ridge", "1e-12", "standardize", "0"));
    make_operator(want);
    make_frames(want, frames);
    QN_TRY(qn_buf_new(ctx, "frames", sizeof frames, &z, err));
    QN_TRY(qn_buf_write(z, 0, frames, sizeof frames, err));
    QN_TRY(qn_les_proxy_new(ctx, &config, D, &proxy, err));
    QN_TRY(qn_les_proxy_learn(proxy, z, T, err));
    QN_TRY(qn_les_proxy_read(proxy, got, mu, scale, err));
    for (int k = 0; k < D * D; k++)
        off = fmax(off, fabs(got[k] - want[k]));
    expect(findings, "V11", "rotation and decay: operator off", off, 1e-8);
    expect(findings, "V11", "rotation and decay: spectral radius off",
           fabs(qn_les_proxy_get(proxy).spectral_radius - 1), 1e-4);
out:
    qn_les_proxy_free(proxy);
    qn_buf_free(z);
    return st;
}

const qn_les_check qn_les_codec_checks[] = {
    { "V9", "random numbers and initial fields", check_random, 0 },
    { "V10", "identities of the codec", check_codec, 0 },
    { "V11", "recovery of a linear system", check_recovery, 0 },
    { 0 },
};
