/* test_sw_fuzz.c - damaged input: readers give an error or something that can be, never a crash.
 *
 * Each seed text is changed at a few places, thousands of times: bytes replaced, removed, doubled,
 * the text cut. The changes depend on nothing but a counter, so a failure comes back.
 */
#include "sw_fixture.h"

#include "domain/solweig/input/params.h"
#include "domain/solweig/input/poi.h"
#include "domain/solweig/weather/weather.h"

enum { ROUNDS = 3000, MAX_TEXT = 8192 };

typedef struct {
    char text[MAX_TEXT];
    size_t len;
} sample;

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    return qn_random_u64(20240, (*seed)++) % below;
}

static void mutate_once(sample *s, uint64_t *seed)
{
    static const char tokens[] = "0123456789-+.,:;%# \n\r\t\"{}[]eEnNxX_\\/\0\x80\xFF";
    const size_t at = draw(seed, s->len + 1);
    const size_t n = draw(seed, 12) + 1;

    switch (draw(seed, 5)) {
    case 0: /* replace */
        if (at < s->len)
            s->text[at] = tokens[draw(seed, sizeof tokens - 1)];
        break;
    case 1: /* remove */
        if (at + n <= s->len) {
            memmove(s->text + at, s->text + at + n, s->len - at - n);
            s->len -= n;
        }
        break;
    case 2: /* double */
        if (at + n <= s->len && s->len + n <= MAX_TEXT) {
            memmove(s->text + at + n, s->text + at, s->len - at);
            s->len += n;
        }
        break;
    case 3: /* insert */
        if (s->len < MAX_TEXT) {
            memmove(s->text + at + 1, s->text + at, s->len - at);
            s->text[at] = tokens[draw(seed, sizeof tokens - 1)];
            s->len++;
        }
        break;
    default: /* cut, now and then */
        if (draw(seed, 8) == 0)
            s->len = at;
    }
}

/* Writes variant `round` of `seed_text`, without the care for full disks that costs a sync. */
static const char *write_variant(const char *name, const char *seed_text, size_t len, int round)
{
    const char *path = in_folder(name);
    uint64_t seed = (uint64_t)round << 20;
    sample s = { .len = len };
    FILE *file;

    unlink(path); /* a file that is cut and written again is flushed to the disk by some systems */
    file = fopen(path, "wb");
    assert_non_null(file);
    memcpy(s.text, seed_text, len);
    for (uint64_t k = draw(&seed, 6); k-- > 0;)
        mutate_once(&s, &seed);
    assert_int_equal(fwrite(s.text, 1, s.len, file), s.len);
    fclose(file);
    return path;
}

/* A failure has a status and a sentence of one line that names the file. */
static void expect_sentence(const qn_err *err, const char *name)
{
    assert_int_not_equal(err->status, QN_OK);
    assert_non_null(strstr(err->text, name));
    assert_null(strchr(err->text, '\n'));
}

/* Weather. */

static const char epw[] =
    "LOCATION,Town,-,-,-,-,10.5,-20.25,-3.5,12\nA\nB\nC\nD\nE\nF\nG\n"
    "2023,1,1,1,0,9,7.3,6.6,95,100975,9999,9999,283,0,0,0,999999,999999,999999,9999,359,1.3,7\n"
    "2023,1,1,2,0,9,7.3,6.7,96,100982,9999,9999,298,0,0,0,999999,999999,999999,9999,358,1.5,7\n"
    "2023,1,1,24,60,9,7.3,6.7,96,100982,9999,9999,298,0,0,0,999999,999999,999999,9999,358,1.5,7\n";

static const char met[] =
    "%iy  id  it imin   Q*      QH\n"
    "2006 207 0 7 -999.00 -999.00 -999.00 -999.00 -999.00 -999.00 91.00 20.50 -999.00 -999.00 0.00 "
    "-999.00 -999.00 -999.00 -999.00 -999.00 -999.00 0.00 0.00 -999.00\n"
    "2006 207 1 7 -999.00 -999.00 -999.00 -999.00 -999.00 2.0 92.00 20.40 101.3 -999.00 10.00 "
    "-999.00 -999.00 -999.00 -999.00 -999.00 -999.00 4.00 6.00 -999.00\r\n";

static void check_weather(const qn_sw_weather *w)
{
    assert_true(w->n_rows > 0);
    for (size_t i = 0; i < w->n_rows; i++) {
        const qn_sw_weather_row *r = &w->rows[i];

        assert_true(r->rh >= 0 && r->rh <= 100 && r->global >= 0 && r->ws >= 0);
        assert_true(r->pressure_hpa >= 300 && r->pressure_hpa <= 1100 && isfinite(r->ta));
        assert_true(r->timestep_min > 0 && r->date.month >= 1 && r->date.month <= 12);
        assert_int_equal(qn_sw_minutes_of(r->date.year, r->date.month, r->date.day, r->date.hour,
                                          r->date.minute),
                         r->minutes);
    }
}

static void expect_weather_survives(const char *name, const char *text, size_t len)
{
    int n_good = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const qn_sw_weather_options options = { .corrected = round & 1 };
        const char *path = write_variant(name, text, len, round);
        qn_sw_weather w = { 0 };
        qn_err err = { .text = "" };

        if (qn_sw_weather_read(&path, 1, &options, &w, &err) == QN_OK) {
            check_weather(&w);
            n_good++;
        } else {
            expect_sentence(&err, name);
        }
        qn_sw_weather_free(&w);
    }
    /* Both ends are reached, or the changes would be too mild or too wild to tell anything. */
    assert_true(n_good > ROUNDS / 20 && n_good < ROUNDS - ROUNDS / 20);
}

