/* figures.c - sums of every step in every tile, and values at points of interest.
 *
 * They are stored per tile until the end, so that sums over tiles are always added in the same
 * order and a resumed run gives the same bits. For a resume the figures of a tile are saved with
 * its progress.
 */
#include "run_impl.h"

#include "util/file.h"
#include "util/list.h"
#include "util/npy.h"

#include <math.h>
#include <stdlib.h>

enum { SUMS = 5 };

qn_status qn_sw_figures_new(size_t n_steps, qn_i64 n_tiles, const char *pois,
                            const qn_sw_place *place, qn_sw_figures *out, qn_err *err)
{
    qn_sw_figures f = { .n_steps = n_steps, .n_tiles = n_tiles };
    size_t n;
    qn_status st = QN_OK;

    if (pois[0])
        QN_TRY(qn_sw_pois_read(pois, place, &f.pois, err));
    n = f.pois.n * n_steps * QN_SW_PLANES;
    QN_TRY(QN_NEW(f.sums, n_tiles, "figures", err));
    QN_TRY(QN_NEW(f.at_pois, n, "figures", err));
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
    return figures->sums[tile]
               ? QN_OK
               : QN_NEW(figures->sums[tile], figures->n_steps, "figures of a tile", err);
}

/* Files. */

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

qn_status qn_sw_figures_save(qn_sw_figures *figures, const char *path, const qn_tile *tile,
                             qn_err *err)
{
    const size_t width = SUMS + QN_SW_PLANES * pois_inside(figures, &tile->core);
    qn_npy array = { .type = QN_NPY_F8,
                     .n_dims = 2,
                     .dims = { (qn_i64)figures->n_steps, (qn_i64)width } };
    double *to = malloc(figures->n_steps * width * sizeof *to);
    qn_out out = { 0 };
    qn_status st = QN_OK;

    array.data = to;
    if (!to)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for figures of tile %lld", (long long)tile->number);
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
    QN_TRY(qn_out_direct(path, &out, err));
    QN_TRY(qn_npy_commit(&out, &array, err));
out:
    free(array.data);
    return st;
}

static int is_count(double n, const qn_window *core)
{
    return n >= 0 && n <= (double)qn_window_pixels(core);
}

qn_status qn_sw_figures_load(qn_sw_figures *figures, const char *path, const qn_tile *tile,
                             qn_err *err)
{
    const size_t width = SUMS + QN_SW_PLANES * pois_inside(figures, &tile->core);
    const qn_i64 dims[] = { (qn_i64)figures->n_steps, (qn_i64)width };
    qn_npy array = { 0 };
    const double *from;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_figures_begin(figures, tile->number, err));
    QN_TRY(qn_npy_read_as(path, QN_NPY_F8, 2, dims, &array, err));
    from = array.data;
    for (size_t r = 0; r < figures->n_steps; r++) {
        if (!is_count(from[3], &tile->core) || !is_count(from[4], &tile->core))
            QN_FAIL(err, QN_ERR_INPUT, "%s: step %zu has %g and %g pixels of a tile of %zu", path,
                    r, from[3], from[4], qn_window_pixels(&tile->core));
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

/* The whole raster. */

static double mean_of(double sum, qn_i64 n)
{
    return n > 0 ? sum / (double)n : NAN;
}

qn_sw_step qn_sw_figures_step(const qn_sw_figures *figures, const qn_sw_forcing *forcing,
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
    return (qn_sw_step){ .minutes = w->minutes,
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
                         .diffuse_fraction = w->global > 0 ? s->diffuse / w->global : (double)NAN,
                         .clearness = s->clearness,
                         .n_valid = all.n_tmrt,
                         .is_day = s->is_day };
}
