/* test_sw_shadow_golden.c - shadows, view factors and walls compared with those of the
 * reference. */
/* test: long */
#include "sw_shadow_fixture.h"

/* The window of a golden array in an array of `cols` columns. */
typedef struct window {
    int row0, col0, rows, cols;
} window;

static const window all_of_athens = { 0, 0, 400, 400 };
static const window win200 = { 100, 100, 200, 200 };
static const window win100 = { 150, 150, 100, 100 };
static const window win64 = { 170, 170, 64, 64 };

static double number_in(const qn_npy *a, size_t i)
{
    return a->type == QN_NPY_U1 ? ((uint8_t *)a->data)[i] : (double)((float *)a->data)[i];
}

/* The greatest difference of `got`, an array of `cols` columns, from the golden `name`. */
static double distance_from(const char *name, const float *got, int cols, window w)
{
    qn_npy want = golden_array(name);
    double most = 0;

    assert_int_equal(qn_npy_elems(&want), (qn_i64)w.rows * w.cols);
    for (int r = 0; r < w.rows; r++) {
        for (int c = 0; c < w.cols; c++) {
            const double a = got[(size_t)(w.row0 + r) * (size_t)cols + (size_t)(w.col0 + c)];
            const double b = number_in(&want, (size_t)r * (size_t)w.cols + (size_t)c);

            if (!(isnan(a) && isnan(b)))
                most = fabs(a - b) <= most ? most : isnan(a - b) ? INFINITY : fabs(a - b);
        }
    }
    qn_npy_free(&want);
    return most;
}

static void expect_near(const char *name, const float *got, int cols, window w, double limit)
{
    const double off = distance_from(name, got, cols, w);

    if (off > limit)
        fail_msg("%s is off by %g, at most %g", name, off, limit);
}

/* Every setting in which a golden array is checked. Other tests show that devices give the CPU's
 * results, so these are the CPU in both forms, and each other available device once. */
typedef struct setting {
    place at;
    qn_sw_lanes lanes;
} setting;

static const setting settings[] = {
    { { "cpu, rows", "cpu", NULL }, QN_SW_LANES_ROWS },
    { { "cpu, tiles", "cpu", NULL }, QN_SW_LANES_TILES },
    { { "opencl", "opencl", NULL }, QN_SW_LANES_AUTO },
    { { "cuda", "cuda", NULL }, QN_SW_LANES_AUTO },
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

/* Shadows. */

typedef struct sun_case {
    const char *name;
    qn_sw_beam sun;
    const window *window;
} sun_case;

static const sun_case suns[] = {
    { "morning", { 90, 30, 0.03f }, &all_of_athens },
    { "noon", { 180, 60, 0.03f }, &all_of_athens },
    { "az133_alt12", { 133, 12, 0.03f }, &win200 },
    { "az211_alt4", { 211, 4, 0.03f }, &win200 },
};

/* Values at pixels with walls, in the order of rows. */
static void expect_at_walls(const char *file, const char *what, const site *s, const float *got,
                            double limit)
{
    char name[128];
    qn_npy want;
    size_t n = 0;

    snprintf(name, sizeof name, "solweig/athens/shadow_%s_%s_at_walls.npy", file, what);
    want = golden_array(name);
    for (size_t i = 0; i < site_cells(s); i++) {
        if (s->wall_height[i] > 0) {
            const double off = fabs((double)got[i] - number_in(&want, n++));

            if (!(off <= limit))
                fail_msg("%s is off by %g at pixel %zu, at most %g", name, off, i, limit);
        } else if (got[i] != 0) {
            fail_msg("%s is %g at pixel %zu, which has no wall", name, (double)got[i], i);
        }
    }
    assert_int_equal(qn_npy_elems(&want), (qn_i64)n);
    qn_npy_free(&want);
}

static void check_sun(city *c, const sun_case *which)
{
    static const char *const kinds[] = { "bldg", "veg", "vegblocksbldg" };
    const site *s = c->site;
    float *got = city_shadow(c, which->sun, 0);
    const float *detail = got + 2 * c->cells;
    char name[128];

    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "solweig/athens/shadow_%s_%s.npy", which->name, kinds[i]);
        expect_near(name, detail + (size_t)i * c->cells, s->cols, *which->window, 0);
    }
    if (which->window == &all_of_athens) {
        expect_at_walls(which->name, "wall_sh", s, detail + SW_DETAIL_WALL_SH * c->cells, 2e-5);
        expect_at_walls(which->name, "wall_sun", s, got + c->cells, 2e-5);
        expect_at_walls(which->name, "wall_shveg", s, detail + SW_DETAIL_WALL_SHVEG * c->cells, 0);
    }
    free(got);
}

static void shadows_of_athens_are_the_reference_s(void **state)
{
    (void)state;
    need_golden("solweig/athens/in_dsm.npy");
    site s = athens_site();

    for (int i = 0; i < N_SETTINGS; i++) {
        if (!is_here(&settings[i].at))
            continue;
        city c = city_open(&settings[i].at, &s, (qn_sw_area){ .lanes = settings[i].lanes });

        for (size_t k = 0; k < sizeof suns / sizeof *suns; k++)
            check_sun(&c, &suns[k]);
        city_close(&c);
    }
    site_free(&s);
}

