/* test_sw_radiation_aniso.c - a sky of patches, compared with golden data and a plain computation
 * with the arc tangent. */
#include "sw_surface_fixture.h"

#include "domain/solweig/radiation/radiation.h"
#include "util/csv.h"

enum { SIDE = 64, PIXELS = SIDE * SIDE, N = 153, WORDS = 5, BIG = 400 };

/* Patches and the march of golden data. */

typedef struct sky_table {
    float altitude[N], azimuth_svf[N], azimuth[N], steradian[N];
} sky_table;

static sky_table table_of_patches(void)
{
    sky_table t;
    qn_csv csv = { 0 };
    int n = 0;

    must_do(qn_csv_read(golden_path("solweig/tables/patches.csv"), &csv, &err));
    for (size_t r = 0; r < csv.n_rows; r++)
        if (!strcmp(qn_csv_get(&csv, r, 0), "2")) {
            assert_true(n < N);
            t.altitude[n] = strtof(qn_csv_get(&csv, r, 2), NULL);
            t.azimuth_svf[n] = strtof(qn_csv_get(&csv, r, 3), NULL);
            t.azimuth[n] = strtof(qn_csv_get(&csv, r, 4), NULL);
            t.steradian[n++] = strtof(qn_csv_get(&csv, r, 5), NULL);
        }
    assert_int_equal(n, N);
    qn_csv_free(&csv);
    return t;
}

typedef struct city {
    float *dsm, *cdsm, *tdsm;
} city;

/* The bit of vegetation before buildings, at one pixel and patch: the march of shadows, spelt
 * out. */
static int vb_of(const city *c, int row, int col, float azimuth, float altitude)
{
    const float pi = 3.14159265358979f, maxh = 42.57550811767578f;
    const float a = azimuth * pi / 180, e = altitude * pi / 180;
    const float sine = sinf(a), cosine = cosf(a), tangent = tanf(a), k = tanf(e);
    const int imax = (int)ceilf(maxh / tanf(3 * pi / 180));
    const int is_along = (pi / 4 <= a && a < 3 * pi / 4) || (5 * pi / 4 <= a && a < 7 * pi / 4);
    const float ds = is_along ? fabsf(1 / sine) : fabsf(1 / cosine);
    const int east = sine < 0 ? -1 : 1, north = cosine < 0 ? -1 : 1;
    const float d = c->dsm[row * BIG + col];
    const float bush = c->tdsm[row * BIG + col] > 0 ? 0 : c->cdsm[row * BIG + col];
    float top = d, dz = 0, prev = 0;
    int veg = bush > 1, vb = 0, hidden = 0, dx = 0, dy = 0;

    if (altitude >= 89.5f)
        return 1;
    for (int i = 0; i <= imax && maxh >= dz && abs(dx) < BIG && abs(dy) < BIG; i++) {
        dy = east * (is_along ? i : abs((int)roundf((float)i * tangent)));
        dx = -north * (is_along ? abs((int)roundf((float)i / tangent)) : i);
        dz = ds * (float)i * k;
        if (row + dx >= 0 && row + dx < BIG && col + dy >= 0 && col + dy < BIG) {
            const int q = (row + dx) * BIG + col + dy;
            const int n = (c->cdsm[q] - dz > d) + (c->tdsm[q] - dz > d) + (c->cdsm[q] - prev > d) +
                          (c->tdsm[q] - prev > d);

            top = fmaxf(top, c->dsm[q] - dz);
            hidden = top > d;
            if (n > 0 && n < 4)
                veg = 1;
            if (veg && hidden)
                veg = 0;
            vb |= veg;
        }
        prev = dz;
    }
    return 1 - (vb - veg);
}

/* Golden bits [pixel][20 bytes] as words [word][pixel]. */
static uint32_t *words_of(const char *name)
{
    float *bytes = golden_floats(name, (size_t)PIXELS * 20);
    uint32_t *words = calloc((size_t)PIXELS * WORDS, sizeof *words);

    assert_non_null(words);
    for (int p = 0; p < PIXELS; p++)
        for (int b = 0; b < 20; b++)
            words[b / 4 * PIXELS + p] |= (uint32_t)bytes[p * 20 + b] << 8 * (b % 4);
    free(bytes);
    return words;
}

