/* codec_fixture.h - a codec, a state made of golden fields, and its results as doubles. */
#ifndef QN_TESTS_LES_CODEC_FIXTURE_H
#define QN_TESTS_LES_CODEC_FIXTURE_H

#include "golden.h"

#include "parity/parity.h"

#include "domain/les/codec/codec.h"

#include <math.h>
#include <quern/fft.h>

static inline qn_les_options config_of(const char *const *pairs)
{
    qn_les_options config;
    qn_err err = { .text = "" };

    if (qn_les_options_make(NULL, pairs, NULL, &config, &err) != QN_OK)
        fail_msg("%s", err.text);
    return config;
}

#define CONFIG(...) config_of((const char *const[]){ __VA_ARGS__, NULL })

#define MUST_TELL(call)                                                                            \
    do {                                                                                           \
        if ((call) != QN_OK)                                                                       \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* Arrays in run precision. */

static inline qn_buf *new_array(qn_ctx *ctx, const qn_les_options *config, const char *name,
                                size_t elems)
{
    qn_buf *buf = NULL;

    must(qn_buf_new(ctx, name, elems * (config->precision == QN_LES_F64 ? 8 : 4), &buf, &failure));
    return buf;
}

static inline void write_reals(const qn_les_options *config, qn_buf *buf, size_t at,
                               const double *from, size_t elems)
{
    float *narrow = malloc(elems * sizeof *narrow);

    assert_non_null(narrow);
    for (size_t i = 0; i < elems; i++)
        narrow[i] = (float)from[i];
    if (config->precision == QN_LES_F64)
        must(qn_buf_write(buf, at * sizeof *from, from, elems * sizeof *from, &failure));
    else
        must(qn_buf_write(buf, at * sizeof *narrow, narrow, elems * sizeof *narrow, &failure));
    free(narrow);
}

static inline double *read_reals(const qn_les_options *config, qn_buf *buf, size_t at, size_t elems)
{
    double *out = malloc(elems * sizeof *out);
    float *narrow = malloc(elems * sizeof *narrow);

    assert_true(out && narrow);
    if (config->precision == QN_LES_F64) {
        must(qn_buf_read(buf, at * sizeof *out, out, elems * sizeof *out, &failure));
    } else {
        must(qn_buf_read(buf, at * sizeof *narrow, narrow, elems * sizeof *narrow, &failure));
        for (size_t i = 0; i < elems; i++)
            out[i] = (double)narrow[i];
    }
    free(narrow);
    return out;
}

static inline void run_once(qn_graph *graph)
{
    must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    qn_graph_free(graph);
}

/* The codec. */

typedef struct {
    qn_ctx *ctx;
    const qn_les_options *config;
    qn_les_codec *codec;
    qn_buf *state, *z, *lp, *full;
    size_t cells; /* of one member */
    int d;
} fixture;

enum { ROOM = 4 };

static inline fixture open_fixture(const place *at, const qn_les_options *config)
{
    const size_t n = (size_t)config->N, members = (size_t)config->ensemble;
    fixture r = { .ctx = open_place(at), .config = config, .cells = n * n };
    qn_err err = { .text = "" };

    MUST_TELL(qn_les_codec_new(r.ctx, config, &r.codec, &err));
    r.d = qn_les_codec_layout(r.codec).size;
    r.state = new_array(r.ctx, config, "state", members * n * (n + 2));
    r.z = new_array(r.ctx, config, "z", ROOM * members * (size_t)r.d);
    r.lp = new_array(r.ctx, config, "lp", members * n * n);
    r.full = new_array(r.ctx, config, "full", members * n * n);
    return r;
}

static inline void close_fixture(fixture *r)
{
    qn_buf *const bufs[] = { r->state, r->z, r->lp, r->full };

    for (size_t i = 0; i < 4; i++)
        qn_buf_free(bufs[i]);
    qn_les_codec_free(r->codec);
    qn_ctx_close(r->ctx);
}

/* Sets the state to the transform of `fields`, one per member, on the device. */
static inline void put_state(const fixture *r, const double *fields)
{
    const size_t n = (size_t)r->config->N, rows = n * (size_t)r->config->ensemble;
    const qn_fft_shape shape = { .rows = (int)n,
                                 .cols = (int)n,
                                 .batch = r->config->ensemble,
                                 .is_f64 = r->config->precision == QN_LES_F64 };
    double *padded = calloc(rows * (n + 2), sizeof *padded);
    qn_graph *g = NULL;

    assert_non_null(padded);
    for (size_t i = 0; i < rows; i++)
        memcpy(padded + i * (n + 2), fields + i * n, n * sizeof *padded);
    write_reals(r->config, r->state, 0, padded, rows * (n + 2));
    free(padded);
    must(qn_graph_new(r->ctx, "transform", &g, &failure));
    must(qn_graph_fft(g, "transform", &shape, QN_FFT_FORWARD, r->state, 0, &failure));
    run_once(g);
}

static inline void encode(const fixture *r, int with_anchors)
{
    qn_graph *g = NULL;

    must(qn_graph_new(r->ctx, "encode", &g, &failure));
    if (with_anchors)
        must(qn_les_codec_add_anchors(r->codec, g, r->state, &failure));
    must(qn_les_codec_add_encode(r->codec, g, r->state, r->z, ROOM, &failure));
    run_once(g);
}

static inline void decode(const fixture *r, int row, int step)
{
    qn_graph *g = NULL;

    must(qn_graph_new(r->ctx, "decode", &g, &failure));
    must(qn_les_codec_add_decode(r->codec, g, r->z, row, step, r->lp, r->full, &failure));
    run_once(g);
}

static inline double *z_row(const fixture *r, int row)
{
    const size_t d = (size_t)r->d * (size_t)r->config->ensemble;

    return read_reals(r->config, r->z, (size_t)row * d, d);
}

/* Against golden data. */

static inline qn_npy golden_of(const char *prefix, const char *what)
{
    char name[96];

    snprintf(name, sizeof name, "les/%s_%s.npy", prefix, what);
    return golden_array(name);
}

static inline double rel_l2(const double *want, const double *got, size_t n)
{
    double off = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        off += (want[i] - got[i]) * (want[i] - got[i]);
        norm += want[i] * want[i];
    }
    return sqrt(off / norm);
}

#define EXPECT_AT_MOST(value, limit, ...)                                                          \
    do {                                                                                           \
        const double value_ = (value), limit_ = (limit);                                           \
        char what_[160];                                                                           \
        snprintf(what_, sizeof what_, __VA_ARGS__);                                                \
        if (!(value_ <= limit_))                                                                   \
            fail_msg("%s: %g is above %g", what_, value_, limit_);                                 \
    } while (0)

#endif
