/* figures.c - sums of every step in every tile, and values at points of interest.
 *
 * They are held by tile until the end, so that sums over tiles are added in one order: a resumed run
 * ends with the same bits. For that the figures of a finished tile lie in a file beside the
 * unfinished outputs.
 */
#include "run_impl.h"

#include "util/file.h"
#include "util/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SUMS = 5, PATH_BYTES = 2048 };

qn_status qn_sw_figures_new(size_t n_steps, qn_i64 n_tiles, const char *pois,
                            const qn_sw_place *place, qn_sw_figures *out, qn_err *err)
{
    qn_sw_figures f = { .n_steps = n_steps, .n_tiles = n_tiles };
    size_t n;
    qn_status st = QN_OK;

    if (pois)
        QN_TRY(qn_sw_pois_read(pois, place, &f.pois, err));
    n = f.pois.n * n_steps * QN_SW_PLANES;
    f.sums = calloc((size_t)n_tiles, sizeof *f.sums);
    f.at_pois = malloc((n + 1) * sizeof *f.at_pois);
    if (!f.sums || !f.at_pois) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for figures of %zu steps", n_steps);
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        f.at_pois[i] = NAN;
    *out = f;
    f = (qn_sw_figures){ 0 };
out:
    qn_sw_figures_free(&f);
    return st;
}

void qn_sw_figures_free(qn_sw_figures *figures)
{
    for (qn_i64 t = 0; figures->sums && t < figures->n_tiles; t++)
        free(figures->sums[t]);
    free(figures->sums);
    free(figures->at_pois);
    qn_sw_pois_free(&figures->pois);
    *figures = (qn_sw_figures){ 0 };
}

qn_status qn_sw_figures_begin(qn_sw_figures *figures, qn_i64 tile, qn_err *err)
{
    if (!figures->sums[tile])
        figures->sums[tile] = calloc(figures->n_steps, sizeof **figures->sums);
    return figures->sums[tile]
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

static int has_poi(const qn_sw_figures *figures, size_t poi, const qn_window *core)
{
    const qn_sw_poi *p = &figures->pois.list[poi];

    return qn_window_has(core, p->row, p->col);
}

static size_t pois_inside(const qn_sw_figures *figures, const qn_window *core)
{
    size_t n = 0;

    for (size_t i = 0; i < figures->pois.n; i++)
        n += (size_t)has_poi(figures, i, core);
    return n;
}

qn_status qn_sw_figures_save(const qn_sw_figures *figures, const char *folder, const qn_tile *tile,
                             qn_err *err)
{
    const size_t width = SUMS + QN_SW_PLANES * pois_inside(figures, &tile->core);
    qn_npy array = { .type = QN_NPY_F8,
                     .n_dims = 2,
                     .dims = { (qn_i64)figures->n_steps, (qn_i64)width } };
    char path[PATH_BYTES];
    double *to = malloc(figures->n_steps * width * sizeof *to);
    qn_status st = QN_OK;

    array.data = to;
    if (!to) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for figures of tile %lld",
                     (long long)tile->number);
        goto out;
    }
    for (size_t r = 0; r < figures->n_steps; r++) {
        const qn_sw_step_sums *s = &figures->sums[tile->number][r];

        *to++ = s->tmrt;
        *to++ = s->utci;
        *to++ = s->shadow;
        *to++ = (double)s->n_tmrt;
        *to++ = (double)s->n_utci;
        for (size_t i = 0; i < figures->pois.n; i++)
            for (int p = 0; has_poi(figures, i, &tile->core) && p < QN_SW_PLANES; p++)
                *to++ = (double)qn_sw_figures_at(figures, i, r)[p];
    }
    QN_TRY(path_of(folder, tile->number, path, err));
    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_npy_write(path, &array, err));
out:
    free(array.data);
    return st;
}

qn_status qn_sw_figures_load(qn_sw_figures *figures, const char *folder, const qn_tile *tile,
                             qn_err *err)
{
    const size_t width = SUMS + QN_SW_PLANES * pois_inside(figures, &tile->core);
    const qn_i64 dims[] = { (qn_i64)figures->n_steps, (qn_i64)width };
    qn_npy array = { 0 };
    char path[PATH_BYTES];
    const double *from;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_figures_begin(figures, tile->number, err));
    QN_TRY(path_of(folder, tile->number, path, err));
    QN_TRY(qn_npy_read_as(path, QN_NPY_F8, 2, dims, &array, err));
    from = array.data;
    for (size_t r = 0; r < figures->n_steps; r++) {
        figures->sums[tile->number][r] = (qn_sw_step_sums){ .tmrt = from[0],
                                                            .utci = from[1],
                                                            .shadow = from[2],
                                                            .n_tmrt = (qn_i64)from[3],
                                                            .n_utci = (qn_i64)from[4] };
        from += SUMS;
        for (size_t i = 0; i < figures->pois.n; i++)
            for (int p = 0; has_poi(figures, i, &tile->core) && p < QN_SW_PLANES; p++)
                qn_sw_figures_at(figures, i, r)[p] = (float)*from++;
    }
out:
    qn_npy_free(&array);
    return st;
}

void qn_sw_figures_forget(const qn_sw_figures *figures, const char *folder)
{
    char path[PATH_BYTES];

    for (qn_i64 t = 0; t < figures->n_tiles; t++)
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

qn_sw_step_figures qn_sw_figures_step(const qn_sw_figures *figures, const qn_sw_forcing *forcing,
                                      size_t step)
{
    const qn_sw_weather_row *w = &forcing->weather.rows[step];
    const qn_sw_sky_step *s = &forcing->sky[step];
    qn_sw_step_sums all = { 0 };

    for (qn_i64 t = 0; t < figures->n_tiles; t++) {
        const qn_sw_step_sums *one = &figures->sums[t][step];

        all.tmrt += one->tmrt;
        all.utci += one->utci;
        all.shadow += one->shadow;
        all.n_tmrt += one->n_tmrt;
        all.n_utci += one->n_utci;
    }
    return (qn_sw_step_figures){ .minutes = w->minutes,
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
