/* test_sw_svf.c - view factors and bits of patches: properties, branches, devices, parts. */
/* test: cost 5 */
#include "sw_shadow_fixture.h"

#include "domain/solweig/shadow/shadow.h"

enum { ZENITH = 152 }; /* of option 2 */

static const qn_sw_lanes forms[] = { QN_SW_LANES_ROWS, QN_SW_LANES_TILES };

static void expect_equal(const views *got, const views *want, const char *where)
{
    const size_t bytes = want->cells * (size_t)want->n_bytes;

    assert_int_equal(got->cells, want->cells);
    if (n_unequal(got->svf, want->svf, want->cells * SW_SVF_PLANES) ||
        memcmp(got->bldg, want->bldg, bytes) != 0 || memcmp(got->veg, want->veg, bytes) != 0 ||
        memcmp(got->vb, want->vb, bytes) != 0)
        fail_msg("view factors differ: %s", where);
}

static views svf_of(const place *at, const site *s, qn_sw_area area, int option)
{
    city c = city_open(at, s, area);
    views v = city_svf(&c, option);

    city_close(&c);
    return v;
}

static int bit_of(const uint8_t *bytes, int n_bytes, size_t pixel, int patch)
{
    return bytes[pixel * (size_t)n_bytes + (size_t)patch / 8] >> patch % 8 & 1;
}

/* Ground at 0 without vegetation. */
static site flat_site(int rows, int cols)
{
    site s = { .rows = rows, .cols = cols, .px = 1, .max_height = 30 };

    s.dsm = plane_new(site_cells(&s));
    return s;
}

static void add_vegetation(site *s)
{
    s->canopy = plane_new(site_cells(s));
    s->trunk = plane_new(site_cells(s));
    for (size_t i = 0; i < site_cells(s); i++)
        s->canopy[i] = s->trunk[i] = NAN;
}

/* Properties. */

static void flat_ground_sees_the_whole_sky(void **state)
{
    (void)state;
    for (int option = 1; option <= 4; option++) {
        site s = flat_site(20, 35);
        views v = svf_of(&cpu_place, &s, (qn_sw_area){ .gmax = 1 }, option);

        /* Weights of a direction do not add up to 1: the west of option 2 to 0.9234. */
        for (size_t i = 0; i < SW_SVF_PLANES * v.cells; i++)
            assert_true(v.svf[i] > (i / v.cells % 5 ? 0.92f : 0.9999f) && v.svf[i] <= 1);
        for (size_t p = 0; p < v.cells; p++)
            for (int k = 0; k < qn_sw_patch_count(option); k++)
                assert_int_equal(bit_of(v.bldg, v.n_bytes, p, k), 1);
        views_free(&v);
        site_free(&s);
    }
}

static void the_floor_of_a_deep_canyon_sees_little(void **state)
{
    (void)state;
    site s = flat_site(60, 61);

    for (size_t i = 0; i < site_cells(&s); i++)
        s.dsm[i] = i % 61 >= 28 && i % 61 <= 32 ? 0 : 30;
    views v = svf_of(&cpu_place, &s, (qn_sw_area){ 0 }, 2);

    const size_t mid = 30 * 61 + 30;

    assert_true(v.svf[mid] < 0.25f);
    assert_true(v.svf[mid - 10] > 0.95f); /* the roof */
    /* Walls in the east and west: the canyon is open to the north and south. */
    assert_int_equal(bit_of(v.bldg, v.n_bytes, mid, 0), 1);
    assert_int_equal(bit_of(v.bldg, v.n_bytes, mid, 8), 0);
    assert_int_equal(bit_of(v.bldg, v.n_bytes, mid, ZENITH), 1);
    views_free(&v);
    site_free(&s);
}

static void a_square_court_is_alike_in_all_directions(void **state)
{
    (void)state;
    site s = flat_site(61, 61);

    for (int r = 0; r < 61; r++)
        for (int c = 0; c < 61; c++)
            s.dsm[r * 61 + c] = abs(r - 30) <= 12 && abs(c - 30) <= 12 ? 0 : 14;
    views v = svf_of(&cpu_place, &s, (qn_sw_area){ 0 }, 4);

    for (int k = 1; k < 5; k++)
        assert_float_equal(v.svf[(size_t)k * v.cells + 30 * 61 + 30], v.svf[30 * 61 + 30], 0.03);
    views_free(&v);
    site_free(&s);
}

