/* test_sw_run_golden.c - whole days at Gustav Adolfs torg, compared with golden data. */
/* test: long, cost 19 */
#include "sw_run_fixture.h"

enum { GA = 104 * 116 };

static double cell(const qn_csv *csv, size_t row, const char *name)
{
    size_t col = 0;
    double value = 0;

    must_do(qn_csv_column(csv, name, &col, &err));
    must_do(qn_csv_f64(csv, row, col, -1e9, 1e9, &value, &err));
    return value;
}

/* Compares rows of the run with the table: scalars by 1e-4, means by 0.005 K. */
static void check_rows(const qn_sw_run_result *result, const char *prefix)
{
    char name[96];
    qn_csv csv = { 0 };

    snprintf(name, sizeof name, "%s_timeseries.csv", prefix);
    must_do(qn_csv_read(ga_path(name), &csv, &err));
    assert_int_equal(csv.n_rows, result->n_steps);
    for (size_t r = 0; r < csv.n_rows; r++) {
        const qn_sw_step *got = &result->steps[r];
        const struct {
            const char *name;
            double got, within;
        } list[] = {
            { "direct", got->direct, 0.01 },
            { "diffuse", got->diffuse, 0.01 },
            { "sun_altitude", got->sun_altitude, 1e-4 },
            { "clearness_index", got->clearness, 1e-4 },
            { "tmrt_mean", got->tmrt_mean, 0.005 },
        };

        for (size_t i = 0; i < sizeof list / sizeof *list; i++)
            if (!(fabs(list[i].got - cell(&csv, r, list[i].name)) <= list[i].within))
                fail_msg("%s row %zu: %s is %.7g, not %.7g", prefix, r, list[i].name, list[i].got,
                         cell(&csv, r, list[i].name));
        assert_int_equal(got->n_valid, GA);
        if (got->is_day && !(fabs(got->sun_fraction - cell(&csv, r, "sunlit_mean")) <= 1e-5))
            fail_msg("%s row %zu: sunlit %.7g, not %.7g", prefix, r, got->sun_fraction,
                     cell(&csv, r, "sunlit_mean"));
    }
    qn_csv_free(&csv);
}

/* 99.9 % of the pixels within `most`, none beyond `worst`. */
static void check_plane(const kept_planes *kept, const char *prefix, qn_sw_plane plane, int hour,
                        double most, double worst)
{
    char name[96];
    float *want;
    const float *got = kept->plane[plane] + (size_t)hour * kept->pixels;
    double max = 0;
    int n_far = 0;

    snprintf(name, sizeof name, "ga/%s_%s_h%02d", prefix, qn_sw_plane_name(plane), hour);
    want = golden_floats(name, GA);
    assert_int_equal(kept->pixels, GA);
    for (int i = 0; i < GA; i++) {
        const double off = fabs((double)got[i] - (double)want[i]);

        assert_int_equal(isnan(got[i]) != 0, isnan(want[i]) != 0);
        if (isnan(want[i]))
            continue;
        max = off > max ? off : max;
        n_far += off > most;
    }
    if (n_far > GA / 1000 || max > worst)
        fail_msg("%s: %d pixels are off by more than %g, the worst by %g", name, n_far, most, max);
    free(want);
}

static void check_site(const qn_sw_run_config *config, const char *prefix, const place *at,
                       const int *hours, const int *all_planes_at)
{
    qn_sw_plane_set set = 1u << QN_SW_TMRT;
    kept_planes kept = { 0 };
    qn_ctx *ctx = open_place(at);
    qn_sw_run_result result;

    if (all_planes_at)
        set |= 1u << QN_SW_SHADOW | 1u << QN_SW_KDOWN | 1u << QN_SW_KUP | 1u << QN_SW_LDOWN |
               1u << QN_SW_LUP;
    result = run_kept(ctx, config, set, &kept);
    check_rows(&result, prefix);
    for (; *hours >= 0; hours++)
        check_plane(&kept, prefix, QN_SW_TMRT, *hours, 0.02, 0.1);
    if (all_planes_at) {
        const int hour = *all_planes_at;

        check_plane(&kept, prefix, QN_SW_KDOWN, hour, 0.02, 0.5);
        check_plane(&kept, prefix, QN_SW_KUP, hour, 0.02, 0.5);
        check_plane(&kept, prefix, QN_SW_LDOWN, hour, 0.02, 0.5);
        check_plane(&kept, prefix, QN_SW_LUP, hour, 0.02, 0.5);
    }
    drop_planes(&kept);
    qn_sw_run_result_free(&result);
    qn_ctx_close(ctx);
}

static const place places[] = { { "cpu", "cpu", NULL }, { "opencl", "opencl", NULL } };

static void anisotropic_day_is_that_of_golden_data(void **state)
{
    static const int hours[] = { 3, 8, 13, 18, -1 }, noon = 13;
    const char *weather;
    qn_sw_run_config config;

    (void)state;
    need_golden("solweig/ga/DSM_GA.tif");
    weather = ga_path("MetFile_20060726.txt");
    config = ga_config(&weather);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        if (is_here(&places[k]))
            check_site(&config, "aniso_20060726", &places[k], hours, &noon);
}

static void isotropic_day_is_that_of_golden_data(void **state)
{
    static const int hours[] = { 8, 13, -1 }, noon = 13;
    const char *weather;
    qn_sw_run_config config;

    (void)state;
    need_golden("solweig/ga/DSM_GA.tif");
    weather = ga_path("MetFile_20060726.txt");
    config = ga_config(&weather);
    config.options.sky = QN_SW_ISOTROPIC;
    check_site(&config, "iso_20060726", &places[0], hours, &noon);
}

static void sitting_person_is_that_of_golden_data(void **state)
{
    static const int hours[] = { 13, -1 };
    const char *weather;
    qn_sw_run_config config;

    (void)state;
    need_golden("solweig/ga/DSM_GA.tif");
    weather = ga_path("MetFile_20060726.txt");
    config = ga_config(&weather);
    config.params.person.pose = QN_SW_SITTING;
    check_site(&config, "aniso_sitting_20060726", &places[0], hours, NULL);
}

static void estimated_split_is_that_of_golden_data(void **state)
{
    static const int hours[] = { 12, -1 };
    const char *weather;
    qn_sw_run_config config;

    (void)state;
    need_golden("solweig/ga/DSM_GA.tif");
    weather = ga_path("MetFile_20051011.txt");
    config = ga_config(&weather);
    config.options.ignore_split = 1;
    check_site(&config, "aniso_20051011_estimated_split", &places[0], hours, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anisotropic_day_is_that_of_golden_data),
        cmocka_unit_test(isotropic_day_is_that_of_golden_data),
        cmocka_unit_test(sitting_person_is_that_of_golden_data),
        cmocka_unit_test(estimated_split_is_that_of_golden_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
