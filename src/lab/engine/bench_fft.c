/* bench_fft.c - time of a batched transform, with its data in place.
 *
 * A sample is a chain of forward and inverse transforms in turn. None is scaled, so each pair
 * multiplies the numbers by the number of points in a field: they start small, and are reset for
 * each sample. Bytes are those of two passes that read and write every field once, for any number
 * of modes.
 */
#include "lab/engine/bench_impl.h"

#include "lab/scan/scan.h"
#include "lab/scan/work.h"
#include "util/hash.h"

#include <quern/fft.h>

#include <stdlib.h>
#include <string.h>

enum { PAIRS = 4, WARM_RUNS = 3 };

typedef struct chain {
    qn_ctx *ctx;
    int device;
    qn_fft_shape shape;
    qn_buf *start, *data;
    qn_graph *reset, *run;
    qn_owned owned; /* all of these */
} chain;

static qn_status fill(const chain *c, uint64_t seed, qn_err *err)
{
    void *to;
    const size_t n = qn_fft_bytes(&c->shape) / (c->shape.is_f64 ? sizeof(double) : sizeof(float));
    const qn_status st = qn_buf_host(c->start, QN_HOST_DISCARD, &to, err);

    for (size_t i = 0; st == QN_OK && i < n; i++) {
        const float value = 1e-25f * qn_random_float(seed, i);

        if (c->shape.is_f64)
            ((double *)to)[i] = (double)value;
        else
            ((float *)to)[i] = value;
    }
    return st;
}

/* The reset copies words as floats. That preserves their bits as long as they are normal numbers,
 * which these are in either precision. */
static qn_status chain_make(qn_ctx *ctx, int device, const qn_fft_shape *shape, uint64_t seed,
                            chain *c, qn_err *err)
{
    const char *id = qn_device_id(ctx, device);
    const qn_kernel_info *copy = qn_kernel_builtin("map_mul");
    const size_t bytes = qn_fft_bytes(shape);
    const float one = 1;
    qn_status st = QN_OK;

    *c = (chain){ .ctx = ctx, .device = device, .shape = *shape };
    if (!copy)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "this build has no kernel map_mul");
    QN_TRY(qn_owned_buf(&c->owned, ctx, "bench.start", bytes, &c->start, err));
    QN_TRY(qn_owned_buf(&c->owned, ctx, "bench.data", bytes, &c->data, err));
    QN_TRY(fill(c, seed, err));
    QN_TRY(qn_owned_graph(&c->owned, ctx, "bench.reset", &c->reset, err));
    QN_TRY(qn_graph_stage(
        c->reset, "bench.copy", copy, qn_range_1d((qn_i64)(bytes / 4)),
        (const qn_arg[]){ qn_arg_val(&one, sizeof one), qn_arg_buf(c->start), qn_arg_buf(c->data) },
        err));
    QN_TRY(qn_graph_pin(c->reset, 0, id, err));
    QN_TRY(qn_owned_graph(&c->owned, ctx, "bench.fft", &c->run, err));
    for (int s = 0; s < 2 * PAIRS; s++) {
        QN_TRY(qn_graph_fft(c->run, "bench.fft", shape, s % 2 ? QN_FFT_INVERSE : QN_FFT_FORWARD,
                            c->data, 0, err));
        QN_TRY(qn_graph_pin(c->run, s, id, err));
    }
    qn_graph_set_fallback(c->run, QN_FALLBACK_ERROR);
out:
    return st;
}

static qn_status run_once(void *user, double *us, qn_err *err)
{
    const chain *c = user;
    double start;
    qn_status st = QN_OK;

    QN_TRY(qn_run_graph(c->reset, err));
    start = qn_time_now_us(c->ctx, c->device);
    QN_TRY(qn_run_graph(c->run, err));
    *us = (qn_time_now_us(c->ctx, c->device) - start) / (2 * PAIRS);
out:
    return st;
}

