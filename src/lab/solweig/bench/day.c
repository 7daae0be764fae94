/* day.c - from a made-up day's weather to records. */
#include "day.h"

#include "domain/solweig/sky/sky.h"
#include "domain/solweig/step/step.h"

#include <math.h>
#include <stdlib.h>

enum { HOURS = 24 };

/* Global radiation of a clear day, a sine from 4 to 21 hours. */
static double global_at(int hour)
{
    return fmax(0, 800 * sin(M_PI * (hour - 4) / 17.0));
}

static qn_status derive_day(qn_sw_weather_row *rows, qn_sw_sky_step *sky, qn_err *err)
{
    const qn_sw_site site = { .latitude = 57.7, .longitude = 11.9, .utc_offset = 1 };
    const qn_sw_trees trees = qn_sw_trees_default();
    const qn_sw_sky_rules rules = { 0 };
    const qn_i64 midnight = qn_sw_minutes_of(2006, 7, 26, 0, 0);

    for (int h = 0; h < HOURS; h++)
        rows[h] = (qn_sw_weather_row){ .minutes = midnight + 60 * h,
                                       .date = qn_sw_date_of(midnight + 60 * h),
                                       .timestep_min = 60,
                                       .ta = QN_SW_DAY_TA + 5 * sin(M_PI * (h - 9) / 12.0),
                                       .rh = QN_SW_DAY_RH,
                                       .ws = QN_SW_DAY_WS,
                                       .pressure_hpa = 1013,
                                       .global = global_at(h),
                                       .direct = NAN,
                                       .diffuse = NAN,
                                       .line = (size_t)h + 1 };
    return qn_sw_sky_derive(rows, HOURS, &site, &trees, &rules, sky, err);
}

/* Arrays of a day while its records are made. */
typedef struct day {
    qn_sw_weather_row rows[HOURS];
    qn_sw_sky_step sky[HOURS];
    qn_sw_patch_sky table;
    float luminance[QN_SW_MAX_PATCHES];
    sw_moment *moments;
    sw_sky *patches; /* [n_steps][n_table] */
} day;

static void fill_step(day *d, int is_aniso, int i, qn_sw_delay *delay, qn_sw_beam *sun)
{
    const qn_sw_materials materials = qn_sw_materials_default();
    const qn_sw_sky_step *s = &d->sky[i % HOURS];
    const qn_sw_step_weather row = qn_sw_step_weather_of(&d->rows[i % HOURS], s);
    const qn_sw_perez_sky light = { s->sun.zenith, s->sun.azimuth, s->diffuse, s->direct, s->doy };
    const size_t n_table = (size_t)d->table.dome.n_table;

    if (is_aniso)
        qn_sw_perez_luminance(&light, d->table.altitude, d->table.azimuth, (size_t)d->table.dome.n,
                              d->luminance);
    qn_sw_moment_fill(&row, &materials, is_aniso ? &d->table.dome : NULL,
                      is_aniso ? d->luminance : NULL, NULL, delay, &d->moments[i],
                      is_aniso ? d->patches + (size_t)i * n_table : NULL);
    *sun = (qn_sw_beam){ row.azimuth, row.altitude, row.psi };
}

qn_status qn_sw_day_make(qn_ctx *ctx, int patch_option, int n_steps, qn_sw_step_table **out,
                         qn_sw_beam **suns, qn_err *err)
{
    qn_sw_delay delay = qn_sw_delay_begin(1.0 / 24);
    qn_sw_beam *beams = calloc((size_t)n_steps, sizeof *beams);
    day *d = calloc(1, sizeof *d);
    qn_status st = QN_OK;

    if (!d || !beams || !(d->moments = calloc((size_t)n_steps, sizeof *d->moments))) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for %d time steps", n_steps);
        goto out;
    }
    if (patch_option) {
        QN_TRY(qn_sw_patch_sky_make(patch_option, &d->table, err));
        d->patches = calloc((size_t)n_steps * (size_t)d->table.dome.n_table, sizeof *d->patches);
        if (!d->patches) {
            st = qn_fail(err, QN_ERR_NOMEM, "no memory for %d skies", n_steps);
            goto out;
        }
    }
    QN_TRY(derive_day(d->rows, d->sky, err));
    for (int i = 0; i < n_steps; i++)
        fill_step(d, patch_option > 0, i, &delay, &beams[i]);
    QN_TRY(qn_sw_step_table_new(ctx, n_steps, d->moments, d->table.dome.n_table,
                                patch_option ? d->table.dome.table : NULL, d->patches, out, err));
    *suns = beams;
    beams = NULL;
out:
    if (d) {
        free(d->moments);
        free(d->patches);
    }
    free(d);
    free(beams);
    return st;
}