static void view_factors_are_shares_and_missing_ground_has_none(void **state)
{
    (void)state;
    site s = random_site(50, 66, 1, 21);
    views v = svf_of(&cpu_place, &s, (qn_sw_area){ 0 }, 2);
    size_t n_missing = 0;

    for (size_t p = 0; p < v.cells; p++) {
        for (int k = 0; k < SW_SVF_PLANES; k++) {
            const float f = v.svf[(size_t)k * v.cells + p];

            assert_true(isnan(s.dsm[p]) ? isnan(f) : f >= 0 && f <= 1);
        }
        for (int k = 0; isnan(s.dsm[p]) && k < v.n_bytes; k++) {
            const size_t at = p * (size_t)v.n_bytes + (size_t)k;

            assert_int_equal(v.bldg[at] | v.veg[at] | v.vb[at], 0);
        }
        n_missing += isnan(s.dsm[p]) != 0;
    }
    assert_true(n_missing > 0);
    views_free(&v);
    site_free(&s);
}

/* The bits equal shadows of suns in the middle of the patches. */
static void bits_are_shadows_of_suns_at_the_patches(void **state)
{
    (void)state;
    site s = random_site(44, 53, 1, 22);
    qn_sw_patch patches[QN_SW_MAX_PATCHES];
    city c;
    views v;

    for (size_t i = 0; i < site_cells(&s); i++) /* bushes matter only for view factors */
        s.trunk[i] = isnan(s.trunk[i]) && !isnan(s.canopy[i]) ? s.canopy[i] : s.trunk[i];
    c = city_open(&cpu_place, &s, (qn_sw_area){ 0 });
    v = city_svf(&c, 2);
    must_do(qn_sw_patches(2, patches, &err));
    for (int k = 0; k < ZENITH; k += 7) {
        float *got =
            city_shadow(&c, (qn_sw_beam){ patches[k].azimuth, patches[k].altitude, 0.03f }, 0);
        const float *detail = got + 2 * c.cells;

        for (size_t p = 0; p < c.cells; p++) {
            if (isnan(s.dsm[p]) || s.trunk[p] == 0)
                continue;
            assert_int_equal(bit_of(v.bldg, v.n_bytes, p, k), detail[p] == 1);
            assert_int_equal(bit_of(v.veg, v.n_bytes, p, k), detail[c.cells + p] == 1);
            assert_int_equal(bit_of(v.vb, v.n_bytes, p, k), detail[2 * c.cells + p] == 1);
        }
        free(got);
    }
    views_free(&v);
    city_close(&c);
    site_free(&s);
}

static void without_vegetation_its_view_is_free_and_vb_is_bldg(void **state)
{
    (void)state;
    site s = random_site(40, 40, 1, 23);

    free(s.canopy);
    free(s.trunk);
    s.canopy = s.trunk = NULL;
    views v = svf_of(&cpu_place, &s, (qn_sw_area){ 0 }, 2);
    const size_t bytes = v.cells * (size_t)v.n_bytes;

    assert_memory_equal(v.vb, v.bldg, bytes);
    for (size_t p = 0; p < v.cells; p++) {
        for (int k = 0; k < v.n_bytes; k++)
            assert_int_equal(v.veg[p * (size_t)v.n_bytes + (size_t)k], isnan(s.dsm[p]) ? 0 : 0xff);
        for (size_t k = SW_SVF_VEG; k < SW_SVF_PLANES; k++)
            assert_true(isnan(s.dsm[p]) || v.svf[k * v.cells + p] == 1);
    }
    views_free(&v);
    site_free(&s);
}

/* Quirks of the reference. */

static void the_zenith_is_not_shaded_by_a_canopy(void **state)
{
    (void)state;
    site s = flat_site(9, 9);
    views v;

    add_vegetation(&s);
    s.canopy[40] = 8;
    v = svf_of(&cpu_place, &s, (qn_sw_area){ 0 }, 2);
    for (int k = 0; k < ZENITH; k++)
        assert_int_equal(bit_of(v.veg, v.n_bytes, 40, k), 0);
    assert_int_equal(bit_of(v.veg, v.n_bytes, 40, ZENITH), 1);
    assert_true(fabsf(v.svf[SW_SVF_VEG * v.cells + 40] - 0.0109262f) < 1e-6f);
    views_free(&v);
    site_free(&s);
}

/* A canopy above 1 m, though below the ground, still shades its pixel if there is no trunk zone:
 * heights of bushes are compared with 1, not with the ground. */
static void a_bush_shades_its_own_pixel(void **state)
{
    (void)state;
    site s = flat_site(9, 9);
    views v;

    for (int i = 0; i < 81; i++)
        s.dsm[i] = 20;
    add_vegetation(&s);
    s.canopy[40] = 5;
    v = svf_of(&cpu_place, &s, (qn_sw_area){ 0 }, 2);
    for (int k = 0; k < ZENITH; k++)
        assert_int_equal(bit_of(v.veg, v.n_bytes, 40, k), 0);
    assert_int_equal(bit_of(v.veg, v.n_bytes, 41, 5), 1);
    views_free(&v);
    site_free(&s);
}