static void damaged_epw_files_never_crash(void **state)
{
    (void)state;
    expect_weather_survives("a.epw", epw, sizeof epw - 1);
}

static void damaged_umep_files_never_crash(void **state)
{
    (void)state;
    expect_weather_survives("a.txt", met, sizeof met - 1);
}

static void damaged_dates_never_crash(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t seed = (uint64_t)round << 20;
        sample start = { "2020-01-31T06:00", 16 }, end = { "02-29", 5 }, hours = { "9,12-15", 7 };
        qn_sw_date_filter f;
        qn_err err = { .text = "" };

        for (int k = 0; k < 3; k++) {
            mutate_once(k == 0 ? &start : k == 1 ? &end : &hours, &seed);
        }
        start.text[start.len] = end.text[end.len] = hours.text[hours.len] = '\0';
        if (qn_sw_date_filter_parse(round & 1 ? start.text : end.text, round & 2 ? end.text : NULL,
                                    round & 4 ? hours.text : NULL, &f, &err) == QN_OK)
            (void)qn_sw_date_passes(&f, round);
        else
            assert_int_equal(err.status, QN_ERR_USAGE);
    }
}

/* Points and parameters. */

static const char geojson[] =
    "{\"type\": \"FeatureCollection\", \"features\": [\n"
    " {\"type\": \"Feature\", \"geometry\": {\"type\": \"Point\", \"coordinates\": [120, 40]},\n"
    "  \"properties\": {\"name\": \"a\"}},\n"
    " {\"type\": \"Feature\", \"geometry\": {\"type\": \"Point\", \"coordinates\": [1.3e2, "
    "41.5]}}]}";

static const char csv[] = "name,x,y\na,120,40\n\"b \"\"c\"\"\",133.5,41\n# note\nd,120.25,49\n";

static void expect_points_survive(const char *name, const char *text, size_t len)
{
    const qn_sw_place place = {
        .rows = 10, .cols = 20, .transform = { 100, 2, 0, 50, 0, -2 }, .pixel_size = 2
    };
    int n_good = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const char *path = write_variant(name, text, len, round);
        qn_sw_pois pois = { 0 };
        qn_err err = { .text = "" };

        if (qn_sw_pois_read(path, &place, &pois, &err) == QN_OK) {
            for (size_t i = 0; i < pois.n; i++)
                assert_true(pois.list[i].row >= 0 && pois.list[i].row < 10 &&
                            pois.list[i].col >= 0 && pois.list[i].col < 20);
            n_good++;
        } else {
            expect_sentence(&err, name);
        }
        qn_sw_pois_free(&pois);
    }
    assert_true(n_good > ROUNDS / 20 && n_good < ROUNDS - ROUNDS / 20);
}

static void damaged_points_never_crash(void **state)
{
    (void)state;
    expect_points_survive("a.geojson", geojson, sizeof geojson - 1);
    expect_points_survive("a.csv", csv, sizeof csv - 1);
}

static const char params[] =
    "{\"Names\": {\"Value\": {\"0\": \"Stone\", \"5\": \"Lawn\", \"99\": \"Walls\"}},\n"
    " \"Albedo\": {\"Effective\": {\"Value\": {\"Stone\": 0.3}}},\n"
    " \"Emissivity\": {\"Value\": {\"Lawn\": 0.91}},\n"
    " \"Tmrt_params\": {\"Value\": {\"absK\": 0.6, \"posture\": \"Sitting\"}},\n"
    " \"Tree_settings\": {\"Value\": {\"Transmissivity\": 0.1, \"First_day_leaf\": 90}}}";

static void damaged_parameters_never_crash(void **state)
{
    int n_good = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const char *path = write_variant("p.json", params, sizeof params - 1, round);
        qn_err err = { .text = "" };
        qn_sw_params p;

        qn_sw_params_default(&p);
        if (qn_sw_params_read(path, &p, &err) == QN_OK) {
            assert_true(p.cover[0].albedo >= 0 && p.cover[0].albedo <= 1);
            assert_true(p.trees.first_leaf_day >= 1 && p.trees.first_leaf_day <= 366);
            n_good++;
        } else {
            expect_sentence(&err, "p.json");
        }
    }
    assert_true(n_good > ROUNDS / 20 && n_good < ROUNDS - ROUNDS / 20);
}

/* Rasters. */

static void damaged_arrays_never_crash(void **state)
{
    float values[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    const qn_npy array = { .type = QN_NPY_F4, .n_dims = 2, .dims = { 3, 4 }, .data = values };
    char *text = NULL;
    size_t len = 0;
    int n_good = 0;

    (void)state;
    OK(qn_npy_write(in_folder("seed.npy"), &array, &err));
    OK(qn_file_read(in_folder("seed.npy"), &text, &len, &err));
    for (int round = 0; round < ROUNDS; round++) {
        const char *path = write_variant("a.npy", text, len, round);
        qn_sw_raster r = { 0 };
        qn_err err = { .text = "" };

        if (qn_sw_raster_read(path, NULL, &r, &err) == QN_OK) {
            assert_true(r.place.rows * r.place.cols <= MAX_TEXT);
            n_good++;
        } else {
            expect_sentence(&err, "a.npy");
        }
        qn_sw_raster_free(&r);
    }
    assert_true(n_good > ROUNDS / 20 && n_good < ROUNDS - ROUNDS / 20);
    free(text);
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(damaged_epw_files_never_crash),
        T(damaged_umep_files_never_crash),
        cmocka_unit_test(damaged_dates_never_crash),
        T(damaged_points_never_crash),
        T(damaged_parameters_never_crash),
        T(damaged_arrays_never_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