static uint32_t *vb_words(const sky_table *sky)
{
    city c = { golden_floats("athens/in_dsm", BIG * BIG),
               golden_floats("athens/in_cdsm", BIG * BIG),
               golden_floats("athens/in_tdsm", BIG * BIG) };
    uint32_t *words = calloc((size_t)PIXELS * WORDS, sizeof *words);

    assert_non_null(words);
    for (int p = 0; p < PIXELS; p++)
        for (int i = 0; i < N; i++)
            if (vb_of(&c, 170 + p / SIDE, 170 + p % SIDE, sky->azimuth_svf[i], sky->altitude[i]))
                words[i / 32 * PIXELS + p] |= 1u << i % 32;
    free(c.dsm);
    free(c.cdsm);
    free(c.tdsm);
    return words;
}

/* One step on a device. */

typedef struct scene {
    int cols, rows;
    sw_body body;
    sw_moment step;
    qn_sw_dome patches;
    sw_sky sky[32 * SW_MAX_WORDS];
    const uint32_t *bldg, *veg, *vb; /* veg NULL: `bits` says what replaces them */
    int bits;
    float *svf, *shadow, *lup, *kup; /* alb is chosen so that Kup comes out as given */
} scene;

/* Planes of radiation after a step; free with free(). */
static float *planes_of(const place *at, const scene *s)
{
    const size_t n = (size_t)s->cols * (size_t)s->rows, words = ((size_t)s->patches.n + 31) / 32;
    qn_ctx *ctx = open_place(at);
    float *zero = constant(n, 0), *one = constant(n, 1), *out;
    qn_buf *svf = floats_buf(ctx, s->svf, n), *veg = floats_buf(ctx, one, n);
    qn_buf *shadow = floats_buf(ctx, s->shadow, n), *lup = floats_buf(ctx, s->lup, n);
    qn_buf *alb = floats_buf(ctx, s->kup ? s->kup : zero, n), *nosh = floats_buf(ctx, zero, n);
    qn_sw_sky_bits bits = { .bldg = filled(ctx, "bldg", s->bldg, 4 * words * n) };
    qn_sw_step_table *series = NULL;
    qn_sw_radiation *radiation = NULL;
    qn_graph *graph = NULL;

    if (s->veg) {
        bits.veg = filled(ctx, "veg", s->veg, 4 * words * n);
        bits.vb = filled(ctx, "vb", s->vb, 4 * words * n);
    }
    must_do(qn_sw_step_table_new(ctx, 1, &s->step, s->patches.n_table, s->patches.table, s->sky,
                                 &series, &err));
    must_do(
        qn_sw_radiation_new(ctx, s->cols, s->rows, &s->body, series, s->bits, &radiation, &err));
    must(qn_graph_new(ctx, "aniso", &graph, &failure));
    must(qn_sw_add_aniso(radiation, graph, series, &bits, svf, veg, shadow, lup, alb, nosh,
                         &failure));
    run_graph(graph);
    out = read_floats(radiation->planes, SW_RADIATION_PLANES * n);
    qn_sw_radiation_free(radiation);
    qn_sw_step_table_free(series);
    qn_buf_free(svf);
    qn_buf_free(veg);
    qn_buf_free(shadow);
    qn_buf_free(lup);
    qn_buf_free(alb);
    qn_buf_free(nosh);
    qn_buf_free(bits.bldg);
    qn_buf_free(bits.veg);
    qn_buf_free(bits.vb);
    qn_ctx_close(ctx);
    free(zero);
    free(one);
    return out;
}

/* Golden data. */

static float number_in(json_t *root, const char *key)
{
    return (float)json_number_value(golden_member(root, key));
}

static float *case_array(const char *name, const char *what, size_t n)
{
    char path[128];

    snprintf(path, sizeof path, "athens/aniso_%s_%s", name, what);
    return golden_floats(path, n);
}

static qn_sw_step_weather case_row(json_t *p)
{
    return (qn_sw_step_weather){ .ta = number_in(p, "ta"),
                                 .direct = number_in(p, "direct"),
                                 .diffuse = number_in(p, "diffuse"),
                                 .azimuth = number_in(p, "sun_azimuth"),
                                 .altitude = number_in(p, "sun_altitude"),
                                 .zenith = 90 - number_in(p, "sun_altitude"),
                                 .ci = number_in(p, "clearness_index"),
                                 .esky = number_in(p, "esky"),
                                 .psi = number_in(p, "psi") };
}