static void south_and_west_are_corrected_and_vegetation_only_over_trunks_of_0(void **state)
{
    (void)state;
    site s = flat_site(41, 41);
    views v;

    add_vegetation(&s);
    for (int i = 0; i < 41 * 41; i++)
        s.dsm[i] = i % 41 < 3 || i % 41 > 37 || i / 41 < 3 || i / 41 > 37 ? 10 : 0;
    s.trunk[20 * 41 + 20] = 0;
    v = svf_of(&cpu_place, &s, (qn_sw_area){ 0 }, 2);
    for (int k = 0; k < 2; k++) {
        const size_t at = 20 * 41 + 20 + (size_t)k;
        const float *const veg = v.svf + SW_SVF_VEG * v.cells + at;
        float south = 0, veg_south = 0;
        qn_sw_patch patches[QN_SW_MAX_PATCHES];

        must_do(qn_sw_patches(2, patches, &err));
        for (int i = 0; i <= ZENITH; i++) {
            south += bit_of(v.bldg, v.n_bytes, at, i) ? patches[i].weight.south : 0;
            veg_south += bit_of(v.veg, v.n_bytes, at, i) ? patches[i].weight.south : 0;
        }
        assert_true(v.svf[3 * v.cells + at] == fminf(south + 3.0459e-4f, 1));
        assert_true(veg[3 * v.cells] == fminf(veg_south + (k == 0 ? 3.0459e-4f : 0), 1));
    }
    views_free(&v);
    site_free(&s);
}

/* Other ways to the same result. */

static void exits_change_no_bit(void **state)
{
    static const int off[] = { SW_EXIT_ABOVE, SW_EXIT_LEGS, SW_EXIT_SHADE, SW_EXIT_LEAVES,
                               SW_EXITS };
    (void)state;
    for (int k = 0; k < 2; k++) {
        site s = random_site(47 + 20 * k, 70 - 11 * k, k ? 2.0f : 1.0f, 31 + (uint64_t)k);
        views want = svf_of(&cpu_place, &s, (qn_sw_area){ .lanes = QN_SW_LANES_ROWS }, 2);

        for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
            for (int f = 0; f < 2; f++) {
                views got = svf_of(&cpu_place, &s,
                                   (qn_sw_area){ .lanes = forms[f], .exits_off = off[i] }, 2);

                expect_equal(&got, &want, "without an exit");
                views_free(&got);
            }
        }
        views_free(&want);
        site_free(&s);
    }
}

static void devices_give_the_bits_of_the_cpu(void **state)
{
    (void)state;
    site s = random_site(38, 45, 1, 41);
    views want = svf_of(&cpu_place, &s, (qn_sw_area){ .lanes = QN_SW_LANES_ROWS }, 2);

    for (int f = 0; f < 2; f++) {
        views got = svf_of(&cpu_place, &s, (qn_sw_area){ .lanes = forms[f] }, 2);

        expect_equal(&got, &want, "cpu");
        views_free(&got);
        for (int d = 0; d < N_PLACES; d++) {
            if (!is_here(&device_places[d]))
                continue;
            got = svf_of(&device_places[d], &s, (qn_sw_area){ .lanes = forms[f] }, 2);
            expect_equal(&got, &want, device_places[d].name);
            views_free(&got);
        }
    }
    views_free(&want);
    site_free(&s);
}

static void a_core_is_a_slice_of_the_whole(void **state)
{
    const qn_sw_area core = { .core_row = 13, .core_col = 7, .core_rows = 21, .core_cols = 33 };
    (void)state;
    site s = random_site(50, 60, 1, 51);
    views whole = svf_of(&cpu_place, &s, (qn_sw_area){ 0 }, 3);

    for (int f = 0; f < 2; f++) {
        qn_sw_area area = core;
        views part;

        area.lanes = forms[f];
        part = svf_of(&cpu_place, &s, area, 3);
        assert_int_equal(part.cells, 21 * 33);
        for (size_t p = 0; p < part.cells; p++) {
            const size_t q = (13 + p / 33) * 60 + 7 + p % 33, n = (size_t)part.n_bytes;

            for (size_t k = 0; k < SW_SVF_PLANES; k++)
                assert_int_equal(
                    n_unequal(&part.svf[k * part.cells + p], &whole.svf[k * whole.cells + q], 1),
                    0);
            assert_memory_equal(part.bldg + p * n, whole.bldg + q * n, n);
            assert_memory_equal(part.veg + p * n, whole.veg + q * n, n);
            assert_memory_equal(part.vb + p * n, whole.vb + q * n, n);
        }
        views_free(&part);
    }
    views_free(&whole);
    site_free(&s);
}

