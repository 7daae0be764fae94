/* buildings.c - the building mask.
 *
 * Without land cover, pixels within 25 m of a wall or 2 m above low ground count as buildings: a
 * coarse guess, but that of the reference.
 */
#include "surface.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Percentile. */

static void swap(float *a, float *b)
{
    const float t = *a;

    *a = *b;
    *b = t;
}

/* Moves the k-th smallest of `v` to v[k], with nothing greater before it and nothing smaller after
 * it. */
static void select_kth(float *v, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;

    while (lo < hi) {
        const float pivot = v[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;

        while (1) {
            while (i < hi && v[i] < pivot)
                i++;
            while (j > lo && v[j] > pivot)
                j--;
            if (i >= j)
                break;
            swap(&v[i++], &v[j--]);
        }
        /* v[lo..j] <= pivot <= v[j+1..hi]; j < hi, since the pivot was not the last. */
        if (k <= j)
            hi = j;
        else
            lo = j + 1;
    }
}

static float least_of(const float *v, size_t from, size_t n)
{
    float low = v[from];

    for (size_t i = from + 1; i < n; i++)
        low = v[i] < low ? v[i] : low;
    return low;
}

qn_status qn_sw_low_ground(const qn_sw_surface *s, double *out, qn_err *err)
{
    const size_t n = qn_sw_elems(&s->dsm.place);
    const float *wall = s->wall_height.data;
    float *v = malloc(n * sizeof *v);
    size_t used = 0;

    if (!v)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a percentile of %zu pixels", n);
    for (size_t i = 0; i < n; i++) {
        if (isfinite(s->dsm.data[i]) && !(wall && wall[i] > 0))
            v[used++] = s->dsm.data[i];
    }
    *out = NAN;
    if (used) {
        const double at = 0.1 * (double)(used - 1);
        const size_t k = (size_t)at;

        select_kth(v, used, k);
        const double low = v[k], next = k + 1 < used ? least_of(v, k + 1, used) : v[k];
        *out = low + (next - low) * (at - (double)k);
    }
    free(v);
    return QN_OK;
}

/* Growing. */

/* Dilates one line: sets 1 within `distance` of a 1. `stride` is the step between pixels. */
static void grow_line(uint8_t *line, qn_i64 stride, qn_i64 n, qn_i64 distance, uint8_t *copy)
{
    qn_i64 last = -distance - 1; /* the nearest 1 before i */

    for (qn_i64 i = 0; i < n; i++)
        copy[i] = line[i * stride];
    for (qn_i64 i = 0; i < n; i++) {
        last = copy[i] ? i : last;
        line[i * stride] = i - last <= distance;
    }
    last = n + distance + 1;
    for (qn_i64 i = n - 1; i >= 0; i--) {
        last = copy[i] ? i : last;
        line[i * stride] |= last - i <= distance;
    }
}

/* Dilating `distance` times by a 3 x 3 square is a square again, so rows and columns can be done in
 * turn. */
static qn_status grow(uint8_t *mask, const qn_sw_place *place, qn_i64 distance, qn_err *err)
{
    const qn_i64 longer = place->rows > place->cols ? place->rows : place->cols;
    uint8_t *copy = calloc((size_t)longer, 1);

    if (!copy)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a line of %lld pixels", (long long)longer);
    for (qn_i64 y = 0; y < place->rows; y++)
        grow_line(mask + y * place->cols, 1, place->cols, distance, copy);
    for (qn_i64 x = 0; x < place->cols; x++)
        grow_line(mask + x, place->cols, place->rows, distance, copy);
    free(copy);
    return QN_OK;
}

/* The mask. */

static qn_status ground_by_walls(const qn_sw_surface *s, uint8_t *mask, qn_err *err)
{
    const size_t n = qn_sw_elems(&s->dsm.place);
    const qn_i64 distance = (qn_i64)(25 / s->dsm.place.pixel_size) + 1;
    qn_status st = QN_OK;
    double low;

    QN_TRY(qn_sw_low_ground(s, &low, err));
    for (size_t i = 0; i < n; i++)
        mask[i] = s->wall_height.data[i] > 0;
    QN_TRY(grow(mask, &s->dsm.place, distance, err));
    for (size_t i = 0; i < n; i++)
        mask[i] = !(mask[i] || s->dsm.data[i] > low + 2);
out:
    return st;
}

qn_status qn_sw_building_mask(const qn_sw_surface *s, uint8_t **out, qn_err *err)
{
    const size_t n = qn_sw_elems(&s->dsm.place);
    qn_status st = QN_OK;
    uint8_t *mask = NULL;

    QN_TRY(QN_NEW(mask, n, "a mask", err));
    memset(mask, 1, n);
    if (s->land_cover) {
        for (size_t i = 0; i < n; i++)
            mask[i] = qn_sw_cover_id(s->land_cover[i]) != QN_SW_BUILDING;
    } else if (s->wall_height.data) {
        QN_TRY(ground_by_walls(s, mask, err));
    }
    *out = mask;
    mask = NULL;
out:
    free(mask);
    return st;
}
