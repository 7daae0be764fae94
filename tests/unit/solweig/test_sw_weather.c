/* test_sw_weather.c - weather files: values read, rows selected, and refusals. */
#include "sw_fixture.h"

#include "domain/solweig/weather/weather.h"
#include "util/csv.h"

static qn_sw_weather read_one(const char *path, qn_sw_weather_options options)
{
    qn_sw_weather w = { 0 };

    OK(qn_sw_weather_read(&path, 1, &options, &w, &err));
    return w;
}

static void expect_refused(const char *path, qn_sw_weather_options options, qn_status want,
                           const char *part)
{
    qn_sw_weather w = { 0 };

    REFUSED(qn_sw_weather_read(&path, 1, &options, &w, &err), want, part);
    assert_null(w.rows);
}

static void assert_stamp(const qn_sw_weather_row *row, int y, int m, int d, int hour, int minute)
{
    assert_int_equal(row->minutes, qn_sw_minutes_of(y, m, d, hour, minute));
    assert_int_equal(row->date.day, d);
    assert_int_equal(row->date.hour, hour);
}

/* The calendar. */

static void every_day_of_four_centuries_is_taken_apart_and_put_together(void **state)
{
    qn_i64 minutes = qn_sw_minutes_of(1799, 12, 31, 23, 59);

    (void)state;
    assert_int_equal(qn_sw_minutes_of(1970, 1, 1, 0, 0), 0);
    assert_int_equal(qn_sw_minutes_of(2000, 3, 1, 0, 0), INT64_C(11017) * 1440);
    for (int y = 1800; y < 2200; y++) {
        int of_year = 0;

        for (int m = 1; m <= 12; m++) {
            for (int d = 1; d <= qn_sw_days_in_month(y, m); d++) {
                minutes += of_year == 0 && m == 1 && y == 1800 ? 1 : 1440;
                const qn_sw_date date = qn_sw_date_of(minutes);

                assert_int_equal(date.year, y);
                assert_int_equal(date.month, m);
                assert_int_equal(date.day, d);
                assert_int_equal(qn_sw_day_of_year(&date), ++of_year);
                assert_int_equal(qn_sw_minutes_of(y, m, d, 0, 0), minutes);
            }
        }
    }
}

/* Golden. */

/* The rows of a met file equal those listed by the reference's run. */
static void expect_series(const char *met, const char *csv_name, int with_split)
{
    qn_csv csv = { 0 };
    char path[2048];

    need_golden(met);
    snprintf(path, sizeof path, "%s", golden_path(met));
    qn_sw_weather w = read_one(path, (qn_sw_weather_options){ 0 });
    OK(qn_csv_read(golden_path(csv_name), &csv, &err));
    assert_int_equal(csv.n_rows, w.n_rows);
    for (size_t i = 0; i < w.n_rows; i++) {
        const qn_sw_weather_row *row = &w.rows[i];
        const double is[] = { row->ta, row->rh, row->ws, row->global, row->direct, row->diffuse };
        char stamp[32];

        snprintf(stamp, sizeof stamp, "%04u-%02u-%02uT%02u:%02u", row->date.year % 10000u,
                 row->date.month % 100u, row->date.day % 100u, row->date.hour % 100u,
                 row->date.minute % 100u);
        assert_string_equal(stamp, qn_csv_get(&csv, i, 0));
        for (size_t k = 0; k < (with_split ? 6 : 4); k++) {
            double want;

            OK(qn_csv_f64(&csv, i, k + 1, -1e9, 1e9, &want, &err));
            assert_true(fabs(is[k] - want) <= 1e-6 * fabs(want));
        }
        assert_true(row->pressure_hpa == 1013.25);
        assert_true(row->timestep_min == 60);
    }
    qn_csv_free(&csv);
    qn_sw_weather_free(&w);
}

static void rows_of_ga_are_those_of_the_reference(void **state)
{
    (void)state;
    expect_series("solweig/ga/MetFile_20060726.txt", "solweig/ga/aniso_20060726_timeseries.csv", 1);
    expect_series("solweig/ga/MetFile_20051011.txt",
                  "solweig/ga/aniso_20051011_estimated_split_timeseries.csv", 0);
}

static void rows_of_gbg_are_those_of_the_reference(void **state)
{
    (void)state;
    expect_series("solweig/gbg/gbg19970606_2015a.txt", "solweig/gbg/aniso_19970606_timeseries.csv",
                  1);
}

