/* moment.c - everything in a time step that is the same for all pixels, in f32. */
#include "step.h"

#include "kernel/sw_delay.gen.h"

#include <math.h>
#include <string.h>

/* Excess temperature of ground and walls over air. */

#define HALF_PI 1.57079632679490f

float qn_sw_ground_clearness(const qn_sw_step_weather *row)
{
    const int is_above = row->zenith > 0 && row->zenith < 90;
    const float low_sun = 0.3454f + (is_above ? 0.1473f * logf(90 - row->zenith) : 0);
    float share;

    if (!(row->altitude > 0 && row->clear_sky_global > 0))
        return 1;
    share = row->global / row->clear_sky_global + 1 - low_sun;
    return isfinite(share) ? fminf(share, 1) : 1;
}

/* `delay`: days from sunrise to the highest temperature. */
static float excess(const qn_sw_step_weather *row, const qn_sw_ground_class *kind, float delay)
{
    const float sunrise = row->sunrise_h / 24;
    const float amplitude = kind->tgk * row->altmax + kind->tstart;
    float t = 0;

    if (row->altitude <= 0)
        return 0;
    if (row->dectime > sunrise)
        t = amplitude * sinf((row->dectime - sunrise) / delay * HALF_PI);
    return fmaxf(t * qn_sw_ground_clearness(row), 0);
}

float qn_sw_ground_excess(const qn_sw_step_weather *row, const qn_sw_ground_class *ground)
{
    const float delay = ground->tmaxlst / 24 - row->sunrise_h / 24;

    return excess(row, ground, delay <= 0 ? 1 : delay);
}

float qn_sw_wall_excess(const qn_sw_step_weather *row, const qn_sw_ground_class *wall)
{
    const float delay = wall->tmaxlst / 24 - row->sunrise_h / 24;

    return delay > 0 ? excess(row, wall, delay) : 0;
}

/* The delay. */

#define AFTER_DAYS (59.0 / 1440) /* the state changes only after this time */
#define RATE       33.27         /* per day */

qn_sw_delay qn_sw_delay_begin(double step_days)
{
    return (qn_sw_delay){ .is_first = 1, .step_days = step_days };
}

void qn_sw_delay_take(qn_sw_delay *delay, sw_moment *step)
{
    const int moves = delay->timeadd >= AFTER_DAYS;
    const double age = delay->timeadd + (moves ? 0 : delay->step_days);

    step->delay_reset = delay->is_first;
    step->delay_moves = moves;
    step->delay_keep = (float)exp(-RATE * age);
    if (!moves)
        delay->timeadd = age;
    else
        delay->timeadd = delay->step_days > AFTER_DAYS ? delay->step_days : 0;
    delay->is_first = !step->is_day;
    if (!step->is_day)
        delay->timeadd = 0;
}

qn_status qn_sw_add_delay(qn_graph *graph, const qn_sw_step_table *series, int cols, int rows,
                          int planes, qn_buf *value, qn_buf *state, qn_err *err)
{
    return stage_sw_delay(graph, "delay", qn_range_3d(cols, rows, planes), (qn_i64)cols * rows,
                          cols, series->now, series->steps, value, state, err);
}

/* The record. */

static float rad(float degrees)
{
    return degrees * (3.14159265358979f / 180);
}

static float pow4(float x)
{
    return (x * x) * (x * x);
}

qn_sw_step_weather qn_sw_step_weather_of(const qn_sw_weather_row *w, const qn_sw_sky_step *s)
{
    return (qn_sw_step_weather){ .ta = (float)w->ta,
                                 .direct = (float)s->direct,
                                 .diffuse = (float)s->diffuse,
                                 .global = (float)w->global,
                                 .azimuth = (float)s->sun.azimuth,
                                 .altitude = (float)s->sun.altitude,
                                 .zenith = (float)s->sun.zenith,
                                 .altmax = (float)s->altmax,
                                 .sunrise_h = (float)s->sunrise_h,
                                 .dectime = (float)s->dectime,
                                 .clear_sky_global = (float)s->clear_sky_global,
                                 .ci = (float)s->clearness,
                                 .esky = (float)s->emissivity,
                                 .psi = (float)s->psi };
}

qn_sw_materials qn_sw_materials_default(void)
{
    const qn_sw_ground_class generic = { .tgk = 0.37f, .tstart = -3.41f, .tmaxlst = 15 };
    qn_sw_materials m = {
        .wall = generic, .wall_emissivity = 0.9f, .wall_albedo = 0.2f, .sbc = QN_SW_SBC
    };

    for (int i = 0; i < SW_CLASSES; i++)
        m.ground[i] = generic;
    return m;
}

