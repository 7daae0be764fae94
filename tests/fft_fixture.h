/* fft_fixture.h - fields, their transforms by the definition, and a graph of two transforms. */
#ifndef QN_TESTS_FFT_FIXTURE_H
#define QN_TESTS_FFT_FIXTURE_H

#include "engine_fixture.h"

#include <math.h>
#include <quern/fft.h>

#include "util/hash.h"

static inline size_t row_reals(const qn_fft_shape *s)
{
    return (size_t)s->cols + 2;
}

static inline size_t all_reals(const qn_fft_shape *s)
{
    return (size_t)s->batch * (size_t)s->rows * row_reals(s);
}

/* Fields of random numbers, all different; zeros in the padding. As double, free with free(). */
static inline double *random_fields(const qn_fft_shape *s, uint64_t seed)
{
    double *f = calloc(all_reals(s), sizeof *f);

    assert_non_null(f);
    for (size_t i = 0; i < all_reals(s); i++)
        if (i % row_reals(s) < (size_t)s->cols)
            f[i] = (double)qn_random_float(seed, i);
    return f;
}

/* out[k] = sum of in[j] exp(-2 pi i j k / n), n complex numbers `step` apart (in complex). */
static inline void sum_line(double *line, size_t step, int n, const double *waves)
{
    double *out = calloc(2 * (size_t)n, sizeof *out);

    assert_non_null(out);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) {
            const double *w = waves + 2 * ((size_t)j * (size_t)k % (size_t)n);
            const double re = line[2 * step * (size_t)j], im = line[2 * step * (size_t)j + 1];

            out[2 * k] += re * w[0] - im * w[1];
            out[2 * k + 1] += re * w[1] + im * w[0];
        }
    for (int k = 0; k < n; k++) {
        line[2 * step * (size_t)k] = out[2 * k];
        line[2 * step * (size_t)k + 1] = out[2 * k + 1];
    }
    free(out);
}

static inline double *waves_of(int n)
{
    double *w = calloc(2 * (size_t)n, sizeof *w);

    assert_non_null(w);
    for (int i = 0; i < n; i++) {
        w[2 * i] = cos(2 * acos(-1.0) * i / n);
        w[2 * i + 1] = -sin(2 * acos(-1.0) * i / n);
    }
    return w;
}

/* The forward transform by its definition, one axis after the other, in place. */
static inline void transform_by_definition(const qn_fft_shape *s, double *fields)
{
    double *along_x = waves_of(s->cols), *along_y = waves_of(s->rows);
    double *line = calloc(2 * (size_t)s->cols, sizeof *line);
    const size_t half = (size_t)s->cols / 2 + 1;

    assert_non_null(line);
    for (int row = 0; row < s->batch * s->rows; row++) {
        double *at = fields + (size_t)row * row_reals(s);

        for (int x = 0; x < s->cols; x++) {
            line[2 * x] = at[x];
            line[2 * x + 1] = 0;
        }
        sum_line(line, 1, s->cols, along_x);
        memcpy(at, line, 2 * half * sizeof *line);
    }
    for (int b = 0; b < s->batch; b++)
        for (size_t k = 0; k < half; k++)
            sum_line(fields + (size_t)b * (size_t)s->rows * row_reals(s) + 2 * k, half, s->rows,
                     along_y);
    free(line);
    free(along_x);
    free(along_y);
}

/* Relative distance in the L2 norm; `padded`: the last two reals of each row do not count. */
static inline double distance(const qn_fft_shape *s, const double *want, const double *got,
                              int padded)
{
    double off = 0, norm = 0;

    for (size_t i = 0; i < all_reals(s); i++) {
        if (padded && i % row_reals(s) >= (size_t)s->cols)
            continue;
        off += (want[i] - got[i]) * (want[i] - got[i]);
        norm += want[i] * want[i];
    }
    return sqrt(off / norm);
}

/* Clears the modes of a spectrum outside those that `keep` includes. */
static inline void cut_modes(const qn_fft_shape *s, double *h)
{
    for (size_t i = 0; i < all_reals(s); i++) {
        const int kx = (int)(i % row_reals(s) / 2), y = (int)(i / row_reals(s) % (size_t)s->rows);
        const int ky = y <= s->rows / 2 ? y : s->rows - y;

        if (s->keep && (kx > s->keep || ky > s->keep))
            h[i] = 0;
    }
}

/* On a device. */

static inline void put_fields(qn_buf *buf, size_t offset, const qn_fft_shape *s,
                              const double *fields)
{
    float *narrow = malloc(all_reals(s) * sizeof *narrow);

    assert_non_null(narrow);
    for (size_t i = 0; i < all_reals(s); i++)
        narrow[i] = (float)fields[i];
    must(qn_buf_write(buf, offset, s->is_f64 ? (const void *)fields : narrow, qn_fft_bytes(s),
                      &failure));
    free(narrow);
}

static inline double *get_fields(qn_buf *buf, size_t offset, const qn_fft_shape *s)
{
    double *fields = malloc(all_reals(s) * sizeof *fields);
    float *narrow = malloc(all_reals(s) * sizeof *narrow);

    assert_true(fields && narrow);
    must(qn_buf_read(buf, offset, s->is_f64 ? (void *)fields : narrow, qn_fft_bytes(s), &failure));
    for (size_t i = 0; !s->is_f64 && i < all_reals(s); i++)
        fields[i] = (double)narrow[i];
    free(narrow);
    return fields;
}

/* The transform of `fields` in the given direction in `ctx`; free with free(). */
static inline double *transform_on(qn_ctx *ctx, const qn_fft_shape *s, qn_fft_direction direction,
                                   const double *fields)
{
    qn_buf *buf = NULL;
    qn_graph *g = NULL;
    double *out;

    must(qn_buf_new(ctx, "fields", qn_fft_bytes(s), &buf, &failure));
    put_fields(buf, 0, s, fields);
    must(qn_graph_new(ctx, "fft", &g, &failure));
    must(qn_graph_fft(g, "fft", s, direction, buf, 0, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    out = get_fields(buf, 0, s);
    qn_graph_free(g);
    qn_buf_free(buf);
    return out;
}

#endif
