/* derive.c - computes trees, sun and sky for each row, then the clearness of nights. */
#include "domain/solweig/sky/sky.h"

#include <math.h>
#include <stdio.h>

/* Trees. */

qn_sw_trees qn_sw_trees_default(void)
{
    return (qn_sw_trees){
        .leaf_on = 0.03, .leaf_off = 0.5, .first_leaf_day = 97, .last_leaf_day = 300
    };
}

int qn_sw_has_leaves(const qn_sw_trees *trees, int doy)
{
    const int is_after_first = doy > trees->first_leaf_day;
    const int is_before_last = doy < trees->last_leaf_day;

    if (trees->is_conifer)
        return 1;
    return trees->first_leaf_day > trees->last_leaf_day ? is_after_first || is_before_last
                                                        : is_after_first && is_before_last;
}

double qn_sw_psi(const qn_sw_trees *trees, int doy)
{
    return qn_sw_has_leaves(trees, doy) ? trees->leaf_on : trees->leaf_off;
}

/* Checks. */

typedef struct limit {
    const char *name;
    double value, least, most;
} limit;

static qn_status check(const char *where, const limit *limits, int n, qn_err *err)
{
    for (int i = 0; i < n; i++)
        if (!(limits[i].value >= limits[i].least && limits[i].value <= limits[i].most))
            return qn_fail(err, QN_ERR_INPUT, "%s: %s %g is not within %g to %g", where,
                           limits[i].name, limits[i].value, limits[i].least, limits[i].most);
    return QN_OK;
}

static qn_status check_place(const qn_sw_site *place, qn_err *err)
{
    const limit limits[] = {
        { "latitude", place->latitude, -90, 90 },
        { "longitude", place->longitude, -360, 360 },
        { "altitude", place->altitude, -1000, 10000 },
        { "UTC offset", place->utc_offset, -24, 24 },
    };

    return check("place", limits, 4, err);
}

static qn_status check_row(const qn_sw_weather_row *row, size_t number, qn_err *err)
{
    const limit limits[] = {
        { "timestep", row->timestep_min, 1e-3, 525600 },
        { "air temperature", row->ta, -100, 100 },
        { "relative humidity", row->rh, 0, 100 },
        { "wind speed", row->ws, 0, 1000 },
        { "global radiation", row->global, 0, 1e5 },
        { "direct radiation", isnan(row->direct) ? 0 : row->direct, 0, 1e5 },
        { "diffuse radiation", isnan(row->diffuse) ? 0 : row->diffuse, 0, 1e5 },
        { "pressure", row->pressure_hpa, 300, 1100 },
    };
    char where[48];

    snprintf(where, sizeof where, "weather row %zu", number);
    if (!qn_sw_date_is_valid(&row->date))
        return qn_fail(err, QN_ERR_INPUT, "%s: no such time as %d-%02d-%02d %02d:%02d", where,
                       row->date.year, row->date.month, row->date.day, row->date.hour,
                       row->date.minute);
    return check(where, limits, 8, err);
}

/* Clear sky of the ground model: normal pressure, split as if the atmosphere lost nothing. */
static double clear_sky_global(const qn_sw_weather_row *row, const qn_sw_sky_step *sky,
                               double latitude)
{
    const qn_sw_air air = { row->ta, row->rh, row->global, QN_SW_NO_PRESSURE };
    const qn_sw_clearness clear =
        qn_sw_clearness_of(&air, sky->sun.zenith, sky->doy, latitude, QN_SW_PRESSURE_REFERENCE);
    qn_sw_split split;

    if (!(clear.i0 > 0) || !sky->is_day)
        return 0;
    split = qn_sw_reindl(clear.i0, sky->sun.altitude, 1.0, row->ta, row->rh);
    return split.direct * sin(sky->sun.altitude * M_PI / 180.0) + split.diffuse;
}

static int is_lit(const qn_sw_weather_row *row, const qn_sw_sky_step *sky)
{
    return sky->is_day && row->global > 0;
}

static void fill_light(const qn_sw_weather_row *row, double latitude, const qn_sw_sky_rules *rules,
                       qn_sw_sky_step *sky)
{
    const qn_sw_air air = { row->ta, row->rh, row->global, row->pressure_hpa };
    const int is_measured =
        !rules->ignore_measured_split && !isnan(row->direct) && !isnan(row->diffuse);
    const qn_sw_clearness clear =
        qn_sw_clearness_of(&air, sky->sun.zenith, sky->doy, latitude, rules->pressure);
    qn_sw_split split = { .direct = 0, .diffuse = row->global };

    if (is_measured)
        split = (qn_sw_split){ row->direct, row->diffuse };
    else if (is_lit(row, sky))
        split = qn_sw_reindl(row->global, sky->sun.altitude, clear.kt, row->ta, row->rh);
    sky->direct = split.direct;
    sky->diffuse = split.diffuse;

    /* Within 0.01 degrees of the horizon the index is infinite. Everywhere in the reference 1 has
     * the same effect as infinity, except in the sky's radiation on walls, where infinity would
     * make the following night NaN. */
    sky->clearness = is_lit(row, sky) && isfinite(clear.index) ? clear.index : 1.0;
}

qn_sw_date qn_sw_half_step_before(qn_sw_date stamp, double step_min)
{
    return qn_sw_date_add(stamp, -(long long)ceil(step_min * 30.0));
}

static int is_same_day(const qn_sw_date *a, const qn_sw_date *b)
{
    return a->year == b->year && a->month == b->month && a->day == b->day;
}

qn_status qn_sw_sky_derive(const qn_sw_weather_row *rows, size_t n_rows, const qn_sw_site *place,
                           const qn_sw_trees *trees, const qn_sw_sky_rules *rules,
                           qn_sw_sky_step *out, qn_err *err)
{
    double carried = 1.0;
    qn_status st = QN_OK;

    QN_TRY(check_place(place, err));
    for (size_t i = 0; i < n_rows; i++)
        QN_TRY(check_row(&rows[i], i + 1, err));
    for (size_t i = 0; i < n_rows; i++) {
        const qn_sw_date *stamp = &rows[i].date;
        const qn_sw_date middle = qn_sw_half_step_before(*stamp, rows[i].timestep_min);
        const int is_new_day = i == 0 || !is_same_day(&rows[i - 1].date, stamp);
        qn_sw_sky_step *sky = &out[i];

        *sky =
            (qn_sw_sky_step){ .sun = qn_sw_sun_at(place, &middle),
                              .doy = qn_sw_day_of_year(stamp),
                              .altmax = is_new_day ? qn_sw_altmax(place, stamp) : out[i - 1].altmax,
                              .dectime = (stamp->hour + stamp->minute / 60.0) / 24.0 };
        sky->is_day = sky->sun.altitude > 0;
        sky->sunrise_h = qn_sw_daylight_of(place->latitude, sky->doy).sunrise;
        sky->psi = qn_sw_psi(trees, sky->doy);
        fill_light(&rows[i], place->latitude, rules, sky);
        sky->clear_sky_global = clear_sky_global(&rows[i], sky, place->latitude);

        /* At night, use the clouds of the last daytime row. */
        if (is_lit(&rows[i], sky))
            carried = sky->clearness;
        sky->clearness = carried;
        sky->emissivity = qn_sw_sky_emissivity(rows[i].ta, rows[i].rh);
        sky->emissivity_aniso = qn_sw_clouded_emissivity(sky->emissivity, carried);
    }
out:
    return st;
}