enum { N, E, S, W };

/* Direct radiation on the four sides of a box. */
static void fill_box(const qn_sw_step_weather *row, sw_moment *out)
{
    const float az = row->azimuth;
    const float beam = row->direct * cosf(rad(row->altitude));

    out->box[N] = az <= 90 || az > 270 ? beam * sinf(rad(az - 270)) : 0;
    out->box[E] = az <= 180 || az > 360 ? beam * sinf(rad(az)) : 0;
    out->box[S] = az > 90 && az <= 270 ? beam * sinf(rad(az - 90)) : 0;
    out->box[W] = az > 180 && az <= 360 ? beam * sinf(rad(az - 180)) : 0;
}

/* Walls seen by the four sides: those in the east are sunlit if the sun is in the west. */
static void fill_walls(const qn_sw_step_weather *row, sw_moment *out)
{
    const float az = row->azimuth;
    const int is_lit[4] = { [N] = az > 90 && az <= 270,
                            [E] = az > 180 && az <= 360,
                            [S] = az <= 90 || az > 270,
                            [W] = az <= 180 || az > 360 };
    const float turned[4] = { [N] = az - 90, [E] = az - 180, [S] = az - 270, [W] = az };

    for (int d = 0; d < 4; d++) {
        const float t = out->ta_k + out->tg_wall * sinf(rad(turned[d]));

        out->lit[d] = out->is_day && is_lit[d] ? 1 : 0;
        out->lit4[d] = out->lit[d] * out->sbc * pow4(t);
    }
}

/* The walls of a patch face the sun if it is behind the person. */
static void fill_sky(const qn_sw_step_weather *row, const qn_sw_dome *patches,
                     const float *luminance, const float *emissivity, sw_moment *out, sw_sky *sky)
{
    const float slope = tanf(rad(row->altitude));
    const float clouded = row->ci < 0.95f ? row->ci * row->esky + (1 - row->ci) : row->esky;
    float on_ground = 0;

    memset(sky, 0, (size_t)patches->n_table * sizeof *sky);
    for (int i = 0; i < patches->n; i++) {
        const sw_patch *patch = &patches->table[i];
        const float away = fabsf(row->azimuth - patch->azimuth);
        const int is_facing = out->is_day && away > 90 && away < 270;

        sky[i] = (sw_sky){ .share = luminance[i],
                           .emissivity =
                               emissivity ? emissivity[i] : 1 - (1 - clouded) * patches->thin[i],
                           .shift = fminf(0, 2 * cosf(rad(away)) * slope),
                           .warm_below = is_facing ? patch->lit_below : -INFINITY,
                           .cool_from = is_facing ? patch->dark_from : -INFINITY };
        on_ground += luminance[i] * patch->sin_ster;
    }
    out->sky_scale = out->is_day && on_ground > 0 ? row->diffuse / on_ground : 0;
}

void qn_sw_moment_fill(const qn_sw_step_weather *row, const qn_sw_materials *materials,
                       const qn_sw_dome *patches, const float *luminance, const float *emissivity,
                       qn_sw_delay *delay, sw_moment *out, sw_sky *sky)
{
    const float ta_k = row->ta + 273.15f, tg_wall = qn_sw_wall_excess(row, &materials->wall);
    const float wall = materials->sbc * materials->wall_emissivity;

    memset(out, 0, sizeof *out);
    out->ta = row->ta;
    out->ta_k = ta_k;
    out->sbc = materials->sbc;
    out->air4 = materials->sbc * pow4(ta_k);
    out->tg_wall = tg_wall;
    out->wall4 = materials->sbc * pow4(ta_k + tg_wall);
    out->wall_excess = wall * pow4(tg_wall + ta_k) - wall * pow4(ta_k);
    out->direct = row->direct;
    out->diffuse = row->diffuse;
    out->total = row->global;
    out->sin_alt = sinf(rad(row->altitude));
    out->cos_alt = cosf(rad(row->altitude));
    out->tan_zen = tanf(rad(row->zenith));
    out->psi = row->psi;
    out->ci = row->ci;
    out->esky = row->esky;
    out->is_day = row->altitude > 0;
    out->has_wedge = row->altitude >= 3;
    for (int i = 0; i < SW_CLASSES; i++)
        out->tg[i] = qn_sw_ground_excess(row, &materials->ground[i]);
    fill_box(row, out);
    fill_walls(row, out);
    if (patches)
        fill_sky(row, patches, luminance, emissivity, out, sky);
    qn_sw_delay_take(delay, out);
}