static void week_with_a_plain_header_line_is_read(void **state)
{
    const char *name = "solweig/gbg/GBG_TMY_1977_doy182_188.txt";

    (void)state;
    need_golden(name);
    qn_sw_weather w = read_one(golden_path(name), (qn_sw_weather_options){ .hourly_only = 1 });
    assert_int_equal(w.n_rows, 168);
    assert_stamp(&w.rows[0], 1977, 7, 1, 0, 0);
    assert_true(w.rows[0].ta == 14.4 && w.rows[0].rh == 85.5 && w.rows[0].ws == 1);
    assert_stamp(&w.rows[167], 1977, 7, 7, 23, 0);
    qn_sw_weather_free(&w);

    w = read_one(golden_path("solweig/gbg/gbg20001219_2015a.txt"), (qn_sw_weather_options){ 0 });
    assert_int_equal(w.n_rows, 24);
    assert_stamp(&w.rows[0], 1997, 12, 20, 0, 0);
    assert_true(w.rows[1].ta == 0.7 && w.rows[1].rh == 92);
    qn_sw_weather_free(&w);
}

static void athens_has_its_place_and_every_hour(void **state)
{
    const char *name = "solweig/weather/athens_2023_jan_jul.epw";

    (void)state;
    need_golden(name);
    qn_sw_weather w = read_one(golden_path(name), (qn_sw_weather_options){ 0 });
    assert_int_equal(w.n_rows, 336);
    assert_true(w.has_place && w.latitude == 38 && w.longitude == 23.75 && w.utc_offset == 2);
    assert_true(w.elevation == 175);
    assert_stamp(&w.rows[0], 2023, 1, 1, 1, 0);
    assert_stamp(&w.rows[23], 2023, 1, 2, 0, 0);
    assert_true(w.rows[0].ta == 7.3 && w.rows[0].rh == 95 && w.rows[0].ws == 1.3);
    assert_true(w.rows[0].pressure_hpa == 1009.75 && w.rows[0].timestep_min == 60);
    qn_sw_weather_free(&w);

    w = read_one(golden_path(name), (qn_sw_weather_options){ .start = "07-02" });
    assert_int_equal(w.n_rows, 24);
    assert_stamp(&w.rows[0], 2023, 7, 2, 0, 0);
    assert_stamp(&w.rows[23], 2023, 7, 2, 23, 0);
    qn_sw_weather_free(&w);
}

/* EPW. */

#define EPW_HEAD "LOCATION,Town,-,-,-,-,10.5,-20.25,-3.5,12\nA\nB\nC\nD\nE\nF\nG\n"
#define EPW_ROW(date, ta, rh, p, ghi, dni, dhi, ws)                                                \
    date ",x," ta ",0," rh "," p ",0,0,0," ghi "," dni "," dhi ",0,0,0,0,180," ws ",0,0\n"

static qn_sw_weather read_epw(const char *rows, qn_sw_weather_options options)
{
    char text[4096];

    snprintf(text, sizeof text, "%s%s", EPW_HEAD, rows);
    return read_one(write_text("a.epw", text), options);
}

static void missing_values_of_epw_have_defaults(void **state)
{
    qn_sw_weather w =
        read_epw(EPW_ROW("2020,2,28,24,60", "999", "", "9999", "99999", "999999999", "x", " 999 ")
                     EPW_ROW("2020,3,1,1,0", "21.5", "999.0e-1", "95000", "999.0", "0", "100", "2"),
                 (qn_sw_weather_options){ 0 });
    const qn_sw_weather_row *row = w.rows;

    (void)state;
    assert_int_equal(w.n_rows, 2);
    assert_stamp(row, 2020, 2, 29, 0, 0);
    assert_true(row->ta == 20 && row->rh == 50 && row->global == 0 && row->ws == 1);
    assert_true(row->pressure_hpa == 1013.25 && isnan(row->direct) && isnan(row->diffuse));
    row++;
    assert_true(row->ta == 21.5 && fabs(row->rh - 99.9) < 1e-9 && row->global == 999);
    assert_true(row->pressure_hpa == 950 && row->direct == 0 && row->diffuse == 100);
    qn_sw_weather_free(&w);
}

static void humidity_of_99_is_missing_unless_corrected(void **state)
{
    const char *rows =
        EPW_ROW("2020,1,1,1,0", "99", "99", "99900", "999", "9999", "9999.0", "99.0");
    qn_sw_weather w = read_epw(rows, (qn_sw_weather_options){ 0 });

    (void)state;
    assert_true(w.rows[0].rh == 50 && w.rows[0].ta == 20 && w.rows[0].global == 0);
    assert_true(isnan(w.rows[0].direct) && w.rows[0].diffuse == 9999);
    qn_sw_weather_free(&w);
    w = read_epw(rows, (qn_sw_weather_options){ .corrected = 1 });
    assert_true(w.rows[0].rh == 99 && w.rows[0].ta == 99 && w.rows[0].global == 999);
    assert_true(isnan(w.rows[0].direct) && isnan(w.rows[0].diffuse) && w.rows[0].ws == 99);
    qn_sw_weather_free(&w);
}

