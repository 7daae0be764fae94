/* heights.c - fills NaN and makes heights absolute. The order of the steps matters. */
#include "surface.h"

#include <math.h>
#include <stdlib.h>

/* Heights closer to the ground than this count as ground. */
#define NEAR_GROUND 0.1f

void qn_sw_surface_free(qn_sw_surface *s)
{
    qn_sw_raster_free(&s->dsm);
    qn_sw_raster_free(&s->dem);
    qn_sw_raster_free(&s->cdsm);
    qn_sw_raster_free(&s->tdsm);
    qn_sw_raster_free(&s->wall_height);
    qn_sw_raster_free(&s->wall_aspect);
    qn_sw_raster_free(&s->albedo);
    qn_sw_raster_free(&s->emissivity);
    free(s->land_cover);
    *s = (qn_sw_surface){ 0 };
}

qn_status qn_sw_land_cover(const char *name, const qn_sw_raster *raster, uint8_t **out, qn_err *err)
{
    const qn_i64 cols = raster->place.cols;
    const size_t n = qn_sw_elems(&raster->place);
    uint8_t *cover = malloc(n);

    if (!cover)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu ids", name, n);
    for (size_t i = 0; i < n; i++) {
        const float id = raster->data[i];

        if (!isnan(id) && !(id >= 0 && id <= 255 && id == floorf(id))) {
            free(cover);
            return qn_fail(err, QN_ERR_INPUT,
                           "%s: land cover %g at row %lld, col %lld is not a whole number of "
                           "0 .. 255",
                           name, (double)id, (long long)i / cols, (long long)i % cols);
        }
        cover[i] = isnan(id) ? QN_SW_NO_COVER : (uint8_t)id;
    }
    *out = cover;
    return QN_OK;
}

/* Steps. */

/* In a vegetation layer NaN and values close to `base` become `base`. In heights above ground NaN
 * means no tree, but the reference fills it with an elevation, which makes a tree that high. */
static void fill_layer(qn_sw_raster *layer, const float *base, int is_relative, int reference)
{
    const size_t n = layer->data ? qn_sw_elems(&layer->place) : 0;

    for (size_t i = 0; i < n; i++) {
        float *v = &layer->data[i];

        if (isnan(*v))
            *v = is_relative && !reference ? 0 : base[i];
        else if (fabsf(*v - base[i]) < NEAR_GROUND)
            *v = base[i];
    }
}

static void fill_gaps(qn_sw_surface *s, const qn_sw_height_options *o)
{
    const size_t n = qn_sw_elems(&s->dsm.place);
    const float *base = s->dem.data ? s->dem.data : s->dsm.data;

    for (size_t i = 0; s->dem.data && i < n; i++) {
        if (isnan(s->dsm.data[i]))
            s->dsm.data[i] = o->dsm_relative && !o->reference ? 0 : s->dem.data[i];
    }
    fill_layer(&s->cdsm, base, !o->cdsm_absolute, o->reference);
    fill_layer(&s->tdsm, base, !o->tdsm_absolute, o->reference);
}

/* Puts the DSM on the ground: never below it, and flat where an object is too low to matter. */
static void settle_dsm(qn_sw_surface *s, const qn_sw_height_options *o, float min_height)
{
    const size_t n = qn_sw_elems(&s->dsm.place);

    for (size_t i = 0; s->dem.data && i < n; i++) {
        const float ground = s->dem.data[i];
        float *v = &s->dsm.data[i];

        if (o->dsm_relative)
            *v = ground + *v;
        if (isnan(*v) || isnan(ground)) {
            *v = NAN;
            continue;
        }
        *v = *v > ground ? *v : ground;
        if (*v - ground > 0 && *v - ground < min_height)
            *v = ground;
    }
}

/* Derives unknown trunk zones: a fixed fraction of the height of the trees. */
static qn_status derive_trunk(qn_sw_surface *s, const float *base, float ratio,
                              const qn_sw_height_options *o, qn_err *err)
{
    const size_t n = qn_sw_elems(&s->cdsm.place);
    const int from_ground = o->cdsm_absolute && !o->reference;
    const qn_status st = qn_sw_raster_new(&s->cdsm.place, &s->tdsm, err);

    if (st != QN_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        const float top = s->cdsm.data[i];

        s->tdsm.data[i] = from_ground ? base[i] + ratio * (top - base[i]) : top * ratio;
    }
    return QN_OK;
}