/* View factors. */

static const char *const svf_names[SW_SVF_PLANES] = {
    "svf",   "svf_n", "svf_e", "svf_s",  "svf_w",  "veg",    "veg_n", "veg_e",
    "veg_s", "veg_w", "aveg",  "aveg_n", "aveg_e", "aveg_s", "aveg_w"
};

static void view_factors_of_ga_are_the_reference_s_to_the_bit(void **state)
{
    (void)state;
    need_golden("solweig/ga/prep_dsm.npy");
    site s = ga_site();

    for (int i = 0; i < N_SETTINGS; i++) {
        if (!is_here(&settings[i].at))
            continue;
        city c = city_open(&settings[i].at, &s, (qn_sw_area){ .lanes = settings[i].lanes });
        views v = city_svf(&c, 2);

        for (int k = 0; k < SW_SVF_PLANES; k++) {
            char name[128];

            snprintf(name, sizeof name, "solweig/ga/svf_%s.npy", svf_names[k]);
            expect_near(name, v.svf + (size_t)k * c.cells, s.cols, (window){ 0, 0, 104, 116 }, 0);
        }
        views_free(&v);
        city_close(&c);
    }
    site_free(&s);
}

static void expect_bytes(const char *name, const uint8_t *got, int n_bytes)
{
    qn_npy want = golden_array(name);
    const size_t row = 64 * (size_t)n_bytes;

    assert_int_equal(qn_npy_elems(&want), 64 * (qn_i64)row);
    for (size_t r = 0; r < 64; r++)
        assert_memory_equal(got + ((win64.row0 + r) * 400 + 170) * (size_t)n_bytes,
                            (uint8_t *)want.data + r * row, row);
    qn_npy_free(&want);
}

static void view_factors_of_athens_are_the_reference_s(void **state)
{
    static const int kept[] = { 0, 1, 2, 3, 5, 6, 8, 9, 10, 11, 12, 13 };
    (void)state;
    need_golden("solweig/athens/in_dsm.npy");
    site s = athens_site();
    city c = city_open(&cpu_place, &s, (qn_sw_area){ 0 });
    views v = city_svf(&c, 2);

    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        char name[128];

        snprintf(name, sizeof name, "solweig/athens/svf_win100_%s.npy", svf_names[kept[k]]);
        expect_near(name, v.svf + (size_t)kept[k] * c.cells, 400, win100, 5e-6);
    }
    expect_near("solweig/athens/svf_total_umep.npy", v.svf, 400, all_of_athens, 1e-5);
    expect_near("solweig/athens/svf_north_umep_win100.npy", v.svf + c.cells, 400, win100, 1e-5);
    expect_near("solweig/athens/svf_east_umep_win100.npy", v.svf + 2 * c.cells, 400, win100, 1e-5);
    expect_bytes("solweig/athens/shmat_win64_bldg.npy", v.bldg, v.n_bytes);
    expect_bytes("solweig/athens/shmat_win64_veg.npy", v.veg, v.n_bytes);
    views_free(&v);
    city_close(&c);
    site_free(&s);
}

/* An uncompressed little-endian TIFF of floats in strips of eight rows, as for the site gbg. */
static float *tiff_floats(const char *name, int rows, int cols)
{
    FILE *file = fopen(golden_path(name), "rb");
    const size_t cells = (size_t)rows * (size_t)cols;
    float *out = plane_new(cells);
    uint32_t directory, strips = 0;
    uint16_t n_tags;

    assert_non_null(file);
    fseek(file, 4, SEEK_SET);
    assert_int_equal(fread(&directory, 4, 1, file), 1);
    fseek(file, (long)directory, SEEK_SET);
    assert_int_equal(fread(&n_tags, 2, 1, file), 1);
    for (int i = 0; i < n_tags; i++) {
        uint16_t head[2];
        uint32_t tail[2];

        assert_int_equal(fread(head, 4, 1, file), 1);
        assert_int_equal(fread(tail, 8, 1, file), 1);
        if (head[0] == 273) /* offsets of strips */
            strips = tail[1];
    }
    for (int r = 0; r < rows; r += 8) {
        const size_t n = (size_t)(rows - r < 8 ? rows - r : 8) * (size_t)cols;
        uint32_t at;

        fseek(file, (long)strips + 4 * (r / 8), SEEK_SET);
        assert_int_equal(fread(&at, 4, 1, file), 1);
        fseek(file, (long)at, SEEK_SET);
        assert_int_equal(fread(out + (size_t)r * (size_t)cols, sizeof *out, n, file), n);
    }
    fclose(file);
    return out;
}