/* The record with the wall temperature of the golden case. */
static void fill_case(scene *s, json_t *p, const sky_table *sky, const float *luminance)
{
    const qn_sw_step_weather row = case_row(p);
    const qn_sw_materials materials = qn_sw_materials_default();
    qn_sw_delay delay = qn_sw_delay_begin(1.0 / 24);
    float warm;

    must_do(qn_sw_dome_make(N, sky->altitude, sky->azimuth, sky->steradian, &s->patches, &err));
    qn_sw_moment_fill(&row, &materials, &s->patches, luminance, NULL, &delay, &s->step, s->sky);
    s->step.tg_wall = number_in(p, "tg_wall");
    warm = s->step.ta_k + s->step.tg_wall;
    s->step.wall4 = QN_SW_SBC * warm * warm * warm * warm;
    assert_true(fabsf(1 - (1 - s->sky[0].emissivity) / s->patches.thin[0] -
                      number_in(p, "esky_used")) < 1e-5f);
}

static void check_plane(const char *name, const char *what, const place *at, const float *planes,
                        int plane)
{
    char text[96];
    float *want = case_array(name, what, PIXELS);

    snprintf(text, sizeof text, "%s %s", name, what);
    assert_all_near(text, at, planes + plane * PIXELS, want, PIXELS, 0.01);
    free(want);
}

/* K4 is the sum for the four sides. */
static void check_sides(const char *name, const place *at, const float *planes)
{
    static const char *const sides[] = { "out_knorth", "out_keast", "out_ksouth", "out_kwest" };
    float *sum = constant(PIXELS, 0);

    for (int d = 0; d < 4; d++) {
        float *one = case_array(name, sides[d], PIXELS);

        for (int i = 0; i < PIXELS; i++)
            sum[i] += one[i];
        free(one);
    }
    assert_all_near("four sides", at, planes + SW_K4 * PIXELS, sum, PIXELS, 0.01);
    free(sum);
}

/* With black walls KDOWN is only the sun and the diffuse part. */
static void check_diffuse(const char *name, const place *at, const scene *s)
{
    scene black = *s;
    float *planes;

    black.body.wall_albedo = 0;
    planes = planes_of(at, &black);
    for (int i = 0; i < PIXELS; i++)
        planes[SW_KDOWN * PIXELS + i] -= s->shadow[i] * s->step.direct * s->step.sin_alt;
    check_plane(name, "out_drad", at, planes, SW_KDOWN);
    free(planes);
}

static void check_scene(const char *name, const scene *s)
{
    for (int at = 0; at < N_SW_PLACES; at++) {
        float *planes;

        if (!is_here(&sw_places[at]))
            continue;
        planes = planes_of(&sw_places[at], s);
        check_plane(name, "out_ldown", &sw_places[at], planes, SW_LDOWN);
        check_plane(name, "out_lside", &sw_places[at], planes, SW_LSIDE);
        check_plane(name, "out_kside", &sw_places[at], planes, SW_KSIDE);
        check_sides(name, &sw_places[at], planes);
        check_diffuse(name, &sw_places[at], s);
        free(planes);
    }
}

static void check_case(const char *name, const uint32_t *bldg, const uint32_t *veg,
                       const uint32_t *vb)
{
    char path[128];
    sky_table sky = table_of_patches();
    float luminance[N], *lv = case_array(name, "lv", 3 * N);
    scene s = { .cols = SIDE, .rows = SIDE, .bldg = bldg, .veg = veg, .vb = vb };
    json_t *p;

    snprintf(path, sizeof path, "solweig/athens/aniso_%s_params.json", name);
    p = golden_json(path);
    for (int i = 0; i < N; i++) {
        assert_true(fabsf(lv[3 * i] - sky.altitude[i]) < 1e-4f);
        sky.azimuth[i] = lv[3 * i + 1];
        luminance[i] = lv[3 * i + 2];
    }
    fill_case(&s, p, &sky, luminance);
    s.body = qn_sw_body_standing();
    s.svf = case_array(name, "in_svf", PIXELS);
    s.shadow = case_array(name, "in_shadow", PIXELS);
    s.lup = constant(PIXELS, 0);
    s.kup = constant(PIXELS, 0);
    for (int i = 0; i < PIXELS; i++) {
        s.lup[i] = 0.95f * s.step.air4 + 30 * s.svf[i];
        s.kup[i] = (43 + 10 * s.svf[i]) / (s.step.direct * s.step.sin_alt);
    }
    check_scene(name, &s);
    json_decref(p);
    free(lv);
    free(s.svf);
    free(s.shadow);
    free(s.lup);
    free(s.kup);
}