static void make_absolute(qn_sw_raster *layer, const float *base, float threshold)
{
    const size_t n = qn_sw_elems(&layer->place);

    for (size_t i = 0; i < n; i++) {
        const float v = base[i] + layer->data[i];

        layer->data[i] = v - base[i] < threshold ? NAN : v;
    }
}

static void drop_below_roofs(qn_sw_surface *s)
{
    const size_t n = qn_sw_elems(&s->dsm.place);

    for (size_t i = 0; i < n; i++) {
        if (s->cdsm.data[i] < s->dsm.data[i])
            s->cdsm.data[i] = s->tdsm.data[i] = NAN;
    }
}

/* All steps. */

static qn_status check_options(const qn_sw_surface *s, const qn_sw_height_options *o, qn_err *err)
{
    if (!s->dsm.data)
        return qn_fail(err, QN_ERR_USAGE, "a surface without a DSM");
    if (s->tdsm.data && !s->cdsm.data)
        return qn_fail(err, QN_ERR_INPUT, "a TDSM without a CDSM: trunks without canopies");
    if (o->dsm_relative && !s->dem.data)
        return qn_fail(err, QN_ERR_INPUT, "a relative DSM needs a DEM");
    if (!(o->trunk_ratio >= 0 && o->trunk_ratio <= 1))
        return qn_fail(err, QN_ERR_USAGE, "a trunk ratio of %g is outside 0 .. 1", o->trunk_ratio);
    if (!(o->min_object_height >= 0))
        return qn_fail(err, QN_ERR_USAGE, "a smallest object height of %g m is negative",
                       o->min_object_height);
    if (!(o->smooth_sigma >= 0 && o->smooth_sigma <= 100))
        return qn_fail(err, QN_ERR_USAGE, "smoothing of %g pixels is outside 0 .. 100",
                       o->smooth_sigma);
    return QN_OK;
}

static qn_status check_grid(const qn_sw_raster *dsm, const qn_sw_raster *layer, const char *name,
                            qn_err *err)
{
    if (!layer->data ||
        (layer->place.rows == dsm->place.rows && layer->place.cols == dsm->place.cols))
        return QN_OK;
    return qn_fail(err, QN_ERR_USAGE, "%s of %lld x %lld pixels on a DSM of %lld x %lld", name,
                   (long long)layer->place.rows, (long long)layer->place.cols,
                   (long long)dsm->place.rows, (long long)dsm->place.cols);
}

qn_status qn_sw_prepare_heights(qn_sw_surface *s, const qn_sw_height_options *o, int *was_smoothed,
                                qn_err *err)
{
    const float min_height = o->min_object_height > 0 ? (float)o->min_object_height : 1.0f;
    const float ratio = o->trunk_ratio > 0 ? (float)o->trunk_ratio : 0.25f;
    const float threshold = min_height > NEAR_GROUND ? min_height : NEAR_GROUND;
    const int tdsm_absolute = s->tdsm.data ? o->tdsm_absolute : o->cdsm_absolute;
    qn_status st = QN_OK;
    int smoothed = 0;

    QN_TRY(check_options(s, o, err));
    QN_TRY(check_grid(&s->dsm, &s->dem, "a DEM", err));
    QN_TRY(check_grid(&s->dsm, &s->cdsm, "a CDSM", err));
    QN_TRY(check_grid(&s->dsm, &s->tdsm, "a TDSM", err));

    fill_gaps(s, o);
    if (s->dem.data && !o->keep_quantised && qn_sw_is_quantised(&s->dem)) {
        QN_TRY(qn_sw_smooth(&s->dem, o->smooth_sigma > 0 ? o->smooth_sigma : 3, err));
        smoothed = 1;
    }
    settle_dsm(s, o, min_height);
    if (s->cdsm.data) {
        const float *base = s->dem.data ? s->dem.data : s->dsm.data;

        if (!s->tdsm.data)
            QN_TRY(derive_trunk(s, base, ratio, o, err));
        if (!o->cdsm_absolute)
            make_absolute(&s->cdsm, base, threshold);
        if (!tdsm_absolute)
            make_absolute(&s->tdsm, base, threshold);
        drop_below_roofs(s);
    }
    if (was_smoothed)
        *was_smoothed = smoothed;
out:
    return st;
}
