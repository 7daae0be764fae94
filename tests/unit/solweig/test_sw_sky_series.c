/* test_sw_sky_series.c - clearness, the split of light, and whole series of weather rows. */
#include "sw_sky_fixture.h"

#include "domain/solweig/step/step.h"

/* One state. */

static qn_sw_clearness clearness_at(const qn_csv *csv, size_t i, double pressure,
                                    qn_sw_pressure_rule rule)
{
    const qn_sw_air air = { number_at(csv, i, "ta"), number_at(csv, i, "rh"),
                            number_at(csv, i, "global"), pressure };

    return qn_sw_clearness_of(&air, number_at(csv, i, "zenith_deg"), (int)number_at(csv, i, "jday"),
                              number_at(csv, i, "latitude"), rule);
}

static void clearness_and_split_agree_with_the_golden_table(void **state)
{
    qn_csv csv;
    int n_down = 0;

    (void)state;
    need_golden("solweig/weather/clearness_diffuse.csv");
    csv = golden_csv("solweig/weather/clearness_diffuse.csv");
    for (size_t i = 0; i < csv.n_rows; i++) {
        const double altitude = 90.0 - number_at(&csv, i, "zenith_deg");
        const double global = number_at(&csv, i, "global");
        const qn_sw_clearness c =
            clearness_at(&csv, i, number_at(&csv, i, "pressure_arg"), QN_SW_PRESSURE_REFERENCE);
        qn_sw_split split = { 0, global };

        expect_near("I0", i, c.i0, number_at(&csv, i, "I0"), 1e-9, 0);
        expect_near("CI", i, c.index, number_at(&csv, i, "CI"), 1e-9, 0);
        expect_near("Kt", i, c.kt, number_at(&csv, i, "Kt"), 1e-9, 0);
        expect_near("I0et", i, c.i0_outside, number_at(&csv, i, "I0et"), 1e-9, 0);
        expect_near("CIuncorr", i, c.uncorrected, number_at(&csv, i, "CIuncorr"), 1e-9, 0);
        if (altitude > 0 && global > 0)
            split = qn_sw_reindl(global, altitude, c.kt, number_at(&csv, i, "ta"),
                                 number_at(&csv, i, "rh"));
        else
            n_down++;
        expect_near("direct", i, split.direct, number_at(&csv, i, "direct"), 1e-9, 0);
        expect_near("diffuse", i, split.diffuse, number_at(&csv, i, "diffuse"), 1e-9, 0);
    }
    assert_true(n_down > 0 && n_down < (int)csv.n_rows);
    qn_csv_free(&csv);
}

/* Ten times too much pressure makes the clear sky darker, and so the index larger. */
static void corrected_pressure_takes_the_pressure_as_it_is(void **state)
{
    const qn_sw_air sea = { 20, 50, 500, 1013 }, none = { 20, 50, 500, QN_SW_NO_PRESSURE };
    const qn_sw_air tenth = { 20, 50, 500, 101.3 };
    const qn_sw_clearness corrected =
        qn_sw_clearness_of(&sea, 40, 180, 50, QN_SW_PRESSURE_CORRECTED);
    const qn_sw_clearness reference =
        qn_sw_clearness_of(&sea, 40, 180, 50, QN_SW_PRESSURE_REFERENCE);

    (void)state;
    assert_true(corrected.i0 ==
                qn_sw_clearness_of(&none, 40, 180, 50, QN_SW_PRESSURE_CORRECTED).i0);
    assert_true(corrected.i0 ==
                qn_sw_clearness_of(&none, 40, 180, 50, QN_SW_PRESSURE_REFERENCE).i0);
    expect_near("i0", 0, corrected.i0,
                qn_sw_clearness_of(&tenth, 40, 180, 50, QN_SW_PRESSURE_REFERENCE).i0, 1e-12, 0);
    assert_true(reference.i0 < 0.9 * corrected.i0);
    assert_true(reference.index > corrected.index + 0.05);
}

static void no_clear_sky_below_the_horizon(void **state)
{
    const qn_sw_air air = { 20, 50, 100, 1013 };
    const double zenith[] = { 89.995, 90, 90.5, 120 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        const qn_sw_clearness c =
            qn_sw_clearness_of(&air, zenith[i], 180, 50, QN_SW_PRESSURE_REFERENCE);

        assert_true(c.i0 == 0 && c.kt == 0 && c.i0_outside == 0 && c.uncorrected == 0);
        assert_true(isinf(c.index));
    }
}