static qn_status bench_one(const qn_bench_run *run, int d, const qn_fft_shape *s, qn_err *err)
{
    const double field = (double)s->rows * s->cols * (s->is_f64 ? 8 : 4);
    const char *device = qn_device_id(run->ctx, d);
    qn_bench *bench = run->bench;
    qn_timing timing;
    double us;
    qn_status st = QN_OK;
    char item[48];
    chain c;

    snprintf(item, sizeof item, "%d x %d %s x %d%s", s->rows, s->cols, s->is_f64 ? "f64" : "f32",
             s->batch, s->keep ? " 2/3" : "");
    QN_TRY(chain_make(run->ctx, d, s, run->options->seed, &c, err));
    QN_TRY(qn_time(WARM_RUNS, run->options->samples, run_once, &c, &timing, err));
    us = timing.samples.median;
    QN_TRY(qn_bench_add(bench, item, device, "us", QN_LESS, us, err));
    QN_TRY(
        qn_bench_add(bench, item, device, "GB/s", QN_MORE, 4 * field * s->batch / us / 1e3, err));
    QN_TRY(qn_bench_add(bench, item, device, "first ms", QN_LESS, 2 * PAIRS * timing.first_us / 1e3,
                        err));
out:
    qn_owned_free(&c.owned, 0);
    return st;
}

/* The cases to measure. */

typedef struct cases {
    qn_sizes sides, batches;
    int has[2]; /* f32, f64 */
} cases;

static qn_status parse_precision(const char *list, cases *out, qn_err *err)
{
    char word[16];

    for (int i = 0; qn_list_item(list, i, word, sizeof word); i++) {
        if (strcmp(word, "f32") && strcmp(word, "f64"))
            return qn_fail(err, QN_ERR_USAGE, "--precision: '%s' is neither f32 nor f64", word);
        out->has[!strcmp(word, "f64")] = 1;
    }
    return QN_OK;
}

static qn_status check_range(const char *option, const qn_sizes *sizes, qn_i64 max, qn_err *err)
{
    for (size_t i = 0; i < sizes->n; i++)
        if (sizes->list[i] < 1 || sizes->list[i] > max)
            return qn_fail(err, QN_ERR_USAGE, "%s: %lld is not between 1 and %lld", option,
                           (long long)sizes->list[i], (long long)max);
    return QN_OK;
}

static qn_status parse(const qn_bench_options *options, cases *out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_sizes_parse(options->sizes, &out->sides, err));
    QN_TRY(qn_sizes_parse(options->batches, &out->batches, err));
    QN_TRY(check_range("--sizes", &out->sides, 65536, err));
    QN_TRY(check_range("--batch", &out->batches, 65535, err));
    QN_TRY(parse_precision(options->precision, out, err));
out:
    return st;
}

static qn_status bench_device(const qn_bench_run *run, int d, void *user, qn_err *err)
{
    const cases *c = user;
    qn_status st = QN_OK;

    for (size_t i = 0; i < c->sides.n; i++)
        for (size_t k = 0; k < 2 * c->batches.n; k++) {
            const int side = (int)c->sides.list[i], batch = (int)c->batches.list[k / 2];
            const qn_fft_shape shape = { side, side, batch, (int)(k % 2),
                                         run->options->keeps_two_thirds ? side / 3 : 0 };

            if (!c->has[k % 2])
                continue;
            QN_TRY(bench_one(run, d, &shape, err));
            qn_progress_add(run->progress, 1);
        }
out:
    return st;
}

qn_status qn_bench_fft(const qn_bench_options *options, qn_bench *bench, qn_err *err)
{
    cases c = { 0 };
    qn_status st = QN_OK;

    QN_TRY(parse(options, &c, err));
    QN_TRY(qn_bench_each(options, bench, "transforms",
                         (double)(c.sides.n * c.batches.n) * (c.has[0] + c.has[1]), bench_device,
                         &c, err));
out:
    qn_sizes_free(&c.sides);
    qn_sizes_free(&c.batches);
    return st;
}
