/* align.c - moves several layers to a common grid. */
#include "raster.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>

#define NEARLY       1e-6 /* metres: bounds and pixel sizes closer than this count as equal */
#define MOST_PIXEL_M 1e5  /* as in --pixel-size; the ground view counts distances in pixels */

static qn_sw_box bounds_of(const qn_sw_place *place)
{
    const double *t = place->transform;

    return (qn_sw_box){ .west = t[0],
                        .south = t[3] + (double)place->rows * t[5],
                        .east = t[0] + (double)place->cols * t[1],
                        .north = t[3] };
}

static qn_status check_layers(const qn_sw_layer *layers, size_t n, qn_err *err)
{
    const qn_sw_place *dsm = &layers[0].raster->place;

    for (size_t i = 1; i < n; i++) {
        const qn_sw_place *p = &layers[i].raster->place;

        if (!qn_sw_same_crs(dsm->crs, p->crs))
            return qn_fail(err, QN_ERR_INPUT, "%s: its reference system differs from that of %s",
                           layers[i].name, layers[0].name);
        if (dsm->is_placed && p->is_placed)
            continue;
        if (p->rows != dsm->rows || p->cols != dsm->cols)
            return qn_fail(err, QN_ERR_INPUT,
                           "%s: %lld x %lld pixels, but %s has %lld x %lld, and without map "
                           "coordinates they must be equal",
                           layers[i].name, (long long)p->rows, (long long)p->cols, layers[0].name,
                           (long long)dsm->rows, (long long)dsm->cols);
    }
    return QN_OK;
}

/* The place of a layer; that of the DSM for a plain array. */
static const qn_sw_place *place_of(const qn_sw_layer *layers, size_t i)
{
    const qn_sw_place *dsm = &layers[0].raster->place;
    const qn_sw_place *own = &layers[i].raster->place;

    return dsm->is_placed && own->is_placed ? own : dsm;
}

static qn_status shared_box(const qn_sw_layer *layers, size_t n, qn_sw_box *out, qn_err *err)
{
    qn_sw_box box = bounds_of(place_of(layers, 0));

    for (size_t i = 1; i < n; i++) {
        const qn_sw_box b = bounds_of(place_of(layers, i));

        box.west = fmax(box.west, b.west);
        box.south = fmax(box.south, b.south);
        box.east = fmin(box.east, b.east);
        box.north = fmin(box.north, b.north);
        if (box.west >= box.east || box.south >= box.north)
            return qn_fail(err, QN_ERR_INPUT, "%s: does not overlap with the layers before it",
                           layers[i].name);
    }
    *out = box;
    return QN_OK;
}

static qn_status check_box(const qn_sw_box *box, const qn_sw_box *all, qn_err *err)
{
    if (!(box->west < box->east) || !(box->south < box->north))
        return qn_fail(err, QN_ERR_USAGE, "box %.10g %.10g %.10g %.10g is empty", box->west,
                       box->south, box->east, box->north);
    if (box->west < all->west - NEARLY || box->south < all->south - NEARLY ||
        box->east > all->east + NEARLY || box->north > all->north + NEARLY)
        return qn_fail(err, QN_ERR_USAGE,
                       "box %.10g %.10g %.10g %.10g is not inside what the layers share: "
                       "%.10g %.10g %.10g %.10g",
                       box->west, box->south, box->east, box->north, all->west, all->south,
                       all->east, all->north);
    return QN_OK;
}

/* The place of a grid over `box`; its reference system is borrowed from the DSM. */
static qn_status target_of(const qn_sw_layer *layers, const qn_sw_box *box, double asked,
                           qn_sw_place *out, qn_err *err)
{
    const qn_sw_place *dsm = &layers[0].raster->place;
    const double size = asked != 0 ? asked : dsm->pixel_size;
    const double rows = round((box->north - box->south) / size);
    const double cols = round((box->east - box->west) / size);

    if (!(size > 0) || size < dsm->pixel_size - 0.01)
        return qn_fail(err, QN_ERR_USAGE,
                       "pixels of %g m are finer than those of %s (%g m) by more than 0.01 m", size,
                       layers[0].name, dsm->pixel_size);
    if (size > MOST_PIXEL_M)
        return qn_fail(err, QN_ERR_INPUT, "pixels of %g m are larger than %g m", size,
                       MOST_PIXEL_M);
    if (!(rows >= 1 && cols >= 1 && rows <= 1e9 && cols <= 1e9))
        return qn_fail(err, QN_ERR_INPUT, "pixels of %g m give a grid of %g x %g", size, rows,
                       cols);
    *out = (qn_sw_place){ .rows = (qn_i64)rows,
                          .cols = (qn_i64)cols,
                          .transform = { box->west, size, 0, box->north, 0, -size },
                          .pixel_size = size,
                          .crs = dsm->crs,
                          .is_placed = dsm->is_placed };
    return QN_OK;
}

static int is_on_grid(const qn_sw_place *p, const qn_sw_place *target)
{
    const qn_sw_box a = bounds_of(p), b = bounds_of(target);

    return p->rows == target->rows && p->cols == target->cols && fabs(a.west - b.west) <= NEARLY &&
           fabs(a.south - b.south) <= NEARLY && fabs(a.east - b.east) <= NEARLY &&
           fabs(a.north - b.north) <= NEARLY &&
           fabs(p->transform[1] - target->pixel_size) <= NEARLY &&
           fabs(-p->transform[5] - target->pixel_size) <= NEARLY;
}

/* Resamples layer i to the target grid; *out stays absent if the layer is already on it. */
static qn_status move_layer(const qn_sw_layer *layers, size_t i, const qn_sw_place *target,
                            qn_sw_raster *out, qn_err *err)
{
    const qn_sw_place *place = place_of(layers, i);
    qn_sw_raster from = *layers[i].raster;

    if (is_on_grid(place, target))
        return QN_OK;
    from.place = *place; /* borrowed */
    return qn_sw_resample(&from, target, layers[i].how, out, err);
}

qn_status qn_sw_align(const qn_sw_layer *layers, size_t n, const qn_sw_align_options *options,
                      qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_place target = { 0 };
    qn_sw_box box = { 0 };
    qn_sw_raster *moved = NULL;
    qn_sw_place *places = NULL;

    QN_TRY(QN_NEW(moved, n, "layers to align", err));
    QN_TRY(QN_NEW(places, n, "layers to align", err));
    QN_TRY(check_layers(layers, n, err));
    QN_TRY(shared_box(layers, n, &box, err));
    if (options->box) {
        QN_TRY(check_box(options->box, &box, err));
        box = *options->box;
    }
    QN_TRY(target_of(layers, &box, options->pixel_size, &target, err));
    for (size_t i = 0; i < n; i++) {
        QN_TRY(move_layer(layers, i, &target, &moved[i], err));
        QN_TRY(qn_sw_place_copy(&target, &places[i], err));
    }

    /* Nothing can fail from here on. */
    for (size_t i = 0; i < n; i++) {
        qn_sw_raster *r = layers[i].raster;
        const qn_sw_place old = r->place;

        if (moved[i].data) {
            float *data = r->data;

            r->data = moved[i].data;
            moved[i].data = data;
        }
        r->place = places[i];
        places[i] = old;
    }
out:
    for (size_t i = 0; i < n && moved && places; i++) {
        qn_sw_raster_free(&moved[i]);
        qn_sw_place_free(&places[i]);
    }
    free(moved);
    free(places);
    return st;
}