static void rows_of_epw_that_are_no_rows_are_skipped(void **state)
{
    qn_sw_weather w =
        read_epw("1,2,3\n\n" EPW_ROW("year,1,1,1,0", "1", "1", "99000", "0", "0", "0", "0")
                     EPW_ROW("2020,1,1,1.5,0", "1", "1", "99000", "0", "0", "0", "0")
                         EPW_ROW("2020,1,1,5,0", "1", "1", "99000", "0", "0", "0", "0"),
                 (qn_sw_weather_options){ 0 });

    (void)state;
    assert_int_equal(w.n_rows, 1);
    assert_stamp(w.rows, 2020, 1, 1, 5, 0);
    assert_int_equal(w.rows[0].line, 13);
    qn_sw_weather_free(&w);
}

static void bad_epw_files_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        { "", ":1: an EPW file starts with LOCATION" },
        { "LOCATION,a,b\n", ":1: an EPW" },
        { "LOCATION,a,b,c,d,e,91,0,0,0\n", "latitude \"91\"" },
        { "LOCATION,a,b,c,d,e,10,0,0,high\n", "elevation \"high\"" },
        { "LOCATION,a,b,c,d,e,10,0,0,0\nA\nB\n", "header lines" },
        { EPW_HEAD, "0 rows of weather, none of them usable" },
        { EPW_HEAD EPW_ROW("2020,13,1,1,0", "1", "1", "99000", "0", "0", "0", "0"),
          ":9: 2020-13-1" },
        { EPW_HEAD EPW_ROW("2021,2,29,1,0", "1", "1", "99000", "0", "0", "0", "0"), ":9: 2021-2" },
        { EPW_HEAD EPW_ROW("2021,2,1,25,0", "1", "1", "99000", "0", "0", "0", "0"), "hour 25" },
        { EPW_HEAD EPW_ROW("2021,2,1,2,0", "1", "101", "99000", "0", "0", "0", "0"),
          ":9: relative humidity (%) of 101 is outside 0 .. 100" },
        { EPW_HEAD EPW_ROW("2021,2,1,2,0", "1", "10", "29999", "0", "0", "0", "0"),
          "pressure (hPa) of 299.99" },
        { EPW_HEAD EPW_ROW("2021,2,1,2,0", "1", "10", "99000", "-1", "0", "0", "0"), "global" },
        { EPW_HEAD EPW_ROW("2021,2,1,2,0", "1", "10", "99000", "1", "-5", "0", "0"), "direct" },
        { EPW_HEAD EPW_ROW("2021,2,1,2,0", "1", "10", "99000", "1", "0", "-5", "0"), "diffuse" },
        { EPW_HEAD EPW_ROW("2021,2,1,2,0", "1", "10", "99000", "1", "0", "0", "-2"), "wind" },
        { EPW_HEAD EPW_ROW("2021,2,1,2,0", "1e999", "10", "99000", "1", "0", "0", "2"), "air" },
        { EPW_HEAD EPW_ROW("2021,2,1,2,0", "1", "10", "99000", "1", "0", "0", "2")
              EPW_ROW("2021,2,1,2,60", "1", "10", "99000", "1", "0", "0", "2"),
          ":10: the time 2021-02-01 02:00 is in" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_refused(write_text("a.epw", bad[i].text), (qn_sw_weather_options){ 0 }, QN_ERR_INPUT,
                       bad[i].part);
    expect_refused(in_folder("none.epw"), (qn_sw_weather_options){ 0 }, QN_ERR_IO, "none.epw");
}

/* Dates. */

/* How many of the rows at 2019-12-31 00:00 + 6 h * k, k = 0 .. 15, pass. */
static int n_passing(const char *start, const char *end, const char *hours)
{
    qn_sw_date_filter filter;
    int n = 0;

    OK(qn_sw_date_filter_parse(start, end, hours, &filter, &err));
    for (int k = 0; k < 16; k++)
        n += qn_sw_date_passes(&filter, qn_sw_minutes_of(2019, 12, 31, 6 * k, 0));
    return n;
}

