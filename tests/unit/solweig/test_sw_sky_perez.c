/* test_sw_sky_perez.c - luminance of the sky and sizes of its patches. */
#include "sw_sky_fixture.h"

#include "domain/solweig/sky/sky.h"

enum { MAX_PATCHES = 609 };

/* The patches of one option in the golden table. */
typedef struct patches {
    float altitude[MAX_PATCHES], azimuth[MAX_PATCHES], steradian[MAX_PATCHES];
    size_t n;
} patches;

static patches patches_of(int option)
{
    qn_csv csv = golden_csv("solweig/tables/patches.csv");
    patches p = { .n = 0 };

    for (size_t i = 0; i < csv.n_rows; i++) {
        if ((int)number_at(&csv, i, "patch_option") != option)
            continue;
        p.altitude[p.n] = (float)number_at(&csv, i, "altitude_deg");
        p.azimuth[p.n] = (float)number_at(&csv, i, "azimuth_deg_sky");
        p.steradian[p.n++] = (float)number_at(&csv, i, "steradian");
    }
    qn_csv_free(&csv);
    return p;
}

static void luminance_agrees_with_the_golden_cases(void **state)
{
    float got[MAX_PATCHES] = { 0 };
    patches p = { .n = 0 };
    qn_csv csv;
    int now = -1;

    (void)state;
    need_golden("solweig/tables/perez_cases.csv");
    csv = golden_csv("solweig/tables/perez_cases.csv");
    for (size_t i = 0; i < csv.n_rows; i++) {
        const size_t patch = (size_t)number_at(&csv, i, "patch_index");
        const qn_sw_perez_sky sky = { number_at(&csv, i, "zenith_deg"),
                                      number_at(&csv, i, "azimuth_deg"),
                                      number_at(&csv, i, "diffuse"), number_at(&csv, i, "direct"),
                                      (int)number_at(&csv, i, "jday") };

        if (now != (int)number_at(&csv, i, "case")) {
            now = (int)number_at(&csv, i, "case");
            p = patches_of((int)number_at(&csv, i, "patch_option"));
            qn_sw_perez_luminance(&sky, p.altitude, p.azimuth, p.n, got);
        }
        assert_true(patch < p.n);
        expect_near("luminance", i, (double)got[patch], number_at(&csv, i, "luminance"), 1e-4, 0);
    }
    assert_int_equal(now, 7);
    qn_csv_free(&csv);
}

/* A ring of patches, and one at the zenith. */
static void ring(float *altitude, float *azimuth, int n, float at)
{
    for (int i = 0; i < n; i++) {
        altitude[i] = at;
        azimuth[i] = 360.0f * (float)i / (float)n;
    }
    altitude[n] = 90;
    azimuth[n] = 0;
}

static void luminance_sums_to_one_and_is_brightest_near_the_sun(void **state)
{
    float altitude[37], azimuth[37], l[37];
    double sum = 0;

    (void)state;
    ring(altitude, azimuth, 36, 42);
    qn_sw_perez_luminance(&(qn_sw_perez_sky){ 48, 120, 100, 700, 180 }, altitude, azimuth, 37, l);
    for (int i = 0; i < 37; i++) {
        sum += (double)l[i];
        assert_true(i == 12 || l[i] < l[12]);
    }
    expect_near("sum", 0, sum, 1, 0, 1e-6);
    assert_true(fabsf(l[11] - l[13]) < 1e-6f * l[12] + 1e-6f); /* the same on both sides of it */
}

static void sky_is_uniform_where_the_model_has_no_say(void **state)
{
    const qn_sw_perez_sky skies[] = {
        { 87.5, 120, 100, 700, 180 }, /* lower than 3 degrees */
        { 48, 120, 9.9, 700, 180 },   /* hardly any diffuse light */
        { 95, 120, 100, 0, 180 },     /* night */
    };
    float altitude[37], azimuth[37], l[37];

    (void)state;
    ring(altitude, azimuth, 36, 42);
    for (int k = 0; k < 3; k++) {
        qn_sw_perez_luminance(&skies[k], altitude, azimuth, 37, l);
        for (int i = 0; i < 37; i++)
            assert_true(l[i] == (float)(1.0 / 37));
    }
    qn_sw_perez_luminance(&(qn_sw_perez_sky){ 86.9, 120, 10.1, 0, 180 }, altitude, azimuth, 37, l);
    assert_true(l[0] != l[36]);
}

/* The classes meet at the edges of clearness; below the first edge the sky is overcast. */
static void every_class_of_clearness_gives_a_sky(void **state)
{
    float altitude[37], azimuth[37], l[37], before = 0;

    (void)state;
    ring(altitude, azimuth, 36, 42);
    for (double direct = 0; direct < 1000; direct += 20) {
        double sum = 0;

        qn_sw_perez_luminance(&(qn_sw_perez_sky){ 40, 180, 120, direct, 180 }, altitude, azimuth,
                              37, l);
        for (int i = 0; i < 37; i++) {
            assert_true(l[i] >= 0 && isfinite(l[i]));
            sum += (double)l[i];
        }
        expect_near("sum", (size_t)direct, sum, 1, 0, 1e-6);
        if (direct == 0)
            before = l[18];
    }
    assert_true(l[18] > 1.2f * before);
}

static void solid_angles_agree_with_the_golden_table(void **state)
{
    float got[MAX_PATCHES];

    (void)state;
    need_golden("solweig/tables/patches.csv");
    for (int k = 1; k <= 4; k++) {
        const patches want = patches_of(k);
        double sum = 0;

        qn_sw_steradians(want.altitude, want.n, got);
        for (size_t i = 0; i < want.n; i++) {
            expect_near("steradian", i, (double)got[i], (double)want.steradian[i], 1e-6, 0);
            sum += (double)got[i];
        }
        expect_near("hemisphere", (size_t)k, sum, 2 * M_PI, 1e-6, 0);
    }
}

/* A single band, and invalid altitudes: no more is written than there are patches. */
static void odd_bands_have_solid_angles_of_their_own(void **state)
{
    const float one[] = { 45, 45, 45 }, odd[] = { NAN, NAN, 20 };
    float got[4] = { 0, 0, 0, -1 };

    (void)state;
    qn_sw_steradians(one, 3, got);
    for (int i = 0; i < 3; i++)
        expect_near("third of the sky", (size_t)i, (double)got[i], 2 * M_PI / 3, 1e-6, 0);
    qn_sw_steradians(odd, 3, got);
    assert_true(isnan(got[0]) && isnan(got[1]) && got[3] == -1);
    qn_sw_steradians(NULL, 0, got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(luminance_agrees_with_the_golden_cases),
        cmocka_unit_test(luminance_sums_to_one_and_is_brightest_near_the_sun),
        cmocka_unit_test(sky_is_uniform_where_the_model_has_no_say),
        cmocka_unit_test(every_class_of_clearness_gives_a_sky),
        cmocka_unit_test(solid_angles_agree_with_the_golden_table),
        cmocka_unit_test(odd_bands_have_solid_angles_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