/* Heights prepared by the rules for a DEM and a relative canopy without trunk zones. */
static site gbg_site(void)
{
    site s = { .rows = 223, .cols = 234, .px = 1 };
    float *dem = tiff_floats("solweig/gbg/DEM_KRbig.tif", 223, 234);
    float most = -INFINITY, least = INFINITY;

    s.dsm = tiff_floats("solweig/gbg/DSM_KRbig.tif", 223, 234);
    s.canopy = tiff_floats("solweig/gbg/CDSM_KRbig.tif", 223, 234);
    s.trunk = plane_new(site_cells(&s));
    for (size_t i = 0; i < site_cells(&s); i++) {
        const float base = dem[i];
        const float crown = fabsf(s.canopy[i] - base) < 0.1f ? base : s.canopy[i];

        s.dsm[i] = fmaxf(s.dsm[i], base);
        s.dsm[i] = s.dsm[i] - base < 1 ? base : s.dsm[i];
        s.canopy[i] = base + crown;
        s.trunk[i] = base + crown * 0.25f;
        s.canopy[i] = s.canopy[i] - base < 1 ? NAN : s.canopy[i];
        s.trunk[i] = s.trunk[i] - base < 1 ? NAN : s.trunk[i];
        if (s.canopy[i] < s.dsm[i])
            s.canopy[i] = s.trunk[i] = NAN;
        most = fmaxf(most, fmaxf(s.dsm[i], s.canopy[i]));
        least = fminf(least, s.dsm[i]);
    }
    s.max_height = most - least;
    free(dem);
    return s;
}

static void the_view_factor_of_gbg_is_the_reference_s_to_the_bit(void **state)
{
    (void)state;
    need_golden("solweig/gbg/DSM_KRbig.tif");
    site s = gbg_site();
    city c = city_open(&cpu_place, &s, (qn_sw_area){ 0 });
    views v = city_svf(&c, 2);

    expect_near("solweig/gbg/svf_total.npy", v.svf, 234, (window){ 0, 0, 223, 234 }, 0);
    views_free(&v);
    city_close(&c);
    site_free(&s);
}

/* Walls. */

typedef struct walls {
    float *height, *degrees, *radians;
} walls;

static walls walls_of(const place *at, const site *s, const float *given)
{
    const size_t bytes = site_cells(s) * sizeof(float);
    qn_ctx *ctx = open_place(at);
    qn_buf *dsm = filled(ctx, "dsm", s->dsm, bytes);
    guarded made[3] = { guarded_new(ctx, bytes), guarded_new(ctx, bytes), guarded_new(ctx, bytes) };
    qn_sw_wall_filters *w = NULL;
    qn_graph *graph = NULL;
    walls out;

    must_do(qn_sw_walls_new(ctx, s->rows, s->cols, s->px, 1, &w, &err));
    if (given)
        must(qn_buf_write(made[0].middle, 0, given, bytes, &failure));
    must(qn_graph_new(ctx, "walls", &graph, &failure));
    if (given)
        must(qn_sw_add_wall_aspects(w, graph, dsm, made[0].middle, made[1].middle, made[2].middle,
                                    &failure));
    else
        must(qn_sw_add_walls(w, graph, dsm, made[0].middle, made[1].middle, made[2].middle,
                             &failure));
    run_graph(graph);
    out.height = (float *)guarded_take(&made[0], "float").data;
    out.degrees = (float *)guarded_take(&made[1], "float").data;
    out.radians = (float *)guarded_take(&made[2], "float").data;
    qn_buf_free(dsm);
    qn_sw_walls_free(w);
    qn_ctx_close(ctx);
    return out;
}

static void walls_free(walls *w)
{
    free(w->height);
    free(w->degrees);
    free(w->radians);
}

static void walls_are_the_reference_s_to_the_bit(void **state)
{
    (void)state;
    need_golden("solweig/ga/prep_wall_height.npy");
    site athens = athens_site(), ga = ga_site();

    for (int i = 0; i < N_SETTINGS; i++) {
        if (i == 1 || !is_here(&settings[i].at)) /* walls have one form */
            continue;
        walls w = walls_of(&settings[i].at, &athens, NULL);

        expect_near("solweig/athens/walls_refrun_height_win100.npy", w.height, 400, win100, 0);
        expect_near("solweig/athens/walls_refrun_aspect_win100.npy", w.degrees, 400, win100, 0);
        expect_near("solweig/athens/in_wall_height.npy", w.height, 400, all_of_athens, 0);
        walls_free(&w);
        w = walls_of(&settings[i].at, &ga, NULL);
        expect_near("solweig/ga/prep_wall_height.npy", w.height, 116, (window){ 0, 0, 104, 116 },
                    0);
        expect_near("solweig/ga/prep_wall_aspect.npy", w.degrees, 116, (window){ 0, 0, 104, 116 },
                    0);
        for (size_t k = 0; k < site_cells(&ga); k++)
            assert_true(w.radians[k] == ga.wall_aspect[k]);
        walls_free(&w);
    }
    site_free(&athens);
    site_free(&ga);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shadows_of_athens_are_the_reference_s),
        cmocka_unit_test(view_factors_of_ga_are_the_reference_s_to_the_bit),
        cmocka_unit_test(view_factors_of_athens_are_the_reference_s),
        cmocka_unit_test(the_view_factor_of_gbg_is_the_reference_s_to_the_bit),
        cmocka_unit_test(walls_are_the_reference_s_to_the_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