static void dates_choose_rows(void **state)
{
    (void)state;
    assert_int_equal(n_passing(NULL, NULL, NULL), 16);
    assert_int_equal(n_passing("2020-01-01", NULL, NULL), 4);
    assert_int_equal(n_passing("2020-01-01", "2020-01-02", NULL), 8);
    assert_int_equal(n_passing("2020-01-01", "2020-01-02T00:00", NULL), 8);
    assert_int_equal(n_passing("2020-01-01T06:00", NULL, NULL), 1);
    assert_int_equal(n_passing("2020-01-01T00:00", "2020-01-01T12:00", NULL), 3);
    assert_int_equal(n_passing("01-01", NULL, NULL), 4);
    assert_int_equal(n_passing("12-31", "01-01", NULL), 8); /* over the year's end */
    assert_int_equal(n_passing("01-02", "12-31", NULL), 12);
    assert_int_equal(n_passing(NULL, NULL, "6,12-17"), 8);
    assert_int_equal(n_passing("2020-01-01", NULL, "18"), 1);
}

static void dates_that_mean_nothing_are_refused(void **state)
{
    static const char *const bad[] = {
        "",           "2020",           "2020-13-01",       "2021-02-29",  "2020-1-1",
        "01-32",      "01-01T10:00",    "2020-01-01T24:00", "2020-01-01x", "2020/01/01",
        "0000-01-01", "2020-01-01T1:00"
    };
    qn_sw_date_filter f;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSED(qn_sw_date_filter_parse(bad[i], NULL, NULL, &f, &err), QN_ERR_USAGE, "YYYY-MM-DD");
    REFUSED(qn_sw_date_filter_parse(NULL, "2020-01-01", NULL, &f, &err), QN_ERR_USAGE, "start");
    REFUSED(qn_sw_date_filter_parse("01-01", "2020-01-01", NULL, &f, &err), QN_ERR_USAGE, "year");
    REFUSED(qn_sw_date_filter_parse("2020-01-02", "2020-01-01", NULL, &f, &err), QN_ERR_USAGE,
            "before");
    REFUSED(qn_sw_date_filter_parse(NULL, NULL, "9,24", &f, &err), QN_ERR_USAGE, "9,24");
    REFUSED(qn_sw_date_filter_parse(NULL, NULL, "9,,10", &f, &err), QN_ERR_USAGE, "hours");
    REFUSED(qn_sw_date_filter_parse(NULL, NULL, "12-9", &f, &err), QN_ERR_USAGE, "hours");
}

static void time_without_rows_is_refused(void **state)
{
    (void)state;
    expect_refused(write_text("a.epw", EPW_HEAD EPW_ROW("2020,1,1,1,0", "1", "1", "99000", "0", "0",
                                                        "0", "0")),
                   (qn_sw_weather_options){ .start = "2020-05-01" }, QN_ERR_INPUT,
                   "1 rows of weather");
}

/* UMEP text. */

/* Columns 0 .. 3 as `stamp`, and the values that are read. */
#define MET(stamp, ws, rh, ta, p, kdn, kdiff, kdir)                                                \
    stamp " -999 -999 -999 -999 -999 " ws " " rh " " ta " " p " 0 " kdn " 0 0 0 0 0 0 " kdiff      \
          "  " kdir " -999\n"

static void values_of_umep_text_are_converted(void **state)
{
    qn_sw_weather w = read_one(
        write_text("a.txt",
                   "%iy id it imin\n# note\n\n" MET("2021 60 0 30", "-999", "80", "5", "-998", "-3",
                                                    "-999", "-999.0")
                       MET("\t2021 60 0 40", "2.5", "81", "6", "99.5", "300", "100", "200")),
        (qn_sw_weather_options){ 0 });

    (void)state;
    assert_int_equal(w.n_rows, 2);
    assert_false(w.has_place);
    assert_stamp(&w.rows[0], 2021, 3, 1, 0, 30);
    assert_true(w.rows[0].ws == 1 && w.rows[0].pressure_hpa == 1013.25 && w.rows[0].global == 0);
    assert_true(isnan(w.rows[0].direct) && isnan(w.rows[0].diffuse));
    assert_true(w.rows[1].ws == 2.5 && w.rows[1].pressure_hpa == 995 && w.rows[1].global == 300);
    assert_true(w.rows[1].diffuse == 100 && w.rows[1].direct == 200);
    assert_true(w.rows[0].timestep_min == 10);
    qn_sw_weather_free(&w);
}