/* Word by word; only the results come back from the device. */
static void parts_make_the_whole_and_nothing_is_read_between(void **state)
{
    (void)state;
    site s = random_site(40, 48, 1, 61);
    city c = city_open(&(place){ "sim", "sim", NULL }, &s, (qn_sw_area){ 0 });
    const qn_sw_ray_limits limits = site_reach(&s, 0);
    views want = svf_of(&cpu_place, &s, (qn_sw_area){ 0 }, 2);
    const size_t bytes = want.cells * SW_SVF_PLANES * sizeof(float);
    float *svf = plane_new(want.cells * SW_SVF_PLANES);
    qn_sw_sky *sky = NULL;
    qn_sw_views out = { 0 };
    qn_buf **const words[] = { &out.bldg, &out.veg, &out.vb };
    double share = 0;

    must_do(qn_sw_sky_new(c.ctx, 2, &limits, &sky, &err));
    must(qn_buf_new(c.ctx, "svf", bytes, &out.svf, &failure));
    for (int i = 0; i < 3; i++)
        must(qn_buf_new(c.ctx, "words", want.cells * (size_t)sky->n_words * 4, words[i], &failure));
    const uint64_t before = qn_ctx_transfers(c.ctx).d2h_bytes;

    for (int w = 0; w <= sky->n_words; w++) {
        qn_graph *graph = NULL;

        must(qn_graph_new(c.ctx, "part", &graph, &failure));
        if (w < sky->n_words) {
            must(qn_sw_add_svf_words(c.shadow, graph, sky, w, w + 1, &out, &failure));
            assert_true(qn_sw_sky_share(sky, w + 1) > share);
            share = qn_sw_sky_share(sky, w + 1);
        } else {
            must(qn_sw_add_svf_finish(c.shadow, graph, sky, &out, &failure));
        }
        run_graph(graph);
    }
    assert_float_equal(share, 1, 1e-12);
    must(qn_buf_read(out.svf, 0, svf, bytes, &failure));
    assert_int_equal(qn_ctx_transfers(c.ctx).d2h_bytes - before, bytes);
    assert_int_equal(n_unequal(svf, want.svf, want.cells * SW_SVF_PLANES), 0);
    qn_buf_free(out.svf);
    for (int i = 0; i < 3; i++)
        qn_buf_free(*words[i]);
    qn_sw_sky_free(sky);
    free(svf);
    views_free(&want);
    city_close(&c);
    site_free(&s);
}

/* The line on stderr names the stage; the results are the CPU's. */
static void a_stage_that_fails_falls_back_by_its_name(void **state)
{
    static const char *const stages[] = { "svf.shadow", "svf.finish" };
    (void)state;
    site s = random_site(20, 33, 1, 71);
    views want = svf_of(&cpu_place, &s, (qn_sw_area){ 0 }, 2);

    for (int i = 0; i < 2; i++) {
        char rule[64], line[128];
        qn_ctx *ctx;
        city c;
        views got;

        snprintf(rule, sizeof rule, "launch:%s", stages[i]);
        snprintf(line, sizeof line, "[GPU] %s failed: ", stages[i]);
        ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = rule));
        fflush(stderr);
        const int kept = dup(STDERR_FILENO);
        FILE *said = tmpfile();
        char text[4096] = "";

        assert_non_null(said);
        dup2(fileno(said), STDERR_FILENO);
        c = city_open_in(ctx, &s, (qn_sw_area){ .lanes = forms[i] });
        got = city_svf(&c, 2);
        fflush(stderr);
        dup2(kept, STDERR_FILENO);
        close(kept);
        rewind(said);
        assert_true(fread(text, 1, sizeof text - 1, said) > 0);
        fclose(said);
        if (!strstr(text, line) || !strstr(text, "CPU fallback."))
            fail_msg("\"%s\" does not say \"%s\"", text, line);
        expect_equal(&got, &want, stages[i]);
        views_free(&got);
        city_close(&c);
    }
    views_free(&want);
    site_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_ground_sees_the_whole_sky),
        cmocka_unit_test(the_floor_of_a_deep_canyon_sees_little),
        cmocka_unit_test(a_square_court_is_alike_in_all_directions),
        cmocka_unit_test(view_factors_are_shares_and_missing_ground_has_none),
        cmocka_unit_test(bits_are_shadows_of_suns_at_the_patches),
        cmocka_unit_test(without_vegetation_its_view_is_free_and_vb_is_bldg),
        cmocka_unit_test(the_zenith_is_not_shaded_by_a_canopy),
        cmocka_unit_test(a_bush_shades_its_own_pixel),
        cmocka_unit_test(south_and_west_are_corrected_and_vegetation_only_over_trunks_of_0),
        cmocka_unit_test(exits_change_no_bit),
        cmocka_unit_test(devices_give_the_bits_of_the_cpu),
        cmocka_unit_test(a_core_is_a_slice_of_the_whole),
        cmocka_unit_test(parts_make_the_whole_and_nothing_is_read_between),
        cmocka_unit_test(a_stage_that_fails_falls_back_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
