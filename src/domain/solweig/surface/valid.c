/* valid.c - properties of a whole surface: its relief, its valid pixels, their box. */
#include "surface.h"

#include <math.h>
#include <stdlib.h>

/* Relief. */

/* NaN if there are no values. Comparisons with NaN are false, so gaps are ignored. */
static float greatest(const qn_sw_raster *layer)
{
    const size_t n = layer->data ? qn_sw_elems(&layer->place) : 0;
    float top = -INFINITY;

    for (size_t i = 0; i < n; i++)
        top = layer->data[i] > top ? layer->data[i] : top;
    return top == -INFINITY ? NAN : top;
}

static float least(const qn_sw_raster *layer)
{
    const size_t n = qn_sw_elems(&layer->place);
    float low = INFINITY;

    for (size_t i = 0; i < n; i++)
        low = layer->data[i] < low ? layer->data[i] : low;
    return low == INFINITY ? NAN : low;
}

static float height_above(float top, float low)
{
    const float height = top - low;

    return isfinite(height) && height > 0 ? height : 0;
}

qn_sw_relief qn_sw_relief_of(const qn_sw_surface *s)
{
    const float canopy = greatest(&s->cdsm);
    qn_sw_relief relief = { .lowest = least(&s->dsm), .highest = greatest(&s->dsm) };

    relief.top = fmaxf(fmaxf(relief.highest, canopy), greatest(&s->tdsm));
    relief.max_height = height_above(fmaxf(relief.highest, canopy), relief.lowest);
    relief.max_building = height_above(relief.highest, relief.lowest);
    return relief;
}

/* Valid pixels. */

/* 1 where DSM, DEM and walls (if present) are finite and the land cover is known. */
static qn_status valid_mask(const qn_sw_surface *s, uint8_t **out, qn_err *err)
{
    const float *layers[] = { s->dsm.data, s->dem.data, s->wall_height.data, s->wall_aspect.data };
    const size_t n = qn_sw_elems(&s->dsm.place);
    uint8_t *mask = malloc(n);

    if (!mask)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a mask of %zu pixels", n);
    for (size_t i = 0; i < n; i++)
        mask[i] = !s->land_cover || s->land_cover[i] != QN_SW_NO_COVER;
    for (size_t k = 0; k < sizeof layers / sizeof *layers; k++) {
        for (size_t i = 0; layers[k] && i < n; i++)
            mask[i] &= isfinite(layers[k][i]) != 0;
    }
    *out = mask;
    return QN_OK;
}

/* The smallest window with all valid pixels; fails if there are none. */
static qn_status valid_box(const qn_sw_place *place, const uint8_t *mask, qn_window *out,
                           qn_err *err)
{
    qn_i64 top = place->rows, bottom = -1, left = place->cols, right = -1;

    for (qn_i64 y = 0; y < place->rows; y++) {
        for (qn_i64 x = 0; x < place->cols; x++) {
            if (!mask[y * place->cols + x])
                continue;
            top = y < top ? y : top;
            bottom = y;
            left = x < left ? x : left;
            right = x > right ? x : right;
        }
    }
    if (bottom < 0)
        return qn_fail(err, QN_ERR_INPUT, "none of the %lld x %lld pixels is valid in every layer",
                       (long long)place->rows, (long long)place->cols);
    *out = (qn_window){ top, left, bottom - top + 1, right - left + 1 };
    return QN_OK;
}

/* Copies `box` of a layer, with NaN outside the mask; an absent layer stays absent. */
static qn_status cut_valid(const qn_sw_raster *layer, const uint8_t *mask, qn_window box,
                           qn_sw_raster *out, qn_err *err)
{
    const qn_i64 cols = layer->place.cols;
    qn_status st = QN_OK;

    if (!layer->data || (st = qn_sw_raster_cut(layer, box, out, err)) != QN_OK)
        return st;
    for (qn_i64 y = 0; y < box.rows; y++) {
        for (qn_i64 x = 0; x < box.cols; x++) {
            if (!mask[(box.row + y) * cols + box.col + x])
                out->data[y * box.cols + x] = NAN;
        }
    }
    return QN_OK;
}

/* In place, since rows only move towards the front. */
static void crop_cover(uint8_t *cover, const uint8_t *mask, qn_i64 cols, qn_window box)
{
    for (qn_i64 y = 0; cover && y < box.rows; y++) {
        for (qn_i64 x = 0; x < box.cols; x++) {
            const qn_i64 from = (box.row + y) * cols + box.col + x;

            cover[y * box.cols + x] = mask[from] ? cover[from] : QN_SW_NO_COVER;
        }
    }
}

qn_status qn_sw_crop_to_valid(qn_sw_surface *s, qn_err *err)
{
    enum { LAYERS = 8 };
    qn_sw_raster *const layers[LAYERS] = {
        &s->dsm,         &s->dem,         &s->cdsm,   &s->tdsm,
        &s->wall_height, &s->wall_aspect, &s->albedo, &s->emissivity,
    };
    const qn_i64 cols = s->dsm.place.cols;
    qn_status st = QN_OK;
    qn_sw_raster cut[LAYERS] = { 0 };
    qn_window box = { 0 };
    uint8_t *mask = NULL;

    QN_TRY(valid_mask(s, &mask, err));
    QN_TRY(valid_box(&s->dsm.place, mask, &box, err));
    for (int i = 0; i < LAYERS; i++)
        QN_TRY(cut_valid(layers[i], mask, box, &cut[i], err));

    /* Nothing can fail from here on. */
    for (int i = 0; i < LAYERS; i++) {
        const qn_sw_raster old = *layers[i];

        *layers[i] = cut[i];
        cut[i] = old;
    }
    crop_cover(s->land_cover, mask, cols, box);
out:
    for (int i = 0; i < LAYERS; i++)
        qn_sw_raster_free(&cut[i]);
    free(mask);
    return st;
}