static void dry_air_counts_as_one_percent(void **state)
{
    const qn_sw_air none = { 20, 0, 500, 1013 }, one = { 20, 1, 500, 1013 };

    (void)state;
    assert_true(qn_sw_clearness_of(&none, 40, 180, 50, QN_SW_PRESSURE_CORRECTED).i0 ==
                qn_sw_clearness_of(&one, 40, 180, 50, QN_SW_PRESSURE_CORRECTED).i0);
}

/* Borders of the three branches, with and without temperature and humidity. */
static void split_has_three_branches_by_kt(void **state)
{
    const double a = 40, s = sin(40 * M_PI / 180), g = 500;

    (void)state;
    expect_near("low", 0, qn_sw_reindl(g, a, 0.3, 20, 50).diffuse,
                g * (1 - 0.232 * 0.3 + 0.0239 * s - 0.000682 * 20 + 0.0195 * 0.5), 1e-12, 0);
    expect_near("middle", 0, qn_sw_reindl(g, a, 0.77, 20, 50).diffuse,
                g * (1.329 - 1.716 * 0.77 + 0.267 * s - 0.00357 * 20 + 0.106 * 0.5), 1e-12, 0);
    expect_near("high", 0, qn_sw_reindl(g, a, 0.78, 20, 50).diffuse,
                g * (0.426 * 0.78 - 0.256 * s + 0.00349 * 20 + 0.0734 * 0.5), 1e-12, 0);
    expect_near("low", 1, qn_sw_reindl(g, a, 0.3, -999, 50).diffuse, g * (1.020 - 0.248 * 0.3),
                1e-12, 0);
    expect_near("middle", 1, qn_sw_reindl(g, a, 0.5, 20, NAN).diffuse, g * (1.45 - 1.67 * 0.5),
                1e-12, 0);
    expect_near("high", 1, qn_sw_reindl(g, a, 0.78, NAN, 50).diffuse, g * 0.147, 1e-12, 0);
}

static void split_is_capped(void **state)
{
    (void)state;
    /* A fraction above 1: no direct light, and no more diffuse light than there is light. */
    assert_true(qn_sw_reindl(500, 40, 0.01, 20, 100).diffuse == 500);
    assert_true(qn_sw_reindl(500, 40, 0.01, 20, 100).direct == 0);
    /* A sun below 1 degree gives at most the global radiation; one at the horizon gives none. */
    assert_true(qn_sw_reindl(100, 0.9, 0.7, 20, 50).direct == 100);
    assert_true(qn_sw_reindl(100, 1.1, 0.7, 20, 50).direct > 100);
    assert_true(qn_sw_reindl(100, 0.5, 0.7, 20, 50).direct == 0);
}

/* Series. */

enum { MAX_ROWS = 64 };

static size_t rows_of(const qn_csv *csv, qn_sw_weather_row *rows)
{
    assert_true(csv->n_rows <= MAX_ROWS);
    for (size_t i = 0; i < csv->n_rows; i++) {
        const qn_sw_date at = stamp_at(csv, i, "datetime");

        rows[i] = (qn_sw_weather_row){ .date = { at.year, at.month, at.day, at.hour, at.minute, 0 },
                                       .timestep_min = 60,
                                       .ta = number_at(csv, i, "ta"),
                                       .rh = number_at(csv, i, "rh"),
                                       .ws = number_at(csv, i, "ws"),
                                       .global = number_at(csv, i, "global"),
                                       .direct = number_at(csv, i, "direct"),
                                       .diffuse = number_at(csv, i, "diffuse"),
                                       .pressure_hpa = 1013.25 };
    }
    return csv->n_rows;
}

static void derive(const qn_sw_weather_row *rows, size_t n, qn_sw_sky_rules rules,
                   qn_sw_sky_step *out)
{
    const qn_sw_trees trees = qn_sw_trees_default();
    qn_err err = { .text = "" };

    if (qn_sw_sky_derive(rows, n, &gothenburg, &trees, &rules, out, &err) != QN_OK)
        fail_msg("%s", err.text);
}

