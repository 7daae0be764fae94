/* model.c - time by size: windows, interpolation, changes. */
#include "engine/route/model.h"

#include "util/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS_PER_OCTAVE = 4,
    CONFIRM_FAST = 2,
    MOST_SCALE = 64,
    ABSURD = 16 /* times the expected time: other load disturbed the run */
};

/* Sizes in one bucket differ by up to 19 %, and so do their times. Noise is at least five times
 * that. */
static const double noise_floor = 0.04;
/* The noise floor if the expectation comes from other buckets. */
static const double guess_floor = 0.07;

void qn_model_free(qn_model *model)
{
    for (int i = 0; i < model->n_buckets; i++)
        free(model->buckets[i]);
    free(model->buckets);
    *model = (qn_model){ 0 };
}

qn_i64 qn_model_bucket_of(double size)
{
    const double step = ceil(BUCKETS_PER_OCTAVE * log2(size < 1 ? 1 : size) - 1e-9);

    return (qn_i64)llround(exp2(step / BUCKETS_PER_OCTAVE));
}

static double line_at(const qn_line *line, double size)
{
    return line->a_us + line->b_us * size;
}

/* Buckets. */

static int find_place(const qn_model *model, qn_i64 bucket)
{
    int low = 0, high = model->n_buckets;

    while (low < high) {
        const int mid = (low + high) / 2;

        if (model->buckets[mid]->bucket < bucket)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static qn_model_bucket *find_bucket(const qn_model *model, qn_i64 bucket)
{
    const int at = find_place(model, bucket);

    return at < model->n_buckets && model->buckets[at]->bucket == bucket ? model->buckets[at]
                                                                         : NULL;
}

/* NULL if out of memory: the sample is lost, which does no harm. */
static qn_model_bucket *need_bucket(qn_model *model, qn_i64 bucket)
{
    const int at = find_place(model, bucket);
    qn_model_bucket *b, **grown;

    if (at < model->n_buckets && model->buckets[at]->bucket == bucket)
        return model->buckets[at];
    grown = realloc(model->buckets, (size_t)(model->n_buckets + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    model->buckets = grown;
    if (!(b = calloc(1, sizeof *b)))
        return NULL;
    b->bucket = bucket;
    memmove(grown + at + 1, grown + at, (size_t)(model->n_buckets - at) * sizeof *grown);
    grown[at] = b;
    model->n_buckets++;
    return b;
}

static double middle_size(const qn_model_bucket *b)
{
    double sizes[QN_MODEL_WINDOW];

    for (int i = 0; i < b->n; i++)
        sizes[i] = b->samples[i].size;
    return qn_stats_of(sizes, (size_t)b->n).median;
}

/* Median and MAD of the samples within 5 MAD of the window's median. */
static void summarise(qn_model_bucket *b)
{
    double kept[QN_MODEL_WINDOW];
    qn_stats s;
    int n = 0;

    for (int i = 0; i < b->n; i++)
        kept[i] = b->samples[i].us;
    s = qn_stats_of(kept, (size_t)b->n);
    for (int i = 0; i < b->n; i++)
        if (s.mad == 0 || fabs(b->samples[i].us - s.median) <= QN_MODEL_MADS * s.mad)
            kept[n++] = b->samples[i].us;
    s = qn_stats_of(kept, (size_t)n);
    b->median_us = s.median;
    b->mad_us = s.mad;
    b->min_us = s.min;
    b->size = middle_size(b);
}

static void push(qn_model_bucket *b, qn_timed sample)
{
    b->samples[b->next] = sample;
    b->next = (b->next + 1) % QN_MODEL_WINDOW;
    b->n += b->n < QN_MODEL_WINDOW;
    b->n_aside = 0;
}

static void restart(qn_model_bucket *b)
{
    b->n = b->next = b->n_aside = 0;
    b->is_old = 0;
    b->factor = 0;
}

/* The line outside the buckets. */

/* Least squares of the relative error, neither part below zero. */
static void fit(qn_model *model)
{
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, det, a, b;

    for (int i = 0; i < model->n_buckets; i++) {
        const double x = model->buckets[i]->size, y = model->buckets[i]->median_us;
        const double weight = 1 / (y * y);

        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    det = w * wxx - wx * wx;
    if (model->n_buckets < 2 || det <= 1e-12 * w * wxx) {
        model->fit = (qn_line){ w > 0 ? wy / w : 0, 0 };
        return;
    }
    b = (w * wxy - wx * wy) / det;
    a = (wy - b * wx) / w;
    if (b < 0)
        model->fit = (qn_line){ wy / w, 0 };
    else if (a < 0)
        model->fit = (qn_line){ 0, wxy / wxx };
    else
        model->fit = (qn_line){ a, b };
}

/* Call after any change. Small ones do not make the router decide again. */
static void changed(qn_model *model)
{
    int is_news = 0;

    fit(model);
    for (int i = 0; i < model->n_buckets; i++) {
        qn_model_bucket *b = model->buckets[i];

        if (b->n_aside == b->noted_aside &&
            (b->noted_n < QN_MODEL_CONFIRM
                 ? b->n == b->noted_n
                 : fabs(b->median_us - b->noted_us) <= 0.02 * b->noted_us))
            continue;
        b->noted_us = b->median_us;
        b->noted_n = b->n;
        b->noted_aside = b->n_aside;
        is_news = 1;
    }
    is_news |= model->n_run != model->noted_run || model->relief != model->noted_relief;
    model->noted_run = model->n_run;
    model->noted_relief = model->relief;
    model->generation += (uint64_t)is_news;
}

/* Prediction. */

static double along(const qn_line *line, const qn_model_bucket *from, double size)
{
    const double here = line_at(line, from->size), there = line_at(line, size);

    return here > 0 && there > 0 ? from->median_us * there / here : from->median_us;
}

static double between(const qn_model_bucket *a, const qn_model_bucket *b, double size)
{
    const double span = log(b->size / a->size);
    const double t = span > 0 ? log(size / a->size) / span : 0;

    return a->median_us * exp(t * log(b->median_us / a->median_us));
}

int qn_model_support(const qn_model *model, double size)
{
    int n = 0;

    for (int i = 0; i < model->n_buckets; i++)
        if (model->buckets[i]->size * 2 >= size && model->buckets[i]->size <= size * 2)
            n += model->buckets[i]->n;
    return n;
}

static double predict_from(qn_model_bucket *const *list, int n, const qn_line *line, double size,
                           const qn_line *prior)
{
    int at = 0;

    size = size < 1 ? 1 : size;
    if (n == 0)
        return line_at(prior, size);
    if (n == 1)
        return along(prior, list[0], size);
    if (size <= list[0]->size)
        return along(line, list[0], size);
    if (size >= list[n - 1]->size)
        return along(line, list[n - 1], size);
    while (list[at + 1]->size < size)
        at++;
    return between(list[at], list[at + 1], size);
}

double qn_model_predict(const qn_model *model, double size, const qn_line *prior)
{
    return predict_from(model->buckets, model->n_buckets, &model->fit, size, prior);
}

double qn_model_hope(const qn_model *model, double size, const qn_line *prior)
{
    enum { MOST = 128 };
    const double predicted = qn_model_predict(model, size, prior);
    qn_model_bucket *known[MOST], *nearest = NULL;
    double us;
    int n = 0;

    for (int i = 0; i < model->n_buckets && n < MOST; i++) {
        qn_model_bucket *b = model->buckets[i];

        if (qn_model_support(model, b->size) < QN_MODEL_CONFIRM)
            continue;
        known[n++] = b;
        if (!nearest || fabs(log(b->size / size)) < fabs(log(nearest->size / size)))
            nearest = b;
    }
    if (!nearest)
        us = line_at(prior, size);
    else if (size > 2 * known[n - 1]->size) /* it costs at least as much as the largest size */
        us = known[n - 1]->min_us;
    else
        us =
            predict_from(known, n, &model->fit, size, prior) * nearest->min_us / nearest->median_us;
    return fmin(us, predicted) * (model->relief > 0 ? model->relief : 1);
}

int qn_model_is_in_doubt(const qn_model *model, double size)
{
    const qn_model_bucket *b;

    if (model->n_run > 0)
        return 1;
    b = find_bucket(model, qn_model_bucket_of(size));
    return b && b->n_aside > 0;
}

/* Samples. */

/* 1: far too slow, -1: far too fast, 0: as expected, or there was no expectation. */
static int side_of(const qn_model *model, const qn_model_bucket *b, qn_timed s, double *expected)
{
    static const qn_line none;
    double noise;

    if (b && b->n) {
        *expected = b->median_us;
        noise =
            fmax(b->mad_us, b->median_us * (b->n < QN_MODEL_CONFIRM ? guess_floor : noise_floor));
    } else {
        if (model->n_buckets < 2)
            return 0;
        *expected = qn_model_predict(model, s.size, &none);
        if (qn_model_support(model, s.size) < QN_MODEL_CONFIRM)
            return s.us > ABSURD * *expected;
        noise = *expected * guess_floor;
    }
    if (s.us > *expected + QN_MODEL_MADS * noise)
        return 1;
    return s.us < *expected - QN_MODEL_MADS * noise ? -1 : 0;
}

static int run_spans_buckets(const qn_model *model)
{
    for (int i = 1; i < model->n_run; i++)
        if (model->run[i].bucket != model->run[0].bucket)
            return 1;
    return 0;
}

static int is_in_run(const qn_model *model, qn_i64 bucket)
{
    for (int i = 0; i < model->n_run; i++)
        if (model->run[i].bucket == bucket)
            return 1;
    return 0;
}

/* Changes seen in other buckets are applied here only up to a limit; otherwise a bucket that is
 * never measured would drift away. */
static void scale(qn_model_bucket *b, double ratio)
{
    const double before = b->factor > 0 ? b->factor : 1;

    b->factor = fmin(fmax(before * ratio, 1.0 / MOST_SCALE), MOST_SCALE);
    for (int i = 0; i < b->n; i++)
        b->samples[i].us *= b->factor / before;
    b->n_aside = 0;
    summarise(b);
}

/* The device is no longer slow: buckets that were not measured meanwhile get their old times
 * back. */
static void relieve(qn_model *model)
{
    for (int i = 0; i < model->n_buckets; i++)
        if (model->buckets[i]->is_old && model->buckets[i]->factor > 1)
            scale(model->buckets[i], 1 / model->buckets[i]->factor);
}

/* The slowdown may be temporary, so the device is probed until probes confirm it. */
static void became_slow(qn_model *model, double ratio)
{
    if (model->relief > 0 ||
        (model->relief_at && model->n_samples - model->relief_at < QN_MODEL_WINDOW))
        return;
    model->relief = 1 / ratio;
    model->relief_at = model->n_samples;
}

/* The device as a whole has become faster or slower. Earlier measurements are scaled by the ratio
 * of the last samples, and the buckets of these samples restart with them. */
static void rescale(qn_model *model)
{
    double ratios[QN_MODEL_CONFIRM], ratio;

    for (int i = 0; i < model->n_run; i++)
        ratios[i] = model->run[i].ratio;
    ratio = qn_stats_of(ratios, (size_t)model->n_run).median;
    if (ratio > 1)
        became_slow(model, ratio);
    for (int i = 0; i < model->n_buckets; i++) {
        qn_model_bucket *b = model->buckets[i];

        if (is_in_run(model, b->bucket)) {
            restart(b);
            continue;
        }
        scale(b, ratio);
        b->is_old = 1;
    }
    for (int i = 0; i < model->n_run; i++) {
        qn_model_bucket *b = find_bucket(model, model->run[i].bucket);

        push(b, model->run[i].sample);
        summarise(b);
    }
    model->n_run = 0;
}

/* Adds an unexpected sample to the run of such samples. True when the run is long enough and spans
 * more than one bucket. */
static int extend_run(qn_model *model, qn_i64 bucket, qn_timed s, int side, double expected)
{
    if (side != model->run_side)
        model->n_run = 0;
    if (model->n_run == QN_MODEL_CONFIRM) {
        memmove(model->run, model->run + 1, (QN_MODEL_CONFIRM - 1) * sizeof *model->run);
        model->n_run--;
    }
    model->run_side = side;
    model->run[model->n_run].sample = s;
    model->run[model->n_run].bucket = bucket;
    model->run[model->n_run++].ratio = s.us / expected;
    return model->n_run >= (side > 0 ? QN_MODEL_CONFIRM : CONFIRM_FAST) && run_spans_buckets(model);
}

/* Whether the sample says something about the whole device. If it is too fast after only one or two
 * samples, those were just a cold start. */
static int is_telling(const qn_model *model, const qn_model_bucket *b, double size, int side)
{
    return side > 0 ? qn_model_support(model, size) >= QN_MODEL_CONFIRM
                    : b->n == 0 || b->n >= QN_MODEL_CONFIRM;
}

/* Number of slow samples that outweigh earlier samples or the expectation of the bucket. */
static int votes_needed(const qn_model_bucket *b, double times)
{
    return b->n < QN_MODEL_CONFIRM && times < ABSURD ? b->n + 1 : QN_MODEL_CONFIRM;
}

/* Takes the first new sample of a scaled bucket. It shows the error of the scaling, for
 * neighbouring buckets too. */
static void renew(qn_model *model, qn_model_bucket *b, qn_timed s)
{
    const double ratio = s.us / b->median_us;

    if (b->factor > 1 && ratio * b->factor < 1 + QN_MODEL_MADS * guess_floor) {
        relieve(model);
        restart(b);
        push(b, s);
        summarise(b);
        return;
    }
    for (int i = 0; i < model->n_buckets; i++) {
        qn_model_bucket *other = model->buckets[i];

        if (other != b && other->is_old && other->size <= b->size * 4 && b->size <= other->size * 4)
            scale(other, ratio);
    }
    restart(b);
    push(b, s);
    summarise(b);
}

static void add_unexpected(qn_model *model, qn_model_bucket *b, qn_timed s, int side,
                           double expected)
{
    if (is_telling(model, b, s.size, side) && extend_run(model, b->bucket, s, side, expected)) {
        rescale(model);
        return;
    }
    if (side < 0) {
        restart(b);
        push(b, s);
        relieve(model);
    } else if (b->n) {
        b->aside[b->n_aside++] = s;
        if (b->n_aside < votes_needed(b, s.us / expected))
            return;
        became_slow(model, s.us / b->median_us);
        b->n = b->next = b->n_aside;
        for (int i = 0; i < b->n; i++)
            b->samples[i] = b->aside[i];
        b->n_aside = model->n_run = 0;
    } else {
        push(b, s);
    }
    summarise(b);
}

/* A first sample far above what its neighbours suggest counts only when it is repeated. */
static int is_absurd(qn_model *model, double us, double expected)
{
    if (!(expected > 0) || us <= ABSURD * expected || ++model->n_absurd >= QN_MODEL_CONFIRM)
        model->n_absurd = 0;
    return model->n_absurd > 0;
}

void qn_model_add(qn_model *model, double size, double us)
{
    const qn_timed s = { size < 1 ? 1 : size, us };
    const qn_i64 bucket = qn_model_bucket_of(s.size);
    double expected = 0;
    int side;
    qn_model_bucket *b;

    if (!(us > 0) || !isfinite(us) || !isfinite(size))
        return;
    b = find_bucket(model, bucket);
    side = side_of(model, b, s, &expected);
    if (!b && is_absurd(model, us, expected))
        return;
    if (!(b = need_bucket(model, bucket)))
        return;
    model->n_samples++;
    if (model->relief > 0)
        model->relief = side < 0 || model->relief >= 0.25 ? 0 : model->relief * 4;
    if (b->is_old) {
        renew(model, b, s);
    } else if (side) {
        add_unexpected(model, b, s, side, expected);
    } else {
        model->n_run = 0;
        push(b, s);
        summarise(b);
    }
    changed(model);
}

/* Samples with the given median and MAD; five count as much as thirty-two. */
void qn_model_restore(qn_model *model, double size, double median_us, double mad_us, int n)
{
    const int half = n >= 5 ? 2 : n >= 3 ? 1 : 0;
    qn_model_bucket *b;

    if (!(size >= 1) || !isfinite(size) || !(median_us > 0) || !isfinite(median_us))
        return;
    if (!(mad_us >= 0) || mad_us * (half + 1) >= median_us)
        mad_us = 0;
    if (!(b = need_bucket(model, qn_model_bucket_of(size))))
        return;
    restart(b);
    for (int i = -half; i <= half; i++)
        push(b, (qn_timed){ size, median_us + i * mad_us });
    summarise(b);
    model->n_samples += (uint64_t)(2 * half + 1);
    changed(model);
}