static void rows_without_temperature_are_dropped_but_count_for_the_step(void **state)
{
    qn_sw_weather w = read_one(
        write_text("a.txt", MET("2021 1 0 0", "1", "80", "5", "100", "0", "0", "0")
                                MET("2021 1 0 30", "1", "80", "-999", "100", "0", "0", "0")
                                    MET("2021 1 2 0", "1", "-999", "5", "100", "0", "0", "0")
                                        MET("2021 1 3 0", "1", "80", "5", "100", "0", "0", "0")),
        (qn_sw_weather_options){ 0 });

    (void)state;
    assert_int_equal(w.n_rows, 2);
    assert_true(w.rows[1].timestep_min == 30);
    qn_sw_weather_free(&w);
}

static void only_full_hours_can_be_asked_for(void **state)
{
    const char *path =
        write_text("a.txt", MET("2021 1 0 0", "1", "80", "5", "100", "0", "0", "0")
                                MET("2021 1 0 30", "1", "80", "5", "100", "0", "0", "0")
                                    MET("2021 1 1 0", "1", "80", "5", "100", "0", "0", "0"));
    qn_sw_weather w = read_one(path, (qn_sw_weather_options){ .hourly_only = 1 });

    (void)state;
    assert_int_equal(w.n_rows, 2);
    assert_true(w.rows[0].timestep_min == 60);
    qn_sw_weather_free(&w);
}

static void several_files_are_joined_by_time(void **state)
{
    const char *paths[] = {
        write_text("b.txt", MET("2021 2 0 0", "1", "80", "2", "100", "0", "0", "0")
                                MET("2021 1 5 0", "1", "80", "1", "100", "0", "0", "0")),
        write_text("a.txt", MET("2021 1 6 0", "1", "80", "3", "100", "0", "0", "0")),
        write_text("c.epw", EPW_HEAD),
    };
    const qn_sw_weather_options none = { 0 };
    qn_sw_weather w = { 0 };

    (void)state;
    OK(qn_sw_weather_read(paths, 2, &none, &w, &err));
    assert_int_equal(w.n_rows, 3);
    assert_true(w.rows[0].ta == 1 && w.rows[1].ta == 3 && w.rows[2].ta == 2);
    assert_int_equal(w.rows[1].file, 1);
    qn_sw_weather_free(&w);

    paths[1] = paths[0];
    REFUSED(qn_sw_weather_read(paths, 2, &none, &w, &err), QN_ERR_INPUT, "already");
    REFUSED(qn_sw_weather_read(paths + 1, 2, &none, &w, &err), QN_ERR_USAGE, "alone");
    REFUSED(qn_sw_weather_read(paths, 0, &none, &w, &err), QN_ERR_USAGE, "no weather file");
}

static void bad_umep_files_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        { "", "none of them usable" },
        { "iy id it\n1 2 3\n", "none of them usable" },
        { "%x\n" MET("2021 366 0 0", "1", "80", "5", "100", "0", "0", "0"), ":2: year 2021" },
        { MET("2021 1 0 60", "1", "80", "5", "100", "0", "0", "0"), "minute 60" },
        { MET("2021 1.5 0 0", "1", "80", "5", "100", "0", "0", "0"), "day 1.5" },
        { MET("2021 1 0 0", "1", "180", "5", "100", "0", "0", "0"), ":1: relative humidity" },
        { MET("2021 1 0 0", "1", "80", "5", "20", "0", "0", "0"), "pressure (hPa) of 200" },
        { MET("2021 1 0 0", "-1", "80", "5", "100", "0", "0", "0"), "wind speed (m/s) of -1" },
        { MET("2021 1 0 0", "1", "80", "5", "100", "0", "-7", "0"), "diffuse radiation" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_refused(write_text("a.txt", bad[i].text), (qn_sw_weather_options){ 0 }, QN_ERR_INPUT,
                       bad[i].part);
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_of_four_centuries_is_taken_apart_and_put_together),
        cmocka_unit_test(rows_of_ga_are_those_of_the_reference),
        cmocka_unit_test(rows_of_gbg_are_those_of_the_reference),
        cmocka_unit_test(week_with_a_plain_header_line_is_read),
        cmocka_unit_test(athens_has_its_place_and_every_hour),
        T(missing_values_of_epw_have_defaults),
        T(humidity_of_99_is_missing_unless_corrected),
        T(rows_of_epw_that_are_no_rows_are_skipped),
        T(bad_epw_files_are_refused_with_their_line),
        cmocka_unit_test(dates_choose_rows),
        cmocka_unit_test(dates_that_mean_nothing_are_refused),
        T(time_without_rows_is_refused),
        T(values_of_umep_text_are_converted),
        T(rows_without_temperature_are_dropped_but_count_for_the_step),
        T(only_full_hours_can_be_asked_for),
        T(several_files_are_joined_by_time),
        T(bad_umep_files_are_refused_with_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