static void radiation_is_that_of_golden_data(void **state)
{
    sky_table table;
    uint32_t *bldg, *veg, *vb;

    (void)state;
    need_golden("solweig/athens/aniso_clear_noon_params.json");
    table = table_of_patches();
    bldg = words_of("athens/shmat_win64_bldg");
    veg = words_of("athens/shmat_win64_veg");
    vb = vb_words(&table);
    check_case("clear_noon", bldg, veg, vb);
    check_case("cloudy_lowsun", bldg, veg, vb);
    free(bldg);
    free(veg);
    free(vb);
}

/* Against a plain computation. */

enum { COLS = 83, ROWS = 3, SMALL = COLS * ROWS, N_SMALL = 45 };

/* A sky of three bands, random bits and view factors, and a pixel that is NaN. */
static scene random_scene(const qn_sw_step_weather *row, uint64_t seed)
{
    const qn_sw_materials materials = qn_sw_materials_default();
    qn_sw_delay delay = qn_sw_delay_begin(1.0 / 24);
    float altitude[N_SMALL], azimuth[N_SMALL], steradian[N_SMALL], share[N_SMALL];
    uint32_t *bits[3];
    scene s = { .cols = COLS, .rows = ROWS };

    for (int i = 0; i < N_SMALL; i++) {
        altitude[i] = (float)(6 + 24 * (i / 15));
        azimuth[i] = (float)(24 * (i % 15));
        steradian[i] = between(seed, (size_t)i, 0.02f, 0.06f);
        share[i] = between(seed + 1, (size_t)i, 0.5f, 1.5f) / N_SMALL;
    }
    must_do(qn_sw_dome_make(N_SMALL, altitude, azimuth, steradian, &s.patches, &err));
    qn_sw_moment_fill(row, &materials, &s.patches, share, NULL, &delay, &s.step, s.sky);
    s.body = qn_sw_body_standing();
    for (int k = 0; k < 3; k++) {
        bits[k] = calloc(2 * SMALL, sizeof *bits[k]);
        assert_non_null(bits[k]);
        for (int i = 0; i < N_SMALL; i++)
            for (int p = 0; p < SMALL; p++)
                if (qn_random_float(seed + 10 + (uint64_t)k, (uint64_t)(i * SMALL + p)) > -0.4f)
                    bits[k][i / 32 * SMALL + p] |= 1u << i % 32;
    }
    s.bldg = bits[0];
    s.veg = bits[1];
    s.vb = bits[2];
    s.svf = constant(SMALL, 0);
    s.shadow = constant(SMALL, 0);
    s.lup = constant(SMALL, 0);
    for (size_t p = 0; p < SMALL; p++) {
        s.svf[p] = p == 5 ? 0 : p == 6 ? 1 : between(seed + 3, p, 0, 1);
        s.shadow[p] = between(seed + 4, p, 0, 1);
        s.lup[p] = between(seed + 5, p, 350, 600);
    }
    return s;
}

static void scene_free(scene *s)
{
    free((void *)s->bldg);
    free((void *)s->veg);
    free((void *)s->vb);
    free(s->svf);
    free(s->shadow);
    free(s->lup);
}

static int bit_of(const uint32_t *words, int i, int p)
{
    return (int)(words[i / 32 * SMALL + p] >> i % 32 & 1);
}

