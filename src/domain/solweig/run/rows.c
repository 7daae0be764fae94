/* rows.c - figures of rows, in memory and in the files of an unfinished run. */
#include "rows.h"

#include "util/file.h"
#include "util/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SUMS = 5, PATH_BYTES = 2048 };

qn_status qn_sw_rows_new(size_t n_rows, qn_i64 n_tiles, const char *pois, const qn_sw_place *place,
                         qn_sw_rows *out, qn_err *err)
{
    qn_sw_rows rows = { .n_rows = n_rows, .n_tiles = n_tiles };
    size_t n;
    qn_status st = QN_OK;

    if (pois)
        QN_TRY(qn_sw_pois_read(pois, place, &rows.pois, err));
    n = rows.pois.n * n_rows * QN_SW_PLANES;
    rows.sums = calloc((size_t)n_tiles, sizeof *rows.sums);
    rows.at_pois = malloc((n + 1) * sizeof *rows.at_pois);
    if (!rows.sums || !rows.at_pois) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for figures of %zu rows", n_rows);
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        rows.at_pois[i] = NAN;
    *out = rows;
    rows = (qn_sw_rows){ 0 };
out:
    qn_sw_rows_free(&rows);
    return st;
}

void qn_sw_rows_free(qn_sw_rows *rows)
{
    for (qn_i64 t = 0; rows->sums && t < rows->n_tiles; t++)
        free(rows->sums[t]);
    free(rows->sums);
    free(rows->at_pois);
    qn_sw_pois_free(&rows->pois);
    *rows = (qn_sw_rows){ 0 };
}

qn_status qn_sw_rows_begin(qn_sw_rows *rows, qn_i64 tile, qn_err *err)
{
    if (!rows->sums[tile])
        rows->sums[tile] = calloc(rows->n_rows, sizeof **rows->sums);
    return rows->sums[tile]
               ? QN_OK
               : qn_fail(err, QN_ERR_NOMEM, "no memory for figures of tile %lld", (long long)tile);
}

/* Files. */

static qn_status path_of(const char *folder, qn_i64 tile, char out[PATH_BYTES], qn_err *err)
{
    const int n = snprintf(out, PATH_BYTES, "%s/unfinished/tile_%lld.npy", folder, (long long)tile);

    return n > 0 && n < PATH_BYTES ? QN_OK
                                   : qn_fail(err, QN_ERR_LIMIT, "%s: the path is too long", folder);
}

static size_t pois_inside(const qn_sw_rows *rows, const qn_sw_window *core)
{
    size_t n = 0;

    for (size_t i = 0; i < rows->pois.n; i++)
        n += (size_t)qn_sw_is_inside(&rows->pois.list[i], core);
    return n;
}

qn_status qn_sw_rows_save(const qn_sw_rows *rows, const char *folder, const qn_sw_tile_place *tile,
                          qn_err *err)
{
    const size_t width = SUMS + QN_SW_PLANES * pois_inside(rows, &tile->core);
    qn_npy array = { .type = QN_NPY_F8,
                     .n_dims = 2,
                     .dims = { (qn_i64)rows->n_rows, (qn_i64)width } };
    char path[PATH_BYTES];
    double *to = malloc(rows->n_rows * width * sizeof *to);
    qn_status st = QN_OK;

    array.data = to;
    if (!to) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for figures of tile %lld",
                     (long long)tile->number);
        goto out;
    }
    for (size_t r = 0; r < rows->n_rows; r++) {
        const qn_sw_step_sums *s = &rows->sums[tile->number][r];

        *to++ = s->tmrt;
        *to++ = s->utci;
        *to++ = s->shadow;
        *to++ = (double)s->n_tmrt;
        *to++ = (double)s->n_utci;
        for (size_t i = 0; i < rows->pois.n; i++)
            for (int p = 0; qn_sw_is_inside(&rows->pois.list[i], &tile->core) && p < QN_SW_PLANES;
                 p++)
                *to++ = (double)qn_sw_rows_at(rows, i, r)[p];
    }
    QN_TRY(path_of(folder, tile->number, path, err));
    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_npy_write(path, &array, err));
out:
    free(array.data);
    return st;
}

qn_status qn_sw_rows_load(qn_sw_rows *rows, const char *folder, const qn_sw_tile_place *tile,
                          qn_err *err)
{
    const size_t width = SUMS + QN_SW_PLANES * pois_inside(rows, &tile->core);
    const qn_i64 dims[] = { (qn_i64)rows->n_rows, (qn_i64)width };
    qn_npy array = { 0 };
    char path[PATH_BYTES];
    const double *from;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_rows_begin(rows, tile->number, err));
    QN_TRY(path_of(folder, tile->number, path, err));
    QN_TRY(qn_npy_read_as(path, QN_NPY_F8, 2, dims, &array, err));
    from = array.data;
    for (size_t r = 0; r < rows->n_rows; r++) {
        rows->sums[tile->number][r] = (qn_sw_step_sums){ .tmrt = from[0],
                                                         .utci = from[1],
                                                         .shadow = from[2],
                                                         .n_tmrt = (qn_i64)from[3],
                                                         .n_utci = (qn_i64)from[4] };
        from += SUMS;
        for (size_t i = 0; i < rows->pois.n; i++)
            for (int p = 0; qn_sw_is_inside(&rows->pois.list[i], &tile->core) && p < QN_SW_PLANES;
                 p++)
                qn_sw_rows_at(rows, i, r)[p] = (float)*from++;
    }
out:
    qn_npy_free(&array);
    return st;
}

void qn_sw_rows_forget(const qn_sw_rows *rows, const char *folder)
{
    char path[PATH_BYTES];

    for (qn_i64 t = 0; t < rows->n_tiles; t++)
        if (path_of(folder, t, path, NULL) == QN_OK)
            unlink(path);
    if (snprintf(path, sizeof path, "%s/unfinished", folder) < PATH_BYTES)
        rmdir(path);
}

/* The whole raster. */

static double mean_of(double sum, qn_i64 n)
{
    return n > 0 ? sum / (double)n : NAN;
}

qn_sw_row_result qn_sw_rows_result(const qn_sw_rows *rows, const qn_sw_records *records, size_t row)
{
    const qn_sw_weather_row *w = &records->weather.rows[row];
    const qn_sw_sky_row *s = &records->sky[row];
    qn_sw_step_sums all = { 0 };

    for (qn_i64 t = 0; t < rows->n_tiles; t++) {
        const qn_sw_step_sums *one = &rows->sums[t][row];

        all.tmrt += one->tmrt;
        all.utci += one->utci;
        all.shadow += one->shadow;
        all.n_tmrt += one->n_tmrt;
        all.n_utci += one->n_utci;
    }
    return (qn_sw_row_result){ .minutes = w->minutes,
                               .ta = w->ta,
                               .rh = w->rh,
                               .ws = w->ws,
                               .global = w->global,
                               .direct = s->direct,
                               .diffuse = s->diffuse,
                               .sun_altitude = s->sun.altitude,
                               .sun_azimuth = s->sun.azimuth,
                               .tmrt_mean = mean_of(all.tmrt, all.n_tmrt),
                               .utci_mean = mean_of(all.utci, all.n_utci),
                               .sun_fraction = s->is_day ? mean_of(all.shadow, all.n_tmrt) : 0,
                               .diffuse_fraction =
                                   w->global > 0 ? s->diffuse / w->global : (double)NAN,
                               .clearness = s->clearness,
                               .n_valid = all.n_tmrt,
                               .is_day = s->is_day };
}
