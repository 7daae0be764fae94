/* test_sw_sky_sun.c - calendar, sun and day length. */
#include "sw_sky_fixture.h"

static void day_of_year_counts_the_leap_day(void **state)
{
    (void)state;
    assert_int_equal(qn_sw_day_of_year(&(qn_sw_date){ .year = 2023, .month = 3, .day = 1 }), 60);
    assert_int_equal(qn_sw_day_of_year(&(qn_sw_date){ .year = 2024, .month = 3, .day = 1 }), 61);
    assert_int_equal(qn_sw_day_of_year(&(qn_sw_date){ .year = 1900, .month = 12, .day = 31 }), 365);
    assert_int_equal(qn_sw_day_of_year(&(qn_sw_date){ .year = 2000, .month = 12, .day = 31 }), 366);
}

/* Visits every day of 900 years, using the number of days in each month. */
static void calendar_walks_through_every_day(void **state)
{
    qn_sw_date at = { .year = 1599, .month = 12, .day = 31, .hour = 23, .minute = 59 };

    (void)state;
    for (int year = 1600; year < 2500; year++) {
        qn_i64 doy = 0;

        for (int month = 1; month <= 12; month++)
            for (int day = 1; day <= qn_sw_days_in_month(year, month); day++) {
                const qn_sw_date by_doy =
                    qn_sw_date_of(qn_sw_minutes_of(year, 1, 1, 0, 0) + doy++ * 1440);

                at = qn_sw_date_add(at, 86400);
                assert_int_equal(at.year, year);
                assert_int_equal(at.month, month);
                assert_int_equal(at.day, day);
                assert_true(by_doy.month == month && by_doy.day == day);
                assert_int_equal(qn_sw_day_of_year(&at), doy);
            }
    }
    assert_int_equal(at.hour, 23);
    assert_int_equal(at.minute, 59);
}

static void half_step_goes_back_over_midnight_and_new_year(void **state)
{
    const qn_sw_date new_year = { .year = 2001, .month = 1, .day = 1 };
    const qn_sw_date before = qn_sw_half_step_before(new_year, 60);

    (void)state;
    assert_int_equal(before.year, 2000);
    assert_int_equal(before.month, 12);
    assert_int_equal(before.day, 31);
    assert_int_equal(before.hour, 23);
    assert_int_equal(before.minute, 30);
}

static void half_step_keeps_whole_seconds_only(void **state)
{
    const qn_sw_date noon = { .year = 2001, .month = 6, .day = 1, .hour = 12 };
    const qn_sw_date quarter = qn_sw_half_step_before(noon, 15);
    const qn_sw_date odd = qn_sw_half_step_before(noon, 0.35); /* 10.5 s */

    (void)state;
    assert_int_equal(quarter.hour, 11);
    assert_int_equal(quarter.minute, 52);
    assert_int_equal(quarter.second, 30);
    assert_int_equal(odd.second, 49); /* 11:59:49.5 without its fraction */
}

static void impossible_times_are_refused(void **state)
{
    const qn_sw_date bad[] = { { 2023, 2, 29, 0, 0, 0 }, { 2023, 13, 1, 0, 0, 0 },
                               { 2023, 0, 1, 0, 0, 0 },  { 2023, 1, 32, 0, 0, 0 },
                               { 2023, 1, 1, 24, 0, 0 }, { 2023, 1, 1, 0, 60, 0 },
                               { 2023, 1, 1, -1, 0, 0 }, { 0, 1, 1, 0, 0, 0 } };
    const qn_sw_date fine = { 2024, 2, 29, 23, 59, 59 };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(qn_sw_date_is_valid(&bad[i]));
    assert_true(qn_sw_date_is_valid(&fine));
}

static void sun_stands_where_the_golden_table_says(void **state)
{
    qn_csv csv;

    (void)state;
    need_golden("solweig/weather/sun_position.csv");
    csv = golden_csv("solweig/weather/sun_position.csv");
    for (size_t i = 0; i < csv.n_rows; i++) {
        const qn_sw_date at = stamp_at(&csv, i, "datetime_local");
        const qn_sw_site place = { number_at(&csv, i, "latitude"), number_at(&csv, i, "longitude"),
                                   number_at(&csv, i, "altitude_m"),
                                   number_at(&csv, i, "utc_offset") };
        const qn_sw_sun sun = qn_sw_sun_at(&place, &at);

        expect_near("zenith", i, sun.zenith, number_at(&csv, i, "zenith_deg"), 0, 1e-6);
        expect_near("azimuth", i, sun.azimuth, number_at(&csv, i, "azimuth_deg"), 0, 1e-6);
        assert_true(sun.altitude == 90.0 - sun.zenith ||
                    fabs(sun.altitude + sun.zenith - 90) < 1e-9);
    }
    qn_csv_free(&csv);
}