/* Printed with seven digits. */
static void series_agrees_with(const char *name, int is_estimated)
{
    qn_sw_weather_row rows[MAX_ROWS];
    qn_sw_sky_step sky[MAX_ROWS];
    qn_csv csv;
    size_t n;

    need_golden(name);
    csv = golden_csv(name);
    n = rows_of(&csv, rows);
    derive(rows, n, (qn_sw_sky_rules){ .ignore_measured_split = is_estimated }, sky);
    for (size_t i = 0; i < n; i++) {
        expect_near("altitude", i, sky[i].sun.altitude, number_at(&csv, i, "sun_altitude"), 1e-6,
                    0);
        expect_near("azimuth", i, sky[i].sun.azimuth, number_at(&csv, i, "sun_azimuth"), 1e-6, 0);
        expect_near("altmax", i, sky[i].altmax, number_at(&csv, i, "altmax"), 1e-6, 0);
        expect_near("direct", i, sky[i].direct, number_at(&csv, i, "direct"), 1e-6, 0);
        expect_near("diffuse", i, sky[i].diffuse, number_at(&csv, i, "diffuse"), 1e-6, 0);
        expect_near("clearness", i, sky[i].clearness, number_at(&csv, i, "clearness_index"), 1e-6,
                    0);
        expect_near("clear sky", i, sky[i].clear_sky_global, number_at(&csv, i, "clear_sky_global"),
                    1e-6, 0);
        expect_near("sunrise", i, sky[i].sunrise_h, number_at(&csv, i, "snup_h"), 1e-6, 0);
        expect_near("psi", i, sky[i].psi, number_at(&csv, i, "psi"), 1e-6, 0);
        assert_true(sky[i].dectime == (rows[i].date.hour + rows[i].date.minute / 60.0) / 24.0);
        assert_int_equal(sky[i].is_day, number_at(&csv, i, "sun_altitude") > 0);
    }
    qn_csv_free(&csv);
}

static void summer_day_agrees_with_the_golden_series(void **state)
{
    (void)state;
    series_agrees_with("solweig/ga/aniso_20060726_timeseries.csv", 0);
}

static void autumn_day_with_estimated_split_agrees(void **state)
{
    (void)state;
    series_agrees_with("solweig/ga/aniso_20051011_estimated_split_timeseries.csv", 1);
}

static void june_day_of_kronenhuset_agrees(void **state)
{
    (void)state;
    series_agrees_with("solweig/gbg/aniso_19970606_timeseries.csv", 0);
}

static void clearness_of_the_day_is_carried_into_the_night(void **state)
{
    qn_sw_weather_row rows[4];
    qn_sw_sky_step sky[4];
    const int hours[] = { 1, 12, 13, 23 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        rows[i] = fine_row();
        rows[i].date.hour = hours[i];
        rows[i].global = i == 1 ? 300 : 0;
    }
    derive(rows, 4, (qn_sw_sky_rules){ 0 }, sky);
    assert_true(sky[0].clearness == 1);
    assert_true(sky[1].clearness < 0.9 && sky[1].clearness > 0.2);
    assert_true(sky[2].clearness == sky[1].clearness); /* by day, but without light */
    assert_true(sky[2].is_day);
    assert_true(sky[3].clearness == sky[1].clearness);
    assert_false(sky[3].is_day);
    expect_near("emissivity", 3, sky[3].emissivity_aniso,
                sky[1].clearness * sky[3].emissivity + 1 - sky[1].clearness, 1e-12, 0);
}

/* The place is moved until the sun of the row is between 0 and 0.01 degrees. */
static void sun_at_the_horizon_leaves_the_clearness_finite(void **state)
{
    const qn_sw_trees trees = qn_sw_trees_default();
    const qn_sw_sky_rules rules = { 0 };
    qn_sw_site place = gothenburg;
    qn_sw_weather_row rows[2] = { fine_row(), fine_row() };
    qn_sw_sky_step sky[2];
    double up = -30, down = 60;
    qn_err err;

    (void)state;
    rows[0].date.hour = 20;
    rows[0].global = 5;
    rows[1].date.hour = 23;
    rows[1].global = 0;
    do {
        place.longitude = (up + down) / 2;
        assert_int_equal(qn_sw_sky_derive(rows, 2, &place, &trees, &rules, sky, &err), QN_OK);
        *(sky[0].sun.altitude > 0.005 ? &up : &down) = place.longitude;
    } while (fabs(sky[0].sun.altitude - 0.005) > 0.002);
    assert_true(sky[0].is_day && !sky[1].is_day);
    assert_true(sky[0].clearness == 1 && sky[1].clearness == 1);
}