/* Patch by patch as in the specification, with the arc tangent. Output: KSIDE, LSIDE, LDOWN. */
static void plain_pixel(const scene *s, const qn_sw_step_weather *row, int p, float out[3])
{
    const float pi = 3.14159265358979f, ew = 0.9f, aw = 0.2f;
    const float tg = s->step.tg_wall, air = s->step.ta_k;
    const float skyr = QN_SW_SBC * powf(air, 4) / pi, shw = ew * skyr;
    const float sunw = ew * QN_SW_SBC * powf(air + tg, 4) / pi;
    const float beam = row->direct * cosf(row->altitude * pi / 180);
    const float ks = (aw * beam + 0.5f * row->diffuse) / pi, kh = aw * row->diffuse * 0.5f / pi;
    const float asvf = acosf(sqrtf(s->svf[p]));
    const float clouded = row->ci < 0.95f ? row->ci * row->esky + (1 - row->ci) : row->esky;
    const int is_day = row->altitude > 0;
    double lside = 0, ldown = 0, skydown = 0, kd = 0, kr = 0, obs_c = 0, obs_s = 0, scale = 0;

    for (int i = 0; i < N_SMALL; i++)
        scale += (double)(s->sky[i].share * s->patches.table[i].sin_ster);
    scale = is_day && scale > 0 ? (double)row->diffuse / scale : 0;
    for (int i = 0; i < N_SMALL; i++) {
        const sw_patch *q = &s->patches.table[i];
        const int open = bit_of(s->bldg, i, p);
        const int bare = s->veg ? bit_of(s->veg, i, p) : 1;
        const int behind = s->veg ? bit_of(s->vb, i, p) : s->bits == SW_BITS_BARE ? open : 1;
        const float away = fabsf(row->azimuth - q->azimuth);
        const float e =
            1 - (1 - clouded) * expf(0.308f * (1.7f - 1 / cosf((90 - q->altitude) * pi / 180)));
        const float c = q->cos_ster, sn = q->sin_ster;

        if (open && bare) {
            lside += (double)(skyr * e * c);
            skydown += (double)(skyr * e * sn);
            kd += is_day ? scale * (double)(s->sky[i].share * c) : 0;
        }
        if (!bare || !behind) {
            lside += (double)(shw * c);
            ldown += (double)(shw * sn);
            kr += is_day ? (double)(kh * c) : 0;
        }
        if (!open && behind) {
            const float x =
                tanf(asvf) + fminf(0, 2 * cosf(away * pi / 180) * tanf(row->altitude * pi / 180));
            const float deg = atanf(x) * 180 / pi;
            const int is_lit = deg<q->altitude, is_dark = deg> q->altitude;
            const float w =
                away > 90 && away < 270 && is_day ? (is_lit ? sunw : 0) + (is_dark ? shw : 0) : shw;

            lside += (double)(w * c);
            ldown += (double)(w * sn);
            kr += is_day ? (double)((is_lit ? ks : is_dark ? kh : 0) * c) : 0;
        }
        if (!open || !bare || !behind) {
            obs_c += (double)c;
            obs_s += (double)sn;
        }
    }
    {
        const double back = (skydown + (double)s->lup[p]) * (1 - (double)ew) * 0.5 / (double)pi;
        const double own = s->body.box > 0 ? 0 : (double)(s->shadow[p] * beam);

        out[0] = is_day ? (float)(own + kd + kr) : 0;
        out[1] = (float)(lside + back * obs_c);
        out[2] = (float)(skydown + ldown + back * obs_s);
    }
}

static void check_plain(const scene *s, const qn_sw_step_weather *row)
{
    static const int planes[3] = { SW_KSIDE, SW_LSIDE, SW_LDOWN };
    float *want[3];

    for (int k = 0; k < 3; k++)
        want[k] = constant(SMALL, 0);
    for (int p = 0; p < SMALL; p++) {
        float three[3];

        plain_pixel(s, row, p, three);
        for (int k = 0; k < 3; k++)
            want[k][p] = three[k];
    }
    for (int at = 0; at < N_SW_PLACES; at++) {
        float *got;

        if (!is_here(&sw_places[at]))
            continue;
        got = planes_of(&sw_places[at], s);
        for (int k = 0; k < 3; k++)
            assert_all_near("plain", &sw_places[at], got + planes[k] * SMALL, want[k], SMALL, 2e-3);
        free(got);
    }
    for (int k = 0; k < 3; k++)
        free(want[k]);
}

static void classes_of_patches_are_those_of_the_arc_tangent(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        qn_sw_step_weather row = noon_row();
        scene s;

        row.azimuth = between(seed, 0, 0, 360);
        row.altitude = between(seed, 1, 2, 80);
        row.zenith = 90 - row.altitude;
        s = random_scene(&row, 100 * seed);
        check_plain(&s, &row);
        scene_free(&s);
    }
}

static void by_night_walls_have_the_temperature_of_air(void **state)
{
    const qn_sw_step_weather row = night_row();
    scene s = random_scene(&row, 7);

    (void)state;
    s.step.tg_wall = 9; /* must not matter, since no wall faces a sun */
    s.step.wall4 = 700;
    check_plain(&s, &row);
    scene_free(&s);
}

static void a_box_gets_no_direct_sun_all_around(void **state)
{
    const qn_sw_step_weather row = noon_row();
    scene s = random_scene(&row, 8);

    (void)state;
    s.body = qn_sw_body_sitting();
    check_plain(&s, &row);
    scene_free(&s);
}

