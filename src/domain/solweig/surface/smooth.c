/* smooth.c - finds DEMs in whole metres and smooths their steps. */
#include "surface.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int qn_sw_is_quantised(const qn_sw_raster *dem)
{
    enum { LEAST_FINITE = 100 };
    const size_t n = qn_sw_elems(&dem->place);
    size_t n_finite = 0, n_whole = 0;

    if (dem->is_integer)
        return 1;
    for (size_t i = 0; i < n; i++) {
        const float v = dem->data[i];

        if (!isfinite(v))
            continue;
        n_finite++;
        n_whole += fabsf(v - rintf(v)) < 0.01f;
    }
    return n_finite >= LEAST_FINITE && (double)n_whole >= 0.30 * (double)n_finite;
}

static void make_weights(double sigma, int radius, float *weight)
{
    double sum = 0;

    for (int k = -radius; k <= radius; k++)
        sum += exp(-0.5 * (k / sigma) * (k / sigma));
    for (int k = -radius; k <= radius; k++)
        weight[k + radius] = (float)(exp(-0.5 * (k / sigma) * (k / sigma)) / sum);
}

static qn_i64 clamped(qn_i64 i, qn_i64 n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Smooths along a row. In both passes each sum runs from the first weight to the last. */
static void smooth_row(const float *row, qn_i64 n, const float *weight, int radius, float *out)
{
    for (qn_i64 x = 0; x < n; x++) {
        float sum = 0;

        for (int k = -radius; k <= radius; k++)
            sum += weight[k + radius] * row[clamped(x + k, n)];
        out[x] = sum;
    }
}

/* Smooths across rows, a whole row at a time: going down columns would miss the cache at every
 * pixel. */
static void smooth_across(const float *grid, const qn_sw_place *place, qn_i64 y,
                          const float *weight, int radius, float *out)
{
    memset(out, 0, (size_t)place->cols * sizeof *out);
    for (int k = -radius; k <= radius; k++) {
        const float *row = grid + clamped(y + k, place->rows) * place->cols;

        for (qn_i64 x = 0; x < place->cols; x++)
            out[x] += weight[k + radius] * row[x];
    }
}

qn_status qn_sw_smooth(qn_sw_raster *raster, double sigma, qn_err *err)
{
    const qn_sw_place *place = &raster->place;
    const int radius = (int)ceil(3 * sigma);
    float *weight = NULL;
    float *between = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(weight, 2 * (size_t)radius + 1, "a raster to smooth", err));
    QN_TRY(QN_NEW(between, qn_sw_elems(place), "a raster to smooth", err));
    make_weights(sigma, radius, weight);
    for (qn_i64 y = 0; y < place->rows; y++)
        smooth_row(raster->data + y * place->cols, place->cols, weight, radius,
                   between + y * place->cols);
    for (qn_i64 y = 0; y < place->rows; y++)
        smooth_across(between, place, y, weight, radius, raster->data + y * place->cols);
out:
    free(weight);
    free(between);
    return st;
}