static void one_measured_part_alone_is_not_used(void **state)
{
    qn_sw_weather_row rows[3] = { fine_row(), fine_row(), fine_row() };
    qn_sw_sky_step sky[3];

    (void)state;
    rows[1].direct = 123;
    rows[2].direct = 123;
    rows[2].diffuse = 45;
    derive(rows, 3, (qn_sw_sky_rules){ 0 }, sky);
    assert_true(sky[0].direct > 200 && sky[0].direct == sky[1].direct);
    assert_true(sky[2].direct == 123 && sky[2].diffuse == 45);
    assert_true(sky[0].clearness == sky[2].clearness);
    derive(rows, 3, (qn_sw_sky_rules){ .ignore_measured_split = 1 }, sky);
    assert_true(sky[2].direct == sky[0].direct && sky[2].diffuse == sky[0].diffuse);
}

static void corrected_pressure_lowers_the_clearness_of_rows(void **state)
{
    const qn_sw_weather_row row = fine_row();
    qn_sw_sky_step reference, corrected;

    (void)state;
    derive(&row, 1, (qn_sw_sky_rules){ 0 }, &reference);
    derive(&row, 1, (qn_sw_sky_rules){ .pressure = QN_SW_PRESSURE_CORRECTED }, &corrected);
    assert_true(reference.clearness > corrected.clearness + 0.05);
    assert_true(reference.clear_sky_global == corrected.clear_sky_global);
    assert_true(reference.direct ==
                corrected.direct); /* the split depends only on extraterrestrial light */
}

/* At 00:00 the sun is that of the evening before, while day and leaves are those of the new day. */
static void midnight_belongs_to_the_day_of_its_stamp(void **state)
{
    qn_sw_weather_row row = fine_row();
    qn_sw_sky_step sky;
    const qn_sw_date evening = { 2006, 4, 7, 23, 30, 0 }, day = { 2006, 4, 8, 0, 0, 0 };

    (void)state;
    row.date.month = 4;
    row.date.day = 8; /* day 98, the first with leaves */
    row.date.hour = 0;
    row.global = 0;
    derive(&row, 1, (qn_sw_sky_rules){ 0 }, &sky);
    assert_int_equal(sky.doy, 98);
    assert_true(sky.psi == 0.03);
    assert_true(sky.dectime == 0);
    assert_true(sky.sun.altitude == qn_sw_sun_at(&gothenburg, &evening).altitude);
    assert_true(sky.altmax == qn_sw_altmax(&gothenburg, &day));
    assert_true(sky.direct == 0 && sky.diffuse == 0 && sky.clear_sky_global == 0);
}

/* Bad input. */

typedef void (*spoil)(qn_sw_weather_row *row, qn_sw_site *place);

#define SPOIL(name, change)                                                                        \
    static void name(qn_sw_weather_row *row, qn_sw_site *place)                                    \
    {                                                                                              \
        (void)row, (void)place;                                                                    \
        change;                                                                                    \
    }
SPOIL(leap_day, (row->date.month = 2, row->date.day = 29))
SPOIL(hour_24, row->date.hour = 24)
SPOIL(no_step, row->timestep_min = 0)
SPOIL(wet, row->rh = 100.5)
SPOIL(no_temperature, row->ta = NAN)
SPOIL(dark, row->global = -1)
SPOIL(no_wind, row->ws = -1)
SPOIL(beam, row->direct = -1)
SPOIL(diffuse, row->diffuse = -5)
SPOIL(pascal, row->pressure_hpa = 101325)
SPOIL(latitude, place->latitude = 91)
SPOIL(offset, place->utc_offset = NAN)