/* The same moment on another clock: one hour more of offset, one hour more on the clock. */
static void sun_depends_on_universal_time_only(void **state)
{
    const qn_sw_site east = { 48, 11, 500, 1 }, west = { 48, 11, 500, -5 };
    const qn_sw_date early = { 2020, 3, 1, 3, 20, 15 };
    const qn_sw_date late = qn_sw_date_add(early, -6 * 3600); /* 29 February */
    const qn_sw_sun a = qn_sw_sun_at(&east, &early), b = qn_sw_sun_at(&west, &late);

    (void)state;
    assert_int_equal(late.month, 2);
    assert_int_equal(late.day, 29);
    expect_near("altitude", 0, a.altitude, b.altitude, 0, 1e-6);
    expect_near("azimuth", 0, a.azimuth, b.azimuth, 0, 1e-6);
}

/* Without it there, the altitude would jump by half a degree at sunset. */
static void refraction_continues_below_the_horizon(void **state)
{
    qn_sw_date at = { 2006, 7, 26, 20, 0, 0 };
    double before = qn_sw_sun_at(&gothenburg, &at).altitude;

    (void)state;
    assert_true(before > 2);
    while (before > -2) {
        double now;

        at = qn_sw_date_add(at, 10);
        now = qn_sw_sun_at(&gothenburg, &at).altitude;
        assert_true(now < before && before - now < 0.05);
        before = now;
    }
}

static void altmax_is_the_largest_of_the_quarter_hours(void **state)
{
    const qn_sw_date day = { 2006, 7, 26, 17, 7, 31 };
    double most = 0;

    (void)state;
    for (int minute = 0; minute < 1440; minute += 15) {
        const qn_sw_date at = { 2006, 7, 26, minute / 60, minute % 60, 0 };

        most = fmax(most, qn_sw_sun_at(&gothenburg, &at).altitude);
    }
    assert_true(qn_sw_altmax(&gothenburg, &day) == most);
    assert_true(most > 51 && most < 52);
}

static void altmax_of_a_polar_night_is_zero(void **state)
{
    const qn_sw_site pole = { 90, 0, 0, 0 };

    (void)state;
    assert_true(qn_sw_altmax(&pole, &(qn_sw_date){ 2006, 12, 21, 0, 0, 0 }) == 0);
    assert_true(qn_sw_altmax(&pole, &(qn_sw_date){ 2006, 6, 21, 0, 0, 0 }) > 23);
}

static void daylight_agrees_with_the_golden_table(void **state)
{
    qn_csv csv;

    (void)state;
    need_golden("solweig/weather/clearness_diffuse.csv");
    csv = golden_csv("solweig/weather/clearness_diffuse.csv");
    for (size_t i = 0; i < csv.n_rows; i++) {
        const qn_sw_daylight day =
            qn_sw_daylight_of(number_at(&csv, i, "latitude"), (int)number_at(&csv, i, "jday"));

        expect_near("length", i, day.length, number_at(&csv, i, "daylength_h"), 1e-9, 1e-12);
        expect_near("declination", i, day.declination, number_at(&csv, i, "declination_deg"), 1e-9,
                    1e-12);
        expect_near("sunrise", i, day.sunrise, number_at(&csv, i, "sunrise_h"), 1e-9, 1e-12);
        expect_near("sunset", i, day.sunset, number_at(&csv, i, "sunset_h"), 1e-9, 1e-12);
    }
    qn_csv_free(&csv);
}

static void trees_have_leaves_strictly_between_the_two_days(void **state)
{
    qn_sw_trees trees = qn_sw_trees_default();

    (void)state;
    assert_true(qn_sw_psi(&trees, 97) == 0.5);
    assert_true(qn_sw_psi(&trees, 98) == 0.03);
    assert_true(qn_sw_psi(&trees, 299) == 0.03);
    assert_true(qn_sw_psi(&trees, 300) == 0.5);
    trees.is_conifer = 1;
    assert_true(qn_sw_psi(&trees, 10) == 0.03);
}

static void leaf_season_may_cross_the_new_year(void **state)
{
    qn_sw_trees trees = qn_sw_trees_default();

    (void)state;
    trees.first_leaf_day = 250;
    trees.last_leaf_day = 100;
    assert_true(qn_sw_has_leaves(&trees, 365));
    assert_true(qn_sw_has_leaves(&trees, 1));
    assert_true(qn_sw_has_leaves(&trees, 251));
    assert_false(qn_sw_has_leaves(&trees, 250));
    assert_false(qn_sw_has_leaves(&trees, 100));
    assert_false(qn_sw_has_leaves(&trees, 180));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(day_of_year_counts_the_leap_day),
        cmocka_unit_test(calendar_walks_through_every_day),
        cmocka_unit_test(half_step_goes_back_over_midnight_and_new_year),
        cmocka_unit_test(half_step_keeps_whole_seconds_only),
        cmocka_unit_test(impossible_times_are_refused),
        cmocka_unit_test(sun_stands_where_the_golden_table_says),
        cmocka_unit_test(sun_depends_on_universal_time_only),
        cmocka_unit_test(refraction_continues_below_the_horizon),
        cmocka_unit_test(altmax_is_the_largest_of_the_quarter_hours),
        cmocka_unit_test(altmax_of_a_polar_night_is_zero),
        cmocka_unit_test(daylight_agrees_with_the_golden_table),
        cmocka_unit_test(trees_have_leaves_strictly_between_the_two_days),
        cmocka_unit_test(leaf_season_may_cross_the_new_year),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