/* Without a canopy the reference takes every building for leaves: no sunlit wall. */
static void without_canopy_walls_count_only_if_asked_for(void **state)
{
    const qn_sw_step_weather row = noon_row();
    scene s = random_scene(&row, 9);
    float *bare, *walls;

    (void)state;
    free((void *)s.veg);
    free((void *)s.vb);
    s.veg = s.vb = NULL;
    s.bits = SW_BITS_BARE;
    check_plain(&s, &row);
    bare = planes_of(&sw_places[0], &s);
    s.bits = SW_BITS_WALLS;
    check_plain(&s, &row);
    walls = planes_of(&sw_places[0], &s);
    assert_true(walls[SW_LSIDE * SMALL + 1] > bare[SW_LSIDE * SMALL + 1]);
    assert_true(walls[SW_KSIDE * SMALL + 1] > bare[SW_KSIDE * SMALL + 1]);
    free(bare);
    free(walls);
    scene_free(&s);
}

static void a_pixel_without_sky_view_has_no_light(void **state)
{
    const qn_sw_step_weather row = noon_row();
    scene s = random_scene(&row, 10);

    (void)state;
    s.svf[17] = NAN;
    for (int at = 0; at < N_SW_PLACES; at++) {
        float *got;

        if (!is_here(&sw_places[at]))
            continue;
        got = planes_of(&sw_places[at], &s);
        for (int p = 0; p < SMALL; p++)
            assert_int_equal(isnan(got[SW_KDOWN * SMALL + p]) != 0, p == 17);
        free(got);
    }
    scene_free(&s);
}

/* The step from sunlit to shaded is exactly where the arc tangent puts it, for every float around
 * it. */
static void limits_of_sunlight_are_exact(void **state)
{
    static const float altitudes[] = { 3, 6, 9, 15, 18, 30, 42, 54, 66, 78, 81 };

    (void)state;
    for (size_t k = 0; k < sizeof altitudes / sizeof altitudes[0]; k++) {
        const float low = qn_sw_tangent_from(altitudes[k], 0);
        const float high = qn_sw_tangent_from(altitudes[k], 1);
        float x = low;

        assert_true(low <= high);
        for (int i = 0; i < 3000; i++)
            x = nextafterf(x, -INFINITY);
        for (int i = 0; i < 6000; i++, x = nextafterf(x, INFINITY)) {
            const float deg = atanf(x) * (180 / 3.14159265358979f);

            assert_int_equal(deg < altitudes[k], x < low);
            assert_int_equal(deg > altitudes[k], x >= high);
        }
        for (size_t i = 0; i < 20000; i++) {
            const float y = tanf(between(k, i, -1.57f, 1.57f));
            const float deg = atanf(y) * (180 / 3.14159265358979f);

            assert_int_equal(deg < altitudes[k], y < low);
            assert_int_equal(deg > altitudes[k], y >= high);
        }
    }
    assert_true(isinf(qn_sw_tangent_from(91, 0)));
}

static void wrong_skies_are_refused(void **state)
{
    const float altitude = 95, azimuth = 0, steradian = 1;
    sw_moment step = step_of(noon_row());
    qn_sw_dome patches;
    qn_sw_step_table *series = NULL;
    qn_ctx *ctx = open_place(&sw_places[0]);

    (void)state;
    must_refuse(qn_sw_dome_make(1, &altitude, &azimuth, &steradian, &patches, &err), QN_ERR_INPUT,
                "altitude 95");
    must_refuse(qn_sw_dome_make(700, &altitude, &azimuth, &steradian, &patches, &err), QN_ERR_LIMIT,
                "700 sky patches");
    must_refuse(qn_sw_step_table_new(ctx, 1, &step, 7, NULL, NULL, &series, &err), QN_ERR_USAGE,
                "table of 7");
    must_refuse(qn_sw_step_table_new(ctx, 0, &step, 0, NULL, NULL, &series, &err), QN_ERR_USAGE,
                "0 steps");
    assert_null(series);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(radiation_is_that_of_golden_data),
        cmocka_unit_test(classes_of_patches_are_those_of_the_arc_tangent),
        cmocka_unit_test(by_night_walls_have_the_temperature_of_air),
        cmocka_unit_test(a_box_gets_no_direct_sun_all_around),
        cmocka_unit_test(without_canopy_walls_count_only_if_asked_for),
        cmocka_unit_test(a_pixel_without_sky_view_has_no_light),
        cmocka_unit_test(limits_of_sunlight_are_exact),
        cmocka_unit_test(wrong_skies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