static void bad_rows_and_places_are_named(void **state)
{
    static const struct {
        spoil change;
        const char *text;
    } cases[] = {
        { leap_day, "weather row 2: no such time as 2006-02-29 12:00" },
        { hour_24, "weather row 2: no such time as 2006-07-26 24:00" },
        { no_step, "weather row 2: timestep 0 is not within 0.001 to 525600" },
        { wet, "weather row 2: relative humidity 100.5 is not within 0 to 100" },
        { no_temperature, "weather row 2: air temperature nan is not within -100 to 100" },
        { dark, "weather row 2: global radiation -1 is not within 0 to 100000" },
        { no_wind, "weather row 2: wind speed -1 is not within 0 to 1000" },
        { beam, "weather row 2: direct radiation -1 is not within 0 to 100000" },
        { diffuse, "weather row 2: diffuse radiation -5 is not within 0 to 100000" },
        { pascal, "weather row 2: pressure 101325 is not within 300 to 1100" },
        { latitude, "place: latitude 91 is not within -90 to 90" },
        { offset, "place: UTC offset nan is not within -24 to 24" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const qn_sw_trees trees = qn_sw_trees_default();
        const qn_sw_sky_rules rules = { 0 };
        qn_sw_weather_row rows[2] = { fine_row(), fine_row() };
        qn_sw_site place = gothenburg;
        qn_sw_sky_step out[2];
        qn_err err = { .text = "" };

        cases[i].change(&rows[1], &place);
        memset(out, 0x5A, sizeof out);
        assert_int_equal(qn_sw_sky_derive(rows, 2, &place, &trees, &rules, out, &err),
                         QN_ERR_INPUT);
        assert_string_equal(err.text, cases[i].text);
        assert_int_equal(((unsigned char *)out)[0], 0x5A); /* untouched on failure */
    }
}

/* Emissivity. */

static void emissivity_grows_with_moisture_and_clouds(void **state)
{
    const double dry = qn_sw_sky_emissivity(20, 20), moist = qn_sw_sky_emissivity(20, 90);

    (void)state;
    assert_true(dry > 0.65 && dry < moist && moist < 0.95);
    assert_true(qn_sw_clouded_emissivity(dry, 0.95) == dry);
    assert_true(qn_sw_clouded_emissivity(dry, 1.4) == dry);
    assert_true(qn_sw_clouded_emissivity(dry, 0) == 1);
    expect_near("half", 0, qn_sw_clouded_emissivity(dry, 0.5), (1 + dry) / 2, 1e-12, 0);
}

/* Warmer towards the horizon, at most black, with a hemispherical mean near the emissivity of the
 * sky. */
static void patch_emissivity_grows_towards_the_horizon(void **state)
{
    static qn_sw_patch_sky sky;
    double sum = 0, weights = 0, last = 1;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_sw_patch_sky_make(4, &sky, &err), QN_OK);
    for (int i = 0; i < sky.dome.n; i++) {
        const double e = 1 - 0.2 * (double)sky.dome.thin[i];
        const double w = (double)sky.dome.table[i].sin_ster;

        sum += w * e;
        weights += w;
        assert_true(e > 0.55 && e <= 1 && e <= last);
        last = e;
    }
    expect_near("mean", 0, sum / weights, 0.8, 0, 0.012);
    expect_near("zenith", 0, last, 1 - 0.2 * exp(0.308 * 0.7), 1e-6, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clearness_and_split_agree_with_the_golden_table),
        cmocka_unit_test(corrected_pressure_takes_the_pressure_as_it_is),
        cmocka_unit_test(no_clear_sky_below_the_horizon),
        cmocka_unit_test(dry_air_counts_as_one_percent),
        cmocka_unit_test(split_has_three_branches_by_kt),
        cmocka_unit_test(split_is_capped),
        cmocka_unit_test(summer_day_agrees_with_the_golden_series),
        cmocka_unit_test(autumn_day_with_estimated_split_agrees),
        cmocka_unit_test(june_day_of_kronenhuset_agrees),
        cmocka_unit_test(clearness_of_the_day_is_carried_into_the_night),
        cmocka_unit_test(sun_at_the_horizon_leaves_the_clearness_finite),
        cmocka_unit_test(one_measured_part_alone_is_not_used),
        cmocka_unit_test(corrected_pressure_lowers_the_clearness_of_rows),
        cmocka_unit_test(midnight_belongs_to_the_day_of_its_stamp),
        cmocka_unit_test(bad_rows_and_places_are_named),
        cmocka_unit_test(emissivity_grows_with_moisture_and_clouds),
        cmocka_unit_test(patch_emissivity_grows_towards_the_horizon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
