/* resample.c - resamples a raster to another grid.
 *
 * Both grids are north-up, so the weight of a source pixel is a weight of its row times a weight of
 * its column. Bilinear weights fall linearly to zero over one source pixel, or over one target
 * pixel if that is larger, so that a coarser grid uses every source pixel.
 */
#include "raster.h"

#include <math.h>
#include <stdlib.h>

/* Weights of the source pixels that one target pixel reads, along one axis. */
typedef struct {
    qn_i64 first, n;
    qn_i64 centre; /* the source pixel that contains the target's centre */
    double *weight;
} taps;

typedef struct {
    taps *at; /* one for each target pixel of the axis */
    double *weights;
} axis;

static void free_axis(axis *a)
{
    free(a->at);
    free(a->weights);
}

static qn_i64 clamped(double i, qn_i64 n)
{
    return i < 0 ? 0 : i > (double)(n - 1) ? n - 1 : (qn_i64)i;
}

/* Computes weights. `u` is the target's centre in source pixels; pixel i covers i .. i + 1. */
static void weigh(double u, double radius, qn_i64 n_source, taps *t)
{
    const qn_i64 first = clamped(ceil(u - 0.5 - radius), n_source);
    const qn_i64 last = clamped(floor(u - 0.5 + radius), n_source);

    t->first = first;
    t->n = 0;
    for (qn_i64 i = first; i <= last; i++) {
        const double weight = 1 - fabs((double)i + 0.5 - u) / radius;

        if (weight > 0) {
            t->weight[t->n++] = weight;
        } else if (t->n == 0) {
            t->first = i + 1;
        }
    }
    /* Beyond the edge the last pixel is repeated. */
    if (t->n == 0) {
        t->first = t->centre;
        t->weight[t->n++] = 1;
    }
}

static qn_status make_axis(qn_i64 n_target, double start, double ratio, qn_i64 n_source,
                           qn_sw_resampling how, axis *out, qn_err *err)
{
    const double radius = ratio > 1 ? ratio : 1;
    const size_t room = (size_t)(2 * ceil(radius)) + 2;
    axis a = { malloc((size_t)n_target * sizeof *a.at),
               malloc((size_t)n_target * room * sizeof *a.weights) };

    if (!a.at || !a.weights) {
        free_axis(&a);
        return qn_fail(err, QN_ERR_NOMEM, "no memory to resample %lld pixels", (long long)n_target);
    }
    for (qn_i64 i = 0; i < n_target; i++) {
        taps *t = &a.at[i];
        double u = start + ((double)i + 0.5) * ratio;
        const double whole = round(u - 0.5) + 0.5;

        /* If a grid is off by whole pixels, rounding errors must not blur it.
         */
        u = fabs(u - whole) < 1e-6 ? whole : u;
        t->weight = a.weights + (size_t)i * room;
        t->centre = clamped(floor(u), n_source);
        if (how == QN_SW_BILINEAR) {
            weigh(u, radius, n_source, t);
        } else {
            t->first = t->centre;
            t->n = 1;
            t->weight[0] = 1;
        }
    }
    *out = a;
    return QN_OK;
}

/* NaN if the pixel under the centre is NaN; other NaN pixels have no weight, so gaps neither grow
 * nor shrink. */
static float sample(const qn_sw_raster *from, const taps *ty, const taps *tx)
{
    const qn_i64 cols = from->place.cols;
    double sum = 0, total = 0;

    if (isnan(from->data[ty->centre * cols + tx->centre]))
        return NAN;
    for (qn_i64 y = 0; y < ty->n; y++) {
        const float *row = from->data + (ty->first + y) * cols + tx->first;

        for (qn_i64 x = 0; x < tx->n; x++) {
            const double weight = ty->weight[y] * tx->weight[x];

            if (isnan(row[x]))
                continue;
            sum += weight * row[x];
            total += weight;
        }
    }
    return (float)(sum / total);
}

qn_status qn_sw_resample(const qn_sw_raster *from, const qn_sw_place *place, qn_sw_resampling how,
                         qn_sw_raster *out, qn_err *err)
{
    const double *s = from->place.transform, *t = place->transform;
    qn_status st = QN_OK;
    qn_sw_raster raster = { 0 };
    axis x = { 0 }, y = { 0 };

    QN_TRY(
        make_axis(place->cols, (t[0] - s[0]) / s[1], t[1] / s[1], from->place.cols, how, &x, err));
    QN_TRY(
        make_axis(place->rows, (t[3] - s[3]) / s[5], t[5] / s[5], from->place.rows, how, &y, err));
    QN_TRY(qn_sw_raster_new(place, &raster, err));
    for (qn_i64 r = 0; r < place->rows; r++) {
        for (qn_i64 c = 0; c < place->cols; c++)
            raster.data[r * place->cols + c] = sample(from, &y.at[r], &x.at[c]);
    }
    raster.is_integer = from->is_integer;
    *out = raster;
out:
    free_axis(&x);
    free_axis(&y);
    return st;
}
